"""Block coordinate descent for Crammer and Singer's problem (classes.py).

An epoch (core/crammer_singer.h) sets each sample's block of duals t_i to its best value, the others
fixed. With b_m = s^2 sum_i t_im and w_m = sum_i t_im x_i,

    P - D = sum_i [ C_i (max_m g_im - f_i,label) + sum_m t_im g_im ]

The method of multipliers (augmented Lagrangian) treats a free bias as a penalised one,
b = multiplier + sigma sum_i t_i. After each epoch the multiplier moves to b, which adds
sigma sum_i t_i to b. The sums tend to 0. For the certificate they are made exactly 0: where the sum
of a class is too small, its duals grow in proportion to their room C_i [m = label_i] - t_im, at the
expense of a class whose sum is too large, whose duals have no lower bound.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.arrays import Floats, Integers, Mask
from maxmargin.linear.classes import ClassesProblem, CrammerSinger, objectives, weights_of
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.equations import conjugate_gradients
from maxmargin.linear.losses import Bias
from maxmargin.linear.objectives import Gap
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.monitor import Monitor
from maxmargin.status import Status


class Settings(NamedTuple):
    """Settings of block coordinate descent for all classes (decision 15)."""

    dense_above: float = 0.4
    """Arrays with a smaller share of non-zeros are visited as sparse ones."""
    shrink_factor: float = 0.2
    """Samples are shrunk if their class leads by this share of the last epoch's violation."""
    interval: int = 15
    """Epochs between two subspace steps."""
    short_interval: int = 3
    """Epochs after a subspace step that went most of its way."""
    settled: float = 0.01
    """A subspace step is made if at most this share of the free samples changed since the last."""
    least_products: int = 10
    """Products of a subspace step, at most; twice as many after each that went most of its way."""
    most_products: int = 2000
    """The limit of that doubling."""
    accuracy: float = 1e-6
    """Conjugate gradients end when the squared residual is this share of the first."""
    check: int = 100
    """Epochs after which the gap is computed, whatever the epochs met."""
    patience: int = 200
    """Checks of the gap without a tenth less of it after which only rounding is left."""


SETTINGS = Settings()


def solve(
    problem: ClassesProblem,
    workspace: LinearWorkspace,
    tol: float,
    start: CrammerSinger | None = None,
) -> CrammerSinger:
    """Solve the problem of all classes; see the contract in workspace.py."""
    assert isinstance(workspace.design, ArrayDesign)
    run, monitor, label = _Run(problem, workspace.design), workspace.monitor, problem.label
    if start is not None:
        run.begin_at(start)
    draw = np.random.default_rng(workspace.seed)
    epochs, since, best, idle = 0, 0, np.inf, 0
    next_step, products = SETTINGS.interval, SETTINGS.least_products
    order, active, shrink_above = np.arange(len(label), dtype=np.int32), len(label), np.inf
    while True:
        reason = monitor.stop(epochs)
        if reason is not None:
            return run.solution(reason, epochs)
        whole = active == len(order)
        met, violation, active = run.epoch(order, active, shrink_above, int(draw.integers(2**63)))
        epochs += 1
        if epochs >= next_step:
            if run.subspace_step(products, monitor):
                wait, products = SETTINGS.short_interval, min(2 * products, SETTINGS.most_products)
            else:
                wait, products = SETTINGS.interval, SETTINGS.least_products
            next_step, active, violation = epochs + wait, len(order), np.inf
        run.update_multipliers()
        if monitor.wants_report():
            monitor.report(epochs, met, violation, int(np.count_nonzero(run.t.any(axis=1))))
        shrink_above = SETTINGS.shrink_factor * violation
        if met > 0.5 * tol * abs(run.dual()) and active > 0 and since < SETTINGS.check:
            since += 1
            continue
        if not whole:
            active, shrink_above = len(order), np.inf
            continue
        since = 0
        found = run.solution(None, epochs)
        gap = Gap(found.primal, found.dual)
        if gap.within(tol):
            return found
        best, idle = (gap.value, 0) if gap.value < 0.9 * best else (best, idle + 1)
        if idle > SETTINGS.patience:
            return found._replace(ended=Status.STALLED)
        active, shrink_above = len(order), np.inf


class _Run:
    """One solve: the data, the duals and their weights."""

    def __init__(self, problem: ClassesProblem, design: ArrayDesign) -> None:
        label, n_classes, C, bias, scaling = problem
        self.problem, self.design, self.label, self.C, self.bias = problem, design, label, C, bias
        self.small = np.ascontiguousarray(label, np.int32)
        dense = isinstance(design.X, np.ndarray)
        sparse_enough = dense and np.count_nonzero(design.X) < SETTINGS.dense_above * design.X.size
        self.points = (
            design.backend.points(design.X, compress=True) if sparse_enough else design.points
        )
        n, d = design.shape
        self.column = bias.choose(float(design.squares.mean()) or 1.0, scaling**2)
        self.norms = design.squares + self.column
        self.t = np.zeros((n, n_classes))
        self.size = n
        wide = -(-n_classes // 8) * 8  # classes lie along the SIMD lanes
        self.W, self.b = np.zeros((d, wide)), np.zeros(wide)
        still = self.norms <= 0  # samples at the origin, no bias: any dual of full size is best
        self.t[still] = -(C[still] / max(n_classes - 1, 1))[:, None]
        self.t[still, label[still]] = C[still]

    def begin_at(self, start: CrammerSinger) -> None:
        """Take the duals of an earlier solution, shortened to the present C."""
        rows = np.arange(len(self.label))
        own = start.t[rows, self.label]
        shorter = np.where(own > self.C, self.C / np.where(own > 0, own, 1.0), 1.0)
        self.t = start.t * shorter[:, None]
        k = self.t.shape[1]
        self.W[:, :k] = weights_of(self.design, self.t).T
        self.b[:k] = self.column * self.t.sum(axis=0)
        if self.bias is Bias.FREE:
            self.b[:k] += start.bias

    def epoch(
        self, order: NDArray[np.int32], active: int, shrink_above: float, seed: int
    ) -> tuple[float, float, int]:
        """Visit the active samples once; return gap and violation met, and how many stay active."""
        model = self.points, self.small, self.C, self.norms, self.t, self.W, self.b, self.column
        visit = self.design.backend.crammer_singer_pass
        return visit(*model, order, active, shrink_above, seed)

    def subspace_step(self, products: int, monitor: Monitor) -> bool:
        """Conjugate gradients on all duals below their bounds, if their set has settled.

        An epoch finds out quickly which duals these are and slowly what their values are. Each
        sample's sum is kept. The step ends at the projection of the solution on the constraints, or
        at the best point on the way there. Return whether that was most of the way.
        """
        free = self.t < self._upper(slice(None))
        rows = np.flatnonzero((free.sum(axis=1) > 1) & (self.norms > 0))
        before, self.size = self.size, len(rows)
        if abs(before - self.size) > SETTINGS.settled * self.size:
            return False
        slope = self.design.backend.class_values(self.points, rows, self.W) + self.b
        slope[np.arange(len(rows)), self.label[rows]] -= 1.0
        step = self._projected_step(rows, free[rows], slope, products, monitor)
        change = self.design.backend.class_sum(self.points, rows, step)
        sums, k = step.sum(axis=0), self.t.shape[1]
        decrease = -float(np.sum(slope * step))
        curvature = float(np.sum(change * change)) + self.column * float(sums @ sums)
        length = min(1.0, decrease / curvature) if decrease > 0 and curvature > 0 else 0.0
        self.t[rows] = np.minimum(self.t[rows] + length * step[:, :k], self._upper(rows))
        self.W += length * change
        self.b += length * self.column * sums
        return length > 0.5

    def _projected_step(
        self, rows: Integers, free: Mask, slope: Floats, products: int, monitor: Monitor
    ) -> Floats:
        """The change of the free duals of some samples to the projected solution."""
        k, wide, backend = self.t.shape[1], len(self.b), self.design.backend
        inside = np.zeros((len(rows), wide), bool)
        inside[:, :k] = free
        share = inside / inside.sum(axis=1, keepdims=True)

        def kept(A: Floats) -> Floats:
            """A without its mean over the free duals, sample by sample."""
            return np.where(inside, A - (share * A).sum(axis=1, keepdims=True), 0.0).ravel()

        def product(p: Floats) -> Floats:
            step = p.reshape(-1, wide)
            W = backend.class_sum(self.points, rows, step)
            along = backend.class_values(self.points, rows, W)
            return kept(along + self.column * step.sum(axis=0))

        scale = np.repeat(1 / np.sqrt(self.norms[rows]), wide)
        found = conjugate_gradients(
            product, -kept(slope), scale, SETTINGS.accuracy, products, monitor
        )
        step = found.reshape(-1, wide)
        # Along a direction without curvature a step can have any length.
        far = 2 * self.C[rows, None]
        goal = self.t[rows] + np.clip(step[:, :k], -far, far)
        step[:, :k] = _feasible(goal, self._upper(rows)) - self.t[rows]
        return step

    def _upper(self, rows: Any) -> Floats:
        """The bounds of some samples' duals."""
        upper: Floats = np.where(
            np.arange(self.t.shape[1]) == self.label[rows, None], self.C[rows, None], 0.0
        )
        return upper

    def update_multipliers(self) -> None:
        """The step of the multipliers of a free bias."""
        if self.bias is Bias.FREE:
            self.b[: self.t.shape[1]] += self.column * self.t.sum(axis=0)

    def dual(self) -> float:
        """D of the duals as they are."""
        sums = self.t.sum(axis=0)
        penalty = 0.5 * self.column * float(sums @ sums) if self.bias is Bias.PENALISED else 0.0
        own = float(self.t[np.arange(len(self.label)), self.label].sum())
        return own - 0.5 * float(np.sum(self.W * self.W)) - penalty

    def solution(self, ended: Status | None, epochs: int) -> CrammerSinger:
        """The model of the duals, made feasible, with its objectives."""
        t, k = self.t.copy(), self.t.shape[1]
        if self.bias is Bias.FREE:
            _balance(t, self.label, self.C)
        W = weights_of(self.design, t)
        b = self.b[:k].copy() if self.bias is Bias.FREE else self.column * t.sum(axis=0)
        gap = objectives(self.problem, self.design, W, b, t)
        return CrammerSinger(W, b, t, gap.primal, gap.dual, ended, epochs)


def _feasible(t: Floats, upper: Floats) -> Floats:
    """The projection of each sample's duals on their bounds and sum 0: upper - t on a simplex."""
    below = upper - t
    ordered = -np.sort(-below, axis=1)
    excess = np.cumsum(ordered, axis=1) - upper.sum(axis=1, keepdims=True)
    count = np.arange(1, t.shape[1] + 1)
    last = np.sum(ordered * count > excess, axis=1) - 1
    level = excess[np.arange(len(t)), last] / (last + 1)
    nearest: Floats = upper - np.maximum(below - level[:, None], 0.0)
    return nearest


def _balance(t: Floats, label: Integers, C: Floats) -> None:
    """Make every class's sum of duals 0, in place, by moves between classes inside samples."""
    sums = t.sum(axis=0)
    for _ in range(4 * len(sums)):
        poor, rich = int(np.argmin(sums)), int(np.argmax(sums))
        amount = min(-sums[poor], sums[rich])
        if amount <= 1e-15 * float(np.abs(t).sum()):
            return
        room = np.where(label == poor, C, 0.0) - t[:, poor]
        # To first order samples for which both classes matter lose nothing by the move.
        between = room * np.abs(t[:, rich])
        moved = np.minimum(room, amount * between / max(float(between.sum()), 1e-300))
        share = between if float(moved.sum()) >= 0.999 * amount else room
        moved = np.minimum(room, amount * share / float(share.sum()))
        t[:, poor] += moved
        t[:, rich] -= moved
        sums = t.sum(axis=0)
