"""The benchmark of searches: what is extrapolated, and which scores count as different."""

import subprocess
import sys
from pathlib import Path

from helpers import child_environment

PROGRAM = """
import numpy as np
import tune

case = tune.Search(tune.hundred, {"C": [1.0, 2.0, 3.0, 4.0, 5.0], "gamma": [0.1, 1.0]}, 2)

def ours(case, X, y, jobs):
    keys = [(C, g) for C in case.grid["C"] for g in case.grid["gamma"]]
    return 2.0, {key: np.array([0.5, key[0] / 10]) for key in keys}

def theirs(case, module, grid, X, y, jobs):
    keys = [(C, g) for C in grid["C"] for g in grid["gamma"]]
    other = {key: np.array([0.5, key[0] / 10]) for key in keys}
    if module.__name__ == "sklearn.svm":
        other[5.0, 1.0] = np.array([0.5, 0.25])
    return 3.0, other

real = tune.ours(case, *tune.hundred(), 1)[1]
goal = tune.theirs(case, tune.maxmargin, case.grid, *tune.hundred(), 1)[1]
assert real.keys() == goal.keys() and len(real) == 10
assert all(np.abs(real[key] - goal[key]).max() < 1e-9 for key in goal)
tune.ours, tune.theirs = ours, theirs
print(tune.row("part", case, 3, 1))
print(tune.row("full", case, None, 1))
print(tune.row("whole", case._replace(whole=True), 3, 1))
"""


def test_seconds_are_extrapolated_and_scores_compared():
    folder = Path(__file__).parent.parent / "benchmarks"
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=folder,
        env=child_environment(),
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr
    part, full, whole = (line.strip("| ").split(" | ") for line in found.stdout.splitlines())
    assert part[2:5] == ["5 x 2 x 2 folds", "2.00", "6 of 10"]
    assert part[5:9] == ["about 5.0", "2.5", "0", "0 of 12"]  # 3 s for 6 of 10 candidates
    assert part[9:] == ["about 5.0", "2.5", "0.25", "1 of 12"]
    assert full[4:9] == ["10 of 10", "3.0", "1.5", "0", "0 of 20"]
    assert whole[1:] == full[1:]
