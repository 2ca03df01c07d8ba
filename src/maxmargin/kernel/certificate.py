"""An independent check of a solution in float64: primal and dual value, gap, optimality conditions.

This file shares no code with the solvers, nor does evaluation.py, which computes decision values
for it. With decision values f_i, coefficients b_i, a_i = y_i b_i and |w|^2 = sum_i b_i
(f_i - bias), the gap between the primal and the dual value is (tube.py has loss_i and ridge_i of
every regression)

    C-SVC      sum_i (C_i - a_i) max(0, 1 - y_i f_i) + a_i max(0, y_i f_i - 1)
    regression sum_i loss_i + eps |b_i| + ridge_i b_i^2 / 2 - b_i r_i         r_i = z_i - f_i
    one-class  sum_i a_i f_i + C_i max(0, -f_i)                               f_i with the offset
    SVDD       sum_i b_i d_i + C_i max(0, -y_i d_i)                           d_i = R^2 - distance^2
    squared    (P - D)  with P = |w|^2/2 + sum C_i xi_i^2,  D = the dual with - a_i^2 / (4 C_i)
    hard       |w|^2/2 (1/m^2) - D,  m = min_i y_i f_i: the solution scaled to be feasible
    C = inf    eps-SVR with epsilon raised to the largest residual: the solution is feasible there

nu-SVC is certified as the C-SVC with C_i = w_i / r, where r = nu sum_i w_i / sum_i |b_i| belongs to
nu. nu-SVR is certified as the eps-SVR with the width it found, plus eps (nu sum_i C_i - sum_i
|b_i|), which is 0 for the right width. Where the kernel is positive semidefinite the optimum lies
between the dual and the primal value, and the kernel part of every decision value is within sqrt(2
gap k(x, x)) of the exact one. linear/certificate.py certifies linear models.
"""

import numpy as np

from maxmargin.certificate import Certificate, certificate_of, certificate_of_worst
from maxmargin.core.arrays import Floats, Integers
from maxmargin.kernel.tube import Side, Tube

ZERO = 1e-14
"""Share of the terms of a sum that rounding may leave where the sum is 0."""
AT_BOUND = 1e-9
"""Share of its bound within which a coefficient is at it, where the bound is known from a sum."""
HUGE = np.errstate(over="ignore", invalid="ignore")
"""Objectives may exceed float64: a gap that is infinite or not a number certifies nothing."""


@HUGE
def classification(
    f: Floats, y: Floats, C: Floats, b: Floats, bias: float, squared: bool = False
) -> Certificate:
    """C-SVC; y is +1 or -1; an infinite C is the hard margin."""
    a, distance = y * b, y * f
    slack, excess = np.maximum(0.0, 1 - distance), np.maximum(0.0, distance - 1)
    norm = float((b * (f - bias)).sum())
    equality = float(abs(b.sum()))
    if np.isinf(C).all():
        least = float(distance.min(initial=np.inf))
        dual = float(a.sum()) - norm / 2
        primal = norm / 2 / least / least if least > 0 else np.inf
        return certificate_of(
            primal, dual, primal - dual, np.where(a > 0, np.abs(distance - 1), slack), -a, equality
        )
    if squared:
        primal = norm / 2 + float((C * slack**2).sum())
        dual = float(a.sum()) - norm / 2 - float((a * (a / C)).sum()) / 4
        # a = 2 C xi where xi > 0: the difference is what the margin would have to move
        return certificate_of(primal, dual, primal - dual, np.abs(slack - a / C / 2), -a, equality)
    primal = norm / 2 + float((C * slack).sum())
    dual = float(a.sum()) - norm / 2
    gap, kkt, box = _hinge(a, C, slack, excess)
    return certificate_of(primal, dual, float(gap.sum()), kkt, box, equality)


def _hinge(a: Floats, C: Floats, slack: Floats, excess: Floats) -> tuple[Floats, Floats, Floats]:
    """What every sample adds to the gap, and by how much it violates its conditions and bounds."""
    gap = (C - a) * slack + a * excess
    kkt = np.maximum(np.where(a < C, slack, 0.0), np.where(a > 0, excess, 0.0))
    return gap, kkt, np.maximum(-a, a - C)


def classifications(
    f: Floats, y: Floats, C: Floats, b: Floats, bias: Floats, begin: Integers
) -> list[Certificate]:
    """C-SVC with the plain hinge and a finite C, for several problems at once.

    Problem g has the samples begin[g], ..., begin[g + 1] - 1, one at least, with its bias for each.
    The caller sees to HUGE: entering it takes longer than some of the sums.
    """
    a, distance = y * b, y * f
    slack, excess = np.maximum(0.0, 1 - distance), np.maximum(0.0, distance - 1)
    gap, *violations = _hinge(a, C, slack, excess)
    norm = b * (f - bias)
    sums = np.add.reduceat([norm, C * slack, a, gap, b], begin[:-1], axis=1).tolist()
    worst = np.maximum.reduceat(violations, begin[:-1], axis=1).tolist()
    return [
        certificate_of_worst(norm / 2 + loss, total - norm / 2, gap, kkt, box, abs(equality))
        for norm, loss, total, gap, equality, kkt, box in zip(*sums, *worst, strict=True)
    ]


def bounds_of_nu(weight: Floats, b: Floats, nu: float | None) -> Floats:
    """C_i of the C-SVC with the solution of a nu-SVC: its coefficients sum to nu sum_i C_i.

    Coefficients within rounding of their bound are at it. Without nu (a model of another program)
    the bounds are the least that the coefficients satisfy.
    """
    size = np.abs(b)
    if nu is None:
        return np.asarray(weight * (size / weight).max(initial=0.0))
    C = weight * (float(size.sum()) / (nu * float(weight.sum())))
    return np.where(np.abs(size - C) <= AT_BOUND * C, size, C)


@HUGE
def regression(
    f: Floats, tube: Tube, b: Floats, bias: float, total: float | None = None
) -> Certificate:
    """Every loss of tube.py; with ``total`` nu-SVR, whose price for epsilon is nu sum_i C_i."""
    z, up, down, epsilon = tube
    r = z - f
    if tube.hard.any():  # no residual may exceed epsilon: certify an epsilon that none exceeds
        epsilon = max(epsilon, float(np.abs(r).max(initial=0.0)))
    norm = float((b * (f - bias)).sum())
    equality = float(abs(b.sum()))
    size = float(np.abs(b).sum())
    loss = _price(r - epsilon, up) + _price(-r - epsilon, down)
    square = np.where(b > 0, up.ridge, down.ridge) * b * b / 2
    primal = norm / 2 + float(loss.sum())
    dual = float((z * b).sum()) - epsilon * size - norm / 2 - float(square.sum())
    gap = float((loss + epsilon * np.abs(b) + square - b * r).sum())
    if total is not None:
        primal, dual = primal + epsilon * total, dual + epsilon * size
        gap += epsilon * (total - size)
        equality = max(equality, size - total)
    kkt = _tube_violations(r, tube, b, epsilon)
    box = np.maximum(b - up.limit, -b - down.limit)
    rounded = ZERO * (abs(bias) + np.abs(z))
    trivial = np.where(tube.hard, 0.0, np.maximum(_price(rounded, up), _price(rounded, down)))
    zero = float(trivial.sum()), ZERO * float(np.abs(b * z).sum())
    return certificate_of(primal, dual, gap, kkt, box, equality, zero)


def _price(e: Floats, side: Side) -> Floats:
    """The loss of samples by e outside one edge of the tube: squared up to ridge limit."""
    with np.errstate(divide="ignore"):
        slope = np.where(side.ridge > 0, np.minimum(side.limit, e / side.ridge), side.limit)
    loss: Floats = np.where(e > 0, slope * (e - side.ridge * slope / 2), 0.0)
    return loss


def _tube_violations(r: Floats, tube: Tube, b: Floats, epsilon: float) -> Floats:
    """By how much residuals r violate the conditions at the two edges of the tube.

    A variable t of a side belongs to the residual epsilon + ridge t.
    """
    worst = np.zeros(len(r))
    for sign, side in ((1.0, tube.up), (-1.0, tube.down)):
        t = np.maximum(sign * b, 0.0)
        beyond = sign * r - epsilon - side.ridge * t
        worst = np.maximum(worst, np.where(t < side.limit, beyond, 0.0))
        worst = np.maximum(worst, np.where(t > 0, -beyond, 0.0))
    return worst


@HUGE
def one_class(
    f: Floats, C: Floats, b: Floats, offset: float, total: float, diagonal: float = 0.0
) -> Certificate:
    """One-class: f includes the offset -rho, the coefficients sum to total.

    ``diagonal`` is the greatest k(x, x).
    """
    exponent = min(max(int(np.frexp(C.max(initial=0.0))[1]), -1022), 1023)
    unit = float(2.0**exponent)  # objectives of any scale have a relative gap
    f, C, b, offset, total = f / unit, C / unit, b / unit, offset / unit, total / unit
    norm = float((b * (f + offset)).sum())
    below = np.maximum(0.0, -f)
    primal = norm / 2 - offset * total + float((C * below).sum())
    dual = -norm / 2
    gap = float((b * f + C * below).sum())
    kkt = np.maximum(np.where(b < C, below, 0.0), np.where(b > 0, f, 0.0))
    zero = ZERO * diagonal * total
    rounding = zero * (total + float(C.sum())), zero * total
    found = certificate_of(
        primal, dual, gap, kkt, np.maximum(-b, b - C), float(abs(b.sum() - total)), rounding
    )
    return found.updated(
        primal=primal * unit * unit,
        dual=dual * unit * unit,
        gap=gap * unit * unit,
        kkt_violation=found.kkt_violation * unit,
        box_violation=found.box_violation * unit,
        equality_violation=found.equality_violation * unit,
    )


@HUGE
def svdd(f: Floats, diagonal: Floats, y: Floats, C: Floats, b: Floats, rest: float) -> Certificate:
    """The ball around c = sum_i b_i phi(x_i), of the primal value R^2 + sum_i C_i xi_i.

    f_i = 2 <c, phi(x_i)> + rest with rest = R^2 - |c|^2; ``diagonal`` is k(x_i, x_i). In (c, rest)
    the problem is convex, known outliers (y = -1) included.
    """
    inside, a = f - diagonal, y * b
    norm = float((b * (f - rest)).sum()) / 2
    loss = C * np.maximum(0.0, -y * inside)
    primal = rest + norm + float(loss.sum())
    dual = float((b * diagonal).sum()) - norm
    gap = float((b * inside + loss).sum())
    kkt = np.maximum(np.where(a < C, -y * inside, 0.0), np.where(a > 0, y * inside, 0.0))
    zero = ZERO * float(np.abs(diagonal).max(initial=0.0))
    rounding = zero * (1 + float(C.sum())), zero * float(np.abs(b).sum())
    equality = float(abs(b.sum() - 1))
    return certificate_of(primal, dual, gap, kkt, np.maximum(-a, a - C), equality, rounding)
