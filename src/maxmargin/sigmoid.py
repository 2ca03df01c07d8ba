"""Sigmoids and bent sigmoids of decision values: the most likely ones, and what records keep.

With values f_i, targets t_i and weights w_i, both minimise the negative log-likelihood

    F = sum_i  w_i (t_i z_i + log(1 + exp(-z_i))),     P(first | f) = 1 / (1 + exp(z))

    z = A f + B                      Platt's sigmoid, A <= 0
    z = A f + D asinh(s f) + B       a bent one, A <= 0, D <= 0, s = 1 or 4

F is convex in A, D, B, and z never rises with f. A sigmoid says that the log-odds grow with the
distance from the boundary as far as that goes. They do not where a machine overfits or some labels
are wrong: asinh(s f) is s f near the boundary and grows as log f beyond 1 / s. The margins f = 1
and -1 are the unit. D = 0 is Platt's sigmoid, and is the best one where log-odds do not flatten.

Each face of the constraints is tried: D = 0, A = 0, and neither. The best feasible point is the
optimum, since the optimum is that of its face. A sharper bend (s = 4) must be better than s = 1 by
log(n) / 2 nats, n the sum of weights, as Schwarz's criterion asks of one more parameter.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from maxmargin.core.arrays import Floats
from maxmargin.core.choose import HOST


class Settings(NamedTuple):
    """How sigmoids are fitted (decision 22)."""

    newton_steps: int = 100
    """Newton steps, at most."""
    scales: tuple[float, ...] = (1.0, 4.0)
    """s of bent sigmoids."""
    gain: float = 0.25
    """Nats that a bend must promise beyond the best one so far, or it is not tried: it keeps
    three quarters of what it promises, and hardly ever more than all of it."""


SETTINGS = Settings()


class Bent(NamedTuple):
    """Several bent sigmoids, one number each; the signs are those of Platt's A and B."""

    a: Floats
    d: Floats
    s: Floats
    b: Floats


class Likelihood(NamedTuple):
    """What is fitted: the rows that z is made of (the last is 1), targets and weights."""

    X: Floats
    t: Floats
    w: Floats

    def value(self, z: Floats) -> float:
        """F."""
        return float(self.w @ (self.t * z + np.logaddexp(0.0, -z)))

    def derivatives(self, z: Floats) -> tuple[Floats, Floats]:
        """The first and second ones of each sample's loss in z."""
        p = expit(-z)
        return self.w * (self.t - p), self.w * (p * (1 - p))

    def minimised(self, start: Floats, most: int = SETTINGS.newton_steps) -> tuple[Floats, float]:
        """The optimum without constraints and its F: Newton's method in the core."""
        return HOST.minimise_logistic(*self, start, most)


def _rows(*rows: Floats) -> Floats:
    """The rows that z is made of, with a last one of ones."""
    return np.stack([*rows, np.ones(len(rows[0]))])


def fit_plain(values: Floats, t: Floats, w: Floats, constant: float) -> tuple[float, float]:
    """A and B of the least F for values of magnitude 1, whatever the sign of A."""
    a, b = Likelihood(_rows(values), t, w).minimised(np.array([0.0, constant]))[0].tolist()
    return a, b


def fit_bent(
    values: Floats, t: Floats, w: Floats, plain: tuple[float, float]
) -> tuple[float, float, float, float]:
    """A, D, s and B of the least F, given Platt's A and B."""
    found = (plain[0], 0.0, SETTINGS.scales[0], plain[1])
    if plain[0] == 0:
        return found
    price, unit = np.log(max(float(w.sum()), 2.0)) / 2, float(np.abs(values).max())
    straight = Likelihood(_rows(values / unit), t, w)
    start = np.array([plain[0] * unit, plain[1]])
    z = start @ straight.X
    best = value = straight.value(z)
    bends = np.arcsinh(np.multiply.outer(SETTINGS.scales, values))
    sizes = np.abs(bends).max(axis=1)
    bends /= sizes[:, None]
    gains = _promised(straight, z, bends)
    for k, (s, size, gain) in enumerate(zip(SETTINGS.scales, sizes.tolist(), gains, strict=True)):
        if value - gain + k * price >= best - SETTINGS.gain:
            continue
        x, least = _with_bend(straight, start, bends[k])
        a, d, b = x.tolist()
        if d < 0 and least + k * price < best:
            found, best = (a / unit, d / size, s, b), least + k * price
    return found


def _promised(straight: Likelihood, z: Floats, bends: Floats) -> list[float]:
    """What a Newton step at Platt's sigmoid promises of each bend, in nats; 0 where D > 0."""
    first, second = straight.derivatives(z)
    X, curved = straight.X, bends * second
    cross = X @ curved.T
    H = (X * second) @ X.T
    np.einsum("ii->i", H)[:] += 1e-12 * float(H.trace()) + np.finfo(float).tiny
    rest = np.sum(cross * np.linalg.solve(H, cross), axis=0)
    curvature = np.maximum(np.sum(curved * bends, axis=1) - rest, np.finfo(float).tiny)
    slope = np.maximum(bends @ first, 0.0)
    gains: list[float] = (slope**2 / (2 * curvature)).tolist()
    return gains


def _with_bend(straight: Likelihood, start: Floats, bend: Floats) -> tuple[Floats, float]:
    """A, D, B of the least F with A <= 0, and F, for one scale; D may be positive."""
    X = straight.X
    free = straight._replace(X=np.stack([X[0], bend, X[1]]))
    alone = straight._replace(X=free.X[1:])
    x, least = free.minimised(np.array([start[0], 0.0, start[1]]), 1)
    if x[0] <= 0:
        x, least = free.minimised(x)
        if x[0] <= 0:
            return x, least
    rest, least = alone.minimised(start)
    z = rest @ alone.X
    if X[0] @ alone.derivatives(z)[0] > 0:  # F falls where A does
        return free.minimised(np.append(0.0, rest))
    return np.append(0.0, rest), least


def joined(functions: Sequence[tuple[float, float, float, float]]) -> Bent:
    """The record of several bent sigmoids."""
    return Bent(*np.array(functions, np.float64).reshape(-1, 4).T.copy())


def plain(values: Floats, a: Floats, b: Floats) -> Floats:
    """1 / (1 + exp(a f + b)), one column for each sigmoid."""
    found: Floats = expit(-(values * a + b))
    return found


def evaluate(bent: Bent, values: Floats) -> Floats:
    """P of decision values, one column for each bent sigmoid."""
    z = values * bent.a + np.arcsinh(values * bent.s) * bent.d + bent.b
    found: Floats = expit(-z)
    return found


def is_consistent(bent: Any, functions: int) -> bool:
    """Whether a record is one of this many bent sigmoids that do not fall."""
    if not isinstance(bent, Bent):
        return False
    good = all(
        isinstance(each, np.ndarray)
        and each.shape == (functions,)
        and each.dtype == np.float64
        and np.isfinite(each).all()
        for each in bent
    )
    return bool(good and (bent.a <= 0).all() and (bent.d <= 0).all() and (bent.s > 0).all())
