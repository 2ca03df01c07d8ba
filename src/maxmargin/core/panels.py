"""A Cholesky factor in panels: kernel values are computed where they are needed, and the memory is
that of one matrix.

Each panel of the upper factor R, Q = R'R, follows from the panels above it. Ctrl-C is seen between
panels. The columns of a panel, its corner too, are dealt to threads in parts of fixed size, each
for one BLAS thread, so that bits do not depend on the number of threads (decisions 14 and 42).
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import lapack

from maxmargin.core.arrays import Floats
from maxmargin.core.parts import crew, parts

Values = Callable[[slice, slice], Floats]
"""The values of a matrix in some rows and columns."""

ROWS, COLUMNS = 128, 256
"""Rows of a panel, and columns that one thread updates at once."""


def cholesky_in_panels(values: Values, ridge: Floats, pause: Callable[[], None]) -> Floats | None:
    """The lower factor of the symmetric matrix `values` + diag(ridge); None if it is not definite.

    Only the upper triangle of the values is asked for, and only the lower triangle of the result is
    set. `pause` is called before each panel.
    """
    n = len(ridge)
    R = np.empty((n, n))

    def fill(rows: slice) -> None:
        pause()
        R[rows, rows.start :] = values(rows, slice(rows.start, n))
        corner = R[rows, rows]
        corner[np.diag_indices(len(corner))] += ridge[rows]

    return R.T if factorize_in_panels(R, fill) else None


def factorize_in_panels(R: Floats, fill: Callable[[slice], None]) -> bool:
    """Make the upper triangle of a matrix its upper factor; False if it is not definite.

    `fill` is called before each panel, with its rows: it may set their values.
    """
    n = len(R)
    with crew(float(n) ** 3 / 6) as deal:
        for rows in parts(0, n, ROWS):
            fill(rows)
            above, right = R[: rows.start, rows].T, parts(rows.stop, n, COLUMNS)

            def subtract(columns: slice, rows: slice = rows, above: Floats = above) -> None:
                R[rows, columns] -= above @ R[: rows.start, columns]

            deal(subtract, [rows, *right])
            C, failed = lapack.dpotrf(R[rows, rows].T, lower=1, clean=1)
            if failed:
                return False
            R[rows, rows] = C.T
            inverse = lapack.dtrtri(C, lower=1)[0]

            def solve(columns: slice, rows: slice = rows, inverse: Floats = inverse) -> None:
                R[rows, columns] = inverse @ R[rows, columns]

            deal(solve, right)
    return True
