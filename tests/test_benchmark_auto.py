"""The benchmark of AutoSVC: what its columns hold."""

import subprocess
import sys
from pathlib import Path

from helpers import child_environment

PROGRAM = """
import numpy as np
import auto
from sklearn.datasets import make_moons

table, y = auto.mixed()
assert table.shape == (6000, 11) and set(y) == {"stays", "leaves"}
assert 0.03 < table.isna().to_numpy().mean() < 0.05 and 0.3 < (y == "stays").mean() < 0.7
auto.C, auto.GAMMA = [1.0, 10.0, 100.0], [0.1, 1.0, 10.0]
auto.CASES["moons"] = lambda: make_moons(200, noise=0.3, random_state=0)
auto.CASES["table"] = lambda: (table[:160], y[:160])
print(auto.row("moons", 20, 1, True))
print(auto.row("table", 20, 1, False))
"""


def test_rows_of_the_table():
    folder = Path(__file__).parent.parent / "benchmarks"
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=folder,
        env=child_environment(),
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr
    moons, table = (line.strip("| ").split(" | ") for line in found.stdout.splitlines())
    assert moons[:3] == ["moons", "150", "50"]
    assert table[:3] == ["table", "120", "40"]
    assert (len(moons), len(table)) == (14, 8)
    ours, theirs = float(moons[3]), float(moons[8])
    assert 0.8 < ours <= 1
    difference, error = moons[9].split(" ± ")
    assert float(difference) == round(ours - theirs, 4)
    assert float(error) < 0.1
