"""What a machine must offer to Newton's method: factors of symmetric matrices, and walks along the
faces of a box.

The conventions are those of backend.py.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers, Mask


class Walk(NamedTuple):
    """A walk along the faces of a box to the minimum of a quadratic; kernel/face.py explains it.

    b, u, d, pinned, and the rows of Z, R and `constraint` that are not in use yet change.
    """

    b: Floats
    u: Floats
    """Q^-1 times the gradient."""
    d: Floats
    """The step to the minimum, where the walk ended."""
    lower: Floats
    upper: Floats
    pinned: Mask
    group: Integers
    """The group of each variable; -1 where the sum is not fixed."""
    groups: int
    Z: Floats
    """R^-1 V', a row for each constraint; V are the columns of Q^-1 N."""
    R: Floats
    """The Cholesky factor of N' Q^-1 N, by rows; as many as there may be constraints."""
    constraint: Integers
    """What each constraint, a column of N, is: a pinned variable, or -1 - g for the sum of a
    group."""


class Ended(IntEnum):
    """Why a walk ended."""

    REACHED = 0
    """At the minimum."""
    MISSING = 1
    """Before a bound of a variable whose column is missing."""
    FULL = 2
    """Z has no room for another constraint."""
    NOT_FINITE = 3
    """Rounding left no step."""


class FactorBackend(ABC):
    """The functions of Newton's method."""

    xp: Any
    """The array namespace."""

    @abstractmethod
    def cholesky(self, Q: Floats) -> Floats | None:
        """The lower factor L of a symmetric matrix Q = L L', or None if Q is not definite.

        Only the upper triangle of Q is read, and all of Q may be overwritten. Only the lower
        triangle of L is meaningful; it may have any layout.
        """

    def cholesky_of_values(
        self, values: Callable[[slice, slice], Floats], ridge: Floats, pause: Callable[[], None]
    ) -> Floats | None:
        """The same for a large matrix, of which values(rows, columns) computes a part.

        The ridge is not in the values: it is added to the diagonal. A backend may compute the
        matrix part by part and call `pause` between them, which may raise.
        """
        pause()
        everything = slice(0, len(ridge))
        Q = values(everything, everything)
        self.xp.fill_diagonal(Q, self.xp.diagonal(Q) + ridge)
        return self.cholesky(Q)

    @abstractmethod
    def cholesky_solve(self, factor: Floats, right: Floats) -> Floats:
        """Q^-1 right for one column or several, from the lower triangle of the factor."""

    def triangular_solve(self, factor: Floats, right: Floats, transposed: bool = False) -> Floats:
        """L^-1 right, or L'^-1 right, for one column or several, from the lower triangle L."""
        L = self.xp.tril(factor)
        found: Floats = self.xp.linalg.solve(L.T if transposed else L, right)
        return found

    def product(self, A: Floats, B: Floats) -> Floats:
        """A B, of two matrices."""
        found: Floats = A @ B
        return found

    def face_steps(
        self, walk: Walk, count: int, columns: Floats, at: Integers, dependent: float
    ) -> tuple[int, Ended]:
        """Go to the minimum, from bound to bound, and pin each variable that meets one.

        The first `count` constraints exist already; the result is how many there are in the end.
        Row at[k] of `columns` is the column of Q^-1 of variable k, -1 where it is missing. A
        variable is fixed by the other constraints, and is none itself, where its pivot is at most
        `dependent` times its entry of Q^-1.
        """
        xp, (b, u, d, lower, upper, pinned, group, groups, Z, R, constraint) = self.xp, walk
        while True:
            values = [
                float(u[k] if k >= 0 else u[group == -1 - k].sum())
                for k in constraint[:count].tolist()
            ]
            x = xp.linalg.solve(xp.tril(R[:count, :count]), xp.asarray(values))
            d[:] = x @ Z[:count] - u
            for g in range(groups):
                own = group == g
                free = own & ~pinned
                d -= xp.where(own, d[free].sum() / max(1, int(xp.count_nonzero(free))), 0.0)
            d[pinned] = 0.0
            if not bool(xp.isfinite(d).all()):
                return count, Ended.NOT_FINITE
            with np.errstate(divide="ignore", invalid="ignore"):
                reach = xp.where(d != 0, xp.where(d > 0, upper - b, b - lower) / xp.abs(d), np.inf)
            t = min(1.0, float(reach.min(initial=np.inf)))
            hit = xp.flatnonzero((reach <= t) & (t < 1))
            if bool((at[hit] < 0).any()):
                return count, Ended.MISSING
            moved = xp.clip(b + t * d, lower, upper)
            moved[hit] = xp.where(d[hit] > 0, upper[hit], lower[hit])
            u += moved - b
            b[:], pinned[hit] = moved, True
            if t == 1.0:
                return count, Ended.REACHED
            if count + len(hit) > len(Z):
                return count, Ended.FULL
            for k in hit.tolist():
                column = columns[int(at[k])]
                R[count, :count] = Z[:count, k]
                w = column - Z[:count, k] @ Z[:count]
                pivot = float(w[k])
                if pivot > dependent * float(column[k]):
                    Z[count], R[count, count], constraint[count] = w / pivot**0.5, pivot**0.5, k
                    count += 1
