"""The workspace of kernel machines: kernel values of the samples, and what is kept of them from
solve to solve.

A view is the workspace of some of the samples. Class pairs and folds are unions of cells, the
members of a class or of a fold: the kernel matrix of the cells i and j is made of blocks

    [ K_ii   K_ij ]
    [ K_ij'  K_jj ]

of which K_ii serves every view that cell i is in, and no view copies data.
"""

import copy
import threading
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from maxmargin.core.arrays import Floats, Indices, Integers, Matrix
from maxmargin.core.backend import Steps, Variables
from maxmargin.core.threads import thread_count
from maxmargin.kernel.cache import RowCache, cache_bytes
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.sources import (
    MatrixSource,
    NativeSource,
    Scratch,
    Source,
    make_source,
    pick,
    take,
)
from maxmargin.monitor import Monitor
from maxmargin.workspace import Workspace

SMALL = 1024
"""Rows up to which a problem is solved as one matrix in float64."""


class Samples(NamedTuple):
    """The samples as an audit sees them: all of X, or those listed."""

    kernel: Kernel
    X: Any
    listed: Integers | None = None
    rounding: float = 0.0
    """That of the kernel values given, where it is more than their type says."""

    def pick(self, rows: Integers) -> Any:
        """Some of the samples."""
        return pick(self.X, rows if self.listed is None else self.listed[rows])


class Cells:
    """A partition of the samples, and the kernel values inside its cells, computed when first asked
    for.
    """

    def __init__(self, source: NativeSource, members: list[Integers]) -> None:
        self.source, self.members = source, members
        self._blocks: dict[Any, Matrix] = {}
        self._locks = [threading.Lock() for _ in members]
        self._here = threading.local()

    def within(self, c: int, dtype: DTypeLike) -> Matrix:
        """The values inside cell c."""
        key = (c, np.dtype(dtype))
        with self._locks[c]:
            if key not in self._blocks:
                self._blocks[key] = self.source.block(self.members[c], self.members[c], dtype)
            return self._blocks[key]

    @property
    def scratch(self) -> Scratch:
        """The thread's memory for the matrix of one view, used again by its next."""
        found: Scratch = self._here.__dict__.setdefault("scratch", Scratch())
        return found

    def view(self, *chosen: int) -> "CellSource":
        """The kernel of some cells."""
        return CellSource(self, chosen)


class CellSource(Source):
    """The kernel of a union of cells."""

    def __init__(self, cells: Cells, chosen: tuple[int, ...]) -> None:
        self.cells, self.chosen = cells, chosen
        self.rows = np.concatenate([cells.members[c] for c in chosen])
        self.n_rows = self.n_columns = len(self.rows)
        source = cells.source
        self.backend, self.value_error = source.backend, source.value_error
        self.dtypes, self.cheap, self.convex = source.dtypes, source.cheap, source.convex

    def by_differences(self) -> Source | None:
        return self.cells.source.by_differences(self.rows)

    def suspects(self, count: int) -> NDArray[np.int64]:
        return self.cells.source.suspects(count, self.rows)

    def _at(self, index: Indices) -> Integers:
        return self.rows if index is None else self.rows[index]

    def block(self, a: Indices, b: Indices, dtype: DTypeLike) -> Matrix:
        """k(A[a], B[b]).

        The whole matrix lies in memory that the thread's next view will use again.
        """
        if a is not None or b is not None:
            rows = self._at(a)
            return self.cells.source.block(rows, rows if a is b else self._at(b), dtype)
        members, scratch = [self.cells.members[c] for c in self.chosen], self.cells.scratch
        K = scratch.matrix("whole", (self.n_rows, self.n_rows), dtype)
        within = [self.cells.within(c, dtype) for c in self.chosen]
        ends = np.cumsum([0, *map(len, members)])
        for i, j in combinations(range(len(members)), 2):
            between = scratch.matrix("between", (len(members[i]), len(members[j])), dtype)
            self.cells.source.fill_block(members[i], members[j], between)
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
        self.cells.source.fill_block(rows, rows if a is b else self._at(b), out)

    def pair_steps(
        self, a: Integers, dtype: DTypeLike, variables: Variables, tol: float, most: int
    ) -> Steps:
        return self.cells.source.pair_steps(self._at(a), dtype, variables, tol, most)

    def add_product(
        self, a: Indices, coef: Matrix, b: Indices, out: Floats, dtype: DTypeLike
    ) -> None:
        self.cells.source.add_product(self._at(a), coef, self._at(b), out, dtype)


class KernelWorkspace(Workspace):
    """Kernel values of some samples, and rows of them that are kept from solve to solve."""

    def __init__(
        self,
        source: Source,
        monitor: Monitor,
        cache_size: float | str = "auto",
        samples: Samples | None = None,
        cells: Cells | None = None,
    ) -> None:
        self.source, self.monitor, self.cache_size, self.cells = source, monitor, cache_size, cells
        self._samples = samples
        self.side_by_side = 1
        """Problems solved at once, which share the memory."""
        self.problems = 1
        """Problems of this fit, which share the audit."""
        self._rows: RowCache | None = None
        self._whole: MatrixSource | None = None

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        X: Any,
        monitor: Monitor,
        cache_size: float | str = "auto",
        members: list[Integers] | None = None,
    ) -> "KernelWorkspace":
        """The workspace of samples; with members, of a partition whose cells will be viewed."""
        source = make_source(kernel, X)
        cells = (
            Cells(source, members)
            if members is not None and isinstance(source, NativeSource)
            else None
        )
        return cls(source, monitor, cache_size, Samples(kernel, X), cells)

    @property
    def samples(self) -> Samples:
        """What the kernel values are of."""
        assert self._samples is not None
        return self._samples

    def workers(self, tasks: Sequence[Any]) -> int:
        """Large problems run side by side, as many at a time as there are threads.

        Small ones would only wait for each other.
        """
        largest = max(self.source.n_rows if task.rows is None else len(task.rows) for task in tasks)
        return min(thread_count(), len(tasks)) if largest > SMALL else 1

    def share(self, monitor: Monitor, workers: int, tasks: int) -> "KernelWorkspace":
        other = copy.copy(self)
        other.monitor, other.side_by_side, other.problems = monitor, workers, tasks
        return other

    # ---- other values, other samples -------------------------------------------------------------

    def on(self, source: Source, samples: Samples | None = None) -> "KernelWorkspace":
        """The same problems with another source of kernel values.

        Nothing is kept of the values before.
        """
        other = copy.copy(self)
        other.source, other._samples = source, samples or self._samples
        other.forget()
        return other

    def of_values(self) -> "KernelWorkspace":
        """The same with all kernel values computed, as if they had been given."""
        K = self.source.block(None, None, np.float64)
        kernel = Kernel.precomputed()
        return self.on(
            make_source(kernel, K, backend=self.source.backend),
            Samples(kernel, K, rounding=self.source.precision),
        )

    def view(self, rows: Integers, cells: tuple[int, ...]) -> "KernelWorkspace":
        """The workspace of some samples, which are a union of cells."""
        kernel, X = self.samples.kernel, self.samples.X
        if self.cells is not None and cells:
            return self.on(self.cells.view(*cells), Samples(kernel, X, rows))
        part = take(kernel.kind, X, rows)
        return self.on(
            make_source(kernel, part, backend=self.source.backend), Samples(kernel, part)
        )

    # ---- what is kept ----------------------------------------------------------------------------

    def rows(self, dtype: DTypeLike, whole: bool = False) -> RowCache:
        """Rows in one precision, those of the last solve still there.

        Another precision takes their place.
        """
        if self._rows is None or self._rows.dtype != dtype or self._rows.asked_whole != whole:
            self._rows = None  # its memory is free before the next is taken
            budget = 0.0 if self.source.cheap else cache_bytes(self.cache_size, self.side_by_side)
            self._rows = RowCache(self.source, dtype, budget, whole)
        return self._rows

    def whole(self) -> MatrixSource:
        """All values in float64, computed once."""
        if self._whole is None:
            self._whole = MatrixSource(
                self.source.block(None, None, np.float64), self.source.backend
            )
        return self._whole

    def forget(self) -> None:
        """Free the memory of what is kept."""
        self._rows = self._whole = None
