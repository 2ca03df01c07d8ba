"""The soft margin: errors are allowed and paid for.

Primal, with slacks xi_i (``straka``; ``theory`` (17); ``fan`` (26)):

    minimise over w, b, xi >= 0   1/2 |w|^2 + C sum_i xi_i
    subject to                    t_i (w'x_i + b) >= 1 - xi_i

Dual (``theory`` (22), ``fan`` (35)): that of the hard margin with 0 <= a_i <= C. In standard form
(``revisited``)

    P = H,  q = -1,  G = [-I; I],  h = [0; C],  A = t',  b = 0

Slips of the lectures. ``theory`` says that C = 0 gives the hard margin: C to infinity does, and
C = 0 ignores the data, as ``straka`` says. The slack page of ``revisited`` writes the slacks of all
six points as if their labels were +1, and "= 1" where it means above 1. With the labels +, -, -, +,
-, + its places are right. For every point

    xi_i = max(0, 1 - t_i y(x_i)):
    0 outside the margin,  between 0 and 1 inside it,  1 on the boundary,  above 1 if misclassified.

``fan`` (43) to (45) are the hard margin with a kernel, where b may be the mean over all support
vectors; with C only those with 0 < a_i < C lie on the margin, as in its (40).
"""

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.textbook.checks import Array, points
from maxmargin.textbook.kernels import Function, gram, linear
from maxmargin.textbook.models import KernelModel, Model
from maxmargin.textbook.quadratic_program import QuadraticProgram, box, level, solve, tidy, units
from maxmargin.textbook.trace import Trace, dual_trace, soft_margin_step


def soft_margin_program(K: Array, t: Array, C: float | Array) -> QuadraticProgram:
    """P, q, G, h, A, b of the dual, from the kernel matrix and the labels.

    C may be infinite, or an array with a price for each point.
    """
    n = len(t)
    return QuadraticProgram(np.outer(t, t) * K, -np.ones(n), *box(n, C), t[None, :], np.zeros(1))


def soft_margin_qp(
    X: ArrayLike, y: ArrayLike, C: float = 1.0, kernel: Function = linear, trace: int = 1
) -> tuple[KernelModel, Trace]:
    """The soft margin by a QP library.

    Parameters
    ----------
    X, y : the points and their labels -1 and +1.
    C : the price of a unit of slack, above 0.
    kernel : a function of ``textbook.kernels``.
    trace : 0 to keep no trace; the solver is a black box, so the trace has one step, the end.

    Returns
    -------
    model, trace

    See Also
    --------
    smo : without a QP library.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]
    >>> model, trace = textbook.soft_margin_qp(X, y, C=1.0)
    >>> model.alpha.round(3)
    array([0. , 0.5, 0.5, 0. ])
    """
    X, t = points(X, y)
    check_C(C)
    K = gram(kernel, X)
    a = tidy(solve(soft_margin_program(K, t, C), units(K, C)), C)
    b = bias_of_free(K, t, a, C)
    kept = dual_trace("soft margin QP", trace, X, t, kernel)
    if trace:
        kept.keep(soft_margin_step(0, None, K @ (a * t) + b, t, a, b, C))
    return KernelModel(X, a * t, b, kernel), kept


def bias_of_free(K: Array, t: Array, a: Array, C: float | Array) -> float:
    """The weighted mean of t_j - sum_i a_i t_i k(x_i, x_j) over M = {j : 0 < a_j < C}.

    ``fan`` (40) has the plain mean. At the optimum all members agree, and so do both means. A
    solver stops just before it, and a multiplier that is about to reach a bound then says least
    about b: the weight of j is min(a_j, C - a_j). If M is empty, every b between the bounds of the
    other points is optimal; the midpoint is returned.
    """
    return level(t - K @ (a * t), a, C, -t)


def bias_of_extremes(K: Array, t: Array, a: Array) -> float:
    """b = -(max over positive SV of w'x + min over negative SV of w'x) / 2.

    ``revisited``, "Decision function". Support vectors satisfy t_i y(x_i) <= 1, so the largest w'x
    of a positive one lies on the margin if one of each class has 0 < a_i < C. If every support
    vector of a class is at the bound C, the rule is only an approximation; ``bias_of_free`` is
    always right.
    """
    projections = K @ (a * t)
    S = a > 0
    return float(-0.5 * (projections[S & (t > 0)].max() + projections[S & (t < 0)].min()))


def slacks(model: Model, X: ArrayLike, y: ArrayLike) -> Array:
    """xi_i = max(0, 1 - t_i y(x_i)).

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]
    >>> model, trace = textbook.soft_margin_qp(X, y, C=0.1)
    >>> textbook.slacks(model, X, y).round(2)
    array([0. , 0.5, 0.5, 0. ])
    """
    X, t = points(X, y)
    return np.maximum(0.0, 1.0 - t * model.decision_function(X))


def check_C(C: float, finite: bool = True) -> None:
    """C must be a positive number, for most algorithms a finite one."""
    if not C > 0:
        raise ValueError(
            f"C={C} must be above 0: it is the price of an error. The hard margin is C to infinity."
        )
    if finite and not np.isfinite(C):
        raise ValueError(
            "C must be finite here; for the hard margin use hard_margin_qp, or smo with "
            "C=numpy.inf."
        )
