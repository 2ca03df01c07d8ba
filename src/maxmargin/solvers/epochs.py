"""Epochs of Pegasos over samples that are all at hand: the exact bias after each, the gap now and then; pegasos.py has the mathematics."""

from typing import NamedTuple

import numpy as np

from maxmargin.monitor import Monitor
from maxmargin.problems import Floats
from maxmargin.solution import Status
from maxmargin.solvers.pegasos import BIAS, MEAN_BIAS, Path, Task

BETWEEN = 1.3
"""The gap costs about an epoch: it is computed whenever the epochs have grown by this factor."""


class Gap(NamedTuple):
    """What is known about one function: P, D, its exact bias, and the greatest violation of an optimality condition."""

    primal: float
    dual: float
    bias: float
    violation: float

    @property
    def relative(self) -> float:
        """(P - D) / P; the optimum lies between the two."""
        return (self.primal - self.dual) / max(abs(self.primal), abs(self.dual), np.finfo(float).tiny)


class Outcome(NamedTuple):
    """How the epochs ended."""

    status: Status
    epochs: int
    model: Floats
    gaps: list[Gap]


def best_bias(g: Floats, y: Floats, p: Floats) -> float:
    """The b that minimises sum_i p_i max(0, 1 - y_i (g_i + b)); the middle where an interval does.

    The slope in b is -P_+ (the weight of the positive samples) on the far left and grows by p_i at b = y_i - g_i: the minimum is where it
    changes sign.
    """
    counts = p > 0
    y, p, ends = y[counts], p[counts], (y - g)[counts]
    order = np.argsort(ends, kind="stable")
    slope = np.cumsum(p[order]) - p[y > 0].sum()
    rounding = 1e-12 * float(p.sum())
    at = min(int(np.searchsorted(slope, -rounding)), len(p) - 1)
    low = float(ends[order[at]])
    if abs(slope[at]) <= rounding and at + 1 < len(p):
        return (low + float(ends[order[at + 1]])) / 2
    return low


def feasible(coef: Floats, y: Floats, p: Floats, alpha: float, bias: bool) -> Floats:
    """Dual variables a near alpha y coef: in [0, p], and with sum_i a_i y_i = 0 where there is a bias."""
    a = np.clip(alpha * y * coef, 0.0, p)
    if bias:
        up, down = float(a[y > 0].sum()), float(a[y < 0].sum())
        side = y > 0 if up > down else y < 0
        if up != down:
            a[side] *= min(up, down) / max(up, down)
    return a


def gaps(path: Path, model: Floats, task: Task) -> list[Gap]:
    """P, D and the exact bias of every function."""
    rule, p = path.rule, task.share
    F, norms = path.values(model), path.norms(model)
    choices = [np.array([feasible(c, y, p, rule.alpha, rule.bias) for c, y in zip(C, task.signs, strict=True)]) for C in path.duals()]
    lengths = [path.dual_norms(a * task.signs) / rule.alpha for a in choices]  # alpha |w_a|^2, w_a = sum a_i y_i phi(x_i) / alpha
    found = []
    for k, y in enumerate(task.signs):
        b = best_bias(F[k], y, p) if rule.bias else 0.0
        distance = y * (F[k] + b)
        primal = rule.alpha / 2 * float(norms[k]) + float(np.sum(p * np.maximum(0.0, 1 - distance)))
        duals = [_best_scale(float(a[k].sum()), float(q[k])) for a, q in zip(choices, lengths, strict=True)]
        best = int(np.argmax([value for value, _ in duals]))
        a = choices[best][k] * duals[best][1]
        broken = np.maximum(np.where(a < p, 1 - distance, 0.0), np.where(a > 0, distance - 1, 0.0))
        found.append(Gap(primal, duals[best][0], b, float(broken.max(initial=0.0))))
    return found


def _best_scale(total: float, square: float) -> tuple[float, float]:
    """The greatest theta total - theta^2 square / 2 over theta in [0, 1], and that theta."""
    theta = min(1.0, total / square) if square > 0 else 1.0
    return theta * total - theta * theta * square / 2, theta


def _exact_bias(path: Path, task: Task) -> None:
    """Set the biases of the walks to the best for their last iterates."""
    values, p = path.values(path.last()), task.share
    for k, y in enumerate(task.signs):
        path.walks.numbers[k, BIAS] = best_bias(values[k], y, p)


def run(path: Path, task: Task, max_iter: int, tol: float | None, monitor: Monitor, rng: np.random.RandomState | None) -> Outcome:
    """Epochs until the relative gaps are at most tol or the budget is used up; in the order of the visits where rng is None."""
    n, order = len(task.visits), task.visits
    found: list[Gap] = []
    stopped, epoch, looked = None, 0, 0
    while epoch < max_iter and stopped is None:
        if rng is not None:
            order = rng.permutation(task.visits)
        for begin in range(0, n, path.piece):
            path.advance(order[begin : begin + path.piece], task)
            stopped = monitor.stop(0)
            if stopped is not None:
                break
        epoch += 1
        if path.rule.bias and stopped is None:
            _exact_bias(path, task)
        if tol is not None and stopped is None and (epoch >= BETWEEN * looked or epoch == max_iter):
            looked, found = epoch, gaps(path, path.model(), task)
            if monitor.wants_report():
                _report(monitor, path, epoch * n, found)
            if max(gap.relative for gap in found) <= tol:
                return _end(path, task, Status.OPTIMAL, epoch, found, monitor)
    found = found if looked == epoch and stopped is None and found else gaps(path, path.model(), task)
    return _end(path, task, stopped or Status.MAX_ITER, epoch, found, monitor)


def _end(path: Path, task: Task, status: Status, epoch: int, found: list[Gap], monitor: Monitor) -> Outcome:
    path.walks.numbers[:, MEAN_BIAS] = [gap.bias for gap in found]
    if not path.rule.average:
        path.walks.numbers[:, BIAS] = path.walks.numbers[:, MEAN_BIAS]
    _report(monitor, path, epoch * len(task.visits), found, f", {status.name.lower()}")
    return Outcome(status, epoch, path.model(), found)


def _report(monitor: Monitor, path: Path, steps: int, found: list[Gap], note: str = "") -> None:
    worst = max(found, key=lambda gap: gap.relative)
    support = int(np.any(path.duals()[1] != 0, axis=0).sum()) if monitor.verbose else 0
    monitor.report(steps, worst.primal - worst.dual, worst.violation, support, note)
