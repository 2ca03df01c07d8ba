"""What the kernel machines share: a fit keeps the record of the trained machine."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples, check_is_fitted

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.estimators import _outcome
from maxmargin.estimators._base import SCALE, BaseSVM
from maxmargin.estimators._data import refuse_batch_dependence
from maxmargin.estimators._options import StrOptions, validate
from maxmargin.estimators.libsvm_layout import LibsvmLayout
from maxmargin.kernel import labels, model
from maxmargin.kernel.held_out import TaskWithFolds
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.left_out import TaskLeavingOut
from maxmargin.kernel.model import Problem
from maxmargin.kernel.together import train_together
from maxmargin.kernel.training import Constant, Method, Task, Trained
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.monitor import Monitor
from maxmargin.status import Convexity, Status
from maxmargin.training import train_many
from maxmargin.verdict import GAP

Prepared = TypeVar("Prepared")


PRECISION = {"precision": [StrOptions({"float32", "float64"})]}
"""What `decision_function` and `predict` of kernel machines take."""


class TrainingSet(NamedTuple):
    """The data of a fit."""

    X: Any
    kernel: Kernel
    used: NDArray[np.int64]
    """The samples of positive weight."""
    samples: Any
    """These samples of X."""
    label: NDArray[np.int64]
    """Of every sample: the position of its class, or 0."""
    classes: NDArray[Any] | None = None
    members: list[NDArray[np.int64]] | None = None
    """The used samples of each class, where each pair of classes is a problem."""


class Shared(NamedTuple):
    """What a fit shares with others on the same samples."""

    workspace: KernelWorkspace
    monitor: Monitor
    starts: Floats | None = None
    """Dual variables to begin at, one row for each problem."""
    probabilities: bool = False
    """Whether probabilities are learnt, where the machine has them."""
    memory: dict[str, Any] | None = None
    """What the first of these fits made of its data, for the others on the same data."""
    vectors: bool = True
    """Whether the record keeps its support vectors: kernel values may do without."""


class KernelMachine(LibsvmLayout, BaseSVM):
    """Training and decision values of the kernel machines."""

    _problem: ClassVar[Problem]

    def _method(self) -> Method:
        """Which solver."""
        return Method.BLOCK

    def _once(self, shared: Shared, prepare: Callable[[], Prepared]) -> Prepared:
        """What a fit makes of its data; fits that share a memory do it once."""
        if shared.memory is None:
            return prepare()
        memory = shared.memory
        if not memory:
            memory["prepared"] = prepare()
            names = "n_features_in_", "feature_names_in_"
            memory["names"] = {name: vars(self)[name] for name in names if name in vars(self)}
        self.__dict__.update(memory["names"])
        found: Prepared = memory["prepared"]
        return found

    def _starts(self, n: int, shared: Shared | None = None) -> Floats | None:
        """Dual variables of n samples to begin at: those given, or those of the last fit where
        warm_start can use them.
        """
        if shared is not None:
            return shared.starts
        known = self.warm_start and hasattr(self, "model_")
        return model.starts(self.model_, n) if known else None

    def _train(
        self,
        data: TrainingSet,
        tasks: Sequence[Task | TaskWithFolds | TaskLeavingOut | Constant],
        shared: Shared | None,
    ) -> list[Trained]:
        """Train every task on the samples in use, and keep the record."""
        kernel, used = data.kernel, data.used
        with self._monitor() if shared is None else nullcontext(shared.monitor) as monitor:
            if shared is None:
                refuse_batch_dependence(kernel, data.samples)
                workspace = KernelWorkspace.of(
                    kernel, data.samples, monitor, self.cache_size, data.members
                )
            else:
                workspace = shared.workspace.share(monitor, 1, len(tasks))
                if len(used) < workspace.source.n_rows:
                    workspace = workspace.view(used)
            # fits that share a workspace hand kernel values on
            done = train_together(tasks, workspace) if shared is None else tasks
            others = [task for task in done if not isinstance(task, Trained)]
            rest = iter(self._solved(others, workspace) if others else ())
            trained = [each if isinstance(each, Trained) else next(rest) for each in done]
        _outcome.raise_interrupt(self, monitor)
        rows = [used if task.rows is None else used[task.rows] for task in tasks]
        self.model_ = model.assemble(
            self._problem,
            kernel,
            data.X,
            data.label,
            list(zip(rows, trained, strict=True)),
            data.classes,
            data.members is not None,
            shared is None or shared.vectors,
        )
        self.__dict__.pop("compression_", None)
        self.shape_fit_ = data.X.shape if hasattr(data.X, "shape") else (_num_samples(data.X),)
        converged = _outcome.warn_of(self.model_.certificates, self._describe)
        self.fit_status_ = int(not converged)
        return trained

    def _solved(self, tasks: Sequence[Any], workspace: KernelWorkspace) -> list[Trained]:
        """Train every task."""
        trained: list[Trained] = train_many(tasks, workspace)
        return trained

    def _decision_values(self, X: Any, precision: str = "float64") -> Floats:
        """Values of every decision function, one column each."""
        self._check_is_fitted()
        if precision != "float64":
            validate(PRECISION, {"precision": precision}, type(self).__name__)
        X = self._validate_X(X, reset=False)
        return labels.decision_values(self.model_, X, precision == "float32")

    def _check_is_fitted(self) -> None:
        """scikit-learn's check, which takes as long as predicting a few rows, where it may fail."""
        if "model_" not in self.__dict__:
            check_is_fitted(self)

    def _describe(self, status: Status, found: Sequence[Certificate], count: str) -> str | None:
        """The warning for problems that ended with a status, with the numbers that fell short."""
        if status is Status.STATIONARY and self.certificate_.convexity is not Convexity.INDEFINITE:
            return None
        early = (
            f"Solver terminated early (max_iter={self.max_iter}).  {SCALE} "
            if status is Status.MAX_ITER
            else ""
        )
        violation = max(part.kkt_violation for part in found) / self.model_.unit
        gap = max(part.relative_gap for part in found)
        return (
            f"{early}{status.message}{count} KKT violation {violation:.3g} (tol={self.tol:g}), "
            f"relative gap {gap:.3g} (10 tol={GAP * self.tol:g})."
        )
