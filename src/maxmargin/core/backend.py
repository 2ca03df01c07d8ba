"""What a machine must offer to kernel machines. This page is all that a new backend has to know.

A backend is a value: a source of kernel values holds one (`Source.backend`), and solvers ask the
source for it. They never import one, so the same outer loop runs wherever the arrays live.
`core.cpu.CPU` is the backend of every fit; tests/numpy_backend.py is a slow and obvious one, and
the oracle for all others. linear_backend.py and prediction_backend.py have what others ask for.

A new backend writes the nine abstract functions and sets `xp` and `longest_run`. The other
functions have plain defaults, which it may replace by faster ones.

**Arrays** belong to the namespace `xp` (NumPy's for the CPU). They are C-contiguous unless a
function says otherwise. `Floats` are float64: gradients, variables, sums. `Integers` are int64.
`Matrix` is float32 or float64: kernel values and the points they are computed from; those of one
call have one type. Scalars and records of scalars are Python's.

**Where arrays live.** With the data, in `xp`: points, kernel values, factors, and everything with
an entry for each variable or each row (gradients, bounds, masks, numbers of rows). On the host, in
NumPy: a problem as its formulation builds it, a solution as its solver returns it, what has an
entry for each group (`begin`, `fixed`), and random draws. `xp.asarray` moves an array to the data,
`to_host` moves it back. Arguments that are only read may live on the host.

**Memory.** `out`, `F`, `G` and `b` belong to the caller and are changed in place; functions without
them return new arrays. Only `points` may keep a reference to its argument, which the caller does
not change afterwards.

**Indices** `a` and `b` select points by number, in any order, repeated or not; None selects all.

**Kernels** are tuples (kind, gamma, coef0, degree). The kinds are those of
`maxmargin.kernel.kernels.Kind` that are computed from points, and RBF_BY_DIFFERENCES.

**Bits.** Results do not depend on the number of threads, nor on how work is split into calls: a
kernel value is the same whichever block it is computed in, and k(x, z) = k(z, x).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import IntEnum
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.arrays import Floats, Indices, Integers, Mask, Matrix

KernelTuple = tuple[int, float, float, int]

DOT_PRODUCT: KernelTuple = (0, 0.0, 0.0, 0)
"""The linear kernel."""
RBF_BY_DIFFERENCES = 7
"""The kind of exp(-gamma |x - z|^2) with |x - z|^2 summed over squared differences."""


class NotFinite(ArithmeticError):
    """A kernel value was infinite or not a number."""


class Points(Protocol):
    """A set of points in a backend's own form, on its machine."""

    @property
    def shape(self) -> tuple[int, int]:
        """Points and features."""

    @property
    def norms(self) -> Matrix:
        """|x|^2 of each point, with the bits of the dot product x.x."""

    @property
    def terms(self) -> int:
        """The most terms in a dot product: the features, or the most non-zeros of a point."""


class Variables(NamedTuple):
    """Dual variables sorted by group, all or some of a problem's, with their gradient.

    Their problem is to minimise  1/2 b' (K + diag(ridge)) b + linear' b  subject to
    lower <= b <= upper, with the sum of b kept in each group whose sum is fixed. G is the gradient
    (K + diag(ridge)) b + linear; `linear` itself is not needed.
    """

    G: Floats
    b: Floats
    lower: Floats
    upper: Floats
    ridge: Floats
    begin: Integers
    """Group g holds the variables begin[g], ..., begin[g + 1] - 1."""
    fixed: Mask
    """Whether the sum of each group is fixed."""

    def pick(self, at: Integers, backend: "Backend") -> "Variables":
        """The variables at increasing places, copied."""
        xp = backend.xp
        begin = backend.to_host(xp.searchsorted(at, xp.asarray(self.begin)))
        G, b, lower, upper, ridge = (values[at] for values in self[:5])
        return Variables(G, b, lower, upper, ridge, begin, self.fixed)

    def groups(self, first: int, last: int) -> "Variables":
        """The variables of the groups first, ..., last - 1, in the same memory."""
        begin = self.begin[first : last + 1]
        G, b, lower, upper, ridge = (values[begin[0] : begin[-1]] for values in self[:5])
        return Variables(G, b, lower, upper, ridge, begin - begin[0], self.fixed[first:last])


class Steps(NamedTuple):
    """The outcome of pair steps."""

    taken: int
    violation: float
    """The greatest over the groups of greatest - least (see Extremes), after the last step."""
    negative: bool
    """Whether a pair of negative curvature was met."""
    unbounded: bool
    """Whether a step had no bound: the problem has no minimum."""


class Extremes(NamedTuple):
    """The gradient in one group."""

    least: float
    """Of the variables that can grow, b < upper; infinity if none can."""
    greatest: float
    """Of the variables that can shrink, b > lower; minus infinity if none can."""
    free_sum: float
    """Over the free variables, lower < b < upper."""
    free: int
    """The number of free variables."""


class Walk(NamedTuple):
    """A walk along the faces of a box to the minimum of a quadratic; kernel/face.py explains it.

    b, u, d, pinned, and the rows of Z, R and `constraint` that are not in use yet change.
    """

    b: Floats
    u: Floats
    """Q^-1 times the gradient."""
    d: Floats
    """The step to the minimum, where the walk ended."""
    lower: Floats
    upper: Floats
    pinned: Mask
    group: Integers
    """The group of each variable; -1 where the sum is not fixed."""
    groups: int
    Z: Floats
    """R^-1 V', a row for each constraint; V are the columns of Q^-1 N."""
    R: Floats
    """The Cholesky factor of N' Q^-1 N, by rows; as many as there may be constraints."""
    constraint: Integers
    """What each constraint, a column of N, is: a pinned variable, or -1 - g for the sum of a
    group."""


class Ended(IntEnum):
    """Why a walk ended."""

    REACHED = 0
    """At the minimum."""
    MISSING = 1
    """Before a bound of a variable whose column is missing."""
    FULL = 2
    """Z has no room for another constraint."""
    NOT_FINITE = 3
    """Rounding left no step."""


class PointsBackend(ABC):
    """What all families of models ask for: points, and kernel values between them."""

    @abstractmethod
    def points(self, X: Any, compress: bool = False) -> Points:
        """The rows of a C-contiguous array or a canonical CSR matrix, of float32 or float64.

        With `compress` only the non-zeros of an array are stored: the cost of a dot product is
        then that of the non-zeros.
        """

    @abstractmethod
    def kernel_block(
        self,
        kernel: KernelTuple,
        A: Points,
        a: Indices,
        B: Points,
        b: Indices,
        out: Matrix | None = None,
        slots: Indices = None,
    ) -> Matrix:
        """Return k(A[a], B[b]), len(a) x len(b), in the precision of the points.

        With `out` it is written there; with `slots` row j of it to out[slots[j]]. Raises NotFinite.
        """


class Backend(PointsBackend):
    """The functions of kernel machines."""

    xp: Any
    """The array namespace."""
    longest_run: int
    """How often `kernel_product` with float32 coefficients rounds a term to float32, at most."""

    def to_host(self, values: Any) -> NDArray[Any]:
        """An array of this backend as a NumPy array; the same array if it lives on the host."""
        return values  # type: ignore[no-any-return]

    # ---- products with kernel values -------------------------------------------------------------

    @abstractmethod
    def kernel_product(
        self,
        kernel: KernelTuple,
        A: Points,
        a: Indices,
        coef: Matrix,
        B: Points,
        b: Indices,
        out: Floats,
    ) -> None:
        """out += coef' k(A[a], B[b]) without storing k.

        `coef` is len(a) x columns, in any layout; `out` is columns x len(b). Sums are float64 if
        the coefficients are. If they are float32, no term is rounded to float32 more than
        `longest_run` times. Raises NotFinite.
        """

    def kernel_products(
        self, kernel: KernelTuple, A: Points, begin: Integers, coef: Matrix, B: Points, out: Floats
    ) -> None:
        """kernel_product of each group of points of A with all of B, into out[g] for group g.

        Group g has the points begin[g], ..., begin[g + 1] - 1. `out` is groups x columns x points
        of B. Raises NotFinite.
        """
        for g in range(len(out)):
            some = slice(int(begin[g]), int(begin[g + 1]))
            a = self.xp.arange(some.start, some.stop)
            self.kernel_product(kernel, A, a, coef[some], B, None, out[g])

    # ---- stored kernel values -------------------------------------------------------------------

    @abstractmethod
    def update_gradient(self, rows: Matrix, slots: Integers, delta: Floats, F: Floats) -> None:
        """F += delta' rows[slots], summed in the order of the slots; delta in any layout."""

    @abstractmethod
    def gather(
        self, rows: Matrix, slots: Integers, columns: Integers, out: Matrix | None = None
    ) -> Matrix:
        """Return rows[slots][:, columns], in the memory of ``out`` if it is given."""

    def join_blocks(self, first: Matrix, between: Matrix, second: Matrix, out: Matrix) -> None:
        """out = [first, between; between', second]."""
        p = len(first)
        out[:p, :p], out[:p, p:], out[p:, :p], out[p:, p:] = first, between, between.T, second

    # ---- dual variables -------------------------------------------------------------------------

    @abstractmethod
    def group_extremes(self, variables: Variables) -> list[Extremes]:
        """The extremes of every group.

        If the sum of a group is not fixed, a gradient of 0 belongs to both sides.
        """

    @abstractmethod
    def pair_steps(self, K: Matrix, variables: Variables, tol: float, most: int) -> Steps:
        """Sequential minimal optimisation on a stored tile K, square; G and b change.

        It ends when the violation is at most tol, or after `most` steps. A step moves two
        variables of a group and keeps their sum; if the sum of the group is not fixed, a step may
        move one variable alone. A step that ends at a bound puts the variable exactly onto it.
        """

    def pair_steps_on_points(
        self,
        kernel: KernelTuple,
        A: Points,
        a: Indices,
        variables: Variables,
        tol: float,
        most: int,
    ) -> Steps:
        """The same for K = k(A[a], A[a]), which need not be computed as a whole.

        Raises NotFinite.
        """
        return self.pair_steps(self.kernel_block(kernel, A, a, A, a), variables, tol, most)

    def separate_steps(
        self,
        kernel: KernelTuple,
        A: Points,
        exact: Points,
        a: Integers,
        variables: Variables,
        tol: float,
        most: Integers,
    ) -> list[Steps]:
        """Pair steps on each group by itself, as if K = k(A[a], A[a]) were 0 between the groups.

        `exact` are the points of A in float64. A may serve the steps; in the end G is what it was
        plus the change of K b with the values of `exact`. Group g takes at most most[g] steps.
        Raises NotFinite.
        """
        found = []
        for g, (first, last) in enumerate(zip(variables.begin, variables.begin[1:], strict=False)):
            own, some = variables.groups(g, g + 1), a[first:last]
            G, b, effect = own.G.copy(), own.b.copy(), self.xp.zeros((1, len(some)))
            limit = int(most[g])
            found.append(self.pair_steps_on_points(kernel, exact, some, own, tol, limit))
            change = own.b - b
            self.kernel_product(kernel, exact, some, change[:, None], exact, some, effect)
            own.G[:] = G + effect[0] + own.ridge * change
        return found

    def face_steps(
        self, walk: Walk, count: int, columns: Floats, at: Integers, dependent: float
    ) -> tuple[int, Ended]:
        """Go to the minimum, from bound to bound, and pin each variable that meets one.

        The first `count` constraints exist already; the result is how many there are in the end.
        Row at[k] of `columns` is the column of Q^-1 of variable k, -1 where it is missing. A
        variable is fixed by the other constraints, and is none itself, where its pivot is at most
        `dependent` times its entry of Q^-1.
        """
        xp, (b, u, d, lower, upper, pinned, group, groups, Z, R, constraint) = self.xp, walk
        while True:
            values = [
                float(u[k] if k >= 0 else u[group == -1 - k].sum())
                for k in constraint[:count].tolist()
            ]
            x = xp.linalg.solve(xp.tril(R[:count, :count]), xp.asarray(values))
            d[:] = x @ Z[:count] - u
            for g in range(groups):
                own = group == g
                free = own & ~pinned
                d -= xp.where(own, d[free].sum() / max(1, int(xp.count_nonzero(free))), 0.0)
            d[pinned] = 0.0
            if not bool(xp.isfinite(d).all()):
                return count, Ended.NOT_FINITE
            with np.errstate(divide="ignore", invalid="ignore"):
                reach = xp.where(d != 0, xp.where(d > 0, upper - b, b - lower) / xp.abs(d), np.inf)
            t = min(1.0, float(reach.min(initial=np.inf)))
            hit = xp.flatnonzero((reach <= t) & (t < 1))
            if bool((at[hit] < 0).any()):
                return count, Ended.MISSING
            moved = xp.clip(b + t * d, lower, upper)
            moved[hit] = xp.where(d[hit] > 0, upper[hit], lower[hit])
            u += moved - b
            b[:], pinned[hit] = moved, True
            if t == 1.0:
                return count, Ended.REACHED
            if count + len(hit) > len(Z):
                return count, Ended.FULL
            for k in hit.tolist():
                column = columns[int(at[k])]
                R[count, :count] = Z[:count, k]
                w = column - Z[:count, k] @ Z[:count]
                pivot = float(w[k])
                if pivot > dependent * float(column[k]):
                    Z[count], R[count, count], constraint[count] = w / pivot**0.5, pivot**0.5, k
                    count += 1

    # ---- factors --------------------------------------------------------------------------------

    @abstractmethod
    def cholesky(self, Q: Floats) -> Floats | None:
        """The lower factor L of a symmetric matrix Q = L L', or None if Q is not definite.

        Only the upper triangle of Q is read, and all of Q may be overwritten. Only the lower
        triangle of L is meaningful; it may have any layout.
        """

    def cholesky_of_values(
        self, values: Callable[[slice, slice], Floats], ridge: Floats, pause: Callable[[], None]
    ) -> Floats | None:
        """The same for a large matrix, of which values(rows, columns) computes a part.

        The ridge is not in the values: it is added to the diagonal. A backend may compute the
        matrix part by part and call `pause` between them, which may raise.
        """
        pause()
        everything = slice(0, len(ridge))
        Q = values(everything, everything)
        self.xp.fill_diagonal(Q, self.xp.diagonal(Q) + ridge)
        return self.cholesky(Q)

    @abstractmethod
    def cholesky_solve(self, factor: Floats, right: Floats) -> Floats:
        """Q^-1 right for one column or several, from the lower triangle of the factor."""

    def triangular_solve(self, factor: Floats, right: Floats, transposed: bool = False) -> Floats:
        """L^-1 right, or L'^-1 right, for one column or several, from the lower triangle L."""
        L = self.xp.tril(factor)
        found: Floats = self.xp.linalg.solve(L.T if transposed else L, right)
        return found
