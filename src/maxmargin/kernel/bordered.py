"""Linear systems with one Cholesky factor for many sets of variables that differ little.

Newton steps solve, for one set of variables after the other,

    Q x + N y = g        N' x = s        Q = K + diag(ridge)

The members of a factor are the variables of an earlier set. Variables that join later border it:

    [Q   B ]^-1   needs  W = Q^-1 B  and the Cholesky factor of  T = D - B' W
    [B'  D ]

Variables that leave it stay members and are pinned: the columns of N are indicators of sums that
are given, and a unit vector for each pinned variable. With V = Q^-1 N and S = N' V

    -x = V y - u        u = Q^-1 g,   y = S^-1 (N' u - s)

So a set that differs in k variables costs k solves instead of a new factor.

Q may be singular (duplicate points, more points than features): a shift of its diagonal at the
level of rounding makes the factor exist.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers
from maxmargin.core.backend import Backend


class Settings(NamedTuple):
    """How systems are solved."""

    columns: int = 512
    """Right-hand sides that are solved together; Ctrl-C is seen between them (decision 14)."""


SETTINGS = Settings()


def never_pause() -> None:
    """Nothing may stop the work."""


class BorderedFactor:
    """Solves with Q on the members: a Cholesky factor of the first, bordered by those that joined.

    Members are numbers of variables of the whole problem, so a factor serves any of its parts.
    """

    def __init__(
        self,
        members: Integers,
        L: Floats,
        shift: float,
        backend: Backend,
        pause: Callable[[], None] = never_pause,
    ) -> None:
        self.members, self.base, self.shift = members, len(members), shift
        self.backend, self._L, self._pause = backend, L, pause
        self._B = self._W = backend.xp.empty((self.base, 0))
        self._T: Floats  # once a variable joins

    def changes(self, kept: int, new: int) -> int:
        """How many joined and are pinned if `kept` members and `new` variables are solved for."""
        return 2 * len(self.members) - self.base - kept + new

    def join(self, new: Integers, right: Floats, corner: Floats, ridge: Floats) -> bool:
        """Let variables join; False where rounding forbids it.

        `right` is K between the first members and these, `corner` and `ridge` are those of all that
        joined.
        """
        xp = self.backend.xp
        self.members = xp.concatenate([self.members, new])
        self._B = xp.concatenate([self._B, right], axis=1)
        self._W = xp.concatenate([self._W, self._solve_first(right)], axis=1)
        T = corner - self._B.T @ self._W
        xp.fill_diagonal(T, xp.diagonal(T) + ridge + self.shift)
        factor = self.backend.cholesky(T.T)
        if factor is None:
            return False
        self._T = factor
        return True

    def solve(self, right: Floats) -> Floats:
        """Q^-1 right, a column or several."""
        first = self._solve_first(right[: self.base])
        if len(self.members) == self.base:
            return first
        last = self.backend.cholesky_solve(self._T, right[self.base :] - self._B.T @ first)
        whole: Floats = self.backend.xp.concatenate([first - self._W @ last, last])
        return whole

    def _solve_first(self, right: Floats) -> Floats:
        """The same for the first members."""
        if right.ndim == 1 or right.shape[1] <= SETTINGS.columns:
            self._pause()
            return self.backend.cholesky_solve(self._L, right)
        found: Floats = self.backend.xp.empty(right.shape)
        for k in range(0, right.shape[1], SETTINGS.columns):
            part = slice(k, k + SETTINGS.columns)
            found[:, part] = self._solve_first(right[:, part])
        return found


class Constraints:
    """The constraints N' x = s of a factor's members: given sums, pinned variables.

    V = Q^-1 N and S = N' V grow with them. Members are numbered in the factor's order here.
    """

    def __init__(self, factor: BorderedFactor, N: Floats, pinned: Integers, room: int = 0) -> None:
        xp = self.xp = factor.backend.xp
        self.factor, self.N, self.pinned = factor, N, xp.empty(0, np.int64)
        self.made: dict[int, Floats] = {}
        """Columns of Q^-1 by member, also of those that may be pinned next."""
        self.count, most = N.shape[1], N.shape[1] + min(len(N), len(pinned) + room)
        self.V, self.S = xp.empty((len(N), most), order="F"), xp.empty((most, most))
        if self.count:
            self.V[:, : self.count] = factor.solve(N)
        self.S[: self.count, : self.count] = N.T @ self.V[:, : self.count]
        self.pin(pinned, pinned)

    def pin(self, members: Integers, likely: Integers) -> None:
        """Pin members.

        Where columns must be computed, those of the likely next ones are computed with them.
        """
        xp = self.xp
        if not all(k in self.made for k in members.tolist()):
            new = [k for k in xp.union1d(members, likely).tolist() if k not in self.made]
            unit = xp.zeros((len(self.N), len(new)), order="F")
            unit[xp.asarray(new), xp.arange(len(new))] = 1.0
            self.made.update(zip(new, self.factor.solve(unit).T, strict=True))
        for k in members[: self.V.shape[1] - self.count].tolist():
            c, column = self.count, self.made[k]
            self.pinned = xp.append(self.pinned, k)
            self.V[:, c] = column
            self.S[: c + 1, c] = xp.concatenate([self.N.T @ column, column[self.pinned]])
            self.S[c, :c] = self.V[k, :c]
            self.count += 1

    def solve(self, u: Floats, total: float = 0.0) -> tuple[Floats, Floats] | None:
        """-x = V y - u and y, where the given sums of x are `total`; None if S is singular."""
        xp, c = self.xp, self.count
        right = xp.concatenate([self.N.T @ u - total, u[self.pinned]])
        try:
            y = xp.linalg.solve(self.S[:c, :c], right)
        except np.linalg.LinAlgError:
            return None
        return self.V[:, :c] @ y - u, y
