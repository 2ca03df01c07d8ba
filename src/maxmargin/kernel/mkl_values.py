"""The values of several kernels on the same samples, and their weighted sums."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats
from maxmargin.kernel.cache import free_memory
from maxmargin.kernel.sources import MatrixSource, Source
from maxmargin.kernel.sources.sums import SumSource, Term


class Settings(NamedTuple):
    """How values are kept (decision 32)."""

    memory: float = 0.5
    """Share of the free memory that stored kernel values may take; beyond they are computed when
    they are needed."""
    entries: int = 2**16
    """Kernel values that are added up at once."""


SETTINGS = Settings()


class Kernels(NamedTuple):
    """The kernel values of the samples, one source for each kernel."""

    sources: tuple[Source, ...]
    stored: bool

    @classmethod
    def of(cls, sources: Sequence[Source], scales: Floats) -> "Kernels":
        """Values times scales, stored if they fit into memory."""
        n, free = sources[0].n_rows, free_memory()
        if 8 * n * n * (len(sources) + 1) > SETTINGS.memory * free:
            scaled = [SumSource([Term(float(c), s)]) for c, s in zip(scales, sources, strict=True)]
            return cls(tuple(scaled), False)
        found: list[Source] = []
        for scale, source in zip(scales, sources, strict=True):
            K = np.array(source.block(None, None, np.float64), copy=source.stored or None)
            K *= scale
            values = MatrixSource(K)
            values.convex, values.precision = source.convex, source.precision
            found.append(values)
        return cls(tuple(found), True)

    def combined(self, d: Floats) -> Source:
        """The source of K_d."""
        terms = [Term(float(w), source) for w, source in zip(d, self.sources, strict=True) if w > 0]
        total = SumSource(terms)
        if not self.stored:
            return total
        K = np.empty((total.n_rows, total.n_rows))
        step = max(1, SETTINGS.entries // total.n_rows)
        scratch = np.empty((step, total.n_rows))
        for begin in range(0, len(K), step):  # a few rows of all kernels, which the caches hold
            rows = slice(begin, min(len(K), begin + step))
            own = scratch[: rows.stop - rows.start]
            for k, (weight, source) in enumerate(terms):
                assert isinstance(source, MatrixSource)
                np.multiply(source.K[rows], weight, out=own if k else K[rows])
                if k:
                    K[rows] += own
        found = MatrixSource(K)
        found.convex, found.precision = total.convex, total.precision
        return found

    def products(self, b: Floats) -> Floats:
        """K_m b, a row for each kernel."""
        support = np.flatnonzero(b)
        return np.array([source.product(support, b[support]) for source in self.sources])
