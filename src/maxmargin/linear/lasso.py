"""The lasso: linear models with an l1 penalty and squared losses, which use few features.

    P(w, b) = |w|_1 + |v| + sum_i loss_i(f_i)    f = X w + s v,  b = s v    (LIBLINEAR's bias)
    P(w, b) = |w|_1 + sum_i loss_i(f_i)          f = X w + b                (free bias)

Its dual has no quadratic term in X. With t_i = -loss_i'(f_i) at the optimum,

    D(t) = sum_i neg_conjugate_i(t_i)    subject to   |X't|_inf <= 1
                                         and   |s sum t| <= 1  or, for a free bias,  sum t = 0

Any t becomes feasible by the factor 1 / |X't|_inf; below that bound the best factor c maximises a
parabola, c sum lin_i - c^2 sum quad_i. In the code u = (w, v), ``penalty`` are the weights of |u|,
``gradient`` is that of the losses by u, (-X't, -s sum t).

With few features in use, proximal Newton steps minimise a quadratic model plus the penalty over the
active set (quadratic.py). With many, coordinate descent on P itself (primal_coordinate.py) finds
the features, and conjugate gradients on the weights in use find their values.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers, Mask
from maxmargin.linear.designs import ArrayDesign, Design
from maxmargin.linear.equations import conjugate_gradients
from maxmargin.linear.losses import Bias, Duals, LinearProblem, with_sum
from maxmargin.linear.objectives import Gap, LinearSolution, l1_gap_of
from maxmargin.linear.primal_coordinate import Columns
from maxmargin.linear.quadratic import Hessian, minimiser
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.monitor import Monitor
from maxmargin.status import Status


class Settings(NamedTuple):
    """Settings of the lasso (decision 15)."""

    newton_up_to: int = 1000
    """Features in use up to which the Hessian is formed."""
    subsample_above: int = 40_000
    """Samples above which the solver starts at the solution of a subsample."""
    patience: int = 30
    """Newton steps without a tenth less of the gap after which only rounding is left."""
    rounds: int = 5
    """The same for rounds of epochs and conjugate gradients, without a lower objective either."""
    first_epochs: int = 4
    """Epochs over the columns before the first conjugate gradients."""
    epochs: int = 2
    """Epochs after a full step by conjugate gradients; twice as many after each shorter one."""
    most_epochs: int = 40
    """Epochs after shorter steps, at most."""
    products: int = 50
    """Products of the first conjugate gradients, at most."""
    most_products: int = 400
    """Products of later ones, at most."""
    residual: float = 0.1
    """The residual that ends the first conjugate gradients, relative to its first value."""
    least_residual: float = 1e-4
    """The residual that ends later ones, at least."""
    slow: float = 0.5
    """If a round leaves more than this share of the gap, the next takes twice the products and a
    tenth of the residual."""


SETTINGS = Settings()


class Iterate(NamedTuple):
    """Weights u, their decision values and what follows from them."""

    u: Floats
    f: Floats
    duals: Duals
    gradient: Floats
    """Of the losses by u."""
    primal: float
    factor: float
    """The duals times this are feasible, except for the sum that a free bias needs."""
    dual: float

    @property
    def gap(self) -> Gap:
        """P and D."""
        return Gap(self.primal, self.dual)


def solve(
    problem: LinearProblem,
    workspace: LinearWorkspace,
    tol: float,
    start: LinearSolution | None = None,
) -> LinearSolution:
    """Solve a problem with the l1 penalty; see the contract in workspace.py."""
    design, most = workspace.design, SETTINGS.newton_up_to
    if not problem.tube.squared or problem.total != 0:
        raise ValueError(
            "penalty='l1' needs a squared loss (squared_hinge or squared_epsilon_insensitive): the "
            "others have no curvature"
        )
    n, d = design.shape
    if d > most and not workspace.in_memory:
        raise ValueError(
            f"penalty='l1' on chunks of data takes up to {most} features, these have {d}: "
            "select features, or use an array"
        )
    if start is None and workspace.in_memory and d <= most and n > SETTINGS.subsample_above:
        start = solve(*workspace.subsample(problem))
    run = _Run(problem, design, tol, workspace.monitor)
    u = np.zeros(d + 1)
    if start is not None:
        u[:d], u[d] = start.w, start.bias / run.column if run.column else 0.0
    here = run.at(u)
    return run.by_newton(here) if d <= most else run.by_columns(here, workspace.seed)


class Effort(NamedTuple):
    """How long conjugate gradients run."""

    products: int
    residual: float

    def more(self) -> "Effort":
        """Twice the products and a tenth of the residual, within limits."""
        products = min(2 * self.products, SETTINGS.most_products)
        return Effort(products, max(0.1 * self.residual, SETTINGS.least_residual))


class _Run:
    """One solve: the problem, its data, the Hessian and the number of steps so far."""

    def __init__(
        self, problem: LinearProblem, design: Design, tol: float, monitor: Monitor
    ) -> None:
        self.problem, self.design, self.tol, self.monitor = problem, design, tol, monitor
        self.column = problem.bias.choose(1.0, problem.scaling)
        self.penalty = np.append(np.ones(design.shape[1]), float(problem.bias is not Bias.FREE))
        self.steps = 0
        self.hessian = Hessian(design, self.column)

    def by_newton(self, here: Iterate) -> LinearSolution:
        """Newton steps until the gap is small enough."""
        best, idle = np.inf, 0
        while True:
            if (ended := self.ended(here)) is not None:
                return ended
            if here.gap.value < 0.9 * best:
                best, idle = here.gap.value, 0
            idle += 1
            after = self._step(here) if idle <= SETTINGS.patience else None
            if after is None:
                return self.solution(here, Status.STALLED)
            here = after
            self.steps += 1

    def by_columns(self, here: Iterate, seed: int) -> LinearSolution:
        """Rounds of epochs over the columns and conjugate gradients until the gap is small enough.

        Newton steps follow if few features turn out to be in use.
        """
        assert isinstance(self.design, ArrayDesign)
        columns = Columns(self.problem.tube, self.design, self.column, self.penalty, seed)
        best, idle, epochs = (np.inf, np.inf), 0, SETTINGS.first_epochs
        effort, before = Effort(SETTINGS.products, SETTINGS.residual), np.inf
        while True:
            if (ended := self.ended(here)) is not None:
                return ended
            if self.steps > 0 and int(self._active_set(here).sum()) <= SETTINGS.newton_up_to:
                return self.by_newton(here)
            gap = here.gap.value
            fell = gap < 0.9 * best[0] or here.primal < best[1] * (1 - 1e-12)
            best, idle = (min(gap, best[0]), min(here.primal, best[1])), 0 if fell else idle + 1
            if idle > SETTINGS.rounds:
                return self.solution(here, Status.STALLED)
            u, done = columns.descend(here.u, here.f, epochs, self.monitor, self.steps)
            self.steps += done
            here = self.at(u)
            if here.gap.within(self.tol):
                continue
            gap = here.gap.value
            effort = effort.more() if gap > SETTINGS.slow * before else effort
            before = gap
            goal = self._by_conjugate_gradients(here, columns.squares, effort)
            after = self._line_search(here, goal)
            full = after is not None and after.u is goal
            epochs = SETTINGS.epochs if full else min(2 * epochs, SETTINGS.most_epochs)
            here = after or here
            self.steps += 1

    def at(self, u: Floats, f: Floats | None = None, duals: Duals | None = None) -> Iterate:
        """The iterate of given weights."""
        f = self._values(u) if f is None else f
        duals = self._duals(f) if duals is None else duals
        gradient = -np.append(self.design.sum(duals.t), self.column * duals.total)
        bounded = gradient if self.problem.bias is Bias.PENALISED else gradient[:-1]
        bound = np.abs(bounded).max(initial=1.0)
        linear, quadratic = duals.neg_conjugate + duals.loss, duals.loss
        factor = min(1 / bound, linear / (2 * quadratic)) if quadratic > 0 else 1.0
        value = factor * linear - factor * factor * quadratic
        if self.problem.bias is Bias.FREE:  # what D would be at a feasible sum, to first order
            value -= abs(float(u[-1]) * duals.total)
        return Iterate(u, f, duals, gradient, self._primal(u, duals), float(factor), value)

    def _values(self, u: Floats, rows: Integers | None = None) -> Floats:
        """Decision values of weights u, or their change."""
        return self.design.values(u[:-1], rows) + self.column * float(u[-1])

    def _duals(self, f: Floats) -> Duals:
        """The duals at decision values f."""
        return self.problem.tube.duals(f, None, 1.0, self.design.backend)

    def _primal(self, u: Floats, duals: Duals) -> float:
        """P."""
        return float(self.penalty @ np.abs(u)) + duals.loss

    def ended(self, here: Iterate) -> LinearSolution | None:
        """The solution, if it is good enough or the work must stop."""
        if self.monitor.wants_report():
            support = int(np.count_nonzero(here.duals.t))
            self.monitor.report(self.steps, here.gap.value, 0.0, support)
        if here.gap.within(self.tol):
            found = self.solution(here, None)
            if l1_gap_of(self.problem, found).within(self.tol):
                return found
        reason = self.monitor.stop(self.steps)
        return None if reason is None else self.solution(here, reason)

    def solution(self, here: Iterate, ended: Status | None) -> LinearSolution:
        """The iterate with feasible duals."""
        t = here.factor * here.duals.t
        if self.problem.bias is Bias.FREE:
            for _ in range(2):  # the first time leaves rounding of the amounts it took off
                t = with_sum(self.problem.tube, t, 0.0)
        t = t / max(float(np.abs(self.design.sum(t)).max(initial=0.0)) * (1 + 1e-15), 1.0)
        w, bias = here.u[:-1].copy(), self.column * float(here.u[-1])
        f, Xt = self.design.values(w) + bias, self.design.sum(t)
        return LinearSolution(w, bias, t, f, Xt, ended, self.steps)

    def _step(self, here: Iterate) -> Iterate | None:
        """A Newton step with a line search; None if P does not fall any more."""
        used, H = self.hessian.of(self._active_set(here), here.duals.curvature)
        u = here.u.copy()
        model = H, self.penalty[used], here.u[used], here.gradient[used]
        u[used] = minimiser(*model, self.design.backend)
        return self._line_search(here, u)

    def _active_set(self, here: Iterate) -> Mask:
        """The weights in use, and those at 0 that violate their condition."""
        wanted: Mask = (here.u != 0) | (np.abs(here.gradient) > self.penalty)
        wanted[-1] |= self.column != 0
        return wanted

    def _by_conjugate_gradients(self, here: Iterate, squares: Floats, effort: Effort) -> Floats:
        """The weights in use after a Newton step; those that would change sign become 0."""
        curved = np.flatnonzero(here.duals.curvature)
        curvature = here.duals.curvature[curved]
        used = here.u != 0
        inside = used & (squares > 0)
        scale = np.divide(1.0, np.sqrt(squares), out=np.zeros(len(squares)), where=inside)

        def product(x: Floats) -> Floats:
            inside = curvature * self._values(x, curved)
            return np.append(self.design.sum(inside, curved), self.column * float(inside.sum()))

        right = -(here.gradient + self.penalty * np.sign(here.u))
        products, residual = effort
        u = here.u + conjugate_gradients(product, right, scale, residual**2, products, self.monitor)
        return np.where((u * here.u < 0) & (self.penalty > 0), 0.0, u)

    def _line_search(self, here: Iterate, u: Floats) -> Iterate | None:
        """The iterate u, or the point on the way there where P is least.

        Return None if P no longer falls.
        """
        direction = u - here.u
        if not direction.any():
            return None
        change, grown = self._values(direction), np.abs(u) - np.abs(here.u)
        expected = float(here.gradient @ direction) + float(self.penalty @ grown)
        f = here.f + change
        duals = self._duals(f)
        if self._primal(u, duals) <= here.primal + 0.01 * expected:
            return self.at(u, f, duals)
        length = self._bisect(here, direction, change)
        after, rounding = self.at(here.u + length * direction), 1e-14 * here.primal
        falls = after.primal < here.primal + rounding and (length > 0 or expected < -rounding)
        return after if falls else None

    def _bisect(self, here: Iterate, direction: Floats, change: Floats) -> float:
        """The step where P is least along the direction: its slope grows with the step."""
        low, high, losses = 0.0, 1.0, self.design.backend.tube_slope
        for _ in range(25):
            s = 0.5 * (low + high)
            at = here.u + s * direction
            side = np.where(at != 0, np.sign(at), np.sign(direction))
            slope = float(self.penalty @ (side * direction))
            slope += losses(self.problem.tube, here.f, change, s, None, 1.0)
            low, high = (low, s) if slope > 0 else (s, high)
        return 0.5 * (low + high)
