"""LinearSVCCV: C by cross-validation along a warm-started path.

For each fold the values of C are tried in ascending order, each fit starting from the duals of the
one before: their bounds grow in proportion to C, so most duals at a bound stay there. One fold's
data are prepared once for the whole path.
"""

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, _fit_context, clone, is_classifier
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.arrays import Floats
from maxmargin.estimators._base import all_or_nothing
from maxmargin.estimators._data import validated
from maxmargin.estimators._options import StrOptions
from maxmargin.estimators._plain import QuickParameters
from maxmargin.estimators._targets import refuse_mixed_labels
from maxmargin.estimators.linear import LinearSVC


def best_attribute(name: str) -> Any:
    """An attribute of the model with the best C."""

    def read(self: Any) -> Any:
        check_is_fitted(self)  # its error is an AttributeError
        return getattr(self.estimator_, name)

    return property(read)


class LinearSVCCV(ClassifierMixin, QuickParameters):  # type: ignore[misc]
    """LinearSVC with C chosen by cross-validation.

    Parameters
    ----------
    Cs : int or array-like, default=10
        The values of C to try, or their number; they are then spaced evenly on a logarithmic scale
        from 1e-4 to 1e4.
    cv : int, cross-validation generator or None, default=None
        How to split the data; None is stratified 5-fold.
    scoring : str, callable or None, default=None
        The score to maximise; None is the accuracy. Ties go to the smaller C.
    estimator : LinearSVC or None, default=None
        The estimator with all parameters but C; None is ``LinearSVC()``.
    verbose : bool or int, default=0
        Show a progress line for every fit.

    Attributes
    ----------
    C_ : float
        The best value.
    Cs_ : ndarray of shape (n_Cs,)
        The values tried, ascending.
    scores_ : ndarray of shape (n_folds, n_Cs)
        Score of every value on every fold.
    best_score_ : float
        Mean score of ``C_``.
    n_iter_ : ndarray of shape (n_folds, n_Cs)
        Steps of every fit.
    estimator_ : LinearSVC
        The estimator fitted on all data with ``C_``. ``coef_``, ``intercept_``, ``classes_`` and
        ``certificate_`` are read from it.

    Examples
    --------
    >>> from maxmargin import LinearSVCCV
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LinearSVCCV(Cs=[0.1, 1, 10]).fit(X, y).scores_.shape
    (5, 3)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "Cs": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "cv": ["cv_object"],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
        "estimator": [LinearSVC, None],
        "verbose": ["verbose"],
    }

    classes_, coef_ = best_attribute("classes_"), best_attribute("coef_")
    intercept_, certificate_ = best_attribute("intercept_"), best_attribute("certificate_")

    def __init__(
        self,
        Cs: Any = 10,
        *,
        cv: Any = None,
        scoring: Any = None,
        estimator: Any = None,
        verbose: Any = 0,
    ) -> None:
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.estimator = estimator
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        """Sparse data are accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose C and fit the model on all data.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training vectors.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How many times each sample counts in the fits and in the scores.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            X, y = validated(self, X, y)
            refuse_mixed_labels(y)
            base = LinearSVC() if self.estimator is None else clone(self.estimator)
            base.set_params(warm_start=True, verbose=self.verbose or base.verbose)
            self.Cs_ = self._values()
            folds = list(check_cv(self.cv, y, classifier=is_classifier(self)).split(X, y))
            rows = [self._path(clone(base), X, y, sample_weight, *fold) for fold in folds]
            self.scores_, self.n_iter_ = (np.array(part) for part in zip(*rows, strict=True))
            means = self.scores_.mean(axis=0)
            best = int(np.argmax(means))
            self.C_, self.best_score_ = float(self.Cs_[best]), float(means[best])
            self.estimator_ = base.set_params(C=self.C_, warm_start=False).fit(
                X, y, sample_weight=sample_weight
            )
            return self

    def _values(self) -> Floats:
        values = (
            np.logspace(-4, 4, self.Cs)
            if isinstance(self.Cs, Integral)
            else np.unique(np.asarray(self.Cs, dtype=np.float64))
        )
        if not (values.size and np.isfinite(values).all() and (values > 0).all()):
            raise ValueError(f"Cs must be positive and finite, got {self.Cs!r}")
        return values

    def _path(
        self,
        model: LinearSVC,
        X: Any,
        y: Any,
        sample_weight: Any,
        train: NDArray[np.int64],
        test: NDArray[np.int64],
    ) -> tuple[list[float], list[int]]:
        """Scores and steps of every C on one fold."""
        inside, outside = (_safe_indexing(X, part) for part in (train, test))
        weights = [
            None if sample_weight is None else _safe_indexing(np.asarray(sample_weight), part)
            for part in (train, test)
        ]
        scorer = check_scoring(model, scoring=self.scoring)
        scores, steps = [], []
        for C in self.Cs_:
            model.set_params(C=float(C)).fit(inside, y[train], sample_weight=weights[0])
            extra = {} if weights[1] is None else {"sample_weight": weights[1]}
            scores.append(float(scorer(model, outside, y[test], **extra)))
            steps.append(model.n_iter_)
        return scores, steps

    def decision_function(self, X: Any) -> Floats:
        """Values of the decision functions of the model with the best C.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        f : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self)
        values: Floats = self.estimator_.decision_function(validated(self, X, reset=False))
        return values

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels by the model with the best C.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        labels: NDArray[Any] = self.estimator_.predict(validated(self, X, reset=False))
        return labels
