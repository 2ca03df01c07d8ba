"""Sums of kernels: the values of several sources, each with a weight."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from maxmargin.core.arrays import Floats, Indices, Matrix
from maxmargin.kernel.sources.base import Source


class Term(NamedTuple):
    """A source and the weight of its values."""

    weight: float
    source: Source


class SumSource(Source):
    """The weighted sum of sources of the same samples; terms of weight 0 are not computed."""

    def __init__(self, terms: Sequence[Term]) -> None:
        first = terms[0].source
        self.terms = [term for term in terms if term.weight > 0]
        self.n_rows, self.n_columns, self.backend = first.n_rows, first.n_columns, first.backend
        sources = [term.source for term in self.terms]
        if all(np.float32 in source.dtypes for source in sources):
            self.dtypes = (np.float32, np.float64)
        self.precision = max([self.precision, *(source.precision for source in sources)])
        self.convex = all(source.convex for source in sources)
        self.value_error = sum(weight * source.value_error for weight, source in self.terms)

    def by_differences(self) -> Source | None:
        better = [source.by_differences() for _, source in self.terms]
        if all(one is None for one in better):
            return None
        return SumSource(
            [
                Term(weight, source if other is None else other)
                for (weight, source), other in zip(self.terms, better, strict=True)
            ]
        )

    def block(self, a: Indices, b: Indices, dtype: DTypeLike) -> Matrix:
        xp = self.backend.xp
        rows = self.n_rows if a is None else len(a)
        total: Matrix = xp.zeros((rows, self.n_columns if b is None else len(b)), dtype)
        for weight, source in self.terms:
            total += xp.multiply(source.block(a, b, dtype), weight, dtype=dtype)
        return total

    def add_product(
        self, a: Indices, coef: Matrix, b: Indices, out: Floats, dtype: DTypeLike
    ) -> None:
        for weight, source in self.terms:
            source.add_product(
                a, self.backend.xp.multiply(coef, weight, dtype=coef.dtype), b, out, dtype
            )


def columns_of(X: Any, columns: Sequence[int] | None) -> Any:
    """Some features of samples, as the core takes them."""
    if X is None or columns is None:
        return X
    if max(columns) >= X.shape[1]:
        raise ValueError(
            f"A term of the kernel sees column {max(columns)} (counted from 0), but X has "
            f"{X.shape[1]} columns."
        )
    part = X[:, list(columns)]
    if sparse.issparse(part):
        part = part.tocsr()
        part.sort_indices()
        return part
    return np.ascontiguousarray(part)
