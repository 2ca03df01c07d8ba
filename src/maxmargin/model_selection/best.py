"""The best model of a search, which predicts and scores for it."""

from collections.abc import Callable
from typing import Any, ClassVar

from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.estimators.records import interval_of
from maxmargin.model_selection.refit import refuse_without_refit
from maxmargin.model_selection.scoring import ONE, Scorers


def best_has(name: str) -> Callable[[Any], bool]:
    """Whether the fitted or unfitted model has a method."""

    def check(self: Any) -> bool:
        refuse_without_refit(self, name)
        found = self.best_estimator_ if hasattr(self, "best_estimator_") else self._template()
        if hasattr(self._machine, name) and not hasattr(found, name):
            kind = self._machine.__name__
            raise AttributeError(f"{name} needs estimator={kind}(probability=True).")
        getattr(found, name)  # its error says why not
        return True

    return check


def _best_is_regressor(self: Any) -> bool:
    """Whether the model has intervals."""
    if not is_regressor(self):
        return False
    refuse_without_refit(self, "predict_interval")
    return True


class BestModel:
    """Methods of a search that its best model answers.

    It comes first among the bases of a search: scikit-learn's mixins have a score of their own.
    """

    best_estimator_: Any
    cv: Any
    refit: Any
    multimetric_: bool
    _machine: ClassVar[type]
    _scorers: Callable[[], Scorers]

    @property
    def classes_(self) -> NDArray[Any]:
        """Class labels."""
        refuse_without_refit(self, "classes_")
        check_is_fitted(self)
        labels: NDArray[Any] = self.best_estimator_.classes_
        return labels

    @property
    def certificate_(self) -> Certificate:
        """What is known about the best model."""
        found: Certificate = self._best_machine("certificate_").certificate_
        return found

    def _best_machine(self, asked: str) -> Any:
        """The best model without its preparation, which has what is asked for."""
        refuse_without_refit(self, asked)
        check_is_fitted(self)
        best = self.best_estimator_
        return best[-1] if isinstance(best, Pipeline) else best

    @available_if(best_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> NDArray[Any]:
        """Labels or values of the best model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        found: NDArray[Any] = self.best_estimator_.predict(X)
        return found

    @available_if(best_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """Decision values of the best model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        f : ndarray of shape (n_samples,) or (n_samples, n_functions)
        """
        check_is_fitted(self)
        found: Floats = self.best_estimator_.decision_function(X)
        return found

    @available_if(best_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes by the best model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        found: Floats = self.best_estimator_.predict_proba(X)
        return found

    @available_if(best_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the probabilities of the classes by the best model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        found: Floats = self.best_estimator_.predict_log_proba(X)
        return found

    @available_if(_best_is_regressor)  # type: ignore[untyped-decorator]
    def predict_interval(self, X: Any, confidence: Any = 0.9) -> Floats:
        """Intervals that hold new targets, by the best model: fit ``estimator=`` with
        ``interval=True``.

        The candidates were compared on the same samples, so the intervals may be a little too
        narrow.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.
        confidence : float or array-like of shape (n_confidences,), default=0.9
            Share of the targets that the intervals are to hold.

        Returns
        -------
        interval : ndarray of shape (n_samples, 2) or (n_confidences, n_samples, 2)
            Lower and upper ends.
        """
        check_is_fitted(self)
        found: Floats = interval_of(self, X, confidence)
        return found

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> float:
        """The score of the best model by ``scoring``; of several scores, the one that ``refit``
        names.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Labels or targets.
        sample_weight : array-like of shape (n_samples,), default=None
            How many times each sample counts.
        **params : dict
            What ``scoring`` asks for by metadata routing.

        Returns
        -------
        score : float
        """
        refuse_without_refit(self, "score")
        check_is_fitted(self)
        _raise_for_params(params, self, "score")
        given = params if sample_weight is None else {"sample_weight": sample_weight, **params}
        if _routing_enabled():
            given = process_routing(self, "score", **given)["scorer"]["score"]
        scorers, name = self._scorers(), self.refit
        if not self.multimetric_:
            name = ONE
        elif callable(name):
            raise ValueError(
                "There are several scores, and refit is a function, so none of them is the score "
                "of the search: call one of scorer_ with best_estimator_."
            )
        own = name if name in scorers.named else ONE
        found = scorers.named[own](self.best_estimator_, X, y, **scorers.shared_out(given)[own])
        return float(found[name] if isinstance(found, dict) else found)

    def get_metadata_routing(self) -> MetadataRouter:
        """Who takes what is given to ``fit`` and ``score``, as scikit-learn's metadata routing
        asks: the search, the splitter and the scorer.

        Returns
        -------
        routing : MetadataRouter
        """
        fit, both = MethodMapping(), MethodMapping()
        fit.add(caller="fit", callee="split")
        both.add(caller="fit", callee="score").add(caller="score", callee="score")
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(splitter=self.cv, method_mapping=fit)
            .add(scorer=self._scorers().routing, method_mapping=both)
        )
