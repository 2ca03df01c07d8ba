"""The minimum over many free variables and some others: the free ones are eliminated.

Most free variables of a warm start stay free: they are the core M. The members P are all other
variables that may move. Let d be their change from b. The core answers with the change c that is
the minimum of

    1/2 c' Q_MM c + (g_M + Q_MP d)' c    subject to  N' c = E d

The columns of N are the indicators of the groups whose sums are fixed (E d takes back what the
members add), and the unit vectors of variables of the core that met a bound: these have become
members, and E d is their own change. With the factor L L' = Q_MM, multipliers y and

    z = L^-1 g_M    Y' = L^-1 Q_MP    X' = L^-1 N    R R' = X X'    T = R^-1 (E + X Y')

the answer of the core, and the problem that is left for the members, are

    c = -L'^-1 (z + Y' d + X' y)        y = -R'^-1 (R^-1 X z + T d)

    minimise  1/2 d' H d + h' d    subject to  lower <= b + d <= upper

    H = Q_PP - Y Y' + T' T              h = g_P - Y z + T' R^-1 X z

No sum is fixed in it where the core has a variable of the group. It is small, and its variables
hardly depend on each other: a few pair steps solve it. Variables of the core that are beyond their
bounds then become members, and it is solved again. L stays as long as they are few, and the work is
in products of matrices. (The Schur complement in an active-set method: Nocedal and Wright,
Numerical Optimization, 16.5; Gill, Murray, Saunders and Wright 1990.)
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers, Mask
from maxmargin.core.backend import Variables
from maxmargin.kernel.face import Quadratic, Spoiled, cholesky
from maxmargin.kernel.newton import Tile, newton
from maxmargin.kernel.sources import Scratch
from maxmargin.monitor import Monitor


class Settings(NamedTuple):
    """How problems are reduced (decision 26)."""

    returned: int = 64
    """Variables of the core that may become members before there is a new factor without them."""
    share: int = 8
    """The same as a share of the core, one of this number, where that is more."""
    dependent: float = 1e-14
    """Share of its entry of X X' below which a pivot of R is rounding."""
    burst: int = 3
    """Pair steps for each member before Newton steps."""
    room: int = 512
    """Members that there is memory for, in addition to the number of the core; more take more."""


SETTINGS = Settings()


class Reduced:
    """A problem without its core: H, and what gives the answer of the core.

    Its matrices lie in scratch memory, where the next one takes their place.
    """

    def __init__(
        self, Q: Quadratic, core: Integers, group: Integers, fixed: Mask, scratch: Scratch
    ) -> None:
        xp = self.xp = Q.backend.xp
        self.Q, self.core, self.group, self.fixed, self.scratch = Q, core, group, fixed, scratch
        self.backend, m = Q.backend, len(core)
        self.L, self.shift = cholesky(Q, core, scratch.matrix("L", (m, m), np.float64))
        present = xp.unique(group[core])
        self.sums = present[xp.asarray(fixed)[present]]
        self.X = self._solved((group[core] == self.sums[:, None]).astype(np.float64))
        self.R = self._factor(self.X @ self.X.T)
        self.members = self.at = xp.empty(0, np.int64)
        """The members, and where in the core those are that come from it; -1: the others."""
        room = m + SETTINGS.room
        self._memory = scratch.matrix("Y", (room, m), np.float64)
        self.Y, self.T = self._memory[:0], xp.empty((len(self.sums), 0))
        self.H, self._uses = xp.empty((0, 0)), ("H", "H before")
        for use in self._uses:
            scratch.matrix(use, (room, room), np.float64)

    def _solved(self, right: Floats) -> Floats:
        """The transpose of L^-1 right', row by row."""
        return self.backend.triangular_solve(self.L, right.T).T

    def _factor(self, A: Floats) -> Floats:
        """The Cholesky factor of a small matrix."""
        found = self.backend.cholesky(A)
        if found is None:
            raise Spoiled
        lower: Floats = self.xp.tril(found)
        return lower

    def join(self, new: Integers) -> None:
        """Let variables from outside become members."""
        xp, before = self.xp, len(self.members)
        self._add_to_Y(self._solved(self.Q.values(new, self.core)))
        E = xp.zeros((len(self.R), len(new)))
        E[: len(self.sums)] -= self.group[new] == self.sums[:, None]
        times, new_rows = self.backend.product, self.Y[before:].T
        T = self.backend.triangular_solve(self.R, E + times(self.X, new_rows))
        self.T = xp.concatenate([self.T, T], axis=1)
        border = times(self.T.T, T) - times(self.Y, new_rows)
        between, corner = border[:before], border[before:]
        shared = self.Q.values(self.members, new)
        shared[self.at >= 0] = 0.0  # what they share with the new is in Q_MP
        between += shared
        corner += self.Q.values(new, new)
        xp.fill_diagonal(corner, xp.diagonal(corner) + self.Q.ridge(new) + self.shift)
        H = self._other(before + len(new))
        self.backend.join_blocks(self.H, between, corner, H)
        self.H = H
        self.members = xp.concatenate([self.members, new])
        self.at = xp.concatenate([self.at, xp.full(len(new), -1)])

    def give_back(self, at: Integers) -> None:
        """Let variables of the core become members."""
        xp, solve, k = self.xp, self.backend.triangular_solve, len(at)
        times = self.backend.product
        unit = xp.zeros((k, len(self.core)))
        unit[xp.arange(k), at] = 1.0
        X = self._solved(unit)
        side = solve(self.R, times(self.X, X.T))
        corner = self._factor(times(X, X.T) - times(side.T, side))
        if (xp.diagonal(corner) ** 2 <= SETTINGS.dependent * (X * X).sum(axis=1)).any():
            raise Spoiled
        T = xp.concatenate([self.T, xp.zeros((len(self.T), k))], axis=1)
        E = xp.concatenate([times(X, self.Y.T), xp.eye(k)], axis=1)
        more = solve(corner, E - times(side.T, T))
        R = xp.zeros((len(self.R) + k,) * 2)
        R[:-k, :-k], R[-k:, :-k], R[-k:, -k:] = self.R, side.T, corner
        self.X, self.R, self.T = xp.concatenate([self.X, X]), R, xp.concatenate([T, more])
        self._add_to_Y(xp.zeros((k, len(self.core))))
        before = len(self.H)
        H = self._other(before + k)
        xp.matmul(more.T, more, out=H)
        H[:before, :before] += self.H
        self.H = H
        self.members = xp.concatenate([self.members, self.core[at]])
        self.at = xp.concatenate([self.at, at])

    def _add_to_Y(self, rows: Floats) -> None:
        """Add rows to Y."""
        before, size = len(self.Y), len(self.Y) + len(rows)
        if size > len(self._memory):
            self._memory = self.xp.empty((2 * size, len(self.core)))
            self._memory[:before] = self.Y
        self._memory[before:size] = rows
        self.Y = self._memory[:size]

    def _other(self, size: int) -> Floats:
        """Memory for the next H, beside that of the last."""
        self._uses = self._uses[::-1]
        return self.scratch.matrix(self._uses[0], (size, size), np.float64)

    def can_spare(self, out: Integers) -> bool:
        """Whether variables of the core may become members as long as L stays.

        They must be few, and leave one of each group whose sum is fixed.
        """
        gone = self.xp.concatenate([self.at[self.at >= 0], out])
        left = self.xp.unique(self.group[self.xp.delete(self.core, gone)])
        few = len(gone) <= max(SETTINGS.returned, len(self.core) // SETTINGS.share)
        return few and bool(self.xp.isin(self.sums, left).all())

    def without(self, out: Integers) -> "Reduced":
        """The same with a new factor: what is a member, and what is out, is not in the core."""
        gone = self.xp.concatenate([self.at[self.at >= 0], out])
        members = self.xp.concatenate([self.members, self.core[out]])
        core = self.xp.delete(self.core, gone)
        found = Reduced(self.Q, core, self.group, self.fixed, self.scratch)
        found.join(members)
        return found

    def expect(
        self, variables: Variables, now: Floats, tol: float, monitor: Monitor, steps: int
    ) -> int:
        """Move `now` to the minimum with the bounds of the members alone; return pair steps.

        The members begin at `now`; the gradient is that of the variables.
        """
        xp, (G, b), solve = self.xp, variables[:2], self.backend.triangular_solve
        z = solve(self.L, G[self.core])
        x = solve(self.R, self.X @ z)
        h = xp.where(self.at < 0, G[self.members], 0.0) - self.Y @ z + x @ self.T
        taken = self._to_minimum(variables, now, h, tol, monitor, steps)
        to = now[self.members]
        d = to - b[self.members]
        y = solve(self.R, x + self.T @ d, transposed=True)
        answer = solve(self.L, z + d @ self.Y - y @ self.X, transposed=True)
        now[self.core] = b[self.core] - answer
        now[self.members] = to  # some are in the core
        self._restore_sums(b, now)
        return taken

    def _restore_sums(self, b: Floats, now: Floats) -> None:
        """Give back what rounding took from the sums: much of it where Q is nearly singular."""
        xp = self.xp
        moved = xp.concatenate([self.core, self.members[self.at < 0]])
        stay = xp.delete(self.core, self.at[self.at >= 0])
        for g in self.sums:
            own, all_own = stay[self.group[stay] == g], moved[self.group[moved] == g]
            now[own] -= float((now[all_own] - b[all_own]).sum()) / max(1, len(own))

    def _to_minimum(
        self, variables: Variables, now: Floats, h: Floats, tol: float, monitor: Monitor, steps: int
    ) -> int:
        """Move the members to their minimum; return the number of pair steps."""
        xp, (_, b, lower, upper, *_) = self.xp, variables
        if not len(self.members):
            return 0
        order = xp.argsort(self.group[self.members], kind="stable")
        members, h = self.members[order], h[order]
        H = self.H if len(self.fixed) == 1 else self.backend.gather(self.H, order, order)
        fixed = self.fixed.copy()
        fixed[self.backend.to_host(self.sums)] = False
        begin = xp.searchsorted(self.group[members], xp.arange(len(fixed) + 1))
        own = Variables(
            h + H @ (now[members] - b[members]),
            now[members],
            lower[members],
            upper[members],
            xp.zeros(len(members)),
            self.backend.to_host(begin),
            fixed,
        )
        most = min(SETTINGS.burst * len(members), monitor.max_iter - steps)
        done = self.backend.pair_steps(H, own, tol, most)
        if done.unbounded:
            raise Spoiled
        tile, steps = Tile(xp.arange(len(members)), H, own, self.backend), steps + done.taken
        more, _ = newton(tile, tol, monitor, steps)
        now[members] = own.b
        return done.taken + more


class Minimum(NamedTuple):
    """Where the variables of a reduced problem are at its minimum."""

    reduced: Reduced
    moved: Integers
    """The variables of the core and the members."""
    b: Floats
    """Their values."""
    steps: int


def minimise(
    reduced: Reduced, variables: Variables, tol: float, monitor: Monitor, steps: int
) -> Minimum | None:
    """The minimum over the core and the members, with a violation of tol at most.

    None if the monitor stops it; Spoiled or NotConvex where rounding leaves no digits.
    """
    xp, (_, b, lower, upper, *_), taken = reduced.xp, variables, 0
    now = b.copy()
    while monitor.stop(steps + taken) is None:
        taken += reduced.expect(variables, now, tol, monitor, steps + taken)
        core = reduced.core
        inside = (now[core] >= lower[core]) & (now[core] <= upper[core])  # not so: not a number
        if inside.all():
            moved = xp.concatenate([core, reduced.members[reduced.at < 0]])
            return Minimum(reduced, moved, now[moved], taken)
        if not xp.isfinite(now[core]).all():
            raise Spoiled
        now[core] = xp.clip(now[core], lower[core], upper[core])
        out = xp.flatnonzero(~inside)
        if reduced.can_spare(out):
            reduced.give_back(out)
        else:
            sums, reduced = len(reduced.sums), reduced.without(out)
            if len(reduced.sums) < sums:  # the core no longer takes back what members add
                now = b.copy()
    return None
