"""What C and JavaScript call the same thing: loops, constants, local arrays."""

import json
from collections.abc import Sequence
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

    def array(self, name: str, values: NDArray[Any] | Sequence[Any], kind: str = "double") -> str:
        """Return the declaration of a constant vector; C has no empty ones."""
        text = (lambda v: repr(float(v))) if kind == "double" else (lambda v: str(int(v)))
        items = list(map(text, np.ravel(values))) or ["0"]
        rows = ",\n  ".join(", ".join(items[k : k + 8]) for k in range(0, len(items), 8))
        return (
            f"static const {kind} {name}[] = {{\n  {rows}\n}};\n"
            if self.c
            else f"const {name} = [\n  {rows}\n];\n"
        )

    def is_missing(self, name: str) -> str:
        """Return the condition that a number is missing: NaN, in JavaScript also null."""
        return f"{name} != {name}" if self.c else f"{name} == null || {name} !== {name}"

    def text(self, value: Any) -> str:
        """Return the literal of a text; in JavaScript also of numbers and lists."""
        return _c_text(value) if self.c else _javascript(value)

    def zeros(self, count: int, *names: str) -> str:
        """Return the declaration of local arrays of zeros."""
        if self.c:
            return "double " + ", ".join(f"{name}[{count}] = {{0}}" for name in names) + ";"
        return "const " + ", ".join(f"{name} = new Array({count}).fill(0)" for name in names) + ";"


def _c_text(text: str) -> str:
    plain = set(range(32, 127)) - set(b'"\\?')
    safe = (chr(byte) if byte in plain else f"\\{byte:03o}" for byte in text.encode())
    return f'"{"".join(safe)}"'


def _javascript(value: Any) -> str:
    """Return a literal that is also safe inside a script element of a web page."""
    return json.dumps(value).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
