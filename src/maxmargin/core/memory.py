"""Arrays as native code reads them."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

import maxmargin.core._cpu as _cpu  # compiled: it has no types


def contiguous(values: Any, dtype: DTypeLike | None = None) -> NDArray[Any]:
    """The values in C's order and at an aligned address; a copy where they lie otherwise."""
    array = np.ascontiguousarray(values, dtype)
    return array if array.flags.aligned else array.copy()


def fingerprint(array: NDArray[Any]) -> int:
    """A number that changes when the contiguous array's memory does."""
    return int(_cpu.fingerprint(array))
