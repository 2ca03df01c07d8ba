"""Decision functions of RBF kernels on dense data, packed once for the core (core/expansion.h).

The source prepares points call by call, for fits as for predictions. A fitted model's points stay
the same: here they are centred, scaled and packed on first use, and a call hands the samples over
as they are. Values differ from the source's by roundings alone, which rounding.py bounds.

With x' = (x - centre) (2 gamma log2 e)^(1/2) the kernel is exp(-SCALED_GAMMA |x' - z'|^2).
"""

import math
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.arrays import Floats, Integers
from maxmargin.core.backend import NotFinite
from maxmargin.core.prediction_backend import PredictionBackend
from maxmargin.kernel import rounding
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.sources.base import KernelNotFinite, not_finite

SCALED_GAMMA = math.log(2) / 2


class Settings(NamedTuple):
    """How much is computed at once, and when float32 is."""

    multiply_adds: float = 5e8
    """Multiply-adds between two checks for signals: a fraction of a second on one busy core."""
    value_error: float = 1e-3
    """Bound of the relative error of float32 kernel values, for those who ask for them
    (decision 39)."""
    greatest_growth: float = 1.01
    """exp of the greatest error of an exponent with which float32 decides enough labels
    (decision 11)."""


SETTINGS = Settings()


class Coefficients(NamedTuple):
    """Coefficients of the support vectors, one row each.

    Rows begin[g], ..., begin[g + 1] - 1 are group g, which has functions of its own.
    """

    begin: Integers
    coef: Floats


class Estimate(NamedTuple):
    """Each group's share of its functions in float32, and a bound of its error for each sample."""

    parts: Floats
    errors: Floats
    near: NDArray[np.bool_] | None = None
    """Of a packed model: the samples whose kernel values are within value_error."""


class Points(NamedTuple):
    """The support vectors, dense, and what brings the kernel to the form above."""

    kernel: Kernel
    backend: PredictionBackend
    Z: Floats
    centre: Floats
    squares: Floats
    """|z - centre|^2 of each."""

    @property
    def scale(self) -> float:
        """The square root of 2 gamma log2(e)."""
        return math.sqrt(self.kernel.gamma / SCALED_GAMMA)


class PackedModel:
    """The functions of a model, in float64, and in float32 with a bound."""

    def __init__(self, points: Points, coefficients: Coefficients) -> None:
        self._points, self._coefficients = points, coefficients

    def values(self, X: Floats) -> Floats:
        """Each group's share of its functions at the rows of X, in float64."""
        return self._sums(self._exact, X, None)

    def float32_values(self, X: Floats) -> Floats:
        """The same from float32 kernel values, none of which is wrong by more than value_error.

        A row that float32 cannot promise this for is float64: no other row matters for it.
        """
        halves = np.empty(len(X))
        try:
            found = self._sums(self._single, X, halves)
        except KernelNotFinite:  # a support vector is out of range
            return self.values(X)
        near = halves <= self._greatest_half
        if not near.all():
            far = np.flatnonzero(~near)
            found[:, :, far] = self.values(X[far])
        return found

    def estimate(self, X: Floats, each_alone: bool = False) -> Estimate | None:
        """The same in float32; None where that is useless.

        ``each_alone`` bounds depend on no other row; they hold for those that are near.
        """
        if not self._float32_is_useful:
            return None
        halves = np.empty(len(X))
        try:
            parts = self._sums(self._rough, X, halves)
        except KernelNotFinite:  # float64 may reach further
            return None
        bound, column = self._bound(2 * halves), self._bound_column
        run = self._points.backend.longest_run
        growth = math.exp(SETTINGS.value_error) if each_alone else None
        errors = rounding.sum_bound(bound, column, parts[:, -1], run, growth)
        return Estimate(parts[:, :-1], errors, halves <= self._greatest_half)

    def _sums(self, packed: Any, X: Floats, halves: Floats | None) -> Floats:
        """The columns of a packed expansion at the rows of X."""
        backend, (begin, coef) = self._points.backend, self._coefficients
        columns = coef.shape[1] + (packed is self.__dict__.get("_rough"))
        work = len(coef) * (X.shape[1] + columns + 16.0)  # of a row
        step = max(64, int(SETTINGS.multiply_adds / max(1.0, work)))
        out = np.empty((len(begin) - 1, columns, len(X)))
        try:
            if len(X) <= step:
                backend.expansion_sums(packed, X, out, halves, work * len(X))
                return out
            for i in range(0, len(X), step):
                part = np.empty((*out.shape[:2], len(X[i : i + step])))
                half = None if halves is None else halves[i : i + step]
                backend.expansion_sums(packed, X[i : i + step], part, half, work * step)
                out[:, :, i : i + step] = part
        except NotFinite:
            raise not_finite(self._points.kernel) from None
        return out

    @cached_property
    def _exact(self) -> Any:
        return self._pack(self._coefficients.coef, np.float64)

    @cached_property
    def _single(self) -> Any:
        return self._pack(self._coefficients.coef, np.float32)

    @cached_property
    def _rough(self) -> Any:
        with np.errstate(over="ignore"):
            columns = np.column_stack([self._coefficients.coef, self._bound_column.weights])
        return self._pack(columns, np.float32)

    def _pack(self, coef: Floats, dtype: Any) -> Any:
        points = self._points
        return points.backend.expansion(
            points.Z, self._coefficients.begin, coef, points.centre, points.scale, dtype
        )

    @cached_property
    def _scaled_squares(self) -> Floats:
        """|z'|^2 of the support vectors."""
        return np.asarray(self._points.squares * self._points.scale**2)

    @cached_property
    def _bound_column(self) -> rounding.BoundColumn:
        begin, coef = self._coefficients
        return rounding.bound_column(begin, coef, self._scaled_squares)

    def _bound(self, squares: Floats) -> rounding.ValueBound:
        return rounding.rbf_bound(
            SCALED_GAMMA, self._points.Z.shape[1], self._scaled_squares, squares
        )

    @cached_property
    def _greatest_half(self) -> float:
        """|x'|^2 / 2 up to which float32 keeps value_error."""
        length = self._bound(np.empty(0)).longest_within(SETTINGS.value_error)
        more = 1 + 2.0**-20 * (self._points.Z.shape[1] + 2)  # the float32 sum is not exact
        return length**2 / (2 * more) if length >= 0 else -1.0

    @cached_property
    def _float32_is_useful(self) -> bool:
        growth = self._bound(self._scaled_squares).growth
        return len(self._points.Z) > 0 and bool(np.median(growth) <= SETTINGS.greatest_growth)
