"""NormaSVC and NormaNovelty."""

import warnings
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from maxmargin.estimators._base import all_or_nothing
from maxmargin.estimators._data import symmetric
from maxmargin.estimators._online import BaseOnline, OnlineClassifier, like, stack, takes_chunks
from maxmargin.problems import Floats
from maxmargin.solution import Status
from maxmargin.solvers import norma
from maxmargin.solvers.budget import Points, block_size, in_use
from maxmargin.solvers.epochs import best_bias
from maxmargin.solvers.norma import BIAS, RHO, STEPS, Functions, Rule
from maxmargin.solvers.pegasos import Task
from maxmargin.sources import pick

BOUNDARY = 1e-10
"""The exact offset is lowered by this share, so that a sample on the boundary is an inlier and not a matter of rounding."""


class BaseNorma(BaseOnline):
    """Steps, points and state of both."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseOnline._parameter_constraints,
        "eta0": [Interval(Real, 0.0, None, closed="neither")],
        "power_t": [Interval(Real, 0.0, 1.0, closed="both")],
    }

    def _checked_rule(self, nu: float | None, bias: bool) -> Rule:
        if self.eta0 * self.alpha >= 1:
            raise ValueError(
                f"eta0 * alpha = {self.eta0 * self.alpha:g} must be less than 1: a step would forget everything. Lower eta0 or alpha."
            )
        return Rule(float(self.alpha), float(self.eta0), float(self.power_t), nu, bias, self.budget)

    def _begin(self, X: Any, weight: Floats, functions: int, rho: float, warm: bool) -> tuple[Points, Functions]:
        """The functions of a fit: 0, or those of the last one where the data have the same shape."""
        counted, n = np.flatnonzero(weight > 0), _num_samples(X)
        self._kernel = self._resolve_kernel(pick(X, counted) if len(counted) < n else X, weight[counted])
        found = Functions.new(functions, n, rho)
        if warm and self._functions.coef.shape == (functions, len(self.support_)) and self.support_.max(initial=-1) < n:
            found.coef[:, self.support_], found.numbers[:], found.lost[:] = self._functions
        return Points(self._kernel, X, whole=self.max_iter > 2), found

    def _continue(self, X: Any, weight: Floats, functions: int, rho: float) -> tuple[Any, Points, Functions]:
        """The functions so far, over the points so far and a chunk."""
        n = _num_samples(X)
        if not hasattr(self, "_functions"):
            self._kernel = self._resolve_kernel(X, weight)
            return X, Points(self._kernel, X, whole=False), Functions.new(functions, n, rho)
        self._check_kernel_of_chunk(X, weight)
        points = stack(self.support_vectors_, like(X, self.support_vectors_))
        old = self._functions
        found = Functions(np.hstack([old.coef, np.zeros((functions, n))]), old.numbers.copy(), old.lost.copy())
        return points, Points(self._kernel, points, whole=False), found

    def _run(self, points: Points, functions: Functions, rule: Rule, task: Task, epochs: int) -> None:
        """Epochs over the samples; a limit or Ctrl-C ends them early, with a warning."""
        rng, stopped, step = self._random(), None, block_size(1, rule.budget)
        with self._monitor() as monitor:
            for epoch in range(epochs):
                order = task.visits if rng is None else rng.permutation(task.visits)
                self.n_iter_ = epoch + 1
                for begin in range(0, len(order), step):
                    norma.advance(points, functions, rule, order[begin : begin + step], task)
                    stopped = monitor.stop(0)
                    if monitor.wants_report():
                        monitor.report(int(functions.numbers[0, STEPS]), np.nan, np.nan, len(in_use(functions.coef)))
                    if stopped is not None:
                        break
                if stopped is not None:
                    break
        if stopped is Status.INTERRUPTED and self.on_interrupt == "raise":
            raise KeyboardInterrupt
        if stopped is not None:
            warnings.warn(f"The samples were not used up. {stopped.value}", ConvergenceWarning, stacklevel=6)

    def _keep_functions(self, points: Any, functions: Functions, chunk: bool) -> None:
        """Keep the model; it is all that warm starts and chunks go on from."""
        support = in_use(functions.coef)
        self._keep_points(points, support, functions.coef)
        self._functions = Functions(self.dual_coef_.copy(), functions.numbers, functions.lost)
        self.support_ = np.arange(len(support), dtype=np.int32) if chunk else self.support_
        self._matrix_width = _num_samples(points)
        self.t_, self.truncation_ = int(functions.numbers[0, STEPS]), functions.lost.copy()
        if not np.isfinite(functions.numbers).all() or not np.isfinite(functions.coef).all():
            raise ValueError("The coefficients are not finite: lower eta0 or the sample weights, or scale the data (StandardScaler).")


class NormaSVC(OnlineClassifier, BaseNorma):
    """Online classification with a kernel and a bounded number of support vectors (NORMA).

    Takes a gradient step for each sample on alpha/2 |g|^2 + max(0, rho - y f(x)) with f = g + b, g in the space of the kernel, of length
    eta0 / t^power_t: the mean loss along the way approaches that of the best function like 1/sqrt(t), whatever the samples. For a fixed data
    set ``PegasosSVC`` gets nearer to the optimum, and ``SVC`` to it; NORMA is for streams, whose law may drift: old samples fade.

    ``fit`` sets b, in the end, to the minimiser of the mean loss over the training samples; ``partial_fit`` leaves it to the steps.

    Parameters
    ----------
    alpha : float, default=1e-4
        Weight of the penalty; old samples fade by 1 - eta_t alpha with every step.
    kernel, degree, gamma, coef0
        As for SVC; ``partial_fit`` takes gamma="scale" from the first chunk.
    nu : float or None, default=None
        With a number in (0, 1] the margin rho adapts so that a share nu of the samples are margin errors; with None it is fixed.
    rho : float, default=1.0
        The margin, or where it begins.
    eta0, power_t : float, default=1.0, 0.5
        The steps are eta0 / t^power_t; eta0 alpha must be less than 1.
    max_iter : int, default=5
        Epochs of ``fit``.
    fit_intercept : bool, default=True
        Whether there is a b.
    budget : int or None, default=1000
        At most so many support vectors: the lightest are cut off after each block of at most 256 samples.
    shuffle, random_state, class_weight, warm_start, verbose, time_limit, on_interrupt
        As for PegasosSVC.

    Attributes
    ----------
    classes_, intercept_, support_, support_vectors_, dual_coef_, n_iter_, t_, n_features_in_, feature_names_in_
        As for PegasosSVC.
    rho_ : ndarray of shape (1,) or (n_classes,)
        The margin of each function.
    truncation_ : ndarray of shape (1,) or (n_classes,)
        The sum of sqrt(k(x, x)) abs(coefficient) of what the budget cut off, each at the time of the cut.

    Examples
    --------
    >>> from maxmargin import NormaSVC
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(1000, noise=0.1, random_state=0)
    >>> model = NormaSVC(gamma=2.0, random_state=0)
    >>> for begin in range(0, 1000, 100):
    ...     model = model.partial_fit(X[begin : begin + 100], y[begin : begin + 100], classes=[0, 1])
    >>> model.score(X, y) > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseNorma._parameter_constraints,
        "nu": [None, Interval(Real, 0.0, 1.0, closed="right")],
        "rho": [Interval(Real, 0.0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    def __init__(
        self,
        *,
        alpha: float = 1e-4,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        nu: float | None = None,
        rho: float = 1.0,
        eta0: float = 1.0,
        power_t: float = 0.5,
        max_iter: int = 5,
        fit_intercept: bool = True,
        budget: int | None = 1000,
        shuffle: bool = True,
        random_state: Any = None,
        class_weight: Any = None,
        warm_start: bool = False,
        verbose: Any = False,
        time_limit: float | None = None,
        on_interrupt: str = "raise",
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.nu = nu
        self.rho = rho
        self.eta0 = eta0
        self.power_t = power_t
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.budget = budget
        self.shuffle = shuffle
        self.random_state = random_state
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.verbose = verbose
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model by a few epochs over the samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training vectors.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each sample counts. Whole weights are visits: weight 2 is the same fit as two copies.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            X, y = self._validate_Xy(X, y, reset=True)
            classes, label = self._encode(y)
            weight, class_weight, used = self._checked_weights(X, sample_weight, classes, label)
            X = symmetric(self._kernel_kind(), X)
            visits, gain = self._visits(X, weight, used)
            task = self._task(self._signs(label, len(classes)), gain * class_weight[label], visits)
            warm = self.warm_start and hasattr(self, "_functions") and np.array_equal(self.classes_, classes)
            rule = self._checked_rule(self.nu, self.fit_intercept)
            points, functions = self._begin(X, weight, len(task.signs), self.rho, warm)
            self._run(points, functions, rule, task, self.max_iter)
            if self.fit_intercept:
                self._exact_bias(points, functions, task)
            self.classes_ = classes
            self._keep_classifier(X, functions, chunk=False)
            return self

    @available_if(takes_chunks)  # type: ignore[untyped-decorator]
    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One pass over a chunk of samples, continuing from all before.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The chunk.
        y : array-like of shape (n_samples,)
            Its labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever come; needed in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each sample counts; it multiplies the step.

        Returns
        -------
        self : object
            The estimator.
        """
        with all_or_nothing(self):
            X, y = self._validate_Xy(X, y, reset=not hasattr(self, "_functions"))
            label = self._encode_chunk(y, classes)
            weight = self._validate_weight(sample_weight, X)
            self._refuse_negative(weight)
            task = Task(self._signs(label, len(self.classes_)), self._chunk_gain(label, weight), np.flatnonzero(weight > 0))
            rule = self._checked_rule(self.nu, self.fit_intercept)
            kept, points, functions = self._continue(X, weight, len(task.signs), self.rho)
            self._run(points, functions, rule, task, 1)
            self._keep_classifier(kept, functions, chunk=True)
            return self

    def _exact_bias(self, points: Points, functions: Functions, task: Task) -> None:
        values = points.values(functions.coef)
        for k, y in enumerate(task.signs):
            rho = functions.numbers[k, RHO]
            if rho > 0:  # max(0, rho - y f) = rho max(0, 1 - y f / rho)
                functions.numbers[k, BIAS] = rho * best_bias(values[k] / rho, y, task.share)

    def _keep_classifier(self, points: Any, functions: Functions, chunk: bool) -> None:
        self._keep_functions(points, functions, chunk)
        self.intercept_, self.rho_ = functions.numbers[:, BIAS].copy(), functions.numbers[:, RHO].copy()


class NormaNovelty(OutlierMixin, BaseNorma):  # type: ignore[misc]
    """Online novelty detection with a kernel and a bounded number of support vectors (NORMA): the one-class SVM of a stream.

    Takes a gradient step for each sample on alpha/2 |g|^2 + max(0, rho - g(x)) - nu rho: in the long run g falls short of rho at a share nu of
    the samples. The optimum is that of ``OneClassSVM``, up to a common factor of g and rho. ``fit`` sets rho, in the end, to the exact
    minimiser, the nu-quantile of g over the training samples; ``partial_fit`` leaves it to the steps.

    Parameters
    ----------
    nu : float, default=0.5
        In (0, 1]: the share of outliers.
    alpha : float, default=0.1
        Weight of the penalty: it scales g and rho, and older samples fade by 1 - eta_t alpha with every step.
    kernel, degree, gamma, coef0, eta0, power_t, max_iter, budget, shuffle, random_state, warm_start, verbose, time_limit, on_interrupt
        As for NormaSVC.

    Attributes
    ----------
    offset_ : ndarray of shape (1,)
        rho: ``decision_function = score_samples - offset_``.
    intercept_, support_, support_vectors_, dual_coef_, truncation_, n_iter_, t_, n_features_in_, feature_names_in_
        As for NormaSVC.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseNorma._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }

    def __init__(
        self,
        *,
        nu: float = 0.5,
        alpha: float = 0.1,
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
            How much each sample counts. Whole weights are visits: weight 2 is the same fit as two copies.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            X = self._validate_X(X, reset=True)
            weight = self._validate_weight(sample_weight, X)
            self._refuse_negative(weight)
            X = symmetric(self._kernel_kind(), X)
            visits, gain = self._visits(X, weight, np.flatnonzero(weight > 0))
            task = self._task(np.ones((1, len(weight))), gain, visits)
            rule = self._checked_rule(self.nu, bias=False)
            points, functions = self._begin(X, weight, 1, 0.0, self.warm_start and hasattr(self, "_functions"))
            self._run(points, functions, rule, task, self.max_iter)
            rho = norma.quantile(points.values(functions.coef)[0], task.share, self.nu)
            functions.numbers[0, RHO] = rho - BOUNDARY * abs(rho)
            self._keep_novelty(X, functions, chunk=False)
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
            How much each sample counts; it multiplies the step.

        Returns
        -------
        self : object
            The estimator.
        """
        with all_or_nothing(self):
            X = self._validate_X(X, reset=not hasattr(self, "_functions"))
            weight = self._validate_weight(sample_weight, X)
            self._refuse_negative(weight)
            task = Task(np.ones((1, len(weight))), weight, np.flatnonzero(weight > 0))
            kept, points, functions = self._continue(X, weight, 1, 0.0)
            self._run(points, functions, self._checked_rule(self.nu, bias=False), task, 1)
            self._keep_novelty(kept, functions, chunk=True)
            return self

    def _keep_novelty(self, points: Any, functions: Functions, chunk: bool) -> None:
        self._keep_functions(points, functions, chunk)
        self.offset_ = functions.numbers[:, RHO].copy()
        self.intercept_ = -self.offset_

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
        check_is_fitted(self)
        return self._kernel_values(self._validate_X(X, reset=False))[0]

    def decision_function(self, X: Any) -> Floats:
        """Signed distance to the boundary, positive inside.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; (n_samples, n_samples_fit) kernel values for ``kernel="precomputed"``.

        Returns
        -------
        f : ndarray of shape (n_samples,)
        """
        f: Floats = self.score_samples(X) - self.offset_
        return f

    def predict(self, X: Any) -> NDArray[np.int64]:
        """+1 for inliers, -1 for outliers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; (n_samples, n_samples_fit) kernel values for ``kernel="precomputed"``.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)
