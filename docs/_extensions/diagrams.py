"""Mermaid diagrams as pictures: code hosts draw them from the page, the site shows an SVG file.

A ``mermaid`` fence of the page ``name.md`` becomes the picture ``pictures/name.mermaid.svg``, which
``tools/diagrams.sh`` draws. Its first comment is a checksum of the text that it was drawn from.
"""

import hashlib
import sys
from pathlib import Path
from typing import Any

from docutils import nodes

DOCS = Path(__file__).resolve().parents[1]


def checksum(text: str) -> str:
    """What the picture of a diagram must name."""
    return hashlib.sha256(text.strip().encode()).hexdigest()[:16]


def replace(app: Any, doctree: nodes.document) -> None:
    """Put the picture in place of the text."""
    for block in list(doctree.findall(nodes.literal_block)):
        if block.get("language") != "mermaid":
            continue
        picture = f"pictures/{app.env.docname}.mermaid.svg"
        if checksum(block.astext()) not in (DOCS / picture).read_text():
            raise ValueError(f"docs/{picture} is not that of its page: run tools/diagrams.sh")
        alt = "A diagram; its text is in the page's source."
        block.replace_self(nodes.image(uri="/" + picture, alt=alt, classes=["diagram"]))


def setup(app: Any) -> dict[str, bool]:
    """Before Sphinx collects the pictures of a page."""
    app.connect("doctree-read", replace, priority=100)
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    text, drawn, picture = map(Path, sys.argv[1:])
    mark = f"<!-- drawn from {checksum(text.read_text())} by tools/diagrams.sh -->"
    picture.write_text(f"{mark}\n{drawn.read_text()}\n")
