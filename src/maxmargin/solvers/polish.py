"""Newton steps on the free variables: from a loose solution to one exact to rounding.

With F the free variables (strictly inside their bounds) and the others held, the problem is quadratic in d = Z x, where the orthonormal
columns of Z span the moves that keep each group's sum (a Householder reflection for each group gives them):

    minimise 1/2 x' (Z' Q_FF Z) x + G_F' Z x          Q = K[row, row] + diag(ridge)

d is a descent direction; it is followed up to the first bound it meets, which takes that variable out of F, and so on until a whole step
fits: then b is the minimum of its face. A burst of pair steps lets variables that violate optimality leave their bounds, and Newton takes
over anew. The objective falls from face to face, so no face returns and the walk ends. Q_FF may be singular (duplicate points, more
points than features): a shift of its diagonal at the level of rounding makes the factor exist, and refinement removes the shift's effect
where it matters.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from threadpoolctl import ThreadpoolController

from maxmargin.core import cpu as core
from maxmargin.monitor import Monitor
from maxmargin.problems import DualProblem, Floats, Integers, fold
from maxmargin.solution import can_grow, can_shrink, gradient, worst_violation

NEWTON_STEPS = 200
"""Newton steps at most in one call."""
GOAL = 1e-14
"""Violation aimed at, relative to the greatest gradient."""


@cache
def _blas() -> Any:
    """The BLAS libraries of this process; looking for them takes milliseconds, so it is done once."""
    return ThreadpoolController()


_blas_users = 0
_blas_lock = threading.Lock()
_blas_limit: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread, so that bits do not depend on the number of threads; the first user sets it, the last restores it."""
    global _blas_users, _blas_limit
    with _blas_lock:
        if _blas_users == 0:
            _blas_limit = _blas().limit(limits=1, user_api="blas")
        _blas_users += 1
    try:
        yield
    finally:
        with _blas_lock:
            _blas_users -= 1
            if _blas_users == 0:
                _blas_limit.restore_original_limits()


def polish(
    problem: DualProblem, K: NDArray[np.float64], b: Floats, F: Floats, monitor: Monitor, steps_before: int
) -> tuple[Floats, Floats, int, bool]:
    """Return (b, K b, pair steps done, negative curvature met), not worse than what was given; K is the whole matrix."""
    with one_blas_thread():
        return _polish(problem, K, b, F, monitor, steps_before)


def _polish(
    problem: DualProblem, K: NDArray[np.float64], b: Floats, F: Floats, monitor: Monitor, steps_before: int
) -> tuple[Floats, Floats, int, bool]:
    begin = np.searchsorted(problem.group, np.arange(problem.groups + 1))
    same = len(problem.row) == len(K) and np.array_equal(problem.row, np.arange(len(K)))
    Q = K if same else core.gather(K, problem.row, problem.row)
    best, least, lowest, idle, steps = (b, F), np.inf, np.inf, 0, 0
    b = b.copy()
    for _ in range(NEWTON_STEPS):
        if idle > 2 or monitor.stop(steps_before + steps) is not None:
            break
        fraction = _newton_step(problem, K, b, gradient(problem, b, F))
        if fraction is None:
            return (*best, steps, True)
        F = _kernel_part(problem, K, b)
        if fraction < 1:
            continue
        G = gradient(problem, b, F)
        violation, value = worst_violation(problem, b, G), 0.5 * float(np.sum(b * (G + problem.linear)))
        lower = not value >= lowest - 1e-14 * abs(value)
        idle = 0 if lower else idle + 1
        if lower or violation < least:  # a better face, or the same with less rounding
            best, least, lowest = (b.copy(), F), violation, value
        goal = GOAL * float(np.abs(G).max(initial=0.0))
        if violation <= goal:
            break
        done, _, negative, _ = core.solve_block(
            Q, G, b, problem.lower, problem.upper, problem.ridge, begin, max(goal, 0.1 * violation), 10 + len(b)
        )
        if negative:
            return (*best, steps, True)
        steps += int(done)
        F = _kernel_part(problem, K, b)
    return (*best, steps, False)


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
    d = _direction(Q, problem.group[free], G[free])
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


def _direction(Q: Floats, group: Integers, G: Floats) -> Floats | None:
    """The minimiser d of 1/2 d'Qd + G'd whose sum in each group is 0; None if Q is indefinite on such moves. Overwrites Q."""
    begins = np.flatnonzero(np.diff(group, prepend=-1))
    reflections = []
    for begin, end in zip(begins, [*begins[1:], len(group)], strict=True):
        w = np.zeros(len(group))  # I - w w' maps the group's ones to its first variable
        w[begin:end] = 1 / np.sqrt(end - begin)
        w[begin] += 1
        reflections.append(w * np.sqrt(2 / np.sum(w * w)))
    right = -G
    for w in reflections:
        Q -= np.outer(w, w @ Q)
        Q -= np.outer(Q @ w, w)
        right = right - w * np.sum(w * right)
    inside = np.ones(len(group), bool)
    inside[begins] = False
    x = np.zeros(len(group))
    found = _shifted_solve(Q[np.ix_(inside, inside)], right[inside])
    if found is None:
        return None
    x[inside] = found
    for w in reflections:
        x = x - w * np.sum(w * x)
    return x


def _shifted_solve(H: Floats, right: Floats) -> Floats | None:
    """Solve H x = right for a positive semidefinite H that may be singular; None if it is indefinite."""
    diagonal = float(np.abs(np.diagonal(H)).max(initial=0.0)) or 1.0
    for shift in (1e-13, 1e-12, 1e-11):
        try:
            shifted = H + shift * diagonal * np.eye(len(H))
            factor = linalg.cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:
            continue
        x: Floats = linalg.cho_solve(factor, right, check_finite=False)
        for _ in range(3):
            x = x + linalg.cho_solve(factor, right - H @ x, check_finite=False)
        return x
    return None
