"""The initial point of problems whose sums are not zero, step by step as in subsample.py."""

import numpy as np
import pytest
from scipy.optimize import linprog

from helpers import settings
from maxmargin.core.choose import HOST
from maxmargin.kernel import block, problems
from maxmargin.kernel import subsample as module
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.sources import KernelNotFinite, MatrixSource, NativeSource
from maxmargin.kernel.state import State
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.monitor import Monitor

rng = np.random.default_rng(14)
n, m = 60, 20
X = rng.normal(size=(n, 3))
y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
C = rng.uniform(0.5, 2.0, n)
SOURCE = NativeSource(Kernel.rbf(gamma=0.4), X)
K = SOURCE.block(None, None, np.float64)
PROBLEMS = {
    "nu_svc": problems.nu_svc(y, C, 0.4),
    "one_class": problems.one_class(C, 0.3),
    "nu_svr": problems.nu_svr(X[:, 1], C, 0.4),
    "with a ridge": problems.one_class(C, 0.3)._replace(ridge=0.1 * C),
}


def sums(problem, b):
    return [float(b[problem.group == g].sum()) for g in range(problem.groups)]


@pytest.mark.parametrize("name", PROBLEMS)
def test_variables_are_filled_in_the_order_of_the_gradient(name):
    """The minimum of a linear programme."""
    problem = PROBLEMS[name]
    G = rng.normal(size=len(problem.row))
    totals = []
    for g, share in zip(range(problem.groups), (0.3, 0.8), strict=False):
        least, most = (sum(b[problem.group == g]) for b in (problem.lower, problem.upper))
        totals.append(share * most + (1 - share) * least)
    found = module._fill_in_order(problem, G, totals, np)
    member = [problem.group == g for g in range(problem.groups)]
    best = linprog(G, A_eq=member, b_eq=totals, bounds=np.c_[problem.lower, problem.upper])
    assert G @ found == pytest.approx(best.fun)
    assert np.all((found >= problem.lower - 1e-15) & (found <= problem.upper + 1e-15))
    assert sums(problem, found) == pytest.approx(totals)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_problem_of_some_rows_stands_for_all(name, monkeypatch):
    settings(monkeypatch, module, rows=m)
    problem, seen = PROBLEMS[name], []
    rows = np.sort(np.random.default_rng(0).choice(n, m, replace=False))
    some = [i for i in range(len(problem.row)) if problem.row[i] in rows]
    share, totals = n / m, sums(problem, problem.start)
    rows_of = problem.row[some]

    def pair_steps(K, variables, tol, most):
        seen.append([np.copy(a) for a in (K, *variables, tol, most)])

    monkeypatch.setattr(HOST, "pair_steps", pair_steps, raising=False)
    found = module.initial_point(problem, SOURCE)
    ((matrix, G, b, lower, upper, ridge, begin, fixed, loose, most),) = seen
    assert fixed.all()
    np.testing.assert_allclose(matrix, K[np.ix_(rows_of, rows_of)], rtol=1e-5)
    assert matrix.dtype == np.float32
    np.testing.assert_allclose(lower, share * problem.lower[some])
    np.testing.assert_allclose(upper, share * problem.upper[some])
    np.testing.assert_allclose(ridge, problem.ridge[some] / share)
    group = problem.group[some]
    assert begin.tolist() == [int(np.sum(group < g)) for g in range(problem.groups + 1)]
    small = problem._replace(lower=lower, upper=upper, group=group)
    np.testing.assert_allclose(b, module._fill_in_order(small, problem.linear[some], totals, np))
    np.testing.assert_allclose(
        G, K[np.ix_(rows_of, rows_of)] @ b + ridge * b + problem.linear[some], rtol=1e-4, atol=1e-4
    )
    ends = []
    for g in range(problem.groups):
        inside = group == g
        ends.append(max(G[inside & (b > lower)]) - min(G[inside & (b < upper)]))
    assert loose == pytest.approx(0.01 * max(ends))
    assert most == 10 * len(some)
    F = K[:, rows_of] @ b
    np.testing.assert_allclose(
        found,
        module._fill_in_order(problem, F[problem.row] + problem.linear, totals, np),
        atol=1e-4,
    )
    assert sums(problem, found) == pytest.approx(totals)


def state_of(problem):
    b = problem.start.copy()
    return State(problem, b, np.zeros(n), np.zeros_like(b), np.zeros(n), diagonal=1.0)


def test_a_solver_begins_at_a_subsample_where_it_can(monkeypatch):
    at = state_of(PROBLEMS["nu_svc"])
    assert module.start_from_subsample(at, SOURCE, Monitor())
    np.testing.assert_allclose(at.b, module.initial_point(PROBLEMS["nu_svc"], SOURCE))
    np.testing.assert_allclose(at.F, K @ problems.fold(at.problem, at.b, n), atol=1e-5)
    hard = problems.hard_margin(y)
    for problem, source in ((PROBLEMS["nu_svc"], MatrixSource(K)), (hard, SOURCE)):
        at = state_of(problem)
        assert not module.start_from_subsample(at, source, Monitor())
        np.testing.assert_array_equal(at.b, problem.start)

    def beyond(problem, source):
        raise KernelNotFinite

    monkeypatch.setattr(module, "initial_point", beyond)
    at = state_of(PROBLEMS["nu_svc"])
    assert not module.start_from_subsample(at, SOURCE, Monitor())


def test_a_point_worse_than_zero_is_dropped():
    """The start of nu-SVR adds up to 0 for every row, with the objective of its linear term."""
    problem = PROBLEMS["nu_svr"]
    at = state_of(problem)
    at.b, at.F = np.where(problem.upper > 0, problem.upper, 0.0), K @ C
    assert at.objective > float(problem.linear @ problem.start)
    assert module._worse_than_zero(at)
    np.testing.assert_array_equal(at.b, problem.start)
    assert not at.F.any()
    assert not module._worse_than_zero(at), "as good"
    at.b = block.solve(problem, KernelWorkspace(SOURCE, Monitor()), 1e-3).b
    at.F = K @ problems.fold(problem, at.b, n)
    assert not module._worse_than_zero(at)
    at = state_of(PROBLEMS["one_class"])
    at.F = 1e3 * C
    assert not module._worse_than_zero(at), "its start is not 0"
