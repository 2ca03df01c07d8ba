"""Check the built site: every link inside it leads to a page and a place that exist, and every
public name has a page.

    python docs/_extensions/check.py build/docs/html
"""

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import api

OTHERS = ("lab", "_static")
"""Folders whose pages are not Sphinx's."""


class Page(HTMLParser):
    """The links of a page and the places that links can name."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what the tag refers to and what it is called."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            if name in ("id", "name") and value:
                self.places.add(value)


def broken(site: Path) -> Iterator[str]:
    """The links that lead nowhere, each with its page."""
    pages = {
        path: Page(path) for path in sorted(site.rglob("*.html")) if path.parent.name not in OTHERS
    }
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = pages.get(target)
            place = unquote(parts.fragment)
            if not target.is_file() or (known and place and place not in known.places):
                yield f"{path.relative_to(site)}: {link}"


def undocumented(site: Path) -> Iterator[str]:
    """Public names without a page that describes them."""
    for name in api.pages():
        page = site / "api" / f"{name}.html"
        places = Page(page).places if page.is_file() else set()
        if name != "index" and not {name, f"module-{name}"} & places:
            yield name


def main(site: Path) -> int:
    """Print what is wrong and return how much it is."""
    wrong = [*broken(site), *(f"{name} has no page" for name in undocumented(site))]
    print("\n".join(wrong) or f"The site is at {site / 'index.html'}")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(min(main(Path(sys.argv[1]).resolve()), 1))
