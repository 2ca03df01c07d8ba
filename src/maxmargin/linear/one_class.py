"""The offset of the linear one-class model: samples on the boundary are inliers."""

from typing import NamedTuple

import numpy as np

from maxmargin.boundary import SCORE_ROUNDING, outward
from maxmargin.linear.bias_search import best_bias
from maxmargin.linear.designs import Design
from maxmargin.linear.losses import LinearProblem
from maxmargin.linear.training import TrainedLinear
from maxmargin.linear.verification import EPS, certify, rounding


class Settings(NamedTuple):
    """What lowering the offset may add to the gap (decision 15)."""

    share_of_gap: float = 1e-2
    """As a share of the gap."""
    negligible: float = 1e-9
    """As a share of the objective; and how near to its bound a dual counts as at its bound."""


SETTINGS = Settings()


def lower_offset(
    trained: TrainedLinear, problem: LinearProblem, design: Design, tol: float
) -> TrainedLinear:
    """Move the offset outward and certify the model that results.

    The best offset for given weights leaves at most nu of the samples below it, as its slope says:
    nu n >= sum of the weights of those below. Lowered a little, it makes inliers of samples on the
    boundary, whatever their rounding, and of those that violate the conditions where that costs
    next to nothing.
    """
    found, before = trained.solution, trained.certificate
    if not before.status.converged:
        return trained
    scores = design.values(found.w)
    bias = best_bias(problem, scores, found.bias)
    size = np.full(len(scores), rounding(found, design, 0.0) / EPS)
    value = max(abs(before.primal), abs(before.dual))
    room = 0.5 * (tol * value - before.gap)
    spent = max(SETTINGS.share_of_gap * before.gap, SETTINGS.negligible * value)
    allowed = max(0.0, min(spent, room)) / problem.total
    f, inside = np.maximum(scores + bias, -allowed), problem.tube.up * (1 - SETTINGS.negligible)
    on_boundary = np.abs(scores + bias) <= SCORE_ROUNDING * size
    dual = np.where(on_boundary, 0.0, found.t)  # whatever the duals say
    bias += outward(f, dual, inside, bias, size)
    moved = found._replace(bias=bias, f=scores + bias)
    solution, certificate = certify(problem, moved, design, tol)
    return trained._replace(solution=solution, certificate=certificate)
