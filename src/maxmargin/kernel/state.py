"""The state of a solver: its variables, their gradient, and how far they are from optimal.

F = K b is the kernel part of the decision values. Float32 rows leave an error in F proportional to
how far b moved since F was exact. So the last exact pair, F_exact = K b_exact in float64, is kept,
and ``make_exact`` computes F = F_exact + K64 (b - b_exact).
"""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from maxmargin.core.arrays import Floats, Integers
from maxmargin.core.backend import Backend, Survey, Variables
from maxmargin.core.choose import HOST
from maxmargin.kernel.bordered import BorderedFactor
from maxmargin.kernel.problems import DualProblem, fold
from maxmargin.kernel.reduced import Reduced
from maxmargin.kernel.solution import (
    Level,
    Solution,
    duality_gap,
    gradient,
    levels,
    margin,
    violation,
)
from maxmargin.kernel.sources import Scratch, Source
from maxmargin.monitor import Monitor
from maxmargin.status import Status
from maxmargin.verdict import GAP


class Settings(NamedTuple):
    """What the state of a solver is judged by."""

    audited: int = 256
    """Rows compared with float64 to see whether F must be made exact everywhere (decision 3)."""
    suspects: int = 64
    """More rows, in which an error is most likely (decision 19)."""
    farthest: int = 8
    """Coefficients that moved farthest, whose neighbours are compared too (decision 19)."""
    neighbours: int = 64
    """Rows compared because they are near those."""
    endless: float = 1e100
    """Variables without bounds that grow beyond this have no limit (decision 4)."""
    meet: float = 1e-12
    """Hulls nearer than the square root of this times the data's scale meet, as far as float64 can
    tell (decision 4)."""
    nothing: float = 1e-15
    """Share of the data's scale up to which a gap is the rounding of an objective that is 0: a
    tenth of what the certificate counts as 0."""
    snap: float = 1e-12
    """Share of its range, and of the largest variable, within which a variable is at its bound."""
    products_at_once: int = 31_250_000
    """Kernel values between two questions to the monitor: a fraction of a second."""


SETTINGS = Settings()


@dataclass
class State:
    """The variables, their kernel part, and what was met on the way."""

    problem: DualProblem
    b: Floats
    F: Floats
    b_exact: Floats
    F_exact: Floats
    backend: Backend = HOST
    steps: int = 0
    diagonal: float = 0.0
    """The greatest k(x, x) of some rows."""
    convex: bool = False
    """Whether the kernel is positive semidefinite: negative curvature then is rounding."""
    indefinite: bool = False
    """Whether negative curvature was met."""
    unbounded: bool = False
    """Whether a step without a bound was met."""
    factor: BorderedFactor | None = None
    """That of the last Newton steps; None while pair steps alone suffice."""
    reduced: Reduced | None = None
    """That of the last cycles (continuation.py)."""
    scratch: Scratch = field(default_factory=Scratch)
    """Memory of that."""
    eliminates: bool = False
    """Whether such cycles may take the place of Newton steps in a round."""
    settled: bool = False
    """Whether a round left the rest to the cycles."""

    def __post_init__(self) -> None:
        self.xp: Any = self.backend.xp

    @cached_property
    def _groups(self) -> tuple[Integers, NDArray[np.bool_]]:
        problem, xp = self.problem, self.xp
        begin = xp.searchsorted(problem.group, xp.arange(problem.groups + 1))
        return self.backend.to_host(begin), problem.fixed

    def variables(self, G: Floats) -> Variables:
        """All variables, with their gradient."""
        problem = self.problem
        return Variables(G, self.b, problem.lower, problem.upper, problem.ridge, *self._groups)

    def survey(self) -> Survey:
        """All variables with their gradient, the objective, and how far b is from the exact F."""
        problem, variables = self.problem, self.variables(self.xp.empty(len(self.b)))
        return self.backend.survey(variables, self.F, problem.row, problem.linear, self.b_exact)

    @property
    def G(self) -> Floats:
        """The gradient."""
        return gradient(self.problem, self.b, self.F)

    @property
    def moves_far(self) -> bool:
        """Whether Newton steps or cycles took over: b then moves by amounts that cancel."""
        return self.factor is not None or self.settled

    @cached_property
    def squared(self) -> bool:
        """Whether some losses are squared."""
        return bool(self.problem.ridge.any())

    @cached_property
    def distinct(self) -> bool:
        """Whether no two variables share a row."""
        return bool(self.xp.bincount(self.problem.row).max(initial=0) <= 1)

    @cached_property
    def endless(self) -> bool:
        """Whether some variables have no upper bound."""
        return bool(self.xp.isinf(self.problem.upper).any())

    @property
    def objective(self) -> float:
        """The dual objective, 1/2 b'Qb + linear'b."""
        return self.objective_at(self.G)

    def objective_at(self, G: Floats) -> float:
        """The same, from the gradient."""
        return 0.5 * float((self.b * (G + self.problem.linear)).sum())

    @property
    def _natural(self) -> float:
        """A bound on the quadratic term, infinite beyond float64."""
        total = float(self.xp.abs(self.b).sum())
        return self.diagonal * total * total

    @property
    def ceiling(self) -> float:
        """The primal value at w = 0 and level 0, with room for rounding.

        No dual value of a convex problem is above it.
        """
        nothing = (Level(0.0, 0.0, 0.0),) * self.problem.groups
        value = duality_gap(
            self.problem, self.xp.zeros_like(self.b), self.xp.zeros_like(self.F), nothing, self.xp
        )
        return value * (1 + 1e-6) + 1e-6 * self._natural + 1e-12

    @property
    def violation(self) -> float:
        """The worst violation of optimality, in units of the decision function."""
        return self.violation_at(self.G)

    def violation_at(self, G: Floats) -> float:
        """The same, from the gradient."""
        return violation(self.variables(G), self.backend) / self.unit(G)

    @property
    def gap(self) -> float:
        """The duality gap at the levels, in the problem's own units."""
        return duality_gap(
            self.problem, self.b, self.F, levels(self.variables(self.G), self.backend), self.xp
        )

    @property
    def support_vectors(self) -> int:
        """How many rows have a coefficient."""
        return int(self.xp.count_nonzero(fold(self.problem, self.b, len(self.F), xp=self.xp)))

    def rounding(self, dtype: DTypeLike, moved: float | None = None) -> float:
        """About the error of F with rows of this precision; 0 for float64.

        b has moved so far since F was exact, if that is known.
        """
        if dtype != np.float32:
            return 0.0
        if moved is None:
            moved = float(self.xp.sqrt(self.xp.sum((self.b - self.b_exact) ** 2)))
        return float(np.finfo(np.float32).eps) * self.diagonal * moved

    def unit(self, G: Floats) -> float:
        """What the tolerance is measured in: 1, or the margin."""
        if not self.problem.in_margin_units:
            return 1.0
        return max(margin(levels(self.variables(G), self.backend)), 1e-300)

    def gap_is_small(self, tol: float, G: Floats | None = None) -> bool:
        """Whether the gap is at most GAP * tol of the objective; G is the gradient, if known."""
        return self.gap_excess(tol, G) <= 1

    def gap_excess(self, tol: float, G: Floats | None = None) -> float:
        """The gap as a multiple of GAP * tol of the objective.

        It is 0 where rounding makes the primal infeasible: the violation decides there. It is 0,
        too, where the gap is rounding of an objective that is 0.
        """
        G = self.G if G is None else G
        ends = levels(self.variables(G), self.backend)
        gap, dual = duality_gap(self.problem, self.b, self.F, ends, self.xp), -self.objective_at(G)
        allowed = GAP * tol * max(abs(dual + gap), abs(dual))
        if not math.isfinite(gap) or gap <= SETTINGS.nothing * self._natural:
            return 0.0
        return gap / allowed if allowed > 0 else math.inf

    def no_minimum(self) -> bool:
        """Whether the hulls of a problem in margin units meet, or there is no minimum.

        A problem without bounds may have none. The answer is right as far as float64 can tell.
        """
        if self.unbounded:
            return True
        if not (self.problem.in_margin_units or (self.endless and not self.squared)):
            return False
        half = float(self.xp.abs(self.b).sum()) / 2
        if half == 0:
            return False
        norm, slope = (
            float((self.b * self.F[self.problem.row]).sum()),
            float((self.b * self.problem.linear).sum()),
        )
        falls = self.problem.in_margin_units or -slope > 1e-3 * half * float(
            self.xp.abs(self.problem.linear).max()
        )
        return norm <= SETTINGS.meet * self.diagonal * half * half and falls

    def beyond(self, b: Floats) -> bool:
        """Whether variables without bounds diverge."""
        return self.endless and not self.xp.abs(b).max(initial=0.0) < SETTINGS.endless

    def note(self, negative: bool, unbounded: bool) -> None:
        """Record what pair steps met.

        Raises ValueError where a problem that is not convex has no minimum.
        """
        if unbounded and not self.convex and (negative or self.squared):
            raise ValueError(
                "The kernel is not positive semidefinite on these data and the problem has no "
                "upper bounds, so it has no minimum. Use a finite C with the plain hinge or "
                "epsilon-insensitive loss, or a positive semidefinite kernel."
            )
        self.unbounded |= unbounded and not self.squared
        self.indefinite |= negative and not self.convex

    def snap(self) -> None:
        """Round variables onto bounds that they are within rounding of.

        Whether a variable is free must not depend on the last bit. What they lose is given to the
        free variable of their group with the most room: where kernel values are nearly equal, a sum
        that misses by 1e-12 moves all decision values (decision 19).
        """
        xp, before, (lower, upper) = self.xp, self.b, self.problem[1:3]
        near = SETTINGS.snap * xp.minimum(upper - lower, xp.abs(before).max(initial=0.0))
        b = xp.where(before - lower <= near, lower, xp.where(upper - before <= near, upper, before))
        self.b, lost = b, before - b
        if not lost.any():
            return
        room, (begin, fixed) = xp.minimum(b - lower, upper - b), self._groups
        for first, end in zip(begin[:-1][fixed], begin[1:][fixed], strict=True):
            missing, most = float(lost[first:end].sum()), first + int(room[first:end].argmax())
            if abs(missing) < room[most]:
                b[most] += missing

    def _change(self) -> tuple[Integers, Floats]:
        """Rows whose coefficient changed since F was exact, and by how much."""
        change = fold(self.problem, self.b - self.b_exact, len(self.F), xp=self.xp)
        rows = self.xp.flatnonzero(change)
        return rows, change[rows]

    def spot_check(self, source: Source, tol: float) -> bool:
        """Compare F with float64 values on a sample of rows, which are exact afterwards.

        Return whether the error leaves the violation at most tol.

        Of the rows whose error is likely to be large, the worse half need not agree: they are exact
        now, and the rows outside the sample are better.
        """
        if self._room(tol) < 0:
            return False
        n, xp = len(self.F), self.xp
        suspects = xp.asarray(source.suspects(SETTINGS.suspects))
        drawn = np.random.default_rng(0).choice(n, min(n, SETTINGS.audited), replace=False)
        sample = xp.concatenate([suspects, xp.asarray(drawn)])
        rows, change = self._change()
        exact = self.F_exact[sample] + source.product(rows, change, sample)
        error = xp.abs(exact - self.F[sample])
        error[xp.isin(sample, suspects[: len(suspects) // 2])] = 0.0
        self.F[sample] = exact
        room = self._room(tol)
        if error.max(initial=0.0) > room:
            return False
        near = self._near_moved(source, rows, change)
        exact = self.F_exact[near] + source.product(rows, change, near)
        return bool(xp.abs(exact - self.F[near]).max(initial=0.0) <= room)

    def _near_moved(self, source: Source, rows: Integers, change: Floats) -> Integers:
        """The rows that see most of the coefficients that moved farthest.

        Where few moved far, errors of float32 are large in these rows alone.
        """
        farthest = _largest(self.xp.abs(change), SETTINGS.farthest, self.xp)
        values = source.block(rows[farthest], None, np.float64)
        seen = self.xp.abs(values * change[farthest, None]).max(axis=0, initial=0.0)
        near: Integers = _largest(seen, SETTINGS.neighbours, self.xp)
        near = near[seen[near] > 0]
        return near

    def _room(self, tol: float) -> float:
        """How far every decision value may be wrong while the violation is at most tol."""
        G = self.G
        return (tol * self.unit(G) - max(0.0, violation(self.variables(G), self.backend))) / 2

    def make_exact(self, source: Source, monitor: Monitor) -> bool:
        """F = F_exact + K64 (b - b_exact); False if the monitor stopped it."""
        F = self.F_exact.copy()
        if not self._add(source, *self._change(), F, np.float64, monitor):
            return False
        self.F, self.F_exact, self.b_exact = F, F.copy(), self.b.copy()
        return True

    def move_exactly(self, at: Integers, b: Floats, source: Source, monitor: Monitor) -> bool:
        """Set some variables, with F exact in float64; False, and no change, if stopped."""
        before = self.b[at]
        self.b[at] = b
        if self.make_exact(source, monitor):
            return True
        self.b[at] = before
        return False

    def begin_at(self, b: Floats, source: Source, monitor: Monitor) -> bool:
        """Move to another start, with F = K b in float32; F stays exact at b = 0.

        Return False if the monitor stopped it.
        """
        coefficients, F = fold(self.problem, b, len(self.F), xp=self.xp), self.xp.zeros_like(self.F)
        rows = self.xp.flatnonzero(coefficients)
        if not self._add(source, rows, coefficients[rows], F, np.float32, monitor):
            return False
        self.b, self.F, self.b_exact = b, F, self.xp.zeros_like(b)
        return True

    def _add(
        self,
        source: Source,
        rows: Integers,
        change: Floats,
        F: Floats,
        dtype: DTypeLike,
        monitor: Monitor,
    ) -> bool:
        """F += K[:, rows] change; False if the monitor stopped it between two parts."""
        step = max(1, int(SETTINGS.products_at_once / max(1, len(F))))
        for i in range(0, len(rows), step):
            if i and monitor.stop(self.steps) in (Status.INTERRUPTED, Status.TIME_LIMIT):
                return False
            source.add_product(
                rows[i : i + step],
                self.xp.ascontiguousarray(change[i : i + step, None]),
                None,
                F[None, :],
                dtype,
            )
        return True


def _largest(values: Floats, most: int, xp: Any) -> Integers:
    """Where the largest of some values are, in any order."""
    if len(values) <= most:
        everything: Integers = xp.arange(len(values))
        return everything
    found: Integers = xp.argpartition(-values, most)[:most]
    return found


def finish(state: State, reason: Status | None) -> Solution:
    """The solution at a state; verdict.py decides whether it is optimal."""
    state.snap()
    if state.no_minimum() and reason in (None, Status.STALLED):
        reason = Status.DEGENERATE
    ends = levels(state.variables(state.G), state.backend)
    b, F = state.backend.to_host(state.b), state.backend.to_host(state.F)
    return Solution(reason, b, F, ends, state.steps, state.indefinite, state.diagonal)
