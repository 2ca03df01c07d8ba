"""Sequential minimal optimisation, simplified: a violator and a random partner.

The algorithm of ``straka`` ("Sequential Minimal Optimization Algorithm") and ``boyd_graber``:

    while a sweep finds a violator and passes < max_passes:
        for i in 1, ..., N:
            if (a_i < C and t_i E_i < -tol) or (a_i > 0 and t_i E_i > tol):
                choose j != i at random and try to update a_i, a_j and b (pair.py)
        passes = 0 if a pair moved else passes + 1

An update fails if L = H, if eta is not negative, or if it makes too little progress. The lectures
leave progress open ("the new a_j is very similar"). Here the pair has made progress if it moved
E_i - E_j, whose change is eta (a_j - a_j old), by PROGRESS * tol, or if one of the two reached a
bound. So the test has the units of tol whatever C and the scale of the data are; a test of a_j
itself would stop too early for a large C or never succeed for a small one.

One departure: ``straka`` compares a_i with tol and C - tol, which no multiplier passes if C is
below tol. Here multipliers within rounding of a bound are moved onto it, and a_i is compared with 0
and C themselves.

A random partner may fail where another would succeed, and b is that of the last pair. So stopping
does not prove optimality: a ConvergenceWarning says when the conditions are violated by more than
tol at the end. ``smo`` looks for the partner and always gets there. Slip: ``boyd_graber`` (1) says
y_i (w.x_i + b) = +-1 for a support vector where 1 is meant.
"""

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.textbook.checks import Array, points, warn_stopped
from maxmargin.textbook.kernels import Function, gram, linear
from maxmargin.textbook.models import KernelModel
from maxmargin.textbook.pair import Pair, update_pair
from maxmargin.textbook.soft_margin import check_C
from maxmargin.textbook.trace import Trace, dual_trace, kkt_violation, soft_margin_step

PROGRESS = 0.1
"""A pair that moves E_i - E_j by less than this share of tol has not moved."""


def simplified_smo(
    X: ArrayLike,
    y: ArrayLike,
    C: float = 1.0,
    kernel: Function = linear,
    tol: float = 1e-3,
    max_passes: int | None = None,
    max_sweeps: int = 30_000,
    seed: int = 0,
    trace: int = 1,
) -> tuple[KernelModel, Trace]:
    """The soft margin by pairs of a violator and a random partner.

    Parameters
    ----------
    X, y : the points and their labels -1 and +1.
    C : the price of a unit of slack.
    kernel : a function of ``textbook.kernels``.
    tol : a point whose conditions hold up to this stays as it is.
    max_passes : stop after this many sweeps in a row without a change, by default ten times the
        number of points, so that a violator meets each partner.
    max_sweeps : stop after this many sweeps in any case.
    seed : seed of the random partners.
    trace : keep the state after every `trace` updates of a pair, 0 for never.

    Returns
    -------
    model, trace

    See Also
    --------
    smo : chooses the pair that violates most.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]
    >>> model, trace = textbook.simplified_smo(X, y, C=10)
    >>> model.predict(X)
    array([-1., -1.,  1.,  1.])
    """
    X, t = points(X, y)
    check_C(C)
    n, K, random = len(t), gram(kernel, X), np.random.default_rng(seed)
    a, b, updates, passes, sweeps = np.zeros(n), 0.0, 0, 0, 0
    violators, most = n, 10 * n if max_passes is None else max_passes
    kept = dual_trace("simplified SMO", trace, X, t, kernel)
    while violators and passes < most and sweeps < max_sweeps:
        before, violators = updates, 0
        for i in range(n):
            E_i = K[i] @ (a * t) + b - t[i]
            if (a[i] < C and t[i] * E_i < -tol) or (a[i] > 0.0 and t[i] * E_i > tol):
                violators += 1
                j = int((i + random.integers(1, n)) % n)
                pair = update_pair(i, j, K, t, a, b, C)
                if _progress(pair, a, C, tol):
                    a[i], a[j], b, updates = pair.a_i, pair.a_j, pair.b, updates + 1
                    if kept.due(updates):
                        values = K @ (a * t) + b
                        kept.keep(soft_margin_step(updates, pair, values, t, a, b, C))
        passes = passes + 1 if updates == before else 0
        sweeps += 1
    values = K @ (a * t) + b
    if trace:
        kept.keep(soft_margin_step(updates, None, values, t, a, b, C))
    violation = kkt_violation(a, t * values, C)
    if violation > tol:
        remedy = (
            f"give more than max_sweeps={max_sweeps}"
            if sweeps == max_sweeps
            else "no partner that was drawn could move, give a larger max_passes"
        )
        what = f"simplified_smo stopped after {sweeps} sweeps"
        warn_stopped(what, violation, tol, f"{remedy}, or use smo, which looks for a partner")
    return KernelModel(X, a * t, b, kernel), kept


def _progress(pair: Pair, a: Array, C: float, tol: float) -> bool:
    """Whether the update is worth making."""
    if pair.L >= pair.H or pair.eta >= 0.0 or pair.a_j == a[pair.j]:
        return False
    reached = any(
        new in (0.0, C) and new != old
        for new, old in ((pair.a_i, a[pair.i]), (pair.a_j, a[pair.j]))
    )
    return reached or abs(pair.eta * (pair.a_j - a[pair.j])) >= PROGRESS * tol
