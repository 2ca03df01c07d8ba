"""Newton steps on the free variables of one tile: large C with fewer pair steps.

    repeat  the minimum over the face of the free variables (face.py)
            a burst of pair steps: variables that violate optimality leave their bounds
    until   no pair of variables can improve by more than tol

Variables that become free join the factor. A new factor is made only after many changes. Every part
lowers the objective, so no face returns and the work ends. What the shift of a singular Q spoils is
repaired by the next step, whose gradient is exact.
"""

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers, Mask
from maxmargin.core.backend import Backend, Steps, Variables
from maxmargin.core.threads import one_blas_thread
from maxmargin.kernel.bordered import BorderedFactor
from maxmargin.kernel.face import Face, NotConvex, Quadratic, Spoiled, minimise, with_factor
from maxmargin.kernel.solution import violation
from maxmargin.monitor import Monitor


class Settings(NamedTuple):
    """How Newton steps work (decision 8)."""

    burst_growth: int = 4
    """Where a face's minimum is not reached, the next burst is this many times as long."""
    longest_burst: int = 64
    """Pair steps for each variable in a burst, at most."""
    rounding: float = 1e-15
    """The rounding of K b, relative to the size of b and of K's diagonal; with b twice that of the
    objective."""
    idle: int = 3
    """Cycles that may pass without progress."""


SETTINGS = Settings()


class Tile(NamedTuple):
    """The problem of some variables on their own kernel matrix K; G and b are changed in place."""

    numbers: Integers
    """Which variables of the whole problem these are, in order."""
    K: Floats
    variables: Variables
    backend: Backend

    @property
    def free(self) -> Mask:
        """Where a variable is strictly inside its bounds."""
        _, b, lower, upper, *_ = self.variables
        inside: Mask = (b > lower) & (b < upper)
        return inside

    @property
    def quadratic(self) -> Quadratic:
        """Q between the variables of the tile, by their numbers in the whole problem."""
        at, gather = partial(self.backend.xp.searchsorted, self.numbers), self.backend.gather
        return Quadratic(
            lambda a, b, out=None: gather(self.K, at(a), at(b), out),
            lambda a: self.variables.ridge[at(a)],
            self.backend,
        )

    def served_by(self, factor: BorderedFactor | None) -> BorderedFactor | None:
        """The factor if all its members are variables of the tile."""
        if factor is None:
            return None
        inside = self.backend.xp.isin(factor.members, self.numbers, assume_unique=True)
        return factor if bool(inside.all()) else None

    @property
    def violation(self) -> float:
        """The greatest gradient that can shrink minus the least that can grow, over the groups."""
        return violation(self.variables, self.backend)

    def pair_steps(self, tol: float, most: int) -> Steps:
        """Pair steps on this tile."""
        return self.backend.pair_steps(self.K, self.variables, tol, most)

    def move_to(self, at: Integers, b: Floats) -> float:
        """Set some variables and update G; return by how much the objective fell."""
        xp, now = self.backend.xp, self.variables
        change = b - now.b[at]
        before, effect = now.G[at], xp.zeros(len(now.b))
        self.backend.update_gradient(self.K, at, change, effect)
        effect[at] += now.ridge[at] * change
        now.G[:] += effect
        now.b[at] = b
        return -float((change * before).sum() + 0.5 * (change * effect[at]).sum())


def newton(
    tile: Tile,
    tol: float,
    monitor: Monitor,
    steps_before: int = 0,
    factor: BorderedFactor | None = None,
) -> tuple[int, BorderedFactor | None]:
    """Lower the violation of a tile to tol, or as far as float64 can.

    Return the number of pair steps and the last factor. Raises NotConvex if negative curvature is
    met; b and G are valid then.
    """
    xp, growth = tile.backend.xp, SETTINGS.burst_growth
    steps, idle, least, burst = 0, 0, np.inf, 1
    noise = _noise(tile)
    violation = tile.violation
    with one_blas_thread():
        while True:
            size = math.sqrt(float((tile.variables.b**2).sum()))
            small = violation <= max(tol, noise * size)
            if small or idle > SETTINGS.idle or monitor.stop(steps_before + steps) is not None:
                return steps, factor
            gain, whole = 0.0, True
            if xp.count_nonzero(tile.free) > 1:
                walk = partial(minimise_face, tile, monitor, steps_before + steps)
                free, last = tile.numbers[tile.free], tile.served_by(factor)
                try:
                    factor, (gain, whole) = with_factor(tile.quadratic, free, last, walk)
                except Spoiled:
                    whole = False
                if not whole and monitor.stop(steps_before + steps) is not None:
                    return steps, factor
            longer = min(SETTINGS.longest_burst, burst * growth)
            burst = max(1, burst // growth) if whole else longer
            idle = 0 if gain > noise * size**2 or violation < 0.5 * least else idle + 1
            least, violation = min(least, violation), tile.violation
            if violation > tol:
                left = monitor.max_iter - steps_before - steps
                most = min(burst * len(tile.numbers), left)
                done = tile.pair_steps(max(tol, 0.1 * violation), most)
                steps, violation = steps + done.taken, done.violation
                if done.negative:
                    raise NotConvex


def minimise_face(
    tile: Tile, monitor: Monitor, steps: int, factor: BorderedFactor, most: int
) -> tuple[float, bool]:
    """Move the free variables to the minimum of their face, with at most this number of pins.

    Return by how much the objective fell, and whether the minimum was reached. Spoiled where it
    would rise.
    """
    at = tile.backend.xp.searchsorted(tile.numbers, factor.members)
    face = Face.of(tile.variables, at, tile.backend.xp)
    b, whole = minimise(face, factor, most, lambda: monitor.stop(steps) is not None)
    G = tile.variables.G.copy()
    fall = tile.move_to(at, b)
    if fall < -_noise(tile) * float((tile.variables.b**2).sum()):
        tile.variables.G[:], tile.variables.b[at] = G, face.b
        raise Spoiled
    return fall, whole


def _noise(tile: Tile) -> float:
    """The rounding of K b, relative to the size of b."""
    diagonal = tile.backend.xp.diagonal(tile.K)
    return SETTINGS.rounding * float(tile.backend.xp.abs(diagonal).max(initial=0.0))
