"""Leave-one-out values as the values of a model, for scikit-learn's scorers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from maxmargin.core.arrays import Floats
from maxmargin.kernel.labels import greatest


class LeftOut(BaseEstimator):  # type: ignore[misc]
    """A model that knows its values of the samples: those of machines without each."""

    def __init__(self, values: Any = None) -> None:
        self.values = values

    def __sklearn_is_fitted__(self) -> bool:
        return True


class LeftOutRegressor(RegressorMixin, LeftOut):  # type: ignore[misc]
    """Of a regression."""

    def predict(self, X: Any) -> Floats:
        """The values."""
        found: Floats = self.values[:, 0]
        return found


class LeftOutClassifier(ClassifierMixin, LeftOut):  # type: ignore[misc]
    """Of a classification."""

    classes_: NDArray[Any]

    def decision_function(self, X: Any) -> Floats:
        """The values, one column unless there are more than two classes."""
        found: Floats = self.values[:, 0] if self.values.shape[1] == 1 else self.values
        return found

    def predict(self, X: Any) -> NDArray[Any]:
        """The labels."""
        return np.asarray(self.classes_[greatest(self.values.T)])
