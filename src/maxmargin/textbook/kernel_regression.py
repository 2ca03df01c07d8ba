"""Kernel regression by single coordinates: one example at a time.

``straka``: "The Kernel linear regression dual formulation with single-example batches was in fact
trained by a coordinate descent". With y(x) = sum_j beta_j k(x_j, x), least squares with a ridge is

    minimise over w   1/2 sum_i (t_i - w'phi(x_i))^2 + lambda/2 |w|^2,     w = sum_j beta_j phi(x_j)

A step of size alpha down the gradient of example i alone, and of its share of the ridge, is

    beta_i <- beta_i - alpha (y(x_i) - t_i + lambda beta_i)

It changes a single beta_i, and its bracket is the derivative with respect to beta_i of

    f(beta) = 1/2 beta'(K + lambda I) beta - t'beta

So training by single examples is coordinate descent on f, whose minimum (K + lambda I) beta = t is
the regression. With alpha = 1 / (k_ii + lambda) the step is the exact minimum over beta_i (one
step of Gauss and Seidel); it lowers f by r_i^2 / (2 (k_ii + lambda)), r_i the bracket. There is no
b: centre the targets.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.textbook.checks import Array, matrix, targets, warn_stopped
from maxmargin.textbook.kernels import Function, gram, linear
from maxmargin.textbook.models import KernelModel
from maxmargin.textbook.trace import Step, Trace


def kernel_regression(
    X: ArrayLike,
    y: ArrayLike,
    lam: float = 1.0,
    kernel: Function = linear,
    order: Literal["cyclic", "largest decrease"] = "cyclic",
    tol: float = 1e-6,
    max_sweeps: int = 10_000,
    trace: int = 1,
) -> tuple[KernelModel, Trace]:
    """Kernel ridge regression, one example at a time.

    Parameters
    ----------
    X, y : the points and their targets t.
    lam : the lecture's lambda, above 0.
    kernel : a function of ``textbook.kernels``.
    order : examples in turn, or always the one whose update lowers f most.
    tol : stop when no derivative of f is larger than this share of the largest target.
    max_sweeps : stop after this many times n updates in any case.
    trace : keep the state after every `trace` updates, 0 for never; primal is f.

    Returns
    -------
    model, trace

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, t = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0]
    >>> model, trace = textbook.kernel_regression(X, t, lam=0.01, kernel=textbook.kernels.rbf(0.5))
    >>> model.predict(X).round(1)
    array([0., 1., 2., 3.])
    """
    X = matrix(X)
    t = targets(y, len(X))
    if not lam > 0:
        raise ValueError(f"lam={lam} must be above 0: otherwise equal points leave beta open.")
    if order not in ("cyclic", "largest decrease"):
        raise ValueError(f"order={order!r} is neither 'cyclic' nor 'largest decrease'.")
    n, K, beta = len(t), gram(kernel, X), np.zeros(len(t))
    r, curvature = -t.copy(), K.diagonal() + lam
    chosen: tuple[int, ...] = ()

    def model_at(step: Step) -> KernelModel:
        return KernelModel(X, step.variables, 0.0, kernel, regression=True)

    kept = Trace(f"kernel regression, {order}", trace, model_at=model_at)
    for k in range(max_sweeps * n + 1):
        done = np.abs(r).max() <= tol * np.abs(t).max() or k == max_sweeps * n
        if trace and (done or kept.due(k)):
            kept.keep(_state(k, chosen, beta, r, t))
        if done:
            break
        i = int(np.argmax(r**2 / curvature)) if order == "largest decrease" else k % n
        chosen, move = (i,), -r[i] / curvature[i]
        beta[i] += move
        r += move * K[i]
        r[i] += move * lam
    if np.abs(r).max() > tol * np.abs(t).max():
        what = f"kernel_regression stopped after {max_sweeps} sweeps"
        share = float(np.abs(r).max() / np.abs(t).max())
        warn_stopped(what, share, tol, "give a larger max_sweeps or lam")
    return KernelModel(X, beta, 0.0, kernel, regression=True), kept


def _state(k: int, chosen: tuple[int, ...], beta: Array, r: Array, t: Array) -> Step:
    """f = 1/2 beta'(r + t) - t'beta, and the largest derivative."""
    f = 0.5 * float(beta @ (r - t))
    return Step(k, chosen, beta.copy(), primal=f, violation=float(np.abs(r).max()))
