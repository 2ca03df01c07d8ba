"""Probabilities of LinearSVC, from decision values of samples held out of the fit.

A fold is held out by weights of 0 for its samples. Each machine without a fold begins at the one of
all samples. Large data need few folds for enough samples (kernel/left_out.py).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from maxmargin.core.arrays import Floats, Integers
from maxmargin.estimators._calibrated import Calibrated, PairValues, learnt, method_of, of_classes
from maxmargin.estimators._linear import BaseLinear
from maxmargin.estimators._probability import sample_keys
from maxmargin.estimators._warnings import warn
from maxmargin.kernel import held_out
from maxmargin.kernel.left_out import Left
from maxmargin.linear import model
from maxmargin.linear.designs import ArrayDesign, Design
from maxmargin.linear.model import LinearModel
from maxmargin.linear.training import Task
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.status import Status
from maxmargin.training import train_many

Fit = Callable[[Floats, LinearWorkspace, float], tuple[Floats, Floats, bool]]
"""(weights, workspace, tolerance) -> coefficients, intercepts, whether a limit ended the fit."""
EARLY = (Status.MAX_ITER, Status.TIME_LIMIT, Status.INTERRUPTED)


class Labelled(NamedTuple):
    """The samples of a fit, their labels and weights."""

    design: Design
    label: Integers
    weight: Floats
    effective: Floats
    """Weights times class weights."""


class GivesLinearProbabilities(Calibrated, BaseLinear):
    """Learning and predicting probabilities of a linear classifier."""

    def _function_values(self, X: Any) -> Floats:
        return self._scores(X)

    def _winners(self, values: Floats) -> Integers:
        return model.winners(self.model_, values)

    def _refuse_chunks_with_probabilities(self) -> None:
        if method_of(self.probability) is not None:
            raise ValueError(
                "fit_chunks learns no probabilities: they need machines without some samples. Use "
                "fit, or probability=False."
            )

    def _learn_probabilities(self, data: Labelled, fit: Fit) -> None:
        """Give the record of a fit its probabilities."""
        method = method_of(self.probability)
        assert method is not None
        assert isinstance(data.design, ArrayDesign)
        record: LinearModel = self.model_
        used = np.flatnonzero(data.effective > 0)
        label, weight = data.label[used], data.weight[used]
        left = Left.of(sample_keys(None, data.design.X[used], self.random_state), label)
        values = model.decision_values(record, data.design.X[used])
        values[left.folds != held_out.NEVER] = np.nan
        out, early = left.enough() & (left.folds != held_out.NEVER), False
        with self._watched() as (monitor, seed):
            for fold in np.unique(left.folds[out]):
                here = used[left.folds == fold]
                rest = data.effective.copy()
                rest[here] = 0.0
                workspace = LinearWorkspace(data.design, monitor.quiet(self.max_iter), seed)
                coef, intercept, ended = fit(rest, workspace, held_out.SETTINGS.tol * self.tol)
                found = data.design.pick(here).values_of_all(coef) + intercept
                values[left.folds == fold] = found
                early |= ended
        if values.shape[1] == 1:
            parts = [PairValues(values[:, 0], np.where(label == 1, 1.0, -1.0), weight)]
        else:
            parts = of_classes(values, label, weight)
        self.model_ = learnt(record, parts, method, len(np.unique(label)))
        if early and all(one.status.converged for one in record.certificates):
            warn(
                "A limit ended the training of machines on parts of the samples early, and "
                "probabilities come from them. Raise max_iter or time_limit.",
                ConvergenceWarning,
            )

    def _without(
        self, problems: list[Any], choice: Any, workspace: LinearWorkspace, tol: float
    ) -> tuple[Floats, Floats, bool]:
        """The functions of problems some of whose samples have no weight."""
        record, n = self.model_, workspace.design.shape[0]
        tasks = [
            Task(problem, tol, choice, model.solution(record, k, n))
            for k, problem in enumerate(problems)
        ]
        trained = train_many(tasks, workspace)
        early = any(one.certificate.status in EARLY for one in trained)
        coef = np.array([one.solution.w for one in trained])
        return coef, np.array([one.solution.bias for one in trained]), early
