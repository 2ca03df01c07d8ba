"""OneClassSVM with parameters chosen by cross-validation over a whole grid."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.metrics import get_scorer
from sklearn.utils import _safe_indexing

from maxmargin.core.arrays import Floats, Integers
from maxmargin.estimators import OneClassSVM
from maxmargin.estimators._machine import KernelMachine
from maxmargin.model_selection import grids
from maxmargin.model_selection.base import KernelSearchCV


class OneClassSVMCV(OutlierMixin, KernelSearchCV):  # type: ignore[misc]
    """OneClassSVM with nu and gamma chosen by cross-validation over a whole grid, as one job.

    It needs labels to compare with: y is 1 for inliers and -1 for outliers. Fits use the inliers
    alone; scores use all samples of a fold.

    Parameters
    ----------
    nus : int or array-like, default=9
        Values of nu, or how many between 0 and 1.
    gammas, cv, scale, refine, n_jobs, verbose, time_limit, on_interrupt, warm_start
        As for SVCCV.
    scoring : str, callable or None, default=None
        What is maximised; None is the balanced accuracy.
    estimator : OneClassSVM or None, default=None
        Everything that is not searched; None is ``OneClassSVM()``.

    Attributes
    ----------
    cv_results_, best_index_, best_params_, best_score_, best_estimator_, n_splits_, refit_time_
        As for SVCCV.
    """

    _machine = OneClassSVM
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "nus": grids.CONSTRAINT,
        "gammas": grids.CONSTRAINT,
        **KernelSearchCV._parameter_constraints,
    }

    def __init__(
        self,
        nus: Any = 9,
        gammas: Any = 10,
        *,
        cv: Any = None,
        scoring: Any = None,
        scale: str | None = None,
        refine: bool = False,
        n_jobs: int | None = None,
        verbose: Any = 0,
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        warm_start: bool = False,
        estimator: Any = None,
    ) -> None:
        self.nus = nus
        self.gammas = gammas
        self.cv = cv
        self.scoring = scoring
        self.scale = scale
        self.refine = refine
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start
        self.estimator = estimator

    def _grid(self, X: Any, y: Any) -> dict[str, Floats]:
        return {"nu": grids.shares("nus", self.nus), **self._gammas(X)}

    def _folds(self, X: Any, y: Any, groups: Any) -> list[tuple[Integers, Integers]]:
        if y is None or not set(np.unique(y)) <= {-1, 1} or not (y == 1).any():
            raise ValueError(
                "OneClassSVMCV needs labels to compare with: y must hold 1 for inliers and -1 for "
                "outliers, with at least one inlier."
            )
        return [(a[y[a] == 1], b) for a, b in super()._folds(X, y, groups)]

    def _scorer(self, machine: KernelMachine) -> Callable[..., float]:
        if self.scoring is None:
            return get_scorer("balanced_accuracy")  # type: ignore[no-any-return]
        return super()._scorer(machine)

    def _for_refit(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        inside = np.flatnonzero(y == 1)
        weight = None if sample_weight is None else np.asarray(sample_weight)[inside]
        return _safe_indexing(X, inside), None, weight
