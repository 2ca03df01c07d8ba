"""From a problem with unlabelled samples to a certified machine: the paths, and the best of them.

Every path ends at labels at which neither step lowers the objective. The lowest of them wins. With
its labels fixed the problem is a C-SVC, which is solved once more and certified. A fit that is
stopped goes on with the labels it has.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.semi_supervised import balance
from maxmargin.semi_supervised.descent import Partial, Step, descend
from maxmargin.semi_supervised.paths import Path
from maxmargin.semi_supervised.subproblems import (
    Fit,
    KernelSubproblem,
    LinearSubproblem,
    Subproblem,
)
from maxmargin.status import Status


class Transduced(NamedTuple):
    """A machine, the labels it was trained on, and the way there."""

    trained: Any
    """Of kernel/training.py or linear/training.py: certified as the convex problem it is."""
    sign: Floats
    """+1 or -1 for every sample."""
    history: Floats
    """A row for each step: number of the path, weight, temperature, objective."""


class TransductiveTask(NamedTuple):
    """One problem with unlabelled samples, on a workspace."""

    problem: Partial
    paths: Sequence[Path]
    tol: float
    pairs: int | None = None
    """Pairs of labels that may switch in one step; None is all that gain."""
    rows: None = None
    """All samples of the workspace."""

    def train(self, workspace: KernelWorkspace | LinearWorkspace) -> Transduced:
        """Follow the paths, and certify the best of their ends."""
        problem, machine = self.problem, self._machine(workspace)
        free = problem.unlabelled
        nothing = np.zeros(int(free.sum()))
        begin = machine.solve(*problem.costs(nothing, 0.0), max(self.tol, machine.stage_tol), None)
        sign, fit, history = problem.sign.copy(), begin, np.zeros((0, 4))
        if free.any():
            walks = self._walks(machine, begin)
            p, fit = self._best(walks, begin)
            sign[free] = np.where(p > 0.5, 1.0, -1.0)
            history = np.array(
                [[k, *step.stage, step.objective] for k, walk in enumerate(walks) for step in walk]
            ).reshape(-1, 4)
        trained = machine.certified(sign, problem.cost, self.tol, fit)
        return Transduced(trained, sign, history)

    def unsolved(self, workspace: Any, status: Status) -> None:
        """Every problem is started."""
        return

    def _machine(self, workspace: KernelWorkspace | LinearWorkspace) -> Subproblem:
        if isinstance(workspace, KernelWorkspace):
            return KernelSubproblem(workspace)
        return LinearSubproblem(workspace, np.flatnonzero(self.problem.unlabelled))

    def _walks(self, machine: Subproblem, begin: Fit) -> list[list[Step]]:
        """The steps of every path for which there is time."""
        found: list[list[Step]] = []
        for path in self.paths:
            if machine.monitor.stop(0) is None:
                walk = descend(machine, self.problem, path.stages, begin, self.tol, self.pairs)
                found.append(walk)
        return found

    def _best(self, walks: Sequence[Sequence[Step]], begin: Fit) -> tuple[Floats, Fit]:
        """Labels and solution of the lowest end.

        Of a fit that was stopped they are the best labels for the last solution.
        """
        ends = [walk[-1] for walk in walks if walk[-1].stage.last]
        if ends:
            best = min(ends, key=lambda step: step.objective)
            return best.p, best.fit
        fit, free = walks[-1][-1].fit if walks else begin, self.problem.unlabelled
        return balance.hard(fit.f[free], self.problem.cost[free], self.problem.share), fit


def label_gain(problem: Partial, sign: Floats, f: Floats) -> float:
    """By how much the best labels for decision values f lower the loss of the labels ``sign``."""
    free = problem.unlabelled
    if not free.any():
        return 0.0
    f, cost, p = f[free], problem.cost[free], (sign[free] > 0).astype(np.float64)
    return balance.loss(f, p, cost) - balance.loss(f, balance.hard(f, cost, problem.share), cost)
