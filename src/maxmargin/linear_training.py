"""From a linear problem to a trained linear model with its certificate: which solver, several problems side by side, the audit."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from enum import Enum
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from maxmargin import certificate, linear_certificate
from maxmargin.certificate import Certificate
from maxmargin.core import cpu as core
from maxmargin.designs import ArrayDesign, Design
from maxmargin.losses import Bias, Corridor, LinearProblem
from maxmargin.monitor import Monitor
from maxmargin.problems import Floats, Integers
from maxmargin.solution import Status
from maxmargin.solvers.linear import coordinate, crammer_singer, lasso, semismooth
from maxmargin.solvers.linear.crammer_singer import CrammerSinger
from maxmargin.solvers.linear.model import ROUNDING, LinearSolution, Sizes, best_bias, sizes
from maxmargin.solvers.newton import one_blas_thread
from maxmargin.verdict import Demand, Size, linear_demand, size_of, verdict, verdict_again

EPS, TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)
POLISHED = 2**17
"""Values of X up to which a model is solved to rounding, whatever the tolerance."""
POLISHED_TOGETHER = 2**13
"""The same for all classes at once, values times classes: its passes are many where a Newton step is one."""
AUDITED = 64
"""Rows on which every fit's decision values are compared with an independent evaluation."""
AGREED = 1e-6
"""How far decision values may be from that evaluation, relative to the greatest."""
LEAST = 1e-9
"""Tolerances below this are not asked of an objective whose losses rounding blurs by more."""
LAST_DIGITS, CLOSE = 8, 1e-9
"""Units in the last place that decision values may be wrong by; what may be neglected, in units of decision values."""
PASSES, EACH = 40, 5
"""Passes of coordinate descent that cost about as much as Newton's method: PASSES, and one more for every EACH features."""
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
    solver: Solver
    """Which solver found it."""


class Task(NamedTuple):
    """One problem to be solved, with where to begin."""

    problem: LinearProblem
    start: LinearSolution | None = None


class Choice(NamedTuple):
    """Which solver begins, and whether another may take over where it makes no progress."""

    solver: Solver
    binding: bool = False


def train_all(tasks: Sequence[Task], design: Design, choice: Choice, tol: float, monitor: Monitor, seed: int) -> list[TrainedLinear]:
    """Solve several problems of the same data, results in order; small ones side by side, each on one thread."""
    workers = min(core.thread_count(), len(tasks)) if POLISHED < design.entries <= TOGETHER else 1

    def run(k: int) -> TrainedLinear:
        part = monitor.part(workers / (len(tasks) - k), f" {k + 1}/{len(tasks)}" if len(tasks) > 1 else "")
        return _train(tasks[k], design, choice, tol, part, seed)

    def alone(k: int) -> TrainedLinear:
        with core.one_thread():
            return run(k)

    with one_blas_thread():
        if workers == 1:
            return [run(k) for k in range(len(tasks))]
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(alone, range(len(tasks))))


def _train(task: Task, design: Design, choice: Choice, tol: float, monitor: Monitor, seed: int) -> TrainedLinear:
    """Solve one problem; where its solver makes no progress, another takes over."""
    solver, other = choice.solver, _other(choice, design)
    first = monitor
    if other is Solver.NEWTON:  # which is the quicker one here, as a rule: coordinate descent may cost as much, and no more
        first = monitor.part(1.0)
        first.max_iter = min(monitor.max_iter, PASSES + design.shape[1] // EACH)
    found = _solved(task, design, solver, tol, first, seed)
    name = found.certificate.status
    slow = name == Status.MAX_ITER.name.lower() and first.max_iter < monitor.max_iter
    if other is None or not (slow or name == Status.STALLED.name.lower()):
        return found
    after = _solved(task, design, other, tol, monitor, seed)
    steps = found.solution.n_iter + after.solution.n_iter
    best = after if after.certificate.gap <= found.certificate.gap or slow else found
    return best._replace(solution=best.solution._replace(n_iter=steps), certificate=replace(best.certificate, n_iter=steps))


def _other(choice: Choice, design: Design) -> Solver | None:
    """The solver that may take over: dual where the first is primal, and Newton's method where its Hessian is small."""
    if choice.binding or choice.solver is Solver.LASSO or not isinstance(design, ArrayDesign):
        return None
    if choice.solver is Solver.NEWTON:
        return Solver.COORDINATE
    return Solver.NEWTON if choose(design) is Solver.NEWTON else None


def _solved(task: Task, design: Design, solver: Solver, tol: float, monitor: Monitor, seed: int) -> TrainedLinear:
    """What one solver makes of a problem."""
    lasso_penalty = solver is Solver.LASSO
    found = SOLVERS[solver](task.problem, design, tol, monitor, task.start, seed)
    if found.ended is None and design.entries <= POLISHED:
        found = _polished(task.problem, design, monitor, found, lasso_penalty)
    known = sizes(task.problem, design)
    found, error = _refreshed(found, design, known.unit)
    return TrainedLinear(found, _certified(task.problem, found, design, lasso_penalty, tol, known, error), solver)


def _polished(problem: LinearProblem, design: Design, monitor: Monitor, found: LinearSolution, lasso_penalty: bool) -> LinearSolution:
    """A solution to rounding, with the middle of the biases where there are several."""
    last = (lasso if lasso_penalty else semismooth).solve(problem, design, 0.0, monitor, found)
    if judged(problem, last, lasso_penalty).gap <= judged(problem, found, lasso_penalty).gap:
        found = last._replace(ended=None, n_iter=found.n_iter + last.n_iter)
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
    result = _judged_together(design.X, label, C, bias, scaling, found.W, found.bias, found.t)
    result = replace(result, n_iter=found.n_iter)
    status = verdict(found.ended, result, linear_demand(tol), _size_together(found.t))
    return found, certificate.with_status(result, status)


def _size_together(t: Floats) -> Size:
    """Nothing is audited here: decision values are computed independently in the first place."""
    return size_of(np.zeros(0), t.ravel())


def _judged_together(X: Any, label: Integers, C: Floats, bias: Bias, scaling: float, W: Floats, b: Floats, t: Floats) -> Certificate:
    products = [linear_certificate.linear_products(X, w, dual) for w, dual in zip(W, t.T, strict=True)]
    F, Xt = np.column_stack([Xw for Xw, _ in products]) + b, np.array([sums for _, sums in products])
    m = 1 / (scaling * scaling) if bias is Bias.PENALISED else 0.0
    return linear_certificate.crammer_singer(F, label, C, W, b, t, Xt, m, bias is Bias.FREE)


def judge_together(
    before: Certificate, X: Any, label: Integers, C: Floats, bias: Bias, scaling: float, W: Floats, b: Floats, t: Floats, tol: float
) -> Certificate:
    """A fitted model of all classes on its data again."""
    if len(t) != X.shape[0]:
        raise ValueError("certify needs the data the model was fitted on: another number of samples was given.")
    new = replace(_judged_together(X, label, C, bias, scaling, W, b, t), n_iter=before.n_iter)
    status = verdict_again(Status[before.status.upper()], new, linear_demand(tol), _size_together(t))
    return certificate.with_status(new, status)


def certify(problem: LinearProblem, found: LinearSolution, design: Design, lasso_penalty: bool, tol: float) -> Certificate:
    """The certificate of a solution from its own decision values, with an audit of some of them."""
    known = sizes(problem, design)
    found, error = _refreshed(found, design, known.unit)
    return _certified(problem, found, design, lasso_penalty, tol, known, error)


def _certified(
    problem: LinearProblem, found: LinearSolution, design: Design, lasso_penalty: bool, tol: float, known: Sizes, error: float
) -> Certificate:
    """The certificate of a solution whose audit found an error.

    Small data, and data whose products with the model are known to a few digits only, are judged by
    the products that ``certify`` of an estimator computes.
    """
    exact = _is_small(design)
    result = replace(judged(problem, found, lasso_penalty), n_iter=found.n_iter, audit_error=error)
    value = max(abs(result.primal), abs(result.dual))
    limit = max(tol, LEAST) * value
    blur = _blur(problem, found, design, error, known.unit)
    blur += _dual_blur(problem, found, design, 2 * value if lasso_penalty else None, limit)
    if blur > 0.1 * limit and isinstance(design, ArrayDesign) and not exact:
        exact, (found, error) = True, _evaluated(found, design)
        result = replace(judged(problem, found, lasso_penalty), n_iter=found.n_iter, audit_error=error)
    result, demand, size = question(problem, found, design, result, tol, known)
    sure = result if blur <= limit else replace(result, relative_gap=np.inf)
    return certificate.with_status(result, verdict(found.ended, sure, demand, size, known=exact))


def _is_small(design: Design) -> TypeGuard[ArrayDesign]:
    """Whether all products with the data cost nothing."""
    return isinstance(design, ArrayDesign) and design.entries <= POLISHED


def _evaluated(found: LinearSolution, design: ArrayDesign) -> tuple[LinearSolution, float]:
    """The solution with the products that certify computes, and the error of its decision values."""
    Xw, Xt = linear_certificate.linear_products(design.X, found.w, found.t)
    f = Xw + found.bias
    return found._replace(f=f, Xt=Xt), float(np.abs(f - found.f).max(initial=0.0))


def _refreshed(found: LinearSolution, design: Design, unit: float) -> tuple[LinearSolution, float]:
    """Decision values computed anew where those of the solver have drifted, in many steps, by more than their last digits; their error."""
    if _is_small(design):
        return _evaluated(found, design)
    error = _audit(found, design)
    if not LAST_DIGITS * rounding(found, design, unit) < error <= CLOSE * unit:
        return found, error
    found = found._replace(f=design.values(found.w) + found.bias)
    return found, _audit(found, design)


def rounding(found: LinearSolution, design: Design, unit: float) -> float:
    """The last digit of the greatest term that a decision value is a sum of: no decision value is known better."""
    greatest = abs(found.bias) + float(np.abs(found.f).max(initial=0.0))
    products = float(np.sqrt(design.largest_square)) * float(np.sqrt(found.w @ found.w))
    if EPS * products > CLOSE * unit and isinstance(design, ArrayDesign):  # features may have scales of their own
        products = float(linear_certificate.linear_products(abs(design.X), np.abs(found.w), np.zeros(design.shape[0]))[0].max())
    return EPS * (products + greatest)


def _blur(problem: LinearProblem, found: LinearSolution, design: Design, error: float, unit: float) -> float:
    """By how much the losses may be too small, decision values being known to within an error that is not negligible."""
    error = max(error, rounding(found, design, unit))
    if error <= CLOSE * unit:
        return 0.0
    return _moved(problem.corridor, -error).losses(found.f) - problem.corridor.losses(found.f)


def _dual_blur(problem: LinearProblem, found: LinearSolution, design: Design, lasso: float | None, limit: float) -> float:
    """By how much D may be too large, X't being known to the last digits of its terms.

    A bound on it where that is far below the limit. ``lasso`` is a bound on the gains of its duals,
    which X't shortens in proportion; None for other models.
    """
    error = EPS * float(np.abs(found.t).sum()) * float(np.sqrt(design.largest_square))
    length = float(np.sqrt(found.Xt @ found.Xt)) + 0.5 * error if lasso is None else lasso
    if error * length <= 0.1 * limit or not isinstance(design, ArrayDesign):
        return error * length
    nothing = np.zeros(design.shape[1])
    errors = EPS * linear_certificate.linear_products(abs(design.X), nothing, np.abs(found.t))[1]
    longer = found._replace(Xt=np.copysign(np.abs(found.Xt) + errors, found.Xt))
    duals = [judged(problem, one, lasso is not None).dual for one in (found, longer)]
    return max(0.0, duals[0] - duals[1])


def _forgiven(problem: LinearProblem, found: LinearSolution, design: Design, unit: float) -> float:
    """The part of the losses that is rounding of decision values, where that is negligible: a large C makes much of little."""
    error = LAST_DIGITS * rounding(found, design, unit)
    if error > CLOSE * unit:
        return 0.0
    return problem.corridor.losses(found.f) - _moved(problem.corridor, error).losses(found.f)


def _moved(corridor: Corridor, outward: float) -> Corridor:
    """Wider corridors, or narrower ones."""
    return corridor._replace(low=corridor.low - outward, high=corridor.high + outward)


def certify_again(
    before: Certificate, problem: LinearProblem, found: LinearSolution, design: ArrayDesign, lasso_penalty: bool, tol: float
) -> Certificate:
    """The certificate of a fitted model whose decision values were computed independently."""
    result = replace(judged(problem, found, lasso_penalty), n_iter=before.n_iter)
    result, demand, size = question(problem, found, design, result, tol, sizes(problem, design))
    return certificate.with_status(result, verdict_again(Status[before.status.upper()], result, demand, size))


def _audit(found: LinearSolution, design: Design) -> float:
    """The greatest difference between decision values of the solver and those of an independent evaluation, on some rows."""
    if not isinstance(design, ArrayDesign):
        return 0.0
    n = design.shape[0]
    rows = np.arange(n) if n <= AUDITED else np.random.default_rng(1).choice(n, AUDITED, replace=False)
    exact = linear_certificate.linear_products(design.X[rows], found.w, np.zeros(len(rows)))[0] + found.bias
    return float(np.abs(exact - found.f[rows]).max(initial=0.0))


def question(
    problem: LinearProblem, found: LinearSolution, design: Design, result: Certificate, tol: float, known: Sizes
) -> tuple[Certificate, Demand, Size]:
    """What verdict.py is asked: the certificate, without a gap where it is rounding, and what it must fulfil.

    A gap is rounding where it is lost beside the scale of the problem. More than LEAST of the objective
    is never called so, unless the objective itself is lost.
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
    size = size_of(found.f, found.t)
    return result, linear_demand(tol, unit, problem.corridor.squared, AGREED * max(size.values, unit)), size


def judged(problem: LinearProblem, found: LinearSolution, lasso_penalty: bool) -> Certificate:
    """Both objectives and the conditions, by code that the solvers do not share."""
    low, high, up, down, squared = problem.corridor
    model, power = (found.w, found.bias, found.t, found.Xt), 1 if lasso_penalty else 2
    return linear_certificate.linear(
        found.f, (low, high, up, down, squared), *model, problem.m, problem.total, problem.bias is Bias.FREE, power
    )
