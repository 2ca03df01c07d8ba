"""Kernels and decision values by plain NumPy formulas, for audits and `certify`.

No code is shared with the solvers and their core. Squared distances are sums over explicit
differences; where digits are scarce, sums are in long double.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import linalg
from scipy.spatial.distance import cdist
from scipy.special import expit
from sklearn.utils import _safe_indexing

from maxmargin.core.arrays import Floats
from maxmargin.core.threads import thread_count
from maxmargin.kernel.empty_columns import without_empty_columns
from maxmargin.kernel.kernels import Kernel, Kind, Part

EPS = float(np.finfo(np.float64).eps)


class Settings(NamedTuple):
    """How much is computed at once."""

    entries: int = 2**22
    """Kernel values held at once."""
    long_double_products: int = 2**25
    """Products of two features that a fit's audit in long double may take: a fraction of a second
    (decision 18)."""
    exponent_error: float = 1e-14
    """The error of gamma |a - b|^2 by dot products up to which sparse data need no differences."""
    difference: float = 4.0
    """What a feature of a distance costs, in multiply-adds of the core."""
    exponential: float = 32.0
    """What an exponential costs."""
    diagonal_rows: int = 64
    """Rows and columns of the blocks on the diagonal."""


SETTINGS = Settings()


def _dense(X: Any) -> Floats:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def _as_type(X: Any, dtype: Any) -> Any:
    return X.astype(dtype) if sparse.issparse(X) else np.asarray(X, dtype=dtype)


def _unit(X: Any) -> Any:
    """Rows of unit length, divided by their largest entry first: squares may underflow."""
    for power in (np.inf, 2):
        if sparse.issparse(X):
            size = linalg.norm(X, ord=np.inf, axis=1) if power == np.inf else linalg.norm(X, axis=1)
            X = sparse.csr_matrix(sparse.diags(1 / np.where(size == 0, 1.0, size)) @ X)
        else:
            size = np.linalg.norm(X, ord=power, axis=1)
            X = X / np.where(size == 0, 1.0, size)[:, None]
    return X


def _in_parts(fill: Callable[[slice], None], rows: int, work: float) -> None:
    """Call this with parts of the rows, on as many threads as the work is worth."""
    threads = min(rows, thread_count(work))
    if threads <= 1:
        fill(slice(None))
        return
    ends = np.linspace(0, rows, threads + 1).astype(int).tolist()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(fill, map(slice, ends[:-1], ends[1:])))


def _squared_distances(A: Any, B: Any, error: float = 0.0) -> Floats:
    """|a - b|^2 by explicit differences.

    Sparse data take |a|^2 + |b|^2 - 2 a.b where rounding is below an error, or A is very wide.
    """
    if sparse.issparse(A) and sparse.issparse(B):
        squares = [np.asarray(X.multiply(X).sum(axis=1)).ravel() for X in (A, B)]
        terms = max(int(np.diff(X.tocsr().indptr).max(initial=0)) for X in (A, B))
        rounding = sum(float(s.max(initial=0.0)) for s in squares) * (terms + 2) * EPS
        wide = max(A.shape[0], B.shape[0]) * A.shape[1] > 4 * SETTINGS.entries
        if rounding <= error or wide:
            D = squares[0][:, None] + squares[1][None, :] - 2 * _dense(A @ B.T)
            return np.asarray(np.maximum(0.0, D))
    A, B = _dense(A), _dense(B)
    D = np.empty((len(A), len(B)))

    def fill(rows: slice) -> None:
        cdist(A[rows], B, "sqeuclidean", out=D[rows])

    _in_parts(fill, len(A), SETTINGS.difference * D.size * A.shape[1])
    return D


def _rbf(gamma: float, A: Any, B: Any) -> Floats:
    """exp(-gamma |a - b|^2)."""
    K = _squared_distances(A, B, SETTINGS.exponent_error / gamma if gamma > 0 else 0.0)

    def fill(rows: slice) -> None:
        K[rows] *= -gamma
        np.exp(K[rows], out=K[rows])

    _in_parts(fill, len(K), SETTINGS.exponential * K.size)
    return K


def _feature_sums(A: Any, B: Any, squared_over_sum: bool) -> Floats:
    """Sum over features of |a - b| or of (a - b)^2 / (a + b), feature by feature."""
    if sparse.issparse(A):
        A, B = A.tocsc(), B.tocsc()
    distance = np.zeros((A.shape[0], B.shape[0]))
    for k in range(A.shape[1]):
        a, b = _dense(A[:, [k]]), _dense(B[:, [k]]).T
        if squared_over_sum:
            total = a + b
            distance += np.where(total == 0, 0.0, (a - b) ** 2 / np.where(total == 0, 1.0, total))
        else:
            distance += np.abs(a - b)
    return distance


def _columns(X: Any, part: Part) -> Any:
    """The features that a term of a sum of kernels sees."""
    return X if part.columns is None else X[:, list(part.columns)]


@np.errstate(over="ignore", invalid="ignore")  # exp(-inf) is 0; callers see what is not finite
def kernel_values(kernel: Kernel, A: Any, B: Any) -> Floats:
    """k(A, B) in float64 by the textbook formulas."""
    if kernel.kind is Kind.CALLABLE:
        assert kernel.function is not None
        return _dense(kernel.function(A, B))
    if kernel.kind is Kind.SUM:
        terms = [
            part.weight * kernel_values(part.kernel, *(_columns(X, part) for X in (A, B)))
            for part in kernel.parts
        ]
        return np.asarray(np.sum(terms, axis=0))
    A, B = without_empty_columns(*(_as_type(X, np.float64) for X in (A, B)))
    gamma = kernel.gamma
    if kernel.kind is Kind.RBF:
        return _rbf(gamma, A, B)
    if kernel.kind in (Kind.LAPLACIAN, Kind.CHI2):
        return np.asarray(np.exp(-gamma * _feature_sums(A, B, kernel.kind is Kind.CHI2)))
    if kernel.kind is Kind.COSINE:
        A, B = _unit(A), _unit(B)
    return _of_dot(kernel, _dense(A @ B.T))


@np.errstate(over="ignore", invalid="ignore")
def _of_dot(kernel: Kernel, dot: Floats) -> Floats:
    """Kernel values from dot products, in their type."""
    if kernel.kind in (Kind.LINEAR, Kind.COSINE):
        return dot
    values = kernel.gamma * dot + kernel.coef0
    if kernel.kind is Kind.POLY:
        return np.asarray(values**kernel.degree)
    return np.asarray(np.tanh(values) if kernel.kind is Kind.TANH else expit(values))


def kernel_diagonal(kernel: Kernel, X: Any) -> Floats:
    """|k(x, x)| of every sample; for a precomputed kernel X is its matrix."""
    if kernel.kind is Kind.PRECOMPUTED:
        return np.abs(np.asarray(np.diagonal(X), dtype=np.float64))
    if kernel.kind is Kind.SUM:
        terms = [
            part.weight * kernel_diagonal(part.kernel, _columns(X, part)) for part in kernel.parts
        ]
        return np.asarray(np.sum(terms, axis=0))
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if kernel.kind in (Kind.RBF, Kind.LAPLACIAN, Kind.CHI2, Kind.COSINE):
        return np.ones(n)
    if kernel.kind is not Kind.CALLABLE:
        with np.errstate(over="ignore"):
            if sparse.issparse(X):
                X = X.astype(np.float64)  # squares of float32 lose digits, or overflow
                squares = X.multiply(X).sum(axis=1)
            else:
                squares = np.einsum("ij,ij->i", X, X, dtype=np.float64)
        return np.abs(_of_dot(kernel, np.asarray(squares, dtype=np.float64).ravel()))
    found = np.zeros(n)
    for begin in range(0, n, SETTINGS.diagonal_rows):
        rows = np.arange(begin, min(n, begin + SETTINGS.diagonal_rows))
        part = X[rows] if hasattr(X, "dtype") else _safe_indexing(X, rows)
        found[rows] = np.abs(kernel_values(kernel, part, part).diagonal())
    return found


def kernel_products(
    kernel: Kernel, A: Any, coef: Floats, B: Any, constant: Any = 0.0, exact: bool = False
) -> Floats:
    """K(B, A) @ coef + constant in blocks of B; for a precomputed kernel B is the matrix K(B, A).

    ``exact`` sums are in long double: they do not depend on the order of the terms.
    """
    dtype = np.longdouble if exact else np.float64
    n = B.shape[0] if hasattr(B, "shape") else len(B)
    coef, out = coef.astype(dtype), np.zeros((n, coef.shape[1]))
    step = max(1, SETTINGS.entries // max(1, len(coef)))
    for begin in range(0, n if len(coef) else 0, step):
        rows = np.arange(begin, min(n, begin + step))
        part = B[rows] if hasattr(B, "dtype") else _safe_indexing(B, rows)
        values = _dense(part) if kernel.kind is Kind.PRECOMPUTED else kernel_values(kernel, part, A)
        out[rows] = np.einsum("ij,jc->ic", values.astype(dtype, copy=False), coef) + constant
    return out if len(coef) else out + constant


def products_per_row(kernel: Kernel, A: Any, support: int) -> int:
    """Multiplications for a decision value with this many support vectors A."""
    features = 1 if kernel.kind is Kind.PRECOMPUTED or not hasattr(A, "shape") else int(A.shape[1])
    return support * features


def extended_products(kernel: Kernel, A: Any, coef: Floats, B: Any, constant: Any = 0.0) -> Floats:
    """kernel_products for functions of x.z, in long double throughout."""
    A = _as_type(A, np.longdouble)
    step = max(1, SETTINGS.entries // max(1, len(coef)))
    parts = [
        _extended(kernel, A, coef, B[i : i + step], constant) for i in range(0, B.shape[0], step)
    ]
    return np.concatenate([np.zeros((0, coef.shape[1])), *parts])


def linear_products(A: Any, coef: Floats, B: Any, constant: Any = 0.0) -> Floats:
    """kernel_products of the linear kernel by the weights of the features, in long double."""
    step = max(1, SETTINGS.entries // max(1, A.shape[1]))
    weights = np.zeros((A.shape[1], coef.shape[1]), np.longdouble)
    for i in range(0, A.shape[0], step):
        part, own = _dense(A[i : i + step]), coef[i : i + step]
        weights += np.einsum("ij,ic->jc", part, own, dtype=np.longdouble)
    out = np.empty((B.shape[0], coef.shape[1]))
    for i in range(0, B.shape[0], step):
        part = _dense(B[i : i + step])
        out[i : i + step] = np.einsum("ij,jc->ic", part, weights, dtype=np.longdouble) + constant
    return out


@np.errstate(over="ignore", invalid="ignore")
def _extended(kernel: Kernel, A: Any, coef: Floats, B: Any, constant: Any) -> Floats:
    B = _as_type(B, np.longdouble)
    if kernel.kind is Kind.COSINE:
        A, B = _unit(A), _unit(B)
    values = B @ A.T
    values = _of_dot(kernel, values.toarray() if sparse.issparse(values) else values)
    products = np.einsum("ij,jc->ic", values, coef.astype(np.longdouble))
    return np.asarray(products + constant, dtype=np.float64)
