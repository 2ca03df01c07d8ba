"""The linear systems of least squares machines, and their factors.

Coefficients that sum to 0 do not see a constant in feature space, so K may be centred: Kc =
(I - 1p') K (I - p1') with p = C / sum(C), where C_i = C weight_i. With s = sqrt(2 C) as a diagonal
matrix S, targets z have the coefficients

    b = P z        P = S (A^-1 - s s' / s's) S,    A = I + S Kc S,    A s = s

A has no eigenvalue below 1, whatever C is, and serves all targets. Where the kernel is linear and
there are fewer features than samples, with X centred and T = S X,

    A^-1 = I - T (I + T'T)^-1 T'

needs a factor with a row for each feature. For many C the eigenvectors V of S Kc S at C = 1
suffice: A^-1 = V (I + C eigenvalues)^-1 V'.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from maxmargin.core.arrays import Floats
from maxmargin.core.lapack import cholesky, cholesky_solve, inverse_diagonal
from maxmargin.core.threads import thread_count
from maxmargin.kernel.cache import free_memory
from maxmargin.kernel.kernels import Kind
from maxmargin.kernel.sources import Source
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.linear.designs import ArrayDesign
from maxmargin.monitor import Monitor, interruptible
from maxmargin.status import Status


class Settings(NamedTuple):
    """How much is in memory at a time."""

    entries: int = 2**22
    """Values of the data."""
    matrices: int = 4
    """Matrices of n rows and columns that an eigendecomposition holds."""


SETTINGS = Settings()
GIB = 2**30


class System(NamedTuple):
    """The inverse of A, and what else the equations are made of."""

    C: Floats
    inverse: Callable[[Floats], Floats]
    """A^-1 V for several columns V."""
    diagonal: Floats
    """That of A^-1."""
    product: Callable[[Floats], Floats]
    """K B for several columns B."""
    definite: bool = True
    """Whether A was found positive definite, as it is for every kernel."""

    @property
    def rest(self) -> Floats:
        """1 - h_i with the leverages h_i: P_ii / (2 C_i)."""
        found: Floats = self.diagonal - self.C / self.C.sum()
        return found

    def apply(self, R: Floats) -> Floats:
        """P R, whose columns sum to 0."""
        s, p = np.sqrt(2 * self.C)[:, None], (self.C / self.C.sum())[:, None]
        R = R - (p * R).sum(axis=0)  # orthogonal to s once it is scaled: A^-1 keeps that
        B = s * self.inverse(s * R)
        B -= p * B.sum(axis=0)
        return B


def refuse_size(n: int, matrices: int = 1) -> None:
    """Raise MemoryError where matrices of n rows and columns do not fit."""
    needed, free = 8 * n * n * matrices, free_memory()
    if needed > free:
        raise MemoryError(
            f"A least squares machine of {n:,} samples needs {needed / GIB:.1f} GiB for its matrix "
            f"(n_samples^2 numbers), and {free / GIB:.1f} GiB are free. kernel='linear' with fewer "
            "features than samples needs n_features^2 numbers alone. SVR(loss="
            "'squared_epsilon_insensitive', epsilon=0) solves the same problem without the matrix, "
            "and SVC(loss='squared_hinge') is its counterpart for labels. Or use fewer samples."
        )


def is_primal(workspace: KernelWorkspace) -> bool:
    """Whether the matrix has a row for each feature: a linear kernel with fewer features."""
    samples = workspace.samples
    return samples.kernel.kind is Kind.LINEAR and samples.X.shape[1] < workspace.source.n_rows


def centred(source: Source, C: Floats) -> Callable[[slice, slice], Floats]:
    """Values of S Kc S, for rows and columns."""
    p, s = C / C.sum(), np.sqrt(2 * C)
    mean = source.product(None, p)
    shift = mean - 0.5 * float(p @ mean)

    def values(rows: slice, columns: slice) -> Floats:
        a, b = np.arange(len(C))[rows], np.arange(len(C))[columns]
        found = np.array(source.block(a, b, np.float64))
        found -= shift[rows, None]
        found -= shift[columns]
        found *= s[rows, None]
        found *= s[columns]
        return found

    return values


def products(source: Source) -> Callable[[Floats], Floats]:
    """B -> K B."""

    def product(B: Floats) -> Floats:
        out = np.zeros((B.shape[1], source.n_rows))
        source.add_product(None, np.ascontiguousarray(B), None, out, np.float64)
        return np.ascontiguousarray(out.T)

    return product


def system_of(workspace: KernelWorkspace, C: Floats) -> System:
    """The system of the samples of a workspace with weights C_i of their losses."""
    if is_primal(workspace):
        return primal_system(workspace.samples.own, C)
    source, monitor, n = workspace.source, workspace.monitor, len(C)
    refuse_size(n)
    values = centred(source, C)
    monitor.say(f"factorising {n:,} x {n:,}")
    factor = source.backend.cholesky_of_values(values, np.ones(n), lambda: _pause(monitor))
    if factor is None:  # the kernel is not positive semidefinite
        return Spectrum.of(workspace, C).at(1.0)
    monitor.say("leave-one-out")
    diagonal = interruptible(inverse_diagonal, factor, thread_count(float(n) ** 3))
    return System(C, lambda V: cholesky_solve(factor, V), diagonal, products(source))


class Features(NamedTuple):
    """Samples of a linear kernel: arrays are centred, sparse data are left as they are."""

    design: ArrayDesign
    centre: Floats
    """What was subtracted."""
    mean: Floats
    """The mean of what is left, which is subtracted where it is used."""

    @classmethod
    def of(cls, X: Any, C: Floats) -> "Features":
        """Samples whose mean is that of the weights C."""
        design = ArrayDesign(X.astype(np.float64, copy=False))
        mean = design.sum(C / C.sum())
        centred = design.less(mean)
        if centred is None:
            return cls(design, np.zeros(len(mean)), mean)
        return cls(centred, mean, np.zeros(len(mean)))

    def rows(self, rows: slice) -> Floats:
        """Some centred samples."""
        found: Floats = self.design.dense(rows) - self.mean
        return found

    def sums(self, V: Floats) -> Floats:
        """X'V of the centred samples, a column for each of V."""
        return np.column_stack(
            [self.design.sum(v) - self.mean * float(v.sum()) for v in np.ascontiguousarray(V.T)]
        )

    def values(self, W: Floats) -> Floats:
        """X W of the centred samples."""
        found: Floats = self.design.values_of_all(np.ascontiguousarray(W.T)) - self.mean @ W
        return found

    def product(self, B: Floats) -> Floats:
        """K B, for columns that sum to 0."""
        W = self.sums(B)
        return self.values(W) + (self.centre + self.mean) @ W


def primal_system(X: Any, C: Floats) -> System:
    """The system of a linear kernel, whose matrix has a row for each feature."""
    features, s = Features.of(X, C), np.sqrt(2 * C)[:, None]
    n, d = features.design.shape
    refuse_size(d)
    G = np.eye(d)
    for rows in _blocks(n, d):
        T = features.rows(rows) * s[rows]
        G += T.T @ T
    factor = interruptible(cholesky, G)
    if factor is None:
        raise ValueError("X has values too large for float64: scale the data (StandardScaler).")
    diagonal = np.empty(n)
    for rows in _blocks(n, d):
        T = features.rows(rows) * s[rows]
        diagonal[rows] = 1 - np.einsum("ij,ji->i", T, cholesky_solve(factor, T.T))

    def inverse(V: Floats) -> Floats:
        found: Floats = V - s * features.values(cholesky_solve(factor, features.sums(s * V)))
        return found

    return System(C, inverse, np.maximum(diagonal, 0.0), features.product)


def _blocks(n: int, width: int) -> list[slice]:
    step = max(1, SETTINGS.entries // max(1, width))
    return [slice(begin, min(n, begin + step)) for begin in range(0, n, step)]


def _pause(monitor: Monitor) -> None:
    """Raise KeyboardInterrupt after Ctrl-C."""
    if monitor.stop(0) is Status.INTERRUPTED:
        raise KeyboardInterrupt


class Spectrum(NamedTuple):
    """Eigenvectors V of S Kc S at C = 1, with which the system of every C is known.

    They need not span everything: A is I on the rest.
    """

    weight: Floats
    values: Floats
    V: Floats
    squares: Floats
    """Those of V."""
    product: Callable[[Floats], Floats]

    @classmethod
    def of(cls, workspace: KernelWorkspace, weight: Floats) -> "Spectrum":
        """That of the samples of a workspace with their weights."""
        if is_primal(workspace):
            return cls._primal(workspace.samples.own, weight)
        source, everything = workspace.source, slice(0, len(weight))
        refuse_size(len(weight), SETTINGS.matrices)
        A = centred(source, weight)(everything, everything)
        values, V = interruptible(scipy.linalg.eigh, A)
        return cls(weight, values, V, V * V, products(source))

    @classmethod
    def _primal(cls, X: Any, weight: Floats) -> "Spectrum":
        """Those of T T', from those of T'T."""
        features, s = Features.of(X, weight), np.sqrt(2 * weight)[:, None]
        T = features.rows(slice(0, len(weight))) * s
        values, W = interruptible(scipy.linalg.eigh, T.T @ T)
        V = T @ W
        V /= np.sqrt(np.where(values > 0, values, 1.0))
        return cls(weight, np.maximum(values, 0.0), V, V * V, features.product)

    def at(self, C: float) -> System:
        """The system of one C."""
        change = -C * self.values / (1 + C * self.values)  # of the eigenvalues of A^-1, from 1

        def inverse(R: Floats) -> Floats:
            found: Floats = R + self.V @ (change[:, None] * (self.V.T @ R))
            return found

        definite = bool((1 + C * self.values > 0).all())
        diagonal = 1 + self.squares @ change
        return System(C * self.weight, inverse, diagonal, self.product, definite)
