"""The workspace of kernel machines: kernel values of the samples, and what is kept of them from
solve to solve.

A **view** is the workspace of some of the samples, such as a pair of classes or the training set
of a fold. It copies no data. Values that the whole workspace keeps serve its views. Where nothing
is kept, views share the values inside the cells of a partition (views.py).

**Another kernel** on the same samples: squared distances, once they are kept, give the values of
every RBF kernel.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import DTypeLike

from maxmargin.core.arrays import Floats, Integers, Matrix
from maxmargin.core.threads import thread_count
from maxmargin.kernel.cache import RowCache, cache_bytes, free_memory
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.problems import DualProblem, same_conditions
from maxmargin.kernel.reduced import Reduced
from maxmargin.kernel.solution import Solution
from maxmargin.kernel.sources import (
    DistancesSource,
    MatrixSource,
    NativeSource,
    Scratch,
    SingleSource,
    Source,
    StoredSource,
    make_source,
    pick,
    take,
)
from maxmargin.kernel.views import Cells, View
from maxmargin.monitor import Monitor
from maxmargin.workspace import Workspace


class Settings(NamedTuple):
    """Which problems are small, and what is stored."""

    small: int = 1024
    """Rows up to which a problem is solved to rounding, as one matrix in float64 (decision 5)."""
    double: int = 8192
    """Rows up to which float64 values of RBF kernels are stored, at most half a gigabyte; beyond
    they are computed from distances when they are needed (decision 21)."""
    bytes_stored: int = 12
    """Bytes of a stored value: in float32 and in float64."""
    memory_share: float = 0.5
    """Share of the free memory that stored values of several problems may take."""


SETTINGS = Settings()


def is_small(rows: int) -> bool:
    """Whether a problem of this many rows is solved to rounding, as one matrix in float64."""
    return rows <= SETTINGS.small


class Samples(NamedTuple):
    """The samples as an audit sees them: all of X, or those listed."""

    kernel: Kernel
    X: Any
    listed: Integers | None = None
    rounding: float = 0.0
    """That of the kernel values given, where it is more than their type says."""

    @property
    def own(self) -> Any:
        """All of the samples."""
        return self.X if self.listed is None else pick(self.X, self.listed)

    def pick(self, rows: Integers) -> Any:
        """Some of the samples."""
        return pick(self.X, rows if self.listed is None else self.listed[rows])


class Solved(NamedTuple):
    """What the next solve can use of a solve, for the same Q: its reduced problem, its effort."""

    row: Integers
    ridge: Floats
    reduced: Reduced | None
    """That of its last cycle (continuation.py)."""
    steps: int
    """About the pair steps it takes without Newton steps."""


class Kept:
    """Kernel values that are kept from solve to solve."""

    def __init__(self, whole: MatrixSource | None = None, distances: Matrix | None = None) -> None:
        self.rows: RowCache | None = None
        self.product: tuple[Floats, Floats] | None = None
        """The coefficients c of the last solution, and K c."""
        self.exact: tuple[Floats, Floats] | None = None
        """Some coefficients c, and K c in float64."""
        self.solved: Solved | None = None
        self.small: tuple[DualProblem, Solution] | None = None
        """The last small problem that was solved to rounding, and its solution."""
        self.whole, self.distances = whole, distances
        self.views: dict[bytes, KernelWorkspace] | None = None
        """Views by their rows, where they are kept."""
        self.scratch: Scratch | None = None
        """Memory of the last problem that continuation.py reduced, once there is one."""


class KernelWorkspace(Workspace):
    """Kernel values of some samples, and those that are kept from solve to solve."""

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
        self.kept = Kept()

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
        source, cells = make_source(kernel, X), None
        if members is not None and isinstance(source, NativeSource):
            cells = Cells(source, members)
        return cls(source, monitor, cache_size, Samples(kernel, X), cells)

    @property
    def samples(self) -> Samples:
        """What the kernel values are of."""
        assert self._samples is not None
        return self._samples

    def workers(self, tasks: Sequence[Any]) -> int:
        """The number of tasks that run side by side: large ones fill the threads.

        Small ones would only wait for each other.
        """
        largest = max(self.source.n_rows if task.rows is None else len(task.rows) for task in tasks)
        return 1 if is_small(largest) else min(thread_count(), len(tasks))

    def _copy(self) -> "KernelWorkspace":
        """A copy, several times as fast as copy.copy: small problems are many."""
        other = object.__new__(KernelWorkspace)
        other.__dict__.update(self.__dict__)
        return other

    def share(self, monitor: Monitor, workers: int, tasks: int) -> "KernelWorkspace":
        """What is kept is shared by solves that follow each other, not by those side by side."""
        other = self._copy()
        other.monitor, other.side_by_side, other.problems = monitor, workers, tasks
        if workers > 1:
            other.kept = Kept(self.kept.whole, self.kept.distances)
            other.kept.views = self.kept.views
        return other

    # ---- other values, other samples -------------------------------------------------------------

    def on(self, source: Source, samples: Samples | None = None) -> "KernelWorkspace":
        """The same problems with another source of kernel values, of which nothing is kept yet."""
        other = self._copy()
        other.source, other._samples, other.kept = source, samples or self._samples, Kept()
        return other

    def of_values(self) -> "KernelWorkspace":
        """The same with all kernel values computed, as if they had been given."""
        K, kernel = self.whole().K, Kernel.precomputed()
        return self.on(
            make_source(kernel, K, backend=self.source.backend),
            Samples(kernel, K, rounding=self.source.precision),
        )

    def view(self, rows: Integers) -> "KernelWorkspace":
        """The workspace of some samples, in this order; a new one unless views are kept."""
        views = self.kept.views
        if views is None:
            return self._viewed(rows)
        key = rows.tobytes()
        if key not in views:
            views[key] = self._viewed(rows)
        found = views[key]._copy()  # what it keeps is the same
        found.monitor, found.problems = self.monitor, self.problems
        found.side_by_side = self.side_by_side
        return found

    def view_in(self, scratch: Scratch, rows: Integers) -> "KernelWorkspace":
        """A view whose stored values are valid until the next one in the same memory."""
        if not isinstance(self.source, SingleSource) or self.samples.listed is not None:
            return self._viewed(rows)
        samples = Samples(self.samples.kernel, self.samples.X, rows)
        other = self.on(self.source.part(rows, scratch), samples)
        other.kept.scratch = scratch
        return other

    def _viewed(self, rows: Integers) -> "KernelWorkspace":
        """A new view."""
        kernel, X, listed = self.samples.kernel, self.samples.X, self.samples.listed
        own = rows if listed is None else listed[rows]
        if isinstance(self.source, SingleSource):
            return self.on(self.source.part(rows), Samples(kernel, X, own))
        native = self.source.source if isinstance(self.source, View) else self.source
        if isinstance(native, NativeSource):
            other = self.on(View(native, own, self.cells), Samples(kernel, X, own))
        else:
            part = take(kernel.kind, X, rows)
            source = make_source(kernel, part, backend=self.source.backend)
            other = self.on(source, Samples(kernel, part))
        if self.kept.whole is not None:
            K = self.kept.whole.block(rows, rows, np.float64)
            other.kept.whole = MatrixSource(K, self.source.backend)
        return other

    def with_kernel(self, kernel: Kernel) -> "KernelWorkspace":
        """The same samples with another kernel; squared distances that are kept stay."""
        X, backend = self.samples.X, self.source.backend
        other = self.on(make_source(kernel, X, backend=backend), Samples(kernel, X))
        if self.cells is not None and isinstance(other.source, NativeSource):
            other.cells = Cells(other.source, self.cells.members)
        other.kept.distances = self.kept.distances
        listed = self.samples.listed
        return other if listed is None else other.view(listed)

    # ---- what is kept ----------------------------------------------------------------------------

    def rows(self, dtype: DTypeLike, whole: bool = False) -> RowCache:
        """Cached rows in one precision, including those of the last solve.

        Rows of another precision are dropped.
        """
        found = self.kept.rows
        if found is None or found.dtype != dtype or found.asked_whole != whole:
            self.kept.rows = found = None  # its memory is free before the next is taken
            budget = 0.0 if self.source.cheap else cache_bytes(self.cache_size, self.side_by_side)
            self.kept.rows = found = RowCache(self.source, dtype, budget, whole)
        return found

    def whole(self) -> MatrixSource:
        """All values in float64, computed once."""
        if self.kept.whole is None:
            self.kept.whole = MatrixSource(self._all_values(), self.source.backend)
        return self.kept.whole

    def _all_values(self) -> Matrix:
        source, D = self.source, self.kept.distances
        if D is None or not _needs_distances(source):
            return source.block(None, None, np.float64)
        xp = source.backend.xp
        K: Matrix = xp.multiply(D, -source.kernel.gamma)
        xp.exp(K, out=K)
        return K

    def keep_views(self) -> None:
        """Keep views for later problems on the same samples: of each pair of classes along C."""
        self.kept.views = {}

    def keep_distances(self) -> None:
        """Compute all squared distances in float64 and keep them for RBF kernels.

        Nothing is kept where float64 does not hold them to enough digits (rounding.py).
        """
        if _needs_distances(self.source):
            self.kept.distances = self.source.squared_distances()

    def stored(self, memory: Matrix | None = None) -> "KernelWorkspace":
        """The same with all values in memory: in float32, and in float64 where these are dear.

        Memory that is given holds the float32 values.
        """
        source = self.source
        if not isinstance(source, NativeSource):
            return self
        double: NativeSource | DistancesSource | StoredSource = source
        D = self.kept.distances if _needs_distances(source) else None
        if D is not None and source.n_rows > SETTINGS.double:
            double = DistancesSource(source, D)
        elif D is not None or not source.cheap:
            double = StoredSource(source, self._all_values())
        return self.on(SingleSource.of(double, memory))

    def for_several(self) -> "KernelWorkspace":
        """The same for several problems on all samples: dear values are stored if they fit.

        Problems side by side would each compute the rows that they use.
        """
        n, source = self.source.n_rows, self.source
        wanted = isinstance(source, NativeSource) and not source.cheap and not is_small(n)
        fits = wanted and SETTINGS.bytes_stored * n * n <= SETTINGS.memory_share * free_memory()
        return self.stored() if fits else self

    def product_of(self, coef: Floats) -> Floats | None:
        """K coef if coef is a multiple of the last solution, up to rounding; None otherwise."""
        if self.kept.product is None:
            return None
        last, product = self.kept.product
        at = int(np.argmax(np.abs(last)))
        if len(last) != len(coef) or last[at] == 0:
            return None
        factor = coef[at] / last[at]
        same = np.abs(coef - factor * last).max() <= 1e-9 * abs(coef[at])
        return factor * product if same else None

    def exact_near(self, coef: Floats) -> tuple[Floats, Floats] | None:
        """Coefficients near these, and their products in float64; None where none are kept."""
        if self.kept.exact is None or len(self.kept.exact[0]) != len(coef):
            return None
        c, product = self.kept.exact
        factor = float((coef * c).sum()) / (float((c * c).sum()) or 1.0)
        return factor * c, factor * product

    def solved(self, problem: DualProblem) -> Solved:
        """What is kept of the last solve, if it was of a problem with the same Q."""
        last = self.kept.solved
        same = (
            last is not None
            and np.array_equal(last.row, problem.row)
            and np.array_equal(last.ridge, problem.ridge)
        )
        return last if last is not None and same else Solved(problem.row, problem.ridge, None, 0)

    def unchanged(self, problem: DualProblem, b: Floats) -> Solution | None:
        """The last solution of a small problem, if it is b and solves this one too."""
        last = self.kept.small
        if last is None or not np.array_equal(last[1].b, b):
            return None
        before, solution = last
        return solution._replace(n_iter=0) if same_conditions(before, problem, b) else None

    def forget(self) -> None:
        """Free the memory of what is kept."""
        kept = self.kept
        kept.rows = kept.whole = kept.product = kept.exact = kept.solved = kept.small = None


def _needs_distances(source: Source) -> TypeGuard[NativeSource]:
    """Whether values are those of squared distances that float64 holds to enough digits."""
    if not isinstance(source, NativeSource):
        return False
    return source.kernel.kind is Kind.RBF and not source.differences
