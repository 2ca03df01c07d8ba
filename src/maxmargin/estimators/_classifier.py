"""What both classifiers share beyond prediction.

Labels, weights, training of every pair, certification.
"""

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils import column_or_1d
from sklearn.utils.validation import _num_samples, check_is_fitted

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.estimators._base import BaseSVM, all_or_nothing
from maxmargin.estimators._data import refuse_batch_dependence, symmetric
from maxmargin.estimators._options import StrOptions
from maxmargin.estimators._targets import class_weights, encode, finite_weight, refuse_negative
from maxmargin.estimators._voting import Voting, libsvm_sign
from maxmargin.kernel import multiclass
from maxmargin.kernel.cache import free_memory
from maxmargin.kernel.formulations import Decision, Formulation
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.multiclass import BinaryTask
from maxmargin.kernel.sources import take
from maxmargin.kernel.training import Constant, Task, Trained
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.monitor import Monitor
from maxmargin.status import Status
from maxmargin.training import train_many

NO_PROBABILITY = (
    "probability=True is not available. Use CalibratedClassifierCV({name}(...), ensemble=False) "
    "from sklearn.calibration, which gives "
    "probabilities from out-of-fold decision values."
)


BYTES_PER_PROBLEM = 4096
"""Memory a trained pair of classes takes at the least."""


class Weighted(NamedTuple):
    """The samples of positive weight."""

    X: Any
    label: NDArray[np.int64]
    weight: Floats
    class_weight: Floats


class BaseSVC(ClassifierMixin, Voting):  # type: ignore[misc]
    """Labels, weights, multi-class training and certification of both classifiers."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseSVM._parameter_constraints,
        "probability": ["boolean", StrOptions({"deprecated"})],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "random_state": ["random_state"],
        "multiclass": [StrOptions({"ovo", "ovr"})],
    }

    _one_class_note: ClassVar[str] = ""

    @property
    def probA_(self) -> Floats:
        """Platt's slopes of a model that was made with probabilities elsewhere.

        Empty after a fit.
        """
        check_is_fitted(self)
        slopes: Floats = self._probA
        return slopes

    @property
    def probB_(self) -> Floats:
        """Platt's constants, as ``probA_``."""
        check_is_fitted(self)
        constants: Floats = self._probB
        return constants

    # ---- fitting ---------------------------------------------------------------------------------

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
            raise ValueError(
                "decision_function_shape='ovo' needs multiclass='ovo': no pair is trained with "
                "multiclass='ovr'."
            )
        X, y = self._validate_Xy(X, y, reset=True)
        classes, label = encode(y)
        weight = finite_weight(sample_weight, _num_samples(X))
        class_weight = class_weights(self.class_weight, classes, label, y, np.maximum(weight, 0.0))
        effective = _effective(weight, class_weight[label])
        present = np.flatnonzero(np.bincount(label[effective > 0], minlength=len(classes)))
        if len(present) < 2:
            raise ValueError(
                "Invalid input - all samples with positive weights belong to the same class"
                f" ({classes[present].tolist()}); at least two are needed{self._one_class_note}."
            )
        refuse_negative(weight)
        self._refuse_too_many(len(classes))
        X = symmetric(self._kernel_kind(), X)
        counted, used = np.flatnonzero(weight > 0), np.flatnonzero(effective > 0)
        kernel = self._resolve_kernel(take(self._kernel_kind(), X, counted), weight[counted])
        samples = Weighted(
            take(kernel.kind, X, used), label[used], effective[used], class_weight[label[used]]
        )
        tasks = multiclass.tasks(samples.label, len(classes), self.multiclass == "ovr")
        starts = self._starts(used, len(label), tasks, classes)
        with self._monitor() as monitor:
            trained = self._train(samples, len(classes), kernel, tasks, starts, monitor)
        self._conclude(trained, monitor, X)
        self.classes_, self.class_weight_ = classes, class_weight
        self._keep(X, kernel, tasks, trained, used, label)
        return self

    def _refuse_too_many(self, n_classes: int) -> None:
        """One-vs-one of very many classes needs more memory than there is.

        Say so before anything is allocated.
        """
        problems = n_classes * (n_classes - 1) // 2
        needed = problems * BYTES_PER_PROBLEM
        if self.multiclass == "ovo" and n_classes > 100 and needed > free_memory():
            raise MemoryError(
                f"{n_classes} classes make {problems} one-vs-one problems, which take at least "
                f"{needed / 2**30:.0f} GiB; "
                f"{free_memory() / 2**30:.0f} are free. Use multiclass='ovr', which trains "
                f"{n_classes}, and check that y holds labels."
            )

    def _starts(
        self, used: NDArray[np.int64], n: int, tasks: list[BinaryTask], classes: NDArray[Any]
    ) -> list[Floats] | None:
        """For each task the dual variables of the last fit on its samples, if warm_start can use
        them.
        """
        warm = self._warm(n)
        if warm is None or not np.array_equal(self.classes_, classes) or len(warm[1]) != len(tasks):
            return None
        support, rows = warm
        guess = np.zeros((len(tasks), n))
        guess[:, support] = rows * self._scales[:, None] * libsvm_sign(len(classes))
        return [guess[k, used[task.samples]] for k, task in enumerate(tasks)]

    def _train(
        self,
        samples: Weighted,
        n_classes: int,
        kernel: Kernel,
        tasks: list[BinaryTask],
        starts: list[Floats] | None,
        monitor: Monitor,
    ) -> list[Trained]:
        """Train every binary problem; pairs of classes share the kernel values inside a class."""
        pairs = len(tasks) > 1 and self.multiclass == "ovo"
        work = [
            self._task(
                task,
                samples,
                task.samples if pairs else None,
                None if starts is None else starts[k],
            )
            for k, task in enumerate(tasks)
        ]
        refuse_batch_dependence(kernel, samples.X)
        members = multiclass.members_of(samples.label, n_classes) if pairs else None
        return train_many(
            work, KernelWorkspace.of(kernel, samples.X, monitor, self.cache_size, members)
        )

    def _task(
        self,
        task: BinaryTask,
        samples: Weighted,
        rows: NDArray[np.int64] | None,
        start: Floats | None,
    ) -> Task | Constant:
        """One binary problem, on a view of some rows or on all samples."""
        if not _two_sided(task):
            return _constant(task)
        form = self._formulation(
            task.sign, samples.weight[task.samples], samples.class_weight[task.samples]
        )
        return Task(form, float(self.tol), self._method(), start, rows)

    @abstractmethod
    def _formulation(self, sign: Floats, weight: Floats, class_weight: Floats) -> Formulation:
        """The binary problem on samples of the given signs, effective weights and class weights.

        Refuses an infeasible nu.
        """

    def _keep(
        self,
        X: Any,
        kernel: Kernel,
        tasks: list[BinaryTask],
        trained: list[Trained],
        used: NDArray[np.int64],
        label: NDArray[np.int64],
    ) -> None:
        """Keep the union of the support vectors, sorted by class, and the coefficients in
        scikit-learn's layout.
        """
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
            rows = (
                multiclass.packed_rows(k, label[support[columns]], n_classes)
                if self._one_vs_one
                else k
            )
            packed[rows, columns] = result.decision.coef[nonzero]
        self._keep_coef(
            packed, np.array([t.decision.intercept for t in trained]), flipped=n_classes == 2
        )
        self.n_iter_ = self._num_iter = np.array(
            [t.certificate.n_iter for t in trained], dtype=np.int64
        )

    # ---- certification ---------------------------------------------------------------------------

    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Check the fitted model on its training data, everything recomputed in float64 by code the
        solver does not share.

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
        if not np.array_equal(
            self.classes_[np.minimum(label, len(self.classes_) - 1)], column_or_1d(y)
        ) or (getattr(self, "_rows_known", True) and len(label) != self.shape_fit_[0]):
            raise ValueError(
                "certify needs the data the model was fitted on: other labels or another number of "
                "samples were given."
            )
        effective = _effective(
            finite_weight(sample_weight, _num_samples(X)), self.class_weight_[label]
        )
        exact, solver = self._certified_values(X), self._decision_values(X)
        columns = np.zeros((exact.shape[1], len(label)))
        columns[:, self._training_rows(X, label)] = self._columns()
        flip = libsvm_sign(len(self.classes_))
        found = []
        for k, task in enumerate(
            multiclass.tasks(label, len(self.classes_), self.multiclass == "ovr")
        ):
            keep = effective[task.samples] > 0
            rows, sign = task.samples[keep], task.sign[keep]
            if len(np.unique(sign)) < 2:
                found.append(_constant(BinaryTask(rows, sign)).train().certificate)
                continue
            before = (self.certificate_.parts or (self.certificate_,))[k]
            if before.status is Status.DEGENERATE:
                found.append(before)
                continue
            form = self._formulation(sign, effective[rows], self.class_weight_[label[rows]])
            scale = 0.0 if before.status is Status.IMPORTED else self._scales[k]
            decision = Decision(
                flip * columns[k, rows], flip * self._intercept_[k], (0.0, 0.0), scale
            )
            found.append(form.certify(flip * exact[rows, k], decision))
        return self._certify_all(found, solver, exact)


def _effective(weight: Floats, class_weight: Floats) -> Floats:
    """Sample weights times class weights; ValueError where float64 does not hold them."""
    with np.errstate(over="ignore"):
        effective: Floats = weight * class_weight
    if not np.isfinite(effective).all():
        raise ValueError(
            "sample_weight times class_weight is beyond float64: the greatest are "
            f"{weight.max():g} and "
            f"{class_weight.max():g}. Divide the sample weights by a constant."
        )
    return effective


def _two_sided(task: BinaryTask) -> bool:
    return bool((task.sign > 0).any() and (task.sign < 0).any())


def _constant(task: BinaryTask) -> Constant:
    """The decision function of a problem one of whose classes has no weight.

    The other class always wins.
    """
    return Constant(-1.0 if (task.sign < 0).any() else 1.0, task.samples)
