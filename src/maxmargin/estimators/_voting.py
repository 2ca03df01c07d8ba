"""Prediction of both classifiers: decision values, votes, labels."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.arrays import Floats
from maxmargin.estimators import _labels
from maxmargin.estimators._base import BaseSVM
from maxmargin.estimators._labels import Coefficients, Estimate, Question
from maxmargin.kernel import multiclass


class Voting(BaseSVM):
    """From the kept model to decision values and labels.

    Maxmargin.kernel.multiclass says who votes how.
    """

    def _shapes(self) -> tuple[int, int, int]:
        n = len(self.classes_)
        if n == 2:
            return 2, 1, 1
        return (n, n - 1, n * (n - 1) // 2) if self._one_vs_one else (n, n, n)

    def _support_label(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(len(self._n_support)), self._n_support)

    def _columns(self) -> Floats:
        coef = super()._columns()
        return (
            multiclass.unpack_pairs(coef, self._support_label(), len(self.classes_))
            if self._one_vs_one
            else coef
        )

    def _coefficients(self) -> Coefficients:
        """For pairs of classes, class by class.

        The coefficients of a class are a dense block in LIBSVM's layout.
        """
        if not self._one_vs_one:
            return super()._coefficients()
        return Coefficients(
            np.cumsum([0, *self._n_support]), np.ascontiguousarray(super()._columns().T)
        )

    def _join(self, parts: Floats) -> Floats:
        return multiclass.join_pairs(parts) if self._one_vs_one else super()._join(parts)

    def _linear_coef(self) -> Any:
        columns = self._columns() * libsvm_sign(len(self.classes_))
        return sparse.csr_matrix(columns) if self._sparse else columns

    def decision_function(self, X: Any) -> Floats:
        """Evaluate the decision function.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; (n_samples, n_samples_fit) kernel values for ``kernel="precomputed"``.

        Returns
        -------
        f : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_classes * (n_classes - 1) / 2)
            As ``maxmargin.kernel.multiclass`` describes; for two classes one value a sample, positive for ``classes_[1]``.
        """
        values = self._decision_values(X)
        if len(self.classes_) == 2:
            return np.negative(values[:, 0])
        if self._one_vs_one and self.decision_function_shape == "ovr":
            return multiclass.votes_and_confidence(values, len(self.classes_))
        return values

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict class labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; (n_samples, n_samples_fit) kernel values for ``kernel="precomputed"``.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels; ties are decided as ``maxmargin.kernel.multiclass`` describes.
        """
        if self.break_ties and self.decision_function_shape == "ovo":
            check_is_fitted(self)
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        position = self._positions(self._ask(X))
        labels: NDArray[Any] = self.classes_[position]
        return labels

    def _positions(self, question: Question) -> NDArray[np.intp]:
        """The position of each row's label in classes_.

        That of its float64 decision values, which are computed where need be.
        """
        estimate = _labels.estimate(question)
        if estimate is None:
            return self._winners(self._values(question))
        winners = self._certain_winners(estimate)
        undecided = np.flatnonzero(winners == _labels.OPEN)
        if len(undecided):
            winners[undecided] = self._winners(self._values(question.at(undecided)))
        return winners

    def _winners(self, values: Floats) -> NDArray[np.intp]:
        """The label's position for each column of decision values."""
        order, n_classes = getattr(self, "_label_order", None), len(self.classes_)
        if (
            order is not None and not self.break_ties
        ):  # LIBSVM's votes, the classes in the order of its file
            source, sign = multiclass.pairs_in_order(order)
            counts = multiclass.votes(values[source].T * sign, n_classes)
            first: NDArray[np.intp] = order[counts.argmax(axis=1)]
            return first
        if n_classes == 2:
            return np.where(values[0] > 0, 0, 1)
        if self._one_vs_one and self.break_ties:
            values = multiclass.votes_and_confidence(values.T, n_classes).T
        elif self._one_vs_one:
            values = multiclass.votes(values.T, n_classes).T
        winners: NDArray[np.intp] = values.argmax(axis=0)
        return winners

    def _certain_winners(self, estimate: Estimate) -> NDArray[np.intp]:
        """The same from float32, where it is certain."""
        intercept = np.asarray(self._intercept_)
        if self._one_vs_one:
            return _labels.by_pairs(estimate.parts, estimate.errors, intercept)
        values = estimate.parts[0] + intercept[:, None]
        error = estimate.errors[0] + _labels.ADDITIONS * (
            np.abs(values) + np.abs(intercept[:, None])
        ).max(axis=0)
        return (
            _labels.by_sign(values[0], error)
            if len(values) == 1
            else _labels.by_greatest(values, error)
        )


def libsvm_sign(n_classes: int) -> float:
    """What turns the underscored attributes, in LIBSVM's sign, into scikit-learn's.

    -1 for two classes.
    """
    return -1.0 if n_classes == 2 else 1.0
