"""Time of whole-grid searches beside GridSearchCV, and whether the scores agree.

    python benchmarks/tune.py [CASE ...] [--points 4] [--full] [--jobs 2] [--output FILE]

The searches of maxmargin, and GridSearchCV with its estimators, are timed on the whole grid.
GridSearchCV with scikit-learn's estimators is timed on a part of it: `--points` values of each
parameter, from the least to the greatest in even steps. The logarithms of the seconds of a fit are
interpolated between them, linearly along the logarithm of each parameter. (Seconds in proportion to
the number of candidates would count the corners, the slowest, too often: of fits with maxmargin on
covtype10k, 16 of 100 candidates tell the mean to 1 % in the first way, to 16 % in the second.)
`--full` times it on the whole grid instead, as a hundred samples always are. No time includes the
start of processes or the fit of the best candidate on all samples.

Scores are compared at the candidates that GridSearchCV was timed on, fold by fold.
"""

import argparse
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn.svm
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV

import maxmargin
from data import load
from maxmargin.model_selection import SVCCV, SVRCV
from maxmargin.model_selection.base import searched
from maxmargin.model_selection.kernel_cv import KernelSearchCV

AXES = {"C": "Cs", "gamma": "gammas", "epsilon": "epsilons"}
Values = list[float]
Scores = dict[tuple[float, ...], np.ndarray]
Grid = dict[str, Values]


def powers(begin: float, end: float, count: int) -> Values:
    """Powers of two."""
    return [float(value) for value in 2.0 ** np.linspace(begin, end, count)]


class Search(NamedTuple):
    """A grid and its data."""

    samples: Callable[[], tuple[Any, np.ndarray]]
    grid: Grid
    folds: int
    estimator: str = "SVC"
    whole: bool = False
    """Whether scikit-learn is always timed on the whole grid: so little cannot be extrapolated."""


def some(name: str, rows: int) -> Callable[[], tuple[Any, np.ndarray]]:
    """Random samples of a data set, the same each time."""

    def samples() -> tuple[Any, np.ndarray]:
        X, y = load(name)
        chosen = np.sort(np.random.default_rng(0).permutation(X.shape[0])[:rows])
        return X[chosen], y[chosen]

    return samples


def first(name: str, rows: int) -> Callable[[], tuple[Any, np.ndarray]]:
    """The first samples of a data set."""

    def samples() -> tuple[Any, np.ndarray]:
        X, y = load(name)
        return X[:rows], y[:rows]

    return samples


def hundred() -> tuple[Any, np.ndarray]:
    """A hundred samples of two classes that overlap."""
    found: tuple[Any, np.ndarray] = make_classification(
        100, 8, n_informative=5, flip_y=0.1, random_state=0
    )
    return found


SEARCHES = {
    "hundred": Search(
        hundred, {"C": powers(-2, 16, 10), "gamma": powers(-8, 4, 10)}, 5, whole=True
    ),
    "covtype": Search(
        first("covtype10k", 4858), {"C": powers(-2, 16, 10), "gamma": powers(-8, 4, 10)}, 5
    ),
    "mnist": Search(
        lambda: load("mnist10k"), {"C": powers(-2, 8, 6), "gamma": powers(-10, 0, 6)}, 3
    ),
    "housing": Search(
        some("housing", 5000),
        {"C": powers(-2, 6, 5), "gamma": powers(-6, 2, 5), "epsilon": powers(-5, -1, 3)},
        5,
        "SVR",
    ),
    "a9a": Search(some("a9a", 10_000), {"C": powers(-3, 6, 4), "gamma": powers(-9, 0, 4)}, 3),
}


def part(values: Values, points: int) -> Values:
    """Some of the values, from the least to the greatest in even steps."""
    at = np.unique(np.linspace(0, len(values) - 1, min(points, len(values))).round().astype(int))
    return [values[k] for k in at]


def scores(results: dict[str, Any], names: list[str], folds: int) -> Scores:
    """The scores of every fold, by parameters."""
    table = np.column_stack([results[f"split{k}_test_score"] for k in range(folds)])
    return {
        tuple(one[name] for name in names): row
        for one, row in zip(results["params"], table, strict=True)
    }


def ours(case: Search, X: Any, y: Any, jobs: int) -> tuple[float, Scores]:
    """Seconds and scores of the whole grid."""
    kind: type[KernelSearchCV] = {"SVC": SVCCV, "SVR": SVRCV}[case.estimator]
    search = kind(
        **{AXES[name]: values for name, values in case.grid.items()}, cv=case.folds, n_jobs=jobs
    )
    began = time.perf_counter()
    found = searched(search, X, y)
    seconds, table = time.perf_counter() - began, found.scores("score")
    return seconds, {
        tuple(one[name] for name in case.grid): row
        for one, row in zip(found.candidates, table, strict=True)
    }


def theirs(
    case: Search, module: Any, grid: Grid, X: Any, y: Any, jobs: int
) -> tuple[float, np.ndarray, Scores]:
    """Seconds of GridSearchCV, those of a fit of each candidate, and scores."""
    estimator = getattr(module, case.estimator)()
    search = GridSearchCV(estimator, grid, cv=case.folds, n_jobs=jobs, refit=False)
    began = time.perf_counter()
    search.fit(X, y)
    seconds, found = time.perf_counter() - began, search.cv_results_
    known = scores(found, list(grid), case.folds)
    fits = dict(zip(known, found["mean_fit_time"] + found["mean_score_time"], strict=True))
    table = np.reshape([fits[key] for key in product(*grid.values())], [*map(len, grid.values())])
    return seconds, table, known


def of_whole_grid(seconds: float, table: np.ndarray, timed: Grid, grid: Grid) -> float:
    """Seconds of the whole grid, from those of a part and of its fits."""
    logs = np.log(table)
    for axis, (some, every) in enumerate(zip(timed.values(), grid.values(), strict=True)):
        at = np.log(every), np.log(some)
        logs = np.apply_along_axis(lambda line, at=at: np.interp(*at, line), axis, logs)
    return seconds * float(np.exp(logs).sum() / table.sum())


def warm_up(jobs: int) -> None:
    """Start the processes of GridSearchCV and import what they need."""
    X, y = hundred()
    small = Search(hundred, {"C": [1.0, 2.0, 3.0, 4.0], "gamma": [0.1, 1.0]}, 5)
    ours(small, X, y, jobs)
    for module in (maxmargin, sklearn.svm):
        theirs(small, module, small.grid, X, y, jobs)


def row(name: str, case: Search, points: int | None, jobs: int) -> str:
    """One line of the table."""
    X, y = case.samples()
    whole = case.whole or points is None
    some = case.grid if whole else {k: part(v, points) for k, v in case.grid.items()}
    timed, everything = (len(list(product(*grid.values()))) for grid in (some, case.grid))
    seconds, known = ours(case, X, y, jobs)
    cells = [
        name,
        f"{X.shape[0]:,} x {X.shape[1]:,}",
        " x ".join(str(len(v)) for v in case.grid.values()) + f" x {case.folds} folds",
        f"{seconds:.2f}",
    ]
    for module, grid in ((maxmargin, case.grid), (sklearn.svm, some)):
        measured, fits, goal = theirs(case, module, grid, X, y, jobs)
        other = of_whole_grid(measured, fits, grid, case.grid)
        difference = np.abs([known[key] - values for key, values in goal.items()])
        mark = "" if len(goal) == everything else "about "
        cells += [
            f"{mark}{other:.1f}",
            f"{other / seconds:.1f}",
            f"{difference.max():.2g}",
            f"{int((difference > 1e-9).sum())} of {difference.size}",
        ]
    return f"| {' | '.join([*cells, f'{timed} of {everything}'])} |"


def head(jobs: int) -> str:
    """What the columns mean."""
    columns = ["data", "samples", "grid", "search, s"]
    for module in ("maxmargin", "sklearn.svm"):
        columns += [f"GridSearchCV({module}), s", "ratio", "largest difference", "scores differing"]
    columns += ["candidates timed with sklearn.svm"]
    return (
        f'Seconds with {jobs} jobs, without the fit on all samples. "about": GridSearchCV was '
        "timed on the candidates given, and the seconds of the others are interpolated. Scores are "
        "compared at the candidates that were timed, fold by fold.\n\n"
        f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}"
    )


def main() -> None:
    """Print the table, line by line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(SEARCHES))
    parser.add_argument("--points", type=int, default=4, help="values of each parameter")
    parser.add_argument("--full", action="store_true", help="time scikit-learn on the whole grid")
    parser.add_argument("--jobs", type=int, default=2, help="fits at once")
    parser.add_argument("--output", type=Path, help="also write the table to this file")
    options = parser.parse_args()
    unknown = [name for name in options.cases if name not in SEARCHES]
    if unknown or options.points < 1:
        parser.error(f"no such case: {unknown}" if unknown else "--points must be positive")
    warm_up(options.jobs)
    lines = [head(options.jobs)]
    print(lines[0], flush=True)
    for name in options.cases or SEARCHES:
        points = None if options.full else options.points
        lines.append(row(name, SEARCHES[name], points, options.jobs))
        print(lines[-1], flush=True)
    if options.output is not None:
        options.output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
