"""What linear solvers share: the solution they return, the two objectives, the best bias, the last word on optimality."""

from typing import NamedTuple

import numpy as np

from maxmargin.designs import Design
from maxmargin.losses import Bias, Corridor, LinearProblem, with_sum
from maxmargin.problems import Floats
from maxmargin.solution import Status

ROUNDING = 1e-13
"""A gap of this share of the terms it is the difference of is rounding."""


class LinearSolution(NamedTuple):
    """A linear model, the duals that certify it, and what they make of the data."""

    w: Floats
    bias: float
    t: Floats
    f: Floats
    """X w + bias."""
    Xt: Floats
    """X't."""
    status: Status
    n_iter: int


class Gap(NamedTuple):
    """P(w, b), D(t) and their difference as the solver computed them."""

    primal: float
    dual: float

    @property
    def value(self) -> float:
        """The difference."""
        return self.primal - self.dual

    def within(self, tol: float) -> bool:
        """Whether the difference is small enough, or nothing but rounding."""
        return self.value <= max(tol, ROUNDING) * max(abs(self.primal), abs(self.dual))


def primal(problem: LinearProblem, w: Floats, bias: float, loss: float) -> float:
    """P from the sum of the losses."""
    return 0.5 * float(w @ w) + 0.5 * problem.m * bias**2 + problem.total * bias + loss


def dual(problem: LinearProblem, Xt: Floats, gain: float, total: float) -> float:
    """D from X't, the sum of the gains and the sum of the duals; with a free bias that sum must be right."""
    penalty = 0.5 * (total - problem.total) ** 2 / problem.m if problem.bias is Bias.PENALISED else 0.0
    return gain - 0.5 * float(Xt @ Xt) - penalty


def gains(corridor: Corridor, t: Floats) -> float:
    """Sum of gain_i(t_i)."""
    up, down = t > 0, t < 0
    value = float(np.sum(corridor.low[up] * t[up])) + float(np.sum(corridor.high[down] * t[down]))
    if corridor.squared:
        value -= float(np.sum(t[up] ** 2 / (4 * corridor.up[up]))) + float(np.sum(t[down] ** 2 / (4 * corridor.down[down])))
    return value


def feasible(problem: LinearProblem, t: Floats) -> Floats:
    """Duals inside their bounds, with the sum that a free bias asks for."""
    corridor = problem.corridor
    t = np.where(t > 0, np.where(corridor.up > 0, t, 0.0), np.where(corridor.down > 0, t, 0.0))
    t = t if corridor.squared else np.clip(t, -corridor.down, corridor.up)
    return with_sum(corridor, t, problem.total) if problem.bias is Bias.FREE else t


def best_bias(problem: LinearProblem, Xw: Floats, bias: float) -> float:
    """The b that minimises P for given X w, by bisection on the slope, which does not decrease."""
    if problem.bias is Bias.NONE:
        return 0.0
    corridor = problem.corridor

    def slope(b: float) -> float:
        f = Xw + b
        below, above = corridor.low - f, f - corridor.high
        if corridor.squared:
            pull = float(np.sum(2 * corridor.down * np.maximum(above, 0.0), where=corridor.down > 0))
            pull -= float(np.sum(2 * corridor.up * np.maximum(below, 0.0), where=corridor.up > 0))
        else:
            pull = float(np.sum(corridor.down[above > 0])) - float(np.sum(corridor.up[below > 0]))
        return pull + problem.m * b + problem.total

    size = 1.0 + float(np.abs(Xw).max(initial=0.0))
    reach = 1e-3 * size
    low = high = bias
    while slope(low) > 0 and reach < 1e6 * size:
        low, reach = low - reach, 4 * reach
    reach = 1e-3 * size
    while slope(high) < 0 and reach < 1e6 * size:
        high, reach = high + reach, 4 * reach
    for _ in range(100):
        middle = 0.5 * (low + high)
        if not low < middle < high or high - low <= 1e-15 * size:
            break
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return 0.5 * (low + high)


def conclude(
    problem: LinearProblem, design: Design, w: Floats, bias: float, t: Floats, f: Floats, tol: float, reason: Status | None, n_iter: int
) -> tuple[LinearSolution, Gap]:
    """The solution with duals made feasible, and its gap: OPTIMAL where that is small, else the reason, else STALLED."""
    t = feasible(problem, t)
    Xt = design.sum(t)
    value = primal(problem, w, bias, problem.corridor.losses(f))
    gap = Gap(value, dual(problem, Xt, gains(problem.corridor, t), float(t.sum())))
    status = Status.OPTIMAL if gap.within(tol) else reason or Status.STALLED
    return LinearSolution(w, bias, t, f, Xt, status, n_iter), gap
