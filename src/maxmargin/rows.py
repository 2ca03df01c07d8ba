"""Kernel values on demand: over dense, sparse, precomputed and callable kernels, with a cache of rows.

A source gives blocks k(A[a], B[b]) and products with them; for a fit A = B = the training data, for a prediction A holds the support
vectors. Whether data are dense, sparse, a matrix or Python objects is decided here and nowhere else.

For kernels that depend on x - z alone the data are centred first: |x|^2 + |z|^2 - 2 x.z then loses nothing to a common offset. Where
gamma multiplies the data they are scaled by a power of two that brings gamma near 1, which changes no bit but keeps float32 in range.
For the cosine they are scaled to unit length and the kernel is linear. Sparse data of which more than half is stored become dense.
"""

import math
import os
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing

from maxmargin.columns import without_empty_columns
from maxmargin.core import cpu as core
from maxmargin.kernels import Kernel, Kind

Indices = NDArray[np.int64] | None
Matrix = NDArray[Any]

BLOCK_BYTES = 64 * 2**20
"""Values of a callable kernel asked for at once take at most this much memory (and at least one row)."""

CACHE_SHARE = 0.25
"""Share of the free memory that the cache of kernel rows may take when cache_size is "auto"."""


def free_memory() -> int:
    """Bytes of memory that can be allocated without swapping, as far as the system tells."""
    try:
        with open("/proc/meminfo") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return 2 * 2**30


class KernelNotFinite(ValueError):
    """Some kernel values are infinite or not a number."""


def not_finite(kernel: Kernel) -> KernelNotFinite:
    """The error for kernel values that are infinite or not a number."""
    numbers = f" with gamma={kernel.gamma:g}, coef0={kernel.coef0:g}, degree={kernel.degree}" if kernel.kind <= Kind.CHI2 else ""
    return KernelNotFinite(
        f"Some values of the {kernel.kind.name.lower()} kernel{numbers} are infinite or not a number on these data. "
        "The dual coefficients or intercepts are not finite then. Scale the data (StandardScaler or MinMaxScaler) or choose smaller "
        "kernel parameters."
    )


class Source(ABC):
    """Blocks of kernel values between two sets A and B."""

    n_rows: int
    n_columns: int
    dtypes: tuple[Any, ...] = (np.float64,)
    """Precisions on offer, the cheapest first; the last is float64."""
    convex: bool = False
    """Whether every matrix of this kernel is positive semidefinite; negative curvature then is rounding."""

    @abstractmethod
    def block(self, a: Indices, b: Indices, dtype: DTypeLike) -> Matrix:
        """k(A[a], B[b]); None means all."""

    def fill_rows(self, a: NDArray[np.int64], rows: Matrix, slots: NDArray[np.int64]) -> None:
        """rows[slots] = k(A[a], B), in the precision of rows."""
        step = max(1, BLOCK_BYTES // (8 * max(1, self.n_columns)))
        for i in range(0, len(a), step):
            rows[slots[i : i + step]] = self.block(a[i : i + step], None, rows.dtype)

    @abstractmethod
    def add_product(self, a: Indices, coef: NDArray[np.float64], b: Indices, out: NDArray[np.float64], dtype: DTypeLike) -> None:
        """Add coef' k(A[a], B[b]) to out, in the order of a, without storing k."""

    def product(self, a: Indices, coef: NDArray[np.float64], b: Indices = None, dtype: DTypeLike = np.float64) -> NDArray[np.float64]:
        """coef' k(A[a], B[b]) for one column of coefficients."""
        out = np.zeros((1, self.n_columns if b is None else len(b)))
        self.add_product(a, np.ascontiguousarray(coef[:, None]), b, out, dtype)
        return out.ravel()


class NativeSource(Source):
    """Kernels of numeric data, computed by the core in float32 or float64."""

    dtypes = (np.float32, np.float64)

    def __init__(self, kernel: Kernel, A: Any, B: Any = None) -> None:
        self.kernel, self.convex = kernel, kernel.positive_semidefinite is True
        self.n_rows, self.n_columns = A.shape[0], (A if B is None else B).shape[0]
        if sparse.issparse(A) and A.nnz > 0.5 * A.shape[0] * A.shape[1]:
            A, B = A.toarray(), B.toarray() if sparse.issparse(B) else B
        self._A, self._B = without_empty_columns(A, B)
        kind = Kind.LINEAR if kernel.kind is Kind.COSINE else kernel.kind
        power = 1 if kind in (Kind.LAPLACIAN, Kind.CHI2) else 2
        self._scale = 1.0 if kind is Kind.LINEAR or kernel.gamma == 0 else 2.0 ** round(math.log2(kernel.gamma) / power)
        self._tuple = (int(kind), float(kernel.gamma / self._scale**power), float(kernel.coef0), int(kernel.degree))
        centred = kind in (Kind.RBF, Kind.LAPLACIAN) and not sparse.issparse(A) and not sparse.issparse(B)
        with np.errstate(over="ignore", invalid="ignore"):
            self._centre = A.mean(axis=0, dtype=np.float64) if centred and A.shape[0] else None
        self._points: dict[Any, tuple[Any, Any]] = {}

    def _prepare(self, X: Any, dtype: DTypeLike) -> Any:
        if self.kernel.kind is Kind.COSINE:
            X = _unit_rows(X)
        if sparse.issparse(X):
            X = X if self._scale == 1 else X.astype(np.float64) * self._scale
            return core.points(X.astype(dtype, copy=False))
        if self._centre is not None:
            X = np.subtract(X, self._centre, dtype=np.float64)
        X = X if self._scale == 1 else np.multiply(X, self._scale, dtype=np.float64)
        return core.points(np.ascontiguousarray(X, dtype=dtype))

    def points(self, dtype: DTypeLike) -> tuple[Any, Any]:
        """The two sets in the given precision, made on first use."""
        key = np.dtype(dtype)
        if key not in self._points:
            with np.errstate(over="ignore", invalid="ignore"):
                A = self._prepare(self._A, key)
                self._points[key] = A, (A if self._B is None else self._prepare(self._B, key))
        return self._points[key]

    def block(self, a: Indices, b: Indices, dtype: DTypeLike) -> Matrix:
        A, B = self.points(dtype)
        try:
            return core.kernel_block(self._tuple, A, a, B, b)
        except core.NotFinite:
            raise not_finite(self.kernel) from None

    def fill_rows(self, a: NDArray[np.int64], rows: Matrix, slots: NDArray[np.int64]) -> None:
        A, B = self.points(rows.dtype)
        step = self._rows_at_once(A.shape[1], self.n_columns)
        for i in range(0, len(a), step):
            try:
                core.kernel_block(self._tuple, A, a[i : i + step], B, None, rows, slots[i : i + step])
            except core.NotFinite:
                raise not_finite(self.kernel) from None

    @staticmethod
    def _rows_at_once(d: int, columns: int) -> int:
        """Rows that take a fraction of a second, so that signals are seen."""
        return max(1, int(4e9 / max(1.0, columns * (d + 16.0))))

    def add_product(self, a: Indices, coef: NDArray[np.float64], b: Indices, out: NDArray[np.float64], dtype: DTypeLike) -> None:
        A, B = self.points(dtype)
        rows = self.n_rows if a is None else len(a)
        step = self._rows_at_once(A.shape[1], out.shape[1])
        for begin in range(0, rows, step):
            part = np.arange(begin, min(rows, begin + step)) if a is None else a[begin : begin + step]
            try:
                core.kernel_matvec(self._tuple, A, part, coef[begin : begin + step], B, b, out)
            except core.NotFinite:
                raise not_finite(self.kernel) from None


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
    return sparse.csr_matrix(sparse.diags_array(1 / np.where(size == 0, 1, size)) @ X)


class CallableSource(Source):
    """A Python function k(X, Z) of arrays, frames, lists of objects: whatever can be indexed by row."""

    def __init__(self, kernel: Kernel, A: Any, B: Any = None) -> None:
        self.kernel = kernel
        self._A, self._B = A, A if B is None else B
        self.n_rows, self.n_columns = _length(self._A), _length(self._B)

    def _values(self, a: Indices, b: Indices) -> Matrix:
        A = self._A if a is None else pick(self._A, a)
        B = self._B if b is None else pick(self._B, b)
        shape = (self.n_columns if b is None else len(b), self.n_rows if a is None else len(a))
        assert self.kernel.function is not None
        values = self.kernel.function(B, A)  # scikit-learn's order: the points asked about, then the points known
        if sparse.issparse(values):
            values = values.toarray()
        values = np.asarray(values, dtype=np.float64)
        if values.shape != shape:
            raise ValueError(
                f"The kernel function was given {shape[0]} and {shape[1]} points and must return an array of shape {shape}; it "
                f"returned {values.shape}."
            )
        if not np.isfinite(values).all():
            raise not_finite(self.kernel)
        return values.T

    def block(self, a: Indices, b: Indices, dtype: DTypeLike) -> Matrix:
        rows = np.arange(self.n_rows) if a is None else a
        width = self.n_columns if b is None else len(b)
        step = max(1, BLOCK_BYTES // (8 * max(1, width)))
        parts = [self._values(rows[i : i + step], b) for i in range(0, len(rows), step)]
        return np.ascontiguousarray(np.concatenate(parts) if parts else np.empty((0, width)))

    def add_product(self, a: Indices, coef: NDArray[np.float64], b: Indices, out: NDArray[np.float64], dtype: DTypeLike) -> None:
        rows = np.arange(self.n_rows) if a is None else a
        step = max(1, BLOCK_BYTES // (8 * max(1, out.shape[1])))
        for i in range(0, len(rows), step):
            values = np.ascontiguousarray(self._values(rows[i : i + step], b))
            slots = np.arange(len(values))
            for c in range(coef.shape[1]):
                core.update_gradient(values, slots, np.ascontiguousarray(coef[i : i + step, c]), out[c])


class MatrixSource(Source):
    """A precomputed kernel: K[j, i] = k(A_j, B_i), rows stored already."""

    def __init__(self, K: Matrix) -> None:
        self.K = np.ascontiguousarray(K, dtype=np.float64)
        self.n_rows, self.n_columns = self.K.shape

    def block(self, a: Indices, b: Indices, dtype: DTypeLike) -> Matrix:
        if a is None and b is None:
            return self.K
        rows = np.arange(self.n_rows) if a is None else a
        return core.gather(self.K, rows, np.arange(self.n_columns) if b is None else b)

    def add_product(self, a: Indices, coef: NDArray[np.float64], b: Indices, out: NDArray[np.float64], dtype: DTypeLike) -> None:
        rows = np.arange(self.n_rows) if a is None else a
        K = self.K if b is None else core.gather(self.K, np.arange(self.n_rows), b)
        for c in range(coef.shape[1]):
            core.update_gradient(K, rows, np.ascontiguousarray(coef[:, c]), out[c])


def pick(X: Any, rows: NDArray[np.int64]) -> Any:
    """Rows of an array, a sparse matrix, a frame or a list."""
    if isinstance(X, np.ndarray) or sparse.issparse(X):
        return X[rows]
    return _safe_indexing(X, rows)


def _length(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def make_source(kernel: Kernel, A: Any, B: Any = None) -> Source:
    """The source for a kernel over A (and B); for a precomputed kernel A is the matrix k(A, B)."""
    if kernel.kind is Kind.PRECOMPUTED:
        return MatrixSource(A)
    if kernel.kind is Kind.CALLABLE:
        return CallableSource(kernel, A, B)
    return NativeSource(kernel, A, B)


def cache_bytes(cache_size: float | str, workers: int = 1) -> float:
    """Bytes of kernel rows for each of several workers: cache_size megabytes, or a share of the free memory; never more than is free."""
    free = free_memory()
    size = CACHE_SHARE * free if isinstance(cache_size, str) else min(float(cache_size) * 2**20, 0.9 * free)
    return size / workers


class RowCache:
    """Full kernel rows of one source in one precision, the least recently used ones dropped; exact with any capacity.

    Memory: at most ``budget`` bytes; nothing for a matrix, whose rows are there already.
    """

    def __init__(self, source: Source, dtype: DTypeLike, budget: float) -> None:
        self.source, self.dtype = source, np.dtype(dtype)
        n = source.n_rows
        self.rows_computed, self._clock = 0, 0
        if isinstance(source, MatrixSource):
            self.capacity, self._rows = n, source.K
            self._slot = self._owner = np.arange(n)
        else:
            self.capacity = int(min(n, budget // max(1, n * self.dtype.itemsize)))
            self._rows = np.empty((self.capacity, n), self.dtype)
            self._slot, self._owner = np.full(n, -1), np.full(self.capacity, -1)
        self._used = np.zeros(self.capacity, np.int64)

    def _fetch(self, idx: NDArray[np.int64]) -> NDArray[np.int64]:
        """Make the rows present (there is room for all of them) and return their slots."""
        self._clock += 1
        slots = self._slot[idx]
        self._used[slots[slots >= 0]] = self._clock
        missing = np.unique(idx[slots < 0])
        if len(missing):
            order = np.argsort(self._used, kind="stable")[: len(missing)] if len(missing) < self.capacity else np.arange(self.capacity)
            dropped = self._owner[order]
            self._slot[dropped[dropped >= 0]] = -1
            self.source.fill_rows(missing, self._rows, order)
            self._owner[order], self._slot[missing], self._used[order] = missing, order, self._clock
            self.rows_computed += len(missing)
            slots = self._slot[idx]
        return slots

    def tile(self, idx: NDArray[np.int64]) -> Matrix:
        """K[idx, idx], from stored rows where there are, without storing new ones."""
        slots = self._slot[idx]
        stored = slots >= 0
        if isinstance(self.source, MatrixSource) and np.array_equal(idx, self._owner):
            return self._rows
        if stored.all():
            return core.gather(self._rows, slots, idx)
        if not stored.any():
            return self.source.block(idx, idx, self.dtype)
        tile = np.empty((len(idx), len(idx)), self.dtype)
        tile[stored] = core.gather(self._rows, slots[stored], idx)
        tile[~stored] = self.source.block(idx[~stored], idx, self.dtype)
        return tile

    def add_rows(self, idx: NDArray[np.int64], delta: NDArray[np.float64], F: NDArray[np.float64]) -> None:
        """F += sum of delta_i K[idx_i], in the order of idx."""
        if len(idx) <= self.capacity:
            core.update_gradient(self._rows, self._fetch(idx), delta, F)
        else:
            self.rows_computed += len(idx)
            self.source.add_product(idx, np.ascontiguousarray(delta[:, None]), None, F[None, :], self.dtype)


def kernel_matrix(kernel: Kernel, X: Any, Z: Any = None) -> NDArray[np.float64]:
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
    """

    def canonical(A: Any) -> Any:
        return A if kernel.kind is Kind.CALLABLE or sparse.issparse(A) else np.asarray(A, dtype=np.float64)

    if Z is None:
        return make_source(kernel, canonical(X)).block(None, None, np.float64)
    return make_source(kernel, canonical(X), canonical(Z)).block(None, None, np.float64)
