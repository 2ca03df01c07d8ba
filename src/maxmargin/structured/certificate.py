"""The certificate of a solution of the cutting-plane method.

    P = 1/2 |w|^2 + C R(w)            D = sum_j alpha_j offset_j - 1/2 |sum_j alpha_j slope_j|^2

D is a lower bound of P for any planes below R, if alpha >= 0 and sum alpha = C. Here both are
computed again: P from one more call of the risk, or from a value of it that shares no code with the
solver; D from the planes. The violation is R(w) minus the greatest of the planes at w: by how much
the constraint that is violated most is violated (the epsilon of Joachims). It is measured in units
of R(0), the risk of doing nothing.
"""

from collections.abc import Sequence

import numpy as np

from maxmargin.certificate import Certificate, certificate_of
from maxmargin.core.arrays import Floats
from maxmargin.status import Convexity, Status
from maxmargin.structured.cutting_plane import SETTINGS, PlaneSolution
from maxmargin.structured.risks import Plane, Risk
from maxmargin.structured.spaces import Space
from maxmargin.verdict import Demand, Size, verdict, verdict_again

STEPS = 1e-3, 1e-2, 1e-1, 1.0
"""How far from w a plane is compared with the risk, in units of |w|."""


def evaluate(space: Space, C: float, found: PlaneSolution, risk: float) -> Certificate:
    """The certificate of a solution with the given risk R(w), before the verdict."""
    w, alpha = found.w, found.alpha
    combined: Floats = alpha @ found.planes
    primal = 0.5 * space.square(w) + C * risk
    dual = float(alpha @ found.offsets) - 0.5 * space.square(combined)
    below = found.offsets + space.dots(found.planes, w)
    violation = np.array([risk - float(below.max(initial=0.0))])
    equality = abs(float(alpha.sum()) - C)
    return certificate_of(primal, dual, primal - dual, violation, -alpha, equality).updated(
        n_iter=found.n_iter
    )


def certify(
    risk: Risk,
    C: float,
    found: PlaneSolution,
    tol: float,
    value: float | None = None,
    convexity: Convexity = Convexity.PROVED,
) -> Certificate:
    """The judged certificate of a solution.

    ``value`` is R(w) by an independent evaluation. ``convexity`` is that of the kernel.
    """
    result, demand, size = _question(risk, C, found, tol, value, convexity)
    return result.updated(status=verdict(found.ended, result, demand, size))


def certify_again(
    risk: Risk, C: float, w: Floats, plane: Plane, tol: float, before: Certificate
) -> Certificate:
    """The certificate of fitted weights and the plane that proves them, computed again.

    A plane that is above the risk somewhere proves nothing. It is compared at w, at -w and at the
    minimiser of its own bound. A plane of other data is above the risk near w, if anywhere, in the
    direction slope - g with g the slope of the risk at w: there it rises faster than the risk.
    """
    of_plane = plane.slope[None, :], np.array([plane.offset]), np.array([C])
    found = PlaneSolution(w, np.inf, -np.inf, np.inf, *of_plane, None, before.n_iter, ())
    result, demand, size = _question(risk, C, found, tol, None, before.convexity)
    status = verdict_again(before.status, result, demand, size)
    points = [w, -w, -C * plane.slope]
    if before.convexity.convex:  # the risk is known exactly everywhere
        points += _towards(plane.slope - risk.at(w).slope, risk.space, w)
    if status.converged and not _is_below(risk, plane, points):
        status = Status.REFUTED
    return result.updated(status=status)


def _question(
    risk: Risk,
    C: float,
    found: PlaneSolution,
    tol: float,
    value: float | None,
    convexity: Convexity,
) -> tuple[Certificate, Demand, Size]:
    """The input of verdict.py."""
    space = risk.space
    if value is None:
        plane = risk.at(found.w)
        value = plane.offset + float(space.dots(plane.slope[None, :], found.w)[0])
    largest = max(risk.at(np.zeros(space.size)).offset, value)
    result = evaluate(space, C, found, value).updated(convexity=convexity)
    size = Size(values=largest, largest=C, total=C, weight=C)
    return result, Demand.on_gap(tol, largest), size


def _towards(direction: Floats, space: Space, w: Floats) -> list[Floats]:
    """Points on the way from w in a direction."""
    length, size = (np.sqrt(max(space.square(v), 0.0)) for v in (direction, w))
    steps = STEPS if length > 0 and size > 0 else ()
    return [w + step * size / length * direction for step in steps]


def _is_below(risk: Risk, plane: Plane, points: Sequence[Floats]) -> bool:
    """Whether a plane is below the risk at some points."""
    for v in points:
        touching = risk.at(v)
        slopes = np.stack([plane.slope, touching.slope])
        own, other = risk.space.dots(slopes, v)
        size = abs(plane.offset) + abs(touching.offset)
        size += float(risk.space.dots(np.abs(slopes), np.abs(v)).sum())
        if plane.offset + own - touching.offset - other > SETTINGS.rounding * size:
            return False
    return True
