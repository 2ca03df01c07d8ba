"""Whether a kernel matrix is positive semidefinite, up to the rounding of its entries.

A matrix K of n rows counts as positive semidefinite if K + shift I is, where shift = 1e3 rounding n
max |K| and ``rounding`` is that of the entries' type. Three tests, from sure to cheap:

* Cholesky's factorisation of K + shift I exists exactly in that case, and costs n^3 / 3 operations:
  it decides for up to ``cholesky_rows`` rows;
* every pair of rows must satisfy K_ij^2 <= (K_ii + shift) (K_jj + shift): one look at each entry;
* Lanczos' method bounds the least eigenvalue from above: a bound below -shift refutes K.

The last two can only refute. What they leave open is assumed, and the certificate says so.
"""

from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers
from maxmargin.core.threads import one_blas_thread
from maxmargin.kernel.evaluation import kernel_values
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.workspace import Samples
from maxmargin.status import Convexity


class Settings(NamedTuple):
    """How closely a matrix is checked."""

    cholesky_rows: int = 1024
    """Rows up to which Cholesky's factorisation decides."""
    lanczos_rows: int = 4096
    """Rows, at most, of the part that Lanczos' method looks at."""
    lanczos_steps: int = 24
    """Products with the matrix in Lanczos' method."""
    entries: int = 2**22
    """Entries held at once."""
    rounded: float = 1e-12
    """Relative rounding of kernel values beyond which negative curvature that a solver meets proves
    nothing."""


SETTINGS = Settings()


def convexity_of(X: Samples, coef: Floats, rounding: float, indefinite: bool = False) -> Convexity:
    """What is known about the kernel matrix of samples; support vectors are checked first.

    ``indefinite`` says that a solver met negative curvature.
    """
    kernel = X.kernel
    if kernel.positive_semidefinite:
        return Convexity.PROVED
    if indefinite and rounding <= SETTINGS.rounded:
        return Convexity.INDEFINITE
    n, support = len(coef), np.flatnonzero(coef)
    order = np.argsort(coef == 0, kind="stable")[: SETTINGS.cholesky_rows]
    part = X.pick(order)
    given = kernel.kind is Kind.PRECOMPUTED
    K = part[:, order] if given else kernel_values(kernel, part, part)
    with one_blas_thread():
        if not is_positive_semidefinite(np.asarray(K, dtype=np.float64), rounding):
            return Convexity.INDEFINITE
        if n <= SETTINGS.cholesky_rows:
            return Convexity.CHECKED
        if indefinite or (given and refuted(X.X, support, rounding)):
            return Convexity.INDEFINITE
    return Convexity.ASSUMED if given or kernel.kind is Kind.CALLABLE else Convexity.UNKNOWN


def convexity_on(kernel: Kernel, samples: Any, n: int) -> Convexity:
    """What is known about the kernel matrix of n samples, none of which comes first."""
    if kernel.positive_semidefinite:
        return Convexity.PROVED
    given = samples.dtype if kernel.kind is Kind.PRECOMPUTED else np.float64
    rounding = max(float(np.finfo(np.float64).eps), float(np.finfo(given).eps))
    return convexity_of(Samples(kernel, samples), np.ones(n), rounding)


def _shift(n: int, greatest: float, rounding: float) -> float:
    return 1e3 * rounding * n * greatest + float(np.finfo(float).tiny)


def is_positive_semidefinite(K: Floats, rounding: float = 1e-15) -> bool:
    """Whether a symmetric matrix is positive semidefinite up to rounding of its entries."""
    shift = _shift(len(K), float(np.abs(K).max(initial=0.0)), rounding)
    try:
        np.linalg.cholesky((K + K.T) / 2 + shift * np.eye(len(K)))
    except np.linalg.LinAlgError:
        return False
    return True


def has_bad_pair(K: Floats, rounding: float = 1e-15) -> bool:
    """Whether two rows alone show that K is not positive semidefinite."""
    n = len(K)
    diagonal = np.asarray(np.diagonal(K), dtype=np.float64)
    shift = _shift(n, float(np.abs(diagonal).max(initial=0.0)), rounding)
    limit = np.sqrt(np.maximum(diagonal + shift, 0.0))
    step = max(1, SETTINGS.entries // max(1, n))
    blocks = (slice(i, i + step) for i in range(0, n, step))
    return any(bool((np.abs(K[k]) > limit[k, None] * limit).any()) for k in blocks)


def least_eigenvalue_below(K: Floats, rounding: float = 1e-15) -> bool:
    """Whether Lanczos' method finds an eigenvalue of K that is negative beyond rounding."""
    n = len(K)
    V = np.zeros((min(SETTINGS.lanczos_steps, n) + 1, n))
    start = np.random.default_rng(0).standard_normal(n)
    V[0] = start / np.linalg.norm(start)
    alpha, beta = np.zeros(len(V) - 1), np.zeros(len(V) - 1)
    for k in range(len(V) - 1):
        w = K @ V[k]
        alpha[k] = V[k] @ w
        for _ in range(2):  # orthogonal to all vectors so far: once is not enough in float64
            w -= V[: k + 1].T @ (V[: k + 1] @ w)
        beta[k] = np.linalg.norm(w)
        if beta[k] <= 1e-12 * np.abs(alpha).max():
            alpha, beta = alpha[: k + 1], beta[: k + 1]
            break
        V[k + 1] = w / beta[k]
    T = np.diag(alpha) + np.diag(beta[:-1], 1) + np.diag(beta[:-1], -1)
    return bool(np.linalg.eigvalsh(T)[0] < -_shift(n, float(np.abs(K).max()), rounding))


def refuted(K: Floats, first: Integers, rounding: float) -> bool:
    """Whether a large symmetric matrix is found not to be positive semidefinite.

    ``first`` are the rows that matter most.
    """
    if has_bad_pair(K, rounding):
        return True
    if len(first) <= SETTINGS.cholesky_rows:
        return False
    some = first[: SETTINGS.lanczos_rows]
    return least_eigenvalue_below(np.asarray(K[np.ix_(some, some)], dtype=np.float64), rounding)
