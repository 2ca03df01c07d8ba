"""SVR and NuSVR."""

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin, _fit_context
from sklearn.utils import column_or_1d
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.estimators._base import all_or_nothing
from maxmargin.estimators._interval import GivesIntervals
from maxmargin.estimators._machine import Shared
from maxmargin.estimators._plain import plain_target
from maxmargin.estimators._record import fitted
from maxmargin.estimators._single import BaseSingle, Targets
from maxmargin.estimators._targets import numbers
from maxmargin.estimators._tube import TubeLoss
from maxmargin.kernel import formulations
from maxmargin.kernel.formulations import Formulation
from maxmargin.kernel.model import Problem


class BaseRegressor(RegressorMixin, BaseSingle):  # type: ignore[misc]
    """Targets, fitting and prediction of a regression."""

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training vectors; the square kernel matrix for ``kernel="precomputed"``; any sequence
            for a callable kernel.
        y : array-like of shape (n_samples,)
            Target values.
        sample_weight : array-like of shape (n_samples,), default=None
            How many times each sample counts: 2 is two copies, 0 leaves it out.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any, shared: Shared | None = None) -> Self:
        def prepared() -> Targets:
            own, target = self._validate_Xy(X, y, reset=True)
            return self._prepared(own, self._targets(target), sample_weight)

        return self._fit_single(
            prepared() if shared is None else self._once(shared, prepared), shared
        )

    def _targets(self, y: Any) -> Floats:
        if plain_target(y):
            return np.asarray(y, dtype=np.float64)
        z = numbers(column_or_1d(y, warn=True))
        if not np.isfinite(z).all():
            raise ValueError("Input y contains NaN or infinity.")
        return z

    def predict(self, X: Any, precision: str = "float64") -> Floats:
        """Predict targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; (n_samples, n_samples_fit) kernel values for ``kernel="precomputed"``.
        precision : {"float64", "float32"}, default="float64"
            "float32", for the RBF kernel and dense data only, computes kernel values in float32,
            more than twice as fast with hundreds of support vectors or more. Each kernel value is
            right to 0.1 %; usually to six digits. The terms of a value largely cancel: its
            error was 4e-7 of the root of the sum of their squares (root mean square), at most 6e-4
            for thousands of support vectors and C=10. Rows so far out that float32 cannot promise
            the 0.1 %, and models whose data are mostly zeros or need the digits of float64, are
            computed in float64. No value depends on the other rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predicted values.
        """
        return self._decision_values(X, precision)[:, 0]

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
        X, y = self._validate_Xy(X, y, reset=False)
        return self._certify_single(X, self._targets(y), sample_weight)


class BaseSVR(BaseRegressor, GivesIntervals):
    """What SVR and NuSVR share."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GivesIntervals._parameter_constraints,
        "interval": ["boolean"],
        "random_state": ["random_state"],
    }


class SVR(TubeLoss, BaseSVR):
    """epsilon-support vector regression, solved exactly and certified.

    Minimises 1/2 |w|^2 + C sum_i loss(y_i - f(x_i)) with loss max(0, |r| - epsilon), its square, or
    Huber's loss; the intercept is not penalised.

    Parameters
    ----------
    kernel, degree, gamma, coef0
        As for SVC.
    tol : float, default=1e-3
        Greatest violation of the optimality conditions, in units of y; small problems are solved to
        rounding.
    C : float, default=1.0
        Weight of the losses, positive; ``inf`` demands that no sample lies outside the tube.
    epsilon : float, default=0.1
        Half-width of the tube without loss; for Huber's loss the residual from which on it is
        linear.
    shrinking, cache_size, verbose, max_iter, time_limit, on_interrupt, warm_start
        As for SVC.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive", "huber"}, \
default="epsilon_insensitive"
        The loss outside the tube, its square, or Huber's: r^2 / (2 epsilon) up to |r| = epsilon and
        |r| - epsilon / 2 beyond. As epsilon goes to 0 it becomes the absolute error, as epsilon and
        C grow with C / epsilon = 1 / alpha kernel ridge regression.
    solver : {"auto", "block", "newton"}, default="auto"
        As for SVC; "newton" needs ``loss="squared_epsilon_insensitive"``.
    interval : bool, default=False
        Whether to learn ``predict_interval``, from errors of machines that were trained without
        the sample (five folds). The machines are kept: a model takes about twice the memory. Files
        of LIBSVM get the scale of its noise model, as from ``svm-train -b 1``.
    random_state : int, RandomState instance or None, default=None
        Chooses the folds of ``interval=True``; None is 0. Nothing else is random.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, intercept_interval_, coef_
        As in scikit-learn and for SVC.
    certificate_, fit_status_, n_iter_, n_features_in_, shape_fit_
        As in scikit-learn and for SVC.

    See Also
    --------
    NuSVR : the width of the tube follows from a share of the samples.
    LinearSVR : linear regression of any number of samples.
    QuantileSVR, ExpectileSVR : asymmetric losses.
    MultiOutputSVR : several targets.
    maxmargin.model_selection.SVRCV : C, gamma and epsilon by cross-validation.

    References
    ----------
    Smola, A. J. and Schölkopf, B. (2004). A tutorial on support vector regression. Statistics and
    Computing 14, 199-222.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import SVR
    >>> X = np.linspace(0, 5, 40).reshape(-1, 1)
    >>> y = np.sin(X[:, 0])
    >>> model = SVR(C=10, epsilon=0.1).fit(X, y)
    >>> model.certificate_.status
    'optimal'
    >>> bool(np.abs(model.predict(X) - y).max() < 0.15)
    True
    """

    _problem = Problem.EPSILON_SVR
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseSVR._parameter_constraints,
        **TubeLoss._tube_constraints,
    }

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: Any = 200,
        verbose: Any = False,
        max_iter: int = -1,
        loss: str = "epsilon_insensitive",
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        warm_start: bool = False,
        solver: str = "auto",
        interval: bool = False,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.loss = loss
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start
        self.solver = solver
        self.interval = interval
        self.random_state = random_state


class NuSVR(BaseSVR):
    """nu-support vector regression, solved exactly and certified.

    The width of the tube is part of the solution: at most a share nu of the samples lies outside.

    Parameters
    ----------
    nu : float, default=0.5
        In (0, 1].
    C : float, default=1.0
        Weight of the losses, positive.
    kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter, time_limit,
    on_interrupt, warm_start, interval, random_state
        As for SVR.

    Attributes
    ----------
    epsilon_ : float
        Half-width of the tube found; model files of other programs do not hold it.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, intercept_interval_, coef_
        As in scikit-learn and for SVC.
    certificate_, fit_status_, n_iter_, n_features_in_, shape_fit_
        As for SVR; the objective of the certificate is 1/2 |w|^2 + C (nu n epsilon_ + sum_i max(0,
        |y_i - f(x_i)| - epsilon_)).

    See Also
    --------
    SVR : the width of the tube is given.

    References
    ----------
    Schölkopf, B., Smola, A. J., Williamson, R. C. and Bartlett, P. L. (2000). New support vector
    algorithms. Neural Computation 12, 1207-1245.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import NuSVR
    >>> rng = np.random.default_rng(0)
    >>> X = np.linspace(0, 5, 100).reshape(-1, 1)
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=100)
    >>> model = NuSVR(nu=0.2, C=10).fit(X, y)
    >>> outside = np.abs(y - model.predict(X)) > model.epsilon_ + 1e-6
    >>> bool(outside.mean() <= 0.2)
    True
    """

    _problem = Problem.NU_SVR
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseSVR._parameter_constraints,
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: Any = 200,
        verbose: Any = False,
        max_iter: int = -1,
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        warm_start: bool = False,
        interval: bool = False,
        random_state: Any = None,
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start
        self.interval = interval
        self.random_state = random_state

    def _formulation(self, z: Floats, weight: Floats) -> Formulation:
        return formulations.nu_svr(z, float(self.C), weight, float(self.nu))

    @property
    def epsilon_(self) -> float:
        """Half-width of the tube found."""
        epsilon: float | None = fitted(self).epsilon
        if epsilon is None:
            raise AttributeError("epsilon_ is not known: the model file does not hold it.")
        return epsilon

    @epsilon_.setter
    def epsilon_(self, value: float) -> None:
        self.model_ = replace(fitted(self), epsilon=value)
