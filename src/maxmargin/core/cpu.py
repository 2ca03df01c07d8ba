"""The hot functions on a CPU.

    points(X)                             a set of points, dense, CSR or compressed, float32 or float64, with its squared norms and the
                                          greatest number of terms in a dot product
    kernel_block(kernel, A, a, B, b)      k(A[a], B[b])
    kernel_matvec(kernel, A, a, coef, B, b, out)   out += coef' k(A[a], B[b]) without storing k
    grouped_matvec(kernel, A, begin, coef, B, out)  the same for each group of A's points, into an out of its own
    update_gradient(rows, slots, delta, F)         F += delta' rows[slots]
    gather(rows, slots, columns)          rows[slots][:, columns]
    join_blocks(first, between, second, out)       out = [first, between; between', second]
    group_ends(G, b, ...)                 each group's extreme gradients
    solve_block(K, G, b, ...)             pairwise SMO on one dense tile
    solve_points(kernel, A, a, G, b, ...) the same where the tile is computed as it is needed

    linear_values(X, rows, w)             X w                         for linear models: sums of float64 over values of either precision
    linear_sum(X, rows, t)                X't
    linear_squares(X)                     |x_i|^2
    gram(X, rows, weight)                 X' diag(weight) X
    corridor_duals(low, ..., f, ...)      duals and sums of the losses of losses.py
    corridor_slope(low, ..., f, change, step, ...)   the derivative of the smoothed losses along a line
    coordinate_descent(X, low, ...)       dual coordinate descent, pass by pass
    lasso_descent(H, price, u, slope, ...)         a quadratic model plus penalised absolute values
    scaled_columns(X, factor, last)       X' diag(factor), and one more point for a bias
    column_pass(X', price, ...)           one pass over the columns of penalised squared losses
    crammer_singer_pass(X, label, ...)    one pass over the samples of a multi-class machine
    class_values(X, rows, W)              X W and X't for all classes at once, a multiple of 8 columns
    class_sum(X, rows, t)

    pegasos_rows(X, order, ...)           Pegasos over the rows order[0], order[1], ...   these three return how many samples they used:
    pegasos_tile(K, begin, z, ...)        Pegasos with coefficients, on a tile of kernel values      fewer than were given where the
    norma_tile(K, begin, z, ...)          NORMA alike                                                scale is about to underflow

    parse_svmlight(buffer, size, ...)     the rows of an svmlight text, in a few pieces
    format_svmlight(y, queries, ...)      the text of rows

    fingerprint(array)                    a number that changes when the array's memory does

``kernel`` is the tuple (kind, gamma, coef0, degree); ``a`` and ``b`` are index arrays or None for all. Every value has the same
bits for any number of threads and any split into blocks. How many threads: as many as scikit-learn's OpenMP code would use, so that
OMP_NUM_THREADS, threadpoolctl, joblib's workers and container limits are honoured; within ``one_thread()`` just one.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads

from maxmargin.core import _cpu

Indices = NDArray[np.int64] | None
KernelTuple = tuple[int, float, float, int]
Points = Any  # _cpu.Points32 or _cpu.Points64

_SMALL = 6_000_000  # multiply-adds below which a second thread does not pay
_here = threading.local()


@contextmanager
def one_thread() -> Iterator[None]:
    """Run the core on the calling thread alone, for callers that run several problems side by side."""
    before = getattr(_here, "single", False)
    _here.single = True
    try:
        yield
    finally:
        _here.single = before


def thread_count(work: float = np.inf) -> int:
    """How many threads a call of so many multiply-adds uses."""
    if work < _SMALL or getattr(_here, "single", False):
        return 1
    return int(_openmp_effective_n_threads())


RBF_BY_DIFFERENCES = 7
"""The kind of exp(-gamma |x - z|^2) with |x - z|^2 summed over squared differences, feature by feature."""

LONGEST_RUN = 20
"""products.h asserts it."""

INSTRUCTION_LEVEL = _cpu.level()
"""The instruction level chosen at import: "base", "v3" (AVX2) or "v4" (AVX-512); the environment variable MAXMARGIN_LEVEL forces one."""


def contiguous(values: Any, dtype: DTypeLike | None = None) -> NDArray[Any]:
    """The values as the core reads them, in C's order and at an aligned address; a copy where they lie otherwise."""
    array = np.ascontiguousarray(values, dtype)
    return array if array.flags.aligned else array.copy()


def points(X: Any, compress: bool = False) -> Points:
    """Wrap a C-contiguous array or a canonical CSR matrix of float32 or float64; the arrays are kept, not copied.

    With ``compress`` the non-zeros of an array are copied: kernels of dot products then cost what these cost.
    """
    if sparse.issparse(X):
        indptr, indices = contiguous(X.indptr, np.int64), contiguous(X.indices, np.int32)
        return _cpu.sparse_points(contiguous(X.data), indptr, indices, X.shape[1])
    return (_cpu.compressed_points if compress else _cpu.dense_points)(contiguous(X))


def _size(P: Points, index: Indices) -> int:
    return int(P.shape[0]) if index is None else len(index)


class NotFinite(ArithmeticError):
    """A kernel value was infinite or not a number."""


def kernel_block(
    kernel: KernelTuple,
    A: Points,
    a: Indices,
    B: Points,
    b: Indices,
    out: NDArray[Any] | None = None,
    slots: Indices = None,
) -> NDArray[Any]:
    """Return k(A[a], B[b]), one row for each of A[a], in the points' precision; with slots, row j is written to out[slots[j]]."""
    rows, columns = _size(A, a), _size(B, b)
    if out is None:
        out = np.empty((rows, columns), np.float32 if isinstance(A, _cpu.Points32) else np.float64)
    if not _cpu.kernel_block(kernel, A, a, B, b, out, slots, thread_count(rows * columns * (A.shape[1] + 16.0))):
        raise NotFinite
    return out


def kernel_matvec(kernel: KernelTuple, A: Points, a: Indices, coef: NDArray[Any], B: Points, b: Indices, out: NDArray[np.float64]) -> None:
    """Add coef' k(A[a], B[b]) to out; coef has a row for each of A[a], out a row for each column of coef.

    With float64 coefficients sums are float64; with float32 ones (and points) no term is rounded to float32 more than LONGEST_RUN times.
    """
    rows, columns = _size(A, a), _size(B, b)
    work = rows * columns * (A.shape[1] + coef.shape[1] + 16.0)
    if not _cpu.kernel_matvec(kernel, A, a, contiguous(coef), B, b, out, thread_count(work)):
        raise NotFinite


def grouped_matvec(
    kernel: KernelTuple, A: Points, begin: NDArray[np.int64], coef: NDArray[Any], B: Points, out: NDArray[np.float64]
) -> None:
    """Add coef[g]' k(A[g], B) to out[g] for each group g = begin[g], ..., begin[g + 1] - 1 of A."""
    work = A.shape[0] * B.shape[0] * (A.shape[1] + coef.shape[1] + 16.0) / max(1, len(out))
    if not _cpu.grouped_matvec(kernel, A, begin, contiguous(coef), B, out, thread_count(work)):
        raise NotFinite


def update_gradient(rows: NDArray[Any], slots: NDArray[np.int64], delta: NDArray[np.float64], F: NDArray[np.float64]) -> None:
    """Add delta' rows[slots] to F, in the order of the slots."""
    _cpu.update_gradient(rows, slots, contiguous(delta), F, thread_count(len(slots) * rows.shape[1]))


def fingerprint(array: NDArray[Any]) -> int:
    """Return a number that changes when the contiguous array's memory does."""
    return _cpu.fingerprint(array)


def gather(rows: NDArray[Any], slots: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[Any]:
    """Return rows[slots][:, columns]."""
    out = np.empty((len(slots), len(columns)), rows.dtype)
    _cpu.gather(rows, slots, columns, out, thread_count(4.0 * out.size))
    return out


def join_blocks(first: NDArray[Any], between: NDArray[Any], second: NDArray[Any], out: NDArray[Any]) -> None:
    """out = [first, between; between', second]."""
    _cpu.join_blocks(first, between, second, out)


def group_ends(
    G: NDArray[np.float64],
    b: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    group_begin: NDArray[np.int64],
) -> list[tuple[float, float, float, int]]:
    """For each group the least gradient that can grow, the greatest that can shrink, the free variables' sum and their number."""
    return _cpu.group_ends(G, b, lower, upper, group_begin)


def solve_block(
    K: NDArray[Any],
    G: NDArray[np.float64],
    b: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    ridge: NDArray[np.float64],
    group_begin: NDArray[np.int64],
    tol: float,
    max_steps: int,
) -> tuple[int, float, bool, bool]:
    """Run pair steps on G and b in place; return (steps, violation left, negative curvature met, unbounded)."""
    result: tuple[int, float, bool, bool] = _cpu.solve_block(K, G, b, lower, upper, ridge, group_begin, tol, max_steps)
    return result


def solve_points(
    kernel: KernelTuple,
    A: Points,
    a: Indices,
    G: NDArray[np.float64],
    b: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    ridge: NDArray[np.float64],
    group_begin: NDArray[np.int64],
    tol: float,
    max_steps: int,
) -> tuple[int, float, bool, bool]:
    """solve_block for K = k(A[a], A[a]), of which only what is needed is computed."""
    threads = thread_count(len(G) * (A.shape[1] + 16.0) * 2)  # a block is some hundred times that: below, starting threads costs more
    steps, violation, negative, unbounded, finite = _cpu.solve_points(
        kernel, A, a, G, b, lower, upper, ridge, group_begin, tol, max_steps, threads
    )
    if not finite:
        raise NotFinite
    return steps, violation, negative, unbounded


# ---- linear models ---------------------------------------------------------------------------------------------------


def _entries(X: Points, rows: Indices) -> float:
    return _size(X, rows) * (float(X.terms) + 4)


def linear_values(X: Points, rows: Indices, w: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return X[rows] w."""
    out = np.empty(_size(X, rows))
    _cpu.linear_values(X, rows, contiguous(w), out, thread_count(4 * _entries(X, rows)))
    return out


def linear_sum(X: Points, rows: Indices, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of t_i x_i over the rows."""
    out = np.empty(X.shape[1])
    _cpu.linear_sum(X, rows, contiguous(t), out, thread_count(4 * _entries(X, rows)))
    return out


def linear_squares(X: Points) -> NDArray[np.float64]:
    """Return |x_i|^2."""
    out = np.empty(X.shape[0])
    _cpu.linear_squares(X, out, thread_count(4 * _entries(X, None)))
    return out


def gram(X: Points, rows: Indices, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of weight_i x_i x_i' over the rows, weights not negative."""
    out = np.empty((X.shape[1], X.shape[1]))
    _cpu.gram(X, rows, contiguous(weight), out, thread_count(_entries(X, rows) * float(X.terms)))
    return out


def corridor_duals(
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    up: NDArray[np.float64],
    down: NDArray[np.float64],
    squared: bool,
    f: NDArray[np.float64],
    centre: NDArray[np.float64] | None,
    width: float,
    t: NDArray[np.float64],
    curvature: NDArray[np.float64],
) -> tuple[float, float, float]:
    """Write the duals at f and their curvature; return the sums of losses, gains and duals."""
    threads = thread_count(40.0 * len(f))
    result: tuple[float, float, float] = _cpu.corridor_duals(low, high, up, down, squared, f, centre, width, t, curvature, threads)
    return result


def corridor_slope(
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    up: NDArray[np.float64],
    down: NDArray[np.float64],
    squared: bool,
    f: NDArray[np.float64],
    change: NDArray[np.float64],
    step: float,
    centre: NDArray[np.float64] | None,
    width: float,
) -> float:
    """Return the derivative of the smoothed losses by s at f + s change, s = step."""
    threads = thread_count(40.0 * len(f))
    slope: float = _cpu.corridor_slope(low, high, up, down, squared, f, change, step, centre, width, threads)
    return slope


def coordinate_descent(X: Points, *arguments: Any) -> Any:
    """Return an object that holds the duals; see coordinate.h.

    Its run(w, bias, order, active, begin, aside, seed, threads) is a part of a pass, which is done when run returns ``active`` as its
    end; settle(order) then brings the samples to be visited again to the front.
    """
    return (_cpu.Descent32 if isinstance(X, _cpu.Points32) else _cpu.Descent64)(X, *arguments)


def lasso_descent(
    H: NDArray[np.float64], price: NDArray[np.float64], u: NDArray[np.float64], slope: NDArray[np.float64], tol: float, most: int
) -> float:
    """Minimise the model of which `slope` is the gradient at u, see lasso.h, by `most` rounds; return the violation left."""
    violation: float = _cpu.lasso_descent(H, price, u, slope, tol, most)
    return violation


def scaled_columns(X: Points, factor: NDArray[np.float64], last: float) -> Points:
    """Return the columns of diag(factor) X, X in CSR, as points, and one more of ``last`` times the factors, in the precision of X.

    With twice as many factors as samples all samples are there twice.
    """
    return _cpu.scaled_columns(X, factor, last, thread_count(8.0 * _entries(X, None)))


def column_pass(columns: Points, *arguments: Any) -> tuple[float, int]:
    """Visit the active columns once, see columns.h; return the greatest violation met and the number left active."""
    result: tuple[float, int] = _cpu.column_pass(columns, *arguments, thread_count(_entries(columns, None)))
    return result


def crammer_singer_pass(X: Points, *arguments: Any) -> tuple[float, float, int]:
    """Visit the active samples once, see crammer_singer.h; return the gap met, the greatest violation met, those left active."""
    result: tuple[float, float, int] = _cpu.crammer_singer_pass(X, *arguments)
    return result


def class_values(X: Points, rows: Indices, W: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return X[rows] W."""
    out = np.empty((_size(X, rows), W.shape[1]))
    _cpu.class_values(X, rows, contiguous(W), out, thread_count(_entries(X, rows) * W.shape[1]))
    return out


def class_sum(X: Points, rows: Indices, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return X[rows]' t."""
    out = np.empty((X.shape[1], t.shape[1]))
    _cpu.class_sum(X, rows, contiguous(t), out)
    return out


# ---- the online family -----------------------------------------------------------------------------------------------

pegasos_rows = _cpu.pegasos_rows
pegasos_tile = _cpu.pegasos_tile
norma_tile = _cpu.norma_tile

# ---- text ------------------------------------------------------------------------------------------------------------

format_svmlight = _cpu.format_svmlight
TEXT_PADDING = _cpu.TEXT_PADDING
"""So many bytes must follow a text that is parsed."""


def parse_svmlight(buffer: NDArray[np.uint8], size: int, limit: int, queries: int, threads: int = 0) -> list[tuple[Any, ...]]:
    """Return pieces of rows: targets, row ends, indices, values, queries, least and greatest index, lines, and an error with its place."""
    return _cpu.parse_svmlight(buffer, size, limit, queries, threads or thread_count(10.0 * size))
