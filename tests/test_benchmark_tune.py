"""The benchmark of searches: what is extrapolated, and which scores count as different."""

import subprocess
import sys
from pathlib import Path

from helpers import child_environment

PROGRAM = """
import numpy as np
import tune

case = tune.Search(tune.hundred, {"C": [1.0, 2.0, 4.0, 8.0, 16.0], "gamma": [0.1, 1.0]}, 2)
keys_of = lambda grid: [(C, g) for C in grid["C"] for g in grid["gamma"]]

def ours(case, X, y, jobs):
    return 2.0, {key: np.array([0.5, key[0] / 10]) for key in keys_of(case.grid)}

def theirs(case, module, grid, X, y, jobs):
    other = {key: np.array([0.5, key[0] / 10]) for key in keys_of(grid)}
    if module.__name__ == "sklearn.svm":
        other[16.0, 1.0] = np.array([0.5, 1.35])
    fits = np.array([[C * g for g in grid["gamma"]] for C in grid["C"]])
    return 0.1 * fits.sum(), fits, other

real = tune.ours(case, *tune.hundred(), 1)[1]
seconds, fits, goal = tune.theirs(case, tune.maxmargin, case.grid, *tune.hundred(), 1)
assert fits.shape == (5, 2) and seconds > fits.min() > 0
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
    assert part[2:4] == ["5 x 2 x 2 folds", "2.00"]
    # fits take C gamma: 31 times 1.1, exact in a part, since its logarithm is linear
    assert part[4:8] == ["3.4", "1.7", "0", "0 of 20"]
    assert part[8:] == ["about 3.4", "1.7", "0.25", "1 of 12", "6 of 10"]
    assert full[8:] == ["3.4", "1.7", "0.25", "1 of 20", "10 of 10"]
    assert whole[1:] == full[1:]
