"""A backend in plain NumPy: slow and obvious, the oracle for every other one."""

import numpy as np
from scipy import sparse

from maxmargin.core.backend import RBF_BY_DIFFERENCES, Backend, Extremes, NotFinite, Steps
from maxmargin.kernel.kernels import Kind

ORIGIN = -1
"""The number of the variable that a group without a fixed sum has more: no bounds, a kernel row of
zeros."""


class Points:
    """Points as a dense array, in their own precision."""

    def __init__(self, X):
        self.values = np.asarray(X.toarray() if sparse.issparse(X) else X)
        self.shape = self.values.shape
        self.norms = np.sum(self.values**2, axis=1)
        self.terms = int(np.count_nonzero(self.values, axis=1).max(initial=0))


class NumpyBackend(Backend):
    """The abstract functions of backend.py by their formulas, and its defaults."""

    xp = np
    longest_run = 1  # sums are float64

    def points(self, X, compress=False):
        return Points(X)

    def kernel_block(self, kernel, A, a, B, b, out=None, slots=None):
        P, Q = (
            X.values.astype(np.float64)[slice(None) if at is None else at]
            for X, at in ((A, a), (B, b))
        )
        values = kernel_values(kernel, P, Q).astype(A.values.dtype)
        if not np.isfinite(values).all():
            raise NotFinite
        if out is None:
            return np.ascontiguousarray(values)
        out[slice(None) if slots is None else slots] = values
        return out

    def kernel_product(self, kernel, A, a, coef, B, b, out):
        out += coef.astype(np.float64).T @ self.kernel_block(kernel, A, a, B, b)

    def update_gradient(self, rows, slots, delta, F):
        F += delta @ rows[slots].astype(np.float64)

    def gather(self, rows, slots, columns):
        return rows[np.ix_(slots, columns)]

    def group_extremes(self, variables):
        G, b, lower, upper, _, begin, fixed = variables
        found = []
        for first, last, is_fixed in zip(begin, begin[1:], fixed, strict=False):
            g, grow, shrink = G[first:last], (b < upper)[first:last], (b > lower)[first:last]
            least, greatest = g[grow].min(initial=np.inf), g[shrink].max(initial=-np.inf)
            if not is_fixed:
                least, greatest = min(least, 0.0), max(greatest, 0.0)
            free = g[grow & shrink]
            found.append(Extremes(float(least), float(greatest), float(free.sum()), len(free)))
        return found

    def pair_steps(self, K, variables, tol, most):
        K, steps, negative = K.astype(np.float64), 0, False
        while True:
            violation, i, j = worst_pair(variables)
            if not violation > tol or steps >= most:
                return Steps(steps, max(violation, 0.0), negative, False)
            curvature = sum(value(K, variables.ridge, k, k) for k in (i, j)) - 2 * value(
                K, variables.ridge, i, j
            )
            size = abs(value(K, variables.ridge, i, i)) + abs(value(K, variables.ridge, j, j))
            negative = negative or curvature < -1e-12 * size
            floor = 1e-15 * size + 1e-300
            room = min(room_above(variables, i), room_below(variables, j))
            if curvature <= floor and room == np.inf:
                return Steps(steps, violation, negative, True)
            t = min(violation / curvature if curvature > floor else np.inf, room)
            move(K, variables, i, t)
            move(K, variables, j, -t)
            steps += 1

    def cholesky(self, Q):
        try:
            return np.linalg.cholesky(np.triu(Q) + np.triu(Q, 1).T)
        except np.linalg.LinAlgError:
            return None

    def cholesky_solve(self, factor, right):
        return np.linalg.solve(factor.T, np.linalg.solve(factor, right))


def kernel_values(kernel, P, Q):
    """k(P, Q) by the formula."""
    kind, gamma, coef0, degree = kernel
    with np.errstate(over="ignore", invalid="ignore"):
        if kind in (int(Kind.RBF), RBF_BY_DIFFERENCES):
            return np.exp(-gamma * ((P[:, None] - Q[None]) ** 2).sum(axis=2))
        if kind == int(Kind.LAPLACIAN):
            return np.exp(-gamma * np.abs(P[:, None] - Q[None]).sum(axis=2))
        if kind == int(Kind.CHI2):
            total, difference = P[:, None] + Q[None], P[:, None] - Q[None]
            return np.exp(
                -gamma
                * np.divide(difference**2, total, out=np.zeros_like(total), where=total != 0).sum(
                    axis=2
                )
            )
        dot = P @ Q.T
        if kind == int(Kind.LINEAR):
            return dot
        affine = gamma * dot + coef0
        if kind == int(Kind.POLY):
            return affine**degree
        return np.tanh(affine) if kind == int(Kind.TANH) else 1 / (1 + np.exp(-affine))


def worst_pair(variables):
    """The greatest violation and its pair: i grows, j shrinks."""
    G, b, lower, upper, _, begin, fixed = variables
    up, down = np.where(b < upper, G, np.inf), np.where(b > lower, G, -np.inf)
    worst = (-np.inf, ORIGIN, ORIGIN)
    for first, last, is_fixed in zip(begin, begin[1:], fixed, strict=False):
        if first == last:
            continue
        i, j = first + int(up[first:last].argmin()), first + int(down[first:last].argmax())
        least, greatest = up[i], down[j]
        if not is_fixed and least > 0:
            least, i = 0.0, ORIGIN
        if not is_fixed and greatest < 0:
            greatest, j = 0.0, ORIGIN
        if greatest - least > worst[0]:
            worst = (greatest - least, i, j)
    return worst


def value(K, ridge, i, j):
    """An entry of K + diag(ridge); 0 for the origin."""
    return 0.0 if ORIGIN in (i, j) else K[i, j] + ridge[i] * (i == j)


def room_above(variables, i):
    return np.inf if i == ORIGIN else variables.upper[i] - variables.b[i]


def room_below(variables, j):
    return np.inf if j == ORIGIN else variables.b[j] - variables.lower[j]


def move(K, variables, k, t):
    """Change a variable, exactly onto a bound where the step ends there, and the gradient."""
    if k == ORIGIN:
        return
    G, b, lower, upper, ridge, *_ = variables
    end = b[k] + t
    b[k] = upper[k] if t == upper[k] - b[k] else lower[k] if -t == b[k] - lower[k] else end
    G += t * K[k]
    G[k] += t * ridge[k]
