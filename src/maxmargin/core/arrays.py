"""Names for the types of arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]
Matrix = NDArray[Any]
"""Values in float32 or float64."""
Indices = NDArray[np.int64] | None
"""Numbers of points or rows; None is all of them."""
