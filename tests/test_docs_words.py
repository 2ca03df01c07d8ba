"""The words of the documents: the glossary is that of the code, private terms stay away, lines are
of a length that can be read."""

import re
from pathlib import Path

import pytest

from maxmargin.status import Status

ROOT = Path(__file__).parent.parent
SOURCES = [
    path
    for path in sorted((ROOT / "src").rglob("*"))
    if path.suffix in (".py", ".h", ".cpp", ".pyi")
]
WRITTEN = ["benchmark.md", "linear-benchmark.md"]
"""Pages that programs write."""
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(
        page
        for page in sorted((ROOT / "docs").rglob("*.md"))
        if str(page.relative_to(ROOT / "docs")) not in WRITTEN
    ),
]
HISTORY = ROOT / "docs" / "decisions"
HOW = (ROOT / "docs" / "how-it-works.md").read_text()
GLOSSARY = re.findall(
    r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$",
    (ROOT / "docs" / "glossary.md").read_text(),
    re.MULTILINE,
)[1:]
WIDTH = 100

PRIVATE = {
    "corridor": "epsilon-insensitive tube",
}
"""Terms that nobody can look up, and those of the literature that took their place."""
LITERAL = [
    "anew",
    "came to",
    "(?<!there )is no model",
    "it is of",
    "so many",
    "where they are wanted",
]
"""Literal translations."""


def ids(path):
    return str(path.relative_to(ROOT))


# ---- the glossary --------------------------------------------------------------------------------


def test_the_glossary_is_found_and_in_order():
    terms = [term for term, *_ in GLOSSARY]
    assert len(terms) > 20
    assert terms == sorted(terms, key=str.lower)


@pytest.mark.parametrize(("term", "meaning", "reference"), GLOSSARY)
def test_a_term_of_the_glossary_is_a_word_of_the_code(term, meaning, reference):
    pattern = re.compile(re.escape(term).replace(r"\ ", r"[\s_-]+(?:# |// )?"), re.IGNORECASE)
    assert any(pattern.search(path.read_text()) for path in SOURCES)
    assert meaning[0].isupper()
    assert reference == "here" or re.search(r"\b(19|20)\d\d\b", reference), "a year"


def test_every_status_is_explained():
    table = HOW.partition("| `certificate_.status` |")[2].partition("\n\n")[0]
    named = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE)))
    assert sorted(named) == sorted(set(Status) - {Status.UNJUDGED})


# ---- words that are gone -------------------------------------------------------------------------


@pytest.mark.parametrize("word", PRIVATE)
def test_private_terms_are_gone(word):
    pattern = re.compile(word, re.IGNORECASE)
    pages = [page for page in PAGES if HISTORY not in page.parents]
    assert [ids(path) for path in [*SOURCES, *pages] if pattern.search(path.read_text())] == []


@pytest.mark.parametrize("phrase", LITERAL)
def test_documents_and_code_are_plain_english(phrase):
    pattern = re.compile(rf"\b{phrase}\b", re.IGNORECASE)
    pages = [page for page in PAGES if HISTORY not in page.parents]
    found = [path for path in [*SOURCES, *pages] if pattern.search(in_one_line(path.read_text()))]
    assert [ids(path) for path in found] == []


def in_one_line(text):
    """A text without its line breaks and the marks of comments after them."""
    return re.sub(r"\s+(?:(?:#|//) )?", " ", text)


def test_a_phrase_is_found_across_lines():
    assert "so many" in in_one_line("# not so\n# many")


# ---- lines ---------------------------------------------------------------------------------------


def too_long(text):
    """Numbers of long lines; tables, fences, headings and what programs wrote may be longer."""
    fence = written = False
    for number, line in enumerate(text.splitlines(), 1):
        fence ^= line.startswith("```")
        written = line.startswith("<!-- written by") or (
            written and not line.startswith("<!-- until here")
        )
        whole = len(re.sub(r"`[^`]*`|<!--.*?-->|\[[^\]]*\]\([^)]*\)", "x", line).split()) <= 2
        if len(line) > WIDTH and not (fence or written or line.startswith(("|", "#")) or whole):
            yield number


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_lines_are_not_too_long(page):
    assert list(too_long(page.read_text())) == []


def test_a_long_line_is_found():
    long = "word " * 30
    assert list(too_long(f"short\n{long}\n```python\n{long}\n```\n| {long} |\n{long}")) == [2, 7]
    assert list(too_long(f"<!-- written by make -->\n{long}\n<!-- until here -->\n{long}")) == [4]
    assert list(too_long(f"* `{long}`")) == []
