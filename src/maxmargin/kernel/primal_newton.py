"""Newton's method on the primal of a squared loss, after Chapelle (2007): exact after finitely many
steps.

The primal P(x, level) of a squared loss has no constraints and is once differentiable
(squared_primal.py). On the support set S, the variables with a loss, it is quadratic, and a Newton
step goes to the minimum of that quadratic, which is 0 outside S (newton_systems.py):

    (K_SS + diag(ridge_S)) x_S + level = -linear_S        sum(x_S) = 0

Where the step's end has the same S it is the minimum of P, and x its dual solution: x_i = sign_i
s_i / ridge_i. If P is higher at the step's end, the least value on the way is taken, found exactly
(P is piecewise quadratic along a line). P falls with every step, so no S returns and the method
ends; in practice after some ten steps, whatever the tolerance.

**Growing subsets.** A step costs |S|^3 / 3, and from x = 0 every variable is in S. So the problem
of a few random rows is solved first, then that of twice as many from there, and so on: the support
set of the whole is met when it is nearly known. Only rows of K that belong to S are ever needed.

Everything is float64. The memory is that of |S|^2 numbers; MemoryError says so where there is less.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers, Mask
from maxmargin.core.threads import one_blas_thread
from maxmargin.kernel.cache import RowCache, free_memory
from maxmargin.kernel.newton_systems import NewtonSystems
from maxmargin.kernel.problems import DualProblem, feasible_start, fold
from maxmargin.kernel.solution import Solution, gradient, levels
from maxmargin.kernel.squared_primal import Point, SquaredPrimal
from maxmargin.kernel.state import State, finish
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.monitor import Monitor
from maxmargin.status import Status


class Settings(NamedTuple):
    """How the method works (decision 14)."""

    matrix_rows: int = 2048
    """A kernel matrix of at most this many rows is computed at once."""
    first_subset: int = 512
    """Rows of the first subset, at least."""
    settled: float = 0.05
    """A subset's problem is left when a step changes no more than this share of its support set:
    the next subset changes it more."""
    memory_share: float = 0.8
    """Share of the free memory that the factor may take."""
    refinements: int = 4
    """How often the residual of the last step may be solved for."""
    rounding: float = 1e-15
    """A fall of P by less than this share may be rounding, or small beside losses that cannot be
    avoided."""
    idle: int = 30
    """Such steps that may follow each other."""


SETTINGS = Settings()


class Stopped(Exception):
    """The monitor said stop, or rounding: with the reason."""

    def __init__(self, reason: Status) -> None:
        self.reason = reason


def solve(
    problem: DualProblem, workspace: KernelWorkspace, tol: float, start: Floats | None = None
) -> Solution:
    """Solve a dual problem with a ridge; see the contract in workspace.py.

    Steps are Newton steps.
    """
    _refuse_other_problems(problem)
    source = workspace.source
    if source.n_rows <= SETTINGS.matrix_rows:
        rows = RowCache(workspace.whole(), np.float64, 0.0)
    else:
        rows = workspace.rows(np.float64)
    memory = SETTINGS.memory_share * free_memory() / workspace.side_by_side
    search = _Search(problem, rows, workspace.monitor, memory)
    with one_blas_thread():
        point, reason = search.run(start)
    xp = source.backend.xp
    b = xp.asarray(feasible_start(problem, source.backend.to_host(point.x)))
    if xp.abs(b - point.x).sum() > 1e-14 * xp.abs(b).sum():
        point = Point(b, point.level, search.product(b))
    state = State(search.problem, b, point.F, b, point.F, source.backend, search.steps)
    state.diagonal, state.convex = search.diagonal, source.convex
    if state.violation > tol:
        theta = _best_multiple(state)
        state.b, state.F = theta * b, theta * point.F
    return finish(state, reason)


def _best_multiple(state: State) -> float:
    """The theta >= 0 for which theta b, feasible as b is, has the least dual objective.

    The b of a solve that was stopped early may be far from it.
    """
    b, problem, total = state.b, state.problem, state.xp.sum
    square = float(total(b * (state.F[problem.row] + problem.ridge * b)))
    slope = float(total(b * problem.linear))
    return max(0.0, -slope / square) if square > 0 else 0.0


def _refuse_other_problems(problem: DualProblem) -> None:
    """Raise ValueError unless the loss is squared.

    Such a problem has a ridge everywhere, every variable on a half-line, and one sum, which is 0.
    """
    lower, upper = problem.lower, problem.upper
    half = (lower == 0) & (upper == np.inf) | (upper == 0) & (lower == -np.inf)
    if not (
        problem.groups == 1 and (problem.ridge > 0).all() and half.all() and not problem.start.any()
    ):
        raise ValueError(
            "Newton's method on the primal needs a squared loss and a finite C: use "
            "loss='squared_hinge' (SVC) or "
            "loss='squared_epsilon_insensitive' (SVR), or solver='block'."
        )


class _Search:
    """The method on one problem."""

    def __init__(
        self, problem: DualProblem, cache: RowCache, monitor: Monitor, memory: float
    ) -> None:
        xp = self.xp = cache.source.backend.xp
        self.given, self.problem, self.cache, self.monitor = problem, problem.on(xp), cache, monitor
        self.objective = SquaredPrimal(self.problem, xp)
        self.row, self.n = self.problem.row, cache.source.n_rows
        some = xp.arange(0, self.n, max(1, self.n // 64))
        K = cache.source.block(some, some, np.float64)
        self.diagonal = float(xp.abs(xp.diagonal(K)).max(initial=0.0))
        self.steps = 0
        self.systems = NewtonSystems(self.problem, cache, self.diagonal, memory, self._pause)

    def run(self, start: Floats | None) -> tuple[Point, Status | None]:
        """Solve on subsets, each twice as large as the one before, then on all samples.

        A given start goes to all samples at once. Return the last point, and the reason if the work
        ended early.
        """
        point, halvings = Point(self.xp.zeros(len(self.row)), 0.0, self.xp.zeros(self.n)), 0
        if start is None or not start.any():
            while self.n >> (halvings + 1) >= SETTINGS.first_subset:
                halvings += 1
        else:
            point = self.begin_at(start)
        order = np.random.default_rng(0).permutation(self.n)
        for k in range(halvings, -1, -1):
            inside = self.xp.zeros(self.n, bool)
            inside[self.xp.asarray(order[: self.n >> k])] = True
            try:
                point = self.minimise(point, inside[self.row], SETTINGS.settled if k else 0.0)
            except Stopped as stopped:
                return self.last, stopped.reason
        return point, None

    def begin_at(self, start: Floats) -> Point:
        """The point of a start of the dual variables: x as it is, the level read off it."""
        b = self.xp.asarray(feasible_start(self.given, start))
        F = self.product(b)
        if not b.any():
            return Point(b, 0.0, F)
        return Point(b, self._level(b, F), F)

    def _level(self, b: Floats, F: Floats) -> float:
        """The level that dual variables b and F = K b leave."""
        variables = self.given.variables(b, gradient(self.problem, b, F))
        return levels(variables, self.cache.source.backend)[0].value

    def minimise(self, point: Point, inside: Mask, rough: float) -> Point:
        """Newton steps on the loss of the variables inside.

        They end when the support set changes by at most a share ``rough``.
        """
        support, value_of, idle = self.objective.support, self.objective.value, 0
        S, value = support(point, inside), value_of(point, inside)
        while True:
            self.last = point
            self._pause()
            new = self.step(point, S)
            self.steps += 1
            found = support(new, inside, S)
            changed = len(self.xp.setxor1d(S, found, assume_unique=True))
            if not changed:
                return new if rough else self.refine(new, S)
            lower = value_of(new, inside)
            if not lower <= value * (1 + SETTINGS.rounding):
                new = point.towards(new, self.objective.line_search(point, new, inside))
                lower, found = value_of(new, inside), support(new, inside)
            idle = 0 if lower < value * (1 - SETTINGS.rounding) else idle + 1
            if changed <= rough * len(S) or idle > SETTINGS.idle:
                return new
            self._report(new, inside, value - lower)
            point, value, S = new, lower, found

    def step(self, point: Point, S: Integers) -> Point:
        """The minimum of the quadratic that P is on S; with S empty that is x = 0, at any level."""
        if not len(S):
            return Point(self.xp.zeros_like(point.x), point.level, self.xp.zeros(self.n))
        return self._point(S, *self._solve(S, -self.problem.linear[S], 0.0))

    def refine(self, point: Point, S: Integers) -> Point:
        """Solve for the residual of the last step, as long as that halves it."""
        best, least = point, np.inf
        for _ in range(SETTINGS.refinements):
            x = point.x[S]
            residual = -self.problem.linear[S] - point.F[self.row[S]]
            residual = residual - self.problem.ridge[S] * x - point.level
            size = float(self.xp.abs(residual).max(initial=0.0))
            if not size < 0.5 * least:
                break
            best, least = point, size
            if size <= 1e-14 * float(self.xp.abs(point.F).max(initial=0.0)):
                break
            change, level = self._solve(S, residual, -float(self.xp.sum(x)))
            point = self._point(S, x + change, point.level + level)
        return best

    def product(self, x: Floats) -> Floats:
        """K x, of variables."""
        coefficients = fold(self.problem, x, self.n, xp=self.xp)
        F: Floats = self.xp.zeros(self.n)
        rows = self.xp.flatnonzero(coefficients)
        self.cache.add_rows(rows, coefficients[rows], F)
        return F

    def _point(self, S: Integers, x_S: Floats, level: float) -> Point:
        """The point of x on S."""
        x = self.xp.zeros(len(self.row))
        x[S] = x_S
        return Point(x, level, self.product(x))

    def _solve(self, S: Integers, right: Floats, total: float) -> tuple[Floats, float]:
        """Solve the system of S."""
        found = self.systems.solve(S, right, total)
        if found is None:
            raise Stopped(Status.STALLED)
        return found

    def _pause(self) -> None:
        """Let the monitor stop the work."""
        reason = self.monitor.stop(self.steps)
        if reason is not None:
            raise Stopped(reason)

    def _report(self, point: Point, inside: Mask, fall: float) -> None:
        """Show the decrease of P by the last step, and how far x is from sign s / ridge.

        The decrease stands for the gap, which is not known before the end.
        """
        if self.monitor.wants_report():
            off = self.xp.maximum(0.0, self.objective.slack(point))
            off -= self.objective.sign * point.x * self.problem.ridge
            far = float(self.xp.abs(off[inside]).max(initial=0.0))
            self.monitor.report(self.steps, fall, far, int(self.xp.count_nonzero(point.x)))
