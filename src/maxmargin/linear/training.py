"""From a linear problem to a trained linear model with its certificate.

Which solver, several problems side by side, the audit.
"""

from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.core.threads import one_blas_thread
from maxmargin.linear import certificate as linear_certificate
from maxmargin.linear import coordinate, crammer_singer, lasso, semismooth
from maxmargin.linear.crammer_singer import ClassesProblem, CrammerSinger
from maxmargin.linear.designs import ArrayDesign, Design
from maxmargin.linear.losses import Bias, LinearProblem, Penalty, Tube
from maxmargin.linear.model import ROUNDING, LinearSolution, Sizes, best_bias, sizes
from maxmargin.linear.workspace import POLISHED, LinearWorkspace
from maxmargin.status import Status
from maxmargin.verdict import Demand, Size, verdict, verdict_again

EPS, TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)
POLISHED_TOGETHER = 2**13
"""The same for all classes at once, values times classes: its passes are many where a Newton step
is one."""
AUDITED = 64
"""Rows on which every fit's decision values are compared with an independent evaluation."""
AGREED = 1e-6
"""How far decision values may be from that evaluation, relative to the greatest."""
LEAST = 1e-9
"""Tolerances below this are not asked of an objective whose losses rounding blurs by more."""
LAST_DIGITS, CLOSE = 8, 1e-9
"""Units in the last place that decision values may be wrong by; what may be neglected, in units of
decision values."""
PASSES, EACH = 40, 5
"""Passes of coordinate descent that cost about as much as Newton's method: PASSES, and one more for
every EACH features."""


class Solver(Enum):
    """Which solver: the value is its name for the user."""

    NEWTON = "newton"
    COORDINATE = "coordinate"
    LASSO = "lasso"
    TOGETHER = "crammer_singer"


Solve = Callable[[LinearProblem, LinearWorkspace, float, LinearSolution | None], LinearSolution]


SOLVERS: dict[Solver, Solve] = {
    Solver.NEWTON: semismooth.solve,
    Solver.COORDINATE: coordinate.solve,
    Solver.LASSO: lasso.solve,
}


def choose(design: Design) -> Solver:
    """The solver for data of this kind.

    Newton's method where a Hessian is small or the data come in chunks.
    """
    if design.shape[1] <= semismooth.FACTORED or not isinstance(design, ArrayDesign):
        return Solver.NEWTON
    return Solver.COORDINATE


class TrainedLinear(NamedTuple):
    """A linear model and what is known about it."""

    solution: LinearSolution
    certificate: Certificate
    solver: Solver
    """Which solver found it."""


class Choice(NamedTuple):
    """Which solver begins, and whether another may take over where it makes no progress."""

    solver: Solver
    binding: bool = False


class Task(NamedTuple):
    """One problem to be solved, how, and where to begin."""

    problem: LinearProblem
    tol: float
    choice: Choice
    start: LinearSolution | None = None

    def train(self, workspace: LinearWorkspace) -> TrainedLinear:
        """Solve and certify it."""
        with one_blas_thread():
            return _train(self, workspace)

    def unsolved(self, workspace: LinearWorkspace, status: Status) -> None:
        """Every problem is begun.

        A first step takes little time, and without one there is no model.
        """
        return


def _train(task: Task, workspace: LinearWorkspace) -> TrainedLinear:
    """Solve one problem; where its solver makes no progress, another takes over."""
    design, monitor = workspace.design, workspace.monitor
    solver, other = task.choice.solver, _other(task.choice, design)
    first = monitor
    if (
        other is Solver.NEWTON
    ):  # which is the quicker one here, as a rule: coordinate descent may cost as much, and no more
        first = monitor.part(1.0)
        first.max_iter = min(monitor.max_iter, PASSES + design.shape[1] // EACH)
    found = _solved(task, workspace.share(first, 1, 1), solver)
    status = found.certificate.status
    slow = status is Status.MAX_ITER and first.max_iter < monitor.max_iter
    if other is None or not (slow or status is Status.STALLED):
        return found
    after = _solved(task, workspace, other)
    steps = found.solution.n_iter + after.solution.n_iter
    best = after if after.certificate.gap <= found.certificate.gap or slow else found
    return best._replace(
        solution=best.solution._replace(n_iter=steps),
        certificate=replace(best.certificate, n_iter=steps),
    )


def _other(choice: Choice, design: Design) -> Solver | None:
    """The solver that may take over.

    Dual where the first is primal, and Newton's method where its Hessian is small.
    """
    if choice.binding or choice.solver is Solver.LASSO or not isinstance(design, ArrayDesign):
        return None
    if choice.solver is Solver.NEWTON:
        return Solver.COORDINATE
    return Solver.NEWTON if choose(design) is Solver.NEWTON else None


def _solved(task: Task, workspace: LinearWorkspace, solver: Solver) -> TrainedLinear:
    """What one solver makes of a problem."""
    design = workspace.design
    found = SOLVERS[solver](task.problem, workspace, task.tol, task.start)
    if found.ended is None and design.entries <= POLISHED:
        found = _polished(task.problem, workspace, found)
    known = sizes(task.problem, design)
    found, error = _refreshed(found, design, known.unit)
    return TrainedLinear(
        found, _certified(task.problem, found, design, task.tol, known, error), solver
    )


def _polished(
    problem: LinearProblem, workspace: LinearWorkspace, found: LinearSolution
) -> LinearSolution:
    """A solution to rounding, with the middle of the biases where there are several."""
    last = (lasso if problem.penalty is Penalty.L1 else semismooth).solve(
        problem, workspace, 0.0, found
    )
    if judged(problem, last).gap <= judged(problem, found).gap:
        found = last._replace(ended=None, n_iter=found.n_iter + last.n_iter)
    if problem.bias is Bias.NONE or problem.tube.squared:
        return found
    bias = best_bias(problem, found.f - found.bias, found.bias)
    return found._replace(bias=bias, f=found.f + (bias - found.bias))


class TrainedClasses(NamedTuple):
    """The machine of all classes and what is known about it."""

    solution: CrammerSinger
    certificate: Certificate


class ClassesTask(NamedTuple):
    """All classes in one problem."""

    problem: ClassesProblem
    tol: float

    def train(self, workspace: LinearWorkspace) -> TrainedClasses:
        """Solve and certify it; a small problem to rounding."""
        design = workspace.design
        assert isinstance(design, ArrayDesign)
        small = design.entries * self.problem.n_classes <= POLISHED_TOGETHER
        with one_blas_thread():
            found = crammer_singer.solve(self.problem, workspace, ROUNDING if small else self.tol)
        result = replace(
            _judged_classes(self.problem, design.X, found.W, found.bias, found.t),
            n_iter=found.n_iter,
        )
        status = verdict(found.ended, result, Demand.on_gap(self.tol), _size_of_classes(found.t))
        return TrainedClasses(found, replace(result, status=status))

    def unsolved(self, workspace: LinearWorkspace, status: Status) -> None:
        """Every problem is begun."""
        return


def _size_of_classes(t: Floats) -> Size:
    """Nothing is audited here: decision values are computed independently in the first place."""
    return Size.of(np.zeros(0), t.ravel())


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


def certify_classes(
    before: Certificate,
    problem: ClassesProblem,
    X: Any,
    W: Floats,
    b: Floats,
    t: Floats,
    tol: float,
) -> Certificate:
    """A fitted machine of all classes on its data again."""
    if len(t) != X.shape[0]:
        raise ValueError(
            "certify needs the data the model was fitted on: another number of samples was given."
        )
    new = replace(_judged_classes(problem, X, W, b, t), n_iter=before.n_iter)
    status = verdict_again(before.status, new, Demand.on_gap(tol), _size_of_classes(t))
    return replace(new, status=status)


def certify(
    problem: LinearProblem, found: LinearSolution, design: Design, tol: float
) -> Certificate:
    """The certificate of a solution from its own decision values, with an audit of some of them."""
    known = sizes(problem, design)
    found, error = _refreshed(found, design, known.unit)
    return _certified(problem, found, design, tol, known, error)


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


def _is_small(design: Design) -> TypeGuard[ArrayDesign]:
    """Whether all products with the data cost nothing."""
    return isinstance(design, ArrayDesign) and design.entries <= POLISHED


def _evaluated(found: LinearSolution, design: ArrayDesign) -> tuple[LinearSolution, float]:
    """The solution with the products that certify computes, and the error of its decision values."""
    Xw, Xt = linear_certificate.linear_products(design.X, found.w, found.t)
    f = Xw + found.bias
    return found._replace(f=f, Xt=Xt), float(np.abs(f - found.f).max(initial=0.0))


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


def _audit(found: LinearSolution, design: Design) -> float:
    """The greatest difference between decision values of the solver and those of an independent
    evaluation, on some rows.
    """
    if not isinstance(design, ArrayDesign):
        return 0.0
    n = design.shape[0]
    rows = (
        np.arange(n) if n <= AUDITED else np.random.default_rng(1).choice(n, AUDITED, replace=False)
    )
    exact = (
        linear_certificate.linear_products(design.X[rows], found.w, np.zeros(len(rows)))[0]
        + found.bias
    )
    return float(np.abs(exact - found.f[rows]).max(initial=0.0))


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
