"""The fitted model of AutoSVC and AutoSVR: it prepares what it is given, and predicts."""

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray
from sklearn.metrics import get_scorer
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.model_selection.table_columns import as_table


def _machine_has(name: str) -> Callable[[Any], bool]:
    """Whether the fitted machine, or all of those that may be fitted, have a method."""

    def check(self: Any) -> bool:
        found = self.__dict__.get("best_estimator_")
        for machine in self._final().values() if found is None else [found[-1]]:
            getattr(machine, name)  # its error says why not
        return True

    return check


class AutoModel:
    """Predictions and scores.

    It comes first among the bases: scikit-learn's mixins have a score of their own.
    """

    best_estimator_: Any
    scoring: Any
    _preparation: Any

    @property
    def certificate_(self) -> Certificate:
        """What is known about the model."""
        check_is_fitted(self)
        found: Certificate = self.best_estimator_[-1].certificate_
        return found

    def _features(self, X: Any) -> Any:
        """The features of samples, whose columns must be those of the fit."""
        check_is_fitted(self)
        X = as_table(X)
        validate_data(self, X, skip_check_array=True, reset=False)
        return self._preparation.features(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels or values of samples.

        Parameters
        ----------
        X : table of shape (n_samples, n_columns)
            The samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        features = self._features(X)
        found: NDArray[Any] = self.best_estimator_[-1].predict(features)
        return found

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score by ``scoring``: the accuracy or R^2 if it is None.

        Parameters
        ----------
        X : table of shape (n_samples, n_columns)
            The samples.
        y : array-like of shape (n_samples,)
            Labels or targets.
        sample_weight : array-like of shape (n_samples,), default=None
            How many times each sample counts.

        Returns
        -------
        score : float
        """
        if self.scoring is None:
            return float(super().score(X, y, sample_weight))  # type: ignore[misc]
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(get_scorer(self.scoring)(self, X, y, **weight))

    @available_if(_machine_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """Decision values of samples.

        Parameters
        ----------
        X : table of shape (n_samples, n_columns)
            The samples.

        Returns
        -------
        f : ndarray of shape (n_samples,) or (n_samples, n_functions)
        """
        features = self._features(X)
        found: Floats = self.best_estimator_[-1].decision_function(features)
        return found

    @available_if(_machine_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes; the most probable one is that of ``predict``.

        Parameters
        ----------
        X : table of shape (n_samples, n_columns)
            The samples.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
        """
        features = self._features(X)
        found: Floats = self.best_estimator_[-1].predict_proba(features)
        return found

    @available_if(_machine_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : table of shape (n_samples, n_columns)
            The samples.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
        """
        features = self._features(X)
        found: Floats = self.best_estimator_[-1].predict_log_proba(features)
        return found
