"""The least-squares SVM: one linear system (Suykens and Vandewalle 1999).

    primal:  minimise over w, b   1/2 |w|^2 + C/2 sum_i e_i^2,    e_i = t_i - w'phi(x_i) - b

The slacks are squared and the constraints are equations, so the optimality conditions are linear:
w = sum_i a_i phi(x_i), a_i = C e_i, sum_i a_i = 0, or

    M [a; b] = [t; 0],     M = [ K + I/C  1 ]
                               [ 1'       0 ]

For regression it is kernel ridge regression with a bias that is not penalised. For classification
the targets are the labels. No a_i is zero in general: every point is a support vector.

Leave-one-out is free. The error at i of the model that was trained without i is

    t_i - y^(-i)(x_i) = a_i / (M^-1)_ii

To see it, set t_i to the prediction y^(-i)(x_i): the model without i then solves the whole system
with a_i = 0. The true system has t_i - y^(-i)(x_i) more on its right-hand side i, which raises a_i
from 0 by (M^-1)_ii times that.
"""

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.textbook.checks import Array, matrix, targets
from maxmargin.textbook.kernels import Function, gram, linear
from maxmargin.textbook.models import KernelModel
from maxmargin.textbook.soft_margin import check_C
from maxmargin.textbook.trace import Step, Trace


def system(K: Array, C: float) -> Array:
    """The matrix M.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.textbook import least_squares
    >>> least_squares.system(np.array([[1.0, 0.0], [0.0, 1.0]]), C=2.0)
    array([[1.5, 0. , 1. ],
           [0. , 1.5, 1. ],
           [1. , 1. , 0. ]])
    """
    ones = np.ones((len(K), 1))
    return np.block([[K + np.eye(len(K)) / C, ones], [ones.T, np.zeros((1, 1))]])


def least_squares_svm(
    X: ArrayLike,
    y: ArrayLike,
    C: float = 1.0,
    kernel: Function = linear,
    classes: bool = False,
    trace: int = 1,
) -> tuple[KernelModel, Trace]:
    """The machine of squared errors.

    Parameters
    ----------
    X, y : the points and their targets t; labels -1 and +1 for a classification.
    C : the price of half a squared error.
    kernel : a function of ``textbook.kernels``.
    classes : predict the sign of y(x) instead of y(x).
    trace : 0 to keep no trace; the trace has one step, the end.

    Returns
    -------
    model, trace

    See Also
    --------
    maxmargin.LSSVR, maxmargin.LSSVC : for real work; their C is that of the squares, C/2 here.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, t = [[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]
    >>> model, trace = textbook.least_squares_svm(X, t, C=100.0)
    >>> model.predict([[3.0]]).round(2)
    array([2.99])
    """
    X = matrix(X)
    t = targets(y, len(X))
    check_C(C)
    K = gram(kernel, X)
    *found, b = np.linalg.solve(system(K, C), np.append(t, 0.0))
    a = np.array(found)
    kept = Trace("least squares", trace)
    if trace:
        half, errors = 0.5 * float(a @ K @ a), t - K @ a - b
        primal = half + 0.5 * C * float(errors @ errors)
        kept.keep(Step(0, (), a, float(b), primal, float(a @ t - half - a @ a / (2.0 * C))))
    return KernelModel(X, a, float(b), kernel, regression=not classes), kept


def leave_one_out(X: ArrayLike, y: ArrayLike, C: float = 1.0, kernel: Function = linear) -> Array:
    """t_i - y^(-i)(x_i) of all points from one inverse.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, t = [[0.0], [1.0], [2.0]], [0.0, 1.0, 5.0]
    >>> textbook.leave_one_out(X, t, C=100.0).round(2)
    array([ 2.88, -1.5 ,  3.03])
    """
    X = matrix(X)
    t = targets(y, len(X))
    check_C(C)
    inverse = np.linalg.inv(system(gram(kernel, X), C))
    return np.asarray((inverse @ np.append(t, 0.0))[:-1] / inverse.diagonal()[:-1])
