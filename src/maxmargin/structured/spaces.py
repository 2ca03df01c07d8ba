"""Where weights live: feature spaces whose elements are arrays.

Sums and multiples of elements are those of the arrays. A space adds the inner product, and the two
maps between weights and the scores of the samples:

    scores(v)_i  = <v, phi(x_i)>
    element(t)   = sum_i t_i phi(x_i)          so that  <element(t), v> = sum_i t_i scores(v)_i

With several columns (one function for each class) v holds a weight vector for each of them, and
scores and t are matrices with a row for each sample.
"""

from abc import ABC, abstractmethod

import numpy as np

from maxmargin.core.arrays import Floats
from maxmargin.kernel.sources import Source
from maxmargin.linear.designs import ArrayDesign, Design


class Space(ABC):
    """A vector space with an inner product."""

    size: int
    """Numbers of an element."""

    @abstractmethod
    def dots(self, V: Floats, v: Floats) -> Floats:
        """Inner products of the elements in the rows of V with v."""

    def square(self, v: Floats) -> float:
        """<v, v>."""
        return float(self.dots(v[None, :], v)[0])

    def scores(self, v: Floats) -> Floats:
        """<v, phi(x_i)> of every sample."""
        raise TypeError(f"{type(self).__name__} has no samples.")

    def element(self, t: Floats) -> Floats:
        """The sum of t_i phi(x_i)."""
        raise TypeError(f"{type(self).__name__} has no samples.")


class WeightSpace(Space):
    """Plain vectors: the space of a joint feature map."""

    def __init__(self, size: int) -> None:
        self.size = size

    def dots(self, V: Floats, v: Floats) -> Floats:
        found: Floats = V @ v
        return found


class LinearSpace(WeightSpace):
    """Weights of the features: scores are products with the data."""

    def __init__(self, design: Design, columns: int = 1) -> None:
        super().__init__(columns * design.shape[1])
        self.design, self.columns = design, columns

    def scores(self, v: Floats) -> Floats:
        """X v; with several columns X V', v holding the rows of V."""
        if self.columns == 1:
            return self.design.values(v)
        W = v.reshape(self.columns, -1)
        if isinstance(self.design, ArrayDesign):
            return self.design.values_of_all(W)
        return np.column_stack([self.design.values(w) for w in W])

    def element(self, t: Floats) -> Floats:
        """X't; with several columns one after the other."""
        if self.columns == 1:
            return self.design.sum(t)
        return np.concatenate([self.design.sum(np.ascontiguousarray(one)) for one in t.T])


class KernelSpace(Space):
    """Functions of a kernel: coefficients of the samples and, behind them, their scores K t.

    Scores of a sum are sums of scores: only a new element needs kernel values.
    """

    def __init__(self, source: Source, columns: int = 1) -> None:
        self.source, self.columns = source, columns
        self.half = columns * source.n_rows
        self.size = 2 * self.half

    def dots(self, V: Floats, v: Floats) -> Floats:
        found: Floats = V[:, : self.half] @ v[self.half :]
        return found

    def coefficients(self, v: Floats) -> Floats:
        """The coefficients of the samples, in the shape of scores."""
        return self._shaped(v[: self.half])

    def scores(self, v: Floats) -> Floats:
        """The scores that v holds."""
        return self._shaped(v[self.half :])

    def element(self, t: Floats) -> Floats:
        """t and K t."""
        columns = t.reshape(-1, self.columns)
        used = np.flatnonzero(columns.any(axis=1))
        out = np.zeros((self.columns, self.source.n_columns))
        if len(used):
            coef = np.ascontiguousarray(columns[used])
            self.source.add_product(used, coef, None, out, np.float64)
        return np.concatenate([t.ravel(), out.T.ravel()])

    def _shaped(self, flat: Floats) -> Floats:
        return flat if self.columns == 1 else flat.reshape(-1, self.columns)
