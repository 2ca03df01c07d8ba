"""predict_proba of the kernel classifiers: Platt's sigmoids, fitted to out-of-fold decision values.

calibration.py has the formulas, kernel/held_out.py the folds.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from maxmargin import calibration
from maxmargin.core.arrays import Floats, Integers
from maxmargin.estimators._machine import KernelMachine, TrainingSet
from maxmargin.estimators._warnings import warn
from maxmargin.estimators.libsvm_layout import libsvm_sign
from maxmargin.kernel import labels, multiclass
from maxmargin.kernel.held_out import folds_of, ranks_of
from maxmargin.kernel.kernels import Kind
from maxmargin.kernel.left_out import Left, TaskLeavingOut
from maxmargin.kernel.training import Constant, Task, Trained

CERTAIN = 50.0
"""B of a pair one of whose classes has no weight: the other is certain."""


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


def sample_keys(kind: Kind | None, X: Any, seed: Any) -> Integers:
    """A number for each sample that depends on its features and the seed alone.

    Sparse and dense samples, in single and double precision, have the same numbers. Samples that
    are not features, but objects or rows of a kernel matrix, have numbers by their position.
    """
    random = check_random_state(0 if seed is None else seed)
    numbers = sparse.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2)
    if kind is Kind.PRECOMPUTED or not numbers or X.dtype.kind not in "fiub":
        return np.asarray(random.permutation(_num_samples(X)))
    factor = random.randint(0, 2**63 - 1, X.shape[1], np.int64).astype(np.uint64) * 2 + 1
    if sparse.issparse(X):
        X = X.tocsr()
        terms = _mixed(X.data) * factor[X.indices]
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)])
        return np.asarray(sums[X.indptr[1:]] - sums[X.indptr[:-1]]).view(np.int64)
    step = max(1, 2**20 // max(1, X.shape[1]))
    parts = [_mixed(X[i : i + step]) * factor for i in range(0, len(X), step)]
    return np.concatenate([part.sum(axis=1, dtype=np.uint64) for part in parts]).view(np.int64)


def _mixed(values: NDArray[Any]) -> NDArray[np.uint64]:
    """The bits of numbers in double precision, mixed (splitmix64); 0 stays 0, and -0 becomes it."""
    bits = (values.astype(np.float64) + 0.0).view(np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    mixed: NDArray[np.uint64] = bits ^ (bits >> np.uint64(31))
    return mixed


def _has_probabilities(self: Any) -> bool:
    """Whether probabilities were asked for, or came with a model file."""
    record = self.__dict__.get("model_")
    if self.probability is True or (record is not None and len(record.prob_b)):
        return True
    raise AttributeError("predict_proba is not available when probability=False")


class GivesProbabilities(KernelMachine):
    """Learning and predicting probabilities."""

    @property
    def probA_(self) -> Floats:
        """Platt's slopes of each pair of classes; empty for a model without probabilities."""
        check_is_fitted(self)
        return self.model_.prob_a

    @property
    def probB_(self) -> Floats:
        """Platt's constants, as ``probA_``."""
        check_is_fitted(self)
        return self.model_.prob_b

    def _refuse_probabilities(self, n_classes: int) -> None:
        """Probabilities of several classes come from their pairs."""
        if self.multiclass == "ovr" and n_classes > 2:
            raise ValueError(
                "probability=True needs multiclass='ovo': probabilities of several classes come "
                f"from pairs of classes, and multiclass='ovr' trains none. y has {n_classes} "
                "classes."
            )

    def _left(self, data: TrainingSet) -> Left:
        """How the samples in use are left out."""
        key = sample_keys(data.kernel.kind, data.samples, self.random_state)
        label = data.label[data.used]
        rank = ranks_of(key, label)
        return Left(folds_of(key, label, rank), rank)

    def _learn_probabilities(
        self, data: TrainingSet, trained: Sequence[Trained], weight: Floats
    ) -> None:
        """The sigmoid of each pair, from the decision values of the samples held out."""
        assert data.classes is not None
        label, sign = data.label[data.used], libsvm_sign(self.model_)
        tasks = multiclass.tasks(label, len(data.classes), one_vs_rest=False)
        present = len(np.unique(label))
        found = []
        for (rows, side), one in zip(tasks, trained, strict=True):
            if (side > 0).all() or (side < 0).all():
                found.append((0.0, -sign * float(np.sign(side.sum())) * CERTAIN))
                continue
            values = np.zeros(len(rows)) if one.held_out is None else one.held_out
            known = np.isfinite(values)
            shared = calibration.representing(weight[rows], side, known)
            values, first = sign * values[known], sign * side[known] > 0
            found.append(calibration.fit_sigmoid(values, first, shared, present))
        a, b = np.array(found).T.copy()
        self.model_ = replace(self.model_, prob_a=a, prob_b=b)
        early = sum(one.held_out_early for one in trained)
        if early and all(one.status.converged for one in trained):
            warn(
                "A limit ended the training of machines on parts of the samples early, and "
                f"probabilities come from them ({early} of {len(trained)} problems). Raise "
                "max_iter or time_limit.",
                ConvergenceWarning,
            )

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes.

        They are learnt from decision values of samples that a machine was not trained on, in five
        folds (``maxmargin.calibration``). The most probable class is always that of ``predict``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; (n_samples, n_samples_fit) kernel values for ``kernel="precomputed"``.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            One column for each of ``classes_``; rows sum to 1.
        """
        check_is_fitted(self)
        if not len(self.model_.prob_b):
            raise NotFittedError(
                "predict_proba is not available when fitted with probability=False: fit again."
            )
        return self._probabilities_of(self._decision_values(X))

    def _probabilities_of(self, values: Floats) -> Floats:
        """predict_proba from the values of every decision function, one column each."""
        record = self.model_
        p = calibration.pair_probabilities(
            libsvm_sign(record) * values, record.prob_a, record.prob_b, len(self.classes_)
        )
        return calibration.agreeing(p, labels.winners(record, values.T, self.break_ties))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for ``predict_proba``.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
        """
        found: Floats = np.log(self.predict_proba(X))
        return found
