"""Kernel values that are given: by a Python function, or as a matrix."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from maxmargin.core.arrays import Floats, Indices, Matrix
from maxmargin.core.backend import Backend
from maxmargin.core.choose import HOST
from maxmargin.core.memory import contiguous
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.sources.base import SETTINGS, Source, not_finite, pick


class CallableSource(Source):
    """A Python function k(X, Z) of anything with rows: arrays, frames, lists of objects."""

    def __init__(self, kernel: Kernel, A: Any, B: Any = None, backend: Backend = HOST) -> None:
        self.kernel, self.backend = kernel, backend
        self._A, self._B = A, A if B is None else B
        self.n_rows, self.n_columns = _length(self._A), _length(self._B)

    def _values(self, a: Indices, b: Indices) -> Matrix:
        A = self._A if a is None else pick(self._A, self.backend.to_host(a))
        B = self._B if b is None else pick(self._B, self.backend.to_host(b))
        shape = (self.n_columns if b is None else len(b), self.n_rows if a is None else len(a))
        assert self.kernel.function is not None
        values = self.kernel.function(B, A)  # scikit-learn's order: new points, then known ones
        if sparse.issparse(values):
            values = values.toarray()
        self.precision = max(self.precision, rounding_of(np.asarray(values).dtype))
        values = np.asarray(values, dtype=np.float64)
        if values.shape != shape:
            raise ValueError(
                f"The kernel function was given {shape[0]} and {shape[1]} points and must return "
                f"an array of shape {shape}; it returned {values.shape}."
            )
        if not np.isfinite(values).all():
            raise not_finite(self.kernel)
        return values.T

    def block(self, a: Indices, b: Indices, dtype: DTypeLike) -> Matrix:
        rows = np.arange(self.n_rows) if a is None else a
        width = self.n_columns if b is None else len(b)
        step = max(1, SETTINGS.block_bytes // (8 * max(1, width)))
        parts = [self._values(rows[i : i + step], b) for i in range(0, len(rows), step)]
        values = np.concatenate(parts) if parts else np.empty((0, width))
        found: Matrix = self.backend.xp.asarray(np.ascontiguousarray(values))
        return found

    def add_product(
        self, a: Indices, coef: Matrix, b: Indices, out: Floats, dtype: DTypeLike
    ) -> None:
        rows = np.arange(self.n_rows) if a is None else a
        step = max(1, SETTINGS.block_bytes // (8 * max(1, out.shape[1])))
        for i in range(0, len(rows), step):
            values = contiguous(self._values(rows[i : i + step], b))
            slots = np.arange(len(values))
            for c in range(coef.shape[1]):
                self.backend.update_gradient(values, slots, coef[i : i + step, c], out[c])


def rounding_of(dtype: np.dtype[Any]) -> float:
    """Relative rounding of numbers of a type; 0 for integers."""
    return float(np.finfo(dtype).eps) if np.issubdtype(dtype, np.floating) else 0.0


def _length(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


class MatrixSource(Source):
    """A precomputed kernel, K[j, i] = k(A_j, B_i)."""

    stored = True

    def __init__(self, K: Matrix, backend: Backend = HOST) -> None:
        self.backend = backend
        self.precision = max(self.precision, rounding_of(K.dtype))
        self.K: Matrix = backend.xp.asarray(contiguous(K, np.float64))
        self.n_rows, self.n_columns = self.K.shape

    def block(self, a: Indices, b: Indices, dtype: DTypeLike) -> Matrix:
        if a is None and b is None:
            return self.K
        rows = np.arange(self.n_rows) if a is None else a
        return self.backend.gather(self.K, rows, np.arange(self.n_columns) if b is None else b)

    def diagonal(self, rows: Indices = None) -> Floats:
        found: Floats = self.backend.to_host(self.K).diagonal()
        return found if rows is None else found[rows]

    def add_product(
        self, a: Indices, coef: Matrix, b: Indices, out: Floats, dtype: DTypeLike
    ) -> None:
        rows = np.arange(self.n_rows) if a is None else a
        K = self.K if b is None else self.backend.gather(self.K, np.arange(self.n_rows), b)
        for c in range(coef.shape[1]):
            self.backend.update_gradient(K, rows, coef[:, c], out[c])
