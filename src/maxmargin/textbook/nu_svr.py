"""nu-SVR: the tube finds its own width.

``theory`` has nu-SVC (28) and leaves its twin to LIBSVM (Schölkopf et al. 2000). The width epsilon
of the tube of epsilon_svr.py becomes a variable with the price nu:

    primal:  minimise over w, b, xi >= 0, eps >= 0
                 1/2 |w|^2 + C (nu n eps + sum_i (xi_i^- + xi_i^+))
             subject to   t_i - eps - xi_i^- <= y(x_i) <= t_i + eps + xi_i^+
    dual:    minimise over a^+, a^-   1/2 z'K z - t'z,   z = a^+ - a^-
             subject to   sum_i z_i = 0,  sum_i (a_i^+ + a_i^-) <= C nu n,  0 <= a_i^+, a_i^- <= C

The derivative of the Lagrangian with respect to eps is the dual's second constraint. So at most a
share nu of the points lies outside the tube, where a = C, and at least a share nu supports it.
With the same C and the eps found here, epsilon-SVR has the same solution. In standard form, with
[a^+; a^-] and s = [1 ... 1, -1 ... -1]:

    P = [[K, -K], [-K, K]],  q = [-t; t],  A = s',  b = 0,  one more row of G: 1'a <= C nu n

Let r^+ be the number that t_i - sum_j z_j k_ij equals for 0 < a_i^+ < C, and r^- that for
0 < a_i^- < C. Then b + eps = r^+ and b - eps = r^-.
"""

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.textbook.checks import Array, matrix, targets
from maxmargin.textbook.epsilon_svr import epsilon_svr_program
from maxmargin.textbook.kernels import Function, gram, linear
from maxmargin.textbook.models import KernelModel
from maxmargin.textbook.quadratic_program import QuadraticProgram, level, solve, tidy, units
from maxmargin.textbook.soft_margin import check_C
from maxmargin.textbook.trace import Step, Trace


def nu_svr_program(K: Array, t: Array, C: float, nu: float) -> QuadraticProgram:
    """P, q, G, h, A, b of the dual: that of a tube without width, and the price of a width."""
    program = epsilon_svr_program(K, t, C, 0.0)
    G, h = np.vstack([program.G, np.ones(2 * len(t))]), np.append(program.h, C * nu * len(t))
    return program._replace(G=G, h=h)


def nu_svr(
    X: ArrayLike,
    y: ArrayLike,
    C: float = 1.0,
    nu: float = 0.5,
    kernel: Function = linear,
    trace: int = 1,
) -> tuple[KernelModel, Trace]:
    """nu-SVR by a QP library.

    Parameters
    ----------
    X, y : the points and their targets t.
    C : the price of a unit outside the tube.
    nu : upper bound on the share of points outside the tube, lower bound on that of support
        vectors.
    kernel : a function of ``textbook.kernels``.
    trace : 0 to keep no trace; the trace has one step, the end, with variables [a^+; a^-].

    Returns
    -------
    model, trace
        ``model.epsilon`` is half the width of the tube that was found.

    See Also
    --------
    maxmargin.NuSVR : for real work.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, t = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0]
    >>> model, trace = textbook.nu_svr(X, t, C=10, nu=0.5)
    >>> model.predict([[1.5]]).round(3)
    array([1.5])
    """
    X = matrix(X)
    t = targets(y, len(X))
    check_C(C)
    if not 0 < nu <= 1:
        raise ValueError(f"nu={nu} must be above 0 and at most 1: it is a share of the points.")
    n, K = len(t), gram(kernel, X)
    a = tidy(solve(nu_svr_program(K, t, C, nu), units(K, C)), C)
    z = a[:n] - a[n:]
    values = K @ z
    above = level(t - values, a[:n], C, -np.ones(n))
    below = level(t - values, a[n:], C, np.ones(n))
    b, epsilon = 0.5 * (above + below), max(0.0, 0.5 * (above - below))
    kept = Trace("nu-SVR QP", trace)
    if trace:
        half = 0.5 * float(z @ values)
        outside = float(np.maximum(0.0, np.abs(t - values - b) - epsilon).sum())
        primal = half + C * (nu * n * epsilon + outside)
        kept.keep(Step(0, (), a, b, primal, float(t @ z) - half))
    return KernelModel(X, z, b, kernel, regression=True, epsilon=epsilon), kept
