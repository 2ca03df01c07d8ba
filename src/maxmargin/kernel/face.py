"""The minimum of a quadratic over a face of the box: an active-set method with one factor.

With M the free variables and the others fixed, the problem is quadratic in the step d of M:

    minimise 1/2 d' Q d + g' d    subject to  N' d = 0,  d_k = 0 for pinned k

    Q = K[M, M] + diag(ridge),  g the gradient,  N the indicators of the groups whose sums are fixed

A pinned variable is a column of N, too, a unit vector. With u = Q^-1 g, V = Q^-1 N and the Cholesky
factor R R' = N' V the minimiser is

    d = Z' x - u        Z = R^-1 V',  R x = N' u

It is followed up to the first bound it meets, t d with t < 1. That variable k is pinned: the new
rows of Z and R follow from its column of Q^-1,

    w = Q^-1 e_k - Z' Z e_k        Z <- (Z; w' / sqrt(w_k))        R <- (R; (Z e_k)', sqrt(w_k))

and u + t d takes the place of u. There is no new factor and no new gradient. The method ends where
a full step fits, at the minimum of the face.

A factor serves many sets of variables that differ little (bordered.py): variables that join border
it, variables that leave it are pinned from the start.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

import numpy as np

from maxmargin.core.arrays import Floats, Integers, Mask
from maxmargin.core.backend import Backend, Variables
from maxmargin.core.factor_backend import Ended, Walk
from maxmargin.kernel.bordered import BorderedFactor


class Settings(NamedTuple):
    """How faces are minimised (decision 8)."""

    changes: int = 256
    """Variables that may join a factor or be pinned, together, before a new one is made."""
    share: int = 4
    """The same as a share of the free variables: one of this number."""
    columns_ahead: int = 24
    """Columns of Q^-1 computed together: those of the next variables to meet a bound, it seems."""
    shifts: tuple[float, ...] = (1e-13, 1e-12, 1e-11)
    """Shifts of the diagonal, relative to its greatest entry, tried in turn (decision 5)."""
    dependent: float = 1e-14
    """Share of its entry of Q^-1 below which w_k is rounding: the other constraints fix the
    variable."""


SETTINGS = Settings()
Result = TypeVar("Result")


class NotConvex(ArithmeticError):
    """Negative curvature was met."""


class Spoiled(ArithmeticError):
    """Rounding leaves no way down: Q is nearly singular."""


class Quadratic(NamedTuple):
    """Q = K + diag(ridge) between variables, which have numbers."""

    values: Callable[..., Floats]
    """K between two sets of variables, in the memory of a third argument if it is given."""
    ridge: Callable[[Integers], Floats]
    backend: Backend


def with_factor(
    Q: Quadratic,
    free: Integers,
    last: BorderedFactor | None,
    use: Callable[[BorderedFactor, int], Result],
) -> tuple[BorderedFactor, Result]:
    """A factor for the free variables, and the result of its use with as many pins as may be.

    Where rounding spoils that, the use is repeated with a factor of these variables alone, and then
    up to the first bound: it needs no column of a nearly singular Q^-1.
    """
    factor = factor_for(Q, free, last)
    if factor is last:
        with suppress(Spoiled):
            return factor, use(factor, SETTINGS.changes)
        factor = factorize(Q, free)
    with suppress(Spoiled):
        return factor, use(factor, SETTINGS.changes)
    return factor, use(factor, 0)


def factor_for(Q: Quadratic, free: Integers, last: BorderedFactor | None) -> BorderedFactor:
    """A factor with the free variables among its members: the last one, if few changed.

    NotConvex where there is none.
    """
    if last is not None and _joined(Q, free, last):
        return last
    return factorize(Q, free)


def factorize(Q: Quadratic, members: Integers) -> BorderedFactor:
    """A new factor; NotConvex where there is none."""
    return BorderedFactor(members, *cholesky(Q, members), Q.backend)


def cholesky(Q: Quadratic, members: Integers, out: Floats | None = None) -> tuple[Floats, float]:
    """The lower factor of Q on some variables, and by how much its diagonal had to be shifted.

    It lies in the memory of `out`, if that is given. NotConvex where there is none.
    """
    xp = Q.backend.xp
    for shift in SETTINGS.shifts:
        matrix = Q.values(members, members, out)
        diagonal = xp.diagonal(matrix) + Q.ridge(members)
        scale = float(xp.abs(diagonal).max(initial=0.0)) or 1.0
        xp.fill_diagonal(matrix, diagonal + shift * scale)
        L = Q.backend.cholesky(matrix)
        if L is not None:
            return L, shift * scale
    raise NotConvex


def _joined(Q: Quadratic, free: Integers, factor: BorderedFactor) -> bool:
    """Let the free variables join a factor; False if too many changed or rounding forbids it."""
    xp = Q.backend.xp
    new = free[~xp.isin(free, factor.members, assume_unique=True)]
    most = min(SETTINGS.changes, len(free) // SETTINGS.share)
    if factor.changes(len(free) - len(new), len(new)) > most:
        return False
    if not len(new):
        return True
    last = xp.concatenate([factor.members[factor.base :], new])
    right = Q.values(factor.members[: factor.base], new)
    return factor.join(new, right, Q.values(last, last), Q.ridge(last))


class Face(NamedTuple):
    """The members of a factor as the variables of a quadratic."""

    b: Floats
    lower: Floats
    upper: Floats
    g: Floats
    group: Integers
    """The group of each variable; -1 where the sum is not fixed."""
    groups: int

    @classmethod
    def of(cls, variables: Variables, at: Integers, xp: Any) -> "Face":
        """Some of the variables of a problem."""
        G, b, lower, upper, _, begin, fixed = variables
        group = xp.searchsorted(xp.asarray(begin), at, side="right") - 1
        group = xp.where(xp.asarray(fixed)[group], group, -1)
        return cls(b[at], lower[at], upper[at], G[at], group, len(fixed))


def minimise(
    face: Face, factor: BorderedFactor, most: int, stop: Callable[[], bool] = lambda: False
) -> tuple[Floats, bool]:
    """The variables at the minimum, from bound to bound.

    The second result says whether it was reached: it is not if `stop` says so, or after more pins
    than `most`. Spoiled where rounding leaves no digits.
    """
    backend, xp, m = factor.backend, factor.backend.xp, len(face.b)
    pinned = (face.b <= face.lower) | (face.b >= face.upper)
    Z, R, constraint, count = _constraints(face, factor, xp.flatnonzero(pinned), most)
    # The constraints take up each group's mean and the gradient of what is pinned: without them g
    # is small, and so is the rounding where Q is singular.
    u = factor.solve(_without_means(face, pinned, xp))
    walk = Walk(
        face.b.copy(),
        u,
        xp.empty(m),
        face.lower,
        face.upper,
        pinned,
        face.group,
        face.groups,
        Z,
        R,
        constraint,
    )
    room = most + SETTINGS.columns_ahead
    columns, at, made = xp.empty((room, m)), xp.full(m, -1), 0
    while True:
        count, ended = backend.face_steps(walk, count, columns[:made], at, SETTINGS.dependent)
        if ended is not Ended.MISSING or stop():
            return walk.b, ended is Ended.REACHED
        new = _next(walk, at, xp)
        if made + len(new) > room:
            at[:], made = -1, 0
        columns[made : made + len(new)] = factor.columns(new).T
        at[new] = xp.arange(made, made + len(new))
        made += len(new)


def _constraints(
    face: Face, factor: BorderedFactor, pinned: Integers, more: int
) -> tuple[Floats, Floats, Integers, int]:
    """Z, R and the meaning of their rows for the sums and the pinned variables, with room for more
    rows, and how many there are.
    """
    xp = factor.backend.xp
    groups = xp.unique(face.group[face.group >= 0])
    sums = (face.group == groups[:, None]).astype(np.float64)
    constraint = xp.concatenate([-1 - groups, pinned, xp.zeros(more, np.int64)])
    count = len(constraint) - more
    Z, R = xp.empty((count + more, len(face.b))), xp.zeros((count + more, count + more))
    if count:
        V = xp.concatenate([factor.solve(sums.T), factor.columns(pinned)], axis=1)
        S = xp.concatenate([sums @ V, V[pinned]])
        try:
            R[:count, :count] = xp.linalg.cholesky((S + S.T) / 2)
            Z[:count] = xp.linalg.solve(R[:count, :count], V.T)
        except np.linalg.LinAlgError:
            raise Spoiled from None
    return Z, R, constraint, count


def _next(walk: Walk, at: Integers, xp: Any) -> Integers:
    """The variables that will meet their bounds next, it seems, and whose columns are missing."""
    d = walk.d
    room = xp.where(d > 0, walk.upper - walk.b, walk.b - walk.lower)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = xp.where((d != 0) & (at < 0), room / xp.abs(d), np.inf)
    some = min(SETTINGS.columns_ahead, int(xp.isfinite(reach).sum()))
    found: Integers = xp.sort(xp.argpartition(reach, some - 1)[:some])
    return found


def _without_means(face: Face, pinned: Mask, xp: Any) -> Floats:
    """The gradient with 0 for what is pinned and without each group's mean."""
    g: Floats = xp.where(pinned, 0.0, face.g)
    for k in range(face.groups):
        own = (face.group == k) & ~pinned
        g[own] -= g[own].sum() / max(1, int(xp.count_nonzero(own)))
    return g
