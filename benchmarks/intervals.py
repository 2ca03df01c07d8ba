"""Coverage, width and cost of prediction intervals: the table of docs/decisions/0023-intervals.md.

    python benchmarks/intervals.py [--repetitions 100] [--rows 500]

Each repetition draws training samples and as many new ones. "CV+" are predict_interval's. "about f"
are f(x) plus and minus the quantile of the same errors, f the machine of all samples, which needs
no machines of folds. "in sample" are the same with the errors on the samples that f was trained on.
Seconds are of one thread (process time).
"""

import argparse
import time

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from data import load
from maxmargin import SVR

LEVELS = np.array([0.8, 0.9, 0.95])


def noisy_curve(n: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    """A sine whose noise is five times as large on the right half."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (n, 2))
    return X, np.sin(2 * X[:, 0]) + np.where(X[:, 0] > 0, 0.5, 0.1) * rng.normal(size=n)


def sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The data sets, in units of the targets' standard deviation."""
    X, y = load_diabetes(return_X_y=True)
    found = {"housing": load("housing"), "diabetes": (X, y), "noisy curve": noisy_curve()}
    return {
        name: (StandardScaler().fit_transform(X), np.asarray(y) / np.std(y))
        for name, (X, y) in found.items()
    }


def quantile(errors: np.ndarray, level: float) -> float:
    """The usual quantile of n errors, for n + 1."""
    place = int(np.ceil(level * (len(errors) + 1)))
    return float(np.sort(errors)[place - 1]) if place <= len(errors) else np.inf


def one(model: SVR, X: np.ndarray, y: np.ndarray, rows: int, seed: int) -> dict[str, np.ndarray]:
    """Coverage at each level and the width at 0.9, for each kind of interval."""
    order = np.random.default_rng(seed).permutation(len(y))
    rows = min(rows, len(y) // 2)
    a, b = order[:rows], order[rows : 2 * rows]
    model.fit(X[a], y[a])
    f, folds, found = model.predict(X[b]), model.model_.folds, {}
    ends = {"CV+": model.predict_interval(X[b], LEVELS)}
    for name, errors in (("about f", folds.error), ("in sample", abs(y[a] - model.predict(X[a])))):
        half = np.array([quantile(errors, level) for level in LEVELS])[:, None]
        ends[name] = np.stack([f - half, f + half], axis=-1)
    for name, interval in ends.items():
        inside = (interval[..., 0] <= y[b]) & (y[b] <= interval[..., 1])
        width = np.ptp(interval[1], axis=1).mean()
        found[name] = np.append(inside.mean(axis=1), width)
    return found


def cost(model: SVR, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """How often a fit with intervals takes the time of one without; how many vectors it keeps."""
    plain, ratios = clone(model).set_params(interval=False), []
    for _ in range(5):
        seconds = []
        for one in (plain, model):
            began = time.process_time()
            one.fit(X, y)
            seconds.append(time.process_time() - began)
        ratios.append(seconds[1] / seconds[0])
    kept = len(model.model_.folds.machine.rows) + len(model.support_)
    return float(np.median(ratios)), kept / len(model.support_)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--rows", type=int, default=500)
    asked = parser.parse_args()
    print("| data, C | intervals | " + " | ".join(f"{c:g}" for c in LEVELS) + " | width | cost |")
    print("|---|---|" + "---|" * (len(LEVELS) + 2))
    with threadpool_limits(1):
        for name, (X, y) in sets().items():
            for C in (1.0, 100.0):
                model = SVR(C=C, interval=True)
                runs = [one(model, X, y, asked.rows, seed) for seed in range(asked.repetitions)]
                time_ratio, vectors = cost(model, X[:2000], y[:2000])
                for kind in runs[0]:
                    *shares, width = np.mean([run[kind] for run in runs], axis=0)
                    words = " | ".join(f"{share:.3f}" for share in shares)
                    said = f"{time_ratio:.1f} x time, {vectors:.1f} x vectors"
                    extra = said if kind == "CV+" else ""
                    print(f"| {name}, {C:g} | {kind} | {words} | {width:.2f} | {extra} |")


if __name__ == "__main__":
    main()
