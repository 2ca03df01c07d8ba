"""A Cholesky factor in panels: kernel values are computed where they are needed, and the memory is
that of one matrix.

Each panel of the upper factor R, Q = R'R, follows from the panels above it. Ctrl-C is seen between
panels. The columns of a panel are dealt to threads in parts of fixed size, each for one BLAS
thread, so that bits do not depend on the number of threads (decision 14).
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import lapack

from maxmargin.core.arrays import Floats
from maxmargin.core.parts import dealer, parts

Values = Callable[[slice, slice], Floats]
"""The values of a matrix in some rows and columns."""

ROWS, COLUMNS = 256, 512
"""Rows of a panel, and columns that one thread updates at once."""


def cholesky_in_panels(values: Values, ridge: Floats, pause: Callable[[], None]) -> Floats | None:
    """The lower factor of the symmetric matrix `values` + diag(ridge); None if it is not definite.

    Only the upper triangle of the values is asked for, and only the lower triangle of the result is
    set. `pause` is called before each panel.
    """
    n = len(ridge)
    R = np.empty((n, n))
    with dealer(float(n) ** 3) as deal:
        for begin in range(0, n, ROWS):
            pause()
            end = min(n, begin + ROWS)
            rows = slice(begin, end)
            R[rows, begin:] = values(rows, slice(begin, n))
            corner = R[rows, rows]
            corner[np.diag_indices(end - begin)] += ridge[rows]
            above = R[:begin, rows].T
            corner -= above @ R[:begin, rows]
            C, failed = lapack.dpotrf(corner.T, lower=1, clean=1)
            if failed:
                return None
            corner[...] = C.T
            inverse = lapack.dtrtri(C, lower=1)[0]

            def update(
                some: slice, rows: slice = rows, above: Floats = above, inverse: Floats = inverse
            ) -> None:
                part = R[rows, some]
                part -= above @ R[: rows.start, some]
                part[...] = inverse @ part

            deal(update, parts(end, n, COLUMNS))
    return R.T
