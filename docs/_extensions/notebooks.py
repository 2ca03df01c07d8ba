"""The notebooks of examples/notebooks as sphinx-gallery's examples: run once, with .ipynb files.

sphinx-gallery reads scripts that begin with a docstring and whose comments are reStructuredText.
The notebooks are in the percent format, their text is Markdown. This module writes the one from
the other. The text keeps to what ``text`` below translates; anything else is an error.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "examples" / "notebooks"
SCRIPTS = ROOT / "build" / "docs" / "notebooks"
CELL = re.compile(r"^# %%(?P<text> \[markdown\])?[^\n]*\n", re.MULTILINE)
HEADER = """Notebooks
=========

The lectures in nine notebooks. Each page is what its notebook prints and draws. You can download
it as a notebook or as a script.
"""
UNDERLINES = {1: "=", 2: "-", 3: "~"}
PATTERNS = (
    (re.compile(r"\|"), r"\\|"),
    (re.compile(r"(?<!`)`([^`]+)`(?!`)"), r"``\1``"),
    (re.compile(r"\$([^$]+)\$"), r":math:`\1`"),
    (re.compile(r"\[([^\]]+)\]\((https?://[^)]+)\)"), r"`\1 <\2>`__"),
)
REFUSED = re.compile(r"^\\?\||\]\(|^```|^>", re.MULTILINE)
"""Tables, links to files, fences, quotations: nothing here translates them."""


def cells(notebook: str) -> list[tuple[bool, str]]:
    """The cells of a notebook: whether it is text, and its content."""
    marks = list(CELL.finditer(notebook))
    ends = [mark.start() for mark in marks[1:]] + [len(notebook)]
    return [
        (mark["text"] is not None, notebook[mark.end() : end].strip("\n"))
        for mark, end in zip(marks, ends, strict=True)
    ]


def text(markdown: str) -> str:
    """Markdown as reStructuredText: headings, formulas, code, links to pages of the network."""
    parts = re.split(r"\$\$(.+?)\$\$", markdown, flags=re.DOTALL)
    for k, part in enumerate(parts):
        parts[k] = _block(part) if k % 2 else _inline(part)
    found = "".join(parts)
    if REFUSED.search(found):
        raise ValueError(
            f"Text of a notebook that docs/_extensions/notebooks.py cannot translate: {found}"
        )
    return found


def _block(formula: str) -> str:
    lines = "\n".join("   " + line for line in formula.strip().splitlines())
    return f"\n\n.. math::\n\n{lines}\n\n"


def _inline(markdown: str) -> str:
    for pattern, replacement in PATTERNS:
        markdown = pattern.sub(replacement, markdown)
    return re.sub(r"^(#+) (.*)$", _heading, markdown, flags=re.MULTILINE)


def _heading(found: re.Match[str]) -> str:
    return f"{found[2]}\n{UNDERLINES[len(found[1])] * len(found[2])}\n"


def script(notebook: str) -> str:
    """A notebook as a script of sphinx-gallery."""
    parts = []
    for k, (is_text, content) in enumerate(cells(notebook)):
        if not is_text:
            parts.append(f"# %%\n{content}\n")
            continue
        lines = text(re.sub("^# ?", "", content, flags=re.MULTILINE))
        if k == 0:
            parts.append(f'r"""\n{lines}\n"""\n')
        else:
            comment = "\n".join(f"# {line}".rstrip() for line in lines.splitlines())
            parts.append(f"# %%\n{comment}\n")
    return "\n".join(parts)


def configuration() -> dict[str, object]:
    """sphinx-gallery's settings; the scripts are written."""
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    (SCRIPTS / "GALLERY_HEADER.rst").write_text(HEADER)
    for path in SCRIPTS.glob("*.py"):
        path.unlink()
    for path in sorted(NOTEBOOKS.glob("*.py")):
        (SCRIPTS / path.name).write_text(script(path.read_text()))
    return {
        "examples_dirs": str(SCRIPTS),
        "gallery_dirs": "notebooks",
        "filename_pattern": ".*",
        "within_subsection_order": "FileNameSortKey",
        "abort_on_example_error": True,
        "write_computation_times": False,
        "min_reported_time": 1e9,
        "show_memory": False,
        "show_signature": False,
        "download_all_examples": True,
        "remove_config_comments": True,
        "matplotlib_animations": True,
    }
