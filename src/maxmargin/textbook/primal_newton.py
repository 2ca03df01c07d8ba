"""Newton's method on the primal with a kernel (Chapelle 2007).

Section "Primal gradient methods" of ``theory``, (37) to (39).

By the representer theorem y(x) = sum_j beta_j k(x_j, x) + b. With the squared hinge loss the primal
is once differentiable:

    P(beta, b) = 1/2 beta'K beta + C sum_i max(0, 1 - t_i y(x_i))^2

((37) has lambda / 2 and (38) lambda, both divide the sum by n, and both leave b out "for
simplicity"; here it is the soft margin's scale, lambda = 1 / (2 C n) in (38), with b.) For the
points S with a loss, t_i y(x_i) < 1, P is a quadratic; its minimum solves

    (K_SS + I / (2 C)) beta_S + b 1 = t_S,      sum over S of beta = 0,      beta = 0 outside S

which is one Newton step. Steps are repeated until S stays the same; then P is at its minimum. There
are finitely many steps, each a linear system of size |S| + 1. A step is shortened if it would not
lower P. In the trace, ``violation`` is |sum_i a_i t_i| of the multipliers a = 2 C xi. The
production solver is ``SVC(loss="squared_hinge", solver="newton")``.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maxmargin.textbook.checks import Array, points
from maxmargin.textbook.kernels import Function, gram, linear
from maxmargin.textbook.models import KernelModel
from maxmargin.textbook.soft_margin import check_C
from maxmargin.textbook.trace import Step, Trace


def primal_newton(
    X: ArrayLike,
    y: ArrayLike,
    C: float = 1.0,
    kernel: Function = linear,
    max_iter: int = 100,
    trace: int = 1,
) -> tuple[KernelModel, Trace]:
    """The soft margin with the squared hinge loss, by Newton's method.

    Parameters
    ----------
    X, y : the points and their labels -1 and +1.
    C : the price of a squared unit of slack.
    kernel : a function of ``textbook.kernels``.
    max_iter : stop after this many Newton steps in any case.
    trace : keep the state after every `trace` steps, 0 for never. The variables of a step are beta.

    Returns
    -------
    model, trace

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]
    >>> model, trace = textbook.primal_newton(X, y, kernel=textbook.kernels.rbf(0.5))
    >>> model.predict(X)
    array([-1., -1.,  1.,  1.])
    """
    X, t = points(X, y)
    check_C(C)
    K, beta, b = gram(kernel, X), np.zeros(len(t)), 0.0
    kept = Trace(
        "primal Newton", trace, X, t, lambda step: KernelModel(X, step.variables, step.b, kernel)
    )
    P = _primal(K, t, beta, b, C)
    for iteration in range(max_iter + 1):
        S = t * (K @ beta + b) < 1.0
        if kept.due(iteration):
            kept.keep(_state(iteration, S, K, t, beta, b, C))
        if not S.any():
            break
        target, target_b = _newton_point(K, t, S, C)
        length, lower = 1.0, np.inf
        while length > 1e-10:
            new_beta, new_b = beta + length * (target - beta), b + length * (target_b - b)
            lower = _primal(K, t, new_beta, new_b, C)
            if lower < P:
                break
            length *= 0.5
        if lower >= P * (1.0 - 1e-14):
            break
        beta, b, P = new_beta, new_b, lower
    if trace:
        kept.keep(_state(iteration, S, K, t, beta, b, C))
    return KernelModel(X, beta, b, kernel), kept


def _newton_point(K: Array, t: Array, S: NDArray[np.bool_], C: float) -> tuple[Array, float]:
    """The minimum of P if S stayed as it is."""
    n = int(S.sum())
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = K[np.ix_(S, S)] + np.eye(n) / (2.0 * C)
    system[n, n] = 0.0
    found = np.linalg.solve(system, np.append(t[S], 0.0))
    beta = np.zeros(len(t))
    beta[S] = found[:n]
    return beta, float(found[n])


def _primal(K: Array, t: Array, beta: Array, b: float, C: float) -> float:
    """1/2 beta'K beta + C sum of squared hinge losses."""
    values = K @ beta
    return float(0.5 * beta @ values + C * np.sum(np.maximum(0.0, 1.0 - t * (values + b)) ** 2))


def _state(
    iteration: int, S: NDArray[np.bool_], K: Array, t: Array, beta: Array, b: float, C: float
) -> Step:
    """The state. The dual objective is that of a = 2 C xi, with one class scaled down.

    The class with the larger sum of a is scaled so that sum_i a_i t_i = 0.
    """
    a = 2.0 * C * np.maximum(0.0, 1.0 - t * (K @ beta + b))
    heavy, light = (t, -t) if a @ t > 0 else (-t, t)
    unbalanced = abs(float(a @ t))
    a[heavy > 0] *= a[light > 0].sum() / max(a[heavy > 0].sum(), 1e-300)
    dual = a.sum() - 0.5 * (a * t) @ K @ (a * t) - a @ a / (4.0 * C)
    primal, chosen = _primal(K, t, beta, b, C), tuple(map(int, np.flatnonzero(S)))
    return Step(iteration, chosen, beta.copy(), b, primal, float(dual), unbalanced)
