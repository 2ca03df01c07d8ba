"""Training for a performance measure: F1 instead of errors (Joachims 2005).

``theory`` names SVM-perf. Errors add up over the points; F1 does not, so that the loss belongs to
the labels z of all n points together:

    R(w) = max over z in {-1, +1}^n of   loss(y, z) + 1/2 sum_i (z_i - y_i) w'x_i

It is 0 at best, where z = y, and bounds the loss of the machine's own labels, sign(w'x_i), for
which no term of the sum is negative. There are 2^n labellings. But the measures depend on the 2 x 2
table of z alone: with P positive points, on

    tp   positive points that z calls positive
    fp   negative points that z calls positive

For a given table the sum is largest if z calls the tp positive and the fp negative points of
largest w'x_i positive. So sort both classes once and try all tables. (SVM-perf does so, in n^2
steps. ``maxmargin.PerfSVC`` needs n log n.) The worst z gives a plane below R,

    offset = loss(y, z),   slope = 1/2 sum_i (z_i - y_i) x_i

and the algorithm of ``cutting_planes`` does the rest. The measure "error" gives the hinge loss.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.textbook.checks import Array, points
from maxmargin.textbook.cutting_planes import Plane, grow
from maxmargin.textbook.models import LinearModel
from maxmargin.textbook.trace import Trace


class Table(NamedTuple):
    """How many points of each class a labelling calls positive, for all tables at once."""

    tp: Array
    fp: Array
    positive: int
    negative: int


MEASURES: dict[str, Callable[[Table], Array]] = {
    "error": lambda t: (t.positive - t.tp + t.fp) / (t.positive + t.negative),
    "f1": lambda t: 1.0 - 2.0 * t.tp / (t.positive + t.tp + t.fp),
    "prbep": lambda t: np.where(t.tp + t.fp == t.positive, 1.0 - t.tp / t.positive, -np.inf),
}
"""What is lost, between 0 and 1; "prbep" (precision where it equals recall) calls P points
positive, and other tables do not count."""


def worst_table(values: ArrayLike, y: ArrayLike, measure: str = "f1") -> tuple[Array, float]:
    """The labels z with the largest n loss(y, z) + 1/2 sum_i (z_i - y_i) f_i, and n loss(y, z).

    Examples
    --------
    >>> from maxmargin import textbook
    >>> z, lost = textbook.worst_table([3.0, -2.0, 0.5, -3.0], [1, -1, 1, -1])
    >>> z
    array([ 1., -1., -1., -1.])
    >>> round(lost, 4)
    1.3333
    """
    f, t = np.asarray(values, float), np.asarray(y, float)
    if measure not in MEASURES:
        raise ValueError(f"measure={measure!r} is none of {', '.join(MEASURES)}.")
    best = [-np.sort(-f[t == sign]) for sign in (1.0, -1.0)]  # each class, downwards
    sums = [np.concatenate([[0.0], np.cumsum(part)]) for part in best]
    P, N = len(best[0]), len(best[1])
    tp, fp = np.meshgrid(np.arange(P + 1.0), np.arange(N + 1.0), indexing="ij")
    lost = (P + N) * MEASURES[measure](Table(tp, fp, P, N))
    # positive points that z calls negative lose their value, negative ones called positive gain it
    gained = (sums[0] - sums[0][-1])[:, None] + sums[1]
    k, m = np.unravel_index(int(np.argmax(lost + gained)), lost.shape)
    z = -np.ones(len(t))
    for sign, count in ((1.0, k), (-1.0, m)):
        members = np.flatnonzero(t == sign)
        z[members[np.argsort(-f[members], kind="stable")[:count]]] = 1.0
    return z, float(lost[k, m])


def measure_svm(
    X: ArrayLike,
    y: ArrayLike,
    measure: str = "f1",
    C: float = 1.0,
    bias: bool = False,
    tol: float = 1e-4,
    max_iter: int = 1000,
    trace: int = 1,
) -> tuple[LinearModel, Trace]:
    """The machine that is trained for a measure, by cutting planes.

    Parameters
    ----------
    X, y : the points and their labels -1 and +1.
    measure : "error", "f1" or "prbep".
    C, bias, tol, max_iter, trace : as in ``cutting_planes``.

    Returns
    -------
    model, trace

    See Also
    --------
    maxmargin.PerfSVC : for real work, and for more measures.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[-2.0], [-1.5], [-1.0], [1.0]], [-1, -1, -1, 1]
    >>> model, trace = textbook.measure_svm(X, y, "f1", C=10.0)
    >>> model.predict(X)
    array([-1., -1., -1.,  1.])
    >>> bool(trace.steps[-1].gap < 1e-3)
    True
    """
    data, t = points(X, y)
    X = np.column_stack([data, np.ones(len(data))]) if bias else data
    kept = Trace(
        f"cutting planes, {measure}",
        trace,
        data,
        t,
        lambda step: LinearModel.of_weights(step.variables, bias),
    )

    def oracle(w: Array) -> tuple[float, list[Plane]]:
        z, offset = worst_table(X @ w, t, measure)
        slope = 0.5 * (z - t) @ X
        return offset + float(slope @ w), [Plane(0, offset, slope)]

    return LinearModel.of_weights(grow(oracle, X.shape[1], C, tol, max_iter, kept), bias), kept
