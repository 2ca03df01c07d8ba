"""The compiled functions against plain NumPy, and their bits for any number of threads, any split,
dense and sparse.
"""

import itertools
import threading

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from maxmargin.core import _cpu
from maxmargin.core import threads as thread_settings
from maxmargin.core.backend import Variables
from maxmargin.core.choose import HOST as core
from maxmargin.core.memory import contiguous
from maxmargin.core.text import parse_svmlight
from maxmargin.core.threads import one_blas_thread, one_thread, thread_count
from numpy_backend import NumpyBackend

RBF, LINEAR, LAPLACIAN = (2, 0.2, 0.0, 3), (0, 1.0, 0.0, 3), (5, 0.2, 0.0, 3)
rng = np.random.default_rng(0)


BACKENDS, NAMES = (core, NumpyBackend()), ("cpu", "numpy")


def variables(G, b, lower, upper, ridge, begin, fixed=None):
    """Variables of groups whose sums are fixed, unless told otherwise."""
    return Variables(
        G, b, lower, upper, ridge, begin, np.ones(len(begin) - 1, bool) if fixed is None else fixed
    )


def pair_steps(K, *problem, fixed=None, backend=core):
    *parts, tol, most = problem
    return backend.pair_steps(K, variables(*parts, fixed), tol, most)


def block(kernel, P, a, Q, b, threads):
    out = np.empty(
        (P.shape[0] if a is None else len(a), Q.shape[0] if b is None else len(b)), np.float64
    )
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
    assert np.array_equal(
        block(kernel, P, some, P, some[::-1].copy(), 2), whole[np.ix_(some, some[::-1])]
    )
    assert np.array_equal(block(kernel, core.points(sparse.csr_matrix(X)), None, P, None, 2), whole)
    assert np.array_equal(block(kernel, P, None, core.points(sparse.csr_matrix(X)), None, 2), whole)


def test_matvec_is_the_update_of_the_gradient():
    """The product without storing K has the bits of the product with stored rows.

    A tiny cache changes nothing.
    """
    X, coef = rng.normal(size=(600, 9)), rng.normal(size=(600, 2))
    P = core.points(X)
    K = core.kernel_block(RBF, P, None, P, None)
    fused, stored = np.zeros((2, 600)), np.zeros((2, 600))
    core.kernel_product(RBF, P, None, coef, P, None, fused)
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
    assert np.array_equal(
        core.gather(rows, np.array([0, 9]), np.array([3, 1])), whole[np.ix_([80, 5], [3, 1])]
    )


def test_threads_follow_the_environment():
    with threadpool_limits(1):
        assert thread_count() == 1
    with one_thread():
        assert thread_count() == 1
    assert thread_count(work=10) == 1


def blas_threads():
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}


def test_blas_is_held_to_one_thread_from_any_thread():
    """The first user sets the number and the last restores it, though another thread controls
    OpenBLAS (threadpoolctl 3.8) and the first user lives on."""
    seen, first_is_in, last_is_in, first_left, over = {}, *(threading.Event() for _ in range(4))

    def first():
        with one_blas_thread():
            seen["first"] = blas_threads()
            first_is_in.set()
            last_is_in.wait(60)
        first_left.set()
        over.wait(60)

    def last():
        with one_blas_thread():
            last_is_in.set()
            first_left.wait(60)
            seen["last"] = blas_threads()

    with threadpool_limits(3, user_api="blas"):
        user, other = threading.Thread(target=first), threading.Thread(target=last)
        user.start()
        assert first_is_in.wait(60)
        other.start()
        other.join(60)
        seen["after"] = blas_threads()
        over.set()
        user.join(60)
        with threadpool_limits(2, user_api="blas"):
            seen["inside"] = blas_threads()
        seen["again"] = blas_threads()
    assert seen == {"first": {1}, "last": {1}, "after": {3}, "inside": {2}, "again": {3}}


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
            core.points(
                sparse.csr_matrix((np.ones(1), np.array([7]), np.array([0, 1])), shape=(1, 9))[
                    :, :9
                ].astype(float)[[0, 0]]
            )
            and _cpu.sparse_points(np.ones(1), np.array([0, 1]), np.array([9], np.int32), 9)
        ),
        lambda: pair_steps(np.ones((2, 3)), *[np.zeros(2)] * 5, np.array([0, 2]), 1e-3, 10),
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
        step = min(
            (G[j] - G[i]) / max(K[i, i] + K[j, j] - 2 * K[i, j], 1e-12),
            upper[i] - b[i],
            b[j] - lower[j],
        )
        b[i] += step
        b[j] -= step
        G += step * (K[:, i] - K[:, j])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("backend", BACKENDS, ids=NAMES)
def test_pair_steps_against_naive_smo(seed, dtype, backend):
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
    steps, violation, negative, unbounded = pair_steps(
        K, G, b, lower, upper, np.zeros(n), begin, 1e-9, 10**6, backend=backend
    )
    assert violation <= 1e-9
    assert not negative
    assert not unbounded
    np.testing.assert_allclose(b, wanted, atol=1e-6)
    gradient = K.astype(float) @ b + linear
    rounding = 16 * np.finfo(dtype).eps * np.abs(gradient).max(initial=0.0)
    np.testing.assert_allclose(G, gradient, atol=rounding + 1e-9 * max(1, steps))
    assert np.all((b >= lower) & (b <= upper))
    for g in range(groups):
        assert abs(b[group == g].sum()) < 1e-12


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("backend", BACKENDS, ids=NAMES)
def test_single_steps_where_a_sum_is_not_fixed(seed, backend):
    """The optimum of bounds alone, against projected coordinate descent, with and without a group
    whose sum is fixed.
    """
    draw = np.random.default_rng(seed)
    n = int(draw.integers(3, 40))
    A = draw.normal(size=(n, 6))
    K = np.ascontiguousarray(A @ A.T + 0.1 * np.eye(n))
    lower, upper, ridge = (
        -draw.uniform(0, 1, size=n),
        draw.uniform(0, 1, size=n),
        draw.uniform(0, 1, size=n) * (seed % 2),
    )
    linear, b = draw.normal(size=n), np.zeros(n)
    cut = n // 2 if seed % 3 == 0 else n
    begin, fixed = np.array([0, cut, n]), np.array([False, True])
    G = linear.copy()
    found = pair_steps(
        K, G, b, lower, upper, ridge, begin, 1e-10, 10**6, fixed=fixed, backend=backend
    )
    assert found.violation <= 1e-10
    assert not found.negative
    np.testing.assert_allclose(G, K @ b + ridge * b + linear, atol=1e-8)
    assert np.all((b >= lower) & (b <= upper))
    assert abs(b[cut:].sum()) < 1e-12
    at_lower, at_upper = b[:cut] == lower[:cut], b[:cut] == upper[:cut]
    np.testing.assert_allclose(G[:cut][~at_lower & ~at_upper], 0.0, atol=1e-9)
    assert (G[:cut][at_lower & ~at_upper] >= -1e-9).all()
    assert (G[:cut][at_upper & ~at_lower] <= 1e-9).all()


def test_pair_steps_report_indefinite_and_unbounded():
    K = np.array([[0.0, 1.0], [1.0, 0.0]])
    zero, one = np.zeros(2), np.ones(2)
    result = pair_steps(
        K, np.array([-1.0, 1.0]), zero.copy(), -one, one, zero, np.array([0, 2]), 1e-3, 100
    )
    assert result[2]
    assert not result[3]
    result = pair_steps(
        K,
        np.array([-1.0, 1.0]),
        zero.copy(),
        -np.inf * one,
        np.inf * one,
        zero,
        np.array([0, 2]),
        1e-3,
        100,
    )
    assert result[2]
    K = np.zeros((2, 2))
    assert pair_steps(
        K,
        np.array([-1.0, 1.0]),
        zero.copy(),
        -np.inf * one,
        np.inf * one,
        zero,
        np.array([0, 2]),
        1e-3,
        100,
    )[3]


# ---- tiles that are stored, copied in part, or computed part by part -----------------------------


def large_problem(n, groups=1):
    X = rng.normal(size=(n, 5)).astype(np.float32)
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    lower, upper = np.minimum(0, 3 * y), np.maximum(0, 3 * y)
    return X, y, lower, upper, np.linspace(0, n, groups + 1).astype(np.int64)


@pytest.mark.parametrize("n", [500, 900, 1300])
@pytest.mark.parametrize("groups", [1, 2])
def test_tiles_of_all_sizes_are_solved(n, groups):
    """In each precision, with a compact copy of what still moves above 512 variables: to the same
    objective and a true violation."""
    X, y, lower, upper, begin = large_problem(n, groups)
    lower, upper = 30 * lower, 30 * upper
    P, objectives = core.points(X), []
    K = core.kernel_block(RBF, P, None, P, None)
    for dtype in (np.float32, np.float64):
        b, G = np.zeros(n), -y
        steps, violation, negative, unbounded = pair_steps(
            K.astype(dtype), G, b, lower, upper, np.zeros(n), begin, 1e-6, 10**7
        )
        assert steps > 2 * n, "enough for a compact copy"
        assert violation <= 1e-6
        assert not negative
        assert not unbounded
        gradient = K.astype(dtype).astype(np.float64) @ b - y
        np.testing.assert_allclose(G, gradient, atol=1e-10 if dtype == np.float64 else 1e-3)
        assert np.all((b >= lower) & (b <= upper))
        for i, j in itertools.pairwise(begin):
            g, own, low, high = gradient[i:j], b[i:j], lower[i:j], upper[i:j]
            assert g[own > low].max() - g[own < high].min() <= 1.1e-6, "the true violation"
            assert abs(own.sum()) < 1e-10
        objectives.append(0.5 * b @ (gradient - y))
    np.testing.assert_allclose(*objectives, rtol=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("fixed", [[True], [False], [True, False]], ids=str)
def test_conjugate_steps(fixed, dtype):
    """Plain steps would be 18,000 to 135,000 here, at any instruction level."""
    n, draw = 900, np.random.default_rng(0)
    X = draw.normal(size=(n, 3)).astype(np.float32)
    y = np.where(np.sin(2 * X[:, 0]) + X[:, 1] > 0, 1.0, -1.0)
    P, lower, upper = core.points(X), 1e3 * np.minimum(0, y), 1e3 * np.maximum(0, y)
    K = core.kernel_block(RBF, P, None, P, None).astype(dtype)
    begin = np.linspace(0, n, len(fixed) + 1).astype(np.int64)
    b, G = np.zeros(n), -y
    given = K, G, b, lower, upper, np.zeros(n), begin
    found = pair_steps(*given, 1e-4, 10**6, fixed=np.array(fixed))
    assert found.taken <= (15_000 if len(fixed) == 1 else 30_000)
    assert found.violation <= 1e-4
    np.testing.assert_allclose(G, K.astype(np.float64) @ b - y, atol=1e-5)
    assert np.all((b >= lower) & (b <= upper))
    for (i, j), kept in zip(itertools.pairwise(begin), fixed, strict=True):
        assert not kept or abs(b[i:j].sum()) <= 1e-13 * np.abs(b[i:j]).sum()


@pytest.mark.parametrize(("gamma", "stored"), [(0.002, False), (5.0, True)])
def test_parts_of_a_tile_are_computed_until_all_of_it_is_cheaper(gamma, stored):
    """With few support vectors, and with as many as samples."""
    n, kernel = 1300, (2, gamma, 0.0, 0)
    X, y, lower, upper, begin = large_problem(n)
    y = y if stored else np.sign(X[:, 0]).astype(float)
    lower, upper = np.minimum(0, 3 * y), np.maximum(0, 3 * y)
    found = []
    for threads in (1, 2, 3):
        b, G = np.zeros(n), -y
        _cpu.separate_steps(
            kernel,
            core.points(X),
            core.points(X.astype(float)),
            np.arange(n),
            G,
            b,
            lower,
            upper,
            np.zeros(n),
            begin,
            np.ones(1, bool),
            1e-3,
            np.array([10**7]),
            threads,
        )
        assert G[b > lower].max() - G[b < upper].min() <= 1e-3
        found.append((b, G))
    assert bool(np.count_nonzero(b) > n / 2) is stored
    assert all(np.array_equal(b, found[0][0]) and np.array_equal(G, found[0][1]) for b, G in found)


@pytest.mark.parametrize("n", [500, 900])
def test_a_limit_of_steps_is_kept_and_can_be_continued(n):
    X, y, lower, upper, begin = large_problem(n)
    K = core.kernel_block(RBF, core.points(X), None, core.points(X), None)
    b, G, zero = np.zeros(n), -y, np.zeros(n)
    first = pair_steps(K, G, b, lower, upper, zero, begin, 1e-3, 100)
    assert first.taken == 100
    np.testing.assert_allclose(G, K.astype(np.float64) @ b - y, rtol=0, atol=1e-12)
    assert first.violation == G[b > lower].max() - G[b < upper].min()
    assert pair_steps(K, G, b, lower, upper, zero, begin, 1e-3, 10**7).violation <= 1e-3


@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6, 1e12])
def test_float32_steps_reach_a_tolerance_far_below_their_rounding(C):
    """The gradient is made anew before its rounding can hide the violation."""
    X, y, lower, upper, begin = large_problem(300)
    P = core.points(X)
    K = core.kernel_block(RBF, P, None, P, None)
    b, G = np.zeros(300), -y
    found = pair_steps(K, G, b, C * lower, C * upper, np.zeros(300), begin, 1e-7, 10**6)
    assert found.violation <= 1e-7
    gradient = K.astype(np.float64) @ b - y
    true = gradient[b > C * lower].max() - gradient[b < C * upper].min()
    assert true <= 1.1e-7 + 1e-13 * np.abs(b).max()


@pytest.mark.parametrize("kernel", [RBF, LINEAR, (1, 0.3, 1.0, 3)])
def test_compressed_points_have_the_bits_of_dense_ones(kernel):
    X = rng.normal(size=(150, 200)) * (rng.random((150, 200)) < 0.2)
    dense, compressed = core.points(X), core.points(X, compress=True)
    whole = core.kernel_block(kernel, dense, None, dense, None)
    assert np.array_equal(core.kernel_block(kernel, compressed, None, compressed, None), whole)
    assert np.array_equal(
        core.kernel_block(kernel, compressed, np.array([3, 1]), dense, None), whole[[3, 1]]
    )
    out = np.zeros((2, 2, 150))
    coef = rng.normal(size=(150, 2))
    core.kernel_product(kernel, dense, None, coef, dense, None, out[0])
    core.kernel_product(kernel, compressed, None, coef, compressed, None, out[1])
    assert np.array_equal(out[0], out[1])


def test_exponentials_over_their_whole_range():
    """exp by powers of two: within rounding of 1, exact at 0, zero far out, infinite beyond the
    range."""
    for dtype, eps in ((np.float32, 2e-7), (np.float64, 4e-16)):
        x = np.concatenate([[0.0], np.logspace(-12, 3.2, 500)])
        P, Q = core.points(x[:, None].astype(dtype)), core.points(np.zeros((1, 1), dtype))
        values = core.kernel_block((5, 1.0, 0.0, 3), P, None, Q, None)[:, 0]  # exp(-|x|)
        assert values[0] == 1.0
        np.testing.assert_allclose(values, np.exp(-x.astype(dtype).astype(np.float64)), atol=eps)
        assert values[-1] == 0.0
    one = core.points(np.array([[-1000.0]])), core.points(np.array([[1.0]]))
    logistic = core.kernel_block((4, 1.0, 0.0, 3), *one[:1], None, one[1], None)
    assert logistic[0, 0] == 0.0


def test_threads_of_large_calls_and_of_callers_that_run_side_by_side(monkeypatch):
    monkeypatch.setattr(thread_settings, "_openmp_effective_n_threads", lambda: 5)
    assert [thread_count(work) for work in (0.0, 5.9e6, 6.1e6, np.inf)] == [1, 1, 5, 5]
    assert thread_count() == 5
    with one_thread():
        assert thread_count() == 1
        with one_thread():
            assert thread_count() == 1
        assert thread_count() == 1, "still inside the outer one"
    assert thread_count() == 5
    seen = []
    monkeypatch.setattr(
        _cpu, "parse_svmlight", lambda *arguments: seen.append(arguments) or ["pieces"]
    )
    for size, threads, wanted in ((10, 0, 1), (10**7, 0, 5), (10, 3, 3), (10**7, 2, 2)):
        assert parse_svmlight("text", size, 7, 8, threads) == ["pieces"]
        assert seen.pop() == ("text", size, 7, 8, wanted)
    parse_svmlight("text", 10, 7, 8)
    assert seen.pop()[-1] == 1


def test_arrays_are_copied_only_where_the_core_cannot_read_them():
    array = np.arange(12.0).reshape(3, 4)
    assert contiguous(array) is array
    turned = contiguous(array.T)
    assert turned.flags.c_contiguous
    assert turned.tolist() == array.T.tolist()
    assert contiguous(array, np.float32).dtype == np.float32
    raw = np.zeros(8 * 4 + 1, np.uint8)
    misaligned = raw[1:].view(np.float64)
    misaligned[:] = [1.0, 2.0, 3.0, 4.0]
    copied = contiguous(misaligned)
    assert copied.flags.aligned
    assert copied.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_linear_functions_of_rows():
    """Products, sums, Gram matrices and those of several classes, of all rows or of some."""
    rng = np.random.default_rng(4)
    X, w, W = rng.normal(size=(9, 5)), rng.normal(size=5), rng.normal(size=(5, 8))
    for dtype in (np.float32, np.float64):
        data = X.astype(dtype)
        points, exact = core.points(data), data.astype(np.float64)
        for rows in (None, np.array([4, 0, 7])):
            part = exact if rows is None else exact[rows]
            t, T = rng.normal(size=len(part)), rng.normal(size=(len(part), 8))
            np.testing.assert_allclose(core.linear_values(points, rows, w), part @ w)
            np.testing.assert_allclose(core.linear_sum(points, rows, t), part.T @ t)
            v = t**2 * (part @ w + 0.3)
            along, total = core.linear_hessian(points, rows, t**2, w, 0.3)
            np.testing.assert_allclose(along, part.T @ v)
            np.testing.assert_allclose(total, v.sum())
            np.testing.assert_allclose(core.linear_diagonal(points, rows, t**2), t**2 @ part**2)
            np.testing.assert_allclose(
                core.gram(points, rows, t**2), part.T @ (t[:, None] ** 2 * part)
            )
            np.testing.assert_allclose(core.class_values(points, rows, W), part @ W)
            np.testing.assert_allclose(core.class_sum(points, rows, T), part.T @ T)
        np.testing.assert_allclose(core.linear_squares(points), (exact**2).sum(axis=1))
