"""Work of BLAS in parts of a fixed size for several threads.

A part is one BLAS call on one thread, so bits do not depend on the number of threads
(decision 42).
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np

from maxmargin.core.arrays import Floats
from maxmargin.core.threads import SMALL, thread_count

ROWS = 128
"""Rows of a product, or columns of a solve, that are one part."""

Deal = Callable[[Callable[[slice], None], Iterable[slice]], None]
"""Does some work for each part."""


@contextmanager
def dealer(work: float) -> Iterator[Deal]:
    """Threads for this many multiply-adds, to which parts are dealt."""
    threads = thread_count(work)
    with ThreadPoolExecutor(max(1, threads)) as pool:

        def deal(act: Callable[[slice], None], some: Iterable[slice]) -> None:
            deque((map if threads < 2 else pool.map)(act, some), 0)

        yield deal


def parts(begin: int, end: int, size: int = ROWS) -> list[slice]:
    """A range in parts."""
    return [slice(k, min(end, k + size)) for k in range(begin, end, size)]


def product(A: Floats, B: Floats) -> Floats:
    """A B."""
    work = float(len(A)) * A.shape[1] * B.shape[1]
    out = np.empty((len(A), B.shape[1]))
    if work < SMALL:
        return np.matmul(A, B, out=out)

    def act(rows: slice) -> None:
        np.matmul(A[rows], B, out=out[rows])

    with dealer(work) as deal:
        deal(act, parts(0, len(A)))
    return out
