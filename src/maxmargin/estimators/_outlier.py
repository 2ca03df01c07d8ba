"""What the one-class estimators share: a score, an offset, and the sign of their difference."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin

from maxmargin.core.arrays import Floats


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
