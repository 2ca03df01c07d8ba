"""What the online estimators share: epochs, chunks of data, support vectors, labels, prediction."""

from dataclasses import replace
from numbers import Integral, Real
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import _check_partial_fit_first_call

from maxmargin.core.arrays import Floats, Integers
from maxmargin.estimators._base import BaseSVM, shared_constraints
from maxmargin.estimators._data import like
from maxmargin.estimators._record import checked, field, fitted, known_field
from maxmargin.estimators._targets import (
    class_weights,
    finite_weight,
    refuse_mixed_labels,
    refuse_negative,
)
from maxmargin.kernel.expansion import values
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.labels import greatest
from maxmargin.kernel.sources import pick
from maxmargin.linear.designs import ArrayDesign
from maxmargin.online.model import OnlineModel, check
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
        **shared_constraints(*SHARED),
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

    def _kernel_of_chunk(self, X: Any, weight: Floats) -> Kernel:
        """The kernel of the model; refused where a chunk asks for another one."""
        wanted = self._resolve_kernel(X, weight)
        if not hasattr(self, "model_"):
            return wanted
        kernel: Kernel = checked(self).kernel
        if isinstance(self.kernel, str) and isinstance(self.gamma, str):
            wanted = replace(wanted, gamma=kernel.gamma)  # that of the first chunk
        if wanted != kernel:
            raise ValueError(
                f"partial_fit continues with the kernel {kernel!r}, not with {wanted!r}: use "
                "fit to start again."
            )
        return kernel

    # ---- the record ------------------------------------------------------------------------------

    model_: OnlineModel
    intercept_ = field("intercept")
    support_ = known_field("rows")
    support_vectors_ = known_field("vectors")
    _kernel = field("kernel")

    @property
    def dual_coef_(self) -> Any:
        """Coefficients of the support vectors."""
        if fitted(self).vectors is None:
            raise AttributeError("a linear model has weights of features, coef_")
        return fitted(self).coef

    @dual_coef_.setter
    def dual_coef_(self, value: Any) -> None:
        self.model_ = replace(fitted(self), coef=value)

    @property
    def _n_support(self) -> Any:
        return np.array([len(self.support_)], dtype=np.int32)

    @property
    def t_(self) -> int:
        """Number of steps."""
        return int(fitted(self).state.state["steps"][0])

    def _of_points(
        self,
        kernel: Kernel,
        points: Any,
        support: Integers,
        coef: Floats,
        chunk: bool,
        **fields: Any,
    ) -> OnlineModel:
        """The record of functions of these points, of which those in use are kept."""
        rows = np.arange(len(support)) if chunk else support
        return OnlineModel(
            kernel=kernel,
            coef=np.ascontiguousarray(coef[:, support]),
            n_features=getattr(self, "n_features_in_", 0),
            vectors=np.empty((0, 0)) if kernel.kind is Kind.PRECOMPUTED else pick(points, support),
            rows=rows.astype(np.int32),
            **fields,
        )

    def _fits_support(self, coef: Floats, functions: int, n: int) -> bool:
        """Whether coefficients of the support vectors can start a fit of n samples."""
        rows = self.model_.rows
        if rows is None or coef.shape != (functions, len(rows)):
            return False
        return bool(rows.max(initial=-1) < n)

    def _function_values(self, X: Any) -> Floats:
        """The functions without intercepts at validated samples, one row each."""
        record: OnlineModel = fitted(self)
        return values(record, X if record.vectors is None else like(X, record.vectors))

    def _check_state(self) -> None:
        check(fitted(self), type(self).__name__)

    def _linear_coef(self) -> Any:
        return self.dual_coef_


class OnlineClassifier(ClassifierMixin, BaseOnline):  # type: ignore[misc]
    """Labels, class weights and prediction, one function for each class against the rest."""

    classes_ = field("classes")

    def _encode_chunk(self, y: Any, classes: Any) -> tuple[NDArray[Any], Integers]:
        """The classes, given by the first call, and the labels of a chunk as positions in them."""
        known = SimpleNamespace(classes_=getattr(self, "classes_", None))
        _check_partial_fit_first_call(known, classes)
        classes = known.classes_
        y = column_or_1d(y, warn=True)
        refuse_mixed_labels(y)
        if len(classes) < 2:
            raise ValueError(
                f"The number of classes has to be greater than one; got {len(classes)} class"
            )
        label = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
        odd = classes[label] != y
        if odd.any():
            raise ValueError(
                f"y has the label {np.asarray(y)[odd].tolist()[0]!r}, which is not among the "
                f"classes {classes.tolist()}."
            )
        return classes, np.asarray(label, dtype=np.int64)

    def _chunk_weight(
        self, classes: NDArray[Any], label: NDArray[np.int64], weight: Floats
    ) -> Floats:
        """The weight of each sample of a chunk."""
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' is not supported by partial_fit: a chunk does not know "
                "how many samples of a class will come. Use "
                "compute_class_weight('balanced', classes=classes, y=y) on a sample of the labels, "
                "and pass the dictionary."
            )
        return weight * class_weights(self.class_weight, classes, label, classes, weight)[label]

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
        record = checked(self)
        f: Floats = self._function_values(self._validate_X(X, reset=False))
        f = f + record.intercept[:, None]
        return f[0] if len(record.classes) == 2 else f.T

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
