"""The Python blocks of the README and of the textbook's page run, and say what they claim; links point somewhere."""

import re
from pathlib import Path

import matplotlib
import pytest

matplotlib.use("Agg")
ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "docs" / "gallery" / "README.md"]


def run(page):
    """Execute a page's Python blocks one after the other; return their names."""
    names = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        exec(block, names)
    return names


def test_readme_runs(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = run(ROOT / "README.md")
    assert names["c"].status == "optimal"
    assert round(names["model"].score(names["X"], names["y"]), 4) == 0.9912
    assert "optimal: gap" in capsys.readouterr().out


def test_textbook_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(ROOT / "docs" / "textbook.md")
    assert {path.name for path in tmp_path.iterdir()} == {"boundary.png", "gap.png", "smo.gif"}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_point_somewhere(page):
    for link in re.findall(r"\]\(([^)#\s]+)\)", page.read_text()):
        assert link.startswith("http") or (page.parent / link).exists(), link
