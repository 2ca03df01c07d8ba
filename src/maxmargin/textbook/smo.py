"""Sequential minimal optimisation with a working set selection: algorithm 13 of the lecture.

``theory``, with the two usual rules for choosing the pair.

The pair i, j moves along d = t_i e_i - t_j e_j (46), which keeps sum_i a_i t_i: a <- a + rho d.
With the gradient g = Q a - 1 of the dual written as a minimum (23), Q_ij = t_i t_j k_ij, the best
step is where the derivative along d vanishes:

    d'Q d rho + d'g = 0
    rho = -d'g / d'Q d = -(t_i g_i - t_j g_j) / (k_ii + k_jj - 2 k_ij)

((47) lacks the minus sign, and the line before it a factor of 2.) The step is clipped to the box:

    t_i rho in [-a_i, C - a_i]   and   -t_j rho in [-a_j, C - a_j]

((48) prints these bounds with other signs, and does not say that the lower and the upper bound swap
with the label.) To choose the pair, write v_i = -t_i g_i and

    I_up  = {t_i = 1, a_i < C} or {t_i = -1, a_i > 0}     t_i a_i can grow
    I_low = {t_i = 1, a_i > 0} or {t_i = -1, a_i < C}     t_i a_i can shrink

a is optimal if and only if no v of I_up lies above one of I_low; b is between the two. The rules:

    "maximal violating pair"   (Keerthi et al. 2001)
        i = argmax of v over I_up,  j = argmin of v over I_low
    "second order"             (Fan et al. 2005)
        the same i,  j = argmax over v_j < v_i of (v_i - v_j)^2 / (k_ii + k_jj - 2 k_ij)

The second maximises the gain of the dual over all pairs with i, before clipping. The algorithm
stops when max over I_up - min over I_low <= tol.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.textbook.checks import Array, points, warn_stopped
from maxmargin.textbook.kernels import Function, gram, linear
from maxmargin.textbook.models import KernelModel
from maxmargin.textbook.pair import Pair, snap, update_pair
from maxmargin.textbook.soft_margin import check_C
from maxmargin.textbook.trace import Trace, dual_trace, soft_margin_step

FLAT = 1e-12
"""Lower bound on the curvature of a pair: that of equal points is zero."""
DECIMALS = 10
"""Digits of v when a pair is chosen: one that moved freely has v_i = v_j, and the first point
should win such a tie on every machine."""


def smo(
    X: ArrayLike,
    y: ArrayLike,
    C: float = 1.0,
    kernel: Function = linear,
    selection: Literal["maximal violating pair", "second order"] = "second order",
    tol: float = 1e-3,
    max_iter: int = 100_000,
    trace: int = 1,
) -> tuple[KernelModel, Trace]:
    """The soft margin by pairs that violate the optimality conditions most.

    Parameters
    ----------
    X, y : the points and their labels -1 and +1.
    C : the price of a unit of slack; ``numpy.inf`` for the hard margin.
    kernel : a function of ``textbook.kernels``.
    selection : rule for the second point of a pair, see above.
    tol : stop when no pair violates optimality by more than this.
    max_iter : stop after this many pairs in any case.
    trace : keep the state after every `trace` pairs, 0 for never.

    Returns
    -------
    model, trace

    See Also
    --------
    maxmargin.SVC : for real work.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]
    >>> model, trace = textbook.smo(X, y)
    >>> model.w.round(3), round(model.b, 3)
    (array([1.]), -2.0)
    >>> len(trace.steps)
    2
    """
    X, t = points(X, y)
    check_C(C, finite=False)
    if selection not in ("maximal violating pair", "second order"):
        raise ValueError(
            f"selection={selection!r} is neither 'maximal violating pair' nor 'second order'."
        )
    K = gram(kernel, X)
    a, g = np.zeros(len(t)), -np.ones(len(t))
    pair: Pair | None = None
    kept = dual_trace(f"SMO, {selection}", trace, X, t, kernel)
    for iteration in range(max_iter + 1):
        i, j, violation, b = violating_pair(K, t, a, g, C, selection)
        done = violation <= tol or iteration == max_iter
        if trace and (done or kept.due(iteration)):
            values = t + t * g + b  # because t_i g_i = sum_j a_j t_j k_ij - t_i
            kept.keep(soft_margin_step(iteration, pair, values, t, a, b, C))
        if done:
            break
        if kept.due(iteration + 1):
            pair = update_pair(i, j, K, t, a, b, C)  # the same step as the slides write it
        move_pair(i, j, K, t, a, g, C)
    if np.isinf(C) and violation > tol:
        raise ValueError(
            f"No hard margin after {max_iter} pairs: if no plane separates the classes, the dual "
            "has no bound. Give a finite C."
        )
    if violation > tol:
        warn_stopped(
            f"smo stopped after {max_iter} pairs", violation, tol, "give a larger max_iter"
        )
    return KernelModel(X, a * t, b, kernel), kept


def violating_pair(
    K: Array, t: Array, a: Array, g: Array, C: float, selection: str = "second order"
) -> tuple[int, int, float, float]:
    """The pair i, j that the rule chooses, the largest violation, and b half-way between."""
    v = np.round(-t * g, DECIMALS)
    up, low = np.where(t > 0, a < C, a > 0), np.where(t > 0, a > 0, a < C)
    i, j = int(np.argmax(np.where(up, v, -np.inf))), int(np.argmin(np.where(low, v, np.inf)))
    violation, b = float(v[i] - v[j]), float(0.5 * (v[i] + v[j]))
    if selection == "second order" and violation > 0.0:
        curvature = np.maximum(K[i, i] + K.diagonal() - 2.0 * K[i], FLAT)
        j = int(np.argmax(np.where(low & (v < v[i]), (v[i] - v) ** 2 / curvature, -np.inf)))
    return i, j, violation, b


def move_pair(i: int, j: int, K: Array, t: Array, a: Array, g: Array, C: float) -> None:
    """The step (47) of a pair with v_i > v_j, clipped to the box, in place."""
    rho = (t[j] * g[j] - t[i] * g[i]) / max(K[i, i] + K[j, j] - 2.0 * K[i, j], FLAT)
    room_i = C - a[i] if t[i] > 0 else a[i]
    room_j = a[j] if t[j] > 0 else C - a[j]
    rho = float(min(rho, room_i, room_j))
    new_i, new_j = a[i] + t[i] * rho, a[j] - t[j] * rho
    a[i], a[j] = snap(new_i, a[i], a[j], C), snap(new_j, a[i], a[j], C)
    g += t * (K[i] - K[j]) * rho
