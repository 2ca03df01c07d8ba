"""The quadratic model of a proximal Newton step of lasso.py and its minimiser.

    gradient' (u - u_0) + 1/2 (u - u_0)' H (u - u_0) + penalty' |u|

H = X_J' diag(curvature) X_J with a last row and column for the bias, where J are the samples
outside the tube. A squared loss has constant curvature there, so that H changes by the samples that
enter and leave J. Coordinate descent (core/lasso.h) finds which weights are not 0, a Cholesky
factor of their part of H finds their values.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers, Mask
from maxmargin.core.linear_backend import LinearBackend
from maxmargin.linear.designs import ArrayDesign, Design
from maxmargin.linear.equations import cholesky_solve
from maxmargin.linear.gram import IncrementalGram, with_bias


class Settings(NamedTuple):
    """Settings of the minimiser (decision 15)."""

    rounds: int = 50
    """Rounds of coordinate descent and a Cholesky solve, at most."""
    visits: int = 20
    """Visits of one descent to every weight, at most."""
    accuracy: float = 1e-3
    """The violation that ends the rounds, as a share of the first."""
    ridge: float = 1e-14
    """Added to the diagonal for equal or dependent features, relative to its mean."""
    copy_below: float = 0.7
    """Features in use, as a share of all, below which their columns are copied."""
    rebuild_above: float = 0.5
    """Changed samples, as a share of J, above which H is computed from all of J."""


SETTINGS = Settings()


class Hessian:
    """H of the features in use, updated by the samples that entered or left J."""

    def __init__(self, design: Design, column: float) -> None:
        self.design, self.column = design, column
        self.used: Integers = np.empty(0, np.int64)
        self.gram: IncrementalGram

    def of(self, wanted: Mask, curvature: Floats) -> tuple[Integers, Floats]:
        """The variables that H is for, the bias last, and H."""
        has = np.zeros(len(wanted), bool)
        has[self.used] = True
        features = int(wanted[:-1].sum())
        if not len(self.used) or (wanted & ~has).any() or len(self.used) > 2 * features + 20:
            self._restrict(np.flatnonzero(wanted[:-1]))
        return self.used, self.gram.of(curvature)

    def _restrict(self, features: Integers) -> None:
        """Begin H of these features, or of all if copying saves little."""
        d, part = self.design.shape[1], self.design
        if isinstance(part, ArrayDesign) and len(features) < SETTINGS.copy_below * d:
            part = ArrayDesign(_columns_of(part.X, features))
        else:
            features = np.arange(d)
        self.used = np.append(features, d)
        self.gram = IncrementalGram(with_bias(part, self.column), SETTINGS.rebuild_above)


def _columns_of(X: Floats, kept: Integers) -> Floats:
    """Some columns of an array or a CSR matrix, in the form that a design takes."""
    part = X[:, kept]
    if isinstance(part, np.ndarray):
        return np.ascontiguousarray(part)
    part.sort_indices()
    return part


def minimiser(
    H: Floats, penalty: Floats, u: Floats, gradient: Floats, backend: LinearBackend
) -> Floats:
    """Minimise the model by rounds of coordinate descent and the equations of non-zero weights."""
    u, gradient = u.copy(), gradient.copy()
    violation = np.where(
        u != 0, np.abs(gradient + penalty * np.sign(u)), np.maximum(np.abs(gradient) - penalty, 0.0)
    )
    tol = max(1e-12, SETTINGS.accuracy * float(violation.max(initial=0.0)))
    for _ in range(SETTINGS.rounds):
        if backend.lasso_descent(H, penalty, u, gradient, tol, SETTINGS.visits) <= tol:
            break
        used = np.flatnonzero((u != 0) | ((penalty == 0) & (np.diagonal(H) > 0)))
        if not len(used):
            break
        sign = np.sign(u[used])
        step = cholesky_solve(
            H[np.ix_(used, used)], -(gradient[used] + penalty[used] * sign), SETTINGS.ridge
        )
        crossing = (penalty[used] > 0) & ((u[used] + step) * sign < 0)
        reach = np.divide(-u[used], step, out=np.full(len(used), np.inf), where=crossing)
        length = float(reach.min(initial=1.0))
        moved = np.where(reach > length, u[used] + length * step, 0.0)
        gradient += H[:, used] @ (moved - u[used])
        u[used] = moved
    return u
