"""Probabilities beside those of scikit-learn: how good they are, and what they cost.

    python benchmarks/probabilities.py [CASE ...] [--splits N] [--C 1 10 100] [--output FILE]

Each data set is split at random into samples to fit and samples to test, several times. A row has
the mean log-loss and Brier score of the test samples with the standard error of the difference to
ours (`probability=True`) on the same splits, how often the most probable class is the one that is
predicted, and the CPU seconds of a fit, divided by those of our machine without probabilities.

"before agreement" are ours before they agree with predict: what that promise costs.
CalibratedClassifierCV calibrates our machine, so that the methods differ and the machines do not:
`ensemble=False` is one machine, the default is the mean of five. SVC(probability=True) of
scikit-learn is its own. No data set here was used to choose a constant of ours (decision 22).
"""

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn.svm
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import maxmargin
from data import load
from maxmargin.core.threads import one_thread
from maxmargin.estimators._calibrated import probabilities

TEST_ROWS = 4000
Samples = Callable[[], tuple[Any, np.ndarray]]


class Case(NamedTuple):
    """A data set and how many of its samples are fitted."""

    samples: Samples
    rows: int
    gamma: float | str = "scale"
    splits: int = 10


class Result(NamedTuple):
    """One method on one split."""

    log_loss: float
    brier: float
    agreement: float
    seconds: float


def scaled(loader: Callable[..., Any]) -> Samples:
    """A data set of scikit-learn, standardised."""

    def samples() -> tuple[Any, np.ndarray]:
        X, y = loader(return_X_y=True)
        return StandardScaler().fit_transform(X), y

    return samples


CASES = {
    "iris": Case(scaled(load_iris), 75),
    "wine": Case(scaled(load_wine), 89),
    "breast_cancer": Case(scaled(load_breast_cancer), 284),
    "letter": Case(lambda: load("letter"), 3000, 0.06, 2),
    "a9a": Case(lambda: load("a9a"), 4000, 0.05, 4),
    "covtype10k": Case(lambda: load("covtype10k"), 4000, 4.0, 4),
    "skin": Case(lambda: load("skin"), 3000, 1.0),
}


class BeforeAgreement(maxmargin.SVC):
    """Ours, whose most probable class need not be the label."""

    def _probabilities_of(self, values: np.ndarray) -> np.ndarray:
        return probabilities(self.model_, values)


def methods(case: Case, C: float) -> dict[str, tuple[Any, Any]]:
    """Estimators with probabilities, and the machine without of each."""
    ours = maxmargin.SVC(C=C, gamma=case.gamma)
    found = {
        "ours": (maxmargin.SVC(C=C, gamma=case.gamma, probability=True), ours),
        "before agreement": (BeforeAgreement(C=C, gamma=case.gamma, probability=True), ours),
        "sigmoid": (maxmargin.SVC(C=C, gamma=case.gamma, probability="sigmoid"), ours),
        "isotonic": (maxmargin.SVC(C=C, gamma=case.gamma, probability="isotonic"), ours),
        "calibrated, one": (CalibratedClassifierCV(ours, cv=5, ensemble=False), ours),
        "calibrated, five": (CalibratedClassifierCV(ours, cv=5), ours),
    }
    if "probability" in sklearn.svm.SVC().get_params():  # scikit-learn removes it in 1.11
        found["scikit-learn"] = (
            sklearn.svm.SVC(C=C, gamma=case.gamma, probability=True, random_state=0),
            sklearn.svm.SVC(C=C, gamma=case.gamma),
        )
    return found


def tried(model: Any, split: tuple[Any, Any, np.ndarray, np.ndarray]) -> Result:
    """Fit and test a method."""
    A, B, y, target = split
    begin = time.process_time()
    model.fit(A, y)
    seconds = time.process_time() - begin
    p = model.predict_proba(B)
    at = np.searchsorted(model.classes_, target)
    own = np.clip(p[np.arange(len(at)), at], np.finfo(float).eps, 1)
    truth = np.eye(len(model.classes_))[at]
    agreement = np.mean(model.classes_[p.argmax(axis=1)] == model.predict(B))
    brier = np.mean(np.sum((p - truth) ** 2, axis=1))
    return Result(-float(np.log(own).mean()), float(brier), float(agreement), seconds)


def plain_seconds(model: Any, A: Any, y: np.ndarray) -> float:
    """CPU seconds of the fit without probabilities."""
    begin = time.process_time()
    model.fit(A, y)
    return time.process_time() - begin


def measure(case: Case, C: float, splits: int) -> tuple[dict[str, list[Result]], list[float]]:
    """The results of every method on each split, and the seconds without probabilities."""
    X, y = case.samples()
    found: dict[str, list[Result]] = {name: [] for name in methods(case, C)}
    plain = []
    for seed in range(splits):
        A, B, ya, yb = train_test_split(X, y, train_size=case.rows, stratify=y, random_state=seed)
        split = A, B[:TEST_ROWS], ya, yb[:TEST_ROWS]
        for name, (model, _) in methods(case, C).items():
            if name == "ours":
                plain.append(plain_seconds(maxmargin.SVC(C=C, gamma=case.gamma), A, ya))
            found[name].append(tried(model, split))
    return found, plain


def rows_of(name: str, C: float, found: dict[str, list[Result]], plain: list[float]) -> list[str]:
    """The lines of the table."""
    base, lines = np.array(found["ours"]), []
    for method, results in found.items():
        each = np.array(results)
        means, differ = each.mean(axis=0), each - base
        error = differ.std(axis=0, ddof=1) / np.sqrt(len(each))
        cells = [
            f"{means[k]:.4f}" + (f" ± {error[k]:.4f}" if method != "ours" else "") for k in range(2)
        ]
        ratio = np.median(each[:, 3]) / np.median(plain)
        cells += [f"{means[2]:.4f}", f"{ratio:.2f}"]
        lines.append(" | ".join([f"| {name}", f"{C:g}", method, *cells, ""]).rstrip())
    return lines


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("case", nargs="*", default=list(CASES))
    parser.add_argument("--splits", type=int, help="for each data set; 2 to 10 by default")
    parser.add_argument("--C", type=float, nargs="*", default=[1.0, 10.0, 100.0])
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    lines = [
        "| data | C | method | log-loss | Brier | argmax = predict | cost |",
        "|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines))
    with threadpool_limits(1), one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in given.case:
            for C in given.C:
                case = CASES[name]
                new = rows_of(name, C, *measure(case, C, given.splits or case.splits))
                lines += new
                print("\n".join(new), flush=True)
    if given.output:
        given.output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
