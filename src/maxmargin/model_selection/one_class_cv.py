"""OneClassSVM with parameters chosen by cross-validation over a whole grid."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.arrays import Floats
from maxmargin.estimators import OneClassSVM
from maxmargin.kernel.kernels import Kind
from maxmargin.model_selection import grids
from maxmargin.model_selection.best import BestModel
from maxmargin.model_selection.chosen import chosen_has
from maxmargin.model_selection.kernel_cv import KernelSearchCV
from maxmargin.model_selection.refit import refuse_without_refit
from maxmargin.model_selection.scaling import rows_of
from maxmargin.model_selection.search import Folds


class OneClassSVMCV(BestModel, OutlierMixin, KernelSearchCV):  # type: ignore[misc]
    """OneClassSVM with nu and gamma chosen by cross-validation over a whole grid, as one job.

    It needs labels to compare with: y is 1 for inliers and -1 for outliers. Fits use the inliers
    alone; scores use all samples of a fold.

    Parameters
    ----------
    nus : int or array-like, default=9
        Values of nu, or how many between 0 and 1.
    gammas, cv, refit, scale, refine, discard, n_jobs, verbose, time_limit, on_interrupt, warm_start
        As for SVCCV.
    scoring : str, callable, list, tuple, dict or None, default=None
        What is maximised; None is the balanced accuracy.
    estimator : OneClassSVM or None, default=None
        Everything that is not searched; None is ``OneClassSVM()``.

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
    >>> from maxmargin.model_selection import OneClassSVMCV
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(size=(90, 2)), rng.uniform(-6, 6, size=(10, 2))])
    >>> y = np.repeat([1, -1], [90, 10])
    >>> order = rng.permutation(100)
    >>> search = OneClassSVMCV(nus=[0.05, 0.5], gammas=[0.1]).fit(X[order], y[order])
    >>> search.best_params_
    {'gamma': 0.1, 'nu': 0.05}
    """

    _machine = OneClassSVM
    _score = "balanced_accuracy"
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
        self.nus = nus
        self.gammas = gammas
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
        return {"nu": grids.shares("nus", self.nus), **self._gammas(X, y, weight)}

    def _folds(self, X: Any, y: Any, **split: Any) -> Folds:
        if y is None or not set(np.unique(y)) <= {-1, 1} or not (y == 1).any():
            raise ValueError(
                "OneClassSVMCV needs labels to compare with: y must hold 1 for inliers and -1 for "
                "outliers, with at least one inlier."
            )
        return [(a[y[a] == 1], b) for a, b in super()._folds(X, y, **split)]

    def _for_refit(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        inside = np.flatnonzero(y == 1)
        if self._template()._kernel_kind() is Kind.PRECOMPUTED:  # predict takes every column
            return X, None, (y == 1) * (1.0 if sample_weight is None else sample_weight)
        weight = None if sample_weight is None else sample_weight[inside]
        return rows_of(X, inside), None, weight

    def fit_predict(self, X: Any, y: Any = None, **options: Any) -> NDArray[np.int64]:
        """Search, then tell inliers from outliers among the same samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training vectors.
        y : array-like of shape (n_samples,)
            1 for inliers and -1 for outliers.
        **options : dict
            As for ``fit``.

        Returns
        -------
        label : ndarray of shape (n_samples,)
            1 for inliers and -1 for outliers.
        """
        refuse_without_refit(self, "fit_predict")
        found: NDArray[np.int64] = self.fit(X, y, **options).predict(X)
        return found

    @property
    def offset_(self) -> Floats:
        """What score_samples exceeds for inliers."""
        found: Floats = self._best_machine("offset_").offset_
        return found

    @available_if(chosen_has("score_samples"))  # type: ignore[untyped-decorator]
    def score_samples(self, X: Any) -> Floats:
        """Decision values of the best model, without its offset.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        score : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        found: Floats = self.best_estimator_.score_samples(X)
        return found
