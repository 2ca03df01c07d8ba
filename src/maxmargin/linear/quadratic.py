"""The quadratic model of a step of lasso.py and its minimiser.

    slope' (u - u_0) + 1/2 (u - u_0)' H (u - u_0) + price' |u|           H = X_J' diag(curvature) X_J with the bias's row last

J are the samples outside the tube. A squared loss has a constant curvature there: H changes by
the samples that enter and leave J alone. Coordinate descent (core/lasso.h) finds which weights are
not 0, Cholesky's factor of their part of H finds their values.
"""

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.arrays import Floats, Integers
from maxmargin.core.linear_backend import LinearBackend
from maxmargin.linear.designs import ArrayDesign, Design
from maxmargin.linear.equations import cholesky_solve
from maxmargin.linear.gram import IncrementalGram, with_bias

ROUNDS, VISITS = 50, 20
"""Rounds of descent and equations, at most; visits of a descent to every weight, at most."""
EXACT = 1e-3
"""The model is minimised until its conditions are broken by this share of what they were."""
DEPENDENT = 1e-14
"""What equal or dependent features ask for on the diagonal, relative to its mean."""
REBUILT = 0.5
"""Changed samples, as a share of J, above which H is computed from all of J."""
FEW = 0.7
"""Features in use, as a share of all, up to which their columns are copied."""


class Hessian:
    """H of the features in use, updated by the samples that entered or left J."""

    def __init__(self, design: Design, column: float) -> None:
        self.design, self.column = design, column
        self.used: Integers = np.empty(0, np.int64)
        self.gram: IncrementalGram

    def of(
        self, wanted: NDArray[np.bool_], curvature: Floats
    ) -> tuple[Integers, NDArray[np.float64]]:
        """The variables that H is for, the bias last, and H."""
        has = np.zeros(len(wanted), bool)
        has[self.used] = True
        features = int(wanted[:-1].sum())
        if not len(self.used) or (wanted & ~has).any() or len(self.used) > 2 * features + 20:
            self._restrict(np.flatnonzero(wanted[:-1]))
        return self.used, self.gram.of(curvature)

    def _restrict(self, features: Integers) -> None:
        """Begin H of these features, or of all where that saves little."""
        d, part = self.design.shape[1], self.design
        if isinstance(part, ArrayDesign) and len(features) < FEW * d:
            part = ArrayDesign(_columns_of(part.X, features))
        else:
            features = np.arange(d)
        self.used = np.append(features, d)
        self.gram = IncrementalGram(with_bias(part, self.column), REBUILT)


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
