"""Probabilities of LinearSVC, from decision values of samples left out of the fit.

They come from a closed form (linear/span.py, linear/class_span.py). Where there is none (many
features or few samples) folds are held out by weights of 0 for their samples. Each machine without
a fold begins at the one of all samples. Large data need few folds for enough samples
(kernel/left_out.py).
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from maxmargin.core.arrays import Floats, Integers
from maxmargin.estimators._calibrated import Calibrated, PairValues, learnt, method_of, of_classes
from maxmargin.estimators._linear import BaseLinear
from maxmargin.estimators._probability import sample_keys
from maxmargin.estimators._warnings import warn
from maxmargin.kernel import held_out, left_out
from maxmargin.kernel.left_out import Left
from maxmargin.linear import class_span, model, span
from maxmargin.linear.classes import ClassesProblem
from maxmargin.linear.designs import ArrayDesign, Design
from maxmargin.linear.losses import LinearProblem
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
        X = data.design.X if len(used) == len(data.label) else data.design.X[used]
        left = Left.of(sample_keys(None, X, self.random_state), label)
        found, early = self._in_closed_form(data, used, left), False
        if found is None:
            values, early = self._held_out(data, used, left, fit)
            found = values, np.ones(values.shape, np.int64)
        values, moved = found
        if values.shape[1] == 1:
            side = np.where(label == 1, 1.0, -1.0)
            parts = [PairValues(values[:, 0], side, weight, moved[:, 0])]
        else:
            parts = of_classes(values, label, weight, moved)
        self.model_ = learnt(record, parts, method, len(np.unique(label)))
        if early and all(one.status.converged for one in record.certificates):
            warn(
                "A limit ended the training of machines on parts of the samples early, and "
                "probabilities come from them. Raise max_iter or time_limit.",
                ConvergenceWarning,
            )

    def _in_closed_form(
        self, data: Labelled, used: Integers, left: Left
    ) -> tuple[Floats, Integers] | None:
        """Decision values by leave-one-out, and which moved; None where there is no closed form."""
        first, copy = left.distinct()
        few = len(first) <= left_out.SETTINGS.few
        rough = few or not span.applies(len(first), data.design.shape[1])
        if rough:
            return None
        record: LinearModel = self.model_
        assert isinstance(data.design, ArrayDesign)
        design = data.design if len(used) == len(data.label) else data.design.pick(used)
        if self.multi_class == "crammer_singer":
            return self._of_one_problem(data, design, used, left)
        values = model.decision_values(record, design.X)
        found, moved = np.full(values.shape, np.nan), np.zeros(values.shape, np.int64)
        bounds = self.C * data.effective[used]
        ridge = 1 / (2 * bounds) if self.loss == "squared_hinge" else np.zeros(len(used))
        problems = self._problems(data.label, len(self.classes_), data.effective)
        for k, problem in enumerate(problems):
            positive = data.label[used] == (k if len(problems) > 1 else 1)
            margin = np.where(positive, values[:, k], -values[:, k])
            t = record.duals[[k]].toarray()[0][used]
            function = left_out.merged(t, bounds, ridge, margin, first, copy)
            support = left_out.supporting(function.coef)[first]
            wanted = left.chosen(first, support)
            rows = first[wanted]
            shift = span.shifts(design, problem, *function, rows, record.weights()[k])
            if shift is None or not np.isfinite(shift).all():
                return None
            shift[left.folds[rows] == held_out.NEVER] = 0.0
            each = np.full(len(first), np.nan)
            each[wanted] = values[rows, k] + shift
            found[:, k], moved[:, k] = each[copy], support[copy]
        return found, moved

    def _of_one_problem(
        self, data: Labelled, design: ArrayDesign, used: Integers, left: Left
    ) -> tuple[Floats, Integers] | None:
        """The same for the problem of all classes."""
        record: LinearModel = self.model_
        n_classes, label = len(self.classes_), data.label[used]
        if not class_span.applies(design.shape[1], n_classes):
            return None
        first, copy = left.distinct()
        values = model.decision_values(record, design.X)
        both = values if n_classes > 2 else np.column_stack([-values, values]) / 2
        t = np.zeros((len(used), n_classes))
        bounds = np.zeros(len(used))
        bounds[first] = np.bincount(copy, self.C * data.effective[used])
        for k, row in enumerate(record.duals.toarray()):
            t[first, k] = np.bincount(copy, row[used])
        problem = ClassesProblem(label, n_classes, bounds, *self._bias())
        support = left_out.supporting(np.abs(t).max(axis=1))[first]
        wanted = left.chosen(first, support)
        rows = first[wanted]
        shift = class_span.shifts(design, problem, t, both, rows)
        if shift is None or not np.isfinite(shift).all():
            return None
        shift[left.folds[rows] == held_out.NEVER] = 0.0
        change = shift if n_classes > 2 else shift[:, 1:] - shift[:, :1]
        each = np.full((len(first), values.shape[1]), np.nan)
        each[wanted] = values[rows] + change
        moved = np.broadcast_to(support[copy, None], values.shape).astype(np.int64)
        return each[copy], moved

    def _held_out(
        self, data: Labelled, used: Integers, left: Left, fit: Fit
    ) -> tuple[Floats, bool]:
        """Decision values by machines without a fold, and whether a limit ended one of them."""
        assert isinstance(data.design, ArrayDesign)
        values, early = model.decision_values(self.model_, data.design.X[used]), False
        values[left.folds != held_out.NEVER] = np.nan
        with self._watched() as (monitor, seed):
            for fold in np.unique(left.folds[left.enough() & (left.folds != held_out.NEVER)]):
                here = used[left.folds == fold]
                rest = data.effective.copy()
                rest[here] = 0.0
                workspace = LinearWorkspace(data.design, monitor.quiet(self.max_iter), seed)
                coef, intercept, ended = fit(rest, workspace, held_out.SETTINGS.tol * self.tol)
                values[left.folds == fold] = data.design.pick(here).values_of_all(coef) + intercept
                early |= ended
        return values, early

    @abstractmethod
    def _problems(self, label: Any, n_classes: int, effective: Floats) -> Sequence[LinearProblem]:
        """One problem for two classes, else one for each class against the rest."""

    def _without(
        self, problems: Sequence[LinearProblem], choice: Any, workspace: LinearWorkspace, tol: float
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
