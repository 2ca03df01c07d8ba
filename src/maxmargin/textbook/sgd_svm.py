"""SGD-SVM: stochastic gradient descent as Bottou's program svmsgd does it (Bottou 2010).

``theory`` names it beside Pegasos. The objective is Pegasos' with a bias that is not penalised,

    P(w, b) = lambda/2 |w|^2 + 1/n sum_i max(0, 1 - y_i (w'x_i + b))

and the step of example i, with the rate eta_k = 1 / (lambda (k + k0)), is

    w <- (1 - eta_k lambda) w + eta_k y_i x_i  if y_i (w'x_i + b) < 1,  else (1 - eta_k lambda) w
    b <- b + SLOW eta_k y_i                    if y_i (w'x_i + b) < 1

Three things differ from Pegasos. k0 keeps the first steps small: Pegasos' first rate is 1 / lambda,
which throws w far away and takes many steps to forget; here the first rate is about the size that
|w| will have, (1 / sqrt(lambda))^(1/2), so k0 = 1 / (lambda eta_1). An epoch visits every example
once, in a new random order, instead of drawing them. And b moves at a slower rate, since all
examples push it. The mean of the iterates of the second half of the epochs (Polyak's and Ruppert's
averaging) converges as O(1 / k).
"""

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.textbook.checks import points
from maxmargin.textbook.models import LinearModel
from maxmargin.textbook.pegasos import check_lambda, pegasos_objective
from maxmargin.textbook.trace import Step, Trace

SLOW = 0.1
"""The rate of b, as a share of the rate of w."""


def sgd_svm(
    X: ArrayLike,
    y: ArrayLike,
    lam: float = 0.01,
    epochs: int = 50,
    average: bool = True,
    seed: int = 0,
    trace: int = 1,
) -> tuple[LinearModel, Trace]:
    """The linear soft margin by stochastic gradient descent.

    Parameters
    ----------
    X, y : the points and their labels -1 and +1; features should have similar scales.
    lam : the lecture's lambda, 1 / (n C).
    epochs : number of passes over the examples.
    average : return the mean of the second half of the iterates instead of the last.
    seed : seed of the orders.
    trace : keep the state after every `trace` epochs, 0 for never. The variables of a step are w.

    Returns
    -------
    model, trace

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = textbook.data.twenty_points()
    >>> model, trace = textbook.sgd_svm(X, y, lam=0.01, epochs=100)
    >>> int((model.predict(X) == y).sum())
    17
    """
    X, y = points(X, y)
    check_lambda(lam)
    if epochs < 1:
        raise ValueError(f"epochs={epochs} must be at least 1.")
    n, random = len(y), np.random.default_rng(seed)
    w, b, mean_w, mean_b = np.zeros(X.shape[1]), 0.0, np.zeros(X.shape[1]), 0.0
    k, first = 0, lam**-0.25
    k0, half = 1.0 / (lam * first), n * (epochs // 2)
    kept = Trace("SGD-SVM", trace, X, y, lambda step: LinearModel(step.variables, step.b))
    for epoch in range(1, epochs + 1):
        for i in random.permutation(n):
            k += 1
            rate = 1.0 / (lam * (k + k0))
            loss = y[i] * (X[i] @ w + b) < 1.0
            w *= 1.0 - rate * lam
            if loss:
                w += rate * y[i] * X[i]
                b += SLOW * rate * y[i]
            if average and k > half:
                mean_w += (w - mean_w) / (k - half)
                mean_b += (b - mean_b) / (k - half)
        if kept.due(epoch) or (trace and epoch == epochs):
            use_w, use_b = (mean_w, mean_b) if average and k > half else (w, b)
            objective = pegasos_objective(X @ use_w + use_b, use_w @ use_w, y, lam)
            kept.keep(Step(epoch, (), use_w.copy(), float(use_b), objective))
    return (LinearModel(mean_w, float(mean_b)) if average else LinearModel(w, float(b))), kept
