"""The source for a kernel and its data, and the kernel matrix for users."""

from typing import Any

import numpy as np
from sklearn.utils import check_array

from maxmargin.core.arrays import Floats
from maxmargin.core.backend import Backend
from maxmargin.core.choose import HOST
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.sources.base import Source
from maxmargin.kernel.sources.given import CallableSource, MatrixSource
from maxmargin.kernel.sources.native import NativeSource
from maxmargin.kernel.sources.sums import SumSource, Term, columns_of


def make_source(kernel: Kernel, A: Any, B: Any = None, backend: Backend = HOST) -> Source:
    """The source for a kernel over A (and B); for a precomputed kernel A is the matrix k(A, B)."""
    if kernel.kind is Kind.PRECOMPUTED:
        return MatrixSource(A, backend)
    if kernel.kind is Kind.CALLABLE:
        return CallableSource(kernel, A, B, backend)
    if kernel.kind is Kind.SUM:
        terms = [
            Term(weight, make_source(part, columns_of(A, some), columns_of(B, some), backend))
            for part, weight, some in kernel.parts
        ]
        return SumSource(terms)
    return NativeSource(kernel, A, B, backend=backend)


def kernel_matrix(kernel: Kernel, X: Any, Z: Any = None) -> Floats:
    """Return the matrix k(X, Z) in float64.

    Parameters
    ----------
    kernel : Kernel
        Which kernel.
    X, Z : array-like or sparse matrix
        Points, one a row; Z defaults to X.

    Returns
    -------
    K : ndarray of shape (len(X), len(Z))

    Examples
    --------
    >>> from maxmargin import Kernel, kernel_matrix
    >>> kernel_matrix(Kernel.rbf(gamma=1.0), [[0.0], [1.0]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    if not isinstance(kernel, Kernel):
        raise TypeError(f"kernel must be a Kernel, such as Kernel.rbf(gamma=0.5), got {kernel!r}.")
    if kernel.kind is Kind.PRECOMPUTED:
        raise ValueError("A precomputed kernel is its own matrix: there is nothing to compute.")
    if kernel.kind is Kind.CALLABLE:
        return make_source(kernel, X, Z).block(None, None, np.float64)
    A = check_array(X, accept_sparse="csr", dtype=np.float64)
    B = None if Z is None else check_array(Z, accept_sparse="csr", dtype=np.float64, input_name="Z")
    if B is not None and A.shape[1] != B.shape[1]:
        raise ValueError(f"X has {A.shape[1]} features, but Z has {B.shape[1]}.")
    if kernel.needs_non_negative and min(part.min() for part in (A, B) if part is not None) < 0:
        raise ValueError(
            "Negative values in data: the chi2 kernel needs non-negative features, such as "
            "histograms."
        )
    return make_source(kernel, A, B).block(None, None, np.float64)
