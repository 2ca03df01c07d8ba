"""Docstrings for Sphinx: ours are plain text with numpydoc's sections, read in the sources first.

In them |w| is a norm and epsilon_ a name, which reStructuredText takes for a substitution and a
link; docs/files.md is that page. Indented formulas and tables at the top of a module keep their
lines. scikit-learn's docstrings refer to its own site.
"""

import re
from collections.abc import Iterator
from typing import Any

LITERAL = re.compile(r"(``.*?``|`[^`]+`_*)")
MARKUP = re.compile(r"(?<!\\)\||(?<=\w)_(?=\W|$)")
PAGE = re.compile(r"docs/([\w-]+)\.md")
THEIRS = re.compile(r":(?:ref|term):`([^`<]+?)(?: <[^`]*>)?`")


def plain(line: str) -> str:
    """A line in which only literals are markup; one of an example stays as it is."""
    if line.lstrip().startswith((">>>", "...")):
        return line
    parts = LITERAL.split(line)
    parts[::2] = [PAGE.sub(r":doc:`/\1`", MARKUP.sub(r"\\\g<0>", part)) for part in parts[::2]]
    return "".join(parts)


def displayed(lines: list[str]) -> Iterator[str]:
    """The lines of a module's docstring, with formulas and tables as literal blocks."""
    inside = False
    for line in lines:
        block = line.startswith(("    ", "|")) or (inside and not line)
        if block and not inside:
            yield from ("::", "")
        inside = block
        yield (f"    {line}" if line.startswith("|") else line) if block else plain(line)


def process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Before numpydoc reads a docstring."""
    if what == "module":
        lines[:] = displayed(lines)
    else:
        lines[:] = [THEIRS.sub(r"\1", plain(line)) for line in lines]


def setup(app: Any) -> dict[str, bool]:
    """Before numpydoc, which listens to the same event with priority 500."""
    app.connect("autodoc-process-docstring", process, priority=100)
    return {"parallel_read_safe": True}
