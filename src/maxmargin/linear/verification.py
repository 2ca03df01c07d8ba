"""How a solution of a linear problem is verified.

An independent evaluation audits its decision values, and certificate.py computes both objectives
and the optimality conditions. Where rounding of the products with the data may matter, all of them
are computed independently. verdict.py decides the status.
"""

from dataclasses import replace
from typing import Any, NamedTuple, TypeGuard

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


class Settings(NamedTuple):
    """What is audited, and which errors are rounding (decisions 15 and 19)."""

    audited_rows: int = 64
    """Rows whose decision values every fit compares with an independent evaluation."""
    agreement: float = 1e-6
    """How far decision values may be from that evaluation, relative to the largest."""
    least_tol: float = 1e-9
    """The least tolerance that is asked of an objective with uncertain losses; a gap below it,
    relative to the objective, may be rounding."""
    last_digits: int = 8
    """Units in the last place by which decision values may be wrong."""
    negligible: float = 1e-9
    """Errors of decision values that change no status, in units of decision values."""


SETTINGS = Settings()


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
    """The certificate of a fitted model (w, bias, t), recomputed on its training data."""
    found, error = _recomputed(found._replace(f=design.values(found.w) + found.bias), design)
    result = replace(evaluate(problem, found), n_iter=before.n_iter)
    result, demand, size = question(problem, found, design, result, tol, sizes(problem, design))
    status = verdict_again(before.status, result, demand, size)
    return replace(result, status=status, audit_error=error)


def certify_classes(
    problem: ClassesProblem, found: CrammerSinger, design: ArrayDesign, tol: float
) -> Certificate:
    """The certificate of a new solution for all classes."""
    result = _evaluate_classes(problem, design.X, found.W, found.bias, found.t)
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
    result = replace(_evaluate_classes(problem, X, W, b, t), n_iter=before.n_iter)
    status = verdict_again(before.status, result, Demand.on_gap(tol), _size_of_classes(t))
    return replace(result, status=status)


def evaluate(problem: LinearProblem, found: LinearSolution) -> Certificate:
    """Both objectives and the optimality conditions, by code that the solvers do not share."""
    w, bias, t, f, Xt = found[:5]
    free, power = problem.bias is Bias.FREE, 1 if problem.penalty is Penalty.L1 else 2
    return linear_certificate.linear(
        f, problem.tube, w, bias, t, Xt, problem.m, problem.total, free, power
    )


def question(
    problem: LinearProblem,
    found: LinearSolution,
    design: Design,
    result: Certificate,
    tol: float,
    known: Sizes,
) -> tuple[Certificate, Demand, Size]:
    """The input of verdict.py: the certificate, with gap 0 if the gap is rounding, and the demand.

    A gap is rounding if it is negligible beside the scale of the problem. It must also be below
    ``least_tol`` of the objective, unless the objective itself is negligible.
    """
    scale, unit = known
    if abs(result.relative_gap) > tol:
        rounded = _rounding_losses(problem, found, design, unit)
        gap = abs(result.gap - rounded) + SETTINGS.last_digits * EPS * abs(result.gap)
        value = max(abs(result.primal - rounded), abs(result.dual), TINY)
        noise = 10 * ROUNDING * scale
        lost = gap <= noise and (value <= noise or gap <= SETTINGS.least_tol * value)
        relative = 0.0 if lost else gap / value
        result = replace(result, relative_gap=relative) if relative <= tol else result
    size = Size.of(found.f, found.t)
    allowed = SETTINGS.agreement * max(size.values, unit)
    return result, Demand.on_gap(tol, unit, problem.tube.squared, allowed), size


def _certified(
    problem: LinearProblem,
    found: LinearSolution,
    design: Design,
    tol: float,
    known: Sizes,
    error: float,
) -> Certificate:
    """The certificate of a solution after the audit of its decision values.

    If rounding may matter, and always on small data, the products with the data are those that
    ``certify`` of an estimator computes.
    """
    exact = _is_small(design)
    result = replace(evaluate(problem, found), n_iter=found.n_iter, audit_error=error)
    value = max(abs(result.primal), abs(result.dual))
    limit = max(tol, SETTINGS.least_tol) * value
    uncertainty = _primal_error(problem, found, design, error, known.unit)
    uncertainty += _dual_error(problem, found, design, 2 * value, limit)
    if uncertainty > 0.1 * limit and isinstance(design, ArrayDesign) and not exact:
        exact, (found, error) = True, _recomputed(found, design)
        result = replace(evaluate(problem, found), n_iter=found.n_iter, audit_error=error)
    result, demand, size = question(problem, found, design, result, tol, known)
    sure = result if uncertainty <= limit else replace(result, relative_gap=np.inf)
    return replace(result, status=verdict(found.ended, sure, demand, size, known=exact))


def _evaluate_classes(
    problem: ClassesProblem, X: Any, W: Floats, b: Floats, t: Floats
) -> Certificate:
    products = [
        linear_certificate.linear_products(X, w, dual) for w, dual in zip(W, t.T, strict=True)
    ]
    F = np.column_stack([Xw for Xw, _ in products]) + b
    Xt = np.array([sums for _, sums in products])
    return linear_certificate.crammer_singer(
        F, problem.label, problem.C, W, b, t, Xt, problem.m, problem.bias is Bias.FREE
    )


def _size_of_classes(t: Floats) -> Size:
    """Without decision values: they are computed independently and need no audit."""
    return Size.of(np.zeros(0), t.ravel())


def _refreshed(found: LinearSolution, design: Design, unit: float) -> tuple[LinearSolution, float]:
    """The solution, and the error of its decision values.

    They are computed again if those of the solver have drifted by more than their last digits.
    """
    if _is_small(design):
        return _recomputed(found, design)
    error = _audit(found, design)
    least = SETTINGS.last_digits * rounding(found, design, unit)
    if not least < error <= SETTINGS.negligible * unit:
        return found, error
    found = found._replace(f=design.values(found.w) + found.bias)
    return found, _audit(found, design)


def _is_small(design: Design) -> TypeGuard[ArrayDesign]:
    """Whether the cost of products with the data is negligible."""
    return isinstance(design, ArrayDesign) and is_small(design)


def _recomputed(found: LinearSolution, design: ArrayDesign) -> tuple[LinearSolution, float]:
    """The solution with the products that certify computes, and the error of its own."""
    Xw, Xt = linear_certificate.linear_products(design.X, found.w, found.t)
    f = Xw + found.bias
    return found._replace(f=f, Xt=Xt), greatest_error(found.f, f)


def _audit(found: LinearSolution, design: Design) -> float:
    """The largest difference to an independent evaluation, on some rows."""
    if not isinstance(design, ArrayDesign):
        return 0.0
    rows = drawn(design.shape[0], SETTINGS.audited_rows)
    nothing = np.zeros(len(rows))
    exact = linear_certificate.linear_products(design.X[rows], found.w, nothing)[0] + found.bias
    return audit(found.f, exact, Plan(rows)).error


def rounding(found: LinearSolution, design: Design, unit: float) -> float:
    """The rounding of decision values: the last digit of the largest term that they are sums of."""
    greatest = abs(found.bias) + float(np.abs(found.f).max(initial=0.0))
    products = float(np.sqrt(design.largest_square)) * float(np.sqrt(found.w @ found.w))
    if EPS * products > SETTINGS.negligible * unit and isinstance(design, ArrayDesign):
        # A closer bound: features may have scales of their own.
        nothing = np.zeros(design.shape[0])
        absolute = linear_certificate.linear_products(abs(design.X), np.abs(found.w), nothing)
        products = float(absolute[0].max())
    return EPS * (products + greatest)


def _primal_error(
    problem: LinearProblem, found: LinearSolution, design: Design, error: float, unit: float
) -> float:
    """By how much P may be too small because of an error of the decision values."""
    error = max(error, rounding(found, design, unit))
    if error <= SETTINGS.negligible * unit:
        return 0.0
    return _widened(problem.tube, -error).losses(found.f) - problem.tube.losses(found.f)


def _dual_error(
    problem: LinearProblem, found: LinearSolution, design: Design, most: float, limit: float
) -> float:
    """By how much D may be too large because of the rounding of X't.

    A simple bound suffices if it is far below the limit. ``most`` bounds the sum of the negative
    conjugates, which shrinks in proportion to the length of X't under the l1 penalty.
    """
    error = EPS * float(np.abs(found.t).sum()) * float(np.sqrt(design.largest_square))
    l1 = problem.penalty is Penalty.L1
    length = most if l1 else float(np.sqrt(found.Xt @ found.Xt)) + 0.5 * error
    if error * length <= 0.1 * limit or not isinstance(design, ArrayDesign):
        return error * length
    nothing = np.zeros(design.shape[1])
    errors = EPS * linear_certificate.linear_products(abs(design.X), nothing, np.abs(found.t))[1]
    longer = found._replace(Xt=np.copysign(np.abs(found.Xt) + errors, found.Xt))
    duals = [evaluate(problem, one).dual for one in (found, longer)]
    return max(0.0, duals[0] - duals[1])


def _rounding_losses(
    problem: LinearProblem, found: LinearSolution, design: Design, unit: float
) -> float:
    """The part of the losses that is rounding of decision values; 0 unless that is negligible.

    A large C turns a negligible error into a large loss.
    """
    error = SETTINGS.last_digits * rounding(found, design, unit)
    if error > SETTINGS.negligible * unit:
        return 0.0
    return problem.tube.losses(found.f) - _widened(problem.tube, error).losses(found.f)


def _widened(tube: Tube, outward: float) -> Tube:
    """Wider tubes; narrower ones if ``outward`` is negative."""
    return tube._replace(low=tube.low - outward, high=tube.high + outward)
