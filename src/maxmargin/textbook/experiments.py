"""Curves that the lectures describe in words, measured.

``theory``, "nu-SVC": "if C is too large the model could exhibit over-fitting. On the other hand, if
C is very small the model could suffer from under-fitting". ``error_over_C`` gives training and test
error along C. nu "is an upper-bound on the fraction of margin errors and a lower bound on the
fraction of SVs": ``error_over_nu`` gives both along nu, with the errors.

``straka``, "Primal versus Dual Formulation": training takes e N F in the primal and between N D and
N^2 D in the dual. ``growth`` measures both as N grows.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.estimators import SVC, NuSVC
from maxmargin.textbook.checks import Array, points
from maxmargin.textbook.primal_versus_dual import PrimalVersusDual, primal_versus_dual


class ErrorCurve(NamedTuple):
    """Errors along a parameter; each field has one number for each value."""

    name: str
    values: Array
    train_error: Array
    test_error: Array
    margin_errors: Array
    """Share of training points inside the margin or on the wrong side, t y(x) < 1."""
    support: Array
    """Share of training points that are support vectors."""

    def __str__(self) -> str:
        head = f"{self.name:>10} {'train':>8} {'test':>8} {'margin':>8} {'support':>8}"
        rows = zip(*self[1:], strict=True)
        return "\n".join(
            [head, *("{:>10.4g} {:>8.3f} {:>8.3f} {:>8.3f} {:>8.3f}".format(*r) for r in rows)]
        )


def error_over_C(
    X: ArrayLike,
    y: ArrayLike,
    X_test: ArrayLike,
    y_test: ArrayLike,
    C: Sequence[float] = tuple(np.logspace(-3, 4, 15)),
    **parameters: Any,
) -> ErrorCurve:
    """Training and test error of ``SVC`` along C.

    Parameters
    ----------
    X, y, X_test, y_test : data with labels -1 and +1.
    C : the values, smallest first.
    parameters : other parameters of ``SVC``, for example ``gamma=2.0``.

    Returns
    -------
    ErrorCurve

    Examples
    --------
    >>> from maxmargin.textbook import data, experiments
    >>> X, y = data.twenty_points()
    >>> print(experiments.error_over_C(X, y, X, y, C=[1, 50], kernel="linear"))
             C    train     test   margin  support
             1    0.150    0.150    0.900    0.900
            50    0.150    0.150    0.300    0.450
    """
    machines = [SVC(**{"tol": 1e-5, **parameters, "C": value}) for value in C]
    return _curve("C", C, machines, X, y, X_test, y_test)


def error_over_nu(
    X: ArrayLike,
    y: ArrayLike,
    X_test: ArrayLike,
    y_test: ArrayLike,
    nu: Sequence[float] = tuple(np.linspace(0.05, 0.95, 19)),
    **parameters: Any,
) -> ErrorCurve:
    """Errors, margin errors and support vectors of ``NuSVC`` along nu.

    Parameters are those of ``error_over_C``; values above the largest feasible nu are an error.

    Examples
    --------
    >>> from maxmargin.textbook import data, experiments
    >>> X, y = data.twenty_points()
    >>> curve = experiments.error_over_nu(X, y, X, y, nu=[0.5, 0.7], gamma=5.0)
    >>> bool((curve.margin_errors <= curve.values).all() and (curve.support >= curve.values).all())
    True
    """
    machines = [NuSVC(**{"tol": 1e-5, **parameters, "nu": value}) for value in nu]
    return _curve("nu", nu, machines, X, y, X_test, y_test)


def _curve(
    name: str,
    values: Sequence[float],
    machines: Sequence[Any],
    X: ArrayLike,
    y: ArrayLike,
    X_test: ArrayLike,
    y_test: ArrayLike,
) -> ErrorCurve:
    """Fit each machine and count."""
    X, t = points(X, y)
    X_test, t_test = points(X_test, y_test)
    rows = []
    for machine in machines:
        machine.fit(X, t)
        inside = t * machine.decision_function(X) < 1.0 - 1e-3
        train, test = machine.predict(X) != t, machine.predict(X_test) != t_test
        rows.append((train.mean(), test.mean(), inside.mean(), len(machine.support_) / len(t)))
    return ErrorCurve(name, np.asarray(values, float), *np.array(rows).T)


def growth(
    X: ArrayLike,
    y: ArrayLike,
    sizes: Sequence[int] = (100, 200, 400, 800, 1600),
    degree: int = 2,
    C: float = 1.0,
    repeats: int = 3,
) -> list[PrimalVersusDual]:
    """``primal_versus_dual`` on the first N points, for each N of sizes.

    Parameters
    ----------
    X, y : the points, in random order, and their labels -1 and +1.
    sizes : numbers of points N.
    degree, C, repeats : as in ``primal_versus_dual``.

    Returns
    -------
    list of PrimalVersusDual, one for each size

    Examples
    --------
    >>> from maxmargin.textbook import data, experiments
    >>> X, y = data.twenty_points()
    >>> tables = experiments.growth(X, y, sizes=[10, 20])
    >>> [(one.primal.parameters, one.dual.parameters) for one in tables]
    [(5, 10), (5, 20)]
    """
    X, t = points(X, y)
    if max(sizes) > len(t):
        raise ValueError(f"sizes go up to {max(sizes)}, but there are {len(t)} points.")
    return [primal_versus_dual(X[:n], t[:n], degree, C, repeats) for n in sizes]
