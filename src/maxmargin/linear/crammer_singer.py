"""All classes at once, after Crammer and Singer: each sample's own class must lead every other by
1.

    P(W, b) = 1/2 sum_m |w_m|^2 + 1/2 sum_m b_m^2 / s^2 + sum_i C_i (max_m g_im - f_i,label)
    f = X W' + b,   g_im = f_im + [m != label_i]

without the term in b for a free bias, and b = 0 for none. The dual has a variable t_im for each
sample and class, w_m = sum_i t_im x_i:

    D(t) = sum_i t_i,label - 1/2 sum_m |w_m|^2 - s^2/2 sum_m (sum_i t_im)^2
    t_im <= C_i [m = label_i],   sum_m t_im = 0;   with a free bias also  sum_i t_im = 0  for each class

A pass (core/crammer_singer.h) sets each sample's t_i to its best value, the others fixed. With b_m
= s^2 sum_i t_im and w as above,

    P - D = sum_i [ C_i (max_m g_im - f_i,label) + sum_m t_im g_im ]

A free bias comes by the method of multipliers: b = centre + sigma sum_i t_i makes of it a penalised
one, and between passes the centre moves to b, which adds sigma sum_i t_i to b. The sums tend to 0;
for the certificate what is left of them is taken off: class m lacking something gets it from the
samples in proportion to their room C_i [m = label_i] - t_im, at the cost of a class that has too
much, whose duals have no lower bound.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.arrays import Floats, Integers
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.equations import conjugate_gradients
from maxmargin.linear.losses import Bias
from maxmargin.linear.objectives import Gap
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.monitor import Monitor
from maxmargin.status import Status

FILLED = 0.4
"""Arrays with a smaller share of non-zeros are passed over as sparse ones."""
ASIDE = 0.2
"""Samples are set aside whose class leads by this share of the greatest violation of the last
pass."""
EVERY, SOON = 15, 3
"""Passes between two leaps; after a leap that went most of its way."""
SETTLED = 0.01
"""A face is left alone while more than this share of its samples comes or goes between two
looks."""
FEWEST, MOST = 10, 2000
"""Products of a leap, at most: few while leaps are cut short, twice as many after each that was
not."""
ACCURACY = 1e-6
"""Of a leap's squared residual, relative to the first."""
LOOK = 100
"""Passes after which the gap is computed anyway."""
STALL = 200
"""Looks at the gap without a tenth less of it before float64 is held to be the reason."""


class ClassesProblem(NamedTuple):
    """All classes in one problem, on data that are given apart."""

    label: Integers
    """0 .. n_classes - 1."""
    n_classes: int
    C: Floats
    bias: Bias
    scaling: float = 1.0
    """s, the added column of a penalised bias."""

    @property
    def m(self) -> float:
        """The weight of b^2 / 2."""
        return 1 / (self.scaling * self.scaling) if self.bias is Bias.PENALISED else 0.0


class CrammerSinger(NamedTuple):
    """The model of all classes, the duals that certify it, and both objectives computed from the
    data.
    """

    W: NDArray[np.float64]
    bias: Floats
    t: NDArray[np.float64]
    primal: float
    dual: float
    ended: Status | None
    """Why the solver gave up; None where it believes that the tolerance is reached."""
    n_iter: int


def solve(
    problem: ClassesProblem,
    workspace: LinearWorkspace,
    tol: float,
    start: CrammerSinger | None = None,
) -> CrammerSinger:
    """Solve the problem of all classes; see the contract in workspace.py.

    ended is None only if P - D <= tol max(P, D) held.
    """
    assert isinstance(workspace.design, ArrayDesign)
    run, monitor, label = _Run(problem, workspace.design), workspace.monitor, problem.label
    if start is not None:
        run.begin_at(start)
    draw = np.random.default_rng(workspace.seed)
    steps, since, best, idle = 0, 0, np.inf, 0
    leap, wait, products = EVERY, EVERY, FEWEST
    order, active, aside = np.arange(len(label), dtype=np.int32), len(label), np.inf
    while True:
        reason = monitor.stop(steps)
        if reason is not None:
            return run.solution(reason, steps)
        whole = active == len(order)
        met, violation, active = run.visit(order, active, aside, int(draw.integers(2**63)))
        steps += 1
        if steps >= leap:
            whole_way = run.leap(products, monitor)
            wait, products = (SOON, min(2 * products, MOST)) if whole_way else (EVERY, FEWEST)
            leap, active, violation = steps + wait, len(order), np.inf
        run.recentre()
        if monitor.wants_report():
            monitor.report(steps, met, violation, int(np.count_nonzero(run.t.any(axis=1))))
        aside = ASIDE * violation
        if met > 0.5 * tol * abs(run.dual()) and active > 0 and since < LOOK:
            since += 1
            continue
        if not whole:
            active, aside = len(order), np.inf
            continue
        since = 0
        found = run.solution(None, steps)
        gap = Gap(found.primal, found.dual)
        if gap.within(tol):
            return found
        best, idle = (gap.value, 0) if gap.value < 0.9 * best else (best, idle + 1)
        if idle > STALL:
            return found._replace(ended=Status.STALLED)
        active, aside = len(order), np.inf


def objectives(
    problem: ClassesProblem,
    design: ArrayDesign,
    W: NDArray[np.float64],
    b: Floats,
    t: NDArray[np.float64],
) -> Gap:
    """P and D from the data in float64.

    D is -inf where t breaks a constraint by more than rounding.
    """
    label, _, C, bias, scaling = problem
    rows = np.arange(len(label))
    g = np.column_stack([design.values(w) for w in W]) + b
    own = g[rows, label].copy()
    g += 1.0
    g[rows, label] -= 1.0
    s2 = scaling**2 if bias is Bias.PENALISED else 0.0
    penalty = 0.5 * float(b @ b) / s2 if s2 else 0.0
    primal = 0.5 * float(np.sum(W * W)) + penalty + float(C @ (g.max(axis=1) - own))
    upper = np.zeros_like(t)
    upper[rows, label] = C
    size, sums = 1e-12 * float(np.abs(t).sum()), t.sum(axis=0)
    wrong = (t > upper * (1 + 1e-12)).any() or np.abs(t.sum(axis=1)).max(initial=0.0) > size
    if wrong or (bias is Bias.FREE and np.abs(sums).max() > size):
        return Gap(primal, -np.inf)
    V = _weights(design, t)
    return Gap(
        primal,
        float(t[rows, label].sum()) - 0.5 * float(np.sum(V * V)) - 0.5 * s2 * float(sums @ sums),
    )


def _weights(design: ArrayDesign, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """W = t'X."""
    return np.stack([design.sum(np.ascontiguousarray(column)) for column in t.T])


class _Run:
    """One solve: the data, the duals and the weights that belong to them."""

    def __init__(self, problem: ClassesProblem, design: ArrayDesign) -> None:
        label, n_classes, C, bias, scaling = problem
        self.problem, self.design, self.label, self.C, self.bias = problem, design, label, C, bias
        self.small = np.ascontiguousarray(label, np.int32)
        dense = isinstance(design.X, np.ndarray)
        sparse_enough = dense and np.count_nonzero(design.X) < FILLED * design.X.size
        self.points = (
            design.backend.points(design.X, compress=True) if sparse_enough else design.points
        )
        n, d = design.shape
        lengths = design.squares
        self.column = {
            Bias.NONE: 0.0,
            Bias.PENALISED: scaling**2,
            Bias.FREE: float(lengths.mean()) or 1.0,
        }[bias]
        self.norms = lengths + self.column
        self.t = np.zeros((n, n_classes))
        self.size = n
        wide = -(-n_classes // 8) * 8  # classes lie along the SIMD lanes
        self.W, self.b = np.zeros((d, wide)), np.zeros(wide)
        still = self.norms <= 0  # samples at the origin, no bias: any dual of full size is best
        self.t[still] = -(C[still] / max(n_classes - 1, 1))[:, None]
        self.t[still, label[still]] = C[still]

    def begin_at(self, start: CrammerSinger) -> None:
        """Take the duals of an earlier solution, made smaller where the weights are."""
        rows = np.arange(len(self.label))
        own = start.t[rows, self.label]
        self.t = (
            start.t * np.where(own > self.C, self.C / np.where(own > 0, own, 1.0), 1.0)[:, None]
        )
        k = self.t.shape[1]
        self.W[:, :k] = _weights(self.design, self.t).T
        self.b[:k] = self.column * self.t.sum(axis=0)
        if self.bias is Bias.FREE:
            self.b[:k] += start.bias

    def visit(
        self, order: NDArray[np.int32], active: int, aside: float, seed: int
    ) -> tuple[float, float, int]:
        """One pass over the active samples."""
        return self.design.backend.crammer_singer_pass(
            self.points,
            self.small,
            self.C,
            self.norms,
            self.t,
            self.W,
            self.b,
            self.column,
            order,
            active,
            aside,
            seed,
        )

    def leap(self, products: int, monitor: Monitor) -> bool:
        """Conjugate gradients on a face, if it is settled: all duals that are not at their bound at
        once, each sample's sum kept.

        A pass finds out quickly which duals these are and slowly what their values are. The end is
        the nearest feasible point, or the best one on the way there; return whether that was most
        of the way.
        """
        k, wide, backend = self.t.shape[1], len(self.b), self.design.backend
        inside = self.t < self._upper(slice(None))
        rows = np.flatnonzero((inside.sum(axis=1) > 1) & (self.norms > 0))
        before, self.size = self.size, len(rows)
        if abs(before - self.size) > SETTLED * self.size:
            return False
        face = np.zeros((len(rows), wide), bool)
        face[:, :k] = inside[rows]
        share = face / face.sum(axis=1, keepdims=True)

        def kept(A: NDArray[np.float64]) -> Floats:
            """A without its mean over the duals of the face, sample by sample."""
            return np.where(face, A - (share * A).sum(axis=1, keepdims=True), 0.0).ravel()

        def product(p: Floats) -> Floats:
            step = p.reshape(-1, wide)
            along = backend.class_values(
                self.points, rows, backend.class_sum(self.points, rows, step)
            )
            return kept(along + self.column * step.sum(axis=0))

        slope = backend.class_values(self.points, rows, self.W) + self.b
        slope[np.arange(len(rows)), self.label[rows]] -= 1.0
        scale = np.repeat(1 / np.sqrt(self.norms[rows]), wide)
        step = conjugate_gradients(
            product, -kept(slope), scale, ACCURACY, products, monitor
        ).reshape(-1, wide)
        far = (
            2 * self.C[rows, None]
        )  # along a direction without curvature a step can be of any length
        step[:, :k] = (
            _feasible(self.t[rows] + np.clip(step[:, :k], -far, far), self._upper(rows))
            - self.t[rows]
        )
        change, sums = backend.class_sum(self.points, rows, step), step.sum(axis=0)
        gain, bend = (
            -float(np.sum(slope * step)),
            float(np.sum(change * change)) + self.column * float(sums @ sums),
        )
        length = min(1.0, gain / bend) if gain > 0 and bend > 0 else 0.0
        self.t[rows] = np.minimum(self.t[rows] + length * step[:, :k], self._upper(rows))
        self.W += length * change
        self.b += length * self.column * sums
        return length > 0.5

    def _upper(self, rows: Any) -> NDArray[np.float64]:
        """The bounds of some samples' duals."""
        upper: NDArray[np.float64] = np.where(
            np.arange(self.t.shape[1]) == self.label[rows, None], self.C[rows, None], 0.0
        )
        return upper

    def recentre(self) -> None:
        """The step of the multipliers of a free bias."""
        if self.bias is Bias.FREE:
            self.b[: self.t.shape[1]] += self.column * self.t.sum(axis=0)

    def dual(self) -> float:
        """D as the passes have it."""
        sums = self.t.sum(axis=0)
        penalty = 0.5 * self.column * float(sums @ sums) if self.bias is Bias.PENALISED else 0.0
        return (
            float(self.t[np.arange(len(self.label)), self.label].sum())
            - 0.5 * float(np.sum(self.W * self.W))
            - penalty
        )

    def solution(self, ended: Status | None, steps: int) -> CrammerSinger:
        """The model of the duals, made feasible, with its objectives."""
        t, k = self.t.copy(), self.t.shape[1]
        if self.bias is Bias.FREE:
            _balance(t, self.label, self.C)
        W = _weights(self.design, t)
        b = self.b[:k].copy() if self.bias is Bias.FREE else self.column * t.sum(axis=0)
        gap = objectives(self.problem, self.design, W, b, t)
        return CrammerSinger(W, b, t, gap.primal, gap.dual, ended, steps)


def _feasible(t: NDArray[np.float64], upper: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest duals below their bounds whose sum is 0, sample by sample.

    Upper - t is put on a simplex.
    """
    below = upper - t
    ordered = -np.sort(-below, axis=1)
    excess = np.cumsum(ordered, axis=1) - upper.sum(axis=1, keepdims=True)
    count = np.arange(1, t.shape[1] + 1)
    last = np.sum(ordered * count > excess, axis=1) - 1
    level = excess[np.arange(len(t)), last] / (last + 1)
    nearest: NDArray[np.float64] = upper - np.maximum(below - level[:, None], 0.0)
    return nearest


def _balance(t: NDArray[np.float64], label: Integers, C: Floats) -> None:
    """Make every class's sum of duals 0, in place, by moves from one class to another inside
    samples.
    """
    sums = t.sum(axis=0)
    for _ in range(4 * len(sums)):
        poor, rich = int(np.argmin(sums)), int(np.argmax(sums))
        amount = min(-sums[poor], sums[rich])
        if amount <= 1e-15 * float(np.abs(t).sum()):
            return
        room = np.where(label == poor, C, 0.0) - t[:, poor]
        between = room * np.abs(
            t[:, rich]
        )  # samples for which both classes matter lose nothing by the move, to first order
        share = (
            between
            if float(np.minimum(room, amount * between / max(float(between.sum()), 1e-300)).sum())
            >= 0.999 * amount
            else room
        )
        moved = np.minimum(room, amount * share / float(share.sum()))
        t[:, poor] += moved
        t[:, rich] -= moved
        sums = t.sum(axis=0)
