"""The Lasso beside ridge regression: a penalty that sets weights to zero.

``theory``, before Pegasos, on centred data:

    minimise over w   sum_i (y_i - w'x_i)^2     subject to   sum_j |w_j| <= t

For every t there is a lambda with the same solution, and the other way round with t = sum_j |w_j|:

    minimise over w   1/2 sum_i (y_i - w'x_i)^2 + lambda sum_j |w_j|

The Lasso has a smooth loss and a penalty with kinks; the SVM a smooth penalty and a loss with
kinks. Each kink of |w_j| concerns one coordinate, so coordinate descent works. With the residual
e = y - X w, the minimum over w_j alone is

    w_j <- S(x_j'e + |x_j|^2 w_j, lambda) / |x_j|^2,     S(z, lambda) = sign(z) max(0, |z| - lambda)

where x_j is the j-th column. S sets w_j to zero where ridge regression (``linear_regression``) only
divides it by 1 + lambda / |x_j|^2. At lambda >= max_j |x_j'y| all weights are zero. The stopping
rule is the duality gap: e scaled to max_j |x_j'e| <= lambda is feasible for the dual

    maximise over u   1/2 |y|^2 - 1/2 |y - u|^2     subject to   max_j |x_j'u| <= lambda
"""

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.textbook.checks import Array, matrix, targets, warn_stopped
from maxmargin.textbook.models import LinearModel
from maxmargin.textbook.trace import Step, Trace


def lasso(
    X: ArrayLike,
    y: ArrayLike,
    lam: float = 1.0,
    tol: float = 1e-8,
    max_sweeps: int = 10_000,
    trace: int = 1,
) -> tuple[LinearModel, Trace]:
    """The Lasso by coordinate descent; b is not penalised.

    Parameters
    ----------
    X, y : the points and their targets.
    lam : the price of a unit of |w_j|, lambda.
    tol : stop when the duality gap is below this share of the primal.
    max_sweeps : stop after this many sweeps over the weights in any case.
    trace : keep the state after every `trace` sweeps, 0 for never.

    Returns
    -------
    model, trace

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, t = [[0.0, 1.0], [1.0, -1.0], [2.0, 1.0], [3.0, -1.0]], [0.0, 1.0, 2.0, 3.0]
    >>> model, trace = textbook.lasso(X, t, lam=0.5)
    >>> model.w != 0
    array([ True, False])
    """
    X = matrix(X)
    t = targets(y, len(X))
    if not lam > 0:
        raise ValueError(f"lam={lam} must be above 0; linear_regression is the case 0.")
    Z, z = X - X.mean(axis=0), t - t.mean()
    w, e, squares = np.zeros(X.shape[1]), z.copy(), np.sum(Z * Z, axis=0)
    kept = Trace("Lasso", trace)
    for sweep in range(max_sweeps + 1):
        primal, dual = _objectives(Z, z, e, w, lam)
        done = primal - dual <= tol * primal or sweep == max_sweeps
        if trace and (done or kept.due(sweep)):
            b = float(t.mean() - X.mean(axis=0) @ w)
            kept.keep(Step(sweep, (), w.copy(), b, primal, dual))
        if done:
            break
        for j in np.flatnonzero(squares):
            pull = Z[:, j] @ e + squares[j] * w[j]
            new = np.sign(pull) * max(0.0, abs(pull) - lam) / squares[j]
            e += (w[j] - new) * Z[:, j]
            w[j] = new
    if primal - dual > tol * primal:
        what, gap = f"lasso stopped after {max_sweeps} sweeps", (primal - dual) / primal
        warn_stopped(what, gap, tol, "give a larger max_sweeps")
    return LinearModel(w, float(t.mean() - X.mean(axis=0) @ w), regression=True), kept


def _objectives(Z: Array, z: Array, e: Array, w: Array, lam: float) -> tuple[float, float]:
    """The primal, and the dual at e scaled into its feasible set."""
    largest = float(np.abs(Z.T @ e).max(initial=0.0))
    u = e * min(1.0, lam / largest) if largest else e
    primal = 0.5 * float(e @ e) + lam * float(np.abs(w).sum())
    return primal, 0.5 * float(z @ z - (z - u) @ (z - u))
