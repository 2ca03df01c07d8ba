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
    """Variables, at least, of large problems: a float32 tile of 9 MB (decision 7)."""
    middle: int = 2048
    """Where those are too few: 16 MB. There are few sizes, because part of a tile stays while the
    size does (decision 40)."""
    most: int = 3072
    """Variables, at most: 36 MB (decision 40)."""
    few: int = 3
    """Of problems too small for these sizes, one variable in this many (decision 40)."""
    one_in: int = 24
    """Of large ones one in this many at least, up to the greatest size (decision 12)."""
    for_each_free: float = 1.5
    """Variables for each free one, up to the greatest size (decision 7)."""
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
    single = cache.dtype == np.float32  # decision 21
    few = cache.complete and size <= SETTINGS.most
    if few or (single and cache.is_whole(state.problem.row)):
        return size
    if not cache.complete and np.float32 not in cache.source.dtypes:
        return min(size, SETTINGS.asked)
    wanted = max(size // SETTINGS.one_in, int(SETTINGS.for_each_free * free))
    sizes = min(SETTINGS.least, size // SETTINGS.few), SETTINGS.least, SETTINGS.middle
    return min(size, next((enough for enough in sizes if wanted <= enough), SETTINGS.most))


def choose(
    state: State, seen: Survey, size: int, draw: np.random.Generator, last: Integers
) -> Integers:
    """The working set: free variables, violators drawn at random, then those nearest to the margin.

    There are at most `size` of them. Those of the last set keep their places.
    """
    xp, problem, (_, b, lower, upper, *_) = state.xp, state.problem, seen.variables
    level = xp.asarray([one.value for one in levels_at(seen.extremes, seen.variables.fixed)])
    first, below, rest = state.backend.candidates(seen.variables, level, size)
    if len(first) <= size:
        return _in_places(state, xp.concatenate([first, rest]), last)
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
    return _in_places(state, first[xp.argpartition(-rank, size - 1)[:size]], last)


def _in_places(state: State, chosen: Integers, last: Integers) -> Integers:
    """The same variables, group by group: in the places of the last set, or in order."""
    xp, group = state.xp, state.problem.group
    if len(last) == len(chosen):
        there = xp.zeros(len(state.b), bool)
        there[chosen] = True
        vacant = xp.flatnonzero(~there[last])
        there[last] = False
        new = xp.flatnonzero(there)
        if bool((group[last[vacant]] == group[new]).all()):
            placed: Integers = last.copy()
            placed[vacant] = new
            return placed
    ordered: Integers = xp.sort(chosen)
    return ordered


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
    if not state.distinct:
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
    at = at[xp.argsort(chosen[at])]
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
