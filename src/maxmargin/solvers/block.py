"""The exact kernel solver: blocks of variables, pair steps inside, kernel rows only for what moved.

    repeat  choose the variables that violate optimality most, and keep half of the last block
            solve the problem of these variables alone          (core.solve_block: pairwise SMO)
            F += K[:, moved] delta                              (F = K b, the kernel part of the decision values)
    until   no pair of variables can improve by more than tol

**Precision.** Rows are float32, F and b float64. The error this leaves in F is proportional to how far b moved since F was last exact.
So when the loop ends, F is made exact in float64: F_exact + K64 (b - b_exact), and the loop goes on from there if the true violation is
too large. Each such refinement gains the digits of float32 anew; if that does not suffice, the rows become float64.

**Small problems** are one block, in float64, and finish with Newton steps on the free variables (polish.py): they are solved to
rounding, whatever tol is.
"""

import numpy as np

from maxmargin.core import cpu as core
from maxmargin.monitor import Monitor
from maxmargin.problems import DualProblem, Floats, Integers, feasible_start, fold
from maxmargin.rows import RowCache, cache_bytes
from maxmargin.solution import Solution, Status, can_grow, can_shrink, levels, worst_violation
from maxmargin.solvers.polish import polish
from maxmargin.solvers.state import State
from maxmargin.sources import KernelNotFinite, MatrixSource, Source

BLOCK = 512
"""Variables in a block: a float32 tile of 1 MB stays in the second-level cache."""
ONE_BLOCK = 2048
"""A problem with at most this many variables is one block, unless its kernel is a user's function."""
POLISHED = 1024
"""A problem with at most this many rows is solved to rounding, in float64."""
BURST = 5
"""Pair steps per variable before a small problem is polished, whether the tolerance is reached or not."""
REFINEMENTS = 4
"""How often float32 rows may be tried again from an exact F before float64 takes over."""
PATIENCE = 50
"""Blocks without progress after which a solver is stalled by rounding."""


def solve(
    problem: DualProblem,
    source: Source,
    tol: float,
    monitor: Monitor,
    cache_size: float | str = "auto",
    start: Floats | None = None,
    workers: int = 1,
) -> Solution:
    """Solve a dual problem; see the contract in maxmargin.solvers."""
    n = source.n_rows
    b = problem.start.copy() if start is None else feasible_start(problem, start)
    state = State(problem, b, np.zeros(n), np.zeros_like(b), np.zeros(n), convex=source.convex)
    if n <= POLISHED:
        source = MatrixSource(source.block(None, None, np.float64))
    some = np.unique(np.linspace(0, n - 1, 64).astype(np.int64))
    state.scale = float(np.abs(source.block(some, some, np.float64).diagonal()).max(initial=0.0))
    if b.any():
        state.make_exact(source, monitor)
    if n <= POLISHED:
        return _finish(state, _solve_small(state, RowCache(source, np.float64, 0), tol, monitor), tol, monitor)
    reason, budget = None, cache_bytes(cache_size, workers)
    for dtype in source.dtypes:
        try:
            whole = len(b) <= ONE_BLOCK and np.float32 in source.dtypes
            reason = _refine(state, source, RowCache(source, dtype, budget, whole), tol, monitor)
        except KernelNotFinite:
            if dtype == np.float64:
                raise
            reason = Status.STALLED  # beyond the range of float32
            state.b, state.F = state.b_exact.copy(), state.F_exact.copy()
        if reason is not Status.STALLED:
            break
    return _finish(state, reason, tol, monitor)


def _finish(state: State, reason: Status | None, tol: float, monitor: Monitor) -> Solution:
    """Name the outcome and pack it."""
    state.snap()
    violation = max(0.0, state.violation)
    if state.no_minimum() and reason in (None, Status.STALLED):
        status = Status.DEGENERATE
    elif violation <= tol and (state.indefinite or state.gap_is_small(tol)):
        status = Status.STATIONARY if state.indefinite else Status.OPTIMAL
    else:
        status = reason or Status.STALLED
    if monitor.verbose:
        monitor.report(state.steps, state.gap, violation, state.support_vectors, f": {status.name.lower()}")
    ends = levels(state.problem, state.b, state.G)
    return Solution(status, state.b, state.F, ends, state.steps, state.indefinite)


def _solve_small(state: State, cache: RowCache, tol: float, monitor: Monitor) -> Status | None:
    """Bursts of pair steps and Newton steps in turn until the tolerance holds or nothing improves."""
    lowest = np.inf
    while True:
        reason = _descend(state, cache, 0.9 * tol, monitor, state.steps + BURST * len(state.b))
        if reason not in (None, Status.STALLED):
            return reason
        if state.indefinite:
            return _descend(state, cache, 0.9 * tol, monitor)
        _polish(state, cache, monitor)
        if state.violation <= tol and state.gap_is_small(tol):
            return None
        objective = state.objective
        if state.no_minimum() or lowest - objective <= 1e-12 * abs(objective):
            return Status.STALLED
        lowest = objective


def _refine(state: State, source: Source, cache: RowCache, tol: float, monitor: Monitor) -> Status | None:
    """Descend and make F exact in turn; None when violation and gap are small enough, STALLED when this precision does not suffice."""
    strict, left, best = 0.9 * tol, REFINEMENTS if cache.dtype == np.float32 else 1, np.inf
    while left:
        reason = _descend(state, cache, strict, monitor)
        if reason not in (None, Status.STALLED):
            state.make_exact(source, monitor)
            return reason
        if not state.is_certain(source, tol):
            left -= 1
            if not state.make_exact(source, monitor):
                return monitor.stop(state.steps)
            violation = state.violation
            if violation > tol:
                if reason is Status.STALLED or violation > 0.5 * best:
                    return Status.STALLED
                best = violation
                continue
        if state.indefinite or state.gap_is_small(tol):
            return None
        if reason is Status.STALLED or strict < 1e-9 * tol:
            return Status.STALLED
        if state.violation > strict:  # the rows' rounding stopped the descent: start from an exact F
            left -= 1
            state.make_exact(source, monitor)
        strict *= 0.1
    return Status.STALLED


def _descend(state: State, cache: RowCache, tol: float, monitor: Monitor, until: int | None = None) -> Status | None:
    """Blocks until the violation is at most tol or at the level of the rows' rounding, or until so many steps are done."""
    problem = state.problem
    size = len(state.b) if cache.complete and len(state.b) <= ONE_BLOCK else BLOCK
    rounding = float(np.finfo(cache.dtype).eps) if cache.dtype == np.float32 else 0.0
    best_objective, best_violation, idle = np.inf, np.inf, 0
    ceiling = state.ceiling
    while True:
        G = state.G
        violation = worst_violation(problem, state.b, G)
        floor = rounding * state.scale * float(np.sqrt(np.sum((state.b - state.b_exact) ** 2)))
        target = max(tol * state.unit(G), floor)
        if violation <= target or (until is not None and state.steps >= until):
            return None
        if monitor.wants_report():
            monitor.report(state.steps, state.gap, violation, state.support_vectors)
        reason = monitor.stop(state.steps)
        if reason is not None:
            return reason
        objective = 0.5 * float(np.sum(state.b * (G + problem.linear)))
        if state.convex and not -objective <= ceiling:  # above a primal value: these rows, rounded, are not positive semidefinite
            state.b, state.F = state.b_exact.copy(), state.F_exact.copy()
            return Status.STALLED
        if objective < best_objective - 1e-13 * abs(best_objective) or violation < 0.99 * best_violation:
            idle = 0
        idle += 1
        best_objective, best_violation = min(best_objective, objective), min(best_violation, violation)
        if idle > PATIENCE or state.no_minimum():
            return Status.STALLED
        if size < len(state.b):
            state.working = _select(problem, state.b, G, state.working, size)
            target = max(target, 0.1 * violation)
        else:
            state.working = np.arange(size)
            target = max(target, 0.1 * violation) if problem.in_margin_units else target
        if _solve_working(state, cache, G, target, monitor, until) == 0:
            return Status.STALLED


def _select(problem: DualProblem, b: Floats, G: Floats, previous: Integers, size: int) -> Integers:
    """Half of the previous block, its newest part, and the worst violators of both kinds in each group."""
    kept = previous[len(previous) - min(len(previous), size // 2) :]
    free_to_take = np.ones(len(b), bool)
    free_to_take[kept] = False
    share = (size - len(kept)) // (2 * problem.groups)
    grow, shrink = can_grow(problem, b), can_shrink(problem, b)
    chosen = [kept]
    for g in range(problem.groups):
        inside = slice(*np.searchsorted(problem.group, [g, g + 1]))
        least = np.min(G[inside], where=grow[inside], initial=np.inf)
        greatest = np.max(G[inside], where=shrink[inside], initial=-np.inf)
        for key in (
            np.where(grow[inside] & (G[inside] < greatest), G[inside], np.inf),
            np.where(shrink[inside] & (G[inside] > least), -G[inside], np.inf),
        ):
            key[~free_to_take[inside]] = np.inf
            worst = _smallest(key, share) + inside.start
            free_to_take[worst] = False
            chosen.append(worst)
    return np.concatenate(chosen)


def _smallest(key: Floats, count: int) -> Integers:
    """Indices of the smallest finite keys, at most count of them, the smallest last: the newest stay longest."""
    part = np.argpartition(key, count)[:count] if count < len(key) else np.arange(len(key))
    part = part[np.isfinite(key[part])]
    return part[np.argsort(-key[part], kind="stable")]


def _solve_working(state: State, cache: RowCache, G: Floats, tol: float, monitor: Monitor, until: int | None) -> int:
    """Solve the problem of the working variables and bring F up to date; return the number of pair steps."""
    problem, W = state.problem, np.sort(state.working)
    rows = problem.row[W]
    K = cache.tile(rows)
    state.scale = max(state.scale, float(np.abs(K.diagonal()).max(initial=0.0)))
    begin = np.searchsorted(problem.group[W], np.arange(problem.groups + 1))
    b, G_W = state.b[W], G[W]
    most = max(1000, int(1e8) // len(W))  # a tenth of a second
    most = min(most, (monitor.max_iter if until is None else min(until, monitor.max_iter)) - state.steps)
    steps, _, negative, unbounded = core.solve_block(K, G_W, b, problem.lower[W], problem.upper[W], problem.ridge[W], begin, tol, most)
    unbounded = unbounded or not np.abs(b).max() < 1e100
    if unbounded and not state.convex and (negative or problem.ridge.any()):
        raise ValueError(
            "The kernel is not positive semidefinite on these data and the problem has no upper bounds, so it has no minimum. Use a "
            "finite C with the plain hinge or epsilon-insensitive loss, or a positive semidefinite kernel."
        )
    state.unbounded |= unbounded and not problem.ridge.any()
    state.indefinite |= negative and not state.convex
    change = fold(problem, b - state.b[W], cache.source.n_rows, rows)
    moved = np.flatnonzero(change)
    cache.add_rows(moved, change[moved], state.F)
    state.b[W] = b
    state.steps += steps
    return int(steps)


def _polish(state: State, cache: RowCache, monitor: Monitor) -> None:
    """Newton steps on the free variables; see polish.py."""
    K = cache.tile(np.arange(cache.source.n_rows))
    b, F, steps, indefinite = polish(state.problem, K, state.b, state.F, monitor, state.steps)
    state.b, state.F, state.steps = b, F, state.steps + steps
    state.indefinite |= indefinite and not state.convex
