"""LinearSVC beside scikit-learn's on generated sets: seconds to the same objective.

    python -m linear.compare [--judge] [--loss hinge] [--only WORD] [--C 1] [--repeats 3]

Both climb a ladder of tolerances in one process; the seconds to a target are those of the fastest
rung whose objective is within it of P*, a lower bound from our duals at tol=1e-9. scikit-learn's
squared hinge is tried with dual=True and dual=False. A model with a free intercept is compared with
its own P*, scikit-learn's regularised one with the other.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC as Peer

from linear.families import CHOOSING, JUDGING
from maxmargin import LinearSVC

TARGETS = (1e-3, 1e-5)
OURS = (3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5)
THEIRS = (1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-5, 1e-6)
PATIENCE = 6.0
"""Seconds that one fit of the peer may take before its ladder ends."""


def objective(model: Any, X: Any, y: np.ndarray, loss: str, C: float, free: bool) -> float:
    """P of a fitted model."""
    w, b = np.asarray(model.coef_).ravel(), float(np.ravel(model.intercept_)[0])
    slack = np.maximum(0.0, 1 - y * (X @ w + b))
    losses = float(np.sum(slack if loss == "hinge" else slack * slack))
    return 0.5 * float(w @ w) + (0.0 if free else 0.5 * b * b) + C * losses


def climb(
    fits: list[Callable[[], Any]], value: Callable[[Any], float], least: float, repeats: int
) -> list[float]:
    """The least seconds to each target; the ladder ends when the tightest is reached."""
    best = [np.inf] * len(TARGETS)
    for fit in fits:
        began = time.perf_counter()
        model = fit()
        seconds = time.perf_counter() - began
        error = (value(model) - least) / abs(least)
        reached = [error <= target for target in TARGETS]
        if any(hit and seconds < 1.3 * old for hit, old in zip(reached, best, strict=True)):
            for _ in range(repeats - 1 if seconds < 2 else 0):
                began = time.perf_counter()
                fit()
                seconds = min(seconds, time.perf_counter() - began)
        for k, hit in enumerate(reached):
            if hit:
                best[k] = min(best[k], seconds)
        if all(reached) or seconds > PATIENCE:
            break
    return best


def measure(
    X: Any, y: np.ndarray, loss: str, C: float, repeats: int
) -> dict[str, tuple[list[float], str]]:
    """Seconds of both kinds of our model and of the peer's, to each target."""
    found = {}
    for intercept in ("free", "regularised"):
        free = intercept == "free"

        def ours(tol: float, intercept: str = intercept) -> Any:
            return LinearSVC(loss=loss, C=C, tol=tol, intercept=intercept).fit(X, y)

        exact = ours(1e-9)
        least = exact.certificate_.dual

        def value(model: Any, free: bool = free) -> float:
            return objective(model, X, y, loss, C, free)

        ladder = [lambda t=t: ours(t) for t in OURS]
        found[intercept] = climb(ladder, value, least, repeats), exact.solver_
        if free:
            continue
        theirs = []
        for dual in (True,) if loss == "hinge" else (True, False):
            rungs = [
                lambda t=t, dual=dual: Peer(loss=loss, C=C, tol=t, dual=dual, max_iter=20_000).fit(
                    X, y
                )
                for t in THEIRS
            ]
            theirs.append(climb(rungs, value, least, repeats))
        best = [min(times) for times in zip(*theirs, strict=True)]
        label = ["/"] * len(TARGETS)
        for k in range(len(TARGETS)):
            label[k] = "D" if theirs[0][k] == best[k] else "P"
        found["peer"] = best, "".join(label)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judge", action="store_true")
    parser.add_argument("--loss", choices=("hinge", "squared_hinge"))
    parser.add_argument("--only", default="")
    parser.add_argument("--C", type=float, nargs="+", default=[1.0])
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    ratios: dict[str, list[float]] = {"free": [], "regularised": []}
    for one in JUDGING if arguments.judge else CHOOSING:
        if arguments.only not in one.name:
            continue
        X, y = one.make()
        for C in arguments.C:
            for loss in (arguments.loss,) if arguments.loss else ("hinge", "squared_hinge"):
                found = measure(X, y, loss, C, arguments.repeats)
                peer, label = found.pop("peer")
                text = f"{one.name:28} C={C:<4g} {loss:13} peer {label}"
                text += "".join(f" {1e3 * s:7.1f}" for s in peer)
                for kind, (seconds, solver) in found.items():
                    ratio = [p / s for p, s in zip(peer, seconds, strict=True)]
                    ratios[kind] += [r for r in ratio if np.isfinite(r) and r > 0]
                    text += f" | {kind[:4]} {solver[:5]}"
                    text += "".join(
                        f" {1e3 * s:7.1f} ({r:4.2f})" for s, r in zip(seconds, ratio, strict=True)
                    )
                print(text, flush=True)
    for kind, values in ratios.items():
        if values:
            mean = np.exp(np.mean(np.log(values)))
            print(f"{kind}: mean ratio {mean:.2f}, least {min(values):.2f}, of {len(values)}")


if __name__ == "__main__":
    main()
