"""scikit-learn's fitted attributes, which are LIBSVM's, read from the record of a kernel machine.

LIBSVM's decision value for two classes is positive for the first class, ours for the second: the
underscored coefficients and intercepts are LIBSVM's and have the opposite sign. This file is the
only place that knows it.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.core.arrays import Floats
from maxmargin.estimators._record import field, fitted
from maxmargin.kernel.kernels import Kind
from maxmargin.kernel.model import KernelModel, check


def libsvm_sign(model: KernelModel) -> float:
    """The factor between our decision functions and LIBSVM's: -1 for two classes."""
    return -1.0 if model.classes is not None and len(model.classes) == 2 else 1.0


def _signed(name: str) -> Any:
    """The same with LIBSVM's sign; where that is not ours, the array is a read-only copy."""

    def read(self: Any) -> Any:
        model = fitted(self)
        values = _libsvm_signed(model, getattr(model, name))
        if isinstance(values, np.ndarray) and libsvm_sign(model) < 0:
            values.flags.writeable = False
        return shown(model, values)

    def write(self: Any, value: Any) -> None:
        model = fitted(self)
        self.model_ = replace(model, **{name: _libsvm_signed(model, _dense(value))})

    return property(read, write)


def _libsvm_signed(model: KernelModel, values: Any) -> Any:
    """From our sign to LIBSVM's and back; None for values that are not numbers."""
    try:
        return values if libsvm_sign(model) > 0 else np.negative(values)
    except TypeError:
        return None


def _dense(values: Any) -> Any:
    """Coefficients as the record keeps them; None for a broken sparse matrix."""
    if not sparse.issparse(values):
        return values
    try:
        values.check_format(full_check=True)  # SciPy itself trusts the indices
        return values.toarray()
    except ValueError:
        return None


def shown(model: KernelModel, values: Any) -> Any:
    """Coefficients as users see them: for sparse data CSR that stores every entry, zeros too."""
    if np.ndim(values) != 2 or not model.sparse:
        return values
    rows, columns = values.shape
    if columns == 0:
        return sparse.csr_matrix(values.shape)
    indices = np.tile(np.arange(columns, dtype=np.int32), rows)
    indptr = np.arange(0, rows * columns + 1, columns)
    return sparse.csr_matrix((values.ravel(), indices, indptr), shape=values.shape)


class LibsvmLayout:
    """The attributes that every kernel machine has."""

    model_: KernelModel

    certificate_ = field("certificate")
    intercept_ = field("intercept")
    intercept_interval_ = field("intervals")
    support_vectors_ = field("vectors")
    _dual_coef_ = _signed("coef")
    _intercept_ = _signed("intercept")
    _kernel = field("kernel")
    _n_support = field("n_support")
    _probA = field("prob_a")
    _probB = field("prob_b")

    @property
    def dual_coef_(self) -> Any:
        """Coefficients of the support vectors, sparse for sparse data."""
        model = fitted(self)
        return shown(model, model.coef)

    @dual_coef_.setter
    def dual_coef_(self, value: Any) -> None:
        self.model_ = replace(fitted(self), coef=_dense(value))

    @property
    def support_(self) -> NDArray[Any]:
        """Rows of the support vectors; their numbers where the rows are not known."""
        model: KernelModel = fitted(self)
        if model.rows is not None:
            return model.rows
        return np.arange(model.coef.shape[1], dtype=np.int32)

    @support_.setter
    def support_(self, value: Any) -> None:
        self.model_ = replace(fitted(self), rows=value)

    @property
    def _gamma(self) -> float:
        kernel = fitted(self).kernel
        return float(kernel.gamma) if kernel.kind <= Kind.CHI2 else 0.0

    @property
    def _sparse(self) -> bool:
        return bool(fitted(self).sparse)

    def _check_state(self) -> None:
        check(fitted(self))

    def _linear_coef(self) -> Any:
        model = fitted(self)
        columns: Floats = model.columns()
        return sparse.csr_matrix(columns) if model.sparse else columns


def libsvm_signed(model: KernelModel) -> KernelModel:
    """The same machine with LIBSVM's signs of coefficients and intercepts, and back."""
    if libsvm_sign(model) > 0:
        return model
    intervals = np.negative(model.intervals[:, ::-1])
    return replace(model, coef=-model.coef, intercept=-model.intercept, intervals=intervals)
