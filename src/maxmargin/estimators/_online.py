"""What the online estimators share: epochs, chunks of data, support vectors, labels, prediction."""

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import _check_partial_fit_first_call
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.arrays import Floats
from maxmargin.estimators import _state
from maxmargin.estimators._base import BaseSVM
from maxmargin.estimators._data import canonical_csr
from maxmargin.estimators._targets import (
    class_weights,
    finite_weight,
    refuse_mixed_labels,
    refuse_negative,
)
from maxmargin.kernel.kernels import Kind
from maxmargin.kernel.labels import greatest
from maxmargin.kernel.prediction import Expansion, expansion_values
from maxmargin.kernel.sources import pick
from maxmargin.linear.designs import ArrayDesign
from maxmargin.online.pegasos import Task

MOST_REPEATS = 10
"""Integer sample weights are repetitions in an epoch up to this mean; other weights scale the
steps."""
SHARED = (
    "kernel",
    "degree",
    "gamma",
    "coef0",
    "warm_start",
    "verbose",
    "time_limit",
    "on_interrupt",
)
"""Parameters with the same meaning as for the exact estimators."""


def stack(A: Any, B: Any) -> Any:
    """The points of A followed by those of B, in the storage of A."""
    if sparse.issparse(A):
        return canonical_csr(sparse.vstack([A, sparse.csr_matrix(B)], format="csr"))
    if isinstance(A, np.ndarray):
        return np.concatenate([A, B.toarray() if sparse.issparse(B) else np.asarray(B)])
    return [*A, *B]


def like(X: Any, A: Any) -> Any:
    """X as a sparse matrix or a dense array, whichever A is."""
    if sparse.issparse(A) and not sparse.issparse(X):
        return canonical_csr(sparse.csr_matrix(X))
    return X.toarray() if sparse.issparse(X) and isinstance(A, np.ndarray) else X


def canonical_order(design: ArrayDesign) -> NDArray[np.int64]:
    """An order of the samples that depends on their values alone."""
    direction = np.random.RandomState(1).standard_normal(design.shape[1])
    values = design.values(direction)
    order = np.argsort(values)
    ties = bool((values[order[1:]] == values[order[:-1]]).any())
    return np.argsort(values, kind="stable") if ties else order  # a stable sort costs twice as much


def takes_chunks(model: "BaseOnline") -> bool:
    """Whether ``partial_fit`` is available.

    It is not for a precomputed kernel: kernel values hold no samples that could be kept.
    """
    if model._kernel_kind() is Kind.PRECOMPUTED:
        raise AttributeError(
            "partial_fit needs samples, and kernel='precomputed' has none: use fit, or a kernel of "
            "the data."
        )
    return True


class BaseOnline(BaseSVM):
    """Sample weights as repetitions, and functions of support vectors."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: BaseSVM._parameter_constraints[name] for name in SHARED},
        "alpha": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "budget": [None, Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
    }

    def _design(self, X: Any) -> ArrayDesign | None:
        """The samples as a matrix; None where they are objects or kernel values."""
        matrix = isinstance(X, np.ndarray) or sparse.issparse(X)
        return (
            ArrayDesign(X)
            if matrix and X.dtype.kind == "f" and self._kernel_kind() is not Kind.PRECOMPUTED
            else None
        )

    def _rows(
        self, design: ArrayDesign | None, weight: Floats, used: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], Floats]:
        """The samples of an epoch, and the weight of each in one step.

        k copies and weight k give the same samples in the same order. Objects and kernel values
        come in the order given.
        """
        order = (
            canonical_order(design)
            if self.shuffle and design is not None
            else np.arange(len(weight))
        )
        counts = np.zeros(len(weight), bool)
        counts[used] = True
        order = order[counts[order]]
        whole = bool((weight == np.floor(weight)).all()) and weight.sum() <= MOST_REPEATS * len(
            weight
        )
        if whole:
            return np.repeat(order, weight[order].astype(np.int64)), np.ones(len(weight))
        return order, weight

    def _task(self, signs: Floats, weight: Floats, rows: NDArray[np.int64]) -> Task:
        """The task, with weights of mean 1 over an epoch."""
        return Task(signs, weight / weight[rows].mean(), rows)

    def _random(self) -> np.random.RandomState | None:
        return check_random_state(self.random_state) if self.shuffle else None

    def _check_kernel_of_chunk(self, X: Any, weight: Floats) -> None:
        """Refuse a chunk that asks for another kernel than the model has."""
        _state.check_online(self)
        wanted = self._resolve_kernel(X, weight)
        if isinstance(self.kernel, str) and isinstance(self.gamma, str):
            wanted = replace(wanted, gamma=self._kernel.gamma)  # that of the first chunk
        if wanted != self._kernel:
            raise ValueError(
                f"partial_fit continues with the kernel {self._kernel!r}, not with {wanted!r}: use "
                "fit to start again."
            )

    # ---- functions of support vectors ------------------------------------------------------------

    def _keep_points(self, points: Any, support: NDArray[np.int64], coef: Floats) -> None:
        """Keep the points in use and their coefficients."""
        self.support_ = support.astype(np.int32)
        self.dual_coef_: Any = np.ascontiguousarray(coef[:, support])
        self._n_support = np.array([len(support)], dtype=np.int32)
        self.support_vectors_ = (
            np.empty((0, 0)) if self._kernel_kind() is Kind.PRECOMPUTED else pick(points, support)
        )

    def _fits_support(self, coef: Floats, functions: int, n: int) -> bool:
        """Whether coefficients of the support vectors can start a fit of n samples."""
        same = coef.shape == (functions, len(self.support_))
        return same and bool(self.support_.max(initial=-1) < n)

    def _kernel_values(self, X: Any) -> Floats:
        """sum_j coef_j k(x_j, x) at the samples X, one row for each function."""
        points, coef, support = self.support_vectors_, self.dual_coef_, self.support_
        model = Expansion(self._kernel, points, coef, support, self._matrix_width)
        return expansion_values(self, model, like(X, points))

    def _check_state(self) -> None:
        _state.check_online(self)

    def _linear_coef(self) -> Any:
        return self.dual_coef_


class OnlineClassifier(ClassifierMixin, BaseOnline):  # type: ignore[misc]
    """Labels, class weights and prediction, one function for each class against the rest."""

    classes_: NDArray[Any]

    def _encode_chunk(self, y: Any, classes: Any) -> NDArray[np.int64]:
        """The labels of a chunk as positions in classes_, which the first call sets."""
        _check_partial_fit_first_call(self, classes)
        y = column_or_1d(y, warn=True)
        refuse_mixed_labels(y)
        if len(self.classes_) < 2:
            raise ValueError(
                f"The number of classes has to be greater than one; got {len(self.classes_)} class"
            )
        label = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
        odd = self.classes_[label] != y
        if odd.any():
            raise ValueError(
                f"y has the label {np.asarray(y)[odd].tolist()[0]!r}, which is not among the "
                f"classes {self.classes_.tolist()}."
            )
        return np.asarray(label, dtype=np.int64)

    def _chunk_weight(self, label: NDArray[np.int64], weight: Floats) -> Floats:
        """The weight of each sample of a chunk."""
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' is not supported by partial_fit: a chunk does not know "
                "how many samples of a class will come. Use "
                "compute_class_weight('balanced', classes=classes, y=y) on a sample of the labels, "
                "and pass the dictionary."
            )
        return (
            weight
            * class_weights(self.class_weight, self.classes_, label, self.classes_, weight)[label]
        )

    @staticmethod
    def _signs(label: NDArray[np.int64], n_classes: int) -> Floats:
        """+1 for the class of each function, -1 for the rest.

        Two classes need one function only, that of the second class.
        """
        ids = np.array([1]) if n_classes == 2 else np.arange(n_classes)
        return np.where(label[None, :] == ids[:, None], 1.0, -1.0)

    def _checked_weights(
        self, sample_weight: Any, classes: NDArray[Any], label: NDArray[np.int64], y: Any
    ) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """Sample weights, class weights, and the samples that count; at least two classes must."""
        weight = finite_weight(sample_weight, len(label))
        class_weight = class_weights(self.class_weight, classes, label, y, np.maximum(weight, 0.0))
        used = np.flatnonzero(weight * class_weight[label] > 0)
        if len(np.unique(label[used])) < 2:
            raise ValueError(
                "Invalid input - all samples with positive weights belong to the same class; at "
                "least two are needed."
            )
        refuse_negative(weight)
        return weight, class_weight, used

    def decision_function(self, X: Any) -> Floats:
        """Evaluate the decision function.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; (n_samples, n_samples_fit) kernel values for ``kernel="precomputed"``.

        Returns
        -------
        f : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one value for each sample, positive for ``classes_[1]``; else one for
            each class against the rest.
        """
        check_is_fitted(self)
        _state.check_online(self)
        values: Floats = (
            self._function_values(self._validate_X(X, reset=False)) + self.intercept_[:, None]
        )
        return values[0] if len(self.classes_) == 2 else values.T

    def _function_values(self, X: Any) -> Floats:
        return self._kernel_values(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict class labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; (n_samples, n_samples_fit) kernel values for ``kernel="precomputed"``.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The class of the greatest decision value, the first where several are equal. For two
            classes ``classes_[1]`` where the decision value is at least 0.
        """
        f = self.decision_function(X)
        labels: NDArray[Any] = self.classes_[greatest(np.atleast_2d(f.T))]
        return labels
