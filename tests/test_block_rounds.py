"""Rounds of the block solver: when they end, what they aim at, how often F is made exact, which
precision takes over."""

import numpy as np
import pytest

from block_cases import SOURCE, C, K, X, between_bounds, n, state_of, y
from helpers import settings
from maxmargin.core.backend import Survey
from maxmargin.kernel import block, problems, working_set
from maxmargin.kernel import workspace as workspace_module
from maxmargin.kernel.cache import RowCache
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.sources import MatrixSource, NativeSource
from maxmargin.kernel.state import State
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.monitor import Monitor
from maxmargin.status import Status

EPS32 = 2.0**-23


# ---- rounds --------------------------------------------------------------------------------------


class Rounds:
    """Stands for working_set.solve.

    Notes what each round was asked for, and moves nothing unless told.
    """

    def __init__(self, monkeypatch, steps=1, act=None):
        self.calls, self.steps, self.act = [], steps, act
        monkeypatch.setattr(working_set, "solve", self)

    def __call__(self, state, cache, active, G, tol, close, monitor):
        self.calls.append((len(active), tol, close))
        if self.act is not None:
            self.act(state, len(self.calls))
        return self.steps


def cache_of(dtype=np.float32):
    return RowCache(SOURCE, dtype, 0.0)


def test_rounds_end_at_the_tolerance_or_at_the_rounding_of_the_rows(monkeypatch):
    problem = problems.c_svc(y, C)
    at = state_of(problem, between_bounds(problem))
    rounds = Rounds(monkeypatch, 0)
    assert block._descend(at, cache_of(), 1.01 * at.violation, Monitor()) is None
    assert not rounds.calls
    assert block._descend(at, cache_of(), 0.99 * at.violation, Monitor()) is Status.STALLED, (
        "no step was possible"
    )
    assert len(rounds.calls) == 1
    at.b_exact = at.b + 0.5
    for scale, ended in ((1.01, None), (0.99, Status.STALLED)):
        at.diagonal = scale * at.violation / (EPS32 * 0.5 * np.sqrt(n))
        assert block._descend(at, cache_of(), 1e-6, Monitor()) is ended
        assert block._descend(at, cache_of(np.float64), 1e-6, Monitor()) is Status.STALLED, (
            "float64 has no such floor"
        )


def test_what_a_round_aims_at(monkeypatch):
    """Far from the target at a tenth of the violation; close to it at the target, with room for
    those left out."""
    problem = problems.c_svc(y, C)
    at = state_of(problem, between_bounds(problem))
    violation = at.violation
    rounds = Rounds(monkeypatch, 0)
    for size, tol, wanted, close in (
        (40, violation / 40, 0.9 * violation / 40, True),
        (40, violation / 60, 0.1 * violation, False),
        (40, violation / 4, 0.9 * violation / 4, True),
        (60, violation / 60, violation / 60, False),
        (60, violation / 40, violation / 40, True),
    ):
        monkeypatch.setattr(working_set, "size_for", lambda *_, size=size: size)
        block._descend(at, cache_of(np.float64), tol, Monitor())
        assert rounds.calls[-1] == (size, pytest.approx(wanted), close)
    monkeypatch.setattr(working_set, "size_for", lambda *_: n)
    margins = problems.nu_svc(y, C, 0.4)
    at = state_of(margins, margins.start)
    unit = at.unit(at.G)
    block._descend(at, cache_of(np.float64), at.violation / 60, Monitor())
    assert rounds.calls[-1] == (60, pytest.approx(0.1 * at.violation * unit), False), (
        "in units of the margin"
    )


def test_rounds_without_progress_are_stalled(monkeypatch):
    problem = problems.c_svc(y, C)
    rounds = Rounds(monkeypatch)
    assert (
        block._descend(state_of(problem, between_bounds(problem)), cache_of(), 1e-3, Monitor())
        is Status.STALLED
    )
    assert len(rounds.calls) == 50

    def better(state, k):  # after 30 rounds one that lowers the objective
        if k == 30:
            state.F *= 0.9

    rounds = Rounds(monkeypatch, act=better)
    at = state_of(problem, 0.5 * (problem.lower + problem.upper))
    assert block._descend(at, cache_of(), 1e-3, Monitor()) is Status.STALLED
    assert len(rounds.calls) == 80


def test_rounds_stop_where_the_monitor_says(monkeypatch):
    problem = problems.c_svc(y, C)
    at = state_of(problem, between_bounds(problem), steps=20)
    rounds, shown = Rounds(monkeypatch), []
    monitor = Monitor(max_iter=20)
    monkeypatch.setattr(monitor, "wants_report", lambda: True)
    monkeypatch.setattr(monitor, "report", lambda *line: shown.append(line))
    assert block._descend(at, cache_of(), 1e-3, monitor) is Status.MAX_ITER
    assert not rounds.calls
    assert shown == [(20, pytest.approx(at.gap), pytest.approx(at.violation), at.support_vectors)]


def test_rows_that_lead_above_a_primal_value_are_given_up(monkeypatch):
    problem = problems.c_svc(y, C)
    for convex in (True, False):
        at = state_of(problem, between_bounds(problem), convex=convex)
        exact = at.b_exact.copy()

        def fall(state, k):
            state.b, state.F = 0.5 * (problem.lower + problem.upper), -1e3 * y

        rounds = Rounds(monkeypatch, act=fall)
        assert block._descend(at, cache_of(), 1e-3, Monitor()) is Status.STALLED
        assert (len(rounds.calls) == 1) is convex
        assert np.array_equal(at.b, exact) is convex
        assert np.array_equal(at.F, at.F_exact) is convex


class Told:
    """A state whose answers are given, one list for each question; the last answer is repeated."""

    indefinite = False

    def __init__(self, **answers):
        self.answers, self.exact, self.steps = answers, 0, 5

    def _next(self, name):
        listed = self.answers[name]
        return listed.pop(0) if len(listed) > 1 else listed[0]

    @property
    def violation(self):
        return self._next("violation")

    def spot_check(self, source, tol):
        assert tol == 1e-3
        return self._next("checked")

    def gap_excess(self, tol):
        assert tol == 0.5e-3
        return self._next("excess")

    def make_exact(self, source, monitor):
        self.exact += 1
        return self._next("made")


STALLED = Status.STALLED


@pytest.mark.parametrize(
    ("answers", "wanted", "targets", "exact"),
    [
        ({"ended": [None], "checked": [True], "excess": [1.0]}, None, 1, 0),
        ({"ended": [Status.MAX_ITER]}, Status.MAX_ITER, 1, 1),
        ({"ended": [STALLED], "checked": [True], "excess": [1.0]}, None, 1, 0),
        ({"ended": [STALLED], "checked": [True], "excess": [1.5]}, STALLED, 1, 0),
        ({"ended": [None], "checked": [False], "made": [False]}, Status.INTERRUPTED, 1, 1),
        ({"ended": [None], "checked": [False], "violation": [1e-3], "excess": [1.0]}, None, 1, 1),
        ({"ended": [STALLED], "checked": [False], "violation": [1.1e-3]}, STALLED, 1, 1),
        # from an exact F again as long as that halves the violation
        ({"ended": [None], "checked": [False], "violation": [8e-3, 4e-3, 2.1e-3]}, STALLED, 3, 3),
        (
            {
                "ended": [None],
                "checked": [False],
                "violation": [8e-3, 3.9e-3, 1e-3, 1e-3],
                "excess": [1.0],
            },
            None,
            3,
            3,
        ),
        (
            {"ended": [None], "checked": [False], "violation": [64e-3, 16e-3, 4e-3, 2e-3]},
            STALLED,
            4,
            4,
        ),
        # where the gap is too large the target falls with it, from an exact F if rounding stopped
        # the descent
        (
            {"ended": [None], "checked": [True], "excess": [4, 4, 1], "violation": [1e-4, 1e-5]},
            None,
            [0.5e-3, 0.25e-4, 0.25e-5],
            0,
        ),
        (
            {"ended": [None], "checked": [True], "excess": [1.5], "violation": [0.6e-3]},
            STALLED,
            [0.5e-3, 0.5e-4, 0.5e-5, 0.5e-6],
            4,
        ),
        (
            {"ended": [None], "checked": [True], "excess": [1.5], "violation": [0.0]},
            STALLED,
            [0.5e-3, 0.5e-6, 0.5e-9, 0.5e-12],
            0,
        ),
    ],
)
def test_refinement(answers, wanted, targets, exact, monkeypatch):
    ended, asked = answers.pop("ended"), []
    state, monitor = Told(**{"made": [True], **answers}), Monitor()

    def descend(state, cache, tol, monitor):
        asked.append(tol)
        return ended.pop(0) if len(ended) > 1 else ended[0]

    monkeypatch.setattr(block, "_descend", descend)
    monkeypatch.setattr(monitor, "stop", lambda steps: Status.INTERRUPTED if steps == 5 else None)
    assert block._refine(state, SOURCE, cache_of(), 1e-3, monitor) is wanted
    targets = targets if isinstance(targets, list) else [0.5e-3] * targets
    assert asked == pytest.approx(targets, rel=1e-9, abs=0.0)
    assert state.exact == exact


def test_float64_rows_are_tried_once(monkeypatch):
    calls = []
    monkeypatch.setattr(block, "_descend", lambda *_: calls.append(1))
    state = Told(checked=[False], made=[True], violation=[8e-3, 1e-3])
    assert block._refine(state, SOURCE, cache_of(np.float64), 1e-3, Monitor()) is STALLED
    assert len(calls) == 1
    state = Told(checked=[True], small=[False])
    state.indefinite = True
    assert block._refine(state, SOURCE, cache_of(np.float64), 1e-3, Monitor()) is None, (
        "there is no gap to look at"
    )


# ---- which precision -----------------------------------------------------------------------------


class Refinements:
    """Stands for _refine: ends as told, and notes the caches it was given."""

    def __init__(self, monkeypatch, *ends):
        self.ends, self.caches = list(ends), []
        settings(monkeypatch, workspace_module, small=10)
        monkeypatch.setattr(block, "_refine", self)

    def __call__(self, state, source, cache, tol, monitor):
        self.state = state
        self.caches.append((cache.dtype, cache.complete, cache.capacity))
        end = self.ends.pop(0)
        state.b[:], state.F[:] = 0.25 * y, 7.0
        if isinstance(end, Exception):
            raise end
        return end


class Dear(NativeSource):
    """Kernel values that are worth keeping."""

    def __init__(self):
        super().__init__(Kernel.rbf(gamma=0.4), X)
        self.cheap = False


SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


def test_float64_takes_over_where_float32_is_stalled(monkeypatch):
    problem = problems.c_svc(y, C)
    for ends, dtypes, ended in (
        ([None], [SINGLE], None),
        ([Status.MAX_ITER], [SINGLE], Status.MAX_ITER),
        ([STALLED, None], [SINGLE, DOUBLE], None),
        ([STALLED, STALLED], [SINGLE, DOUBLE], STALLED),
        ([block.KernelNotFinite("beyond"), None], [SINGLE, DOUBLE], None),
    ):
        refine = Refinements(monkeypatch, *ends)
        found = block.solve(problem, KernelWorkspace(SOURCE, Monitor()), 1e-3)
        assert found.ended is ended
        assert [dtype for dtype, *_ in refine.caches] == dtypes
        assert found.diagonal == 1.0
    refine = Refinements(monkeypatch, STALLED, block.KernelNotFinite("beyond"))
    with pytest.raises(block.KernelNotFinite):
        block.solve(problem, KernelWorkspace(SOURCE, Monitor()), 1e-3)
    seen = []
    refine = Refinements(monkeypatch, block.KernelNotFinite("beyond"))
    settings(monkeypatch, block, refinements=0)

    def second(state, source, cache, tol, monitor, first=refine):
        if cache.dtype == SINGLE:
            return first(state, source, cache, tol, monitor)
        seen.append((state.b.any(), state.F.any()))
        return None

    monkeypatch.setattr(block, "_refine", second)
    block.solve(problem, KernelWorkspace(SOURCE, Monitor()), 1e-3)
    assert seen == [(False, False)], "from where F was exact"


def test_rows_that_are_kept(monkeypatch):
    problem = problems.c_svc(y, C)
    for source, whole, cache_size, wanted in (
        (SOURCE, 60, 200, (SINGLE, True, 60)),
        (SOURCE, 59, 200, (SINGLE, False, 0)),
        (Dear(), 60, 200, (SINGLE, True, 60)),
        (Dear(), 59, 200, (SINGLE, False, 60)),
        (Dear(), 59, 7.5 * 60 * 4 / 2**20, (SINGLE, False, 7)),
        (MatrixSource(K), 60, 200, (DOUBLE, True, 60)),
    ):
        refine = Refinements(monkeypatch, None)
        settings(monkeypatch, block, one_tile=whole)
        block.solve(problem, KernelWorkspace(source, Monitor(), cache_size), 1e-3)
        assert refine.caches == [wanted]
    refine = Refinements(monkeypatch, None)
    settings(monkeypatch, block, one_tile=59)
    block.solve(
        problem,
        KernelWorkspace(Dear(), Monitor(), 15 * 60 * 4 / 2**20).share(Monitor(), 2, 2),
        1e-3,
        None,
    )
    assert refine.caches[0][-1] == 7, "shared by two workers"


def test_where_a_solver_begins(monkeypatch):
    """At the given start, made exact; without one, a large problem starts from a subsample.

    F is 0 where b is.
    """
    guessed, nu, plain = [], problems.nu_svc(y, C, 0.4), problems.c_svc(y, C)

    start = 0.3 * y * C
    for problem, given, whole, accepts, asked, exact in (
        (plain, None, 10, True, False, False),
        (nu, None, 10, True, True, False),
        (nu, None, 10, False, True, True),
        (nu, None, 60, True, False, True),
        (nu, nu.start, 10, True, False, True),
        (plain, start, 10, True, False, True),
    ):
        refine = Refinements(monkeypatch, None)
        settings(monkeypatch, block, one_tile=whole)
        monkeypatch.setattr(
            block,
            "start_from_subsample",
            lambda *_, accepts=accepts: guessed.append(True) or accepts,
        )
        made = []
        original = State.make_exact
        with monkeypatch.context() as patch:
            patch.setattr(
                State,
                "make_exact",
                lambda *a, original=original, made=made: made.append(True) or original(*a),
            )
            guessed.clear()
            block.solve(problem, KernelWorkspace(SOURCE, Monitor(), 200), 1e-3, given)
        assert (bool(guessed), bool(made)) == (asked, exact)
        if exact:
            np.testing.assert_allclose(
                refine.state.F_exact,
                K @ problems.fold(problem, refine.state.b_exact, n),
                atol=1e-12,
            )
            assert refine.state.b_exact.any()


# ---- limits --------------------------------------------------------------------------------------


def stuck(monkeypatch, act=None, violation=lambda k: 1.0):
    """Rounds from a b whose objective is -sum |b|; the violation is as told, round by round.

    How many there are.
    """
    problem = problems.c_svc(y, C)
    at = state_of(problem, 0.5 * y * C)
    at.F[:] = at.F_exact[:] = 0.0
    rounds = Rounds(monkeypatch, act=act)
    told = property(lambda _: violation(len(rounds.calls) + 1))
    monkeypatch.setattr(Survey, "violation", told)
    assert block._descend(at, cache_of(), 1e-3, Monitor()) is STALLED
    return len(rounds.calls)


@pytest.mark.parametrize(("share", "rounds"), [(1 + 1e-12, 80), (1 + 1e-14, 50), (0.5, 50)])
def test_what_progress_of_the_objective_is(share, rounds, monkeypatch):
    def act(state, k):
        if k == 30:
            state.b = state.b * share

    assert stuck(monkeypatch, act) == rounds


@pytest.mark.parametrize(("share", "rounds"), [(0.98, 80), (0.995, 50), (1.5, 50)])
def test_what_progress_of_the_violation_is(share, rounds, monkeypatch):
    assert stuck(monkeypatch, violation=lambda k: share if k > 30 else 1.0) == rounds


def test_rounds_end_at_a_violation_of_just_the_tolerance(monkeypatch):
    at = state_of(problems.c_svc(y, C))
    Rounds(monkeypatch, 0)
    monkeypatch.setattr(Survey, "violation", property(lambda _: 0.25))
    assert block._descend(at, cache_of(), 0.25, Monitor()) is None


def test_the_ceiling_of_dual_values(monkeypatch):
    problem = problems.c_svc(y, C)
    for share, rounds in ((0.99, 0), (1.01, 1)):
        at = state_of(problem, 0.05 * y * C)
        dual = -at.objective
        assert dual > 0
        monkeypatch.setattr(State, "ceiling", share * dual)
        run = Rounds(monkeypatch, 0)
        assert block._descend(at, cache_of(), 1e-3, Monitor()) is STALLED
        assert len(run.calls) == rounds


def test_problems_up_to_a_size_are_one_matrix_in_float64(monkeypatch):
    small = []

    def solve_small(state, matrix, tol, monitor):
        small.append(matrix.dtype)

    monkeypatch.setattr(block, "_solve_small", solve_small)
    for polished, whole in ((60, [DOUBLE]), (59, [])):
        refine = Refinements(monkeypatch, None)
        settings(monkeypatch, workspace_module, small=polished)
        small.clear()
        block.solve(problems.c_svc(y, C), KernelWorkspace(SOURCE, Monitor()), 1e-3)
        assert small == whole
        assert len(refine.caches) == 1 - len(whole)


def test_the_diagonal_is_that_of_the_greatest_row(monkeypatch):
    for row in (0, 1, 59):
        far = X.copy()
        far[row] *= 100.0
        Refinements(monkeypatch, None)
        source = NativeSource(Kernel.linear(), far)
        assert block.solve(
            problems.c_svc(y, C), KernelWorkspace(source, Monitor()), 1e-3
        ).diagonal == pytest.approx(float(far[row] @ far[row]))
    Refinements(monkeypatch, None)
    tiny = NativeSource(Kernel.linear(), 1e-3 * X)
    assert block.solve(
        problems.c_svc(y, C), KernelWorkspace(tiny, Monitor()), 1e-3
    ).diagonal == pytest.approx(1e-6 * float((X**2).sum(axis=1).max()))
