"""The one-class SVM: the region that holds the data. ``theory`` (30) and (31).

    primal:  minimise over w, xi >= 0, rho   1/2 |w|^2 - rho + 1/(nu n) sum_i xi_i
             subject to   w'phi(x_i) >= rho - xi_i
    dual:    minimise over alpha   1/2 alpha'K alpha
             subject to   alpha'1 = 1,  0 <= alpha_i <= 1/(nu n)

A point is novel if sum_i alpha_i k(x_i, x) < rho, that is where the data are *rare* (the lecture's
sentence says the opposite). About a fraction nu of the training points lies there. There are no
labels, so Q is the plain kernel matrix; rho needs no sign constraint.
"""

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.textbook.checks import Array, matrix
from maxmargin.textbook.kernels import Function, gram, linear
from maxmargin.textbook.models import KernelModel
from maxmargin.textbook.quadratic_program import QuadraticProgram, box, level, solve, tidy
from maxmargin.textbook.trace import Step, Trace


def one_class_program(K: Array, nu: float) -> QuadraticProgram:
    """P, q, G, h, A, b of the dual."""
    n = len(K)
    return QuadraticProgram(K, np.zeros(n), *box(n, 1.0 / (nu * n)), np.ones((1, n)), np.ones(1))


def one_class(
    X: ArrayLike, nu: float = 0.1, kernel: Function = linear, trace: int = 1
) -> tuple[KernelModel, Trace]:
    """The one-class SVM by a QP library.

    Parameters
    ----------
    X : the points.
    nu : upper bound on the fraction of outliers, lower bound on that of support vectors.
    kernel : a function of ``textbook.kernels``; an RBF kernel gives a bounded region.
    trace : 0 to keep no trace; the trace has one step, the end.

    Returns
    -------
    model, trace
        ``model.predict`` is +1 inside, -1 for novel points; b = -rho.

    See Also
    --------
    maxmargin.OneClassSVM : for real work.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> model, trace = textbook.one_class(X, nu=0.3, kernel=textbook.kernels.rbf(0.1))
    >>> model.predict([[1.5], [9.0]])
    array([ 1., -1.])
    """
    X = matrix(X)
    if not 0 < nu <= 1:
        raise ValueError(f"nu={nu} must be above 0 and at most 1: it is a fraction of the points.")
    K, C = gram(kernel, X), 1.0 / (nu * len(X))
    alpha = tidy(solve(one_class_program(K, nu)), C)
    values = K @ alpha
    rho = level(values, alpha, C, np.ones(len(X)))
    # rounding must not move points on the boundary outside
    rho -= 1e-8 * float(np.abs(values).max())
    kept = Trace("one-class QP", trace)
    if trace:
        half = 0.5 * float(alpha @ values)
        primal = half - rho + C * float(np.maximum(0.0, rho - values).sum())
        kept.keep(Step(0, (), alpha, -rho, primal, -half))
    return KernelModel(X, alpha, -rho, kernel), kept
