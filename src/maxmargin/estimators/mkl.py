"""MKLSVC: classification with a learnt sum of kernels."""

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, column_or_1d
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _num_samples, check_consistent_length, check_is_fitted

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats, Integers
from maxmargin.estimators import _outcome
from maxmargin.estimators._base import shared_constraints
from maxmargin.estimators._classifier import BaseSVC, Labelled
from maxmargin.estimators._data import refuse_batch_dependence, symmetric
from maxmargin.estimators._kernel_list import is_consistent, refuse_kernels, scaled, sum_of
from maxmargin.estimators._machine import Shared, TrainingSet
from maxmargin.estimators._options import StrOptions
from maxmargin.estimators._targets import class_weights, encode, finite_weight, refuse_negative
from maxmargin.integrity import refuse_altered
from maxmargin.kernel import mkl_training, model, multiclass, problems
from maxmargin.kernel.certification import exact_values
from maxmargin.kernel.formulations import Formulation, c_svc
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.mkl_training import Candidates, Fitted, MultipleTask, Scaling
from maxmargin.kernel.model import Problem
from maxmargin.kernel.prediction import decision_values
from maxmargin.kernel.sources import pick
from maxmargin.kernel.training import Constant, Trained
from maxmargin.monitor import Monitor

OWN = ("degree", "gamma", "coef0", "tol", "verbose", "time_limit", "on_interrupt", "warm_start")
"""Parameters that MKLSVC shares with the other machines."""


class MKLSVC(BaseSVC):
    """C-support vector classification with a learnt weighted sum of kernels, certified.

    Multiple kernel learning: minimises 1/2 sum_m |w_m|^2 / d_m + C sum_i max(0, 1 - y_i f(x_i))
    over the machine and the weights d_m >= 0 of the kernels, whose norm is at most 1. With
    ``norm=1`` few kernels keep a weight: those that matter. The weights follow Newton's method,
    about ten machines on kernel values that are computed once. Several classes, each against the
    rest, share the weights.

    Parameters
    ----------
    kernels : list, "precomputed" or None, default=None
        The kernels to choose from: each a name as for SVC, a ``Kernel``, a function ``k(X, Z)``, or
        a pair of one of these and the columns that it sees (numbers, names, a slice or a mask).
        None is "linear" and "rbf" with 0.1, 1 and 10 times gamma. "precomputed" takes X of shape
        (n_samples, n_samples, n_kernels).
    norm : float, default=1
        The p of the norm of the weights, at least 1 and finite. A larger p makes the weights more
        equal.
    C : float, default=1.0
        Weight of the losses, positive and finite.
    normalize : {"variance", "trace", None}, default="variance"
        What each kernel is divided by, so that weights can be compared: its variance in feature
        space, the mean of k(x, x), or nothing.
    degree, gamma, coef0
        Of kernels that are given by name, as for SVC; ``gamma="scale"`` is that of the columns that
        a kernel sees.
    tol : float, default=1e-3
        Greatest violation of the optimality conditions, in units of the decision function. The
        relative gap is at most 10 tol; small problems are solved to about 1e-9.
    class_weight : dict, "balanced" or None, default=None
        As for SVC.
    max_iter : int, default=200
        Machines that are trained for each class, at most.
    verbose, time_limit, on_interrupt
        As for SVC.
    warm_start : bool, default=False
        Start from the weights of the last fit.

    Attributes
    ----------
    kernel_weights_ : ndarray of shape (n_kernels,)
        The weights d; their norm is 1.
    kernel_scales_ : ndarray of shape (n_kernels,)
        What each kernel is multiplied by, according to ``normalize``.
    kernels_ : Kernel
        The sum of all kernels, each times its scale; ``Kernel.precomputed()`` where values are
        given.
    kernel_ : Kernel
        The learnt sum, without kernels of weight 0.
    classes_, class_weight_, support_, support_vectors_, n_support_, dual_coef_, intercept_
        As for SVC with ``multiclass="ovr"``.
    certificate_, fit_status_, n_features_in_, shape_fit_
        As for SVC; the gap is that of the whole problem, weights included.
    n_iter_ : ndarray of shape (n_decision_functions,)
        Machines that were trained for each class.

    See Also
    --------
    SVC : One kernel, which may be a given sum, ``Kernel.sum``.

    References
    ----------
    Rakotomamonjy, A., Bach, F. R., Canu, S. and Grandvalet, Y. (2008). SimpleMKL. Journal of
    Machine Learning Research 9, 2491-2521.

    Chapelle, O. and Rakotomamonjy, A. (2008). Second order optimization of kernel parameters. NIPS
    Workshop on Kernel Learning.

    Kloft, M., Brefeld, U., Sonnenburg, S. and Zien, A. (2011). lp-norm multiple kernel learning.
    Journal of Machine Learning Research 12, 953-997.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import MKLSVC
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = X[:, 2] * X[:, 3] > 0
    >>> model = MKLSVC(kernels=[("rbf", [0, 1]), ("rbf", [2, 3]), ("rbf", [4, 5])]).fit(X, y)
    >>> model.kernel_weights_.round(1)
    array([0.1, 0.9, 0. ])
    >>> model.certificate_.status
    'optimal'
    """

    _problem = Problem.C_SVC
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **shared_constraints(*OWN),
        "class_weight": BaseSVC._parameter_constraints["class_weight"],
        "kernels": "no_validation",  # refuse_kernels has the message
        "norm": [Interval(Real, 1, None, closed="left")],
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "normalize": [StrOptions({"variance", "trace"}), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }
    # One problem for each class, without probabilities.
    multiclass, decision_function_shape, break_ties = "ovr", "ovr", False
    probability = False

    def __init__(
        self,
        kernels: Any = None,
        *,
        norm: float = 1,
        C: float = 1.0,
        normalize: str | None = "variance",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        class_weight: Any = None,
        max_iter: int = 200,
        verbose: Any = False,
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        warm_start: bool = False,
    ) -> None:
        self.kernels = kernels
        self.norm = norm
        self.C = C
        self.normalize = normalize
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.verbose = verbose
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start

    # ---- samples ---------------------------------------------------------------------------------

    def _kernel_kind(self) -> Kind | None:
        given = isinstance(self.kernels, str) and self.kernels == "precomputed"
        return Kind.PRECOMPUTED if given else Kind.SUM

    def _monitor(self) -> Monitor:
        """``max_iter`` counts machines, not their steps."""
        keep = self.on_interrupt == "keep"
        return Monitor(-1, self.time_limit, int(self.verbose), type(self).__name__, keep)

    def _validate_X(self, X: Any, *, reset: bool) -> Any:
        """As for the other machines; given kernel values are summed for prediction."""
        if self._kernel_kind() is not Kind.PRECOMPUTED:
            return super()._validate_X(X, reset=reset)
        return self._stack(X) @ (self.kernel_weights_ * self.kernel_scales_)

    def _validate_Xy(self, X: Any, y: Any, *, reset: bool, **options: Any) -> tuple[Any, Any]:
        if self._kernel_kind() is not Kind.PRECOMPUTED:
            X, y = super()._validate_Xy(X, y, reset=reset, **options)
            return X, y
        check_consistent_length(X, y)
        X = check_array(X, dtype=np.float64, allow_nd=True, ensure_2d=False, input_name="X")
        if X.ndim != 3 or X.shape[0] != X.shape[1] or not X.shape[2]:
            raise ValueError(
                "kernels='precomputed' needs X of shape (n_samples, n_samples, n_kernels), got "
                f"{X.shape}: np.stack([K1, K2, ...], axis=2)."
            )
        self.n_features_in_ = X.shape[1]
        return X, y

    def _stack(self, X: Any) -> Floats:
        """Kernel values of new samples against those of the fit."""
        check_is_fitted(self)
        values: Floats = check_array(X, dtype=np.float64, allow_nd=True, ensure_2d=False)
        shape = self.n_features_in_, len(self.kernel_weights_)
        if values.ndim != 3 or values.shape[1:] != shape:
            raise ValueError(
                f"X has shape {values.shape}, but kernels='precomputed' needs (n_samples, "
                f"{shape[0]}, {shape[1]}): the kernel values of the training samples in every "
                "kernel."
            )
        return values

    def _prepared(self, X: Any, y: Any, sample_weight: Any) -> Labelled:
        refuse_kernels(self.kernels)
        X, y = self._validate_Xy(X, y, reset=True)
        classes, label = encode(y)
        weight = finite_weight(sample_weight, _num_samples(X))
        by_class = class_weights(self.class_weight, classes, label, y, np.maximum(weight, 0.0))
        effective = weight * by_class[label]
        self._refuse_one_class(classes, label[effective > 0])
        refuse_negative(weight)
        counted, used = np.flatnonzero(weight > 0), np.flatnonzero(effective > 0)
        if self._kernel_kind() is Kind.PRECOMPUTED:
            columns = [symmetric(Kind.PRECOMPUTED, X[:, :, m]) for m in range(X.shape[2])]
            X = np.stack(columns, axis=2)
            kernel, samples = Kernel.precomputed(), X[np.ix_(used, used)]
        else:
            kernel, samples = sum_of(self, pick(X, counted), weight[counted]), pick(X, used)
            self._refuse_samples(kernel, samples)
        data = TrainingSet(X, kernel, used, samples, label, classes)
        tasks = multiclass.tasks(label[used], len(classes), True)
        return Labelled(data, weight, effective[used], by_class, tasks)

    def _refuse_samples(self, kernel: Kernel, samples: Any) -> None:
        """Negative features for chi2, and functions whose values depend on their batch."""
        if kernel.needs_non_negative and samples.min() < 0:
            raise ValueError(
                "Negative values in data: the chi2 kernel needs non-negative features, such as "
                "histograms."
            )
        for part in kernel.parts:
            refuse_batch_dependence(part.kernel, samples)

    # ---- fitting ---------------------------------------------------------------------------------

    def _formulation(self, sign: Floats, weight: Floats, class_weight: Floats) -> Formulation:
        return c_svc(sign, float(self.C), weight, squared=False)

    def _task(self, data: TrainingSet, weight: Floats, effective: Floats) -> MultipleTask:
        """The problem of the classes that have samples."""
        tasks = multiclass.tasks(data.label[data.used], len(self._labels(data)), True)
        signs = [task.sign for task in tasks if (task.sign > 0).any() and (task.sign < 0).any()]
        bounds = problems.bounds(float(self.C), effective)
        return MultipleTask(
            Candidates(data.kernel, data.samples),
            signs,
            bounds,
            weight,
            float(self.norm),
            Scaling(self.normalize),
            float(self.tol),
        )

    def _labels(self, data: TrainingSet) -> NDArray[Any]:
        assert data.classes is not None
        return data.classes

    def _fit(self, X: Any, y: Any, sample_weight: Any, shared: Shared | None = None) -> Self:
        data, weight, effective, by_class, tasks = self._prepared(X, y, sample_weight)
        task = self._task(data, weight[data.used], effective)
        with self._monitor() as monitor:
            found = mkl_training.train(task, monitor, int(self.max_iter), self._start(data))
        _outcome.raise_interrupt(self, monitor)
        parts, machines = found.certificate.parts or (found.certificate,), iter(found.decisions)
        own = iter(parts)
        trained = [
            Trained(next(machines), next(own))
            if (one.sign > 0).any() and (one.sign < 0).any()
            else Constant(-1.0, one.samples).train()
            for one in tasks
        ]
        fits = [(data.used, one) for one in trained]
        kernel, n = found.samples.kernel, len(data.label)
        given = kernel.kind is Kind.PRECOMPUTED
        values = np.empty((n, n)) if given else data.X
        record = model.assemble(self._problem, kernel, values, data.label, fits, data.classes)
        whole = found.certificate
        if len(trained) > 1:
            whole = whole.updated(parts=tuple(one.certificate for one in trained))
        self.model_ = replace(record, certificate=whole)
        self.kernel_weights_, self.kernel_scales_ = found.d, found.scales
        self.kernels_ = kernel if given else scaled(data.kernel, found.scales)
        self.class_weight_, self.shape_fit_ = by_class, tuple(data.X.shape)
        self.n_iter_ = np.array([part.n_iter for part in self.model_.certificates], np.int64)
        self.fit_status_ = int(not _outcome.warn_of((whole.updated(parts=()),), self._describe))
        return self

    def _start(self, data: TrainingSet) -> Floats | None:
        """The weights of the last fit, where they are to be used and belong to these kernels."""
        last = self.__dict__.get("kernel_weights_")
        count = data.X.shape[2] if data.kernel.kind is Kind.PRECOMPUTED else len(data.kernel.parts)
        known = self.warm_start and last is not None and len(last) == count
        return np.asarray(last) if known else None

    @property
    def coef_(self) -> Any:
        """Not there: a sum of kernels has no weights of features."""
        check_is_fitted(self)
        raise AttributeError("coef_ is only available when using a linear kernel")

    # ---- certification ---------------------------------------------------------------------------

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
        self._check_state()
        record, classes = self.model_, self.classes_
        X, y = self._validate_Xy(X, y, reset=False)
        label = np.searchsorted(classes, column_or_1d(y))
        same = np.array_equal(classes[np.minimum(label, len(classes) - 1)], column_or_1d(y))
        if not same or len(label) != record.n_samples:
            raise ValueError(
                "certify needs the data the model was fitted on: other labels or another number of "
                "samples were given."
            )
        weight = finite_weight(sample_weight, len(label))
        effective = weight * self.class_weight_[label]
        used = np.flatnonzero(effective > 0)
        given = record.kernel.kind is Kind.PRECOMPUTED
        samples = X[np.ix_(used, used)] if given else pick(X, used)
        data = TrainingSet(X, self.kernels_, used, samples, label, classes)
        task = self._task(data, weight[used], effective[used])
        return mkl_training.certify(
            task, self.kernel_scales_, self.kernel_weights_, self._fitted(X, label, used)
        )

    def _check_state(self) -> None:
        """Weights and scales must be those of the record, too."""
        super()._check_state()
        refuse_altered(type(self).__name__, is_consistent, self)

    def _fitted(self, X: Any, label: Integers, used: Integers) -> Fitted:
        """Coefficients and decision values of the classes that have samples."""
        record = self.model_
        if record.kernel.kind is Kind.PRECOMPUTED:
            X = X @ (self.kernel_weights_ * self.kernel_scales_)
        coef = np.zeros((len(record.coef), record.n_samples))
        coef[:, record.rows] = record.coef
        own = np.unique(label[used]) if len(record.coef) > 1 else np.arange(1)
        exact, solver = exact_values(record, X, self.tol), decision_values(record, X)
        return Fitted(
            coef[np.ix_(own, used)],
            record.intercept[own],
            exact[np.ix_(used, own)].T,
            solver[np.ix_(used, own)].T,
            record.certificate,
        )
