"""One kernel for all pairs of classes: no pair copies data, and the values inside a class are computed once for all its pairs.

The matrix of the pair (i, j), samples of class i first, is made of blocks

    [ K_ii   K_ij ]
    [ K_ij'  K_jj ]

of which K_ii serves every pair that class i is in; K_ij is the pair's own.
"""

import threading
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from maxmargin.core import cpu as core
from maxmargin.sources import Indices, Matrix, NativeSource, Scratch, Source


class SharedKernel:
    """The kernel of all samples, and the blocks inside the classes, computed when first asked for."""

    def __init__(self, source: NativeSource, members: list[NDArray[np.int64]]) -> None:
        self.source, self.members = source, members
        self._blocks: dict[Any, Matrix] = {}
        self._locks = [threading.Lock() for _ in members]
        self._here = threading.local()

    def within(self, c: int, dtype: DTypeLike) -> Matrix:
        """The values inside class c."""
        key = (c, np.dtype(dtype))
        with self._locks[c]:
            if key not in self._blocks:
                self._blocks[key] = self.source.block(self.members[c], self.members[c], dtype)
            return self._blocks[key]

    @property
    def scratch(self) -> Scratch:
        """The thread's memory for the matrix of one pair, used again by its next."""
        found: Scratch = self._here.__dict__.setdefault("scratch", Scratch())
        return found

    def pair(self, i: int, j: int) -> "PairSource":
        """The kernel of classes i and j."""
        return PairSource(self, i, j)


class PairSource(Source):
    """The kernel of two classes, a part of a shared one."""

    def __init__(self, shared: SharedKernel, i: int, j: int) -> None:
        self.shared, self.classes = shared, (i, j)
        self._index = np.concatenate([shared.members[i], shared.members[j]])
        self.n_rows = self.n_columns = len(self._index)
        self.value_error = shared.source.value_error
        self.dtypes, self.cheap, self.convex = shared.source.dtypes, shared.source.cheap, shared.source.convex

    def by_differences(self) -> Source | None:
        return self.shared.source.by_differences(self._index)

    def suspects(self, count: int) -> NDArray[np.int64]:
        return self.shared.source.suspects(count, self._index)

    def _at(self, index: Indices) -> NDArray[np.int64]:
        return self._index if index is None else self._index[index]

    def block(self, a: Indices, b: Indices, dtype: DTypeLike) -> Matrix:
        """k(A[a], B[b]); the whole matrix lies in memory that the thread's next pair will use again."""
        if a is not None or b is not None:
            rows = self._at(a)
            return self.shared.source.block(rows, rows if a is b else self._at(b), dtype)
        (i, j), members = self.classes, self.shared.members
        between = self.shared.scratch.matrix("between", (len(members[i]), len(members[j])), dtype)
        self.shared.source.fill_block(members[i], members[j], between)
        K = self.shared.scratch.matrix("whole", (self.n_rows, self.n_rows), dtype)
        core.join_blocks(self.shared.within(i, dtype), between, self.shared.within(j, dtype), K)
        return K

    def fill_block(self, a: Indices, b: Indices, out: Matrix) -> None:
        rows = self._at(a)
        self.shared.source.fill_block(rows, rows if a is b else self._at(b), out)

    def solve_block(self, a: NDArray[np.int64], dtype: DTypeLike, *problem: Any) -> tuple[int, float, bool, bool]:
        return self.shared.source.solve_block(self._at(a), dtype, *problem)

    def add_product(self, a: Indices, coef: NDArray[np.float64], b: Indices, out: NDArray[np.float64], dtype: DTypeLike) -> None:
        self.shared.source.add_product(self._at(a), coef, self._at(b), out, dtype)
