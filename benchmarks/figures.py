"""``make figures``: numbers in the documents that come from committed results or from the code.

In a Markdown page such a number is followed by a comment that says where it is from:

    25,068<!-- benchmark: covtype10k C=10: steps --> pair steps

This script writes the present value before each such comment; a test fails where that has not been
done. ``make bench ARGS=--save`` and ``make bench-linear ARGS=--save`` do it at their end.
"""

import ast
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MARK = re.compile(r"([^\s(|<>*]+)(\**<!-- (benchmark|linear|code|gallery): ([^<>]+?) -->)")


def pages() -> list[Path]:
    """The documents."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def update(text: str) -> str:
    """The text with present numbers."""
    return MARK.sub(lambda found: SOURCES[found[3]](found[4]) + found[2], text)


def count(value: float) -> str:
    """A whole number."""
    return f"{value:,.0f}"


def digits(value: float) -> str:
    """Two digits."""
    return f"{value:.2g}" if value < 100 else count(value)


def _spread(key: str, values: list[float], text: Callable[[float], str]) -> str:
    """The least or the greatest of several."""
    return text(min(values) if key.startswith("least") else max(values))


def benchmark(key: str) -> str:
    """A kernel fit of ours: "CASE: steps", "CASE: MB", "CASE.

    Seconds", or "least rows per support vector" of all binary cases.
    """
    whole = json.loads((ROOT / "docs" / "benchmark.json").read_text())
    if key in ("number of cases", "seconds for a fit"):
        return count(len(whole["cases"]) if key == "number of cases" else whole["timeout"])
    cases = whole["cases"]
    case, _, what = key.partition(": ")
    if case.endswith("rows per support vector"):
        return _spread(
            case,
            [c["rows"] / c["support"] for c in cases if c.get("rows") and c["data"] not in SEVERAL],
            digits,
        )
    (found,) = (c for c in cases if c["case"] == case)
    ours = found["variants"][0]
    if what == "steps":
        return count(ours["iterations"])
    return count(ours["memory"]) if what == "MB" else digits(ours["fit"])


SEVERAL = ("letter", "mnist10k")
"""Data of several classes: their kernel rows are as long as a pair of classes."""


def linear(key: str) -> str:
    """A linear fit of ours or of a peer: "CASE to 1e-4: seconds", "CASE to 1e-4.

    Seconds of LABEL", or "least steps of newton".
    """
    cases = json.loads((ROOT / "docs" / "linear-benchmark.json").read_text())["cases"]
    if found := re.fullmatch(r"(?:least|greatest) steps of (\w+)", key):
        return _spread(
            key,
            [v["iterations"] for c in cases for v in _ours(c) if v.get("solver") == found[1]],
            count,
        )
    parts = re.fullmatch(r"(.+) to (\S+): (milli)?seconds(?: of (.+))?", key)
    assert parts, key
    (case,) = (c for c in cases if c["case"] == parts[1])
    entries = case["targets"][str(float(parts[2]))]
    seconds = next(v["fit"] for v in entries if v["label"] == (parts[4] or "maxmargin"))
    return digits(1000 * seconds if parts[3] else seconds)


def _ours(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The fits of a case that are ours and ended."""
    for entries in case["targets"].values():
        yield from (v for v in entries if v["library"] == "maxmargin" and v.get("iterations"))


def code(key: str) -> str:
    """A constant: "FILE NAME"."""
    file, name = key.split()
    for node in ast.parse((ROOT / "src" / "maxmargin" / file).read_text()).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        for target in targets:
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]  # type: ignore[union-attr]
            for one, value in zip(names, values, strict=True):
                if isinstance(one, ast.Name) and one.id == name:
                    number = eval(compile(ast.Expression(value), file, "eval"), {})
                    return count(number) if number == int(number) else str(number)
    raise KeyError(key)


def gallery(key: str) -> str:
    """How many figures are drawn."""
    return count(len(list((ROOT / "docs" / "gallery").glob("*.png"))))


SOURCES: dict[str, Callable[[str], str]] = {
    "benchmark": benchmark,
    "linear": linear,
    "code": code,
    "gallery": gallery,
}


def main() -> None:
    """Write all pages."""
    for page in pages():
        before = page.read_text()
        after = update(before)
        if after != before:
            page.write_text(after)
            print(f"{page.relative_to(ROOT)}: written")


if __name__ == "__main__":
    main()
