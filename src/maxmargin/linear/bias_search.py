"""The best bias for given weights, and the constant that decision values are measured from."""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Mask
from maxmargin.linear.losses import Bias, LinearProblem


class Settings(NamedTuple):
    """The search for the bias of plain losses: sorting is its cost (decision 15)."""

    sort_up_to: int = 10_000
    """Kinks of the losses up to which all are sorted. Of more, a sample is sorted first."""
    sampled: int = 2000
    """Kinks in that sample, at equal distances in memory."""
    margin: int = 100
    """Sampled kinks on either side of the root between which all kinks are sorted then."""


SETTINGS = Settings()


def best_bias(problem: LinearProblem, Xw: Floats, bias: float = 0.0) -> float:
    """The b that minimises P for given X w, or the middle of several; the search begins at bias."""
    if problem.bias is Bias.NONE:
        return 0.0
    squared = problem.tube.squared
    return _root_of_lines(problem, Xw, bias) if squared else _middle_of_steps(problem, Xw)


def _middle_of_steps(problem: LinearProblem, Xw: Floats) -> float:
    """The best bias of plain losses, whose derivative by b jumps up at each kink.

    At the far left the derivative is m b + total - sum up.
    """
    tube, m = problem.tube, problem.m
    left, right = tube.up > 0, tube.down > 0
    ends = np.concatenate([(tube.low - Xw)[left], (tube.high - Xw)[right]])
    steps = np.concatenate([tube.up[left], tube.down[right]])
    rounding, start = 1e-12 * float(steps.sum()), problem.total - float(tube.up.sum())
    if len(ends) > SETTINGS.sort_up_to:
        ends, steps, start = _around_the_root(ends, steps, start, m, rounding)
    order = np.argsort(ends, kind="stable")
    ends, steps = ends[order], steps[order]
    after = np.cumsum(steps) + start  # slope of the losses to the right of each end
    before = after - steps
    # here the slope is no longer negative
    first = int(np.searchsorted(after + m * ends, -rounding))
    if first == len(ends):
        return float(ends[-1]) if m == 0 else -float(after[-1]) / m
    # within the piece before, which only a penalised bias has
    if before[first] + m * ends[first] > rounding:
        return -float(before[first]) / m
    flat = m == 0 and abs(after[first]) <= rounding and first + 1 < len(ends)
    return 0.5 * float(ends[first] + ends[first + 1]) if flat else float(ends[first])


def _around_the_root(
    ends: Floats, steps: Floats, start: float, m: float, rounding: float
) -> tuple[Floats, Floats, float]:
    """The kinks in an interval in which the derivative changes sign, and its value before them.

    The interval is found from a sample of the kinks. All kinks are returned if it misses the root.
    """
    few = np.linspace(0, len(ends) - 1, SETTINGS.sampled).astype(np.int64)
    few = few[np.argsort(ends[few], kind="stable")]
    mass = np.cumsum(steps[few])
    share = float(steps.sum()) / float(mass[-1])
    at = int(np.searchsorted(mass * share + start + m * ends[few], 0.0))
    low = ends[few[max(at - SETTINGS.margin, 0)]]
    high = ends[few[min(at + SETTINGS.margin, SETTINGS.sampled - 1)]]
    inside = (ends >= low) & (ends <= high)
    new = start + float(np.sum(steps, where=ends < low))
    found = steps[inside]
    if new + m * low < -rounding and new + float(found.sum()) + m * high > rounding:
        return ends[inside], found, new
    return ends, steps, start


def _root_of_lines(problem: LinearProblem, Xw: Floats, bias: float) -> float:
    """The best bias of squared losses, whose derivative is piecewise linear and does not fall.

    Newton's method, guarded by bisection, finds its root. It ends when a Newton step leaves the
    same samples outside their tubes: the derivative is one line between the two biases.
    """
    tube, low, high = problem.tube, -np.inf, np.inf
    before: tuple[Mask, Mask] | None = None
    for _ in range(100):
        f = Xw + bias
        below, above = f < tube.low, f > tube.high
        if before is not None and all(map(np.array_equal, (below, above), before)):
            return bias
        before = below, above
        curvature = 2 * float(tube.up[below].sum() + tube.down[above].sum()) + problem.m
        slope = problem.m * bias + problem.total
        slope -= 2 * float(np.sum(tube.up[below] * (tube.low - f)[below]))
        slope += 2 * float(np.sum(tube.down[above] * (f - tube.high)[above]))
        if slope > 0:
            high = bias
        else:
            low = bias
        new = bias - slope / curvature if curvature > 0 else bias
        if not low < new < high and np.isfinite(low) and np.isfinite(high):
            new, before = 0.5 * (low + high), None
        if abs(new - bias) <= 1e-15 * (1 + abs(bias)):
            return new
        bias = new
    return bias


def middle(problem: LinearProblem) -> float:
    """The origin of decision values: the mean target for a free bias, else 0.

    It is half way between the mean lower and the mean upper end of the tubes: 0 for classes of any
    size.
    """
    tube = problem.tube
    below, above = tube.up > 0, tube.down > 0
    if problem.bias is not Bias.FREE or not (below.any() and above.any()):
        return 0.0
    up, down = tube.up[below], tube.down[above]
    low = np.sum(tube.low[below] * up) / np.sum(up)
    high = np.sum(tube.high[above] * down) / np.sum(down)
    return 0.5 * (float(low) + float(high))
