"""The convex problem that is left when the labels are fixed, with a kernel or linear.

Sample i costs up_i hinge(f_i) + down_i hinge(-f_i):

    minimise  1/2 |w|^2 + sum_i [ up_i max(0, 1 - f_i) + down_i max(0, 1 + f_i) ]

A labelled sample has one of the two costs, an unlabelled one both while its label is between the
classes, and none where it does not count yet. This is a C-SVC with a dual variable for each cost
that is not 0. Solves of one fit differ in their costs alone: they share kernel values or data, and
each starts from the one before.
"""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers
from maxmargin.kernel import block, formulations, problems
from maxmargin.kernel import training as kernel_training
from maxmargin.kernel.training import Trained
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.linear import losses
from maxmargin.linear import training as linear_training
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.losses import Bias, LinearProblem
from maxmargin.linear.objectives import LinearSolution
from maxmargin.linear.training import Choice, TrainedLinear, choose
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.monitor import Monitor


class Settings(NamedTuple):
    """Constants of the solves (decision 31)."""

    stage_tol: float = 1e-2
    """Relative gap of linear problems before the last stage: their labels change anyway."""


SETTINGS = Settings()


class Fit(NamedTuple):
    """The solution at fixed labels."""

    f: Floats
    """Decision values of all samples."""
    square: float
    """|w|^2."""
    of_up: Floats
    of_down: Floats
    """The dual variables of the two costs, in signed form."""
    model: Any = None
    """What the next solve may use beside the variables."""

    @property
    def coef(self) -> Floats:
        """The coefficient of each sample."""
        found: Floats = self.of_up + self.of_down
        return found


class Subproblem(ABC):
    """The samples of a fit, and how a problem on them is solved."""

    monitor: Monitor
    n: int
    """Number of samples."""
    stage_tol: float = 0.0
    """Tolerance that suffices before the last stage."""

    @abstractmethod
    def solve(self, up: Floats, down: Floats, tol: float, start: Fit | None) -> Fit:
        """Solve with given costs."""

    @abstractmethod
    def certified(self, sign: Floats, cost: Floats, tol: float, start: Fit) -> Any:
        """Solve with labels of one class each, and certify."""


class KernelSubproblem(Subproblem):
    """With a kernel: one workspace."""

    def __init__(self, workspace: KernelWorkspace) -> None:
        self.workspace, self.monitor = workspace, workspace.monitor
        self.n = workspace.source.n_rows

    def solve(self, up: Floats, down: Floats, tol: float, start: Fit | None) -> Fit:
        first, second = np.flatnonzero(up), np.flatnonzero(down)
        sign = np.repeat([1.0, -1.0], [len(first), len(second)])
        problem = problems.c_svc(sign, np.concatenate([up[first], down[second]]))
        problem = problem._replace(row=np.concatenate([first, second]))
        guess = None
        if start is not None:
            guess = np.concatenate([start.of_up[first], start.of_down[second]])
        found = block.solve(problem, self.workspace, tol, guess)
        of_up, of_down = np.zeros(self.n), np.zeros(self.n)
        of_up[first], of_down[second] = np.split(found.b, [len(first)])
        square = float((of_up + of_down) @ found.kernel_part)
        return Fit(found.kernel_part + found.levels[0].value, square, of_up, of_down)

    def certified(self, sign: Floats, cost: Floats, tol: float, start: Fit) -> Trained:
        form = formulations.c_svc(sign, 1.0, cost, squared=False)
        return kernel_training.Task(form, tol, start=start.coef).train(self.workspace)


class LinearSubproblem(Subproblem):
    """Linear: one design; a second one holds the unlabelled samples twice, where it is needed."""

    stage_tol = SETTINGS.stage_tol

    def __init__(self, workspace: LinearWorkspace, unlabelled: Integers) -> None:
        assert isinstance(workspace.design, ArrayDesign)
        self.workspace, self.monitor, self.design = workspace, workspace.monitor, workspace.design
        self.n, self.unlabelled = workspace.design.shape[0], unlabelled
        self._twice: LinearWorkspace | None = None

    def solve(self, up: Floats, down: Floats, tol: float, start: Fit | None) -> Fit:
        if np.any((up > 0) & (down > 0)):
            return self._solve_twice(up, down, tol, start)
        sign = np.where(up > 0, 1.0, -1.0)
        found = self._train(self.workspace, sign, up + down, tol, start, slice(None)).solution
        t = found.t
        return self._fit(found, np.maximum(t, 0.0), np.minimum(t, 0.0))

    def _solve_twice(self, up: Floats, down: Floats, tol: float, start: Fit | None) -> Fit:
        """The same with each unlabelled sample twice, once for each of its costs."""
        n, own = self.n, self.unlabelled
        rows = np.concatenate([np.arange(n), own])
        if self._twice is None:
            design = self.design.pick(rows)
            self._twice = LinearWorkspace(design, self.monitor, self.workspace.seed)
        second = np.arange(len(rows)) >= n
        labelled_down = down[rows] * ~np.isin(rows, own)
        sign = np.where(second | (labelled_down > 0), -1.0, 1.0)
        cost = np.where(sign > 0, up[rows], down[rows])
        found = self._train(self._twice, sign, cost, tol, start, rows).solution
        of_up, of_down = np.zeros(n), np.zeros(n)
        of_up[rows[sign > 0]] = found.t[sign > 0]
        of_down[rows[sign < 0]] = found.t[sign < 0]
        return self._fit(found._replace(f=found.f[:n]), of_up, of_down)

    def certified(self, sign: Floats, cost: Floats, tol: float, start: Fit) -> TrainedLinear:
        return self._train(self.workspace, sign, cost, tol, start, slice(None))

    def _train(
        self,
        workspace: LinearWorkspace,
        sign: Floats,
        cost: Floats,
        tol: float,
        start: Fit | None,
        rows: Any,
    ) -> TrainedLinear:
        begin = None
        if start is not None:
            t = np.where(sign > 0, start.of_up[rows], start.of_down[rows])
            begin = start.model._replace(t=t)
        problem = LinearProblem(losses.classification(sign, cost, squared=False), Bias.FREE)
        choice = Choice(choose(workspace.design))
        return linear_training.Task(problem, tol, choice, begin).train(workspace)

    def _fit(self, found: LinearSolution, of_up: Floats, of_down: Floats) -> Fit:
        nothing = np.empty(0)
        kept = found._replace(t=nothing, f=nothing, Xt=nothing)
        return Fit(found.f, float(found.w @ found.w), of_up, of_down, kept)
