"""Classifiers whose parameters are chosen by cross-validation over a whole grid."""

from typing import Any, ClassVar

from sklearn.base import ClassifierMixin

from maxmargin.core.arrays import Floats
from maxmargin.estimators import SVC, NuSVC
from maxmargin.model_selection import grids
from maxmargin.model_selection.best import BestModel
from maxmargin.model_selection.kernel_cv import KernelSearchCV


class SVCCV(BestModel, ClassifierMixin, KernelSearchCV):  # type: ignore[misc]
    """SVC with C and gamma chosen by cross-validation over a whole grid, as one job.

    The scores are those of ``GridSearchCV(SVC(...), {"C": Cs, "gamma": gammas})``. All fits share
    the squared distances and kernel values of the samples, and start from each other's solutions.

    Parameters
    ----------
    Cs : int or array-like, default=10
        Values of C, or how many between 1e-2 and 1e4.
    gammas : int or array-like, default=10
        Values of gamma, or how many between 1e-2 and 1e2 times ``gamma="scale"``. Leave it
        out for a kernel without gamma.
    cv : int, cross-validation generator or iterable, default=None
        How to split; None is 5-fold, stratified for classification.
    scoring : str, callable, list, tuple, dict or None, default=None
        What is maximised; None is the accuracy. Ties go to the smaller C, then to the smaller
        gamma. Scores of probabilities need ``estimator=SVC(probability=True)``. Several scores are
        a list of names, a dict of scorers, or a function that returns a dict of numbers.
    refit : bool, str or callable, default=True
        Fit the best candidate on all samples. Of several scores a name tells which one decides; a
        function is given ``cv_results_`` and returns the number of the candidate. With False there
        is no ``best_estimator_``, and the search cannot predict.
    scale : {"standard", "minmax"}, transformer or None, default=None
        Scale every feature, in each fold by its training samples alone; ``best_estimator_`` is then
        a pipeline that scales what it is given. Sparse data are not shifted. Any transformer of
        scikit-learn is fitted in each fold instead, and X is what it takes.
    refine : bool, default=False
        Try values between the best candidate and its neighbours in a second round.
    discard : {"safe", "racing"} or None, default=None
        Candidates that skip the folds that are left: "safe", those that cannot win whatever their
        scores on these folds; "racing", those that a t-test finds to be worse than the leader,
        which may lose a good one.
    n_jobs : int or None, default=None
        Fits at once; None is the number of threads that a single fit may use.
    verbose : bool or int, default=0
        Show a progress line with the time left.
    time_limit : float or None, default=None
        Seconds after which the search ends with what is done; the fit on all samples comes on top.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does: raise, or end the search with what is done.
    warm_start : bool, default=False
        Keep the scores of the last call on the same samples, folds and estimator, and compute only
        those that are missing.
    estimator : SVC or None, default=None
        Everything but C and gamma; None is ``SVC()``.

    Attributes
    ----------
    cv_results_ : dict
        As in GridSearchCV, and ``n_splits_done``, the number of folds with all scores, ``status``,
        the worst status of a candidate's fits, ``discarded``, and ``iter``, 0 for the grid and 1
        for what ``refine`` added.
    best_index_, best_params_, best_score_
        The candidate with the greatest mean score. Not there for several scores with
        ``refit=False``; where ``refit`` is a function, there is no ``best_score_``.
    best_estimator_ : SVC or Pipeline
        Fitted on all samples with ``best_params_``, if ``refit`` says so.
    scorer_ : callable or dict
        The scorer, or the scorers by name.
    multimetric_ : bool
        Whether there are several scores.
    n_splits_ : int
        Number of folds.
    refit_time_ : float
        Seconds of the fit on all samples.

    Examples
    --------
    >>> from maxmargin.model_selection import SVCCV
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> search = SVCCV(Cs=[0.1, 1], gammas=[0.01, 0.1]).fit(X, y)
    >>> search.best_params_
    {'C': 1.0, 'gamma': 0.1}
    """

    _machine = SVC
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "Cs": grids.CONSTRAINT,
        "gammas": grids.CONSTRAINT,
        **KernelSearchCV._parameter_constraints,
    }

    def __init__(
        self,
        Cs: Any = 10,
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
        self.Cs = Cs
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
        return {"C": grids.costs(self.Cs), **self._gammas(X, y, weight)}


class NuSVCCV(BestModel, ClassifierMixin, KernelSearchCV):  # type: ignore[misc]
    """NuSVC with nu and gamma chosen by cross-validation over a whole grid, as one job.

    A nu that is infeasible on some fold has no score.

    Parameters
    ----------
    nus : int or array-like, default=9
        Values of nu, or how many between 0 and 1.
    gammas, cv, refit, scale, refine, discard, n_jobs, verbose, time_limit, on_interrupt, warm_start
        As for SVCCV.
    scoring : str, callable, list, tuple, dict or None, default=None
        What is maximised; None is the accuracy.
    estimator : NuSVC or None, default=None
        Everything that is not searched; None is ``NuSVC()``.

    Attributes
    ----------
    cv_results_, best_index_, best_params_, best_score_, best_estimator_, n_splits_, refit_time_
        As for SVCCV.

    See Also
    --------
    SVCCV : with C in place of nu.

    Examples
    --------
    >>> from maxmargin.model_selection import NuSVCCV
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> search = NuSVCCV(nus=[0.1, 0.6], gammas=[0.1]).fit(X, y)
    >>> search.best_params_
    {'gamma': 0.1, 'nu': 0.1}
    """

    _machine = NuSVC
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
