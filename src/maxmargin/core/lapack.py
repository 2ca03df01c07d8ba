"""Cholesky factors and solves without Python's lock: fits side by side do not wait for each other.

SciPy's functions of these names hold the lock. The routines behind them are those of LAPACK and
BLAS that SciPy offers to Cython; ctypes releases the lock while it calls them.
"""

import ctypes
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from scipy.linalg import cython_blas, cython_lapack

from maxmargin.core.arrays import Floats
from maxmargin.core.parts import Deal, dealer, parts
from maxmargin.core.threads import SMALL


def _routine(module: Any, name: str, arguments: int) -> Callable[..., None]:
    """A routine by its name; all its arguments are pointers."""
    capsule, api = module.__pyx_capi__[name], ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = (
        ctypes.c_char_p,
        [ctypes.py_object],
    )
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    address = api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule))
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(address)


_DPOTRF, _DPOTRS = _routine(cython_lapack, "dpotrf", 5), _routine(cython_lapack, "dpotrs", 8)
_DTRSM = _routine(cython_blas, "dtrsm", 11)
_LOWER, _LEFT, _PLAIN = ctypes.c_char(b"L"), ctypes.c_char(b"L"), ctypes.c_char(b"N")
_TRANSPOSED, _RIGHT = ctypes.c_char(b"T"), ctypes.c_char(b"R")
PANEL = 256
"""Columns of an inverse at once."""
IN_HALVES = 1536
"""Rows from which a factor is made in halves, on all threads (decision 42)."""
WHOLE = 512
"""Rows of a half that is not halved again."""


def _integer(value: int) -> Any:
    """A pointer to an integer of 32 or 64 bits, whichever LAPACK reads."""
    return ctypes.byref(
        ctypes.c_int64(value)
    )  # on little-endian machines its first half is 32 bits


def cholesky(Q: Floats) -> Floats | None:
    """The lower factor of a symmetric matrix, in Fortran's order; None if it is not definite.

    The upper triangle of Q is read, and Q is overwritten where it is C-contiguous.
    """
    Q = np.ascontiguousarray(Q)
    n = len(Q)
    if n < IN_HALVES:
        return Q.T if _factorize(Q, 0, n) else None
    with dealer(float(n) ** 3 / 6) as deal:
        return Q.T if _in_halves(Q, 0, n, deal) else None


def _factorize(Q: Floats, begin: int, end: int) -> bool:
    """Make a diagonal block of Q its factor; False if it is not definite."""
    info = ctypes.c_int64(0)
    _DPOTRF(
        ctypes.byref(_LOWER),
        _integer(end - begin),
        _place(Q, begin, begin),
        _integer(max(1, len(Q))),
        ctypes.byref(info),
    )
    return not info.value


def _place(Q: Floats, row: int, column: int) -> int:
    """Where an entry lies in memory."""
    return int(Q.ctypes.data + (row * len(Q) + column) * Q.itemsize)


def _in_halves(Q: Floats, begin: int, end: int, deal: Deal) -> bool:
    """The same, with the work between the two halves of the block dealt to threads.

    Q = (A, B; B', C) has the upper factor (R, S; 0, T) with R'R = A, S = R'^-1 B, T'T = C - S'S.
    """
    if end - begin <= WHOLE:
        return _factorize(Q, begin, end)
    middle = (begin + end) // 2
    if not _in_halves(Q, begin, middle, deal):
        return False

    def solve(some: slice) -> None:
        one = ctypes.c_double(1.0)
        _DTRSM(
            ctypes.byref(_RIGHT),
            ctypes.byref(_LOWER),
            ctypes.byref(_TRANSPOSED),
            ctypes.byref(_PLAIN),
            _integer(some.stop - some.start),
            _integer(middle - begin),
            ctypes.byref(one),
            _place(Q, begin, begin),
            _integer(len(Q)),
            _place(Q, begin, some.start),
            _integer(len(Q)),
        )

    def subtract(some: slice) -> None:
        S = Q[begin:middle]
        Q[some, some.start : end] -= S[:, some].T @ S[:, some.start : end]

    deal(solve, parts(middle, end))
    deal(subtract, parts(middle, end))
    return _in_halves(Q, middle, end, deal)


def cholesky_solve(factor: Floats, right: Floats) -> Floats:
    """Q^-1 right, for one column or several, from the lower factor."""
    x, factor = np.array(right, np.float64, order="F"), np.asfortranarray(factor)
    n, info = len(factor), ctypes.c_int64(0)
    _DPOTRS(
        ctypes.byref(_LOWER),
        _integer(n),
        _integer(1 if x.ndim == 1 else x.shape[1]),
        factor.ctypes.data,
        _integer(max(1, n)),
        x.ctypes.data,
        _integer(max(1, n)),
        ctypes.byref(info),
    )
    return x


def triangular_solve(factor: Floats, right: Floats, transposed: bool = False) -> Floats:
    """L^-1 right or L'^-1 right, for one column or several, from the lower factor L."""
    x, factor = np.array(right, np.float64, order="F"), np.asfortranarray(factor)
    n, columns = len(factor), 1 if x.ndim == 1 else x.shape[1]
    how, one = _TRANSPOSED if transposed else _PLAIN, ctypes.c_double(1.0)

    def act(part: slice) -> None:
        _DTRSM(
            ctypes.byref(_LEFT),
            ctypes.byref(_LOWER),
            ctypes.byref(how),
            ctypes.byref(_PLAIN),
            _integer(n),
            _integer(part.stop - part.start),
            ctypes.byref(one),
            factor.ctypes.data,
            _integer(max(1, n)),
            x.ctypes.data + part.start * n * x.itemsize,
            _integer(max(1, n)),
        )

    work = 0.5 * float(n) ** 2 * columns
    if work < SMALL:
        act(slice(0, columns))
        return x
    with dealer(work) as deal:
        deal(act, parts(0, columns))
    return x


def inverse_diagonal(factor: Floats, workers: int = 1) -> Floats:
    """The diagonal of Q^-1 from the lower factor L: the squared lengths of the columns of L^-1.

    A column of L^-1 begins at the diagonal, so a panel of them needs the rest of L alone. Threads
    take a panel each; the bits do not depend on their number.
    """
    factor = np.asfortranarray(factor)
    n, found = len(factor), np.empty(len(factor))

    def panel(begin: int) -> None:
        end = min(n, begin + PANEL)
        x, one = np.zeros((n - begin, end - begin), order="F"), ctypes.c_double(1.0)
        np.fill_diagonal(x, 1.0)
        _DTRSM(
            ctypes.byref(_LEFT),
            ctypes.byref(_LOWER),
            ctypes.byref(_PLAIN),
            ctypes.byref(_PLAIN),
            _integer(n - begin),
            _integer(end - begin),
            ctypes.byref(one),
            factor[begin:, begin:].ctypes.data,
            _integer(n),
            x.ctypes.data,
            _integer(n - begin),
        )
        found[begin:end] = np.einsum("ij,ij->j", x, x)

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(panel, range(0, n, PANEL)))
    return found
