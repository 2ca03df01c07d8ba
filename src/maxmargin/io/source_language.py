"""What C and JavaScript call the same thing: loops, constants, local arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Language:
    """The words and literals of a language."""

    def __init__(self, c: bool) -> None:
        self.c = c
        self.math, self.absolute = ("", "fabs") if c else ("Math.", "Math.abs")
        self.index, self.let = ("int", "double") if c else ("let", "let")

    def loop(self, name: str, count: int, begin: int | str = 0) -> str:
        """Return the head of a loop over the numbers from `begin` to below `count`."""
        return f"for ({self.index} {name} = {begin}; {name} < {count}; {name}++)"

    def array(self, name: str, values: NDArray[Any], kind: str = "double") -> str:
        """Return the declaration of a constant vector; C has no empty ones."""
        text = (lambda v: repr(float(v))) if kind == "double" else (lambda v: str(int(v)))
        items = list(map(text, np.ravel(values))) or ["0"]
        rows = ",\n  ".join(", ".join(items[k : k + 8]) for k in range(0, len(items), 8))
        return (
            f"static const {kind} {name}[] = {{\n  {rows}\n}};\n"
            if self.c
            else f"const {name} = [\n  {rows}\n];\n"
        )

    def zeros(self, count: int, *names: str) -> str:
        """Return the declaration of local arrays of zeros."""
        if self.c:
            return "double " + ", ".join(f"{name}[{count}] = {{0}}" for name in names) + ";"
        return "const " + ", ".join(f"{name} = new Array({count}).fill(0)" for name in names) + ";"
