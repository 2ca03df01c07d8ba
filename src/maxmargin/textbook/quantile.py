"""Quantile regression: a curve that a share q of the targets lies below (Takeuchi et al. 2006).

The median minimises the sum of absolute errors. Other quantiles pay unequal prices for errors
above and below, the pinball loss:

    pinball(r) = q r  if r >= 0,   (q - 1) r  otherwise,    r_i = t_i - y(x_i)

    primal:  minimise over w, b   1/2 |w|^2 + C sum_i pinball(r_i)
    dual:    minimise over z      1/2 z'K z - t'z
             subject to   sum_i z_i = 0,  C (q - 1) <= z_i <= C q

and y(x) = sum_i z_i k(x_i, x) + b. It is the epsilon-SVR of epsilon = 0 with other bounds: q = 1/2
gives its model for C / 2. At the optimum sum_i z_i = 0 says that at most a share q of the targets
lies below the curve and at most 1 - q above. Curves of several q, each trained alone, can cross.
"""

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.textbook.checks import Array, matrix, targets
from maxmargin.textbook.kernels import Function, gram, linear
from maxmargin.textbook.models import KernelModel
from maxmargin.textbook.quadratic_program import QuadraticProgram, box, level, solve, tidy, units
from maxmargin.textbook.soft_margin import check_C
from maxmargin.textbook.trace import Step, Trace


def pinball(residuals: ArrayLike, quantile: float) -> Array:
    """q r above the curve, (q - 1) r below.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> textbook.pinball([-1.0, 0.0, 1.0], 0.9).round(3)
    array([0.1, 0. , 0.9])
    """
    r = np.asarray(residuals, float)
    return np.asarray(np.where(r >= 0, quantile, quantile - 1.0) * r)


def quantile_svr(
    X: ArrayLike,
    y: ArrayLike,
    quantile: float = 0.5,
    C: float = 1.0,
    kernel: Function = linear,
    trace: int = 1,
) -> tuple[KernelModel, Trace]:
    """One quantile by a QP library.

    Parameters
    ----------
    X, y : the points and their targets t.
    quantile : q, between 0 and 1.
    C : the price of a unit of pinball loss.
    kernel : a function of ``textbook.kernels``.
    trace : 0 to keep no trace; the trace has one step, the end, with variables z.

    Returns
    -------
    model, trace
        ``model.predict`` is y(x).

    See Also
    --------
    maxmargin.QuantileSVR : for real work.
    epsilon_svr : a tube around the median.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import textbook
    >>> X, t = np.zeros((9, 1)), np.arange(9.0)
    >>> [round(textbook.quantile_svr(X, t, q)[0].b, 3) for q in (0.3, 0.5)]
    [2.0, 4.0]
    """
    X = matrix(X)
    t = targets(y, len(X))
    check_C(C)
    if not 0 < quantile < 1:
        raise ValueError(f"quantile={quantile} must lie between 0 and 1.")
    n, K = len(t), gram(kernel, X)
    low = C * (quantile - 1.0)
    # with a = z - low the bounds are those of a classifier: 0 <= a_i <= C
    G, h = box(n, C)
    program = QuadraticProgram(
        K, low * K.sum(axis=0) - t, G, h, np.ones((1, n)), np.array([-n * low])
    )
    a = tidy(solve(program, units(K, C)), C)
    z = a + low
    values = K @ z
    b = level(t - values, a, C, -np.ones(n))
    kept = Trace("quantile QP", trace)
    if trace:
        half = 0.5 * float(z @ values)
        primal = half + C * float(pinball(t - values - b, quantile).sum())
        kept.keep(Step(0, (), z, b, primal, float(t @ z) - half))
    return KernelModel(X, z, b, kernel, regression=True), kept
