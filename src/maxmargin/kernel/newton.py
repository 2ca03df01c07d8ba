"""Newton steps on the free variables of one tile: large C with fewer pair steps.

With M the free variables (strictly inside their bounds) and the others held, the problem is
quadratic in the move d of M:

    minimise 1/2 d' Q d + g' d    subject to  N' d = 0        Q = K[M, M] + diag(ridge),  g the gradient

The columns of N are the groups' indicators, whose sums are fixed, and a unit vector for each
variable that must not move any more. With u = Q^-1 g, V = Q^-1 N and S = N' V the minimiser is d =
-u + V S^-1 N' u. It is followed up to the first bound it meets; that variable's unit vector joins
N, which costs one more column of V, and u + t d takes the place of u: no new factor, no new
gradient. So the walk goes on until a whole step fits, at the minimum of the face. A burst of pair
steps then lets variables that violate optimality leave their bounds. They border the factor:

    [Q   B ]^-1   needs  W = Q^-1 B  and the Cholesky factor of  T = D - B' W
    [B'  D ]

and a new factor is made only after many changes. Every part lowers the objective, so no face
returns and the work ends. Q may be singular (duplicate points, more points than features): a shift
of its diagonal at the level of rounding makes the factor exist, and what it spoils is repaired by
the next step, whose gradient is exact.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.arrays import Floats, Integers
from maxmargin.core.backend import Backend, Steps, Variables
from maxmargin.core.threads import one_blas_thread
from maxmargin.kernel.solution import violation
from maxmargin.monitor import Monitor

CHANGES = 256
"""Variables that may join or leave a factor, together, before a new one is made."""
AHEAD = 24
"""Columns of V made together: those of the next variables to meet a bound, as it seems."""
LONGER, LONGEST = 4, 64
"""Where a walk does not reach its end, the next burst of pair steps is LONGER times as long, up to
LONGEST steps for each variable."""
NOISE = 1e-15
"""The rounding of K b, relative to the size of b and of K's diagonal; twice with b for the
objective."""
IDLE = 3
"""Cycles that may pass without progress."""


class Tile(NamedTuple):
    """The problem of some variables on their own kernel matrix K; G and b are changed in place."""

    numbers: Integers
    """Which variables of the whole problem these are, in order."""
    K: NDArray[np.float64]
    G: Floats
    b: Floats
    lower: Floats
    upper: Floats
    ridge: Floats
    begin: Integers
    fixed: NDArray[np.bool_]
    backend: Backend

    @classmethod
    def of(
        cls, numbers: Integers, K: NDArray[np.float64], variables: Variables, backend: Backend
    ) -> "Tile":
        """The tile of some variables, which share their memory with it."""
        return cls(numbers, K, *variables, backend)

    @property
    def variables(self) -> Variables:
        """The variables without their kernel."""
        return Variables(*self[2:9])

    @property
    def free(self) -> NDArray[np.bool_]:
        """Where a variable is strictly inside its bounds."""
        inside: NDArray[np.bool_] = (self.b > self.lower) & (self.b < self.upper)
        return inside

    @property
    def violation(self) -> float:
        """The greatest gradient that can shrink minus the least that can grow, over the groups."""
        return violation(self.variables, self.backend)

    def pair_steps(self, tol: float, most: int) -> Steps:
        """Pair steps on this tile."""
        return self.backend.pair_steps(self.K, self.variables, tol, most)

    def move_to(self, at: Integers, b: Floats) -> float:
        """Set some variables and bring G up to date; return by how much the objective fell."""
        change = b - self.b[at]
        before, effect = self.G[at], np.zeros(len(self.b))
        self.backend.update_gradient(self.K, at, change, effect)
        effect[at] += self.ridge[at] * change
        self.G[:] += effect
        self.b[at] = b
        return -float(np.sum(change * before) + 0.5 * np.sum(change * effect[at]))


class NotConvex(ArithmeticError):
    """Negative curvature was met."""


class Factor:
    """Solves with Q on the members: a Cholesky factor on the first of them, bordered by those who
    joined later.

    Members are variables of the whole problem: a factor serves every tile that holds them.
    """

    def __init__(self, tile: Tile, at: Integers) -> None:
        self.members, self.base, self.backend = tile.numbers[at], len(at), tile.backend
        diagonal = np.diagonal(tile.K)[at] + tile.ridge[at]
        scale = float(np.abs(diagonal).max(initial=0.0)) or 1.0
        for shift in (1e-13, 1e-12, 1e-11):
            Q = self.backend.gather(tile.K, at, at)
            np.fill_diagonal(Q, diagonal + shift * scale)
            L, self.shift = self.backend.cholesky(Q), shift * scale
            if L is not None:
                self.L = L
                break
        else:
            raise NotConvex
        self.B, self.W = np.empty((self.base, 0)), np.empty((self.base, 0))
        self.T: Floats  # once a variable joins

    def add(self, tile: Tile, new: Integers) -> bool:
        """Let variables join; False where rounding forbids it."""
        self.members = np.concatenate([self.members, tile.numbers[new]])
        at = np.searchsorted(tile.numbers, self.members)
        base, joined = at[: self.base], at[self.base :]
        right = tile.K[np.ix_(base, new)]
        self.B = np.concatenate([self.B, right], axis=1)
        self.W = np.concatenate([self.W, self.backend.cholesky_solve(self.L, right)], axis=1)
        T = tile.K[np.ix_(joined, joined)] - self.B.T @ self.W
        np.fill_diagonal(T, np.diagonal(T) + tile.ridge[joined] + self.shift)
        factor = self.backend.cholesky(T.T)
        if factor is None:
            return False
        self.T = factor
        return True

    def solve(self, right: Floats) -> Floats:
        """Q^-1 right, a column or several."""
        first = self.backend.cholesky_solve(self.L, right[: self.base])
        if len(self.members) == self.base:
            return first
        tail = right[self.base :] - self.B.T @ first
        last = self.backend.cholesky_solve(self.T, tail)
        return np.concatenate([first - self.W @ last, last])


def newton(
    tile: Tile, tol: float, monitor: Monitor, steps_before: int = 0, factor: Factor | None = None
) -> tuple[int, Factor | None]:
    """Lower the violation of a tile to tol, or as far as float64 can; return the number of pair
    steps, and the last factor.

    Raises NotConvex where negative curvature is met; b and G are valid then.
    """
    steps, idle, least, burst = 0, 0, np.inf, 1
    noise = NOISE * float(np.abs(np.diagonal(tile.K)).max(initial=0.0))
    with one_blas_thread():
        while True:
            violation, size = tile.violation, float(np.sqrt(np.sum(tile.b**2)))
            if (
                violation <= max(tol, noise * size)
                or idle > IDLE
                or monitor.stop(steps_before + steps) is not None
            ):
                return steps, factor
            gain, whole = 0.0, True
            if np.count_nonzero(tile.free) > 1:
                factor = _factor_for(tile, factor)
                gain, whole = _walk(tile, factor, monitor, steps_before + steps)
                if not whole and monitor.stop(steps_before + steps) is not None:
                    return steps, factor
            burst = max(1, burst // LONGER) if whole else min(LONGEST, burst * LONGER)
            idle = 0 if gain > noise * size**2 or violation < 0.5 * least else idle + 1
            least, violation = min(least, violation), tile.violation
            if violation > tol:
                left = monitor.max_iter - steps_before - steps
                done = tile.pair_steps(
                    max(tol, 0.1 * violation), min(burst * len(tile.numbers), left)
                )
                steps += done.taken
                if done.negative:
                    raise NotConvex


def _factor_for(tile: Tile, factor: Factor | None) -> Factor:
    """A factor with the free variables among its members: the given one, if few changed."""
    free = np.flatnonzero(tile.free)
    if factor is not None and np.isin(factor.members, tile.numbers, assume_unique=True).all():
        new = np.flatnonzero(tile.free & ~np.isin(tile.numbers, factor.members, assume_unique=True))
        joined, left = (
            len(factor.members) - factor.base + len(new),
            len(factor.members) + len(new) - len(free),
        )
        if joined + left <= min(CHANGES, len(free) // 4) and (
            not len(new) or factor.add(tile, new)
        ):
            return factor
    return Factor(tile, free)


def _walk(tile: Tile, factor: Factor, monitor: Monitor, steps: int) -> tuple[float, bool]:
    """From bound to bound to the minimum of the face, unless the monitor says stop.

    Return by how much the objective fell, and whether the minimum was reached.
    """
    at = np.searchsorted(tile.numbers, factor.members)
    b, lower, upper = tile.b[at], tile.lower[at], tile.upper[at]
    N = _groups(at, tile.begin, tile.fixed)
    held = np.flatnonzero((b <= lower) | (b >= upper))
    rest = _Rest(factor, N, held)
    # N y takes up each group's mean and what is held: without them g is small, and so is the
    # rounding where Q is singular
    u, whole = factor.solve(_without_sums(tile.G[at], N, held)), False
    while not whole and len(rest.held) <= CHANGES and monitor.stop(steps) is None:
        d = rest.direction(u)
        if d is None:
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(d != 0, np.where(d > 0, upper - b, b - lower) / np.abs(d), np.inf)
        t = min(1.0, float(reach.min()))
        whole = t == 1.0
        b, u = np.clip(b + t * d, lower, upper), u + t * d
        if not whole:
            hit = np.flatnonzero(reach <= t)
            b[hit] = np.where(d[hit] > 0, upper[hit], lower[hit])
            rest.hold(hit, np.argsort(reach, kind="stable")[:AHEAD])
    return tile.move_to(at, b), whole


def _groups(at: Integers, begin: Integers, fixed: NDArray[np.bool_]) -> Floats:
    """The indicators of the groups that have members and a fixed sum, one column each."""
    if len(fixed) == 1:
        return np.ones((len(at), int(fixed[0])))
    N: Floats = (
        np.searchsorted(begin, at, side="right")[:, None] == np.arange(1, len(begin))
    ).astype(np.float64)
    return N[:, N.any(axis=0) & fixed]


def _without_sums(d: Floats, N: Floats, held: Integers) -> Floats:
    """d with 0 for what is held and without each group's mean."""
    moving = N
    if len(held):
        moving, d[held] = N.copy(), 0.0
        moving[held] = 0.0
    count = moving.sum(axis=0)
    rest: Floats = d - moving @ (d @ moving / np.maximum(count, 1.0))
    return rest


class _Rest:
    """The constraints N' d = 0 of a walk: sums that are fixed, variables that are held.

    V = Q^-1 N and S = N' V grow with them.
    """

    def __init__(self, factor: Factor, N: Floats, held: Integers) -> None:
        self.factor, self.N, self.held = factor, N, np.empty(0, np.int64)
        self.made: dict[
            int, Floats
        ] = {}  # columns of Q^-1 by member, also of those that may be held next
        self.count, most = N.shape[1], N.shape[1] + min(len(N), len(held) + 2 * CHANGES)
        self.V, self.S = np.empty((len(N), most), order="F"), np.empty((most, most))
        if self.count:
            self.V[:, : self.count] = factor.solve(N)
        self.S[: self.count, : self.count] = N.T @ self.V[:, : self.count]
        self.hold(held, held)

    def hold(self, members: Integers, likely: Integers) -> None:
        """Hold members.

        Where columns must be made, those of the likely next ones are made with them.
        """
        if not all(int(k) in self.made for k in members):
            new = [int(k) for k in np.union1d(members, likely) if int(k) not in self.made]
            unit = np.zeros((len(self.N), len(new)), order="F")
            unit[new, np.arange(len(new))] = 1.0
            self.made.update(zip(new, self.factor.solve(unit).T, strict=True))
        for k in members[: self.V.shape[1] - self.count]:
            c, column = self.count, self.made[int(k)]
            self.held = np.append(self.held, k)
            self.V[:, c] = column
            self.S[: c + 1, c] = np.concatenate([self.N.T @ column, column[self.held]])
            self.S[c, :c] = self.V[k, :c]
            self.count += 1

    def direction(self, u: Floats) -> Floats | None:
        """The minimiser -u + V S^-1 N' u; None where rounding leaves none."""
        c = self.count
        right = np.concatenate([self.N.T @ u, u[self.held]])
        try:
            y = np.linalg.solve(self.S[:c, :c], right)
        except np.linalg.LinAlgError:
            return None
        d = _without_sums(self.V[:, :c] @ y - u, self.N, self.held)
        return d if np.isfinite(d).all() else None
