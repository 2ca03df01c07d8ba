"""From the solution of a nearby problem to that of this one: Newton steps before pair steps.

Along C the solution before, scaled, has nearly the right free variables, but none of them is on the
margin: scaling moved every decision value. Pair steps would spend hundreds of steps for each
variable to undo that. The minimum over the free variables, with the others fixed, undoes it at once
(face.py), and the factor of the solution before still serves.

    repeat  the minimum over the face of the free variables
            a few pair steps: variables that violate optimality leave their bounds
    until   no pair of variables can improve by more than tol

F is updated with float32 rows, and made exact where the violation is near their rounding.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.threads import one_blas_thread
from maxmargin.kernel import working_set
from maxmargin.kernel.bordered import BorderedFactor
from maxmargin.kernel.cache import RowCache
from maxmargin.kernel.face import Face, NotConvex, Quadratic, Spoiled, minimise, with_factor
from maxmargin.kernel.sources import Source
from maxmargin.kernel.state import State
from maxmargin.monitor import Monitor


class Settings(NamedTuple):
    """How the cycles work (decision 26)."""

    cycle: float = 7.5
    """What the cycles cost, in pair steps for each variable of the solution before."""
    system: float = 1e-5
    """What the factors and their columns cost, in pair steps of the solution before for each cube
    of the number of free variables."""
    burst: int = 1
    """Pair steps for each variable in a cycle."""
    fall: float = 0.1
    """Pair steps of a cycle end when the violation is this share of what it was."""
    doubt: float = 8.0
    """F is made exact where the violation is below this many times its rounding."""
    cycles: int = 24
    """Cycles, at most."""
    idle: int = 2
    """Cycles that may pass without progress."""


SETTINGS = Settings()


def pays(state: State, steps: int) -> bool:
    """Whether Newton steps cost less than pair steps where the solution before took this many."""
    problem, count = state.problem, state.xp.count_nonzero
    free = int(count((state.b > problem.lower) & (state.b < problem.upper)))
    return steps > SETTINGS.cycle * len(state.b) + SETTINGS.system * free**3


def advance(state: State, source: Source, cache: RowCache, tol: float, monitor: Monitor) -> None:
    """Lower the violation to tol, or as far as the cycles can."""
    lowest, idle = np.inf, 0
    with one_blas_thread():
        for _ in range(SETTINGS.cycles):
            doubtful = state.violation <= max(tol, SETTINGS.doubt * state.rounding(cache.dtype))
            if doubtful and (not state.make_exact(source, monitor) or state.violation <= tol):
                return
            objective = state.objective
            falls = objective < lowest - 1e-12 * abs(objective)
            lowest, idle = min(lowest, objective), 0 if falls else idle + 1
            if idle > SETTINGS.idle or monitor.stop(state.steps) is not None:
                return
            try:
                _to_minimum_of_face(state, source, cache, monitor)
            except (NotConvex, Spoiled):  # by rounding
                state.factor = None
                return
            _burst(state, cache, tol, monitor)


def _to_minimum_of_face(state: State, source: Source, cache: RowCache, monitor: Monitor) -> None:
    """Move the free variables to their minimum, as far as their bounds allow."""
    problem, xp = state.problem, state.xp
    free = xp.flatnonzero((state.b > problem.lower) & (state.b < problem.upper))
    if len(free) < 2:
        return
    Q = Quadratic(
        lambda a, b: source.block(problem.row[a], problem.row[b], np.float64),
        lambda a: problem.ridge[a],
        state.backend,
    )

    def minimum(factor: BorderedFactor, most: int) -> None:
        members, before, F = factor.members, state.objective, state.F.copy()
        face = Face.of(state.variables(state.G), members, xp)
        b, _ = minimise(face, factor, most, lambda: monitor.stop(state.steps) is not None)
        working_set.move(state, cache, members, b)
        noise = state.rounding(cache.dtype) * float(xp.abs(state.b).sum())
        if state.objective > before + noise:
            state.b[members], state.F = face.b, F
            raise Spoiled

    state.factor, _ = with_factor(Q, free, state.factor, minimum)


def _burst(state: State, cache: RowCache, tol: float, monitor: Monitor) -> None:
    """A few pair steps on all variables, or on a working set."""
    G, xp = state.G, state.xp
    size = working_set.size_for(state, cache)
    whole = size == len(state.b)
    draw = np.random.default_rng(0)
    chosen = xp.arange(size) if whole else working_set.choose(state, G, size, draw)
    variables = state.variables(G).pick(chosen, state.backend)
    target = max(0.9 * tol, SETTINGS.fall * state.violation_at(G)) * state.unit(G)
    most = min(SETTINGS.burst * len(chosen), monitor.max_iter - state.steps)
    done = cache.pair_steps(state.problem.row[chosen])(variables, target, most)
    state.steps += done.taken
    state.note(done.negative, done.unbounded)
    working_set.move(state, cache, chosen, variables.b)
