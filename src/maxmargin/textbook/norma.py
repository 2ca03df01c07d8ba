"""NORMA: online learning with kernels (Kivinen, Smola and Williamson 2004).

``theory`` names it first among the primal solvers. The function f = sum_j c_j k(x_j, .) follows the
stream of examples by gradient steps on the regularised loss of each,

    R_k(f) = max(0, 1 - y_i f(x_i)) + lambda/2 |f|^2

With the rate eta_k = eta / sqrt(k), step k

    shrinks all coefficients     c <- (1 - eta_k lambda) c
    and adds the example         c_i <- c_i + eta_k y_i     if y_i f(x_i) < 1

Old examples fade, so a sum of the last ``window`` steps alone is close to the whole one: what is
left out has shrunk by at least (1 - eta_K lambda)^window. This bounds the memory of an endless
stream. The mean of R_k(f_k) over K steps exceeds that of any fixed f by O(1 / sqrt(K)).

Pegasos is the same step with eta_k = 1 / (lambda k), faster for a fixed sample. There is no b here.
The production class is ``NormaSVC``; it also adapts the margin (rho, with its own nu).
"""

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.textbook.checks import points
from maxmargin.textbook.kernels import Function, gram, linear
from maxmargin.textbook.models import KernelModel
from maxmargin.textbook.pegasos import check_lambda, pegasos_objective
from maxmargin.textbook.trace import Step, Trace


def norma(
    X: ArrayLike,
    y: ArrayLike,
    lam: float = 0.01,
    kernel: Function = linear,
    eta: float = 1.0,
    window: int | None = None,
    steps: int = 10_000,
    seed: int = 0,
    trace: int = 100,
) -> tuple[KernelModel, Trace]:
    """NORMA with the hinge loss on a stream of examples drawn from X, y.

    Parameters
    ----------
    X, y : the points and their labels -1 and +1.
    lam : weight of the penalty, lambda.
    kernel : a function of ``textbook.kernels``.
    eta : rate of the first step; eta lam must be below 1.
    window : number of last steps to keep, None for all.
    steps : number of examples to draw.
    seed : seed of the draws.
    trace : keep the state after every `trace` steps, 0 for never. The variables of a step are the
        coefficients c.

    Returns
    -------
    model, trace

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = textbook.data.twenty_points()
    >>> model, trace = textbook.norma(X, y, lam=0.1, kernel=textbook.kernels.rbf(5.0), steps=2000)
    >>> int((model.predict(X) == y).sum())
    18
    """
    X, y = points(X, y)
    check_lambda(lam)
    if not 0 < eta * lam < 1:
        raise ValueError(f"eta lam = {eta * lam:g} must be between 0 and 1: give a smaller eta.")
    if window is not None and window < 1:
        raise ValueError(f"window={window} must be at least 1, or None to keep all steps.")
    K = gram(kernel, X)
    drawn = np.random.default_rng(seed).integers(len(y), size=steps)
    # c = scale * raw, so that shrinking all coefficients costs one product
    raw, added, scale = np.zeros(len(y)), np.zeros(steps), 1.0
    kept = Trace("NORMA", trace, X, y, lambda step: KernelModel(X, step.variables, 0.0, kernel))
    for k, i in enumerate(drawn, start=1):
        rate = eta / np.sqrt(k)
        loss = y[i] * scale * (K[i] @ raw) < 1.0
        scale *= 1.0 - rate * lam
        if loss:
            added[k - 1] = rate * y[i] / scale
            raw[i] += added[k - 1]
        if window is not None and k > window:
            raw[drawn[k - 1 - window]] -= added[k - 1 - window]
        if trace and (kept.due(k) or k == steps):
            c = scale * raw
            objective = pegasos_objective(K @ c, c @ K @ c, y, lam)
            kept.keep(Step(k, (int(i),), c, 0.0, objective))
    return KernelModel(X, scale * raw, 0.0, kernel), kept
