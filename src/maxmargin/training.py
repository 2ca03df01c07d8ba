"""From a problem to a trained decision function with its certificate: what every estimator does after validating its input.

A ``Formulation`` says which dual problem a binary task is, how the decision function is read off its solution, and how it is
certified; ``train`` runs one task, ``train_all`` several, side by side.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from enum import Enum
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin import definiteness
from maxmargin.certificate import (
    BLOCK_ENTRIES,
    EXTENDED,
    Certificate,
    extended_products,
    kernel_diagonal,
    kernel_products,
    kernel_values,
    products_per_row,
    with_status,
)
from maxmargin.core import cpu as core
from maxmargin.kernels import Kernel, Kind
from maxmargin.monitor import Monitor
from maxmargin.problems import DualProblem, Floats, fold
from maxmargin.solution import Solution, Status, gradient, levels, margin
from maxmargin.solvers import block, primal_newton
from maxmargin.solvers.newton import one_blas_thread
from maxmargin.sources import KernelNotFinite, Source, make_source, pick
from maxmargin.verdict import demand_of, error_allowed, size_of, verdict

CERTIFIED_ROWS, FEWEST_ROWS = 64, 8
"""Rows on which every fit's decision values are compared with an independent evaluation; at least, where a fit is many problems."""
ROUNDINGS = float(np.finfo(float).eps)
"""Rounding of a sum of m terms, relative to the sum of their magnitudes, divided by sqrt(m): it adds up like a random walk."""
NEAR = 1e-12
"""Share of the largest its terms may be below which a decision value may be rounding of 0."""
SHARE = 0.25
"""The share of tol that rounding of kernel values may take of decision values, by its bound, without a closer look."""
ROUNDED = 1e-12
"""Kernel values that are rounded to more than this share show negative curvature by rounding alone."""


class Method(Enum):
    """Which solver; the value is its name for the user."""

    BLOCK = "block"
    NEWTON = "newton"


SOLVERS: dict[Method, Callable[..., Solution]] = {Method.BLOCK: block.solve, Method.NEWTON: primal_newton.solve}
"""The solvers of a dual problem; their contract is stated in maxmargin.solvers."""


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
    """One kind of SVM on given samples."""

    problem: DualProblem
    read: Callable[[DualProblem, Solution], Decision]
    certify: Callable[[Floats, Decision], Certificate]
    """(decision values of the samples, decision) -> certificate without its outcome."""
    no_solution: str = ""
    """What to tell the user when there is no solution; without it a degenerate problem (nu-SVC) has the solution 0."""
    boundary: bool = False
    """Whether decision values near 0 must be exact: it counts on which side of the boundary a sample lies."""
    shrink: Callable[[Decision, Floats], tuple[float, Decision]] | None = None
    """(decision, kernel part of its values) -> a multiple of the coefficients and the decision with it, of no greater primal value
    than a constant: for a solver that was stopped early."""
    instead: "Formulation | None" = None
    """A problem with the same solution in most cases where float64 does not resolve this one; certified as this one is."""


class Trained(NamedTuple):
    """A decision function, how it was found and what is known about it."""

    decision: Decision
    status: Status
    certificate: Certificate


class Settings(NamedTuple):
    """What a user may ask of a fit."""

    kernel: Kernel
    tol: float
    cache_size: float | str
    workers: int = 1
    """Problems solved side by side, which share the memory."""
    problems: int = 1
    """Problems of this fit, which share the audit."""
    method: Method = Method.BLOCK


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
    return Decision(fold(problem, solution.b, len(solution.kernel_part)) / r, (first.value + second.value) / 2 / r, ends, r)


def read_tube(problem: DualProblem, solution: Solution) -> Decision:
    """nu-SVR: the two levels are the edges of the tube."""
    up, down = solution.levels
    coef = fold(problem, solution.b, len(solution.kernel_part))
    ends = (up.low + down.low) / 2, (up.high + down.high) / 2
    return Decision(coef, (up.value + down.value) / 2, ends, epsilon=max(0.0, (up.value - down.value) / 2))


class Samples(NamedTuple):
    """The samples of one problem: all of X, or those listed; with their kernel where it is shared with other problems."""

    X: Any
    listed: NDArray[np.int64] | None = None
    source: Source | None = None
    rounding: float = 0.0
    """That of the kernel values given, where it is more than their type says."""

    def pick(self, rows: NDArray[np.int64]) -> Any:
        """Some of the samples."""
        return pick(self.X, rows if self.listed is None else self.listed[rows])


def train(form: Formulation, samples: Samples, settings: Settings, monitor: Monitor, start: Floats | None = None) -> Trained:
    """Solve one problem and certify the result."""
    with np.errstate(over="ignore", invalid="ignore"):  # huge C or huge kernel values: the certificate says what came of it
        trained = _train(form, samples, settings, monitor, start)
        if trained.status is not Status.STALLED or form.instead is None:
            return trained
        coef = trained.decision.coef
        other = _train(form.instead, samples, settings, monitor, np.concatenate([np.maximum(coef, 0.0), np.minimum(coef, 0.0)]))
        return other if other.certificate.gap < trained.certificate.gap else trained


def _train(form: Formulation, X: Samples, settings: Settings, monitor: Monitor, start: Floats | None) -> Trained:
    if settings.kernel.kind is Kind.CALLABLE and len(form.problem.row) <= definiteness.WHOLE:  # one block: all values are needed anyway
        values = make_source(settings.kernel, X.X)
        X = Samples(values.block(None, None, np.float64), rounding=values.precision)
        settings = settings._replace(kernel=Kernel.precomputed())
    source = X.source or make_source(settings.kernel, X.X)
    solution, source = _solve(form, source, settings, monitor, start)
    if form.boundary:
        if source.n_rows > block.POLISHED:
            solution = _with_exact_boundary(form.problem, solution, source, settings.tol)
        solution = _with_sizes(form.problem, solution, source, kernel_diagonal(settings.kernel, X.X))
    rounding = max(X.rounding, source.precision)
    if solution.ended is Status.DEGENERATE:
        if form.no_solution:
            raise ValueError(form.no_solution)
        coef = fold(form.problem, solution.b, len(solution.kernel_part))
        return zero(len(coef), solution.n_iter, convexity_of(settings.kernel, coef, X, rounding, solution.indefinite))
    decision = form.read(form.problem, solution)._replace(diagonal=solution.scale)
    convexity = convexity_of(settings.kernel, decision.coef, X, rounding, solution.indefinite)
    trained = _judged(form, X, settings, source, solution, decision, convexity)
    if trained.status is Status.STALLED:  # perhaps for errors that solvers leave below the tolerance of a decision value
        solution = _in_float64(form.problem, solution, source)
        decision = form.read(form.problem, solution)._replace(diagonal=solution.scale)
        trained = _judged(form, X, settings, source, solution, decision, convexity)
    if form.shrink is not None and not trained.status.converged:
        factor, decision = form.shrink(decision, solution.kernel_part)
        if factor < 1 or decision.intercept != trained.decision.intercept:
            solution = solution._replace(kernel_part=factor * solution.kernel_part)
            trained = _judged(form, X, settings, source, solution, decision, convexity)
    _report_end(monitor, trained)
    return trained


def _with_exact_boundary(problem: DualProblem, solution: Solution, source: Source, tol: float) -> Solution:
    """The kernel part in float64 for samples within tol of the level; solvers may leave errors of float32 below the tolerance."""
    part, level = solution.kernel_part.copy(), solution.levels[0].value
    coef = fold(problem, solution.b, len(part))
    near, support = np.flatnonzero(np.abs(part + level) <= 2 * tol), np.flatnonzero(coef)
    part[near] = source.product(support, coef[support], near)
    return solution._replace(kernel_part=part)


def _with_sizes(problem: DualProblem, solution: Solution, source: Source, diagonal: Floats) -> Solution:
    """The sizes of the terms of decision values near 0: |k(x, z)| <= (k(x, x) k(z, z))^(1/2) says which are."""
    part, root = solution.kernel_part, np.sqrt(diagonal)
    coef = fold(problem, solution.b, len(part))
    support, size = np.flatnonzero(coef), np.abs(part)
    most = root * float(np.sum(np.abs(coef) * root))
    near = np.flatnonzero(part + solution.levels[0].value < NEAR * most)
    step = max(1, BLOCK_ENTRIES // max(1, len(support)))
    for i in range(0, len(near), step):
        some = near[i : i + step]
        size[some] = np.abs(source.block(some, support, np.float64)) @ np.abs(coef[support])
    return solution._replace(scale=float(diagonal.max(initial=0.0)), size=size)


def _in_float64(problem: DualProblem, solution: Solution, source: Source) -> Solution:
    """The solution with its kernel part computed again, and the levels that go with it."""
    coef = fold(problem, solution.b, len(solution.kernel_part))
    support = np.flatnonzero(coef)
    part = source.product(support, coef[support])
    return solution._replace(kernel_part=part, levels=levels(problem, solution.b, gradient(problem, solution.b, part)))


def _judged(
    form: Formulation, X: Samples, settings: Settings, source: Source, solution: Solution, decision: Decision, convexity: str
) -> Trained:
    """The decision function of a solution with its certificate and the verdict."""
    f = solution.kernel_part / decision.scale + decision.intercept
    bounds, curvature = _bounds(form.problem, decision), _curvature(form.problem)
    size = size_of(np.append(f, decision.intercept), decision.coef, bounds, curvature)
    found = form.certify(f, decision)
    demand = demand_of(settings.tol, decision.unit)
    slack = SHARE * error_allowed(solution.ended, found, demand, size)
    error, exact = _audit(settings, X, decision, f, source, slack)
    found = found if exact is None else form.certify(exact, decision)
    found = replace(found, convexity=convexity, audit_error=error, n_iter=solution.n_iter)
    status = verdict(solution.ended, found, demand, size, known=exact is not None)
    return Trained(decision, status, with_status(found, status))


def _bounds(problem: DualProblem, decision: Decision) -> Floats:
    """The greatest coefficient each sample may have."""
    bounds = np.zeros(len(decision.coef))
    bounds[problem.row] = np.maximum(-problem.lower, problem.upper) / decision.scale
    return bounds


def _curvature(problem: DualProblem) -> float:
    """The sum of the weights of squared losses."""
    ridge = problem.ridge[problem.ridge > 0]
    return 0.5 * float(np.sum(1 / ridge)) if len(ridge) else 0.0


def _report_end(monitor: Monitor, trained: Trained) -> None:
    """The last progress line."""
    if monitor.verbose:
        found, support = trained.certificate, int(np.count_nonzero(trained.decision.coef))
        monitor.report(found.n_iter, found.gap, found.kkt_violation, support, f": {found.status}")


def _solve(form: Formulation, source: Source, settings: Settings, monitor: Monitor, start: Floats | None) -> tuple[Solution, Source]:
    """Solve; where rounding of distances may move decision values too far, go on from there with distances by differences."""
    solve, arguments = SOLVERS[settings.method], (settings.tol, monitor, settings.cache_size)
    solution = solve(form.problem, source, *arguments, start, settings.workers)
    if solution.ended is not None and not (solution.ended.converged or solution.ended is Status.STALLED):
        return solution, source
    if _bound_suffices(source, form.read(form.problem, solution), settings.tol):
        return solution, source
    better = source.by_differences()
    if better is None:
        return solution, source
    again = solve(form.problem, better, *arguments, solution.b, settings.workers)
    return again._replace(n_iter=solution.n_iter + again.n_iter), better


def _bound_suffices(source: Source, decision: Decision, tol: float) -> bool:
    """Whether rounding of kernel values cannot move a decision value by more than a share of tol (rounding.py)."""
    size = np.abs(decision.coef)
    most = SHARE * tol * decision.unit / source.value_error if source.value_error > 0 else np.inf
    if float(size.sum()) <= most:
        return True
    support = np.flatnonzero(size)
    if source.by_differences() is None or not np.isfinite(most) or most == 0:
        return False
    try:  # errors are relative to the values: sum_j |c_j| k_j counts, which float32 knows to 10 %
        return 1.1 * float(source.product(support, size[support], dtype=np.float32).max(initial=0.0)) <= most
    except KernelNotFinite:
        return False


def zero(n: int, n_iter: int, convexity: str) -> Trained:
    """The solution of a degenerate problem: w = 0, all values 0."""
    nothing = Certificate(Status.DEGENERATE.name.lower(), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, n_iter=n_iter, convexity=convexity)
    return Trained(Decision(np.zeros(n), 0.0, (0.0, 0.0)), Status.DEGENERATE, nothing)


def unsolved(n: int, status: Status) -> Trained:
    """A problem that was not begun: nothing is known about it."""
    unknown = Certificate(status.name.lower(), np.inf, -np.inf, np.inf, np.inf, np.inf, 0.0, 0.0)
    return Trained(Decision(np.zeros(n), 0.0, (-np.inf, np.inf)), status, unknown)


Job = Callable[[Settings, Monitor], Trained]
"""One problem, ready to be solved with its share of memory and time."""


def train_all(jobs: Sequence[Job], sizes: Sequence[int], settings: Settings, monitor: Monitor) -> list[Trained]:
    """Run several problems of the given numbers of samples, results in order.

    Large ones run side by side, as many at a time as there are threads, each on one thread; small ones would only wait for each other.
    Each has an equal share of the time that is left when it starts, so that a time limit leaves every problem with some solution.
    """
    workers = min(core.thread_count(), len(jobs)) if max(sizes) > block.POLISHED else 1
    settings = settings._replace(workers=workers, problems=len(jobs))

    def run(k: int) -> Trained:
        stopped = monitor.too_late() if k > 0 and monitor.max_iter > 0 else None
        if stopped is not None:
            return unsolved(sizes[k], stopped)
        part = monitor.part(workers / (len(jobs) - k), f" {k + 1}/{len(jobs)}" if len(jobs) > 1 else "")
        if workers == 1:
            return jobs[k](settings, part)
        with core.one_thread():
            return jobs[k](settings, part)

    if workers == 1:
        return [run(k) for k in range(len(jobs))]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(run, range(len(jobs))))


def _columns_of(kernel: Kernel, X: Any, index: NDArray[np.int64]) -> Any:
    return X[:, index] if kernel.kind is Kind.PRECOMPUTED else X


@cache
def _drawn(n: int, count: int) -> NDArray[np.int64]:
    """The rows that are audited."""
    return np.random.default_rng(1).choice(n, count, replace=False)


def _audited(source: Source, coef: Floats, count: int) -> NDArray[np.int64]:
    """Rows to compare: half of them drawn at random, the others where an error is most likely or weighs most.

    Small problems are solved in float64, whose values have a bound: no row of theirs is more suspect than others.
    """
    n, some = len(coef), count // 4
    if n <= count:
        return np.arange(n)
    suspects = source.suspects(some) if n > block.POLISHED else np.empty(0, np.int64)
    heavy = np.argpartition(-np.abs(coef), some)[:some]
    return np.concatenate([_drawn(n, count - 2 * some), suspects, heavy])


def _affordable(sample: NDArray[np.int64], n: int, count: int) -> NDArray[np.int64]:
    """All rows if that many are within the count, or else some of the sample, one at least."""
    return np.arange(n) if n <= count else sample[:: -(-len(sample) // max(1, count))]


def _audit(settings: Settings, X: Samples, decision: Decision, f: Floats, source: Source, slack: float) -> tuple[float, Floats | None]:
    """The greatest difference between f and an independent evaluation on some rows.

    Where rounding may exceed ``slack`` the evaluation is that of ``certify``, in long double, on
    all rows if that is affordable; the decision values of all rows are then returned too. If it is
    not, the error is no less than the rounding.
    """
    kernel, support = settings.kernel, np.flatnonzero(decision.coef)
    sample = _audited(source, decision.coef, max(FEWEST_ROWS, CERTIFIED_ROWS // settings.problems))
    A = X.X if kernel.kind is Kind.PRECOMPUTED else X.pick(support)
    coef = decision.coef[support, None]
    rounding = ROUNDINGS * np.sqrt(len(support)) * decision.diagonal + source.value_error
    rounding *= float(np.abs(coef).sum())
    closer = not rounding <= slack
    if closer:
        per_row = max(1, products_per_row(kernel, A, len(support)))
        sample = _affordable(sample, len(f), EXTENDED // per_row)
    if closer and kernel.has_dot_product:
        exact = extended_products(kernel, A, coef, X.pick(sample), decision.intercept)
    else:
        B = _columns_of(kernel, X.pick(sample), support)
        exact = kernel_products(kernel, A, coef, B, decision.intercept, exact=closer)
    error = float(np.abs(exact[:, 0] - f[sample]).max(initial=0.0))
    if closer and len(sample) == len(f):
        return error, exact[:, 0]
    return max(error, rounding) if closer else error, None


def convexity_of(kernel: Kernel, coef: Floats, X: Samples, rounding: float, indefinite: bool = False) -> str:
    """What is known about the definiteness of the kernel matrix, see Certificate.convexity; ``indefinite`` where a solver saw it is not."""
    if kernel.positive_semidefinite:
        return "proved"
    rounded = rounding > ROUNDED  # negative curvature that the solver met may be rounding of the values
    if indefinite and not rounded:
        return "indefinite"
    n, support = len(coef), np.flatnonzero(coef)
    order = np.argsort(coef == 0, kind="stable")[: definiteness.WHOLE]
    part = X.pick(order)
    given = kernel.kind is Kind.PRECOMPUTED
    K = part[:, order] if given else kernel_values(kernel, part, part)
    with one_blas_thread():
        if not definiteness.is_positive_semidefinite(np.asarray(K, dtype=np.float64), rounding):
            return "indefinite"
        if n <= definiteness.WHOLE:
            return "checked"
        if given and definiteness.refuted(X.X, support, rounding):
            return "indefinite"
    if indefinite:
        return "indefinite"
    return "assumed" if given or kernel.kind is Kind.CALLABLE else "unknown"
