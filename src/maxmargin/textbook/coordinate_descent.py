"""Coordinate descent: minimise a function of several variables by one variable at a time.

``straka``, before the SMO algorithm:

    loop until convergence
        for i in 1, ..., D:
            w_i <- argmin over w_i of L(w_1, ..., w_D)

``coordinate_descent`` does this for any function and finds the inner argmin by Brent's method. It
minimises smooth convex functions. It can fail if the function has a kink: at w = (1, 1) no single
variable can lower

    |w_1 - w_2| + 0.1 (w_1^2 + w_2^2)

although the minimum is at 0. SMO meets a similar obstacle, the constraint sum_i a_i t_i = 0, and
therefore moves pairs. The dual without b has only bounds on each variable, so moving single
variables works again: ``dual_coordinate_descent``.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from maxmargin.textbook.checks import Array
from maxmargin.textbook.trace import Step, Trace


def coordinate_descent(
    L: Callable[[Array], float],
    start: ArrayLike,
    tol: float = 1e-10,
    max_sweeps: int = 1000,
    trace: int = 1,
) -> tuple[Array, Trace]:
    """Minimise L(w), one coordinate after the other.

    Parameters
    ----------
    L : the function, of a vector.
    start : where to begin.
    tol : stop when a sweep lowers L by less than this fraction of 1 + |L|.
    max_sweeps : stop after this many sweeps in any case.
    trace : keep the state after every `trace` moves of a coordinate, 0 for never.

    Returns
    -------
    w, trace
    """
    w = np.array(start, float)
    value, moves = float(L(w)), 0
    kept = Trace("coordinate descent", trace)
    if trace:
        kept.keep(Step(0, (), w.copy(), primal=value))
    for _ in range(max_sweeps):
        before = value
        for i in range(len(w)):
            w[i], value = _least(L, w, i)
            moves += 1
            if kept.due(moves):
                kept.keep(Step(moves, (i,), w.copy(), primal=value))
        if before - value <= tol * (1.0 + abs(value)):
            break
    return w, kept


def _least(L: Callable[[Array], float], w: Array, i: int) -> tuple[float, float]:
    """The w_i that minimises L with the others fixed, and this minimum.

    Brent's method finds it; it is never worse than the given w_i.
    """

    def along(value: float) -> float:
        return float(L(np.concatenate([w[:i], [value], w[i + 1 :]])))

    found = minimize_scalar(along, bracket=(w[i], w[i] + 0.1 * (1.0 + abs(w[i]))), tol=1e-10)
    here = along(w[i])
    return (float(found.x), float(found.fun)) if found.fun < here else (float(w[i]), here)
