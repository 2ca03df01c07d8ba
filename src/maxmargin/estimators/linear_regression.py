"""LinearSVR: certified linear regression for any number of samples."""

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin, _fit_context
from sklearn.linear_model._base import LinearModel
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from maxmargin import intervals
from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats, Integers
from maxmargin.estimators._base import all_or_nothing
from maxmargin.estimators._chunks import Read, chunk_design
from maxmargin.estimators._interval import PredictsIntervals, folds_for, warn_early
from maxmargin.estimators._linear import BaseLinear
from maxmargin.estimators._options import StrOptions
from maxmargin.estimators._probability import sample_keys
from maxmargin.estimators._record import checked
from maxmargin.estimators._targets import numbers, validate_weight
from maxmargin.kernel.held_out import EARLY, NEVER
from maxmargin.linear import losses
from maxmargin.linear.designs import ArrayDesign, Design
from maxmargin.linear.losses import LinearProblem
from maxmargin.linear.model import check_folds, decision_values, fold_machine
from maxmargin.linear.training import TrainedLinear


class LinearSVR(PredictsIntervals, RegressorMixin, LinearModel, BaseLinear):  # type: ignore[misc]
    """Linear support vector regression for any number of samples, certified.

    Minimises 1/2 |w|^2 + C sum_i loss(z_i - f(x_i)) over f(x) = w.x + b. The intercept b is not
    penalised unless ``intercept="regularised"``.

    Parameters
    ----------
    epsilon : float, default=0.0
        Half-width of the tube inside which residuals cost nothing.
    tol, C, fit_intercept, intercept_scaling, dual, verbose, random_state, max_iter, intercept,
    solver, time_limit, on_interrupt, warm_start
        As for LinearSVC.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        max(0, |z - f| - epsilon) or its square.
    interval : bool, default=False
        Whether to learn ``predict_interval``, from errors of models that were fitted without the
        sample (five folds). ``fit_chunks`` cannot.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of the features.
    intercept_ : ndarray of shape (1,)
        The intercept.
    dual_coef_, certificate_, solver_, n_iter_, n_features_in_, feature_names_in_
        As for LinearSVC.

    Examples
    --------
    >>> from maxmargin import LinearSVR
    >>> from sklearn.datasets import load_diabetes
    >>> X, z = load_diabetes(return_X_y=True)
    >>> LinearSVR(C=100).fit(X, z).certificate_.status
    'optimal'
    """

    _one_row = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseLinear._parameter_constraints,
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
        "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
        "interval": ["boolean"],
    }

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: Any = "auto",
        verbose: Any = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        intercept: str = "free",
        solver: str = "auto",
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        warm_start: bool = False,
        interval: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.intercept = intercept
        self.solver = solver
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start
        self.interval = interval

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training vectors.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            How many times each sample counts: 2 is two copies, 0 leaves it out.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            X, y = self._validate_Xy(X, y, reset=True, y_numeric=True)
            z, weight = numbers(y), validate_weight(sample_weight, X.shape[0])
            return self._fit_design(ArrayDesign(X), z, weight, self._folds(X, weight))

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit_chunks(self, read: Read) -> Self:
        """Fit the same model on data that come in chunks; see ``LinearSVC.fit_chunks``.

        Parameters
        ----------
        read : callable
            ``read()`` returns an iterable of ``(X, y)`` or ``(X, y, sample_weight)``, the same at
            each call.

        Returns
        -------
        self : object
            The fitted estimator; its certificate is that of all data.
        """
        if self.solver == "coordinate":
            raise ValueError(
                "fit_chunks reads the data a few times as a whole: use solver='auto' or 'newton'."
            )
        if self.interval:
            raise ValueError(
                "fit_chunks learns no intervals: fit on samples in memory, or use interval=False."
            )
        with all_or_nothing(self):
            y, weight, shape = self._first_pass(read)
            return self._fit_design(
                chunk_design(read, shape), numbers(y), validate_weight(weight, shape[0])
            )

    def _fit_design(
        self, design: Design, z: Floats, weight: Floats, folds: Integers | None = None
    ) -> Self:
        """Fit, and hold out folds, where they are given."""
        problem = self._problem(z, weight)
        choice = self._choose(design, problem.tube.squared)
        if folds is None:
            return self._run([problem], design, choice)
        used = np.flatnonzero(folds != NEVER)
        parts = [np.where(folds == k, 0.0, weight) for k in range(folds.max() + 1)]

        def learn(trained: list[TrainedLinear]) -> None:
            machine = fold_machine(trained)
            values = np.column_stack([design.values(w) for w in machine.coef]) + machine.intercept
            error = np.abs(z - values[np.arange(len(z)), folds])[used]
            kept = intervals.collect(machine, error, weight[used], folds[used])
            self.model_ = replace(self.model_, folds=kept)
            early = any(one.certificate.status in EARLY for one in trained)
            if early and self.model_.certificate.status.converged:
                warn_early()

        without = [self._problem(z, part) for part in parts]
        return self._run([problem], design, choice, held_out=without, learn=learn)

    def _folds(self, X: Any, weight: Floats) -> Integers | None:
        """The fold of each sample, NEVER for those without weight; None without intervals."""
        if not self.interval or self._watcher is not None:  # folds of a search need none
            return None
        used, folds = np.flatnonzero(weight > 0), np.full(len(weight), NEVER)
        folds[used] = folds_for(sample_keys(None, X, self.random_state)[used])
        return folds

    def _problem(self, z: Floats, weight: Floats) -> LinearProblem:
        squared = self.loss == "squared_epsilon_insensitive"
        return LinearProblem(
            losses.regression(z, self.C * weight, self.epsilon, squared), *self._bias()
        )

    def _fold_values(self, X: Any) -> Floats:
        record = checked(self)
        check_folds(record, type(self).__name__)
        return decision_values(record.folds.machine, self._validate_X(X, reset=False))

    def predict(self, X: Any) -> Floats:
        """Predicted targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        z : ndarray of shape (n_samples,)
        """
        return self._scores(X)[:, 0]

    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Check the fitted model on its training data.

        Everything is recomputed in float64, by code that the solver does not share.

        Parameters
        ----------
        X, y, sample_weight
            What the model was fitted on.

        Returns
        -------
        certificate : Certificate
            As ``certificate_``, with ``audit_error`` over all samples.
        """
        check_is_fitted(self)
        X, y = self._validate_Xy(X, y, reset=False, y_numeric=True)
        return self._certify(
            [self._problem(numbers(y), validate_weight(sample_weight, X.shape[0]))], X
        )
