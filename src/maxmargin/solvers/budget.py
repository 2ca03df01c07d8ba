"""Coefficients over points, kept within a budget: what online learning with kernels needs.

A function sum_j c_j k(x_j, .) has one column of coefficients for each point; several functions (one for each class) share the points.
Where more than ``budget`` points are in use, those of least weight sqrt(k(x, x)) |c_x| go, the oldest first where equal. Either they are
cut off, which changes the function by that weight at most, or each is projected onto the remaining point s that is nearest to it in
direction: with k(x, s)^2 / k(s, s) greatest, s takes c_x k(x, s) / k(s, s), the best that one point can do.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.kernels import Kernel
from maxmargin.problems import Floats
from maxmargin.sources import MatrixSource, Source, make_source

BLOCK = 256
"""Samples whose kernel values among each other are computed at once."""
WHOLE = 2**27
"""Bytes that a whole kernel matrix may take; it is computed once then."""


class Points:
    """The points of a walk, their kernel and the squares k(x, x) of those seen."""

    def __init__(self, kernel: Kernel, X: Any, whole: bool) -> None:
        self.source: Source = make_source(kernel, X)
        n = self.source.n_rows
        if whole and not isinstance(self.source, MatrixSource) and 8 * n * n <= WHOLE:
            self.source = MatrixSource(self.source.block(None, None, np.float64))
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
            self.source.add_product(used, np.ascontiguousarray(coef[:, used].T), at, out, np.float64)
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

    def reduce(self, main: Floats, others: tuple[Floats, ...], budget: int, project: bool) -> Floats | None:
        """Bring the points in use down to the budget, in place; the weight each function lost, or None where there was nothing to do.

        ``main`` decides which points go; ``others`` are coefficients over the same points that follow.
        """
        used = in_use(main, *others)
        if len(used) <= budget:
            return None
        weight = np.sqrt(np.maximum(self.square(used), 0.0)) * np.abs(main[:, used])
        order = np.argsort(np.linalg.norm(weight, axis=0), kind="stable")
        gone = np.sort(order[: len(used) - budget])
        drop, keep = used[gone], np.delete(used, gone)
        if project:
            values = self.source.block(drop, keep, np.float64)
            square = np.where(self.square(keep) > 0, self.square(keep), np.inf)
            best = (values**2 / square).argmax(axis=1)
            share = values[np.arange(len(drop)), best] / square[best]
            for coef in (main, *others):
                np.add.at(coef, (slice(None), keep[best]), coef[:, drop] * share)
        for coef in (main, *others):
            coef[:, drop] = 0.0
        lost: Floats = weight[:, gone].sum(axis=1)
        return lost


def in_use(*coefs: Floats) -> NDArray[np.int64]:
    """The points that have a coefficient."""
    return np.flatnonzero(np.any([np.any(coef != 0, axis=0) for coef in coefs], axis=0))


def block_size(batch: int, budget: int | None) -> int:
    """Samples of a block: whole batches, and not many more than a small budget, which is enforced between blocks."""
    size = BLOCK if budget is None else min(BLOCK, max(16, budget))
    return max(batch, size // batch * batch)
