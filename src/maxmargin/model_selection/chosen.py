"""The model that a search chose, which predicts for it: what searches and AutoSVC share."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.estimators.records import interval_of


def chosen_has(name: str) -> Callable[[Any], bool]:
    """Whether the chosen model, or one that may be chosen, has a method."""

    def check(self: Any) -> bool:
        self._refuse(name)
        self._require(name)
        return True

    return check


def _chosen_is_regressor(self: Any) -> bool:
    """Whether the model has intervals."""
    if not is_regressor(self):
        return False
    self._refuse("predict_interval")
    return True


class ChosenModel:
    """Methods of an estimator that its ``best_estimator_`` answers.

    It comes first among the bases: scikit-learn's mixins have a score of their own.
    """

    best_estimator_: Any

    def _refuse(self, asked: str) -> None:
        """AttributeError where no model was to be fitted; by default one always is."""
        return

    @abstractmethod
    def _require(self, name: str) -> None:
        """AttributeError where the chosen model, or one that may be chosen, lacks a method."""

    @abstractmethod
    def _prepared(self, X: Any) -> tuple[Any, Any]:
        """The model that answers, and the samples as it takes them."""

    def _best_machine(self, asked: str) -> Any:
        """The chosen model without its preparation, which has what is asked for."""
        self._refuse(asked)
        check_is_fitted(self)
        best = self.best_estimator_
        return best[-1] if isinstance(best, Pipeline) else best

    def _answer(self, name: str, X: Any) -> Any:
        """What a method of the model that answers says of the samples."""
        check_is_fitted(self)
        model, X = self._prepared(X)
        return getattr(model, name)(X)

    @property
    def classes_(self) -> NDArray[Any]:
        """Class labels."""
        labels: NDArray[Any] = self._best_machine("classes_").classes_
        return labels

    @property
    def certificate_(self) -> Certificate:
        """What is known about the best model."""
        found: Certificate = self._best_machine("certificate_").certificate_
        return found

    @available_if(chosen_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> NDArray[Any]:
        """Labels or values of the best model.

        Parameters
        ----------
        X : table of shape (n_samples, n_columns)
            The samples, of the kind that ``fit`` was given.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        found: NDArray[Any] = self._answer("predict", X)
        return found

    @available_if(chosen_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """Decision values of the best model.

        Parameters
        ----------
        X : table of shape (n_samples, n_columns)
            The samples, of the kind that ``fit`` was given.

        Returns
        -------
        f : ndarray of shape (n_samples,) or (n_samples, n_functions)
        """
        found: Floats = self._answer("decision_function", X)
        return found

    @available_if(chosen_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes by the best model.

        Parameters
        ----------
        X : table of shape (n_samples, n_columns)
            The samples, of the kind that ``fit`` was given.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
        """
        found: Floats = self._answer("predict_proba", X)
        return found

    @available_if(chosen_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the probabilities of the classes by the best model.

        Parameters
        ----------
        X : table of shape (n_samples, n_columns)
            The samples, of the kind that ``fit`` was given.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
        """
        found: Floats = self._answer("predict_log_proba", X)
        return found

    @available_if(_chosen_is_regressor)  # type: ignore[untyped-decorator]
    def predict_interval(self, X: Any, confidence: Any = 0.9) -> Floats:
        """Intervals that hold new targets, by the best model, if it learned them: a search takes
        ``estimator=SVR(interval=True)``.

        The candidates were compared on the same samples, so the intervals may be a little too
        narrow.

        Parameters
        ----------
        X : table of shape (n_samples, n_columns)
            The samples, of the kind that ``fit`` was given.
        confidence : float or array-like of shape (n_confidences,), default=0.9
            Share of the targets that the intervals are to hold.

        Returns
        -------
        interval : ndarray of shape (n_samples, 2) or (n_confidences, n_samples, 2)
            Lower and upper ends.
        """
        check_is_fitted(self)
        model, X = self._prepared(X)
        found: Floats = interval_of(model, X, confidence)
        return found
