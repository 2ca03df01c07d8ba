"""SVC and NuSVC."""

import warnings
from abc import abstractmethod
from functools import partial
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils import column_or_1d, compute_class_weight
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from maxmargin import certificate, multiclass, problems
from maxmargin.certificate import Certificate
from maxmargin.estimators._base import BaseSVM, all_or_nothing, symmetric, take
from maxmargin.kernels import Kernel
from maxmargin.monitor import Monitor
from maxmargin.multiclass import BinaryTask
from maxmargin.problems import Floats
from maxmargin.rows import free_memory
from maxmargin.solution import Status
from maxmargin.training import Decision, Formulation, Settings, Trained, read_level, read_margin, train, train_all

NO_PROBABILITY = (
    "probability=True is not available. Use CalibratedClassifierCV({name}(...), ensemble=False) from sklearn.calibration, which gives "
    "probabilities from out-of-fold decision values."
)


BYTES_PER_PROBLEM = 4096
"""Memory a trained pair of classes takes at the least."""


class Samples(NamedTuple):
    """The samples of positive weight."""

    X: Any
    label: NDArray[np.int64]
    weight: Floats
    class_weight: Floats
    n_classes: int


class BaseSVC(ClassifierMixin, BaseSVM):  # type: ignore[misc]
    """Labels, weights, multi-class training and prediction of both classifiers."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseSVM._parameter_constraints,
        "probability": ["boolean", StrOptions({"deprecated"})],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "random_state": ["random_state"],
        "multiclass": [StrOptions({"ovo", "ovr"})],
    }

    # ---- fitting -----------------------------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training vectors; the square kernel matrix for ``kernel="precomputed"``; any sequence for a callable kernel.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How many times each sample counts: 2 is two copies, 0 leaves it out.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        if self.probability is True:
            raise ValueError(NO_PROBABILITY.format(name=type(self).__name__))
        if self.multiclass == "ovr" and self.decision_function_shape == "ovo":
            raise ValueError("decision_function_shape='ovo' needs multiclass='ovo': no pair is trained with multiclass='ovr'.")
        X, y = self._validate_Xy(X, y, reset=True)
        classes, label = self._encode(y)
        weight = self._validate_weight(sample_weight, X)
        class_weight = self._class_weights(classes, label, y, np.maximum(weight, 0.0))
        effective = weight * class_weight[label]
        present = np.unique(label[effective > 0])
        if len(present) < 2:
            raise ValueError(
                "Invalid input - all samples with positive weights belong to the same class"
                f" ({classes[present].tolist()}); at least two are needed (specified nu is infeasible, C has nothing to weigh)."
            )
        self._refuse_negative(weight)
        self._refuse_too_many(len(classes))
        X = symmetric(self._kernel_kind(), X)
        counted, used = np.flatnonzero(weight > 0), np.flatnonzero(effective > 0)
        kernel = self._resolve_kernel(take(self._kernel_kind(), X, counted), weight[counted])
        samples = Samples(take(kernel.kind, X, used), label[used], effective[used], class_weight[label[used]], len(classes))
        tasks = multiclass.tasks(samples.label, len(classes), self.multiclass == "ovr")
        starts = self._starts(used, len(label), tasks, classes)
        with self._monitor() as monitor:
            trained = self._train(samples, kernel, tasks, starts, monitor)
        self._conclude(trained, monitor, X)
        self.classes_, self.class_weight_ = classes, class_weight
        self._keep(X, kernel, tasks, trained, used, label)
        return self

    def _encode(self, y: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Sorted classes and the labels as their positions."""
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        classes, label = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class")
        return classes, label.astype(np.int64)

    def _refuse_too_many(self, n_classes: int) -> None:
        """One-vs-one of very many classes needs more memory than there is: say so before anything is allocated."""
        problems = n_classes * (n_classes - 1) // 2
        needed = problems * BYTES_PER_PROBLEM
        if self.multiclass == "ovo" and n_classes > 100 and needed > free_memory():
            raise MemoryError(
                f"{n_classes} classes make {problems} one-vs-one problems, which take at least {needed / 2**30:.0f} GiB; "
                f"{free_memory() / 2**30:.0f} are free. Use multiclass='ovr', which trains {n_classes}, and check that y holds labels."
            )

    def _class_weights(self, classes: NDArray[Any], label: NDArray[np.int64], y: Any, weight: Floats) -> Floats:
        """The weight of each class; "balanced" counts samples by their weights."""
        if self.class_weight is None:
            return np.ones(len(classes))
        if self.class_weight == "balanced":
            mass = np.bincount(label, weights=weight, minlength=len(classes))
            return np.where(mass > 0, mass.sum() / (np.count_nonzero(mass) * np.where(mass > 0, mass, 1.0)), 1.0)
        values: Floats = np.asarray(compute_class_weight(self.class_weight, classes=classes, y=np.asarray(y).ravel()), dtype=np.float64)
        if not (np.isfinite(values).all() and (values >= 0).all()):
            raise ValueError(f"class_weight must be finite and >= 0, got {values.tolist()} for the classes {classes.tolist()}.")
        return values

    def _starts(self, used: NDArray[np.int64], n: int, tasks: list[BinaryTask], classes: NDArray[Any]) -> list[Floats] | None:
        """For each task the dual variables of the last fit on its samples, if warm_start can use them."""
        warm = self._warm(n)
        if warm is None or not np.array_equal(self.classes_, classes) or len(warm[1]) != len(tasks):
            return None
        support, rows = warm
        guess = np.zeros((len(tasks), n))
        guess[:, support] = rows * self._scales[:, None] * (-1.0 if len(classes) == 2 else 1.0)
        return [guess[k, used[task.samples]] for k, task in enumerate(tasks)]

    def _train(
        self, samples: Samples, kernel: Kernel, tasks: list[BinaryTask], starts: list[Floats] | None, monitor: Monitor
    ) -> list[Trained]:
        """Train every binary problem."""
        forms = [self._formulation(t.sign, samples.weight[t.samples], samples.class_weight[t.samples]) for t in tasks if _two_sided(t)]
        remaining = iter(forms)
        found = [next(remaining) if _two_sided(t) else None for t in tasks]

        def job(form: Formulation | None, task: BinaryTask, start: Floats | None, settings: Settings) -> Trained:
            if form is None:
                return _constant(task.sign)
            guess = None if start is None else start[form.problem.row]
            return train(form, take(kernel.kind, samples.X, task.samples), settings, monitor, guess)

        jobs = [partial(job, f, t, None if starts is None else starts[k]) for k, (f, t) in enumerate(zip(found, tasks, strict=True))]
        return train_all(jobs, [len(t.samples) for t in tasks], self._settings(kernel))

    @abstractmethod
    def _formulation(self, sign: Floats, weight: Floats, class_weight: Floats) -> Formulation:
        """The binary problem on samples of the given signs, effective weights and class weights; refuses an infeasible nu."""

    def _keep(
        self,
        X: Any,
        kernel: Kernel,
        tasks: list[BinaryTask],
        trained: list[Trained],
        used: NDArray[np.int64],
        label: NDArray[np.int64],
    ) -> None:
        """Keep the union of the support vectors, sorted by class, and the coefficients in scikit-learn's layout."""
        n_classes = len(self.classes_)
        in_use = np.zeros(len(label), bool)
        for task, result in zip(tasks, trained, strict=True):
            in_use[used[task.samples]] |= result.decision.coef != 0
        support = np.flatnonzero(in_use)
        support = support[np.argsort(label[support], kind="stable")]
        position = np.full(len(label), -1)
        position[support] = np.arange(len(support))
        self._keep_support(X, support, kernel)
        self._n_support = np.bincount(label[support], minlength=n_classes).astype(np.int32)
        self._scales = np.array([t.decision.scale for t in trained])
        self._one_vs_one = n_classes > 2 and self.multiclass == "ovo"
        packed = np.zeros((n_classes - 1 if self._one_vs_one else len(tasks), len(support)))
        for k, (task, result) in enumerate(zip(tasks, trained, strict=True)):
            nonzero = np.flatnonzero(result.decision.coef)
            columns = position[used[task.samples[nonzero]]]
            rows = multiclass.packed_rows(k, label[support[columns]], n_classes) if self._one_vs_one else k
            packed[rows, columns] = result.decision.coef[nonzero]
        self._keep_coef(packed, np.array([t.decision.intercept for t in trained]), flipped=n_classes == 2)
        self.n_iter_ = self._num_iter = np.array([t.certificate.n_iter for t in trained], dtype=np.int64)

    # ---- prediction --------------------------------------------------------------------------------------------------

    def _shapes(self) -> tuple[int, int, int]:
        n = len(self.classes_)
        if n == 2:
            return 2, 1, 1
        return (n, n - 1, n * (n - 1) // 2) if self._one_vs_one else (n, n, n)

    def _support_label(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(len(self._n_support)), self._n_support)

    def _columns(self) -> Floats:
        coef: Floats = np.asarray(self._dual_coef_.toarray() if sparse.issparse(self._dual_coef_) else self._dual_coef_)
        return multiclass.unpack_pairs(coef, self._support_label(), len(self.classes_)) if self._one_vs_one else coef

    def _linear_coef(self) -> Any:
        columns = self._columns() * (-1.0 if len(self.classes_) == 2 else 1.0)
        return sparse.csr_matrix(columns) if self._sparse else columns

    def decision_function(self, X: Any) -> Floats:
        """Evaluate the decision function.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; (n_samples, n_samples_fit) kernel values for ``kernel="precomputed"``.

        Returns
        -------
        f : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_classes * (n_classes - 1) / 2)
            As ``maxmargin.multiclass`` describes; for two classes one value a sample, positive for ``classes_[1]``.
        """
        values = self._decision_values(X)
        if len(self.classes_) == 2:
            return np.negative(values[:, 0])
        if self._one_vs_one and self.decision_function_shape == "ovr":
            return multiclass.votes_and_confidence(values, len(self.classes_))
        return values

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict class labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; (n_samples, n_samples_fit) kernel values for ``kernel="precomputed"``.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels; ties are decided as ``maxmargin.multiclass`` describes.
        """
        check_is_fitted(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        values, n_classes = self._decision_values(X), len(self.classes_)
        if n_classes == 2:
            position = (values[:, 0] <= 0).astype(np.intp)
        elif not self._one_vs_one:
            position = values.argmax(axis=1)
        elif self.break_ties:
            position = multiclass.votes_and_confidence(values, n_classes).argmax(axis=1)
        else:
            position = multiclass.votes(values, n_classes).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[position]
        return labels

    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Check the fitted model on its training data, everything recomputed in float64 by code the solver does not share.

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
        label = np.searchsorted(self.classes_, column_or_1d(y))
        if (
            not np.array_equal(self.classes_[np.minimum(label, len(self.classes_) - 1)], column_or_1d(y))
            or len(label) != self.shape_fit_[0]
        ):
            raise ValueError("certify needs the data the model was fitted on: other labels or another number of samples were given.")
        effective = self._validate_weight(sample_weight, X) * self.class_weight_[label]
        exact, solver = self._certified_values(X), self._decision_values(X)
        columns = np.zeros((exact.shape[1], len(label)))
        columns[:, self.support_] = self._columns()
        flip = -1.0 if len(self.classes_) == 2 else 1.0
        found = []
        for k, task in enumerate(multiclass.tasks(label, len(self.classes_), self.multiclass == "ovr")):
            keep = effective[task.samples] > 0
            rows, sign = task.samples[keep], task.sign[keep]
            if len(np.unique(sign)) < 2:
                found.append(_constant(sign).certificate)
                continue
            before = (self.certificate_.parts or (self.certificate_,))[k]
            if before.status == Status.DEGENERATE.name.lower():
                found.append(before)
                continue
            form = self._formulation(sign, effective[rows], self.class_weight_[label[rows]])
            decision = Decision(flip * columns[k, rows], flip * self._intercept_[k], (0.0, 0.0), self._scales[k])
            found.append(form.certify(flip * exact[rows, k], decision))
        return self._certify_all(found, solver, exact)


def _two_sided(task: BinaryTask) -> bool:
    return bool((task.sign > 0).any() and (task.sign < 0).any())


def _constant(sign: Floats) -> Trained:
    """The decision function of a problem one of whose classes has no weight: the other class always wins."""
    intercept = -1.0 if (sign < 0).any() else 1.0
    nothing = Certificate("optimal", 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    return Trained(Decision(np.zeros(len(sign)), intercept, (intercept, intercept)), Status.OPTIMAL, nothing)


class SVC(BaseSVC):
    """C-support vector classification, solved exactly and certified.

    Minimises 1/2 |w|^2 + C sum_i loss(y_i f(x_i)) over f(x) = w.phi(x) + b, with the intercept b not penalised. ``C=inf`` is the hard
    margin: an error is raised if no hyperplane separates the classes.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses, positive; ``inf`` for the hard margin.
    kernel : str, Kernel or callable, default="rbf"
        "linear", "poly", "rbf", "sigmoid", "logistic", "laplacian", "chi2", "cosine" or "precomputed";
        ``Kernel`` records carry their own numbers; a callable ``k(X, Z)`` returns a block of kernel values and is asked only for the
        blocks that are needed.
    degree : int, default=3
        Degree of "poly".
    gamma : {"scale", "auto"} or float, default="scale"
        Of "poly", "rbf", "sigmoid", "logistic", "laplacian", "chi2": 1 / (n_features var(X)), 1 / n_features, or a number.
    coef0 : float, default=0.0
        Constant term of "poly", "sigmoid", "logistic".
    shrinking : bool, default=True
        Accepted for compatibility: the solver gives the same answer with and without it.
    probability : bool, default=False
        Not available: use CalibratedClassifierCV.
    tol : float, default=1e-3
        Greatest violation of the optimality conditions, in units of the decision function; small problems are solved to rounding.
    cache_size : float or "auto", default="auto"
        Megabytes for kernel rows; "auto" is a quarter of the free memory.
    class_weight : dict, "balanced" or None, default=None
        Multiplies C for each class; "balanced" makes the (weighted) classes count equally.
    verbose : bool or int, default=False
        Show a progress line: pair steps, gap, violation, support vectors, seconds.
    max_iter : int, default=-1
        Pair steps for each binary problem; -1 is a hundred million: every fit ends.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Shape of ``decision_function`` for more than two classes; see ``maxmargin.multiclass``.
    break_ties : bool, default=False
        Whether equal votes are decided by confidence.
    random_state : int, RandomState instance or None, default=None
        Accepted for compatibility: nothing here is random.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        max(0, 1 - y f) or its square.
    multiclass : {"ovo", "ovr"}, default="ovo"
        Train all pairs of classes, or each class against the rest.
    time_limit : float or None, default=None
        Seconds after which the best model so far is kept, with a warning.
    on_interrupt : {"raise", "keep"}, default="raise"
        Whether Ctrl-C raises KeyboardInterrupt or keeps the best model so far.
    warm_start : bool, default=False
        Start from the last fit: after a change of C, an early stop, or with rows appended to X.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_weight_ : ndarray of shape (n_classes,)
        The weight of each class.
    support_ : ndarray of shape (n_SV,)
        Indices of the support vectors, sorted by class.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        The support vectors; empty for a precomputed kernel.
    n_support_ : ndarray of shape (n_classes,)
        Number of support vectors of each class.
    dual_coef_ : ndarray or sparse matrix of shape (n_classes - 1, n_SV)
        Coefficients in LIBSVM's layout; (n_classes, n_SV) for ``multiclass="ovr"``. They are not unique where the kernel matrix is
        singular: compare decision values.
    intercept_ : ndarray of shape (n_classes * (n_classes - 1) / 2,) or (n_classes,)
        Constants of the decision functions.
    coef_ : ndarray of shape (n_decision_functions, n_features)
        Weights of the features, with a linear kernel.
    certificate_ : Certificate
        Status, primal and dual values, gap, violation; ``parts`` for several binary problems.
    fit_status_ : int
        0 if every problem converged, else 1.
    n_iter_ : ndarray
        Pair steps of each binary problem.
    n_features_in_, feature_names_in_, shape_fit_
        As in scikit-learn.

    Examples
    --------
    >>> from maxmargin import SVC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(C=10).fit(X, y)
    >>> model.certificate_.status
    'optimal'
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseSVC._parameter_constraints,
        "C": [Interval(Real, 0.0, None, closed="right")],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: Any = False,
        tol: float = 1e-3,
        cache_size: Any = "auto",
        class_weight: Any = None,
        verbose: Any = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        loss: str = "hinge",
        multiclass: str = "ovo",
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        warm_start: bool = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.loss = loss
        self.multiclass = multiclass
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start

    def _formulation(self, sign: Floats, weight: Floats, class_weight: Floats) -> Formulation:
        squared = self.loss == "squared_hinge"
        C = self.C * weight
        if np.isinf(C).any():
            C = np.full(len(sign), np.inf)
            problem, read = problems.hard_margin(sign), read_margin
        else:
            problem, read = problems.c_svc(sign, C, squared), read_level

        def certify(f: Floats, decision: Decision) -> Certificate:
            return certificate.classification(f, sign, C, decision.coef, decision.intercept, squared)

        return Formulation(
            problem,
            read,
            certify,
            "C=inf asks for a hard margin, but no hyperplane separates these classes: their convex hulls in feature space meet. Use a "
            "finite C, or a richer kernel (for RBF a larger gamma).",
        )


class NuSVC(BaseSVC):
    """nu-support vector classification, solved exactly and certified.

    nu is an upper bound on the share of margin errors and a lower bound on the share of support vectors; shares count sample weights
    times class weights, so ``class_weight="balanced"`` makes every nu feasible. Where given class weights make a class so light that nu
    is out of its reach, the largest feasible nu is used for that pair: all of the light class are margin errors. An nu below the share of
    unavoidable margin errors has the optimum w = 0: the decision values are 0 then, with a warning and the status "degenerate".

    Parameters
    ----------
    nu : float, default=0.5
        In (0, 1]; at most 2 min(class weight) / total weight for every pair of classes.
    kernel, degree, gamma, coef0, shrinking, probability, tol, cache_size, class_weight, verbose, max_iter, \
decision_function_shape, break_ties, random_state, multiclass, time_limit, on_interrupt, warm_start
        As for SVC.

    Attributes
    ----------
    classes_, class_weight_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, certificate_, fit_status_, n_iter_
        As for SVC; the certificate is that of the C-SVC with C_i = w_i / r, r the margin.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseSVC._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: Any = False,
        tol: float = 1e-3,
        cache_size: Any = "auto",
        class_weight: Any = None,
        verbose: Any = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        multiclass: str = "ovo",
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        warm_start: bool = False,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.multiclass = multiclass
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start

    def _formulation(self, sign: Floats, weight: Floats, class_weight: Floats) -> Formulation:
        plain = weight / class_weight
        if self.nu > problems.largest_nu(sign, plain) * (1 + 1e-12) and np.ptp(class_weight) == 0:
            raise ValueError(
                f"specified nu is infeasible: nu={self.nu:g}, but the largest feasible nu for these classes is "
                f"{problems.largest_nu(sign, plain):.6g} (twice the weight of the lighter class over the weight of both)."
            )
        nu = min(self.nu, problems.largest_nu(sign, weight))
        if nu < self.nu:
            warnings.warn(
                f"class_weight makes nu={self.nu:g} infeasible for a pair of classes; the largest feasible nu, {nu:.6g}, is used for it.",
                UserWarning,
                stacklevel=5,
            )
        problem = problems.nu_svc(sign, weight, nu)

        def certify(f: Floats, decision: Decision) -> Certificate:
            return certificate.classification(f, sign, weight / decision.scale, decision.coef, decision.intercept)

        return Formulation(problem, read_margin, certify)
