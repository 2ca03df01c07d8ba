"""Semismooth Newton for linear models: exact for every loss, a few passes over the data per step.

Squared losses are smooth except for jumps of the curvature. Newton's method on P reaches the
optimum once no sample enters or leaves the tube any more. Plain losses are smoothed by a proximal
term (losses.py) around duals c:

    Phi(w, b) = 1/2 |w|^2 + m/2 b^2 + total b + sum_i smooth_i(f_i)             f = X w + b
    gradient    w - X't,   m b + total - sum t
    Hessian     1 + X_J' diag(curvature) X_J, and a row and column for the bias,
                where J are the samples whose loss has curvature at f

The minimiser of Phi has duals t that are better than c. The next round takes them as its centre c,
with less smoothing. This is the proximal point method on the dual, or the augmented Lagrangian
method on the primal (SsNAL). Unlike smoothing alone it converges to the exact optimum: each round
reduces the error by a factor, a larger one with less smoothing. J shrinks to the samples on the
edge of the tube, about as many as there are features.

The duality gap of Phi is 1/2 |w - X't|^2 (plus the part of the bias); the rest of P - D is due to
the smoothing. A round ends when the former is a small part of the latter, the solver when P - D is
small.

newton_system.py solves the Newton equation.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats
from maxmargin.linear.bias_search import middle
from maxmargin.linear.designs import Design
from maxmargin.linear.losses import Bias, LinearProblem
from maxmargin.linear.newton_system import Iterate, NewtonSystem
from maxmargin.linear.objectives import Gap, LinearSolution, dual, feasible, gap_of, primal, sizes
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.monitor import Monitor
from maxmargin.status import Status


class Settings(NamedTuple):
    """Settings of the semismooth Newton method (decision 15)."""

    first_smoothing: float = 2.0
    """The smoothing of the first round from w = 0, in units of f: every loss has curvature."""
    smoothing_factor: float = 0.3
    """The smoothing of each round, relative to the round before."""
    least_smoothing: float = 1e-6
    """The least smoothing, in units of f, or of the largest f if that is smaller. Duals are
    differences of f over the smoothing, so that rounding grows as it falls."""
    subproblem_share: float = 0.2
    """A round ends when its own gap is at most this share of the whole gap."""
    fruitless_steps: int = 20
    """Steps of a round without a new least P or own gap after which only rounding is left."""
    patience: int = 5
    """Evaluations of the gap without progress after which only rounding is left."""
    subsample_above: int = 4000
    """Samples above which the solver starts at the solution of a subsample."""
    flat: float = 0.1
    """The line search ends where the slope is at most this share of the first, in magnitude."""
    longest_step: float = 1e6
    """The longest step, in Newton steps."""
    line_search_slopes: int = 30
    """Slopes that a line search may evaluate after it has bracketed the minimum."""
    guard: float = 0.05
    """Distance of a trial step from the ends of the bracket, as a share of its length."""


SETTINGS = Settings()


def solve(
    problem: LinearProblem,
    workspace: LinearWorkspace,
    tol: float,
    start: LinearSolution | None = None,
) -> LinearSolution:
    """Solve a linear problem; see the contract in workspace.py."""
    n, d = workspace.design.shape
    if start is None and n > SETTINGS.subsample_above and workspace.in_memory:
        start = solve(*workspace.subsample(problem))._replace(t=np.empty(0))
    run = _Run(problem, workspace.design, workspace.monitor)
    if start is None:
        return run.until(tol, np.zeros(d), middle(problem), None)
    return run.until(tol, start.w, start.bias, start.t if len(start.t) else None)


class _Progress:
    """The least P and the least own gap of a round, and the steps since the last new one."""

    def __init__(self) -> None:
        self.least, self.steps = (np.inf, np.inf), 0

    def made(self, here: Iterate) -> bool:
        """Whether there was a new least value lately."""
        found = here.gap.primal, here.own_gap
        new = any(a < b for a, b in zip(found, self.least, strict=True))
        self.least = min(found[0], self.least[0]), min(found[1], self.least[1])
        self.steps = 0 if new else self.steps + 1
        return self.steps < SETTINGS.fruitless_steps


class _Run:
    """One solve: the problem, its data and the number of steps so far."""

    def __init__(self, problem: LinearProblem, design: Design, monitor: Monitor) -> None:
        self.problem, self.design, self.monitor = problem, design, monitor
        self.scale, self.unit = sizes(problem, design)
        self.cost = float(np.sum(np.maximum(problem.tube.up, problem.tube.down)))
        self.system = NewtonSystem(problem, design, monitor)
        self.steps = 0

    def until(
        self, tol: float, w: Floats, bias: float, prox_centre: Floats | None
    ) -> LinearSolution:
        """Rounds of Newton steps until the gap is small enough."""
        squared = self.problem.tube.squared
        prox_centre, smoothing = self._first_round(w, prox_centre)
        f = self.design.values(w) + bias
        best, least, idle, stuck = None, np.inf, 0, False
        progress = _Progress()
        while True:
            here = self._at(w, bias, f, prox_centre, smoothing)
            stuck = stuck or not progress.made(here)
            if self.monitor.wants_report():
                support = int(np.count_nonzero(here.duals.t))
                self.monitor.report(self.steps, here.gap.value, here.own_gap, support)
            solved = here.own_gap <= SETTINGS.subproblem_share * here.gap.value or stuck
            reason = self.monitor.stop(self.steps)
            if here.gap.within(tol) or solved or reason is not None:
                found, gap = self._conclude(here, tol, reason)
                idle = 0 if gap.value < 0.9 * least else idle + 1
                if best is None or gap.value < least:
                    best, least = found, gap.value
                ended = idle > SETTINGS.patience or (stuck and squared)
                if found.ended is None or reason is not None or ended:
                    return best._replace(ended=found.ended, n_iter=self.steps)
                if solved and not squared:
                    prox_centre, smoothing = found.t, self._next_smoothing(smoothing, f)
                    progress, stuck = _Progress(), False
                    continue
            new = self._step(here, prox_centre, smoothing)
            if new is None:
                stuck = True
                continue
            w, bias, f = new
            self.steps += 1

    def _first_round(self, w: Floats, prox_centre: Floats | None) -> tuple[Floats, float]:
        """The first proximal centre and smoothing: less of it where a good start is known."""
        if prox_centre is not None:
            smoothing = self.unit * SETTINGS.smoothing_factor**2
            return feasible(self.problem, prox_centre), smoothing
        smoothing = self.unit if w.any() else SETTINGS.first_smoothing * self.unit
        return np.zeros(self.design.shape[0]), smoothing

    def _next_smoothing(self, smoothing: float, f: Floats) -> float:
        """The smoothing of the next round."""
        unit = min(self.unit, float(np.abs(f).max(initial=0.0)) or self.unit)
        return max(smoothing * SETTINGS.smoothing_factor, SETTINGS.least_smoothing * unit)

    def _conclude(
        self, here: Iterate, tol: float, reason: Status | None
    ) -> tuple[LinearSolution, Gap]:
        """The solution at an iterate and its gap; a free bias needs duals of the right sum."""
        t, Xt, gap = here.duals.t, here.w - here.gradient[:-1], here.gap
        if self.problem.bias is Bias.FREE:
            t = feasible(self.problem, t)
            Xt = self.design.sum(t)
            gap = gap_of(self.problem, here.w, here.bias, t, here.f, Xt, self.scale)
        ended = gap.outcome(tol, reason)
        return LinearSolution(here.w, here.bias, t, here.f, Xt, ended, self.steps), gap

    def _at(
        self, w: Floats, bias: float, f: Floats, prox_centre: Floats, smoothing: float
    ) -> Iterate:
        problem = self.problem
        duals = problem.tube.duals(f, prox_centre, smoothing, self.design.backend)
        Xt = self.design.sum(duals.t)
        last = 0.0
        if problem.bias is not Bias.NONE:
            last = problem.m * bias + problem.total - duals.total
        gradient = np.append(w - Xt, last)
        curvature = problem.m + float(duals.curvature.sum()) or self.cost / smoothing
        value = dual(problem, float(Xt @ Xt), duals.neg_conjugate, duals.total)
        own_gap = 0.5 * float(gradient[:-1] @ gradient[:-1])
        if problem.bias is Bias.PENALISED:
            own_gap += 0.5 * last * last / problem.m
        elif problem.bias is Bias.FREE:
            # An estimate of D at a feasible sum: duals of samples near the edge must move.
            squared = problem.tube.squared
            less = 0.5 * last * last / curvature if squared else abs(last) * smoothing
            value += bias * (problem.total - duals.total) - less
            own_gap += less
        gap = Gap(primal(problem, float(w @ w), bias, duals.loss), value, self.scale)
        return Iterate(w, bias, f, duals, gradient, gap, own_gap, curvature)

    def _step(
        self, here: Iterate, prox_centre: Floats, smoothing: float
    ) -> tuple[Floats, float, Floats] | None:
        """A Newton step with a line search; None if rounding leaves no descent direction."""
        direction = self.system.direction(here)
        if not float(here.gradient @ direction) < 0:
            return None
        change = self.design.values(direction[:-1]) + direction[-1]
        length = self._line_search(here, direction, change, prox_centre, smoothing)
        w = here.w + length * direction[:-1]
        return w, here.bias + length * float(direction[-1]), here.f + length * change

    def _line_search(
        self,
        here: Iterate,
        direction: Floats,
        change: Floats,
        prox_centre: Floats,
        smoothing: float,
    ) -> float:
        """The step at which the slope is nearly 0: a bracket, then guarded regula falsi."""
        problem, dw, db = self.problem, direction[:-1], float(direction[-1])
        linear = float(here.w @ dw) + (problem.m * here.bias + problem.total) * db
        quadratic = float(dw @ dw) + problem.m * db * db
        losses = self.design.backend.tube_slope

        def slope(s: float) -> float:
            of_losses = losses(problem.tube, here.f, change, s, prox_centre, smoothing)
            return linear + s * quadratic + of_losses

        first, guard = float(here.gradient @ direction), SETTINGS.guard
        low, at_low, high, at_high = 0.0, first, 1.0, slope(1.0)
        while at_high < SETTINGS.flat * first and high < SETTINGS.longest_step:
            low, at_low, high = high, at_high, 2 * high
            at_high = slope(high)
        s, at = high, at_high
        for _ in range(SETTINGS.line_search_slopes):
            if abs(at) <= -SETTINGS.flat * first or not (low < high and at_low < at_high):
                break
            s = low + (high - low) * min(max(at_low / (at_low - at_high), guard), 1 - guard)
            at = slope(s)
            if at > 0:
                high, at_high = s, at
            else:
                low, at_low = s, at
        return s
