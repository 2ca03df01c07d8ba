"""Newton steps: the bordered factor against plain solves, walks that end at the minimum of their face, large C."""

import numpy as np
import pytest

from maxmargin import SVC, SVR, NuSVC
from maxmargin.core import cpu as core
from maxmargin.monitor import Monitor
from maxmargin.solvers import newton as module
from maxmargin.solvers.newton import Factor, NotConvex, Tile, newton

rng = np.random.default_rng(0)


def tile_of(n=300, C=100.0, rank=None, groups=1, seed=0):
    """A classification problem on n points; with a rank, of a linear kernel of so many features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, rank or 3))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
    K = X @ X.T if rank else np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    begin = np.linspace(0, n, groups + 1).astype(np.int64)
    return Tile(np.arange(n), K, -y, np.zeros(n), np.minimum(0, C * y), np.maximum(0, C * y), np.zeros(n), begin)


def test_a_bordered_factor_solves_like_the_whole_matrix():
    tile = tile_of(60)
    factor = Factor(tile, np.arange(40))
    assert factor.add(tile, np.array([45, 50]))
    assert factor.add(tile, np.array([59]))
    members = [*range(40), 45, 50, 59]
    Q = tile.K[np.ix_(members, members)] + factor.shift * np.eye(43)
    for right in (rng.normal(size=43), rng.normal(size=(43, 3))):
        np.testing.assert_allclose(Q @ factor.solve(right), right, atol=1e-6)


def test_an_indefinite_matrix_is_refused():
    tile = tile_of(30)
    np.fill_diagonal(tile.K, -1.0)
    with pytest.raises(NotConvex):
        Factor(tile, np.arange(30))


@pytest.mark.parametrize("rank", [None, 2])
@pytest.mark.parametrize("groups", [1, 2])
def test_newton_reaches_rounding_and_keeps_bounds_and_sums(rank, groups):
    """From zero, to a violation pair steps would need very long for, also where the matrix is singular."""
    tile = tile_of(rank=rank, groups=groups, seed=3)
    linear = tile.G.copy()
    steps, _ = newton(tile, 1e-9, Monitor())
    assert steps < 60_000
    assert tile.violation <= 1e-9 * max(1.0, np.abs(tile.G).max())
    assert np.all((tile.b >= tile.lower) & (tile.b <= tile.upper))
    for i, j in zip(tile.begin[:-1], tile.begin[1:], strict=True):
        assert abs(tile.b[i:j].sum()) < 1e-9
    np.testing.assert_allclose(tile.G, tile.K @ tile.b + linear, atol=1e-9 * np.abs(tile.b).sum())


def test_a_factor_serves_the_next_tile():
    whole = tile_of(400, C=1000.0)
    first = Tile(*(part.copy() for part in whole))
    _, factor = newton(first, 1e-8, Monitor())
    assert factor is not None
    some = np.sort(np.concatenate([factor.members, np.setdiff1d(np.arange(400), factor.members)[:50]]))
    part = Tile(some, whole.K[np.ix_(some, some)], first.G[some], first.b[some], *(a[some] for a in first[4:7]), np.array([0, len(some)]))
    assert module._factor_for(part, factor) is factor


@pytest.mark.parametrize("estimator", [SVC(C=1e5, gamma=0.5), NuSVC(nu=0.2, gamma=2.0), SVR(C=1e5, gamma=0.5, epsilon=0.01)])
def test_large_C_is_certified_within_two_million_steps(estimator):
    """1,500 rows: above the size that is solved to rounding, so that rounds, refinement and Newton steps work together."""
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
    before = [library.get_num_threads() for library in module._blas()]
    with module.one_blas_thread(), module.one_blas_thread():
        assert all(library.get_num_threads() == 1 for library in module._blas())
    assert [library.get_num_threads() for library in module._blas()] == before


def test_bits_do_not_depend_on_threads_where_newton_works():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(1300, 2))
    y = X[:, 0] * X[:, 1] + 0.4 * rng.normal(size=1300) > 0
    values = SVC(C=1e4, gamma=1.0).fit(X, y).decision_function(X)
    with core.one_thread():
        assert np.array_equal(SVC(C=1e4, gamma=1.0).fit(X, y).decision_function(X), values)
