"""Where kernel values come from: dense or sparse data, a precomputed matrix, a Python function.

A source gives blocks k(A[a], B[b]) and products with them; for a fit A = B = the training data, for a prediction A holds the support
vectors. Whether data are dense, sparse, a matrix or Python objects is decided here and nowhere else.

For kernels that depend on x - z alone the data are centred first: |x|^2 + |z|^2 - 2 x.z then loses nothing to a common offset. Where
gamma multiplies the data they are scaled by a power of two that brings gamma near 1, which changes no bit but keeps float32 in range.
For the cosine they are scaled to unit length and the kernel is linear. Sparse data of which more than half is stored become dense.
"""

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing, check_array

from maxmargin import rounding
from maxmargin.columns import without_empty_columns
from maxmargin.core import cpu as core
from maxmargin.kernels import Kernel, Kind

Indices = NDArray[np.int64] | None
Matrix = NDArray[Any]

BLOCK_BYTES = 64 * 2**20
"""Values of a callable kernel asked for at once take at most this much memory (and at least one row)."""


FEW, WIDE = 0.3, 16
"""Dense data of at least WIDE features of which at most the share FEW is not zero are compressed."""
NEAR = 64.0
"""gamma |x|^2 up to which float32 needs no centring: squared distances are within 64 units in the last place of 1."""
CHEAP = 64
"""Multiply-adds for a kernel value up to which it is computed as fast as it is read from memory."""


class KernelNotFinite(ValueError):
    """Some kernel values are infinite or not a number."""


def not_finite(kernel: Kernel) -> KernelNotFinite:
    """The error for kernel values that are infinite or not a number."""
    return KernelNotFinite(
        f"Some values of the kernel {kernel!r} are infinite or not a number on these data. The dual coefficients or intercepts are not "
        "finite then. Scale the data (StandardScaler or MinMaxScaler) or choose smaller kernel parameters."
    )


class Scratch:
    """Memory for matrices that is used again: new to the process it would cost as much as the values in it."""

    def __init__(self) -> None:
        self._kept: dict[Any, Matrix] = {}

    def matrix(self, use: str, shape: tuple[int, int], dtype: DTypeLike) -> Matrix:
        """Memory for one use, valid until the next call for it."""
        size, key = shape[0] * shape[1], (use, np.dtype(dtype))
        if key not in self._kept or self._kept[key].size < size:
            self._kept[key] = np.empty(size, dtype)
        return self._kept[key][:size].reshape(shape)


class Source(ABC):
    """Blocks of kernel values between two sets A and B."""

    n_rows: int
    n_columns: int
    dtypes: tuple[Any, ...] = (np.float64,)
    """Precisions on offer, the cheapest first; the last is float64."""
    cheap: bool = False
    """Whether computing a row anew costs no more than keeping it in memory."""
    convex: bool = False
    """Whether every matrix of this kernel is positive semidefinite; negative curvature then is rounding."""

    @abstractmethod
    def block(self, a: Indices, b: Indices, dtype: DTypeLike) -> Matrix:
        """k(A[a], B[b]); None means all."""

    def fill_block(self, a: Indices, b: Indices, out: Matrix) -> None:
        """out = k(A[a], B[b]), in the precision of out."""
        out[...] = self.block(a, b, out.dtype)

    def solve_block(self, a: NDArray[np.int64], dtype: DTypeLike, *problem: Any) -> tuple[int, float, bool, bool]:
        """core.solve_block on K = k(A[a], A[a]); cheap sources compute only what is needed of it."""
        return core.solve_block(self.block(a, a, dtype), *problem)

    def fill_rows(self, a: NDArray[np.int64], rows: Matrix, slots: NDArray[np.int64]) -> None:
        """rows[slots] = k(A[a], B), in the precision of rows."""
        step = max(1, BLOCK_BYTES // (8 * max(1, self.n_columns)))
        for i in range(0, len(a), step):
            rows[slots[i : i + step]] = self.block(a[i : i + step], None, rows.dtype)

    def at(self, b: NDArray[np.int64]) -> "Source":
        """The same for the points B[b] alone; only sources with a float32_bound have it."""
        raise NotImplementedError

    @abstractmethod
    def add_product(self, a: Indices, coef: NDArray[Any], b: Indices, out: NDArray[np.float64], dtype: DTypeLike) -> None:
        """Add coef' k(A[a], B[b]) to out, in the order of a, without storing k; core.kernel_matvec says what float32 coefficients mean."""

    def add_products(self, begin: NDArray[np.int64], coef: NDArray[Any], out: NDArray[np.float64], dtype: DTypeLike) -> None:
        """add_product for each group of A, the rows begin[g], ..., begin[g + 1] - 1, to out[g]."""
        for first, last, part in zip(begin, begin[1:], out, strict=False):
            self.add_product(np.arange(first, last), coef[first:last], None, part, dtype)

    def float32_bound(self) -> rounding.ValueBound | None:
        """What bounds the errors of float32 values; None where no bound is known."""
        return None

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

    def add_product(self, a: Indices, coef: NDArray[Any], b: Indices, out: NDArray[np.float64], dtype: DTypeLike) -> None:
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

    def add_product(self, a: Indices, coef: NDArray[Any], b: Indices, out: NDArray[np.float64], dtype: DTypeLike) -> None:
        rows = np.arange(self.n_rows) if a is None else a
        K = self.K if b is None else core.gather(self.K, np.arange(self.n_rows), b)
        for c in range(coef.shape[1]):
            core.update_gradient(K, rows, np.ascontiguousarray(coef[:, c]), out[c])


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
    if kernel.kind is Kind.CHI2 and min(part.min() for part in (A, B) if part is not None) < 0:
        raise ValueError("Negative values in data: the chi2 kernel needs non-negative features, such as histograms.")
    return make_source(kernel, A, B).block(None, None, np.float64)
