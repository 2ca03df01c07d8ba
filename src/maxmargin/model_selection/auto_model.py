"""The fitted model of AutoSVC and AutoSVR: it prepares what it is given, and predicts."""

from collections.abc import Callable
from typing import Any

from sklearn.metrics import get_scorer
from sklearn.utils.validation import validate_data

from maxmargin.model_selection.chosen import ChosenModel
from maxmargin.model_selection.table_columns import as_table


class AutoModel(ChosenModel):
    """Predictions and scores."""

    scoring: Any
    _preparation: Any
    _final: Callable[[], dict[str, Any]]

    def _require(self, name: str) -> None:
        found = self.__dict__.get("best_estimator_")
        for machine in self._final().values() if found is None else [found[-1]]:
            getattr(machine, name)  # its error says why not

    def _prepared(self, X: Any) -> tuple[Any, Any]:
        X = as_table(X)
        validate_data(self, X, skip_check_array=True, reset=False)
        return self.best_estimator_[-1], self._preparation.features(X)

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
