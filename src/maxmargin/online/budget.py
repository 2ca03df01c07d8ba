"""Budget maintenance: functions over at most ``budget`` support vectors.

A function sum_j c_j k(x_j, .) has one coefficient for each point; several functions (one for each
class) share the points. Where more than ``budget`` points have coefficients, some are removed. Each
of them is projected onto the remaining point s that is nearest to it in direction: s, with the
greatest k(x, s)^2 / k(s, s), takes the coefficient c_x k(x, s) / k(s, s), which is the best
approximation by one point. The function moves by

    |c_x| sqrt(k(x, x) - k(x, s)^2 / k(s, s))

Candidates are the points of least weight |c_x| sqrt(k(x, x)), ``SETTINGS.candidates`` times as many
as must go. Those that move the function least are removed, the oldest first where several move it
equally. (Wang, Crammer and Vucetic 2012 compare removal, projection and merging.)
"""

from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.sources import MatrixSource, Source, make_source


class Settings(NamedTuple):
    """Constants of both online solvers with kernels, chosen by measurement."""

    block: int = 256
    """Samples whose kernel matrix is computed at once."""
    small_block: int = 16
    """Samples of a block under a small budget, at least."""
    candidates: int = 4
    """Candidates for removal, for each point that must go."""
    matrix_bytes: int = 2**27
    """Size up to which the whole kernel matrix is computed once."""


SETTINGS = Settings()


class Points:
    """The points of a function, their kernel, and k(x, x) of those that were used."""

    def __init__(self, kernel: Kernel, X: Any, whole: bool) -> None:
        self.source: Source = make_source(kernel, X)
        n = self.source.n_rows
        small = 8 * n * n <= SETTINGS.matrix_bytes
        if whole and small and not isinstance(self.source, MatrixSource):
            matrix = self.source.block(None, None, np.float64)
            self.source = MatrixSource(matrix, self.source.backend)
        self.backend: Any = self.source.backend
        self.size = n
        self.squares = np.full(n, np.nan)

    def tile(self, block: Integers) -> Floats:
        """k(x_i, x_j) for i, j in the block."""
        tile = np.ascontiguousarray(self.source.block(block, block, np.float64))
        self.squares[block] = tile.diagonal()
        return tile

    def values(self, coef: Floats, at: Integers | None = None) -> Floats:
        """sum_j coef[k, j] k(x_j, x_i), one row for each k, at all points i or those listed."""
        used = in_use(coef)
        out = np.zeros((len(coef), self.size if at is None else len(at)))
        if len(used):
            columns = np.ascontiguousarray(coef[:, used].T)
            self.source.add_product(used, columns, at, out, np.float64)
        return out

    def norms(self, coef: Floats) -> Floats:
        """|sum_j coef[k, j] phi(x_j)|^2 for each k."""
        used = in_use(coef)
        found: Floats = np.einsum("kj,kj->k", coef[:, used], self.values(coef, used))
        return np.maximum(found, 0.0)

    def square(self, index: Integers) -> Floats:
        """k(x, x) of some points."""
        for i in index[np.isnan(self.squares[index])]:
            self.tile(np.array([i]))
        return self.squares[index]

    def maintain(self, main: Floats, others: tuple[Floats, ...], budget: int) -> Floats | None:
        """Bring the points in use down to the budget, in place.

        ``main`` decides which points are removed; ``others`` are coefficients over the same points
        that are projected along. Returns how far each function moved, or None where the budget was
        kept already.
        """
        used = in_use(main, *others)
        excess = len(used) - budget
        if excess <= 0:
            return None
        light, stay = self._candidates(main, used, excess, budget)
        nearest, along, length = self._nearest(light, stay)
        share = np.divide(along, length, out=np.zeros(len(light)), where=length > 0)
        rest = np.sqrt(np.maximum(self.square(light) - along**2, 0.0))
        distance = rest * np.linalg.norm(main[:, light], axis=0)
        gone = np.sort(np.argsort(distance, kind="stable")[:excess])
        moved: Floats = np.sum(rest[gone] * np.abs(main[:, light[gone]]), axis=1)
        for coef in (main, *others):
            for row, added in zip(coef, coef[:, light[gone]] * share[gone], strict=True):
                np.add.at(row, stay[nearest[gone]], added)
            coef[:, light[gone]] = 0.0
        return moved

    def _candidates(
        self, main: Floats, used: Integers, excess: int, budget: int
    ) -> tuple[Integers, Integers]:
        """The lightest points, which may be removed, and the others."""
        length = np.sqrt(np.maximum(self.square(used), 0.0))
        weight = length * np.linalg.norm(main[:, used], axis=0)
        count = min(SETTINGS.candidates * excess, len(used) - (budget + 1) // 2)
        light = np.sort(np.argsort(weight, kind="stable")[:count])
        return used[light], np.delete(used, light)

    def _nearest(self, light: Integers, stay: Integers) -> tuple[Integers, Floats, Floats]:
        """For each light point the position of the nearest point that stays.

        Return also the light point's component along it, and its length.
        """
        values = self.source.block(light, stay, np.float64)
        length = np.sqrt(np.maximum(self.square(stay), 0.0))
        with np.errstate(divide="ignore"):
            cosines = values * np.where(length > 0, 1 / length, 0.0)  # times the light lengths
        nearest = np.abs(cosines, out=values).argmax(axis=1)
        return nearest, cosines[np.arange(len(light)), nearest], length[nearest]


def in_use(*coefs: Floats) -> Integers:
    """The points that have a coefficient."""
    return np.flatnonzero(np.any([np.any(coef != 0, axis=0) for coef in coefs], axis=0))


def block_size(batch: int, budget: int | None) -> int:
    """Number of samples in a block.

    A block holds whole mini-batches, and not many more samples than a small budget, which is
    enforced between blocks.
    """
    size = SETTINGS.block
    if budget is not None:
        size = min(size, max(SETTINGS.small_block, budget))
    return max(batch, size // batch * batch)
