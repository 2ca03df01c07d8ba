"""The parts of Newton's method on the primal, each against its definition: P, its support set,
steps, lines, subsets, the factor."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from helpers import settings
from maxmargin.core import panels
from maxmargin.core.choose import HOST
from maxmargin.kernel import bordered, primal_newton, problems
from maxmargin.kernel import workspace as workspace_module
from maxmargin.kernel.bordered import BorderedFactor, Constraints
from maxmargin.kernel.cache import RowCache
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.newton_systems import NewtonSystems
from maxmargin.kernel.primal_newton import Stopped, _Search
from maxmargin.kernel.sources import MatrixSource, NativeSource
from maxmargin.kernel.squared_primal import Point
from maxmargin.kernel.state import State
from maxmargin.kernel.tube import insensitive
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.monitor import Monitor
from maxmargin.status import Status

rng = np.random.default_rng(8)
n = 30
X = rng.normal(size=(n, 3))
y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
z = X[:, 1] + 0.3 * rng.normal(size=n)
C = rng.uniform(0.5, 2.0, n)
K = 1.5 * np.exp(-0.4 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
PROBLEMS = {"svc": problems.c_svc(y, C, True), "svr": problems.svr(insensitive(z, C, 0.2, True))}
ALL = {name: np.ones(len(problem.row), bool) for name, problem in PROBLEMS.items()}


def search(name, monitor=None, memory=1e9):
    return _Search(
        PROBLEMS[name], RowCache(MatrixSource(K), np.float64, 0.0), monitor or Monitor(), memory
    )


def point(name, level=0.3, seed=0):
    problem = PROBLEMS[name]
    x = np.random.default_rng(seed).normal(size=len(problem.row)) * 0.2
    return Point(x, level, K @ problems.fold(problem, x, n))


def primal(name, at, inside):
    """P, variable by variable."""
    problem, value = PROBLEMS[name], 0.5 * at.F @ problems.fold(PROBLEMS[name], at.x, n)
    for i in np.flatnonzero(inside):
        sign = 1.0 if problem.upper[i] > 0 else -1.0
        s = -sign * (at.F[problem.row[i]] + at.level + problem.linear[i])
        value += max(0.0, s) ** 2 / (2 * problem.ridge[i])
    return value


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_primal_value_and_its_support_set(name):
    run, at, problem = search(name), point(name), PROBLEMS[name]
    some = np.arange(len(problem.row)) % 3 > 0
    for inside in (ALL[name], some):
        assert run.objective.value(at, inside) == pytest.approx(primal(name, at, inside))
        slack = (
            1 - y * (at.F + at.level)
            if name == "svc"
            else np.r_[z - at.F - at.level - 0.2, at.F + at.level - z - 0.2]
        )
        np.testing.assert_allclose(run.objective.slack(at), slack)
        assert run.objective.support(at, inside).tolist() == [
            i for i in range(len(slack)) if inside[i] and slack[i] > 0
        ]
    solved = np.array([1, 4])
    known = run.objective.slack(at, solved)
    sign = np.where(problem.upper > 0, 1.0, -1.0)
    np.testing.assert_allclose(
        known[solved],
        (sign * problem.ridge * at.x)[solved],
        err_msg="of what a step was solved for",
    )
    others = [i for i in range(len(known)) if problem.row[i] not in problem.row[solved]]
    np.testing.assert_allclose(known[others], slack[others])


def test_a_norm_below_0_is_rounding():
    at = Point(np.ones(n), 0.0, np.full(n, -1e-3))
    losses = sum(c * max(0.0, 1 - s * -1e-3) ** 2 for c, s in zip(C, y, strict=True))
    assert search("svc").objective.value(at, ALL["svc"]) == pytest.approx(losses)


def test_a_point_on_the_way():
    a, b = point("svc", 0.5), point("svc", -1.0, seed=1)
    half = a.towards(b, 0.25)
    np.testing.assert_allclose(half.x, 0.75 * a.x + 0.25 * b.x)
    np.testing.assert_allclose(half.F, 0.75 * a.F + 0.25 * b.F)
    assert half.level == pytest.approx(0.75 * 0.5 - 0.25)


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_step_goes_to_the_minimum_of_the_quadratic(name):
    run, problem = search(name), PROBLEMS[name]
    S = run.objective.support(point(name), ALL[name])
    found = run.step(point(name), S)
    assert np.flatnonzero(found.x).tolist() == S.tolist()
    assert found.x.sum() == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(found.F, K @ problems.fold(problem, found.x, n))
    np.testing.assert_allclose(
        found.F[problem.row[S]] + problem.ridge[S] * found.x[S] + found.level, -problem.linear[S]
    )
    nothing = run.step(point(name), np.empty(0, np.int64))
    assert (nothing.x.any(), nothing.level, nothing.F.any()) == (False, 0.3, False)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_least_value_on_a_line(name):
    run, inside = search(name), np.arange(len(PROBLEMS[name].row)) % 4 > 0
    inner = 0
    for seed in range(12):
        old, new = point(name, 0.5, seed), point(name, -0.7, seed + 50)
        new = old.towards(new, 3.0 if seed % 2 else 0.2)
        t = run.objective.line_search(old, new, inside)
        wanted = minimize_scalar(
            lambda t, old=old, new=new: primal(name, old.towards(new, t), inside),
            bounds=(0, 1),
            method="bounded",
        )
        inner += 0 < t < 0.999
        assert 0 <= t <= 1
        assert primal(name, old.towards(new, t), inside) <= wanted.fun * (1 + 1e-12)
    assert 0 < inner < 12


class Counted:
    """NumPy, with a count of the calls of where: one for each derivative on a line."""

    def __init__(self):
        self.calls = 0

    def __getattr__(self, name):
        return getattr(np, name)

    def where(self, *arguments):
        self.calls += 1
        return np.where(*arguments)


def test_few_derivatives_find_the_least_value():
    run, counted = search("svc"), Counted()
    run.objective.xp = counted
    for seed in range(1, 12, 2):
        old = point("svc", 0.5, seed)
        counted.calls = 0
        run.objective.line_search(old, old.towards(point("svc", -0.7, seed + 50), 3.0), ALL["svc"])
        assert 1 <= counted.calls <= 12


def refined(monkeypatch, *sizes):
    """The sizes of the residuals that a refinement meets, one after the other; which point it
    returns, and how often it solved."""
    run, S = search("svc"), np.arange(n)
    problem, solved = PROBLEMS["svc"], []

    def at(size):
        x = np.full(n, 1.0 * len(solved))
        F = -problem.linear - problem.ridge * x - 0.3 - size
        return Point(x, 0.3, F)

    def solve(S, right, total):
        solved.append((right, total))
        return np.ones(n), 0.0

    left = list(sizes)
    monkeypatch.setattr(run, "_solve", solve)
    monkeypatch.setattr(run, "_point", lambda S, x, level: at(left.pop(0)))
    found = run.refine(at(left.pop(0)), S)
    return int(found.x[0]), solved


def test_residuals_are_solved_for_as_long_as_that_halves_them(monkeypatch):
    best, solved = refined(monkeypatch, 1.0, 0.4, 0.1, 0.01, 1e-3)
    assert (best, len(solved)) == (3, 4), "four times at most; the last is not looked at"
    np.testing.assert_allclose(solved[0][0], 1.0)
    assert [total for _, total in solved] == [0.0, -30.0, -60.0, -90.0]
    best, solved = refined(monkeypatch, 1.0, 0.6, 0.1)
    assert (best, len(solved)) == (0, 1), "not halved"
    best, solved = refined(monkeypatch, 1.0, 0.4, 0.3)
    assert (best, len(solved)) == (1, 2)
    best, solved = refined(monkeypatch, 1.0, 1e-16)
    assert (best, len(solved)) == (1, 1), "rounding"


class Steps:
    """Stands for the parts of minimise: support sets and primal values as told."""

    def __init__(self, monkeypatch, run, sets, values):
        self.run, self.values, self.taken, self.lines = run, list(values), 0, 0
        sets = [np.array(S) for S in sets]
        self.refined = False
        point = Point(np.zeros(n), 0.0, np.zeros(n))

        def step(at, S):
            self.taken += 1
            return point

        monkeypatch.setattr(run, "step", step)
        monkeypatch.setattr(
            run.objective, "support", lambda *_: sets.pop(0) if len(sets) > 1 else sets[0]
        )
        monkeypatch.setattr(
            run.objective,
            "value",
            lambda *_: self.values.pop(0) if len(self.values) > 1 else self.values[0],
        )
        monkeypatch.setattr(
            run.objective, "line_search", lambda *_: setattr(self, "lines", self.lines + 1) or 0.5
        )
        monkeypatch.setattr(run, "refine", lambda at, S: setattr(self, "refined", True) or at)
        self.point = point


def test_newton_steps_end_where_the_support_set_stays(monkeypatch):
    for rough in (0.0, 0.05):
        run = search("svc")
        steps = Steps(monkeypatch, run, [[1, 2], [1, 2, 3], [1, 2], [1, 2]], [5.0, 4.0, 3.0, 2.0])
        run.minimise(steps.point, ALL["svc"], rough)
        assert (steps.taken, run.steps, steps.lines, steps.refined) == (3, 3, 0, rough == 0)


def test_a_subset_is_left_when_its_support_set_hardly_changes(monkeypatch):
    whole = list(range(20))
    for changed, rough, taken in (([0], 0.05, 1), ([0, 1], 0.05, 2), ([0], 0.0, 2)):
        run = search("svc")
        steps = Steps(
            monkeypatch, run, [whole, [i for i in whole if i not in changed]], [5.0, 4.0, 3.0]
        )
        run.minimise(steps.point, ALL["svc"], rough)
        assert steps.taken == taken


def test_where_the_primal_rises_the_line_is_searched(monkeypatch):
    run = search("svc")
    steps = Steps(monkeypatch, run, [[1], [2], [3], [3]], [5.0, 6.0, 4.0])
    run.minimise(steps.point, ALL["svc"], 0.0)
    assert (steps.taken, steps.lines) == (2, 1)


@pytest.mark.parametrize(("values", "taken"), [([5.0], 31), ([5.0] * 11 + [4.0], 42)])
def test_steps_that_do_not_lower_the_primal_end(values, taken, monkeypatch):
    run = search("svc")
    steps = Steps(monkeypatch, run, [[k] for k in range(200)], values)
    run.minimise(steps.point, ALL["svc"], 0.0)
    assert steps.taken == taken


@pytest.mark.parametrize(
    ("rows", "sizes"),
    [
        (1000, [1000]),
        (1023, [1023]),
        (1024, [512, 1024]),
        (3000, [750, 1500, 3000]),
        (3100, [775, 1550, 3100]),
        (3073, [768, 1536, 3073]),
    ],
)
def test_subsets_double(rows, sizes, monkeypatch):
    run, seen = search("svc"), []
    run.n, run.row = rows, np.arange(rows)

    def minimise(at, inside, rough):
        seen.append((int(inside.sum()), rough))
        sets.append(np.flatnonzero(inside))
        return at

    sets = []
    monkeypatch.setattr(run, "minimise", minimise)
    monkeypatch.setattr(run, "begin_at", lambda start: "begun")
    last, reason = run.run(None)
    assert seen == [(size, 0.05 if size < rows else 0.0) for size in sizes]
    assert reason is None
    assert (last.x.any(), last.level, last.F.any()) == (False, 0.0, False)
    for few, more in itertools.pairwise(sets):
        assert np.isin(few, more).all()
    seen.clear()
    assert run.run(np.ones(rows)) == ("begun", None)
    assert seen == [(rows, 0.0)], "from a start at once on all"
    seen.clear()
    run.run(np.zeros(rows))
    assert [size for size, _ in seen] == sizes, "zeros are no start"


def test_a_stop_keeps_the_last_point():
    run = search("svc", Monitor(max_iter=1))
    last, reason = run.run(None)
    assert reason is Status.MAX_ITER
    assert run.steps == 1
    assert last is run.last


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_start_brings_its_level(name):
    run, problem = search(name), PROBLEMS[name]
    found = primal_newton.solve(problem, KernelWorkspace(MatrixSource(K), Monitor()), 1e-6)
    at = run.begin_at(found.b)
    np.testing.assert_allclose(at.F, K @ problems.fold(problem, found.b, n))
    assert at.level == pytest.approx(found.levels[0].value, abs=1e-9)
    nothing = run.begin_at(np.zeros(len(problem.row)))
    assert (nothing.level, nothing.x.any()) == (0.0, False)
    assert run.diagonal == 1.5


def test_of_an_early_stop_the_best_multiple_is_kept():
    problem = PROBLEMS["svc"]
    b = y * rng.uniform(0.1, 1.0, n)
    state = State(problem, b, K @ b, b, K @ b)
    theta = primal_newton._best_multiple(state)

    def dual(t):
        return 0.5 * t * t * (b @ K @ b + problem.ridge @ b**2) + t * (problem.linear @ b)

    assert dual(theta) <= min(dual(0.999 * theta), dual(1.001 * theta))
    assert primal_newton._best_multiple(State(problem, -b, -K @ b, b, b)) == 0.0
    assert primal_newton._best_multiple(State(problem, 0 * b, 0 * b, b, b)) == 0.0
    stopped = primal_newton.solve(
        problem, KernelWorkspace(MatrixSource(K), Monitor(max_iter=1)), 1e-6
    )
    assert stopped.ended is Status.MAX_ITER
    again = State(problem, stopped.b, K @ stopped.b, stopped.b, K @ stopped.b)
    np.testing.assert_allclose(stopped.kernel_part, again.F, atol=1e-12)
    if stopped.b.any():
        assert primal_newton._best_multiple(again) == pytest.approx(1.0)


def test_problems_without_a_ridge_or_with_other_bounds_are_refused():
    good = PROBLEMS["svc"]
    nearly = good.ridge.copy()
    nearly[3] = 0.0
    finite = good.upper.copy()
    finite[np.flatnonzero(y > 0)[0]] = 2.0
    both = good.lower.copy()
    both[np.flatnonzero(y > 0)[0]] = -np.inf
    start = np.zeros(n)
    start[5] = 1.0
    for bad in (
        problems.c_svc(y, np.full(n, np.inf)),
        good._replace(ridge=nearly),
        good._replace(upper=finite),
        good._replace(lower=both),
        good._replace(start=start),
        problems.nu_svr(z, C, 0.4)._replace(ridge=np.ones(2 * n), start=np.zeros(2 * n)),
    ):
        with pytest.raises(ValueError, match="needs a squared loss and a finite C"):
            primal_newton._refuse_other_problems(bad)
    for problem in PROBLEMS.values():
        primal_newton._refuse_other_problems(problem)


def systems(memory=1e9, pause=lambda: None):
    cache = RowCache(MatrixSource(K), np.float64, 0.0)
    return NewtonSystems(PROBLEMS["svc"], cache, 1.5, memory, pause)


def test_a_new_factor_is_made_only_where_the_last_does_not_serve(monkeypatch):
    run, made = systems(), []
    original = run._new_factor

    def factor(S):
        assert run.factor is None, "its memory is needed"
        made.append(len(S))
        return original(S)

    monkeypatch.setattr(run, "_new_factor", factor)
    everything = np.arange(n)
    for S in (
        everything[:-1],
        everything,
        everything[1:],
        everything,
        everything[2:],
        everything[3:],
        everything,
    ):
        x, level = run.solve(S, np.ones(len(S)), 0.5)
        Q = K[np.ix_(S, S)] + np.diag(PROBLEMS["svc"].ridge[S])
        np.testing.assert_allclose(Q @ x + level, 1.0)
        assert x.sum() == pytest.approx(0.5)
    assert made == [29, 28], "2 of 29 may change, not 3"


def test_constraints_are_made_once_for_a_support_set(monkeypatch):
    run, S = systems(), np.arange(n)
    run.solve(S, np.ones(n), 0.0)
    monkeypatch.setattr(run, "_constrained", None)
    x, level = run.solve(S.copy(), X[:, 0], 0.25)
    np.testing.assert_allclose((K + np.diag(PROBLEMS["svc"].ridge)) @ x + level, X[:, 0])
    assert x.sum() == pytest.approx(0.25)


def test_a_factor_that_rounding_forbids_to_border_is_made_again(monkeypatch):
    run = systems()
    run.solve(np.arange(29), np.ones(29), 0.0)
    first = run.factor
    monkeypatch.setattr(BorderedFactor, "join", lambda *_: False)
    x, level = run.solve(np.arange(30), np.ones(30), 0.0)
    assert run.factor is not first
    np.testing.assert_allclose((K + np.diag(PROBLEMS["svc"].ridge)) @ x + level, 1.0)


def test_a_solve_that_is_not_finite_is_stalled(monkeypatch):
    run = search("svc")
    for answer in ((np.full(n, np.nan), np.zeros(1)), (np.zeros(n), np.full(1, np.inf)), None):
        monkeypatch.setattr(Constraints, "solve", lambda self, u, total, answer=answer: answer)
        assert run.systems.solve(np.arange(n), np.ones(n), 0.0) is None
        with pytest.raises(Stopped) as stopped:
            run._solve(np.arange(n), np.ones(n), 0.0)
        assert stopped.value.reason is Status.STALLED


def test_memory_of_the_factor():
    with pytest.raises(
        MemoryError, match=r"matrix of the 30 support vectors, 0.0 GiB; 0.0 are available"
    ):
        systems(memory=8 * 30**2 - 1)._new_factor(np.arange(n))
    assert len(systems(memory=8 * 30**2)._new_factor(np.arange(n)).members) == n


def test_shifts_are_tried_in_turn(monkeypatch):
    tried = []

    def factor(values, ridge, pause):
        tried.append(ridge - PROBLEMS["svc"].ridge)

    monkeypatch.setattr(type(HOST), "cholesky_of_values", staticmethod(factor))
    with pytest.raises(ValueError, match="needs a positive semidefinite kernel"):
        systems()._new_factor(np.arange(n))
    shifts = [1.5 * shift for shift in (0.0, 1e-14, 1e-13, 1e-12, 1e-11)]
    np.testing.assert_allclose(tried, np.repeat(shifts, n).reshape(5, n), atol=1e-15)


def test_progress_shows_the_fall_of_the_primal_and_how_far_x_is_off(monkeypatch):
    run, shown, at = search("svc"), [], point("svc")
    run.steps = 4
    monkeypatch.setattr(run.monitor, "wants_report", lambda: True)
    monkeypatch.setattr(run.monitor, "report", lambda *line: shown.append(line))
    inside = np.arange(n) % 3 > 0
    run._report(at, inside, 0.125)
    off = [
        abs(max(0.0, 1 - y[i] * (at.F[i] + 0.3)) - y[i] * at.x[i] / (2 * C[i]))
        for i in range(n)
        if inside[i]
    ]
    assert shown == [(4, 0.125, pytest.approx(max(off)), n)]


# ---- the factor ----------------------------------------------------------------------------------


def values(a, b):
    return K[a, b]


def test_the_factor_is_made_panel_by_panel(monkeypatch):
    monkeypatch.setattr(panels, "ROWS", 7)
    monkeypatch.setattr(panels, "COLUMNS", 5)
    paused, asked = [], []

    def some(a, b):
        part = K[1:, 1:][a, b]
        asked.append(part.shape)
        return part

    L = np.tril(panels.cholesky_in_panels(some, C[1:], lambda: paused.append(1)))
    np.testing.assert_allclose(L @ L.T, K[1:, 1:] + np.diag(C[1:]), atol=1e-12)
    assert len(paused) == 5
    assert asked == [(7, 29), (7, 22), (7, 15), (7, 8), (1, 1)], "the upper triangle, once"
    negative = C.copy()
    negative[20] = -2.0
    assert panels.cholesky_in_panels(values, negative, lambda: None) is None


def test_systems_are_solved_between_pauses(monkeypatch):
    settings(monkeypatch, bordered, columns=8)
    paused, right = [], np.random.default_rng(3).normal(size=(n, 20))
    L = HOST.cholesky_of_values(values, C, lambda: None)
    factor = BorderedFactor(np.arange(n), L, 0.0, HOST, lambda: paused.append(1))
    np.testing.assert_allclose((K + np.diag(C)) @ factor.solve(right), right, atol=1e-10)
    assert len(paused) == 3
    factor.solve(right[:, 0])
    assert len(paused) == 4


# ---- one call ------------------------------------------------------------------------------------


def solved(monkeypatch, cheap, whole, point=None, workers=1):
    """One solve: its solution, and what it made: the cache's source and budget, the memory of the
    factor."""
    made, cache, begin = [], primal_newton.RowCache, _Search.__init__

    def kept(source, dtype, budget, whole=False):
        made.append((type(source).__name__, np.dtype(dtype).name, budget))
        return cache(source, dtype, budget, whole)

    def searched(self, problem, cache, monitor, memory):
        made.append(memory)
        begin(self, problem, cache, monitor, memory)

    with monkeypatch.context() as patch:
        for module in (primal_newton, workspace_module):
            patch.setattr(module, "RowCache", kept)
        patch.setattr(_Search, "__init__", searched)
        patch.setattr(primal_newton, "free_memory", lambda: 1000_000)
        settings(patch, primal_newton, matrix_rows=whole)
        if point is not None:
            patch.setattr(_Search, "run", lambda self, start: point)
        source = NativeSource(Kernel.rbf(gamma=0.4), X)
        source.cheap = cheap
        workspace = KernelWorkspace(source, Monitor(), 3.0)
        workspace.side_by_side = workers
        return primal_newton.solve(PROBLEMS["svc"], workspace, 1e-6), made


def test_rows_of_dear_kernels_are_kept(monkeypatch):
    for cheap, whole, workers, source, budget in (
        (True, 29, 1, "NativeSource", 0.0),
        (False, 29, 1, "NativeSource", 3.0 * 2**20),
        (False, 29, 2, "NativeSource", 1.5 * 2**20),
        (True, 30, 1, "MatrixSource", 0.0),
    ):
        found, made = solved(monkeypatch, cheap, whole, workers=workers)
        assert made == [(source, "float64", budget), pytest.approx(800_000 / workers)]
        assert found.ended is None


def test_a_point_that_is_not_feasible_is_made_so(monkeypatch):
    x = np.where(np.arange(n) == 3, -0.5 * y, 0.4 * y)
    gram = K / 1.5
    found, _ = solved(monkeypatch, True, 29, (Point(x, 0.1, gram @ x), Status.MAX_ITER))
    assert np.all(found.b * y >= 0)
    assert found.b.sum() == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(found.kernel_part, gram @ found.b, atol=1e-12)
    again = State(PROBLEMS["svc"], found.b, gram @ found.b, found.b, found.b)
    assert primal_newton._best_multiple(again) == pytest.approx(1.0), (
        "as far from the optimum as it is"
    )
    best, _ = solved(monkeypatch, True, 29)
    kept, _ = solved(
        monkeypatch, True, 29, (Point(best.b, best.levels[0].value, gram @ best.b), None)
    )
    np.testing.assert_allclose(kept.b, best.b, rtol=1e-13)


def test_the_diagonal_is_that_of_the_greatest_row():
    for row in (0, 1, 29):
        matrix = K.copy()
        matrix[row, row] = 7.0
        assert (
            _Search(
                PROBLEMS["svc"], RowCache(MatrixSource(matrix), np.float64, 0.0), Monitor(), 1e9
            ).diagonal
            == 7.0
        )
    assert _Search(
        PROBLEMS["svc"], RowCache(MatrixSource(0.1 * K), np.float64, 0.0), Monitor(), 1e9
    ).diagonal == pytest.approx(0.15)
