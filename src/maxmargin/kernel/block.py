"""The exact kernel solver: rounds of an active set, solved on its own tile, and one product with
what moved.

    repeat  choose the active variables: the free ones, violators of optimality drawn at random, and those nearest to the margin
            solve the problem of these variables alone            (pairwise SMO, itself in blocks: core/nested.h; newton.py)
            F += K[:, moved] delta                                (F = K b, the kernel part of the decision values)
    until   no pair of variables can improve by more than tol

The first active set is a random subsample: its solution seeds the rest; where b = 0 is not feasible
a subsample makes a first guess (guess.py). A product computes each kernel value, uses it and
forgets it, which for cheap kernels is faster than reading it from memory; rows of expensive ones
are kept (rows.py). A round costs the same for any C; large C takes more rounds.

**Precision.** Kernel values are float32, F and b float64. The error this leaves in F is
proportional to how far b moved since F was last exact. So when the loop ends, F is made exact in
float64: F_exact + K64 (b - b_exact), and the loop goes on from there if the true violation is too
large. Each such refinement gains the digits of float32 anew; if that does not suffice, the values
become float64.

**Small problems** are one tile, in float64, and finish with Newton steps on the free variables
(newton.py): they are solved to rounding, whatever tol is.
"""

from contextlib import suppress

import numpy as np

from maxmargin.core.arrays import Floats, Integers, Matrix
from maxmargin.core.backend import Variables
from maxmargin.kernel import solution
from maxmargin.kernel.cache import RowCache
from maxmargin.kernel.guess import begin_at_guess
from maxmargin.kernel.newton import NotConvex, Tile, newton
from maxmargin.kernel.problems import DualProblem, feasible_start, fold
from maxmargin.kernel.solution import Solution, can_grow, can_shrink, levels, may_move
from maxmargin.kernel.sources import KernelNotFinite, MatrixSource, Source
from maxmargin.kernel.state import Progress, State, finish
from maxmargin.kernel.workspace import SMALL, KernelWorkspace
from maxmargin.monitor import Monitor
from maxmargin.status import Status

ACTIVE = 1536
"""Active variables, at least: a float32 tile of 9 MB."""
PART, ROOM = 24, 3
"""Between these limits: one active variable for every PART variables, and ROOM for every two free
ones."""
MOST_ACTIVE = 4096
"""Active variables, at most, where many are free: a float32 tile of 64 MB."""
ASKED = 512
"""Active variables where kernel values are a user's function: as few values as possible are asked
for."""
WHOLE = 3072
"""A problem with at most this many variables is one tile, unless its kernel is a user's
function."""
CROWDED = 0.9
"""Where free variables alone would take more than this share of the active set, half of it is for
those that violate optimality most."""
EXTREME = 32
"""The worst violators of each kind, which are active whatever the draw."""
MARK = 0.5
"""The share of tol that rounds aim at; the rest is room for the rounding of float32 products."""
CLOSE = 0.02
"""Once this share of the violation is within the target a round aims at the target itself, with
room for the variables it leaves out."""
POLISHED = SMALL
"""A problem with at most this many rows is solved to rounding, in float64."""
BURST = 5
"""Pair steps per variable before Newton steps on a small problem, whether the tolerance is reached
or not."""
GOAL = 1e-14
"""Violation aimed at in small problems, relative to the greatest gradient."""
REFINEMENTS = 4
"""How often float32 rows may be tried again from an exact F before float64 takes over."""
PATIENCE = 50
"""Rounds without progress after which a solver is stalled by rounding."""
LOOK = 10
"""Pair steps for each active variable, close to the end, between two looks at whether Newton steps
would do."""
STIFF = 30
"""Pair steps for each active variable after which Newton steps take over, here and from now on."""
EASY = 1
"""Pair steps for each active variable before Newton steps, once they took over."""
SETTLED = 0.1
"""Newton steps wait until a round changes the status of no more than this share of the free
variables."""
AT_ONCE = 100_000
"""Pair steps between two looks at the clock and at Ctrl-C: a fraction of a second."""


def solve(
    problem: DualProblem, workspace: KernelWorkspace, tol: float, start: Floats | None = None
) -> Solution:
    """Solve a dual problem; see the contract in workspace.py."""
    source, monitor = workspace.source, workspace.monitor
    n = source.n_rows
    b = problem.start.copy() if start is None else feasible_start(problem, start)
    xp = source.backend.xp
    state = State(
        problem, b, xp.zeros(n), xp.zeros_like(b), xp.zeros(n), source.backend, convex=source.convex
    )
    source = workspace.whole() if n <= POLISHED else source
    some = np.arange(0, n, max(1, n // 64))
    values = source.K if isinstance(source, MatrixSource) else source.block(some, some, np.float64)
    state.scale = float(np.abs(values.diagonal()).max(initial=0.0))
    if b.any() and not (
        start is None and len(b) > WHOLE and begin_at_guess(state, source, monitor)
    ):
        state.make_exact(source, monitor)
    if n <= POLISHED:
        return finish(
            state, _solve_small(state, source.block(None, None, np.float64), tol, monitor)
        )
    reason = None
    for dtype in source.dtypes:
        try:
            whole = len(b) <= WHOLE and np.float32 in source.dtypes
            reason = _refine(state, source, workspace.rows(dtype, whole), tol, monitor)
        except KernelNotFinite:
            if dtype == np.float64:
                raise
            reason = Status.STALLED  # beyond the range of float32
            state.b, state.F = state.b_exact.copy(), state.F_exact.copy()
        if reason is not Status.STALLED:
            break
    return finish(state, reason)


def _solve_small(state: State, K: Matrix, tol: float, monitor: Monitor) -> Status | None:
    """Bursts of pair steps and Newton steps in turn on the whole matrix, until only rounding is
    left to gain.
    """
    problem, lowest, progress = state.problem, np.inf, Progress()
    whole = np.array_equal(problem.row, np.arange(len(K)))
    Q = K if whole else state.backend.gather(K, problem.row, problem.row)
    while True:
        tile = Tile.of(np.arange(len(state.b)), Q, state.variables(state.G), state.backend)
        reason = _pair_steps(state, tile, tol, monitor)
        if reason is None and not state.indefinite:
            goal = GOAL * float(np.abs(tile.G).max(initial=0.0))
            try:
                steps, state.factor = newton(tile, goal, monitor, state.steps, state.factor)
                state.steps += steps
            except NotConvex:
                state.indefinite |= not state.convex
        coefficients = fold(problem, state.b, len(K))
        rows = np.flatnonzero(coefficients)
        state.F = np.zeros(len(K))
        state.backend.update_gradient(K, rows, coefficients[rows], state.F)
        if reason is not None:
            return reason
        if state.violation <= tol and (state.indefinite or state.gap_is_small(tol)):
            return None
        objective = state.objective
        if (
            state.no_minimum()
            or not objective < lowest - 1e-12 * abs(objective)
            or progress.creeps(state)
        ):
            return Status.STALLED
        lowest = objective


def _pair_steps(state: State, tile: Tile, tol: float, monitor: Monitor) -> Status | None:
    """A burst of pair steps, or where the problem is not convex as many as lower the objective.

    Why the work must end, if it must.
    """
    G, b, most = tile.G, tile.b, BURST * len(tile.b)
    last, lowest = state.steps + most, np.inf
    while True:
        reason = monitor.stop(state.steps)
        violation = tile.violation
        if reason is not None or violation <= 0.9 * tol * state.unit(G):
            return reason
        target = 0.9 * tol * state.unit(G)
        target = max(target, 0.1 * violation) if state.problem.in_margin_units else target
        done = tile.pair_steps(target, min(most, monitor.max_iter - state.steps))
        state.steps += done.taken
        state.note(done.negative, done.unbounded or state.beyond(b))
        objective = 0.5 * float(np.sum(b * (G + state.problem.linear)))
        moves = state.indefinite and objective < lowest - 1e-12 * abs(objective)
        if state.unbounded or done.taken == 0 or (state.steps >= last and not moves):
            return None
        lowest = min(lowest, objective)


def _refine(
    state: State, source: Source, cache: RowCache, tol: float, monitor: Monitor
) -> Status | None:
    """Descend and make F exact in turn.

    None when violation and gap are small enough, STALLED when this precision does not suffice.
    """
    strict, left, best = MARK * tol, REFINEMENTS if cache.dtype == np.float32 else 1, np.inf
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
        if state.indefinite or state.gap_is_small(MARK * tol):
            return None
        if reason is Status.STALLED or strict < 1e-9 * tol:
            return Status.STALLED
        if (
            state.violation > strict
        ):  # the rows' rounding stopped the descent: start from an exact F
            left -= 1
            state.make_exact(source, monitor)
        strict *= 0.1
    return Status.STALLED


def _descend(state: State, cache: RowCache, tol: float, monitor: Monitor) -> Status | None:
    """Rounds until the violation is at most tol or at the level of the rows' rounding."""
    problem, draw = state.problem, np.random.default_rng(0)
    rounding = float(np.finfo(cache.dtype).eps) if cache.dtype == np.float32 else 0.0
    best_objective, best_violation, idle = np.inf, np.inf, 0
    ceiling, progress = state.ceiling, Progress()
    while True:
        G = state.G
        violation = solution.violation(state.variables(G), state.backend)
        floor = rounding * state.scale * float(np.sqrt(np.sum((state.b - state.b_exact) ** 2)))
        target = max(tol * state.unit(G), floor)
        if violation <= target:
            return None
        if monitor.wants_report():
            monitor.report(state.steps, state.gap, violation, state.support_vectors)
        reason = monitor.stop(state.steps)
        if reason is not None:
            return reason
        objective = 0.5 * float(np.sum(state.b * (G + problem.linear)))
        if (
            state.convex and not -objective <= ceiling
        ):  # above a primal value: these rows, rounded, are not positive semidefinite
            state.b, state.F = state.b_exact.copy(), state.F_exact.copy()
            return Status.STALLED
        if (
            objective < best_objective - 1e-13 * abs(best_objective)
            or violation < 0.99 * best_violation
        ):
            idle = 0
        idle += 1
        best_objective, best_violation = (
            min(best_objective, objective),
            min(best_violation, violation),
        )
        if idle > PATIENCE or state.no_minimum() or progress.creeps(state):
            return Status.STALLED
        size = _active_size(state, cache)
        active = np.arange(size) if size == len(state.b) else _choose_active(state, G, size, draw)
        close = CLOSE * violation <= target
        if size < len(state.b) or problem.in_margin_units:
            target = 0.9 * target if close else max(target, 0.1 * violation)
        if _solve_active(state, cache, active, G, target, close, monitor) == 0:
            return Status.STALLED


def _active_size(state: State, cache: RowCache) -> int:
    """How many variables the next round takes."""
    size = len(state.b)
    if cache.pointwise or (cache.complete and size <= MOST_ACTIVE):
        return size
    if not cache.complete and np.float32 not in cache.source.dtypes:
        return min(size, ASKED)
    free = int(
        np.count_nonzero(can_grow(state.problem, state.b) & can_shrink(state.problem, state.b))
    )
    return min(size, MOST_ACTIVE, max(ACTIVE, size // PART, ROOM * free // 2))


def _choose_active(state: State, G: Floats, size: int, draw: np.random.Generator) -> Integers:
    """The free variables, violators drawn at random, then those nearest to the margin, at most size
    of them, in order.
    """
    problem, b = state.problem, state.b
    grow, shrink = can_grow(problem, b), can_shrink(problem, b)
    below = (
        -np.array([end.value for end in levels(state.variables(G), state.backend)])[problem.group]
        - G
    )
    up, down = np.where(grow, below, -np.inf), np.where(shrink, -below, -np.inf)
    excess, free = np.maximum(up, down), grow & shrink
    first = np.flatnonzero(free | (excess > 0))
    if len(first) < size:
        excess[first] = -np.inf
        nearest = np.argpartition(excess, len(excess) - (size - len(first)))[
            len(excess) - (size - len(first)) :
        ]
        return np.sort(np.concatenate([first, nearest]))
    rank = draw.random(len(first))
    if np.count_nonzero(free) < CROWDED * size:
        rank += free[first]
    else:
        rank[np.argpartition(-rank * excess[first], size // 2)[: size // 2]] += 1.0
    for kind in (up[first], down[first]):
        for g in range(problem.groups):
            inside = np.flatnonzero((kind > 0) & (problem.group[first] == g))
            if len(inside) > EXTREME:
                inside = inside[np.argpartition(-kind[inside], EXTREME)[:EXTREME]]
            rank[inside] = np.inf
    return np.sort(first[np.argpartition(-rank, size - 1)[:size]])


def _solve_active(
    state: State,
    cache: RowCache,
    active: Integers,
    G: Floats,
    tol: float,
    close: bool,
    monitor: Monitor,
) -> int:
    """Solve the problem of the active variables, close to the end or not, and bring F up to date.

    Return the number of pair steps.
    """
    problem, rows = state.problem, state.problem.row[active]
    pair_steps = cache.pair_steps(rows)
    chosen = state.variables(G).pick(active)
    b, steps, last = chosen.b, 0, monitor.max_iter
    patience = (STIFF if state.factor is None else EASY) * len(active) if state.convex else AT_ONCE
    look = min(AT_ONCE, LOOK * len(active)) if state.convex and close else AT_ONCE
    while True:
        most = min(look, patience - steps, last - state.steps - steps)
        done = pair_steps(chosen, tol, most)
        steps += done.taken
        unbounded = done.unbounded or state.beyond(b)
        state.note(done.negative, unbounded)
        if (
            unbounded
            or done.taken < most
            or done.violation <= tol
            or monitor.stop(state.steps + steps) is not None
        ):
            break
        if state.convex and (close or steps >= patience) and _settled(state.b[active], chosen):
            steps += _newton(state, cache, active, chosen, tol, monitor, state.steps + steps)
            break
        if steps >= patience:
            break
    change = fold(problem, b - state.b[active], cache.source.n_rows, rows)
    moved = np.flatnonzero(change)
    cache.add_rows(moved, change[moved], state.F)
    state.b[active] = b
    state.steps += steps
    return steps


def _newton(
    state: State,
    cache: RowCache,
    active: Integers,
    chosen: Variables,
    tol: float,
    monitor: Monitor,
    steps: int,
) -> int:
    """Newton steps on the active variables that are free, violate optimality or are in the factor.

    Return the number of pair steps between them; b is changed in place.
    """
    known = np.empty(0, np.int64) if state.factor is None else state.factor.members
    at = np.flatnonzero(
        may_move(chosen, state.backend) | np.isin(active, known, assume_unique=True)
    )
    K = cache.tile(state.problem.row[active[at]], np.float64)
    some = chosen.pick(at)
    done = 0
    with suppress(NotConvex):  # by rounding
        done, state.factor = newton(
            Tile.of(active[at], K, some, state.backend), tol, monitor, steps, state.factor
        )
    chosen.b[at] = some.b
    return done


def _settled(before: Floats, chosen: Variables) -> bool:
    """Whether few variables came to or left a bound, compared with those that are free."""
    _, after, lower, upper, *_ = chosen
    changed = ((before > lower) != (after > lower)) | ((before < upper) != (after < upper))
    return bool(
        np.count_nonzero(changed) <= SETTLED * np.count_nonzero((after > lower) & (after < upper))
    )
