"""Dual coordinate descent for the linear soft margin without a bias.

Algorithm 12 of ``theory``, after Hsieh et al. (2008).

Without b the constraint sum_i a_i y_i = 0 is gone and one multiplier can move alone (42):

    minimise   1/2 a'Q a - 1'a    subject to   0 <= a_i <= C,         Q_ij = y_i y_j x_i'x_j

Keeping w = sum_i a_i y_i x_i, the derivative costs one inner product and so does the update:

    g   = y_i w'x_i - 1
    p   = min(g, 0) if a_i = 0,  max(g, 0) if a_i = C,  g otherwise
    a_i <- min(max(a_i - g / Q_ii, 0), C)                 if p != 0
    w   <- w + (a_i - a_i old) y_i x_i

p is the projected gradient: it is zero for all i exactly at the optimum.

The lecture names three rules for the index i; in every sweep of n steps

    "cyclic"        i = 1, ..., n
    "permutation"   all indices, in a new random order
    "random"        n indices drawn at random: stochastic dual coordinate descent

A sweep ends with a look at the projected gradients of all points.
``bias=True`` adds a constant feature; its weight is then part of |w|^2 and b differs from the one
of ``smo``. The production solver is ``LinearSVC``.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maxmargin.textbook.checks import Array, points, warn_stopped
from maxmargin.textbook.models import LinearModel
from maxmargin.textbook.soft_margin import check_C
from maxmargin.textbook.trace import Step, Trace


def dual_coordinate_descent(
    X: ArrayLike,
    y: ArrayLike,
    C: float = 1.0,
    bias: bool = False,
    order: Literal["cyclic", "permutation", "random"] = "permutation",
    tol: float = 1e-6,
    max_sweeps: int = 10_000,
    seed: int = 0,
    trace: int = 1,
) -> tuple[LinearModel, Trace]:
    """Algorithm 12.

    Parameters
    ----------
    X, y : the points and their labels -1 and +1.
    C : the price of a unit of slack.
    bias : add a constant feature of one.
    order : rule for the index, see above.
    tol : stop when no projected gradient is larger than this.
    max_sweeps : stop after this many sweeps in any case.
    seed : seed of the random orders.
    trace : keep the state after every `trace` sweeps, 0 for never. The variables of a step are the
        multipliers a.

    Returns
    -------
    model, trace

    See Also
    --------
    maxmargin.LinearSVC : for real work.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]
    >>> model, trace = textbook.dual_coordinate_descent(X, y, bias=True)
    >>> model.predict(X)
    array([-1., -1.,  1.,  1.])
    """
    data, y = points(X, y)
    check_C(C)
    if order not in ("cyclic", "permutation", "random"):
        raise ValueError(f"order={order!r} is not 'cyclic', 'permutation' or 'random'.")
    X = np.column_stack([data, np.ones(len(data))]) if bias else data
    a, w, Q_diagonal = np.zeros(len(y)), np.zeros(X.shape[1]), np.sum(X * X, axis=1)
    random = np.random.default_rng(seed)

    def model_at(step: Step) -> LinearModel:
        return LinearModel.of_weights((step.variables * y) @ X, bias)

    kept = Trace("dual coordinate descent", trace, data, y, model_at)
    for sweep in range(max_sweeps):
        for i in _indices(order, len(y), random):
            g = y[i] * (w @ X[i]) - 1.0
            if _projected(g, a[i], C) != 0.0:
                old = a[i]
                a[i] = min(max(old - g / Q_diagonal[i], 0.0), C) if Q_diagonal[i] > 0.0 else C
                w += (a[i] - old) * y[i] * X[i]
        margins = y * (X @ w)
        largest = float(np.max(np.abs(_projected(margins - 1.0, a, C))))
        done = largest <= tol
        if trace and (done or kept.due(sweep)):
            half = 0.5 * float(w @ w)
            primal = half + C * float(np.maximum(0.0, 1.0 - margins).sum())
            b = float(w[-1]) if bias else 0.0
            kept.keep(Step(sweep, (), a.copy(), b, primal, float(a.sum()) - half, largest))
        if done:
            break
    else:
        what = f"dual_coordinate_descent stopped after {max_sweeps} sweeps"
        warn_stopped(what, largest, tol, "give a larger max_sweeps, or scale the features")
    return LinearModel.of_weights(w, bias), kept


def _indices(order: str, n: int, random: np.random.Generator) -> NDArray[np.intp]:
    """The points of a sweep."""
    if order == "cyclic":
        return np.arange(n)
    return random.permutation(n) if order == "permutation" else random.integers(n, size=n)


def _projected(g: ArrayLike, a: ArrayLike, C: float) -> Array:
    """The projected gradient p."""
    g, a = np.asarray(g), np.asarray(a)
    return np.where(a == 0.0, np.minimum(g, 0.0), np.where(a == C, np.maximum(g, 0.0), g))
