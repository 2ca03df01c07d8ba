"""Multiple kernel learning: a weighted sum of kernels.

Rakotomamonjy et al. (2008), Kloft et al. (2011).

    K = sum_m d_m K_m,   d_m >= 0,   |d|_p = (sum_m d_m^p)^(1/p) <= 1,   p >= 1

    minimise over d, and over w_m, b   1/2 sum_m |w_m|^2 / d_m + C sum_i xi_i

which is convex in all together. For fixed d it is the soft margin with the kernel K, and the dual
variables a give |w_m|^2 = d_m^2 q_m with q_m = (a t)'K_m (a t). For fixed |w_m| the best d is

    d_m proportional to |w_m|^(2 / (p + 1)),   scaled to |d|_p = 1

So train and set d in turn. The objective falls in both steps. Where p = 1, d_m is proportional to
|w_m|, and kernels that do not help lose their weight. The dual of the whole problem is

    sum_i a_i - 1/2 max over d of sum_m d_m q_m = sum_i a_i - 1/2 |q|_r,   1/p + 1/r = 1

(r is infinite for p = 1: the largest q_m). Its gap to the primal says how far d is from the best.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.textbook.checks import Array, points, warn_stopped
from maxmargin.textbook.kernels import Function, gram
from maxmargin.textbook.models import KernelModel
from maxmargin.textbook.soft_margin import soft_margin_qp
from maxmargin.textbook.trace import Step, Trace


def kernel_weights(
    X: ArrayLike,
    y: ArrayLike,
    kernels: Sequence[Function],
    p: float = 1.0,
    C: float = 1.0,
    tol: float = 1e-3,
    max_iter: int = 1000,
    trace: int = 1,
) -> tuple[KernelModel, Trace]:
    """Machine and weights in turn.

    Parameters
    ----------
    X, y : the points and their labels -1 and +1.
    kernels : functions of ``textbook.kernels``.
    p : the norm of the weights, at least 1; a larger one makes them more equal.
    C : the price of a unit of slack.
    tol : stop when primal - dual <= tol primal.
    max_iter : stop after this many machines in any case.
    trace : keep the state after every `trace` machines, 0 for never.

    Returns
    -------
    model, trace
        The variables of a step are the weights d.

    See Also
    --------
    maxmargin.MKLSVC : for real work.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[0.0, 0.0], [1.0, 1.0], [3.0, 1.0], [4.0, 0.0]], [-1, -1, 1, 1]
    >>> first, second = (lambda X, Z, k=k: X[:, [k]] @ Z[:, [k]].T for k in (0, 1))
    >>> model, trace = textbook.kernel_weights(X, y, [first, second])
    >>> trace.steps[-1].variables.round(2)  # the first feature tells the classes apart
    array([1., 0.])
    """
    X, t = points(X, y)
    if not p >= 1 or not kernels:
        raise ValueError(f"p={p} must be at least 1, and there must be a kernel.")
    Ks = np.array([gram(kernel, X) for kernel in kernels])
    d = np.full(len(Ks), len(Ks) ** (-1.0 / p))
    kept = Trace("kernel weights", trace)
    for iteration in range(1, max_iter + 1):
        model, fit = soft_margin_qp(X, t, C, _sum(kernels, d))
        a = model.coef
        q = np.einsum("i,mij,j->m", a, Ks, a)
        primal = fit.steps[0].primal
        norm = q.max() if p == 1 else np.sum(q ** (p / (p - 1.0))) ** (1.0 - 1.0 / p)
        dual = float(np.abs(a).sum() - 0.5 * norm)
        done = primal - dual <= tol * primal or iteration == max_iter
        if done or kept.due(iteration):
            kept.keep(Step(iteration, (), d, model.b, primal, dual))
        if done:
            break
        d = (d**2 * q) ** (1.0 / (p + 1.0))
        d /= np.sum(d**p) ** (1.0 / p)
    if primal - dual > tol * primal:
        said = f"kernel_weights stopped after {max_iter} machines"
        warn_stopped(said, primal - dual, tol * primal, "give a larger max_iter")
    return model, kept


def _sum(kernels: Sequence[Function], d: Array) -> Function:
    """The kernel sum_m d_m k_m."""
    return lambda X, Z: np.asarray(
        sum(weight * kernel(X, Z) for weight, kernel in zip(d, kernels, strict=True))
    )
