"""The end of multiple kernel learning with p = 1 where J has a kink at its minimum.

A machine may have several solutions b, of which each has other s_m for kernels without weight: J
has a kink there, one solution alone proves nothing, and Newton's method stops. Every machine so far
is a cut, J(d) >= sum a - 1/2 d's, and so is every convex combination of their coefficients, which
is feasible. A linear program finds the lowest point of all cuts and the combination b that belongs
to it: the machine with these coefficients closes the gap. Otherwise the machine at that point is
the next cut (Sonnenburg et al., 2006).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from maxmargin.core.arrays import Floats
from maxmargin.kernel.problems import DualProblem
from maxmargin.kernel.solution import Level, Solution


class Cut(NamedTuple):
    """A machine of each class as a lower bound of J."""

    linear: float
    """The sum of all a_i."""
    s: Floats
    b: Floats
    """Coefficients, a row for each class."""
    F: Floats
    """K_m b, of every kernel and class."""


def lowest(cuts: Sequence[Cut]) -> tuple[Floats, Floats] | None:
    """The point of the simplex where the cuts are lowest, and their shares there."""
    M = len(cuts[0].s)
    A = np.column_stack([-0.5 * np.array([cut.s for cut in cuts]), -np.ones(len(cuts))])
    unit = max(float(np.abs(A).max()), float(np.finfo(float).tiny))
    right = -np.array([cut.linear for cut in cuts]) / unit
    one, cost = np.append(np.ones(M), 0.0), np.append(np.zeros(M), 1.0)
    A[:, :M] /= unit
    limits = [(0.0, 1.0)] * M + [(None, None)]
    found = linprog(cost, A, right, one[None, :], [1.0], limits, method="highs")
    if not found.success:
        return None
    shares = np.maximum(-found.ineqlin.marginals, 0.0)
    return np.maximum(found.x[:M], 0.0), shares / max(shares.sum(), np.finfo(float).tiny)


def combined(cuts: Sequence[Cut], shares: Floats) -> Cut:
    """The convex combination of coefficients, as a cut."""
    b = np.tensordot(shares, np.array([cut.b for cut in cuts]), 1)
    F = np.tensordot(shares, np.array([cut.F for cut in cuts]), 1)
    linear = float(shares @ [cut.linear for cut in cuts])
    return Cut(linear, np.einsum("mcn,cn->m", F, b), b, F)


def solution_of(problem: DualProblem, b: Floats, part: Floats) -> Solution:
    """Coefficients with the bias that suits their kernel part best, as a solution."""
    y, C = -problem.linear, np.maximum(problem.upper, -problem.lower)
    t = y - part  # where the loss of a sample has its kink
    order = np.argsort(t, kind="stable")
    slope = np.cumsum(C[order]) - C[y > 0].sum()  # of the losses, right of each kink
    bias = float(t[order[int(np.argmax(slope >= 0))]])
    return Solution(None, b, part, (Level(bias, bias, bias),), 0, False, 0.0)
