"""Whether a kernel matrix is positive semidefinite, up to the rounding of its entries.

Three tests, from sure to cheap. A matrix K of n rows counts as positive semidefinite if K + shift I
is, shift = 1e3 rounding n max |K|, where ``rounding`` is that of the entries' type.

* Cholesky's factor of K + shift I exists exactly if that is so, and costs n^3 / 3: up to ``WHOLE`` rows;
* every pair of rows must satisfy K_ij^2 <= (K_ii + shift) (K_jj + shift): one look at each entry;
* Lanczos' method bounds the least eigenvalue from above: a bound below -shift refutes K.

The last two can only refute. What they leave open is assumed, and the certificate says so.
"""

import numpy as np
from numpy.typing import NDArray

WHOLE = 1024
"""Rows up to which Cholesky's factor decides."""
MOST = 4096
"""Rows, at most, that Lanczos' method looks at."""
STEPS = 24
"""Products with the matrix in Lanczos' method."""
BLOCK = 2**22
"""Entries looked at at once."""

Matrix = NDArray[np.float64]


def _shift(n: int, greatest: float, rounding: float) -> float:
    return 1e3 * rounding * n * greatest + float(np.finfo(float).tiny)


def is_positive_semidefinite(K: Matrix, rounding: float = 1e-15) -> bool:
    """Whether a symmetric matrix is positive semidefinite up to rounding of its entries."""
    shift = _shift(len(K), float(np.abs(K).max(initial=0.0)), rounding)
    try:
        np.linalg.cholesky((K + K.T) / 2 + shift * np.eye(len(K)))
    except np.linalg.LinAlgError:
        return False
    return True


def has_bad_pair(K: Matrix, rounding: float = 1e-15) -> bool:
    """Whether two rows alone show that K is not positive semidefinite."""
    n = len(K)
    diagonal = np.asarray(np.diagonal(K), dtype=np.float64)
    shift = _shift(n, float(np.abs(diagonal).max(initial=0.0)), rounding)
    limit = np.sqrt(np.maximum(diagonal + shift, 0.0))
    step = max(1, BLOCK // max(1, n))
    blocks = (slice(i, i + step) for i in range(0, n, step))
    return any(bool((np.abs(K[k]) > limit[k, None] * limit).any()) for k in blocks)


def least_eigenvalue_below(K: Matrix, rounding: float = 1e-15) -> bool:
    """Whether Lanczos' method finds an eigenvalue of K that is negative beyond rounding."""
    n = len(K)
    V = np.zeros((min(STEPS, n) + 1, n))
    start = np.random.default_rng(0).standard_normal(n)
    V[0] = start / np.linalg.norm(start)
    alpha, beta = np.zeros(len(V) - 1), np.zeros(len(V) - 1)
    for k in range(len(V) - 1):
        w = K @ V[k]
        alpha[k] = V[k] @ w
        for _ in range(
            2
        ):  # orthogonal to all vectors so far, twice: once is not enough in floating point
            w -= V[: k + 1].T @ (V[: k + 1] @ w)
        beta[k] = np.linalg.norm(w)
        if beta[k] <= 1e-12 * np.abs(alpha).max():
            alpha, beta = alpha[: k + 1], beta[: k + 1]
            break
        V[k + 1] = w / beta[k]
    T = np.diag(alpha) + np.diag(beta[:-1], 1) + np.diag(beta[:-1], -1)
    return bool(np.linalg.eigvalsh(T)[0] < -_shift(n, float(np.abs(K).max()), rounding))


def refuted(K: Matrix, first: NDArray[np.int64], rounding: float) -> bool:
    """Whether a large symmetric matrix is seen not to be positive semidefinite.

    ``first`` are the rows that matter most.
    """
    if has_bad_pair(K, rounding):
        return True
    if len(first) <= WHOLE:
        return False
    some = first[:MOST]
    return least_eigenvalue_below(np.asarray(K[np.ix_(some, some)], dtype=np.float64), rounding)
