"""Fits on parts of the same samples that share their kernel values.

The values of each kernel are computed once, for all folds and for every C, epsilon and nu: a fold
is a view of the workspace of all samples. Squared distances are computed once for every gamma.
Decision values of test samples come from the same kernel values.

`FoldModel` is the model of one fold as a scorer of scikit-learn sees it: its samples are row
numbers.
"""

import threading
from collections import Counter, OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakValueDictionary, finalize

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, OutlierMixin, RegressorMixin
from sklearn.pipeline import make_pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples

from maxmargin.core.arrays import Floats, Integers, Matrix
from maxmargin.core.threads import one_blas_thread
from maxmargin.estimators._calibrated import method_of
from maxmargin.estimators._machine import KernelMachine, Shared
from maxmargin.kernel import labels
from maxmargin.kernel.cache import free_memory
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.sources import Scratch, SingleSource
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.model_selection.scaling import rows_of
from maxmargin.monitor import Monitor


class Settings(NamedTuple):
    """How much memory the kernel values of a search may take."""

    share: float = 0.5
    """Share of the free memory."""
    kernels: int = 2
    """Kernels, at most, whose values are expected to be in use at once: while the last folds of
    one are fitted, the next begins."""
    few: int = 3
    """With at most this many candidates of each kernel no values are stored: fits compute those
    that they need, which are less than all (decision 21)."""


SETTINGS = Settings()


class KernelStore:
    """The workspaces of some samples with the kernels last asked for, and those in use.

    Samples that were prepared come with what they were before and the fitted transformer. The
    memory of kernels that are no longer in use serves the next ones: fresh memory costs as much as
    the values in it.
    """

    def __init__(
        self,
        X: Any,
        budget: float,
        raw: Any = None,
        scaler: Any = None,
        kernels: int = SETTINGS.kernels,
    ) -> None:
        self.X, self._budget, self._kernels = X, budget, kernels
        self._in_use: WeakValueDictionary[Kernel, KernelWorkspace] = WeakValueDictionary()
        self._free: list[Matrix] = []
        self._here = threading.local()
        self.raw, self.scaler = X if scaler is None else raw, scaler
        self._base: KernelWorkspace | None = None
        self._kept: OrderedDict[Kernel, KernelWorkspace] = OrderedDict()
        self._lock = threading.Lock()

    def workspace(self, kernel: Kernel) -> KernelWorkspace:
        """All samples with this kernel; its values are stored if memory allows."""
        with self._lock:
            found = self._in_use.get(kernel)
            if found is None:
                while len(self._kept) >= self._kernels:
                    self._kept.popitem(last=False)
                self._in_use[kernel] = found = self._made(kernel)
            self._kept[kernel] = found
            self._kept.move_to_end(kernel)
            return found

    @property
    def scratch(self) -> Scratch:
        """The thread's memory for the values of one fold."""
        found: Scratch = self._here.__dict__.setdefault("scratch", Scratch())
        return found

    def _made(self, kernel: Kernel) -> KernelWorkspace:
        """A new workspace; distances for all gammas are kept by the first."""
        entries = _num_samples(self.X) ** 2
        fits = (8 + 12 * SETTINGS.kernels) * entries <= self._budget
        if self._base is None:
            self._base = KernelWorkspace.of(kernel, self.X, Monitor())
            if fits:
                self._base.keep_distances()
        found = self._base.with_kernel(kernel)
        if not fits or kernel.kind is Kind.PRECOMPUTED:
            return found
        if kernel.kind is Kind.CALLABLE:
            return found.of_values()
        found = found.stored(self._free.pop() if self._free else None)
        if isinstance(found.source, SingleSource):
            finalize(found.source, self._free.append, found.source.values)
        return found


def budget() -> float:
    """Bytes that kernel values may take."""
    return SETTINGS.share * free_memory()


def worth_storing(candidates: Sequence[dict[str, float]]) -> bool:
    """Whether a kernel has enough candidates for its values to be stored."""
    return max(Counter(one.get("gamma") for one in candidates).values()) > SETTINGS.few


class Fold(NamedTuple):
    """The training samples of a fold: their workspace, and that of all samples."""

    everything: KernelWorkspace
    workspace: KernelWorkspace
    train: Integers
    store: KernelStore | None = None
    memory: dict[str, Any] | None = None
    """What the first fit made of the data, for the others."""

    @classmethod
    def of(cls, store: KernelStore, kernel: Kernel, train: Integers) -> "Fold":
        """The fold of a store with one kernel: valid until the thread's next one."""
        everything = store.workspace(kernel)
        own = everything.view_in(store.scratch, train)
        if everything.source.stored:
            own.keep_views()
        return cls(everything, own, train, store, {})

    def samples(self, rows: Integers) -> Any:
        """Samples as they were given: of a precomputed kernel, values with the training samples."""
        assert self.store is not None
        given = self.everything.samples.kernel.kind is Kind.PRECOMPUTED
        return self.store.X[np.ix_(rows, self.train)] if given else rows_of(self.store.raw, rows)

    def model_of(self, machine: KernelMachine) -> Any:
        """A machine of this fold with its preparation."""
        scaler = None if self.store is None else self.store.scaler
        return machine if scaler is None else make_pipeline(scaler, machine)

    def fit(
        self,
        machine: KernelMachine,
        X: Any,
        y: Any,
        weight: Any,
        monitor: Monitor,
        starts: Floats | None = None,
        probabilities: bool = False,
        vectors: bool = True,
    ) -> "FoldModel":
        """Fit a machine on the training samples X, y, the same for all machines of the fold.

        Without its support vectors it has only the values that the fold gives it.
        """
        shared = Shared(self.workspace, monitor, starts, probabilities, self.memory, vectors)
        machine._fit(X, y, weight, shared)
        kind = next(kind for mixin, kind in KINDS.items() if isinstance(machine, mixin))
        return kind(machine, self)


class FoldModel(BaseEstimator):  # type: ignore[misc]
    """A fitted machine whose samples are row numbers of all samples."""

    def __init__(self, machine: KernelMachine, fold: Fold) -> None:
        self.machine, self.fold = machine, fold
        self._known: tuple[Integers, Floats] | None = None

    def __sklearn_is_fitted__(self) -> bool:
        """It is made by a fit."""
        return True

    def __sklearn_tags__(self) -> Any:
        """Those of the machine."""
        return self.machine.__sklearn_tags__()

    def values(self, rows: Integers) -> Floats:
        """Values of every decision function, one row each."""
        if self._known is None or self._known[0] is not rows:
            evaluate([self], rows)
        assert self._known is not None
        return self._known[1]

    def decision_function(self, rows: Integers) -> Floats:
        """As that of the machine."""
        found: Floats = self.machine._decision_of(self.values(rows).T)
        return found


def _has_probabilities(self: Any) -> bool:
    """Whether the machine learns probabilities."""
    return method_of(self.machine.probability) is not None


class ClassifierFold(ClassifierMixin, FoldModel):  # type: ignore[misc]
    """A classifier on row numbers."""

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels."""
        found: NDArray[Any] = self.machine.classes_
        return found

    def predict(self, rows: Integers) -> NDArray[Any]:
        """Labels, with ties decided as the machine decides them."""
        machine = self.machine
        position = labels.winners(machine.model_, self.values(rows), machine.break_ties)
        found: NDArray[Any] = machine.classes_[position]
        return found

    def score(self, rows: Integers, y: NDArray[Any], sample_weight: Any = None) -> float:
        """The accuracy, as scikit-learn computes it, of labels that need no validation."""
        return float(np.average(self.predict(rows) == y, weights=sample_weight))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, rows: Integers) -> Floats:
        """Probabilities of the classes."""
        found: Floats = self.machine._probabilities_of(self.values(rows).T)
        return found


class RegressorFold(RegressorMixin, FoldModel):  # type: ignore[misc]
    """A regressor on row numbers."""

    def predict(self, rows: Integers) -> Floats:
        """Values of the function."""
        found: Floats = self.values(rows)[0]
        return found

    def score(self, rows: Integers, y: Floats, sample_weight: Any = None) -> float:
        """R^2, as scikit-learn computes it, of targets that need no validation."""
        z, f = y[:, None], self.predict(rows)[:, None]
        weight = 1.0 if sample_weight is None else sample_weight[:, None]
        error = np.sum(weight * (z - f) ** 2, axis=0)
        spread = np.sum(weight * (z - np.average(z, axis=0, weights=sample_weight)) ** 2, axis=0)
        if len(y) < 2 or not (error > 0 and spread > 0):  # it knows what to do
            return float(super().score(rows, y, sample_weight))
        return float((1 - error / spread)[0])


class OutlierFold(OutlierMixin, FoldModel):  # type: ignore[misc]
    """An outlier detector on row numbers."""

    def predict(self, rows: Integers) -> NDArray[np.int64]:
        """+1 for inliers, -1 for outliers."""
        return np.where(self.values(rows)[0] >= 0, 1, -1)


def evaluate(models: Sequence[FoldModel], rows: Integers) -> None:
    """Decision values of several models of one fold, in one pass over the kernel values."""
    fold = models[0].fold
    coefs = [np.zeros((len(one.machine.model_.intercept), len(fold.train))) for one in models]
    for coef, one in zip(coefs, models, strict=True):
        coef[:, one.machine.model_.rows] = one.machine.model_.columns()
    together = np.concatenate(coefs)
    support, source = np.flatnonzero(together.any(axis=0)), fold.everything.source
    coef, own = np.ascontiguousarray(together[:, support].T), fold.train[support]
    out = np.zeros((len(together), len(rows)))
    if source.stored:
        with one_blas_thread():
            out += coef.T @ source.block(own, rows, np.float64)
    else:
        source.add_product(own, coef, rows, out, np.float64)
    ends = np.cumsum([len(coef) for coef in coefs])[:-1]
    for one, values in zip(models, np.split(out, ends), strict=True):
        one._known = rows, values + one.machine.model_.intercept[:, None]


KINDS: dict[type, type[FoldModel]] = {
    ClassifierMixin: ClassifierFold,
    RegressorMixin: RegressorFold,
    OutlierMixin: OutlierFold,
}
