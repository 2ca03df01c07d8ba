"""Linear systems A x = right of the linear solvers, A positive (semi)definite.

They are solved by a Cholesky factor of A, or by conjugate gradients with products with A.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from maxmargin.core.arrays import Floats
from maxmargin.monitor import Monitor


def cholesky_solve(A: Floats, right: Floats, ridge: float = 0.0) -> Floats:
    """Solve A x = right by a Cholesky factor.

    ``ridge`` times the mean of the diagonal is added to the diagonal, and ten times more at each
    attempt until the factor exists.
    """
    mean = float(np.trace(A)) / len(A)
    while np.isfinite(mean) and ridge < 1:
        try:
            factor = cho_factor(
                A + ridge * mean * np.eye(len(A)) if ridge else A, check_finite=False
            )
        except np.linalg.LinAlgError:
            ridge = max(10 * ridge, 1e-14)
            continue
        found: Floats = cho_solve(factor, right, check_finite=False)
        return found
    # A is far from definite, or not finite: no step, and the caller sees that it made no progress.
    return np.zeros_like(right)


def conjugate_gradients(
    product: Callable[[Floats], Floats],
    right: Floats,
    scale: Floats,
    accuracy: float,
    most: int,
    monitor: Monitor,
) -> Floats:
    """Solve A x = right by conjugate gradients on scale A scale.

    They end when the squared residual is ``accuracy`` times the first one, or after ``most``
    products.
    """
    residual = scale * right
    x, p, size = np.zeros(len(residual)), residual.copy(), float(residual @ residual)
    goal = accuracy * size
    for _ in range(most):
        if size <= goal or monitor.stop(0) is not None:
            break
        q = scale * product(scale * p)
        curvature = float(p @ q)
        if not curvature > 0:  # A is singular, and rounding is left
            break
        step = size / curvature
        x += step * p
        residual -= step * q
        before, size = size, float(residual @ residual)
        p = residual + (size / before) * p
    found: Floats = scale * x
    return found
