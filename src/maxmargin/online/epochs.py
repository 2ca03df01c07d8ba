"""Epochs of Pegasos over samples that are all known.

The bias is set to its best value between epochs, and the duality gap is computed now and then;
pegasos.py has the mathematics.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers
from maxmargin.linear.bias_search import best_bias
from maxmargin.linear.losses import Bias, LinearProblem, classification
from maxmargin.linear.objectives import Gap, dual, feasible, neg_conjugates, primal
from maxmargin.monitor import Monitor
from maxmargin.online.pegasos import SETTINGS, Pegasos, Rule, Task
from maxmargin.status import Status


class Evaluation(NamedTuple):
    """One function: P and D, its exact bias, its decision values f and its dual variables t."""

    gap: Gap
    bias: float
    f: Floats
    t: Floats
    square: float
    """|w|^2."""
    dual_square: float
    """|sum_i t_i phi(x_i)|^2."""


class Outcome(NamedTuple):
    """How the epochs ended."""

    ended: Status | None
    """Why the epochs ended early; None where the gaps are within tol."""
    epochs: int
    model: Floats
    found: list[Evaluation]


def problems(task: Task, rule: Rule) -> list[LinearProblem]:
    """The problems of the functions, divided by alpha."""
    bias, C = Bias.FREE if rule.bias else Bias.NONE, task.share / rule.alpha
    return [LinearProblem(classification(y, C, False), bias) for y in task.signs]


def constant_loss(problem: LinearProblem) -> float:
    """The loss of the best constant function: what the tolerance is relative to."""
    nothing = np.zeros(len(problem.tube.low))
    return problem.tube.losses(nothing + best_bias(problem, nothing))


def evaluate(
    solver: Pegasos, model: Floats, asked: list[LinearProblem], shrink: bool = False
) -> tuple[Floats, list[Evaluation]]:
    """P, D and the exact bias of every function, and the model, which may be shrunk first."""
    F, squares = solver.values(model), solver.norms(model)
    if shrink:
        factors = np.array([_shrinkage(*one) for one in zip(asked, F, squares, strict=True)])
        model, F, squares = model * factors[:, None], F * factors[:, None], squares * factors**2
    candidates = [
        np.array([feasible(problem, t) for problem, t in zip(asked, T, strict=True)])
        for T in solver.duals()
    ]
    norms = [solver.dual_norms(T) for T in candidates]
    found = []
    for k, problem in enumerate(asked):
        square = float(squares[k])
        bias = best_bias(problem, F[k])
        f = F[k] + bias
        value = primal(problem, square, bias, problem.tube.losses(f))
        scaled = [
            _scaled_dual(problem, T[k], float(norm[k]))
            for T, norm in zip(candidates, norms, strict=True)
        ]
        bound, t, dual_square = max(scaled, key=lambda one: one[0])
        gap = Gap(solver.rule.alpha * value, solver.rule.alpha * bound)
        found.append(Evaluation(gap, bias, f, t, square, dual_square))
    return model, found


def _shrinkage(problem: LinearProblem, Xw: Floats, square: float) -> float:
    """1, halved as long as that lowers P(theta w): early iterates are far too long.

    P, minimised over the bias, is convex in theta: the result is no worse than w = 0.
    """

    def objective(theta: float) -> float:
        bias = best_bias(problem, theta * Xw)
        losses = problem.tube.losses(theta * Xw + bias)
        return primal(problem, theta**2 * square, bias, losses)

    theta, value = 1.0, objective(1.0)
    while theta > SETTINGS.least_shrinkage and (half := objective(theta / 2)) < value:
        theta, value = theta / 2, half
    return theta


def _scaled_dual(problem: LinearProblem, t: Floats, square: float) -> tuple[float, Floats, float]:
    """The greatest D(theta t) over theta in [0, 1], that theta t, and its squared length.

    The conjugate terms of losses that are not squared are linear in theta.
    """
    gain = neg_conjugates(problem.tube, t)
    theta = min(1.0, gain / square) if square > 0 else 1.0
    squared = theta * theta * square
    return dual(problem, squared, theta * gain, 0.0), theta * t, squared


class BiasProblems(NamedTuple):
    """The samples that determine the bias of the next epoch, None for all, and their problems."""

    rows: Integers | None
    problems: list[LinearProblem]


def _bias_problems(task: Task, rule: Rule, asked: list[LinearProblem]) -> BiasProblems:
    """All samples, or SETTINGS.bias_samples of them.

    Each class gets an equal share; its samples are weighted to represent the whole class.
    """
    most = SETTINGS.bias_samples
    if len(task.rows) <= most:
        return BiasProblems(None, asked)
    label = task.signs.argmax(axis=0) if len(task.signs) > 1 else task.signs[0] > 0
    label_of_row, rows, weight = label[task.rows], [], []
    classes = np.unique(label_of_row)
    for one in classes:
        members = task.rows[label_of_row == one]
        count = min(len(members), most // len(classes))
        few = members[np.linspace(0, len(members) - 1, count).astype(np.int64)]
        rows.append(few)
        total, found = float(task.weight[members].sum()), float(task.weight[few].sum())
        weight.append(task.weight[few] * (total / found))
    some, C = np.concatenate(rows), np.concatenate(weight) / (len(task.rows) * rule.alpha)
    subproblems = [LinearProblem(classification(y[some], C, False), Bias.FREE) for y in task.signs]
    return BiasProblems(some, subproblems)


def _set_bias(solver: Pegasos, found: BiasProblems) -> None:
    """Set the biases to the best for the last iterates."""
    F = solver.values(solver.last(), found.rows)
    solver.iterates.state["bias"] = [
        best_bias(problem, f) for problem, f in zip(found.problems, F, strict=True)
    ]


def run(
    solver: Pegasos,
    max_iter: int,
    tol: float | None,
    monitor: Monitor,
    rng: np.random.RandomState | None,
) -> Outcome:
    """Epochs until the gaps are at most tol of constant_loss, or max_iter of them.

    Samples come in the order of ``task.rows`` where rng is None.
    """
    rule, rows = solver.rule, solver.task.rows
    asked = problems(solver.task, rule)
    bias_problems = _bias_problems(solver.task, rule, asked)
    limits = [rule.alpha * constant_loss(problem) for problem in asked]
    found: list[Evaluation] = []
    model, stopped, epoch, evaluated = solver.last(), None, 0, 0
    while epoch < max_iter and stopped is None:
        if rule.bias and solver.iterates.state["steps"][0] > 0:
            _set_bias(solver, bias_problems)
        order = rows if rng is None else rng.permutation(rows)
        _, stopped = solver.one_pass(order, monitor)
        epoch += 1
        due = epoch >= SETTINGS.gap_growth * evaluated or epoch == max_iter
        if tol is not None and stopped is None and due:
            evaluated = epoch
            model, found = evaluate(solver, solver.model(), asked, shrink=epoch == max_iter)
            if monitor.wants_report():
                _report(monitor, solver, epoch * len(rows), found)
            if all(one.gap.value <= tol * limit for one, limit in zip(found, limits, strict=True)):
                return _end(solver, None, epoch, model, found, monitor)
    if evaluated != epoch:
        model, found = evaluate(solver, solver.model(), asked, shrink=tol is not None)
    return _end(solver, stopped or Status.MAX_ITER, epoch, model, found, monitor)


def _end(
    solver: Pegasos,
    ended: Status | None,
    epoch: int,
    model: Floats,
    found: list[Evaluation],
    monitor: Monitor,
) -> Outcome:
    state = solver.iterates.state
    state["mean_bias"] = [one.bias for one in found]
    if not solver.rule.average:
        state["bias"] = state["mean_bias"]
    note = f", {ended.value if ended else 'done'}"
    _report(monitor, solver, epoch * len(solver.task.rows), found, note)
    return Outcome(ended, epoch, model, found)


def _report(
    monitor: Monitor, solver: Pegasos, steps: int, found: list[Evaluation], note: str = ""
) -> None:
    worst = max(found, key=lambda one: one.gap.relative)
    support = int(np.any(solver.duals()[1] != 0, axis=0).sum()) if monitor.verbose else 0
    monitor.report(steps, worst.gap.value, np.nan, support, note)
