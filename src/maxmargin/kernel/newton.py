"""Newton steps on the free variables of one tile: large C with fewer pair steps.

With M the free variables (strictly inside their bounds) and the others fixed, the problem is
quadratic in the step d of M:

    minimise 1/2 d' Q d + g' d    subject to  N' d = 0

    Q = K[M, M] + diag(ridge),  g the gradient

The columns of N are the indicators of the groups, whose sums are fixed, and a unit vector for each
pinned variable. With u = Q^-1 g, V = Q^-1 N and S = N' V the minimiser is d = -u + V S^-1 N' u
(bordered.py). This is an active-set method: the step is followed up to the first bound it meets;
that variable is pinned, its unit vector joins N, which costs one more column of V, and u + t d
takes the place of u. There is no new factor and no new gradient. It ends where a full step fits, at
the minimum of the face. A burst of pair steps then lets variables that violate optimality leave
their bounds; they join the factor. A new factor is made only after many changes.

Every part lowers the objective, so no face returns and the work ends. What the shift of a singular
Q spoils is repaired by the next step, whose gradient is exact.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers, Mask
from maxmargin.core.backend import Backend, Steps, Variables
from maxmargin.core.threads import one_blas_thread
from maxmargin.kernel.bordered import BorderedFactor, Constraints
from maxmargin.kernel.solution import violation
from maxmargin.monitor import Monitor


class Settings(NamedTuple):
    """How Newton steps work (decision 8)."""

    changes: int = 256
    """Variables that may join a factor or be pinned, together, before a new one is made."""
    columns_ahead: int = 24
    """Columns of V computed together: those of the next variables to meet a bound, it seems."""
    burst_growth: int = 4
    """Where a face's minimum is not reached, the next burst is this many times as long."""
    longest_burst: int = 64
    """Pair steps for each variable in a burst, at most."""
    rounding: float = 1e-15
    """The rounding of K b, relative to the size of b and of K's diagonal; with b twice that of the
    objective."""
    idle: int = 3
    """Cycles that may pass without progress."""
    shifts: tuple[float, ...] = (1e-13, 1e-12, 1e-11)
    """Shifts of the diagonal, relative to its greatest entry, tried in turn (decision 5)."""


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


class NotConvex(ArithmeticError):
    """Negative curvature was met."""


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
    noise = SETTINGS.rounding * float(xp.abs(xp.diagonal(tile.K)).max(initial=0.0))
    violation = tile.violation
    with one_blas_thread():
        while True:
            size = math.sqrt(float((tile.variables.b**2).sum()))
            small = violation <= max(tol, noise * size)
            if small or idle > SETTINGS.idle or monitor.stop(steps_before + steps) is not None:
                return steps, factor
            gain, whole = 0.0, True
            if xp.count_nonzero(tile.free) > 1:
                factor = _factor_for(tile, factor)
                gain, whole = _minimise_face(tile, factor, monitor, steps_before + steps)
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


def factorize(tile: Tile, at: Integers) -> BorderedFactor:
    """A new factor of some variables of a tile; NotConvex where there is none."""
    backend, xp = tile.backend, tile.backend.xp
    diagonal = xp.diagonal(tile.K)[at] + tile.variables.ridge[at]
    scale = float(xp.abs(diagonal).max(initial=0.0)) or 1.0
    for shift in SETTINGS.shifts:
        Q = backend.gather(tile.K, at, at)
        xp.fill_diagonal(Q, diagonal + shift * scale)
        L = backend.cholesky(Q)
        if L is not None:
            return BorderedFactor(tile.numbers[at], L, shift * scale, backend)
    raise NotConvex


def join(factor: BorderedFactor, tile: Tile, new: Integers) -> bool:
    """Let variables of a tile join a factor; False where rounding forbids it."""
    xp = tile.backend.xp
    first = xp.searchsorted(tile.numbers, factor.members[: factor.base])
    joined = xp.concatenate([xp.searchsorted(tile.numbers, factor.members[factor.base :]), new])
    gather = tile.backend.gather
    right, corner = gather(tile.K, first, new), gather(tile.K, joined, joined)
    return factor.join(tile.numbers[new], right, corner, tile.variables.ridge[joined])


def _factor_for(tile: Tile, factor: BorderedFactor | None) -> BorderedFactor:
    """A factor with the free variables among its members: the given one, if few changed."""
    xp = tile.backend.xp
    free = xp.flatnonzero(tile.free)
    if factor is not None and xp.isin(factor.members, tile.numbers, assume_unique=True).all():
        new = xp.flatnonzero(tile.free & ~xp.isin(tile.numbers, factor.members, assume_unique=True))
        most = min(SETTINGS.changes, len(free) // 4)
        if factor.changes(len(free) - len(new), len(new)) <= most and (
            not len(new) or join(factor, tile, new)
        ):
            return factor
    return factorize(tile, free)


def _minimise_face(
    tile: Tile, factor: BorderedFactor, monitor: Monitor, steps: int
) -> tuple[float, bool]:
    """The active-set method, from bound to bound to the minimum of the face.

    Return by how much the objective fell, and whether the minimum was reached: it is not if the
    monitor says stop, or after many changes of the active set.
    """
    xp, now = tile.backend.xp, tile.variables
    at = xp.searchsorted(tile.numbers, factor.members)
    b, lower, upper = now.b[at], now.lower[at], now.upper[at]
    N = _groups(at, now.begin, now.fixed, xp)
    pinned = xp.flatnonzero((b <= lower) | (b >= upper))
    constraints = Constraints(factor, N, pinned, room=2 * SETTINGS.changes)
    # N y takes up each group's mean and the gradient of what is pinned: without them g is small,
    # and so is the rounding where Q is singular
    u, whole = factor.solve(_without_sums(now.G[at], N, pinned, xp)), False
    while not whole and len(constraints.pinned) <= SETTINGS.changes and monitor.stop(steps) is None:
        d = _direction(constraints, u)
        if d is None:
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = xp.where(d != 0, xp.where(d > 0, upper - b, b - lower) / xp.abs(d), np.inf)
        t = min(1.0, float(reach.min()))
        whole = t == 1.0
        b, u = xp.clip(b + t * d, lower, upper), u + t * d
        if not whole:
            hit = xp.flatnonzero(reach <= t)
            b[hit] = xp.where(d[hit] > 0, upper[hit], lower[hit])
            constraints.pin(hit, xp.argsort(reach, kind="stable")[: SETTINGS.columns_ahead])
    return tile.move_to(at, b), whole


def _direction(constraints: Constraints, u: Floats) -> Floats | None:
    """The step to the minimiser; None where rounding leaves none."""
    found = constraints.solve(u)
    if found is None:
        return None
    xp = constraints.xp
    d = _without_sums(found[0], constraints.N, constraints.pinned, xp)
    return d if bool(xp.isfinite(d).all()) else None


def _groups(at: Integers, begin: Integers, fixed: Mask, xp: Any) -> Any:
    """The indicators of the groups that have members and a fixed sum, one column each."""
    if len(fixed) == 1:
        return xp.ones((len(at), int(fixed[0])))
    number = xp.searchsorted(xp.asarray(begin), at, side="right")
    N = (number[:, None] == xp.arange(1, len(begin))).astype(np.float64)
    return N[:, N.any(axis=0) & xp.asarray(fixed)]


def _without_sums(d: Floats, N: Floats, pinned: Integers, xp: Any) -> Floats:
    """d with 0 for what is pinned and without each group's mean."""
    free = N
    if len(pinned):
        free, d[pinned] = N.copy(), 0.0
        free[pinned] = 0.0
    count = free.sum(axis=0)
    rest: Floats = d - free @ (d @ free / xp.maximum(count, 1.0))
    return rest
