"""NormaSVC."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.metaestimators import available_if

from maxmargin.core.arrays import Floats
from maxmargin.estimators._base import all_or_nothing
from maxmargin.estimators._data import refuse_batch_dependence, symmetric
from maxmargin.estimators._norma import BaseNorma
from maxmargin.estimators._online import OnlineClassifier, takes_chunks
from maxmargin.estimators._options import StrOptions
from maxmargin.estimators._record import fitted
from maxmargin.estimators._targets import encode, validate_weight
from maxmargin.kernel.kernels import Kernel
from maxmargin.online import norma
from maxmargin.online.budget import Points
from maxmargin.online.norma import Hypotheses
from maxmargin.online.pegasos import Task


class NormaSVC(OnlineClassifier, BaseNorma):
    """Online classification with a kernel and a bounded number of support vectors (NORMA).

    For each sample it takes a gradient step on alpha/2 |g|^2 + max(0, rho - y f(x)) with f = g + b
    and g in the feature space of the kernel. The step size is eta0 / t^power_t. The mean loss of
    the hypotheses approaches that of the best function like 1/sqrt(t), whatever the samples. For a
    fixed data set ``PegasosSVC`` comes closer to the optimum, and ``SVC`` reaches it. NORMA is for
    streams whose distribution may drift: old samples decay.

    At the end ``fit`` sets b to the minimiser of the mean loss over the training samples;
    ``partial_fit`` leaves it to the steps.

    Parameters
    ----------
    alpha : float, default=1e-4
        Weight of the penalty; coefficients of old samples shrink by 1 - eta_t alpha in each step.
    kernel, degree, gamma, coef0
        As for SVC; ``partial_fit`` takes gamma="scale" from the first chunk.
    nu : float or None, default=None
        With a number in (0, 1], the margin rho adapts so that a fraction nu of the samples are
        margin errors. With None it is fixed.
    rho : float, default=1.0
        The margin, or its initial value.
    eta0, power_t : float, default=1.0, 0.5
        The step size is eta0 / t^power_t; eta0 alpha must be less than 1.
    max_iter : int, default=5
        Number of epochs of ``fit``.
    fit_intercept : bool, default=True
        Whether to fit the bias b.
    budget : int or None, default=1000
        Maximum number of support vectors. After each block of at most 256 samples those of least
        weight are projected onto others.
    shuffle, random_state, class_weight, warm_start, verbose, time_limit, on_interrupt
        As for PegasosSVC.

    Attributes
    ----------
    classes_, intercept_, support_, support_vectors_, dual_coef_, n_iter_, t_, n_features_in_,
    feature_names_in_
        As for PegasosSVC.
    rho_ : ndarray of shape (1,) or (n_classes,)
        The margin of each function.
    truncation_ : ndarray of shape (1,) or (n_classes,)
        How far the budget has moved each function in the norm of the feature space, added up over
        all blocks.

    Examples
    --------
    >>> from maxmargin import NormaSVC
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(1000, noise=0.1, random_state=0)
    >>> model = NormaSVC(gamma=2.0, random_state=0)
    >>> for begin in range(0, 1000, 100):
    ...     chunk = slice(begin, begin + 100)
    ...     model = model.partial_fit(X[chunk], y[chunk], classes=[0, 1])
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
            Weight of each sample. Integer weights are repetitions: a sample of weight 2 and two
            copies of it give the same fit. Other weights scale the steps.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            X, y = self._validate_Xy(X, y, reset=True)
            classes, label = encode(y)
            weight, class_weight, used = self._checked_weights(sample_weight, classes, label, y)
            X = symmetric(self._kernel_kind(), X)
            refuse_batch_dependence(self.kernel, X)
            rows, step_weight = self._rows(self._design(X), weight, used)
            signs = self._signs(label, len(classes))
            task = self._task(signs, step_weight * class_weight[label], rows)
            continues = self.warm_start and hasattr(self, "model_")
            warm = continues and np.array_equal(self.classes_, classes)
            rule = self._checked_rule(self.nu, self.fit_intercept)
            kernel, points, hypotheses = self._begin(X, weight, len(signs), self.rho, warm)
            self._run(points, hypotheses, rule, task, self.max_iter)
            if self.fit_intercept:
                self._set_bias(points, hypotheses, task)
            self._keep_classifier(kernel, X, hypotheses, classes, chunk=False)
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
            Weight of each sample; it multiplies the step.

        Returns
        -------
        self : object
            The estimator.
        """
        with all_or_nothing(self):
            X, y = self._validate_Xy(X, y, reset=not hasattr(self, "model_"))
            classes, label = self._encode_chunk(y, classes)
            weight = validate_weight(sample_weight, len(label))
            signs = self._signs(label, len(classes))
            rows = np.flatnonzero(weight > 0)
            task = Task(signs, self._chunk_weight(classes, label, weight), rows)
            rule = self._checked_rule(self.nu, self.fit_intercept)
            kernel, kept, points, hypotheses = self._continue(X, weight, len(signs), self.rho)
            self._run(points, hypotheses, rule, task, 1)
            self._keep_classifier(kernel, kept, hypotheses, classes, chunk=True)
            return self

    def _set_bias(self, points: Points, hypotheses: Hypotheses, task: Task) -> None:
        """Set the biases to their exact minimisers over the samples."""
        values = points.values(hypotheses.coef)
        for state, g, y in zip(hypotheses.state, values, task.signs, strict=True):
            rho = float(state["rho"])
            if rho > 0:
                state["bias"] = norma.best_bias(g, y, task.share, rho)

    def _keep_classifier(
        self, kernel: Kernel, points: Any, hypotheses: Hypotheses, classes: Any, chunk: bool
    ) -> None:
        bias = hypotheses.state["bias"].copy()
        self._keep_hypotheses(kernel, points, hypotheses, chunk, intercept=bias, classes=classes)

    @property
    def rho_(self) -> Floats:
        """The margin of each function."""
        rho: Floats = fitted(self).state.state["rho"].copy()
        return rho
