"""From the solution of a nearby problem to that of this one, by minima over many variables.

Along C the solution before, scaled, has nearly the right free variables, but none of them is on the
margin: scaling moved every decision value. Pair steps would spend hundreds of steps for each
variable to undo that. The minimum over the free variables and those that violate optimality undoes
it at once (reduced.py):

    the core: free variables that the problem before expects to stay free
    repeat  the minimum over the core and the members
            the worst violators of optimality become members
    until   no pair of variables can improve by more than tol

F is updated with float32 rows, and made exact where the violation is near their rounding.

The same cycles finish a fit of large C once its free variables hardly change (decision 42). F moves
in float64 then. Where members come to outnumber the core, what is free becomes the core.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers
from maxmargin.core.threads import one_blas_thread
from maxmargin.kernel import working_set
from maxmargin.kernel.cache import RowCache
from maxmargin.kernel.face import NotConvex, Quadratic, Spoiled
from maxmargin.kernel.reduced import Reduced, minimise
from maxmargin.kernel.solution import can_grow, can_shrink, levels
from maxmargin.kernel.sources import Source
from maxmargin.kernel.state import State
from maxmargin.monitor import Monitor


class Settings(NamedTuple):
    """How the cycles work (decision 26)."""

    cycle: float = 7.5
    """What the cycles cost, in pair steps for each variable of the solution before."""
    system: float = 5e-6
    """What the factors and their columns cost, in pair steps of the solution before for each cube
    of the number of free variables."""
    crowded: float = 1.0
    """Members for each variable of the core that are too many: what is free then becomes the core
    (decision 42)."""
    new: int = 192
    """Violators that become members in a cycle, at most."""
    new_share: int = 4
    """The same as a share of the core, one of this number, where that is more (decision 42)."""
    small: float = 0.25
    """Share of the tolerance below which a violator need not become a member."""
    inner: float = 0.5
    """Share of the tolerance to which the problem of the members is solved, at least."""
    fall: float = 0.02
    """The same as a share of the violation."""
    doubt: float = 8.0
    """F is made exact where the violation is below this many times its rounding."""
    cycles: int = 24
    """Cycles, at most."""
    idle: int = 2
    """Cycles that may pass without progress."""
    noise: float = 1e-12
    """The rounding of an objective in float64, as a share of it (decision 42)."""


SETTINGS = Settings()


def pays(state: State, steps: int) -> bool:
    """Whether the cycles cost less than pair steps where the solution before took this many."""
    return steps > SETTINGS.cycle * len(state.b) + SETTINGS.system * len(_free(state)) ** 3


def _free(state: State) -> Integers:
    """The free variables."""
    grow, shrink = can_grow(state.problem, state.b), can_shrink(state.problem, state.b)
    found: Integers = state.xp.flatnonzero(grow & shrink)
    return found


def advance(
    state: State,
    source: Source,
    cache: RowCache,
    tol: float,
    monitor: Monitor,
    last: Reduced | None,
    exact: bool = False,
) -> Reduced | None:
    """Lower the violation to tol, or as far as the cycles can.

    `last` is that of the solution before; the result is the last one of this solution, in the same
    memory. With `exact`, F moves in float64, and that of an earlier call goes on.
    """
    reduced, lowest, idle = state.reduced, np.inf, 0
    with one_blas_thread():
        for _ in range(SETTINGS.cycles):
            doubtful = state.violation <= max(tol, SETTINGS.doubt * state.rounding(cache.dtype))
            if doubtful and (not state.make_exact(source, monitor) or state.violation <= tol):
                return reduced or last
            objective = state.objective
            falls = objective < lowest - 1e-12 * abs(objective)
            lowest, idle = min(lowest, objective), 0 if falls else idle + 1
            if idle > SETTINGS.idle or monitor.stop(state.steps) is not None:
                return reduced
            try:
                if reduced is None:
                    reduced = _begin(state, source, last, monitor)
                else:
                    if len(reduced.members) > SETTINGS.crowded * len(reduced.core):
                        reduced = _begin(state, source, None, monitor)
                    reduced.join(_violators(state, reduced, tol))
                reduced = _to_minimum(state, reduced, cache, tol, monitor, exact)
            except (NotConvex, Spoiled):  # by rounding
                return None
            if reduced is None:
                return None
    return reduced


def finish(state: State, cache: RowCache, tol: float, monitor: Monitor) -> bool:
    """Lower the violation of a fit whose free variables hardly change any more.

    Return whether that got anywhere.
    """
    before = state.objective
    state.reduced = advance(state, cache.source, cache, tol, monitor, None, True)
    falls = state.objective < before - SETTINGS.noise * abs(before)
    return state.reduced is not None and (falls or state.violation <= tol)


def _begin(state: State, source: Source, last: Reduced | None, monitor: Monitor) -> Reduced:
    """The free variables: those expected to stay free as the core, the others as members.

    What was at its bound before is not expected to stay.
    """
    problem, xp, free = state.problem, state.xp, _free(state)

    def values(a: Integers, b: Integers, out: Floats | None = None) -> Floats:
        if out is None:
            return source.block(problem.row[a], problem.row[b], np.float64)
        source.fill_block(problem.row[a], problem.row[b], out)
        return out

    Q = Quadratic(values, lambda a: problem.ridge[a], state.backend)
    if last is None:
        return Reduced(Q, free, problem.group, problem.fixed, state.scratch)
    G, now = state.G, state.b.copy()
    goal = SETTINGS.fall * state.violation_at(G) * state.unit(G)
    state.steps += last.expect(state.variables(G), now, goal, monitor, state.steps)
    stays = (now > problem.lower)[free] & (now < problem.upper)[free]
    stays &= xp.isin(free, xp.concatenate([last.core, last.members]))
    reduced = Reduced(Q, free[stays], problem.group, problem.fixed, state.scratch)
    reduced.join(free[~stays])
    return reduced


def _violators(state: State, reduced: Reduced, tol: float) -> Integers:
    """The worst violators of optimality that are neither in the core nor members."""
    xp, problem, G = state.xp, state.problem, state.G
    level = xp.asarray([one.value for one in levels(state.variables(G), state.backend)])
    below = -level[problem.group] - G
    excess = xp.maximum(
        xp.where(can_grow(problem, state.b), below, -np.inf),
        xp.where(can_shrink(problem, state.b), -below, -np.inf),
    )
    excess[reduced.core] = excess[reduced.members] = -np.inf
    found = xp.flatnonzero(excess > SETTINGS.small * tol * state.unit(G))
    most = max(SETTINGS.new, len(reduced.core) // SETTINGS.new_share)
    if len(found) > most:
        found = found[xp.argpartition(-excess[found], most)[:most]]
    worst: Integers = xp.sort(found)
    return worst


def _to_minimum(
    state: State, reduced: Reduced, cache: RowCache, tol: float, monitor: Monitor, exact: bool
) -> Reduced | None:
    """Move the core and the members to their minimum; None if the monitor stopped it.

    Spoiled where the objective would rise.
    """
    G, before, F = state.G, state.objective, state.F.copy()
    goal = max(SETTINGS.inner * tol, SETTINGS.fall * state.violation_at(G)) * state.unit(G)
    found = minimise(reduced, state.variables(G), goal, monitor, state.steps)
    if found is None:
        return None
    b = state.b[found.moved]
    if not exact:
        working_set.move(state, cache, found.moved, found.b)
    elif not state.move_exactly(found.moved, found.b, cache.source, monitor):
        return None
    state.steps += found.steps
    noise = state.rounding(cache.dtype) * float(state.xp.abs(state.b).sum())
    noise = max(noise, SETTINGS.noise * abs(before))
    if state.objective > before + noise:
        state.b[found.moved], state.F = b, F
        raise Spoiled
    return found.reduced
