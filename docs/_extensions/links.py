"""Links of Markdown pages to files of the repository lead to the page of the site that shows them.

On a code host ``[margins](../examples/notebooks/01-margins.py)`` opens the file. On the site it
opens the notebook's page; a Python file of the package, its highlighted source; the lab's file, the
running lab. A file that is included from elsewhere (README.md) keeps links relative to its own
place. Links that are not translated are left to MyST, which knows pages and offers other files for
download. Code hosts show the README.md of a folder as its start page, and so does the site.
"""

import os
import re
from pathlib import Path
from typing import Any

from docutils import nodes

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LINK = re.compile(r"\]\((?!\w+:|#)([^)\s#]+)(#[^)\s]*)?\)")
SITE = "site:"
"""A scheme of our own: an address relative to the root of the site, until the page is written."""
CHAPTERS = "\n\n:::{{toctree}}\n:hidden:\n\n{}\n:::\n"
PAGES = {
    "README.md": "docs/index.md",
    "CHANGELOG.md": "docs/changelog.md",
    "CONTRIBUTING.md": "docs/contributing.md",
}
TRANSLATED = (
    (re.compile(r"src/maxmargin/lab/index\.html"), SITE + "lab/index.html"),
    (re.compile(r"src/(maxmargin/.*)\.py"), SITE + r"_modules/\1.html"),
    (re.compile(r"examples/notebooks/(.*)\.py"), r"docs/notebooks/\1.rst"),
)
"""Files of the repository, and what the site shows in their place."""


def translate(text: str, place: Path, reader: Path) -> str:
    """The text of a file in the folder `place`, with links for a page in the folder `reader`."""

    def link(found: re.Match[str]) -> str:
        path = os.path.relpath(place / found[1], ROOT)
        path = PAGES.get(path, path)
        for pattern, target in TRANSLATED:
            if match := pattern.fullmatch(path):
                path = match.expand(target)
        if not path.startswith(SITE):
            path = os.path.relpath(ROOT / path, reader)
        return f"]({path}{found[2] or ''})"

    return LINK.sub(link, text)


def read_page(app: Any, docname: str, content: list[str]) -> None:
    """A page of the site, before it is parsed."""
    path = Path(app.env.doc2path(docname))
    if path.suffix == ".md":
        content[0] = translate(content[0], path.parent, path.parent) + chapters(path, content[0])


def chapters(page: Path, text: str) -> str:
    """The README.md of a folder is the parent of the folder's other pages, in its own order."""
    others = {path.name: path for path in sorted(page.parent.glob("*.md")) if path != page}
    if page.name != "README.md" or not others:
        return ""
    named = [found[1] for found in LINK.finditer(text) if found[1] in others]
    return CHAPTERS.format("\n".join(dict.fromkeys([*named, *others])))


def read_included(app: Any, path: Path, docname: str, content: list[str]) -> None:
    """A file that a page includes."""
    place = (Path(app.srcdir) / path).resolve().parent
    content[0] = translate(content[0], place, Path(app.env.doc2path(docname)).parent)


def resolve(app: Any, doctree: nodes.document, docname: str) -> None:
    """Addresses relative to the root of the site become relative to the page."""
    root = app.builder.get_relative_uri(docname, "index").removesuffix("index.html")
    for node in doctree.findall(nodes.reference):
        if node.get("refuri", "").startswith(SITE):
            node["refuri"] = root + node["refuri"].removeprefix(SITE)
            node["internal"] = True


def setup(app: Any) -> dict[str, bool]:
    """Connect to reading and writing."""
    app.connect("source-read", read_page)
    app.connect("include-read", read_included)
    app.connect("doctree-resolved", resolve)
    return {"parallel_read_safe": True}
