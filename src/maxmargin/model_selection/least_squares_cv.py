"""Least squares machines whose parameters are chosen by exact leave-one-out.

For each gamma one eigendecomposition of the kernel matrix gives the leave-one-out values of every C
(kernel/least_squares_systems.py): a C more costs n^2 operations, and no fold is trained.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.stats import rankdata
from sklearn.base import (
    ClassifierMixin,
    MetaEstimatorMixin,
    RegressorMixin,
    _fit_context,
    clone,
)
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.arrays import Floats, Integers
from maxmargin.core.threads import one_blas_thread
from maxmargin.estimators._base import all_or_nothing
from maxmargin.estimators._data import gamma_value, refuse_batch_dependence
from maxmargin.estimators._machine import TrainingSet
from maxmargin.estimators._options import StrOptions
from maxmargin.estimators._plain import QuickParameters
from maxmargin.estimators._probability import sample_keys
from maxmargin.estimators.least_squares import LSSVC, LSSVR
from maxmargin.kernel.kernels import PARAMETERS, Kernel, Kind
from maxmargin.kernel.least_squares import solve
from maxmargin.kernel.least_squares_systems import Spectrum
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.model_selection import grids
from maxmargin.model_selection.chosen import ChosenModel
from maxmargin.model_selection.left_out_models import LeftOut, LeftOutClassifier, LeftOutRegressor
from maxmargin.model_selection.results import product_of
from maxmargin.monitor import Monitor


class Prepared(NamedTuple):
    """The samples of positive weight, and what their machines are to reproduce."""

    data: TrainingSet
    Z: Floats
    """Targets, a column for each function."""
    y: Any
    """Labels or targets."""
    effective: Floats
    """Weights of the losses, at C = 1."""
    weight: Floats
    """Weights of the scores."""


class BestLeastSquares(ChosenModel):
    """Predictions and scores of the best model."""

    scoring: Any
    _template: Callable[[], Any]

    def _require(self, name: str) -> None:
        getattr(self.__dict__.get("best_estimator_", self._template()), name)

    def _prepared(self, X: Any) -> tuple[Any, Any]:
        return self.best_estimator_, X

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score of the best model by ``scoring``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Labels or targets.
        sample_weight : array-like of shape (n_samples,), default=None
            How many times each sample counts.

        Returns
        -------
        score : float
        """
        check_is_fitted(self)
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(
            check_scoring(self.best_estimator_, self.scoring)(self.best_estimator_, X, y, **given)
        )


class BaseLeastSquaresCV(MetaEstimatorMixin, QuickParameters):  # type: ignore[misc]
    """A search over C and gamma by leave-one-out."""

    _machine: ClassVar[type]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "Cs": grids.CONSTRAINT,
        "gammas": grids.CONSTRAINT,
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
        "verbose": ["verbose"],
        "estimator": "no_validation",  # _template has the message
    }

    def __init__(
        self,
        Cs: Any = 10,
        gammas: Any = 10,
        *,
        scoring: Any = None,
        verbose: Any = 0,
        estimator: Any = None,
    ) -> None:
        self.Cs = Cs
        self.gammas = gammas
        self.scoring = scoring
        self.verbose = verbose
        self.estimator = estimator

    @abstractmethod
    def _prepare(self, machine: Any, X: Any, y: Any, sample_weight: Any) -> Prepared:
        """Validate the data as the machine does."""

    @abstractmethod
    def _left_out(self, machine: Any, values: Floats, prepared: Prepared) -> LeftOut:
        """The model with these leave-one-out values."""

    def _template(self) -> Any:
        """The machine with everything that is not searched."""
        if self.estimator is None:
            return self._machine()
        if not isinstance(self.estimator, self._machine):
            raise ValueError(
                f"estimator must be an instance of maxmargin.{self._machine.__name__} or None, got "
                f"{self.estimator!r}."
            )
        return clone(self.estimator)

    def __sklearn_tags__(self) -> Any:
        """Those of the machine."""
        return self._template().__sklearn_tags__()

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Score every C and gamma by leave-one-out, then fit the best on all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training vectors; the square kernel matrix for ``kernel="precomputed"``; any sequence
            for a callable kernel.
        y : array-like of shape (n_samples,)
            Labels or targets.
        sample_weight : array-like of shape (n_samples,), default=None
            How many times each sample counts, in the fits and in the scores.

        Returns
        -------
        self : object
            The fitted search.
        """
        with all_or_nothing(self):
            machine = self._template()
            machine._validate_params()
            prepared = self._prepare(machine, X, y, sample_weight)
            for name in ("n_features_in_", "feature_names_in_"):
                self.__dict__.pop(name, None)
                if hasattr(machine, name):
                    setattr(self, name, getattr(machine, name))
            candidates, scores = self._scored(machine, prepared)
            self._keep(candidates, scores)
            best = clone(machine).set_params(**self.best_params_)
            self.best_estimator_ = best.fit(X, y, sample_weight=sample_weight)
            return self

    def _kernels(self, machine: Any, data: TrainingSet, weight: Floats) -> dict[float, Kernel]:
        """The kernel of each gamma to try; one without gamma is tried as it is."""
        if isinstance(machine.kernel, str) and "gamma" in PARAMETERS.get(data.kernel.kind, ()):
            span = grids.SETTINGS.gamma
            unit = lambda: gamma_value("scale", data.samples, weight)  # noqa: E731
            found = grids.values("gammas", self.gammas, span, unit)
            return {float(gamma): replace(data.kernel, gamma=float(gamma)) for gamma in found}
        if not grids.is_number(self.gammas):
            raise ValueError(
                f"kernel={machine.kernel!r} takes no gamma, got gammas={self.gammas!r}: leave "
                "gammas out, or name a kernel with one (kernel='rbf')."
            )
        return {np.nan: data.kernel}

    def _scored(self, machine: Any, prepared: Prepared) -> tuple[list[dict[str, float]], Floats]:
        """Every candidate and its score."""
        data, Z, _, effective, weight = prepared
        kernels, costs = self._kernels(machine, data, weight), grids.costs(self.Cs)
        key = sample_keys(data.kernel.kind, data.samples, None, np.float64)
        refuse_batch_dependence(data.kernel, data.samples)
        found = np.empty((len(costs), len(kernels)))
        monitor = Monitor(verbose=int(self.verbose), title=type(self).__name__)
        with monitor, one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            whole = KernelWorkspace.of(data.kernel, data.samples, monitor)
            if len(kernels) > 1:
                whole.keep_distances()
            for k, kernel in enumerate(kernels.values()):
                monitor.say(f"gamma {k + 1} of {len(kernels)}")
                spectrum = Spectrum.of(_values_of(whole, kernel), effective)
                for i, C in enumerate(costs):
                    values = solve(spectrum.at(float(C)), Z, key).held_out
                    found[i, k] = self._score_of(machine, values, prepared)
        grid = {"C": costs, **({} if np.nan in kernels else {"gamma": np.array([*kernels])})}
        return product_of(grid), found.ravel()

    def _score_of(self, machine: Any, values: Floats, prepared: Prepared) -> float:
        """The score of leave-one-out values."""
        known = np.isfinite(values).all(axis=1)
        if not known.any():
            return -np.inf
        model = self._left_out(machine, values[known], prepared)
        rows = np.flatnonzero(known)[:, None]
        y, weight = prepared.y[known], prepared.weight[known]
        return float(check_scoring(machine, self.scoring)(model, rows, y, sample_weight=weight))

    def _keep(self, candidates: list[dict[str, float]], scores: Floats) -> None:
        """The results as in GridSearchCV, without folds."""
        order = rankdata(-np.where(np.isnan(scores), -np.inf, scores), method="min")
        self.best_index_ = int(np.argmin(order))
        self.best_params_ = candidates[self.best_index_]
        self.best_score_ = float(scores[self.best_index_])
        self.cv_results_ = {
            **{
                f"param_{name}": np.array([one[name] for one in candidates])
                for name in candidates[0]
            },
            "params": candidates,
            "mean_test_score": scores,
            "rank_test_score": order.astype(np.int32),
        }

    @property
    def C_(self) -> float:
        """The best C."""
        check_is_fitted(self)
        return float(self.best_params_["C"])

    @property
    def gamma_(self) -> float:
        """The best gamma, of a kernel that has one."""
        check_is_fitted(self)
        if "gamma" not in self.best_params_:
            raise AttributeError("the kernel of this search has no gamma")
        return float(self.best_params_["gamma"])


def _values_of(whole: KernelWorkspace, kernel: Kernel) -> KernelWorkspace:
    """The workspace of one kernel, with its values computed unless features take their place."""
    own = whole if kernel == whole.samples.kernel else whole.with_kernel(kernel)
    return own if kernel.kind is Kind.LINEAR else own.of_values()


class LSSVRCV(BestLeastSquares, RegressorMixin, BaseLeastSquaresCV):  # type: ignore[misc]
    """LSSVR with C and gamma chosen by exact leave-one-out, all C from one decomposition.

    Parameters
    ----------
    Cs : int or array-like, default=10
        Values of C, or how many between 1e-2 and 1e4.
    gammas : int or array-like, default=10
        Values of gamma, or how many between 1e-2 and 1e2 times ``gamma="scale"``; each takes one
        eigendecomposition. Kernels without gamma leave it at its default.
    scoring : str, callable or None, default=None
        What is maximised: the score of the leave-one-out predictions of all samples together. None
        is R^2.
    verbose : int, default=0
        Show the progress.
    estimator : LSSVR or None, default=None
        Everything that is not searched; None is ``LSSVR()``.

    Attributes
    ----------
    C_, gamma_ : float
        The best parameters.
    best_score_ : float
        Their leave-one-out score.
    best_params_, best_index_, best_estimator_, cv_results_
        As in GridSearchCV; there are no folds.

    See Also
    --------
    SVRCV : by cross-validation, for SVR.
    sklearn.linear_model.RidgeCV : the same idea for linear models.

    References
    ----------
    Cawley, G. C. and Talbot, N. L. C. (2004). Fast exact leave-one-out cross-validation of sparse
    least-squares support vector machines. Neural Networks 17, 1467-1475.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.model_selection import LSSVRCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 5, size=(60, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=60)
    >>> search = LSSVRCV(Cs=[0.1, 10, 1000], gammas=[0.1, 1]).fit(X, y)
    >>> search.C_, search.gamma_
    (10.0, 1.0)
    >>> bool(np.isclose(search.best_score_, search.best_estimator_.loo_score_))
    True
    """

    _machine = LSSVR

    def _prepare(self, machine: Any, X: Any, y: Any, sample_weight: Any) -> Prepared:
        own, target = machine._validate_Xy(X, y, reset=True)
        data, z, weight = machine._prepared(own, machine._targets(target), sample_weight)
        return Prepared(data, z[:, None], z, weight, weight)

    def _left_out(self, machine: Any, values: Floats, prepared: Prepared) -> LeftOut:
        return LeftOutRegressor(values)


class LSSVCCV(BestLeastSquares, ClassifierMixin, BaseLeastSquaresCV):  # type: ignore[misc]
    """LSSVC with C and gamma chosen by exact leave-one-out, all C from one decomposition.

    Parameters
    ----------
    Cs : int or array-like, default=10
        Values of C, or how many between 1e-2 and 1e4.
    gammas : int or array-like, default=10
        Values of gamma, or how many between 1e-2 and 1e2 times ``gamma="scale"``; each takes one
        eigendecomposition. Kernels without gamma leave it at its default.
    scoring : str, callable or None, default=None
        What is maximised: the score of the leave-one-out decision values of all samples together.
        None is the accuracy.
    verbose : int, default=0
        Show the progress.
    estimator : LSSVC or None, default=None
        Everything that is not searched; None is ``LSSVC()``.

    Attributes
    ----------
    C_, gamma_ : float
        The best parameters; of equal scores the first, which has the least C.
    best_score_ : float
        Their leave-one-out score.
    best_params_, best_index_, best_estimator_, cv_results_
        As in GridSearchCV; there are no folds.

    See Also
    --------
    SVCCV : by cross-validation, for SVC.

    References
    ----------
    Cawley, G. C. and Talbot, N. L. C. (2004). Fast exact leave-one-out cross-validation of sparse
    least-squares support vector machines. Neural Networks 17, 1467-1475.

    Examples
    --------
    >>> from maxmargin.model_selection import LSSVCCV
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> search = LSSVCCV(Cs=[0.1, 1, 10], gammas=[0.1, 1]).fit(X, y)
    >>> search.best_params_
    {'C': 0.1, 'gamma': 1.0}
    >>> round(search.best_score_, 3)
    0.967
    """

    _machine = LSSVC

    def _prepare(self, machine: Any, X: Any, y: Any, sample_weight: Any) -> Prepared:
        data, weight, effective, _, tasks = machine._prepared(X, y, sample_weight)
        Z = np.column_stack([task.sign for task in tasks])
        label: Integers = data.label[data.used]
        return Prepared(data, Z, data.classes[label], effective, weight[data.used])

    def _left_out(self, machine: Any, values: Floats, prepared: Prepared) -> LeftOut:
        model = LeftOutClassifier(values)
        assert prepared.data.classes is not None
        model.classes_ = prepared.data.classes
        return model
