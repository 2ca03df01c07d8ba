"""Newton steps on the free variables: from a loose solution to one exact to rounding.

With F the free variables (strictly inside their bounds) and the others held, the problem is an equality-constrained quadratic:

    [ Q_FF  E ] [ d ]   [ -G_F ]         Q = K[row, row] + diag(ridge)
    [ E'    0 ] [ u ] = [   0  ]         E has a column of ones for each group with a free variable

d is a descent direction; it is followed up to the first bound it meets, which takes that variable out of F, and so on until a whole step
fits: then b is the minimum of its face. A burst of pair steps lets variables that violate optimality leave their bounds, and Newton takes
over anew. The objective falls from face to face, so no face returns and the walk ends. Q_FF may be singular (duplicate points, more
points than features): a shift of its diagonal at the level of rounding makes the factor exist, and refinement removes the shift's effect
where it matters.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from threadpoolctl import ThreadpoolController

from maxmargin.core import cpu as core
from maxmargin.monitor import Monitor
from maxmargin.problems import DualProblem, Floats, fold
from maxmargin.solution import can_grow, can_shrink, gradient, worst_violation

NEWTON_STEPS = 200
"""Newton steps at most in one call."""
GOAL = 1e-14
"""Violation aimed at, relative to the greatest gradient."""


@cache
def _blas() -> Any:
    """The BLAS libraries of this process; they are held to one thread so that bits do not depend on the number of threads."""
    return ThreadpoolController()


def polish(
    problem: DualProblem, K: NDArray[np.float64], b: Floats, F: Floats, monitor: Monitor, steps_before: int
) -> tuple[Floats, Floats, int, bool]:
    """Return (b, K b, pair steps done, negative curvature met), not worse than what was given; K is the whole matrix."""
    with _blas().limit(limits=1, user_api="blas"):
        return _polish(problem, K, b, F, monitor, steps_before)


def _polish(
    problem: DualProblem, K: NDArray[np.float64], b: Floats, F: Floats, monitor: Monitor, steps_before: int
) -> tuple[Floats, Floats, int, bool]:
    begin = np.searchsorted(problem.group, np.arange(problem.groups + 1))
    same = len(problem.row) == len(K) and np.array_equal(problem.row, np.arange(len(K)))
    Q = K if same else core.gather(K, problem.row, problem.row)
    given = (b, F)
    b, steps, idle, lowest = b.copy(), 0, 0, np.inf
    for _ in range(NEWTON_STEPS):
        if idle > 2 or monitor.stop(steps_before + steps) is not None:
            break
        fraction = _newton_step(problem, K, b, gradient(problem, b, F))
        if fraction is None:
            return (*given, steps, True)
        F = _kernel_part(problem, K, b)
        if fraction < 1:
            continue
        G = gradient(problem, b, F)
        violation, value = worst_violation(problem, b, G), _objective(problem, b, F)
        goal = GOAL * float(np.abs(G).max(initial=0.0))
        if violation <= goal:
            break
        idle = idle + 1 if value >= lowest else 0
        lowest = min(lowest, value)
        done, _, negative, _ = core.solve_block(
            Q, G, b, problem.lower, problem.upper, problem.ridge, begin, max(goal, 0.1 * violation), 10 + len(b)
        )
        if negative:
            return (*given, steps, True)
        steps += int(done)
        F = _kernel_part(problem, K, b)
    return b, F, steps, False


def _objective(problem: DualProblem, b: Floats, F: Floats) -> float:
    """1/2 b'Qb + linear'b"""
    return float(0.5 * np.sum(b * (gradient(problem, b, F) + problem.linear)))


def _kernel_part(problem: DualProblem, K: NDArray[np.float64], b: Floats) -> Floats:
    """K b, accumulated in a fixed order."""
    F = np.zeros(len(K))
    coefficients = fold(problem, b, len(K))
    rows = np.flatnonzero(coefficients)
    core.update_gradient(K, rows, coefficients[rows], F)
    return F


def _newton_step(problem: DualProblem, K: NDArray[np.float64], b: Floats, G: Floats) -> float | None:
    """Move b in place; return the fraction of the step that fitted, None if Q_FF is not positive semidefinite."""
    free = np.flatnonzero(can_grow(problem, b) & can_shrink(problem, b))
    if len(free) < 2:
        return 1.0
    rows = problem.row[free]
    Q = K[np.ix_(rows, rows)]
    Q[np.diag_indices_from(Q)] += problem.ridge[free]
    E = (problem.group[free][:, None] == np.unique(problem.group[free])[None, :]).astype(float)
    d = _bordered_solve(Q, E, -G[free])
    if d is None:
        return None
    room = np.where(d > 0, problem.upper[free] - b[free], b[free] - problem.lower[free])
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(d != 0, room / np.abs(d), np.inf)
    fraction = min(1.0, float(reach.min()))
    b[free] = np.clip(b[free] + fraction * d, problem.lower[free], problem.upper[free])
    if fraction < 1:
        first = np.flatnonzero(reach <= fraction)
        b[free[first]] = np.where(d[first] > 0, problem.upper[free[first]], problem.lower[free[first]])
    return fraction


def _bordered_solve(Q: Floats, E: Floats, right: Floats) -> Floats | None:
    """Solve Q d + E u = right, E' d = 0 by a shifted Cholesky factor and refinement; None if Q is indefinite."""
    diagonal = float(np.abs(np.diagonal(Q)).max(initial=0.0)) or 1.0
    for shift in (1e-15, 1e-14, 1e-13, 1e-12):
        shifted = Q.copy()
        shifted[np.diag_indices_from(Q)] += shift * diagonal * len(Q)
        try:
            factor = linalg.cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:
            continue
        break
    else:
        return None
    QE = linalg.cho_solve(factor, E, check_finite=False)
    schur = E.T @ QE

    def solve(r: Floats, s: Floats) -> tuple[Floats, Floats]:
        Qr = linalg.cho_solve(factor, r, check_finite=False)
        u = np.linalg.solve(schur, E.T @ Qr - s)
        return Qr - QE @ u, u

    d, u = solve(right, np.zeros(E.shape[1]))
    for _ in range(3):
        more_d, more_u = solve(right - Q @ d - E @ u, -(E.T @ d))
        d, u = d + more_d, u + more_u
    return d
