"""From a formulation to a trained decision function with its certificate: build, solve, read off,
certify, judge.
"""

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

import numpy as np

from maxmargin.certificate import Certificate, unknown
from maxmargin.core.arrays import Floats, Integers, Mask
from maxmargin.kernel import block, definiteness, evaluation, primal_newton
from maxmargin.kernel.audit import audit_decision
from maxmargin.kernel.damping import Primal, damped
from maxmargin.kernel.definiteness import convexity_of
from maxmargin.kernel.evaluation import kernel_diagonal
from maxmargin.kernel.formulations import Decision, Formulation
from maxmargin.kernel.kernels import Kind
from maxmargin.kernel.problems import DualProblem
from maxmargin.kernel.solution import Solution, coefficients, gradient, levels
from maxmargin.kernel.sources import KernelNotFinite, Source
from maxmargin.kernel.workspace import KernelWorkspace, is_small
from maxmargin.status import Convexity, Status
from maxmargin.verdict import Demand, Size, error_allowed, verdict


class Settings(NamedTuple):
    """When rounding gets a closer look."""

    near_zero: float = 1e-12
    """Share of a bound on its terms below which a decision value may be 0 up to rounding."""
    rounding_share: float = 0.25
    """Share of the tolerance that the bound on rounding of decision values may take (decision
    18)."""


SETTINGS = Settings()


class Method(Enum):
    """Which solver; the value is its name for the user."""

    BLOCK = "block"
    NEWTON = "newton"


SOLVERS: dict[Method, Callable[[DualProblem, KernelWorkspace, float, Floats | None], Solution]] = {
    Method.BLOCK: block.solve,
    Method.NEWTON: primal_newton.solve,
}


class Task(NamedTuple):
    """One problem on the samples of a workspace, or on a view of it."""

    formulation: Formulation
    tol: float
    method: Method = Method.BLOCK
    start: Floats | None = None
    """Coefficients of the samples to begin at."""
    rows: Integers | None = None
    """The samples of the view; None means all of them."""

    def train(self, workspace: KernelWorkspace) -> "Trained":
        """Solve and certify it."""
        return train(self, workspace if self.rows is None else workspace.view(self.rows))

    def unsolved(self, workspace: KernelWorkspace, status: Status) -> "Trained":
        """The result without a solve: nothing is known."""
        return unsolved(workspace.source.n_rows if self.rows is None else len(self.rows), status)


class Constant(NamedTuple):
    """A problem one of whose classes has no weight: the other class always wins."""

    value: float
    rows: Integers

    def train(self, workspace: KernelWorkspace | None = None) -> "Trained":
        """The constant; it needs no solver."""
        decision = Decision(np.zeros(len(self.rows)), self.value, (self.value, self.value))
        nothing = Certificate(Status.UNJUDGED)
        size = Size.of(np.array([self.value]), decision.coef)
        status = verdict(None, nothing, Demand.on_violation(0.0), size)
        return Trained(decision, nothing.updated(status=status))

    def unsolved(self, workspace: KernelWorkspace, status: Status) -> "Trained":
        """The constant takes no time."""
        return self.train()


class Trained(NamedTuple):
    """A decision function, how it was found and what is known about it."""

    decision: Decision
    certificate: Certificate
    held_out: Floats | None = None
    """Decision values of the samples by machines that were trained without them (held_out.py)."""
    moved: Mask | None = None
    """Which of them differ from the values of this machine; None is all (left_out.py)."""
    held_out_by: tuple[Decision, ...] = ()
    """These machines, one for each fold, where they are kept."""
    held_out_early: bool = False

    @property
    def status(self) -> Status:
        """How the fit ended."""
        return self.certificate.status


def train(task: Task, workspace: KernelWorkspace) -> Trained:
    """Solve one problem and certify the result."""
    fallback = task.formulation.fallback
    with np.errstate(over="ignore", invalid="ignore"):  # huge C or kernel values: certified below
        trained = _train(task, workspace)
        if trained.status is Status.STALLED and task.start is not None:  # it may have led astray
            trained = _train(task._replace(start=None), workspace)
        if trained.status is not Status.STALLED or fallback is None:
            return trained
        task = task._replace(formulation=fallback, start=trained.decision.coef)
        other = _train(task, workspace)
        return other if other.certificate.gap < trained.certificate.gap else trained


def _train(task: Task, workspace: KernelWorkspace) -> Trained:
    """Build, solve, judge; judge again where float64 or damping improves the solution."""
    form, problem = task.formulation, task.formulation.build(workspace.source)
    small = len(problem.row) <= definiteness.SETTINGS.cholesky_rows
    if small and workspace.samples.kernel.kind is Kind.CALLABLE:
        workspace = workspace.of_values()  # the check of definiteness needs all values anyway
    solution, decision, workspace = _solve(task, problem, workspace)
    rounding = max(workspace.samples.rounding, workspace.source.precision)
    convexity = convexity_of(workspace.samples, decision.coef, rounding, solution.indefinite)
    if solution.ended is Status.DEGENERATE:
        if form.no_solution:
            raise ValueError(form.no_solution)
        return zero(len(decision.coef), solution.n_iter, convexity)
    trained = judged(task, problem, workspace, solution, decision, convexity)
    if trained.status is Status.STALLED:  # perhaps for errors that a solver may leave below tol
        solution = _in_float64(problem, solution, workspace.source)
        decision = form.read(problem, solution)
        trained = judged(task, problem, workspace, solution, decision, convexity)
    if form.primal is not None and not trained.status.converged:
        factor, decision = with_damping(form.primal, trained.decision, solution.kernel_part)
        if factor < 1 or decision.intercept != trained.decision.intercept:
            solution = solution._replace(kernel_part=factor * solution.kernel_part)
            trained = judged(task, problem, workspace, solution, decision, convexity)
    _report_end(workspace, trained)
    return trained


def _solve(
    task: Task, problem: DualProblem, workspace: KernelWorkspace
) -> tuple[Solution, Decision, KernelWorkspace]:
    """Solve; if rounding of distances may move decision values too far, go on by differences.

    Return the solution, its decision function, and the workspace of the kernel values that were
    used last.
    """
    start = None if task.start is None else task.start[problem.row]
    solution, decision = _solve_once(task, problem, workspace, start)
    ended = solution.ended
    if ended is not None and not (ended.converged or ended is Status.STALLED):
        return solution, decision, workspace
    if bound_suffices(workspace.source, decision, task.tol):
        return solution, decision, workspace
    better = workspace.source.by_differences()
    if better is None:
        return solution, decision, workspace
    workspace.forget()
    workspace = workspace.on(better)
    again, decision = _solve_once(task, problem, workspace, solution.b)
    return again._replace(n_iter=solution.n_iter + again.n_iter), decision, workspace


def _solve_once(
    task: Task, problem: DualProblem, workspace: KernelWorkspace, start: Floats | None
) -> tuple[Solution, Decision]:
    """A solution with the kernel values of a workspace, and its decision function."""
    known = None if start is None else workspace.unchanged(problem, start)
    solution = known or SOLVERS[task.method](problem, workspace, task.tol, start)
    rounded = is_small(workspace.source.n_rows) and task.method is Method.BLOCK
    if rounded and solution.ended is None:
        workspace.kept.small = problem, solution
    if task.formulation.boundary:
        solution = _with_exact_boundary(problem, solution, workspace, task.tol)
    return solution, task.formulation.read(problem, solution)


def bound_suffices(source: Source, decision: Decision, tol: float) -> bool:
    """Whether rounding of kernel values moves no decision value by more than a share of tol.

    rounding.py bounds it.
    """
    size, allowed = np.abs(decision.coef), SETTINGS.rounding_share * tol * decision.unit
    most = allowed / source.value_error if source.value_error > 0 else np.inf
    if float(size.sum()) <= most:
        return True
    support = np.flatnonzero(size)
    if source.by_differences() is None or not np.isfinite(most) or most == 0:
        return False
    try:  # errors are relative to the values: sum_j |c_j| k_j counts, which float32 knows to 10 %
        sums = source.product(support, size[support], dtype=np.float32)
    except KernelNotFinite:
        return False
    return 1.1 * float(sums.max(initial=0.0)) <= most


def _with_exact_boundary(
    problem: DualProblem, solution: Solution, workspace: KernelWorkspace, tol: float
) -> Solution:
    """The kernel part in float64 of samples near the boundary, and the sizes of their terms.

    Solvers of large problems may leave errors of float32 below the tolerance. |k(x, z)| <= (k(x, x)
    k(z, z))^(1/2) says which values may be near 0.
    """
    level, part = solution.levels[0].value, solution.kernel_part
    small = is_small(workspace.source.n_rows)
    source = workspace.whole() if small else workspace.source
    coef = coefficients(problem, solution)
    support = np.flatnonzero(coef)
    if not small:
        part = part.copy()
        near = np.flatnonzero(np.abs(part + level + problem.linear) <= 2 * tol)
        exact = source.product(support, coef[support], near)
        part[near] = source.backend.to_host(exact)
    diagonal = kernel_diagonal(workspace.samples.kernel, workspace.samples.own)
    root, size = np.sqrt(diagonal), np.abs(part)
    most = root * float((np.abs(coef) * root).sum())
    near = np.flatnonzero(part + level + problem.linear < SETTINGS.near_zero * most)
    step = max(1, evaluation.SETTINGS.entries // max(1, len(support)))
    for i in range(0, len(near), step):
        some = near[i : i + step]
        values = source.backend.to_host(source.block(some, support, np.float64))
        size[some] = np.abs(values) @ np.abs(coef[support])
    return solution._replace(kernel_part=part, diagonal=float(diagonal.max(initial=0.0)), size=size)


def _in_float64(problem: DualProblem, solution: Solution, source: Source) -> Solution:
    """The solution with its kernel part recomputed, and the levels that belong to it."""
    coef = coefficients(problem, solution)
    support = np.flatnonzero(coef)
    part = source.backend.to_host(source.product(support, coef[support]))
    variables = problem.variables(solution.b, gradient(problem, solution.b, part))
    return solution._replace(kernel_part=part, levels=levels(variables, source.backend))


def judged(
    task: Task,
    problem: DualProblem,
    workspace: KernelWorkspace,
    solution: Solution,
    decision: Decision,
    convexity: Convexity,
) -> Trained:
    """The decision function of a solution with its certificate and the verdict."""
    form, decision = task.formulation, decision._replace(diagonal=solution.diagonal)
    f = solution.kernel_part / decision.scale + decision.intercept
    bounds, curvature = _bounds(problem, decision), _curvature(problem)
    size = Size.of(f, decision.coef, bounds, curvature, decision.intercept)
    found, demand = form.certify(problem, f, decision), Demand.on_violation(task.tol, decision.unit)
    allowed = SETTINGS.rounding_share * error_allowed(solution.ended, found, demand, size)
    error, exact = audit_decision(workspace, decision, f, allowed)
    found = found if exact is None else form.certify(problem, exact, decision)
    found = found.updated(convexity=convexity, audit_error=error, n_iter=solution.n_iter)
    status = verdict(solution.ended, found, demand, size, known=exact is not None)
    return Trained(decision, found.updated(status=status))


def with_damping(primal: Primal, decision: Decision, part: Floats) -> tuple[float, Decision]:
    """A multiple of the coefficients, and the decision with it: 1 unless a constant is better."""
    square = float(np.sum(decision.coef * part))
    given = primal.nu is None
    epsilon = primal.tube.epsilon if given else decision.epsilon
    factor, bias, epsilon = damped(primal, decision.intercept, epsilon, part, square)
    if factor == 1 and bias == decision.intercept:
        return factor, decision
    epsilon = decision.epsilon if given else epsilon
    coef = factor * decision.coef
    decision = decision._replace(coef=coef, intercept=bias, interval=(bias, bias), epsilon=epsilon)
    return factor, decision


def _bounds(problem: DualProblem, decision: Decision) -> Floats:
    """The greatest coefficient each sample may have."""
    bounds = np.zeros(len(decision.coef))
    bounds[problem.row] = np.maximum(-problem.lower, problem.upper) / decision.scale
    return bounds


def _curvature(problem: DualProblem) -> float:
    """The sum of the weights of squared losses."""
    ridge = problem.ridge
    return 0.5 * float(np.sum(1 / ridge[ridge > 0])) if ridge.any() else 0.0


def _report_end(workspace: KernelWorkspace, trained: Trained) -> None:
    """The last progress line."""
    if workspace.monitor.verbose:
        found, support = trained.certificate, int(np.count_nonzero(trained.decision.coef))
        workspace.monitor.report(
            found.n_iter, found.gap, found.kkt_violation, support, f": {found.status}"
        )


def zero(n: int, n_iter: int, convexity: Convexity) -> Trained:
    """The solution of a degenerate problem: w = 0, all values 0."""
    nothing = Certificate(Status.DEGENERATE, n_iter=n_iter, convexity=convexity)
    return Trained(Decision(np.zeros(n), 0.0, (0.0, 0.0)), nothing)


def unsolved(n: int, status: Status) -> Trained:
    """A problem that no solver has seen."""
    return Trained(Decision(np.zeros(n), 0.0, (-np.inf, np.inf)), unknown(status))
