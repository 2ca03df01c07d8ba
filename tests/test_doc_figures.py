"""Numbers in the documents are those of the committed results and of the code.

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
def test_numbers_are_up_to_date(page):
    """Otherwise: make figures."""
    assert figures.update(page.read_text()) == page.read_text()


def test_every_mark_is_read():
    """A mark with a space before it, or of an unknown source, would never be written."""
    for page in figures.pages():
        text = page.read_text()
        marks = re.findall(r"<!-- (?:benchmark|linear|code|gallery): .*? -->", text)
        assert len(marks) == len(figures.MARK.findall(text)), page


@pytest.mark.parametrize(
    "mark",
    [
        "benchmark: covtype10k C=10: steps",
        "linear: greatest steps of newton",
        "code: core/threads.py SMALL",
        "gallery: figures",
    ],
)
def test_a_wrong_number_is_written_anew(mark):
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
