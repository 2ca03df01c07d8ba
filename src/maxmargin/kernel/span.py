"""Decision values of samples left out one at a time, in closed form.

Let b be the coefficients of a decision function and M its active samples, which stay where they
are relative to the margin when x_i is left out. Then the value there becomes

    f^i(x_i) = f(x_i) - b_i S_i^2

With L L' = K[M, M] + diag(r), u = L^-1 1 and s = u'u

    z = L^-1 k(M, x_i)     S_i^2 = k(x_i, x_i) - z'z + (u'z - 1)^2 / s       if x_i is not active
    z = L^-1 e_i           S_i^2 = 1 / (z'z - (u'z)^2 / s) - r_i             if x_i is active

* A **squared loss** has r_i = 1 / (2 C_i) and M all support vectors.
* The **hinge** has a kink. With r = 0 and M the free support vectors, S_i is the distance of
  phi(x_i) from the affine hull of the others (Vapnik and Chapelle 2000). But samples near the
  margin move onto and off it, and in few dimensions the formula fails: without one of d + 1 free
  support vectors nothing holds f. So the kink is rounded over a width h: the samples whose margin
  y f is within h of 1 are active too, and each has the curvature C_i / (2 h), r_i = 2 h / C_i. The
  width is that of the nearest few, so that it falls with the number of samples.

A sample that is no support vector is left out for nothing.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from maxmargin.core.arrays import Floats, Integers, Mask
from maxmargin.core.threads import one_blas_thread
from maxmargin.kernel.sources import Source


class Settings(NamedTuple):
    """How wide the hinge is rounded and how systems are solved (decision 22)."""

    shift: float = 1e-12
    """Share of the mean diagonal that keeps the matrix of the active samples regular."""
    nearest: int = 32
    """Samples within the width of a rounded hinge, beside the free ones, unless it is the
    widest."""
    widest: float = 0.25
    """The greatest width."""
    entries: int = 2**22
    """Kernel values of one piece of right-hand sides."""


SETTINGS = Settings()


class Function(NamedTuple):
    """The kernel part of a decision function on its training samples."""

    coef: Floats
    active: Mask
    ridge: Floats
    """r of the active samples, 0 elsewhere."""


def rounded(coef: Floats, free: Mask, margin: Floats, bounds: Floats) -> Function:
    """The function of a hinge whose kink is rounded; the margins are y f, the bounds C_i."""
    near = np.where(free, np.inf, np.abs(margin - 1))
    width = SETTINGS.widest
    if len(near) > SETTINGS.nearest:
        width = min(width, float(np.partition(near, SETTINGS.nearest)[SETTINGS.nearest]))
    active = free | (near <= width)
    ridge = np.divide(2 * width, bounds, out=np.zeros(len(coef)), where=active)
    return Function(coef, active, ridge)


def shifts(source: Source, function: Function, wanted: Integers) -> Floats | None:
    """f^i(x_i) - f(x_i) of some samples; infinite where no other is active.

    None where the matrix of the active samples is not positive definite.
    """
    coef, active, ridge = function
    inside, found = np.flatnonzero(active), np.zeros(len(wanted))
    own = np.flatnonzero(coef[wanted])
    with one_blas_thread():
        L, u = _factor(source, inside, ridge[inside]), np.ones(len(inside))
        if L is None:
            return None
        if len(inside):  # LAPACK has no empty systems
            u = lapack.dtrtrs(L, u, lower=1)[0].ravel()
        at_bound = own[~active[wanted[own]]]
        step = max(1, SETTINGS.entries // max(1, len(inside)))
        for k in range(0, len(at_bound), step):
            some = at_bound[k : k + step]
            found[some] = _outside(source, L, u, inside, wanted[some])
        at = own[active[wanted[own]]]
        for k in range(0, len(at), step):
            some = at[k : k + step]
            found[some] = _inside(L, u, np.searchsorted(inside, wanted[some]))
    found *= -coef[wanted]
    found[own] += (ridge * coef)[wanted[own]]
    return found


def _factor(source: Source, inside: Integers, ridge: Floats) -> Floats | None:
    """L; None where there is none."""
    if len(inside) == 0:
        return np.empty((0, 0), order="F")
    Q = source.backend.to_host(source.block(inside, inside, np.float64))
    Q = Q.copy()  # it may be kept
    diagonal = np.einsum("ii->i", Q)
    diagonal += ridge + SETTINGS.shift * np.abs(diagonal).mean()
    return source.backend.cholesky(Q)


def _outside(source: Source, L: Floats, u: Floats, inside: Integers, some: Integers) -> Floats:
    """S^2 of support vectors that are not active."""
    if not len(inside):
        return np.full(len(some), np.inf)
    K = source.backend.to_host(source.block(some, inside, np.float64))
    z = lapack.dtrtrs(L, K.T, lower=1)[0]
    squares: Floats = (
        source.diagonal(some) - np.einsum("ij,ij->j", z, z) + (u @ z - 1) ** 2 / (u @ u)
    )
    return np.maximum(squares, 0.0)


def _inside(L: Floats, u: Floats, position: Integers) -> Floats:
    """S^2 + r of active samples."""
    if len(L) == 1:
        return np.full(len(position), np.inf)
    right = np.zeros((len(L), len(position)), order="F")
    right[position, np.arange(len(position))] = 1.0
    z = lapack.dtrtrs(L, right, lower=1, overwrite_b=1)[0]
    inverse: Floats = np.einsum("ij,ij->j", z, z) - (u @ z) ** 2 / (u @ u)
    return 1 / np.maximum(inverse, np.finfo(float).tiny)
