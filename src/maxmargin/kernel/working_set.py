"""The working set of a round: which variables, and the solution of their problem.

It holds the free variables, violators of optimality drawn at random, and the variables nearest to
the margin (decision 7). Their problem is solved by pair steps. Where these would take too long, the
rest is left to minima over all free variables (continuation.py), or, where these are too many, to
Newton steps on those of the working set (newton.py).
"""

from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers
from maxmargin.core.backend import Survey, Variables
from maxmargin.kernel.cache import RowCache
from maxmargin.kernel.face import NotConvex
from maxmargin.kernel.newton import Tile, newton
from maxmargin.kernel.solution import levels_at, may_move
from maxmargin.kernel.state import State
from maxmargin.monitor import Monitor


class Settings(NamedTuple):
    """How working sets are chosen and solved."""

    least: int = 1536
    """Variables, at least: a float32 tile of 9 MB (decision 7)."""
    most: int = 3072
    """Variables, at most: a float32 tile of 36 MB (decision 40)."""
    one_in: int = 24
    """Between these limits, one variable of the working set for this many of the problem (decision
    12)."""
    for_each_free: float = 1.5
    """Between these limits, variables of the working set for each free one (decision 7)."""
    asked: int = 512
    """Variables where kernel values are a user's function: few values are asked for (decision
    7)."""
    crowded: float = 0.9
    """Where free variables alone would take more than this share of the working set, half of it is
    for those that violate optimality most (decision 12)."""
    extreme: int = 32
    """The worst violators of each kind, which are in the set whatever the draw (decision 12)."""
    look: int = 10
    """Pair steps for each variable, close to the end, before Newton steps may begin (decision
    13)."""
    stiff: int = 20
    """Pair steps for each variable after which Newton steps take over, for all rounds (decisions 8
    and 42)."""
    easy: int = 1
    """Pair steps for each variable before Newton steps, once these took over (decision 8)."""
    settled: float = 0.2
    """Newton steps wait until a round changes the status of no more than this share of the free
    variables (decisions 8 and 42)."""
    steps_at_once: int = 100_000
    """Pair steps between two questions to the monitor: a fraction of a second."""


SETTINGS = Settings()


def size_for(state: State, cache: RowCache, free: int) -> int:
    """How many variables the next round takes; `free` are free now."""
    size = len(state.b)
    few = cache.complete and size <= SETTINGS.most
    single = cache.dtype == np.float32  # decision 21
    if few or (single and cache.is_whole(state.problem.row)):
        return size
    if not cache.complete and np.float32 not in cache.source.dtypes:
        return min(size, SETTINGS.asked)
    wanted = max(SETTINGS.least, size // SETTINGS.one_in, int(SETTINGS.for_each_free * free))
    return min(size, SETTINGS.most, wanted)


def choose(state: State, seen: Survey, size: int, draw: np.random.Generator) -> Integers:
    """The working set: free variables, violators drawn at random, then those nearest to the margin.

    There are at most `size` of them, in order.
    """
    xp, problem, (_, b, lower, upper, *_) = state.xp, state.problem, seen.variables
    level = xp.asarray([one.value for one in levels_at(seen.extremes, seen.variables.fixed)])
    first, below, rest = state.backend.candidates(seen.variables, level, size)
    if len(first) <= size:
        chosen: Integers = xp.sort(xp.concatenate([first, rest]))
        return chosen
    grow, shrink = b[first] < upper[first], b[first] > lower[first]
    up, down = xp.where(grow, below, -np.inf), xp.where(shrink, -below, -np.inf)
    rank = xp.asarray(draw.random(len(first)))
    if seen.free < SETTINGS.crowded * size:
        rank += grow & shrink
    else:
        most = -rank * xp.maximum(up, down)
        rank[xp.argpartition(most, size // 2)[: size // 2]] += 1.0
    for kind in (up, down):
        for g in range(problem.groups):
            inside = xp.flatnonzero((kind > 0) & (problem.group[first] == g))
            rank[_greatest(kind, inside, xp)] = np.inf
    chosen = xp.sort(first[xp.argpartition(-rank, size - 1)[:size]])
    return chosen


def _greatest(values: Floats, at: Integers, xp: Any) -> Integers:
    """Where the extreme ones of some values are."""
    most = SETTINGS.extreme
    return at if len(at) <= most else at[xp.argpartition(-values[at], most)[:most]]


def solve(
    state: State,
    cache: RowCache,
    chosen: Integers,
    G: Floats,
    tol: float,
    close: bool,
    monitor: Monitor,
) -> int:
    """Solve the problem of the chosen variables, update F and return the number of pair steps.

    `close` says that the fit is near its end.
    """
    tile, convex = cache.tile(state.problem.row[chosen]), state.convex
    variables = state.variables(G).pick(chosen, state.backend)
    b, steps, at_once = variables.b, 0, SETTINGS.steps_at_once
    often = SETTINGS.easy if state.moves_far else SETTINGS.stiff
    patience = often * len(chosen) if convex else at_once
    look = min(at_once, SETTINGS.look * len(chosen)) if convex and close else at_once
    while True:
        most = min(look, patience - steps, monitor.max_iter - state.steps - steps)
        done = state.backend.pair_steps(tile, variables, tol, most)
        steps += done.taken
        unbounded = done.unbounded or state.beyond(b)
        state.note(done.negative, unbounded)
        solved = done.taken < most or done.violation <= tol
        if unbounded or solved or monitor.stop(state.steps + steps) is not None:
            break
        if convex and (close or steps >= patience) and _settled(state.b[chosen], variables, state):
            if state.eliminates:
                state.settled = True
            else:
                steps += _newton(state, cache, chosen, variables, tol, monitor, state.steps + steps)
            break
        if steps >= patience:
            break
    if not state.moves_far or not state.move_exactly(chosen, b, cache.source, monitor):
        move(state, cache, chosen, b)
    state.steps += steps
    return steps


def move(state: State, cache: RowCache, chosen: Integers, b: Floats) -> None:
    """Set some variables, and update F."""
    xp, rows, change = state.xp, state.problem.row[chosen], b - state.b[chosen]
    if not bool((rows[1:] > rows[:-1]).all()):  # some rows may be those of two variables
        rows, which = xp.unique(rows, return_inverse=True)
        change = xp.bincount(which, weights=change)
    moved = xp.flatnonzero(change)
    cache.add_rows(rows[moved], change[moved], state.F)
    state.b[chosen] = b


def _newton(
    state: State,
    cache: RowCache,
    chosen: Integers,
    variables: Variables,
    tol: float,
    monitor: Monitor,
    steps: int,
) -> int:
    """Newton steps on the variables that are free, violate optimality or are in the factor.

    Return the number of pair steps between them; b is changed in place.
    """
    xp, free = state.xp, may_move(variables, state.backend)
    if state.factor is not None:
        free |= xp.isin(chosen, state.factor.members, assume_unique=True)
    at = xp.flatnonzero(free)
    K = cache.tile(state.problem.row[chosen[at]], np.float64)
    some, done = variables.pick(at, state.backend), 0
    tile = Tile(chosen[at], K, some, state.backend)
    with suppress(NotConvex):  # by rounding
        done, state.factor = newton(tile, tol, monitor, steps, state.factor)
    variables.b[at] = some.b
    return done


def _settled(before: Floats, variables: Variables, state: State) -> bool:
    """Whether few variables reached or left a bound, compared with those that are free."""
    _, after, lower, upper, *_ = variables
    changed = ((before > lower) != (after > lower)) | ((before < upper) != (after < upper))
    free, count = (after > lower) & (after < upper), state.xp.count_nonzero
    return bool(count(changed) <= SETTINGS.settled * count(free))
