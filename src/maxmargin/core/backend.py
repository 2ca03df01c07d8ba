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
from typing import Any, NamedTuple, Protocol

from numpy.typing import NDArray

from maxmargin.core.arrays import Floats, Indices, Integers, Mask, Matrix
from maxmargin.core.factor_backend import FactorBackend

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
        """The variables at some places, copied; those of a group lie before those of the next."""
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


class Survey(NamedTuple):
    """What a round of a solver asks of all variables."""

    variables: Variables
    extremes: list[Extremes]
    """Of every group."""
    objective: float
    """The dual objective, 1/2 b'(G + linear)."""
    moved: float
    """|b - other|, the distance from another point."""

    @property
    def violation(self) -> float:
        """The greatest over the groups of greatest - least."""
        return max((end.greatest - end.least for end in self.extremes), default=-float("inf"))

    @property
    def free(self) -> int:
        """The number of free variables."""
        return sum(end.free for end in self.extremes)


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


class Backend(PointsBackend, FactorBackend):
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

    def mirror(self, matrix: Matrix, places: Integers) -> None:
        """Set columns of a symmetric matrix to its rows of these numbers, which are in order."""
        matrix[:, places] = matrix[places].T

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

    def survey(
        self, variables: Variables, F: Floats, row: Integers, linear: Floats, other: Floats
    ) -> Survey:
        """Set the gradient G = F[row] + ridge b + linear of all variables, and look at them."""
        G, b, ridge = variables.G, variables.b, variables.ridge
        G[:] = F[row] + ridge * b + linear
        objective, moved = 0.5 * float((b * (G + linear)).sum()), b - other
        distance = float((moved * moved).sum()) ** 0.5
        return Survey(variables, self.group_extremes(variables), objective, distance)

    def candidates(
        self, variables: Variables, level: Floats, size: int
    ) -> tuple[Integers, Floats, Integers]:
        """What a working set is chosen from, where the groups have these levels.

        Return the variables that are free or violate optimality, in order; -level - G of each; and
        as many of the others, those with the least |level + G|, as are missing to `size`.
        """
        xp, (G, b, lower, upper, _, begin, _) = self.xp, variables
        sizes = (begin[1:] - begin[:-1]).tolist()
        below = -xp.repeat(xp.asarray(level), sizes) - G
        grow, shrink = b < upper, b > lower
        moves = (grow & shrink) | (grow & (below > 0)) | (shrink & (below < 0))
        first, rest = xp.flatnonzero(moves), xp.flatnonzero(~moves)
        missing = min(len(rest), max(0, size - len(first)))
        if missing < len(rest):
            away = xp.where((lower < upper)[rest], xp.abs(below[rest]), xp.inf)
            rest = rest[xp.argpartition(away, missing)[:missing]]
        return first, below[first], rest

    @abstractmethod
    def pair_steps(self, K: Matrix, variables: Variables, tol: float, most: int) -> Steps:
        """Sequential minimal optimisation on a stored tile K; G and b change.

        K is square. Variable k has its row k mod len(K): two variables of regression share one.

        It ends when the violation is at most tol, or after `most` steps. A step moves two
        variables of a group and keeps their sum; if the sum of the group is not fixed, a step may
        move one variable alone. A step that ends at a bound puts the variable exactly onto it.
        Where the violation is at most tol, G need not be exact: the rounding of K's precision that
        it may have is negligible beside tol where it matters, near the level of its group.
        """

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
            K = self.kernel_block(kernel, exact, some, exact, some)
            found.append(self.pair_steps(K, own, tol, limit))
            change = own.b - b
            self.kernel_product(kernel, exact, some, change[:, None], exact, some, effect)
            own.G[:] = G + effect[0] + own.ridge * change
        return found
