"""PegasosSVC."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.metaestimators import available_if

from maxmargin.certificate import Certificate
from maxmargin.estimators import _outcome
from maxmargin.estimators._base import all_or_nothing
from maxmargin.estimators._data import refuse_batch_dependence, symmetric
from maxmargin.estimators._online import BaseOnline, takes_chunks
from maxmargin.estimators._options import StrOptions
from maxmargin.estimators._pegasos import BasePegasos
from maxmargin.estimators._record import checked
from maxmargin.estimators._targets import encode, validate_weight
from maxmargin.online import epochs
from maxmargin.online.pegasos import Task


class PegasosSVC(BasePegasos):
    """C-support vector classification by Pegasos, linear or with a kernel.

    Pegasos is stochastic subgradient descent on the primal problem.

    Minimises alpha/2 |w|^2 + (weighted mean of) max(0, 1 - y f(x)) over f(x) = w.phi(x) + b: the
    problem of ``SVC`` with C = 1 / (alpha n_samples). It needs no more memory than the data
    (linear) or the support vectors (kernel), and it learns from chunks through ``partial_fit``. It
    approaches the optimum fast but reaches it slowly: the error decreases like 1 / (alpha steps).
    For an exact solution use ``SVC``.

    The bias b is not penalised. It has a step size of its own, 1/(4 sqrt(t)); ``fit`` also sets it
    after every epoch and at the end to the exact minimiser over all training samples. With the
    linear kernel the steps are taken along x minus the mean of the training data (of the first
    chunk in ``partial_fit``). This does not change the model, but it makes b converge faster;
    ``coef_`` and ``intercept_`` refer to x.

    Parameters
    ----------
    alpha : float, default=1e-3
        Weight of the penalty; C = 1 / (alpha n_samples). Smaller values need more steps.
    kernel : str, Kernel or callable, default="linear"
        As for SVC. With any kernel but "linear" the model is a sum over support vectors.
    degree, gamma, coef0
        Of the kernel, as for SVC; ``partial_fit`` takes gamma="scale" from the first chunk.
    batch_size : int, default=1
        Samples in a mini-batch; a step uses one mini-batch.
    max_iter : int, default=1000
        Maximum number of epochs of ``fit``.
    tol : float or None, default=0.05
        ``fit`` ends when the duality gap of every function is at most tol times the mean loss of
        the best constant function, which is 1 for two classes of equal weight. The gap is an upper
        bound on the distance from the optimum, and often ten times as large. None runs ``max_iter``
        epochs.
    fit_intercept : bool, default=True
        Whether to fit a bias.
    project : bool, default=True
        Whether to project w after every step onto the ball of radius 1/sqrt(alpha), which contains
        the optimum.
    average : bool, default=True
        Whether the model is the averaged iterate (with weights 1, 2, 3, ...) or the last one.
    budget : int or None, default=None
        With a kernel: maximum number of support vectors. After each block of samples those of least
        weight are projected onto their nearest neighbours that remain. In general the optimum is
        then out of reach, and the certificate says by how much.
    shuffle : bool, default=True
        Whether to shuffle the samples before each epoch (or chunk), or to use them in the order
        given.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffling.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; "balanced" is available in ``fit`` only.
    warm_start : bool, default=False
        Whether ``fit`` continues from the last fit (or the chunks so far) where the data have the
        same shape and classes.
    verbose : bool or int, default=False
        Show a progress line.
    time_limit : float or None, default=None
        Seconds after which a fit stops, with a warning.
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
    support_vectors_ : {ndarray, sparse matrix} of shape (n_SV, n_features)
        With another kernel: the support vectors.
    dual_coef_ : ndarray of shape (1, n_SV) or (n_classes, n_SV)
        With another kernel: the coefficients of the support vectors.
    support_ : ndarray of shape (n_SV,)
        With another kernel, after ``fit``: the indices of the support vectors; after
        ``partial_fit``: 0 to n_SV - 1.
    certificate_ : Certificate
        After ``fit``: objective, dual value and gap in the units of the objective above. The status
        is "approximate" where the gap is within tol as above. It is "optimal" where the gap is also
        within tol relative to the objective and no sample contributes more to it than sqrt(tol)
        times its weight.
    n_iter_ : int
        Number of epochs.
    t_ : int
        Number of steps.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from maxmargin import PegasosSVC
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(500, random_state=0)
    >>> model = PegasosSVC(alpha=0.01, tol=0.01, random_state=0).fit(X, y)
    >>> model.certificate_.gap <= 0.01
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
        alpha: float = 1e-3,
        kernel: Any = "linear",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        batch_size: int = 1,
        max_iter: int = 1000,
        tol: float | None = 0.05,
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

    # ---- fitting ---------------------------------------------------------------------------------

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
            Weight of each sample. Integer weights are repetitions: a sample of weight 2 and two
            copies of it give the same fit. Other weights scale the steps.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        X, y = self._validate_Xy(X, y, reset=True)
        classes, label = encode(y)
        weight, class_weight, used = self._checked_weights(sample_weight, classes, label, y)
        X = symmetric(self._kernel_kind(), X)
        refuse_batch_dependence(self.kernel, X)
        design = self._design(X)
        rows, step_weight = self._rows(design, weight, used)
        signs = self._signs(label, len(classes))
        task = self._task(signs, step_weight * class_weight[label], rows)
        continues = self.warm_start and hasattr(self, "model_")
        warm = continues and np.array_equal(self.classes_, classes)
        kernel, solver = self._solver(X, design, weight, task, warm)
        before = int(solver.iterates.state["steps"][0])
        with self._monitor() as monitor:
            outcome = epochs.run(solver, self.max_iter, self.tol, monitor, self._random())
        _outcome.raise_interrupt(self, monitor)
        self.n_iter_ = outcome.epochs
        biases = np.array([one.bias for one in outcome.found])
        found = self._record_of(kernel, X, solver, outcome.model, biases, classes=classes)
        self._conclude_epochs(found, outcome, solver, X, before)
        return self

    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Check the fitted model on its training data.

        Everything is recomputed in float64 by code that the steps do not share.

        Parameters
        ----------
        X, y, sample_weight
            What the model was fitted on.

        Returns
        -------
        certificate : Certificate
            As ``certificate_``, with ``audit_error`` over all samples.
        """
        if checked(self).duals is None:
            raise ValueError(
                "certify needs a model of fit: chunks say nothing about the samples before and "
                "after them."
            )
        X, y = self._validate_Xy(X, y, reset=False)
        classes, label = encode(y)
        if not np.array_equal(classes, self.classes_):
            raise ValueError(
                "certify needs the data the model was fitted on: other labels were given."
            )
        weight, class_weight, used = self._checked_weights(sample_weight, classes, label, y)
        X = symmetric(self._kernel_kind(), X)
        rows, step_weight = self._rows(self._design(X), weight, used)
        signs = self._signs(label, len(classes))
        task = self._task(signs, step_weight * class_weight[label], rows)
        return self._certify(X, task, self._rule())

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
            The estimator. It has no ``certificate_``, because a chunk says nothing about the other
            samples.
        """
        with all_or_nothing(self):
            return self._partial_fit(X, y, classes, sample_weight)

    def _partial_fit(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Self:
        X, y = self._validate_Xy(X, y, reset=not hasattr(self, "model_"))
        classes, label = self._encode_chunk(y, classes)
        weight = validate_weight(sample_weight, len(label))
        rng, order = self._random(), np.flatnonzero(weight > 0)
        signs = self._signs(label, len(classes))
        task = Task(signs, self._chunk_weight(classes, label, weight), order)
        kernel, points, solver = self._chunk_solver(X, weight, task)
        with self._monitor() as monitor:
            order = order if rng is None else rng.permutation(order)
            complete, stopped = solver.one_pass(order, monitor)
        _outcome.conclude_stream(self, monitor, None if complete else stopped)
        self.__dict__.pop("fit_status_", None)
        self.n_iter_ = 1
        biases = solver.biases() if self.fit_intercept else np.zeros(len(signs))
        self.model_ = self._record_of(
            kernel, points, solver, solver.model(), biases, chunk=True, classes=classes
        )
        return self
