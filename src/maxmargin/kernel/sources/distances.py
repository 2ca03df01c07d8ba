"""Float64 values of RBF kernels from stored squared distances, which serve every gamma."""

from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from maxmargin.core.arrays import Floats, Indices, Integers, Matrix
from maxmargin.kernel.sources.all_samples import AllSamplesSource


class Settings(NamedTuple):
    """How values are computed."""

    entries: int = 2**16
    """Values that are computed at once: 512 kB, which the caches hold."""


SETTINGS = Settings()


class DistancesSource(AllSamplesSource):
    """k(x, z) = exp(-gamma |x - z|^2); the matrix holds |x - z|^2."""

    def _values(self, a: Integers, b: Integers, out: Matrix | None = None) -> Matrix:
        xp = self.backend.xp
        found = self.backend.gather(self.matrix, a, b, out)
        found *= -self.source.kernel.gamma
        return xp.exp(found, out=found)  # type: ignore[no-any-return]

    def block(self, a: Indices, b: Indices, dtype: DTypeLike) -> Matrix:
        rows, columns = self._numbers(a), self._numbers(b)
        found: Matrix = self.backend.xp.empty((len(rows), len(columns)), dtype)
        self.fill_block(rows, columns, found)
        return found

    def fill_block(self, a: Indices, b: Indices, out: Matrix) -> None:
        rows, columns = self._numbers(a), self._numbers(b)
        step = max(1, SETTINGS.entries // max(1, len(columns)))
        for begin in range(0, len(rows), step):
            some = rows[begin : begin + step]
            if out.dtype == np.float64:
                self._values(some, columns, out[begin : begin + step])
            else:
                out[begin : begin + step] = self._values(some, columns)

    def add_product(
        self, a: Indices, coef: Matrix, b: Indices, out: Floats, dtype: DTypeLike
    ) -> None:
        rows, columns = self._numbers(a), self._numbers(b)
        step = max(1, SETTINGS.entries // max(1, len(rows)))
        for begin in range(0, len(columns), step):  # K' = K: rows are read, not columns
            values = self._values(columns[begin : begin + step], rows)
            for c in range(coef.shape[1]):
                out[c, begin : begin + step] += (values * coef[:, c]).sum(axis=1)
