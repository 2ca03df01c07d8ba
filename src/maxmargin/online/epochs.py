"""Epochs of Pegasos over samples that are all at hand.

The best bias between them, the gap at times; pegasos.py has the mathematics.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers
from maxmargin.linear.bias_search import best_bias
from maxmargin.linear.losses import Bias, LinearProblem, classification
from maxmargin.linear.objectives import Gap, dual, feasible, neg_conjugates, primal
from maxmargin.monitor import Monitor
from maxmargin.online.pegasos import BIAS, MEAN_BIAS, STEPS, Path, Rule, Task
from maxmargin.status import Status

BETWEEN = 1.3
"""The gap costs about an epoch: it is computed whenever the epochs have grown by this factor."""

SHORTEST = 2.0**-60
"""Share of a model below which it is not shortened further."""

LOOKED = 20_000
"""Samples that tell the bias between epochs. It matters where one class is rare, but not to more
digits; the bias at the end is exact."""


class Found(NamedTuple):
    """What is known about one function.

    P and D, its exact bias, decision values f, duals t, |w|^2 and |sum_i t_i phi(x_i)|^2.
    """

    gap: Gap
    bias: float
    f: Floats
    t: Floats
    square: float
    dual_square: float


class Outcome(NamedTuple):
    """How the epochs ended."""

    ended: Status | None
    """Why the epochs ended early; None where the gaps are within tol."""
    epochs: int
    model: Floats
    found: list[Found]


def problems(task: Task, rule: Rule) -> list[LinearProblem]:
    """The problems of the functions, divided by alpha."""
    bias, C = Bias.FREE if rule.bias else Bias.NONE, task.share / rule.alpha
    return [LinearProblem(classification(y, C, False), bias) for y in task.signs]


def constant_loss(problem: LinearProblem) -> float:
    """The loss of the best constant function: what the tolerance is relative to."""
    nothing = np.zeros(len(problem.tube.low))
    return problem.tube.losses(nothing + best_bias(problem, nothing))


def judge(
    path: Path, function: Floats, asked: list[LinearProblem], shorten: bool = False
) -> tuple[Floats, list[Found]]:
    """P, D and the exact bias of every function, as it is or shortened."""
    alpha, F, squares = path.rule.alpha, path.values(function), path.norms(function)
    if shorten:
        sizes = np.array([_best_size(*one) for one in zip(asked, F, squares, strict=True)])
        function, F, squares = function * sizes[:, None], F * sizes[:, None], squares * sizes**2
    choices = [
        np.array([feasible(problem, t) for problem, t in zip(asked, T, strict=True)])
        for T in path.duals()
    ]
    lengths = [path.dual_norms(T) for T in choices]
    found = []
    for k, problem in enumerate(asked):
        b = best_bias(problem, F[k])
        f = F[k] + b
        value = primal(problem, float(squares[k]), b, problem.tube.losses(f))
        scaled = [
            _best_scale(problem, T[k], float(square[k]))
            for T, square in zip(choices, lengths, strict=True)
        ]
        bound, t, length = max(scaled, key=lambda one: one[0])
        found.append(Found(Gap(alpha * value, alpha * bound), b, f, t, float(squares[k]), length))
    return function, found


def _best_size(problem: LinearProblem, Xw: Floats, square: float) -> float:
    """1, halved as long as that lowers P(theta w): early iterates are far too long.

    P, minimised over the bias, is convex in theta: what comes out is no worse than w = 0.
    """

    def objective(theta: float) -> float:
        bias = best_bias(problem, theta * Xw)
        return primal(problem, theta**2 * square, bias, problem.tube.losses(theta * Xw + bias))

    theta, value = 1.0, objective(1.0)
    while theta > SHORTEST and (half := objective(theta / 2)) < value:
        theta, value = theta / 2, half
    return theta


def _best_scale(problem: LinearProblem, t: Floats, square: float) -> tuple[float, Floats, float]:
    """The greatest D(theta t) over theta in [0, 1], that theta t, and its squared length.

    The gains of plain losses are linear.
    """
    gain = neg_conjugates(problem.tube, t)
    theta = min(1.0, gain / square) if square > 0 else 1.0
    return (
        dual(problem, theta * theta * square, theta * gain, 0.0),
        theta * t,
        theta * theta * square,
    )


class Look(NamedTuple):
    """The samples that the bias of the next epoch is found from, None for all, and the problems
    they pose.
    """

    rows: Integers | None
    problems: list[LinearProblem]


def _look(task: Task, rule: Rule, asked: list[LinearProblem]) -> Look:
    """All samples, or LOOKED of the visits.

    As many of each class, standing for the others of it.
    """
    if len(task.visits) <= LOOKED:
        return Look(None, asked)
    label = task.signs.argmax(axis=0) if len(task.signs) > 1 else task.signs[0] > 0
    visited, rows, gain = label[task.visits], [], []
    classes = np.unique(visited)
    for one in classes:
        members = task.visits[visited == one]
        few = members[
            np.linspace(0, len(members) - 1, min(len(members), LOOKED // len(classes))).astype(
                np.int64
            )
        ]
        rows.append(few)
        gain.append(
            task.gain[few] * (float(task.gain[members].sum()) / float(task.gain[few].sum()))
        )
    some, C = np.concatenate(rows), np.concatenate(gain) / (len(task.visits) * rule.alpha)
    return Look(
        some, [LinearProblem(classification(y[some], C, False), Bias.FREE) for y in task.signs]
    )


def _find_bias(path: Path, look: Look) -> None:
    """Set the biases of the walks to the best for their last iterates."""
    for k, (problem, values) in enumerate(
        zip(look.problems, path.values(path.last(), look.rows), strict=True)
    ):
        path.walks.numbers[k, BIAS] = best_bias(problem, values)


def run(
    path: Path,
    max_iter: int,
    tol: float | None,
    monitor: Monitor,
    rng: np.random.RandomState | None,
) -> Outcome:
    """Epochs until the gaps are at most tol of constant_loss or the budget is used up.

    In the order of the visits where rng is None.
    """
    visits = order = path.task.visits
    n = len(visits)
    asked = problems(path.task, path.rule)
    look, values = (
        _look(path.task, path.rule, asked),
        [path.rule.alpha * constant_loss(problem) for problem in asked],
    )
    found: list[Found] = []
    model, stopped, epoch, looked = path.last(), None, 0, 0
    while epoch < max_iter and stopped is None:
        if path.rule.bias and path.walks.numbers[0, STEPS] > 0:
            _find_bias(path, look)
        if rng is not None:
            order = rng.permutation(visits)
        for begin in range(0, n, path.piece):
            path.advance(order[begin : begin + path.piece], monitor)
            stopped = monitor.stop(0)
            if stopped is not None:
                break
        epoch += 1
        if tol is not None and stopped is None and (epoch >= BETWEEN * looked or epoch == max_iter):
            looked = epoch
            model, found = judge(path, path.model(), asked, shorten=epoch == max_iter)
            if monitor.wants_report():
                _report(monitor, path, epoch * n, found)
            if all(one.gap.value <= tol * value for one, value in zip(found, values, strict=True)):
                return _end(path, None, epoch, model, found, monitor)
    if looked != epoch:
        model, found = judge(path, path.model(), asked, shorten=tol is not None)
    return _end(path, stopped or Status.MAX_ITER, epoch, model, found, monitor)


def _end(
    path: Path,
    ended: Status | None,
    epoch: int,
    model: Floats,
    found: list[Found],
    monitor: Monitor,
) -> Outcome:
    path.walks.numbers[:, MEAN_BIAS] = [one.bias for one in found]
    if not path.rule.average:
        path.walks.numbers[:, BIAS] = path.walks.numbers[:, MEAN_BIAS]
    _report(
        monitor,
        path,
        epoch * len(path.task.visits),
        found,
        f", {ended or 'done'}",
    )
    return Outcome(ended, epoch, model, found)


def _report(monitor: Monitor, path: Path, steps: int, found: list[Found], note: str = "") -> None:
    worst = max(found, key=lambda one: one.gap.relative)
    support = int(np.any(path.duals()[1] != 0, axis=0).sum()) if monitor.verbose else 0
    monitor.report(steps, worst.gap.value, np.nan, support, note)
