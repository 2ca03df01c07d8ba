"""The compiled functions against plain NumPy, and their bits for any number of threads, any split, dense and sparse."""

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from maxmargin.core import _cpu
from maxmargin.core import cpu as core

RBF, LINEAR, LAPLACIAN = (2, 0.2, 0.0, 3), (0, 1.0, 0.0, 3), (5, 0.2, 0.0, 3)
rng = np.random.default_rng(0)


def block(kernel, P, a, Q, b, threads):
    out = np.empty((P.shape[0] if a is None else len(a), Q.shape[0] if b is None else len(b)), np.float64)
    assert _cpu.kernel_block(kernel, P, a, Q, b, out, None, threads)
    return out


@pytest.mark.parametrize("kernel", [RBF, LINEAR, LAPLACIAN])
@pytest.mark.parametrize("shape", [(1, 1), (3, 40), (70, 5), (700, 33)])
def test_same_bits_for_any_thread_count_and_split(kernel, shape):
    X = rng.normal(size=shape)
    P = core.points(X)
    whole = block(kernel, P, None, P, None, 1)
    for threads in (2, 3, 7):
        assert np.array_equal(block(kernel, P, None, P, None, threads), whole)
    assert np.array_equal(whole, whole.T)
    some = rng.permutation(shape[0])[: max(1, shape[0] // 3)]
    assert np.array_equal(block(kernel, P, some, P, None, 2), whole[some])
    assert np.array_equal(block(kernel, P, some, P, some[::-1].copy(), 2), whole[np.ix_(some, some[::-1])])
    assert np.array_equal(block(kernel, core.points(sparse.csr_matrix(X)), None, P, None, 2), whole)
    assert np.array_equal(block(kernel, P, None, core.points(sparse.csr_matrix(X)), None, 2), whole)


def test_matvec_is_the_update_of_the_gradient():
    """The product without storing K has the bits of the product with stored rows: a tiny cache changes nothing."""
    X, coef = rng.normal(size=(600, 9)), rng.normal(size=(600, 2))
    P = core.points(X)
    K = core.kernel_block(RBF, P, None, P, None)
    fused, stored = np.zeros((2, 600)), np.zeros((2, 600))
    core.kernel_matvec(RBF, P, None, coef, P, None, fused)
    for c in range(2):
        core.update_gradient(K, np.arange(600), coef[:, c].copy(), stored[c])
    assert np.array_equal(fused, stored)
    np.testing.assert_allclose(fused, coef.T @ K, rtol=1e-12, atol=1e-12)


def test_rows_go_to_their_slots():
    X = rng.normal(size=(90, 4)).astype(np.float32)
    P = core.points(X)
    whole = core.kernel_block(RBF, P, None, P, None)
    rows = np.zeros((10, 90), np.float32)
    core.kernel_block(RBF, P, np.array([5, 80, 7]), P, None, rows, np.array([9, 0, 4]))
    assert np.array_equal(rows[[9, 0, 4]], whole[[5, 80, 7]])
    assert np.array_equal(core.gather(rows, np.array([0, 9]), np.array([3, 1])), whole[np.ix_([80, 5], [3, 1])])


def test_threads_follow_the_environment():
    with threadpool_limits(1):
        assert core.thread_count() == 1
    with core.one_thread():
        assert core.thread_count() == 1
    assert core.thread_count(work=10) == 1


def test_bad_shapes_and_indices_raise():
    P = core.points(np.ones((3, 2)))
    rows = np.zeros((2, 3))
    for call in (
        lambda: core.kernel_block(RBF, P, np.array([3]), P, None),
        lambda: core.kernel_block(RBF, P, np.array([-1]), P, None),
        lambda: core.kernel_block(RBF, P, None, core.points(np.ones((3, 5))), None),
        lambda: core.kernel_block(RBF, P, np.array([0]), P, None, rows, np.array([2])),
        lambda: core.update_gradient(rows, np.array([2]), np.ones(1), np.zeros(3)),
        lambda: core.update_gradient(rows, np.array([0]), np.ones(1), np.zeros(4)),
        lambda: core.gather(rows, np.array([0]), np.array([3])),
        lambda: (
            core.points(sparse.csr_matrix((np.ones(1), np.array([7]), np.array([0, 1])), shape=(1, 9))[:, :9].astype(float)[[0, 0]])
            and _cpu.sparse_points(np.ones(1), np.array([0, 1]), np.array([9], np.int32), 9)
        ),
        lambda: core.solve_block(np.ones((2, 3)), *[np.zeros(2)] * 5, np.array([0, 2]), 1e-3, 10),
    ):
        with pytest.raises(ValueError, match=r"range|shape|dimension|K must"):
            call()


def naive_smo(K, linear, lower, upper, group, b, tol):
    """First-order SMO, the most violating pair of a group at a time."""
    G = K @ b + linear
    while True:
        worst, pair = tol, None
        for g in np.unique(group):
            grow = np.flatnonzero((group == g) & (b < upper))
            shrink = np.flatnonzero((group == g) & (b > lower))
            if len(grow) and len(shrink):
                i, j = grow[G[grow].argmin()], shrink[G[shrink].argmax()]
                if G[j] - G[i] > worst:
                    worst, pair = G[j] - G[i], (i, j)
        if pair is None:
            return b
        i, j = pair
        step = min((G[j] - G[i]) / max(K[i, i] + K[j, j] - 2 * K[i, j], 1e-12), upper[i] - b[i], b[j] - lower[j])
        b[i] += step
        b[j] -= step
        G += step * (K[:, i] - K[:, j])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(10))
def test_solve_block_against_naive_smo(seed, dtype):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 45))
    A = rng.normal(size=(n, 6))
    K = np.ascontiguousarray((A @ A.T + 0.1 * np.eye(n)).astype(dtype))
    groups = 1 + seed % 2
    group = np.sort(rng.integers(0, groups, size=n))
    lower, upper = -rng.uniform(0, 1, size=n), rng.uniform(0, 1, size=n)
    linear, b = rng.normal(size=n), np.zeros(n)
    wanted = naive_smo(K.astype(float), linear, lower, upper, group, b.copy(), 1e-9)
    G = linear.copy()
    begin = np.searchsorted(group, np.arange(groups + 1))
    steps, violation, negative, unbounded = core.solve_block(K, G, b, lower, upper, np.zeros(n), begin, 1e-9, 10**6)
    assert violation <= 1e-9
    assert not negative
    assert not unbounded
    np.testing.assert_allclose(b, wanted, atol=1e-6)
    np.testing.assert_allclose(G, K.astype(float) @ b + linear, atol=1e-9 * max(1, steps))
    assert np.all((b >= lower) & (b <= upper))
    for g in range(groups):
        assert abs(b[group == g].sum()) < 1e-12


def test_solve_block_reports_indefinite_and_unbounded():
    K = np.array([[0.0, 1.0], [1.0, 0.0]])
    zero, one = np.zeros(2), np.ones(2)
    result = core.solve_block(K, np.array([-1.0, 1.0]), zero.copy(), -one, one, zero, np.array([0, 2]), 1e-3, 100)
    assert result[2]
    assert not result[3]
    result = core.solve_block(K, np.array([-1.0, 1.0]), zero.copy(), -np.inf * one, np.inf * one, zero, np.array([0, 2]), 1e-3, 100)
    assert result[2]
    K = np.zeros((2, 2))
    assert core.solve_block(K, np.array([-1.0, 1.0]), zero.copy(), -np.inf * one, np.inf * one, zero, np.array([0, 2]), 1e-3, 100)[3]
