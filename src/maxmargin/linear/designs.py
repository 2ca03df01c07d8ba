"""The data of a linear model: the three products that its solvers use, over an array, a CSR matrix,
or chunks that are read again each time.

    values(w)          X w
    sum(t)             X't
    gram(weight)       X' diag(weight) X

each over all samples or some of them. Values of float32 stay float32, sums are float64; the bits do
not depend on the number of threads.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from maxmargin.core.arrays import Floats, Integers
from maxmargin.core.backend import DOT_PRODUCT
from maxmargin.core.choose import HOST
from maxmargin.core.linear_backend import LinearBackend


class Design(ABC):
    """A matrix of samples by features."""

    shape: tuple[int, int]
    backend: LinearBackend = HOST
    """Where the products are computed."""

    @property
    def entries(self) -> int:
        """Numbers that a pass over the samples reads."""
        return self.shape[0] * self.shape[1]

    @property
    def largest_square(self) -> float:
        """The largest |x|^2; 0 if that would take another pass."""
        return 0.0

    @abstractmethod
    def values(self, w: Floats, rows: Integers | None = None) -> Floats:
        """X w, for all samples or those listed."""

    @abstractmethod
    def sum(self, t: Floats, rows: Integers | None = None) -> Floats:
        """Sum of t_i x_i over all samples or those listed; t is as long as the list."""

    @abstractmethod
    def gram(self, weight: Floats, rows: Integers | None = None) -> Floats:
        """Sum of weight_i x_i x_i' over all samples or those listed."""

    def hessian(
        self, weight: Floats, u: Floats, shift: float, rows: Integers
    ) -> tuple[Floats, float]:
        """X'v and the sum of v over the samples listed, v = diag(weight) (X u + shift)."""
        v = weight * (self.values(u, rows) + shift)
        return self.sum(v, rows), float(v.sum())

    def diagonal(self, weight: Floats, rows: Integers) -> Floats:
        """The diagonal of X' diag(weight) X over the samples listed, or a stand-in of equal
        entries where it would take another pass."""
        return np.zeros(self.shape[1])


class ArrayDesign(Design):
    """Samples in memory or mapped into it: a C-contiguous array or canonical CSR."""

    def __init__(self, X: Any) -> None:
        self.X, self.points = X, self.backend.points(X)
        self.shape = self.points.shape

    @property
    def entries(self) -> int:
        """The non-zeros of a CSR matrix, all values of an array."""
        return super().entries if isinstance(self.X, np.ndarray) else int(self.X.nnz)

    @cached_property
    def squares(self) -> Floats:
        """|x|^2 of every sample."""
        return self.backend.linear_squares(self.points)

    @cached_property
    def largest_square(self) -> float:
        """The largest |x|^2."""
        return float(self.squares.max(initial=0.0))

    def values(self, w: Floats, rows: Integers | None = None) -> Floats:
        """X w."""
        return self.backend.linear_values(self.points, rows, w)

    def sum(self, t: Floats, rows: Integers | None = None) -> Floats:
        """X't; samples with t = 0 are not read."""
        if rows is None and np.count_nonzero(t) < 0.7 * len(t):
            rows = np.flatnonzero(t)
            t = t[rows]
        return self.backend.linear_sum(self.points, rows, t)

    def gram(self, weight: Floats, rows: Integers | None = None) -> Floats:
        """X' diag(weight) X."""
        return self.backend.gram(self.points, rows, weight)

    def hessian(
        self, weight: Floats, u: Floats, shift: float, rows: Integers
    ) -> tuple[Floats, float]:
        """X'v and the sum of v, in one pass over the samples."""
        return self.backend.linear_hessian(self.points, rows, weight, u, shift)

    def diagonal(self, weight: Floats, rows: Integers) -> Floats:
        """The diagonal of X' diag(weight) X."""
        return self.backend.linear_diagonal(self.points, rows, weight)

    @property
    def precise(self) -> bool:
        """Whether dot products of samples are computed in float64."""
        return bool(self.X.dtype == np.float64)

    def products(self, rows: Integers) -> Floats:
        """Dot products of the samples listed."""
        return self.backend.kernel_block(DOT_PRODUCT, self.points, rows, self.points, rows)

    def values_of_all(self, W: Floats) -> Floats:
        """X W', a column for each row of W; the same bits for any split of the samples."""
        if len(W) > 2 and self.precise and isinstance(self.X, np.ndarray):
            return self.backend.kernel_block(
                DOT_PRODUCT, self.points, None, self.backend.points(W), None
            )
        return np.column_stack([self.values(w) for w in W])

    def dense(self, rows: slice) -> Floats:
        """Some samples in a row, as an array of float64."""
        part = self.X[rows]
        return np.asarray(part if isinstance(part, np.ndarray) else part.toarray(), np.float64)

    def less(self, centre: Floats) -> "ArrayDesign | None":
        """The samples less a point, copied; None for a CSR matrix, whose zeros would fill up."""
        return ArrayDesign(self.X - centre) if isinstance(self.X, np.ndarray) else None

    def pick(self, rows: Integers) -> "ArrayDesign":
        """Some of the samples, copied."""
        return ArrayDesign(self.X[rows])


class ChunkDesign(Design):
    """Samples in chunks, from a function that starts to read again at each call.

    One chunk is in memory at a time.
    """

    def __init__(self, read: Callable[[], Iterable[Any]], shape: tuple[int, int]) -> None:
        self.read, self.shape = read, shape

    def _parts(self, rows: Integers | None) -> Iterator[tuple[ArrayDesign, slice, Integers | None]]:
        """Each chunk, with the slice of the samples (or of the list) and the rows that it holds."""
        begin = 0
        for X in self.read():
            end = begin + X.shape[0]
            if end > self.shape[0] or X.shape[1] != self.shape[1]:
                raise ValueError(
                    f"the chunks changed between two passes: {end} x {X.shape[1]} so far, "
                    f"{self.shape} before"
                )
            if rows is None:
                yield ArrayDesign(X), slice(begin, end), None
            else:
                first, last = np.searchsorted(rows, (begin, end))
                if first < last:
                    yield ArrayDesign(X), slice(first, last), rows[first:last] - begin
            begin = end
        if begin != self.shape[0]:
            again = "; read() must start again at each call, not return an iterator that is used up"
            remedy = "" if begin else again
            raise ValueError(
                f"the chunks changed between two passes: {begin} samples, {self.shape[0]} "
                f"before{remedy}"
            )

    def values(self, w: Floats, rows: Integers | None = None) -> Floats:
        """X w."""
        out = np.empty(self.shape[0] if rows is None else len(rows))
        for part, where, which in self._parts(rows):
            out[where] = part.values(w, which)
        return out

    def sum(self, t: Floats, rows: Integers | None = None) -> Floats:
        """X't."""
        out = np.zeros(self.shape[1])
        for part, where, which in self._parts(rows):
            out += part.sum(t[where], which)
        return out

    def gram(self, weight: Floats, rows: Integers | None = None) -> Floats:
        """X' diag(weight) X."""
        out = np.zeros((self.shape[1], self.shape[1]))
        for part, where, which in self._parts(rows):
            out += part.gram(weight[where], which)
        return out
