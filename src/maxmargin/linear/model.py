"""What linear solvers share: the solution they return, the two objectives, the best bias."""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats
from maxmargin.linear.designs import ArrayDesign, Design
from maxmargin.linear.losses import Bias, LinearProblem, Tube, with_sum
from maxmargin.status import Status

EPS = float(np.finfo(float).eps)
ROUNDING = 1e-13
"""A gap of this share of the terms it is the difference of is rounding."""
BLURRED = 1e-3
"""What a gap that is rounding may leave to decision values, in units of them."""

MANY, FEW, BESIDE = 10_000, 2000, 100
"""Of more than so many ends of tubes a few are looked at first, and then those between so many
of the few on either side."""


class LinearSolution(NamedTuple):
    """A linear model, the duals that certify it, and what they make of the data."""

    w: Floats
    bias: float
    t: Floats
    f: Floats
    """X w + bias."""
    Xt: Floats
    """X't."""
    ended: Status | None
    """Why the solver gave up; None where it believes that the tolerance is reached."""
    n_iter: int


class Gap(NamedTuple):
    """P(w, b), D(t) and their difference as the solver computed them."""

    primal: float
    dual: float
    scale: float = 0.0
    """A natural size of both."""

    @property
    def value(self) -> float:
        """The difference."""
        return self.primal - self.dual

    @property
    def relative(self) -> float:
        """The difference in units of the greater of the two."""
        return self.value / max(abs(self.primal), abs(self.dual), np.finfo(float).tiny)

    def within(self, tol: float) -> bool:
        """Whether the difference is small enough, or nothing but rounding."""
        size = max(abs(self.primal), abs(self.dual))
        return bool(np.isfinite(self.value)) and self.value <= max(
            tol * size, ROUNDING * max(size, self.scale)
        )

    def outcome(self, tol: float, reason: Status | None) -> Status | None:
        """None where the difference is small enough, else the reason, else STALLED."""
        return None if self.within(tol) else reason or Status.STALLED


def primal(problem: LinearProblem, square: float, bias: float, loss: float) -> float:
    """P from |w|^2 and the sum of the losses."""
    return 0.5 * square + 0.5 * problem.m * bias * bias + problem.total * bias + loss


def dual(problem: LinearProblem, square: float, gain: float, total: float) -> float:
    """D from |X't|^2, the sum of the gains and the sum of the duals.

    With a free bias that sum must be right.
    """
    excess = total - problem.total
    penalty = 0.5 * excess * excess / problem.m if problem.bias is Bias.PENALISED else 0.0
    return gain - 0.5 * square - penalty


def gap_of(
    problem: LinearProblem, w: Floats, bias: float, t: Floats, f: Floats, Xt: Floats, scale: float
) -> Gap:
    """P(w, bias) and D(t), of decision values f and X't."""
    value = primal(problem, float(w @ w), bias, problem.tube.losses(f))
    origin = bias if problem.bias is Bias.FREE else 0.0
    gain = gains(problem.tube, t, origin) + origin * problem.total
    return Gap(value, dual(problem, float(Xt @ Xt), gain, float(t.sum())), scale)


def gains(tube: Tube, t: Floats, origin: float = 0.0) -> float:
    """Sum of gain_i(t_i), of tubes measured from ``origin``."""
    up, down = t > 0, t < 0
    value = float(np.sum((tube.low[up] - origin) * t[up])) + float(
        np.sum((tube.high[down] - origin) * t[down])
    )
    if tube.squared:
        value -= float(np.sum(t[up] ** 2 / (4 * tube.up[up]))) + float(
            np.sum(t[down] ** 2 / (4 * tube.down[down]))
        )
    return value


def feasible(problem: LinearProblem, t: Floats) -> Floats:
    """Duals inside their bounds, with the sum that a free bias asks for."""
    tube = problem.tube
    t = np.where(t > 0, np.where(tube.up > 0, t, 0.0), np.where(tube.down > 0, t, 0.0))
    t = t if tube.squared else np.clip(t, -tube.down, tube.up)
    return with_sum(tube, t, problem.total) if problem.bias is Bias.FREE else t


def best_bias(problem: LinearProblem, Xw: Floats, bias: float = 0.0) -> float:
    """The b that minimises P for given X w; the middle of them where there are several.

    The search begins at ``bias``.
    """
    if problem.bias is Bias.NONE:
        return 0.0
    return (
        _root_of_lines(problem, Xw, bias) if problem.tube.squared else _middle_of_steps(problem, Xw)
    )


def _middle_of_steps(problem: LinearProblem, Xw: Floats) -> float:
    """Plain losses.

    The slope by b is m b + total - sum up at the far left and grows by a step where a sample leaves
    its loss behind.
    """
    tube, m = problem.tube, problem.m
    left, right = tube.up > 0, tube.down > 0
    ends = np.concatenate([(tube.low - Xw)[left], (tube.high - Xw)[right]])
    steps = np.concatenate([tube.up[left], tube.down[right]])
    rounding, start = 1e-12 * float(steps.sum()), problem.total - float(tube.up.sum())
    if len(ends) > MANY:
        ends, steps, start = _around_the_root(ends, steps, start, m, rounding)
    order = np.argsort(ends, kind="stable")
    ends, steps = ends[order], steps[order]
    after = np.cumsum(steps) + start  # slope of the losses to the right of each end
    before = after - steps
    first = int(
        np.searchsorted(after + m * ends, -rounding)
    )  # here the slope is no longer negative
    if first == len(ends):
        return float(ends[-1]) if m == 0 else -float(after[-1]) / m
    if (
        before[first] + m * ends[first] > rounding
    ):  # within the piece before, which only a penalised bias has
        return -float(before[first]) / m
    flat = m == 0 and abs(after[first]) <= rounding and first + 1 < len(ends)
    return 0.5 * float(ends[first] + ends[first + 1]) if flat else float(ends[first])


def _around_the_root(
    ends: Floats, steps: Floats, start: float, m: float, rounding: float
) -> tuple[Floats, Floats, float]:
    """The ends in an interval that the slope certainly changes sign in, and the slope before them.

    A few of all ends say where.
    """
    few = np.linspace(0, len(ends) - 1, FEW).astype(np.int64)
    few = few[np.argsort(ends[few], kind="stable")]
    mass = np.cumsum(steps[few])
    at = int(
        np.searchsorted(mass * (float(steps.sum()) / float(mass[-1])) + start + m * ends[few], 0.0)
    )
    low, high = ends[few[max(at - BESIDE, 0)]], ends[few[min(at + BESIDE, FEW - 1)]]
    inside = (ends >= low) & (ends <= high)
    new = start + float(np.sum(steps, where=ends < low))
    found = steps[inside]
    if new + m * low < -rounding and new + float(found.sum()) + m * high > rounding:
        return ends[inside], found, new
    return ends, steps, start


def _root_of_lines(problem: LinearProblem, Xw: Floats, bias: float) -> float:
    """Squared losses.

    The slope is made of lines that do not fall, and Newton's method with bisection finds its root.
    """
    tube, low, high = problem.tube, -np.inf, np.inf
    for _ in range(100):
        f = Xw + bias
        below, above = f < tube.low, f > tube.high
        curvature = 2 * float(tube.up[below].sum() + tube.down[above].sum()) + problem.m
        slope = (
            problem.m * bias
            + problem.total
            - 2 * float(np.sum(tube.up[below] * (tube.low - f)[below]))
        )
        slope += 2 * float(np.sum(tube.down[above] * (f - tube.high)[above]))
        if slope > 0:
            high = bias
        else:
            low = bias
        new = bias - slope / curvature if curvature > 0 else bias
        if not low < new < high:
            new = 0.5 * (low + high) if np.isfinite(low) and np.isfinite(high) else new
        if abs(new - bias) <= 1e-15 * (1 + abs(bias)):
            return new
        bias = new
    return bias


class Sizes(NamedTuple):
    """What is large in a problem, whatever its solution."""

    scale: float
    """Of the objective: a gap of ROUNDING times this is rounding."""
    unit: float
    """Of decision values."""


def sizes(problem: LinearProblem, design: Design) -> Sizes:
    """The scale is P of a constant model, or D's of equal duals (one-class), which do not vanish
    where the optimum is 0.

    But a gap may leave sqrt(2 gap) |x| to the decision value of x. The scale is so small that this
    does not exceed BLURRED units where the gap is ROUNDING times the scale: with huge samples a
    small gap says little.
    """
    tube = problem.tube
    if problem.total:
        Xt = design.sum(tube.up * (problem.total / float(tube.up.sum())))
        scale = 0.5 * float(Xt @ Xt) or problem.total
        unit, far, centre = 2 * scale / problem.total, 0.0, 0.0
    else:
        centre = middle(problem)
        below, above = (
            np.maximum(tube.low - centre, 0.0),
            np.maximum(centre - tube.high, 0.0),
        )
        costs, price = (
            tube.up * below + tube.down * above,
            np.maximum(tube.up, tube.down),
        )
        unit = float(np.sum(costs)) / float(price.sum())
        scale = float(np.sum(costs * (below + above) if tube.squared else costs))
        far = abs(centre) * float(price.sum()) * (2 * unit if tube.squared else 1.0)
    if unit <= 4 * EPS * abs(centre):  # equal targets
        unit = abs(centre) or 1.0
    largest, blur = design.largest_square, BLURRED * unit
    scale = min(scale, blur * blur / (2 * ROUNDING * largest)) if largest > 0 else scale
    return Sizes(scale + EPS / ROUNDING * far, unit)


def middle(problem: LinearProblem) -> float:
    """The constant from which decision values are measured: the mean target where a free bias can
    take it, else 0.

    It is half way between the mean lower and the mean upper end of the tubes: 0 for classes,
    whatever their sizes.
    """
    tube = problem.tube
    below, above = tube.up > 0, tube.down > 0
    if problem.bias is not Bias.FREE or not (below.any() and above.any()):
        return 0.0
    up, down = tube.up[below], tube.down[above]
    low, high = (
        np.sum(tube.low[below] * up) / np.sum(up),
        np.sum(tube.high[above] * down) / np.sum(down),
    )
    return 0.5 * (float(low) + float(high))


def sample(
    problem: LinearProblem, design: ArrayDesign, smaller: int, seed: int
) -> tuple[LinearProblem, ArrayDesign]:
    """The problem of a ``smaller``-th of the samples, each counting for several, and their data.

    Its solution is a place to begin at.
    """
    n = design.shape[0]
    rows = np.sort(np.random.default_rng(seed).choice(n, n // smaller, replace=False))
    return problem._replace(tube=problem.tube.pick(rows, n / len(rows))), design.pick(rows)
