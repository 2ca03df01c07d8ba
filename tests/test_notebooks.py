"""The notebooks run from top to bottom, and every figure of the gallery is on its page."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from maxmargin.textbook import lectures

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.py"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebook_runs(path, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(path)],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_notebooks_are_nine_and_in_percent_format():
    assert [path.stem[:2] for path in NOTEBOOKS] == [f"{k:02d}" for k in range(1, 10)]
    for path in NOTEBOOKS:
        assert path.read_text().startswith("# %% [markdown]\n# # ")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_the_kept_output_is_that_of_the_source(path):
    """Otherwise: make notebooks."""
    source = re.split(r"^# %%(?: \[markdown\])?\n", path.read_text(), flags=re.MULTILINE)[1:]
    kept = json.loads(path.with_suffix(".ipynb").read_text())["cells"]
    assert len(kept) == len(source)
    for cell, text in zip(kept, source, strict=True):
        if cell["cell_type"] == "markdown":
            text = re.sub(r"^# ?", "", text, flags=re.MULTILINE)
        assert "".join(cell["source"]) == text.strip("\n")
        if cell["cell_type"] == "code":
            assert cell["execution_count"], "a cell that was not run"
            kinds = {output["output_type"] for output in cell["outputs"]}
            assert "error" not in kinds
            assert not any(output.get("name") == "stderr" for output in cell["outputs"])
    assert path.with_suffix(".ipynb").stat().st_size < 100_000


def test_gallery_page_shows_every_figure():
    folder = ROOT / "docs" / "gallery"
    shown = re.findall(r"\]\((\S+)\.png\)", (folder / "README.md").read_text())
    drawn = {
        f"{key}-{name.replace('_', '-')}"
        for key in (*lectures.LECTURES, "variants")
        for path in (ROOT / "examples" / "gallery").glob(f"{key}*.py")
        for name in re.findall(r"^def ([a-z]\w*)\(\)", path.read_text(), re.MULTILINE)
    }
    assert set(shown) == drawn
    assert len(shown) == len(drawn)
    assert {path.stem for path in folder.glob("*.png")} == drawn, "a picture that nothing draws"
    assert {path.stem for path in folder.glob("*.svg")} == drawn


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "gallery").glob("*.png")), ids=str)
def test_pictures_are_of_print_quality_and_small(path):
    with Image.open(path) as image:
        assert image.width >= 450, "three inches at 150 dots"
        assert round(image.info["dpi"][0]) == 150
    assert 5_000 < path.stat().st_size < 150_000
    svg = path.with_suffix(".svg").read_text()
    assert "</svg>" in svg
    assert len(svg) < 400_000
    assert "<dc:date>" not in svg, "a date would make each build another file"
