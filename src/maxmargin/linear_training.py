"""From a linear problem to a trained linear model with its certificate: which solver, several problems side by side, the audit."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from maxmargin import certificate, linear_certificate
from maxmargin.certificate import Certificate
from maxmargin.core import cpu as core
from maxmargin.designs import ArrayDesign, Design
from maxmargin.losses import Bias, LinearProblem
from maxmargin.monitor import Monitor
from maxmargin.problems import Floats, Integers
from maxmargin.solution import Status
from maxmargin.solvers.linear import coordinate, crammer_singer, lasso, semismooth
from maxmargin.solvers.linear.crammer_singer import CrammerSinger
from maxmargin.solvers.linear.model import ROUNDING, Gap, LinearSolution, best_bias, natural_scale
from maxmargin.solvers.newton import one_blas_thread
from maxmargin.verdict import EXACT

POLISHED = 2**17
"""Values of X up to which a model is solved to rounding, whatever the tolerance."""
POLISHED_TOGETHER = 2**13
"""The same for all classes at once, values times classes: its passes are many where a Newton step is one."""
AUDITED = 64
"""Rows on which every fit's decision values are compared with an independent evaluation."""
AGREED = 1e-6
"""How far decision values may be from that evaluation, relative to the greatest."""
TOGETHER = 2**26
"""Values of X up to which several problems are solved side by side; beyond, each has all threads."""


class Solver(Enum):
    """Which solver: the value is its name for the user."""

    NEWTON = "newton"
    COORDINATE = "coordinate"
    LASSO = "lasso"
    TOGETHER = "crammer_singer"


Solve = Callable[[LinearProblem, Design, float, Monitor, LinearSolution | None, int], LinearSolution]


SOLVERS: dict[Solver, Solve] = {
    Solver.NEWTON: semismooth.solve,
    Solver.COORDINATE: coordinate.solve,
    Solver.LASSO: lasso.solve,
}


def choose(design: Design) -> Solver:
    """The solver for data of this kind: Newton's method where a Hessian is small or the data come in chunks."""
    if design.shape[1] <= semismooth.FACTORED or not isinstance(design, ArrayDesign):
        return Solver.NEWTON
    return Solver.COORDINATE


class TrainedLinear(NamedTuple):
    """A linear model and what is known about it."""

    solution: LinearSolution
    certificate: Certificate


class Task(NamedTuple):
    """One problem to be solved, with where to begin."""

    problem: LinearProblem
    start: LinearSolution | None = None


def train_all(tasks: Sequence[Task], design: Design, solver: Solver, tol: float, monitor: Monitor, seed: int) -> list[TrainedLinear]:
    """Solve several problems of the same data, results in order; small ones side by side, each on one thread."""
    workers = min(core.thread_count(), len(tasks)) if POLISHED < design.entries <= TOGETHER else 1
    polish = design.entries <= POLISHED

    def run(k: int) -> TrainedLinear:
        part = monitor.part(workers / (len(tasks) - k), f" {k + 1}/{len(tasks)}" if len(tasks) > 1 else "")
        problem, start = tasks[k]
        found = SOLVERS[solver](problem, design, tol, part, start, seed)
        if polish and found.status is Status.OPTIMAL:
            found = _polished(problem, design, part, found, solver is Solver.LASSO)
        return TrainedLinear(found, certify(problem, found, design, solver is Solver.LASSO, tol))

    def alone(k: int) -> TrainedLinear:
        with core.one_thread():
            return run(k)

    with one_blas_thread():
        if workers == 1:
            return [run(k) for k in range(len(tasks))]
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(alone, range(len(tasks))))


def _polished(problem: LinearProblem, design: Design, monitor: Monitor, found: LinearSolution, lasso_penalty: bool) -> LinearSolution:
    """An optimal solution to rounding, with the middle of the biases where there are several."""
    last = (lasso if lasso_penalty else semismooth).solve(problem, design, 0.0, monitor, found)
    if judged(problem, last, lasso_penalty).gap <= judged(problem, found, lasso_penalty).gap:
        found = last._replace(status=Status.OPTIMAL, n_iter=found.n_iter + last.n_iter)
    if problem.bias is Bias.NONE or problem.corridor.squared:
        return found
    bias = best_bias(problem, found.f - found.bias, found.bias)
    return found._replace(bias=bias, f=found.f + (bias - found.bias))


def train_together(
    design: Design, label: Integers, n_classes: int, C: Floats, bias: Bias, scaling: float, tol: float, monitor: Monitor, seed: int
) -> tuple[CrammerSinger, Certificate]:
    """All classes in one problem, and what is known about its solution."""
    assert isinstance(design, ArrayDesign)
    aim = ROUNDING if design.entries * n_classes <= POLISHED_TOGETHER else tol
    with one_blas_thread():
        found = crammer_singer.solve(design, label, n_classes, C, bias, scaling, aim, monitor, seed=seed)
    if found.status is not Status.INTERRUPTED:  # short of rounding may be within the tolerance
        gap = Gap(found.primal, found.dual)
        found = found._replace(status=gap.outcome(tol, found.status))
    result = _judged_together(design.X, label, C, bias, scaling, found.W, found.bias, found.t)
    return found, certificate.with_outcome(result, found.status, "proved", 0.0, found.n_iter)


def _judged_together(X: Any, label: Integers, C: Floats, bias: Bias, scaling: float, W: Floats, b: Floats, t: Floats) -> Certificate:
    products = [linear_certificate.linear_products(X, w, dual) for w, dual in zip(W, t.T, strict=True)]
    F, Xt = np.column_stack([Xw for Xw, _ in products]) + b, np.array([sums for _, sums in products])
    m = 1 / (scaling * scaling) if bias is Bias.PENALISED else 0.0
    return linear_certificate.crammer_singer(F, label, C, W, b, t, Xt, m, bias is Bias.FREE)


def judge_together(
    before: Certificate, X: Any, label: Integers, C: Floats, bias: Bias, scaling: float, W: Floats, b: Floats, t: Floats, tol: float
) -> Certificate:
    """A fitted model of all classes on its data again: refuted where the gap says so."""
    if len(t) != X.shape[0]:
        raise ValueError("certify needs the data the model was fitted on: another number of samples was given.")
    new, status = _judged_together(X, label, C, bias, scaling, W, b, t), Status[before.status.upper()]
    if status.converged and new.relative_gap > tol * (1 + 1e-6):
        status = Status.REFUTED
    return certificate.with_outcome(new, status, "proved", 0.0, before.n_iter)


def certify(problem: LinearProblem, found: LinearSolution, design: Design, lasso_penalty: bool, tol: float) -> Certificate:
    """The certificate of a solution from its own decision values, with an audit of some of them; it has the last word on the status."""
    result = judged(problem, found, lasso_penalty)
    error = 0.0
    if isinstance(design, ArrayDesign):
        n = design.shape[0]
        rows = np.arange(n) if n <= AUDITED else np.random.default_rng(1).choice(n, AUDITED, replace=False)
        exact = linear_certificate.linear_products(design.X[rows], found.w, np.zeros(len(rows)))[0] + found.bias
        error = float(np.abs(exact - found.f[rows]).max(initial=0.0))
    status = found.status
    if status.converged and not (acceptable(problem, design, result, tol) and error <= AGREED * float(np.abs(found.f).max(initial=1.0))):
        status = Status.STALLED
    return certificate.with_outcome(result, status, "proved", error, found.n_iter)


def acceptable(problem: LinearProblem, design: Design, result: Certificate, tol: float) -> bool:
    """Whether the gap is within the tolerance, or is rounding."""
    return result.relative_gap <= max(tol, 1e3 * EXACT) or result.gap <= 10 * ROUNDING * natural_scale(problem, design)


def judged(problem: LinearProblem, found: LinearSolution, lasso_penalty: bool) -> Certificate:
    """Both objectives and the conditions, by code that the solvers do not share."""
    low, high, up, down, squared = problem.corridor
    model, power = (found.w, found.bias, found.t, found.Xt), 1 if lasso_penalty else 2
    return linear_certificate.linear(
        found.f, (low, high, up, down, squared), *model, problem.m, problem.total, problem.bias is Bias.FREE, power
    )
