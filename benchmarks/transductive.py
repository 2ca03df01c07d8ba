"""TransductiveSVC: errors on the sets of the literature, the global optimum, a million samples.

    python benchmarks/transductive.py errors [--draws 10]
    python benchmarks/transductive.py optimum [--draws 50]
    python benchmarks/transductive.py scale [--rows 1000000] [--algorithm switching]

**errors**: two moons (200 samples, noise 0.1) and g50c-like data: two Gaussians in 50 dimensions
with a Bayes error of 5 %, 550 samples. Errors are those on the unlabelled samples, means over
draws; the parameters are those of a grid with the least mean error on other draws. Published for
g50c with 50 labels (Chapelle & Zien 2005): SVM 8.3 %, SVM-light's TSVM 6.9 %, gradient TSVM 5.8 %.

**optimum**: problems with at most 12 unlabelled samples. SVC is fitted with every labelling that
keeps the balance; the lowest objective is the global optimum.

**scale**: rows of words as in text, of which 200 are labelled, with a linear kernel; seconds, and
the greatest memory of the process beside that of the data.
"""

import argparse
import itertools
import resource
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import make_moons

from maxmargin import SVC, TransductiveSVC

ALGORITHMS = ("switching", "annealing", "continuation", "best")
Draw = tuple[Any, np.ndarray, np.ndarray]


def with_labels(X: Any, truth: np.ndarray, labels: int, rng: np.random.Generator) -> Draw:
    """A few labels, as many of each class."""
    y = np.full(len(truth), -1)
    for k in (0, 1):
        known = rng.choice(np.flatnonzero(truth == k), labels // 2, replace=False)
        y[known] = k
    return X, y, truth


def moons(labels: int, rng: np.random.Generator) -> Draw:
    """Two half circles."""
    X, truth = make_moons(200, noise=0.1, random_state=int(rng.integers(2**31)))
    return with_labels(X, truth, labels, rng)


def g50c(labels: int, rng: np.random.Generator) -> Draw:
    """Two Gaussians; 1.645 standard deviations from the middle are exceeded by 5 %."""
    truth = (rng.random(550) < 0.5).astype(int)
    X = rng.normal(size=(550, 50)) + (2 * truth[:, None] - 1) * 1.645 / np.sqrt(50)
    return with_labels(X, truth, labels, rng)


# ---- errors --------------------------------------------------------------------------------------

CASES: dict[str, tuple[Callable[[int, np.random.Generator], Draw], int, dict[str, Any], list[Any]]]
CASES = {
    "two moons, 10 labels": (moons, 10, {"C": 10}, [{"gamma": g} for g in (1, 2, 4, 8)]),
    "two moons, 2 labels": (moons, 2, {"C": 10}, [{"gamma": g} for g in (1, 2, 4, 8)]),
    "g50c-like, 50 labels": (
        g50c,
        50,
        {"kernel": "linear"},
        [{"C": C} for C in (0.003, 0.01, 0.03, 0.1)],
    ),
    "g50c-like, 10 labels": (
        g50c,
        10,
        {"kernel": "linear"},
        [{"C": C} for C in (0.003, 0.01, 0.03, 0.1)],
    ),
}
RATIOS = (1, 3)
"""C_unlabelled relative to its default, for which all unlabelled samples weigh as the labelled."""


def draws(case: str, count: int, seed: int) -> Iterator[Draw]:
    """Draws of a case; other seeds give other draws."""
    make, labels, _, _ = CASES[case]
    for k in range(count):
        yield make(labels, np.random.default_rng([seed, k]))


def fit(data: Draw, parameters: dict[str, Any]) -> tuple[float, float]:
    """Error on the unlabelled samples, and the objective."""
    X, y, truth = data
    free = y < 0
    parameters = dict(parameters)
    ratio = parameters.pop("ratio", 1)
    C_unlabelled = parameters["C"] * min(1.0, ratio * (~free).sum() / free.sum())
    model = TransductiveSVC(C_unlabelled=C_unlabelled, **parameters).fit(X, y)
    error = float(np.mean(model.predict(X[free]) != truth[free]))
    return error, float(model.fixed_labels_certificate_.primal)


def supervised(data: Draw, parameters: dict[str, Any]) -> float:
    """Error of SVC on the labelled samples alone."""
    X, y, truth = data
    model = SVC(**parameters).fit(X[y >= 0], y[y >= 0])
    return float(np.mean(model.predict(X[y < 0]) != truth[y < 0]))


def errors(count: int) -> None:
    """Errors of SVC and of every algorithm, with parameters chosen on other draws."""
    for case, (_, _, fixed, grid) in CASES.items():
        tuning = list(draws(case, count, seed=1))
        judging = list(draws(case, count, seed=2))
        candidates = [{**fixed, **one} for one in grid]
        plain = min(candidates, key=lambda p: np.mean([supervised(d, p) for d in tuning]))
        found = [supervised(one, plain) for one in judging]
        print(f"{case}: SVC {100 * np.mean(found):.1f} % {plain}")
        with_ratio = [{**p, "ratio": ratio} for p in candidates for ratio in RATIOS]
        best = min(with_ratio, key=lambda p: np.mean([fit(d, p)[0] for d in tuning]))
        table = np.array(
            [[fit(one, best | {"algorithm": name}) for one in judging] for name in ALGORITHMS]
        )
        lowest = table[:, :, 1].min(axis=0)
        for name, rows in zip(ALGORITHMS, table, strict=True):
            excess = rows[:, 1] / lowest - 1
            print(
                f"    {name:13s} error {100 * rows[:, 0].mean():4.1f} % (standard error "
                f"{100 * rows[:, 0].std() / np.sqrt(count):.1f}), objective above the lowest "
                f"{100 * excess.mean():.1f} %, at most {100 * excess.max():.1f} %"
            )
        print(f"    parameters {best}", flush=True)


# ---- the global optimum --------------------------------------------------------------------------


def global_optimum(data: Draw, C: float, C_unlabelled: float) -> float:
    """The lowest objective over all labels that keep the balance of one half."""
    X, y, _ = data
    free, best = np.flatnonzero(y < 0), np.inf
    weight = np.where(y < 0, C_unlabelled / C, 1.0)
    for chosen in itertools.combinations(range(len(free)), len(free) // 2):
        labels = y.copy()
        labels[free] = np.isin(np.arange(len(free)), chosen)
        machine = SVC(C=C, kernel="linear").fit(X, labels, weight)
        best = min(best, float(machine.certificate_.primal))
    return best


def optimum(count: int) -> None:
    """How often every algorithm finds the global optimum."""
    reached: dict[str, list[bool]] = {name: [] for name in ALGORITHMS}
    for k in range(count):
        rng = np.random.default_rng([3, k])
        truth = np.arange(14) % 2
        X = rng.normal(size=(14, 2)) + rng.uniform(0, 2) * truth[:, None]
        data = X, np.where(np.arange(14) < 4, truth, -1), truth
        best = global_optimum(data, 3.0, 1.0)
        for name in ALGORITHMS:
            model = TransductiveSVC(
                C=3, C_unlabelled=1, kernel="linear", balance=0.5, algorithm=name
            ).fit(X, data[1])
            reached[name].append(model.fixed_labels_certificate_.primal <= best * (1 + 1e-6))
    for name, found in reached.items():
        print(f"{name:13s} the global optimum in {sum(found)} of {count} problems")


# ---- a million samples ---------------------------------------------------------------------------


def text(rows: int, words: int, length: int, rng: np.random.Generator) -> tuple[Any, np.ndarray]:
    """Rows of unit length; a sixth of the words of a row is on the topic of its class."""
    truth = (rng.random(rows) < 0.5).astype(int)
    cumulated = np.cumsum(1 / np.arange(1, words + 1))
    drawn = np.searchsorted(cumulated / cumulated[-1], rng.random(rows * length))
    drawn = np.minimum(drawn, words - 1).astype(np.int32)
    topics = np.array([rng.permutation(words) for _ in range(2)], np.int32)
    own = np.flatnonzero(rng.random(rows * length) < 1 / 6)
    drawn[own] = topics[truth[own // length], drawn[own]]
    ends = np.arange(0, rows * length + 1, length)
    X = sparse.csr_matrix((np.ones(rows * length), drawn, ends), shape=(rows, words))
    X.sum_duplicates()
    sizes = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(sizes, np.diff(X.indptr))
    return X, truth


def gigabytes() -> float:
    """The greatest memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def scale(rows: int, algorithm: str) -> None:
    """Seconds and memory of a linear fit on many unlabelled rows."""
    rng = np.random.default_rng(0)
    X, truth = text(rows, 50_000, 60, rng)
    y = np.full(rows, -1)
    known = rng.choice(rows, 200, replace=False)
    y[known] = truth[known]
    size = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 2**30
    print(f"{rows:,} rows, {X.nnz:,} values, {size:.2f} GB; before the fit {gigabytes():.2f} GB")
    plain = SVC(C=10, kernel="linear").fit(X[known], truth[known])
    test = np.flatnonzero(y < 0)[:20_000]
    error = float(np.mean(plain.predict(X[test]) != truth[test]))
    print(f"SVC on the labelled rows: error {100 * error:.2f} %")
    begin = time.perf_counter()
    model = TransductiveSVC(C=10, kernel="linear", algorithm=algorithm).fit(X, y)
    seconds = time.perf_counter() - begin
    error = float(np.mean(model.transduction_[y < 0] != truth[y < 0]))
    print(
        f"TransductiveSVC, {algorithm}: {seconds:.0f} s, {model.n_iter_[0]} convex problems, error "
        f"{100 * error:.2f} %, {gigabytes():.2f} GB at most; {model.fixed_labels_certificate_}"
    )


def main() -> None:
    """Run one of the three."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("errors", "optimum", "scale"), nargs="?", default="errors")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--algorithm", choices=ALGORITHMS, default="switching")
    options = parser.parse_args()
    if options.what == "scale":
        scale(options.rows, options.algorithm)
    else:
        (errors if options.what == "errors" else optimum)(options.draws)


if __name__ == "__main__":
    main()
