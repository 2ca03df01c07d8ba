"""How points are prepared for the core, and which of them are suspect, against definitions in plain
Python.
"""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from helpers import settings, threads
from maxmargin.core.backend import Variables
from maxmargin.core.choose import HOST
from maxmargin.kernel import rounding
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.sources import KernelNotFinite, NativeSource, native, preparation

rng = np.random.default_rng(5)
A, B = rng.normal(size=(12, 5)), rng.normal(size=(7, 5))
S = sparse.random(12, 5, density=0.4, random_state=0, format="csr")


@pytest.mark.parametrize(
    "kind", [Kind.RBF, Kind.POLY, Kind.TANH, Kind.LOGISTIC, Kind.LAPLACIAN, Kind.CHI2]
)
@pytest.mark.parametrize("gamma", [1e-300, 3e-5, 0.7, 1.0, 900.0, 1e300])
def test_data_are_scaled_by_a_power_of_two_that_brings_gamma_near_1(kind, gamma):
    scale, left = preparation.power_of_two(kind, gamma)
    assert math.frexp(scale)[0] == 0.5
    linear = kind in (Kind.LAPLACIAN, Kind.CHI2)
    assert (left * scale if linear else left * scale * scale) == pytest.approx(
        gamma, rel=1e-9, abs=0.0
    )
    assert 0.7 <= left <= 1.42 if linear else 0.49 <= left <= 2.01


def test_gamma_without_a_scale():
    assert preparation.power_of_two(Kind.LINEAR, 9.0) == (1.0, 9.0)
    assert preparation.power_of_two(Kind.RBF, 0.0) == (1.0, 0.0)
    assert preparation.power_of_two(Kind.LAPLACIAN, 1.7e308)[0] == 2.0**1000


@pytest.mark.parametrize("numbers", [1, 14, 2**20])
def test_lengths_and_terms(numbers, monkeypatch):
    settings(monkeypatch, preparation, squares_at_once=numbers)
    centre = rng.normal(size=5)
    np.testing.assert_allclose(
        preparation.squared_lengths(A, centre), [sum((x - centre) ** 2) for x in A]
    )
    np.testing.assert_allclose(preparation.squared_lengths(A, None), [sum(x**2) for x in A])
    np.testing.assert_allclose(
        preparation.squared_lengths(S, None), [sum(x**2) for x in S.toarray()]
    )
    assert preparation.n_terms(A) == 5
    assert preparation.n_terms(S) == max(np.count_nonzero(x) for x in S.toarray())
    assert preparation.n_terms(S[:0]) == preparation.n_terms(sparse.csr_matrix((3, 4))) == 0
    assert preparation.squared_lengths(A[:, :0], None).tolist() == [0.0] * 12


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_matrix])
def test_rows_of_unit_length(store):
    X = A * np.logspace(-200, 200, 12)[:, None]
    X[3] = 0.0
    found = preparation.unit_rows(store(X))
    found = found.toarray() if sparse.issparse(found) else found
    for x, unit in zip(X, found, strict=True):
        largest = np.abs(x).max() or 1.0
        length = math.sqrt(sum((x / largest) ** 2)) or 1.0
        np.testing.assert_allclose(unit, x / largest / length, rtol=1e-14)


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_matrix])
def test_combinations_of_rows(store):
    coef = rng.normal(size=(2, 12))
    coef[0, 4] = 0.0
    found = preparation.combine(coef, store(S.toarray()))
    assert sparse.issparse(found) == (store is sparse.csr_matrix)
    found = found.toarray() if sparse.issparse(found) else found
    np.testing.assert_allclose(
        found,
        [sum(c * x for c, x in zip(row, S.toarray(), strict=True)) for row in coef],
        atol=1e-14,
    )


def test_errors_of_values_follow_from_the_longest_point():
    longest = max(math.sqrt(sum(x**2)) for x in A)
    about = max(math.sqrt(sum((x - A.mean(axis=0)) ** 2)) for x in A)
    for kernel, wanted in (
        (Kernel.linear(), rounding.dot_error(1.0, 0.0, 1, 5, longest)),
        (Kernel.poly(degree=4, gamma=0.3, coef0=2.0), rounding.dot_error(0.3, 2.0, 4, 5, longest)),
        (Kernel.poly(degree=3, gamma=0.3, coef0=-2.0), rounding.dot_error(0.3, 2.0, 3, 5, longest)),
        (Kernel.sigmoid(gamma=0.3, coef0=-2.0), rounding.dot_error(0.3, 2.0, 1, 5, longest)),
        (Kernel.cosine(), rounding.dot_error(1.0, 0.0, 1, 5, 1.0)),
        (Kernel.rbf(gamma=0.3), rounding.exponent_error(0.3, 5, about)),
        (Kernel.laplacian(gamma=0.3), rounding.difference_error(5)),
    ):
        source = NativeSource(kernel, A)
        assert source.value_error == pytest.approx(wanted, rel=1e-9, abs=0.0)
        assert source.differences is (kernel.kind is Kind.LAPLACIAN)
    by = NativeSource(Kernel.rbf(gamma=0.3), A).by_differences()
    assert (by.differences, by.value_error) == (True, rounding.difference_error(5))
    assert by.by_differences() is None
    assert NativeSource(Kernel.linear(), A).by_differences() is None
    np.testing.assert_allclose(
        by.block(None, None, np.float64),
        NativeSource(Kernel.rbf(gamma=0.3), A).block(None, None, np.float64),
    )


def test_suspects_are_the_longest_and_of_many_those_with_a_near_neighbour(monkeypatch):
    source = NativeSource(Kernel.linear(), A * np.arange(1, 13)[:, None])
    lengths = [sum((k + 1) ** 2 * x**2) for k, x in enumerate(A)]
    assert source.suspects(4).tolist() == sorted(range(12), key=lambda i: -lengths[i])[:4]
    assert source.suspects(12).tolist() == list(range(12))
    among = np.array([2, 5, 7, 1])
    assert (
        source.suspects(2, among).tolist() == sorted(range(4), key=lambda k: -lengths[among[k]])[:2]
    )
    settings(monkeypatch, native, neighbour_rows=3)
    line = np.cumsum(np.r_[0.0, np.full(8, 10.0), 0.01, 10.0, 10.0])[:, None]
    assert sorted(NativeSource(Kernel.rbf(gamma=1.0), line).suspects(2).tolist()) == [8, 9]


def test_sparse_data_mostly_stored_become_dense_and_zeros_are_compressed():
    full = sparse.csr_matrix(A)
    assert isinstance(NativeSource(Kernel.rbf(gamma=1.0), full)._A, np.ndarray)
    assert sparse.issparse(NativeSource(Kernel.rbf(gamma=1.0), S)._A)
    wide = np.zeros((10, 16))
    wide[:, :4] = rng.normal(size=(10, 4))
    for X, kernel, compressed in (
        (wide, Kernel.rbf(gamma=1.0), True),
        (wide[:, :15], Kernel.rbf(gamma=1.0), False),
        (wide, Kernel.laplacian(), False),
        (wide[:, :12].repeat(2, axis=1), Kernel.linear(), False),
    ):
        assert NativeSource(kernel, X)._compress is compressed
    assert NativeSource(Kernel.linear(), rng.normal(size=(3, 64))).cheap
    assert not NativeSource(Kernel.linear(), rng.normal(size=(3, 65))).cheap


def test_limits_of_compressed_and_of_cheap_data():
    wide = np.zeros(160)
    for stored, compressed in ((48, True), (49, False)):
        wide[:stored] = 1.0
        assert NativeSource(Kernel.rbf(gamma=1.0), wide.reshape(10, 16))._compress is compressed
    wide[48:] = 0.0
    assert not NativeSource(Kernel.rbf(gamma=1.0), wide.reshape(10, 16), None, True)._compress, (
        "differences are not of dot products"
    )
    for stored, cheap in ((64, True), (65, False)):
        X = sparse.csr_matrix(np.hstack([np.ones((3, stored)), np.zeros((3, 200))]))
        assert NativeSource(Kernel.linear(), X).cheap is cheap
    assert NativeSource(Kernel.rbf(), A).convex
    assert not NativeSource(Kernel.sigmoid(), A).convex
    none = NativeSource(Kernel.rbf(gamma=1.0), A[:0], B)
    assert none.block(None, None, np.float64).shape == (0, 7)
    assert none.value_error == 0.0
    np.testing.assert_array_equal(NativeSource(Kernel.rbf(gamma=1.0), A[:1])._centre, A[0])


def test_another_set_of_points_beside_the_same():
    source = NativeSource(Kernel.rbf(gamma=0.3), A)
    wanted = [[math.exp(-0.3 * sum((a - b) ** 2)) for b in B] for a in A]
    other = source.against(B)
    assert (other.n_rows, other.n_columns, source.n_columns) == (12, 7, 12)
    np.testing.assert_allclose(other.block(None, None, np.float64), wanted, rtol=1e-12)
    np.testing.assert_allclose(
        other.at(np.array([4, 1])).block(None, None, np.float64),
        np.array(wanted)[:, [4, 1]],
        rtol=1e-12,
    )
    narrow = NativeSource(Kernel.rbf(gamma=0.3), sparse.csr_matrix(A)).against(sparse.csr_matrix(B))
    np.testing.assert_allclose(narrow.block(None, None, np.float64), wanted, rtol=1e-12)


def test_zeros_of_compressed_data_stay_zeros():
    """Columns that are 0 in more than half of the rows are not centred."""
    X = np.zeros((10, 20))
    X[:, 0], X[:5, 1], X[:4, 2], X[0, 3:] = 3.0, 2.0, 5.0, 1.0
    source = NativeSource(Kernel.rbf(gamma=0.5), X)
    assert source._compress
    assert source._centre[:3].tolist() == [3.0, 1.0, 0.0]
    assert not source._centre[3:].any()
    assert source.points(np.float32)[0].terms == 19, (
        "of the first row: all but the one that is 3 everywhere"
    )
    wanted = [[math.exp(-0.5 * sum((a - b) ** 2)) for b in X] for a in X]
    np.testing.assert_allclose(source.block(None, None, np.float64), wanted, rtol=1e-12)
    assert NativeSource(Kernel.linear(), X)._centre is None
    narrow = NativeSource(Kernel.rbf(gamma=0.5), X[:, :5])
    np.testing.assert_allclose(
        narrow._centre,
        X[:, :5].mean(axis=0),
        err_msg="nothing to keep 0 where nothing is compressed",
    )


def test_sparse_data_are_made_dense_where_more_than_half_is_stored():
    for stored, dense in ((10, False), (11, True)):
        X = np.zeros(20)
        X[:stored] = 1.0 + np.arange(stored)
        S = sparse.csr_matrix(X.reshape(4, 5, order="F"))
        source = NativeSource(Kernel.rbf(gamma=0.01), S, S[:2])
        assert isinstance(source._A, np.ndarray) is dense
        wanted = [
            [math.exp(-0.01 * sum((a - b) ** 2)) for b in S[:2].toarray()] for a in S.toarray()
        ]
        np.testing.assert_allclose(source.block(None, None, np.float64), wanted, rtol=1e-12)


def sources():
    """Dense, sparse, compressed, by differences; A and B apart or the same."""
    wide = np.zeros((12, 20))
    wide[:, :5] = A
    return {
        "dense": (NativeSource(Kernel.rbf(gamma=0.3), A, B), A, B),
        "alone": (NativeSource(Kernel.rbf(gamma=0.3), A), A, A),
        "sparse": (NativeSource(Kernel.rbf(gamma=0.3), S, S[3:]), S.toarray(), S.toarray()[3:]),
        "compressed": (NativeSource(Kernel.rbf(gamma=0.3), wide), wide, wide),
        "one of them sparse": (
            NativeSource(Kernel.rbf(gamma=0.3), 3.0 + A, S),
            3.0 + A,
            S.toarray(),
        ),
        "by differences": (NativeSource(Kernel.rbf(gamma=0.3), A, B, True), A, B),
        "gamma 4": (NativeSource(Kernel.rbf(gamma=4.0), A, B), A, B),
        "gamma 4, sparse": (
            NativeSource(Kernel.rbf(gamma=4.0), S, S[3:]),
            S.toarray(),
            S.toarray()[3:],
        ),
        "compressed, by differences": (
            NativeSource(Kernel.rbf(gamma=0.3), wide, None, True),
            wide,
            wide,
        ),
        "huge gamma": (NativeSource(Kernel.rbf(gamma=3e9), 1e-5 * A, 1e-5 * B), 1e-5 * A, 1e-5 * B),
    }


@pytest.mark.parametrize("name", sources())
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("at_once", [1.0, 5e8])
def test_blocks_rows_and_products(name, dtype, at_once, monkeypatch):
    """Everything a source offers, by the formula; the rows at a time do not matter."""
    settings(monkeypatch, native, multiply_adds=at_once)
    source, P, Q = sources()[name]
    gamma = source.kernel.gamma
    K = np.array([[math.exp(-gamma * sum((p - q) ** 2)) for q in Q] for p in P])
    tol = {
        "rtol": 2e-5 if dtype == np.float32 else 1e-11,
        "atol": 1e-6 if dtype == np.float32 else 1e-15,
    }
    a, b = np.array([9, 0, 4, 11, 2, 3, 5, 6, 7, 1]), np.array([3, 1])
    np.testing.assert_allclose(source.block(a, b, dtype), K[np.ix_(a, b)], **tol)
    out = np.empty((10, 2), dtype)
    source.fill_block(a, b, out)
    np.testing.assert_allclose(out, K[np.ix_(a, b)], **tol)
    rows, slots = np.zeros((14, len(Q)), dtype), rng.permutation(14)[:10]
    source.fill_rows(a, rows, slots)
    np.testing.assert_allclose(rows[slots], K[a], **tol)
    assert not rows[np.setdiff1d(np.arange(14), slots)].any()
    coef = rng.normal(size=(12, 2))
    for which, columns in ((None, None), (a, None), (None, b), (a, b)):
        k = K[
            np.ix_(
                range(12) if which is None else which, range(len(Q)) if columns is None else columns
            )
        ]
        c = coef if which is None else coef[: len(a)]
        out = np.full((2, k.shape[1]), 0.5)
        source.add_product(which, c, columns, out, dtype)
        np.testing.assert_allclose(
            out, 0.5 + c.T @ k, rtol=1e-4 if dtype == np.float32 else 1e-10, atol=tol["atol"]
        )
        np.testing.assert_allclose(
            source.product(which, c[:, 1], columns, dtype), c[:, 1] @ k, rtol=1e-4, atol=tol["atol"]
        )
    begin = np.array([0, 5, 5, 12])
    out = np.full((3, 2, len(Q)), 0.25)
    source.add_products(begin, coef, out, dtype)
    wanted = [0.25 + coef[i:j].T @ K[i:j] for i, j in itertools.pairwise(begin)]
    np.testing.assert_allclose(
        out, wanted, rtol=1e-4 if dtype == np.float32 else 1e-10, atol=tol["atol"]
    )


def test_so_many_rows_at_once():
    for number in (1, 4):
        with threads(number):
            some = SimpleNamespace(terms=80)
            assert NativeSource._rows_at_once(some, 1000, 4) == 5000 * number
            assert NativeSource._rows_at_once(some, 10**9) == 8
            assert NativeSource._rows_at_once(SimpleNamespace(terms=0), 0) == int(5e8) * number


def test_products_of_groups_go_to_the_core_at_once_where_they_are_few(monkeypatch):
    calls = []
    monkeypatch.setattr(
        HOST, "kernel_products", lambda *arguments: calls.append("grouped"), raising=False
    )
    source = NativeSource(Kernel.rbf(gamma=0.3), A, B)
    for limit, grouped in ((12 * 7 * (5 + 2 + 16.0), True), (12 * 7 * (5 + 2 + 16.0) - 84, False)):
        settings(monkeypatch, native, multiply_adds=limit)
        calls.clear()
        with threads(1):
            source.add_products(
                np.array([0, 12]), np.ones((12, 2)), np.zeros((1, 2, 7)), np.float64
            )
        assert bool(calls) is grouped


def test_bound_of_float32_values():
    for scale in (1.0, 3e9):
        source = NativeSource(Kernel.rbf(gamma=0.3 * scale), A / np.sqrt(scale), B / np.sqrt(scale))
        centred = [X - A.mean(axis=0) for X in (A, B)]
        found = source.float32_bound()
        power, left = preparation.power_of_two(Kind.RBF, 0.3 * scale)
        squares = [np.float32([sum((power / np.sqrt(scale) * x) ** 2) for x in X]) for X in centred]
        wanted = rounding.rbf_bound(left, 5, *squares)
        assert found.slope == pytest.approx(wanted.slope, rel=1e-9, abs=0.0)
        for got, want in zip(found[1:], wanted[1:], strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5)
    assert NativeSource(Kernel.linear(), A).float32_bound() is None
    assert NativeSource(Kernel.linear(), A).suspects(99).tolist() == list(range(12))


def test_values_that_are_not_finite_name_their_kernel():
    source = NativeSource(Kernel.poly(degree=9, gamma=1e40), A)
    out, ones, one = np.zeros((1, 12)), np.ones((12, 1)), np.ones(12)
    variables = Variables(
        A[:, 0].copy(), 0 * one, -one, one, 0 * one, np.array([0, 12]), np.ones(1, bool)
    )
    for ask in (
        lambda: source.block(None, None, np.float64),
        lambda: source.fill_block(None, None, np.zeros((12, 12))),
        lambda: source.fill_rows(np.arange(12), np.zeros((12, 12)), np.arange(12)),
        lambda: source.add_product(None, ones, None, out, np.float64),
        lambda: source.add_products(np.array([0, 12]), ones, out[None], np.float64),
        lambda: source.separate_steps(np.arange(12), np.float64, variables, 1e-3, np.array([10])),
    ):
        with pytest.raises(
            KernelNotFinite,
            match=r"kernel Kernel.poly\(gamma=1e\+40, coef0=0, degree=9\) are infinite",
        ):
            ask()


def test_ranks_of_suspects(monkeypatch):
    settings(monkeypatch, native, neighbour_rows=11)
    for X, dense in ((A, A), (S, S.toarray())):
        found = NativeSource(Kernel.rbf(gamma=0.3), X)._rank()
        direction = np.random.default_rng(0).normal(size=5)
        direction /= math.sqrt(sum(direction**2))
        along = [sum(x * direction) for x in dense]
        nearest = [min(abs(along[i] - along[j]) for j in range(12) if j != i) for i in range(12)]
        centre = 0.0 if X is S else A.mean(axis=0)
        wanted = [
            sum((x - centre) ** 2) * math.exp(-0.3 * gap**2)
            for x, gap in zip(dense, nearest, strict=True)
        ]
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-14)
    settings(monkeypatch, native, neighbour_rows=12)
    np.testing.assert_allclose(
        NativeSource(Kernel.rbf(gamma=0.3), S)._rank(), [sum(x**2) for x in S.toarray()]
    )
    huge = A.copy()
    huge[3] = 1e200
    assert NativeSource(Kernel.linear(), huge).suspects(1).tolist() == [3]


def test_a_pair_of_sources_shares_what_is_prepared():
    source = NativeSource(Kernel.rbf(gamma=0.3), A)
    known, asked = source.points(np.float64)
    assert known is asked
    other = source.against(B)
    assert other.points(np.float64)[0] is known
    assert other.points(np.float64)[1].shape == (7, 5)
    assert source.points(np.float64)[1] is known, "as before"
    assert source.points(np.float32)[0] is not known


def test_by_differences_float64_points_are_not_centred(monkeypatch):
    """Subtracting a centre rounds, and the digits of close points are lost."""
    far, points = 1e8 + A, HOST.points
    for differences in (False, True):
        prepared = {}

        def keep(X, compress=False, prepared=prepared):
            prepared[X.dtype.itemsize] = np.abs(X).max()
            return points(X, compress)

        monkeypatch.setattr(HOST, "points", keep, raising=False)
        source = NativeSource(Kernel.rbf(gamma=1.0), far, None, differences)
        source.points(np.float64)
        source.points(np.float32)
        assert bool(prepared[8] > 1e7) is source.differences
        assert prepared[4] < 100
        assert source.differences or not differences
