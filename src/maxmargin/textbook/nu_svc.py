"""nu-SVC: a fraction of errors instead of their price. ``theory`` (28) and (29).

    primal:  minimise over w, b, xi >= 0, rho >= 0   1/2 |w|^2 - nu rho + 1/n sum_i xi_i
             subject to   y_i (w'phi(x_i) + b) >= rho - xi_i
    dual:    minimise over alpha   1/2 alpha'Q alpha
             subject to   alpha'y = 0,  alpha'1 >= nu,  0 <= alpha_i <= 1/n

nu is an upper bound on the fraction of points with a loss and a lower bound on the fraction of
support vectors. It is feasible only if nu <= 2 min(n_+, n_-) / n. The margin lies at
w'phi(x) + b = +-rho. Dividing by rho gives the plane of the soft margin with C = 1 / (n rho). This
is the model returned, so its margin is at +-1 like all others.
"""

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.textbook.checks import Array, points
from maxmargin.textbook.kernels import Function, gram, linear
from maxmargin.textbook.models import KernelModel
from maxmargin.textbook.quadratic_program import QuadraticProgram, box, level, solve, tidy
from maxmargin.textbook.trace import Step, Trace


def nu_svc_program(K: Array, y: Array, nu: float) -> QuadraticProgram:
    """P, q, G, h, A, b of the dual; the last row of G is -1'alpha <= -nu."""
    n = len(y)
    P, q = np.outer(y, y) * K, np.zeros(n)
    G, h = box(n, 1.0 / n)
    G, h = np.vstack([G, -np.ones(n)]), np.append(h, -nu)
    return QuadraticProgram(P, q, G, h, y[None, :], np.zeros(1))


def nu_svc(
    X: ArrayLike, y: ArrayLike, nu: float = 0.5, kernel: Function = linear, trace: int = 1
) -> tuple[KernelModel, Trace]:
    """nu-SVC by a QP library.

    Parameters
    ----------
    X, y : the points and their labels -1 and +1.
    nu : upper bound on the fraction of margin errors, lower bound on the fraction of support
        vectors.
    kernel : a function of ``textbook.kernels``.
    trace : 0 to keep no trace; the trace has one step, the end, with alpha and b in the lecture's
        scale.

    Returns
    -------
    model, trace

    See Also
    --------
    maxmargin.NuSVC : for real work.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]
    >>> model, trace = textbook.nu_svc(X, y, nu=0.5)
    >>> model.predict([[0.5], [3.5]])
    array([-1.,  1.])
    """
    X, y = points(X, y)
    n = len(y)
    most = 2.0 * min(np.sum(y > 0), np.sum(y < 0)) / n
    if not 0 < nu <= most:
        raise ValueError(
            f"nu={nu} must be above 0 and at most 2 min(n+, n-) / n = {most:.4g} for these labels."
        )
    K = gram(kernel, X)
    alpha = tidy(solve(nu_svc_program(K, y, nu)), 1.0 / n)
    values = K @ (alpha * y)
    plus, minus = y > 0, y < 0
    r_plus = level(values[plus], alpha[plus], 1.0 / n, np.ones(plus.sum()))  # rho - b
    r_minus = level(values[minus], alpha[minus], 1.0 / n, -np.ones(minus.sum()))  # -rho - b
    rho, b = 0.5 * (r_plus - r_minus), -0.5 * (r_plus + r_minus)
    if rho <= 1e-9 * max(1.0, float(np.abs(values).max())):
        raise ValueError(
            f"nu={nu} is too small for these data: the margin is empty (rho = {rho:.1g}). Give a "
            "larger nu or another kernel."
        )
    kept = Trace("nu-SVC QP", trace)
    if trace:
        half = 0.5 * float(alpha * y @ values)
        primal = half - nu * rho + float(np.maximum(0.0, rho - y * (values + b)).mean())
        kept.keep(Step(0, (), alpha, b, primal, -half))
    return KernelModel(X, alpha * y / rho, b / rho, kernel), kept
