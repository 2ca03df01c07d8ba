"""The hot loops of the online family on a CPU; pegasos.h has their mathematics.

    rows(X)                       the rows of an array or CSR matrix, float32 or float64, without a copy
    pegasos_rows(X, order, ...)   Pegasos over the rows order[0], order[1], ...; returns how many were used
    pegasos_tile(K, begin, z, ...)   Pegasos with coefficients, on a tile of the kernel matrix
    norma_tile(K, begin, z, ...)     NORMA alike
    scores(X, W), combine(coef, X)   X W' and coef X, with the same bits for any number of threads

A walk that used fewer samples than it was given stopped because its scale is about to underflow.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.core import _cpu

Floats = NDArray[np.float64]
Rows = Any  # _cpu.Rows32 or _cpu.Rows64

pegasos_rows = _cpu.pegasos_rows
pegasos_tile = _cpu.pegasos_tile
norma_tile = _cpu.norma_tile


def rows(X: Any) -> Rows:
    """Wrap a C-contiguous array or a canonical CSR matrix of float32 or float64; the arrays are kept, not copied."""
    if sparse.issparse(X):
        indptr, indices = np.ascontiguousarray(X.indptr, np.int64), np.ascontiguousarray(X.indices, np.int32)
        return _cpu.sparse_rows(np.ascontiguousarray(X.data), indptr, indices, X.shape[1])
    return _cpu.dense_rows(np.ascontiguousarray(X))


def scores(X: Rows, W: Floats) -> Floats:
    """W X', one row for each row of W."""
    out = np.empty((len(W), X.shape[0]))
    for k, w in enumerate(W):
        _cpu.row_scores(X, np.ascontiguousarray(w), out[k])
    return out


def combine(coef: Floats, X: Rows) -> Floats:
    """coef X, one row for each row of coef."""
    out = np.zeros((len(coef), X.shape[1]))
    for k, c in enumerate(coef):
        _cpu.row_sum(X, np.ascontiguousarray(c), out[k])
    return out
