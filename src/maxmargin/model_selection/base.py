"""What the searches over kernel machines share."""

import time
import warnings
from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin, _fit_context, clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.metrics._scorer import _BaseScorer
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils._param_validation import Interval
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.core.threads import thread_count
from maxmargin.estimators._base import all_or_nothing
from maxmargin.estimators._data import gamma_value
from maxmargin.estimators._machine import KernelMachine
from maxmargin.estimators._options import StrOptions
from maxmargin.estimators._plain import QuickParameters
from maxmargin.estimators._targets import validate_weight
from maxmargin.kernel.kernels import NAMES, PARAMETERS, Kernel, Kind
from maxmargin.model_selection import grids, results
from maxmargin.model_selection.scaling import scaler_of
from maxmargin.model_selection.search import Data, Known, Search
from maxmargin.model_selection.shared import KernelStore, budget
from maxmargin.monitor import Monitor


def _best_has(name: str) -> Callable[[Any], bool]:
    """Whether the fitted or unfitted model has a method."""

    def check(self: Any) -> bool:
        found = self.best_estimator_ if hasattr(self, "best_estimator_") else self._template()
        getattr(found, name)  # its error says why not
        return True

    return check


class KernelSearchCV(MetaEstimatorMixin, QuickParameters):  # type: ignore[misc]
    """A search over the parameters of one kernel machine; a subclass names them."""

    _machine: ClassVar[type[KernelMachine]]
    _score: ClassVar[str | None] = None
    """The score without ``scoring``; None is that of the machine."""
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "cv": ["cv_object"],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
        "scale": [StrOptions({"standard", "minmax"}), None],
        "refine": ["boolean"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "time_limit": [None, Interval(Real, 0, None, closed="left")],
        "on_interrupt": [StrOptions({"raise", "keep"})],
        "warm_start": ["boolean"],
        "estimator": [KernelMachine, None],
    }

    @abstractmethod
    def _grid(self, X: Any, y: Any, weight: Floats | None) -> dict[str, Floats]:
        """The values of each parameter to try, ascending."""

    def _gammas(self, X: Any, weight: Floats | None) -> dict[str, Floats]:
        """The values of gamma; none for a kernel without it."""
        kernel = self._template().kernel
        if "gamma" not in PARAMETERS.get(NAMES[kernel], ()):
            return {}

        def unit() -> float:
            """That of the samples as the machine sees them."""
            own = X if self.scale is None else scaler_of(self.scale, X, weight).transform(X)
            return gamma_value("scale", own, weight)

        return {"gamma": grids.values("gammas", self.gammas, grids.SETTINGS.gamma, unit)}

    def __sklearn_tags__(self) -> Any:
        """Those of the machine."""
        return self._template().__sklearn_tags__()

    def _template(self) -> KernelMachine:
        """The machine with everything that is not searched."""
        found: KernelMachine = self._machine() if self.estimator is None else clone(self.estimator)
        if not isinstance(found, self._machine):
            raise ValueError(
                f"estimator must be a {self._machine.__name__}, got {type(found).__name__}."
            )
        return found

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Search, then fit the best candidate on all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training vectors; the square kernel matrix for ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            Labels or targets.
        sample_weight : array-like of shape (n_samples,), default=None
            How many times each sample counts, in the fits and in the scores.
        groups : array-like of shape (n_samples,), default=None
            Groups of the samples, for splitters that keep them together.

        Returns
        -------
        self : object
            The fitted search.
        """
        with all_or_nothing(self):
            search = self._search(X, y, sample_weight, groups)
            search.warn()
            self._conclude(search, *self._for_refit(X, search.data.y, search.data.weight))
            return self

    def _search(self, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> Search:
        """Fit and score the candidates."""
        machine = self._template()
        X, y = self._validated(machine, X, y)
        weight = None if sample_weight is None else validate_weight(sample_weight, X.shape[0])
        grid = self._grid(X, y, weight)
        folds = self._folds(X, y, groups)
        keep = self.on_interrupt == "keep"
        monitor = Monitor(-1, self.time_limit, int(self.verbose), type(self).__name__, keep)
        search = Search(
            machine,
            results.product_of(grid),
            Data(X, y, weight, folds, self._stores(X, weight, folds)),
            self._scorer(machine),
            monitor,
        )
        same = (
            joblib.hash((X, y, weight, folds, machine.get_params(), self.scale)),
            self.scoring,
        )
        if self.warm_start and same == self.__dict__.get("_same"):
            search.recall(self._known)
        with monitor:
            search.run(self._jobs())
            if self.refine and monitor.stop(0) is None:
                chosen = results.best(search, results.cv_results(search)["mean_test_score"])
                search.candidates += results.refined(
                    grid, search.candidates[chosen], search.candidates
                )
                search.run(self._jobs())
        self._same: Any = same
        self._known: Known = search.known()
        return search

    def _validated(self, machine: KernelMachine, X: Any, y: Any) -> tuple[Any, Any]:
        """Samples and targets as the machine takes them."""
        if is_classifier(machine) or hasattr(machine, "_targets"):
            X, y = machine._validate_Xy(X, y, reset=True)
            y = np.asarray(y)
        else:
            X = machine._validate_X(X, reset=True)
            y = None if y is None else np.asarray(y)
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(machine, name):
                setattr(self, name, getattr(machine, name))
        if machine._kernel_kind() is Kind.CALLABLE or isinstance(machine.kernel, Kernel):
            raise ValueError(
                f"{type(self).__name__} sets gamma itself: name the kernel "
                f"(kernel='rbf'), got {machine.kernel!r}. Use GridSearchCV for other kernels."
            )
        if self.scale is not None and machine._kernel_kind() is Kind.PRECOMPUTED:
            raise ValueError(
                f"scale={self.scale!r} needs features, and kernel='precomputed' has kernel values "
                "alone: use scale=None, and scale the features before computing them."
            )
        return X, y

    def _folds(self, X: Any, y: Any, groups: Any) -> list[tuple[Any, Any]]:
        splitter = check_cv(self.cv, y, classifier=is_classifier(self._template()))
        rows = np.arange(X.shape[0])  # of them masks and negative numbers choose, too
        folds = [(rows[train], rows[test]) for train, test in splitter.split(X, y, groups)]
        if not folds:
            raise ValueError("cv has no folds: it must give at least one training and test set.")
        self.n_splits_ = len(folds)
        return folds

    def _stores(
        self, X: Any, weight: Floats | None, folds: list[tuple[Any, Any]]
    ) -> list[KernelStore]:
        """The samples of each fold, scaled by its training samples if they are to be."""
        if self.scale is None:
            return [KernelStore(X, budget())] * len(folds)
        share, found = budget() / len(folds), []
        for train, _ in folds:
            own = None if weight is None else weight[train]
            found.append(KernelStore(scaler_of(self.scale, X[train], own).transform(X), share))
        return found

    def _scorer(self, machine: KernelMachine) -> Callable[..., float]:
        """scoring(model of a fold, row numbers, y); a user's function sees samples."""
        scorer: Callable[..., float] = check_scoring(machine, self.scoring or self._score)
        if not callable(self.scoring) or isinstance(self.scoring, _BaseScorer):
            return scorer
        return lambda fitted, rows, y, **weight: scorer(
            fitted.machine, fitted.fold.samples(rows), y, **weight
        )

    def _jobs(self) -> int:
        """Fits at once: as many as the core would use threads, or as n_jobs says."""
        threads = thread_count()
        if self.n_jobs is None:
            return threads
        if self.n_jobs == 0:
            raise ValueError("n_jobs == 0 has no meaning: use None, -1 or a positive number.")
        return max(1, threads + 1 + self.n_jobs) if self.n_jobs < 0 else int(self.n_jobs)

    def _conclude(self, search: Search, X: Any, y: Any, sample_weight: Any) -> None:
        """Keep the results and fit the best candidate."""
        found = results.cv_results(search)
        self.cv_results_ = found
        self.best_index_ = results.best(search, found["mean_test_score"])
        self.best_params_ = dict(search.candidates[self.best_index_])
        self.best_score_ = float(found["mean_test_score"][self.best_index_])
        if len(search.done) < len(search.candidates) * self.n_splits_:
            self._warn_early(search)
        began = time.perf_counter()
        best = clone(search.machine).set_params(**self.best_params_)
        if self.scale is None:
            best.fit(X, y, sample_weight=sample_weight)
        else:
            scaler = scaler_of(self.scale, X, sample_weight)
            best.fit(scaler.transform(X), y, sample_weight=sample_weight)
            best = Pipeline([("scale", scaler), (self._machine.__name__.lower(), best)])
        self.best_estimator_ = best
        self.refit_time_ = time.perf_counter() - began

    def _for_refit(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """What the best candidate is fitted on."""
        return X, y, sample_weight

    def _warn_early(self, search: Search) -> None:
        """Warn that the search ended before everything was tried."""
        count, total = len(search.done), len(search.candidates) * self.n_splits_
        warnings.warn(
            f"The search ended early: {count} of {total} fits are done, and best_params_ is the "
            "best of them. Raise time_limit, try fewer values, or call fit again with "
            "warm_start=True to continue.",
            ConvergenceWarning,
            stacklevel=4,
        )

    # ---- the best model --------------------------------------------------------------------------

    @property
    def classes_(self) -> NDArray[Any]:
        """Class labels."""
        check_is_fitted(self)
        labels: NDArray[Any] = self.best_estimator_.classes_
        return labels

    @property
    def certificate_(self) -> Certificate:
        """What is known about the best model."""
        found: Certificate = self._best_machine().certificate_
        return found

    def _best_machine(self) -> Any:
        """The best model without its scaling."""
        check_is_fitted(self)
        best = self.best_estimator_
        return best[-1] if isinstance(best, Pipeline) else best

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

    @available_if(_best_has("decision_function"))  # type: ignore[untyped-decorator]
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

    def score(self, X: Any, y: Any = None) -> float:
        """The score of the best model by ``scoring``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Labels or targets.

        Returns
        -------
        score : float
        """
        check_is_fitted(self)
        best = self.best_estimator_
        return float(check_scoring(best, self.scoring or self._score)(best, X, y))


def searched(search: KernelSearchCV, X: Any, y: Any, sample_weight: Any = None) -> Search:
    """The fits and scores of a search, without the fit of the best candidate on all samples."""
    return search._search(X, y, sample_weight)
