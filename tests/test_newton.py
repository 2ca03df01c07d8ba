"""Newton steps: the bordered factor against plain solves, walks that end at the minimum of their
face, large C."""

import numpy as np
import pytest

from helpers import settings
from maxmargin import SVC, SVR, NuSVC
from maxmargin.core import threads
from maxmargin.core.backend import Steps, Variables
from maxmargin.core.choose import HOST
from maxmargin.core.threads import one_thread
from maxmargin.kernel import face
from maxmargin.kernel import newton as module
from maxmargin.kernel.bordered import Constraints
from maxmargin.kernel.face import NotConvex, Spoiled
from maxmargin.kernel.newton import Tile, newton
from maxmargin.monitor import Monitor
from maxmargin.status import Status

rng = np.random.default_rng(0)
ONE = np.ones(1, bool)
"""One group, whose sum is fixed."""
MOST = face.SETTINGS.changes
"""Pins of a walk, at most."""


def tile_of(n=300, C=100.0, rank=None, groups=1, seed=0):
    """A classification problem on n points; `rank` gives a linear kernel of that many features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, rank or 3))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
    K = X @ X.T if rank else np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    begin = np.linspace(0, n, groups + 1).astype(np.int64)
    fixed = np.ones(groups, bool)
    lower, upper = np.minimum(0, C * y), np.maximum(0, C * y)
    variables = Variables(-y, np.zeros(n), lower, upper, np.zeros(n), begin, fixed)
    return Tile(np.arange(n), K, variables, HOST)


def factorize(tile, at):
    """A factor of some variables of a tile."""
    return face.factorize(tile.quadratic, tile.numbers[at])


def join(factor, tile, new):
    """Let some variables join."""
    last, Q = np.concatenate([factor.members[factor.base :], new]), tile.quadratic
    right = Q.values(factor.members[: factor.base], new)
    return factor.join(new, right, Q.values(last, last), Q.ridge(last))


def factor_for(tile, factor):
    """The factor of a tile's free variables."""
    return face.factor_for(tile.quadratic, tile.numbers[tile.free], tile.served_by(factor))


def test_a_bordered_factor_solves_like_the_whole_matrix():
    tile = tile_of(60)
    factor = factorize(tile, np.arange(40))
    assert join(factor, tile, np.array([45, 50]))
    assert join(factor, tile, np.array([59]))
    members = [*range(40), 45, 50, 59]
    Q = tile.K[np.ix_(members, members)] + factor.shift * np.eye(43)
    for right in (rng.normal(size=43), rng.normal(size=(43, 3))):
        np.testing.assert_allclose(Q @ factor.solve(right), right, atol=1e-6)


def test_an_indefinite_matrix_is_refused():
    tile = tile_of(30)
    np.fill_diagonal(tile.K, -1.0)
    with pytest.raises(NotConvex):
        factorize(tile, np.arange(30))


@pytest.mark.parametrize("rank", [None, 2])
@pytest.mark.parametrize("groups", [1, 2])
def test_newton_reaches_rounding_and_keeps_bounds_and_sums(rank, groups):
    """From zero, to a violation pair steps would need very long for, also where the matrix is
    singular.
    """
    tile = tile_of(rank=rank, groups=groups, seed=3)
    linear = tile.variables.G.copy()
    steps, _ = newton(tile, 1e-9, Monitor())
    assert steps < 60_000
    assert tile.violation <= 1e-9 * max(1.0, np.abs(tile.variables.G).max())
    assert np.all(
        (tile.variables.b >= tile.variables.lower) & (tile.variables.b <= tile.variables.upper)
    )
    for i, j in zip(tile.variables.begin[:-1], tile.variables.begin[1:], strict=True):
        assert abs(tile.variables.b[i:j].sum()) < 1e-9
    np.testing.assert_allclose(
        tile.variables.G,
        tile.K @ tile.variables.b + linear,
        atol=1e-9 * np.abs(tile.variables.b).sum(),
    )


def test_a_factor_serves_the_next_tile():
    whole = tile_of(400, C=1000.0)
    first = whole._replace(variables=whole.variables.pick(np.arange(400), HOST))
    newton(first, 1e-8, Monitor())
    factor = factorize(first, np.flatnonzero(first.free))
    some = np.sort(
        np.concatenate([factor.members, np.setdiff1d(np.arange(400), factor.members)[:50]])
    )
    part = Tile(some, whole.K[np.ix_(some, some)], first.variables.pick(some, HOST), HOST)
    assert factor_for(part, factor) is factor


@pytest.mark.parametrize(
    "estimator",
    [SVC(C=1e5, gamma=0.5), NuSVC(nu=0.2, gamma=2.0), SVR(C=1e5, gamma=0.5, epsilon=0.01)],
)
def test_large_C_is_certified_within_two_million_steps(estimator):
    """1,500 rows: above the size that is solved to rounding, so that rounds, refinement and Newton
    steps work together."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(1500, 2))
    z = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=1500)
    y = z if isinstance(estimator, SVR) else z > 0
    model = estimator.fit(X, y)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.n_iter < 2_000_000
    found = model.certify(X, y)
    assert found.status == "optimal"
    assert found.kkt_violation <= model.tol


def test_one_blas_thread_is_restored():
    before = [library.get_num_threads() for library in threads._blas()]
    with threads.one_blas_thread(), threads.one_blas_thread():
        assert all(library.get_num_threads() == 1 for library in threads._blas())
    assert [library.get_num_threads() for library in threads._blas()] == before


def test_too_little_memory_for_the_buffers_of_blas_is_said(monkeypatch):
    """BLAS would retry forever."""
    asked = []

    class Memory:
        def __init__(self, *arguments):
            asked.append(arguments)

        def close(self):
            asked.append("closed")

    monkeypatch.setattr(threads, "mmap", Memory)
    threads._buffers.__wrapped__()
    assert asked == [(-1, 2**26), "closed"]

    def none(*_):
        raise OSError

    monkeypatch.setattr(threads, "mmap", none)
    with pytest.raises(
        MemoryError, match="BLAS needs 64 MiB of address space for its buffers: raise the limit"
    ):
        threads._buffers.__wrapped__()


def test_bits_do_not_depend_on_threads_where_newton_works():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(1300, 2))
    y = X[:, 0] * X[:, 1] + 0.4 * rng.normal(size=1300) > 0
    values = SVC(C=1e4, gamma=1.0).fit(X, y).decision_function(X)
    with one_thread():
        assert np.array_equal(SVC(C=1e4, gamma=1.0).fit(X, y).decision_function(X), values)


# ---- part by part, against plain linear algebra --------------------------------------------------


def inner_tile(n=24, C=1.0, groups=1, seed=1):
    """A tile whose variables are all free, and a gradient that is that of some linear term."""
    tile = tile_of(n, C, groups=groups, seed=seed)
    rng = np.random.default_rng(seed)
    tile.variables.b[:] = tile.variables.lower + rng.uniform(0.3, 0.7, n) * (
        tile.variables.upper - tile.variables.lower
    )
    tile.variables.ridge[:] = rng.uniform(0.1, 0.2, n)
    tile.variables.G[:] = rng.normal(size=n)
    return tile


def objective(tile, b, start, G):
    """That of the problem whose gradient at the start is G."""
    d = b - start
    return G @ d + 0.5 * d @ (tile.K + np.diag(tile.variables.ridge)) @ d


def test_moving_variables_brings_the_gradient_up_to_date():
    tile = inner_tile()
    before, G, at = tile.variables.b.copy(), tile.variables.G.copy(), np.array([3, 7, 20])
    fall = tile.move_to(at, np.array([0.1, -0.2, 0.3]))
    assert tile.variables.b[at].tolist() == [0.1, -0.2, 0.3]
    assert np.array_equal(np.flatnonzero(tile.variables.b != before), at)
    np.testing.assert_allclose(
        tile.variables.G, G + (tile.K + np.diag(tile.variables.ridge)) @ (tile.variables.b - before)
    )
    assert fall == pytest.approx(-objective(tile, tile.variables.b, before, G))


def test_groups_of_a_face_and_what_is_left_of_a_gradient_without_means():
    at, four = np.array([0, 4, 5, 9]), np.zeros(10)

    def of(begin, fixed, g=four):
        variables = Variables(g, four, four - 1, four + 1, four, np.array(begin), np.array(fixed))
        return face.Face.of(variables, at, np)

    assert of([0, 10], [True]).group.tolist() == [0, 0, 0, 0]
    assert of([0, 5, 10], [True, True]).group.tolist() == [0, 0, 1, 1]
    assert of([0, 5, 6, 8, 10], [True] * 4).group.tolist() == [0, 0, 1, 3], "an empty one"
    assert of([0, 10], [False]).group.tolist() == [-1] * 4
    assert of([0, 5, 10], [False, True]).group.tolist() == [-1, -1, 1, 1]
    G = np.zeros(10)
    G[at] = [1.0, 3.0, 6.0, 5.0]
    one = of([0, 9, 10], [True, True], G)
    left = face._without_means
    assert left(one, np.zeros(4, bool), np).tolist() == pytest.approx([-7 / 3, -1 / 3, 8 / 3, 0.0])
    assert left(one, np.array([False, True, False, False]), np).tolist() == [-2.5, 0.0, 2.5, 0.0]
    assert left(one, np.array([True] * 4), np).tolist() == [0.0] * 4


@pytest.mark.parametrize("held", [[], [2, 9]])
@pytest.mark.parametrize("groups", [1, 2])
def test_a_step_leads_to_the_minimum_that_keeps_sums_and_what_is_held(groups, held):
    tile = inner_tile(groups=groups, C=1e6)
    n, held = len(tile.variables.b), np.array(held, np.int64)
    one, factor = face.Face.of(tile.variables, np.arange(n), np), factorize(tile, np.arange(n))
    tile.variables.b[held] = tile.variables.lower[held]
    b, whole = face.minimise(one._replace(b=tile.variables.b.copy()), factor, 9)
    N = (one.group[:, None] == np.arange(groups)).astype(float)
    A = np.hstack([N, np.eye(n)[:, held]])
    Q = tile.K + np.diag(tile.variables.ridge)
    system = np.block([[Q, A], [A.T, np.zeros((A.shape[1], A.shape[1]))]])
    right = np.concatenate([-tile.variables.G, np.zeros(A.shape[1])])
    assert whole
    np.testing.assert_allclose(b - tile.variables.b, np.linalg.solve(system, right)[:n], atol=1e-9)


def test_constraints_that_rounding_makes_dependent_are_refused(monkeypatch):
    tile = inner_tile()
    factor = factorize(tile, np.arange(24))
    monkeypatch.setattr(factor, "columns", lambda at: -np.eye(24)[:, at])
    one = face.Face.of(tile.variables, np.arange(24), np)
    with pytest.raises(Spoiled):
        face._constraints(one, factor, np.arange(4, 12), 9)


def test_systems_with_given_sums_and_pinned_variables():
    tile = inner_tile()
    factor = factorize(tile, np.arange(24))
    N, held = np.ones((24, 1)), np.array([3, 7])
    x, y = Constraints(factor, N, held).solve(factor.solve(tile.variables.G), total=0.5)
    Q = tile.K + np.diag(tile.variables.ridge)
    np.testing.assert_allclose(-x.sum(), 0.5)
    np.testing.assert_allclose(x[held], 0.0, atol=1e-12)
    right = tile.variables.G - np.hstack([N, np.eye(24)[:, held]]) @ y
    np.testing.assert_allclose(Q @ -x, right, atol=1e-9)
    rest = Constraints(factor, N, held)
    rest.S[:] = 0.0
    assert rest.solve(tile.variables.G) is None


@pytest.mark.parametrize("C", [0.05, 1.0, 100.0])
@pytest.mark.parametrize("groups", [1, 2])
def test_a_walk_ends_at_the_minimum_of_the_face_it_meets(groups, C):
    tile = inner_tile(C=C, groups=groups)
    tile.variables.b[4], tile.variables.b[5] = tile.variables.lower[4], tile.variables.upper[5]
    before, G = tile.variables.b.copy(), tile.variables.G.copy()
    members = np.array([*range(2, 20), 22])
    fall, whole = module.minimise_face(tile, Monitor(), 0, factorize(tile, members), MOST)
    assert whole
    assert fall == pytest.approx(-objective(tile, tile.variables.b, before, G))
    assert fall > 0
    outside = np.setdiff1d(np.arange(24), members)
    np.testing.assert_array_equal(tile.variables.b[[*outside, 4, 5]], before[[*outside, 4, 5]])
    assert np.all(
        (tile.variables.b >= tile.variables.lower) & (tile.variables.b <= tile.variables.upper)
    )
    np.testing.assert_allclose(
        tile.variables.G, G + (tile.K + np.diag(tile.variables.ridge)) @ (tile.variables.b - before)
    )
    for i, j in zip(tile.variables.begin[:-1], tile.variables.begin[1:], strict=True):
        assert tile.variables.b[i:j].sum() == pytest.approx(before[i:j].sum())
        free = [
            k
            for k in members
            if i <= k < j
            and tile.variables.lower[k] < tile.variables.b[k] < tile.variables.upper[k]
        ]
        np.testing.assert_allclose(
            tile.variables.G[free], np.mean(tile.variables.G[free]), atol=1e-9
        )
    assert bool(np.count_nonzero(tile.free) < 22) is (C < 100)


def test_a_walk_gives_up_after_many_bounds():
    tile = inner_tile(C=0.05)
    before, G = tile.variables.b.copy(), tile.variables.G.copy()
    fall, whole = module.minimise_face(tile, Monitor(), 0, factorize(tile, np.arange(24)), 2)
    assert not whole
    assert np.count_nonzero(~tile.free) == 3
    assert fall == pytest.approx(-objective(tile, tile.variables.b, before, G))


class Impatient(Monitor):
    """Says stop at the n-th question."""

    def __init__(self, n):
        super().__init__()
        self.left = n

    def stop(self, steps):
        self.left -= 1
        return Status.INTERRUPTED if self.left <= 0 else None


def test_a_walk_ends_where_the_monitor_says_stop(monkeypatch):
    settings(monkeypatch, face, columns_ahead=1)  # it is asked before each column
    tile = inner_tile(C=0.05)
    before, G = tile.variables.b.copy(), tile.variables.G.copy()
    fall, whole = module.minimise_face(tile, Impatient(3), 0, factorize(tile, np.arange(24)), MOST)
    assert not whole
    assert np.count_nonzero(~tile.free) == 2, "a bound for each time the monitor let it go on"
    assert fall == pytest.approx(-objective(tile, tile.variables.b, before, G))
    assert np.all(
        (tile.variables.b >= tile.variables.lower) & (tile.variables.b <= tile.variables.upper)
    )
    monkeypatch.setattr(Tile, "pair_steps", None)  # no burst after a walk that was stopped
    tile = inner_tile(C=0.05)
    steps, factor = newton(tile, 1e-9, Impatient(4))
    assert steps == 0
    assert factor is not None
    assert np.count_nonzero(~tile.free) == 2


def test_a_factor_is_shifted_by_rounding_and_no_more():
    tile = inner_tile()
    tile.K[:] *= 7.0
    factor = factorize(tile, np.arange(5, 15))
    greatest = 7.0 + max(tile.variables.ridge[5:15])
    assert factor.shift == pytest.approx(1e-13 * greatest, rel=1e-9, abs=0.0)
    assert factor.members.tolist() == list(range(5, 15))
    tile.K[:] *= 0.001
    tile.variables.ridge[:] = 0.0
    assert factorize(tile, np.arange(5, 15)).shift == pytest.approx(7e-16, rel=1e-9, abs=0.0), (
        "of a small kernel too"
    )
    variables = Variables(*np.zeros((5, 3)), np.array([0, 3]), ONE)
    nothing = Tile(np.arange(3), np.zeros((3, 3)), variables, HOST)
    assert factorize(nothing, np.arange(3)).shift == 1e-13
    low = np.outer(np.ones(9), np.ones(9)) - 5e-12 * np.eye(9)
    variables = Variables(*np.zeros((5, 9)), np.array([0, 9]), ONE)
    singular = Tile(np.arange(9), low, variables, HOST)
    assert factorize(singular, np.arange(9)).shift == pytest.approx(1e-11, rel=1e-9, abs=0.0)


def test_variables_that_make_a_factor_singular_may_not_join():
    tile = inner_tile()
    tile.variables.ridge[:] = 0.0
    tile.K[20], tile.K[:, 20] = -1.0, -1.0
    assert not join(factorize(tile, np.arange(10)), tile, np.array([20]))


def test_a_new_factor_is_made_after_many_changes():
    tile = inner_tile(40)
    for held, joins, kept in (
        (0, 0, True),
        (0, 10, True),
        (0, 11, False),
        (9, 0, False),
        (8, 0, True),
        (4, 5, True),
        (5, 5, False),
    ):
        b = tile.variables.b.copy()
        tile.variables.b[:held] = tile.variables.lower[:held]
        factor = factorize(tile, np.arange(40 - joins))
        found = factor_for(tile, factor)
        assert (found is factor) is kept, (held, joins)
        free = [k for k in range(40) if k >= held]
        assert set(found.members.tolist()).issuperset(free)
        if not kept:
            assert found.members.tolist() == free
        tile.variables.b[:] = b
    rest = np.arange(1, 40)
    K = np.ascontiguousarray(tile.K[1:, 1:])
    part = Tile(rest, K, tile.variables.pick(rest, HOST), HOST)
    assert factor_for(part, factorize(tile, np.arange(40))).members.tolist() == list(
        range(1, 40)
    ), "0 is not here"


class Cycles:
    """Stands for walks and pair steps: notes how long the bursts are."""

    def __init__(self, monkeypatch, walks, violations=None, done=1, negative=False):
        self.asked, self.walks = [], list(walks)
        self.violations = violations

        def walk(tile, monitor, steps, factor, most):
            return self.walks.pop(0) if len(self.walks) > 1 else self.walks[0]

        def pair_steps(tile, tol, most):
            self.asked.append((tol, most))
            if self.violations is not None:
                tile.variables.G[:] *= self.violations
            return Steps(done, tile.violation, negative, False)

        monkeypatch.setattr(module, "minimise_face", walk)
        monkeypatch.setattr(Tile, "pair_steps", pair_steps)


def test_bursts_grow_while_walks_do_not_reach_their_end(monkeypatch):
    tile = inner_tile(40)
    ends = [False, False, False, False, True, True, True, True]
    cycles = Cycles(monkeypatch, [(1.0, whole) for whole in ends] + [(0.0, True)])
    steps, factor = newton(tile, 1e-9, Monitor())
    assert factor is not None
    assert [most // 40 for _, most in cycles.asked[:9]] == [4, 16, 64, 64, 16, 4, 1, 1, 1]
    assert len(cycles.asked) == 8 + 4, "four cycles without progress"
    assert steps == 12
    assert cycles.asked[0][0] == pytest.approx(0.1 * tile.violation)


def test_newton_ends_where_rounding_or_the_monitor_says(monkeypatch):
    tile = inner_tile(40)
    violation, size = tile.violation, float(np.linalg.norm(tile.variables.b))
    cycles = Cycles(monkeypatch, [(0.0, True)])
    assert newton(tile, 1.01 * violation, Monitor()) == (0, None)
    assert newton(tile, 1e-9, Monitor(max_iter=30), 30)[0] == 0
    assert not cycles.asked
    newton(tile, 1e-9, Monitor(max_iter=37), 30)
    assert [most for _, most in cycles.asked] == [7, 6, 5, 4, 3]
    cycles.asked.clear()
    newton(tile, 0.5 * violation, Monitor())
    assert cycles.asked[0][0] == 0.5 * violation
    noise = 1.01 * violation / size  # K's diagonal is 1
    settings(monkeypatch, module, rounding=noise)
    assert newton(tile, 1e-9, Monitor()) == (0, None)


def test_a_violation_that_halves_is_progress(monkeypatch):
    tile = inner_tile(40)
    violation = tile.violation
    cycles = Cycles(monkeypatch, [(0.0, True)], violations=0.4)
    newton(tile, 1e-3 * violation, Monitor())
    assert len(cycles.asked) == 8, "0.4^8 < 1e-3"
    tile = inner_tile(40)
    cycles = Cycles(monkeypatch, [(0.0, True)], violations=0.9)
    newton(tile, 1e-3 * violation, Monitor())
    assert len(cycles.asked) < 8 * 6
    Cycles(monkeypatch, [(0.0, True)], negative=True)
    with pytest.raises(NotConvex):
        newton(inner_tile(40), 1e-9, Monitor())


def test_a_walk_that_rounding_makes_rise_is_taken_back(monkeypatch):
    tile = inner_tile()
    b, G = tile.variables.b.copy(), tile.variables.G.copy()

    def uphill(one, *_):
        return np.clip(one.b + np.sign(one.g), one.lower, one.upper), True

    monkeypatch.setattr(module, "minimise", uphill)
    with pytest.raises(Spoiled):
        module.minimise_face(tile, Monitor(), 0, factorize(tile, np.arange(24)), MOST)
    np.testing.assert_array_equal(tile.variables.b, b)
    np.testing.assert_array_equal(tile.variables.G, G)


@pytest.mark.parametrize(("fails", "asked"), [(0, 1), (1, 2), (2, 3), (3, 3)])
def test_a_factor_that_rounding_spoils_gives_way(fails, asked):
    """To a new one, then to steps up to the first bound; then to the caller."""
    tile, calls = inner_tile(40), []
    last = factorize(tile, np.arange(36))

    def use(factor, most):
        calls.append((factor is last, most))
        if len(calls) <= fails:
            raise Spoiled
        return "done"

    def run():
        return face.with_factor(tile.quadratic, np.arange(40), last, use)

    if fails == 3:
        with pytest.raises(Spoiled):
            run()
    else:
        factor, result = run()
        assert result == "done"
        assert (factor is last) is (fails == 0)
    assert calls == [(True, MOST), (False, MOST), (False, 0)][:asked]


def test_without_free_variables_there_is_no_walk(monkeypatch):
    tile = inner_tile(40)
    tile.variables.b[1:] = tile.variables.lower[1:]
    cycles = Cycles(monkeypatch, [])
    assert newton(tile, 1e-9, Monitor()) == (5, None)
    assert [most for _, most in cycles.asked] == [40] * 5


def test_a_walk_without_a_step_stays_where_it_is(monkeypatch):
    tile = inner_tile()
    before = tile.variables.b.copy()
    tile.variables.G[2] = np.nan
    assert (
        module.minimise_face(
            tile, Monitor(), 0, factorize(tile, np.arange(24)), face.SETTINGS.changes
        )[1]
        is False
    )
    np.testing.assert_array_equal(tile.variables.b, before)


def test_the_buffers_of_blas_are_made_first(monkeypatch):
    made = []
    monkeypatch.setattr(threads, "_buffers", lambda: made.append(threads._blas_users))
    with threads.one_blas_thread():
        assert made == [0]
