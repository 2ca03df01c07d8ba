"""Views: kernel values of some of the rows of a source, without a copy of the data.

A view that is a union of cells (the members of a class or of a fold) shares the values inside its
cells with all other views: the matrix of the cells i and j is

    [ K_ii   K_ij ]
    [ K_ij'  K_jj ]
"""

import threading
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from maxmargin.core.arrays import Floats, Indices, Integers, Matrix
from maxmargin.kernel.sources import NativeSource, Scratch, Source


class Cells:
    """A partition of the samples, and the kernel values inside its cells, computed on demand."""

    def __init__(self, source: NativeSource, members: list[Integers]) -> None:
        self.source, self.members = source, members
        self._blocks: dict[Any, Matrix] = {}
        self._locks = [threading.Lock() for _ in members]
        self._here = threading.local()
        self._cell_of = np.empty(source.n_rows, np.int64)
        for c, rows in enumerate(members):
            self._cell_of[rows] = c

    def within(self, c: int, dtype: DTypeLike) -> Matrix:
        """The values inside cell c."""
        key = (c, np.dtype(dtype))
        with self._locks[c]:
            if key not in self._blocks:
                self._blocks[key] = self.source.block(self.members[c], self.members[c], dtype)
            return self._blocks[key]

    @property
    def scratch(self) -> Scratch:
        """The thread's memory for the matrix of one view, used again by its next view."""
        found: Scratch = self._here.__dict__.setdefault("scratch", Scratch(self.source.backend.xp))
        return found

    def covering(self, rows: Integers) -> tuple[int, ...]:
        """The cells whose members, one cell after the other, are these rows; () if none are."""
        cell = self._cell_of[rows]
        begins = np.flatnonzero(np.diff(cell, prepend=-1))
        chosen = tuple(cell[begins].tolist())
        members = [self.members[c] for c in chosen]
        if sum(map(len, members)) != len(rows) or len(rows) == 0:
            return ()
        return chosen if np.array_equal(np.concatenate(members), rows) else ()


class View(Source):
    """The kernel of some rows of another source."""

    def __init__(self, source: NativeSource, rows: Integers, cells: Cells | None = None) -> None:
        self.source, self.rows, self.cells = source, rows, cells
        self._rows: Integers = source.backend.xp.asarray(rows)
        self.n_rows = self.n_columns = len(rows)
        self.backend, self.value_error = source.backend, source.value_error
        self.dtypes, self.convex = source.dtypes, source.convex
        self.cheap, self.quick = source.cheap, source.quick

    def by_differences(self) -> Source | None:
        return self.source.by_differences(self.rows)

    def suspects(self, count: int) -> Integers:
        return self.source.suspects(count, self.rows)

    def _at(self, index: Indices) -> Integers:
        return self._rows if index is None else self._rows[index]

    def block(self, a: Indices, b: Indices, dtype: DTypeLike) -> Matrix:
        """k(A[a], B[b]).

        The whole matrix of a union of cells lies in memory that the thread's next view overwrites.
        """
        cells = self.cells
        if a is None and b is None and cells is not None:
            chosen = cells.covering(self.rows)
            if chosen:
                return self._joined(cells, chosen, dtype)
        rows = self._at(a)
        return self.source.block(rows, rows if a is b else self._at(b), dtype)

    def _joined(self, cells: Cells, chosen: tuple[int, ...], dtype: DTypeLike) -> Matrix:
        """The whole matrix from the blocks of its cells."""
        members, scratch = [cells.members[c] for c in chosen], cells.scratch
        K = scratch.matrix("whole", (self.n_rows, self.n_rows), dtype)
        within = [cells.within(c, dtype) for c in chosen]
        ends = np.cumsum([0, *map(len, members)])
        for i, j in combinations(range(len(members)), 2):
            between = scratch.matrix("between", (len(members[i]), len(members[j])), dtype)
            self.source.fill_block(members[i], members[j], between)
            if len(members) == 2:
                self.backend.join_blocks(within[0], between, within[1], K)
                return K
            K[ends[i] : ends[i + 1], ends[j] : ends[j + 1]] = between
            K[ends[j] : ends[j + 1], ends[i] : ends[i + 1]] = between.T
        for i, own in enumerate(within):
            K[ends[i] : ends[i + 1], ends[i] : ends[i + 1]] = own
        return K

    def fill_block(self, a: Indices, b: Indices, out: Matrix) -> None:
        rows = self._at(a)
        self.source.fill_block(rows, rows if a is b else self._at(b), out)

    def add_product(
        self, a: Indices, coef: Matrix, b: Indices, out: Floats, dtype: DTypeLike
    ) -> None:
        self.source.add_product(self._at(a), coef, self._at(b), out, dtype)
