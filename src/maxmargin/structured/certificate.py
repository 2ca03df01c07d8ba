"""The certificate of a solution of the cutting-plane method.

    P = 1/2 |w|^2 + C R(w)            D = sum_j alpha_j offset_j - 1/2 |sum_j alpha_j slope_j|^2

D is a lower bound of P for any planes below R, if alpha >= 0 and sum alpha = C. Here both are
computed again: P from one more call of the risk, or from a value of it that shares no code with the
solver; D from the planes. The violation is R(w) minus the greatest of the planes at w: by how much
the constraint that is violated most is violated (the epsilon of Joachims). It is measured in units
of R(0), the risk of doing nothing.
"""

import numpy as np

from maxmargin.certificate import Certificate, certificate_of
from maxmargin.core.arrays import Floats
from maxmargin.status import Convexity, Status
from maxmargin.structured.cutting_plane import PlaneSolution
from maxmargin.structured.risks import Risk
from maxmargin.structured.spaces import Space
from maxmargin.verdict import Demand, Size, verdict, verdict_again


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
    before: Status | None = None,
    convexity: Convexity = Convexity.PROVED,
) -> Certificate:
    """The judged certificate of a solution.

    ``value`` is R(w) by an independent evaluation. ``before`` is the status of a fitted model whose
    certificate is computed again. ``convexity`` is that of the kernel.
    """
    space = risk.space
    if value is None:
        plane = risk.at(found.w)
        value = plane.offset + float(space.dots(plane.slope[None, :], found.w)[0])
    zero = risk.at(np.zeros(space.size)).offset
    result = evaluate(space, C, found, value).updated(convexity=convexity)
    demand = Demand.on_gap(tol, max(zero, value))
    size = Size(values=max(zero, value), largest=C, total=C, weight=C)
    if before is None:
        status = verdict(found.ended, result, demand, size)
    else:
        status = verdict_again(before, result, demand, size)
    return result.updated(status=status)
