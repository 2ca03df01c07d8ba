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
        self._columns: dict[int, Floats] = {}

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
        return self._bordered(self._solve_first(right[: self.base]), right[self.base :])

    def columns(self, at: Integers) -> Floats:
        """Columns of Q^-1; those of the first members are computed once."""
        xp, base = self.backend.xp, self.base
        first = xp.zeros((base, len(at)), order="F")
        last = xp.zeros((len(self.members) - base, len(at)))
        new = [k for k in at.tolist() if k < base and k not in self._columns]
        if new:
            unit = xp.zeros((base, len(new)), order="F")
            unit[xp.asarray(new), xp.arange(len(new))] = 1.0
            self._columns.update(zip(new, self._solve_first(unit).T, strict=True))
        for i, k in enumerate(at.tolist()):
            if k < base:
                first[:, i] = self._columns[k]
            else:
                last[k - base, i] = 1.0
        return self._bordered(first, last)

    def _bordered(self, first: Floats, right: Floats) -> Floats:
        """The whole solution, from that of the first members alone."""
        if len(self.members) == self.base:
            return first
        last = self.backend.cholesky_solve(self._T, right - self._B.T @ first)
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
    """The constraints N' x = s of a factor's members: given sums, and pinned variables.

    Members are numbered in the factor's order here.
    """

    def __init__(self, factor: BorderedFactor, N: Floats, pinned: Integers) -> None:
        xp = self.xp = factor.backend.xp
        self.factor, self.N, self.pinned = factor, N, pinned
        self.V = xp.concatenate([factor.solve(N), factor.columns(pinned)], axis=1)
        self.S = xp.concatenate([N.T @ self.V, self.V[pinned]])

    def solve(self, u: Floats, total: float = 0.0) -> tuple[Floats, Floats] | None:
        """-x = V y - u and y, where the given sums of x are `total`; None if S is singular."""
        right = self.xp.concatenate([self.N.T @ u - total, u[self.pinned]])
        try:
            y = self.xp.linalg.solve(self.S, right)
        except np.linalg.LinAlgError:
            return None
        return self.V @ y - u, y
