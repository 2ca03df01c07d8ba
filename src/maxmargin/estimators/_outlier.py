"""What the one-class estimators share: a score, an offset, and the sign of their difference."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin

from maxmargin.problems import Floats

BOUNDARY, ROUNDED = 1e-13, 1e-14
"""Shares of the offset, and of the sizes that add up to a score, that cover the rounding of scores."""


def outward(f: Floats, dual: Floats, upper: Floats, offset: float, size: Floats) -> float:
    """By how much the offset must fall for every sample on the boundary to be an inlier.

    The optimality conditions say f_i >= 0 for every sample whose dual variable is below its upper
    bound. A solution keeps them to within its KKT violation; lowered by that violation the offset
    keeps them exactly, and the violation does not exceed the greatest difference of f between two
    samples on the boundary, which is what solvers bound by tol. So outliers have their variables at
    the bound, and as the variables sum to nu n these are at most nu n. Rounding is added, because
    predictions are computed in another order: ``size`` bounds sum_i |b_i k(x_i, x)| for every sample x.
    """
    below = float((ROUNDED * size - f)[dual < upper].max(initial=0.0))
    return below + BOUNDARY * abs(offset)


class BaseOneClass(OutlierMixin, ABC):  # type: ignore[misc]
    """Inside where the score is at least the offset."""

    offset_: Floats

    @abstractmethod
    def score_samples(self, X: Any) -> Floats:
        """The decision function without its offset."""

    def decision_function(self, X: Any) -> Floats:
        """Signed distance to the boundary, positive inside.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; (n_samples, n_samples_fit) kernel values for ``kernel="precomputed"``.

        Returns
        -------
        f : ndarray of shape (n_samples,)
        """
        f: Floats = self.score_samples(X) - self.offset_
        return f

    def predict(self, X: Any) -> NDArray[np.int64]:
        """+1 for inliers, -1 for outliers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; (n_samples, n_samples_fit) kernel values for ``kernel="precomputed"``.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)
