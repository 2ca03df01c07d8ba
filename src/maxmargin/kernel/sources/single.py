"""Kernel values kept in memory in float32, for many problems on parts of the samples.

Pair steps read float32 values again and again, so a part, such as the training set of a fold, has
its own. Float64 values are needed seldom: they are those of all samples, which are stored
(stored.py) or computed, from stored distances (distances.py) or from few numbers a sample.
"""

import numpy as np
from numpy.typing import DTypeLike

from maxmargin.core.arrays import Floats, Indices, Integers, Matrix
from maxmargin.kernel.sources.all_samples import AllSamplesSource
from maxmargin.kernel.sources.base import Scratch, Source
from maxmargin.kernel.sources.native import NativeSource


class SingleSource(Source):
    """The float32 values of some rows of a source, stored: 4 bytes each."""

    stored = True
    dtypes = (np.float32, np.float64)

    def __init__(
        self,
        source: NativeSource | AllSamplesSource,
        values: Matrix,
        rows: Integers | None = None,
    ) -> None:
        self.source, self.rows, self.backend, self.values = source, rows, source.backend, values
        self.n_rows = self.n_columns = len(values)
        self.convex, self.value_error = source.convex, source.value_error

    @classmethod
    def of(
        cls, source: NativeSource | AllSamplesSource, memory: Matrix | None = None
    ) -> "SingleSource":
        """All values of a source, in the memory if it is given."""
        if memory is None:
            return cls(source, source.block(None, None, np.float32))
        source.fill_block(None, None, memory)
        return cls(source, memory)

    def part(self, rows: Integers, scratch: Scratch | None = None) -> "SingleSource":
        """The values of some rows and the same columns, copied: into scratch memory, if any."""
        n = len(rows)
        memory = None if scratch is None else scratch.matrix("part", (n, n), np.float32)
        values = self.backend.gather(self.values, rows, rows, memory)
        return SingleSource(self.source, values, self._at(rows))

    def by_differences(self) -> Source | None:
        return self.source.by_differences(self.rows)

    def suspects(self, count: int) -> Integers:
        return self.source.suspects(count, self.rows)

    def _at(self, index: Indices) -> Indices:
        """Rows of the source."""
        if self.rows is None:
            return index
        return self.rows if index is None else self.rows[index]

    def block(self, a: Indices, b: Indices, dtype: DTypeLike) -> Matrix:
        if dtype != np.float32:
            return self.source.block(self._at(a), self._at(b), dtype)
        if a is None and b is None:
            return self.values
        xp = self.backend.xp
        rows = xp.arange(self.n_rows) if a is None else a
        return self.backend.gather(self.values, rows, xp.arange(self.n_rows) if b is None else b)

    def fill_block(self, a: Indices, b: Indices, out: Matrix) -> None:
        if out.dtype == np.float32:
            super().fill_block(a, b, out)
        else:
            self.source.fill_block(self._at(a), self._at(b), out)

    def add_product(
        self, a: Indices, coef: Matrix, b: Indices, out: Floats, dtype: DTypeLike
    ) -> None:
        if dtype != np.float32 or b is not None:
            self.source.add_product(self._at(a), coef, self._at(b), out, dtype)
            return
        xp = self.backend.xp
        rows = xp.arange(self.n_rows) if a is None else a
        for c in range(coef.shape[1]):
            column = xp.ascontiguousarray(coef[:, c])
            self.backend.update_gradient(self.values, rows, column, out[c])
