"""The boundary of a one-class model: samples on it are inliers."""

from maxmargin.core.arrays import Floats

OFFSET_ROUNDING, SCORE_ROUNDING = 1e-13, 1e-14
"""Shares of the offset, and of the terms of a score, that cover the rounding of scores."""


def outward(f: Floats, dual: Floats, upper: Floats, offset: float, size: Floats) -> float:
    """By how much the offset must fall for every sample on the boundary to be an inlier.

    The optimality conditions say f_i >= 0 for every sample whose dual variable is below its upper
    bound. A solution keeps them to within its KKT violation; lowered by that violation the offset
    keeps them exactly, and the violation does not exceed the greatest difference of f between two
    samples on the boundary, which is what solvers bound by tol. So outliers have their variables at
    the bound, and as the variables sum to nu n these are at most nu n. Rounding is added, because
    predictions are computed in another order: ``size`` bounds sum_i |b_i k(x_i, x)| for every
    sample x.
    """
    below = float((SCORE_ROUNDING * size - f)[dual < upper].max(initial=0.0))
    return below + OFFSET_ROUNDING * abs(offset)
