"""Numbers and code in the documents are those of the committed results and of the sources.

See benchmarks/figures.py.
"""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
_spec = importlib.util.spec_from_file_location(
    "maxmargin_figures", ROOT / "benchmarks" / "figures.py"
)
figures = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(figures)


@pytest.mark.parametrize("page", figures.pages(), ids=lambda p: str(p.relative_to(ROOT)))
def test_numbers_and_code_are_up_to_date(page):
    """Otherwise: make figures."""
    assert figures.update(page.read_text()) == page.read_text()


def test_every_mark_is_read():
    """A mark with a space before it, or of an unknown source, would never be written."""
    for page in figures.pages():
        text = page.read_text()
        marks = re.findall(r"<!-- (?:benchmark|linear|code|gallery): .*? -->", text)
        assert len(marks) == len(figures.MARK.findall(text)), page
        assert text.count("<!-- code from") == len(figures.CODE.findall(text)), page


@pytest.mark.parametrize(
    "mark",
    [
        "benchmark: covtype10k C=10: steps",
        "linear: greatest steps of newton",
        "code: core/threads.py SMALL",
        "gallery: figures",
    ],
)
def test_a_wrong_number_is_corrected(mark):
    text = f"about 7<!-- {mark} --> of them"
    found = figures.update(text)
    assert found != text
    assert figures.update(found) == found
    assert re.fullmatch(r"about [\d,.]+<!-- .* --> of them", found)


@pytest.mark.parametrize(
    "mark", ["benchmark: nothing: steps", "code: core/cpu.py NOTHING", "linear: nothing"]
)
def test_an_unknown_number_is_an_error(mark):
    with pytest.raises((KeyError, ValueError, AssertionError)):
        figures.update(f"7<!-- {mark} -->")


SOURCE = '''
from typing import NamedTuple

FIRST, LIMIT = 1, 3


class Settings(NamedTuple):
    """Of a solver."""

    active: int = 1_536
    """Variables."""

    @property
    def twice(self):
        return 2 * self.active


TABLE = {
    "a": 1,
}
'''


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("LIMIT", "FIRST, LIMIT = 1, 3"),
        ("Settings.twice", "@property\ndef twice(self):\n    return 2 * self.active"),
        ("Settings.active", "active: int = 1_536"),
        ("TABLE", 'TABLE = {\n    "a": 1,\n}'),
    ],
)
def test_a_definition_in_python_is_found(name, code):
    assert figures.python(SOURCE, name) == code


@pytest.mark.parametrize("name", ["twice", "Settings.other", "NamedTuple"])
def test_what_is_not_defined_is_an_error(name):
    with pytest.raises(KeyError):
        figures.python(SOURCE, name)


def test_a_number_may_be_a_field_of_a_record(tmp_path, monkeypatch):
    (tmp_path / "src" / "maxmargin").mkdir(parents=True)
    (tmp_path / "src" / "maxmargin" / "a.py").write_text(SOURCE)
    monkeypatch.setattr(figures, "ROOT", tmp_path)
    assert figures.code("a.py Settings.active") == "1,536"
    assert figures.code("a.py LIMIT") == "3"


CPP = """
// Kind in a comment
enum class Kind : int { linear = 0, poly = 1 };

template <class T>
bool with_map(const Kernel& kernel) {
  use(Kind::poly);
  if (kernel) { return true; }
}
void other() {}
"""


@pytest.mark.parametrize(
    ("name", "begin", "end"),
    [("Kind", "enum class", "1 };"), ("with_map", "template <class T>", "\n}")],
)
def test_a_definition_in_cpp_is_found(name, begin, end):
    found = figures.cpp(CPP, name)
    assert found.startswith(begin)
    assert found.endswith(end)
    assert "other" not in found


def test_code_on_a_page_is_updated():
    mark = "<!-- code from: tests/test_doc_figures.py test_code_on_a_page_is_updated -->\n"
    page = f"Text\n\n{mark}```python\nold\n```\nMore"
    new = figures.update(page)
    assert new.startswith(f"Text\n\n{mark}```python\ndef test_code_on_a_page_is_updated():\n")
    assert new.endswith("```\nMore")
    assert figures.update(f"Text\n\n{mark}More") == new
    assert figures.update(new) == new
