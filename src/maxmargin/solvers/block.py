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

from dataclasses import dataclass, field

import numpy as np

from maxmargin.core import cpu as core
from maxmargin.monitor import Monitor
from maxmargin.problems import DualProblem, Floats, Integers, feasible_start, fold
from maxmargin.rows import KernelNotFinite, MatrixSource, RowCache, Source, cache_bytes
from maxmargin.solution import (
    Solution,
    Status,
    can_grow,
    can_shrink,
    duality_gap,
    gradient,
    levels,
    margin,
    worst_violation,
)
from maxmargin.solvers.polish import polish

BLOCK = 512
"""Variables in a block: a float32 tile of 1 MB stays in the second-level cache."""
ONE_BLOCK = 1024
"""A problem with at most this many variables is one block."""
POLISHED = 1024
"""A problem with at most this many rows is solved to rounding, in float64."""
BURST = 5
"""Pair steps per variable before a small problem is polished, whether the tolerance is reached or not."""
REFINEMENTS = 4
"""How often float32 rows may be tried again from an exact F before float64 takes over."""
AUDITED = 256
"""Rows recomputed in float64 to see whether F needs to be made exact everywhere."""
PATIENCE = 50
"""Blocks without progress after which a solver is stalled by rounding."""
GAP = 10
"""The gap may be at most GAP * tol of the objective: at large C a small violation alone says little."""
MEET = 1e-12
"""Hulls nearer than sqrt(MEET) times the data's scale meet, as far as float64 can tell."""


@dataclass
class _State:
    """Where the solver is; F_exact = K b_exact in float64."""

    problem: DualProblem
    b: Floats
    F: Floats
    b_exact: Floats
    F_exact: Floats
    steps: int = 0
    scale: float = 0.0  # greatest kernel value of a point with itself seen so far
    convex: bool = False  # negative curvature is rounding
    indefinite: bool = False
    unbounded: bool = False
    working: Integers = field(default_factory=lambda: np.empty(0, np.int64))

    @property
    def G(self) -> Floats:
        return gradient(self.problem, self.b, self.F)

    def unit(self, G: Floats) -> float:
        """What the tolerance is measured in: 1, or the margin."""
        if not self.problem.in_margin_units:
            return 1.0
        return max(margin(levels(self.problem, self.b, G)), 1e-300)

    def gap_is_small(self, tol: float) -> bool:
        """Whether the gap is at most GAP * tol of the objective; where the primal is infeasible by rounding the violation must do."""
        G = self.G
        gap = duality_gap(self.problem, self.b, self.F, levels(self.problem, self.b, G))
        dual = -0.5 * float(np.sum(self.b * (G + self.problem.linear)))
        natural = MEET * self.scale * float(np.abs(self.b).sum()) ** 2  # the rounding of an objective that is 0
        return not np.isfinite(gap) or gap <= max(GAP * tol * max(abs(dual + gap), abs(dual)), natural)

    def no_minimum(self) -> bool:
        """Whether the hulls of a problem in margin units meet, or one without bounds falls forever, for all float64 can tell."""
        if self.unbounded:
            return True
        endless = bool(np.isinf(self.problem.upper).any() and not self.problem.ridge.any())
        half = float(np.abs(self.b).sum()) / 2
        if half == 0 or not (self.problem.in_margin_units or endless):
            return False
        norm, slope = float(np.sum(self.b * self.F[self.problem.row])), float(np.sum(self.b * self.problem.linear))
        falls = self.problem.in_margin_units or -slope > 1e-3 * half * float(np.abs(self.problem.linear).max())
        return norm <= MEET * self.scale * half * half and falls


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
    state = _State(problem, b, np.zeros(n), np.zeros_like(b), np.zeros(n), convex=source.convex)
    if n <= POLISHED:
        source = MatrixSource(source.block(None, None, np.float64))
    if b.any():
        _make_exact(state, source, monitor)
    if n <= POLISHED:
        reason = _solve_small(state, RowCache(source, np.float64, 0), tol, monitor)
        return _finish(state, source, reason, tol, monitor, n)
    reason, rows_computed, budget = None, 0, cache_bytes(cache_size, workers)
    for dtype in source.dtypes:
        cache = RowCache(source, dtype, budget)
        try:
            reason = _refine(state, source, cache, tol, monitor, 1 if dtype == np.float64 else REFINEMENTS)
        except KernelNotFinite:
            if dtype == np.float64:
                raise
            reason = Status.STALLED  # beyond the range of float32
            state.b, state.F = state.b_exact.copy(), state.F_exact.copy()
        rows_computed += cache.rows_computed
        if reason is not Status.STALLED:
            break
        del cache
    return _finish(state, source, reason, tol, monitor, rows_computed)


def _finish(state: _State, source: Source, reason: Status | None, tol: float, monitor: Monitor, rows_computed: int) -> Solution:
    """Name the outcome and pack it."""
    problem = state.problem
    _snap(state)
    G = state.G
    violation = max(0.0, worst_violation(problem, state.b, G)) / state.unit(G)
    if state.no_minimum() and reason in (None, Status.STALLED):
        status = Status.DEGENERATE
    elif violation <= tol and (state.indefinite or state.gap_is_small(tol)):
        status = Status.STATIONARY if state.indefinite else Status.OPTIMAL
    else:
        status = reason or Status.STALLED
    ends = levels(problem, state.b, G)
    monitor.report(
        state.steps, duality_gap(problem, state.b, state.F, ends), violation, _support(state, source), f": {status.name.lower()}"
    )
    return Solution(status, state.b, state.F, ends, violation, state.steps, monitor.seconds, state.indefinite, rows_computed)


def _snap(state: _State) -> None:
    """Put variables within rounding of a bound onto it: whether one is free must not depend on the last bit."""
    lower, upper = state.problem.lower, state.problem.upper
    near = 1e-12 * np.minimum(upper - lower, np.abs(state.b).max(initial=0.0))
    state.b = np.where(state.b - lower <= near, lower, np.where(upper - state.b <= near, upper, state.b))


def _support(state: _State, source: Source) -> int:
    return int(np.count_nonzero(fold(state.problem, state.b, source.n_rows)))


def _solve_small(state: _State, cache: RowCache, tol: float, monitor: Monitor) -> Status | None:
    """Bursts of pair steps and Newton steps in turn until the tolerance holds or nothing improves."""
    lowest = np.inf
    while True:
        reason = _descend(state, cache, 0.9 * tol, monitor, state.steps + BURST * len(state.b))
        if reason not in (None, Status.STALLED):
            return reason
        if state.indefinite:
            return _descend(state, cache, 0.9 * tol, monitor)
        _polish(state, cache, monitor)
        G = state.G
        if worst_violation(state.problem, state.b, G) <= tol * state.unit(G) and state.gap_is_small(tol):
            return None
        objective = 0.5 * float(np.sum(state.b * (G + state.problem.linear)))
        if state.no_minimum() or lowest - objective <= 1e-12 * abs(objective):
            return Status.STALLED
        lowest = objective


def _refine(state: _State, source: Source, cache: RowCache, tol: float, monitor: Monitor, tries: int) -> Status | None:
    """Descend and make F exact in turn; None when the tolerance holds, STALLED when this precision does not suffice."""
    best, strict, left = np.inf, 0.9 * tol, tries
    while left:
        reason = _descend(state, cache, strict, monitor)
        if reason not in (None, Status.STALLED):
            _make_exact(state, source, monitor)
            return reason
        G = state.G
        measured, unit = worst_violation(state.problem, state.b, G), state.unit(G)
        exact = _audit(state, source) <= (tol * unit - measured) / 2
        if not exact:
            left -= 1
            if not _make_exact(state, source, monitor):
                return monitor.stop(state.steps)
            if state.no_minimum() and cache.dtype == np.float64:
                return Status.STALLED
            G = state.G
            measured = worst_violation(state.problem, state.b, G) / state.unit(G)
            if measured > tol and (reason is Status.STALLED or measured > 0.5 * best):
                return Status.STALLED
            best = measured
        if measured <= tol * (unit if exact else 1):
            if state.indefinite or state.gap_is_small(tol):
                return None
            if reason is Status.STALLED or strict < 1e-9 * tol:
                return Status.STALLED
            if measured > strict * state.unit(G) and exact:  # the rows' rounding stopped it: start from an exact F
                left -= 1
                _make_exact(state, source, monitor)
            strict *= 0.1
    return Status.STALLED


def _descend(state: _State, cache: RowCache, tol: float, monitor: Monitor, until: int | None = None) -> Status | None:
    """Blocks until the violation is at most tol or at the level of the rows' rounding, or until so many steps are done."""
    problem = state.problem
    size = len(state.b) if len(state.b) <= ONE_BLOCK else BLOCK
    rounding = float(np.finfo(cache.dtype).eps) if cache.dtype == np.float32 else 0.0
    best_objective, best_violation, idle = np.inf, np.inf, 0
    while True:
        G = state.G
        violation = worst_violation(problem, state.b, G)
        floor = rounding * state.scale * float(np.sqrt(np.sum((state.b - state.b_exact) ** 2)))
        target = max(tol * state.unit(G), floor)
        if violation <= target or (until is not None and state.steps >= until):
            return None
        if monitor.wants_report():
            gap = duality_gap(problem, state.b, state.F, levels(problem, state.b, G))
            monitor.report(state.steps, gap, violation, _support(state, cache.source))
        reason = monitor.stop(state.steps)
        if reason is not None:
            return reason
        objective = 0.5 * float(np.sum(state.b * (G + problem.linear)))
        if objective < best_objective - 1e-13 * abs(best_objective) or violation < 0.99 * best_violation:
            idle = 0
        idle += 1
        best_objective, best_violation = min(best_objective, objective), min(best_violation, violation)
        if idle > PATIENCE or (state.scale > 0 and state.no_minimum()):
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


def _solve_working(state: _State, cache: RowCache, G: Floats, tol: float, monitor: Monitor, until: int | None) -> int:
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
    if unbounded and negative and not state.convex:
        raise ValueError(
            "The kernel is not positive semidefinite on these data and the problem has no upper bounds, so it has no minimum. Use a "
            "finite C with the plain hinge or epsilon-insensitive loss, or a positive semidefinite kernel."
        )
    state.unbounded |= unbounded
    state.indefinite |= negative and not state.convex
    change = fold(problem, b - state.b[W], cache.source.n_rows, rows)
    moved = np.flatnonzero(change)
    cache.add_rows(moved, change[moved], state.F)
    state.b[W] = b
    state.steps += steps
    return int(steps)


def _change(state: _State, n: int) -> tuple[Integers, Floats]:
    """Rows whose coefficient changed since F was exact, and by how much."""
    change = fold(state.problem, state.b - state.b_exact, n)
    rows = np.flatnonzero(change)
    return rows, change[rows]


def _audit(state: _State, source: Source) -> float:
    """The error of F on a sample of rows, by float64 evaluation."""
    n = source.n_rows
    rows, change = _change(state, n)
    sample = np.arange(n) if n <= AUDITED else np.random.default_rng(0).choice(n, AUDITED, replace=False)
    exact = state.F_exact[sample] + source.product(rows, change, sample)
    return float(np.abs(exact - state.F[sample]).max(initial=0.0))


def _make_exact(state: _State, source: Source, monitor: Monitor) -> bool:
    """F = F_exact + K64 (b - b_exact); False if the monitor said stop before it was done."""
    rows, change = _change(state, source.n_rows)
    F = state.F_exact.copy()
    step = max(1, int(2e9 / max(1, source.n_columns * 64)))
    for i in range(0, len(rows), step):
        if i and monitor.stop(state.steps) in (Status.INTERRUPTED, Status.TIME_LIMIT):
            return False
        source.add_product(rows[i : i + step], np.ascontiguousarray(change[i : i + step, None]), None, F[None, :], np.float64)
    state.F, state.F_exact, state.b_exact = F, F.copy(), state.b.copy()
    return True


def _polish(state: _State, cache: RowCache, monitor: Monitor) -> None:
    """Newton steps on the free variables; see polish.py."""
    K = cache.tile(np.arange(cache.source.n_rows))
    b, F, steps, indefinite = polish(state.problem, K, state.b, state.F, monitor, state.steps)
    state.b, state.F, state.steps = b, F, state.steps + steps
    state.indefinite |= indefinite and not state.convex
