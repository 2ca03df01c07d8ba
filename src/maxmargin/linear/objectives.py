"""What linear solvers share: the solution they return, the two objectives and their scales."""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats
from maxmargin.linear.bias_search import middle
from maxmargin.linear.designs import Design
from maxmargin.linear.losses import Bias, LinearProblem, Tube, with_sum
from maxmargin.status import Status

EPS = float(np.finfo(float).eps)
ROUNDING = 1e-13
"""A gap below this share of the objectives is rounding."""


class Settings(NamedTuple):
    """The scales of a problem (decision 15)."""

    uncertainty: float = 1e-3
    """Error of decision values that a gap within rounding may hide, in units of them."""


SETTINGS = Settings()


class LinearSolution(NamedTuple):
    """A linear model, the duals that certify it, and the products of both with the data."""

    w: Floats
    bias: float
    t: Floats
    f: Floats
    """X w + bias."""
    Xt: Floats
    """X't."""
    ended: Status | None
    """Why the solver stopped early; None if it reached the tolerance."""
    n_iter: int


class Gap(NamedTuple):
    """P(w, b), D(t) and their difference as the solver computed them."""

    primal: float
    dual: float
    scale: float = 0.0
    """A natural size of both."""

    @property
    def value(self) -> float:
        """The difference."""
        return self.primal - self.dual

    @property
    def relative(self) -> float:
        """The difference in units of the greater of the two."""
        return self.value / max(abs(self.primal), abs(self.dual), np.finfo(float).tiny)

    def within(self, tol: float) -> bool:
        """Whether the difference is small enough, or nothing but rounding."""
        size = max(abs(self.primal), abs(self.dual))
        return bool(np.isfinite(self.value)) and self.value <= max(
            tol * size, ROUNDING * max(size, self.scale)
        )

    def outcome(self, tol: float, reason: Status | None) -> Status | None:
        """None where the difference is small enough, else the reason, else STALLED."""
        return None if self.within(tol) else reason or Status.STALLED


def primal(problem: LinearProblem, square: float, bias: float, loss: float) -> float:
    """P from |w|^2 and the sum of the losses."""
    return 0.5 * square + 0.5 * problem.m * bias * bias + problem.total * bias + loss


def dual(problem: LinearProblem, square: float, conjugates: float, total: float) -> float:
    """D, from |X't|^2, minus the sum of the conjugates, and the sum of the duals.

    With a free bias, the duals must have the sum ``problem.total``.
    """
    excess = total - problem.total
    penalty = 0.5 * excess * excess / problem.m if problem.bias is Bias.PENALISED else 0.0
    return conjugates - 0.5 * square - penalty


def gap_of(
    problem: LinearProblem, w: Floats, bias: float, t: Floats, f: Floats, Xt: Floats, scale: float
) -> Gap:
    """P(w, bias) and D(t), of decision values f and X't."""
    value = primal(problem, float(w @ w), bias, problem.tube.losses(f))
    origin = bias if problem.bias is Bias.FREE else 0.0
    conjugates = neg_conjugates(problem.tube, t, origin) + origin * problem.total
    return Gap(value, dual(problem, float(Xt @ Xt), conjugates, float(t.sum())), scale)


def l1_gap_of(problem: LinearProblem, found: LinearSolution) -> Gap:
    """P with the l1 penalty, and D of the duals, shortened until |X't| <= 1.

    D is -inf if a free bias needs another sum of the duals.
    """
    w, bias, t = found[:3]
    penalty = abs(bias) / problem.scaling if problem.bias is Bias.PENALISED else 0.0
    value = float(np.abs(w).sum()) + penalty + problem.tube.losses(found.f)
    longest, total = float(np.abs(found.Xt).max(initial=0.0)), float(t.sum())
    if problem.bias is Bias.PENALISED:
        longest = max(longest, abs(problem.scaling * total))
    if problem.bias is Bias.FREE and abs(total) > 1e-12 * float(np.abs(t).sum()):
        return Gap(value, -np.inf)
    return Gap(value, neg_conjugates(problem.tube, t / max(longest, 1.0)))


def neg_conjugates(tube: Tube, t: Floats, origin: float = 0.0) -> float:
    """Sum of neg_conjugate_i(t_i), of tubes measured from ``origin``."""
    up, down = t > 0, t < 0
    edge = np.where(up, tube.low, np.where(down, tube.high, origin)) - origin
    value = float(np.sum(edge * t))
    if tube.squared:
        cost = np.where(up, tube.up, np.where(down, tube.down, 1.0))
        value -= float(np.sum(t * t / (4 * cost)))
    return value


def feasible(problem: LinearProblem, t: Floats) -> Floats:
    """Duals inside their bounds, with the sum that a free bias asks for."""
    tube = problem.tube
    t = np.where(t > 0, np.where(tube.up > 0, t, 0.0), np.where(tube.down > 0, t, 0.0))
    t = t if tube.squared else np.clip(t, -tube.down, tube.up)
    return with_sum(tube, t, problem.total) if problem.bias is Bias.FREE else t


class Sizes(NamedTuple):
    """The scales of a problem, whatever its solution."""

    scale: float
    """Of the objective: a gap of ROUNDING times this is rounding."""
    unit: float
    """Of decision values."""


def sizes(problem: LinearProblem, design: Design) -> Sizes:
    """The scale of the objective: P of a constant model, or |D| of equal duals (one-class).

    These do not vanish where the optimum is 0. A gap allows the decision value of x an error of
    sqrt(2 gap) |x|. The scale is limited such that a gap of ROUNDING times the scale allows at most
    ``uncertainty`` units: with huge samples a small gap says little.
    """
    tube = problem.tube
    if problem.total:
        Xt = design.sum(tube.up * (problem.total / float(tube.up.sum())))
        scale = 0.5 * float(Xt @ Xt) or problem.total
        unit, far, centre = 2 * scale / problem.total, 0.0, 0.0
    else:
        centre = middle(problem)
        below, above = np.maximum(tube.low - centre, 0.0), np.maximum(centre - tube.high, 0.0)
        costs, cost = tube.up * below + tube.down * above, np.maximum(tube.up, tube.down)
        unit = float(np.sum(costs)) / float(cost.sum())
        scale = float(np.sum(costs * (below + above) if tube.squared else costs))
        far = abs(centre) * float(cost.sum()) * (2 * unit if tube.squared else 1.0)
    if unit <= 4 * EPS * abs(centre):  # equal targets
        unit = abs(centre) or 1.0
    largest, error = design.largest_square, SETTINGS.uncertainty * unit
    scale = min(scale, error * error / (2 * ROUNDING * largest)) if largest > 0 else scale
    return Sizes(scale + EPS / ROUNDING * far, unit)
