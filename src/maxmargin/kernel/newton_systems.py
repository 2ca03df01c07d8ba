"""The linear systems of Newton's method on the primal.

For one support set S after the other they are

    [Q_SS  1] [x    ]   [right]
    [1'    0] [level] = [total]        Q = K + diag(ridge)

Consecutive sets differ little, so one Cholesky factor serves several of them (bordered.py).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from maxmargin.core.arrays import Floats, Integers
from maxmargin.kernel.bordered import BorderedFactor, Constraints
from maxmargin.kernel.cache import RowCache
from maxmargin.kernel.problems import DualProblem


class Settings(NamedTuple):
    """When a factor is made (decision 14)."""

    most_changed: float = 1 / 12
    """Share of a factor's members that may join or leave before a new factor is cheaper."""
    shifts: tuple[float, ...] = (0.0, 1e-14, 1e-13, 1e-12, 1e-11)
    """Shifts of the diagonal, relative to its greatest entry, tried in turn where rounding makes a
    positive matrix look indefinite."""


SETTINGS = Settings()


class NewtonSystems:
    """Solves the system of any support set; `pause` may raise to stop the work."""

    def __init__(
        self,
        problem: DualProblem,
        cache: RowCache,
        diagonal: float,
        memory: float,
        pause: Callable[[], None],
    ) -> None:
        self.problem, self.cache, self.diagonal = problem, cache, diagonal
        self.xp: Any = cache.source.backend.xp
        self.memory, self.pause = memory, pause
        self.factor: BorderedFactor | None = None
        self._last: tuple[Integers, Integers, Constraints] | None = None

    def solve(self, S: Integers, right: Floats, total: float) -> tuple[Floats, float] | None:
        """x and level; None if rounding leaves no digits.

        The last factor is used again if few variables changed.
        """
        if self._last is None or not self.xp.array_equal(self._last[0], S):
            self._last = None  # its memory is needed
            self._last = S, *self._constrained(S)
        _, at, constraints = self._last
        g = self.xp.zeros(len(constraints.N))
        g[at] = right
        found = constraints.solve(constraints.factor.solve(g), total)
        if found is None or not all(bool(self.xp.isfinite(part).all()) for part in found):
            return None
        return -found[0][at], float(found[1][0])

    def _constrained(self, S: Integers) -> tuple[Integers, Constraints]:
        """The places of S among the factor's members, and the constraints.

        The sum of x is given, and members that are not in S are pinned.
        """
        if self.factor is None or not self._serves(self.factor, S):
            self.factor = None  # its memory is needed
            self.factor = self._new_factor(S)
        members = self.factor.members
        order = self.xp.argsort(members)
        at: Integers = order[self.xp.searchsorted(members, S, sorter=order)]
        outside = self.xp.setdiff1d(self.xp.arange(len(members)), at, assume_unique=True)
        return at, Constraints(self.factor, self.xp.ones((len(members), 1)), outside)

    def _serves(self, factor: BorderedFactor, S: Integers) -> bool:
        """Whether S is near enough to the factor's members; those that are new join them."""
        new = self.xp.setdiff1d(S, factor.members, assume_unique=True)
        if factor.changes(len(S) - len(new), len(new)) > SETTINGS.most_changed * factor.base:
            return False
        if not len(new):
            return True
        joined = self.xp.concatenate([factor.members[factor.base :], new])
        right = self._values(new, factor.members[: factor.base]).T
        corner = self._values(joined, joined)
        return factor.join(new, right, corner, self.problem.ridge[joined])

    def _new_factor(self, S: Integers) -> BorderedFactor:
        """A new factor.

        Raises MemoryError where there is no room for it, ValueError where the kernel is not
        positive semidefinite.
        """
        needed = 8.0 * len(S) ** 2
        if needed > self.memory:
            raise MemoryError(
                f"solver='newton' keeps a matrix of the {len(S)} support vectors, "
                f"{needed / 2**30:.1f} GiB; {self.memory / 2**30:.1f} are available to it. "
                "Use solver='block', which needs no such matrix."
            )
        self.cache.keep(self.problem.row[S])
        backend = self.cache.source.backend
        for share in SETTINGS.shifts:
            ridge = self.problem.ridge[S] + share * self.diagonal
            L = backend.cholesky_of_values(lambda a, b: self._values(S[a], S[b]), ridge, self.pause)
            if L is not None:
                return BorderedFactor(S, L, share * self.diagonal, backend, self.pause)
        raise ValueError(
            "solver='newton' needs a positive semidefinite kernel, but this one has negative "
            "curvature on these data, more than the squared loss makes up for. Use "
            "solver='block', a smaller C, or a positive semidefinite kernel."
        )

    def _values(self, a: Integers, b: Integers) -> Floats:
        """K of two sets of variables."""
        return self.cache.block(self.problem.row[a], self.problem.row[b])
