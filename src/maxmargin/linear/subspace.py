"""Conjugate gradients on a face: all duals strictly inside their bounds at once.

Coordinate descent finds out quickly which duals F are inside their bounds and slowly what their
values are. With the others fixed the dual objective is a quadratic of t_F, whose maximiser solves

    (X_F X_F' + c 1 1' + ridge) change = edge_F - f_F - ridge t_F          ridge = 1 / (2 up) or 1 / (2 down) where squared, else 0

with c the bias column's square and edge the side of the tube that the sample is at. A product
takes two passes over the samples of F. The change is clipped to the bounds, and halved until the
objective does not fall.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.arrays import Floats, Integers
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.equations import conjugate_gradients
from maxmargin.linear.losses import LinearProblem
from maxmargin.linear.objectives import neg_conjugates
from maxmargin.monitor import Monitor

ITERATIONS = 25
"""Products, at most."""
ACCURACY = 1e-3
"""Of the squared residual, relative to the first."""
SHORTEST = 0.1
"""A change that must be shortened more is not worth it."""


class Walk(NamedTuple):
    """Where coordinate descent is.

    Duals, w = X't, the bias's guess and column, the bias they make.
    """

    t: Floats
    w: Floats
    guess: float
    column: float
    bias: float


def inside(problem: LinearProblem, t: Floats) -> NDArray[np.bool_]:
    """Where duals are neither 0 nor at a bound."""
    found: NDArray[np.bool_] = t != 0
    return (
        found if problem.tube.squared else found & (t < problem.tube.up) & (t > -problem.tube.down)
    )


def leap(
    problem: LinearProblem,
    design: ArrayDesign,
    walk: Walk,
    face: Integers,
    squares: Floats,
    monitor: Monitor,
) -> Walk:
    """The walk after a change of the duals of a face, or as it is where none pays."""
    t, tube = walk.t, problem.tube
    up = t[face] > 0
    edge = np.where(up, tube.low[face], tube.high[face])
    price = np.where(up, tube.up[face], tube.down[face])
    ridge = 1 / (2 * price) if tube.squared else np.zeros(len(face))
    right = edge - design.values(walk.w, face) - walk.bias - ridge * t[face]

    def product(p: Floats) -> Floats:
        along: Floats = design.values(design.sum(p, face), face)
        return along + walk.column * float(p.sum()) + ridge * p

    diagonal = squares[face] + walk.column + ridge
    change = conjugate_gradients(
        product, right, 1 / np.sqrt(diagonal), ACCURACY, ITERATIONS, monitor
    )
    before, length = _objective(problem, walk), 1.0
    while length > SHORTEST:
        new = t[face] + length * change
        new = np.where(up, np.maximum(new, 0.0), np.minimum(new, 0.0))
        new = new if tube.squared else np.clip(new, -price, price)
        moved = new - t[face]
        duals = t.copy()
        duals[face] = new
        bias = walk.bias + walk.column * float(moved.sum())
        found = walk._replace(t=duals, w=walk.w + design.sum(moved, face), bias=bias)
        if _objective(problem, found) >= before:
            return found
        length *= 0.5
    return walk


def _objective(problem: LinearProblem, walk: Walk) -> float:
    """The dual objective with the bias penalised around its guess."""
    excess = (walk.bias - walk.guess) / walk.column if walk.column > 0 else 0.0
    return (
        neg_conjugates(problem.tube, walk.t)
        - 0.5 * float(walk.w @ walk.w)
        - walk.guess * excess
        - 0.5 * walk.column * excess * excess
    )
