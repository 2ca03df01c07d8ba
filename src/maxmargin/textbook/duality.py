"""The Lagrangian, the dual function and the optimality conditions of any quadratic program.

``theory``, definitions 1 to 3, theorems 1 and 2; ``fan``, "Lagrange duality" and "KKT conditions".
For the standard form of quadratic_program.py

    f(x) = 1/2 x'P x + q'x,     g(x) = G x - h <= 0,     h(x) = A x - b = 0

with multipliers u >= 0 of the inequalities and v of the equalities:

    Lagrangian      L(x, u, v) = f(x) + u'g(x) + v'h(x)
    dual function   Theta(u, v) = inf over x of L(x, u, v)
    weak duality    f(x) >= Theta(u, v) for every feasible x and every u >= 0       (theorem 1)

because u'g(x) <= 0 and h(x) = 0. L is a parabola in x: with c = q + G'u + A'v its infimum is
-1/2 c'P^+ c - u'h - v'b if c lies in the range of P, and minus infinity otherwise. The conditions
of Karush, Kuhn and Tucker (theorem 2), sufficient because f is convex and the constraints affine:

    stationarity P x + c = 0,   u_i g_i(x) = 0,   g(x) <= 0 and h(x) = 0,   u >= 0

``hard_margin_primal`` is the program of the widest margin in x = [w; b]. Its dual function is what
the lectures derive by hand: Theta(u) = sum_i u_i - 1/2 |sum_i u_i t_i x_i|^2 if sum_i u_i t_i = 0,
and minus infinity otherwise. Hence the constraint of the dual.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.textbook.checks import Array, points
from maxmargin.textbook.quadratic_program import QuadraticProgram


def hard_margin_primal(X: ArrayLike, y: ArrayLike) -> QuadraticProgram:
    """1/2 |w|^2 subject to t_i (w'x_i + b) >= 1, in the variables [w; b].

    Examples
    --------
    >>> from maxmargin.textbook import duality
    >>> duality.hard_margin_primal([[0.0], [2.0]], [-1, 1]).G
    array([[ 0.,  1.],
           [-2., -1.]])
    """
    X, t = points(X, y)
    n, d = X.shape
    P = np.diag(np.append(np.ones(d), 0.0))
    G = -t[:, None] * np.column_stack([X, np.ones(n)])
    return QuadraticProgram(P, np.zeros(d + 1), G, -np.ones(n), np.zeros((0, d + 1)), np.zeros(0))


def lagrangian(program: QuadraticProgram, x: Array, u: Array, v: Array) -> float:
    """L(x, u, v).

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.textbook import duality
    >>> program = duality.hard_margin_primal([[0.0], [2.0]], [-1, 1])
    >>> duality.lagrangian(program, np.array([1.0, -1.0]), np.array([0.5, 0.5]), np.zeros(0))
    0.5
    """
    P, q, G, h, A, b = program
    return float(0.5 * x @ P @ x + q @ x + u @ (G @ x - h) + v @ (A @ x - b))


def dual_function(program: QuadraticProgram, u: Array, v: Array) -> float:
    """Theta(u, v), the infimum of the Lagrangian over x; minus infinity if there is none.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.textbook import duality
    >>> program = duality.hard_margin_primal([[0.0], [2.0]], [-1, 1])
    >>> duality.dual_function(program, np.array([0.25, 0.25]), np.zeros(0))
    0.375
    >>> duality.dual_function(program, np.array([0.5, 0.5]), np.zeros(0))
    0.5
    >>> duality.dual_function(program, np.array([0.5, 0.4]), np.zeros(0))
    -inf
    """
    P = program.P
    c = program.q + program.G.T @ u + program.A.T @ v
    x = -np.linalg.pinv(P) @ c
    if np.linalg.norm(P @ x + c) > 1e-9 * max(1.0, float(np.linalg.norm(c))):
        return -np.inf
    return lagrangian(program, x, u, v)


class Residuals(NamedTuple):
    """By how much each condition fails; all are zero exactly at an optimum."""

    stationarity: float
    complementarity: float
    primal_feasibility: float
    dual_feasibility: float


def kkt_residuals(program: QuadraticProgram, x: Array, u: Array, v: Array) -> Residuals:
    """The conditions of Karush, Kuhn and Tucker at x with the multipliers u and v.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.textbook import duality
    >>> program = duality.hard_margin_primal([[0.0], [2.0]], [-1, 1])
    >>> x, u, v = np.array([1.0, -1.0]), np.array([0.5, 0.5]), np.zeros(0)
    >>> max(duality.kkt_residuals(program, x, u, v))
    0.0
    """
    P, q, G, h, A, b = program
    above = G @ x - h
    return Residuals(
        float(np.abs(P @ x + q + G.T @ u + A.T @ v).max()),
        float(np.abs(u * above).max(initial=0.0)),
        float(max(above.max(initial=0.0), np.abs(A @ x - b).max(initial=0.0))),
        float(max(0.0, (-u).max(initial=0.0))),
    )
