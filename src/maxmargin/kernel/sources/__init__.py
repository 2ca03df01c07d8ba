"""Where kernel values come from: dense or sparse data, a precomputed matrix, a Python function.

A source gives blocks k(A[a], B[b]) and products with them; for a fit A = B = the training data, for
a prediction A holds the support vectors. Whether data are dense, sparse, a matrix or Python objects
is decided here and nowhere else.
"""

from maxmargin.kernel.sources.base import KernelNotFinite, Scratch, Source, pick, take
from maxmargin.kernel.sources.distances import DistancesSource
from maxmargin.kernel.sources.given import CallableSource, MatrixSource
from maxmargin.kernel.sources.make import kernel_matrix, make_source
from maxmargin.kernel.sources.native import NativeSource
from maxmargin.kernel.sources.preparation import combine
from maxmargin.kernel.sources.single import SingleSource
from maxmargin.kernel.sources.stored import StoredSource

__all__ = [
    "CallableSource",
    "DistancesSource",
    "KernelNotFinite",
    "MatrixSource",
    "NativeSource",
    "Scratch",
    "SingleSource",
    "Source",
    "StoredSource",
    "combine",
    "kernel_matrix",
    "make_source",
    "pick",
    "take",
]
