"""All float64 values of a kernel kept in memory, for many problems on parts of the samples."""

from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from maxmargin.core.arrays import Floats, Indices, Integers, Matrix
from maxmargin.kernel.sources.base import Source
from maxmargin.kernel.sources.native import NativeSource


class Settings(NamedTuple):
    """How products are computed."""

    entries: int = 2**18
    """Values that are multiplied at once: 2 MB, which the caches hold."""


SETTINGS = Settings()


class StoredSource(Source):
    """A source whose float64 values K are stored: 8 bytes each."""

    def __init__(self, source: NativeSource, K: Matrix) -> None:
        self.source, self.backend, self.K = source, source.backend, K
        self.n_rows, self.n_columns = K.shape
        self.convex, self.value_error = source.convex, source.value_error

    def by_differences(self, rows: Indices = None) -> Source | None:
        return self.source.by_differences(rows)

    def suspects(self, count: int, among: Indices = None) -> Integers:
        return self.source.suspects(count, among)

    def _numbers(self, index: Indices) -> Integers:
        found: Integers = self.backend.xp.arange(self.n_rows) if index is None else index
        return found

    def block(self, a: Indices, b: Indices, dtype: DTypeLike) -> Matrix:
        if a is None and b is None:
            return self.K.astype(dtype, copy=False)
        found = self.backend.gather(self.K, self._numbers(a), self._numbers(b))
        return found.astype(dtype, copy=False)

    def fill_block(self, a: Indices, b: Indices, out: Matrix) -> None:
        if out.dtype == np.float64:
            self.backend.gather(self.K, self._numbers(a), self._numbers(b), out)
        else:
            super().fill_block(a, b, out)

    def add_product(
        self, a: Indices, coef: Matrix, b: Indices, out: Floats, dtype: DTypeLike
    ) -> None:
        rows, columns = self._numbers(a), self._numbers(b)
        add = self._add_rows if len(rows) <= len(columns) else self._add_dots
        for c in range(coef.shape[1]):
            add(rows, self.backend.xp.ascontiguousarray(coef[:, c]), columns, out[c])

    def _add_rows(self, rows: Integers, coef: Floats, columns: Integers, out: Floats) -> None:
        """From the rows of the coefficients."""
        total = self.backend.xp.zeros(self.n_columns)
        self.backend.update_gradient(self.K, rows, coef, total)
        out += total[columns]

    def _add_dots(self, rows: Integers, coef: Floats, columns: Integers, out: Floats) -> None:
        """From the rows of the results: K' = K."""
        xp = self.backend.xp
        weight = xp.bincount(rows, coef, self.n_rows)
        step = max(1, SETTINGS.entries // max(1, self.n_rows))
        for begin in range(0, len(columns), step):
            some = slice(begin, begin + step)
            out[some] += xp.einsum("ij,j->i", self.K[columns[some]], weight)
