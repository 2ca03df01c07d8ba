"""Rules of thumb of the lectures, as functions.

``theory``, after (33): "a good value for epsilon has to be proportional to the input noise level"
(Cherkassky and Ma 2004). Their rules, for n targets with noise of standard deviation sigma:

    epsilon = 3 sigma sqrt(log(n) / n)
    C       = max(|mean(y) + 3 std(y)|, |mean(y) - 3 std(y)|)
    sigma^2 = n^(1/5) k / (n^(1/5) k - 1)  mean((y - mean of the k nearest targets)^2)

The noise is estimated by the residuals of nearest neighbours, k from 2 to 6.

``fan``, "Logistic regression (LR) vs. SVM": with many features for the number of samples a linear
machine separates; with few features and a middling number of samples use the Gaussian kernel; with
few features and many samples add features and use a linear machine, since the time of a kernel
machine grows with the square of the number of samples. ``maxmargin.model_selection.diagnose`` gives
the same answer among its findings.
"""

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.model_selection import findings
from maxmargin.textbook.checks import matrix, targets
from maxmargin.textbook.kernels import squared_distances


def noise_level(X: ArrayLike, y: ArrayLike, k: int = 3) -> float:
    """The standard deviation of the noise in the targets, from the k nearest neighbours.

    A point counts among its own neighbours, which the first factor makes up for.

    Examples
    --------
    >>> from maxmargin.textbook import practice
    >>> round(practice.noise_level([[0.0], [0.0], [1.0], [1.0]], [1.0, -1.0, 2.0, 0.0], k=2), 3)
    1.269
    """
    X = matrix(X)
    t = targets(y, len(X))
    n = len(t)
    if not 2 <= k <= n:
        raise ValueError(f"k={k} must be between 2 and the number of points, {n}.")
    near = np.argsort(squared_distances(X, X), axis=1, kind="stable")[:, :k]
    freedom = n**0.2 * k
    return float(np.sqrt(freedom / (freedom - 1.0) * np.mean((t - t[near].mean(axis=1)) ** 2)))


def epsilon_of_noise(sigma: float, n: int) -> float:
    """epsilon for targets with noise of this standard deviation.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> round(textbook.practice.epsilon_of_noise(0.1, 100), 4)
    0.0644
    """
    if not (sigma >= 0 and n >= 1):
        raise ValueError(f"sigma={sigma} must not be negative and n={n} must be at least 1.")
    return float(3.0 * sigma * np.sqrt(np.log(n) / n))


def C_of_targets(y: ArrayLike) -> float:
    """C of the size of the targets.

    Examples
    --------
    >>> from maxmargin.textbook import practice
    >>> practice.C_of_targets([-1.0, 1.0])
    3.0
    """
    t = np.asarray(y, float)
    return float(np.max(np.abs(t.mean() + np.array([-3.0, 3.0]) * t.std())))


def which_machine(n_features: int, n_samples: int) -> str:
    """The rule of features against samples, in words.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> "Try LinearSVC" in textbook.practice.which_machine(5000, 200)
    True
    """
    return str(findings.kernel(n_samples, n_features))
