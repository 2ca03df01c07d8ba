"""How a solution of a linear problem is verified.

An independent evaluation audits its decision values, and certificate.py computes both objectives
and the optimality conditions. Where rounding of the products with the data may matter, all of them
are computed independently. verdict.py decides the status.
"""

from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from maxmargin.audit import Plan, audit, drawn, greatest_error
from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.linear import certificate as linear_certificate
from maxmargin.linear.classes import ClassesProblem, CrammerSinger
from maxmargin.linear.designs import ArrayDesign, Design
from maxmargin.linear.losses import Bias, LinearProblem, Penalty, Tube
from maxmargin.linear.objectives import ROUNDING, LinearSolution, Sizes, sizes
from maxmargin.linear.workspace import is_small
from maxmargin.verdict import Demand, Size, verdict, verdict_again

EPS, TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)
AUDITED = 64
"""Rows on which every fit's decision values are compared with an independent evaluation."""
AGREED = 1e-6
"""How far decision values may be from that evaluation, relative to the greatest."""
LEAST = 1e-9
"""Tolerances below this are not asked of an objective whose losses rounding blurs by more."""
LAST_DIGITS, CLOSE = 8, 1e-9
"""Units in the last place that decision values may be wrong by; what may be neglected, in units of
decision values."""


def certify(
    problem: LinearProblem, found: LinearSolution, design: Design, tol: float
) -> tuple[LinearSolution, Certificate]:
    """The certificate of a new solution, after an audit of its decision values.

    Decision values that have drifted are computed again in the solution that is returned.
    """
    known = sizes(problem, design)
    found, error = _refreshed(found, design, known.unit)
    return found, _certified(problem, found, design, tol, known, error)


def certify_again(
    before: Certificate,
    problem: LinearProblem,
    found: LinearSolution,
    design: ArrayDesign,
    tol: float,
) -> Certificate:
    """The certificate of a fitted model whose decision values were computed independently."""
    result = replace(judged(problem, found), n_iter=before.n_iter)
    result, demand, size = question(problem, found, design, result, tol, sizes(problem, design))
    return replace(result, status=verdict_again(before.status, result, demand, size))


def certify_classes(
    problem: ClassesProblem, found: CrammerSinger, design: ArrayDesign, tol: float
) -> Certificate:
    """The certificate of a new solution for all classes."""
    result = _judged_classes(problem, design.X, found.W, found.bias, found.t)
    result = replace(result, n_iter=found.n_iter)
    status = verdict(found.ended, result, Demand.on_gap(tol), _size_of_classes(found.t))
    return replace(result, status=status)


def certify_classes_again(
    before: Certificate,
    problem: ClassesProblem,
    X: Any,
    W: Floats,
    b: Floats,
    t: Floats,
    tol: float,
) -> Certificate:
    """The certificate of a fitted machine of all classes, recomputed on its training data."""
    if len(t) != X.shape[0]:
        raise ValueError(
            "certify needs the data the model was fitted on: another number of samples was given."
        )
    result = replace(_judged_classes(problem, X, W, b, t), n_iter=before.n_iter)
    status = verdict_again(before.status, result, Demand.on_gap(tol), _size_of_classes(t))
    return replace(result, status=status)


def judged(problem: LinearProblem, found: LinearSolution) -> Certificate:
    """Both objectives and the conditions, by code that the solvers do not share."""
    low, high, up, down, squared = problem.tube
    model, power = (
        (found.w, found.bias, found.t, found.Xt),
        1 if problem.penalty is Penalty.L1 else 2,
    )
    return linear_certificate.linear(
        found.f,
        (low, high, up, down, squared),
        *model,
        problem.m,
        problem.total,
        problem.bias is Bias.FREE,
        power,
    )


def question(
    problem: LinearProblem,
    found: LinearSolution,
    design: Design,
    result: Certificate,
    tol: float,
    known: Sizes,
) -> tuple[Certificate, Demand, Size]:
    """What verdict.py is asked: the certificate, without a gap where it is rounding, and what it
    must fulfil.

    A gap is rounding where it is lost beside the scale of the problem. More than LEAST of the
    objective is never called so, unless the objective itself is lost.
    """
    scale, unit = known
    if abs(result.relative_gap) > tol:
        forgiven = _forgiven(problem, found, design, unit)
        gap = abs(result.gap - forgiven) + LAST_DIGITS * EPS * abs(result.gap)
        value = max(abs(result.primal - forgiven), abs(result.dual), TINY)
        noise = 10 * ROUNDING * scale
        lost = gap <= noise and (value <= noise or gap <= LEAST * value)
        relative = 0.0 if lost else gap / value
        result = replace(result, relative_gap=relative) if relative <= tol else result
    size = Size.of(found.f, found.t)
    return (
        result,
        Demand.on_gap(tol, unit, problem.tube.squared, AGREED * max(size.values, unit)),
        size,
    )


def _certified(
    problem: LinearProblem,
    found: LinearSolution,
    design: Design,
    tol: float,
    known: Sizes,
    error: float,
) -> Certificate:
    """The certificate of a solution whose audit found an error.

    Small data, and data whose products with the model are known to a few digits only, are judged by
    the products that ``certify`` of an estimator computes.
    """
    exact = _is_small(design)
    result = replace(judged(problem, found), n_iter=found.n_iter, audit_error=error)
    value = max(abs(result.primal), abs(result.dual))
    limit = max(tol, LEAST) * value
    blur = _blur(problem, found, design, error, known.unit)
    blur += _dual_blur(problem, found, design, 2 * value, limit)
    if blur > 0.1 * limit and isinstance(design, ArrayDesign) and not exact:
        exact, (found, error) = True, _evaluated(found, design)
        result = replace(judged(problem, found), n_iter=found.n_iter, audit_error=error)
    result, demand, size = question(problem, found, design, result, tol, known)
    sure = result if blur <= limit else replace(result, relative_gap=np.inf)
    return replace(result, status=verdict(found.ended, sure, demand, size, known=exact))


def _judged_classes(
    problem: ClassesProblem, X: Any, W: Floats, b: Floats, t: Floats
) -> Certificate:
    products = [
        linear_certificate.linear_products(X, w, dual) for w, dual in zip(W, t.T, strict=True)
    ]
    F, Xt = (
        np.column_stack([Xw for Xw, _ in products]) + b,
        np.array([sums for _, sums in products]),
    )
    return linear_certificate.crammer_singer(
        F, problem.label, problem.C, W, b, t, Xt, problem.m, problem.bias is Bias.FREE
    )


def _size_of_classes(t: Floats) -> Size:
    """Nothing is audited here: decision values are computed independently in the first place."""
    return Size.of(np.zeros(0), t.ravel())


def _refreshed(found: LinearSolution, design: Design, unit: float) -> tuple[LinearSolution, float]:
    """Decision values computed anew where those of the solver have drifted, in many steps, by more
    than their last digits; their error.
    """
    if _is_small(design):
        return _evaluated(found, design)
    error = _audit(found, design)
    if not LAST_DIGITS * rounding(found, design, unit) < error <= CLOSE * unit:
        return found, error
    found = found._replace(f=design.values(found.w) + found.bias)
    return found, _audit(found, design)


def _is_small(design: Design) -> TypeGuard[ArrayDesign]:
    """Whether all products with the data cost nothing."""
    return isinstance(design, ArrayDesign) and is_small(design)


def _evaluated(found: LinearSolution, design: ArrayDesign) -> tuple[LinearSolution, float]:
    """The solution with the products that certify computes, and the error of its decision values."""
    Xw, Xt = linear_certificate.linear_products(design.X, found.w, found.t)
    f = Xw + found.bias
    return found._replace(f=f, Xt=Xt), greatest_error(found.f, f)


def _audit(found: LinearSolution, design: Design) -> float:
    """The greatest difference between decision values of the solver and those of an independent
    evaluation, on some rows.
    """
    if not isinstance(design, ArrayDesign):
        return 0.0
    rows = drawn(design.shape[0], AUDITED)
    nothing = np.zeros(len(rows))
    exact = linear_certificate.linear_products(design.X[rows], found.w, nothing)[0] + found.bias
    return audit(found.f, exact, Plan(rows)).error


def rounding(found: LinearSolution, design: Design, unit: float) -> float:
    """The last digit of the greatest term that a decision value is a sum of.

    No decision value is known better.
    """
    greatest = abs(found.bias) + float(np.abs(found.f).max(initial=0.0))
    products = float(np.sqrt(design.largest_square)) * float(np.sqrt(found.w @ found.w))
    if EPS * products > CLOSE * unit and isinstance(
        design, ArrayDesign
    ):  # features may have scales of their own
        products = float(
            linear_certificate.linear_products(
                abs(design.X), np.abs(found.w), np.zeros(design.shape[0])
            )[0].max()
        )
    return EPS * (products + greatest)


def _blur(
    problem: LinearProblem, found: LinearSolution, design: Design, error: float, unit: float
) -> float:
    """By how much the losses may be too small, decision values being known to within an error that
    is not negligible.
    """
    error = max(error, rounding(found, design, unit))
    if error <= CLOSE * unit:
        return 0.0
    return _moved(problem.tube, -error).losses(found.f) - problem.tube.losses(found.f)


def _dual_blur(
    problem: LinearProblem, found: LinearSolution, design: Design, gains: float, limit: float
) -> float:
    """By how much D may be too large, X't being known to the last digits of its terms.

    A bound on it where that is far below the limit. ``gains`` is a bound on those of the duals,
    which X't of the lasso shortens in proportion.
    """
    error = EPS * float(np.abs(found.t).sum()) * float(np.sqrt(design.largest_square))
    length = (
        gains
        if problem.penalty is Penalty.L1
        else float(np.sqrt(found.Xt @ found.Xt)) + 0.5 * error
    )
    if error * length <= 0.1 * limit or not isinstance(design, ArrayDesign):
        return error * length
    nothing = np.zeros(design.shape[1])
    errors = EPS * linear_certificate.linear_products(abs(design.X), nothing, np.abs(found.t))[1]
    longer = found._replace(Xt=np.copysign(np.abs(found.Xt) + errors, found.Xt))
    duals = [judged(problem, one).dual for one in (found, longer)]
    return max(0.0, duals[0] - duals[1])


def _forgiven(problem: LinearProblem, found: LinearSolution, design: Design, unit: float) -> float:
    """The part of the losses that is rounding of decision values, where that is negligible.

    A large C makes much of little.
    """
    error = LAST_DIGITS * rounding(found, design, unit)
    if error > CLOSE * unit:
        return 0.0
    return problem.tube.losses(found.f) - _moved(problem.tube, error).losses(found.f)


def _moved(tube: Tube, outward: float) -> Tube:
    """Wider tubes, or narrower ones."""
    return tube._replace(low=tube.low - outward, high=tube.high + outward)
