"""Subspace minimisation for dual coordinate descent: all free duals at once.

Coordinate descent finds out quickly which duals F are free (strictly inside their bounds) and
slowly what their values are. With the others fixed the dual objective is a quadratic of t_F. Its
maximiser solves

    (X_F X_F' + c 1 1' + ridge) change = edge_F - f_F - ridge t_F

where c is the square of the bias column, edge is the end of the tube that the sample is at, and
ridge = 1 / (2 cost) for squared losses, 0 for plain ones. Conjugate gradients solve it; a product
takes two passes over the samples of F. The change is clipped to the bounds, and halved until the
objective does not fall.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers, Mask
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.equations import conjugate_gradients
from maxmargin.linear.losses import LinearProblem
from maxmargin.linear.objectives import neg_conjugates
from maxmargin.monitor import Monitor


class Settings(NamedTuple):
    """Settings of a subspace step (decision 15)."""

    accuracy: float = 1e-3
    """Conjugate gradients end when the squared residual is this share of the first."""
    shortest: float = 0.1
    """A change that must be shortened to this share or less is not made."""


SETTINGS = Settings()


class DualIterate(NamedTuple):
    """The state of dual coordinate descent."""

    t: Floats
    w: Floats
    """X't."""
    multiplier: float
    """The estimate of a free bias (the multiplier of the sum constraint), else 0."""
    column: float
    """The square of the bias column, or the penalty parameter of a free bias."""
    bias: float
    """multiplier + column (sum t - total)."""


def free_variables(problem: LinearProblem, t: Floats) -> Mask:
    """Which duals are neither 0 nor at a bound."""
    tube = problem.tube
    free: Mask = t != 0
    return free if tube.squared else free & (t < tube.up) & (t > -tube.down)


def subspace_step(
    problem: LinearProblem,
    design: ArrayDesign,
    here: DualIterate,
    free: Integers,
    squares: Floats,
    products: int,
    monitor: Monitor,
) -> DualIterate:
    """The iterate after a step of the free duals, or the same one if no step pays.

    The step takes at most `products` products with the data.
    """
    t, tube = here.t, problem.tube
    up = t[free] > 0
    edge = np.where(up, tube.low[free], tube.high[free])
    cost = np.where(up, tube.up[free], tube.down[free])
    ridge = 1 / (2 * cost) if tube.squared else np.zeros(len(free))
    right = edge - design.values(here.w, free) - here.bias - ridge * t[free]

    def product(p: Floats) -> Floats:
        along: Floats = design.values(design.sum(p, free), free)
        return along + here.column * float(p.sum()) + ridge * p

    scale = 1 / np.sqrt(squares[free] + here.column + ridge)
    change = conjugate_gradients(product, right, scale, SETTINGS.accuracy, products, monitor)
    before, length = _objective(problem, here), 1.0
    while length > SETTINGS.shortest:
        new = t[free] + length * change
        new = np.where(up, np.maximum(new, 0.0), np.minimum(new, 0.0))
        new = new if tube.squared else np.clip(new, -cost, cost)
        moved = new - t[free]
        duals = t.copy()
        duals[free] = new
        bias = here.bias + here.column * float(moved.sum())
        found = here._replace(t=duals, w=here.w + design.sum(moved, free), bias=bias)
        if _objective(problem, found) >= before:
            return found
        length *= 0.5
    return here


def _objective(problem: LinearProblem, here: DualIterate) -> float:
    """The dual objective; that of a free bias is the augmented Lagrangian."""
    excess = (here.bias - here.multiplier) / here.column if here.column > 0 else 0.0
    value = neg_conjugates(problem.tube, here.t) - 0.5 * float(here.w @ here.w)
    return value - here.multiplier * excess - 0.5 * here.column * excess * excess
