"""Dual coordinate descent for linear models with many, sparse features (Hsieh et al.; the lectures'
algorithm 12).

Each dual in turn takes its best value while w = X't is kept up to date: a step costs the non-zeros
of one sample (core/coordinate.h). Samples at a bound whose condition holds with room to spare,
compared with the gap that is left, are set aside until a look at all of them finds that it does not
hold any more. Once the duals inside their bounds are settled, conjugate gradients move them all at
once (face.py).

A penalised bias is the weight of one more column of s's. A free one makes the duals' sum fixed,
which no single step can keep. So it is penalised around a guess that moves (the method of
multipliers): with c the mean squared length of a sample, which gives the bias the pull of any other
direction,

    b = guess + c (sum t - total)    within a pass,      guess <- guess + FOLLOWED (b - guess)    after it.

At the end the duals are moved to the exact sum and the best bias is found for w: the gap counts
what that costs.

A pass adds up the gap of each sample as it meets it; when that sum promises to be small, and at
growing intervals, the gap is computed from the data, and that decides.
"""

import numpy as np

from maxmargin.core.threads import thread_count
from maxmargin.linear.bias_search import best_bias, middle
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.losses import Bias, LinearProblem
from maxmargin.linear.objectives import Gap, LinearSolution, feasible, gap_of, sizes
from maxmargin.linear.subspace import Walk, inside, leap
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.monitor import Monitor
from maxmargin.status import Status

FIRST_SHARE = 0.5
"""What a pass leaves of the gap that it met, until a look at the data tells more."""
FIRST_LOOK, NEXT_LOOK = 8, 1.4
"""The gap is computed after so many passes, and whenever there are so many times as many, whatever
the passes met."""
ASIDE = 30
"""Samples are set aside whose conditions hold by so many times the mean gap of those that are
visited."""
SETTLED, RESTED = 0.03, 5
"""The face is leapt on when a pass changes it by no more than this share, so many passes after the
last leap."""
FOLLOWED = 0.25
"""How far the guess of a free bias follows: the whole way is right where a pass ends at the
optimum, and swings to and fro where not."""


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
    """One solve: where it is, and which samples are visited."""

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
        column = {
            Bias.NONE: 0.0,
            Bias.FREE: max(float(self.squares.mean()), 1e-300),
            Bias.PENALISED: problem.scaling**2,
        }[problem.bias]
        guess = 0.0
        if problem.bias is Bias.FREE:
            guess = middle(problem) if start is None else start.bias
        bias = guess + column * (float(t.sum()) - problem.total)
        self.walk = Walk(t, design.sum(t), guess, column, bias)
        self.descent = design.backend.coordinate_descent(
            design.points, problem.tube, self.squares, t, column
        )
        self.order, self.active, self.aside = np.arange(n, dtype=np.int32), n, np.inf
        self.draws = np.random.default_rng(seed)
        self.passes = 0

    def until(self, tol: float) -> LinearSolution:
        """Passes and leaps until the gap is small enough."""
        look, leapt, face = FIRST_LOOK, 0, np.zeros(len(self.order), bool)
        share, size = FIRST_SHARE, 0.0
        while True:
            reason = self.monitor.stop(self.passes)
            if reason is not None:
                return self._model(tol, reason)
            met, violation = self._pass()
            if violation == 0 or share * met <= tol * max(size, met) or self.passes >= look:
                look = max(look, int(NEXT_LOOK * self.passes))
                gap, woken = self._look()
                share, size = gap.value / max(met, np.finfo(float).tiny), abs(gap.primal)
                still = self.problem.bias is not Bias.FREE or self.walk.guess == self.walk.bias
                ended = violation == 0 and woken == 0 and still
                if ended or gap.within(tol):
                    found = self._model(tol, None)
                    if ended or found.ended is None:
                        return found
            before, face = face, inside(self.problem, self.walk.t)
            free = int(np.count_nonzero(face))
            if (
                self.passes >= leapt + RESTED
                and free > 0
                and np.count_nonzero(face != before) <= SETTLED * free
            ):
                self.walk = leap(
                    self.problem,
                    self.design,
                    self.walk,
                    np.flatnonzero(face),
                    self.squares,
                    self.monitor,
                )
                leapt = self.passes
                self.descent.assign(self.walk.t)

    def _pass(self) -> tuple[float, float]:
        """Visit the active samples once.

        Return the gap and the greatest violation that were met.
        """
        walk, t, w = self.walk, np.empty(len(self.order)), self.walk.w
        seed, threads = int(self.draws.integers(2**63)), thread_count(1e3 * self.active)
        gap, violation, at, bias = 0.0, 0.0, 0, walk.bias
        while True:
            more, worst, at, bias = self.descent.run(
                w, bias, self.order, self.active, at, self.aside, seed, threads
            )
            gap, violation = gap + more, max(violation, worst)
            if at >= self.active or self.monitor.stop(self.passes) is not None:
                break
        self.active = self.descent.settle(self.order)
        self.descent.duals(t)
        guess = walk.guess
        if self.problem.bias is Bias.FREE:
            excess = walk.column * (float(t.sum()) - self.problem.total)
            guess += FOLLOWED * excess
            bias = guess + excess
        self.walk = Walk(t, w, guess, walk.column, bias)
        self.passes += 1
        self.aside = ASIDE * gap / max(1, self.active)
        if self.monitor.wants_report():
            self.monitor.report(self.passes, gap, violation, int(np.count_nonzero(t)))
        return gap, violation

    def _look(self) -> tuple[Gap, int]:
        """The gap where the walk is, and how many samples that were set aside are visited again, as
        their conditions do not hold.
        """
        problem, (t, w) = self.problem, self.walk[:2]
        if problem.bias is Bias.FREE:
            t = feasible(problem, t)
            w = w + self.design.sum(t - self.walk.t)
        Xw = self.design.values(w)
        bias = best_bias(problem, Xw, self.walk.bias)
        f = Xw + bias
        low, high, up, down, _squared = problem.tube
        wrong = (
            ((f < low) & (t < up))
            | ((f > high) & (-t < down))
            | ((t > 0) & (f > low))
            | ((t < 0) & (f < high))
        )
        out = self.order[self.active :]
        woken = wrong[out]
        count = int(np.count_nonzero(woken))
        self.order[self.active :] = np.concatenate((out[woken], out[~woken]))
        self.active += count
        return gap_of(problem, w, bias, t, f, w, self.scale), count

    def _model(self, tol: float, reason: Status | None) -> LinearSolution:
        """The model of the duals with its best bias.

        It has ended well where its gap is small, else for the reason given.
        """
        t = feasible(self.problem, self.walk.t)
        w = self.design.sum(t)  # the walk's has its steps' rounding
        Xw = self.design.values(w)
        bias = best_bias(self.problem, Xw, self.walk.bias)
        gap = gap_of(self.problem, w, bias, t, Xw + bias, w, self.scale)
        return LinearSolution(w, bias, t, Xw + bias, w, gap.outcome(tol, reason), self.passes)
