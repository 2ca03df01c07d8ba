"""Every kernel machine as a record: how its dual problem is built, how its decision function is
read off a solution, how it is certified.

A new kind of machine is a function that returns a `Formulation`; no solver, no trainer and no
certificate of the others needs to know of it. tests/test_formulations.py adds two: data description
(SVDD), whose problem is built from the kernel's diagonal, and ranking, whose variables have no sum.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from maxmargin.boundary import outward
from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.kernel import certificate, problems
from maxmargin.kernel.problems import DualProblem, fold
from maxmargin.kernel.solution import Solution, margin
from maxmargin.kernel.sources import Source
from maxmargin.linear import losses
from maxmargin.linear.bias_search import best_bias
from maxmargin.linear.losses import Bias, LinearProblem
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
    """The tube's half-width (regression)."""
    unit: float = 1.0
    """What the tolerance on decision values is measured in."""
    diagonal: float = 0.0
    """The greatest k(x, x) of the samples, which says what rounding is."""


class Formulation(NamedTuple):
    """One kind of machine on given samples."""

    build: Callable[[Source], DualProblem]
    """The dual problem, from the kernel values of the samples."""
    read: Callable[[DualProblem, Solution], Decision]
    """The decision function of a solution."""
    certify: Callable[[Floats, Decision], Certificate]
    """(decision values of the samples, decision) -> certificate without its outcome."""
    no_solution: str = ""
    """What to tell the user when there is no solution; without it a degenerate problem (nu-SVC) has
    the solution 0."""
    boundary: bool = False
    """Whether decision values near 0 must be exact: it counts on which side of the boundary a
    sample lies."""
    shrink: Callable[[Decision, Floats], tuple[float, Decision]] | None = None
    """(decision, kernel part of its values) -> a multiple of the coefficients and the decision with
    it, of no greater primal value
    than a constant: for a solver that was stopped early."""
    instead: "Formulation | None" = None
    """A problem with the same solution in most cases where float64 does not resolve this one;
    certified as this one is."""


def given(problem: DualProblem) -> Callable[[Source], DualProblem]:
    """The way to build a problem that does not depend on kernel values."""
    return lambda source: problem


# ---- classification ------------------------------------------------------------------------------


def c_svc(y: Floats, C: float, weight: Floats, squared: bool) -> Formulation:
    """C-SVC with bounds C weight_i, or the hard margin where C is infinite."""
    bounds = problems.bounds(C, weight, squared)
    if np.isinf(C):
        bounds = np.full(len(y), np.inf)
        problem, read = problems.hard_margin(y), read_margin
    else:
        problem, read = problems.c_svc(y, bounds, squared), read_level

    def certify(f: Floats, decision: Decision) -> Certificate:
        return certificate.classification(f, y, bounds, decision.coef, decision.intercept, squared)

    return Formulation(
        given(problem),
        read,
        certify,
        "C=inf asks for a hard margin, but no hyperplane separates these classes: their convex "
        "hulls in feature space meet. Use a "
        "finite C, or a richer kernel (for RBF a larger gamma).",
    )


def feasible_nu(nu: float, y: Floats, weight: Floats, class_weight: Floats) -> float:
    """nu, or the largest feasible one where class weights put nu out of reach.

    ValueError where the samples do.
    """
    weight = weight / problems.weight_unit(weight)
    largest, rounding = problems.largest_nu(y, weight), 1 + 1e-12
    if nu > max(largest, problems.largest_nu(y, weight / class_weight)) * rounding:
        raise ValueError(
            f"specified nu is infeasible: nu={nu:g}, but the largest feasible nu for these classes "
            f"is {largest:.6g} (twice the "
            "weight of the lighter class over the weight of both)."
        )
    return min(nu, largest)


def nu_svc(y: Floats, weight: Floats, nu: float) -> Formulation:
    """nu-SVC; nu is feasible."""
    weight = weight / problems.weight_unit(
        weight
    )  # the answer, in units of the margin, does not depend on it

    def certify(f: Floats, decision: Decision) -> Certificate:
        C = certificate.bounds_of_nu(weight, decision.coef, nu if decision.scale > 0 else None)
        return certificate.classification(f, y, C, decision.coef, decision.intercept)

    return Formulation(given(problems.nu_svc(y, weight, nu)), read_margin, certify)


# ---- regression ----------------------------------------------------------------------------------


def eps_svr(z: Floats, C: float, weight: Floats, epsilon: float, squared: bool) -> Formulation:
    """eps-SVR with bounds C weight_i.

    An infinite C asks for a function that never leaves the tube.
    """
    squared = squared and not np.isinf(C)
    bounds = problems.bounds(C, weight, squared)

    def certify(f: Floats, decision: Decision) -> Certificate:
        return certificate.regression(
            f, z, bounds, epsilon, decision.coef, decision.intercept, squared
        )

    shrink = partial(shrunk, z, bounds, epsilon, 0.0, squared=squared)
    return Formulation(
        given(problems.eps_svr(z, bounds, epsilon, squared)),
        read_level,
        certify,
        f"C=inf asks that every target lies within epsilon={epsilon:g} of the prediction, but no "
        "function of this kernel does that. "
        "Use a finite C, a larger epsilon, or a richer kernel.",
        shrink=shrink if np.isfinite(bounds).all() else None,
    )


def nu_svr(z: Floats, C: float, weight: Floats, nu: float) -> Formulation:
    """nu-SVR with bounds C weight_i."""
    bounds = problems.bounds(C, weight)
    with np.errstate(over="ignore"):
        total = nu * float(bounds.sum())
    if not np.isfinite(total):
        raise ValueError(
            f"C times the sum of the sample weights is beyond float64: C={C:g}, and the greatest "
            "weight is "
            f"{weight.max():g}. Divide the weights by a constant, or lower C."
        )

    def certify(f: Floats, decision: Decision) -> Certificate:
        return certificate.regression(
            f, z, bounds, decision.epsilon, decision.coef, decision.intercept, total=total
        )

    # Where the tube closes, both variables of a sample are as large as C while their difference is
    # small: digits are lost that the same model as an SVR with epsilon = 0 keeps.
    closed = Formulation(given(problems.eps_svr(z, bounds, 0.0)), read_level, certify)
    shrink = partial(shrunk, z, bounds, None, nu)
    return Formulation(
        given(problems.nu_svr(z, bounds, nu)), read_tube, certify, shrink=shrink, instead=closed
    )


# ---- one class -----------------------------------------------------------------------------------


def one_class(weight: Floats, nu: float) -> Formulation:
    """The one-class machine: decision values are proportional to the weights."""
    unit = problems.weight_unit(weight)
    if not float((weight / unit).sum()) * unit < np.inf:
        raise ValueError(
            f"The sample weights, up to {weight.max():g}, add up to more than float64 holds, and "
            "so would decision "
            "values, which are proportional to them. Divide the weights by a constant."
        )
    total = nu * float(weight.sum())

    def certify(f: Floats, decision: Decision) -> Certificate:
        return certificate.one_class(
            f, weight, decision.coef, -decision.intercept, total, decision.diagonal
        )

    return Formulation(
        given(problems.one_class(weight / unit, nu)),
        partial(read_inside, unit),
        certify,
        boundary=True,
    )


# ---- decision functions --------------------------------------------------------------------------


def read_level(problem: DualProblem, solution: Solution) -> Decision:
    """C-SVC, one-class and eps-SVR: the intercept is the level."""
    level = solution.levels[0]
    coef = fold(problem, solution.b, len(solution.kernel_part))
    return Decision(coef, level.value, (level.low, level.high))


def read_margin(problem: DualProblem, solution: Solution) -> Decision:
    """nu-SVC and hard margin: everything in units of the margin r."""
    r = margin(solution.levels)
    r = r if r > 0 else 1.0  # stopped before the classes were apart: in the problem's own units
    first, second = solution.levels
    ends = (first.low + second.low) / 2 / r, (first.high + second.high) / 2 / r
    return Decision(
        fold(problem, solution.b, len(solution.kernel_part)) / r,
        (first.value + second.value) / 2 / r,
        ends,
        r,
    )


def read_tube(problem: DualProblem, solution: Solution) -> Decision:
    """nu-SVR: the two levels are the edges of the tube."""
    up, down = solution.levels
    coef = fold(problem, solution.b, len(solution.kernel_part))
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
        f = solution.kernel_part + intercept
        size = np.abs(solution.kernel_part) if solution.size is None else solution.size
        intercept += outward(f, solution.b, problem.upper, intercept, size)
    return Decision(
        unit * found.coef, unit * intercept, (unit * low, unit * high), scale=1 / unit, unit=unit
    )


# ---- solvers that were stopped early -------------------------------------------------------------

HALVINGS = 40
"""Multiples of the coefficients tried, each half of the one before, then 0."""


def _quantile(values: Floats, weight: Floats, share: float) -> float:
    """The least value at or below which there is the given share of the weight."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order])
    at = int(np.searchsorted(below, share * below[-1]))
    return float(values[order[min(at, len(order) - 1)]])


def best_constant(r: Floats, C: Floats, epsilon: float | None, nu: float) -> tuple[float, float]:
    """The bias and the half-width of the tube that minimise the losses of residuals r before the
    bias.

    With a given epsilon: the median of the ends of all tubes. Without one (nu-SVR), nu / 2 of the
    weight lies on each side of the tube.
    """
    if epsilon is not None:
        ends = np.concatenate([r - epsilon, r + epsilon])
        return _quantile(ends, np.tile(C, 2), 0.5), epsilon
    low, high = _quantile(r, C, nu / 2), _quantile(r, C, 1 - nu / 2)
    return (low + high) / 2, max(0.0, (high - low) / 2)


def least_squares_constant(r: Floats, C: Floats, epsilon: float) -> tuple[float, float]:
    """The same for squared losses, where epsilon is given."""
    problem = LinearProblem(losses.regression(r, C, epsilon, True), Bias.FREE)
    return best_bias(problem, np.zeros(len(r)), float(np.average(r, weights=C))), epsilon


def shrunk(
    z: Floats,
    C: Floats,
    epsilon: float | None,
    nu: float,
    decision: Decision,
    g: Floats,
    squared: bool = False,
) -> tuple[float, Decision]:
    """A multiple of the coefficients and its best constant: 1 unless a constant alone is better.

    What was stopped early may be far from the samples; every multiple in [0, 1] is feasible too.
    """
    norm = float(np.sum(decision.coef * g))

    def value(factor: float, bias: float, tube: float) -> float:
        outside = np.maximum(0.0, np.abs(z - factor * g - bias) - tube)
        price = nu * float(C.sum()) * tube if epsilon is None else 0.0
        loss = float(np.sum(C * outside**2 if squared else C * outside))
        total = factor**2 * norm / 2 + price + loss
        return total if total == total else np.inf

    def best(r: Floats) -> tuple[float, float]:
        if squared and epsilon is not None:
            return least_squares_constant(r, C, epsilon)
        return best_constant(r, C, epsilon, nu)

    constant = best(z)
    if value(1.0, decision.intercept, decision.epsilon if epsilon is None else epsilon) <= value(
        0.0, *constant
    ):
        return 1.0, decision
    factors = [*(0.5**k for k in range(HALVINGS)), 0.0]
    found = [(factor, *best(z - factor * g)) for factor in factors]
    factor, bias, tube = min(found, key=lambda one: value(*one))
    tube = tube if epsilon is None else decision.epsilon
    return factor, decision._replace(
        coef=factor * decision.coef, intercept=bias, interval=(bias, bias), epsilon=tube
    )
