"""An array that grows by appending; its memory is enlarged in place if the system can do so."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

GROWTH = 1.5


class Growing:
    """Values that arrive in pieces.

    Memory is reserved for `expected` pieces as large as the first.
    """

    def __init__(self, dtype: DTypeLike, expected: float = 1.0) -> None:
        self._array: NDArray[Any] = np.empty(0, dtype)
        self._count, self._growth = 0, max(expected, GROWTH)

    def append(self, more: NDArray[Any]) -> None:
        """Copy a piece to the end."""
        needed = self._count + len(more)
        if needed > len(self._array):
            self._array.resize(max(needed, int(self._growth * needed)), refcheck=False)
            self._growth = GROWTH
        self._array[self._count : needed] = more
        self._count = needed

    def whole(self) -> NDArray[Any]:
        """Return the values; nothing can be appended afterwards."""
        self._array.resize(self._count, refcheck=False)
        return self._array
