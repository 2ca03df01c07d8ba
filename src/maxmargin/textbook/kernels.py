"""The lectures' kernels as functions of two sets of points; each returns the matrix of k(x, z).

``fan`` (47) to (49) write them with a width sigma,
``theory`` (26) with gamma = 1 / (2 sigma^2):

    linear       x'z
    polynomial   (1 + x'z / sigma^2)^p
    rbf          exp(-|x - z|^2 / (2 sigma^2)) = exp(-gamma |x - z|^2)
    sigmoid      1 / (1 + exp(-(x'z + b) / sigma^2))

The sigmoid is not a kernel in Mercer's sense: its matrix can have negative eigenvalues. The dual is
then not concave, and the algorithms, which all rely on that, may not find an optimum.
"""

from collections.abc import Callable

import numpy as np

from maxmargin.textbook.checks import Array

Function = Callable[[Array, Array], Array]
"""A kernel: two sets of points in, the matrix of all pairs out."""


def linear(X: Array, Z: Array) -> Array:
    """x'z.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.textbook import kernels
    >>> X, Z = np.array([[0.0], [1.0]]), np.array([[2.0]])
    >>> kernels.linear(X, Z)
    array([[0.],
           [2.]])
    """
    return np.asarray(X @ Z.T)


def polynomial(degree: int = 2, sigma: float = 1.0) -> Function:
    """(1 + x'z / sigma^2)^degree.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.textbook import kernels
    >>> X, Z = np.array([[0.0], [1.0]]), np.array([[2.0]])
    >>> kernels.polynomial(degree=2)(X, Z)
    array([[1.],
           [9.]])
    """
    return lambda X, Z: np.asarray((1.0 + X @ Z.T / sigma**2) ** degree)


def rbf(gamma: float | None = None, *, sigma: float | None = None) -> Function:
    """exp(-gamma |x - z|^2); give gamma, or sigma with gamma = 1 / (2 sigma^2).

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.textbook import kernels
    >>> X, Z = np.array([[0.0], [1.0]]), np.array([[2.0]])
    >>> kernels.rbf(gamma=0.5)(X, Z).round(4)
    array([[0.1353],
           [0.6065]])
    """
    if (gamma is not None and not gamma > 0) or (sigma is not None and not sigma > 0):
        raise ValueError(f"gamma={gamma}, sigma={sigma}: the one given must be above 0.")
    if (gamma is None) == (sigma is None):
        raise ValueError("Give either gamma or sigma (gamma = 1 / (2 sigma^2)).")
    rate = float(gamma if gamma is not None else 1.0 / (2.0 * float(sigma or np.nan) ** 2))
    return lambda X, Z: np.asarray(np.exp(-rate * squared_distances(X, Z)))


def sigmoid(b: float = 0.0, sigma: float = 1.0) -> Function:
    """1 / (1 + exp(-(x'z + b) / sigma^2)), as in the lecture.

    Other libraries call tanh(gamma x'z + coef0) the sigmoid kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.textbook import kernels
    >>> X, Z = np.array([[0.0], [1.0]]), np.array([[2.0]])
    >>> kernels.sigmoid()(X, Z).round(4)
    array([[0.5   ],
           [0.8808]])
    """
    return lambda X, Z: np.asarray(1.0 / (1.0 + np.exp(-(X @ Z.T + b) / sigma**2)))


def gram(kernel: Function, X: Array) -> Array:
    """The matrix of a kernel between all points, or an error that says what a kernel is.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.textbook import kernels
    >>> kernels.gram(kernels.linear, np.array([[0.0], [1.0]]))
    array([[0., 0.],
           [0., 1.]])
    """
    if not callable(kernel):
        raise TypeError(
            f"kernel={kernel!r} is not a function of two sets of points: give for example "
            "textbook.kernels.rbf(1.0)."
        )
    try:
        K = np.asarray(kernel(X, X), float)
    except TypeError as error:
        raise TypeError(
            f"kernel(X, X) failed ({error}): textbook.kernels.rbf(1.0) is a kernel, "
            "textbook.kernels.rbf makes one."
        ) from error
    if K.shape != (len(X), len(X)) or not np.isfinite(K).all():
        raise ValueError(
            f"kernel(X, X) must be a finite matrix of shape {(len(X), len(X))}, got shape "
            f"{K.shape}."
        )
    return K


def squared_distances(X: Array, Z: Array) -> Array:
    """|x - z|^2 of all pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.textbook import kernels
    >>> X, Z = np.array([[0.0], [1.0]]), np.array([[2.0]])
    >>> kernels.squared_distances(X, Z)
    array([[4.],
           [1.]])
    """
    return np.asarray(np.maximum(np.sum(X * X, 1)[:, None] + np.sum(Z * Z, 1) - 2.0 * X @ Z.T, 0.0))
