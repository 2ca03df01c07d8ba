"""The notebooks run from top to bottom, and every figure of the gallery is on its page."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_notebooks_are_eight_and_in_percent_format():
    assert [path.stem[:2] for path in NOTEBOOKS] == [f"{k:02d}" for k in range(1, 9)]
    for path in NOTEBOOKS:
        assert path.read_text().startswith("# %% [markdown]\n# # ")


def test_gallery_page_shows_every_figure():
    page = (ROOT / "docs" / "gallery" / "README.md").read_text()
    shown = set(re.findall(r"\]\((\S+\.png)\)", page))
    drawn = {
        f"{path.stem[-3:]}-{name.replace('_', '-')}.png"
        for path in (ROOT / "examples" / "gallery").glob("lecture_*.py")
        for name in re.findall(r"^def ([a-z]\w*)\(\)", path.read_text(), re.M)
    }
    assert shown == drawn
    for name in shown:
        assert (ROOT / "docs" / "gallery" / name).stat().st_size > 5000
