"""Slow, obvious references: the primal problems as the lectures write them, given to a general QP
solver.

Nothing here is shared with maxmargin: kernels come in as matrices, and the *primal* in (a, b,
slack) is solved, w = sum a_i phi(x_i):

    minimise  1/2 a'K a + sum C_i loss(f_i)     f = K a + b
"""

import clarabel
import numpy as np
from scipy import sparse


def _solve(P, q, A, rhs, n_equal=0):
    """Minimise 1/2 x'Px + q'x subject to A x <= rhs (the first n_equal rows with =).

    Return (x, value).
    """
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = 300
    cones = [clarabel.NonnegativeConeT(A.shape[0] - n_equal)]
    if n_equal:
        cones.insert(0, clarabel.ZeroConeT(n_equal))
    for tol in (1e-11, 1e-9, 1e-8):
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
        solution = clarabel.DefaultSolver(
            sparse.csc_matrix(np.triu(P)), q, sparse.csc_matrix(A), rhs, cones, settings
        ).solve()
        if str(solution.status) == "Solved":
            break
    else:
        raise AssertionError(f"the reference was not solved: {solution.status}")
    x = np.array(solution.x)
    return x, float(0.5 * x @ P @ x + q @ x)


def factor(K):
    """L with K = L L', so that |w|^2 is a plain norm.

    The primal in w = L'a is well conditioned even where K is singular.
    """
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def classification(K, y, C, squared=False):
    """Optimal value of soft-margin classification; C infinite is the hard margin."""
    L, n = factor(K), len(y)
    hard = np.isinf(C).all()
    slacks = 0 if hard else n
    P = np.zeros((n + 1 + slacks, n + 1 + slacks))
    P[:n, :n] = np.eye(n)
    q = np.zeros(n + 1 + slacks)
    margin = -np.hstack([y[:, None] * L, y[:, None], np.eye(n)[:, :slacks]])
    rows, rhs = [margin], [-np.ones(n)]
    if not hard:
        rows.append(np.hstack([np.zeros((n, n + 1)), -np.eye(n)]))
        rhs.append(np.zeros(n))
        if squared:
            P[n + 1 :, n + 1 :] = 2 * np.diag(C)
        else:
            q[n + 1 :] = C
    x, value = _solve(P, q, np.vstack(rows), np.concatenate(rhs))
    return value, L @ x[:n] + x[n]


def regression(K, z, C, epsilon, squared=False):
    """Optimal value of tube regression."""
    L, n = factor(K), len(z)
    P = np.zeros((2 * n + 1, 2 * n + 1))
    P[:n, :n] = np.eye(n)
    q = np.zeros(2 * n + 1)
    if squared:
        P[n + 1 :, n + 1 :] = 2 * np.diag(C)
    else:
        q[n + 1 :] = C
    one, eye = np.ones((n, 1)), np.eye(n)
    A = np.vstack(
        [
            np.hstack([L, one, -eye]),
            np.hstack([-L, -one, -eye]),
            np.hstack([np.zeros((n, n + 1)), -eye]),
        ]
    )
    x, value = _solve(P, q, A, np.concatenate([z + epsilon, epsilon - z, np.zeros(n)]))
    return value, L @ x[:n] + x[n]


def asymmetric(K, z, up, down, squared=False):
    """Optimal value of regression with the loss up r above and down |r| below, or with r^2."""
    L, n = factor(K), len(z)
    P = np.zeros((3 * n + 1, 3 * n + 1))
    P[:n, :n] = np.eye(n)
    q = np.zeros(3 * n + 1)
    if squared:
        P[n + 1 :, n + 1 :] = 2 * np.diag(np.concatenate([up, down]))
    else:
        q[n + 1 :] = np.concatenate([up, down])
    one, eye, zero = np.ones((n, 1)), np.eye(n), np.zeros((n, n))
    A = np.vstack(
        [
            np.hstack([-L, -one, -eye, zero]),
            np.hstack([L, one, zero, -eye]),
            np.hstack([np.zeros((2 * n, n + 1)), -np.eye(2 * n)]),
        ]
    )
    x, value = _solve(P, q, A, np.concatenate([-z, z, np.zeros(2 * n)]))
    return value, L @ x[:n] + x[n]


def huber(K, z, C, delta):
    """Optimal value with Huber's loss: a residual is the sum of a squared and an absolute part."""
    L, n = factor(K), len(z)
    P = np.zeros((3 * n + 1, 3 * n + 1))
    P[:n, :n] = np.eye(n)
    P[n + 1 : 2 * n + 1, n + 1 : 2 * n + 1] = np.diag(C / delta)
    q = np.zeros(3 * n + 1)
    q[2 * n + 1 :] = C
    one, eye = np.ones((n, 1)), np.eye(n)
    A = np.vstack([np.hstack([-L, -one, -eye, -eye]), np.hstack([L, one, eye, -eye])])
    x, value = _solve(P, q, A, np.concatenate([-z, z]))
    return value, L @ x[:n] + x[n]


def svdd(K, y, C):
    """Optimal value of R^2 + sum C_i max(0, -y_i (R^2 - |phi(x_i) - c|^2)) and R^2 - distance^2.

    The variables are c, R^2 - |c|^2 and the slacks.
    """
    L, n, diagonal = factor(K), len(y), np.diag(K)
    P = np.zeros((2 * n + 1, 2 * n + 1))
    P[:n, :n] = 2 * np.eye(n)
    q = np.concatenate([np.zeros(n), [1.0], C])
    A = np.vstack(
        [
            np.hstack([-2 * y[:, None] * L, -y[:, None], -np.eye(n)]),
            np.hstack([np.zeros((n, n + 1)), -np.eye(n)]),
        ]
    )
    x, value = _solve(P, q, A, np.concatenate([-y * diagonal, np.zeros(n)]))
    return value, 2 * L @ x[:n] + x[n] - diagonal


def nu_regression(K, z, C, nu):
    """Optimal value of nu-regression in LIBSVM's scaling, the tube's width a variable."""
    L, n = factor(K), len(z)
    P = np.zeros((2 * n + 2, 2 * n + 2))
    P[:n, :n] = np.eye(n)
    q = np.zeros(2 * n + 2)
    q[n + 1 : 2 * n + 1] = C
    q[-1] = nu * C.sum()
    one, eye, zero = np.ones((n, 1)), np.eye(n), np.zeros((n, n + 1))
    A = np.vstack(
        [
            np.hstack([L, one, -eye, -one]),
            np.hstack([-L, -one, -eye, -one]),
            np.hstack([zero, -eye, np.zeros((n, 1))]),
            np.concatenate([np.zeros(2 * n + 1), [-1.0]])[None, :],
        ]
    )
    x, value = _solve(P, q, A, np.concatenate([z, -z, np.zeros(n + 1)]))
    return value, L @ x[:n] + x[n]


def one_class(K, C, nu):
    """Optimal value of the one-class problem,

    1/2 |w|^2 - rho nu sum(C) + sum C_i max(0, rho - w.phi(x_i)).
    """
    L, n = factor(K), len(C)
    P = np.zeros((2 * n + 1, 2 * n + 1))
    P[:n, :n] = np.eye(n)
    q = np.concatenate([np.zeros(n), [-nu * C.sum()], C])
    A = np.vstack(
        [
            np.hstack([-L, np.ones((n, 1)), -np.eye(n)]),
            np.hstack([np.zeros((n, n + 1)), -np.eye(n)]),
        ]
    )
    x, value = _solve(P, q, A, np.zeros(2 * n))
    return value, L @ x[:n] - x[n]


def nu_classification(K, y, weight, nu):
    """Optimal value of nu-classification in LIBSVM's scaling, and its decision values in units of
    the margin.
    """
    L, n = factor(K), len(y)
    P = np.zeros((2 * n + 2, 2 * n + 2))
    P[:n, :n] = np.eye(n)
    q = np.concatenate([np.zeros(n + 1), weight, [-nu * weight.sum()]])
    A = np.vstack(
        [
            np.hstack([-y[:, None] * L, -y[:, None], -np.eye(n), np.ones((n, 1))]),
            np.hstack([np.zeros((n, n + 1)), -np.eye(n), np.zeros((n, 1))]),
        ]
    )
    x, value = _solve(P, q, A, np.zeros(2 * n))
    return value, (L @ x[:n] + x[n]) / x[-1]


def linear(X, sides, C, squared, m, total=0.0):
    """Optimal value and decision values of a linear model, 1/2 |w|^2 + m/2 b^2 + total b + sum C_i
    max(0, edge_i - sign_i f_i)^(1 or 2).

    ``sides`` lists (sign, edge) once for each side on which samples are punished; m is None where
    there is no b.
    """
    n, d = X.shape
    A = X if m is None else np.hstack([X, np.ones((n, 1))])
    k, slacks = A.shape[1], n * len(sides)
    P = np.zeros((k + slacks, k + slacks))
    P[:d, :d] = np.eye(d)
    q = np.zeros(k + slacks)
    if m is not None:
        P[d, d], q[d] = m, total
    if squared:
        P[k:, k:] = 2 * np.diag(np.tile(C, len(sides)))
    else:
        q[k:] = np.tile(C, len(sides))
    margin = np.hstack(
        [np.vstack([-np.reshape(sign, (-1, 1)) * A for sign, _ in sides]), -np.eye(slacks)]
    )
    positive = np.hstack([np.zeros((slacks, k)), -np.eye(slacks)])
    x, value = _solve(
        P,
        q,
        np.vstack([margin, positive]),
        np.concatenate([*(-edge for _, edge in sides), np.zeros(slacks)]),
    )
    return value, A @ x[:k]
