"""Every kernel machine as a record: how to build its dual problem, how to read its decision
function off a solution, how to certify that.

A new machine is a function that returns a `Formulation`; no solver, trainer or other certificate
changes. tests/test_formulations.py adds one: ranking, whose variables have no sum constraint.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from maxmargin.boundary import outward
from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.kernel import certificate, problems, tube
from maxmargin.kernel.damping import Primal
from maxmargin.kernel.problems import DualProblem
from maxmargin.kernel.solution import Solution, coefficients, margin
from maxmargin.kernel.sources import Source
from maxmargin.kernel.tube import Tube
from maxmargin.status import Status


class Decision(NamedTuple):
    """f(x) = sum_i coef_i k(x_i, x) + intercept over the task's samples."""

    coef: Floats
    intercept: float
    interval: tuple[float, float]
    """Where the intercept may lie; a single point unless no support vector is free."""
    scale: float = 1.0
    """The problem's variables are coef * scale; 0 where that is not known."""
    epsilon: float = 0.0
    """The tube's half-width (regression); NaN where a model file does not say it."""
    unit: float = 1.0
    """The unit of decision values that the tolerance is measured in."""
    diagonal: float = 0.0
    """The greatest k(x, x) of the samples, to which rounding is relative."""


class Formulation(NamedTuple):
    """One kind of machine on given samples."""

    build: Callable[[Source], DualProblem]
    """The dual problem, from the kernel values of the samples."""
    read: Callable[[DualProblem, Solution], Decision]
    """The decision function of a solution."""
    certify: Callable[[DualProblem, Floats, Decision], Certificate]
    """(problem, decision values of the samples, decision) -> certificate that verdict.py judges."""
    no_solution: str = ""
    """The error message where the problem has no solution; without it a degenerate problem (nu-SVC)
    has the solution 0."""
    boundary: bool = False
    """Whether the side of the boundary on which a sample lies matters: decision values near 0 must
    be exact."""
    primal: Primal | None = None
    """Where a solver that stopped early may have a function worse than a constant: the primal
    problem by which damping.py improves it."""
    fallback: "Formulation | None" = None
    """A problem with the same solution in most cases where float64 does not resolve this one;
    certified as this one is."""
    hinges: tuple[Floats, Floats] | None = None
    """The labels and bounds of a C-SVC with the plain hinge and a finite C: together.py makes many
    of these one problem."""


def given(problem: DualProblem) -> Callable[[Source], DualProblem]:
    """The ``build`` of a problem that does not depend on kernel values."""
    return lambda source: problem


# ---- classification ------------------------------------------------------------------------------


def c_svc(y: Floats, C: float, weight: Floats, squared: bool) -> Formulation:
    """C-SVC with bounds C weight_i, or the hard margin where C is infinite."""
    bounds = problems.bounds(C, weight, squared)
    hard = math.isinf(C)
    if hard:
        bounds = np.full(len(y), np.inf)

    def build(_: Source) -> DualProblem:
        return problems.hard_margin(y) if hard else problems.c_svc(y, bounds, squared)

    def certify(_: DualProblem, f: Floats, decision: Decision) -> Certificate:
        return certificate.classification(f, y, bounds, decision.coef, decision.intercept, squared)

    return Formulation(
        build,
        read_margin if hard else read_level,
        certify,
        "C=inf asks for a hard margin, but no hyperplane separates these classes: their convex "
        "hulls in feature space meet. Use a finite C, or a richer kernel (for RBF a larger gamma).",
        hinges=None if hard or squared else (y, bounds),
    )


def feasible_nu(nu: float, y: Floats, weight: Floats, class_weight: Floats) -> float:
    """nu, or the largest feasible nu if class weights make nu infeasible.

    Raises ValueError if the samples themselves make it infeasible.
    """
    weight = weight / problems.weight_unit(weight)
    largest, rounding = problems.largest_nu(y, weight), 1 + 1e-12
    if nu > max(largest, problems.largest_nu(y, weight / class_weight)) * rounding:
        raise ValueError(
            f"specified nu is infeasible: nu={nu:g}, but the largest feasible nu for these classes "
            f"is {largest:.6g} (twice the weight of the lighter class over the weight of both)."
        )
    return min(nu, largest)


def nu_svc(y: Floats, weight: Floats, nu: float) -> Formulation:
    """nu-SVC; nu is feasible."""
    weight = weight / problems.weight_unit(weight)  # the solution is in units of the margin

    def certify(_: DualProblem, f: Floats, decision: Decision) -> Certificate:
        C = certificate.bounds_of_nu(weight, decision.coef, nu if decision.scale > 0 else None)
        return certificate.classification(f, y, C, decision.coef, decision.intercept)

    return Formulation(given(problems.nu_svc(y, weight, nu)), read_margin, certify)


# ---- regression ----------------------------------------------------------------------------------


def _regression(losses: Tube, no_solution: str = "") -> Formulation:
    """Regression with any loss of tube.py."""

    def certify(_: DualProblem, f: Floats, decision: Decision) -> Certificate:
        return certificate.regression(f, losses, decision.coef, decision.intercept)

    primal = None if losses.hard.any() else Primal(losses)
    return Formulation(given(problems.svr(losses)), read_level, certify, no_solution, primal=primal)


def eps_svr(z: Floats, C: float, weight: Floats, epsilon: float, squared: bool) -> Formulation:
    """eps-SVR with bounds C weight_i.

    An infinite C asks for a function that never leaves the tube.
    """
    squared = squared and not np.isinf(C)
    return _regression(
        tube.insensitive(z, problems.bounds(C, weight, squared), epsilon, squared),
        f"C=inf asks that every target lies within epsilon={epsilon:g} of the prediction, but no "
        "function of this kernel does that. Use a finite C, a larger epsilon, or a richer kernel.",
    )


def huber_svr(z: Floats, C: float, weight: Floats, delta: float) -> Formulation:
    """Huber's loss with bounds C weight_i: squared up to delta, linear beyond."""
    bounds = problems.bounds(C, weight)
    with np.errstate(over="ignore"):
        good = np.isfinite(delta / bounds).all()
    if not good:
        raise ValueError(
            f"epsilon / C is beyond float64: epsilon={delta:g}, and C times the least sample "
            f"weight is {bounds.min():g}. Lower epsilon, or raise C."
        )
    return _regression(
        tube.huber(z, bounds, delta),
        "C=inf asks that every prediction is its target, but no function of this kernel does that. "
        "Use a finite C, or a richer kernel.",
    )


def quantile_svr(z: Floats, C: float, weight: Floats, quantile: float) -> Formulation:
    """The pinball loss with bounds C weight_i."""
    return _regression(tube.pinball(z, problems.bounds(C, weight), quantile))


def expectile_svr(z: Floats, C: float, weight: Floats, level: float) -> Formulation:
    """The asymmetric squared loss with bounds C weight_i."""
    bounds = problems.bounds(C, weight)
    problems.bounds(C * min(level, 1 - level), weight, squared=True)  # both sides in float64
    return _regression(tube.expectile(z, bounds, level))


def nu_svr(z: Floats, C: float, weight: Floats, nu: float) -> Formulation:
    """nu-SVR with bounds C weight_i."""
    bounds = problems.bounds(C, weight)
    with np.errstate(over="ignore"):
        total = nu * float(bounds.sum())
    if not np.isfinite(total):
        raise ValueError(
            f"C times the sum of the sample weights is beyond float64: C={C:g}, and the greatest "
            f"weight is {weight.max():g}. Divide the weights by a constant, or lower C."
        )
    edges = tube.insensitive(z, bounds, 0.0)

    def certify(_: DualProblem, f: Floats, decision: Decision) -> Certificate:
        found = decision.epsilon
        width = found if np.isfinite(found) else tube_of(z - f, decision.coef, C)
        return certificate.regression(
            f, edges._replace(epsilon=width), decision.coef, decision.intercept, total
        )

    # Where the tube closes, both variables of a sample may be as large as C while their difference
    # is small. That costs digits, which the same model as an SVR with epsilon = 0 keeps.
    closed = Formulation(given(problems.svr(edges)), read_level, certify)
    return Formulation(
        given(problems.nu_svr(z, bounds, nu)),
        read_tube,
        certify,
        primal=Primal(edges, nu),
        fallback=closed,
    )


def tube_of(residual: Floats, coef: Floats, C: float) -> float:
    """Half the width of the tube that a solution of nu-SVR stands for.

    The tube ends where the free variables are, else at the farthest sample inside.
    """
    size = np.abs(coef)
    free = (size > 0) & (size < C * (1 - 1e-6))
    inside = np.abs(residual[free] if free.any() else residual[size == 0])
    return float(inside.mean() if free.any() else inside.max(initial=0.0))


def least_squares(z: Floats, C: float, weight: Floats) -> Formulation:
    """Least squares with weights C weight_i: the squared loss of eps-SVR with epsilon = 0."""
    bounds = problems.bounds(C, weight, squared=True)
    losses = tube.insensitive(z, bounds, 0.0, squared=True)

    def certify(_: DualProblem, f: Floats, decision: Decision) -> Certificate:
        return certificate.regression(f, losses, decision.coef, decision.intercept)

    return Formulation(given(problems.least_squares(z, bounds)), read_level, certify)


# ---- one class -----------------------------------------------------------------------------------


def one_class(weight: Floats, nu: float) -> Formulation:
    """The one-class machine: decision values are proportional to the weights."""
    unit = problems.weight_unit(weight)
    if not float((weight / unit).sum()) * unit < np.inf:
        raise ValueError(
            f"The sample weights, up to {weight.max():g}, add up to more than float64 holds, and "
            "so would decision values, which are proportional to them. Divide the weights by a "
            "constant."
        )
    total = nu * float(weight.sum())

    def certify(_: DualProblem, f: Floats, decision: Decision) -> Certificate:
        return certificate.one_class(
            f, weight, decision.coef, -decision.intercept, total, decision.diagonal
        )

    return Formulation(
        given(problems.one_class(weight / unit, nu)),
        partial(read_inside, unit),
        certify,
        boundary=True,
    )


def svdd(y: Floats, weight: Floats, nu: float) -> Formulation:
    """Support vector data description with C_i = weight_i / (nu times the weight of the inliers).

    The decision function lacks the term -k(x, x): that of the estimator is R^2 - |phi(x) - c|^2.
    """
    weight = weight / problems.weight_unit(weight)
    total = nu * float(weight[y > 0].sum())
    if not total > 0:
        raise ValueError(
            "The weights of the inliers are too small beside those of the outliers: the greatest "
            f"are {weight[y > 0].max():g} and {weight[y < 0].max():g}, in units of the mean weight."
        )

    def build(source: Source) -> DualProblem:
        return problems.svdd(y, weight, source.diagonal(), total)

    def certify(problem: DualProblem, f: Floats, decision: Decision) -> Certificate:
        diagonal, b = problem.linear * (-2 / total), decision.coef / 2
        return certificate.svdd(f, diagonal, y, weight / total, b, decision.intercept)

    return Formulation(build, partial(read_inside, 2 / total), certify, boundary=True)


# ---- decision functions --------------------------------------------------------------------------


def read_level(problem: DualProblem, solution: Solution) -> Decision:
    """C-SVC, one-class and eps-SVR: the intercept is the level."""
    level = solution.levels[0]
    coef = coefficients(problem, solution)
    return Decision(coef, level.value, (level.low, level.high))


def read_margin(problem: DualProblem, solution: Solution) -> Decision:
    """nu-SVC and hard margin: everything in units of the margin r."""
    r = margin(solution.levels)
    r = r if r > 0 else 1.0  # the solver stopped before the classes were apart
    first, second = solution.levels
    ends = (first.low + second.low) / 2 / r, (first.high + second.high) / 2 / r
    return Decision(
        coefficients(problem, solution) / r, (first.value + second.value) / 2 / r, ends, r
    )


def read_tube(problem: DualProblem, solution: Solution) -> Decision:
    """nu-SVR: the two levels are the edges of the tube."""
    up, down = solution.levels
    coef = coefficients(problem, solution)
    ends = (up.low + down.low) / 2, (up.high + down.high) / 2
    return Decision(
        coef, (up.value + down.value) / 2, ends, epsilon=max(0.0, (up.value - down.value) / 2)
    )


def read_inside(unit: float, problem: DualProblem, solution: Solution) -> Decision:
    """The intercept is the level, moved outward.

    The problem was solved for weights in the given unit.
    """
    found = read_level(problem, solution)
    low, high = found.interval
    intercept = found.intercept
    if solution.ended in (None, Status.STALLED):
        f = solution.kernel_part + intercept + problem.linear
        size = np.abs(solution.kernel_part) if solution.size is None else solution.size
        size = size + np.abs(problem.linear)
        intercept += outward(f, solution.b, problem.upper, intercept, size)
    return Decision(
        unit * found.coef, unit * intercept, (unit * low, unit * high), scale=1 / unit, unit=unit
    )
