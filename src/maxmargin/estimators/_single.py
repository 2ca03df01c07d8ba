"""Estimators with one problem and one decision function: regression and one-class."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import _num_samples

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.estimators._base import BaseSVM
from maxmargin.estimators._data import refuse_batch_dependence, symmetric
from maxmargin.estimators._targets import finite_weight, validate_weight
from maxmargin.kernel.evaluation import kernel_diagonal
from maxmargin.kernel.formulations import Decision, Formulation
from maxmargin.kernel.sources import take
from maxmargin.kernel.training import Task
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.training import train_many

ZERO_AGAIN = 1.1
"""Last digits of decision values move an objective by eps / ``certificate.ZERO`` = 2 % of what is
called 0; fit and certify agree to them."""


class BaseSingle(BaseSVM):
    """Fitting and certifying of one problem."""

    @abstractmethod
    def _formulation(self, z: Floats, weight: Floats) -> Formulation:
        """The problem on samples with the given targets and weights."""

    def _keep_decision(self, decision: Decision) -> None:
        """Keep what this estimator reads off its solution beyond coefficients and intercept."""

    def _tube(self, residual: Floats, coef: Floats) -> float:
        """Half the width of the tube that the model found, if it finds one."""
        return 0.0

    def _fit_single(self, X: Any, z: Floats, sample_weight: Any) -> Self:
        """Train on the samples of positive weight and keep the model."""
        weight = validate_weight(sample_weight, _num_samples(X))
        X = symmetric(self._kernel_kind(), X)
        used = np.flatnonzero(weight > 0)
        samples = take(self._kernel_kind(), X, used)
        kernel = self._resolve_kernel(samples, weight[used])
        form = self._formulation(z[used], weight[used])
        start, warm = None, self._warm(len(weight))
        if warm is not None:
            guess = np.zeros(len(weight))
            guess[warm[0]] = warm[1][0] * self._scale
            start = guess[used]
        with self._monitor() as monitor:
            refuse_batch_dependence(kernel, samples)
            task = Task(form, float(self.tol), self._method(), start)
            (trained,) = train_many(
                [task], KernelWorkspace.of(kernel, samples, monitor, self.cache_size)
            )
        self._conclude([trained], monitor, X)
        support = np.flatnonzero(trained.decision.coef)
        self._keep_support(X, used[support], kernel)
        self._n_support = np.array([len(support)], dtype=np.int32)
        self._keep_coef(
            trained.decision.coef[None, support], np.array([trained.decision.intercept])
        )
        self._scale: float = trained.decision.scale
        self._keep_decision(trained.decision)
        self.n_iter_ = trained.certificate.n_iter
        self._num_iter = np.array([self.n_iter_])
        return self

    def _shapes(self) -> tuple[int, int, int]:
        return 1, 1, 1

    def _linear_coef(self) -> Any:
        return self._dual_coef_

    def _certify_single(self, X: Any, z: Floats, sample_weight: Any) -> Certificate:
        """Recompute the certificate."""
        weight = finite_weight(sample_weight, _num_samples(X))
        if getattr(self, "_rows_known", True) and len(weight) != self.shape_fit_[0]:
            raise ValueError(
                f"certify needs the data the model was fitted on: {self.shape_fit_[0]} samples, "
                f"got {len(weight)}."
            )
        used = weight > 0
        exact, solver = self._certified_values(X), self._decision_values(X)
        coef = np.zeros(len(weight))
        coef[self._training_rows(X, np.zeros(len(weight), np.int64))] = self._columns()[0]
        decision = Decision(
            coef[used],
            float(self._intercept_[0]),
            (0.0, 0.0),
            epsilon=self._tube(z - exact[:, 0], coef),
        )
        form = self._formulation(z[used], weight[used])
        if form.boundary:
            diagonal = float(kernel_diagonal(self._kernel, X)[used].max())
            decision = decision._replace(diagonal=ZERO_AGAIN * diagonal)
        found = form.certify(exact[used, 0], decision)
        return self._certify_all([found], solver, exact)
