"""Linear systems of a set S of variables and their level, with one Cholesky factor for many sets
that differ little.

Newton steps on the primal solve, for one set S after the other,

    [Q_SS  1] [x    ]   [right]
    [1'    0] [level] = [total]        Q = K + diag(ridge)

With the factor of an earlier set M, A = S - M the variables that joined and D = M - S those that
left, the same system is

    [Q_MM  U] [x_M              ]   [right_M            ]         U = [Q_MA  E_D  1]     E_D: the unit vectors of D, which hold x_D = 0
    [U'    T] [x_A, force, level] = [right_A, 0, total  ]         T = Q_AA for A, 0 elsewhere but for the 1's of A and the level

so W = Q_MM^-1 U and one small system with T - U'W do: |A| + |D| + 1 solves with the old factor
instead of a new one. Columns of W are kept, because a variable that joined or left mostly stays so.

**The factor** Q = R'R is made panel by panel, each from the panels above it: kernel values are
computed where they are needed, the memory is one matrix, Ctrl-C is seen between panels, and the
columns of a panel are dealt to threads in parts of fixed size, each for one BLAS thread, so that
bits do not depend on the number of threads.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat

import numpy as np
from scipy.linalg import lapack

from maxmargin.core.arrays import Floats, Integers
from maxmargin.core.threads import thread_count
from maxmargin.status import Status

PANEL, PART = 256, 512
"""Rows of a panel, and columns that one thread updates at once."""
MOST_CHANGED = 1 / 12
"""Share of a factor's members that may join or leave before a new factor is cheaper."""

Values = Callable[[Integers, Integers], Floats]
"""(a, b) -> Q[a, b] without the ridge."""


class NotPositive(ArithmeticError):
    """The matrix has a pivot that is not positive."""


class Stopped(Exception):
    """The monitor said stop: with the reason."""

    def __init__(self, reason: Status) -> None:
        self.reason = reason


def upper_factor(
    values: Values, members: Integers, ridge: Floats, pause: Callable[[], None]
) -> Floats:
    """R with R'R = K[members, members] + diag(ridge), in the upper triangle of an array whose lower
    triangle is not set.
    """
    n = len(members)
    R = np.empty((n, n))
    with ThreadPoolExecutor(max(1, thread_count(float(n) ** 3))) as pool:
        for begin in range(0, n, PANEL):
            pause()
            end = min(n, begin + PANEL)
            R[begin:end, begin:] = values(members[begin:end], members[begin:])
            corner = R[begin:end, begin:end]
            corner[np.diag_indices(end - begin)] += ridge[begin:end]
            above = R[:begin, begin:end].T
            corner -= above @ R[:begin, begin:end]
            C, failed = lapack.dpotrf(corner.T, lower=1, clean=1)
            if failed:
                raise NotPositive
            corner[...] = C.T
            inverse = lapack.dtrtri(C, lower=1)[0]
            parts = [slice(i, min(n, i + PART)) for i in range(end, n, PART)]
            list(
                pool.map(
                    _update,
                    repeat(R),
                    repeat(slice(begin, end)),
                    parts,
                    repeat(above),
                    repeat(inverse),
                )
            )
    return R


def _update(R: Floats, rows: slice, columns: slice, above: Floats, inverse: Floats) -> None:
    """Finish a part of a panel right of its corner."""
    part = R[rows, columns]
    part -= above @ R[: rows.start, columns]
    R[rows, columns] = inverse @ part


class Bordered:
    """Solves the system above for sets near the one whose factor it holds."""

    def __init__(
        self,
        values: Values,
        members: Integers,
        ridge: Floats,
        pause: Callable[[], None],
        shift: float = 0.0,
    ) -> None:
        self.values, self.members, self.ridge, self.shift, self.pause = (
            values,
            members,
            ridge,
            shift,
            pause,
        )
        self.R = upper_factor(values, members, ridge[members] + shift, pause)
        self.known: dict[int, int] = {
            -1: 0
        }  # by variable, the columns of U and W; -1 is the level's
        self.U = np.ones((len(members), 1))
        self.W = self._solve(self.U)

    def _solve(self, right: Floats) -> Floats:
        """Q_MM^-1 right; a few columns at a time, so that Ctrl-C is seen."""
        found = np.empty(right.shape)
        for k in range(0, right.shape[1], PANEL):
            self.pause()
            found[:, k : k + PANEL] = lapack.dpotrs(self.R.T, right[:, k : k + PANEL], lower=1)[0]
        return found

    def serves(self, S: Integers) -> bool:
        """Whether S is near enough to the factor's members."""
        changed = len(np.setxor1d(S, self.members, assume_unique=True))
        return changed <= MOST_CHANGED * len(self.members)

    def _learn(self, new: Integers, joined: bool) -> None:
        """Make the columns of variables that are not known yet."""
        new = np.array([i for i in new if int(i) not in self.known], np.int64)
        if not len(new):
            return
        if joined:
            U = self.values(new, self.members).T
        else:
            U = np.zeros((len(self.members), len(new)))
            U[np.searchsorted(self.members, new), np.arange(len(new))] = 1.0
        self.known.update(
            zip(new.tolist(), range(self.U.shape[1], self.U.shape[1] + len(new)), strict=True)
        )
        self.U, self.W = (
            np.concatenate([self.U, U], axis=1),
            np.concatenate([self.W, self._solve(U)], axis=1),
        )

    def solve(self, S: Integers, right: Floats, total: float) -> tuple[Floats, float]:
        """x and level for the set S, in order, of which right is given."""
        joined, left = (
            np.setdiff1d(a, b, assume_unique=True)
            for a, b in ((S, self.members), (self.members, S))
        )
        self._learn(joined, True)
        self._learn(left, False)
        here, stays = (
            np.isin(S, self.members, assume_unique=True),
            np.isin(self.members, S, assume_unique=True),
        )
        columns = [self.known[i] for i in (*joined.tolist(), *left.tolist(), -1)]
        U, W, j = self.U[:, columns], self.W[:, columns], len(joined)
        T = np.zeros((len(columns), len(columns)))
        T[:j, :j] = self.values(joined, joined)
        T[np.arange(j), np.arange(j)] += self.ridge[joined] + self.shift
        T[:j, -1] = T[-1, :j] = 1.0
        first = np.zeros((len(self.members), 1))
        first[stays, 0] = right[here]
        first = self._solve(first)[:, 0]
        rest = np.concatenate([right[~here], np.zeros(len(left)), [total]])
        y = np.linalg.solve(T - U.T @ W, rest - U.T @ first)
        x = np.empty(len(S))
        x[here], x[~here] = (first - W @ y)[stays], y[:j]
        return x, float(y[-1])
