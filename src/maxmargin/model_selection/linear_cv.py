"""Linear models whose parameters are chosen by cross-validation along warm-started paths of C."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.arrays import Floats
from maxmargin.estimators import LinearSVC, LinearSVR
from maxmargin.model_selection import grids
from maxmargin.model_selection.base import SearchCV
from maxmargin.model_selection.best import BestModel
from maxmargin.model_selection.linear_search import LinearSearch
from maxmargin.model_selection.scoring import ONE
from maxmargin.model_selection.search import Data, Search
from maxmargin.monitor import Monitor


class LinearSearchCV(SearchCV):
    """A search over the parameters of one linear model; a subclass names them."""

    def _search_of(self, machine: Any, candidates: Any, data: Data, monitor: Monitor) -> Search:
        return LinearSearch(machine, candidates, data, monitor, self.scale)

    @property
    def coef_(self) -> Floats:
        """Weights of the features, after the preparation if there is one."""
        found: Floats = self._best_machine("coef_").coef_
        return found

    @property
    def intercept_(self) -> Floats:
        """The intercept of the best model."""
        found: Floats = self._best_machine("intercept_").intercept_
        return found


class LinearSVCCV(BestModel, ClassifierMixin, LinearSearchCV):  # type: ignore[misc]
    """LinearSVC with C chosen by cross-validation.

    Parameters
    ----------
    Cs : int or array-like, default=10
        The values of C to try, or their number; they are then spaced evenly on a logarithmic scale
        from 1e-4 to 1e4.
    cv, refit, scale, refine, discard, n_jobs, verbose, time_limit, on_interrupt, warm_start
        As for ``maxmargin.model_selection.SVCCV``.
    scoring : str, callable, list, tuple, dict or None, default=None
        The score to maximise; None is the accuracy. Ties go to the smaller C.
    estimator : LinearSVC or None, default=None
        The estimator with all parameters but C; None is ``LinearSVC()``.

    Attributes
    ----------
    cv_results_, best_index_, best_params_, best_score_, best_estimator_, n_splits_, refit_time_
        As for ``maxmargin.model_selection.SVCCV``.
    C_ : float
        The best value.
    Cs_ : ndarray of shape (n_Cs,)
        The values tried, ascending.
    scores_ : ndarray of shape (n_folds, n_Cs)
        Score of every value on every fold.
    n_iter_ : ndarray of shape (n_folds, n_Cs)
        Steps of every fit.
    estimator_ : LinearSVC
        The best model without its preparation. ``coef_``, ``intercept_``, ``classes_`` and
        ``certificate_`` are read from it.

    Examples
    --------
    >>> from maxmargin import LinearSVCCV
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LinearSVCCV(Cs=[0.1, 1, 10]).fit(X, y).scores_.shape
    (5, 3)
    """

    _machine = LinearSVC
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "Cs": grids.CONSTRAINT,
        **SearchCV._parameter_constraints,
    }

    def __init__(
        self,
        Cs: Any = 10,
        *,
        cv: Any = None,
        scoring: Any = None,
        refit: Any = True,
        scale: Any = None,
        refine: bool = False,
        discard: str | None = None,
        n_jobs: int | None = None,
        verbose: Any = 0,
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        warm_start: bool = False,
        estimator: Any = None,
    ) -> None:
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.scale = scale
        self.refine = refine
        self.discard = discard
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start
        self.estimator = estimator

    def _grid(self, X: Any, y: Any, weight: Floats | None) -> dict[str, Floats]:
        return {"C": grids.costs(self.Cs, grids.SETTINGS.linear_C)}

    def _conclude(self, search: Search, X: Any, y: Any, sample_weight: Any) -> None:
        super()._conclude(search, X, y, sample_weight)
        order = self._by_C()
        self.n_iter_ = np.nan_to_num(search.table("n_iter")).astype(np.int64)[order].T

    def _by_C(self) -> NDArray[np.int64]:
        """The candidates in the order of C."""
        return np.argsort(np.asarray(self.cv_results_["param_C"], np.float64))

    @property
    def estimator_(self) -> LinearSVC:
        """The best model without its preparation."""
        found: LinearSVC = self._best_machine("estimator_")
        return found

    @property
    def C_(self) -> float:
        """The best value."""
        check_is_fitted(self)
        return float(self.best_params_["C"])

    @property
    def Cs_(self) -> Floats:
        """The values tried."""
        check_is_fitted(self)
        return np.asarray(self.cv_results_["param_C"], np.float64)[self._by_C()]

    @property
    def scores_(self) -> Floats:
        """Score of every value on every fold; of several scores, the one that ``refit`` names."""
        check_is_fitted(self)
        name = self.refit if self.multimetric_ else ONE
        if not isinstance(name, str):
            raise AttributeError("scores_ is one score, and refit names none: see cv_results_.")
        names = [f"split{k}_test_{name}" for k in range(self.n_splits_)]
        return np.array([self.cv_results_[name][self._by_C()] for name in names])


class LinearSVRCV(BestModel, RegressorMixin, LinearSearchCV):  # type: ignore[misc]
    """LinearSVR with C and epsilon chosen by cross-validation.

    Parameters
    ----------
    Cs : int or array-like, default=10
        The values of C to try, or their number; they are then spaced evenly on a logarithmic scale
        from 1e-4 to 1e4.
    epsilons : int or array-like, default=5
        The values of epsilon to try, or how many between 1e-3 and 1 times the standard deviation of
        y.
    cv, refit, scale, refine, discard, n_jobs, verbose, time_limit, on_interrupt, warm_start
        As for ``maxmargin.model_selection.SVCCV``.
    scoring : str, callable, list, tuple, dict or None, default=None
        The score to maximise; None is R^2.
    estimator : LinearSVR or None, default=None
        The estimator with all parameters but C and epsilon; None is ``LinearSVR()``.

    Attributes
    ----------
    cv_results_, best_index_, best_params_, best_score_, best_estimator_, n_splits_, refit_time_
        As for ``maxmargin.model_selection.SVCCV``.
    coef_, intercept_, certificate_
        Of the best model, after its preparation.

    Examples
    --------
    >>> from maxmargin import LinearSVRCV
    >>> from sklearn.datasets import load_diabetes
    >>> X, z = load_diabetes(return_X_y=True)
    >>> LinearSVRCV(Cs=[0.1, 1], epsilons=[1, 50], scale="standard").fit(X, z).best_params_
    {'C': 1.0, 'epsilon': 1.0}
    """

    _machine = LinearSVR
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "Cs": grids.CONSTRAINT,
        "epsilons": grids.CONSTRAINT,
        **SearchCV._parameter_constraints,
    }

    def __init__(
        self,
        Cs: Any = 10,
        epsilons: Any = 5,
        *,
        cv: Any = None,
        scoring: Any = None,
        refit: Any = True,
        scale: Any = None,
        refine: bool = False,
        discard: str | None = None,
        n_jobs: int | None = None,
        verbose: Any = 0,
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        warm_start: bool = False,
        estimator: Any = None,
    ) -> None:
        self.Cs = Cs
        self.epsilons = epsilons
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.scale = scale
        self.refine = refine
        self.discard = discard
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start
        self.estimator = estimator

    def _grid(self, X: Any, y: Any, weight: Floats | None) -> dict[str, Floats]:
        return {
            "C": grids.costs(self.Cs, grids.SETTINGS.linear_C),
            "epsilon": grids.tubes(self.epsilons, y, weight),
        }
