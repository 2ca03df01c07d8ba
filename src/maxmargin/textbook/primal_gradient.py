"""Gradient descent and conjugate gradients on the primal with a kernel.

``theory`` (38) and (39): after the representer theorem, y(x) = sum_j beta_j k(x_j, x), "the problem
can be solved by standard techniques like gradient descent, conjugate gradient or Newton's method,
as long as L is differentiable". primal_newton.py is the third; this page has the first two, with
the squared hinge loss and, as the lecture, without b:

    P(beta) = 1/2 beta'K beta + C sum_i xi_i^2,     xi_i = max(0, 1 - t_i y(x_i)),     y = K beta

The gradient with respect to beta is K r with r = beta - 2 C t xi. In the feature space, where the
length of sum_j r_j phi(x_j) is r'K r, the gradient is r itself: this is Chapelle's preconditioner,
and it saves the product with K. Both methods move along a direction s, to the minimum on the line:

    gradient descent      s = -r
    conjugate gradients   s = -r + max(0, q) s old,   q = r'K (r - r old) / (r old'K r old)

(Polak and Ribière). P along a line is a parabola between the points where some xi_i becomes zero,
so Newton's method on the step's length ends after a few systems of size one. Gradient descent
needs more steps the larger C is, as 1 + 2 C |K|; conjugate gradients about its square root.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.textbook.checks import Array, points, warn_stopped
from maxmargin.textbook.kernels import Function, gram, linear
from maxmargin.textbook.models import KernelModel
from maxmargin.textbook.soft_margin import check_C
from maxmargin.textbook.trace import Step, Trace


def primal_gradient(
    X: ArrayLike,
    y: ArrayLike,
    C: float = 1.0,
    kernel: Function = linear,
    method: Literal["gradient descent", "conjugate gradients"] = "conjugate gradients",
    tol: float = 1e-6,
    max_iter: int = 10_000,
    trace: int = 1,
) -> tuple[KernelModel, Trace]:
    """The soft margin without b, with the squared hinge loss, by steps on the primal.

    Parameters
    ----------
    X, y : the points and their labels -1 and +1.
    C : the price of a squared unit of slack.
    kernel : a function of ``textbook.kernels``.
    method : the direction of a step, see above.
    tol : stop when the gradient has this share of its first length.
    max_iter : stop after this many steps in any case.
    trace : keep the state after every `trace` steps, 0 for never. The variables of a step are beta,
        the violation is the length of the gradient.

    Returns
    -------
    model, trace

    See Also
    --------
    primal_newton : needs fewer steps.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]
    >>> model, trace = textbook.primal_gradient(X, y, kernel=textbook.kernels.rbf(0.5))
    >>> model.predict(X)
    array([-1., -1.,  1.,  1.])
    """
    X, t = points(X, y)
    check_C(C)
    if method not in ("gradient descent", "conjugate gradients"):
        raise ValueError(
            f"method={method!r} is neither 'gradient descent' nor 'conjugate gradients'."
        )
    K, beta = gram(kernel, X), np.zeros(len(t))
    values, s = np.zeros(len(t)), np.zeros(len(t))
    old, first = (np.zeros(len(t)), 1.0), 0.0

    def model_at(step: Step) -> KernelModel:
        return KernelModel(X, step.variables, 0.0, kernel)

    kept = Trace(f"primal {method}", trace, X, t, model_at)
    for iteration in range(max_iter + 1):
        xi = np.maximum(0.0, 1.0 - t * values)
        r = beta - 2.0 * C * t * xi
        Kr = values - 2.0 * C * K @ (t * xi)
        length = max(float(r @ Kr), 0.0) ** 0.5
        first = first or length
        done = length <= tol * first or iteration == max_iter
        if trace and (done or kept.due(iteration)):
            kept.keep(_state(iteration, K, t, beta, values, xi, C, length))
        if done:
            break
        q = max(0.0, float(Kr @ (r - old[0])) / old[1]) if iteration else 0.0
        s = -r + q * s if method == "conjugate gradients" else -r
        Ks = K @ s
        if s @ Kr >= 0.0:  # no longer downhill: begin again with the gradient
            s, Ks = -r, -Kr
        step = _best_step(values, Ks, float(beta @ Ks), float(s @ Ks), t, C)
        beta, values, old = beta + step * s, values + step * Ks, (r, length**2)
    if length > tol * first:
        what = f"primal_gradient stopped after {max_iter} steps"
        warn_stopped(what, length / first, tol, "give a larger max_iter, or a lower C")
    return KernelModel(X, beta, 0.0, kernel), kept


def _best_step(values: Array, Ks: Array, inner: float, curve: float, t: Array, C: float) -> float:
    """The minimum of P(beta + step s): Newton's method on a function that is piecewise a parabola.

    inner = beta'K s and curve = s'K s.
    """
    step = 0.0
    for _ in range(100):
        xi = np.maximum(0.0, 1.0 - t * (values + step * Ks))
        slope = inner + step * curve - 2.0 * C * float((t * xi) @ Ks)
        move = slope / (curve + 2.0 * C * float(np.sum(Ks[xi > 0.0] ** 2)))
        step -= move
        if abs(move) <= 1e-14 * abs(step):
            break
    return step


def _state(
    iteration: int, K: Array, t: Array, beta: Array, values: Array, xi: Array, C: float, size: float
) -> Step:
    """The state; the dual objective is that of a = 2 C xi, which is feasible without b."""
    a = 2.0 * C * xi
    primal = 0.5 * float(beta @ values) + C * float(xi @ xi)
    dual = float(a.sum() - 0.5 * (a * t) @ K @ (a * t) - a @ a / (4.0 * C))
    return Step(iteration, (), beta.copy(), 0.0, primal, dual, size)
