"""Newton's method for linear models: exact for every loss, at a few passes over the data a step.

Squared losses are smooth but for jumps of the curvature: Newton's method on P ends, when no sample
enters or leaves the tube any more, at the optimum. The plain losses are smoothed (losses.py)
around duals c:

    Phi(w, b) = 1/2 |w|^2 + m/2 b^2 + total b + sum_i smooth_i(f_i)             f = X w + b
    gradient    w - X't,   m b + total - sum t
    Hessian     1 + X_J' diag(curvature) X_J and the bias's row, J the samples whose loss curves at f

The minimiser of Phi has duals t that are better than c: c <- t, a smaller width, and again. This is
the proximal point method on the dual (the method of multipliers on the primal), and unlike
smoothing alone it arrives at the very optimum: each round gains a factor, more the smaller the
width. J shrinks to the samples on the edge of the tube, about as many as there are features.

The duality gap of Phi is 1/2 |w - X't|^2 (+ the bias's part); what P - D has beyond it is the
smoothing's. A round ends when the former is a small part of the latter, the work when P - D is
small.

Where there are few features the Hessian is factored; where there are many its products, two passes
over J, drive conjugate gradients.
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
    sample,
    sizes,
)
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.monitor import Monitor
from maxmargin.status import Status

FACTORED = 1200
"""Features up to which the Hessian is formed and factored."""
WIDEST, NARROWER, NARROWEST = 2.0, 0.3, 1e-6
"""The width of the first round from w = 0, in units of f: every sample shall curve there; of each
round, of the one before; and at least,
in units of f, or of the greatest f where that is smaller: duals are differences of f over the
width, and rounding grows."""
SOLVED = 0.2
"""A round ends when its own gap is this share of the whole."""
FLAT = 0.1
"""A step is long enough when the slope at its end is this share of that at its beginning, in
size."""
SMALLER, SEEDED = 8, 4_000
"""More samples than SEEDED begin at the solution of a SMALLER-th of them."""
REBUILT = 0.7
"""Changed samples, as a share of those that curve, above which X'DX is computed from all of them."""
PATIENCE = 5
"""Looks at the gap without progress after which rounding is all that is left."""
FEW = 0.7
"""Curved samples, as a share of the features, up to which the equation of the samples is solved."""
CONJUGATE = 200
"""Products with the Hessian a step, at most."""
LONGEST, LOOKS, GUARDED = 1e6, 30, 0.05
"""A line search: the length at most, slopes after the first two, and how far from the ends of its
interval it looks, as a share."""
FRUITLESS = 20
"""Steps of a round without a new least P or gap of its own after which rounding is all that is
left."""


class Point(NamedTuple):
    """A model (w, b), its decision values and what follows from them."""

    w: Floats
    bias: float
    f: Floats
    duals: Duals
    slope: Floats
    """w - X't and, last, m b + total - sum t."""
    gap: Gap
    own: float
    """The gap of the smoothed problem."""
    corner: float
    """The curvature by b; where nothing curves, as if every sample did."""


def solve(
    problem: LinearProblem,
    workspace: LinearWorkspace,
    tol: float,
    start: LinearSolution | None = None,
) -> LinearSolution:
    """Solve a linear problem; see the contract in workspace.py."""
    design, monitor, seed = workspace.design, workspace.monitor, workspace.seed
    if start is None and isinstance(design, ArrayDesign) and design.shape[0] > SEEDED:
        few, some = sample(problem, design, SMALLER, seed)
        start = solve(few, LinearWorkspace(some, monitor, seed), 1e-2)._replace(t=np.empty(0))
    run = _Run(problem, design, monitor)
    centre = None
    if start is None:
        w, bias = np.zeros(design.shape[1]), middle(problem)
    else:
        w, bias = start.w, start.bias
        centre = start.t if len(start.t) else None
    return run.until(tol, w, bias, centre)


class _Progress:
    """The least P and the least gap of its own that a round has met, and the steps since there was
    a new one.
    """

    def __init__(self) -> None:
        self.least, self.steps = (np.inf, np.inf), 0

    def made(self, here: Point) -> bool:
        """Whether there was a new least one lately."""
        found = here.gap.primal, here.own
        new = any(a < b for a, b in zip(found, self.least, strict=True))
        self.least = min(found[0], self.least[0]), min(found[1], self.least[1])
        self.steps = 0 if new else self.steps + 1
        return self.steps < FRUITLESS


class _Run:
    """One solve: the problem, its data and the number of steps so far."""

    def __init__(self, problem: LinearProblem, design: Design, monitor: Monitor) -> None:
        self.problem, self.design, self.monitor = problem, design, monitor
        self.scale, self.unit = sizes(problem, design)
        self.price = float(np.sum(np.maximum(problem.tube.up, problem.tube.down)))
        self.gram = IncrementalGram(design.gram, REBUILT)
        self.steps = 0

    def until(self, tol: float, w: Floats, bias: float, centre: Floats | None) -> LinearSolution:
        """Rounds of Newton steps until the gap is small enough."""
        problem, tube = self.problem, self.problem.tube
        f = self.design.values(w) + bias
        unit = self.unit
        width = unit if w.any() else WIDEST * unit
        if centre is None:
            centre = np.zeros(len(f))
        else:
            centre, width = feasible(problem, centre), unit * NARROWER**2
        best, least, idle, stuck = None, np.inf, 0, False
        progress = _Progress()
        while True:
            here = self._at(w, bias, f, centre, width)
            stuck = stuck or not progress.made(here)
            if self.monitor.wants_report():
                self.monitor.report(
                    self.steps, here.gap.value, here.own, int(np.count_nonzero(here.duals.t))
                )
            solved = here.own <= SOLVED * here.gap.value or stuck
            reason = self.monitor.stop(self.steps)
            if here.gap.within(tol) or solved or reason is not None:
                found, gap = self._conclude(here, tol, reason)
                idle = 0 if gap.value < 0.9 * least else idle + 1
                if best is None or gap.value < least:
                    best, least = found, gap.value
                ended = idle > PATIENCE or (stuck and tube.squared)
                if found.ended is None or reason is not None or ended:
                    return best._replace(ended=found.ended, n_iter=self.steps)
                if solved and not tube.squared:
                    narrowest = NARROWEST * min(unit, float(np.abs(f).max(initial=0.0)) or unit)
                    centre, width = found.t, max(width * NARROWER, narrowest)
                    progress, stuck = _Progress(), False
                    continue
            new = self._step(here, centre, width)
            if new is None:
                stuck = True
                continue
            w, bias, f = new
            self.steps += 1

    def _conclude(
        self, here: Point, tol: float, reason: Status | None
    ) -> tuple[LinearSolution, Gap]:
        """The solution at a point and its gap.

        Where no sum of the duals is asked for they are known already.
        """
        t, Xt, gap = here.duals.t, here.w - here.slope[:-1], here.gap
        if self.problem.bias is Bias.FREE:
            t = feasible(self.problem, t)
            Xt = self.design.sum(t)
            gap = gap_of(self.problem, here.w, here.bias, t, here.f, Xt, self.scale)
        return LinearSolution(
            here.w, here.bias, t, here.f, Xt, gap.outcome(tol, reason), self.steps
        ), gap

    def _at(self, w: Floats, bias: float, f: Floats, centre: Floats, width: float) -> Point:
        problem = self.problem
        duals = problem.tube.duals(f, centre, width, self.design.backend)
        Xt = self.design.sum(duals.t)
        slope = np.append(
            w - Xt,
            problem.m * bias + problem.total - duals.total
            if problem.bias is not Bias.NONE
            else 0.0,
        )
        corner = problem.m + float(duals.curvature.sum()) or self.price / width
        value = dual(problem, float(Xt @ Xt), duals.neg_conjugate, duals.total)
        own, last = 0.5 * float(slope[:-1] @ slope[:-1]), float(slope[-1])
        if problem.bias is Bias.PENALISED:
            own += 0.5 * last * last / problem.m
        elif (
            problem.bias is Bias.FREE
            # what D would be at a feasible sum: the duals of samples within a width of the edge must
            # move
        ):
            less = 0.5 * last * last / corner if problem.tube.squared else abs(last) * width
            value += bias * (problem.total - duals.total) - less
            own += less
        return Point(
            w,
            bias,
            f,
            duals,
            slope,
            Gap(primal(problem, float(w @ w), bias, duals.loss), value, self.scale),
            own,
            corner,
        )

    def _step(
        self, here: Point, centre: Floats, width: float
    ) -> tuple[Floats, float, Floats] | None:
        """A Newton step as long as it pays; None where rounding leaves no direction of descent."""
        direction = self._direction(here)
        if not float(here.slope @ direction) < 0:
            return None
        change = self.design.values(direction[:-1]) + direction[-1]
        length = self._length(here, direction, change, centre, width)
        w = here.w + length * direction[:-1]
        return w, here.bias + length * float(direction[-1]), here.f + length * change

    def _direction(self, here: Point) -> Floats:
        """Minus the inverse Hessian times the gradient; the bias is last."""
        curved = np.flatnonzero(here.duals.curvature)
        curvature, d = here.duals.curvature[curved], self.design.shape[1]
        if (
            len(curved) == 0 and self.problem.bias is Bias.FREE
        ):  # w and b have nothing to do with each other: a length for each
            bias = here.slope[-1] ** 2 > here.corner * float(here.slope[:-1] @ here.slope[:-1])
            return (
                np.append(np.zeros(d), -here.slope[-1] / here.corner)
                if bias
                else np.append(-here.slope[:-1], 0.0)
            )
        if (
            0 < len(curved) < FEW * d
            and len(curved) <= FACTORED
            and isinstance(self.design, ArrayDesign)
            and self.design.precise
        ):
            return self._by_samples(here, self.design.products(curved), curved, curvature)
        corner = here.corner if self.problem.bias is not Bias.NONE else 1.0
        border = (
            self.design.sum(curvature, curved)
            if self.problem.bias is not Bias.NONE
            else np.zeros(d)
        )
        if d > FACTORED:
            return self._conjugate(here, curved, curvature, border, corner)
        H = np.empty((d + 1, d + 1))
        H[:d, :d] = (
            self.gram.of_scaled(here.duals.curvature)
            if isinstance(self.design, ArrayDesign)
            else self.design.gram(curvature, curved)
        )
        H[d, :d] = H[:d, d] = border
        H[d, d] = corner
        H[np.arange(d), np.arange(d)] += 1.0
        return cholesky_solve(H, -here.slope)

    def _by_samples(self, here: Point, S: Floats, curved: Integers, curvature: Floats) -> Floats:
        """The same where fewer samples curve than there are features, from their dot products S.

        With v = diag(curvature) (X_J dw + db) the Newton equation is dw = -g - X_J'v, m db + 1'v =
        -h (g, h the gradient), so that (diag(1 / curvature) + X_J X_J') v = 1 db - X_J g.
        """
        g, h = here.slope[:-1], float(here.slope[-1])
        S[np.arange(len(S)), np.arange(len(S))] += 1 / curvature
        right = np.column_stack([-self.design.values(g, curved), np.ones(len(S))])
        first, second = cholesky_solve(S, right).T
        stiffness = self.problem.m + float(second.sum())
        db = -(h + float(first.sum())) / stiffness if self.problem.bias is not Bias.NONE else 0.0
        return np.append(-g - self.design.sum(first + db * second, curved), db)

    def _conjugate(
        self, here: Point, curved: Integers, curvature: Floats, border: Floats, corner: float
    ) -> Floats:
        """Conjugate gradients on the Newton equation, the bias scaled to its own curvature."""
        scale = np.append(np.ones(len(border)), 1 / np.sqrt(corner))

        def product(u: Floats) -> Floats:
            out = np.append(u[:-1] + border * u[-1], border @ u[:-1] + corner * u[-1])
            out[:-1] += self.design.sum(curvature * self.design.values(u[:-1], curved), curved)
            return out

        return conjugate_gradients(product, -here.slope, scale, 0.01, CONJUGATE, self.monitor)

    def _length(
        self, here: Point, direction: Floats, change: Floats, centre: Floats, width: float
    ) -> float:
        """Where the slope along the direction is nearly 0: it grows with the length."""
        problem, dw, db = self.problem, direction[:-1], float(direction[-1])
        linear = float(here.w @ dw) + (problem.m * here.bias + problem.total) * db
        quadratic = float(dw @ dw) + problem.m * db * db

        def slope(s: float) -> float:
            return (
                linear
                + s * quadratic
                + self.design.backend.tube_slope(problem.tube, here.f, change, s, centre, width)
            )

        first = float(here.slope @ direction)
        low, at_low, high, at_high = 0.0, first, 1.0, slope(1.0)
        while at_high < FLAT * first and high < LONGEST:
            low, at_low, high = high, at_high, 2 * high
            at_high = slope(high)
        s, at = high, at_high
        for _ in range(LOOKS):
            if abs(at) <= -FLAT * first or not (low < high and at_low < at_high):
                break
            s = low + (high - low) * min(max(at_low / (at_low - at_high), GUARDED), 1 - GUARDED)
            at = slope(s)
            if at > 0:
                high, at_high = s, at
            else:
                low, at_low = s, at
        return s
