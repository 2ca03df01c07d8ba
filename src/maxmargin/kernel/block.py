"""The exact kernel solver: rounds that solve a working set on its own tile, and one product.

    repeat  choose a working set                                                  (working_set.py)
            solve the problem of its variables alone        (SMO: core/smo.h)
            F += K[:, moved] delta          (F = K b, the kernel part of the decision values)
    until   no pair of variables can improve by more than tol

The first working set is a random subsample, whose solution seeds the rest. Where b = 0 is not
feasible, a subsample gives the initial point (subsample.py). A product computes each kernel value,
uses it and forgets it, which for cheap kernels is faster than reading it from memory; rows of
expensive ones are kept (cache.py). A round costs the same for any C; large C takes more rounds.

**Precision.** Kernel values are float32, F and b float64. The error this leaves in F is
proportional to how far b moved since F was last exact. So when the loop ends, F is made exact in
float64, F_exact + K64 (b - b_exact), and the loop continues from there if the true violation is too
large. Each such refinement gains the digits of float32 once more; if that does not suffice, the
values become float64 (decision 3).

**Small problems** are one tile, in float64, and finish with Newton steps on the free variables
(newton.py): they are solved to rounding, whatever tol is (decision 5).
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from maxmargin.core.arrays import Floats, Matrix
from maxmargin.kernel import continuation, working_set
from maxmargin.kernel.cache import RowCache
from maxmargin.kernel.face import NotConvex
from maxmargin.kernel.newton import Tile, newton
from maxmargin.kernel.problems import DualProblem, feasible_start, fold, unfold
from maxmargin.kernel.solution import Solution
from maxmargin.kernel.sources import KernelNotFinite, MatrixSource, Scratch, Source
from maxmargin.kernel.state import State, finish
from maxmargin.kernel.subsample import start_from_subsample
from maxmargin.kernel.workspace import KernelWorkspace, is_small
from maxmargin.monitor import Monitor
from maxmargin.status import Status


class Settings(NamedTuple):
    """How the rounds work."""

    one_tile: int = 2048
    """A problem of at most this many rows is one tile, unless its kernel is a user's function
    (decision 40)."""
    target: float = 0.5
    """The share of tol that rounds aim at; the rest is room for the rounding of float32 products
    (decision 3)."""
    close: float = 0.02
    """Once this share of the violation is within the target a round aims at the target itself, with
    room for the variables it leaves out (decision 12)."""
    burst: int = 5
    """Pair steps for each variable before Newton steps on a small problem, whether the tolerance is
    reached or not (decision 5)."""
    goal: float = 1e-14
    """Violation aimed at in small problems, relative to the greatest gradient (decision 5)."""
    growth: float = 2.0
    """About how pair steps grow from one C of a path to the next (decision 26)."""
    refinements: int = 4
    """How often float32 rows may continue from an exact F before float64 takes over (decision
    3)."""
    leap: float = 1e-3
    """Where the gap is too large, the target falls at most to this share of itself (decision
    19)."""
    patience: int = 50
    """Rounds without progress after which a solver is stalled by rounding (decision 3)."""

    window_rounds: int = 100
    """Rounds of a window of progress (decision 19)."""
    window_steps: int = 300
    """Pair steps for each variable that end a window too (decision 19)."""
    creep: float = 1e-10
    """A window that lowers the objective by less than this share of it, and the violation by less
    than a tenth, is the last (decision 19)."""


SETTINGS = Settings()


@dataclass
class Progress:
    """Whether rounds still get anywhere; a solver that only creeps is stalled."""

    rounds: int = 0
    steps: int = 0
    objective: float = math.inf
    violation: float = math.inf

    def creeps(self, state: State) -> bool:
        """Count a round; at the end of a window, whether it was in vain."""
        self.rounds += 1
        if (
            self.rounds < SETTINGS.window_rounds
            and state.steps - self.steps < SETTINGS.window_steps * len(state.b)
        ):
            return False
        self.rounds, self.steps = 0, state.steps
        objective, violation, gap = state.objective, state.violation, state.gap
        size = max(abs(objective), abs(gap - objective) if math.isfinite(gap) else 0.0)
        falls = (
            objective < self.objective - SETTINGS.creep * size or violation < 0.9 * self.violation
        )
        self.objective, self.violation = (
            min(self.objective, objective),
            min(self.violation, violation),
        )
        return not falls


def solve(
    problem: DualProblem, workspace: KernelWorkspace, tol: float, start: Floats | None = None
) -> Solution:
    """Solve a dual problem; see the contract in workspace.py."""
    source, monitor, b = workspace.source, workspace.monitor, problem.start
    n, small, xp = source.n_rows, is_small(source.n_rows), source.backend.xp
    b = xp.asarray(b.copy() if start is None else feasible_start(problem, start))
    zero = xp.zeros(n), xp.zeros(len(b)), xp.zeros(n)
    state = State(problem.on(xp), b, *zero, source.backend, convex=source.convex)
    workspace.kept.scratch = state.scratch = workspace.kept.scratch or Scratch(xp)
    source = workspace.whole() if small else source
    state.diagonal = _diagonal(source, xp)
    if b.any():
        _begin(state, problem, workspace, start)
    if small:
        K = source.block(None, None, np.float64)
        return finish(state, _solve_small(state, K, tol, monitor))
    last, advanced = workspace.solved(problem), False
    if start is not None and source.convex and continuation.pays(state, last.steps):
        advanced = True
        rows = rows_for(problem, workspace, source.dtypes[0])
        state.reduced = continuation.advance(
            state,
            source,
            rows,
            SETTINGS.target * tol,
            monitor,
            last.reduced,
        )
    found = finish(state, _solve_large(state, source, workspace, tol))
    kept = workspace.kept
    kept.product = fold(problem, found.b, n), found.kernel_part
    to_host = source.backend.to_host
    kept.exact = fold(problem, to_host(state.b_exact), n), to_host(state.F_exact)
    steps = SETTINGS.growth * last.steps if advanced else state.steps
    kept.solved = last._replace(reduced=state.reduced, steps=int(steps))
    return found


def _begin(
    state: State, problem: DualProblem, workspace: KernelWorkspace, start: Floats | None
) -> None:
    """F = K b at the initial point; a large problem without a start may get a better one."""
    n, source, monitor = workspace.source.n_rows, workspace.source, workspace.monitor
    if is_small(n):
        source = workspace.whole()
    elif start is not None and _take_over(state, problem, workspace):
        return
    if start is None and n > SETTINGS.one_tile and start_from_subsample(state, source, monitor):
        return
    state.make_exact(source, monitor)


def _take_over(state: State, problem: DualProblem, workspace: KernelWorkspace) -> bool:
    """Take F from the solution before, if the start is a multiple of it.

    What is exact in float64 is taken over, too; without it, F is exact at b = 0 alone.
    """
    b = state.backend.to_host(state.b)
    coef = fold(problem, b, len(state.F))
    known, exact = workspace.product_of(coef), workspace.exact_near(coef)
    if known is None:
        return False
    asarray = state.xp.asarray
    state.F, state.b_exact = asarray(known), state.xp.zeros_like(state.b)
    if exact is not None:
        state.b_exact = asarray(b - unfold(problem, coef - exact[0]))
        state.F_exact = asarray(exact[1])
    return True


def _diagonal(source: Source, xp: Any) -> float:
    """The greatest k(x, x) of some rows."""
    if isinstance(source, MatrixSource):
        values = source.K
    else:
        some = xp.arange(0, source.n_rows, max(1, source.n_rows // 64))
        values = source.block(some, some, np.float64)
    return float(xp.abs(xp.diagonal(values)).max(initial=0.0))


def rows_for(problem: DualProblem, workspace: KernelWorkspace, dtype: DTypeLike) -> RowCache:
    """The rows of a large problem."""
    small = workspace.source.n_rows <= SETTINGS.one_tile
    one_tile = small and np.float32 in workspace.source.dtypes
    return workspace.rows(dtype, one_tile)


def _solve_large(
    state: State, source: Source, workspace: KernelWorkspace, tol: float
) -> Status | None:
    """Rounds in the cheapest precision, then in the next where that does not suffice."""
    reason = None
    for dtype in source.dtypes:
        try:
            rows = rows_for(state.problem, workspace, dtype)
            reason = _refine(state, source, rows, tol, workspace.monitor)
        except KernelNotFinite:
            if dtype == np.float64:
                raise
            reason = Status.STALLED  # beyond the range of float32
            state.b, state.F = state.b_exact.copy(), state.F_exact.copy()
        if reason is not Status.STALLED:
            break
    return reason


def _solve_small(state: State, K: Matrix, tol: float, monitor: Monitor) -> Status | None:
    """Take pair steps and Newton steps in turn on the whole matrix.

    It ends when only rounding is left to gain.
    """
    problem, xp, lowest, progress = state.problem, state.xp, np.inf, Progress()
    everything, Q = xp.arange(len(state.b)), K
    if len(everything) != len(K) or bool((problem.row != everything).any()):
        Q = state.backend.gather(K, problem.row, problem.row)
    G = state.G
    while True:
        tile = Tile(everything, Q, state.variables(G), state.backend)
        reason = _pair_steps(state, tile, tol, monitor)
        if reason is None and not state.indefinite:
            goal = SETTINGS.goal * float(xp.abs(G).max(initial=0.0))
            try:
                steps, state.factor = newton(tile, goal, monitor, state.steps, state.factor)
                state.steps += steps
            except NotConvex:
                state.indefinite |= not state.convex
        coefficients = fold(problem, state.b, len(K), xp=xp)
        rows = xp.flatnonzero(coefficients)
        state.F = xp.zeros(len(K))
        state.backend.update_gradient(K, rows, coefficients[rows], state.F)
        if reason is not None:
            return reason
        G = state.G
        if state.violation_at(G) <= tol and (state.indefinite or state.gap_is_small(tol, G)):
            return None
        objective = state.objective_at(G)
        falls = objective < lowest - 1e-12 * abs(objective)
        if state.no_minimum() or not falls or progress.creeps(state):
            return Status.STALLED
        lowest = objective


def _pair_steps(state: State, tile: Tile, tol: float, monitor: Monitor) -> Status | None:
    """A burst of pair steps; where the problem is not convex, as many as lower the objective.

    Return why the work must end, if it must.
    """
    G, b, *_ = tile.variables
    most, lowest, violation = SETTINGS.burst * len(b), np.inf, tile.violation
    last = state.steps + most
    while True:
        reason, target = monitor.stop(state.steps), 0.9 * tol * state.unit(G)
        if reason is not None or violation <= target:
            return reason
        target = max(target, 0.1 * violation) if state.problem.in_margin_units else target
        done = tile.pair_steps(target, min(most, monitor.max_iter - state.steps))
        state.steps, violation = state.steps + done.taken, done.violation
        state.note(done.negative, done.unbounded or state.beyond(b))
        objective = state.objective_at(G)
        falls = state.indefinite and objective < lowest - 1e-12 * abs(objective)
        if state.unbounded or done.taken == 0 or (state.steps >= last and not falls):
            return None
        lowest = min(lowest, objective)


def _refine(
    state: State, source: Source, cache: RowCache, tol: float, monitor: Monitor
) -> Status | None:
    """Descend and make F exact in turn.

    Return None when violation and gap are small enough, STALLED when this precision does not
    suffice.
    """
    strict, best = SETTINGS.target * tol, np.inf
    left = SETTINGS.refinements if cache.dtype == np.float32 else 1
    while left:
        reason = _descend(state, cache, strict, monitor)
        if reason not in (None, Status.STALLED):
            state.make_exact(source, monitor)
            return reason
        if not state.spot_check(source, tol):
            left -= 1
            if not state.make_exact(source, monitor):
                return monitor.stop(state.steps)
            violation = state.violation
            if violation > tol:
                if reason is Status.STALLED or violation > 0.5 * best:
                    return Status.STALLED
                best = violation
                continue
        excess = 0.0 if state.indefinite else state.gap_excess(SETTINGS.target * tol)
        if excess <= 1:
            return None
        if reason is Status.STALLED or strict < 1e-9 * tol:
            return Status.STALLED
        violation = state.violation
        if violation > strict:  # the rows' rounding ended the descent: begin at an exact F
            left -= 1
            state.make_exact(source, monitor)
        # the gap falls about as the violation does
        strict = min(0.1 * strict, max(violation / excess, SETTINGS.leap * strict))
    return Status.STALLED


def _descend(state: State, cache: RowCache, tol: float, monitor: Monitor) -> Status | None:
    """Rounds until the violation is at most tol or at the level of the rows' rounding."""
    problem, xp, draw = state.problem, state.xp, np.random.default_rng(0)
    eliminates = state.convex
    best_objective, best_violation, idle = np.inf, np.inf, 0
    ceiling, progress, chosen = state.ceiling, Progress(), xp.arange(0)
    while True:
        seen = state.survey()
        G, violation, objective = seen.variables.G, seen.violation, seen.objective
        target = max(tol * state.unit(G), state.rounding(cache.dtype, seen.moved))
        if state.convex and not -objective <= ceiling:
            # above a primal value: these rows, rounded, are not positive semidefinite
            state.b, state.F = state.b_exact.copy(), state.F_exact.copy()
            return Status.STALLED
        if violation <= target:
            return None
        if monitor.wants_report():
            monitor.report(state.steps, state.gap, violation, state.support_vectors)
        reason = monitor.stop(state.steps)
        if reason is not None:
            return reason
        falls = objective < best_objective - 1e-13 * abs(best_objective)
        idle = 1 if falls or violation < 0.99 * best_violation else idle + 1
        best_objective = min(best_objective, objective)
        best_violation = min(best_violation, violation)
        if idle > SETTINGS.patience or state.no_minimum() or progress.creeps(state):
            return Status.STALLED
        size = working_set.size_for(state, cache, seen.free)
        whole, close = size == len(state.b), SETTINGS.close * violation <= target
        chosen = xp.arange(size) if whole else working_set.choose(state, seen, size, draw, chosen)
        if not whole or problem.in_margin_units:
            target = 0.9 * target if close else max(target, 0.1 * violation)
        state.eliminates = eliminates and seen.free <= working_set.SETTINGS.most
        if working_set.solve(state, cache, chosen, G, target, close, monitor) == 0:
            return Status.STALLED
        if state.settled and state.eliminates:
            eliminates = state.settled = continuation.finish(state, cache, tol, monitor)
