"""What a machine must offer to linear models and to online learning.

The conventions are those of backend.py: arrays, memory, indices, bits. The values of points are
float32 or float64; all sums over them are float64. Today the CPU is the only such machine.
"""

from abc import abstractmethod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.arrays import Floats, Indices, Integers
from maxmargin.core.backend import Points, PointsBackend

TubeTuple = tuple[Floats, Floats, Floats, Floats, bool]
"""low, high, up, down, squared: the losses of all samples (linear/losses.py)."""
Order = NDArray[np.int32]
"""Numbers of samples or columns in the order of visits; those that are active come first."""


class Descent(Protocol):
    """Dual coordinate descent on one problem; it owns the duals (coordinate.h)."""

    def run(
        self,
        w: Floats,
        bias: float,
        order: Order,
        active: int,
        begin: int,
        shrink_above: float,
        seed: int,
        threads: int,
    ) -> tuple[float, float, int, float]:
        """Visit the samples order[begin], order[begin + 1], ..., as many as take some 50 ms.

        A pass begins at 0, where order[:active] is shuffled; it is done when the end that is
        returned equals `active`. The weights w change. Samples at a bound whose condition holds by
        more than `shrink_above` are marked as shrunk. Return the gap and the greatest violation
        met, the end, and the bias.
        """

    def settle(self, order: Order) -> int:
        """Bring the samples of the pass that were not shrunk to the front; return their number."""

    def assign(self, beta: Floats) -> None:
        """Set all duals."""

    def duals(self, out: Floats) -> float:
        """Write all duals to `out`; return the sum of their negative conjugates."""


class LinearBackend(PointsBackend):
    """The functions of linear models."""

    # ---- products with the data -----------------------------------------------------------------

    @abstractmethod
    def linear_values(self, X: Points, rows: Indices, w: Floats) -> Floats:
        """Return X[rows] w."""

    @abstractmethod
    def linear_sum(self, X: Points, rows: Indices, t: Floats) -> Floats:
        """Return X[rows]' t."""

    @abstractmethod
    def linear_hessian(
        self, X: Points, rows: Indices, weight: Floats, u: Floats, shift: float
    ) -> tuple[Floats, float]:
        """Return X[rows]'v and the sum of v, v = diag(weight) (X[rows] u + shift)."""

    @abstractmethod
    def linear_diagonal(self, X: Points, rows: Indices, weight: Floats) -> Floats:
        """Return the diagonal of X[rows]' diag(weight) X[rows]."""

    @abstractmethod
    def linear_squares(self, X: Points) -> Floats:
        """Return |x|^2 of each sample."""

    @abstractmethod
    def gram(self, X: Points, rows: Indices, weight: Floats) -> Floats:
        """Return X[rows]' diag(weight) X[rows] for weights >= 0."""

    @abstractmethod
    def class_values(self, X: Points, rows: Indices, W: Floats) -> Floats:
        """Return X[rows] W; W has a multiple of 8 columns."""

    @abstractmethod
    def class_sum(self, X: Points, rows: Indices, t: Floats) -> Floats:
        """Return X[rows]' t; t has a multiple of 8 columns."""

    # ---- losses ---------------------------------------------------------------------------------

    @abstractmethod
    def tube_duals(
        self,
        tube: TubeTuple,
        f: Floats,
        prox_centre: Floats | None,
        smoothing: float,
        t: Floats,
        curvature: Floats | None,
    ) -> tuple[float, float, float]:
        """Write the duals at the decision values f to t, and their curvature (linear/losses.py).

        Return the sums of losses, negative conjugates and duals.
        """

    @abstractmethod
    def tube_slope(
        self,
        tube: TubeTuple,
        f: Floats,
        change: Floats,
        step: float,
        prox_centre: Floats | None,
        smoothing: float,
    ) -> float:
        """The derivative by s of the smoothed losses at f + s change, s = step."""

    # ---- coordinate descent ---------------------------------------------------------------------

    @abstractmethod
    def coordinate_descent(
        self, X: Points, tube: TubeTuple, squares: Floats, beta: Floats, column: float
    ) -> Descent:
        """Dual coordinate descent that begins at the duals beta (coordinate.h).

        `squares` are |x|^2 of the samples, `column` is the square of the bias column.
        """

    @abstractmethod
    def squared_hinges(
        self,
        X: Points,
        sign: Floats,
        cost: Floats,
        column: float,
        m: float,
        goal: float,
        most: int,
    ) -> tuple[Floats, Floats, list[tuple[int, bool]]]:
        """Newton's method on the squared hinges of several problems on few points (hinges.h).

        `sign` has a row for each problem; `column` is 1 with a bias and 0 without, m the weight of
        its square. Steps end where the gap is at most `goal` times the objective. Return the
        weights with the bias last, the decision values, and for each problem the number of steps
        and whether it ended within `most` of them.
        """

    @abstractmethod
    def crammer_singer_pass(
        self,
        X: Points,
        label: NDArray[np.int32],
        C: Floats,
        squares: Floats,
        t: Floats,
        W: Floats,
        bias: Floats,
        column: float,
        order: Order,
        active: int,
        shrink_above: float,
        seed: int,
    ) -> tuple[float, float, int]:
        """Visit the active samples once for the machine of Crammer and Singer (crammer_singer.h).

        The duals t (samples x classes), W = X't and the biases change; W and bias have a multiple
        of 8 columns. `squares` are |x|^2 + column. Return the gap and the greatest violation met,
        and the number of samples left active.
        """

    @abstractmethod
    def scaled_columns(self, X: Points, factor: Floats, last: float) -> Points:
        """The columns of diag(factor) X as points, and one more: `last` times the factors.

        X is in CSR. With twice as many factors as samples, all samples occur twice.
        """

    @abstractmethod
    def column_pass(
        self,
        columns: Points,
        penalty: Floats,
        squares: Floats,
        factor: float,
        w: Floats,
        r: Floats,
        order: Order,
        active: int,
        shrink_above: float,
        seed: int,
    ) -> tuple[float, int]:
        """Visit the active columns once (columns.h); the weights w and the residuals r change.

        `squares` bound |column|^2 from above. Return the greatest violation met and the number of
        columns left active.
        """

    @abstractmethod
    def lasso_descent(
        self, H: Floats, penalty: Floats, u: Floats, slope: Floats, tol: float, most: int
    ) -> float:
        """Minimise the quadratic model of Hessian H whose gradient at u is `slope`, with
        penalty' |u| (lasso.h); u and slope change.

        It ends at a violation of tol or after `most` rounds. Return the violation left.
        """

    # ---- online learning ------------------------------------------------------------------------

    @abstractmethod
    def pegasos_rows(
        self,
        X: Points,
        order: Integers,
        samples: Floats,
        v: Floats,
        u: Floats | None,
        square: float,
        state: Floats,
        alpha: float,
        bias_step: float,
        batch: int,
        project: bool,
    ) -> int:
        """Steps of Pegasos with the rows order[0], order[1], ... of X (pegasos.h).

        Changed in place are `samples`, a record PegasosSample a row, `v`, `u` and `state`, a
        PegasosState. `square` is |m|^2 of the centre m. Return how many rows were used: fewer than
        were given if the scale became so small that the caller must multiply it into v.
        """


class OnlineBackend(PointsBackend):
    """The functions of Pegasos and NORMA on kernel values.

    They take steps with the samples begin, begin + 1, ... of a square tile K and return the end of
    those used, which may come early as for `pegasos_rows`. z = K c, c the coefficients, is kept
    up to date; what is added to the coefficients is written to the arrays `added`. `y` are the
    signs +1 and -1, `weight` the weights of the samples.
    """

    @abstractmethod
    def pegasos_tile(
        self,
        K: Floats,
        begin: int,
        z: Floats,
        y: Floats,
        weight: Floats,
        added_v: Floats,
        added_u: Floats,
        state: Floats,
        alpha: float,
        bias_step: float,
        batch: int,
        project: bool,
    ) -> int:
        """Pegasos on a tile; `state` is a PegasosState (pegasos.h)."""

    @abstractmethod
    def norma_tile(
        self,
        K: Floats,
        begin: int,
        z: Floats,
        y: Floats,
        weight: Floats,
        added: Floats,
        state: Floats,
        alpha: float,
        eta0: float,
        power: float,
        nu: float,
        bias: bool,
    ) -> int:
        """NORMA on a tile; `state` is a NormaState (pegasos.h). With nu < 0 rho is fixed."""
