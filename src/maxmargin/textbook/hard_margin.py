"""The hard margin: the plane that separates two classes with the widest margin.

Primal (``theory`` (4), ``fan`` (7)):

    minimise over w, b   1/2 |w|^2     subject to   t_i (w'x_i + b) >= 1

The margin, from the plane to the nearest point, is 1 / |w|; the gap between the classes is 2 / |w|.
(``theory`` prints 12 / |w|: the 1 is a slip.) Setting the derivatives of the Lagrangian to zero
gives w = sum_i a_i t_i x_i and sum_i a_i t_i = 0 and leaves the dual (``theory`` (15), ``fan``
(18)):

    maximise over a >= 0   sum_i a_i - 1/2 sum_ij a_i a_j t_i t_j k(x_i, x_j)
    subject to             sum_i a_i t_i = 0

As a quadratic program in standard form (``revisited``) with H_ij = t_i t_j k(x_i, x_j):

    P = H,  q = -1,  G = -I,  h = 0,  A = t',  b = 0

This is the program of the soft margin without the upper bound C. ``revisited`` writes
1/2 (a'H a - 1'a) where only the first term carries the half, and calls A a column: it is the row
t'.
"""

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.textbook.checks import Array, points
from maxmargin.textbook.kernels import Function, gram, linear
from maxmargin.textbook.models import KernelModel
from maxmargin.textbook.quadratic_program import solve, tidy, units
from maxmargin.textbook.soft_margin import soft_margin_program
from maxmargin.textbook.trace import Trace, dual_trace, soft_margin_step

NOT_SEPARABLE = (
    "No plane separates the classes with this kernel: use soft_margin_qp or another kernel."
)


def hard_margin_qp(
    X: ArrayLike, y: ArrayLike, kernel: Function = linear, trace: int = 1
) -> tuple[KernelModel, Trace]:
    """The widest margin, by a QP library.

    Parameters
    ----------
    X, y : the points and their labels -1 and +1.
    kernel : a function of ``textbook.kernels``; classes must be separable in its feature space.
    trace : 0 to keep no trace; the solver is a black box, so the trace has one step, the end.

    Returns
    -------
    model, trace

    Raises
    ------
    ValueError
        If no plane separates the classes: the dual then grows without bound. Use
        ``soft_margin_qp``.

    See Also
    --------
    soft_margin_qp : classes that overlap.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]
    >>> model, trace = textbook.hard_margin_qp(X, y)
    >>> model.w.round(3), round(model.b, 3)
    (array([1.]), -2.0)
    """
    X, t = points(X, y)
    K = gram(kernel, X)
    try:
        a = tidy(solve(soft_margin_program(K, t, np.inf), units(K, np.inf)), np.inf)
    except ValueError as error:
        raise ValueError(NOT_SEPARABLE) from error
    b = bias_of_all(K, t, a)
    # a solver may report an unbounded dual as solved, at a point far out
    if not np.min(t * (K @ (a * t) + b)) >= 0.5:
        raise ValueError(NOT_SEPARABLE)
    kept = dual_trace("hard margin QP", trace, X, t, kernel)
    if trace:
        kept.keep(soft_margin_step(0, None, K @ (a * t) + b, t, a, b, np.inf))
    return KernelModel(X, a * t, b, kernel), kept


def bias_of_one(K: Array, t: Array, a: Array) -> float:
    """b = t_i - sum_j a_j t_j k(x_j, x_i) of one support vector (``theory``, after (15)).

    The one with the largest multiplier is taken.
    """
    i = int(np.argmax(a))
    return float(t[i] - K[i] @ (a * t))


def bias_of_all(K: Array, t: Array, a: Array) -> float:
    """The mean of ``bias_of_one`` over all support vectors (``theory``; ``fan`` (24)).

    It is numerically more stable, and correct because all support vectors lie on the hard margin.
    """
    S = a > 0
    return float(np.mean(t[S] - K[S] @ (a * t)))
