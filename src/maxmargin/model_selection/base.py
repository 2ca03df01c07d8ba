"""What the searches share: the grid, folds, limits, results, and the fit of the best candidate."""

import time
import warnings
from abc import abstractmethod
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import joblib
import numpy as np
from sklearn.base import MetaEstimatorMixin, _fit_context, clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer_names
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.metadata_routing import (
    UNUSED,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.validation import _check_feature_names, _check_n_features, _num_samples

from maxmargin.core.arrays import Floats
from maxmargin.core.threads import thread_count
from maxmargin.estimators._base import all_or_nothing
from maxmargin.estimators._options import StrOptions
from maxmargin.estimators._plain import QuickParameters
from maxmargin.estimators._targets import encode, numbers, validate_weight
from maxmargin.model_selection import results
from maxmargin.model_selection.discard import bound_of
from maxmargin.model_selection.refit import check_refit, check_refit_of_one
from maxmargin.model_selection.scaling import scaler_of
from maxmargin.model_selection.scoring import SEVERAL, Scorers, Scoring, scorers_of
from maxmargin.model_selection.search import Data, Folds, Parameters, Search
from maxmargin.monitor import Monitor

Progress = dict[str, Any]


class SearchCV(MetaEstimatorMixin, QuickParameters):  # type: ignore[misc]
    """A search over the parameters of one machine; a subclass names them."""

    _machine: ClassVar[type]
    _progress: Progress
    """What the last search has done, also if Ctrl-C ended it, and what a search must have in common
    with it to go on."""
    _score: ClassVar[str | None] = None
    """The score without ``scoring``; None is that of the machine."""
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "cv": ["cv_object"],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None, *SEVERAL],
        "refit": ["boolean", str, callable],
        "scale": [StrOptions({"standard", "minmax"}), HasMethods(["fit", "transform"]), None],
        "refine": ["boolean"],
        "discard": [StrOptions({"safe", "racing"}), None],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "time_limit": [None, Interval(Real, 0, None, closed="left")],
        "on_interrupt": [StrOptions({"raise", "keep"})],
        "warm_start": ["boolean"],
        "estimator": "no_validation",  # _template has the message
    }
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"groups": UNUSED}  # the splitter asks

    @abstractmethod
    def _grid(self, X: Any, y: Any, weight: Floats | None) -> dict[str, Floats]:
        """The values of each parameter to try, ascending."""

    @abstractmethod
    def _search_of(self, machine: Any, candidates: Any, data: Data, monitor: Monitor) -> Search:
        """The work of the search."""

    def _template(self) -> Any:
        """The machine with everything that is not searched."""
        if self.estimator is None:
            return self._machine()
        if not isinstance(self.estimator, self._machine):
            given = self.estimator
            kind = given if isinstance(given, type) else type(given)
            what = "the class" if kind is given else "an instance of"
            raise ValueError(
                f"estimator must be an instance of maxmargin.{self._machine.__name__} or None, got "
                f"{what} {kind.__module__}.{kind.__name__}."
            )
        return clone(self.estimator)

    def __sklearn_tags__(self) -> Any:
        """Those of the machine."""
        return self._template().__sklearn_tags__()

    def _scorers(self) -> Scorers:
        """The scores; ``refit`` must tell which of several decides."""
        found = scorers_of(self._template(), self.scoring, self._score)
        if found.several:
            check_refit(self.refit, found.named)
        else:
            check_refit_of_one(self.refit, self.scoring)
        return found

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None, **params: Any
    ) -> Self:
        """Search, then fit the best candidate on all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training vectors; the square kernel matrix for ``kernel="precomputed"``; whatever
            ``scale`` takes, if it is a transformer.
        y : array-like of shape (n_samples,)
            Labels or targets.
        sample_weight : array-like of shape (n_samples,), default=None
            How many times each sample counts, in the fits and in the scores. With scikit-learn's
            metadata routing, in the scores only if ``scoring`` asks for it.
        groups : array-like of shape (n_samples,), default=None
            Groups of the samples, for splitters that keep them together.
        **params : dict
            What ``scoring`` and ``cv`` ask for by metadata routing.

        Returns
        -------
        self : object
            The fitted search.
        """
        self.__dict__.setdefault("_progress", {})
        with all_or_nothing(self):
            search = self._search(X, y, sample_weight, groups, params)
            search.warn()
            self._conclude(search, *self._for_refit(X, search.data.y, search.data.weight))
            return self

    def _search(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        params: dict[str, Any],
        candidates: Sequence[Parameters] | None = None,
    ) -> Search:
        """Fit and score the candidates: all of the grid, unless some are given."""
        _raise_for_params(params, self, "fit")
        machine, jobs = self._template(), self._jobs()
        machine._validate_params()
        X, y = self._validated(machine, X, y)
        weight = None if sample_weight is None else validate_weight(sample_weight, _num_samples(X))
        grid = self._grid(X, y, weight)
        split, given = self._routed(weight, groups, params)
        folds = self._folds(X, y, **split)
        keep = self.on_interrupt == "keep"
        monitor = Monitor(-1, self.time_limit, int(self.verbose), type(self).__name__, keep)
        scoring = Scoring(self._scorers(), given, _num_samples(X), self.refit)
        scoring.refuse_without_probabilities(machine)
        data = Data(X, y, weight, folds, scoring)
        every = results.product_of(grid) if candidates is None else candidates
        search = self._search_of(machine, every, data, monitor)
        same = (
            joblib.hash((X, y, weight, given, folds, machine.get_params(), self.scale)),
            self.scoring,
        )
        discard = self.discard is not None
        bound = self._bound(machine) if self.discard == "safe" else None
        progress: Progress = self.__dict__.setdefault("_progress", {})
        known = progress["known"] if self.warm_start and progress.get("same") == same else {}
        search.recall(known)
        try:
            with monitor:
                search.run(jobs, discard, bound)
                if self.refine and monitor.stop(0) is None:
                    search.candidates += results.refined(grid, search)
                    search.recall(known)
                    search.run(jobs, discard, bound)
        finally:
            progress |= {"same": same, "known": known | search.known()}
        return search

    def _validated(self, machine: Any, X: Any, y: Any) -> tuple[Any, Any]:
        """Samples and targets as the machine, or else the preparation, takes them."""
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        if self.scale is None or isinstance(self.scale, str):
            X, y = self._as_machine(machine, X, y)
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(machine, name):
                    setattr(self, name, getattr(machine, name))
            return X, y
        _check_feature_names(self, X, reset=True)
        if hasattr(X, "shape"):
            _check_n_features(self, X, reset=True)
        prepared = scaler_of(self.scale, X, y, None).transform(X)
        return X, self._as_machine(clone(machine), prepared, y)[1]

    def _as_machine(self, machine: Any, X: Any, y: Any) -> tuple[Any, Any]:
        """Samples and targets as the machine takes them."""
        X, y = machine._validate_Xy(X, y, reset=True)
        if not is_classifier(machine):
            return X, numbers(y)
        encode(y)  # refuses what are no labels
        return X, np.asarray(y)

    def _routed(
        self, weight: Floats | None, groups: Any, params: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the splitter and each score are given."""
        scorers = self._scorers()
        if not _routing_enabled():
            if weight is None:
                return {"groups": groups}, scorers.shared_out({})
            scorers.refuse_without_weights()
            return {"groups": groups}, scorers.shared_out({"sample_weight": weight})
        every = {"sample_weight": weight, "groups": groups, **params}
        given = {name: value for name, value in every.items() if value is not None}
        found = process_routing(self, "fit", **given)
        return found["splitter"]["split"], scorers.shared_out(found["scorer"]["score"])

    def _bound(self, machine: Any) -> float:
        """What the score that decides never exceeds."""
        scoring = self.scoring
        if isinstance(scoring, SEVERAL):
            named = scoring if isinstance(scoring, dict) else {name: name for name in scoring}
            scoring = named.get(self.refit)
        return bound_of(scoring, self._score, machine)

    def _folds(self, X: Any, y: Any, **split: Any) -> Folds:
        splitter = check_cv(self.cv, y, classifier=is_classifier(self._template()))
        rows = np.arange(_num_samples(X))  # of them masks and negative numbers choose, too
        folds = [(rows[train], rows[test]) for train, test in splitter.split(X, y, **split)]
        if not folds:
            raise ValueError(
                "cv has no folds: it must give at least one training and test set. A generator "
                "gives its folds once: make a list of it."
            )
        empty = [k for k, (train, test) in enumerate(folds) if not (len(train) and len(test))]
        if empty:
            raise ValueError(f"Fold {empty[0]} of cv has no training or no test samples.")
        self.n_splits_ = len(folds)
        return folds

    def _jobs(self) -> int:
        """Fits at once: as many as the core would use threads, or as n_jobs says."""
        threads = thread_count()
        if self.n_jobs is None:
            return threads
        if self.n_jobs == 0:
            raise ValueError("n_jobs == 0 has no meaning: use None, -1 or a positive number.")
        return max(1, threads + 1 + self.n_jobs) if self.n_jobs < 0 else int(self.n_jobs)

    def _conclude(self, search: Search, X: Any, y: Any, sample_weight: Any) -> None:
        """Keep the results, and fit the best candidate if it is to be."""
        for old in ("index", "params", "score", "estimator"):
            self.__dict__.pop(f"best_{old}_", None)
        found = results.cv_results(search)
        self.cv_results_, self.multimetric_ = found, search.several
        self.scorer_ = search.data.scoring.scorers.as_given
        number, name = results.best(search, found), search.decisive()
        if number is not None:
            self.best_index_ = number
            self.best_params_ = dict(search.candidates[number])
            if name is not None and not callable(self.refit):
                self.best_score_ = float(found[f"mean_test_{name}"][number])
        if len(search.done) + search.skipped < len(search.candidates) * self.n_splits_:
            self._warn_early(search)
        if self.refit:
            self._refit(search, X, y, sample_weight)

    def _refit(self, search: Search, X: Any, y: Any, sample_weight: Any) -> None:
        """Fit the best candidate."""
        began = time.perf_counter()
        best = clone(search.machine).set_params(**self.best_params_)
        if self.scale is None:
            best.fit(X, y, sample_weight=sample_weight)
        else:
            scaler = scaler_of(self.scale, X, y, sample_weight)
            best.fit(scaler.transform(X), y, sample_weight=sample_weight)
            best = Pipeline([("scale", scaler), (self._machine.__name__.lower(), best)])
        self.best_estimator_ = best
        self.refit_time_ = time.perf_counter() - began

    def _for_refit(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """What the best candidate is fitted on."""
        return X, y, sample_weight

    def _warn_early(self, search: Search) -> None:
        """Warn that the search ended before everything was tried."""
        count = len(search.done)
        total = len(search.candidates) * self.n_splits_ - search.skipped
        chosen = "the best of them" if count else "the middle of the grid"
        best = f", and best_params_ is {chosen}" if hasattr(self, "best_params_") else ""
        warnings.warn(
            f"The search ended early: {count} of {total} fits are done{best}. Raise time_limit, "
            "try fewer values, or call fit again with warm_start=True to continue.",
            ConvergenceWarning,
            stacklevel=5,
        )


def searched(
    search: SearchCV,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    candidates: Sequence[Parameters] | None = None,
) -> Search:
    """The fits and scores of a search, or of some candidates, without a fit on all samples."""
    return search._search(X, y, sample_weight, None, {}, candidates)
