"""predict_proba of every classifier, and how its probabilities are learnt from decision values.

calibration.py has the formulas of coupled pairs, sigmoid.py and isotonic.py those of one pair.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from maxmargin import calibration, isotonic, sigmoid
from maxmargin.core.arrays import Floats, Integers
from maxmargin.estimators._options import StrOptions
from maxmargin.estimators.libsvm_layout import libsvm_sign
from maxmargin.kernel import multiclass

OPTIONS = ["boolean", StrOptions({"bent", "sigmoid", "isotonic"})]
"""What the parameter ``probability`` may be."""
CERTAIN = 50.0
"""B of a pair one of whose classes has no weight: the other is certain."""


def method_of(probability: Any) -> str | None:
    """ "bent", "sigmoid", "isotonic", or None where no probabilities are asked for."""
    if isinstance(probability, str):
        return None if probability == "deprecated" else probability
    return "bent" if probability else None


class PairValues(NamedTuple):
    """Decision values of samples left out of a machine that separates two classes."""

    values: Floats
    """NaN for samples that were not left out."""
    side: Floats
    """Positive where a sample belongs on the side of positive values."""
    weight: Floats
    moved: Any
    """Which values differ from those of the machine of all samples: a number for each."""


def pair_values(values: Floats, n_classes: int, pairs: bool) -> Floats:
    """Values of every pair of classes from those of every function, one column each.

    Where each class has a function, f_i - f_j is the value of the pair i, j.
    """
    if n_classes == 2 or pairs:
        return values
    first, second = np.array(multiclass.pairs(n_classes)).T
    return values[:, first] - values[:, second]


def of_classes(
    values: Floats, label: Integers, weight: Floats, moved: NDArray[Any]
) -> list[PairValues]:
    """The values of every pair where each class has a function, one column each."""
    n_classes = values.shape[1]
    members = multiclass.members_of(label, n_classes)
    found = []
    for i, j in multiclass.pairs(n_classes):
        rows = np.concatenate([members[i], members[j]])
        side = np.repeat([1.0, -1.0], [len(members[i]), len(members[j])])
        which = moved[rows, i] + 2 * moved[rows, j]
        found.append(PairValues(values[rows, i] - values[rows, j], side, weight[rows], which))
    return found


def learnt(model: Any, parts: Sequence[PairValues], method: str, present: int) -> Any:
    """The record with probabilities of each pair; ``present`` classes have samples."""
    sign, sigmoids, bent, points = libsvm_sign(model), [], [], []
    for values, side, weight, moved in parts:
        if (side > 0).all() or (side < 0).all():
            certain = float(np.sign(side.sum()))
            sigmoids.append((0.0, -sign * certain * CERTAIN))
            bent.append((0.0, 0.0, 1.0, sigmoids[-1][1]))
            points.append((np.zeros(1), np.array([float(certain > 0)])))
            continue
        known = np.isfinite(values)
        which = (side > 0).astype(np.int64)
        shared = calibration.representing(weight, (moved + 4 * which, which), known)
        side, values = side[known], values[known]
        if method == "isotonic":
            t = calibration.targets(side > 0, shared, present)
            points.append(isotonic.fit(values, t, shared))
            continue
        values, first = sign * values, sign * side > 0
        sigmoids.append(calibration.fit_sigmoid(values, first, shared, present))
        if method == "bent":
            t = calibration.targets(first, shared, present)
            bent.append(sigmoid.fit_bent(values, t, shared, sigmoids[-1]))
    if method == "isotonic":
        return replace(model, isotonic=isotonic.joined(points))
    a, b = np.array(sigmoids).T.copy()
    return replace(
        model, prob_a=a, prob_b=b, bent=sigmoid.joined(bent) if method == "bent" else None
    )


def probabilities(model: Any, values: Floats) -> Floats:
    """Probabilities of the classes from the values of every function, before any label is known."""
    n_classes = len(model.classes)
    found = pair_values(values, n_classes, getattr(model, "pairs", False))
    if model.isotonic is not None:
        r = isotonic.evaluate(model.isotonic, found)
        r = 1 - r if n_classes == 2 else r
    elif model.bent is not None:
        r = sigmoid.evaluate(model.bent, libsvm_sign(model) * found)
    else:
        r = sigmoid.plain(libsvm_sign(model) * found, model.prob_a, model.prob_b)
    return calibration.coupled(r, n_classes)


def has_probabilities(model: Any) -> bool:
    """Whether a record has what predict_proba needs."""
    return len(model.prob_b) > 0 or model.isotonic is not None


def _may_predict(self: Any) -> bool:
    """Whether probabilities were asked for, or came with a model file."""
    record = self.__dict__.get("model_")
    if method_of(self.probability) is not None or (
        record is not None and has_probabilities(record)
    ):
        return True
    raise AttributeError("predict_proba is not available when probability=False")


class Calibrated(BaseEstimator):  # type: ignore[misc]
    """Probabilities of a classifier whose record has them."""

    model_: Any
    classes_: NDArray[Any]

    @abstractmethod
    def _function_values(self, X: Any) -> Floats:
        """Values of every decision function, one column each."""

    @abstractmethod
    def _winners(self, values: Floats) -> Integers:
        """Positions in classes_ of the labels that predict gives samples with these values."""

    @available_if(_may_predict)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes.

        They are learnt from decision values of samples that the machine was not trained on
        (``maxmargin.calibration``). The most probable class is always that of ``predict``.

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
        if not has_probabilities(self.model_):
            raise NotFittedError(
                "predict_proba is not available when fitted with probability=False: fit again."
            )
        return self._probabilities_of(self._function_values(X))

    def _probabilities_of(self, values: Floats) -> Floats:
        """predict_proba from the values of every decision function, one column each."""
        return calibration.agreeing(probabilities(self.model_, values), self._winners(values))

    @available_if(_may_predict)  # type: ignore[untyped-decorator]
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
