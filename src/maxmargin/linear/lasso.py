"""Linear models whose weights' absolute values are penalised: squared losses, few features used.

    P(w, b) = |w|_1 + |v| + sum_i loss_i(f_i)        f = X w + s v,  b = s v      (a bias penalised as LIBLINEAR does)
    P(w, b) = |w|_1 + sum_i loss_i(f_i)              f = X w + b                  (free bias)

Its dual has no quadratic term in X: with t_i = -loss_i'(f_i) at the optimum,

    D(t) = sum_i gain_i(t_i)     over   |X't|_inf <= 1   and   |s sum t| <= 1  or, with a free bias,  sum t = 0

Any t is made feasible by the factor 1 / |X't|_inf; below that bound the best factor maximises a
parabola, c sum lin_i - c^2 sum quad_i. In the code u = (w, v), `price` = the penalties of |u|,
`slope` = the gradient (-X't, -s sum t) of the losses by u.

A Newton step minimises a quadratic model plus the penalties over the features that are used or
ought to be (quadratic.py). Where more features are used than its matrix is worth, columns.py
descends on P itself, one column at a time, which finds the features, and conjugate gradients on the
weights in use find the values.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.arrays import Floats
from maxmargin.linear.designs import ArrayDesign, Design
from maxmargin.linear.equations import conjugate_gradients
from maxmargin.linear.losses import Bias, Duals, LinearProblem, with_sum
from maxmargin.linear.objectives import Gap, LinearSolution, neg_conjugates
from maxmargin.linear.primal_coordinate import Columns
from maxmargin.linear.quadratic import Hessian, minimiser
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.monitor import Monitor
from maxmargin.status import Status

EXPLICIT = 1000
"""Features up to which H is formed."""
SMALLER, SEEDED = 8, 40_000
"""More samples than SEEDED begin at the solution of a SMALLER-th of them."""
FIRST, NEXT, MOST = 4, 2, 40
"""Passes over the columns before the first conjugate gradients, after a full step by them, and
(doubling) after steps cut short."""
PRODUCTS, CLOSER = 50, 0.1
"""Products with H that conjugate gradients may take to make their residual so much smaller: at
first."""
SLOW, MOST_PRODUCTS, CLOSEST = 0.5, 400, 1e-4
"""Where the gap is still this share of the one a round before, twice as many products and a tenth
of the residual: up to these."""


class Point(NamedTuple):
    """Weights, their decision values and what follows from them."""

    u: Floats
    f: Floats
    duals: Duals
    slope: Floats
    primal: float
    factor: float
    """The duals times this are feasible but for the sum of a free bias."""
    dual: float


def solve(
    problem: LinearProblem,
    workspace: LinearWorkspace,
    tol: float,
    start: LinearSolution | None = None,
) -> LinearSolution:
    """Solve a problem with penalised absolute values; see the contract in workspace.py."""
    design, monitor, seed = workspace.design, workspace.monitor, workspace.seed
    if not problem.tube.squared or problem.total != 0:
        raise ValueError(
            "penalty='l1' needs a squared loss (squared_hinge or squared_epsilon_insensitive): the "
            "others have no curvature"
        )
    n, d = design.shape
    explicit = d <= EXPLICIT
    if not explicit and not isinstance(design, ArrayDesign):
        raise ValueError(
            f"penalty='l1' on chunks of data takes up to {EXPLICIT} features, these have {d}: "
            "select features, or use an array"
        )
    if start is None and isinstance(design, ArrayDesign) and explicit and n > SEEDED:
        start = solve(*workspace.subsample(problem, SMALLER), 1e-2)
    run = _Run(problem, design, tol, monitor)
    u = np.zeros(d + 1)
    if start is not None:
        u[:d], u[d] = start.w, start.bias / run.column if run.column else 0.0
    return run.by_newton(run.at(u)) if explicit else run.by_columns(run.at(u), seed)


def objectives(problem: LinearProblem, design: Design, w: Floats, bias: float, t: Floats) -> Gap:
    """P, and D of the greatest multiple of t not above t that is feasible.

    -inf where a free bias's sum of t is not 0.
    """
    return _objectives(
        problem, LinearSolution(w, bias, t, design.values(w) + bias, design.sum(t), None, 0)
    )


def _objectives(problem: LinearProblem, found: LinearSolution) -> Gap:
    """The same of a solution, which has its products with the data."""
    w, bias, t = found[:3]
    penalty = abs(bias) / problem.scaling if problem.bias is Bias.PENALISED else 0.0
    primal = float(np.abs(w).sum()) + penalty + problem.tube.losses(found.f)
    excess = float(np.abs(found.Xt).max(initial=0.0))
    total = float(t.sum())
    if problem.bias is Bias.PENALISED:
        excess = max(excess, abs(problem.scaling * total))
    if problem.bias is Bias.FREE and abs(total) > 1e-12 * float(np.abs(t).sum()):
        return Gap(primal, -np.inf)
    return Gap(primal, neg_conjugates(problem.tube, t / max(excess, 1.0)))


class _Run:
    """One solve.

    The problem, its data, the number of steps so far, and H with the samples it was made of.
    """

    def __init__(
        self, problem: LinearProblem, design: Design, tol: float, monitor: Monitor
    ) -> None:
        self.problem, self.design, self.tol, self.monitor = problem, design, tol, monitor
        self.column = {Bias.NONE: 0.0, Bias.FREE: 1.0, Bias.PENALISED: problem.scaling}[
            problem.bias
        ]
        self.price = np.append(np.ones(design.shape[1]), 0.0 if problem.bias is Bias.FREE else 1.0)
        self.steps = 0
        self.hessian = Hessian(design, self.column)

    def by_newton(self, here: Point) -> LinearSolution:
        """Newton steps until the gap is small enough."""
        best, idle = np.inf, 0
        while True:
            ended = self.ended(here)
            if ended is not None:
                return ended
            if here.primal - here.dual < 0.9 * best:
                best, idle = here.primal - here.dual, 0
            idle += 1
            if idle > 30:
                return self.solution(here, Status.STALLED)
            after = self._step(here)
            if after is None:
                return self.solution(here, Status.STALLED)
            here = after
            self.steps += 1

    def by_columns(self, here: Point, seed: int) -> LinearSolution:
        """Passes over the columns until the gap is small enough.

        Newton steps at the end if few features turn out to be used.
        """
        assert isinstance(self.design, ArrayDesign)
        columns = Columns(self.problem.tube, self.design, self.column, self.price, seed)
        best, idle, most = (np.inf, np.inf), 0, FIRST
        products, closer, before = PRODUCTS, CLOSER, np.inf
        while True:
            ended = self.ended(here)
            if ended is not None:
                return ended
            if self.steps > 0 and int(self._wanted(here).sum()) <= EXPLICIT:
                return self.by_newton(here)
            gap = here.primal - here.dual
            fell = gap < 0.9 * best[0] or here.primal < best[1] * (1 - 1e-12)
            best, idle = (min(gap, best[0]), min(here.primal, best[1])), 0 if fell else idle + 1
            if idle > 5:
                return self.solution(here, Status.STALLED)
            u, passes = columns.descend(here.u, here.f, most, self.monitor, self.steps)
            self.steps += passes
            here = self.at(u)
            if Gap(here.primal, here.dual).within(self.tol):
                continue
            gap = here.primal - here.dual
            if gap > SLOW * before:
                products, closer = min(2 * products, MOST_PRODUCTS), max(0.1 * closer, CLOSEST)
            before = gap
            goal = self._conjugate(here, columns.squares, products, closer)
            after = self._moved(here, goal)
            most = NEXT if after is not None and after.u is goal else min(2 * most, MOST)
            here = after or here
            self.steps += 1

    def at(self, u: Floats, f: Floats | None = None, duals: Duals | None = None) -> Point:
        """Weights with all that follows."""
        f = self.design.values(u[:-1]) + self.column * u[-1] if f is None else f
        duals = (
            self.problem.tube.duals(f, None, 1.0, self.design.backend) if duals is None else duals
        )
        slope = -np.append(self.design.sum(duals.t), self.column * duals.total)
        bound = np.abs(slope if self.problem.bias is Bias.PENALISED else slope[:-1]).max(
            initial=1.0
        )
        linear, quadratic = duals.neg_conjugate + duals.loss, duals.loss
        factor = min(1 / bound, linear / (2 * quadratic)) if quadratic > 0 else 1.0
        value = factor * linear - factor * factor * quadratic
        if self.problem.bias is Bias.FREE:  # what D would be at a feasible sum, to first order
            value -= abs(float(u[-1]) * duals.total)
        return Point(
            u, f, duals, slope, float(self.price @ np.abs(u)) + duals.loss, float(factor), value
        )

    def ended(self, here: Point) -> LinearSolution | None:
        """The solution, if it is good enough or the work must stop."""
        if self.monitor.wants_report():
            self.monitor.report(
                self.steps, here.primal - here.dual, 0.0, int(np.count_nonzero(here.duals.t))
            )
        if Gap(here.primal, here.dual).within(self.tol):
            found = self.solution(here, None)
            if _objectives(self.problem, found).within(self.tol):
                return found
        reason = self.monitor.stop(self.steps)
        return None if reason is None else self.solution(here, reason)

    def solution(self, here: Point, ended: Status | None) -> LinearSolution:
        """The point with feasible duals."""
        t = here.factor * here.duals.t
        if self.problem.bias is Bias.FREE:
            t = with_sum(self.problem.tube, t, 0.0)
            t = with_sum(
                self.problem.tube, t, 0.0
            )  # the first leaves a rounding error of the sizes it took off
        t = t / max(float(np.abs(self.design.sum(t)).max(initial=0.0)) * (1 + 1e-15), 1.0)
        w, bias = here.u[:-1].copy(), self.column * float(here.u[-1])
        return LinearSolution(
            w, bias, t, self.design.values(w) + bias, self.design.sum(t), ended, self.steps
        )

    def _step(self, here: Point) -> Point | None:
        """A Newton step as long as P falls; None where it does not any more."""
        used, H = self.hessian.of(self._wanted(here), here.duals.curvature)
        u = here.u.copy()
        u[used] = minimiser(
            H, self.price[used], here.u[used], here.slope[used], self.design.backend
        )
        return self._moved(here, u)

    def _wanted(self, here: Point) -> NDArray[np.bool_]:
        """The weights in use and those that ought to be."""
        wanted: NDArray[np.bool_] = (here.u != 0) | (np.abs(here.slope) > self.price)
        wanted[-1] |= self.column != 0
        return wanted

    def _conjugate(self, here: Point, squares: Floats, products: int, closer: float) -> Floats:
        """The weights in use after a Newton step by conjugate gradients.

        Those that would change sign become 0.
        """
        curved = np.flatnonzero(here.duals.curvature)
        curvature = here.duals.curvature[curved]
        used = here.u != 0
        scale = np.divide(
            1.0, np.sqrt(squares), out=np.zeros(len(squares)), where=used & (squares > 0)
        )

        def product(x: Floats) -> Floats:
            inside = curvature * (self.design.values(x[:-1], curved) + self.column * x[-1])
            return np.append(self.design.sum(inside, curved), self.column * float(inside.sum()))

        right = -(here.slope + self.price * np.sign(here.u))
        u = here.u + conjugate_gradients(product, right, scale, closer**2, products, self.monitor)
        return np.where((u * here.u < 0) & (self.price > 0), 0.0, u)

    def _moved(self, here: Point, u: Floats) -> Point | None:
        """The point u, or one on the way there where P is least.

        None where P does not fall any more.
        """
        direction = u - here.u
        if not direction.any():
            return None
        change = self.design.values(direction[:-1]) + self.column * direction[-1]
        expected = float(here.slope @ direction) + float(self.price @ (np.abs(u) - np.abs(here.u)))
        f = here.f + change
        duals = self.problem.tube.duals(f, None, 1.0, self.design.backend)
        if float(self.price @ np.abs(u)) + duals.loss <= here.primal + 0.01 * expected:
            return self.at(u, f, duals)
        length = self._length(here, direction, change)
        after = self.at(here.u + length * direction)
        rounding = 1e-14 * here.primal
        return (
            after
            if after.primal < here.primal + rounding and (length > 0 or expected < -rounding)
            else None
        )

    def _length(self, here: Point, direction: Floats, change: Floats) -> float:
        """Where P is least along the direction: its slope grows with the length."""
        tube = self.problem.tube

        def rising(s: float) -> bool:
            at = here.u + s * direction
            side = np.where(at != 0, np.sign(at), np.sign(direction))
            return (
                float(self.price @ (side * direction))
                + self.design.backend.tube_slope(tube, here.f, change, s, None, 1.0)
                > 0
            )

        low, high = 0.0, 1.0
        for _ in range(25):
            s = 0.5 * (low + high)
            low, high = (low, s) if rising(s) else (s, high)
        return 0.5 * (low + high)
