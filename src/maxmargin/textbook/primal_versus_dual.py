"""Primal versus dual: the cost of training and using the same model in two ways.

``straka``, "Primal versus Dual Formulation", for N points with D features and a
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
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb, factorial, prod, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.estimators import SVC, LinearSVC
from maxmargin.textbook.checks import Array, points
from maxmargin.textbook.soft_margin import check_C

MOST_FEATURES = 20_000
"""The explicit map is not built beyond this."""
ROWS = ("parameters", "model size (numbers)", "training (ms)", "inference (us a point)")


@dataclass(frozen=True)
class Cost:
    """One column of the table."""

    parameters: int
    size: int
    training_seconds: float
    inference_seconds: float
    """For one point."""

    def texts(self) -> tuple[str, str, str, str]:
        """The cells, as in ROWS."""
        milliseconds = f"{1e3 * self.training_seconds:.3g}"
        microseconds = f"{1e6 * self.inference_seconds:.3g}"
        return f"{self.parameters:,}", f"{self.size:,}", milliseconds, microseconds


@dataclass(frozen=True)
class PrimalVersusDual:
    """Both columns; printing it shows the table."""

    primal: Cost
    dual: Cost
    disagreement: float
    """The largest difference of the two decision functions, as a share of the largest value: they
    are the same model."""

    def __str__(self) -> str:
        columns = ("primal", *self.primal.texts()), ("dual", *self.dual.texts())
        return "\n".join(
            f"{name:<28}{primal:>14}{dual:>14}"
            for name, primal, dual in zip(("", *ROWS), *columns, strict=True)
        )

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

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]
    >>> measured = textbook.primal_versus_dual(X, y, degree=2, repeats=1)
    >>> measured.disagreement < 1e-4
    True
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
    linear = LinearSVC(loss="hinge", C=C, tol=1e-8)
    kernel = SVC(kernel="poly", degree=degree, gamma=1.0, coef0=1.0, C=C, tol=1e-6)
    primal_times, dual_times = _times(linear, phi, t, repeats), _times(kernel, X, t, repeats)
    values, others = linear.decision_function(phi), kernel.decision_function(X)
    return PrimalVersusDual(
        Cost(features, features, *primal_times),
        Cost(len(X), len(kernel.support_) * X.shape[1], *dual_times),
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


def _times(estimator: Any, X: Array, t: Array, repeats: int) -> tuple[float, float]:
    """Seconds of training, and of inference for one point; the shortest of all runs."""
    clock, training, inference = time.perf_counter, [], []
    for _ in range(repeats):
        began = clock()
        estimator.fit(X, t)
        trained = clock()
        estimator.decision_function(X)
        training.append(trained - began)
        inference.append(clock() - trained)
    return min(training), min(inference) / len(X)
