"""The losses of the lectures, as functions of target and prediction.

``straka``, "Comparison of Linear and Logistic Regression and SVM".

| model | loss of a point | written in the margin m = t y, t = +-1 |
|---|---|---|
| linear regression | 1/2 (t - y)^2 | 1/2 (m - 1)^2 |
| logistic regression | -log sigma(t y) | log(1 + exp(-m)) |
| softmax regression | -log softmax(y)_t | (for two classes with scores [y, 0] the logistic loss) |
| SVM | max(0, 1 - t y) | max(0, 1 - m) |
| SVM, squared (``revisited``) | max(0, 1 - t y)^2 | max(0, 1 - m)^2 |
| SVM for regression | max(0, abs(t - y) - epsilon) | |
| errors | 1 if t y < 0 | |

The first two are negative log-likelihoods: of the target t under a normal distribution around y,
-log N(t; y, sigma^2) = 1/2 (t - y)^2 / sigma^2 + log(sigma sqrt(2 pi)), which is the squared error
up to a factor and a constant, and of the label under P(t) = sigma(t y). The hinge loss is none.

Each adds 1/2 lambda |w|^2, or for the SVM multiplies the loss by C = 1 / lambda.
``theory`` calls the hinge loss the epsilon-insensitive loss with epsilon = 0:
that one is |t - y|, which equals the hinge loss only if t = +-1 and t y <= 1.
"""

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.textbook.checks import Array


def _margin(t: ArrayLike, y: ArrayLike) -> Array:
    """t y."""
    return np.asarray(np.asarray(t, float) * np.asarray(y, float))


def squared_error(t: ArrayLike, y: ArrayLike) -> Array:
    """1/2 (t - y)^2.

    Examples
    --------
    >>> from maxmargin.textbook import losses
    >>> losses.squared_error([1, -1], [0.5, 1.0])
    array([0.125, 2.   ])
    """
    return np.asarray(0.5 * (np.asarray(t, float) - np.asarray(y, float)) ** 2)


def gaussian_nll(t: ArrayLike, y: ArrayLike, sigma: float = 1.0) -> Array:
    """-log N(t; y, sigma^2): the squared error divided by sigma^2, plus a constant.

    Examples
    --------
    >>> from maxmargin.textbook import losses
    >>> (losses.gaussian_nll(1.0, 3.0) - losses.gaussian_nll(1.0, 1.0)).item()
    2.0
    """
    return np.asarray(squared_error(t, y) / sigma**2 + np.log(sigma * np.sqrt(2.0 * np.pi)))


def logistic(t: ArrayLike, y: ArrayLike) -> Array:
    """-log sigma(t y) with t = +-1, without overflow.

    Examples
    --------
    >>> from maxmargin.textbook import losses
    >>> losses.logistic([1, -1], [0.5, 1.0]).round(4)
    array([0.4741, 1.3133])
    """
    return np.asarray(np.logaddexp(0.0, -_margin(t, y)))


def softmax(t: ArrayLike, scores: ArrayLike) -> Array:
    """-log softmax(scores)_t; t is the index of the class, scores has a column for each class.

    Examples
    --------
    >>> from maxmargin.textbook import losses
    >>> losses.softmax([0, 1], [[2.0, 0.0], [2.0, 0.0]]).round(4)
    array([0.1269, 2.1269])
    """
    s = np.asarray(scores, float)
    of_class = np.take_along_axis(s, np.asarray(t, int)[..., None], axis=-1)[..., 0]
    return np.asarray(np.logaddexp.reduce(s, axis=-1) - of_class)


def hinge(t: ArrayLike, y: ArrayLike) -> Array:
    """max(0, 1 - t y).

    Examples
    --------
    >>> from maxmargin.textbook import losses
    >>> losses.hinge([1, -1], [0.5, 1.0])
    array([0.5, 2. ])
    """
    return np.asarray(np.maximum(0.0, 1.0 - _margin(t, y)))


def squared_hinge(t: ArrayLike, y: ArrayLike) -> Array:
    """max(0, 1 - t y)^2.

    Examples
    --------
    >>> from maxmargin.textbook import losses
    >>> losses.squared_hinge([1, -1], [0.5, 1.0])
    array([0.25, 4.  ])
    """
    return np.asarray(hinge(t, y) ** 2)


def epsilon_insensitive(t: ArrayLike, y: ArrayLike, epsilon: float = 0.1) -> Array:
    """max(0, |t - y| - epsilon).

    Examples
    --------
    >>> from maxmargin.textbook import losses
    >>> losses.epsilon_insensitive([1.0, 2.0], [1.25, 1.0], epsilon=0.5)
    array([0. , 0.5])
    """
    residual = np.asarray(t, float) - np.asarray(y, float)
    return np.asarray(np.maximum(0.0, np.abs(residual) - epsilon))


def zero_one(t: ArrayLike, y: ArrayLike) -> Array:
    """1 where the sign is wrong, 0 elsewhere. The other losses are surrogates for this one.

    Examples
    --------
    >>> from maxmargin.textbook import losses
    >>> losses.zero_one([1, -1], [0.5, 1.0])
    array([0., 1.])
    """
    return np.where(_margin(t, y) < 0, 1.0, 0.0)
