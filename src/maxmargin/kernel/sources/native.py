"""Kernels of dense and sparse numeric data, computed by the core.

For kernels that depend on x - z alone the data are centred first: |x|^2 + |z|^2 - 2 x.z then loses
nothing to a common offset. Where the data reach so far that it still has too few digits
(rounding.py), squared distances are sums of squared differences. Where gamma multiplies the data
they are scaled by a power of two that brings gamma near 1, which changes no bit but keeps float32
in range. For the cosine they are scaled to unit length and the kernel is linear. Sparse data of
which more than half is stored become dense.
"""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from maxmargin.core.arrays import Floats, Indices, Integers, Matrix
from maxmargin.core.backend import (
    DOT_PRODUCT,
    RBF_BY_DIFFERENCES,
    Backend,
    NotFinite,
    Steps,
    Variables,
)
from maxmargin.core.choose import HOST
from maxmargin.core.memory import contiguous
from maxmargin.core.prediction_backend import PredictionBackend
from maxmargin.core.threads import thread_count
from maxmargin.kernel import rounding
from maxmargin.kernel.empty_columns import without_empty_columns
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.packed import Points
from maxmargin.kernel.sources.base import Source, not_finite, pick
from maxmargin.kernel.sources.preparation import (
    centre_of,
    n_terms,
    power_of_two,
    squared_lengths,
    unit_rows,
)


class Settings(NamedTuple):
    """How data are prepared and when values are computed again."""

    compress_share: float = 0.3
    """Share of entries that are not zero up to which dense data are compressed (decision 9)."""
    compress_features: int = 16
    """Features, at least, of dense data that are compressed."""
    cheap: int = 64
    """Multiply-adds per kernel value up to which computing costs no more than reading it from
    memory (decision 9)."""
    quick: int = 512
    """Multiply-adds per kernel value up to which computing a tile costs less than gathering it from
    stored rows (decision 34)."""
    multiply_adds: float = 5e8
    """Multiply-adds of a thread between two checks for signals: a fraction of a second."""
    neighbour_rows: int = 1024
    """Rows up to which near neighbours are not looked for: values of small problems are float64."""


SETTINGS = Settings()


class NativeSource(Source):
    """Kernels of numeric data, computed by the core in float32 or float64."""

    dtypes = (np.float32, np.float64)

    def __init__(
        self,
        kernel: Kernel,
        A: Any,
        B: Any = None,
        differences: bool = False,
        backend: Backend = HOST,
    ) -> None:
        self.backend, self.kernel = backend, kernel
        self.convex = kernel.positive_semidefinite is True
        self.n_rows, self.n_columns = A.shape[0], (A if B is None else B).shape[0]
        self._given = A
        if sparse.issparse(A) and A.nnz > 0.5 * A.shape[0] * A.shape[1]:
            A, B = A.toarray(), B.toarray() if sparse.issparse(B) else B
        self._A, self._B = without_empty_columns(A, B)
        non_zeros = A.nnz if sparse.issparse(A) else int(np.count_nonzero(A))
        self.cheap = non_zeros <= SETTINGS.cheap * self.n_rows
        self.quick = non_zeros <= SETTINGS.quick * self.n_rows
        kind = Kind.LINEAR if kernel.kind is Kind.COSINE else kernel.kind
        dense = not sparse.issparse(A) and not sparse.issparse(B)
        wide = dense and A.shape[1] >= SETTINGS.compress_features
        few = wide and non_zeros <= SETTINGS.compress_share * A.size
        self._compress = few and kind not in (Kind.LAPLACIAN, Kind.CHI2)
        centred = dense and kind in (Kind.RBF, Kind.LAPLACIAN) and A.shape[0] > 0
        self._centre = centre_of(self._A, self._compress) if centred else None
        self._scale, gamma = power_of_two(kind, float(kernel.gamma))
        self.value_error, self.differences = self._choose_distances(differences)
        self._compress = self._compress and not self.differences
        number = RBF_BY_DIFFERENCES if kind is Kind.RBF and self.differences else int(kind)
        self._tuple = (number, gamma, float(kernel.coef0), int(kernel.degree))
        self._known: dict[Any, Any] = {}  # A as points, in each precision in use
        self._asked: dict[Any, Any] = {}  # B
        self._ranks: Floats | None = None

    def _choose_distances(self, differences: bool) -> tuple[float, bool]:
        """The greatest error of a float64 value, and whether distances are sums over differences.

        A alone decides, so that no value depends on a batch; rounding.py says why that suffices.
        """
        kernel, terms = self.kernel, n_terms(self._A)
        if kernel.kind in (Kind.LAPLACIAN, Kind.CHI2):
            return rounding.difference_error(terms), True
        length = 1.0
        if kernel.kind is not Kind.COSINE:
            length = float(np.sqrt(self._squared_lengths.max(initial=0.0)))
        if kernel.kind is not Kind.RBF:
            affine = kernel.kind in (Kind.POLY, Kind.TANH, Kind.LOGISTIC)
            size = (kernel.gamma, abs(kernel.coef0)) if affine else (1.0, 0.0)
            degree = kernel.degree if kernel.kind is Kind.POLY else 1
            return rounding.dot_error(*size, degree, terms, length), False
        error = rounding.exponent_error(kernel.gamma, terms, length)
        if error <= rounding.TRUSTED and not differences:
            return error, False
        return rounding.difference_error(terms), True

    def by_differences(self, rows: Indices = None) -> "NativeSource | None":
        """The kernel of these rows of A, with distances computed by differences.

        Return None if they are computed so already, or if the kernel has no distance.
        """
        if self.differences or self.kernel.kind is not Kind.RBF:
            return None
        given = self._given if rows is None else pick(self._given, rows)
        return NativeSource(self.kernel, given, differences=True, backend=self.backend)

    def against(self, B: Any) -> "NativeSource":
        """The same A, prepared once, and other points B.

        The preparation of A never depends on B, so no value depends on a batch.
        """
        if self._A is not self._given:  # made dense or narrowed, as B must be
            return NativeSource(self.kernel, self._given, B, self.differences, self.backend)
        other = copy.copy(self)
        other._B, other.n_columns, other._asked = B, B.shape[0], {}
        return other

    def at(self, b: Integers) -> "NativeSource":
        """The same A and the points B[b] alone."""
        return self.against(pick(self._B, b))

    def dense_rbf_points(self) -> Points | None:
        """A as packed.py takes it; None of other kernels and where distances are differences."""
        plain = self.kernel.kind is Kind.RBF and self._A is self._given
        if not plain or self._centre is None or self._compress or self.differences:
            return None
        if not isinstance(self.backend, PredictionBackend):
            return None
        Z = contiguous(self._A, np.float64)
        return Points(self.kernel, self.backend, Z, self._centre, self._squared_lengths)

    def _prepare(self, X: Any, dtype: DTypeLike) -> Any:
        if self.kernel.kind is Kind.COSINE:
            X = unit_rows(X)
        if sparse.issparse(X):
            X = X if self._scale == 1 else X.astype(np.float64) * self._scale
            return self.backend.points(X.astype(dtype, copy=False))
        exact = self.differences and dtype == np.float64  # rounding of x would move x - z
        if self._centre is not None and not exact:
            X = np.subtract(X, self._centre, dtype=np.float64)
        X = X if self._scale == 1 else np.multiply(X, self._scale, dtype=np.float64)
        return self.backend.points(np.asarray(X, dtype), self._compress)

    def points(self, dtype: DTypeLike) -> tuple[Any, Any]:
        """The two sets in the given precision, made on first use."""
        key = np.dtype(dtype)
        if key not in self._asked:
            with np.errstate(over="ignore", invalid="ignore"):
                if key not in self._known:
                    self._known[key] = self._prepare(self._A, key)
                known = self._B is None
                self._asked[key] = self._known[key] if known else self._prepare(self._B, key)
        return self._known[key], self._asked[key]

    def float32_bound(self) -> rounding.ValueBound | None:
        if self.kernel.kind is not Kind.RBF:
            return None
        A, B = self.points(np.float32)
        return rounding.rbf_bound(self._tuple[1], max(A.terms, B.terms), A.norms, B.norms)

    def suspects(self, count: int, among: Indices = None) -> Integers:
        """Rows where a wrong kernel value matters most.

        These are long rows, and for RBF those with a near neighbour along a random direction.
        """
        if self._ranks is None:
            self._ranks = self._rank()
        rank = self._ranks if among is None else self._ranks[among]
        if len(rank) <= count:
            return np.arange(len(rank))
        some = np.argpartition(-rank, count - 1)[:count]
        return some[np.lexsort((some, -rank[some]))]

    @cached_property
    def _squared_lengths(self) -> Floats:
        """|x - centre|^2 of the points of A."""
        with np.errstate(over="ignore", invalid="ignore"):
            return squared_lengths(self._A, self._centre)

    def _rank(self) -> Floats:
        """The digits that |x|^2 + |z|^2 - 2 x.z may lose.

        They are measured by |x|^2, for RBF times a bound on the value at the nearest neighbour
        along a direction.
        """
        rank = np.nan_to_num(self._squared_lengths, nan=np.inf)
        if self.kernel.kind is not Kind.RBF or self.n_rows <= SETTINGS.neighbour_rows:
            return rank
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            direction = np.random.default_rng(0).normal(size=self._A.shape[1])
            direction /= np.sqrt(np.sum(direction * direction))
            if sparse.issparse(self._A):
                along = self._A @ direction
            else:
                along = np.einsum("ij,j->i", self._A, direction)
            order = np.argsort(along)
            gaps = np.diff(along[order])
            nearest = np.empty(self.n_rows)
            nearest[order] = np.minimum(np.append(gaps, np.inf), np.insert(gaps, 0, np.inf))
            return np.nan_to_num(rank * np.exp(-self.kernel.gamma * nearest * nearest), nan=np.inf)

    @contextmanager
    def _finite(self) -> Iterator[None]:
        """Name the kernel whose values are not finite."""
        try:
            yield
        except NotFinite:
            raise not_finite(self.kernel) from None

    def block(self, a: Indices, b: Indices, dtype: DTypeLike) -> Matrix:
        A, B = self.points(dtype)
        with self._finite():
            return self.backend.kernel_block(self._tuple, A, a, B, b)

    def squared_distances(self) -> Matrix:
        """|x - z|^2 for all pairs of points in float64, of a kernel that needs distances."""
        xp, (A, B) = self.backend.xp, self.points(np.float64)
        D = self.backend.kernel_block(DOT_PRODUCT, A, None, B, None)
        D *= -2.0
        D += A.norms[:, None]
        D += B.norms
        D /= self._scale**2
        found: Matrix = xp.maximum(D, 0.0, out=D)
        return found

    def fill_block(self, a: Indices, b: Indices, out: Matrix) -> None:
        A, B = self.points(out.dtype)
        with self._finite():
            self.backend.kernel_block(self._tuple, A, a, B, b, out)

    def fill_places(self, a: Integers, places: Integers, out: Matrix) -> None:
        A, B = self.points(out.dtype)
        with self._finite():
            self.backend.kernel_block(self._tuple, A, a[places], B, a, out, places)

    @property
    def terms(self) -> int:
        """The most terms in a dot product."""
        return n_terms(self._A)

    def separate_steps(
        self, a: Integers, dtype: DTypeLike, variables: Variables, tol: float, most: Integers
    ) -> list[Steps]:
        """Pair steps on each group by itself; Backend.separate_steps says what that means."""
        A, exact = self.points(dtype)[0], self.points(np.float64)[0]
        with self._finite():
            return self.backend.separate_steps(self._tuple, A, exact, a, variables, tol, most)

    def fill_rows(self, a: Integers, rows: Matrix, slots: Integers) -> None:
        A, B = self.points(rows.dtype)
        step = self._rows_at_once(A, self.n_columns)
        for i in range(0, len(a), step):
            with self._finite():
                self.backend.kernel_block(
                    self._tuple, A, a[i : i + step], B, None, rows, slots[i : i + step]
                )

    @staticmethod
    def _rows_at_once(A: Any, columns: int, more: int = 0) -> int:
        """Rows that take a fraction of a second, so that Ctrl-C is noticed.

        They are 8 at least: the points of B are packed once for them. `more` multiply-adds follow
        each value.
        """
        work = SETTINGS.multiply_adds * thread_count()
        return max(8, int(work / max(1.0, columns * (A.terms + more + 16.0))))

    def add_product(
        self, a: Indices, coef: Matrix, b: Indices, out: Floats, dtype: DTypeLike
    ) -> None:
        A, B = self.points(dtype)
        rows = self.n_rows if a is None else len(a)
        step = self._rows_at_once(A, out.shape[1])
        for begin in range(0, rows, step):
            end = min(rows, begin + step)
            part = np.arange(begin, end) if a is None else a[begin:end]
            with self._finite():
                self.backend.kernel_product(
                    self._tuple, A, part, coef[begin : begin + step], B, b, out
                )

    def add_products(self, begin: Integers, coef: Matrix, out: Floats, dtype: DTypeLike) -> None:
        A, B = self.points(dtype)
        if self.n_rows > self._rows_at_once(A, self.n_columns, coef.shape[1]):
            super().add_products(begin, coef, out, dtype)
            return
        with self._finite():
            self.backend.kernel_products(self._tuple, A, begin, coef, B, out)
