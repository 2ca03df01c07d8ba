"""The pages of the lectures: the table of all items names what exists, the pages show figures that
are drawn, and links lead to states of the lab that it has."""

import re
from pathlib import Path

import pytest

import maxmargin
from maxmargin import textbook

ROOT = Path(__file__).parent.parent
LECTURES = ROOT / "docs" / "lectures"
TABLE = (LECTURES / "table.md").read_text()
KINDS = {
    "algorithm",
    "definition",
    "example",
    "exercise",
    "figure",
    "formulation",
    "pointer",
    "property",
    "theorem",
}
SECTIONS = TABLE.split("\n## ")[1:]
ROWS = [
    (section.partition("\n")[0], [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    for section in SECTIONS
    for line in section.splitlines()
    if line.startswith("| ") and not line.startswith("| where")
]
LAB = re.compile(r"src/maxmargin/lab/index\.html#/([\w/-]*)(?:\?([^)\s]*))?\)")
SOURCES = ROOT / "lab" / "src"


def found(name):
    """What a dotted name of the package means."""
    thing = maxmargin
    for part in name.split("."):
        thing = getattr(thing, part)
    return thing


def test_every_lecture_has_a_section_and_a_page():
    titles = [section.partition("\n")[0] for section in SECTIONS]
    assert titles == [str(lecture) for lecture in textbook.lectures.LECTURES.values()]
    for key, lecture in textbook.lectures.LECTURES.items():
        page = (LECTURES / f"{key}.md").read_text()
        assert lecture.title in page.splitlines()[0]
        assert f"]({key}.md)" in TABLE
        assert f"]({key}.md)" in (LECTURES / "README.md").read_text()


@pytest.mark.parametrize(("lecture", "row"), ROWS, ids=lambda value: str(value)[:60])
def test_a_row_names_what_exists(lecture, row):
    where, kind, what, runs, figures, notebook, lab = row
    assert where
    assert what
    assert kind in KINDS
    names = re.findall(r"`([\w.]+)`", runs)
    assert names or runs in ("the figure", "no SVM: out of scope") or "](" in runs
    for name in names:
        assert found(name) is not None
    if kind == "figure":
        assert figures, "a figure of the lecture that is not drawn"
    for cell in (figures, notebook, lab):
        for link in re.findall(r"\]\(([^)#\s]+)", cell):
            assert (LECTURES / link).exists(), link


def test_nothing_is_missing():
    assert [row[2] for _, row in ROWS if "not yet" in row[3]] == []


def test_a_wrong_name_would_be_noticed():
    assert found("textbook.smo") is textbook.smo
    with pytest.raises(AttributeError):
        found("textbook.no_such_algorithm")


NUMBERED = {"theory": 48, "boyd_graber": 19, "fan": 49}
"""The last equation of the lectures that number theirs."""


@pytest.mark.parametrize("key", NUMBERED)
def test_every_numbered_equation_is_on_the_page(key):
    """As a number, or inside a range such as (7) to (25)."""
    page = (LECTURES / f"{key}.md").read_text()
    named = {int(number) for number in re.findall(r"\((\d+)\)", page)}
    for first, last in re.findall(r"\((\d+)\) to \((\d+)\)", page):
        named |= set(range(int(first), int(last) + 1))
    assert set(range(1, NUMBERED[key] + 1)) <= named


@pytest.mark.parametrize("page", sorted(LECTURES.glob("*.md")), ids=lambda path: path.name)
def test_links_lead_to_states_of_the_lab(page):
    """Names of the views, machines, sets and algorithms are those of its sources."""
    for view, query in LAB.findall(page.read_text()):
        name = view.removeprefix("explain/")
        if view.startswith("explain/"):
            assert f'name: "{name}"' in _read("explainers"), view
        else:
            assert view in ("play", "step")
        sources = _read({"play": "playground", "step": "stepper"}.get(view, "explainers"))
        for part in filter(None, query.split("&")):
            parameter, value = part.split("=")
            assert f'"{parameter}"' in sources, part
            if parameter != "points" and not re.fullmatch(r"[\d.]+", value):
                known = sources + _read("data")
                assert f'"{value}"' in known or re.search(rf"\b{value}: ", known), part


def _read(folder):
    return "\n".join(path.read_text() for path in sorted((SOURCES / folder).rglob("*.ts")))


def test_figures_of_a_lecture_are_on_its_page():
    """Each picture of the gallery is shown by the page of its lecture."""
    for key in textbook.lectures.LECTURES:
        page = (LECTURES / f"{key}.md").read_text()
        drawn = {path.name for path in (ROOT / "docs" / "gallery").glob(f"{key}-*.png")}
        shown = set(re.findall(r"gallery/([\w-]+\.png)", page))
        assert drawn - shown <= {"straka-prediction-intervals.png"}, key


def test_every_exercise_is_on_its_page():
    page = (LECTURES / "exercises.md").read_text()
    named = re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)
    assert named == list(textbook.exercises.EXERCISES)
