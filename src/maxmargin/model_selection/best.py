"""The best model of a search, and the score of the search by it."""

from collections.abc import Callable
from typing import Any, ClassVar

from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.validation import check_is_fitted

from maxmargin.model_selection.chosen import ChosenModel
from maxmargin.model_selection.refit import refuse_without_refit
from maxmargin.model_selection.scoring import ONE, Scorers


class BestModel(ChosenModel):
    """Predictions and scores of a search."""

    cv: Any
    refit: Any
    multimetric_: bool
    _machine: ClassVar[type]
    _scorers: Callable[[], Scorers]
    _template: Callable[[], Any]

    def _refuse(self, asked: str) -> None:
        refuse_without_refit(self, asked)

    def _require(self, name: str) -> None:
        found = self.best_estimator_ if hasattr(self, "best_estimator_") else self._template()
        if hasattr(self._machine, name) and not hasattr(found, name):
            kind = self._machine.__name__
            raise AttributeError(f"{name} needs estimator={kind}(probability=True).")
        getattr(found, name)  # its error says why not

    def _prepared(self, X: Any) -> tuple[Any, Any]:
        return self.best_estimator_, X

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
