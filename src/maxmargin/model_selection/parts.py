"""The problems that a fitted SVC or SVR consists of: one for each decision function."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier

from maxmargin.core.arrays import Floats, Integers, Mask
from maxmargin.estimators import SVC, SVR
from maxmargin.kernel import multiclass, problems
from maxmargin.kernel.formulations import Formulation
from maxmargin.kernel.multiclass import BinaryTask
from maxmargin.kernel.training import Constant

Machine = SVC | SVR
ROUNDING = 1e-9
"""A dual variable within this share of its bound is at its bound."""


class Part(NamedTuple):
    """The samples of positive weight of one decision function."""

    rows: Integers
    target: Floats
    """Signs of a classifier, numbers of a regressor."""
    weight: Floats
    """Sample weights times class weights."""

    def without(self, position: int) -> "Part":
        """The same but for one sample, given by its position in rows."""
        keep = np.arange(len(self.rows)) != position
        return Part(self.rows[keep], self.target[keep], self.weight[keep])

    def formulation(self, machine: Machine) -> Formulation | Constant:
        """The problem; a constant where a class has no sample."""
        if isinstance(machine, SVR):
            return machine._formulation(self.target, self.weight)
        task = BinaryTask(self.rows, self.target)
        return machine._problem_of(task, self.weight, np.ones(len(self.rows)))

    def bounds(self, machine: Machine) -> Floats:
        """The bound C_i of each dual variable; infinite for a squared loss."""
        if is_squared(machine):
            return np.full(len(self.rows), np.inf)
        return problems.bounds(float(machine.C), self.weight)

    def free(self, machine: Machine, coef: Floats) -> Mask:
        """Which samples are support vectors strictly inside their bounds, beyond rounding."""
        size: Floats = np.abs(coef)
        least = ROUNDING * size.max(initial=0.0)
        found: Mask = (size > least) & (size < self.bounds(machine) * (1 - ROUNDING))
        return found

    def ridge(self, machine: Machine) -> Floats:
        """What a squared loss, or Huber's where it is squared, adds to the kernel's diagonal."""
        squared, huber = is_squared(machine), machine.loss == "huber"
        if not (squared or huber) or np.isinf(machine.C):
            return np.zeros(len(self.rows))
        bounds = problems.bounds(float(machine.C), self.weight, squared)
        ridge: Floats = 1 / (2 * bounds) if squared else float(machine.epsilon) / bounds
        return ridge


def is_squared(machine: Machine) -> bool:
    """Whether the loss is squared."""
    return bool(machine.loss.startswith("squared"))


def parts_of(machine: Machine, y: Any, weight: Floats) -> list[Part]:
    """The problems of a fitted machine, in the order of its decision functions.

    y are labels of the machine's classes, or numbers.
    """
    if not is_classifier(machine):
        used = np.flatnonzero(weight > 0)
        return [Part(used, machine._targets(y)[used], weight[used])]
    label = np.searchsorted(machine.classes_, np.ravel(y))
    effective = weight * machine.class_weight_[label]
    one_vs_rest = not machine.model_.pairs
    found = []
    for rows, sign in multiclass.tasks(label, len(machine.classes_), one_vs_rest):
        weighs = effective[rows] > 0
        found.append(Part(rows[weighs], sign[weighs], effective[rows[weighs]]))
    return found
