"""Validation of labels, targets and weights."""

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, column_or_1d, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from maxmargin.core.arrays import Floats
from maxmargin.estimators._plain import plain_labels
from maxmargin.kernel.problems import weight_unit

WORDS_IN_Y = (
    "The targets y are words: a regression needs numbers, and words are classes (SVC, LinearSVC)."
)


def is_word_error(error: ValueError) -> bool:
    """Whether NumPy failed to convert a word to a number."""
    return "could not convert string to float" in str(error)


def numbers(y: Any) -> Floats:
    """Targets of a regression as float64."""
    try:
        return np.asarray(y, dtype=np.float64)
    except ValueError as error:
        if not is_word_error(error):
            raise
        raise ValueError(f"{error}. {WORDS_IN_Y}") from error


def encode(y: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Sorted classes and the labels as their positions."""
    plain = plain_labels(y)
    if not plain:
        y = column_or_1d(y, warn=True)
        refuse_mixed_labels(y)
        check_classification_targets(y)
    classes, label = (
        _sorted_integers(y) if plain and y.dtype.kind in "iu" else np.unique(y, return_inverse=True)
    )
    if plain and 2 * len(classes) >= len(y):
        check_classification_targets(y)  # warns of targets that look like those of a regression
    if len(classes) < 2:
        raise ValueError(
            f"The number of classes has to be greater than one; got {len(classes)} class"
        )
    return classes, label.astype(np.int64, copy=False)


def refuse_mixed_labels(y: Any) -> None:
    """Refuse labels of several kinds: they cannot be sorted, and a missing label is not a label."""
    if np.asarray(y).dtype.kind != "O":
        return
    first: dict[str, Any] = {}
    for label in np.asarray(y).ravel().tolist():
        kind = (
            "words"
            if isinstance(label, str)
            else "numbers"
            if isinstance(label, Real)
            else f"{type(label).__name__} objects"
        )
        first.setdefault(kind, label)
    if len(first) > 1:
        kinds = " and ".join(f"{kind} like {label!r}" for kind, label in first.items())
        raise ValueError(
            f"Unknown label type: y mixes {kinds}. Make all labels one kind, for example "
            "np.asarray(y, dtype=str), and fill in "
            "missing labels or drop their rows."
        )


def _sorted_integers(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """np.unique with its inverse, without sorting where integers are close together."""
    least, greatest = int(y.min()), int(y.max())
    span = greatest - least + 1
    if span > 2 * len(y) + 1000:
        return np.unique(y, return_inverse=True)
    shifted = (y - y.dtype.type(least)).astype(np.int64)
    occurs = np.bincount(shifted, minlength=span) > 0
    classes = (np.flatnonzero(occurs) + least).astype(y.dtype)
    return classes, shifted if len(classes) == span else (occurs.cumsum() - 1)[shifted]


def class_weights(
    asked: Any, classes: NDArray[Any], label: NDArray[np.int64], y: Any, weight: Floats
) -> Floats:
    """The weight of each class; "balanced" counts samples by their weights."""
    if asked is None:
        return np.ones(len(classes))
    if isinstance(asked, str):
        weight = weight / weight_unit(weight[weight > 0])  # sums stay finite
        mass = np.bincount(label, weights=weight, minlength=len(classes))
        return np.where(
            mass > 0, mass.sum() / (np.count_nonzero(mass) * np.where(mass > 0, mass, 1.0)), 1.0
        )
    values: Floats = np.asarray(
        compute_class_weight(asked, classes=classes, y=np.asarray(y).ravel()), dtype=np.float64
    )
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise ValueError(
            f"class_weight must be finite and >= 0, got {values.tolist()} for the classes "
            f"{classes.tolist()}."
        )
    return values


def finite_weight(sample_weight: Any, n: int) -> Floats:
    """Sample weights as float64: one for each sample, finite, not all zero."""
    if sample_weight is None and n > 0:
        return np.ones(n)
    if sample_weight is None or isinstance(sample_weight, Real):
        weight = np.full(n, 1.0 if sample_weight is None else float(sample_weight))
    else:
        weight = check_array(
            sample_weight,
            ensure_2d=False,
            dtype=np.float64,
            input_name="sample_weight",
            ensure_min_samples=0,
        )
    if weight.shape != (n,):
        raise ValueError(
            f"sample_weight and X have incompatible shapes: sample_weight.shape == {weight.shape}, "
            f"expected {(n,)}!"
        )
    if not np.isfinite(weight).all():
        raise ValueError("sample_weight contains NaN or infinity.")
    if not (weight > 0).any():
        raise ValueError("Invalid input - all samples have zero or negative weights.")
    return weight


def refuse_negative(weight: Floats) -> None:
    """Weights count copies of a sample."""
    if (weight < 0).any():
        raise ValueError(
            f"sample_weight has {int((weight < 0).sum())} negative values, the least is "
            f"{weight.min():g}. Weights count copies of a "
            "sample and must be >= 0; use 0 to leave a sample out."
        )


def validate_weight(sample_weight: Any, n: int) -> Floats:
    """Sample weights as float64: one for each sample, finite, none negative, not all zero."""
    weight = finite_weight(sample_weight, n)
    refuse_negative(weight)
    return weight
