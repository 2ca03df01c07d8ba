"""The update of one pair of multipliers, as SMO's slides have it.

``straka``, "Sequential Minimal Optimization Update Rules"; ``boyd_graber`` (9) to (19). The
constraint sum_i a_i t_i = 0 forbids moving one multiplier alone, so two move. With
E_k = y(x_k) - t_k, for a chosen pair i, j:

    t_i == t_j:  L = max(0, a_i + a_j - C),  H = min(C, a_i + a_j)
    t_i != t_j:  L = max(0, a_j - a_i),      H = min(C, C + a_j - a_i)
    eta = 2 k_ij - k_ii - k_jj   (<= 0: the second derivative of the dual along the pair)
    a_j <- clip(a_j - t_j (E_i - E_j) / eta, L, H)
    a_i <- a_i - t_i t_j (a_j - a_j old)
    b_i = b - E_i - t_i (a_i - a_i old) k_ii - t_j (a_j - a_j old) k_ij
    b_j = b - E_j - t_i (a_i - a_i old) k_ij - t_j (a_j - a_j old) k_jj
    b   = b_i if 0 < a_i < C,  b_j if 0 < a_j < C,  their mean otherwise

If eta = 0 the dual is a line along the pair, and its best end is L or H: the unclipped value is
then infinite. Slips: the condition of ``boyd_graber`` (18) is 0 < a_j < C; its bounds are
0 <= a <= C, not strict.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.textbook.checks import Array

ROUNDING = 1e-12
"""A multiplier this close to a bound, as a share of the pair's size, is moved onto the bound."""


class Pair(NamedTuple):
    """What the slide computes for a pair i, j; ``a_i``, ``a_j`` and ``b`` are the new values.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]
    >>> model, trace = textbook.smo(X, y)
    >>> pair = trace.steps[1].pair
    >>> pair.i, pair.j
    (2, 1)
    >>> (pair.L, pair.H)
    (0.0, 1.0)
    >>> pair.unclipped
    0.5
    """

    i: int
    j: int
    E_i: float
    E_j: float
    eta: float
    L: float
    H: float
    unclipped: float
    """a_j at the vertex of the parabola, before it is clipped to [L, H]."""
    a_i: float
    a_j: float
    b_i: float
    """b1 of ``boyd_graber`` (17)."""
    b_j: float
    """b2 of ``boyd_graber`` (18)."""
    b: float

    def __str__(self) -> str:
        return (
            f"pair i = {self.i}, j = {self.j}\n"
            f"E_i = {self.E_i:.6g}, E_j = {self.E_j:.6g}, eta = {self.eta:.6g}\n"
            f"L = {self.L:.6g}, H = {self.H:.6g}\n"
            f"a_j = {self.unclipped:.6g}, clipped to [L, H]: {self.a_j:.6g}\n"
            f"a_i = {self.a_i:.6g}\n"
            f"b1 = {self.b_i:.6g}, b2 = {self.b_j:.6g}, b = {self.b:.6g}"
        )


def update_pair(i: int, j: int, K: Array, t: Array, a: Array, b: float, C: float) -> Pair:
    """The best move of a_i and a_j, as above; the arrays stay as they are."""
    E_i, E_j = (float(K[k] @ (a * t) + b - t[k]) for k in (i, j))
    if t[i] == t[j]:
        L, H = max(0.0, a[i] + a[j] - C), min(C, a[i] + a[j])
    else:
        L, H = max(0.0, a[j] - a[i]), min(C, C + a[j] - a[i])
    eta = float(2.0 * K[i, j] - K[i, i] - K[j, j])
    slope = t[j] * (E_i - E_j)
    unclipped = float(a[j] - slope / eta) if eta < 0.0 else float(np.copysign(np.inf, slope))
    a_j = snap(min(max(unclipped, L), H), a[i], a[j], C)
    a_i = snap(a[i] - t[i] * t[j] * (a_j - a[j]), a[i], a[j], C)
    d_i, d_j = t[i] * (a_i - a[i]), t[j] * (a_j - a[j])
    b_i = float(b - E_i - d_i * K[i, i] - d_j * K[i, j])
    b_j = float(b - E_j - d_i * K[i, j] - d_j * K[j, j])
    new_b = b_i if 0.0 < a_i < C else b_j if 0.0 < a_j < C else 0.5 * (b_i + b_j)
    return Pair(i, j, E_i, E_j, eta, float(L), float(H), unclipped, a_i, a_j, b_i, b_j, new_b)


def snap(value: float, a_i: float, a_j: float, C: float) -> float:
    """Move a multiplier that is within rounding of a bound onto it; a_i, a_j are the old values."""
    if value <= ROUNDING * max(a_i, a_j):
        return 0.0
    return C if value >= C * (1.0 - ROUNDING) and np.isfinite(C) else float(value)
