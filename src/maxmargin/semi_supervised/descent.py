"""Alternating descent in labels and decision function: what both transductive algorithms share.

A stage is a weight s in [0, 1] of the unlabelled samples and a temperature T >= 0. Its objective

    J = 1/2 |w|^2 + sum_labelled C_i hinge(y_i f_i)
        + s sum_unlabelled c_j [ p_j hinge(f_j) + (1 - p_j) hinge(-f_j) ]
        + s T sum_unlabelled c_j [ p_j ln p_j + (1 - p_j) ln(1 - p_j) ]

falls in each of two steps: the best labels p for f (balance.py), and the best f for p, which is a
convex problem (subproblems.py). A stage ends when a step gains too little. The last stage has s = 1
and T = 0: J is the objective of the transductive machine, and the labels are 0 or 1.

A path of stages (paths.py) leads there from the machine of the labelled samples alone.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Mask
from maxmargin.semi_supervised import balance
from maxmargin.semi_supervised.subproblems import Fit, Subproblem


class Settings(NamedTuple):
    """When a stage ends (decision 31)."""

    progress: float = 1e-3
    """Share of J that a step at a positive temperature, or at less than the whole weight, must
    gain for the stage to go on."""
    last_progress: float = 1e-3
    """The same in the last stage, in units of tol: a solve knows J no better."""


SETTINGS = Settings()


class Stage(NamedTuple):
    """A weight of the unlabelled samples and a temperature."""

    weight: float
    temperature: float

    @property
    def last(self) -> bool:
        """Whether this is the problem itself."""
        return self.weight == 1 and self.temperature == 0


class Partial(NamedTuple):
    """A problem with two classes, of which some samples have no label."""

    sign: Floats
    """+1 or -1; 0 for unlabelled samples."""
    cost: Floats
    """C times the weight of each sample, C_unlabelled times it for unlabelled ones."""
    share: float
    """Of the positive class among the unlabelled samples."""

    @property
    def unlabelled(self) -> Mask:
        """Which samples have no label."""
        found: Mask = self.sign == 0
        return found

    def costs(self, p: Floats, weight: float) -> tuple[Floats, Floats]:
        """What each sample costs below the margin of the positive class, and of the negative."""
        free = self.unlabelled
        up, down = np.where(self.sign > 0, self.cost, 0.0), np.where(self.sign < 0, self.cost, 0.0)
        up[free], down[free] = weight * p * self.cost[free], weight * (1 - p) * self.cost[free]
        return up, down


class Step(NamedTuple):
    """One point of a descent."""

    stage: Stage
    p: Floats
    fit: Fit
    objective: float


def objective(problem: Partial, stage: Stage, p: Floats, fit: Fit) -> float:
    """J; see the top of this file."""
    free = problem.unlabelled
    f, cost, sign = fit.f, problem.cost, problem.sign
    labelled = float(np.sum((cost * balance.hinge(sign * f))[~free]))
    loss = balance.loss(f[free], p, cost[free])
    if stage.temperature > 0:
        loss += stage.temperature * balance.negative_entropy(p, cost[free])
    return 0.5 * fit.square + labelled + stage.weight * loss


def descend(
    machine: Subproblem,
    problem: Partial,
    stages: Sequence[Stage],
    begin: Fit,
    tol: float,
    pairs: int | None = None,
) -> list[Step]:
    """Follow the stages from a first fit; every step after the first of a stage lowers its J.

    At most ``pairs`` pairs of labels switch in one step; None is all that gain.
    """
    fit, found = begin, list[Step]()
    for stage in stages:
        found += _stage(machine, problem, stage, fit, tol, pairs)
        fit = found[-1].fit
        if machine.monitor.stop(0) is not None:
            break
    return found


def _stage(
    machine: Subproblem,
    problem: Partial,
    stage: Stage,
    fit: Fit,
    tol: float,
    pairs: int | None,
) -> list[Step]:
    """Steps of one stage; the first one changes to its objective."""
    free, found = problem.unlabelled, list[Step]()
    cost, share, temperature = problem.cost[free], problem.share, stage.temperature
    least = tol * SETTINGS.last_progress if stage.last else SETTINGS.progress
    tol = tol if stage.last else max(tol, machine.stage_tol)
    while True:
        p = balance.assign(fit.f[free], cost, share, temperature)
        if found:
            before = found[-1]
            if pairs is not None and temperature == 0:
                p = balance.switched(before.p, p, fit.f[free], pairs)
            if not objective(problem, stage, p, fit) < before.objective * (1 - least):
                return found
        fit = machine.solve(*problem.costs(p, stage.weight), tol, fit)
        value = objective(problem, stage, p, fit)
        if found and not value < found[-1].objective:
            return found
        found.append(Step(stage, p, fit, value))
        if machine.monitor.stop(0) is not None:
            return found
