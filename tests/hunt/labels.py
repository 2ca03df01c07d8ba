"""Random small fits: is the most probable class always the label?

    python tests/hunt/labels.py [--fits 10000] [--first 0]

Many have copies, contradicting labels, weights of 0, exact ties. Each classifier with probabilities
is drawn: kernels, losses, pairs and one-vs-rest, sigmoids and isotonic functions, linear ones. A
fit that refuses its data counts as refused. The exit code is 1 if a label is not the most probable
class, rows do not sum to 1, or something else than a refusal is raised. tests/test_probability.py
runs a few hundred.
"""

import argparse
import sys
import warnings
from typing import Any, NamedTuple

import numpy as np

from maxmargin import SVC, LinearSVC, NuSVC
from maxmargin.estimators._calibrated import probabilities


class Trial(NamedTuple):
    """What was seen."""

    refused: bool = False
    wrong: str = ""
    changed: bool = False
    """Whether some label was not the most probable class before agreeing probabilities."""
    tie: bool = False
    """Whether two classes were the most probable before."""


def drawn(seed: int) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    """A model and its samples, labels and weights."""
    rng = np.random.default_rng(seed)
    n, classes = int(rng.integers(6, 90 if seed % 9 == 0 else 30)), int(rng.integers(2, 6))
    X = rng.normal(size=(n, 2))
    X = np.round(X) if seed % 2 else X
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, n - min(n, classes))])[:n]
    y = np.array(["e", "d", "c", "b", "a"])[y] if seed % 3 == 0 else y
    weight = rng.integers(0, 3, n) * 1.0 if seed % 5 == 0 else np.ones(n)
    common = {
        "probability": "isotonic" if seed % 13 < 3 else True,
        "class_weight": "balanced" if seed % 4 == 0 else None,
    }
    C = float(10.0 ** rng.integers(-3, 4))
    loss = ["hinge", "squared_hinge"][int(seed % 11 == 0)]
    if seed % 7 == 3:
        together = ["ovr", "crammer_singer"][int(seed % 2)]
        return LinearSVC(C=C, loss=loss, multi_class=together, **common), X, y, weight
    common |= {
        "kernel": ["rbf", "linear", "poly", "sigmoid"][seed % 4],
        "multiclass": "ovr" if seed % 17 < 3 else "ovo",
        "break_ties": seed % 7 == 0,
    }
    if seed % 6 == 0:
        return NuSVC(nu=0.05, **common), X, y, weight
    return SVC(C=C, loss=loss, **common), X, y, weight


def trial(seed: int) -> Trial:
    """Fit one and compare."""
    model, X, y, weight = drawn(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(X, y, sample_weight=weight)
        except ValueError:  # one class alone, an infeasible nu, a problem without a minimum
            return Trial(refused=True)
    asked = np.concatenate([X, np.random.default_rng(seed).normal(size=(60, 2)), 0 * X, -X])
    p = model.predict_proba(asked)
    before = probabilities(model.model_, model._function_values(asked))
    wrong = ""
    if not np.array_equal(model.classes_[p.argmax(axis=1)], model.predict(asked)):
        wrong = "a label is not the most probable class"
    elif not np.allclose(p.sum(axis=1), 1, rtol=1e-12) or not p.min() >= 0:
        wrong = "rows are not probabilities"
    elif len(model.model_.prob_a) and model.model_.prob_a.max() > 0:
        wrong = "a sigmoid falls"
    changed = bool((before.argmax(axis=1) != p.argmax(axis=1)).any())
    tie = bool((np.diff(np.sort(before, axis=1)[:, -2:]) == 0).any())
    return Trial(False, wrong, changed, tie)


def main() -> None:
    """Try them, print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--fits", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    refused = changed = ties = 0
    wrong = []
    for seed in range(given.first, given.first + given.fits):
        try:
            seen = trial(seed)
        except Exception as error:  # what a user would see
            seen = Trial(wrong=f"{type(error).__name__}: {error}")
        refused, changed, ties = refused + seen.refused, changed + seen.changed, ties + seen.tie
        if seen.wrong:
            wrong.append(seed)
            print(f"seed {seed}: {seen.wrong}\n  {drawn(seed)[0]}", flush=True)
    print(
        f"{given.fits} fits: {refused} refused, {changed} with labels that were not the most "
        f"probable class before, {ties} with ties, {len(wrong)} wrong"
    )
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
