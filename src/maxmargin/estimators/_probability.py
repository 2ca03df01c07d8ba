"""Probabilities of the kernel classifiers, from decision values of samples left out of the fit.

kernel/left_out.py has these values, _calibrated.py what is learnt from them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from maxmargin.core.arrays import Floats, Integers
from maxmargin.estimators._calibrated import (
    Calibrated,
    PairValues,
    learnt,
    method_of,
    of_classes,
)
from maxmargin.estimators._machine import KernelMachine, TrainingSet
from maxmargin.estimators._warnings import warn
from maxmargin.kernel import labels, multiclass
from maxmargin.kernel.kernels import Kind
from maxmargin.kernel.left_out import Left, TaskLeavingOut
from maxmargin.kernel.training import Constant, Task, Trained

PIECE = 2**16
"""Numbers that are multiplied at once: they stay in the cache."""


def leaving_out(
    tasks: Sequence[Task | Constant], left: Left
) -> list[Task | TaskLeavingOut | Constant]:
    """The same problems, whose samples are also left out."""
    return [
        one
        if isinstance(one, Constant)
        else TaskLeavingOut(one, left if one.rows is None else left.pick(one.rows))
        for one in tasks
    ]


def sample_keys(kind: Kind | None, X: Any, seed: Any, dtype: DTypeLike = np.float32) -> Integers:
    """A number for each sample that depends on its features, in one precision, and the seed alone.

    Sparse and dense samples have the same numbers. In single precision, features that differ by
    rounding have, too. Samples that are not features, but objects or rows of a kernel matrix, have
    numbers by their position.
    """
    random = check_random_state(0 if seed is None else seed)
    numbers = sparse.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2)
    if kind is Kind.PRECOMPUTED or not numbers or X.dtype.kind not in "fiub":
        return np.asarray(random.permutation(_num_samples(X)))
    factor = random.randint(0, 2**63 - 1, X.shape[1], np.int64).astype(np.uint64) * 2 + 1
    if sparse.issparse(X):
        X = X.tocsr()
        sums = np.zeros(X.nnz + 1, np.uint64)
        np.cumsum(_bits(X.data, dtype) * factor[X.indices], out=sums[1:])
        return _mixed(sums[X.indptr[1:]] - sums[X.indptr[:-1]])
    step = max(1, PIECE // max(1, X.shape[1]))
    parts = [_bits(X[i : i + step], dtype) * factor for i in range(0, len(X), step)]
    return _mixed(np.concatenate([part.sum(axis=1, dtype=np.uint64) for part in parts]))


def _bits(values: NDArray[Any], dtype: DTypeLike) -> NDArray[np.uint64]:
    """The bits of numbers in one precision; 0 has none, and -0 becomes it."""
    with np.errstate(over="ignore"):
        rounded = values.astype(dtype) + 0.0
    return rounded.view(f"u{rounded.itemsize}").astype(np.uint64)


def _mixed(keys: NDArray[np.uint64]) -> Integers:
    """Numbers whose order tells nothing about the sums that they are made of (splitmix64)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        keys ^= keys >> np.uint64(shift)
        keys *= np.uint64(factor)
    keys ^= keys >> np.uint64(31)
    return keys.view(np.int64)


class GivesProbabilities(Calibrated, KernelMachine):
    """Learning and predicting probabilities of a kernel classifier."""

    @property
    def probA_(self) -> Floats:
        """Platt's slopes of each pair of classes, as LIBSVM's files hold them; empty without.

        ``predict_proba`` uses them for ``probability="sigmoid"``, and for models of such files.
        """
        check_is_fitted(self)
        found: Floats = self.model_.prob_a
        return found

    @property
    def probB_(self) -> Floats:
        """Platt's constants, as ``probA_``."""
        check_is_fitted(self)
        found: Floats = self.model_.prob_b
        return found

    def _function_values(self, X: Any) -> Floats:
        return self._decision_values(X)

    def _winners(self, values: Floats) -> Integers:
        return labels.winners(self.model_, values.T, self.break_ties)

    def _left(self, data: TrainingSet) -> Left | None:
        """How the samples in use are left out."""
        key = sample_keys(data.kernel.kind, data.samples, self.random_state)
        return Left.of(key, data.label[data.used])

    def _learn_probabilities(
        self, data: TrainingSet, trained: Sequence[Trained], weight: Floats
    ) -> None:
        """The sigmoid or step function of each pair, from decision values of samples left out."""
        assert data.classes is not None
        label, n_classes = data.label[data.used], len(data.classes)
        if self.model_.pairs or n_classes == 2:
            tasks = multiclass.tasks(label, n_classes, one_vs_rest=False)
            parts = [
                PairValues(_held_out(one, len(rows)), side, weight[rows], _moved(one, len(rows)))
                for (rows, side), one in zip(tasks, trained, strict=True)
            ]
        else:
            values = np.column_stack([_held_out(one, len(label)) for one in trained])
            moved = np.column_stack([_moved(one, len(label)) for one in trained])
            parts = of_classes(values, label, weight, moved)
        method = method_of(self.probability)
        assert method is not None
        self.model_ = learnt(self.model_, parts, method, len(np.unique(label)))
        early = sum(one.held_out_early for one in trained)
        if early and all(one.status.converged for one in trained):
            warn(
                "A limit ended the training of machines on parts of the samples early, and "
                f"probabilities come from them ({early} of {len(trained)} problems). Raise "
                "max_iter or time_limit.",
                ConvergenceWarning,
            )


def _held_out(trained: Trained, n: int) -> Floats:
    """The values of samples left out; those of a constant, 0 of a problem without a solution."""
    if trained.held_out is not None:
        return trained.held_out
    return np.full(n, trained.decision.intercept)


def _moved(trained: Trained, n: int) -> Integers:
    """Which of these values moved, as numbers."""
    return np.ones(n, np.int64) if trained.moved is None else trained.moved.astype(np.int64)
