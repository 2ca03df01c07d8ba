"""Kernels of dense and sparse numeric data, computed by the core.

For kernels that depend on x - z alone the data are centred first: |x|^2 + |z|^2 - 2 x.z then loses nothing to a common offset. Where
gamma multiplies the data they are scaled by a power of two that brings gamma near 1, which changes no bit but keeps float32 in range.
For the cosine they are scaled to unit length and the kernel is linear. Sparse data of which more than half is stored become dense.
"""

import copy
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from maxmargin import rounding
from maxmargin.columns import without_empty_columns
from maxmargin.core import cpu as core
from maxmargin.kernels import Kernel, Kind
from maxmargin.sources.base import Indices, Matrix, Source, not_finite, pick

FEW, WIDE = 0.3, 16
"""Dense data of at least WIDE features of which at most the share FEW is not zero are compressed."""
NEAR = 64.0
"""gamma |x|^2 up to which float32 needs no centring: squared distances are within 64 units in the last place of 1."""
CHEAP = 64
"""Multiply-adds for a kernel value up to which it is computed as fast as it is read from memory."""


class NativeSource(Source):
    """Kernels of numeric data, computed by the core in float32 or float64."""

    dtypes = (np.float32, np.float64)

    def __init__(self, kernel: Kernel, A: Any, B: Any = None) -> None:
        self.kernel, self.convex = kernel, kernel.positive_semidefinite is True
        self.n_rows, self.n_columns = A.shape[0], (A if B is None else B).shape[0]
        self._given = A
        if sparse.issparse(A) and A.nnz > 0.5 * A.shape[0] * A.shape[1]:
            A, B = A.toarray(), B.toarray() if sparse.issparse(B) else B
        self._A, self._B = without_empty_columns(A, B)
        non_zeros = A.nnz if sparse.issparse(A) else int(np.count_nonzero(A))
        self.cheap = non_zeros <= CHEAP * self.n_rows
        kind = Kind.LINEAR if kernel.kind is Kind.COSINE else kernel.kind
        power = 1 if kind in (Kind.LAPLACIAN, Kind.CHI2) else 2
        self._scale = 1.0 if kind is Kind.LINEAR or kernel.gamma == 0 else 2.0 ** round(math.log2(kernel.gamma) / power)
        self._tuple = (int(kind), float(kernel.gamma / self._scale**power), float(kernel.coef0), int(kernel.degree))
        dense = not sparse.issparse(A) and not sparse.issparse(B)
        few = dense and A.shape[1] >= WIDE and non_zeros <= FEW * A.size
        self._compress = few and kind not in (Kind.LAPLACIAN, Kind.CHI2) and self._is_near_origin()
        with np.errstate(over="ignore", invalid="ignore"):
            centred = dense and kind in (Kind.RBF, Kind.LAPLACIAN) and A.shape[0] > 0
            self._centre = self._A.mean(axis=0, dtype=np.float64) if centred else None
            if self._centre is not None and self._compress:  # zeros stay zeros
                self._centre[np.count_nonzero(self._A, axis=0) < 0.5 * A.shape[0]] = 0.0
        self._known: dict[Any, Any] = {}  # A as points, in each precision in use
        self._asked: dict[Any, Any] = {}  # B

    def against(self, B: Any) -> "NativeSource":
        """The same A, prepared once, and other points B; how A is prepared never depends on B, so neither do values on a batch."""
        if self._A is not self._given:  # made dense or narrowed, as B must be
            return NativeSource(self.kernel, self._given, B)
        other = copy.copy(self)
        other._B, other.n_columns, other._asked = B, B.shape[0], {}
        return other

    def at(self, b: NDArray[np.int64]) -> "NativeSource":
        """The same A and the points B[b] alone."""
        return self.against(pick(self._B, b))

    def _is_near_origin(self) -> bool:
        """Whether squared distances by |x|^2 + |z|^2 - 2 x.z are exact enough in float32 without centring.

        It is asked of A alone: where x is much longer than all z in A, so is x - z, and the error is small beside the distance.
        """
        return self.kernel.kind is not Kind.RBF or self.kernel.gamma * float(np.square(self._A).sum(axis=1).max(initial=0.0)) <= NEAR

    def _prepare(self, X: Any, dtype: DTypeLike) -> Any:
        if self.kernel.kind is Kind.COSINE:
            X = _unit_rows(X)
        if sparse.issparse(X):
            X = X if self._scale == 1 else X.astype(np.float64) * self._scale
            return core.points(X.astype(dtype, copy=False))
        if self._centre is not None:
            X = np.subtract(X, self._centre, dtype=np.float64)
        X = X if self._scale == 1 else np.multiply(X, self._scale, dtype=np.float64)
        return core.points(np.ascontiguousarray(X, dtype=dtype), self._compress)

    def points(self, dtype: DTypeLike) -> tuple[Any, Any]:
        """The two sets in the given precision, made on first use."""
        key = np.dtype(dtype)
        if key not in self._asked:
            with np.errstate(over="ignore", invalid="ignore"):
                if key not in self._known:
                    self._known[key] = self._prepare(self._A, key)
                self._asked[key] = self._known[key] if self._B is None else self._prepare(self._B, key)
        return self._known[key], self._asked[key]

    def float32_bound(self) -> rounding.ValueBound | None:
        if self.kernel.kind is not Kind.RBF:
            return None
        A, B = self.points(np.float32)
        return rounding.rbf_bound(self._tuple[1], max(A.terms, B.terms), A.norms, B.norms)

    @contextmanager
    def _finite(self) -> Iterator[None]:
        """Name the kernel whose values are not finite."""
        try:
            yield
        except core.NotFinite:
            raise not_finite(self.kernel) from None

    def block(self, a: Indices, b: Indices, dtype: DTypeLike) -> Matrix:
        A, B = self.points(dtype)
        with self._finite():
            return core.kernel_block(self._tuple, A, a, B, b)

    def fill_block(self, a: Indices, b: Indices, out: Matrix) -> None:
        A, B = self.points(out.dtype)
        with self._finite():
            core.kernel_block(self._tuple, A, a, B, b, out)

    def solve_block(self, a: NDArray[np.int64], dtype: DTypeLike, *problem: Any) -> tuple[int, float, bool, bool]:
        with self._finite():
            return core.solve_points(self._tuple, self.points(dtype)[0], a, *problem)

    def fill_rows(self, a: NDArray[np.int64], rows: Matrix, slots: NDArray[np.int64]) -> None:
        A, B = self.points(rows.dtype)
        step = self._rows_at_once(A.shape[1], self.n_columns)
        for i in range(0, len(a), step):
            with self._finite():
                core.kernel_block(self._tuple, A, a[i : i + step], B, None, rows, slots[i : i + step])

    @staticmethod
    def _rows_at_once(d: int, columns: int) -> int:
        """Rows that take a fraction of a second, so that signals are seen."""
        return max(1, int(4e9 / max(1.0, columns * (d + 16.0))))

    def add_product(self, a: Indices, coef: NDArray[Any], b: Indices, out: NDArray[np.float64], dtype: DTypeLike) -> None:
        A, B = self.points(dtype)
        rows = self.n_rows if a is None else len(a)
        step = self._rows_at_once(A.shape[1], out.shape[1])
        for begin in range(0, rows, step):
            part = np.arange(begin, min(rows, begin + step)) if a is None else a[begin : begin + step]
            with self._finite():
                core.kernel_matvec(self._tuple, A, part, coef[begin : begin + step], B, b, out)

    def add_products(self, begin: NDArray[np.int64], coef: NDArray[Any], out: NDArray[np.float64], dtype: DTypeLike) -> None:
        A, B = self.points(dtype)
        if self.n_rows > self._rows_at_once(A.shape[1] + coef.shape[1], self.n_columns):
            super().add_products(begin, coef, out, dtype)
            return
        with self._finite():
            core.grouped_matvec(self._tuple, A, begin, coef, B, out)


def _unit_rows(X: Any) -> Any:
    """Rows scaled to unit length in float64; zero rows stay zero. The largest entry is divided out first: squares may underflow."""
    if sparse.issparse(X):
        X = X.astype(np.float64)
        X = _divide_rows(X, abs(X).max(axis=1).toarray().ravel())
        return _divide_rows(X, np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel()))
    X = np.asarray(X, dtype=np.float64)
    scale = np.abs(X).max(axis=1, initial=0.0, keepdims=True)
    X = X / np.where(scale == 0, 1, scale)
    norms = np.sqrt(np.einsum("ij,ij->i", X, X))[:, None]
    return X / np.where(norms == 0, 1, norms)


def _divide_rows(X: Any, size: NDArray[np.float64]) -> Any:
    return sparse.csr_matrix(sparse.diags(1 / np.where(size == 0, 1, size)) @ X)


def combine(coef: NDArray[np.float64], A: Any) -> Any:
    """coef @ A, with the same bits for any number of threads; CSR for CSR."""
    if sparse.issparse(A):  # of the columns in use: there may be 2^30
        used, column = np.unique(A.indices, return_inverse=True)
        narrow = sparse.csr_matrix((A.data, column, A.indptr), shape=(A.shape[0], len(used)))
        indices, indptr = np.tile(used, len(coef)), len(used) * np.arange(len(coef) + 1)
        return sparse.csr_matrix(((narrow.T @ coef.T).T.ravel(), indices, indptr), shape=(len(coef), A.shape[1]))
    out, rows = np.zeros((len(coef), A.shape[1])), np.ascontiguousarray(A)
    for k, row in enumerate(coef):
        used = np.flatnonzero(row)
        core.update_gradient(rows, used, np.ascontiguousarray(row[used]), out[k])
    return out
