"""Every function of backend.py on every backend, against its definition."""

import inspect

import numpy as np
import pytest
from scipy import sparse

from maxmargin.core import lapack
from maxmargin.core.backend import RBF_BY_DIFFERENCES, NotFinite, Variables
from maxmargin.core.choose import HOST
from maxmargin.core.factor_backend import Ended, Walk
from maxmargin.core.prediction_backend import PredictionBackend
from maxmargin.core.threads import one_blas_thread, one_thread
from maxmargin.kernel.kernels import Kind
from numpy_backend import NumpyBackend, kernel_values

BACKENDS = {"cpu": HOST, "numpy": NumpyBackend()}
RBF = (int(Kind.RBF), 0.3, 0.0, 3)
KINDS = [
    *(int(kind) for kind in Kind if 0 <= kind <= Kind.CHI2),
    RBF_BY_DIFFERENCES,
]


@pytest.fixture(params=BACKENDS.values(), ids=BACKENDS.keys())
def backend(request):
    return request.param


@pytest.fixture
def draw():
    return np.random.default_rng(5)


def test_every_function_is_tested():
    functions = {name for name, _ in inspect.getmembers(PredictionBackend, inspect.isfunction)}
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert functions <= tested


def test_to_host(backend, draw):
    values = draw.normal(size=5)
    found = backend.to_host(backend.xp.asarray(values))
    assert isinstance(found, np.ndarray)
    assert np.array_equal(found, values)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_points(backend, draw, dtype):
    X = draw.normal(size=(9, 5)).astype(dtype)
    X[:, 2] = X[3] = 0
    for given, compress in ((X, False), (X, True), (sparse.csr_matrix(X), False)):
        P = backend.points(given, compress)
        assert P.shape == (9, 5)
        assert 4 <= P.terms <= 5
        assert P.norms.dtype == dtype
        np.testing.assert_allclose(P.norms, (X**2).sum(axis=1), rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernel_block(backend, draw, dtype, kind):
    X, Z = draw.uniform(size=(11, 4)).astype(dtype), draw.uniform(size=(7, 4)).astype(dtype)
    kernel, P, Q = (kind, 0.3, 0.5, 3), backend.points(X), backend.points(Z)
    wanted = kernel_values(kernel, X.astype(np.float64), Z.astype(np.float64))
    close = {"rtol": 40 * np.finfo(dtype).eps}
    found = backend.kernel_block(kernel, P, None, Q, None)
    assert found.dtype == dtype
    assert found.flags.c_contiguous
    np.testing.assert_allclose(found, wanted, **close)
    a, b = np.array([4, 0, 4]), np.array([6, 1])
    np.testing.assert_allclose(
        backend.kernel_block(kernel, P, a, Q, b), wanted[np.ix_(a, b)], **close
    )
    out = np.full((5, 7), -1.0, dtype)
    assert backend.kernel_block(kernel, P, a, Q, None, out, np.array([3, 0, 1])) is out
    np.testing.assert_allclose(out[[3, 0, 1]], wanted[a], **close)
    assert (out[[2, 4]] == -1).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernel_product(backend, draw, dtype):
    X, Z = draw.normal(size=(60, 4)).astype(dtype), draw.normal(size=(7, 4)).astype(dtype)
    coef, a, b = draw.normal(size=(30, 3)).astype(dtype), draw.permutation(60)[:30], np.arange(5)
    out = np.ones((3, 5))
    backend.kernel_product(RBF, backend.points(X), a, coef, backend.points(Z), b, out)
    K = kernel_values(RBF, X[a].astype(np.float64), Z[b].astype(np.float64))
    np.testing.assert_allclose(out, 1 + coef.T @ K, atol=200 * np.finfo(dtype).eps)


def test_kernel_products(backend, draw):
    X, Z, coef = draw.normal(size=(20, 4)), draw.normal(size=(6, 4)), draw.normal(size=(20, 2))
    begin, out = np.array([0, 8, 8, 20]), np.zeros((3, 2, 6))
    backend.kernel_products(RBF, backend.points(X), begin, coef, backend.points(Z), out)
    K = kernel_values(RBF, X, Z)
    for g, some in enumerate((slice(0, 8), slice(8, 8), slice(8, 20))):
        np.testing.assert_allclose(out[g], coef[some].T @ K[some], atol=1e-13)


def expansion_of(backend, draw, dtype):
    Z, coef, centre = draw.normal(size=(20, 4)), draw.normal(size=(20, 2)), draw.normal(size=4)
    begin = np.array([0, 8, 8, 20])
    return Z, coef, centre, begin, backend.expansion(Z, begin, coef, centre, 0.7, dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_expansion(backend, draw, dtype):
    """A packed expansion does not change with the arrays that it was made of."""
    Z, coef, _, _, packed = expansion_of(backend, draw, dtype)
    X, outs = draw.normal(size=(6, 4)), np.ones((2, 3, 2, 6))
    backend.expansion_sums(packed, X, outs[0], None, 1.0)
    Z[:], coef[:] = 0.0, 0.0
    backend.expansion_sums(packed, X, outs[1], None, 1.0)
    assert np.array_equal(*outs)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_expansion_sums(backend, draw, dtype):
    Z, coef, centre, begin, packed = expansion_of(backend, draw, dtype)
    X, out, halves = draw.normal(size=(6, 4)), np.ones((3, 2, 6)), np.empty(6)
    backend.expansion_sums(packed, X, out, halves, 1.0)
    K = np.exp2(-np.square(0.7 * (Z[:, None] - X)).sum(axis=2) / 2)
    close = {"rtol": 0, "atol": 200 * np.finfo(dtype).eps}
    for g in range(3):
        some = slice(begin[g], begin[g + 1])
        np.testing.assert_allclose(out[g], coef[some].T @ K[some], **close)
    np.testing.assert_allclose(halves, np.square(0.7 * (X - centre)).sum(axis=1) / 2, **close)


def test_values_that_are_not_finite_raise(backend):
    P, out = backend.points(np.array([[1e120], [1.0]])), np.zeros((1, 2))
    kernel = (int(Kind.POLY), 1.0, 0.0, 3)
    for call in (
        lambda: backend.kernel_block(kernel, P, None, P, None),
        lambda: backend.kernel_product(kernel, P, None, np.ones((2, 1)), P, None, out),
        lambda: backend.kernel_products(kernel, P, np.array([0, 2]), np.ones((2, 1)), P, out[None]),
        lambda: backend.separate_steps(
            kernel, P, P, np.arange(2), small_problem(2), 1e-3, np.array([10])
        ),
    ):
        with pytest.raises(NotFinite):
            call()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_update_gradient(backend, draw, dtype):
    rows, slots = draw.normal(size=(6, 9)).astype(dtype), np.array([5, 1, 1])
    delta, F = draw.normal(size=3), draw.normal(size=9)
    wanted = F + delta @ rows[slots].astype(np.float64)
    backend.update_gradient(rows, slots, delta, F)
    np.testing.assert_allclose(F, wanted, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gather(backend, draw, dtype):
    rows, slots = draw.normal(size=(6, 9)).astype(dtype), np.array([5, 0])
    for columns in (np.array([8, 8, 2]), np.arange(0)):
        found = backend.gather(rows, slots, columns)
        assert found.dtype == dtype
        assert np.array_equal(found, rows[slots][:, columns])


def test_mirror(backend, draw):
    for n, places in ((70, [0, 3, 4, 17, 69]), (33, list(range(33))), (20, [])):
        K = draw.normal(size=(n, n)).astype(np.float32)
        expected, places = K + K.T, np.array(places, np.int64)
        found = expected.copy()
        found[:, places] = 0.0
        found[places] = expected[places]
        backend.mirror(found, places)
        assert np.array_equal(found, expected)


def test_join_blocks(backend, draw):
    A, B, D = draw.normal(size=(40, 40)), draw.normal(size=(40, 70)), draw.normal(size=(70, 70))
    out = np.empty((110, 110))
    backend.join_blocks(A, B, D, out)
    assert np.array_equal(out, np.block([[A, B], [B.T, D]]))
    with pytest.raises(ValueError, match="shape"):
        backend.join_blocks(A, B.T.copy(), D, out)


def test_group_extremes(backend):
    G, b = np.array([3.0, -1.0, 2.0, 5.0]), np.array([0.0, 1.0, 0.5, 1.0])
    part = G, b, np.zeros(4), np.ones(4), np.zeros(4), np.array([0, 3, 4])
    assert backend.group_extremes(Variables(*part, np.array([True, True]))) == [
        (2.0, 2.0, 2.0, 1),
        (np.inf, 5.0, 0.0, 0),
    ]
    assert backend.group_extremes(Variables(*part, np.array([False, False]))) == [
        (0.0, 2.0, 2.0, 1),
        (0.0, 5.0, 0.0, 0),
    ]


def small_problem(n):
    """C-SVC of alternating labels with C = 2, at 0."""
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    bounds = np.minimum(0, 2 * y), np.maximum(0, 2 * y)
    return Variables(
        -y, np.zeros(n), *bounds, np.full(n, 0.1), np.array([0, n]), np.ones(1, dtype=bool)
    )


def check_steps(found, variables, K):
    """The optimum of small_problem, its gradient and its sum."""
    G, b, lower, upper, ridge, _, _ = variables
    assert found.taken > 0
    assert found.violation <= 1e-9
    assert not found.negative
    assert not found.unbounded
    np.testing.assert_allclose(G, K @ b + ridge * b + small_problem(len(b)).G, atol=1e-12)
    assert abs(b.sum()) < 1e-12
    assert ((b >= lower) & (b <= upper)).all()
    assert G[b > lower].max() - G[b < upper].min() <= 1.001e-9


def test_pair_steps(backend, draw):
    X = draw.normal(size=(24, 3))
    K, variables = kernel_values(RBF, X, X), small_problem(24)
    assert backend.pair_steps(K, variables, 1e-9, 3).taken == 3
    check_steps(backend.pair_steps(K, variables, 1e-9, 10**5), variables, K)


def test_pair_steps_of_variables_that_share_rows(backend, draw):
    """The steps of regression: on K alone as on a matrix of four copies of it."""
    n = 23
    X = draw.normal(size=(n, 3))
    K, z = kernel_values(RBF, X, X), draw.normal(size=n)
    G = np.concatenate([0.1 - z, -0.1 - z])
    for begin in ([0, 2 * n], [0, n, 2 * n], [0, 30, 2 * n]):
        ends = []
        for matrix in (K, np.tile(K, (2, 2))):
            variables = Variables(
                G.copy(),
                np.zeros(2 * n),
                np.repeat([0.0, -1.0], n),
                np.repeat([1.0, 0.0], n),
                np.full(2 * n, 0.1),
                np.array(begin),
                np.ones(len(begin) - 1, bool),
            )
            found = backend.pair_steps(matrix, variables, 1e-9, 10**5)
            assert found.violation <= 1e-9
            ends.append(variables)
        np.testing.assert_allclose(ends[0].b, ends[1].b, atol=1e-8)
        np.testing.assert_allclose(ends[0].G, ends[1].G, atol=1e-8)
        own = np.tile(K, (2, 2)) @ ends[0].b + 0.1 * ends[0].b + G
        np.testing.assert_allclose(ends[0].G, own, atol=1e-12)


def drawn_variables(draw, n, begin, fixed):
    """Variables of which some are free, some at a bound and some cannot move, and what makes G."""
    lower, upper = -draw.uniform(0, 1, n), draw.uniform(0, 1, n)
    upper[::7] = lower[::7] = 0.0
    b = np.choose(draw.integers(0, 3, n), [lower, 0.5 * (lower + upper), upper])
    ridge, linear = draw.uniform(0, 1, n), draw.normal(size=n)
    F, row = draw.normal(size=n), draw.integers(0, n, n)
    variables = Variables(np.empty(n), b, lower, upper, ridge, begin, fixed)
    return variables, F, row, linear


@pytest.mark.parametrize("n", [1, 30, 9000])
def test_survey(backend, draw, n):
    begin, fixed = np.array([0, n // 3, n]), np.array([True, False])
    variables, F, row, linear = drawn_variables(draw, n, begin, fixed)
    other = draw.normal(size=n)
    seen = backend.survey(variables, F, row, linear, other)
    G, b = F[row] + variables.ridge * variables.b + linear, variables.b
    np.testing.assert_allclose(variables.G, G, rtol=0, atol=1e-14)
    assert seen.variables is variables
    assert seen.objective == pytest.approx(0.5 * float(b @ (G + linear)), rel=1e-10, abs=1e-12)
    assert seen.moved == pytest.approx(np.linalg.norm(b - other), rel=1e-12)
    grow, shrink = b < variables.upper, b > variables.lower
    assert seen.free == np.count_nonzero(grow & shrink)
    for g, end in enumerate(seen.extremes):
        own = np.arange(n)[begin[g] : begin[g + 1]]
        least = G[own][grow[own]].min(initial=np.inf if fixed[g] else 0.0)
        greatest = G[own][shrink[own]].max(initial=-np.inf if fixed[g] else 0.0)
        assert (end.least, end.greatest) == pytest.approx((least, greatest), abs=1e-14)
    assert seen.violation == max(end.greatest - end.least for end in seen.extremes)
    again = backend.group_extremes(variables)
    assert [end[:2] for end in again] == [end[:2] for end in seen.extremes]


@pytest.mark.parametrize("n", [12, 500, 9000])
def test_candidates(backend, draw, n):
    """The free and the violators in order, and the nearest of the others, for every number of
    places."""
    begin, fixed = np.array([0, n // 3, n]), np.array([True, True])
    variables = drawn_variables(draw, n, begin, fixed)[0]
    variables.G[:] = draw.normal(size=n)
    level = np.array([0.3, -0.2])
    below = -np.repeat(level, np.diff(begin)) - variables.G
    grow, shrink = variables.b < variables.upper, variables.b > variables.lower
    moves = (grow & shrink) | (grow & (below > 0)) | (shrink & (below < 0))
    others = np.flatnonzero(~moves & (variables.lower < variables.upper))
    order = others[np.argsort(np.abs(below[others]))]
    for size in (0, np.count_nonzero(moves), np.count_nonzero(moves) + len(others) // 2, n):
        first, away, rest = backend.candidates(variables, level, size)
        assert np.array_equal(first, np.flatnonzero(moves))
        np.testing.assert_allclose(away, below[moves], rtol=0, atol=1e-14)
        missing = max(0, size - len(first))
        assert len(rest) == missing
        assert not np.isin(rest, first).any()
        assert set(order[: min(missing, len(others))]) <= set(rest.tolist())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_separate_steps(backend, draw, dtype):
    """Each group as if it were alone, and G as float64 values give it."""
    sizes, tol = (24, 40, 7), 1e-9
    X, begin = draw.normal(size=(60, 3)), np.concatenate([[0], np.cumsum(sizes)])
    a = np.concatenate([draw.permutation(60)[:n] for n in sizes])
    y = np.concatenate([np.repeat([1.0, -1.0], [n // 2, n - n // 2]) for n in sizes])
    G, b, zero = -y, np.zeros(len(y)), np.zeros(len(y))
    lower, upper = np.minimum(0.0, 3 * y), np.maximum(0.0, 3 * y)
    variables = Variables(G, b, lower, upper, zero, begin, np.ones(3, bool))
    A, exact = backend.points(X.astype(dtype)), backend.points(X)
    found = backend.separate_steps(RBF, A, exact, a, variables, tol, np.full(3, 10**6))
    for g, steps in enumerate(found):
        own, some = variables.groups(g, g + 1), a[begin[g] : begin[g + 1]]
        K = kernel_values(RBF, X[some], X[some])
        linear = -y[begin[g] : begin[g + 1]]
        np.testing.assert_allclose(own.G, K @ own.b + linear, rtol=0, atol=1e-13)
        alone = Variables(linear.copy(), np.zeros(len(some)), *own[2:])
        backend.pair_steps(K, alone, tol, 10**6)
        np.testing.assert_allclose(own.G, alone.G, rtol=0, atol=1e-7)
        assert objective(own, linear) <= objective(alone, linear) + 1e-9
        (end,) = backend.group_extremes(own)
        assert end.greatest - end.least <= tol * (1 + 1e-6)
        assert steps.taken > 0
        assert steps.violation <= tol
        assert abs(own.b.sum()) <= 1e-12


def objective(variables, linear):
    return 0.5 * float(variables.b @ (variables.G + linear))


def test_separate_steps_end(backend, draw):
    """Each group has a limit of its own."""
    X = draw.normal(size=(30, 2))
    y = np.where(np.arange(30) % 2, 1.0, -1.0)
    zero, begin = np.zeros(30), np.array([0, 10, 30])
    bounds = np.minimum(0.0, 1e6 * y), np.maximum(0.0, 1e6 * y)
    variables = Variables(-y, zero.copy(), *bounds, zero, begin, np.ones(2, bool))
    P = backend.points(X)
    found = backend.separate_steps(RBF, P, P, np.arange(30), variables, 1e-12, np.array([20, 40]))
    assert [steps.taken for steps in found] == [20, 40]
    assert all(steps.violation > 1e-12 for steps in found)


def step(Q, g, group, held):
    """The step to the minimum that keeps the sum and what is held, from its linear system."""
    n = len(g)
    N = np.hstack([(group == 0)[:, None], np.eye(n)[:, held]]).astype(float)
    rest = np.zeros((N.shape[1], N.shape[1]))
    right = np.concatenate([-g, np.zeros(N.shape[1])])
    return np.linalg.solve(np.block([[Q, N], [N.T, rest]]), right)[:n]


def walked(Q, g, b, width, group):
    """The walk of the contract, with a linear system for each step, and what it pins."""
    start, held = b, []
    while True:
        d = step(Q, g + Q @ (b - start), group, held)
        d[held] = 0.0
        reach = np.where(d > 0, width - b, b + width) / np.maximum(np.abs(d), 1e-300)
        reach[held] = np.inf
        if reach.min() >= 1:
            return b + d, held
        b, k = b + reach.min() * d, int(reach.argmin())
        b[k] = width if d[k] > 0 else -width
        held.append(k)


@pytest.mark.parametrize("width", [0.02, 0.2, 100.0])
def test_face_steps(backend, draw, width):
    n = 20
    A, g, start = draw.normal(size=(n, n)), draw.normal(size=n), draw.uniform(-0.5, 0.5, n) * width
    Q, group = A @ A.T + np.eye(n), np.repeat([0, -1], [n - 5, 5])
    wanted, held = walked(Q, g, start, width, group)
    inverse = np.linalg.inv(Q)
    sums = inverse @ (group == 0)

    def walk(room=n + 1):
        Z, R = np.zeros((room, n)), np.zeros((room, room))
        R[0, 0] = np.sqrt(sums[group == 0].sum())
        Z[0] = sums / R[0, 0]
        constraint, box = np.full(room, -1), np.full(n, width)
        return Walk(
            start.copy(),
            inverse @ g,
            np.empty(n),
            -box,
            box,
            np.zeros(n, bool),
            group,
            1,
            Z,
            R,
            constraint,
        )

    one, nothing = walk(), np.full(n, -1)
    if held:
        assert backend.face_steps(one, 1, inverse, nothing, 1e-14) == (1, Ended.MISSING)
        assert np.array_equal(one.b, start), "nothing moves before its column is there"
        np.testing.assert_allclose(one.d, step(Q, g, group, []), atol=1e-10)
        short = walk(room=1)
        assert backend.face_steps(short, 1, inverse, np.arange(n), 1e-14) == (1, Ended.FULL)
        assert np.flatnonzero(short.pinned).tolist() == held[:1]
    count, ended = backend.face_steps(one, 1, inverse, np.arange(n), 1e-14)
    assert (count, ended) == (1 + len(held), Ended.REACHED)
    np.testing.assert_allclose(one.b, wanted, atol=1e-10 * max(1, width))
    assert one.constraint[1:count].tolist() == held
    assert np.flatnonzero(one.pinned).tolist() == sorted(held)
    np.testing.assert_allclose(one.u, inverse @ g + one.b - start, atol=1e-10 * max(1, width))
    bad = walk()
    bad.u[3] = np.nan
    assert backend.face_steps(bad, 1, inverse, nothing, 1e-14)[1] is Ended.NOT_FINITE


def test_cholesky(backend, draw):
    A = draw.normal(size=(12, 12))
    Q = A @ A.T + np.eye(12)
    L = np.tril(backend.cholesky(np.triu(Q)))
    np.testing.assert_allclose(L @ L.T, Q, atol=1e-12)
    assert backend.cholesky(np.triu(Q - 100 * np.eye(12))) is None


def test_cholesky_of_values(backend, draw):
    A, ridge, pauses = draw.normal(size=(300, 300)), draw.uniform(1, 2, 300), []
    Q = A @ A.T
    L = backend.cholesky_of_values(lambda a, b: Q[a, b].copy(), ridge, lambda: pauses.append(1))
    L = np.tril(L)
    np.testing.assert_allclose(L @ L.T, Q + np.diag(ridge), atol=1e-10)
    assert pauses
    assert backend.cholesky_of_values(lambda a, b: Q[a, b] - 1e4, ridge, lambda: None) is None


def test_triangular_solve(backend, draw):
    A = draw.normal(size=(12, 12))
    L = backend.cholesky(A @ A.T + np.eye(12))
    for right in (draw.normal(size=12), draw.normal(size=(12, 3))):
        for transposed in (False, True):
            found = backend.triangular_solve(L, right, transposed)
            assert found.shape == right.shape
            whole = np.tril(L).T if transposed else np.tril(L)
            np.testing.assert_allclose(whole @ found, right, atol=1e-11)


def test_product(backend, draw):
    for rows, inner, columns in ((3, 4, 5), (300, 400, 260), (1, 200, 40_000)):
        A, B = draw.normal(size=(rows, inner)), draw.normal(size=(columns, inner)).T
        np.testing.assert_allclose(backend.product(A, B), A @ B, atol=1e-10)


def test_factors_and_solves_in_parts_have_the_same_bits(draw):
    """Those of the processor are dealt to threads."""
    n = lapack.IN_HALVES + 10
    A = draw.normal(size=(n, 40))
    Q, right = A @ A.T + np.eye(n), draw.normal(size=(n, 300))
    with one_blas_thread():
        several = [HOST.cholesky(Q.copy())]
        several += [HOST.triangular_solve(several[0], right, t) for t in (False, True)]
        several.append(HOST.product(Q, right))
        with one_thread():
            alone = [HOST.cholesky(Q.copy())]
            alone += [HOST.triangular_solve(alone[0], right, t) for t in (False, True)]
            alone.append(HOST.product(Q, right))
    for one, other in zip(several, alone, strict=True):
        np.testing.assert_array_equal(np.tril(one), np.tril(other))
    L = np.tril(several[0])
    np.testing.assert_allclose(L @ L.T, Q, atol=1e-10)
    np.testing.assert_allclose(L @ several[1], right, atol=1e-9)
    np.testing.assert_allclose(L.T @ several[2], right, atol=1e-9)
    assert HOST.cholesky(Q - 100 * np.eye(n)) is None


def test_cholesky_solve(backend, draw):
    A = draw.normal(size=(12, 12))
    Q = A @ A.T + np.eye(12)
    L = backend.cholesky(Q.copy())
    for right in (draw.normal(size=12), draw.normal(size=(12, 3))):
        found = backend.cholesky_solve(L, right)
        assert found.shape == right.shape
        np.testing.assert_allclose(Q @ found, right, atol=1e-11)
