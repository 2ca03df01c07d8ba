"""PegasosSVC."""

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from maxmargin import certificate
from maxmargin.certificate import Certificate
from maxmargin.core import online as core
from maxmargin.estimators._base import all_or_nothing
from maxmargin.estimators._data import symmetric
from maxmargin.estimators._online import BaseOnline, OnlineClassifier, like, stack, takes_chunks
from maxmargin.kernels import Kernel, Kind
from maxmargin.monitor import Monitor
from maxmargin.problems import Floats
from maxmargin.solution import Status
from maxmargin.solvers import epochs
from maxmargin.solvers.budget import Points, in_use
from maxmargin.solvers.pegasos import STEPS, KernelPath, LinearPath, Path, Rule, Task, Walks
from maxmargin.sources import pick


class PegasosSVC(OnlineClassifier):
    """C-support vector classification by Pegasos: stochastic steps on the primal problem, linear or with a kernel.

    Minimises alpha/2 |w|^2 + (weighted mean of) max(0, 1 - y f(x)) over f(x) = w.phi(x) + b: the problem of ``SVC`` with
    C = 1 / (alpha n_samples). It needs no more memory than the data (linear) or the support vectors (kernel), learns from chunks through
    ``partial_fit``, and gets near the optimum fast, but to the optimum slowly: the error falls like 1 / (alpha steps). For an exact
    solution use ``SVC``.

    The bias b is not penalised. It takes steps of 1/sqrt(t) beside those of w; ``fit`` also sets it, after every epoch and at the end, to the
    exact minimiser over all training samples. With the linear kernel the steps are taken along x minus the mean of the training data (of
    the first chunk in ``partial_fit``), which changes no model but keeps b calm; ``coef_`` and ``intercept_`` are those of x.

    Parameters
    ----------
    alpha : float, default=1e-4
        Weight of the penalty; C = 1 / (alpha n_samples).
    kernel : str, Kernel or callable, default="linear"
        As for SVC. With any other than "linear" the model is a sum over support vectors.
    degree, gamma, coef0
        Of the kernel, as for SVC; ``partial_fit`` takes gamma="scale" from the first chunk.
    batch_size : int, default=1
        Samples of a step.
    max_iter : int, default=1000
        Epochs of ``fit``.
    tol : float or None, default=1e-2
        ``fit`` ends when the duality gap, relative to the objective, is at most tol for every function; None runs ``max_iter`` epochs.
    fit_intercept : bool, default=True
        Whether there is a bias.
    project : bool, default=True
        Whether w is brought back into the ball of radius 1/sqrt(alpha), which holds the optimum, after every step.
    average : bool, default=True
        Whether the model is the average of all iterates with weights 1, 2, 3, ... or the last one.
    budget : int or None, default=None
        With a kernel: at most so many support vectors. The lightest are projected onto their nearest remaining neighbours after each block of
        samples; the optimum is then out of reach in general, and the certificate says by how much.
    shuffle : bool, default=True
        Whether the samples are visited in random order, a new one for each epoch (or chunk); else in the order given.
    random_state : int, RandomState instance or None, default=None
        For the shuffling.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the weights of the samples of each class; "balanced" for ``fit`` only.
    warm_start : bool, default=False
        Whether ``fit`` continues the last fit (or the chunks so far) where the data have the same shape and classes.
    verbose : bool or int, default=False
        Show a progress line.
    time_limit : float or None, default=None
        Seconds after which a fit ends, with a warning.
    on_interrupt : {"raise", "keep"}, default="raise"
        Whether Ctrl-C raises KeyboardInterrupt or keeps the model so far.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the features, with a linear kernel.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Constants of the decision functions.
    support_vectors_, dual_coef_ : {ndarray, sparse matrix} of shape (n_SV, n_features), ndarray of shape (1 or n_classes, n_SV)
        With another kernel: the points in use and their coefficients.
    support_ : ndarray of shape (n_SV,)
        With another kernel, after ``fit``: the indices of the support vectors; after ``partial_fit`` their positions, 0 to n_SV - 1.
    certificate_ : Certificate
        After ``fit``: objective, dual value, gap in the units of the objective above; "optimal" only if the gap is within tol.
    n_iter_ : int
        Epochs.
    t_ : int
        Steps.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from maxmargin import PegasosSVC
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(500, random_state=0)
    >>> model = PegasosSVC(alpha=0.01, random_state=0).fit(X, y)
    >>> model.certificate_.relative_gap <= 0.01
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseOnline._parameter_constraints,
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "tol": [None, Interval(Real, 0.0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "project": ["boolean"],
        "average": ["boolean"],
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    def __init__(
        self,
        *,
        alpha: float = 1e-4,
        kernel: Any = "linear",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        batch_size: int = 1,
        max_iter: int = 1000,
        tol: float | None = 1e-2,
        fit_intercept: bool = True,
        project: bool = True,
        average: bool = True,
        budget: int | None = None,
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
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.project = project
        self.average = average
        self.budget = budget
        self.shuffle = shuffle
        self.random_state = random_state
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.verbose = verbose
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt

    # ---- fitting -----------------------------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model by epochs over the samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training vectors; memory-mapped arrays are not copied.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each sample counts in the mean. Whole weights are visits: weight 2 is the same fit as two copies.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        X, y = self._validate_Xy(X, y, reset=True)
        classes, label = self._encode(y)
        weight, class_weight, used = self._checked_weights(X, sample_weight, classes, label)
        X = symmetric(self._kernel_kind(), X)
        visits, gain = self._visits(X, weight, used)
        task = self._task(self._signs(label, len(classes)), gain * class_weight[label], visits)
        warm = self.warm_start and hasattr(self, "_walks") and np.array_equal(self.classes_, classes)
        path = self._path(X, weight, task, warm)
        with self._monitor() as monitor:
            outcome = epochs.run(path, task, self.max_iter, self.tol, monitor, self._random())
        if monitor.interrupted.is_set() and self.on_interrupt == "raise":
            raise KeyboardInterrupt
        self.classes_, self.n_iter_ = classes, outcome.epochs
        self._conclude_epochs(outcome, len(visits))
        self._keep_path(path, X, np.array([gap.bias for gap in outcome.gaps]))
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
            The estimator; it has no ``certificate_``, because a chunk says nothing about the other samples.
        """
        with all_or_nothing(self):
            return self._partial_fit(X, y, classes, sample_weight)

    def _partial_fit(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Self:
        X, y = self._validate_Xy(X, y, reset=not hasattr(self, "_walks"))
        label = self._encode_chunk(y, classes)
        weight = self._validate_weight(sample_weight, X)
        self._refuse_negative(weight)
        rng, order = self._random(), np.flatnonzero(weight > 0)
        task = Task(self._signs(label, len(self.classes_)), self._chunk_gain(label, weight), order)
        path = self._chunk_path(X, weight, task)
        with self._monitor() as monitor:
            stopped = _pass(path, order if rng is None else rng.permutation(order), task, monitor)
        if stopped is Status.INTERRUPTED and self.on_interrupt == "raise":
            raise KeyboardInterrupt
        if stopped is not None:
            warnings.warn(f"The chunk was not used up. {stopped.value}", ConvergenceWarning, stacklevel=5)
        for name in ("certificate_", "fit_status_"):
            self.__dict__.pop(name, None)
        self.n_iter_ = 1
        self._keep_path(path, X, path.biases() if self.fit_intercept else np.zeros(len(path.walks.v)), chunk=True)
        return self

    def _rule(self) -> Rule:
        if self.budget is not None and self._kernel_kind() is Kind.LINEAR:
            raise ValueError(f"budget={self.budget} needs a kernel: a linear model keeps weights of features, not support vectors.")
        return Rule(float(self.alpha), int(self.batch_size), self.project, self.fit_intercept, self.average, self.budget)

    def _path(self, X: Any, weight: Floats, task: Task, warm: bool) -> Path:
        """The walks of a fit: new ones, or those of the last fit where it had the same shape."""
        rule, (functions, n) = self._rule(), task.signs.shape
        if self._kernel_kind() is Kind.LINEAR:
            warm = warm and self._walks.v.shape == (functions, X.shape[1])
            walks = _copy(self._walks) if warm else Walks.new(functions, X.shape[1])
            kept = getattr(self, "_coefs", None) if warm else None
            coefs = kept if kept is not None and kept[0].shape == (functions, n) else (np.zeros((functions, n)), np.zeros((functions, n)))
            self._kernel = Kernel.linear()
            centre = self._centre if warm else self._centre_of(X, np.maximum(weight, 0.0))
            return LinearPath(X, walks, rule, (coefs[0].copy(), coefs[1].copy()), centre)
        counted = np.flatnonzero(weight > 0)
        self._kernel = self._resolve_kernel(pick(X, counted) if len(counted) < n else X, weight[counted])
        walks = Walks.new(functions, n)
        if warm and self._walks.v.shape == (functions, len(self.support_)) and self.support_.max(initial=-1) < n:
            walks.v[:, self.support_], walks.u[:, self.support_], walks.numbers[:] = self._walks
        return KernelPath(Points(self._kernel, X, whole=True), walks, rule, n)

    def _chunk_path(self, X: Any, weight: Floats, task: Task) -> Path:
        """The walks so far, over the points so far and a chunk."""
        rule, (functions, n) = self._rule(), task.signs.shape
        first = not hasattr(self, "_walks")
        if not first:
            self._check_kernel_of_chunk(X, weight)
        if self._kernel_kind() is Kind.LINEAR:
            walks = Walks.new(functions, X.shape[1]) if first else _copy(self._walks)
            self._kernel = Kernel.linear()
            return LinearPath(X, walks, rule, None, self._centre_of(X, weight) if first else self._centre)
        if first:
            self._kernel = self._resolve_kernel(X, weight)
            self._points = X
            return KernelPath(Points(self._kernel, X, whole=False), Walks.new(functions, n), rule, n)
        self._points = stack(self.support_vectors_, like(X, self.support_vectors_))
        old = self._walks
        walks = Walks(*(np.hstack([part, np.zeros((functions, n))]) for part in (old.v, old.u)), old.numbers.copy())
        return KernelPath(Points(self._kernel, self._points, whole=False), walks, rule, n)

    # ---- the fitted state --------------------------------------------------------------------------------------------

    def _keep_path(self, path: Path, X: Any, biases: Floats, chunk: bool = False) -> None:
        """Keep the model and the walks, from which warm starts and chunks go on."""
        model, walks = path.model(), path.walks
        self.t_ = int(walks.numbers[0, STEPS])
        if isinstance(path, LinearPath):
            self._walks, self._centre = walks, path.centre
            self._coefs = path.coefs if self.warm_start else None
            self._coef, self.intercept_ = model, path.intercepts(biases)
        else:
            support = in_use(walks.v, walks.u)
            self._walks = Walks(np.ascontiguousarray(walks.v[:, support]), np.ascontiguousarray(walks.u[:, support]), walks.numbers)
            self._keep_points(self.__dict__.pop("_points") if chunk else X, support, model)
            self.support_ = np.arange(len(support), dtype=np.int32) if chunk else self.support_
            self._matrix_width, self.intercept_ = _num_samples(X), biases
        finite = np.isfinite(model).all() and np.isfinite(self.intercept_).all()
        if not finite:
            raise ValueError("The weights are not finite: alpha is too small or the data are too large. Scale the data (StandardScaler).")

    def _conclude_epochs(self, outcome: epochs.Outcome, visits: int) -> None:
        """Keep the certificate; warn where a tolerance was asked for and not reached, or the fit was cut short."""
        psd = self._kernel.positive_semidefinite
        given = self._kernel.kind in (Kind.PRECOMPUTED, Kind.CALLABLE)
        convexity, good = ("proved", Status.OPTIMAL) if psd else ("assumed", Status.OPTIMAL) if given else ("indefinite", Status.STATIONARY)
        stopped = outcome.status if outcome.status is not Status.OPTIMAL else Status.MAX_ITER
        parts = []
        for gap in outcome.gaps:
            status = good if self.tol is not None and gap.relative <= self.tol else stopped
            numbers = gap.primal, gap.dual, gap.primal - gap.dual, gap.relative, gap.violation, 0.0, 0.0
            found = Certificate(status.name.lower(), *numbers)
            parts.append(certificate.with_outcome(found, status, convexity, 0.0, outcome.epochs * visits))
        self.certificate_ = certificate.worst(parts)
        reached = all(Status[part.status.upper()].converged for part in parts)
        self.fit_status_ = int(not reached)
        if reached or (stopped is Status.MAX_ITER and self.tol is None):
            return
        limit = f" A budget of {self.budget} support vectors may be too small for this tol." if self.budget is not None else ""
        text = f"{outcome.epochs} epochs were not enough: raise max_iter or alpha." if stopped is Status.MAX_ITER else stopped.value
        warnings.warn(
            f"{text} The relative gap is {self.certificate_.relative_gap:.3g} (tol={self.tol}); tol=None asks for none.{limit}",
            ConvergenceWarning,
            stacklevel=6,
        )

    @property
    def coef_(self) -> Any:
        """Weights of the features; with a linear kernel only."""
        if self._kernel_kind() is not Kind.LINEAR:
            raise AttributeError("coef_ is only available when using a linear kernel")
        check_is_fitted(self)
        return self._coef

    def _function_values(self, X: Any) -> Floats:
        return core.scores(core.rows(X), self._coef) if self._kernel.kind is Kind.LINEAR else self._kernel_values(X)


def _copy(walks: Walks) -> Walks:
    """Walks of their own memory."""
    return Walks(*(part.copy() for part in walks))


def _pass(path: Path, order: NDArray[np.int64], task: Task, monitor: Monitor) -> Status | None:
    """One pass over a chunk; why it ended early, if it did."""
    for begin in range(0, len(order), path.piece):
        path.advance(order[begin : begin + path.piece], task)
        stopped = monitor.stop(0)
        if stopped is not None and begin + path.piece < len(order):
            return stopped
    return None
