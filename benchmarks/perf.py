"""PerfSVC: the objective of "error", measures on unbalanced classes, and times on much text.

    make bench-perf                       the three tables
    make bench-perf CASES="objective"     one of them: objective, measures, times

The objective is compared with that of LinearSVC, for PerfSVC and for the cutting-plane method
alone. Measures are those of held out samples. C is the best of four on a third part of the data,
by the same measure, for each model. Times are the least of two runs at equal tolerance.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from synthetic import text

from data import load
from maxmargin import LinearSVC, PerfSVC
from maxmargin.linear.designs import ArrayDesign
from maxmargin.monitor import Monitor
from maxmargin.structured.contingency import F1Loss
from maxmargin.structured.cutting_plane import solve
from maxmargin.structured.measures import Measure, goal
from maxmargin.structured.risks import ScoreRisk
from maxmargin.structured.spaces import LinearSpace

TIMED = ("error", "auc", "f1", "prbep", "average_precision")
GRID = (0.01, 0.1, 1.0, 10.0)


def seconds(work: Callable[[], Any], repeats: int = 2) -> tuple[float, Any]:
    """The least time of some runs, and what the last one returned."""
    least, found = np.inf, None
    for _ in range(repeats):
        began = time.perf_counter()
        found = work()
        least = min(least, time.perf_counter() - began)
    return least, found


def planes_alone(X: Any, y: np.ndarray, measure: str, C: float, tol: float) -> Any:
    """The cutting-plane method from w = 0, without the linear solver's plane."""
    loss = goal(Measure(measure), y > 0, np.ones(len(y)), 0, True).loss
    return solve(ScoreRisk(LinearSpace(ArrayDesign(X)), loss), C, tol, Monitor(time_limit=120))


def objective() -> None:
    """How near the objective of "error" is to LinearSVC's."""
    print('The objective of "error", relative to LinearSVC(loss="hinge", tol=1e-9)\n')
    print(
        "| data | C | LinearSVC (s) | PerfSVC, tol 1e-6 (s) | planes alone, tol 1e-6 (s, planes) |"
    )
    print("|---|---|---|---|---|")
    for name, C in (("a9a", 0.1), ("a9a", 1.0), ("text", 0.1), ("text", 1.0)):
        X, y = load("a9a") if name == "a9a" else text(20_000, 20_000)
        y = np.where(y == np.max(y), 1, -1)
        took, exact = seconds(
            lambda X=X, y=y, C=C: LinearSVC(loss="hinge", C=C, tol=1e-9).fit(X, y), 1
        )
        least = exact.certificate_.primal
        perf_took, perf = seconds(lambda X=X, y=y, C=C: PerfSVC(C=C, tol=1e-6).fit(X, y), 1)
        alone_took, alone = seconds(lambda X=X, y=y, C=C: planes_alone(X, y, "error", C, 1e-6), 1)
        print(
            f"| {name} | {C:g} | {least:.6f} ({took:.2f}) | "
            f"+{perf.certificate_.primal / least - 1:.1e} ({perf_took:.2f}) | "
            f"+{alone.primal / least - 1:.1e} ({alone_took:.2f}, {alone.n_iter}) |",
            flush=True,
        )


def scores(model: Any, X: Any, y: np.ndarray, measure: str) -> float:
    """A measure of the positive class."""
    if measure == "f1":
        return float(f1_score(y, model.predict(X)))
    score = roc_auc_score if measure == "auc" else average_precision_score
    return float(score(y, model.decision_function(X)))


class MovedSVC(LinearSVC):
    """LinearSVC with the intercept of the greatest F1 of its training samples."""

    def fit(self, X: Any, y: np.ndarray) -> "MovedSVC":
        """Fit, then move the intercept."""
        super().fit(X, y)
        moved = F1Loss(y > 0, True).intercept(self.decision_function(X))
        self.intercept_ = self.intercept_ + moved
        return self


def best(make: Callable[[float], Any], parts: list[Any], measure: str) -> float:
    """The measure on the last part, with the C that is best on the second."""
    models = [make(C).fit(*parts[0]) for C in GRID]
    chosen = max(models, key=lambda model: scores(model, *parts[1], measure))
    return scores(chosen, *parts[2], measure)


def unbalanced_sets() -> dict[str, list[Any]]:
    """Data and positive class of each task."""
    X, y = load("letter")
    letters = [(X, (y == k).astype(int)) for k in np.unique(y)]
    X, y = load("a9a")
    kept = np.sort(np.append(np.flatnonzero(y != 1), np.flatnonzero(y == 1)[::8]))
    return {
        "each of 26 letters": letters,
        "a9a, 4 % positive": [(X[kept], (y[kept] == 1).astype(int))],
    }


def measures(seeds: int) -> None:
    """F1, AUC and average precision of held out samples, on average over tasks and seeds."""
    print("\nMeasures of held out samples; won: of the runs against LinearSVC\n")
    print("| data | measure | LinearSVC | balanced | threshold by F1 | PerfSVC | won |")
    print("|---|---|---|---|---|---|---|")
    for name, tasks in unbalanced_sets().items():
        for measure in ("f1", "auc", "average_precision"):
            makers = [
                lambda C: LinearSVC(loss="hinge", C=C),
                lambda C: LinearSVC(loss="hinge", C=C, class_weight="balanced"),
                lambda C: MovedSVC(loss="hinge", C=C),
                lambda C, measure=measure: PerfSVC(measure, C=C),
            ]
            found = []
            for X, y in tasks:
                for seed in range(seeds):
                    rows = np.random.default_rng(seed).permutation(len(y))[:6000]
                    parts = [(X[some], y[some]) for some in np.split(rows, [2000, 3000])]
                    found.append(
                        [
                            np.nan if k == 2 and measure != "f1" else best(make, parts, measure)
                            for k, make in enumerate(makers)
                        ]
                    )
            mean, won = np.mean(found, axis=0), sum(row[3] > row[0] for row in found)
            cells = " | ".join("" if np.isnan(value) else f"{value:.3f}" for value in mean)
            print(f"| {name} | {measure} | {cells} | {won} of {len(found)} |", flush=True)


def times(tol: float, C: float) -> None:
    """Seconds on 200,000 rows of text-like data."""
    X, y = text()
    print(f"\n{X.shape[0]:,} rows, {X.nnz / X.shape[0]:.0f} words each, C={C:g}, tol={tol:g}\n")
    print("| | seconds | times LinearSVC | relative gap | planes |")
    print("|---|---|---|---|---|")
    base, exact = seconds(lambda: LinearSVC(loss="hinge", C=C, tol=tol).fit(X, y))
    print(f"| LinearSVC | {base:.2f} | 1 | {exact.certificate_.relative_gap:.1e} | |", flush=True)
    for measure in TIMED:
        took, model = seconds(lambda measure=measure: PerfSVC(measure, C=C, tol=tol).fit(X, y))
        print(
            f"| {measure} | {took:.2f} | {took / base:.2f} | "
            f"{model.certificate_.relative_gap:.1e} | {model.n_iter_} |",
            flush=True,
        )
    took, alone = seconds(lambda: planes_alone(X, y, "error", C, tol))
    print(f"| error, planes alone | {took:.2f} | {took / base:.2f} | | {alone.n_iter} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("tables", nargs="*", choices=["objective", "measures", "times", []])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--C", type=float, default=1.0)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if not given.tables or "objective" in given.tables:
        objective()
    if not given.tables or "measures" in given.tables:
        measures(given.seeds)
    if not given.tables or "times" in given.tables:
        times(given.tol, given.C)
