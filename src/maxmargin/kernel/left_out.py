"""Decision values of samples that the machine was not trained on, for the probabilities of a class.

A sigmoid has two parameters. Estimated from m samples, they cost about 1 / m nats of log-loss, so a
large problem needs the values of a part of its samples: of each class the first 640 support
vectors in the order of their keys, which is random (`Left.rank`), and the first 2,048 of the other
samples, whose values stay what they are. The values are NaN elsewhere.

* **Leave-one-out, in closed form** (span.py). It takes one factor of the active samples. The
  machine without one sample is nearly that of all samples, and so are its decision values.
* **Five folds** (held_out.py) where a closed form is too rough or there is none: among few samples,
  where each moves the others onto and off their bounds; where the kernel matrix of the active
  samples is not positive definite, or too large to be factored.

Copies of a sample are left out together, and count as one sample of their weight.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers, Mask
from maxmargin.kernel import span
from maxmargin.kernel.formulations import Decision
from maxmargin.kernel.held_out import NEVER, TaskWithFolds, folds_of, hold_out, ranks_of
from maxmargin.kernel.problems import DualProblem
from maxmargin.kernel.training import Task, Trained, train
from maxmargin.kernel.workspace import KernelWorkspace, is_small
from maxmargin.status import Status


class Settings(NamedTuple):
    """Which samples are left out, and how (decision 22)."""

    few: int = 16
    """Distinct samples up to which machines without each fold are trained."""
    for_each_class: int = 640
    """Distinct support vectors of a class that are left out, at most."""
    others: int = 2048
    """Distinct samples of a class that are no support vectors, at most."""
    most_active: int = 4096
    """Active samples, at most, of a closed form: a factor of 128 MB."""
    rounding: float = 1e-9
    """A variable within this share of its bound is at its bound."""


SETTINGS = Settings()


class Left(NamedTuple):
    """How samples are left out; see `held_out.folds_of`."""

    folds: Integers
    rank: Integers
    """The position of each sample among the distinct ones of its class, in random order."""
    copy: Integers
    """A number for each distinct sample of a class."""
    label: Integers

    @classmethod
    def of(cls, key: Integers, label: Integers) -> "Left":
        """Samples with these keys (equal for copies) and labels."""
        rank = ranks_of(key, label)
        copy = rank * (int(label.max(initial=0)) + 1) + label
        return cls(folds_of(key, label, rank), rank, copy, label)

    def pick(self, rows: Integers) -> "Left":
        """The same of some samples."""
        return Left(*(each[rows] for each in self))

    def distinct(self) -> tuple[Integers, Integers]:
        """Where each distinct sample occurs first, and the number of each sample's."""
        last = {c: int(self.rank[self.label == c].max()) for c in np.unique(self.label)}
        if sum(last.values()) + len(last) == len(self.copy):
            return np.arange(len(self.copy)), np.arange(len(self.copy))
        return np.unique(self.copy, return_index=True, return_inverse=True)[1:]

    def chosen(self, first: Integers, support: Mask) -> Integers:
        """Which of the distinct samples at these positions are used: a part of each class."""
        if len(first) <= SETTINGS.for_each_class:
            return np.arange(len(first))
        rank, label, found = self.rank[first], self.label[first], np.zeros(len(first), bool)
        for c in np.unique(label):
            for part, most in ((support, SETTINGS.for_each_class), (~support, SETTINGS.others)):
                own = np.flatnonzero(part & (label == c))
                if len(own) > most:
                    own = own[np.argpartition(rank[own], most)[:most]]
                found[own] = True
        return np.flatnonzero(found)

    def enough(self) -> Mask:
        """The samples of as many folds as hold out enough of a class."""
        most = max(int(self.rank.max(initial=0)) + 1, 1)
        share = SETTINGS.for_each_class / most
        found: Mask = self.folds < np.ceil(share * (self.folds.max(initial=0) + 1))
        return found


class TaskLeavingOut(NamedTuple):
    """A binary problem whose samples are also left out."""

    task: Task
    left: Left
    """Of the samples of the task."""
    solved: Trained | None = None
    """Its machine, where together.py has trained it."""

    @property
    def rows(self) -> Integers | None:
        """The samples of the view; None means all of them."""
        return self.task.rows

    def train(self, workspace: KernelWorkspace) -> Trained:
        """Solve and certify it, then leave samples out."""
        view = workspace if self.rows is None else workspace.view(self.rows)
        trained = self.solved or train(self.task, view)
        if trained.status is Status.DEGENERATE:
            return trained
        values, moved, early = leave_out(self.task, view, trained.decision, self.left)
        return trained._replace(held_out=values, moved=moved, held_out_early=early)

    def unsolved(self, workspace: KernelWorkspace, status: Status) -> Trained:
        """The result without a solve: nothing is known."""
        return self.task.unsolved(workspace, status)


def leave_out(
    task: Task, workspace: KernelWorkspace, decision: Decision, left: Left
) -> tuple[Floats, Mask | None, bool]:
    """The decision value of each sample without it, NaN where it was not left out.

    The second result says which values moved (None: all), the third whether a limit or Ctrl-C ended
    the training of a machine early.
    """
    problem = task.formulation.build(workspace.source)
    found = _in_closed_form(problem, workspace, decision, left)
    if found is not None:
        return *found, False
    out = left.enough()
    asked = TaskWithFolds(task, np.where(out, left.folds, NEVER))
    values, _, early = hold_out(asked, workspace, decision)
    values[~out] = np.nan
    return values, None, early


def _in_closed_form(
    problem: DualProblem, workspace: KernelWorkspace, decision: Decision, left: Left
) -> tuple[Floats, Mask] | None:
    """The values by leave-one-out, and which moved; None where there is no closed form."""
    first, copy = left.distinct()
    if len(first) <= SETTINGS.few:
        return None
    positive = _by_row(problem, problem.upper) > 0
    values = _values(workspace, decision)
    margin = np.where(positive, values, -values)
    bounds = _by_row(problem, np.maximum(-problem.lower, problem.upper)) / decision.scale
    ridge = _by_row(problem, problem.ridge)
    function = merged(decision.coef, bounds, ridge, margin, first, copy)
    if not 2 <= int(function.active.sum()) <= SETTINGS.most_active:
        return None
    support = supporting(function.coef)
    wanted = left.chosen(first, support[first])
    rows = first[wanted]
    source = workspace.whole() if is_small(len(copy)) else workspace.source
    shift = span.shifts(source, function, rows)
    if shift is None or not np.isfinite(shift).all():
        return None
    shift[left.folds[rows] == NEVER] = 0.0
    found = np.full(len(first), np.nan)
    found[wanted] = values[rows] + shift
    return found[copy], support[first][copy]


def merged(
    coef: Floats, bounds: Floats, ridge: Floats, margin: Floats, first: Integers, copy: Integers
) -> span.Function:
    """The function with the coefficients of copies at the first of them.

    Bounds C_i and margins y f are those of a hinge; a squared loss has a ridge. ``copy`` numbers
    the distinct samples, and ``first`` says where each occurs first.
    """
    if len(first) < len(copy):
        margin = np.where(np.isin(np.arange(len(copy)), first), margin, np.inf)
        coef, bounds = (_sums(values, first, copy) for values in (coef, bounds))
        if ridge.any():
            total = _sums(1 / ridge, first, copy)
            ridge = np.divide(1, total, out=np.zeros(len(copy)), where=total > 0)
    size, free = np.abs(coef), supporting(coef)
    if ridge.any():
        return span.Function(coef, free, np.where(free, ridge, 0.0))
    free &= size < bounds * (1 - SETTINGS.rounding)
    return span.rounded(coef, free, margin, bounds)


def supporting(coef: Floats) -> Mask:
    """Which coefficients are more than rounding."""
    size = np.abs(coef)
    found: Mask = size > SETTINGS.rounding * float(size.max(initial=0.0))
    return found


def _by_row(problem: DualProblem, values: Floats) -> Floats:
    """Values of the variables, one for each sample, in the order of the samples."""
    found = np.empty(len(values))
    found[problem.row] = values
    return found


def _sums(values: Floats, first: Integers, copy: Integers) -> Floats:
    """The sum over its copies at the first of them, 0 at the others."""
    found = np.zeros(len(copy))
    found[first] = np.bincount(copy, values)
    return found


def _values(workspace: KernelWorkspace, decision: Decision) -> Floats:
    """The decision values of all samples."""
    part = workspace.product_of(decision.coef)
    if part is None:
        source = workspace.whole() if is_small(workspace.source.n_rows) else workspace.source
        support = np.flatnonzero(decision.coef)
        part = source.backend.to_host(source.product(support, decision.coef[support]))
    return np.asarray(part + decision.intercept)
