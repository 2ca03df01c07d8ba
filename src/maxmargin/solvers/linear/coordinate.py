"""Dual coordinate descent for linear models with many, sparse features (Hsieh et al.; the lectures' algorithm 12).

Each dual in turn takes its best value while w = X't is kept up to date: a step costs the non-zeros of one sample (core/coordinate.h).
Samples at a bound whose condition holds with room to spare, more than the worst violation of the pass before, are set aside; when the
others are done all are looked at again.

A penalised bias is the weight of one more column of s's. A free one makes the duals' sum fixed, which no single step can keep. So it is
penalised around a guess that moves (the method of multipliers): with c the mean squared length of a sample, which gives the bias the
pull of any other direction,

    b = guess + c (sum t - total)    within a pass,      guess <- b    after it.

At the end the duals are moved to the exact sum and the best bias is found for w: the gap counts what that costs.

A pass adds up the gap of each sample as it meets it; when that sum is small, and at growing intervals, the gap is computed from the data,
and that decides.
"""

import numpy as np

from maxmargin.core import cpu as core
from maxmargin.designs import ArrayDesign, Design
from maxmargin.losses import Bias, LinearProblem
from maxmargin.monitor import Monitor
from maxmargin.problems import Floats
from maxmargin.solution import Status
from maxmargin.solvers.linear.model import LinearSolution, best_bias, conclude, feasible, natural_scale

FIRST_LOOK, NEXT_LOOK = 4, 1.4
"""The gap is computed after so many passes, and whenever there are so many times as many: it is often far below what the passes met."""


def solve(
    problem: LinearProblem, design: Design, tol: float, monitor: Monitor, start: LinearSolution | None = None, seed: int = 0
) -> LinearSolution:
    """Solve a linear problem; see the contract in maxmargin.solvers.linear."""
    assert isinstance(design, ArrayDesign)
    n = design.shape[0]
    t = np.zeros(n) if start is None or not len(start.t) else feasible(problem, start.t)
    w = design.sum(t)
    squares = core.linear_squares(design.points)
    column = {Bias.NONE: 0.0, Bias.FREE: max(float(squares.mean()), 1e-300), Bias.PENALISED: problem.scaling**2}[problem.bias]
    norms = squares + column
    free = problem.bias is Bias.FREE
    guess = start.bias if free and start is not None else 0.0
    bias = guess + column * (float(t.sum()) - problem.total)
    order, active, aside = np.arange(n, dtype=np.int32), n, np.inf
    draws = np.random.default_rng(seed)
    passes, look, scale = 0, FIRST_LOOK, natural_scale(problem, design)
    while True:
        reason = monitor.stop(passes)
        if reason is not None:
            return _model(problem, design, t, bias, tol, scale, reason, passes)
        gap, violation, active, bias = core.coordinate_pass(
            design.points, *problem.corridor, norms, t, w, bias, column, order, active, aside, int(draws.integers(2**63))
        )
        passes += 1
        if free:
            excess = float(t.sum()) - problem.total
            guess += column * excess
            bias = guess + column * excess
        size = 0.5 * float(w @ w) + gap
        if monitor.wants_report():
            monitor.report(passes, gap, violation, int(np.count_nonzero(t)))
        if gap <= tol * size or violation == 0 or passes >= look:
            look = max(look, int(NEXT_LOOK * passes))
            found = _model(problem, design, t, bias, tol, scale, None, passes)
            if found.status is Status.OPTIMAL or (active == n and violation == 0):
                return found
            if gap <= tol * size or violation == 0:
                active, aside = n, np.inf
                continue
        aside = violation


def _model(
    problem: LinearProblem, design: ArrayDesign, t: Floats, bias: float, tol: float, scale: float, reason: Status | None, passes: int
) -> LinearSolution:
    """The model of the duals with its best bias."""
    t = feasible(problem, t)
    w = design.sum(t)
    Xw = design.values(w)
    bias = best_bias(problem, Xw, bias)
    return conclude(problem, design, w, bias, t, Xw + bias, tol, scale, reason, passes)[0]
