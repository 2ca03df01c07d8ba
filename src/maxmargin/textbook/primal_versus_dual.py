"""Primal versus dual: the cost of training and using the same model in two ways.

``000_aa3cb9f2e9a3f579.txt``, "Primal versus Dual Formulation", for N points with D features and a
map phi to F features:

| | primal | dual |
|---|---|---|
| parameters | F | N |
| model size | F | s D for s support vectors |
| training time | e N F for e epochs | between N D and N^2 D |
| inference time | F | s D |

The map here is the one of the polynomial kernel (1 + x'z)^p, one feature for each monomial x^m of
degree 1 to p,

    phi_m(x) = sqrt(p! / ((p - |m|)! prod_i m_i!)) x^m
    so that   phi(x)'phi(z) + 1 = (1 + x'z)^p

and the bias takes the place of the constant. So ``LinearSVC`` on phi(x) and ``SVC`` with the kernel
are the same model, and the table shows which way is cheaper. The cost of computing phi(x) is left
out. On small data both take milliseconds of overhead. As N grows, the primal wins while F is small;
the dual wins when D or the degree grows.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb, factorial, prod, sqrt

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.estimators import SVC, LinearSVC
from maxmargin.textbook.checks import Array, points
from maxmargin.textbook.soft_margin import check_C

MOST_FEATURES = 20_000
"""The explicit map is not built beyond this."""


@dataclass(frozen=True)
class Cost:
    """One column of the table."""

    parameters: int
    size: int
    training_seconds: float
    inference_seconds: float
    """For one point."""


@dataclass(frozen=True)
class PrimalVersusDual:
    """Both columns; printing it shows the table."""

    primal: Cost
    dual: Cost
    disagreement: float
    """The largest difference of the two decision functions, as a share of the largest value: they
    are the same model."""

    def __str__(self) -> str:
        rows = [f"{'':<28}{'primal':>14}{'dual':>14}"]
        rows.append(f"{'parameters':<28}{self.primal.parameters:>14,}{self.dual.parameters:>14,}")
        rows.append(f"{'model size (numbers)':<28}{self.primal.size:>14,}{self.dual.size:>14,}")
        rows.append(
            f"{'training (ms)':<28}{1e3 * self.primal.training_seconds:>14.3g}"
            f"{1e3 * self.dual.training_seconds:>14.3g}"
        )
        rows.append(
            f"{'inference (us a point)':<28}{1e6 * self.primal.inference_seconds:>14.3g}"
            f"{1e6 * self.dual.inference_seconds:>14.3g}"
        )
        return "\n".join(rows)

    __repr__ = __str__


def primal_versus_dual(
    X: ArrayLike, y: ArrayLike, degree: int = 2, C: float = 1.0, repeats: int = 3
) -> PrimalVersusDual:
    """Train and use the model of the kernel (1 + x'z)^degree both ways and measure.

    Parameters
    ----------
    X, y : the points and their labels -1 and +1.
    degree : degree of the polynomial; 1 is the linear model.
    C : the price of a unit of slack.
    repeats : number of runs; the shortest time counts.

    Returns
    -------
    PrimalVersusDual
    """
    X, t = points(X, y)
    if degree < 1 or repeats < 1:
        raise ValueError(f"degree={degree} and repeats={repeats} must be at least 1.")
    check_C(C)
    features = comb(X.shape[1] + degree, degree) - 1
    if features > MOST_FEATURES:
        raise ValueError(
            f"The map has {features:,} features, more than {MOST_FEATURES:,}: this is a case for "
            "the kernel. Give a lower degree."
        )

    phi = polynomial_features(X, degree)
    linear, training, inference = LinearSVC(loss="hinge", C=C, tol=1e-8), [], []
    kernel = SVC(kernel="poly", degree=degree, gamma=1.0, coef0=1.0, C=C, tol=1e-6)
    for _ in range(repeats):
        training.append((_timed(lambda: linear.fit(phi, t)), _timed(lambda: kernel.fit(X, t))))
        inference.append(
            (
                _timed(lambda: linear.decision_function(phi)),
                _timed(lambda: kernel.decision_function(X)),
            )
        )
    (train_primal, train_dual), (use_primal, use_dual) = (
        np.min(training, axis=0),
        np.min(inference, axis=0) / len(X),
    )
    values, others = (
        np.asarray(linear.decision_function(phi)),
        np.asarray(kernel.decision_function(X)),
    )
    return PrimalVersusDual(
        Cost(features, features, float(train_primal), float(use_primal)),
        Cost(len(X), len(kernel.support_) * X.shape[1], float(train_dual), float(use_dual)),
        float(np.abs(values - others).max() / np.abs(others).max()),
    )


def polynomial_features(X: Array, degree: int) -> Array:
    """phi(x) of the kernel (1 + x'z)^degree without the constant, a column for each monomial."""
    columns = []
    for d in range(1, degree + 1):
        for which in combinations_with_replacement(range(X.shape[1]), d):
            times = [which.count(i) for i in set(which)]
            scale = sqrt(factorial(degree) / (factorial(degree - d) * prod(map(factorial, times))))
            columns.append(scale * np.prod(X[:, which], axis=1))
    return np.column_stack(columns)


def _timed(work: Callable[[], object]) -> float:
    """Seconds that work takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
