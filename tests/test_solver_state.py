"""The state of a kernel machine: what a spot check looks at, when the work may be stopped, when it
has no minimum, what creeps."""

import numpy as np
import pytest

from maxmargin.core.choose import HOST
from maxmargin.kernel import problems, state
from maxmargin.kernel.block import Progress
from maxmargin.kernel.sources import Source
from maxmargin.kernel.state import State
from maxmargin.monitor import Monitor
from maxmargin.verdict import GAP

n = 600
y = np.resize([1.0, -1.0], n)
C = np.linspace(0.5, 2.0, n)


class Diagonal(Source):
    """The unit matrix, which notes what is asked of it."""

    def __init__(self, rows=n, suspects=()):
        self.n_rows, self.n_columns, self.backend = rows, rows, HOST
        self.listed, self.asked, self.products = np.array(suspects, np.int64), [], []

    def suspects(self, count):
        self.asked.append(count)
        return self.listed

    def block(self, a, b, dtype):
        return np.eye(self.n_rows, dtype=dtype)[a]

    def add_product(self, a, coef, b, out, dtype):
        self.products.append((len(a), np.dtype(dtype)))
        whole = np.zeros(self.n_rows)
        whole[a] = coef[:, 0]
        out += whole if b is None else whole[b]


def at_zero(problem=None, rows=n):
    problem = problem or problems.c_svc(y[:rows], C[:rows])
    return State(
        problem,
        np.zeros(len(problem.row)),
        np.zeros(rows),
        np.zeros(len(problem.row)),
        np.zeros(rows),
        diagonal=1.0,
    )


def test_a_spot_check_looks_at_the_neighbours_of_the_coefficients_that_moved_farthest():
    """C grows with the row: the last eight move farthest, and each is its own neighbour."""
    seen = [i for i in range(n) if i not in set(DRAWN.tolist())]
    for wrong in seen[-8:]:
        at = at_zero()
        at.b[:] = at.F[:] = y * C
        at.F[wrong] += 1e-3
        assert at.spot_check(Diagonal(), at.violation + 1e-6) is (wrong < n - 8), wrong


DRAWN = np.random.default_rng(0).choice(n, 256, replace=False)


def test_a_spot_check_looks_at_256_rows_and_at_64_suspects():
    """Of the suspects the worse half need not agree: they are exact from then on."""
    others = [i for i in range(n) if i not in set(DRAWN.tolist())]
    suspects = others[:4]
    for wrong, passes in (
        (suspects[0], True),
        (suspects[1], True),
        (suspects[2], False),
        (suspects[3], False),
        (DRAWN[7], False),
        (others[9], True),
    ):
        at, source = at_zero(), Diagonal(suspects=suspects)
        at.b[:] = y * C
        at.F[:] = y * C
        at.F[wrong] += 1e-3
        tol = at.violation + 1e-6
        assert at.spot_check(source, tol) is passes, wrong
        assert source.asked == [64]
        assert source.products[:1] == [(n, np.float64)]
        assert (
            at.F[wrong] == (y * C + 1e-3 * np.eye(n)[wrong] if wrong == others[9] else y * C)[wrong]
        )


def test_rows_that_did_not_move_are_not_asked_for():
    at, source = at_zero(), Diagonal()
    at.b[:3], at.b_exact[:2] = [0.5, -0.4, 0.25], [0.5, -0.4]
    at.F_exact[:2] = [0.5, -0.4]
    assert at.make_exact(source, Monitor())
    assert source.products == [(1, np.float64)]
    assert at.F[:4].tolist() == [0.5, -0.4, 0.25, 0.0]


@pytest.mark.parametrize("stopped", ["interrupted", "time", "max_iter", None])
def test_long_products_can_be_stopped_between_their_parts(stopped):
    rows = 6000  # 5,208 at once
    problem = problems.c_svc(np.resize([1.0, -1.0], rows), np.ones(rows))
    at, source, monitor = (
        at_zero(problem, rows),
        Diagonal(rows),
        Monitor(max_iter=0 if stopped == "max_iter" else -1),
    )
    at.b = 0.5 * problem.upper + 0.5 * problem.lower
    if stopped == "interrupted":
        monitor.interrupted.set()
    if stopped == "time":
        monitor.deadline = 0.0
    ends = stopped in ("interrupted", "time")
    assert at.make_exact(source, monitor) is not ends
    assert [count for count, _ in source.products] == ([5208] if ends else [5208, 792])
    assert np.array_equal(at.F, at.b) is not ends
    assert at.b_exact.any() != ends
    source.products.clear()
    b = at.b.copy()
    at = at_zero(problem, rows)
    assert at.begin_at(b, source, monitor) is not ends
    assert {dtype for _, dtype in source.products} == {np.dtype(np.float32)}
    assert np.array_equal(at.b, b) is not ends


def test_a_gap_is_small_where_there_is_nothing_to_compare_it_with():
    hard = problems.c_svc(y, np.full(n, np.inf))
    assert at_zero(hard).gap_is_small(1e-3), "the primal is infeasible: infinite"
    at = at_zero(problems.one_class(C, 0.2))
    at.b = 0.01 * C
    at.F = np.where(np.arange(n) < 300, 1.0, -1.0) * 1e-14
    assert at.gap > GAP * 1e-3 * abs(at.objective)
    total = float(np.sum(at.b))
    for scale, small in ((1.01, True), (0.99, False)):
        at.diagonal = scale * at.gap / (state.SETTINGS.nothing * total**2)
        assert at.gap_is_small(1e-9) is small, "rounding of an objective that is 0"


def test_hulls_that_meet_have_no_minimum():
    for problem in (problems.nu_svc(y, C, 0.4), problems.hard_margin(y)):
        at = State(
            problem,
            problem.start.copy(),
            np.zeros(n),
            problem.start.copy(),
            np.zeros(n),
            diagonal=4.0,
        )
        half = np.abs(at.b).sum() / 2
        first = np.flatnonzero(at.b)[0]
        for share, none in ((0.99, True), (1.01, False)):
            at.F[:] = 0.0
            at.F[problem.row[first]] = share * 1e-12 * 4.0 * half**2 / at.b[first]
            assert at.no_minimum() is none
        at.b[:] = 0.0
        assert not at.no_minimum()
    soft = at_zero()
    soft.b[:] = y * C
    assert not soft.no_minimum(), "bounded"


def test_progress_counts_rounds_and_steps(monkeypatch):
    """A look at the end of each window: of 100 rounds, or 300 pair steps for each variable."""
    monkeypatch.setattr(State, "objective", 5.0)
    monkeypatch.setattr(State, "violation", 1.0)
    monkeypatch.setattr(State, "gap", np.inf)
    for steps, windows in (
        (0, [200, 300]),
        (3 * n, [200, 300]),
        (100 * n, [6, 9]),
        (300 * n, [2, 3]),
    ):
        at, progress, ended = at_zero(), Progress(), []
        for round_ in range(1, 301):
            at.steps += steps
            if progress.creeps(at):
                ended.append(round_)
        assert ended[:2] == windows


def test_what_falls_does_not_creep(monkeypatch):
    monkeypatch.setattr(State, "gap", 0.0)
    for objective, violation, creeps in (
        ((5.0, 5.0 - 4e-10), (1.0, 1.0), True),
        ((5.0, 5.0 - 6e-10), (1.0, 1.0), False),
        ((5.0, 5.0), (1.0, 0.91), True),
        ((5.0, 5.0), (1.0, 0.89), False),
        ((-5.0, -4.0), (1.0, 2.0), True),
    ):
        at, progress = at_zero(), Progress(rounds=99)
        monkeypatch.setattr(State, "objective", objective[0])
        monkeypatch.setattr(State, "violation", violation[0])
        assert not progress.creeps(at)
        progress.rounds = 99
        monkeypatch.setattr(State, "objective", objective[1])
        monkeypatch.setattr(State, "violation", violation[1])
        assert progress.creeps(at) is creeps
        assert (progress.objective, progress.violation) == (min(objective), min(violation))
    monkeypatch.setattr(State, "gap", 995.0)
    progress, at = Progress(99, 0, 5.0, 1.0), at_zero()
    monkeypatch.setattr(State, "objective", 5.0 - 6e-10)
    monkeypatch.setattr(State, "violation", 1.0)
    assert progress.creeps(at), "beside a primal value of 990"


def test_a_problem_without_bounds_falls_for_ever_along_a_slope():
    """Of more than a thousandth of the steepest; a ridge or bounds end it, and so does a norm."""
    for slope, F, problem, none in (
        (1.01e-3, 0.0, {}, True),
        (0.99e-3, 0.0, {}, False),
        (1.0, 0.99e-12, {}, True),
        (1.0, 1.01e-12, {}, False),
        (1.0, 0.0, {"ridge": np.full(n, 0.5)}, False),
        (1.0, 0.0, {"upper": np.where(y > 0, 9.0, 0.0)}, False),
    ):
        linear = np.zeros(n)
        linear[:2] = 1.0 - slope, 1.0
        endless = problems.c_svc(y, np.full(n, np.inf))._replace(linear=linear, **problem)
        at = at_zero(endless)
        at.b[:2], at.F[0] = [1.0, -1.0], F
        assert at.no_minimum() is none, (slope, F)
