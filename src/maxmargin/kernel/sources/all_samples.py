"""What sources of a stored matrix of all samples share; parts read it by the numbers of their
rows.
"""

from maxmargin.core.arrays import Indices, Integers, Matrix
from maxmargin.kernel.sources.base import Source
from maxmargin.kernel.sources.native import NativeSource


class AllSamplesSource(Source):
    """Float64 values between all samples of a source, from a matrix with an entry for each pair."""

    def __init__(self, source: NativeSource, matrix: Matrix) -> None:
        self.source, self.backend, self.matrix = source, source.backend, matrix
        self.n_rows, self.n_columns = matrix.shape
        self.convex, self.value_error = source.convex, source.value_error

    def by_differences(self, rows: Indices = None) -> Source | None:
        return self.source.by_differences(rows)

    def suspects(self, count: int, among: Indices = None) -> Integers:
        return self.source.suspects(count, among)

    def _numbers(self, index: Indices) -> Integers:
        """Row numbers; None means all."""
        found: Integers = self.backend.xp.arange(self.n_rows) if index is None else index
        return found
