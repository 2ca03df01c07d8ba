"""How points are prepared for the core, and which of them are suspect, against definitions in plain Python."""

import math

import numpy as np
import pytest
from scipy import sparse

from maxmargin import rounding
from maxmargin.kernels import Kernel, Kind
from maxmargin.sources import NativeSource, native

rng = np.random.default_rng(5)
A, B = rng.normal(size=(12, 5)), rng.normal(size=(7, 5))
S = sparse.random(12, 5, density=0.4, random_state=0, format="csr")


@pytest.mark.parametrize("kind", [Kind.RBF, Kind.POLY, Kind.TANH, Kind.LOGISTIC, Kind.LAPLACIAN, Kind.CHI2])
@pytest.mark.parametrize("gamma", [1e-300, 3e-5, 0.7, 1.0, 900.0, 1e300])
def test_data_are_scaled_by_a_power_of_two_that_brings_gamma_near_1(kind, gamma):
    scale, left = native._power_of_two(kind, gamma)
    assert math.frexp(scale)[0] == 0.5
    linear = kind in (Kind.LAPLACIAN, Kind.CHI2)
    assert (left * scale if linear else left * scale * scale) == pytest.approx(gamma)
    assert 0.7 <= left <= 1.42 if linear else 0.49 <= left <= 2.01


def test_gamma_without_a_scale():
    assert native._power_of_two(Kind.LINEAR, 9.0) == (1.0, 9.0)
    assert native._power_of_two(Kind.RBF, 0.0) == (1.0, 0.0)
    assert native._power_of_two(Kind.LAPLACIAN, 1.7e308)[0] == 2.0**1000


def test_lengths_and_terms():
    centre = rng.normal(size=5)
    np.testing.assert_allclose(native._squared_lengths(A, centre), [sum((x - centre) ** 2) for x in A])
    np.testing.assert_allclose(native._squared_lengths(A, None), [sum(x**2) for x in A])
    np.testing.assert_allclose(native._squared_lengths(S, None), [sum(x**2) for x in S.toarray()])
    assert native._terms(A) == 5
    assert native._terms(S) == max(np.count_nonzero(x) for x in S.toarray())


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_matrix])
def test_rows_of_unit_length(store):
    X = A * np.logspace(-200, 200, 12)[:, None]
    X[3] = 0.0
    found = native._unit_rows(store(X))
    found = found.toarray() if sparse.issparse(found) else found
    for x, unit in zip(X, found, strict=True):
        largest = np.abs(x).max() or 1.0
        length = math.sqrt(sum((x / largest) ** 2)) or 1.0
        np.testing.assert_allclose(unit, x / largest / length, rtol=1e-14)


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_matrix])
def test_combinations_of_rows(store):
    coef = rng.normal(size=(2, 12))
    coef[0, 4] = 0.0
    found = native.combine(coef, store(S.toarray()))
    assert sparse.issparse(found) == (store is sparse.csr_matrix)
    found = found.toarray() if sparse.issparse(found) else found
    np.testing.assert_allclose(found, [sum(c * x for c, x in zip(row, S.toarray(), strict=True)) for row in coef], atol=1e-14)


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
        assert source.value_error == pytest.approx(wanted, rel=1e-9)
        assert source.differences is (kernel.kind is Kind.LAPLACIAN)
    by = NativeSource(Kernel.rbf(gamma=0.3), A).by_differences()
    assert (by.differences, by.value_error) == (True, rounding.difference_error(5))
    assert by.by_differences() is None
    assert NativeSource(Kernel.linear(), A).by_differences() is None
    np.testing.assert_allclose(by.block(None, None, np.float64), NativeSource(Kernel.rbf(gamma=0.3), A).block(None, None, np.float64))


def test_suspects_are_the_longest_and_of_many_those_with_a_near_neighbour(monkeypatch):
    source = NativeSource(Kernel.linear(), A * np.arange(1, 13)[:, None])
    lengths = [sum((k + 1) ** 2 * x**2) for k, x in enumerate(A)]
    assert source.suspects(4).tolist() == sorted(range(12), key=lambda i: -lengths[i])[:4]
    assert source.suspects(12).tolist() == list(range(12))
    among = np.array([2, 5, 7, 1])
    assert source.suspects(2, among).tolist() == sorted(range(4), key=lambda k: -lengths[among[k]])[:2]
    monkeypatch.setattr(native, "NEIGHBOURS", 3)
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


def test_another_set_of_points_beside_the_same():
    source = NativeSource(Kernel.rbf(gamma=0.3), A)
    wanted = [[math.exp(-0.3 * sum((a - b) ** 2)) for b in B] for a in A]
    other = source.against(B)
    assert (other.n_rows, other.n_columns, source.n_columns) == (12, 7, 12)
    np.testing.assert_allclose(other.block(None, None, np.float64), wanted, rtol=1e-12)
    np.testing.assert_allclose(other.at(np.array([4, 1])).block(None, None, np.float64), np.array(wanted)[:, [4, 1]], rtol=1e-12)
    narrow = NativeSource(Kernel.rbf(gamma=0.3), sparse.csr_matrix(A)).against(sparse.csr_matrix(B))
    np.testing.assert_allclose(narrow.block(None, None, np.float64), wanted, rtol=1e-12)
