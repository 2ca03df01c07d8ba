"""Each script of examples/ runs, on a copy beside a copy of the page it writes, and shows what it
promises.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import needs

ROOT = Path(__file__).parent.parent
SCRIPTS = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))


@pytest.fixture
def run(tmp_path):
    """A function that runs a script of the copy, warnings being errors, and returns what it
    printed.
    """
    shutil.copytree(
        ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__")
    )
    (tmp_path / "docs" / "pictures").mkdir(parents=True)
    shutil.copy(ROOT / "docs" / "command-line.md", tmp_path / "docs")

    def call(name, *arguments):
        line = [sys.executable, "-W", "error", f"examples/{name}.py", *arguments]
        environment = {**os.environ, "MPLBACKEND": "Agg", "COLUMNS": "120"}
        done = subprocess.run(
            line, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=250
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    return call


def test_every_script_is_tried():
    assert SCRIPTS == ["lab_tour", "newton_rate", "online_rates", "quick_start", "terminal_tour"]


def test_quick_start(run, tmp_path):
    """What `make run` shows: scores like scikit-learn's, a certificate in every row, and a
    picture."""
    said = run("quick_start")
    rows = [line.split("│")[1:-1] for line in said.splitlines() if line.startswith("│")]
    assert len(rows) == 6, said
    for _, _, ours, theirs, _, _, certificate in rows:
        assert abs(float(ours) - float(theirs)) < 0.01
        assert re.fullmatch(r"optimal, gap \de-\d\d", certificate.strip())
    assert "picture: run/quick_start.png" in said
    assert (tmp_path / "run" / "quick_start.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["newton_rate", "online_rates"])
def test_pictures_of_convergence(name, run, tmp_path):
    run(name)
    assert (
        "</svg>" in (tmp_path / "docs" / "pictures" / f"{name.replace('_', '-')}.svg").read_text()
    )


def test_terminal_tour(run, tmp_path):
    run("terminal_tour")
    page = (tmp_path / "docs" / "command-line.md").read_text()
    assert "accuracy" in page
    assert "Traceback" not in page
    assert "not found" not in page
    assert "</svg>" in (tmp_path / "docs" / "pictures" / "command-line.svg").read_text()


@needs.programs("chromium", debian="chromium")
def test_lab_tour(run, tmp_path):
    """The film moves, in the time and the size that a README can have."""
    needs.package("playwright")
    said = run("lab_tour")
    pictures, seconds, size = re.findall(r"[\d.]+(?= pictures| s,| MB)", said)
    assert int(pictures) > 60
    assert 15 <= float(seconds) <= 20
    assert float(size) < 3
    assert (tmp_path / "docs" / "pictures" / "lab.gif").read_bytes().startswith(b"GIF89a")


def test_gallery(run, tmp_path):
    """One figure of each lecture, and one of the variants.

    The gallery's page is compared with the sources in test_notebooks.py.
    """
    names = [
        "gaussian_kernel",
        "border_and_margin",
        "updates_of_a_pair",
        "six_points",
        "inner_product",
        "lattice",
    ]
    assert len(run("gallery/build", *names).split()) == len(names)
    for ending in ("png", "svg"):
        assert len(list((tmp_path / "docs" / "gallery").glob(f"*.{ending}"))) == len(names)
