"""The minimum of a quadratic over a face of the box: an active-set method with one factor.

With M the free variables and the others fixed, the problem is quadratic in the step d of M:

    minimise 1/2 d' Q d + g' d    subject to  N' d = 0,  d_k = 0 for pinned k

    Q = K[M, M] + diag(ridge),  g the gradient,  N the indicators of the groups whose sums are fixed

With P the inverse of Q on the subspace that the constraints leave, the minimiser is d = -P g. It is
followed up to the first bound it meets, t d with t < 1. That variable k is pinned:

    w = P e_k        P <- P - w w' / w_k        d <- (1 - t) (d - (d_k / w_k) w)

There is no new factor, no new gradient and no system to solve: P = Q^-1 - Z Z', where each
constraint has one column of Z, and w is a column of Q^-1 minus Z times a row of Z. The method ends
where a full step fits, at the minimum of the face.

A factor serves many sets of variables that differ little (bordered.py): variables that join border
it, variables that leave it are pinned from the start.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers, Mask
from maxmargin.core.backend import Backend, Ended, Variables, Walk
from maxmargin.kernel.bordered import BorderedFactor


class Settings(NamedTuple):
    """How faces are minimised (decision 8)."""

    changes: int = 256
    """Variables that may join a factor or be pinned, together, before a new one is made."""
    share: int = 4
    """The same as a share of the free variables: one in so many."""
    columns_ahead: int = 24
    """Columns of Q^-1 computed together: those of the next variables to meet a bound, it seems."""
    shifts: tuple[float, ...] = (1e-13, 1e-12, 1e-11)
    """Shifts of the diagonal, relative to its greatest entry, tried in turn (decision 5)."""
    dependent: float = 1e-14
    """Share of its entry of Q^-1 below which a variable's entry of P is rounding: the other
    constraints fix it."""


SETTINGS = Settings()


class NotConvex(ArithmeticError):
    """Negative curvature was met."""


class Quadratic(NamedTuple):
    """Q = K + diag(ridge) between variables, which have numbers."""

    values: Callable[[Integers, Integers], Floats]
    """K between two sets of variables."""
    ridge: Callable[[Integers], Floats]
    backend: Backend


def factor_for(Q: Quadratic, free: Integers, last: BorderedFactor | None) -> BorderedFactor:
    """A factor with the free variables among its members: the last one, if few changed.

    NotConvex where there is none.
    """
    if last is not None and _joined(Q, free, last):
        return last
    return factorize(Q, free)


def factorize(Q: Quadratic, members: Integers) -> BorderedFactor:
    """A new factor; NotConvex where there is none."""
    xp = Q.backend.xp
    for shift in SETTINGS.shifts:
        matrix = Q.values(members, members)
        diagonal = xp.diagonal(matrix) + Q.ridge(members)
        scale = float(xp.abs(diagonal).max(initial=0.0)) or 1.0
        xp.fill_diagonal(matrix, diagonal + shift * scale)
        L = Q.backend.cholesky(matrix)
        if L is not None:
            return BorderedFactor(members, L, shift * scale, Q.backend)
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
    face: Face, factor: BorderedFactor, stop: Callable[[], bool] = lambda: False
) -> tuple[Floats, bool]:
    """The variables at the minimum, from bound to bound.

    The second result says whether it was reached: it is not if `stop` says so, or after many
    changes of the active set. NotConvex where rounding leaves no digits.
    """
    backend, xp, m = factor.backend, factor.backend.xp, len(face.b)
    pinned = (face.b <= face.lower) | (face.b >= face.upper)
    Z, count = _constraints(face, factor, xp.flatnonzero(pinned))
    # The constraints take up each group's mean and the gradient of what is pinned: without them g
    # is small, and so is the rounding where Q is singular.
    g = _without_means(face, pinned, xp)
    d = Z[:count].T @ (Z[:count] @ g) - factor.solve(g)
    walk = Walk(face.b.copy(), d, face.lower, face.upper, pinned, face.group, face.groups, Z)
    most = SETTINGS.changes + SETTINGS.columns_ahead
    columns, at, made = xp.empty((most, m)), xp.full(m, -1), 0
    while True:
        count, ended = backend.face_steps(walk, count, columns[:made], at, SETTINGS.dependent)
        if ended is not Ended.MISSING or stop():
            return walk.b, ended is Ended.REACHED
        new = _next(walk, at, xp)
        if made + len(new) > most:
            at[:], made = -1, 0
        columns[made : made + len(new)] = factor.columns(new).T
        at[new] = xp.arange(made, made + len(new))
        made += len(new)


def _constraints(face: Face, factor: BorderedFactor, pinned: Integers) -> tuple[Floats, int]:
    """The rows of Z for the sums and the pinned variables, with room for more, and their number."""
    xp = factor.backend.xp
    sums = (face.group == xp.arange(face.groups)[:, None]).astype(np.float64)
    sums = sums[sums.any(axis=1)]
    count = len(sums) + len(pinned)
    Z = xp.empty((count + SETTINGS.changes, len(face.b)))
    if count:
        V = xp.concatenate([factor.solve(sums.T), factor.columns(pinned)], axis=1)
        S = xp.concatenate([sums @ V, V[pinned]])
        try:
            Z[:count] = xp.linalg.solve(xp.linalg.cholesky((S + S.T) / 2), V.T)
        except np.linalg.LinAlgError:
            raise NotConvex from None
    return Z, count


def _next(walk: Walk, at: Integers, xp: Any) -> Integers:
    """The variables that will meet their bounds next, it seems, and whose columns are missing."""
    room = xp.where(walk.d > 0, walk.upper - walk.b, walk.b - walk.lower)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = xp.where((walk.d != 0) & (at < 0), room / xp.abs(walk.d), np.inf)
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
