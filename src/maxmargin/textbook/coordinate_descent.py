"""Coordinate descent: minimise a function of several variables by one variable at a time.

``straka``, before the SMO algorithm:

    loop until convergence
        for i in 1, ..., D:
            w_i <- argmin over w_i of L(w_1, ..., w_D)

The lecture adds that the order may be another, "for example by trying to choose w_i providing the
largest decrease of L": order="largest decrease" tries all D variables before each move, so a move
costs as much as a sweep of the cyclic order. ``coordinate_descent`` does this for any function and
finds the inner argmin by Brent's method; ``kernel_regression`` has it in closed form. It minimises
smooth convex functions. It can fail if the function has a kink: at w = (1, 1) no single
variable can lower

    |w_1 - w_2| + 0.1 (w_1^2 + w_2^2)

although the minimum is at 0. SMO meets a similar obstacle, the constraint sum_i a_i t_i = 0, and
therefore moves pairs. The dual without b has only bounds on each variable, so moving single
variables works again: ``dual_coordinate_descent``.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from maxmargin.textbook.checks import Array
from maxmargin.textbook.trace import Step, Trace


def coordinate_descent(
    L: Callable[[Array], float],
    start: ArrayLike,
    order: Literal["cyclic", "largest decrease"] = "cyclic",
    tol: float = 1e-10,
    max_sweeps: int = 1000,
    trace: int = 1,
) -> tuple[Array, Trace]:
    """Minimise L(w), one coordinate after the other.

    Parameters
    ----------
    L : the function, of a vector.
    start : where to begin.
    order : which coordinate moves next, see above.
    tol : stop when a sweep lowers L by less than this fraction of 1 + |L|.
    max_sweeps : stop after this many sweeps of D moves in any case.
    trace : keep the state after every `trace` moves of a coordinate, 0 for never.

    Returns
    -------
    w, trace

    Examples
    --------
    >>> from maxmargin import textbook
    >>> def L(w):
    ...     return (w[0] - 1) ** 2 + (w[0] + w[1]) ** 2
    >>> w, trace = textbook.coordinate_descent(L, start=[0, 0])
    >>> w.round(3)
    array([ 1., -1.])
    """
    if order not in ("cyclic", "largest decrease"):
        raise ValueError(f"order={order!r} is neither 'cyclic' nor 'largest decrease'.")
    w = np.array(start, float)
    value, moves = float(L(w)), 0
    kept = Trace("coordinate descent", trace)
    if trace:
        kept.keep(Step(0, (), w.copy(), primal=value))
    for _ in range(max_sweeps):
        before = value
        for k in range(len(w)):
            tried = [_least(L, w, i) for i in (range(len(w)) if order != "cyclic" else [k])]
            value, w_i, i = min(tried)
            w[i], moves = w_i, moves + 1
            if kept.due(moves):
                kept.keep(Step(moves, (i,), w.copy(), primal=value))
        if before - value <= tol * (1.0 + abs(value)):
            break
    return w, kept


def _least(L: Callable[[Array], float], w: Array, i: int) -> tuple[float, float, int]:
    """The minimum of L over w_i with the others fixed, the w_i that reaches it, and i.

    Brent's method finds it; it is never worse than the given w_i.
    """

    def along(value: float) -> float:
        return float(L(np.concatenate([w[:i], [value], w[i + 1 :]])))

    found = minimize_scalar(along, bracket=(w[i], w[i] + 0.1 * (1.0 + abs(w[i]))), tol=1e-10)
    here = along(w[i])
    return (float(found.fun), float(found.x), i) if found.fun < here else (here, float(w[i]), i)
