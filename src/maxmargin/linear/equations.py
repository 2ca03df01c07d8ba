"""Linear equations of the linear solvers, A x = right with a positive (semi)definite A.

By its factor, or by products with it.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from maxmargin.core.arrays import Floats
from maxmargin.monitor import Monitor


def cholesky_solve(A: Floats, right: Floats, more: float = 0.0) -> Floats:
    """A^-1 right by Cholesky's factor.

    ``more`` times the mean of the diagonal is added to it, and ever more where rounding asks for
    it.
    """
    mean = float(np.trace(A)) / len(A)
    while np.isfinite(mean) and more < 1:
        try:
            factor = cho_factor(A + more * mean * np.eye(len(A)) if more else A, check_finite=False)
        except np.linalg.LinAlgError:
            more = max(10 * more, 1e-14)
            continue
        found: Floats = cho_solve(factor, right, check_finite=False)
        return found
    return np.zeros_like(
        right
        # A is far from definite, or not finite: no step, and the caller sees that it makes no progress
    )


def conjugate_gradients(
    product: Callable[[Floats], Floats],
    right: Floats,
    scale: Floats,
    accuracy: float,
    most: int,
    monitor: Monitor,
) -> Floats:
    """x by conjugate gradients on scale A scale, until the squared residual is so much smaller, at
    most so many products.
    """
    residual = scale * right
    x, p, size = np.zeros(len(residual)), residual.copy(), float(residual @ residual)
    goal = accuracy * size
    for _ in range(most):
        if size <= goal or monitor.stop(0) is not None:
            break
        q = scale * product(scale * p)
        bend = float(p @ q)
        if not bend > 0:  # A is singular, and rounding is left
            break
        step = size / bend
        x += step * p
        residual -= step * q
        before, size = size, float(residual @ residual)
        p = residual + (size / before) * p
    found: Floats = scale * x
    return found
