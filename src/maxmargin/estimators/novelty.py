"""NormaNovelty."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples

from maxmargin.core.arrays import Floats
from maxmargin.estimators._base import all_or_nothing
from maxmargin.estimators._data import refuse_batch_dependence, symmetric
from maxmargin.estimators._norma import BaseNorma
from maxmargin.estimators._online import takes_chunks
from maxmargin.estimators._outlier import BaseOneClass
from maxmargin.estimators._record import checked, fitted
from maxmargin.estimators._targets import validate_weight
from maxmargin.kernel.kernels import Kernel
from maxmargin.online import norma
from maxmargin.online.norma import Hypotheses
from maxmargin.online.pegasos import Task


class NormaNovelty(BaseOneClass, BaseNorma):
    """Online novelty detection by NORMA.

    This is a one-class SVM for streams, with a kernel and a bounded number of support vectors.

    For each sample it takes a gradient step on alpha/2 |g|^2 + max(0, rho - g(x)) - nu rho: in the
    long run g is below rho at a fraction nu of the samples. The optimum is that of
    ``OneClassSVM``, up to a common factor of g and rho. At the end ``fit`` sets rho to the exact
    minimiser, the nu-quantile of g over the training samples; ``partial_fit`` leaves it to the
    steps.

    Parameters
    ----------
    nu : float, default=0.5
        The fraction of outliers, in (0, 1].
    alpha : float, default=0.01
        Weight of the penalty: it scales g and rho, and coefficients of old samples shrink by
        1 - eta_t alpha in each step.
    kernel, degree, gamma, coef0, eta0, power_t, max_iter, budget, shuffle, random_state,
    warm_start, verbose, time_limit, on_interrupt
        As for NormaSVC.

    Attributes
    ----------
    offset_ : ndarray of shape (1,)
        rho: ``decision_function = score_samples - offset_``.
    intercept_, support_, support_vectors_, dual_coef_, truncation_, n_iter_, t_, n_features_in_,
    feature_names_in_
        As for NormaSVC.

    See Also
    --------
    OneClassSVM : the optimum that the steps approach.

    References
    ----------
    Kivinen, J., Smola, A. J. and Williamson, R. C. (2004). Online learning with kernels. IEEE
    Transactions on Signal Processing 52, 2165-2176.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import NormaNovelty
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> model = NormaNovelty(nu=0.1, gamma=0.5, random_state=0)
    >>> for chunk in np.split(X, 3):
    ...     model = model.partial_fit(chunk)
    >>> model.predict([[0, 0], [8, 8]])
    array([ 1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseNorma._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }

    def __init__(
        self,
        *,
        nu: float = 0.5,
        alpha: float = 0.01,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        eta0: float = 1.0,
        power_t: float = 0.5,
        max_iter: int = 5,
        budget: int | None = 1000,
        shuffle: bool = True,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: Any = False,
        time_limit: float | None = None,
        on_interrupt: str = "raise",
    ) -> None:
        self.nu = nu
        self.alpha = alpha
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.eta0 = eta0
        self.power_t = power_t
        self.max_iter = max_iter
        self.budget = budget
        self.shuffle = shuffle
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model by a few epochs over the samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training vectors.
        y : Ignored
            Present for API consistency by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each sample. Integer weights are repetitions: a sample of weight 2 and two
            copies of it give the same fit. Other weights scale the steps.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            X = self._validate_X(X, reset=True)
            weight = validate_weight(sample_weight, _num_samples(X))
            X = symmetric(self._kernel_kind(), X)
            refuse_batch_dependence(self.kernel, X)
            rows, step_weight = self._rows(self._design(X), weight, np.flatnonzero(weight > 0))
            task = self._task(np.ones((1, len(weight))), step_weight, rows)
            rule = self._checked_rule(self.nu, bias=False)
            warm = self.warm_start and hasattr(self, "model_")
            kernel, points, hypotheses = self._begin(X, weight, 1, 0.0, warm)
            self._run(points, hypotheses, rule, task, self.max_iter)
            g = points.values(hypotheses.coef)[0]
            hypotheses.state["rho"] = norma.offset(g, task.share, self.nu)
            self._keep_novelty(kernel, X, hypotheses, chunk=False)
            return self

    @available_if(takes_chunks)  # type: ignore[untyped-decorator]
    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """One pass over a chunk of samples, continuing from all before.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The chunk.
        y : Ignored
            Present for API consistency by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each sample; it multiplies the step.

        Returns
        -------
        self : object
            The estimator.
        """
        with all_or_nothing(self):
            X = self._validate_X(X, reset=not hasattr(self, "model_"))
            weight = validate_weight(sample_weight, _num_samples(X))
            task = Task(np.ones((1, len(weight))), weight, np.flatnonzero(weight > 0))
            kernel, kept, points, hypotheses = self._continue(X, weight, 1, 0.0)
            self._run(points, hypotheses, self._checked_rule(self.nu, bias=False), task, 1)
            self._keep_novelty(kernel, kept, hypotheses, chunk=True)
            return self

    def _keep_novelty(
        self, kernel: Kernel, points: Any, hypotheses: Hypotheses, chunk: bool
    ) -> None:
        intercept = -hypotheses.state["rho"]
        self._keep_hypotheses(kernel, points, hypotheses, chunk, intercept=intercept)

    @property
    def offset_(self) -> Any:
        """rho, the negative intercept."""
        return np.negative(fitted(self).intercept)

    @offset_.setter
    def offset_(self, value: Any) -> None:
        self.intercept_ = np.negative(value)

    def score_samples(self, X: Any) -> Floats:
        """The decision function without its offset.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; (n_samples, n_samples_fit) kernel values for ``kernel="precomputed"``.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        checked(self)
        scores: Floats = self._function_values(self._validate_X(X, reset=False))[0]
        return scores
