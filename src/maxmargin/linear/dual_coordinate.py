"""Dual coordinate descent for linear models with many, sparse features (Hsieh et al.; the lectures'
algorithm 12).

Each dual in turn takes its best value while w = X't is kept up to date: a step costs the non-zeros
of one sample (core/coordinate.h). Shrinking leaves out samples at a bound whose condition holds
with room to spare, compared with the gap that is left; a check of all samples brings back those
whose condition is violated. Once the set of free duals has settled, conjugate gradients move them
all at once (subspace.py).

A penalised bias is the weight of one more column of s's. A free one fixes the sum of the duals,
which no single step can keep. The method of multipliers (augmented Lagrangian) penalises the sum
instead. With c of _stiffness,

    b = multiplier + c (sum t - total)                                    within an epoch
    multiplier <- multiplier + multiplier_step (b - multiplier)           after it

At the end the duals are moved to the exact sum and the best bias is found for w: the gap counts
what that costs.

An epoch adds up the gap of each sample as it meets it. When that sum is small enough, and at
growing intervals, the gap is computed from the data, and that decides.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers
from maxmargin.core.threads import thread_count
from maxmargin.linear.bias_search import best_bias, middle
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.losses import Bias, LinearProblem, with_sum
from maxmargin.linear.objectives import Gap, LinearSolution, feasible, gap_of, sizes
from maxmargin.linear.subspace import DualIterate, free_variables, subspace_step
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.monitor import Monitor
from maxmargin.status import Status


class Settings(NamedTuple):
    """Settings of dual coordinate descent (decision 15)."""

    first_share: float = 0.5
    """The share of the gap met in an epoch that is left after it, until a check measures it."""
    bias_stiffness: float = 0.1
    """The penalty of a free bias, in mean squared lengths of a sample. A stiffer bias swings by as
    much as single samples ask for, a softer one is found late (decision 37)."""
    first_check: int = 8
    """Epochs after which the gap is computed, whatever they met."""
    quick_epoch: int = 2**14
    """Values of X up to which an epoch costs much less than a check."""
    quick_epochs: int = 16
    """Epochs before the first check there."""
    check_growth: float = 2.0
    """Epochs at a check, relative to those at the check before."""
    shrink_factor: float = 30
    """Samples are shrunk if their condition holds by this many times the mean gap per sample."""
    settled: float = 0.03
    """A subspace step is made if an epoch changed at most this share of the free duals."""
    pays_off_after: int = 8
    """Epochs at the latest rate that would reach the tolerance, up to which none is made."""
    products: int = 25
    """Products of the conjugate gradients of a subspace step, at most."""
    fewest_products: int = 3
    """Where a step did not pay the next one takes half as many products, at least these: with
    fewer it goes less far outside the bounds."""
    rest: int = 5
    """Epochs between two subspace steps, at least."""
    multiplier_step: float = 0.5
    """The step of the multiplier of a free bias. A full step is right after an epoch that ends at
    its optimum, and oscillates otherwise."""


SETTINGS = Settings()
TINY = float(np.finfo(float).tiny)


def solve(
    problem: LinearProblem,
    workspace: LinearWorkspace,
    tol: float,
    start: LinearSolution | None = None,
) -> LinearSolution:
    """Solve a linear problem; see the contract in workspace.py."""
    assert isinstance(workspace.design, ArrayDesign)
    return _Run(problem, workspace.design, workspace.monitor, start, workspace.seed).until(tol)


def _stiffness(problem: LinearProblem, squares: Floats) -> float:
    """How far a free bias moves for a change of the sum of the duals.

    That is a share of the mean squared length of a sample, or what lets all duals together move
    it as far as the ends of the tubes spread, whichever is more.
    """
    low, high, up, down, _squared = problem.tube
    ends = np.concatenate([low[up > 0], high[down > 0]])
    cost = np.maximum(up, down)
    most = max(float(cost.max(initial=0.0)), TINY)
    reach = max(float((cost / most).sum()), TINY)
    spread = float(ends.std()) if len(ends) else 0.0
    return max(SETTINGS.bias_stiffness * float(squares.mean()), spread / reach / most, 1e-300)


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
        column = problem.bias.choose(_stiffness(problem, self.squares), problem.scaling**2)
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
        self.epochs, self.products = 0, SETTINGS.products
        self.value = 0.0  # of the dual objective, up to what the sum of the duals costs

    def until(self, tol: float) -> LinearSolution:
        """Epochs and subspace steps until the gap is small enough."""
        last_step, free = 0, np.zeros(len(self.order), bool)
        share, before = SETTINGS.first_share, np.inf
        quick = self.design.entries <= SETTINGS.quick_epoch
        first = SETTINGS.quick_epochs if quick else 1
        check = max(first, SETTINGS.first_check)
        while True:
            reason = self.monitor.stop(self.epochs)
            if reason is not None:
                return self._solution(tol, reason)[0]
            met, violation = self._epoch()
            goal = tol * max(abs(self.value), met) / max(share, TINY)
            near = met <= goal and self.epochs >= first
            if violation == 0 or near or self.epochs >= check:
                check = max(check, int(SETTINGS.check_growth * self.epochs))
                found, gap = self._solution(tol, None)
                returned = self._return_shrunk(found)
                still = self.problem.bias is not Bias.FREE or self.here.multiplier == self.here.bias
                if found.ended is None or (violation == 0 and returned == 0 and still):
                    return found
                share = gap.value / max(met, TINY)
            known, free = free, free_variables(self.problem, self.here.t)
            count, changed = int(np.count_nonzero(free)), np.count_nonzero(free != known)
            rested = self.epochs >= last_step + SETTINGS.rest
            rate = min(max(met, 0.0) / max(before, TINY), 1.0)  # rounding may make it negative
            far = met * rate**SETTINGS.pays_off_after > goal
            if rested and far and count > 0 and changed <= SETTINGS.settled * count:
                self._subspace_step(np.flatnonzero(free))
                last_step = self.epochs
            before = met

    def _subspace_step(self, free: Integers) -> None:
        """Move all free duals at once."""
        here, most = self.here, self.products
        self.here = subspace_step(
            self.problem, self.design, here, free, self.squares, most, self.monitor
        )
        self.products = max(most // 2, SETTINGS.fewest_products)
        if self.here is not here:
            self.products = min(2 * most, SETTINGS.products)
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
        self.value = self.descent.duals(t) - 0.5 * float(w @ w)
        multiplier = here.multiplier
        if self.problem.bias is Bias.FREE:
            self.value -= bias * (float(t.sum()) - self.problem.total)
            excess = here.column * (float(t.sum()) - self.problem.total)
            multiplier += SETTINGS.multiplier_step * excess
            bias = multiplier + excess
        self.here = DualIterate(t, w, multiplier, here.column, bias)
        self.epochs += 1
        self.shrink_above = SETTINGS.shrink_factor * gap / max(1, self.active)
        if self.monitor.wants_report():
            self.monitor.report(self.epochs, gap, violation, int(np.count_nonzero(t)))
        return gap, violation

    def _return_shrunk(self, found: LinearSolution) -> int:
        """Make shrunk samples that violate their condition active again; return their number."""
        t, f = self.here.t, found.f
        low, high, up, down, _squared = self.problem.tube
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
        return count

    def _solution(self, tol: float, reason: Status | None) -> tuple[LinearSolution, Gap]:
        """The model of the duals with its best bias, and its gap.

        It is marked with the reason for which the solver ended, unless its gap is small.
        """
        problem, t = self.problem, self.here.t
        t = with_sum(problem.tube, t, problem.total) if problem.bias is Bias.FREE else t
        w = self.design.sum(t)  # free of the rounding of all steps
        Xw = self.design.values(w)
        bias = best_bias(problem, Xw, self.here.bias)
        f = Xw + bias
        gap = gap_of(problem, w, bias, t, f, w, self.scale)
        return LinearSolution(w, bias, t, f, w, gap.outcome(tol, reason), self.epochs), gap
