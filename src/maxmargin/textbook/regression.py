"""Linear, logistic and softmax regression, for the comparison with the SVM.

``straka``, the table of losses; ``fan``, "SVM vs. Logistic
regression". Each minimises

    sum_i loss(t_i, y(x_i)) + 1/2 lambda |w|^2          b is not penalised

with a loss of losses.py. The first is one linear system. The other two are smooth and convex, and
Newton's method solves them. With the probabilities p_i of the model, and t_i = 1 for the class and
0 for the others, the gradient and the Hessian are

    sum_i (p_i - t_i) x_i + lambda w    and    X'D X + lambda I,    D_i = p_i (1 - p_i)

Without lambda, separable classes have no minimum: scaling up the weights lowers the loss without
end. So lambda must be above 0 there.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maxmargin.textbook import losses
from maxmargin.textbook.checks import Array, labelled, matrix, points, targets
from maxmargin.textbook.models import LinearModel
from maxmargin.textbook.trace import Step, Trace


@dataclass(frozen=True, eq=False)
class SoftmaxModel:
    """Scores W'x + b, a column for each class; the largest wins."""

    W: Array
    b: Array
    classes: NDArray[Any]

    def decision_function(self, X: ArrayLike) -> Array:
        """The scores."""
        return np.asarray(matrix(X) @ self.W + self.b)

    def predict_proba(self, X: ArrayLike) -> Array:
        """softmax of the scores."""
        scores = self.decision_function(X)
        return np.asarray(np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class with the largest score."""
        return np.asarray(self.classes[np.argmax(self.decision_function(X), axis=1)])


def linear_regression(X: ArrayLike, y: ArrayLike, lam: float = 0.0) -> tuple[LinearModel, Trace]:
    """Least squares: (X'X + lambda I) w = X't on centred data, b from the means.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, t = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0]
    >>> model, trace = textbook.linear_regression(X, t)
    >>> model.predict([[5.0]]).round(3)
    array([5.])
    """
    X = matrix(X)
    t = targets(y, len(X))
    if not lam >= 0:
        raise ValueError(f"lam={lam} must not be negative.")
    means, mean = X.mean(axis=0), t.mean()
    d = X.shape[1]
    Z, z = np.vstack([X - means, np.sqrt(lam) * np.eye(d)]), np.append(t - mean, np.zeros(d))
    w = np.linalg.lstsq(Z, z, rcond=None)[0]
    model = LinearModel(w, float(mean - means @ w), regression=True)
    value = float(losses.squared_error(t, model.decision_function(X)).sum() + 0.5 * lam * w @ w)
    return model, Trace("linear regression", 1, steps=[Step(0, (), w, model.b, value)])


def logistic_regression(
    X: ArrayLike,
    y: ArrayLike,
    lam: float = 1.0,
    tol: float = 1e-10,
    max_iter: int = 100,
    trace: int = 1,
) -> tuple[LinearModel, Trace]:
    """Labels -1 and +1; the probability of +1 is sigma(w'x + b).

    It is solved as softmax regression with scores [y, 0].

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]
    >>> model, trace = textbook.logistic_regression(X, y)
    >>> model.predict([[0.0], [4.0]])
    array([-1.,  1.])
    """
    X, t = points(X, y)
    W, kept = _newton(X, t[:, None] > 0, lam, tol, max_iter, Trace("logistic regression", trace))
    return LinearModel(W[:-1, 0], float(W[-1, 0])), kept


def softmax_regression(
    X: ArrayLike,
    y: ArrayLike,
    lam: float = 1.0,
    tol: float = 1e-10,
    max_iter: int = 100,
    trace: int = 1,
) -> tuple[SoftmaxModel, Trace]:
    """Softmax regression for any number of classes.

    Adding a constant to all scores changes nothing, so the biases are made to sum to zero.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[0.0], [1.0], [3.0], [4.0], [7.0], [8.0]], ["a", "a", "b", "b", "c", "c"]
    >>> model, trace = textbook.softmax_regression(X, y)
    >>> model.predict([[0.0], [8.0]])
    array(['a', 'c'], dtype='<U1')
    """
    X, y, classes = labelled(X, y)
    T, kept = y[:, None] == classes, Trace("softmax regression", trace)
    W, kept = _newton(X, T, lam, tol, max_iter, kept)
    return SoftmaxModel(W[:-1], W[-1] - W[-1].mean(), classes), kept


def _newton(
    X: Array, T: NDArray[np.bool_], lam: float, tol: float, max_iter: int, kept: Trace
) -> tuple[Array, Trace]:
    """Newton's method for the weights W, whose last row is b.

    There is one score for two classes (the other is 0), or one score for each class.
    """
    if not lam > 0:
        raise ValueError(f"lam={lam} must be above 0: separable classes have no minimum otherwise.")
    Z, k = np.column_stack([X, np.ones(len(X))]), T.shape[1]
    # the biases of k classes are determined up to a constant
    ridge = np.tile(np.append(np.full(X.shape[1], lam), 1e-9 if k > 1 else 0.0), k)
    W = np.zeros((Z.shape[1], k))
    value, P = _objective(Z, T, W, ridge)
    for iteration in range(max_iter + 1):
        w = W.T.ravel()
        gradient = (Z.T @ (P - T)).T.ravel() + ridge * w
        steepest = float(np.abs(gradient).max())
        if kept.due(iteration):
            kept.keep(Step(iteration, (), w.copy(), float(W[-1, 0]), value, violation=steepest))
        if steepest <= tol * len(Z) or iteration == max_iter:
            break
        blocks = [
            [Z.T @ (Z * (P[:, [c]] * ((c == e) - P[:, [e]]))) for e in range(k)] for c in range(k)
        ]
        step = np.linalg.solve(np.block(blocks) + np.diag(ridge), gradient).reshape(k, -1).T
        length = 1.0
        while (lower := _objective(Z, T, W - length * step, ridge))[0] > value and length > 1e-10:
            length *= 0.5
        if lower[0] > value:
            break
        W, (value, P) = W - length * step, lower
    return W, kept


def _objective(Z: Array, T: NDArray[np.bool_], W: Array, ridge: Array) -> tuple[float, Array]:
    """Sum of losses + penalty, and the probabilities of the classes."""
    scores = Z @ W
    padded = np.column_stack([scores, np.zeros(len(Z))]) if W.shape[1] == 1 else scores
    target = np.where(T[:, 0], 0, 1) if W.shape[1] == 1 else np.argmax(T, axis=1)
    P = np.exp(scores - np.logaddexp.reduce(padded, axis=1)[:, None])
    return float(losses.softmax(target, padded).sum() + 0.5 * ridge @ W.T.ravel() ** 2), P
