"""Pegasos: stochastic subgradient steps on the primal.

Algorithms 10 and 11 of ``theory``. The objective is

    P(w) = lambda/2 |w|^2 + 1/n sum_i max(0, 1 - y_i w'x_i)

which is 1 / (n C) times the soft margin's primal for lambda = 1 / (n C). ((36) has a sum instead of
a mean and lambda = 1 / C, and lacks the plus sign between its two terms.) There is no bias: centre
the data, or give ``bias=True`` for a constant feature, whose weight is penalised.

Algorithm 10. Draw i; with eta_k = 1 / (lambda k)

    w <- (1 - eta_k lambda) w + eta_k y_i x_i    if y_i w'x_i < 1,
    w <- (1 - eta_k lambda) w                    otherwise.

Algorithm 11, the same with kernels. After k steps w = 1 / (lambda k) sum_j alpha_j y_j phi(x_j),
where alpha_j counts how often j was drawn with a loss, so step k tests

    y_i 1 / (lambda (k - 1)) sum_j alpha_j y_j k(x_j, x_i) < 1,    alpha_i <- alpha_i + 1 if so.

The lecture prints y_i inside the sum instead of y_j, and 1 / (lambda k), the factor after the step.
With the factor here, both algorithms take the same steps if the kernel is linear. The mean of all
iterates converges as O(log k / k). The mean of the second half, which ``average=True`` returns,
converges as O(1 / k).
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.textbook.checks import Array, points
from maxmargin.textbook.kernels import Function, gram, linear
from maxmargin.textbook.models import KernelModel, LinearModel
from maxmargin.textbook.trace import Step, Trace


def pegasos(
    X: ArrayLike,
    y: ArrayLike,
    lam: float = 0.01,
    steps: int = 10_000,
    bias: bool = False,
    average: bool = False,
    seed: int = 0,
    trace: int = 100,
) -> tuple[LinearModel, Trace]:
    """Algorithm 10: the linear model.

    Parameters
    ----------
    X, y : the points and their labels -1 and +1.
    lam : the lecture's lambda, 1 / (n C).
    steps : number of points to draw.
    bias : add a constant feature of one.
    average : return the mean of the second half of the iterates instead of the last.
    seed : seed of the draws.
    trace : keep the state after every `trace` steps, 0 for never.

    Returns
    -------
    model, trace

    See Also
    --------
    maxmargin.PegasosSVC : for real work.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]
    >>> model, trace = textbook.pegasos(X, y, bias=True, steps=2000)
    >>> model.predict(X)
    array([-1., -1.,  1.,  1.])
    """
    data, y = points(X, y)
    check_lambda(lam)
    X = np.column_stack([data, np.ones(len(data))]) if bias else data
    w, mean = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    drawn = np.random.default_rng(seed).integers(len(y), size=steps)
    kept = Trace(
        "Pegasos", trace, data, y, lambda step: LinearModel.of_weights(step.variables, bias)
    )

    def state(k: int, *chosen: int) -> Step:
        objective = pegasos_objective(X @ w, w @ w, y, lam)
        return Step(k, chosen, w.copy(), w[-1] if bias else 0.0, objective)

    for k, i in enumerate(drawn, start=1):
        eta = 1.0 / (lam * k)
        loss = y[i] * (X[i] @ w) < 1.0
        w *= 1.0 - eta * lam
        if loss:
            w += eta * y[i] * X[i]
        if 2 * k > steps:
            mean += w / (steps - steps // 2)
        if kept.due(k):
            kept.keep(state(k, int(i)))
    if trace:
        kept.keep(state(steps))
    return LinearModel.of_weights(mean if average else w, bias), kept


def kernel_pegasos(
    X: ArrayLike,
    y: ArrayLike,
    lam: float = 0.01,
    kernel: Function = linear,
    steps: int = 10_000,
    seed: int = 0,
    trace: int = 100,
) -> tuple[KernelModel, Trace]:
    """Algorithm 11: the same in a kernel's feature space; parameters as in ``pegasos``.

    The variables of a step are the counts alpha.

    See Also
    --------
    maxmargin.PegasosSVC : for real work.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]
    >>> model, trace = textbook.kernel_pegasos(X, y, kernel=textbook.kernels.rbf(0.5), steps=200)
    >>> model.predict(X)
    array([-1., -1.,  1.,  1.])
    """
    X, y = points(X, y)
    check_lambda(lam)
    K, alpha = gram(kernel, X), np.zeros(len(y))
    drawn = np.random.default_rng(seed).integers(len(y), size=steps)

    def model_at(step: Step) -> KernelModel:
        return KernelModel(X, step.variables * y / (lam * max(step.iteration, 1)), 0.0, kernel)

    def state(k: int, *chosen: int) -> Step:
        coef = alpha * y / (lam * max(k, 1))
        values = K @ coef
        objective = pegasos_objective(values, coef @ values, y, lam)
        return Step(k, chosen, alpha.copy(), 0.0, objective)

    kept = Trace("kernel Pegasos", trace, X, y, model_at)
    for k, i in enumerate(drawn, start=1):
        if y[i] * (K[i] @ (alpha * y)) < lam * (k - 1) or k == 1:
            alpha[i] += 1.0
        if kept.due(k):
            kept.keep(state(k, int(i)))
    if trace:
        kept.keep(state(steps))
    return model_at(Step(steps, (), alpha)), kept


def pegasos_objective(values: Array, squared_norm: Any, y: Array, lam: float) -> float:
    """lambda/2 |w|^2 + mean hinge loss.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import textbook
    >>> values, y = np.array([0.5, 2.0]), np.array([1.0, 1.0])
    >>> textbook.pegasos_objective(values, squared_norm=1.0, y=y, lam=0.1)
    0.3
    """
    return float(0.5 * lam * squared_norm + np.maximum(0.0, 1.0 - y * values).mean())


def check_lambda(lam: float) -> None:
    """The penalty must be above 0."""
    if not lam > 0:
        raise ValueError(f"lam={lam} must be above 0; it is 1 / (n C).")
