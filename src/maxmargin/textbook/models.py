"""What the algorithms of the lectures return: a model that can be evaluated.

    KernelModel   y(x) = sum_i coef_i k(x_i, x) + b
    LinearModel   y(x) = w'x + b

coef_i is a_i t_i for classification and a_i^+ - a_i^- for regression.

The class of a point is the sign of y(x). Labels are -1 and +1.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maxmargin.textbook.checks import Array
from maxmargin.textbook.kernels import Function, linear


class Model(ABC):
    """A decision function of the lectures.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]
    >>> model, trace = textbook.smo(X, y)
    >>> isinstance(model, textbook.Model)
    True
    >>> model.decision_function([[2.5]]).round(4)
    array([0.5])
    """

    b: float
    regression: bool

    @abstractmethod
    def decision_function(self, X: ArrayLike) -> Array:
        """y(x) for each row of X."""

    def predict(self, X: ArrayLike) -> Array:
        """The sign of y(x), -1 or +1, or y(x) itself for a regression.

        A point on the boundary counts as +1 (``fan`` takes -1).
        """
        values = self.decision_function(X)
        return values if self.regression else np.where(values >= 0, 1.0, -1.0)


@dataclass(frozen=True, eq=False)
class LinearModel(Model):
    """y(x) = w'x + b.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import textbook
    >>> model = textbook.LinearModel(np.array([1.0, -1.0]), b=0.5)
    >>> model.decision_function([[2.0, 1.0]])
    array([1.5])
    """

    w: Array
    b: float = 0.0
    regression: bool = False

    @classmethod
    def of_weights(cls, w: Array, bias: bool) -> "LinearModel":
        """The model with these weights; with a bias, the last weight is b."""
        return cls(w[:-1], float(w[-1])) if bias else cls(w)

    def decision_function(self, X: ArrayLike) -> Array:
        """w'x + b for each row of X."""
        return np.asarray(np.asarray(X, float) @ self.w + self.b)


@dataclass(frozen=True, eq=False)
class KernelModel(Model):
    """y(x) = sum_i coef_i k(x_i, x) + b.

    ``theory`` (27), ``fan`` (46).

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import textbook
    >>> model = textbook.KernelModel(np.array([[1.0], [3.0]]), np.array([-0.5, 0.5]), b=-2.0)
    >>> model.decision_function([[2.0], [3.0]])
    array([0., 1.])
    >>> model.predict([[0.0], [4.0]])
    array([-1.,  1.])
    """

    X: Array
    coef: Array
    """One signed coefficient for each training point: a_i t_i, or a_i^+ - a_i^- in regression."""
    b: float = 0.0
    kernel: Function = linear
    regression: bool = False
    epsilon: float | None = None
    """Half the width of the tube of a support vector regression."""

    def decision_function(self, X: ArrayLike) -> Array:
        """y(x) for each row of X, from the support vectors alone."""
        S = self.support
        return self.kernel(np.asarray(X, float), self.X[S]) @ self.coef[S] + self.b

    @property
    def alpha(self) -> Array:
        """The multipliers |coef_i| >= 0."""
        return np.abs(self.coef)

    @property
    def support(self) -> NDArray[np.intp]:
        """Indices of the support vectors: the points with a nonzero multiplier."""
        return np.flatnonzero(self.coef)

    @property
    def w(self) -> Array:
        """w = sum_i a_i t_i x_i (``theory`` (9), (44)); only for the linear kernel."""
        if self.kernel is not linear:
            raise AttributeError(
                "w lies in the kernel's feature space; only kernel=linear has it as a vector. Use "
                "decision_function."
            )
        return np.asarray(self.coef @ self.X)
