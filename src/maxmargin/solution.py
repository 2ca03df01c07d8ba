"""What a solver returns: the variables, why it stopped, and the level of each group.

At the optimum there is a number u for each group with

    b_i can shrink  =>  G_i <= u          b_i can grow  =>  G_i >= u

so every free variable (strictly inside its bounds) has G_i = u. The level of the group is -u: the mean of -G over the free
variables, as the lectures average the bias over the support vectors on the margin. Without a free variable any u between the
greatest G that can shrink and the least G that can grow satisfies the conditions: that interval is kept, and its middle is the level.

Bias, offset and tube width are read off the levels:

    C-SVC, eps-SVR    f = K b + level
    one-class         f = K b + level                      (level = -rho)
    nu-SVC, hard      f = (K b + middle) / r               r = (level_1 - level_0) / 2, middle = (level_0 + level_1) / 2
    nu-SVR            f = K b + middle, epsilon = (level_0 - level_1) / 2
"""

from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.core import cpu as core
from maxmargin.problems import DualProblem, Floats, Integers

GAP = 10
"""The relative gap may be GAP * tol: at large C a small violation alone says little."""


class Status(Enum):
    """Why a solver stopped; the value is the message for the user."""

    OPTIMAL = "The optimality conditions hold to the tolerance asked for, or the gap is at rounding, checked in float64."
    APPROXIMATE = (
        "The duality gap is within the tolerance asked for, checked in float64, but the optimality conditions of some samples are "
        "not: lower tol, or use an exact solver, for a closer solution."
    )
    STATIONARY = (
        "The kernel is not positive semidefinite on these data: the solution satisfies the optimality conditions to the "
        "tolerance asked for, but the problem is not convex and the gap is no certificate."
    )
    MAX_ITER = "The tolerance was not reached: raise max_iter, continue with warm_start=True, or lower C."
    TIME_LIMIT = (
        "time_limit seconds passed before the tolerance was reached. Raise time_limit, continue with warm_start=True, scale the "
        "data (StandardScaler or MinMaxScaler), or lower C."
    )
    INTERRUPTED = "Interrupted from the keyboard; the best solution so far was kept. warm_start=True continues from it."
    STALLED = (
        "Float64 arithmetic cannot reach the tolerance on these data: the kernel values are too large or too unequal. Scale the "
        "data (StandardScaler or MinMaxScaler), lower C, or raise tol."
    )
    REFUTED = "The optimality conditions do not hold for the data and parameters given to certify: are they those of the fit?"
    DEGENERATE = (
        "nu is too small for these data and this kernel: the reduced convex hulls of the classes meet, so the optimum is w = 0 and every "
        "decision value is 0. Raise nu (it must exceed the share of unavoidable margin errors) or use a richer kernel (for RBF a larger "
        "gamma)."
    )
    IMPORTED = "The model was read from a file of another program, which says nothing about the solution: certify(X, y) checks it."
    COMPACTED = "Support vectors were removed after the fit: compression_ says how far that moved the decision functions."

    @property
    def converged(self) -> bool:
        """Whether the tolerance was reached."""
        return self in (Status.OPTIMAL, Status.APPROXIMATE, Status.STATIONARY)


class Level(NamedTuple):
    """The level of a group and the interval it may lie in."""

    value: float
    low: float
    high: float


class Solution(NamedTuple):
    """Variables, kernel part of the decision values, levels, and how the solver ended."""

    ended: Status | None
    """Why the solver gave up; None where it believes that the tolerance is reached."""
    b: Floats
    kernel_part: Floats
    levels: tuple[Level, ...]
    n_iter: int
    indefinite: bool
    scale: float
    """The greatest k(x, x) of the rows looked at."""
    size: Floats | None = None
    """The sum of |b_j k(x_j, x)| for every row x near the boundary, where the problem needs to know: a share of it is rounding."""


def can_grow(problem: DualProblem, b: Floats) -> NDArray[np.bool_]:
    """Where a variable is below its upper bound."""
    return b < problem.upper


def can_shrink(problem: DualProblem, b: Floats) -> NDArray[np.bool_]:
    """Where a variable is above its lower bound."""
    return b > problem.lower


def gradient(problem: DualProblem, b: Floats, kernel_part: Floats) -> Floats:
    """G = K[row, row] b + ridge b + linear, from the kernel part K b."""
    return kernel_part[problem.row] + problem.ridge * b + problem.linear


def levels(problem: DualProblem, b: Floats, G: Floats) -> tuple[Level, ...]:
    """The level of each group; see the top of this file."""
    result = []
    for least, greatest, free_sum, free in core.group_ends(G, b, problem.lower, problem.upper, problem.begin):
        if free:
            value = -free_sum / free
            result.append(Level(value, value, value))
            continue
        low, high = -least, -greatest
        value = (low + high) / 2 if np.isfinite(low) and np.isfinite(high) else (high if np.isfinite(high) else low)
        result.append(Level(value, min(low, high), max(low, high)))
    return tuple(result)


def margin(ends: tuple[Level, ...]) -> float:
    """r, half the distance between the levels of the two classes: the unit of nu-SVC and of the hard margin."""
    return (ends[1].value - ends[0].value) / 2


def worst_violation(problem: DualProblem, b: Floats, G: Floats) -> float:
    """The greatest G that can shrink minus the least that can grow, over the groups; not above 0 at an optimum."""
    return violation_within(G, b, problem.lower, problem.upper, problem.begin)


def violation_within(G: Floats, b: Floats, lower: Floats, upper: Floats, begin: Integers) -> float:
    """The same for some variables, by where each group begins."""
    return max((greatest - least for least, greatest, _, _ in core.group_ends(G, b, lower, upper, begin)), default=-np.inf)


def may_move(G: Floats, b: Floats, lower: Floats, upper: Floats, begin: Integers) -> NDArray[np.bool_]:
    """Where a variable is free or part of a pair that violates optimality."""
    ends = core.group_ends(G, b, lower, upper, begin)
    above, below = (G - np.repeat([end[side] for end in ends], np.diff(begin)) for side in (0, 1))
    grow, shrink = b < upper, b > lower
    found: NDArray[np.bool_] = (grow & shrink) | (grow & (below < 0)) | (shrink & (above > 0))
    return found


def duality_gap(problem: DualProblem, b: Floats, kernel_part: Floats, ends: tuple[Level, ...]) -> float:
    """The gap of the dual problem at the given levels, in the problem's own units; what the progress line shows.

    With s_i = (K b)_i + linear_i + level: sum of s_i (b_i - lower_i) where s_i > 0 and s_i (b_i - upper_i) where s_i < 0; with a ridge
    the variable t minimising s_i t + ridge t^2 / 2 over the bounds takes the place of the bound.
    """
    slope, ridge = kernel_part[problem.row] + problem.linear + np.array([end.value for end in ends])[problem.group], problem.ridge
    best = np.where(slope > 0, problem.lower, np.where(slope < 0, problem.upper, b))
    squared = bool(ridge.any())
    if squared:
        with np.errstate(divide="ignore", invalid="ignore"):
            best = np.where(ridge > 0, np.clip(-slope / ridge, problem.lower, problem.upper), best)
    if not np.isfinite(best).all():
        return np.inf
    gaps = slope * (b - best)
    if squared:
        gaps += 0.5 * ridge * (b * b - best * best)
    return float(gaps.sum())
