"""Regression with a tube: errors up to epsilon cost nothing.

``theory`` (32) to (35), and the end of ``straka``.

    primal:  minimise over w, b, xi >= 0   1/2 |w|^2 + C sum_i (xi_i^- + xi_i^+)
             subject to   t_i - eps - xi_i^- <= y(x_i) <= t_i + eps + xi_i^+
    dual:    minimise over a^+, a^-   1/2 z'K z + eps sum_i (a_i^+ + a_i^-) - t'z,  z = a^+ - a^-
             subject to   sum_i z_i = 0,  0 <= a_i^+, a_i^- <= C

and y(x) = sum_i z_i k(x_i, x) + b. a^+ belongs to points above the tube, whose slack ``straka``
calls xi^-, and a^- to points below. The lectures differ in sign: (34) of ``theory`` has its
alpha - alpha^* for our a^- - a^+, so its model is sum_i (alpha_i^* - alpha_i) k(x_i, x); ``straka``
agrees with this page. Stacking both gives a classification of 2 n points with labels s (35). Our
[a^+; a^-] is the lecture's [alpha^*; alpha]:

    P = [[K, -K], [-K, K]],   q = [eps - t; eps + t]
    A = s' = [1 ... 1, -1 ... -1],   b = 0,   0 <= a <= C

(For classification q is -1; the lecture says 1.)
"""

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.textbook.checks import Array, matrix, targets
from maxmargin.textbook.kernels import Function, gram, linear
from maxmargin.textbook.models import KernelModel
from maxmargin.textbook.quadratic_program import QuadraticProgram, box, level, solve, tidy, units
from maxmargin.textbook.soft_margin import check_C
from maxmargin.textbook.trace import Step, Trace


def epsilon_svr_program(K: Array, t: Array, C: float, epsilon: float) -> QuadraticProgram:
    """P, q, G, h, A, b of (35)."""
    n = len(t)
    s = np.repeat([1.0, -1.0], n)
    P = np.outer(s, s) * np.tile(K, (2, 2))
    q = np.concatenate([epsilon - t, epsilon + t])
    return QuadraticProgram(P, q, *box(2 * n, C), s[None, :], np.zeros(1))


def epsilon_svr(
    X: ArrayLike,
    y: ArrayLike,
    C: float = 1.0,
    epsilon: float = 0.1,
    kernel: Function = linear,
    trace: int = 1,
) -> tuple[KernelModel, Trace]:
    """Support vector regression by a QP library.

    Parameters
    ----------
    X, y : the points and their targets t.
    C : the price of a unit outside the tube.
    epsilon : half the width of the tube.
    kernel : a function of ``textbook.kernels``.
    trace : 0 to keep no trace; the trace has one step, the end, with variables [a^+; a^-].

    Returns
    -------
    model, trace
        ``model.predict`` is y(x).

    See Also
    --------
    maxmargin.SVR : for real work.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, t = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0]
    >>> model, trace = textbook.epsilon_svr(X, t, C=10, epsilon=0.5)
    >>> model.w.round(3), round(model.b, 3)
    (array([0.667]), 0.5)
    """
    X = matrix(X)
    t = targets(y, len(X))
    check_C(C)
    if not epsilon >= 0:
        raise ValueError(f"epsilon={epsilon} must not be negative.")
    n, K = len(t), gram(kernel, X)
    a = tidy(solve(epsilon_svr_program(K, t, C, epsilon), units(K, C)), C)
    z = a[:n] - a[n:]
    values = K @ z
    edges = np.concatenate([t - epsilon, t + epsilon])
    b = level(edges - np.tile(values, 2), a, C, np.repeat([-1.0, 1.0], n))
    kept = Trace("epsilon-SVR QP", trace)
    if trace:
        half = 0.5 * float(z @ values)
        primal = half + C * float(np.maximum(0.0, np.abs(t - values - b) - epsilon).sum())
        kept.keep(Step(0, (), a, b, primal, float(t @ z) - epsilon * float(a.sum()) - half))
    return KernelModel(X, z, b, kernel, regression=True, epsilon=epsilon), kept
