"""What the checks of fitted records share: native code must never read one that was altered."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

INVALID = (AttributeError, TypeError, ValueError, IndexError)
"""What reading an altered record raises."""
FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def refuse_altered(name: str, consistent: Callable[[Any], bool], record: Any) -> None:
    """Raise ValueError, which names the estimator, unless the record is consistent."""
    try:
        good = consistent(record)
    except INVALID:
        good = False
    if not good:
        raise ValueError(f"The internal representation of {name} was altered")


def is_finite(values: Any, shape: tuple[int, ...], dtypes: tuple[Any, ...] = FLOATS[:1]) -> bool:
    """Whether values are finite floats of this shape, of float64 unless others are given."""
    return bool(values.shape == shape and values.dtype in dtypes and np.isfinite(values).all())


def is_matrix(values: Any, shape: tuple[int, ...], dtypes: tuple[Any, ...] = FLOATS[:1]) -> bool:
    """The same for an array or a CSR matrix, whose indices SciPy itself trusts."""
    if sparse.issparse(values):
        values.check_format(full_check=True)
    numbers = values.data if sparse.issparse(values) else values
    return bool(values.shape == shape and is_finite(numbers, numbers.shape, dtypes))


def count_functions(classes: NDArray[Any] | None) -> int:
    """Number of decision functions: one for two classes, else one for each class.

    A model without labels has one.
    """
    if classes is None:
        return 1
    if classes.ndim != 1 or len(classes) < 2:
        raise ValueError("labels")
    return 1 if len(classes) == 2 else len(classes)
