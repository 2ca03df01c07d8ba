"""Labels of which some are unknown: -1 marks unlabelled samples, as in sklearn.semi_supervised."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from maxmargin.core.arrays import Floats, Mask
from maxmargin.estimators._targets import encode

UNLABELLED = -1


class PartialLabels(NamedTuple):
    """Labels of some of the samples."""

    classes: NDArray[Any]
    """Sorted."""
    label: NDArray[np.int64]
    """The position of its class for every labelled sample, -1 for the others."""

    @property
    def known(self) -> Mask:
        """Which samples have a label."""
        found: Mask = self.label >= 0
        return found

    def filled(self, position: NDArray[np.int64]) -> NDArray[Any]:
        """Labels of all samples: those that are known, and these positions for the others."""
        found: NDArray[Any] = self.classes[np.where(self.known, self.label, position)]
        return found


def read_labels(y: Any, weight: Floats) -> PartialLabels:
    """Labels and classes, of samples with these weights.

    Raises ValueError where fewer than two classes have a labelled sample of positive weight.
    """
    y = column_or_1d(y, warn=True)
    unknown = _unlabelled(y)
    if unknown.all():
        raise ValueError(
            f"all {len(y)} samples are unlabelled (-1): label at least one sample of each class."
        )
    kept = y[~unknown]
    if kept.dtype.kind == "O":
        kept = np.array(kept.tolist(), dtype=object)
    if unknown.any() and not (kept != kept[0]).any():
        raise ValueError(
            f"The number of classes has to be greater than one; got 1 class: all {len(kept)} "
            f"labelled samples are {kept.tolist()[0]!r}, and -1 marks the {int(unknown.sum())} "
            "unlabelled ones. Label samples of another class too; if -1 is a class, give it "
            "another name."
        )
    classes, position = encode(kept)
    label = np.full(len(y), UNLABELLED, np.int64)
    label[~unknown] = position
    present = np.unique(label[(weight > 0) & ~unknown])
    if len(present) < len(classes):
        lacking = np.setdiff1d(np.arange(len(classes)), present)
        raise ValueError(
            f"every class needs a labelled sample of positive weight: {classes[lacking].tolist()} "
            "have none. Leave their samples out."
        )
    return PartialLabels(classes, label)


def _unlabelled(y: NDArray[Any]) -> Mask:
    """Which labels are the number -1."""
    if y.dtype.kind in "US":
        if (y == "-1").any():
            raise ValueError(
                f"y holds the word '-1' {int((y == '-1').sum())} times: an array of words has no "
                "number -1 for unlabelled samples. Use np.array(labels, dtype=object)."
            )
        return np.zeros(len(y), bool)
    if y.dtype.kind == "O":
        found = [not isinstance(value, str) and bool(value == UNLABELLED) for value in y.tolist()]
        return np.array(found, bool)
    return np.asarray(y == UNLABELLED)


def class_shares(balance: Any, labels: PartialLabels, weight: Floats, unlabelled: int) -> Floats:
    """The share of each class among the unlabelled samples, given how many there are.

    By default it is that among the labelled ones, by weight.
    """
    n_classes, known = len(labels.classes), labels.known
    if balance is None:
        mass = np.bincount(labels.label[known], weight[known], minlength=n_classes)
        found: Floats = mass / mass.sum()
        return found
    if np.ndim(balance) == 0:
        if n_classes > 2:
            raise ValueError(
                f"balance={balance!r} is the share of the second of two classes, but there are "
                f"{n_classes}: give an array with the share of each class."
            )
        shares = np.array([1.0 - float(balance), float(balance)])
    else:
        shares = np.asarray(balance, dtype=np.float64)
    if shares.shape != (n_classes,):
        raise ValueError(
            f"balance has shape {shares.shape}, but there are {n_classes} classes: "
            f"{labels.classes.tolist()}."
        )
    if not (np.isfinite(shares).all() and (shares >= 0).all() and abs(shares.sum() - 1) < 1e-6):
        raise ValueError(
            f"balance={balance!r}: the shares of the classes must be >= 0 and add up to 1, got "
            f"{shares.tolist()}."
        )
    if unlabelled and (shares * unlabelled < 0.5).any():
        least = int(np.argmin(shares))
        raise ValueError(
            f"balance={balance!r} is infeasible: a share of {shares[least]:g} of {unlabelled} "
            f"unlabelled samples leaves none for class {labels.classes.tolist()[least]!r}. Every "
            f"class needs at least one, a share of {0.5 / unlabelled:.3g} or more."
        )
    return shares
