"""Regressors whose parameters are chosen by cross-validation over a whole grid."""

from typing import Any, ClassVar

from sklearn.base import RegressorMixin

from maxmargin.core.arrays import Floats
from maxmargin.estimators import SVR, NuSVR
from maxmargin.model_selection import grids
from maxmargin.model_selection.best import BestModel
from maxmargin.model_selection.kernel_cv import KernelSearchCV


class SVRCV(BestModel, RegressorMixin, KernelSearchCV):  # type: ignore[misc]
    """SVR with C, gamma and epsilon chosen by cross-validation over a whole grid, as one job.

    Parameters
    ----------
    Cs : int or array-like, default=10
        Values of C, or how many between 1e-2 and 1e4.
    epsilons : int or array-like, default=5
        Values of epsilon, or how many between 1e-3 and 1 times the standard deviation of y.
    gammas, cv, refit, scale, refine, discard, n_jobs, verbose, time_limit, on_interrupt, warm_start
        As for SVCCV.
    scoring : str, callable, list, tuple, dict or None, default=None
        What is maximised; None is R^2.
    estimator : SVR or None, default=None
        Everything that is not searched; None is ``SVR()``.

    Attributes
    ----------
    cv_results_, best_index_, best_params_, best_score_, best_estimator_, n_splits_, refit_time_
        As for SVCCV.

    See Also
    --------
    SVCCV : for classification, with all parameters explained.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.model_selection import SVRCV
    >>> X = np.random.default_rng(0).uniform(0, 5, size=(60, 1))
    >>> y = np.sin(X[:, 0])
    >>> search = SVRCV(Cs=[0.1, 10], gammas=[0.1, 1], epsilons=[0.01]).fit(X, y)
    >>> search.best_params_
    {'C': 10.0, 'epsilon': 0.01, 'gamma': 0.1}
    >>> search.best_score_ > 0.9
    True
    """

    _machine = SVR
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "Cs": grids.CONSTRAINT,
        "gammas": grids.CONSTRAINT,
        "epsilons": grids.CONSTRAINT,
        **KernelSearchCV._parameter_constraints,
    }

    def __init__(
        self,
        Cs: Any = 10,
        gammas: Any = 10,
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
        self.gammas = gammas
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
            "C": grids.costs(self.Cs),
            "epsilon": grids.tubes(self.epsilons, y, weight),
            **self._gammas(X, y, weight),
        }


class NuSVRCV(BestModel, RegressorMixin, KernelSearchCV):  # type: ignore[misc]
    """NuSVR with C, gamma and nu chosen by cross-validation over a whole grid, as one job.

    Parameters
    ----------
    Cs : int or array-like, default=10
        Values of C, or how many between 1e-2 and 1e4.
    nus : int or array-like, default=4
        Values of nu, or how many between 0 and 1.
    gammas, cv, refit, scale, refine, discard, n_jobs, verbose, time_limit, on_interrupt, warm_start
        As for SVCCV.
    scoring : str, callable, list, tuple, dict or None, default=None
        What is maximised; None is R^2.
    estimator : NuSVR or None, default=None
        Everything that is not searched; None is ``NuSVR()``.

    Attributes
    ----------
    cv_results_, best_index_, best_params_, best_score_, best_estimator_, n_splits_, refit_time_
        As for SVCCV.

    See Also
    --------
    SVRCV : with epsilon in place of nu.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.model_selection import NuSVRCV
    >>> X = np.random.default_rng(0).uniform(0, 5, size=(60, 1))
    >>> y = np.sin(X[:, 0])
    >>> search = NuSVRCV(Cs=[10], gammas=[0.1, 1], nus=[0.3, 0.6]).fit(X, y)
    >>> search.best_params_
    {'C': 10.0, 'gamma': 1.0, 'nu': 0.6}
    >>> search.best_estimator_.certificate_.status
    'optimal'
    """

    _machine = NuSVR
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "Cs": grids.CONSTRAINT,
        "gammas": grids.CONSTRAINT,
        "nus": grids.CONSTRAINT,
        **KernelSearchCV._parameter_constraints,
    }

    def __init__(
        self,
        Cs: Any = 10,
        gammas: Any = 10,
        nus: Any = 4,
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
        self.gammas = gammas
        self.nus = nus
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
            "C": grids.costs(self.Cs),
            "nu": grids.shares("nus", self.nus),
            **self._gammas(X, y, weight),
        }
