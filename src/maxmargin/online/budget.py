"""Coefficients over points, kept within a budget: what online learning with kernels needs.

A function sum_j c_j k(x_j, .) has one column of coefficients for each point; several functions (one
for each class) share the points. Where more than ``budget`` points are in use, some go. Each is
projected onto the remaining point s that is nearest to it in direction: with k(x, s)^2 / k(s, s)
greatest, s takes c_x k(x, s) / k(s, s), the best that one point can do, and the function moves by

    |c_x| sqrt(k(x, x) - k(x, s)^2 / k(s, s))

Of the points of least weight |c_x| sqrt(k(x, x)), CANDIDATES times as many as must go, those go
that move the function least, the oldest where equal. (Wang, Crammer and Vucetic 2012 compare
removal, projection and merging.)
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.arrays import Floats
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.sources import MatrixSource, Source, make_source

BLOCK = 256
"""Samples whose kernel values among each other are computed at once."""
CANDIDATES = 4
"""Points that are looked at for each one that must go."""
WHOLE = 2**27
"""Bytes that a whole kernel matrix may take; it is computed once then."""


class Points:
    """The points of a walk, their kernel and the squares k(x, x) of those seen."""

    def __init__(self, kernel: Kernel, X: Any, whole: bool) -> None:
        self.source: Source = make_source(kernel, X)
        n = self.source.n_rows
        if whole and not isinstance(self.source, MatrixSource) and 8 * n * n <= WHOLE:
            self.source = MatrixSource(
                self.source.block(None, None, np.float64), self.source.backend
            )
        self.backend: Any = self.source.backend
        self.size = n
        self.squares = np.full(n, np.nan)

    def tile(self, block: NDArray[np.int64]) -> Floats:
        """k(x_i, x_j) for i, j in the block."""
        tile = np.ascontiguousarray(self.source.block(block, block, np.float64))
        self.squares[block] = tile.diagonal()
        return tile

    def values(self, coef: Floats, at: NDArray[np.int64] | None = None) -> Floats:
        """sum_j coef[k, j] k(x_j, x_i), a row for each k, at all points i or those listed."""
        used = in_use(coef)
        out = np.zeros((len(coef), self.size if at is None else len(at)))
        if len(used):
            self.source.add_product(
                used, np.ascontiguousarray(coef[:, used].T), at, out, np.float64
            )
        return out

    def norms(self, coef: Floats) -> Floats:
        """|sum_j coef[k, j] phi(x_j)|^2 for each k."""
        used = in_use(coef)
        found: Floats = np.einsum("kj,kj->k", coef[:, used], self.values(coef, used))
        return np.maximum(found, 0.0)

    def square(self, index: NDArray[np.int64]) -> Floats:
        """k(x, x) of some points."""
        for i in index[np.isnan(self.squares[index])]:
            self.tile(np.array([i]))
        return self.squares[index]

    def reduce(self, main: Floats, others: tuple[Floats, ...], budget: int) -> Floats | None:
        """Bring the points in use down to the budget, in place; how far each function moved, or
        None where there was nothing to do.

        ``main`` decides which points go; ``others`` are coefficients over the same points that
        follow.
        """
        used = in_use(main, *others)
        excess = len(used) - budget
        if excess <= 0:
            return None
        weight = np.sqrt(np.maximum(self.square(used), 0.0)) * np.linalg.norm(main[:, used], axis=0)
        light = np.sort(
            np.argsort(weight, kind="stable")[
                : min(CANDIDATES * excess, len(used) - (budget + 1) // 2)
            ]
        )
        stay = np.delete(used, light)
        light = used[light]
        values = self.source.block(light, stay, np.float64)
        length = np.sqrt(np.maximum(self.square(stay), 0.0))
        with np.errstate(divide="ignore"):
            cosines = values * np.where(
                length > 0, 1 / length, 0.0
            )  # times the lengths of the light points
        nearest = np.abs(cosines, out=values).argmax(axis=1)
        along = cosines[np.arange(len(light)), nearest]
        share = np.divide(
            along, length[nearest], out=np.zeros(len(light)), where=length[nearest] > 0
        )
        rest = np.sqrt(np.maximum(self.square(light) - along**2, 0.0))
        gone = np.sort(
            np.argsort(rest * np.linalg.norm(main[:, light], axis=0), kind="stable")[:excess]
        )
        moved: Floats = np.sum(rest[gone] * np.abs(main[:, light[gone]]), axis=1)
        for coef in (main, *others):
            for row, taken in zip(coef, coef[:, light[gone]] * share[gone], strict=True):
                np.add.at(row, stay[nearest[gone]], taken)
            coef[:, light[gone]] = 0.0
        return moved


def in_use(*coefs: Floats) -> NDArray[np.int64]:
    """The points that have a coefficient."""
    return np.flatnonzero(np.any([np.any(coef != 0, axis=0) for coef in coefs], axis=0))


def block_size(batch: int, budget: int | None) -> int:
    """Samples of a block.

    Whole batches, and not many more than a small budget, which is enforced between blocks.
    """
    size = BLOCK if budget is None else min(BLOCK, max(16, budget))
    return max(batch, size // batch * batch)
