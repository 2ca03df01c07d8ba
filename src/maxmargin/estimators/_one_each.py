"""Classifiers with one function for two classes, and else one for each class against the rest."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.arrays import Floats


def winners(values: Floats) -> NDArray[np.int64]:
    """Positions of the greatest value in each row; of a single one, of its sign.

    Of equal values the first wins, and 0 means the first class.
    """
    if values.shape[1] == 1:
        return (values[:, 0] > 0).astype(np.int64)
    return np.asarray(values.argmax(axis=1), np.int64)


class OneFunctionEach(ABC):
    """Decision values and labels."""

    classes_: NDArray[Any]

    @abstractmethod
    def _values(self, X: Any) -> Floats:
        """Values of every decision function, one column each."""

    def decision_function(self, X: Any) -> Floats:
        """Evaluate the decision function.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; (n_samples, n_samples_fit) kernel values for ``kernel="precomputed"``.

        Returns
        -------
        f : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one value a sample, positive for ``classes_[1]``.
        """
        values = self._values(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict class labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; (n_samples, n_samples_fit) kernel values for ``kernel="precomputed"``.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The label with the greatest decision value.
        """
        return np.asarray(self.classes_[winners(self._values(X))])
