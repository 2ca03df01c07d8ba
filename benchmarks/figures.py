"""``make figures``: numbers and code in the documents that come from committed results or sources.

In a Markdown page such a number is followed by a comment that names its source:

    25,068<!-- benchmark: covtype10k C=10: steps --> pair steps

Code follows such a comment, in a fence:

    <!-- code from: tests/test_formulations.py ranking -->

This script updates them all; a test fails if a page is out of date. ``make bench ARGS=--save`` and
``make bench-linear ARGS=--save`` call it when they are done.
"""

import ast
import json
import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MARK = re.compile(r"([^\s(|<>*]+)(\**<!-- (benchmark|linear|code|gallery): ([^<>]+?) -->)")
CODE = re.compile(r"(<!-- code from: (\S+) (.+?) -->\n)(?:```\w+\n.*?^```\n)?", re.M | re.S)


def pages() -> list[Path]:
    """The documents."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def update(text: str) -> str:
    """The text with current numbers and code."""
    text = MARK.sub(lambda found: SOURCES[found[3]](found[4]) + found[2], text)
    return CODE.sub(lambda found: found[1] + fenced(ROOT / found[2], found[3].split()), text)


def fenced(file: Path, names: list[str]) -> str:
    """The definitions of the given names in a file, as a fence of a page."""
    language, find = ("python", python) if file.suffix == ".py" else ("cpp", cpp)
    text = file.read_text()
    parts = [find(text, name) for name in names]
    between = "\n\n\n" if language == "python" else "\n\n"
    return f"```{language}\n{between.join(parts)}\n```\n"


def python(text: str, name: str) -> str:
    """The definition of a function, a class, a method ("Class.method") or a variable."""
    found = _node(text, name)
    lines = text.split("\n")
    first = min([found.lineno, *(d.lineno for d in getattr(found, "decorator_list", []))])
    return textwrap.dedent("\n".join(lines[first - 1 : found.end_lineno]))


def cpp(text: str, name: str) -> str:
    """The definition of a function, a struct or an enum: up to the line of its last brace."""
    head = rf"^(?:template.*\n)?[ \t]*(?:[\w:<>&*, ]+ )?{re.escape(name)}\b[^;]*?\{{"
    found = re.search(head, text, re.M)
    if found is None:
        raise KeyError(name)
    depth, end = 1, found.end()
    while depth:
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        end += 1
    return textwrap.dedent(text[found.start() : text.index("\n", end)])


def _node(text: str, name: str) -> Any:
    """The statement that defines a name, "Class.field" included."""
    body: list[ast.stmt] = ast.parse(text).body
    *classes, last = name.split(".")
    for outer in classes:
        (body,) = (n.body for n in body if isinstance(n, ast.ClassDef) and n.name == outer)
    for node in body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        names = [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names = [node.target.id]
        if last in (getattr(node, "name", None), *names):
            return node
    raise KeyError(name)


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
    """A number of one of our kernel fits.

    The key is "CASE: steps", "CASE: MB", "CASE: seconds", or "least rows per support vector" of all
    binary cases.
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
    """A number of a linear fit of ours or of a peer.

    The key is "CASE to 1e-4: seconds", "CASE to 1e-4: seconds of LABEL", or "least steps of
    newton".
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
    """A constant: "FILE NAME", or "FILE Settings.field"."""
    file, name = key.split()
    node = _node((ROOT / "src" / "maxmargin" / file).read_text(), name)
    value = node.value
    if isinstance(value, ast.Tuple):
        value = value.elts[[n.id for n in node.targets[0].elts].index(name)]
    number = eval(compile(ast.Expression(value), file, "eval"), {})
    return count(number) if number == int(number) else str(number)


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
