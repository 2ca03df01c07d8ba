"""All values of a kernel kept in memory, in both precisions, for many problems on parts of the
samples.

A part, such as the training set of a fold, has its own float32 values, which pair steps read again
and again. Its float64 values are those of all samples: they are needed seldom.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from maxmargin.core.arrays import Floats, Indices, Integers, Matrix
from maxmargin.kernel.sources.base import Source
from maxmargin.kernel.sources.native import NativeSource


class Settings(NamedTuple):
    """How products are computed."""

    entries: int = 2**18
    """Values that are multiplied at once: 2 MB, which the caches hold."""


SETTINGS = Settings()


class StoredSource(Source):
    """The values of some rows of a source, stored: 12 bytes each, 4 bytes in a part."""

    stored = True

    def __init__(
        self, source: NativeSource, K: Matrix, single: Matrix, rows: Integers | None = None
    ) -> None:
        self.source, self.rows, self.backend = source, rows, source.backend
        self._double, self._single = K, single
        self.n_rows = self.n_columns = len(single)
        self.convex, self.value_error = source.convex, source.value_error
        self.dtypes = source.dtypes

    @classmethod
    def of(cls, source: NativeSource, K: Matrix) -> "StoredSource":
        """The source with all its values in float64."""
        return cls(source, K, K.astype(np.float32))

    def part(self, rows: Integers) -> "StoredSource":
        """The values of some rows and the same columns."""
        single = self.backend.gather(self._single, rows, rows)
        return StoredSource(self.source, self._double, single, self._listed(rows, np.float64))

    def by_differences(self) -> Source | None:
        return self.source.by_differences(self.rows)

    def suspects(self, count: int) -> NDArray[np.int64]:
        return self.source.suspects(count, self.rows)

    def _values(self, dtype: DTypeLike) -> Matrix:
        """The stored values of one precision."""
        return self._single if dtype == np.float32 else self._double

    def _listed(self, at: Indices, dtype: DTypeLike) -> Integers:
        """Where rows are in the stored values of one precision."""
        xp = self.backend.xp
        own = xp.arange(self.n_rows) if at is None else at
        found: Integers = own if self.rows is None or dtype == np.float32 else self.rows[own]
        return found

    def block(self, a: Indices, b: Indices, dtype: DTypeLike) -> Matrix:
        K = self._values(dtype)
        if a is None and b is None and len(K) == self.n_rows:
            return K
        return self.backend.gather(K, self._listed(a, dtype), self._listed(b, dtype))

    def add_product(
        self, a: Indices, coef: NDArray[Any], b: Indices, out: NDArray[np.float64], dtype: DTypeLike
    ) -> None:
        for c in range(coef.shape[1]):
            self._add(self._listed(a, dtype), coef[:, c], b, out[c], dtype)

    def _add(
        self, rows: Integers, coef: NDArray[Any], b: Indices, out: Floats, dtype: DTypeLike
    ) -> None:
        """One column of coefficients."""
        K, xp, at = self._values(dtype), self.backend.xp, self._listed(b, dtype)
        if b is None:
            whole = xp.zeros(len(K))
            whole[at] = out
            self.backend.update_gradient(K, rows, xp.ascontiguousarray(coef), whole)
            out[:] = whole[at]
            return
        whole = xp.bincount(rows, coef, len(K))
        step = max(1, SETTINGS.entries // len(K))
        for begin in range(0, len(at), step):  # K' = K: whole rows are read, not columns
            some = slice(begin, begin + step)
            out[some] += xp.einsum("ij,j->i", K[at[some]], whole)
