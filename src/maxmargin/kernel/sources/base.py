"""What every source of kernel values offers, and what they share."""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from maxmargin.core.arrays import Floats, Indices, Integers, Matrix
from maxmargin.core.backend import Backend
from maxmargin.kernel import rounding
from maxmargin.kernel.kernels import Kernel, Kind


class Settings(NamedTuple):
    """How many values are asked for at once."""

    block_bytes: int = 64 * 2**20
    """Memory of a block of values, in bytes; a block has one row at least."""
    diagonal_rows: int = 64
    """Rows and columns of the blocks on the diagonal."""


SETTINGS = Settings()


class KernelNotFinite(ValueError):
    """Some kernel values are infinite or not a number."""


def not_finite(kernel: Kernel) -> KernelNotFinite:
    """The error for kernel values that are infinite or not a number."""
    return KernelNotFinite(
        f"Some values of the kernel {kernel!r} are infinite or not a number on these data. The "
        "dual coefficients or intercepts are not finite then. Scale the data (StandardScaler or "
        "MinMaxScaler) or choose smaller kernel parameters."
    )


class Scratch:
    """Memory for matrices that is used again.

    Fresh memory would cost as much as computing the values in it.
    """

    def __init__(self, xp: Any = np) -> None:
        self._kept: dict[Any, Matrix] = {}
        self._xp = xp

    def matrix(self, use: str, shape: tuple[int, int], dtype: DTypeLike) -> Matrix:
        """Memory for one use, valid until the next call for it."""
        size, key = shape[0] * shape[1], (use, np.dtype(dtype))
        if key not in self._kept or self._kept[key].size < size:
            self._kept[key] = self._xp.empty(size, dtype)
        return self._kept[key][:size].reshape(shape)


class Source(ABC):
    """Blocks of kernel values between two sets A and B."""

    n_rows: int
    n_columns: int
    backend: Backend
    """Where the values are computed."""
    dtypes: tuple[Any, ...] = (np.float64,)
    """Precisions on offer, the cheapest first; the last is float64."""
    cheap: bool = False
    """Whether computing a row costs no more than reading it from memory."""
    quick: bool = False
    """Whether computing a tile costs less than gathering it from stored rows."""
    precision: float = float(np.finfo(np.float64).eps)
    """Relative rounding of the values as given, whatever type they are computed in."""
    stored: bool = False
    """Whether all values lie in memory."""
    convex: bool = False
    """Whether every matrix of this kernel is positive semidefinite; negative curvature then is
    rounding."""

    value_error: float = 0.0
    """The greatest error of a float64 value (rounding.py), for kernels of a distance relative to
    the value; 0 where values are given."""

    def by_differences(self) -> "Source | None":
        """This kernel with distances as sums over differences; None where that changes nothing."""
        return None

    def suspects(self, count: int) -> Integers:
        """At most this many rows in which a wrong kernel value is most likely to show.

        The result is empty where nothing is known.
        """
        return np.empty(0, np.int64)

    @abstractmethod
    def block(self, a: Indices, b: Indices, dtype: DTypeLike) -> Matrix:
        """k(A[a], B[b]); None means all."""

    def diagonal(self, rows: Indices = None) -> Floats:
        """k(x, x) of some points, where B is A; None means all."""
        step, xp = SETTINGS.diagonal_rows, self.backend.xp
        chosen = xp.arange(self.n_rows) if rows is None else rows
        found = np.empty(len(chosen))
        for begin in range(0, len(chosen), step):
            some = chosen[begin : begin + step]
            values = self.backend.to_host(self.block(some, some, np.float64))
            found[begin : begin + step] = values.diagonal()
        return found

    def fill_block(self, a: Indices, b: Indices, out: Matrix) -> None:
        """out = k(A[a], B[b]), in the precision of out."""
        out[...] = self.block(a, b, out.dtype)

    def fill_places(self, a: Integers, places: Integers, out: Matrix) -> None:
        """out[places] = k(A[a[places]], B[a]), in the precision of out."""
        out[places] = self.block(a[places], a, out.dtype)

    def fill_rows(self, a: Integers, rows: Matrix, slots: Integers) -> None:
        """rows[slots] = k(A[a], B), in the precision of rows."""
        step = max(1, SETTINGS.block_bytes // (8 * max(1, self.n_columns)))
        for i in range(0, len(a), step):
            rows[slots[i : i + step]] = self.block(a[i : i + step], None, rows.dtype)

    @abstractmethod
    def add_product(
        self, a: Indices, coef: Matrix, b: Indices, out: Floats, dtype: DTypeLike
    ) -> None:
        """Add coef' k(A[a], B[b]) to out, in the order of a, without storing k.

        Backend.kernel_product says what float32 coefficients mean.
        """

    def add_products(self, begin: Integers, coef: Matrix, out: Floats, dtype: DTypeLike) -> None:
        """add_product for each group of A, the rows begin[g], ..., begin[g + 1] - 1, to out[g]."""
        for first, last, part in zip(begin, begin[1:], out, strict=False):
            self.add_product(np.arange(first, last), coef[first:last], None, part, dtype)

    def float32_bound(self) -> rounding.ValueBound | None:
        """A bound on the errors of float32 values; None where no bound is known."""
        return None

    def product(
        self, a: Indices, coef: Floats, b: Indices = None, dtype: DTypeLike = np.float64
    ) -> Floats:
        """coef' k(A[a], B[b]) for one column of coefficients."""
        xp = self.backend.xp
        out = xp.zeros((1, self.n_columns if b is None else len(b)))
        self.add_product(a, xp.ascontiguousarray(xp.asarray(coef)[:, None]), b, out, dtype)
        found: Floats = out[0]
        return found


def pick(X: Any, rows: Integers) -> Any:
    """Rows of an array, a sparse matrix, a frame or a list."""
    if isinstance(X, np.ndarray) or sparse.issparse(X):
        return X[rows]
    return _safe_indexing(X, rows)


def take(kind: Kind | None, X: Any, samples: Integers) -> Any:
    """The given samples of X, or both sides of a precomputed kernel; X itself if they are all."""
    if len(samples) == _num_samples(X):
        return X
    if kind is Kind.PRECOMPUTED:
        return X[np.ix_(samples, samples)]
    return pick(X, samples)
