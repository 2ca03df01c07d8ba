"""The parts of the block solver, each against what its docstring says: who is active, how long, to
which tolerance, when it ends."""

import numpy as np
import pytest

from block_cases import SOURCE, C, K, X, between_bounds, n, state_of, y
from helpers import settings
from maxmargin.core.backend import Steps, Survey, Variables
from maxmargin.core.choose import HOST
from maxmargin.core.cpu import CPU
from maxmargin.kernel import block, problems, working_set
from maxmargin.kernel.cache import RowCache
from maxmargin.kernel.face import NotConvex, factorize
from maxmargin.kernel.newton import Tile
from maxmargin.kernel.solution import can_grow, can_shrink, levels
from maxmargin.kernel.state import State
from maxmargin.kernel.tube import insensitive
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.monitor import Monitor
from maxmargin.status import Status

# ---- who is active -------------------------------------------------------------------------------


def by_definition(problem, b, G, size, extreme):
    """The choice, written out: lists and sorting instead of arrays and partitions."""
    ends = levels(problem.variables(b, G), HOST)
    grow, shrink = can_grow(problem, b), can_shrink(problem, b)
    up = [-ends[problem.group[i]].value - G[i] if grow[i] else -np.inf for i in range(len(b))]
    down = [G[i] + ends[problem.group[i]].value if shrink[i] else -np.inf for i in range(len(b))]
    excess = [max(u, d) for u, d in zip(up, down, strict=True)]
    free = [i for i in range(len(b)) if grow[i] and shrink[i]]
    first = [i for i in range(len(b)) if i in free or excess[i] > 0]
    if len(first) < size:
        others = sorted((i for i in range(len(b)) if i not in first), key=lambda i: -excess[i])
        return sorted(first + others[: size - len(first)])
    rank = dict(zip(first, np.random.default_rng(0).random(len(first)), strict=True))
    if len(free) < 0.9 * size:
        rank.update({i: rank[i] + 1 for i in free})
    else:
        worst = sorted(first, key=lambda i: -rank[i] * excess[i])[: size // 2]
        rank.update({i: rank[i] + 1 for i in worst})
    for kind in (up, down):
        for g in range(problem.groups):
            inside = sorted(
                (i for i in first if kind[i] > 0 and problem.group[i] == g), key=lambda i: -kind[i]
            )
            rank.update(dict.fromkeys(inside[:extreme], np.inf))
    return sorted(sorted(first, key=lambda i: -rank[i])[:size])


def choose(problem, b, G, size, seed=0, last=()):
    """The working set at a given gradient."""
    variables = problem.variables(b, G)
    seen = Survey(variables, HOST.group_extremes(variables), 0.0, 0.0)
    state, draw = State(problem, b, b, b, b), np.random.default_rng(seed)
    return working_set.choose(state, seen, size, draw, np.array(last, np.int64))


PROBLEMS = {
    "c_svc": problems.c_svc(y, C),
    "nu_svc": problems.nu_svc(y, C, 0.4),
    "nu_svr": problems.nu_svr(X[:, 1], C, 0.4),
}


@pytest.mark.parametrize("size", [10, 16, 24, 40, 55])
@pytest.mark.parametrize("name", PROBLEMS)
def test_active_are_the_free_then_violators_then_the_nearest(name, size, monkeypatch):
    settings(monkeypatch, working_set, extreme=2)
    problem = PROBLEMS[name]
    for seed in range(5):
        b = between_bounds(problem, seed)
        G = np.random.default_rng(seed).normal(size=len(b))
        found = choose(problem, b, G, size)
        assert found.tolist() == by_definition(problem, b, G, size, 2)


def test_as_many_as_there_are_places_and_free_variables_at_the_limit(monkeypatch):
    settings(monkeypatch, working_set, extreme=2)
    problem, G = problems.c_svc(y, C), np.random.default_rng(9).normal(size=n)
    for free in (8, 9, 10):  # of 10 places, 9 are 0.9
        b = np.where(np.arange(n) < free, 0.5 * y * C, 0.0)
        found = choose(problem, b, G, 10)
        assert found.tolist() == by_definition(problem, b, G, 10, 2)
    u = -levels(problem.variables(b, G), HOST)[0].value
    first = [i for i in range(n) if i < 10 or y[i] * (u - G[i]) > 0]
    for size in (len(first) - 1, len(first), len(first) + 1):
        found = choose(problem, b, G, size)
        assert found.tolist() == by_definition(problem, b, G, size, 2)


def test_the_worst_violators_are_active_whatever_the_draw():
    many = 600
    problem = problems.c_svc(np.resize([1.0, -1.0], many), np.ones(many))
    G = np.random.default_rng(1).normal(size=many)
    zero = np.zeros(many)
    found = set(choose(problem, zero, G, 80, seed=5).tolist())
    u = -levels(problem.variables(zero, G), HOST)[0].value
    for side in (1, -1):
        worst = sorted(
            (i for i in range(many) if i % 2 == (side < 0)), key=lambda i: side * (G[i] - u)
        )[:32]
        assert found.issuperset(worst)


def test_so_many_are_active():
    class Cache:
        def __init__(self, complete=False, dtypes=(np.float32, np.float64), whole=False):
            self.complete, self.dtype = complete, dtypes[0]
            self.source, self.whole = type("Source", (), {"dtypes": dtypes}), whole

        def is_whole(self, rows):
            return self.whole

    def asked(variables, free, **cache):
        problem = problems.c_svc(np.ones(variables), np.ones(variables))
        b = np.where(np.arange(variables) < free, 0.5, 0.0)
        return working_set.size_for(State(problem, b, b, b, b), Cache(**cache), free)

    assert asked(3072, 10, complete=True) == 3072
    assert asked(3073, 10, complete=True) == 1024, "a matrix too large for one round"
    assert asked(3073, 10, complete=True, whole=True) == 3073, "each variable has its stored row"
    assert asked(3073, 10, complete=True, dtypes=(np.float64,), whole=True) == 1024
    assert asked(9000, 10, dtypes=(np.float64,)) == 512, "a user's function"
    assert asked(300, 10, dtypes=(np.float64,)) == 300
    assert asked(4500, 10) == asked(4500, 1000) == 1500, "a third"
    assert asked(4500, 1001) == 1536, "three for two free ones are more"
    assert asked(9000, 10) == asked(9000, 1024) == 1536, "the small size"
    assert asked(9000, 1025) == asked(9000, 1365) == 2048, "three for two free ones are more"
    assert asked(9000, 1366) == 3072
    assert asked(36_887, 10) == 1536
    assert asked(36_888, 10) == 2048, "one in 24 is more"
    assert asked(1_000_000, 8000) == 3072, "at most"


@pytest.mark.parametrize("name", PROBLEMS)
def test_variables_keep_their_places_from_round_to_round(name):
    problem = PROBLEMS[name]
    for seed in range(20):
        b, draw = between_bounds(problem, seed), np.random.default_rng(seed)
        G = draw.normal(size=len(b))
        alone = choose(problem, b, G, 24)
        last = alone.copy()
        for group in range(problem.groups):  # some of each group are exchanged, and all are mixed
            own = np.flatnonzero(problem.group[last] == group)
            others = np.setdiff1d(np.flatnonzero(problem.group == group), alone)
            last[own[:6]] = draw.permutation(others)[: len(own[:6])]
            last[own] = draw.permutation(last[own])
        found = choose(problem, b, G, 24, last=last)
        assert sorted(found) == alone.tolist(), "the same variables"
        assert (problem.group[found] == problem.group[last]).all(), "group by group"
        stays = np.isin(last, alone)
        assert 0 < stays.sum() < 24
        np.testing.assert_array_equal(found[stays], last[stays])
        assert choose(problem, b, G, 24, last=last[:20]).tolist() == alone.tolist()


def test_settled_is_that_few_variables_came_to_or_left_a_bound():
    lower, upper = np.zeros(60), np.ones(60)
    after = np.r_[np.full(20, 0.5), np.zeros(20), np.ones(20)]
    for change, settled in (
        ({}, True),
        ({0: 0.0}, True),
        (dict.fromkeys(range(4), 0.0), True),
        (dict.fromkeys(range(5), 1.0), False),
        ({20: 0.5, 59: 0.5, 21: 0.5, 22: 0.5, 58: 0.5}, False),
        ({20: 1.0, 59: 0.0, 21: 1.0, 22: 1.0, 58: 0.0}, False),
        (dict.fromkeys(range(20), 0.3), True),
    ):
        before = after.copy()
        before[list(change)] = list(change.values())
        assert (
            working_set._settled(
                before,
                Variables(after, after, lower, upper, lower, None, None),
                state_of(problems.c_svc(y, C)),
            )
            is settled
        )


# ---- one round -----------------------------------------------------------------------------------


class Script:
    """Stands for the cache: pair steps that end as told, and what was asked of them."""

    def __init__(self, *ends, moves=None):
        self.ends, self.asked, self.moves, self.source, self.added = (
            list(ends),
            [],
            moves,
            SOURCE,
            None,
        )

    def tile(self, rows):
        """The tile: what takes the steps."""
        self.rows = rows

        def run(variables, tol, most):
            self.asked.append(most)
            if self.moves is not None:
                variables.b[:] = self.moves
            done, *rest = self.ends.pop(0)
            return Steps(most if done is None else done, *rest)

        return run

    def add_rows(self, rows, change, F):
        self.added = rows, change
        F += change @ K[rows]


class Scripted(CPU):
    """Pair steps as the tile has them."""

    def pair_steps(self, K, variables, tol, most):
        return K(variables, tol, most)


ON = (None, 1.0, False, False)
"""All the steps asked for, and the violation is as large as ever."""
CHOSEN = np.arange(10, 20)


@pytest.mark.parametrize(
    ("convex", "close", "factor", "settled", "ends", "asked", "newton", "total"),
    [
        (True, False, False, True, [ON], [200], True, 207),  # Newton steps after 20 steps each
        (True, False, False, False, [ON], [200], False, 200),  # not while bounds are being met
        (True, True, False, True, [ON], [100], True, 107),  # close to the end after 10
        (True, True, False, False, [ON, ON], [100, 100], False, 200),
        (True, False, True, True, [ON], [10], True, 17),  # once they took over, after 1
        (True, True, True, True, [ON], [10], True, 17),
        # not convex: pair steps alone
        (False, False, False, True, [ON], [100_000], False, 100_000),
        (False, True, False, True, [ON], [100_000], False, 100_000),
        # nothing left to do
        (True, False, False, True, [(199, 1.0, False, False)], [200], False, 199),
        (True, False, False, True, [(None, 0.5, False, False)], [200], False, 200),  # the tolerance
        (True, False, False, True, [(None, 1.0, False, True)], [200], False, 200),  # falls for ever
    ],
)
def test_a_round_of_pair_steps(
    convex, close, factor, settled, ends, asked, newton, total, monkeypatch
):
    problem = problems.c_svc(y, C)
    at = state_of(problem, between_bounds(problem), convex=convex, steps=50, backend=Scripted())
    at.factor = object() if factor else None
    before, cache, called = at.b.copy(), Script(*ends), []
    monkeypatch.setattr(working_set, "_settled", lambda *_: settled)
    monkeypatch.setattr(
        working_set, "_newton", lambda *arguments: called.append(arguments[-1]) or 7
    )
    assert working_set.solve(at, cache, CHOSEN, at.G, 0.5, close, Monitor()) == total
    assert cache.asked == asked
    assert called == ([50 + sum(asked)] if newton else [])
    assert at.steps == 50 + total
    np.testing.assert_array_equal(cache.rows, CHOSEN)
    np.testing.assert_array_equal(at.b, before)
    assert at.unbounded == ends[-1][3]


def test_cycles_take_the_place_of_newton_steps(monkeypatch):
    problem = problems.c_svc(y, C)
    at = state_of(problem, between_bounds(problem), convex=True, backend=Scripted())
    at.eliminates = True
    monkeypatch.setattr(working_set, "_settled", lambda *_: True)
    assert working_set.solve(at, Script(ON), CHOSEN, at.G, 0.5, False, Monitor()) == 200
    assert at.settled
    assert at.factor is None
    again = Script(ON)
    working_set.solve(at, again, CHOSEN, at.G, 0.5, False, Monitor())
    assert again.asked == [10], "one pair step a variable, once cycles took over"


def test_a_round_brings_F_up_to_date():
    problem = problems.svr(insensitive(X[:, 1], C, 0.1))
    at = state_of(problem, between_bounds(problem), backend=Scripted())
    active = np.array([3, 5, 40, n + 3, n + 7])
    target = (problem.lower + 0.3 * (problem.upper - problem.lower))[active]
    target[1] = at.b[5]
    before, cache = at.b.copy(), Script((4, 0.0, False, False), moves=target)
    assert working_set.solve(at, cache, active, at.G, 1e-3, False, Monitor()) == 4
    np.testing.assert_array_equal(at.b[active], target)
    others = np.setdiff1d(np.arange(2 * n), active)
    np.testing.assert_array_equal(at.b[others], before[others])
    np.testing.assert_allclose(at.F, K @ problems.fold(problem, at.b, n))
    assert cache.added[0].tolist() == [3, 7, 40], "5 did not move"


def test_a_round_ends_where_the_monitor_says():
    problem = problems.c_svc(y, C)
    at = state_of(problem, steps=50, backend=Scripted())
    cache = Script(ON)
    assert working_set.solve(at, cache, CHOSEN, at.G, 0.5, False, Monitor(max_iter=180)) == 130
    assert cache.asked == [130]
    cache, monitor = Script(ON), Monitor()
    monitor.interrupted.set()
    assert working_set.solve(at, cache, CHOSEN, at.G, 0.5, True, monitor) == 100


def test_negative_curvature_is_noted_unless_it_is_rounding():
    for convex in (True, False):
        at = state_of(problems.c_svc(y, C), convex=convex, backend=Scripted())
        working_set.solve(at, Script((3, 0.0, True, False)), CHOSEN, at.G, 0.5, False, Monitor())
        assert at.indefinite is not convex


@pytest.mark.parametrize("fails", [False, True])
def test_newton_steps_are_on_what_may_move_and_what_the_factor_holds(fails, monkeypatch):
    problem = problems.nu_svc(y, C, 0.4)
    at = state_of(problem, between_bounds(problem))
    active = np.sort(np.random.default_rng(2).choice(n, 40, replace=False))
    chosen = at.variables(at.G).pick(active, HOST)
    before = at.variables(at.G).pick(active, HOST)
    held = active[[1, 8]]
    at.factor = type("Held", (), {"members": held})
    seen = []

    def newton(tile, tol, monitor, steps, factor):
        seen.append((tile, tol, steps, factor))
        tile.variables.b[:] = 0.25
        if fails:
            raise NotConvex
        return 9, "new"

    monkeypatch.setattr(working_set, "newton", newton)
    kept = at.factor
    done = working_set._newton(
        at, RowCache(SOURCE, np.float32, 0.0), active, chosen, 1e-4, Monitor(), 77
    )
    ((tile, tol, steps, factor),) = seen
    assert (tol, steps, factor) == (1e-4, 77, kept)
    assert (done, at.factor) == ((0, kept) if fails else (9, "new"))
    may = working_set.may_move(before, HOST)
    wanted = [k for k in range(40) if may[k] or active[k] in held]
    assert 2 < len(wanted) < 40
    assert tile.numbers.tolist() == active[wanted].tolist()
    rows = problem.row[active[wanted]]
    np.testing.assert_array_equal(tile.K, K[np.ix_(rows, rows)])
    np.testing.assert_array_equal(tile.variables.G, before.G[wanted])
    np.testing.assert_array_equal(tile.variables.upper, before.upper[wanted])
    np.testing.assert_array_equal(
        chosen.b, np.where(np.isin(np.arange(40), wanted), 0.25, at.b[active])
    )
    group = problem.group[active[wanted]]
    assert tile.variables.begin.tolist() == [0, int(np.sum(group == 0)), len(wanted)]


# ---- small problems ------------------------------------------------------------------------------


def test_bursts_of_pair_steps(monkeypatch):
    """Five steps for each variable, to 0.9 of the tolerance; where the problem is not convex as
    many as lower the objective."""
    problem = problems.c_svc(y, C)
    for convex, falls, bursts in ((True, 7, 5), (False, 7, 8), (False, 3, 5)):
        at = state_of(problem, convex=convex)
        tile = Tile(np.arange(n), K, at.variables(at.G), HOST)
        asked = []

        def run(tile, tol, most, asked=asked, falls=falls):
            asked.append((tol, most))
            if len(asked) <= falls:
                tile.variables.b[:] = 0.01 * len(asked) * y
            return Steps(n, 1.0, True, False)

        monkeypatch.setattr(Tile, "pair_steps", run)
        assert block._pair_steps(at, tile, 1e-3, Monitor()) is None
        assert [most for _, most in asked] == [5 * n] * len(asked)
        assert [tol for tol, _ in asked] == pytest.approx([0.9e-3] * len(asked))
        assert at.steps == n * len(asked)
        assert len(asked) == bursts
        assert at.indefinite is not convex


def test_a_burst_ends(monkeypatch):
    problem = problems.c_svc(y, C)
    at = state_of(problem, steps=20)
    tile = Tile(np.arange(n), K, at.variables(at.G), HOST)
    asked = []

    def run(tile, tol, most):
        asked.append(most)
        return Steps(0, 1.0, False, False)

    monkeypatch.setattr(Tile, "pair_steps", run)
    assert block._pair_steps(at, tile, 1e-3, Monitor(max_iter=20)) is Status.MAX_ITER
    assert block._pair_steps(at, tile, 1.2 * tile.violation, Monitor()) is None
    assert not asked
    assert block._pair_steps(at, tile, 1e-3, Monitor(max_iter=27)) is None, "no step was possible"
    assert asked == [7]
    margins = problems.nu_svc(y, C, 0.4)
    at = state_of(margins, margins.start)
    tile = Tile(np.arange(n), K, at.variables(at.G), HOST)
    targets = []
    monkeypatch.setattr(
        Tile,
        "pair_steps",
        lambda tile, tol, most: targets.append(tol) or Steps(0, 1.0, False, False),
    )
    unit = at.unit(tile.variables.G)
    for tol, wanted in ((1e-6, 0.1 * tile.violation), (at.violation / 2, 0.45 * tile.violation)):
        block._pair_steps(at, tile, tol, Monitor())
        assert targets.pop() == pytest.approx(wanted), unit
    assert abs(unit - 1.0) > 0.1
    for share, bursts in ((1.01, 0), (0.99, 1)):
        targets.clear()
        block._pair_steps(at, tile, share * at.violation / 0.9, Monitor())
        assert len(targets) == bursts, "the tolerance is in units of the margin"


@pytest.mark.parametrize("name", ["c_svc", "eps_svr", "nu_svc"])
def test_small_problems_are_solved_to_rounding(name):
    problem = {
        "c_svc": problems.c_svc(y, C),
        "eps_svr": problems.svr(insensitive(X[:, 1], C, 0.1)),
        "nu_svc": problems.nu_svc(y, C, 0.4),
    }[name]
    found = block.solve(problem, KernelWorkspace(SOURCE, Monitor()), 1e-3)
    assert found.ended is None
    at = state_of(problem, found.b)
    np.testing.assert_allclose(
        found.kernel_part, K @ problems.fold(problem, found.b, n), rtol=1e-12, atol=1e-13
    )
    assert at.violation <= 1e-12
    assert found.n_iter <= 12 * len(found.b)
    assert found.diagonal == 1.0


def test_a_factor_is_kept_from_one_burst_to_the_next(monkeypatch):
    problem, seen = problems.c_svc(y, C), []

    def newton(tile, goal, monitor, steps, factor):
        seen.append((goal, steps, factor))
        return 4, factorize(tile.quadratic, np.arange(5))

    monkeypatch.setattr(block, "newton", newton)
    at = state_of(problem)
    greatest, pair_steps = [], block._pair_steps

    def watched(state, tile, *rest):
        reason = pair_steps(state, tile, *rest)
        greatest.append(np.abs(tile.variables.G).max())
        return reason

    monkeypatch.setattr(block, "_pair_steps", watched)
    assert block._solve_small(at, K, 1e-13, Monitor()) in (None, Status.STALLED)
    assert seen[0][2] is None
    assert all(factor is not None for _, _, factor in seen[1:])
    assert [goal for goal, _, _ in seen] == pytest.approx(
        [1e-14 * g for g in greatest], rel=1e-9, abs=0.0
    )


def test_newton_steps_only_where_the_problem_is_convex_and_nobody_says_stop(monkeypatch):
    problem, called = problems.c_svc(y, C), []
    monkeypatch.setattr(
        block,
        "newton",
        lambda tile, goal, monitor, steps, factor: called.append(steps) or (3, None),
    )
    at = state_of(problem, convex=False, indefinite=True)
    block._solve_small(at, K, 1e-3, Monitor())
    assert not called
    at = state_of(problem)
    assert block._solve_small(at, K, 1e-3, Monitor(max_iter=0)) is Status.MAX_ITER
    assert not called
    assert not at.F.any()
    at = state_of(problem)
    block._solve_small(at, K, 1e-3, Monitor())
    assert called
    assert at.steps >= called[0] + 3, "its pair steps count"
    np.testing.assert_allclose(at.F, K @ at.b, atol=1e-12)

    def indefinite(*_):
        raise NotConvex

    monkeypatch.setattr(block, "newton", indefinite)
    for convex in (True, False):
        at = state_of(problem, convex=convex)
        block._solve_small(at, K, 1e-3, Monitor())
        assert at.indefinite is not convex, "or rounding"
