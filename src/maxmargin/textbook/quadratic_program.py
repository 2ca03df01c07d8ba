"""The standard form of a quadratic program, solved by an off-the-shelf library.

``revisited``, "Standard form of QP":

    minimise  1/2 x'P x + q'x     subject to  G x <= h,  A x = b

Every support vector machine is an instance: see hard_margin.py, soft_margin.py, nu_svc.py,
one_class.py, epsilon_svr.py. The library is Clarabel, an interior-point solver for convex cones,
which knows nothing about support vectors.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from maxmargin.textbook.checks import Array


class QuadraticProgram(NamedTuple):
    """The six arrays of the standard form.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import textbook
    >>> program = textbook.QuadraticProgram(
    ...     P=np.eye(2),
    ...     q=-np.ones(2),
    ...     G=-np.eye(2),
    ...     h=np.zeros(2),
    ...     A=np.ones((1, 2)),
    ...     b=np.ones(1),
    ... )
    >>> program.P.shape
    (2, 2)
    """

    P: Array
    q: Array
    G: Array
    h: Array
    A: Array
    b: Array


def box(n: int, C: float | Array) -> tuple[Array, Array]:
    """G and h of 0 <= x_i <= C, or of 0 <= x_i if C is infinite, as for the hard margin.

    An array C has a bound for each x_i.
    """
    if np.any(np.isinf(C)):
        return -np.eye(n), np.zeros(n)
    return np.vstack([-np.eye(n), np.eye(n)]), np.concatenate([np.zeros(n), np.full(n, C)])


def solve(program: QuadraticProgram, units: Sequence[float] = (1.0,)) -> Array:
    """The minimiser x; an error if there is none.

    With x = unit v the same program has the numbers unit P, q, G, h / unit, A, b / unit: a unit of
    about the size of x lets the solver work with numbers near 1. Units are tried in turn.
    """
    status = ""
    for unit in units:
        P, q, G, h, A, b = program
        v, status = _clarabel(QuadraticProgram(unit * P, q, G, h / unit, A, b / unit))
        if v is not None:
            return unit * v
    raise ValueError(
        f"No solution was found ({status}); if there is one, the numbers are too unequal: scale "
        "the data or lower C."
    )


def _clarabel(program: QuadraticProgram) -> tuple[Array | None, str]:
    """Clarabel's solution and its status."""
    try:
        import clarabel
    except ImportError as missing:
        raise ImportError(
            "The quadratic programs of maxmargin.textbook need clarabel: pip install "
            "'maxmargin[textbook]'."
        ) from missing
    P, q, G, h, A, b = program
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    constraints = sparse.csc_matrix(np.vstack([A, G]))
    cones = [clarabel.ZeroConeT(len(b)), clarabel.NonnegativeConeT(len(h))]
    found = clarabel.DefaultSolver(
        sparse.triu(P, format="csc"), q, constraints, np.concatenate([b, h]), cones, settings
    ).solve()
    return (np.array(found.x) if "Solved" in str(found.status) else None), str(found.status)


def tidy(a: Array, C: float | Array, close: float = 1e-7) -> Array:
    """Move multipliers that are close to a bound onto it.

    An interior-point method stops just inside the bounds.
    """
    a = np.where(a < close * float(a.max()), 0.0, a)
    return np.where(a > C * (1.0 - close), C, a)


def units(K: Array, C: float) -> tuple[float, ...]:
    """Sizes that multipliers may have: the inverse of the kernel's values, and C."""
    own = 1.0 / (float(np.mean(np.diag(K))) or 1.0)
    return (own, C) if np.isfinite(C) else (own,)


def level(values: Array, a: Array, C: float | Array, sign: Array) -> float:
    """The number r of the optimality conditions.

        0 < a_i < C    values_i = r
        a_i = 0        sign_i (values_i - r) >= 0
        a_i = C        sign_i (values_i - r) <= 0

    The bias b and the offset rho of all machines are such numbers. If some 0 < a_i < C, r is the
    weighted mean of their values, which agree up to the solver's tolerance; values near a bound
    count less. Otherwise every r between the bounds of the other points is optimal, and the
    midpoint is returned.
    """
    free = (a > 0) & (a < C)
    if free.any():
        return float(np.average(values[free], weights=np.minimum(a, C - a)[free]))
    from_below = values[np.where(sign > 0, a > 0, a < C)]
    from_above = values[np.where(sign > 0, a < C, a > 0)]
    low = from_below.max() if from_below.size else from_above.min()
    high = from_above.min() if from_above.size else low
    return float(0.5 * (low + high))
