"""What a solver returns: the variables, why it stopped, and the level of each group.

At the optimum there is a number u for each group with

    b_i can shrink  =>  G_i <= u          b_i can grow  =>  G_i >= u

so every free variable (strictly inside its bounds) has G_i = u. The level of the group is -u: the
mean of -G over the free variables, as the lectures average the bias over the support vectors on the
margin. Without a free variable any u between the greatest G that can shrink and the least G that
can grow satisfies the conditions: that interval is kept, and its middle is the level.

Bias, offset and tube width are read off the levels:

    C-SVC, eps-SVR    f = K b + level
    one-class         f = K b + level                      (level = -rho)
    nu-SVC, hard      f = (K b + middle) / r               r = (level_1 - level_0) / 2
    nu-SVR            f = K b + middle                     epsilon = (level_0 - level_1) / 2

with middle = (level_0 + level_1) / 2.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.arrays import Floats
from maxmargin.core.backend import Backend, Extremes, Variables
from maxmargin.kernel.problems import DualProblem, fold
from maxmargin.status import Status


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
    diagonal: float
    """The greatest k(x, x) of the rows looked at."""
    size: Floats | None = None
    """The sum of |b_j k(x_j, x)| for every row x near the boundary, where the problem needs to
    know: a share of it is rounding."""


def coefficients(problem: DualProblem, solution: Solution) -> Floats:
    """The coefficient of each kernel row: the sum of the variables that share it."""
    return fold(problem, solution.b, len(solution.kernel_part))


def can_grow(problem: DualProblem, b: Floats) -> NDArray[np.bool_]:
    """Where a variable is below its upper bound."""
    return b < problem.upper


def can_shrink(problem: DualProblem, b: Floats) -> NDArray[np.bool_]:
    """Where a variable is above its lower bound."""
    return b > problem.lower


def gradient(problem: DualProblem, b: Floats, kernel_part: Floats) -> Floats:
    """G = K[row, row] b + ridge b + linear, from the kernel part K b."""
    return kernel_part[problem.row] + problem.ridge * b + problem.linear


def levels(variables: Variables, backend: Backend) -> tuple[Level, ...]:
    """The level of each group; see the top of this file."""
    return levels_at(backend.group_extremes(variables), variables.fixed)


def levels_at(extremes: list[Extremes], fixed: NDArray[np.bool_]) -> tuple[Level, ...]:
    """The same, from the extremes of the gradient."""
    return tuple(_level(*end) for end in zip(extremes, fixed, strict=True))


def _level(end: Extremes, fixed: bool) -> Level:
    if not fixed:
        return Level(0.0, 0.0, 0.0)
    if end.free:
        value = -end.free_sum / end.free
        return Level(value, value, value)
    low, high = -end.least, -end.greatest
    bounded = math.isfinite(low), math.isfinite(high)
    value = (low + high) / 2 if all(bounded) else high if bounded[1] else low
    return Level(value, min(low, high), max(low, high))


def margin(ends: tuple[Level, ...]) -> float:
    """r, half the distance between the classes' levels: the unit of nu-SVC and the hard margin."""
    return (ends[1].value - ends[0].value) / 2


def violation(variables: Variables, backend: Backend) -> float:
    """The greatest G that can shrink minus the least that can grow, over the groups.

    It is not above 0 at an optimum.
    """
    return max(
        (end.greatest - end.least for end in backend.group_extremes(variables)), default=-math.inf
    )


def may_move(variables: Variables, backend: Backend) -> NDArray[np.bool_]:
    """Where a variable is free or part of a pair that violates optimality."""
    G, b, lower, upper, _, begin, _ = variables
    ends, xp = backend.group_extremes(variables), backend.xp
    sizes = (begin[1:] - begin[:-1]).tolist()
    above, below = (
        G - xp.repeat(xp.asarray([end[side] for end in ends]), sizes) for side in (0, 1)
    )
    grow, shrink = b < upper, b > lower
    found: NDArray[np.bool_] = (grow & shrink) | (grow & (below < 0)) | (shrink & (above > 0))
    return found


def duality_gap(
    problem: DualProblem, b: Floats, kernel_part: Floats, ends: tuple[Level, ...], xp: Any = np
) -> float:
    """The duality gap at the given levels, in the problem's own units, for the progress line.

    With s_i = (K b)_i + linear_i + level: sum of s_i (b_i - lower_i) where s_i > 0 and
    s_i (b_i - upper_i) where s_i < 0; with a ridge the variable t minimising s_i t + ridge t^2 / 2
    over the bounds takes the place of the bound.
    """
    level, ridge = xp.asarray([end.value for end in ends]), problem.ridge
    slope = kernel_part[problem.row] + problem.linear + level[problem.group]
    best = xp.where(slope > 0, problem.lower, xp.where(slope < 0, problem.upper, b))
    squared = bool(ridge.any())
    if squared:
        with np.errstate(divide="ignore", invalid="ignore"):
            best = xp.where(ridge > 0, xp.clip(-slope / ridge, problem.lower, problem.upper), best)
    if not xp.isfinite(best).all():
        return math.inf
    gaps = slope * (b - best)
    if squared:
        gaps += 0.5 * ridge * (b * b - best * best)
    return float(gaps.sum())
