"""How many threads work takes: those of the core, and those of the BLAS libraries of NumPy and
SciPy.

The core uses as many as scikit-learn's OpenMP code would, so that OMP_NUM_THREADS, threadpoolctl,
joblib's workers and container limits are honoured; within `one_thread()` just one.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from mmap import mmap
from typing import Any

import numpy as np
from scipy.linalg import lapack
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from threadpoolctl import ThreadpoolController

import maxmargin.core._cpu as _cpu  # compiled: it has no types

SMALL = 6_000_000
"""Multiply-adds below which a second thread does not pay."""
BUFFERS = 2**26
"""Bytes of address space for the buffers of the BLAS libraries of NumPy and SciPy."""

_here = threading.local()


@contextmanager
def one_thread() -> Iterator[None]:
    """Run the core on the calling thread alone, for callers that solve several problems at once."""
    before = getattr(_here, "single", False)
    _here.single = True
    try:
        yield
    finally:
        _here.single = before


@contextmanager
def crew() -> Iterator[None]:
    """Keep the threads of the core's calls from one call of this thread to the next."""
    if getattr(_here, "single", False):
        yield
        return
    kept = _cpu.Crew()
    kept.open()
    try:
        yield
    finally:
        kept.close()


def thread_count(work: float = np.inf) -> int:
    """How many threads a call with this many multiply-adds uses."""
    if work < SMALL or getattr(_here, "single", False):
        return 1
    return int(_openmp_effective_n_threads())


@cache
def _blas() -> list[Any]:
    """The BLAS libraries of this process.

    Looking for them takes milliseconds, so it is done once.
    """
    return [
        library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"
    ]


@cache
def _buffers() -> None:
    """Have BLAS allocate its buffers, which it keeps: where it cannot, it tries again for ever."""
    try:
        mmap(-1, BUFFERS).close()
    except OSError:
        raise MemoryError(
            f"BLAS needs {BUFFERS >> 20} MiB of address space for its buffers: raise the limit."
        ) from None
    lapack.dpotrf(np.eye(64))
    np.ones((64, 64)) @ np.ones((64, 64))


def _set_threads(library: Any, number: int) -> None:
    """Set the number of threads of a BLAS library from any thread.

    threadpoolctl 3.8 lets one thread control OpenBLAS and ignores the others: here the first fit
    to begin sets the number and the last to end restores it, and these may be two threads. Control
    is left free, so that limits of the caller's own end as usual.
    """
    release = getattr(library, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)
    library.set_num_threads(number)
    if release is not None:
        release(force=True)


_blas_users = 0
_blas_lock = threading.Lock()
_blas_before: list[Any] = []


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread, so that bits do not depend on the number of threads.

    The first user sets it, the last restores it.
    """
    global _blas_users, _blas_before
    with _blas_lock:
        _buffers()
        if _blas_users == 0:
            _blas_before = [library.get_num_threads() for library in _blas()]
            for library in _blas():
                _set_threads(library, 1)
        _blas_users += 1
    try:
        yield
    finally:
        with _blas_lock:
            _blas_users -= 1
            if _blas_users == 0:
                for library, threads in zip(_blas(), _blas_before, strict=True):
                    _set_threads(library, threads)
