"""All values of a kernel kept in memory, in both precisions, for many problems on parts of the
samples.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from maxmargin.core.arrays import Indices, Integers, Matrix
from maxmargin.kernel.sources.base import Source
from maxmargin.kernel.sources.native import NativeSource


class Settings(NamedTuple):
    """How products are computed."""

    entries: int = 2**18
    """Values that are multiplied at once: 2 MB, which the caches hold."""


SETTINGS = Settings()


class StoredSource(Source):
    """The values of some rows of a source, stored: 12 bytes each."""

    stored = True

    def __init__(
        self, source: NativeSource, K: Matrix, single: Matrix, rows: Integers | None = None
    ) -> None:
        self.source, self.rows, self.backend = source, rows, source.backend
        self._values = {np.dtype(np.float64): K, np.dtype(np.float32): single}
        self.n_rows, self.n_columns = K.shape
        self.convex, self.value_error = source.convex, source.value_error
        self.dtypes = source.dtypes

    @classmethod
    def of(cls, source: NativeSource, K: Matrix) -> "StoredSource":
        """The source with all its values in float64."""
        return cls(source, K, K.astype(np.float32))

    def part(self, rows: Integers) -> "StoredSource":
        """The values of some rows and the same columns, copied."""
        K, single = (self.backend.gather(own, rows, rows) for own in self._values.values())
        return StoredSource(self.source, K, single, rows if self.rows is None else self.rows[rows])

    def by_differences(self) -> Source | None:
        return self.source.by_differences(self.rows)

    def suspects(self, count: int) -> NDArray[np.int64]:
        return self.source.suspects(count, self.rows)

    def block(self, a: Indices, b: Indices, dtype: DTypeLike) -> Matrix:
        K = self._values[np.dtype(dtype)]
        if a is None and b is None:
            return K
        xp = self.backend.xp
        rows = xp.arange(self.n_rows) if a is None else a
        return self.backend.gather(K, rows, xp.arange(self.n_columns) if b is None else b)

    def add_product(
        self, a: Indices, coef: NDArray[Any], b: Indices, out: NDArray[np.float64], dtype: DTypeLike
    ) -> None:
        K, xp = self._values[np.dtype(dtype)], self.backend.xp
        rows = xp.arange(self.n_rows) if a is None else a
        if b is None:
            for c in range(coef.shape[1]):
                self.backend.update_gradient(K, rows, xp.ascontiguousarray(coef[:, c]), out[c])
            return
        step = max(1, SETTINGS.entries // max(1, len(rows)))
        for begin in range(0, len(b), step):  # K' = K: whole rows are read, not columns
            values = self.backend.gather(K, b[begin : begin + step], rows)
            for c in range(coef.shape[1]):
                out[c, begin : begin + step] += (values * coef[:, c]).sum(axis=1)
