"""TransductiveSVC below its interface: from labels to problems, and from their ends to a record."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples, check_is_fitted

from maxmargin import certificate
from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats, Integers
from maxmargin.estimators import _outcome
from maxmargin.estimators._base import BaseSVM
from maxmargin.estimators._data import refuse_batch_dependence, symmetric
from maxmargin.estimators._one_each import OneFunctionEach, winners
from maxmargin.estimators._partial import PartialLabels, class_shares, read_labels
from maxmargin.estimators._record import checked, field, fitted
from maxmargin.estimators._targets import validate_weight
from maxmargin.kernel import certification, formulations, prediction
from maxmargin.kernel import model as kernel_model
from maxmargin.kernel.certification import Claim
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.model import KernelModel, Problem
from maxmargin.kernel.sources import pick, take
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.linear import losses, verification
from maxmargin.linear import model as linear_model
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.losses import Bias, LinearProblem
from maxmargin.linear.model import LinearModel
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.monitor import Monitor
from maxmargin.semi_supervised.descent import Partial
from maxmargin.semi_supervised.paths import Path
from maxmargin.semi_supervised.transduction import Transduced, TransductiveTask, label_gain
from maxmargin.status import Convexity, Status
from maxmargin.training import train_many


class Prepared(NamedTuple):
    """The data of a fit."""

    X: Any
    labels: PartialLabels
    weight: Floats
    used: Integers
    """The samples of positive weight."""
    kernel: Kernel
    shares: Floats
    """Of each class among the unlabelled samples."""
    C_unlabelled: float

    @property
    def linear(self) -> bool:
        """Whether the solvers are those of linear models."""
        return self.kernel.kind is Kind.LINEAR


class BaseTransductive(OneFunctionEach, BaseSVM):
    """Fitting, prediction and certification of the transductive machine."""

    model_: KernelModel | LinearModel
    _sign: NDArray[np.int8]
    """The sign of every sample in every problem, a row for each problem."""

    classes_ = field("classes")
    certificate_ = field("certificate")

    @abstractmethod
    def _paths(self) -> Sequence[Path]:
        """The paths to follow."""

    # ---- fitting ---------------------------------------------------------------------------------

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        data = self._prepared(X, y, sample_weight)
        problems = _problems(data, float(self.C))
        paths, tol = self._paths(), float(self.tol)
        tasks = [TransductiveTask(one, paths, tol, self.max_switches) for one in problems]
        samples = take(data.kernel.kind, data.X, data.used)
        with self._monitor() as monitor, np.errstate(over="ignore", invalid="ignore"):
            found = train_many(tasks, self._workspace(data, samples, monitor))
        _outcome.raise_interrupt(self, monitor)
        return self._keep(data, found)

    def _prepared(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        """Validate the data of a fit."""
        X, y = self._validate_Xy(X, y, reset=True)
        weight = validate_weight(sample_weight, _num_samples(X))
        labels = read_labels(y, weight)
        X = symmetric(self._kernel_kind(), X)
        used = np.flatnonzero(weight > 0)
        kernel = self._resolve_kernel(take(self._kernel_kind(), X, used), weight[used])
        free = used[~labels.known[used]]
        shares = class_shares(self.balance, labels, weight, len(free))
        C_unlabelled = self.C_unlabelled
        if C_unlabelled is None:
            total = float(weight[free].sum())
            C_unlabelled = self.C * float(weight[labels.known].sum()) / total if total else self.C
        return Prepared(X, labels, weight, used, kernel, shares, float(C_unlabelled))

    def _workspace(
        self, data: Prepared, samples: Any, monitor: Monitor
    ) -> KernelWorkspace | LinearWorkspace:
        if data.linear:
            return LinearWorkspace(ArrayDesign(samples), monitor)
        refuse_batch_dependence(data.kernel, samples)
        return KernelWorkspace.of(data.kernel, samples, monitor, self.cache_size)

    def _keep(self, data: Prepared, found: Sequence[Transduced]) -> Self:
        """Keep the record, the labels and the way to them."""
        labels, used, n = data.labels, data.used, len(data.weight)
        certificates = [one.trained.certificate for one in found]
        partial = not labels.known[used].all()
        trained = [_stationary(one.trained) if partial else one.trained for one in found]
        self._sign = np.zeros((len(found), n), np.int8)
        self._sign[:, used] = [one.sign for one in found]
        self._kernel = data.kernel
        if data.linear:
            self.model_ = linear_model.assemble(trained, True, labels.classes)
        else:
            one = len(found) == 1
            guess = (self._sign[0] > 0).astype(np.int64) if one else self._sign.argmax(axis=0)
            label = np.where(labels.known, labels.label, guess)
            fits = [(used, one) for one in trained]
            self.model_ = kernel_model.assemble(
                Problem.C_SVC, data.kernel, data.X, label, fits, labels.classes
            )
        self.transduction_ = labels.filled(self._transduced(data, found))
        self.fixed_labels_certificate_ = certificate.worst(certificates)
        self.objectives_ = [one.history for one in found]
        self.balance_, self.C_unlabelled_ = data.shares, data.C_unlabelled
        self.n_iter_ = np.array([1 + len(one.history) for one in found], np.int64)
        _outcome.warn_of(fitted(self).certificates, self._describe)
        return self

    def _transduced(self, data: Prepared, found: Sequence[Transduced]) -> NDArray[np.int64]:
        """Positions of the labels of unlabelled samples; predicted ones where the weight is 0."""
        position = np.zeros(len(data.weight), np.int64)
        unused = ~data.labels.known & (data.weight <= 0)
        free = ~data.labels.known & ~unused
        if len(found) == 1:
            position[free] = self._sign[0, free] > 0
        elif free.any():
            position[free] = winners(self._values_of(pick(data.X, np.flatnonzero(free))))
        if unused.any():
            position[unused] = winners(self._values_of(pick(data.X, np.flatnonzero(unused))))
        return position

    def _describe(self, status: Status, found: Sequence[Certificate], count: str) -> str | None:
        """The warning for problems that ended with a status."""
        fixed = self.fixed_labels_certificate_
        if status is Status.STATIONARY and fixed.convexity is not Convexity.INDEFINITE:
            return None
        gap = max(part.relative_gap for part in found)
        return (
            f"{type(self).__name__}, with the labels that it found{count}: {status.message} "
            f"Relative gap {gap:.3g} (tol={self.tol:g})."
        )

    # ---- prediction ------------------------------------------------------------------------------

    def _values(self, X: Any) -> Floats:
        """Values of every decision function, one column each."""
        check_is_fitted(self)
        return self._values_of(self._validate_X(X, reset=False))

    def _values_of(self, X: Any) -> Floats:
        """The same of validated samples."""
        record = checked(self)
        if isinstance(record, LinearModel):
            return linear_model.decision_values(record, X)
        return prediction.decision_values(record, X)

    # ---- the fitted state ------------------------------------------------------------------------

    @property
    def intercept_(self) -> Floats:
        """Constants of the decision functions."""
        record = fitted(self)
        return np.asarray(record.intercept)

    @property
    def coef_(self) -> Floats:
        """Weights of the features; with a linear kernel only."""
        if self._kernel_kind() is not Kind.LINEAR:
            raise AttributeError("coef_ is only available when using a linear kernel")
        return np.asarray(fitted(self).coef)

    @property
    def support_(self) -> Integers:
        """Rows of the support vectors among the training samples."""
        record = fitted(self)
        if isinstance(record, LinearModel):
            used = np.flatnonzero((self._sign != 0).any(axis=0))
            return np.asarray(used[np.unique(record.duals.indices)])
        return np.asarray(record.rows)

    @property
    def support_vectors_(self) -> Any:
        """The support vectors; not with a linear kernel."""
        return self._expansion("support_vectors_").vectors

    @property
    def dual_coef_(self) -> Floats:
        """Their coefficients, a row for each function; not with a linear kernel."""
        return np.asarray(self._expansion("dual_coef_").coef)

    def _expansion(self, name: str) -> KernelModel:
        record: KernelModel | LinearModel = fitted(self)
        if isinstance(record, LinearModel):
            raise AttributeError(f"{name} is not available with a linear kernel: read coef_")
        return record

    @property
    def n_support_(self) -> NDArray[np.int32]:
        """Number of support vectors of each class, by the labels that were found."""
        label = np.searchsorted(self.classes_, self.transduction_[self.support_])
        return np.bincount(label, minlength=len(self.classes_)).astype(np.int32)

    def _check_state(self) -> None:
        record = fitted(self)
        if isinstance(record, LinearModel):
            linear_model.check(record, type(self).__name__)
        else:
            kernel_model.check(record)

    def _linear_coef(self) -> Any:
        return self.coef_

    # ---- certification ---------------------------------------------------------------------------

    def _certify(self, X: Any, y: Any, sample_weight: Any) -> Certificate:
        check_is_fitted(self)
        X, y = self._validate_Xy(X, y, reset=False)
        weight = validate_weight(sample_weight, _num_samples(X))
        labels, used = read_labels(y, weight), np.flatnonzero(weight > 0)
        same = self._sign.shape[1] == len(weight) and np.array_equal(labels.classes, self.classes_)
        if not same or ((self._sign != 0).any(axis=0) != (weight > 0)).any():
            raise ValueError(
                "certify needs the data the model was fitted on: other classes, weights or another "
                "number of samples were given."
            )
        data = Prepared(
            X, labels, weight, used, self._kernel, self.balance_, float(self.C_unlabelled_)
        )
        sign, problems = self._sign[:, used].astype(np.float64), _problems(data, float(self.C))
        again = self._certify_linear if data.linear else self._certify_kernel
        parts = again(data, problems, sign)
        values = self._values_of(X if len(used) == len(weight) else pick(X, used))
        convex = self.fixed_labels_certificate_.convexity.convex
        judged = []
        for k, (part, problem, s) in enumerate(zip(parts, problems, sign, strict=True)):
            gain = label_gain(problem, s, values[:, k])
            improved = convex and gain > self.tol * abs(part.primal)
            kept = np.array_equal(s[~problem.unlabelled], problem.sign[~problem.unlabelled])
            wrong = part.status.converged and (improved or not kept)
            judged.append(part.updated(status=Status.REFUTED) if wrong else part)
        return certificate.worst(judged)

    def _certify_kernel(
        self, data: Prepared, problems: Sequence[Partial], sign: Floats
    ) -> tuple[Certificate, ...]:
        claims = [
            Claim(data.used, formulations.c_svc(s, 1.0, problem.cost, squared=False))
            for s, problem in zip(sign, problems, strict=True)
        ]
        label = np.zeros(len(data.weight), np.int64)
        record: Any = checked(self)
        found = certification.certify(record, data.X, label, claims, self.tol)
        return found.parts or (found,)

    def _certify_linear(
        self, data: Prepared, problems: Sequence[Partial], sign: Floats
    ) -> tuple[Certificate, ...]:
        record: Any = checked(self)
        linear_model.check_duals(record, type(self).__name__)
        design = ArrayDesign(data.X[data.used])
        found = []
        for k, (s, one) in enumerate(zip(sign, problems, strict=True)):
            tube = losses.classification(s, one.cost, squared=False)
            solution = linear_model.solution(record, k, len(data.used))
            problem, before = LinearProblem(tube, Bias.FREE), record.certificates[k]
            found.append(verification.certify_again(before, problem, solution, design, self.tol))
        return tuple(found)


def _problems(data: Prepared, C: float) -> list[Partial]:
    """One problem for two classes, else one for each class against the rest."""
    label, weight = data.labels.label[data.used], data.weight[data.used]
    cost = np.where(label < 0, data.C_unlabelled, C) * weight
    n = len(data.labels.classes)
    return [
        Partial(np.where(label < 0, 0.0, np.where(label == k, 1.0, -1.0)), cost, data.shares[k])
        for k in ([1] if n == 2 else range(n))
    ]


def _stationary(trained: Any) -> Any:
    """The same, certified as what it is: its labels were chosen."""
    found = trained.certificate
    status = Status.STATIONARY if found.status.converged else found.status
    return trained._replace(certificate=found.updated(status=status, convexity=Convexity.NONCONVEX))
