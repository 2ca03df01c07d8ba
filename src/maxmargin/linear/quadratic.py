"""The quadratic model of a step of lasso.py and its minimiser.

    slope' (u - u_0) + 1/2 (u - u_0)' H (u - u_0) + price' |u|           H = X_J' diag(curvature) X_J with the bias's row last

J are the samples outside the tube. A squared loss has a constant curvature there: H changes by
the samples that enter and leave J alone. Coordinate descent (core/lasso.h) finds which weights are
not 0, Cholesky's factor of their part of H finds their values.
"""

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.arrays import Floats, Integers
from maxmargin.core.backend import LinearBackend
from maxmargin.linear.designs import ArrayDesign, Design
from maxmargin.linear.equations import cholesky_solve

ROUNDS, VISITS = 50, 20
"""Rounds of descent and equations, at most; visits of a descent to every weight, at most."""
EXACT = 1e-3
"""The model is minimised until its conditions are broken by this share of what they were."""
DEPENDENT = 1e-14
"""What equal or dependent features ask for on the diagonal, relative to its mean."""
FEW = 0.7
"""Features in use, as a share of all, up to which their columns are copied."""


class Hessian:
    """H of the features in use, brought up to date by the samples that entered or left J."""

    def __init__(self, design: Design, column: float) -> None:
        self.design, self.column = design, column
        self.used: Integers = np.empty(0, np.int64)
        self.part: Design
        self.weight: Floats
        self.H: NDArray[np.float64]

    def of(
        self, wanted: NDArray[np.bool_], curvature: Floats
    ) -> tuple[Integers, NDArray[np.float64]]:
        """The variables that H is for, the bias last, and H."""
        has = np.zeros(len(wanted), bool)
        has[self.used] = True
        features, most = int(wanted[:-1].sum()), len(wanted) - 1
        if not len(self.used) or (wanted & ~has).any() or len(self.used) > 2 * features + 20:
            if isinstance(self.design, ArrayDesign) and features < FEW * most:
                kept = np.flatnonzero(wanted[:-1])
                self.part = ArrayDesign(_columns_of(self.design.X, kept))
            else:
                kept, self.part = np.arange(most), self.design
            self.used = np.append(kept, most)
            self.weight, self.H = np.zeros(len(curvature)), np.zeros((len(kept) + 1, len(kept) + 1))
        change = curvature - self.weight
        if 2 * np.count_nonzero(change) > np.count_nonzero(curvature):
            self.H[:] = 0.0
            change = curvature
        for sign in (1.0, -1.0):
            rows = np.flatnonzero(sign * change > 0)
            if len(rows):
                self.H += sign * self._sum(np.abs(change[rows]), rows)
        self.weight = curvature
        return self.used, self.H

    def _sum(self, weight: Floats, rows: Integers) -> NDArray[np.float64]:
        """X' diag(weight) X over some samples, with the bias's row."""
        H = np.zeros_like(self.H)
        if len(H) > 1:
            H[:-1, :-1] = self.part.gram(weight, rows)
            H[:-1, -1] = H[-1, :-1] = self.column * self.part.sum(weight, rows)
        H[-1, -1] = self.column**2 * float(weight.sum())
        return H


def _columns_of(X: NDArray[np.float64], kept: Integers) -> NDArray[np.float64]:
    """Some columns of an array or a CSR matrix, in the form that a design takes."""
    part = X[:, kept]
    if isinstance(part, np.ndarray):
        return np.ascontiguousarray(part)
    part.sort_indices()
    return part


def minimiser(
    H: NDArray[np.float64], price: Floats, u: Floats, slope: Floats, backend: LinearBackend
) -> Floats:
    """Minimise the model.

    Rounds of coordinate descent, then the equations of the weights that are not 0, and again.
    """
    u, slope = u.copy(), slope.copy()
    broken = np.where(
        u != 0, np.abs(slope + price * np.sign(u)), np.maximum(np.abs(slope) - price, 0.0)
    )
    tol = max(1e-12, EXACT * float(broken.max(initial=0.0)))
    for _ in range(ROUNDS):
        if backend.lasso_descent(H, price, u, slope, tol, VISITS) <= tol:
            break
        used = np.flatnonzero((u != 0) | ((price == 0) & (np.diagonal(H) > 0)))
        if not len(used):
            break
        sign = np.sign(u[used])
        step = cholesky_solve(H[np.ix_(used, used)], -(slope[used] + price[used] * sign), DEPENDENT)
        crossing = (price[used] > 0) & ((u[used] + step) * sign < 0)
        reach = np.divide(-u[used], step, out=np.full(len(used), np.inf), where=crossing)
        length = float(reach.min(initial=1.0))
        moved = np.where(reach > length, u[used] + length * step, 0.0)
        slope += H[:, used] @ (moved - u[used])
        u[used] = moved
    return u
