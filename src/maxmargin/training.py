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

from maxmargin.certificate import Certificate, is_positive_semidefinite, kernel_products, kernel_values, with_status
from maxmargin.core import cpu as core
from maxmargin.kernels import Kernel, Kind
from maxmargin.monitor import Monitor
from maxmargin.problems import DualProblem, Floats, fold
from maxmargin.solution import Solution, Status, margin
from maxmargin.solvers import block, primal_newton
from maxmargin.sources import Source, make_source, pick
from maxmargin.verdict import demand_of, size_of, verdict

CERTIFIED_ROWS, FEWEST_ROWS = 64, 8
"""Rows on which every fit's decision values are compared with an independent evaluation; at least, where a fit is many problems."""
PSD_ROWS = 1024
"""Rows on which a kernel of unknown definiteness is tested."""


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
    """The dual variables are coef * scale."""
    epsilon: float = 0.0
    """The tube's half-width (regression)."""
    unit: float = 1.0
    """What the tolerance on decision values is measured in."""


class Formulation(NamedTuple):
    """One kind of SVM on given samples."""

    problem: DualProblem
    read: Callable[[DualProblem, Solution], Decision]
    certify: Callable[[Floats, Decision], Certificate]
    """(decision values of the samples, decision) -> certificate without its outcome."""
    no_solution: str = ""
    """What to tell the user when there is no solution; without it a degenerate problem (nu-SVC) has the solution 0."""


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

    def pick(self, rows: NDArray[np.int64]) -> Any:
        """Some of the samples."""
        return pick(self.X, rows if self.listed is None else self.listed[rows])


def train(form: Formulation, samples: Samples, settings: Settings, monitor: Monitor, start: Floats | None = None) -> Trained:
    """Solve one problem and certify the result."""
    with np.errstate(over="ignore", invalid="ignore"):  # huge C or huge kernel values: the certificate says what came of it
        return _train(form, samples, settings, monitor, start)


def _train(form: Formulation, X: Samples, settings: Settings, monitor: Monitor, start: Floats | None) -> Trained:
    if settings.kernel.kind is Kind.CALLABLE and len(form.problem.row) <= PSD_ROWS:  # one block: all values are needed anyway
        X = Samples(make_source(settings.kernel, X.X).block(None, None, np.float64))
        settings = settings._replace(kernel=Kernel.precomputed())
    source = X.source or make_source(settings.kernel, X.X)
    solve = SOLVERS[settings.method]
    solution = solve(form.problem, source, settings.tol, monitor, settings.cache_size, start, settings.workers)
    if solution.ended is Status.DEGENERATE:
        if form.no_solution:
            raise ValueError(form.no_solution)
        coef = fold(form.problem, solution.b, len(solution.kernel_part))
        return zero(len(coef), solution.n_iter, _convexity(settings.kernel, solution, coef, X))
    decision = form.read(form.problem, solution)
    convexity = _convexity(settings.kernel, solution, decision.coef, X)
    f = solution.kernel_part / decision.scale + decision.intercept
    found = form.certify(f, decision)
    error = _audit(settings.kernel, X, decision, f, max(FEWEST_ROWS, CERTIFIED_ROWS // settings.problems))
    found = replace(found, convexity=convexity, audit_error=error, n_iter=solution.n_iter)
    status = verdict(solution.ended, found, demand_of(settings.tol, decision.unit), size_of(f, decision.coef))
    _report_end(monitor, status, found, decision.coef)
    return Trained(decision, status, with_status(found, status))


def _report_end(monitor: Monitor, status: Status, found: Certificate, coef: Floats) -> None:
    """The last progress line."""
    if monitor.verbose:
        monitor.report(found.n_iter, found.gap, found.kkt_violation, int(np.count_nonzero(coef)), f": {status.name.lower()}")


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
        stopped = monitor.stop(0) if k > 0 and monitor.max_iter > 0 else None
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
    return np.arange(n) if n <= count else np.random.default_rng(1).choice(n, count, replace=False)


def _audit(kernel: Kernel, X: Samples, decision: Decision, f: Floats, rows: int) -> float:
    """The greatest difference between f and an independent float64 evaluation on a sample of rows."""
    sample, support = _drawn(len(f), rows), np.flatnonzero(decision.coef)
    A = X.X if kernel.kind is Kind.PRECOMPUTED else X.pick(support)
    exact = kernel_products(kernel, A, decision.coef[support, None], _columns_of(kernel, X.pick(sample), support))[:, 0]
    return float(np.abs(exact + decision.intercept - f[sample]).max(initial=0.0))


def _convexity(kernel: Kernel, solution: Solution, coef: Floats, X: Samples) -> str:
    """What is known about the definiteness of the kernel matrix; see Certificate.convexity."""
    if kernel.positive_semidefinite:
        return "proved"
    if solution.indefinite:
        return "indefinite"
    n = len(coef)
    order = np.argsort(coef == 0, kind="stable")[:PSD_ROWS]
    part = X.pick(order)
    K = part[:, order] if kernel.kind is Kind.PRECOMPUTED else kernel_values(kernel, part, part)
    rounding = float(np.finfo(K.dtype).eps) if np.issubdtype(K.dtype, np.floating) else 1e-15
    if not is_positive_semidefinite(np.asarray(K, dtype=np.float64), rounding):
        return "indefinite"
    if n <= PSD_ROWS:
        return "checked"
    return "assumed" if kernel.kind in (Kind.PRECOMPUTED, Kind.CALLABLE) else "unknown"
