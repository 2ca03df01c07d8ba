"""X' diag(weight) X for one vector of weights after another.

Newton steps of semismooth.py and lasso.py need this matrix for weights (the curvatures of the
losses) that change little from step to step. It is kept, and only the samples whose weight changed
are read.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers
from maxmargin.linear.designs import Design

Product = Callable[[Floats, Integers], Floats]
"""X' diag(weight) X over the rows listed, weights not negative."""


class Settings(NamedTuple):
    """When a weight has changed, and when rounding has added up (decision 15)."""

    same: float = 1e-12
    """Weights that differ by less, relative to the largest, are equal."""
    updates: int = 30
    """Updates after which the matrix is computed from all samples again."""


SETTINGS = Settings()


class IncrementalGram:
    """X' diag(weight) X, updated by the samples whose weight changed."""

    def __init__(self, product: Product, rebuild_above: float) -> None:
        self.product = product
        self.rebuild_above = rebuild_above
        """Changed samples, as a share of those of positive weight, above which the matrix is
        computed from all samples again."""
        self.weight: Floats | None = None
        self.matrix: Floats
        self.updates = 0

    def of(self, weight: Floats) -> Floats:
        """The matrix for these weights, one for each sample."""
        return self._of(weight, float(weight.max(initial=0.0)))

    def _of(self, weight: Floats, largest: float) -> Floats:
        change = weight if self.weight is None else weight - self.weight
        least = SETTINGS.same * largest
        up, down = np.flatnonzero(change > least), np.flatnonzero(change < -least)
        many = len(up) + len(down) > self.rebuild_above * np.count_nonzero(weight)
        if self.weight is None or many or self.updates >= SETTINGS.updates:
            rows = np.flatnonzero(weight)
            self.matrix, self.updates = self.product(weight[rows], rows), 0
        else:
            for sign, some in ((1.0, up), (-1.0, down)):
                if len(some):
                    self.matrix = self.matrix + sign * self.product(sign * change[some], some)
            self.updates += 1
        self.weight = weight
        return self.matrix

    def of_scaled(self, weight: Floats) -> Floats:
        """The same, relative to the largest weight.

        If all weights change in proportion, no sample is read again.
        """
        largest = float(weight.max(initial=0.0))
        return largest * (self._of(weight / largest, 1.0) if largest > 0 else self._of(weight, 0.0))


def with_bias(design: Design, column: float) -> Product:
    """The product of [X, column]: the last row and column belong to the bias."""

    def product(weight: Floats, rows: Integers) -> Floats:
        d = design.shape[1]
        H = np.zeros((d + 1, d + 1))
        if d > 0:
            H[:d, :d] = design.gram(weight, rows)
            H[:d, d] = H[d, :d] = column * design.sum(weight, rows)
        H[d, d] = column**2 * float(weight.sum())
        return H

    return product
