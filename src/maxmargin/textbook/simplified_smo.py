"""Sequential minimal optimisation, simplified: a violator and a random partner.

The algorithm of ``000_aa3cb9f2e9a3f579.txt`` ("Sequential Minimal Optimization Update Rules") and
``002_31929ea02578cbe7.txt`` (9) to (19). The constraint sum_i a_i t_i = 0 forbids moving one
multiplier alone, so two move. With E_k = y(x_k) - t_k, for a chosen pair i, j:

    t_i == t_j:  L = max(0, a_i + a_j - C),  H = min(C, a_i + a_j)
    t_i != t_j:  L = max(0, a_j - a_i),      H = min(C, C + a_j - a_i)
    eta = 2 k_ij - k_ii - k_jj   (<= 0: the second derivative of the dual along the pair)
    a_j <- clip(a_j - t_j (E_i - E_j) / eta, L, H)
    a_i <- a_i - t_i t_j (a_j - a_j old)
    b_i = b - E_i - t_i (a_i - a_i old) k_ii - t_j (a_j - a_j old) k_ij
    b_j = b - E_j - t_i (a_i - a_i old) k_ij - t_j (a_j - a_j old) k_jj
    b   = b_i if 0 < a_i < C,  b_j if 0 < a_j < C,  their mean otherwise

It stops after ``max_passes`` sweeps in which no multiplier changed. Slips: ``002`` (1) says y_i
(w.x_i + b) = +-1 for a support vector where 1 is meant; the condition of its (18) is 0 < a_j < C;
its bounds are 0 <= a <= C, not strict. A random partner may fail where another would succeed, so
stopping does not prove optimality: look at the trace's gap, or use ``smo``.
"""

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.textbook.checks import Array, points
from maxmargin.textbook.kernels import Function, gram, linear
from maxmargin.textbook.models import KernelModel
from maxmargin.textbook.soft_margin import check_C
from maxmargin.textbook.trace import Trace, dual_trace, soft_margin_step

SMALLEST_MOVE = 1e-5
"""A change of a_j below this share of C counts as none."""


def simplified_smo(
    X: ArrayLike,
    y: ArrayLike,
    C: float = 1.0,
    kernel: Function = linear,
    tol: float = 1e-3,
    max_passes: int = 10,
    max_sweeps: int = 10_000,
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
    max_passes : stop after this many sweeps in a row without a change.
    max_sweeps : stop after this many sweeps in any case.
    seed : seed of the random partners.
    trace : keep the state after every `trace` updates of a pair, 0 for never.

    Returns
    -------
    model, trace
    """
    X, t = points(X, y)
    check_C(C)
    n, K, random = len(t), gram(kernel, X), np.random.default_rng(seed)
    a, b, updates, passes, sweeps = np.zeros(n), 0.0, 0, 0, 0
    near = tol * min(1.0, C)  # the lecture has tol itself, which no multiplier of a small C passes
    kept = dual_trace("simplified SMO", trace, X, t, kernel)
    while passes < max_passes and sweeps < max_sweeps:
        before = updates
        for i in range(n):
            E_i = K[i] @ (a * t) + b - t[i]
            if (a[i] < C - near and t[i] * E_i < -tol) or (a[i] > near and t[i] * E_i > tol):
                j = int((i + random.integers(1, n)) % n)
                moved = _move(i, j, E_i, K, t, a, b, C)
                if moved is not None:
                    b, updates = moved, updates + 1
                    if kept.due(updates):
                        kept.keep(soft_margin_step(updates, (i, j), K, t, a, b, C))
        passes = passes + 1 if updates == before else 0
        sweeps += 1
    if trace:
        kept.keep(soft_margin_step(updates, (), K, t, a, b, C))
    return KernelModel(X, a * t, b, kernel), kept


def _move(
    i: int, j: int, E_i: float, K: Array, t: Array, a: Array, b: float, C: float
) -> float | None:
    """Move the pair to the dual's maximum on its segment, in place.

    Return the new b, or None if the pair does not move.
    """
    E_j = K[j] @ (a * t) + b - t[j]
    if t[i] == t[j]:
        L, H = max(0.0, a[i] + a[j] - C), min(C, a[i] + a[j])
    else:
        L, H = max(0.0, a[j] - a[i]), min(C, C + a[j] - a[i])
    eta = 2.0 * K[i, j] - K[i, i] - K[j, j]
    if L >= H or eta >= 0.0:
        return None
    a_j = min(max(a[j] - t[j] * (E_i - E_j) / eta, L), H)
    if abs(a_j - a[j]) < SMALLEST_MOVE * C:
        return None
    a_i = min(max(a[i] - t[i] * t[j] * (a_j - a[j]), 0.0), C)  # rounding alone can leave the box
    d_i, d_j = t[i] * (a_i - a[i]), t[j] * (a_j - a[j])
    b_i = b - E_i - d_i * K[i, i] - d_j * K[i, j]
    b_j = b - E_j - d_i * K[i, j] - d_j * K[j, j]
    a[i], a[j] = a_i, a_j
    if 0.0 < a_i < C:
        return float(b_i)
    return float(b_j) if 0.0 < a_j < C else float(0.5 * (b_i + b_j))
