"""All float64 values of a kernel kept in memory, for many problems on parts of the samples."""

from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from maxmargin.core.arrays import Floats, Indices, Integers, Matrix
from maxmargin.kernel.sources.all_samples import AllSamplesSource


class Settings(NamedTuple):
    """How products are computed."""

    entries: int = 2**18
    """Values that are multiplied at once: 2 MB, which the caches hold."""


SETTINGS = Settings()


class StoredSource(AllSamplesSource):
    """The matrix holds the values: 8 bytes each."""

    def block(self, a: Indices, b: Indices, dtype: DTypeLike) -> Matrix:
        if a is None and b is None:
            return self.matrix.astype(dtype, copy=False)
        found = self.backend.gather(self.matrix, self._numbers(a), self._numbers(b))
        return found.astype(dtype, copy=False)

    def fill_block(self, a: Indices, b: Indices, out: Matrix) -> None:
        if a is None and b is None:
            out[...] = self.matrix
        elif out.dtype == np.float64:
            self.backend.gather(self.matrix, self._numbers(a), self._numbers(b), out)
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
        self.backend.update_gradient(self.matrix, rows, coef, total)
        out += total[columns]

    def _add_dots(self, rows: Integers, coef: Floats, columns: Integers, out: Floats) -> None:
        """From the rows of the results: K' = K."""
        xp = self.backend.xp
        weight = xp.bincount(rows, coef, self.n_rows)
        step = max(1, SETTINGS.entries // max(1, self.n_rows))
        for begin in range(0, len(columns), step):
            some = slice(begin, begin + step)
            out[some] += xp.einsum("ij,j->i", self.matrix[columns[some]], weight)
