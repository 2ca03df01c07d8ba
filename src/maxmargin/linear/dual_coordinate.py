"""Dual coordinate descent for linear models with many, sparse features (Hsieh et al.; the lectures'
algorithm 12).

Each dual in turn takes its best value while w = X't is kept up to date: a step costs the non-zeros
of one sample (core/coordinate.h). Shrinking leaves out samples at a bound whose condition holds
with room to spare, compared with the gap that is left; a check of all samples brings back those
whose condition is violated. Once the set of free duals has settled, conjugate gradients move them
all at once (subspace.py).

A penalised bias is the weight of one more column of s's. A free one fixes the sum of the duals,
which no single step can keep. The method of multipliers (augmented Lagrangian) penalises the sum
instead. With c the mean squared length of a sample, so that the bias is as stiff as other
directions,

    b = multiplier + c (sum t - total)                                    within an epoch
    multiplier <- multiplier + multiplier_step (b - multiplier)           after it

At the end the duals are moved to the exact sum and the best bias is found for w: the gap counts
what that costs.

An epoch adds up the gap of each sample as it meets it. When that sum is small enough, and at
growing intervals, the gap is computed from the data, and that decides.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Integers
from maxmargin.core.threads import thread_count
from maxmargin.linear.bias_search import best_bias, middle
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.losses import Bias, LinearProblem
from maxmargin.linear.objectives import Gap, LinearSolution, feasible, gap_of, sizes
from maxmargin.linear.subspace import DualIterate, free_variables, subspace_step
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.monitor import Monitor
from maxmargin.status import Status


class Settings(NamedTuple):
    """Settings of dual coordinate descent (decision 15)."""

    first_share: float = 0.5
    """The share of the gap met in an epoch that is left after it, until a check measures it."""
    first_check: int = 8
    """Epochs after which the gap is computed, whatever the epochs met."""
    check_growth: float = 1.4
    """Epochs at a check, relative to those at the check before."""
    shrink_factor: float = 30
    """Samples are shrunk if their condition holds by this many times the mean gap per sample."""
    settled: float = 0.03
    """A subspace step is made if an epoch changed at most this share of the free duals."""
    rest: int = 5
    """Epochs between two subspace steps, at least."""
    multiplier_step: float = 0.25
    """The step of the multiplier of a free bias. A full step is right after an epoch that ends at
    its optimum, and oscillates otherwise."""


SETTINGS = Settings()


def solve(
    problem: LinearProblem,
    workspace: LinearWorkspace,
    tol: float,
    start: LinearSolution | None = None,
) -> LinearSolution:
    """Solve a linear problem; see the contract in workspace.py."""
    assert isinstance(workspace.design, ArrayDesign)
    return _Run(problem, workspace.design, workspace.monitor, start, workspace.seed).until(tol)


class _Run:
    """One solve: the current iterate, and which samples are active."""

    def __init__(
        self,
        problem: LinearProblem,
        design: ArrayDesign,
        monitor: Monitor,
        start: LinearSolution | None,
        seed: int,
    ) -> None:
        self.problem, self.design, self.monitor = problem, design, monitor
        self.scale = sizes(problem, design).scale
        n = design.shape[0]
        t = np.zeros(n) if start is None or not len(start.t) else feasible(problem, start.t)
        self.squares = design.squares
        mean = max(float(self.squares.mean()), 1e-300)
        column = problem.bias.choose(mean, problem.scaling**2)
        multiplier = 0.0
        if problem.bias is Bias.FREE:
            multiplier = middle(problem) if start is None else start.bias
        bias = multiplier + column * (float(t.sum()) - problem.total)
        self.here = DualIterate(t, design.sum(t), multiplier, column, bias)
        self.descent = design.backend.coordinate_descent(
            design.points, problem.tube, self.squares, t, column
        )
        self.order, self.active = np.arange(n, dtype=np.int32), n
        self.shrink_above = np.inf
        self.draws = np.random.default_rng(seed)
        self.epochs = 0

    def until(self, tol: float) -> LinearSolution:
        """Epochs and subspace steps until the gap is small enough."""
        check, last_step, free = SETTINGS.first_check, 0, np.zeros(len(self.order), bool)
        share, size = SETTINGS.first_share, 0.0
        while True:
            reason = self.monitor.stop(self.epochs)
            if reason is not None:
                return self._solution(tol, reason)
            met, violation = self._epoch()
            if violation == 0 or share * met <= tol * max(size, met) or self.epochs >= check:
                check = max(check, int(SETTINGS.check_growth * self.epochs))
                gap, returned = self._check()
                share, size = gap.value / max(met, np.finfo(float).tiny), abs(gap.primal)
                still = self.problem.bias is not Bias.FREE or self.here.multiplier == self.here.bias
                ended = violation == 0 and returned == 0 and still
                if ended or gap.within(tol):
                    found = self._solution(tol, None)
                    if ended or found.ended is None:
                        return found
            before, free = free, free_variables(self.problem, self.here.t)
            count, changed = int(np.count_nonzero(free)), np.count_nonzero(free != before)
            rested = self.epochs >= last_step + SETTINGS.rest
            if rested and count > 0 and changed <= SETTINGS.settled * count:
                self._subspace_step(np.flatnonzero(free))
                last_step = self.epochs

    def _subspace_step(self, free: Integers) -> None:
        """Move all free duals at once."""
        here = self.here
        self.here = subspace_step(self.problem, self.design, here, free, self.squares, self.monitor)
        self.descent.assign(self.here.t)

    def _epoch(self) -> tuple[float, float]:
        """Visit the active samples once; return the gap and the largest violation met."""
        here, t, w = self.here, np.empty(len(self.order)), self.here.w
        seed, threads = int(self.draws.integers(2**63)), thread_count(1e3 * self.active)
        gap, violation, at, bias = 0.0, 0.0, 0, here.bias
        while True:
            more, worst, at, bias = self.descent.run(
                w, bias, self.order, self.active, at, self.shrink_above, seed, threads
            )
            gap, violation = gap + more, max(violation, worst)
            if at >= self.active or self.monitor.stop(self.epochs) is not None:
                break
        self.active = self.descent.settle(self.order)
        self.descent.duals(t)
        multiplier = here.multiplier
        if self.problem.bias is Bias.FREE:
            excess = here.column * (float(t.sum()) - self.problem.total)
            multiplier += SETTINGS.multiplier_step * excess
            bias = multiplier + excess
        self.here = DualIterate(t, w, multiplier, here.column, bias)
        self.epochs += 1
        self.shrink_above = SETTINGS.shrink_factor * gap / max(1, self.active)
        if self.monitor.wants_report():
            self.monitor.report(self.epochs, gap, violation, int(np.count_nonzero(t)))
        return gap, violation

    def _check(self) -> tuple[Gap, int]:
        """The gap of the iterate, and the number of shrunk samples that become active again.

        Those are the samples that violate their condition.
        """
        problem, (t, w) = self.problem, self.here[:2]
        if problem.bias is Bias.FREE:
            t = feasible(problem, t)
            w = w + self.design.sum(t - self.here.t)
        Xw = self.design.values(w)
        bias = best_bias(problem, Xw, self.here.bias)
        f = Xw + bias
        low, high, up, down, _squared = problem.tube
        violated = (
            ((f < low) & (t < up))
            | ((f > high) & (-t < down))
            | ((t > 0) & (f > low))
            | ((t < 0) & (f < high))
        )
        shrunk = self.order[self.active :]
        back = violated[shrunk]
        count = int(np.count_nonzero(back))
        self.order[self.active :] = np.concatenate((shrunk[back], shrunk[~back]))
        self.active += count
        return gap_of(problem, w, bias, t, f, w, self.scale), count

    def _solution(self, tol: float, reason: Status | None) -> LinearSolution:
        """The model of the duals with its best bias.

        It is marked with the reason for which the solver ended, unless its gap is small.
        """
        t = feasible(self.problem, self.here.t)
        w = self.design.sum(t)  # free of the rounding of all steps
        Xw = self.design.values(w)
        bias = best_bias(self.problem, Xw, self.here.bias)
        gap = gap_of(self.problem, w, bias, t, Xw + bias, w, self.scale)
        return LinearSolution(w, bias, t, Xw + bias, w, gap.outcome(tol, reason), self.epochs)
