"""What prediction asks a machine for, beside backend.py: expansions that stay the same.

The defaults are plain; a backend may replace them by faster ones, both or none.
"""

import math
from typing import Any

from numpy.typing import DTypeLike

from maxmargin.core.arrays import Floats, Integers, Matrix
from maxmargin.core.backend import Backend, KernelTuple

HALF_TO_THE_HALF_SQUARE: KernelTuple = (2, math.log(2) / 2, 0.0, 0)
"""2^(-|x - z|^2 / 2)."""


class PredictionBackend(Backend):
    """The functions of prediction."""

    def expansion(
        self,
        Z: Floats,
        begin: Integers,
        coef: Floats,
        centre: Floats,
        scale: float,
        dtype: DTypeLike,
    ) -> Any:
        """The functions sum_j coef_jc 2^(-|x' - z'_j|^2 / 2), x' = (x - centre) scale, packed.

        The groups of points are those of `kernel_products`; values are of type ``dtype``.
        """
        points = self.points(self.xp.asarray((Z - centre) * scale, dtype=dtype))
        return begin, self.xp.array(coef, dtype=dtype), centre, scale, points

    def expansion_sums(
        self, expansion: Any, X: Matrix, out: Floats, halves: Floats | None, work: float
    ) -> None:
        """out = each group's sums at the rows of X; ``halves`` = |x'|^2 / 2, where given.

        ``work`` counts multiply-adds. Raises NotFinite, for rows where no ``halves`` show it.
        """
        begin, coef, centre, scale, A = expansion
        out[:] = 0.0
        B = self.points(self.xp.asarray((X - centre) * scale, dtype=coef.dtype))
        self.kernel_products(HALF_TO_THE_HALF_SQUARE, A, begin, coef, B, out)
        if halves is not None:
            halves[:] = B.norms / 2
