"""Support vector data description: the smallest ball that holds the data (Tax and Duin 2004).

``theory`` (30) has its sibling, the one-class SVM.

    primal:  minimise over c, R, xi >= 0   R^2 + C sum_i xi_i
             subject to   |phi(x_i) - c|^2 <= R^2 + xi_i
    dual:    maximise over a   sum_i a_i k(x_i, x_i) - a'K a
             subject to   a'1 = 1,  0 <= a_i <= C
    centre:  c = sum_i a_i phi(x_i)

    |phi(x) - c|^2 = k(x, x) - 2 sum_i a_i k(x_i, x) + a'K a

Points with 0 < a_i < C lie on the ball, which gives R; those with a_i = C lie outside, and at most
1 / C of them do. A C of 1 or more leaves no point outside: the smallest enclosing ball. If k(x, x)
is the same for all x, as with an RBF kernel, the dual is that of the one-class SVM with
nu = 1 / (n C).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.textbook.checks import Array, matrix
from maxmargin.textbook.kernels import Function, gram, linear
from maxmargin.textbook.models import Model
from maxmargin.textbook.quadratic_program import QuadraticProgram, box, level, solve, tidy
from maxmargin.textbook.trace import Step, Trace


@dataclass(frozen=True, eq=False)
class Ball(Model):
    """A ball in the kernel's feature space; its decision function is R^2 - |phi(x) - c|^2.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import textbook
    >>> ball = textbook.Ball(np.array([[-1.0], [1.0]]), np.array([0.5, 0.5]), radius=1.0)
    >>> ball.decision_function([[0.0], [2.0]])
    array([ 1., -3.])
    """

    X: Array
    alpha: Array
    radius: float
    kernel: Function = linear
    b: float = 0.0
    regression: bool = False

    def squared_distances(self, X: ArrayLike) -> Array:
        """|phi(x) - c|^2 for each row of X."""
        X = np.asarray(X, float)
        own = np.array([self.kernel(x[None], x[None])[0, 0] for x in X])
        centre = float(self.alpha @ self.kernel(self.X, self.X) @ self.alpha)
        return np.asarray(own - 2.0 * self.kernel(X, self.X) @ self.alpha + centre)

    def decision_function(self, X: ArrayLike) -> Array:
        """R^2 - |phi(x) - c|^2 for each row of X: positive inside."""
        return np.asarray(self.radius**2 - self.squared_distances(X))


def svdd(
    X: ArrayLike, C: float = 1.0, kernel: Function = linear, trace: int = 1
) -> tuple[Ball, Trace]:
    """The smallest ball by a QP library.

    Parameters
    ----------
    X : the points.
    C : the price of a unit outside the ball, at least 1 / n; from 1 on no point is outside.
    kernel : a function of ``textbook.kernels``; the linear one gives a ball in the data's space.
    trace : 0 to keep no trace; the trace has one step, the end.

    Returns
    -------
    model, trace
        ``model.predict`` is +1 inside, -1 outside.

    See Also
    --------
    maxmargin.SVDD : for real work.
    one_class : a plane instead of a ball.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> ball, trace = textbook.svdd([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]])
    >>> (ball.alpha @ ball.X).round(4), round(ball.radius, 4)
    (array([1., 0.]), 1.0)
    """
    X = matrix(X)
    n = len(X)
    if not C * n >= 1:
        raise ValueError(
            f"C={C} must be at least 1/n = {1 / n:.4g}: the a_i <= C must add up to 1."
        )
    K = gram(kernel, X)
    program = QuadraticProgram(2.0 * K, -K.diagonal(), *box(n, C), np.ones((1, n)), np.ones(1))
    a = tidy(solve(program), C)
    distances = K.diagonal() - 2.0 * K @ a + a @ K @ a
    # Outside means a larger distance, so the sign is that of a bound from above.
    squared = max(level(distances, a, C, -np.ones(n)), 0.0)
    squared += 1e-8 * float(np.abs(distances).max())  # rounding must not move points outside
    kept = Trace("SVDD", trace)
    if trace:
        primal = squared + C * float(np.maximum(0.0, distances - squared).sum())
        kept.keep(Step(0, (), a, 0.0, primal, float(a @ K.diagonal() - a @ K @ a)))
    return Ball(X, a, float(np.sqrt(squared)), kernel), kept
