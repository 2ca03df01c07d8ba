"""What both classifiers share: labels, weights, one problem for each pair of classes or class."""

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
from maxmargin.estimators._calibrated import OPTIONS, method_of
from maxmargin.estimators._data import symmetric
from maxmargin.estimators._machine import KernelMachine, Shared, TrainingSet
from maxmargin.estimators._options import StrOptions
from maxmargin.estimators._probability import GivesProbabilities, leaving_out
from maxmargin.estimators._record import field
from maxmargin.estimators._targets import class_weights, encode, finite_weight, refuse_negative
from maxmargin.kernel import certification, multiclass
from maxmargin.kernel.cache import free_memory
from maxmargin.kernel.certification import Claim
from maxmargin.kernel.formulations import Formulation
from maxmargin.kernel.labels import label_positions
from maxmargin.kernel.multiclass import BinaryTask
from maxmargin.kernel.sources import take
from maxmargin.kernel.training import Constant, Task

BYTES_PER_PROBLEM = 4096
"""Memory that a trained pair of classes takes at least."""


class Labelled(NamedTuple):
    """The data of a fit, and its binary problems."""

    data: TrainingSet
    weight: Floats
    """Of every sample, as given."""
    effective: Floats
    """Of the samples in use, times the weights of their classes."""
    class_weight: Floats
    """Of each class."""
    tasks: list[BinaryTask]


class BaseSVC(ClassifierMixin, GivesProbabilities, KernelMachine):  # type: ignore[misc]
    """Labels, weights, multi-class training, prediction and certification of both classifiers."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseSVM._parameter_constraints,
        "probability": [*OPTIONS, StrOptions({"deprecated"})],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "random_state": ["random_state"],
        "multiclass": [StrOptions({"ovo", "ovr"})],
    }
    _one_class_note: ClassVar[str] = ""
    classes_ = field("classes")

    # ---- fitting ---------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training vectors; the square kernel matrix for ``kernel="precomputed"``; any sequence
            for a callable kernel.
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

    def _fit(self, X: Any, y: Any, sample_weight: Any, shared: Shared | None = None) -> Self:
        self._refuse_parameters()
        if shared is None:
            prepared = self._prepared(X, y, sample_weight)
        else:
            prepared = self._once(shared, lambda: self._prepared(X, y, sample_weight))
        data, weight, _, class_weight, _ = prepared
        tasks = self._tasks(prepared, shared)
        wanted = method_of(self.probability) is not None
        calibrated = wanted and (shared is None or shared.probabilities)
        left = self._left(data) if calibrated else None
        trained = self._train(data, tasks if left is None else leaving_out(tasks, left), shared)
        if calibrated:
            self._learn_probabilities(data, trained, weight[data.used])
        self.class_weight_ = class_weight
        self.n_iter_ = np.array([part.n_iter for part in self.model_.certificates], np.int64)
        return self

    def _prepared(self, X: Any, y: Any, sample_weight: Any) -> Labelled:
        """Validate the data of a fit."""
        X, y = self._validate_Xy(X, y, reset=True)
        classes, label = encode(y)
        weight = finite_weight(sample_weight, _num_samples(X))
        class_weight = class_weights(self.class_weight, classes, label, y, np.maximum(weight, 0.0))
        effective = _effective(weight, class_weight[label])
        self._refuse_one_class(classes, label[effective > 0])
        refuse_negative(weight)
        self._refuse_too_many(len(classes))
        X = symmetric(self._kernel_kind(), X)
        counted, used = np.flatnonzero(weight > 0), np.flatnonzero(effective > 0)
        kernel = self._resolve_kernel(take(self._kernel_kind(), X, counted), weight[counted])
        pairs = len(classes) > 2 and self.multiclass == "ovo"
        members = multiclass.members_of(label[used], len(classes)) if pairs else None
        samples = take(kernel.kind, X, used)
        data = TrainingSet(X, kernel, used, samples, label, classes, members)
        tasks = (
            multiclass.tasks(label[used], len(classes), one_vs_rest=True)
            if members is None
            else multiclass.tasks_of_pairs(members)
        )
        return Labelled(data, weight, effective[used], class_weight, tasks)

    def _tasks(self, prepared: Labelled, shared: Shared | None) -> list[Task | Constant]:
        """Every binary problem on the samples in use."""
        data, _, weight, by_class, tasks = prepared
        assert data.classes is not None
        class_weight, pairs = by_class[data.label[data.used]], data.members is not None
        warm = self.warm_start and hasattr(self, "model_")
        known = warm and np.array_equal(self.classes_, data.classes)
        starts = self._starts(len(data.label), shared) if known or shared is not None else None
        if starts is not None and len(starts) != len(tasks):
            starts = None
        found: list[Task | Constant] = []
        for k, task in enumerate(tasks):
            rows = task.samples
            problem = self._problem_of(task, weight[rows], class_weight[rows])
            if isinstance(problem, Constant):
                found.append(problem)
                continue
            start = None if starts is None else starts[k, data.used[rows]]
            view = rows if pairs else None
            found.append(Task(problem, float(self.tol), self._method(), start, view))
        return found

    def _problem_of(
        self, task: BinaryTask, weight: Floats, class_weight: Floats
    ) -> Formulation | Constant:
        """A binary problem; the other class always wins where one has no weight."""
        positive = np.count_nonzero(task.sign > 0)
        if 0 < positive < len(task.sign):
            return self._formulation(task.sign, weight, class_weight)
        return Constant(-1.0 if positive < len(task.sign) else 1.0, task.samples)

    @abstractmethod
    def _formulation(self, sign: Floats, weight: Floats, class_weight: Floats) -> Formulation:
        """The binary problem on samples of the given signs, effective weights and class weights.

        Raises ValueError for an infeasible nu.
        """

    def _refuse_parameters(self) -> None:
        """Refuse what is not available."""
        if self.multiclass == "ovr" and self.decision_function_shape == "ovo":
            raise ValueError(
                "decision_function_shape='ovo' needs multiclass='ovo': no pair is trained with "
                "multiclass='ovr'."
            )

    def _refuse_one_class(self, classes: NDArray[Any], label: NDArray[np.int64]) -> None:
        """At least two classes must have samples of positive weight."""
        present = np.flatnonzero(np.bincount(label, minlength=len(classes)))
        if len(present) < 2:
            raise ValueError(
                "Invalid input - all samples with positive weights belong to the same class"
                f" ({classes[present].tolist()}); at least two are needed{self._one_class_note}."
            )

    def _refuse_too_many(self, n_classes: int) -> None:
        """Refuse more one-vs-one problems than memory holds, before anything is allocated."""
        problems = n_classes * (n_classes - 1) // 2
        needed = problems * BYTES_PER_PROBLEM
        if self.multiclass == "ovo" and n_classes > 100 and needed > free_memory():
            raise MemoryError(
                f"{n_classes} classes make {problems} one-vs-one problems, which take at least "
                f"{needed / 2**30:.0f} GiB; {free_memory() / 2**30:.0f} are free. Use "
                f"multiclass='ovr', which trains {n_classes}, and check that y holds labels."
            )

    # ---- prediction and certification ------------------------------------------------------------

    def decision_function(self, X: Any, precision: str = "float64") -> Floats:
        """Evaluate the decision function.

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
            computed in float64, and so are the rows whose label float32 does not decide: values and
            labels agree. No value depends on the other rows.

        Returns
        -------
        f : ndarray of shape (n_samples,), (n_samples, n_classes) or \
(n_samples, n_classes * (n_classes - 1) / 2)
            As ``maxmargin.kernel.multiclass`` describes; for two classes one value a sample,
            positive for ``classes_[1]``.
        """
        return self._decision_of(self._decision_values(X, precision))

    def _decision_of(self, values: Floats) -> Floats:
        """decision_function from the values of every function, one column each."""
        if values.shape[1] == 1:
            return values[:, 0]
        if self.model_.pairs and self.decision_function_shape == "ovr":
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
            Labels; ties are decided as ``maxmargin.kernel.multiclass`` describes.
        """
        self._check_is_fitted()
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        X = self._validate_X(X, reset=False)
        position = label_positions(self.model_, X, self.break_ties)
        return np.asarray(self.classes_[position])

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
        model, classes = self.model_, self.classes_
        label = np.searchsorted(classes, column_or_1d(y))
        if not np.array_equal(classes[np.minimum(label, len(classes) - 1)], column_or_1d(y)) or (
            model.rows is not None and len(label) != model.n_samples
        ):
            raise ValueError(
                "certify needs the data the model was fitted on: other labels or another number of "
                "samples were given."
            )
        class_weight = self.class_weight_[label]
        effective = _effective(finite_weight(sample_weight, _num_samples(X)), class_weight)
        claims = []
        for rows, sign in multiclass.tasks(label, len(classes), not model.pairs):
            keep = effective[rows] > 0
            used = rows[keep]
            task = BinaryTask(used, sign[keep])
            claims.append(Claim(used, self._problem_of(task, effective[used], class_weight[used])))
        return certification.certify(model, X, label, claims, self.tol)


def _effective(weight: Floats, class_weight: Floats) -> Floats:
    """Sample weights times class weights; ValueError where float64 does not hold them."""
    with np.errstate(over="ignore"):
        effective: Floats = weight * class_weight
    if not np.isfinite(effective).all():
        raise ValueError(
            "sample_weight times class_weight is beyond float64: the greatest are "
            f"{weight.max():g} and {class_weight.max():g}. Divide the sample weights by a constant."
        )
    return effective
