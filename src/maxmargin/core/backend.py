"""What a machine must offer. This page is all that a new backend has to know.

A backend is a value: data hold it (`Source.backend`, `Design.backend`), and solvers ask the data
for it. They never import one, so the same outer loop runs wherever the arrays live. `Backend` is
what kernel machines need, `LinearBackend` what linear models need, `OnlineBackend` what Pegasos and
NORMA need; `core.cpu.CPU` offers all three, and tests/numpy_backend.py is a slow and obvious
`Backend`.

**Arrays** belong to the namespace `xp` (NumPy's for the CPU). Gradients, variables and sums are
float64, index arrays int64; kernel values are float32 or float64. Arrays called `out`, `F`, `G` and
`b` are changed in place.

**Where arrays live.** With the data, in `xp`: points, kernel values, factors, and everything with an
entry for each variable or each row (gradients, bounds, masks, numbers of rows). On the host, in
NumPy: a problem as its formulation builds it, a solution as its solver returns it, what has an entry
for each group (`begin`, `fixed`), and random draws. `xp.asarray` moves an array to the data,
`to_host` moves it back. Arguments that are only read may live on the host.

**Indices** `a` and `b` select points by their numbers; None selects all of them.

**Kernels** are tuples (kind, gamma, coef0, degree); the kinds are those of
`maxmargin.kernel.kernels` and RBF_BY_DIFFERENCES.

**Bits.** Results do not depend on the number of threads, nor on how work is split into calls.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.arrays import Floats, Indices, Integers, Matrix

KernelTuple = tuple[int, float, float, int]
Points = Any
"""A set of points in a backend's own form, with `shape`, `norms` (squared, in the precision of the
points) and `terms` (the most terms in a dot product)."""

DOT_PRODUCT: KernelTuple = (0, 0.0, 0.0, 0)
"""The linear kernel."""
RBF_BY_DIFFERENCES = 7
"""The kind of exp(-gamma |x - z|^2) with |x - z|^2 summed over squared differences."""


class NotFinite(ArithmeticError):
    """A kernel value was infinite or not a number."""


class Variables(NamedTuple):
    """Dual variables sorted by group, all or some of a problem's, and their gradient G = (K +
    diag(ridge)) b + linear.

    Their problem is to minimise  1/2 b' (K + diag(ridge)) b + linear' b  subject to  lower <= b <=
    upper and to the sum of b in each group whose sum is fixed.
    """

    G: Floats
    b: Floats
    lower: Floats
    upper: Floats
    ridge: Floats
    begin: Integers
    """Where each group begins, and the end of the last."""
    fixed: NDArray[np.bool_]
    """Whether the sum of each group is fixed."""

    def pick(self, at: Integers, backend: "Backend") -> "Variables":
        """Some of them, in order, copied."""
        xp = backend.xp
        begin = backend.to_host(xp.searchsorted(at, xp.asarray(self.begin)))
        return Variables(
            self.G[at],
            self.b[at],
            self.lower[at],
            self.upper[at],
            self.ridge[at],
            begin,
            self.fixed,
        )


class Steps(NamedTuple):
    """What pair steps came to."""

    taken: int
    violation: float
    """Of optimality, after the last step."""
    negative: bool
    """Whether negative curvature was met."""
    unbounded: bool
    """Whether a step without end was met."""


class Extremes(NamedTuple):
    """The gradient in one group."""

    least: float
    """Of the variables that can grow; infinite where none can."""
    greatest: float
    """Of the variables that can shrink; minus infinity where none can."""
    free_sum: float
    """Over the variables strictly inside their bounds."""
    free: int


class Backend(ABC):
    """The functions of kernel machines."""

    xp: Any
    """The array namespace."""

    def to_host(self, values: Any) -> NDArray[Any]:
        """An array of this backend as a NumPy array; the same array where it lives on the host."""
        return values  # type: ignore[no-any-return]

    # ---- points and kernel values ---------------------------------------------------------------

    @abstractmethod
    def points(self, X: Any, compress: bool = False) -> Points:
        """The rows of a C-contiguous array or a canonical CSR matrix of float32 or float64 as
        points.

        With `compress` the non-zeros of an array are stored: dot products then cost what these
        cost.
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
        """k(A[a], B[b]), a row for each of A[a]; with slots, row j goes to out[slots[j]].

        Raises NotFinite.
        """

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
        """out += coef' k(A[a], B[b]) without storing k; a row of out for each column of coef.
        Raises NotFinite.

        With float64 coefficients sums are float64. With float32 ones no term is rounded to float32
        more than `longest_run` times.
        """

    @abstractmethod
    def kernel_products(
        self, kernel: KernelTuple, A: Points, begin: Integers, coef: Matrix, B: Points, out: Floats
    ) -> None:
        """kernel_product for each group of A, the points begin[g], ..., begin[g + 1] - 1, into
        out[g]. Raises NotFinite.
        """

    longest_run: int
    """How often a float32 sum of `kernel_product` rounds a term, at most."""

    # ---- stored rows ----------------------------------------------------------------------------

    @abstractmethod
    def update_gradient(self, rows: Matrix, slots: Integers, delta: Floats, F: Floats) -> None:
        """F += delta' rows[slots], in the order of the slots."""

    @abstractmethod
    def gather(self, rows: Matrix, slots: Integers, columns: Integers) -> Matrix:
        """rows[slots][:, columns]."""

    @abstractmethod
    def join_blocks(self, first: Matrix, between: Matrix, second: Matrix, out: Matrix) -> None:
        """out = [first, between; between', second]."""

    # ---- dual variables -------------------------------------------------------------------------

    @abstractmethod
    def group_extremes(
        self,
        G: Floats,
        b: Floats,
        lower: Floats,
        upper: Floats,
        begin: Integers,
        fixed: NDArray[np.bool_],
    ) -> list[Extremes]:
        """The extremes of every group.

        Where its sum is not fixed, 0 is among the gradients on both sides.
        """

    @abstractmethod
    def pair_steps(self, K: Matrix, variables: Variables, tol: float, most: int) -> Steps:
        """Sequential minimal optimisation on a stored tile K, until the violation is at most tol; G
        and b change.

        A step moves two variables of a group, and keeps its sum. Where the sum is not fixed it may
        move one variable alone.
        """

    @abstractmethod
    def pair_steps_on_points(
        self,
        kernel: KernelTuple,
        A: Points,
        a: Indices,
        variables: Variables,
        tol: float,
        most: int,
    ) -> Steps:
        """The same for K = k(A[a], A[a]), of which only what is needed is computed.

        Raises NotFinite.
        """

    # ---- factors --------------------------------------------------------------------------------

    @abstractmethod
    def cholesky(self, Q: Floats) -> Floats | None:
        """The factor of a symmetric matrix, of which the upper triangle is read and all may be
        overwritten; None if it is not definite.
        """

    def cholesky_of_values(
        self,
        values: Callable[[slice, slice], Floats],
        ridge: Floats,
        pause: Callable[[], None],
    ) -> Floats | None:
        """The same for a large matrix: values(rows, columns) is a part of it, without the ridge
        that is added to its diagonal.

        A backend may compute it part by part and call `pause` between them, which may raise.
        """
        pause()
        everything = slice(0, len(ridge))
        Q = values(everything, everything)
        self.xp.fill_diagonal(Q, self.xp.diagonal(Q) + ridge)
        return self.cholesky(Q)

    @abstractmethod
    def cholesky_solve(self, factor: Floats, right: Floats) -> Floats:
        """Q^-1 right, a column or several; of the factor the lower triangle is read."""


class LinearBackend(ABC):
    """The functions of linear models: sums are float64 over values of either precision."""

    @abstractmethod
    def points(self, X: Any, compress: bool = False) -> Points:
        """As for kernel machines."""

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
        """As for kernel machines: dot products of samples."""

    @abstractmethod
    def linear_values(self, X: Points, rows: Indices, w: Floats) -> Floats:
        """X[rows] w."""

    @abstractmethod
    def linear_sum(self, X: Points, rows: Indices, t: Floats) -> Floats:
        """The sum of t_i x_i over the rows."""

    @abstractmethod
    def linear_squares(self, X: Points) -> Floats:
        """|x_i|^2."""

    @abstractmethod
    def gram(self, X: Points, rows: Indices, weight: Floats) -> Floats:
        """The sum of weight_i x_i x_i' over the rows, weights not negative."""

    @abstractmethod
    def tube_duals(
        self,
        tube: tuple[Any, ...],
        f: Floats,
        prox_centre: Floats | None,
        smoothing: float,
        t: Floats,
        curvature: Floats,
    ) -> tuple[float, float, float]:
        """Write the duals at f and their curvature (losses.py).

        Return the sums of losses, negative conjugates and duals.
        """

    @abstractmethod
    def tube_slope(
        self,
        tube: tuple[Any, ...],
        f: Floats,
        change: Floats,
        step: float,
        prox_centre: Floats | None,
        smoothing: float,
    ) -> float:
        """The derivative of the smoothed losses by s at f + s change, s = step."""

    @abstractmethod
    def coordinate_descent(self, X: Points, *arguments: Any) -> Any:
        """An object that holds the duals of dual coordinate descent; see coordinate.h.

        Its run(w, bias, order, active, begin, shrink_above, seed, threads) is a part of a pass,
        which is done when run returns `active` as its end; settle(order) then brings the samples
        that were not shrunk to the front.
        """

    @abstractmethod
    def lasso_descent(
        self, H: Floats, penalty: Floats, u: Floats, slope: Floats, tol: float, most: int
    ) -> float:
        """Minimise the model of which `slope` is the gradient at u (lasso.h).

        Return the violation left.
        """

    @abstractmethod
    def scaled_columns(self, X: Points, factor: Floats, last: float) -> Points:
        """The columns of diag(factor) X, X in CSR, as points, and one more of `last` times the
        factors.

        With twice as many factors as samples all samples are there twice.
        """

    @abstractmethod
    def column_pass(self, columns: Points, *arguments: Any) -> tuple[float, int]:
        """Visit the active columns once (columns.h).

        Return the greatest violation met and the number left active.
        """

    @abstractmethod
    def crammer_singer_pass(self, X: Points, *arguments: Any) -> tuple[float, float, int]:
        """Visit the active samples once (crammer_singer.h).

        Return gap and violation met, and the number left active.
        """

    @abstractmethod
    def class_values(self, X: Points, rows: Indices, W: Floats) -> Floats:
        """X[rows] W for a multiple of 8 columns."""

    @abstractmethod
    def class_sum(self, X: Points, rows: Indices, t: Floats) -> Floats:
        """X[rows]' t for a multiple of 8 columns."""

    @abstractmethod
    def pegasos_rows(self, *arguments: Any) -> int:
        """Pegasos over the rows order[0], order[1], ... (pegasos.h); return how many were used.

        These are fewer than were given where a scale underflows.
        """


class OnlineBackend(ABC):
    """The functions of Pegasos and NORMA on kernel values.

    They return how many samples were used, as `pegasos_rows` does.
    """

    @abstractmethod
    def points(self, X: Any, compress: bool = False) -> Points:
        """As for kernel machines."""

    @abstractmethod
    def pegasos_tile(self, *arguments: Any) -> int:
        """Pegasos with coefficients, on a tile of kernel values."""

    @abstractmethod
    def norma_tile(self, *arguments: Any) -> int:
        """NORMA on a tile of kernel values."""
