"""Machines without classes: regression and one-class. Each problem has one decision function."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import _num_samples

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats, Integers
from maxmargin.estimators._data import symmetric
from maxmargin.estimators._machine import KernelMachine, Shared, TrainingSet
from maxmargin.estimators._targets import finite_weight, validate_weight
from maxmargin.kernel import certification
from maxmargin.kernel.certification import Claim
from maxmargin.kernel.formulations import Formulation
from maxmargin.kernel.held_out import TaskWithFolds
from maxmargin.kernel.sources import take
from maxmargin.kernel.training import Task, Trained
from maxmargin.kernel.workspace import KernelWorkspace


class Targets(NamedTuple):
    """The data of a fit, with the targets and weights of the samples in use."""

    data: TrainingSet
    z: Floats
    weight: Floats


class BaseSingle(KernelMachine):
    """Fitting and certifying of one problem, or of several on the same samples."""

    def _formulation(self, z: Floats, weight: Floats) -> Formulation:
        """The problem on samples with the given targets and weights."""
        raise NotImplementedError

    def _formulations(self, z: Floats, weight: Floats) -> list[Formulation]:
        """Every problem; the decision functions have their order."""
        return [self._formulation(z, weight)]

    def _prepared(self, X: Any, z: Floats, sample_weight: Any) -> Targets:
        """The samples of positive weight."""
        weight = validate_weight(sample_weight, _num_samples(X))
        X = symmetric(self._kernel_kind(), X)
        used = np.flatnonzero(weight > 0)
        samples = take(self._kernel_kind(), X, used)
        kernel = self._resolve_kernel(samples, weight[used])
        data = TrainingSet(X, kernel, used, samples, np.zeros(len(weight), np.int64))
        return Targets(data, z[used], weight[used])

    def _fit_single(self, prepared: Targets, shared: Shared | None = None) -> Self:
        """Train on the samples of positive weight and keep the model."""
        data, z, weight = prepared
        starts, forms = self._starts(len(data.label), shared), self._formulations(z, weight)
        known = starts is not None and len(starts) == len(forms)
        begin = starts[:, data.used] if starts is not None and known else [None] * len(forms)
        tol, method = float(self.tol), self._method()
        tasks = [Task(form, tol, method, start) for form, start in zip(forms, begin, strict=True)]
        folds = self._folds(data) if shared is None else None
        if folds is None:
            self._train(data, tasks, shared)
        else:
            trained = self._train(data, [TaskWithFolds(tasks[0], folds, keep=True)], shared)
            self._learn_from_folds(data, trained[0], folds, z, weight)
        self.n_iter_ = self.model_.certificate.n_iter
        return self

    def _solved(self, tasks: Sequence[Any], workspace: KernelWorkspace) -> list[Trained]:
        """Train every task; several share their kernel values."""
        return super()._solved(tasks, workspace.for_several() if len(tasks) > 1 else workspace)

    def _folds(self, data: TrainingSet) -> Integers | None:
        """The fold of each sample in use, if they are to be held out."""
        return None

    def _learn_from_folds(
        self, data: TrainingSet, trained: Trained, folds: Integers, z: Floats, weight: Floats
    ) -> None:
        """Keep what the samples held out say."""

    def _certify_single(self, X: Any, z: Floats, sample_weight: Any) -> Certificate:
        """Recompute the certificate."""
        weight, model = finite_weight(sample_weight, _num_samples(X)), self.model_
        if model.rows is not None and len(weight) != model.n_samples:
            raise ValueError(
                f"certify needs the data the model was fitted on: {model.n_samples} samples, "
                f"got {len(weight)}."
            )
        used = np.flatnonzero(weight > 0)
        claims = [Claim(used, form) for form in self._formulations(z[used], weight[used])]
        label = np.zeros(len(weight), np.int64)
        return certification.certify(model, X, label, claims, self.tol)
