"""Data before the core sees them: their scale, their lengths, rows of unit length, sums of rows."""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from maxmargin.core.arrays import Floats
from maxmargin.core.choose import HOST
from maxmargin.core.memory import contiguous
from maxmargin.kernel.kernels import Kind


class Settings(NamedTuple):
    """How far and how much at once."""

    greatest_exponent: int = 1000
    """Exponent of the greatest power of two that data are scaled by."""
    squares_at_once: int = 2**20
    """Numbers whose squares are summed at once."""


SETTINGS = Settings()


def power_of_two(kind: Kind, gamma: float) -> tuple[float, float]:
    """The factor to scale the data by, and the gamma of the scaled data."""
    if kind is Kind.LINEAR or gamma == 0:
        return 1.0, gamma
    power = 1 if kind in (Kind.LAPLACIAN, Kind.CHI2) else 2
    scale = 2.0 ** min(round(math.log2(gamma) / power), SETTINGS.greatest_exponent)
    return scale, gamma / scale if power == 1 else gamma / scale / scale


def centre_of(A: Any, keep_zeros: bool) -> Floats:
    """The mean of dense data; 0 for features of many zeros that must stay zero."""
    with np.errstate(over="ignore", invalid="ignore"):
        centre: Floats = A.sum(axis=0, dtype=np.float64) / A.shape[0]
    if keep_zeros:
        centre[np.count_nonzero(A, axis=0) < 0.5 * A.shape[0]] = 0.0
    return centre


def n_terms(X: Any) -> int:
    """The greatest number of terms in a sum over the features of a point."""
    return int(np.diff(X.indptr).max(initial=0)) if sparse.issparse(X) else int(X.shape[1])


def squared_lengths(X: Any, centre: Floats | None) -> Floats:
    """|x - centre|^2 of every row, in float64."""
    if sparse.issparse(X):
        squares = np.square(X.data, dtype=np.float64)
        found = sparse.csr_matrix((squares, X.indices, X.indptr), X.shape).sum(axis=1)
        return np.asarray(found).ravel()
    out = np.empty(X.shape[0])
    step = max(1, SETTINGS.squares_at_once // max(1, X.shape[1]))
    for i in range(0, X.shape[0], step):
        part = np.subtract(X[i : i + step], 0.0 if centre is None else centre, dtype=np.float64)
        np.einsum("ij,ij->i", part, part, out=out[i : i + step])
    return out


def unit_rows(X: Any) -> Any:
    """Rows scaled to unit length in float64; zero rows stay zero.

    Rows are divided by their largest entry first: squares may underflow.
    """
    if sparse.issparse(X):
        X = X.astype(np.float64)
        X = _divide_rows(X, abs(X).max(axis=1).toarray().ravel())
        return _divide_rows(X, np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel()))
    X = np.asarray(X, dtype=np.float64)
    scale = np.abs(X).max(axis=1, initial=0.0, keepdims=True)
    X = X / np.where(scale == 0, 1, scale)
    norms = np.sqrt(np.einsum("ij,ij->i", X, X))[:, None]
    return X / np.where(norms == 0, 1, norms)


def _divide_rows(X: Any, size: Floats) -> Any:
    return sparse.csr_matrix(sparse.diags(1 / np.where(size == 0, 1, size)) @ X)


def combine(coef: Floats, A: Any) -> Any:
    """coef @ A, with the same bits for any number of threads; CSR for CSR."""
    if sparse.issparse(A):  # of the columns in use: there may be 2^30
        used, column = np.unique(A.indices, return_inverse=True)
        narrow = sparse.csr_matrix((A.data, column, A.indptr), shape=(A.shape[0], len(used)))
        indices, indptr = np.tile(used, len(coef)), len(used) * np.arange(len(coef) + 1)
        return sparse.csr_matrix(
            ((narrow.T @ coef.T).T.ravel(), indices, indptr), shape=(len(coef), A.shape[1])
        )
    out, rows = np.zeros((len(coef), A.shape[1])), contiguous(A)
    for k, row in enumerate(coef):
        used = np.flatnonzero(row)
        HOST.update_gradient(rows, used, row[used], out[k])
    return out
