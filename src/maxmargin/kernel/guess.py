"""A first guess where the sums of a problem are not zero: nu-SVC, one-class, nu-SVR.

Every feasible b of such a problem has about as many non-zeros as the solution has support vectors,
so a start that knows nothing of the data (``DualProblem.start``) costs as many kernel rows as the
solution, and all of them move again. Instead, with m rows drawn at random:

    solve the problem of the m rows alone, bounds n / m times as wide, the sums as they are     (its F = K b stands for that of all rows)
    G = K[:, m rows] b + linear                                                                 (on all rows)
    b = argmin G'b subject to the bounds and the sums                                           (fill the variables in the order of G)
"""

from contextlib import suppress

import numpy as np

from maxmargin.core.arrays import Floats
from maxmargin.core.backend import Variables
from maxmargin.kernel.problems import DualProblem, fill, fold
from maxmargin.kernel.solution import violation
from maxmargin.kernel.sources import KernelNotFinite, Source
from maxmargin.kernel.state import State
from maxmargin.monitor import Monitor

DRAWN = 1536
"""Rows of the small problem: one tile."""
LOOSE = 0.01
"""The small problem is solved to this share of its first violation: it is a guess in any case."""


def begin_at_guess(state: State, source: Source, monitor: Monitor) -> bool:
    """Begin there, in float32, unless the kernel or the bounds do not allow it or the monitor says
    stop: then False.
    """
    bounded = bool(np.isfinite(state.problem.upper - state.problem.lower).all())
    if np.float32 not in source.dtypes or not bounded or state.problem.unconstrained:
        return False
    with suppress(KernelNotFinite):  # beyond the range of float32
        return state.begin_at(
            guess(state.problem, source), source, monitor
        ) and not _worse_than_zero(state)
    return False


def _worse_than_zero(state: State) -> bool:
    """Whether the problem's own start has coefficients of 0 (nu-SVR) and the lower objective.

    Then the state goes back there.
    """
    start = state.problem.start
    if fold(state.problem, start, len(state.F)).any() or state.objective <= float(
        np.sum(state.problem.linear * start)
    ):
        return False
    state.b, state.F = start.copy(), np.zeros_like(state.F)
    return True


def guess(problem: DualProblem, source: Source) -> Floats:
    """A feasible b near the solution; see the top of this file."""
    n, backend = source.n_rows, source.backend
    drawn = np.zeros(n, bool)
    drawn[np.random.default_rng(0).choice(n, min(n, DRAWN), replace=False)] = True
    some = np.flatnonzero(drawn[problem.row])
    row, share = problem.row[some], n / min(n, DRAWN)
    small = problem._replace(
        lower=share * problem.lower[some],
        upper=share * problem.upper[some],
        group=problem.group[some],
    )
    sums = [float(problem.start[problem.group == g].sum()) for g in range(problem.groups)]
    b = _fill_in_order(small, problem.linear[some], sums)
    K, begin = (
        source.block(row, row, np.float32),
        np.searchsorted(small.group, np.arange(problem.groups + 1)),
    )
    G = problem.linear[some] + problem.ridge[some] / share * b
    backend.update_gradient(K, np.arange(len(some)), b, G)
    variables = Variables(
        G, b, small.lower, small.upper, problem.ridge[some] / share, begin, problem.fixed
    )
    backend.pair_steps(K, variables, LOOSE * violation(variables, backend), 10 * len(some))
    moved = np.flatnonzero(b)
    F = source.product(row[moved], b[moved], None, np.float32)
    return _fill_in_order(problem, F[problem.row] + problem.linear, sums)


def _fill_in_order(problem: DualProblem, G: Floats, sums: list[float]) -> Floats:
    """argmin G'b subject to the bounds and, as far as these allow, the sums."""
    b = problem.lower.copy()
    for g, total in enumerate(sums):
        inside = np.flatnonzero(problem.group == g)
        order = inside[np.argsort(G[inside], kind="stable")]
        b[order] += fill(total - float(b[order].sum()), problem.upper[order] - b[order])
    return b
