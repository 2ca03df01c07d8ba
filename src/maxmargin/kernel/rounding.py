"""Bounds, not estimates, of the rounding errors of kernel values and of sums of them.

**RBF values.** Let x, z be prepared points (sources/native.py) in float64, u = 2^-24, t the
greatest number of non-zeros of a point, S = |x| + |z|, D = |x - z|^2 and g_n = n u / (1 - n u),
which bounds n roundings. The float32 value is 2^-s with

    s = (fl|x|^2 + fl|z|^2 - 2 fl x.z) gamma log2(e)

1. float32 copies of x and z move each by at most u of its length, hence D by at most
   2 u S^2 (1 + u);
2. two norms and the dot product of t terms are wrong by g_t (|x|^2 + |z|^2 + 2 |x||z|) = g_t S^2,
   their sum rounds twice: g_(t+2) S^2;
3. gamma log2(e) and the product round once each: 2 u D <= 2 u S^2. Values of s below 0 are set to
   0, which moves them towards D >= 0.

So the exponent is wrong by at most delta = slope S^2, slope = gamma g_(t+8), and 2^-s itself, a
polynomial and a shift, by at most 8 u of the value. Hence k32 = k exp(e) (1 + h), |e| <= delta,
|h| <= 8 u, and with growth = exp(delta) for the greatest delta

    |k32 - k| <= k32 (exp(delta) (1 + 9 u) - 1) <= k32 growth (delta + 9 u)

Points z with |z| > |x| + q, q^2 = 89 / gamma, need not count for the greatest delta: D > q^2, so
k < exp(-89) < UNDERFLOW. Their S is at most D^(1/2) / q times the S' of |z| = |x| + q; so k32 is
below UNDERFLOW too as long as slope S'^2 < 5, and else growth > 100 covers all. UNDERFLOW, added
once for each value, is also more than float32 loses to underflow, here and in the sums.

**float64** makes the same errors with u = 2^-53 (subtracting the centre takes the place of 1.):
2^-29 of the above, for which the factor MORE leaves room. Between points of at most the length L
the exponent is wrong by at most exponent_error = 4 gamma g_(t+8) L^2. An x longer than 2 L needs no
more: S <= 3 D^(1/2) then, and gamma D < 745 where a value is not 0. Where L is many times the
kernel's width, 1 / gamma^(1/2), this is no small number: x and z cancel.

**Differences.** The sum of (x_k - z_k)^2, computed so, has no such error: subtracting rounds once,
squaring and adding t terms t + 1 times, gamma log2(e) and the product twice, all relative to D. The
exponent is wrong by at most g_(t+4) gamma D, whatever the lengths are, and gamma D < 745 where a
value is not 0. In float64 the data are not centred for it, which would round them. In float32 the
copies' errors come on top, at most 2 u S D^(1/2) + u^2 S^2 of D: nothing for near points, and delta
above covers it.

**Dot products.** x.z is wrong by g_t |x||z|, so gamma x.z + c by g_(t+2) (gamma |x||z| + |c|), its
p-th power by p times the power of that size and one rounding for each product; tanh and the
logistic function have a slope of at most 1. So dot_error = p (gamma L^2 + |c|)^p g_(t+p+8).

The source takes differences where exponent_error > TRUSTED (2^-4 in float32), and a fit does where
the sum of |c_j| times it is more than its tolerance allows.

**Sums.** Let m_j >= |c_j|, R^2 the mean of the |z_j|^2 and W = sum m_j k32_j (R^2 + |z_j|^2). By
Cauchy's inequality (|x| + |z|)^2 <= (1 + |x|^2 / R^2) (R^2 + |z|^2), with equality at |z| |x| =
R^2; and M = sum m_j k32_j <= W / R^2. So the values' errors amount to growth (slope (1 + |x|^2 /
R^2) + 9 u / R^2) W. Float32 coefficients and their products, in sums that round no term to float32
more than r times and are float64 beyond, are wrong by g_(r+2) M; a float64 sum of n terms by n
2^-53 M. W, computed so itself, is smaller than it should be by less than the factor MORE.

**Packed models** (packed.py) scale x - centre by a factor that is no power of two, which rounds it
once more, and do not multiply the exponent by gamma log2(e), which saves two roundings: all of the
above holds.
"""

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.arrays import Floats, Integers

UNIT32, UNIT64 = 2.0**-24, 2.0**-53
UNDERFLOW = 2.0**-120
"""More than what values, coefficients and products of float32 lose to underflow."""
MORE = 1 + 2.0**-10
"""A factor that covers errors of the bounds' own arithmetic and products of small terms left out
above."""
EXPONENT_END = 89.0
"""More than 127 log(2): exp(-89) < UNDERFLOW."""
EXPONENT_END64 = 745.2
"""More than 1075 log(2): exp(-745.2) is 0 in float64."""
SAME_GROWTH = 1.01
"""Up to here the greatest growth of a batch serves all its rows, which is cheaper than each its
own."""
TRUSTED = 2.0**-33
"""Greatest error of a float64 exponent for which |x|^2 + |z|^2 - 2 x.z is used (decision 18)."""


def _roundings(n: float, unit: float = UNIT32) -> float:
    """g_n; infinite where nothing is known."""
    return n * unit / (1 - n * unit) if n * unit < 0.5 else np.inf


def _known(error: float) -> float:
    """A bound that was computed; infinite where that gave no number."""
    return min(float(error), float(np.finfo(float).max)) if error == error else np.inf


class ValueBound(NamedTuple):
    """The data of a bound on the errors of float32 values between points z of A and x of B."""

    slope: float
    reach: float
    """q: points further from each other have a value of 0."""
    lengths_a: Floats
    """|z|, for each z; not less than it is."""
    lengths_b: Floats
    """|x|, alike."""

    def exponent_errors(self, lengths: Floats | None = None) -> Floats:
        """The greatest delta of each x, or of an x of each length."""
        length = self.lengths_b if lengths is None else lengths
        with np.errstate(over="ignore", invalid="ignore"):
            longest = np.minimum(self.lengths_a.max(initial=0.0), length + self.reach)
            return np.asarray(self.slope * np.square(length + longest))

    def longest_within(self, error: float) -> float:
        """The length up to which no x has a greater delta; negative where all have.

        |x| + min(L, |x| + q) <= (error / slope)^(1/2), with L the greatest |z|.
        """
        total = math.sqrt(error / self.slope)
        return float(max(total - self.lengths_a.max(initial=0.0), (total - self.reach) / 2))

    @property
    def growth(self) -> Floats:
        """For each x; one for all where it is small for all, which is cheaper."""
        with np.errstate(over="ignore", invalid="ignore"):
            most = np.exp(self.exponent_errors(self.lengths_b.max(initial=0.0, keepdims=True)))
            return most if most[0] <= SAME_GROWTH else np.exp(self.exponent_errors())


def rbf_bound(gamma: float, terms: int, norms_a: NDArray[Any], norms_b: NDArray[Any]) -> ValueBound:
    """The bound from squared norms, of float32 points at least as exact as float32."""
    slope, more = gamma * _roundings(terms + 8), 1 + _roundings(terms + 2)
    lengths_a, lengths_b = (np.sqrt(np.float64(a)) * more for a in (norms_a, norms_b))
    reach = float(np.sqrt(EXPONENT_END / gamma)) if gamma > 0 else np.inf
    return ValueBound(slope, reach, lengths_a, lengths_b)


def exponent_error(gamma: float, terms: int, length: float) -> float:
    """The greatest error of a float64 exponent by |x|^2 + |z|^2 - 2 x.z.

    No point is longer than ``length``.
    """
    reach = 2.0 * length * math.sqrt(gamma)
    return _known(reach * reach * _roundings(terms + 8, UNIT64))


def difference_error(terms: int) -> float:
    """The greatest error of a float64 exponent by differences where the value is not 0."""
    return EXPONENT_END64 * _roundings(terms + 8, UNIT64)


def dot_error(gamma: float, constant: float, degree: int, terms: int, length: float) -> float:
    """The greatest error of a float64 value (gamma x.z + constant)^degree.

    At degree 1 it bounds the errors of tanh and the logistic function, too.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.float64(gamma) * length * length + constant
        error = max(1, degree) * size**degree * _roundings(terms + degree + 8, UNIT64)
    return _known(error)


class BoundColumn(NamedTuple):
    """What the bound of a sum needs: one more column of coefficients."""

    weights: Floats
    """m_j (R^2 + |z_j|^2)."""
    square: float
    """R^2; any positive number will do."""
    total: Floats
    """The sum of the weights and of the m_j, of each group."""
    n: int
    """Terms of a sum, at most."""


def bound_column(begin: Integers, coef: Floats, squares: Floats) -> BoundColumn:
    """The column for coefficients in groups of rows, with the |z_j|^2."""
    size = np.abs(coef).max(axis=1, initial=0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        square = float(squares.mean()) if len(squares) else 1.0
        square = square if square > 0 else 1.0
        weights = size * (square + squares)
        sums = [(size + weights)[i:j].sum() for i, j in itertools.pairwise(begin)]
    return BoundColumn(weights, square, np.array(sums), len(coef))


def sum_bound(
    bound: ValueBound,
    column: BoundColumn,
    W: Floats,
    run: int,
    growth: Floats | float | None = None,
) -> Floats:
    """A bound on |f32 - f64| for each group's sums and each x, from the sums W of the column.

    With a growth of your own it holds for x that grow no more, and depends on no other x.
    """
    sums = _roundings(run + 2) + column.n * UNIT64
    growth = bound.growth if growth is None else growth
    with np.errstate(over="ignore", invalid="ignore"):
        slope = MORE * bound.slope * growth / column.square
        constant = MORE * (
            growth * (bound.slope + 9 * UNIT32 / column.square) + sums / column.square
        )
        found: Floats = (slope * np.square(bound.lengths_b) + constant) * W
        found += 2 * UNDERFLOW * (column.total[:, None] + column.n)
    return found
