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

With few features the Hessian is formed and factored. With many, conjugate gradients use products
with it, which take two passes over J each.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers
from maxmargin.linear.bias_search import middle
from maxmargin.linear.designs import ArrayDesign, Design
from maxmargin.linear.equations import cholesky_solve, conjugate_gradients
from maxmargin.linear.gram import IncrementalGram
from maxmargin.linear.losses import Bias, Duals, LinearProblem
from maxmargin.linear.objectives import (
    Gap,
    LinearSolution,
    dual,
    feasible,
    gap_of,
    primal,
    sizes,
)
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.monitor import Monitor
from maxmargin.status import Status


class Settings(NamedTuple):
    """Settings of the semismooth Newton method (decision 15)."""

    factor_up_to: int = 1200
    """Features up to which the Hessian is formed and factored."""
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
    subsample_divisor: int = 8
    """Samples of the whole problem per sample of the subsample."""
    woodbury_below: float = 0.7
    """Samples with curvature, as a share of the features, below which the Newton equation is solved
    in the space of the samples."""
    rebuild_above: float = 0.7
    """Samples whose curvature changed, as a share of those with curvature, above which X'DX is
    computed from all of them."""
    cg_products: int = 200
    """Products with the Hessian per step, at most."""
    cg_accuracy: float = 0.01
    """Conjugate gradients end when the squared residual is this share of the first."""
    flat: float = 0.1
    """The line search ends where the slope is at most this share of the first, in magnitude."""
    longest_step: float = 1e6
    """The longest step, in Newton steps."""
    line_search_slopes: int = 30
    """Slopes that a line search may evaluate after it has bracketed the minimum."""
    guard: float = 0.05
    """Distance of a trial step from the ends of the bracket, as a share of its length."""


SETTINGS = Settings()


class Iterate(NamedTuple):
    """A model (w, b), its decision values and what follows from them."""

    w: Floats
    bias: float
    f: Floats
    duals: Duals
    gradient: Floats
    """w - X't and, last, m b + total - sum t."""
    gap: Gap
    own_gap: float
    """The gap of the smoothed problem."""
    bias_curvature: float
    """The second derivative by b. Where no loss has curvature, as if every loss had."""


def solve(
    problem: LinearProblem,
    workspace: LinearWorkspace,
    tol: float,
    start: LinearSolution | None = None,
) -> LinearSolution:
    """Solve a linear problem; see the contract in workspace.py."""
    n, d = workspace.design.shape
    if start is None and n > SETTINGS.subsample_above and workspace.in_memory:
        small = workspace.subsample(problem, SETTINGS.subsample_divisor)
        start = solve(*small, 1e-2)._replace(t=np.empty(0))
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
        self.gram = IncrementalGram(design.gram, SETTINGS.rebuild_above)
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
        direction = self._direction(here)
        if not float(here.gradient @ direction) < 0:
            return None
        change = self.design.values(direction[:-1]) + direction[-1]
        length = self._line_search(here, direction, change, prox_centre, smoothing)
        w = here.w + length * direction[:-1]
        return w, here.bias + length * float(direction[-1]), here.f + length * change

    def _direction(self, here: Iterate) -> Floats:
        """Minus the inverse Hessian times the gradient; the bias is last."""
        curved, design = np.flatnonzero(here.duals.curvature), self.design
        d, free = design.shape[1], self.problem.bias is not Bias.NONE
        if len(curved) == 0 and self.problem.bias is Bias.FREE:
            return _flat_direction(here)
        curvature = here.duals.curvature[curved]
        few = 0 < len(curved) < SETTINGS.woodbury_below * d and len(curved) <= SETTINGS.factor_up_to
        if few and isinstance(design, ArrayDesign) and design.precise:
            return self._by_woodbury(here, design.products(curved), curved, curvature)
        corner = here.bias_curvature if free else 1.0
        border = design.sum(curvature, curved) if free else np.zeros(d)
        if d > SETTINGS.factor_up_to:
            return self._by_conjugate_gradients(here, curved, curvature, border, corner)
        H = np.empty((d + 1, d + 1))
        H[:d, :d] = (
            self.gram.of_scaled(here.duals.curvature)
            if isinstance(design, ArrayDesign)
            else design.gram(curvature, curved)
        )
        H[d, :d] = H[:d, d] = border
        H[d, d] = corner
        H[np.arange(d), np.arange(d)] += 1.0
        return cholesky_solve(H, -here.gradient)

    def _by_woodbury(self, here: Iterate, S: Floats, curved: Integers, curvature: Floats) -> Floats:
        """The same from the dot products S of the samples with curvature, which are few.

        With v = diag(curvature) (X_J dw + db) the Newton equation is dw = -g - X_J'v, m db + 1'v =
        -h (g, h the gradient), so that (diag(1 / curvature) + X_J X_J') v = 1 db - X_J g.
        """
        g, h = here.gradient[:-1], float(here.gradient[-1])
        S[np.arange(len(S)), np.arange(len(S))] += 1 / curvature
        right = np.column_stack([-self.design.values(g, curved), np.ones(len(S))])
        first, second = cholesky_solve(S, right).T
        stiffness = self.problem.m + float(second.sum())
        db = -(h + float(first.sum())) / stiffness if self.problem.bias is not Bias.NONE else 0.0
        return np.append(-g - self.design.sum(first + db * second, curved), db)

    def _by_conjugate_gradients(
        self, here: Iterate, curved: Integers, curvature: Floats, border: Floats, corner: float
    ) -> Floats:
        """The same by conjugate gradients, the bias scaled to its own curvature."""
        scale = np.append(np.ones(len(border)), 1 / np.sqrt(corner))

        def product(u: Floats) -> Floats:
            out = np.append(u[:-1] + border * u[-1], border @ u[:-1] + corner * u[-1])
            out[:-1] += self.design.sum(curvature * self.design.values(u[:-1], curved), curved)
            return out

        accuracy, most = SETTINGS.cg_accuracy, SETTINGS.cg_products
        return conjugate_gradients(product, -here.gradient, scale, accuracy, most, self.monitor)

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


def _flat_direction(here: Iterate) -> Floats:
    """A direction where no loss has curvature.

    w and a free bias are independent there and need steps of their own: the steeper one moves.
    """
    g, h = here.gradient[:-1], here.gradient[-1]
    if h**2 > here.bias_curvature * float(g @ g):
        return np.append(np.zeros(len(g)), -h / here.bias_curvature)
    return np.append(-g, 0.0)
