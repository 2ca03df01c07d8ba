"""An initial point from a subsample, where the sums of a problem are not zero: nu-SVC, one-class,
nu-SVR (decision 12).

Every feasible b of such a problem has about as many non-zeros as the solution has support vectors,
so a start that knows nothing of the data (``DualProblem.start``) costs as many kernel rows as the
solution, and all of them move again. Instead, with m rows drawn at random:

    solve the problem of the m rows alone, bounds n / m times as wide, the sums as they are
                                       (its F = K b stands for that of all rows)
    G = K[:, m rows] b + linear        (on all rows)
    b = argmin G'b subject to the bounds and the sums
                                       (fill the variables in the order of G)
"""

from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats
from maxmargin.core.backend import Variables
from maxmargin.kernel.problems import DualProblem, fill, fold
from maxmargin.kernel.solution import violation
from maxmargin.kernel.sources import KernelNotFinite, Source
from maxmargin.kernel.state import State
from maxmargin.monitor import Monitor


class Settings(NamedTuple):
    """The problem of the subsample (decision 12)."""

    rows: int = 1536
    """Rows of the subsample: one tile."""
    tol: float = 0.01
    """Its problem is solved to this share of its first violation: the point is a guess."""
    steps: int = 10
    """Pair steps for each variable, at most."""


SETTINGS = Settings()


def start_from_subsample(state: State, source: Source, monitor: Monitor) -> bool:
    """Begin at the solution of a subsample, in float32.

    Return False if the kernel or the bounds do not allow it, or if the monitor says stop.
    """
    problem, xp = state.problem, state.xp
    bounded = bool(xp.isfinite(problem.upper - problem.lower).all())
    if np.float32 not in source.dtypes or not bounded or problem.unconstrained:
        return False
    with suppress(KernelNotFinite):  # beyond the range of float32
        b = initial_point(problem, source)
        return state.begin_at(b, source, monitor) and not _worse_than_zero(state)
    return False


def _worse_than_zero(state: State) -> bool:
    """Whether the problem's own start has coefficients of 0 (nu-SVR) and the lower objective.

    If so, the state goes back there.
    """
    xp, problem, start = state.xp, state.problem, state.problem.start
    if fold(problem, start, len(state.F), xp=xp).any() or state.objective <= float(
        xp.sum(problem.linear * start)
    ):
        return False
    state.b, state.F = start.copy(), xp.zeros_like(state.F)
    return True


def initial_point(problem: DualProblem, source: Source) -> Floats:
    """A feasible b near the solution; see the top of this file."""
    n, m = source.n_rows, min(source.n_rows, SETTINGS.rows)
    backend, xp = source.backend, source.backend.xp
    drawn = xp.zeros(n, bool)
    drawn[xp.asarray(np.random.default_rng(0).choice(n, m, replace=False))] = True
    some = xp.flatnonzero(drawn[problem.row])
    row, share = problem.row[some], n / m
    small = problem._replace(
        lower=share * problem.lower[some],
        upper=share * problem.upper[some],
        group=problem.group[some],
    )
    sums = [float(problem.start[problem.group == g].sum()) for g in range(problem.groups)]
    b = _fill_in_order(small, problem.linear[some], sums, xp)
    K, ridge = source.block(row, row, np.float32), problem.ridge[some] / share
    begin = backend.to_host(xp.searchsorted(small.group, xp.arange(problem.groups + 1)))
    G = problem.linear[some] + ridge * b
    backend.update_gradient(K, xp.arange(len(some)), b, G)
    variables = Variables(G, b, small.lower, small.upper, ridge, begin, problem.fixed)
    tol = SETTINGS.tol * violation(variables, backend)
    backend.pair_steps(K, variables, tol, SETTINGS.steps * len(some))
    moved = xp.flatnonzero(b)
    F = source.product(row[moved], b[moved], None, np.float32)
    return _fill_in_order(problem, F[problem.row] + problem.linear, sums, xp)


def _fill_in_order(problem: DualProblem, G: Floats, sums: list[float], xp: Any) -> Floats:
    """argmin G'b subject to the bounds and, as far as these allow, the sums."""
    b = problem.lower.copy()
    for g, total in enumerate(sums):
        inside = xp.flatnonzero(problem.group == g)
        order = inside[xp.argsort(G[inside], kind="stable")]
        room = problem.upper[order] - b[order]
        b[order] += fill(total - float(b[order].sum()), room, xp)
    return b
