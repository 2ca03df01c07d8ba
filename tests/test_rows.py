"""Kernel rows on demand.

The cache is exact at any size, callables are asked only for what is needed.
"""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from helpers import CacheUse, cached
from maxmargin import SVC, SVR, Kernel
from maxmargin.core.cpu import CPU
from maxmargin.kernel import cache as rows_module
from maxmargin.kernel.cache import RowCache, cache_bytes, free_memory
from maxmargin.kernel.sources import MatrixSource, Source, make_source

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 6))


@pytest.mark.parametrize("capacity", [0, 1, 7, 299, 300])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cache_of_any_size(capacity, dtype):
    source = make_source(Kernel.rbf(gamma=0.3), X)
    K = source.block(None, None, dtype)
    cache = RowCache(source, dtype, capacity * 300 * np.dtype(dtype).itemsize)
    assert cache.capacity == capacity
    F, want = np.zeros(300), np.zeros(300)
    for _ in range(20):
        idx = np.unique(rng.integers(0, 300, size=rng.integers(1, 12)))
        delta = rng.normal(size=len(idx))
        cache.add_rows(idx, delta, F)
        for i, d in zip(idx, delta, strict=True):
            want += d * K[i].astype(float)
        assert np.array_equal(cache.tile(idx), K[np.ix_(idx, idx)])
    np.testing.assert_allclose(F, want, rtol=1e-12, atol=1e-12)


def test_tiny_cache_same_bits(monkeypatch):
    """The size of the cache changes the time, not one bit of the model: no row fits, one, too few,
    all."""
    Z, y = cached(SVC)
    use, reference = CacheUse(monkeypatch), SVC()
    assert use.of(reference, Z, y) == 3200
    for size, rows in ((1e-3, 0), (0.0123, 1), (14.0, 1146), (1e9, 3200)):
        model = SVC(cache_size=size)
        assert use.of(model, Z, y) == rows
        assert (use.dropped > 0) == (rows == 1146)
        assert np.array_equal(model.dual_coef_, reference.dual_coef_)
        assert np.array_equal(model.intercept_, reference.intercept_)


def test_cache_size():
    free = free_memory()
    expected = min(max(0.25 * free, 200 * 2**20), 0.9 * free)
    for size in (200, 200.0, "auto"):
        assert cache_bytes(size) == pytest.approx(expected, rel=0.2)
    assert cache_bytes(100) == 100 * 2**20
    assert cache_bytes(201) == 201 * 2**20, "any other number is a limit"
    assert cache_bytes(100, workers=4) == 25 * 2**20
    assert cache_bytes(1e30) < free * 1.1, "never more than there is"


def test_callable_is_lazy():
    """A callable kernel is asked for blocks, never for all n x n values, and at predict time only
    for support vectors.
    """
    asked = []

    def kernel(A, B):
        asked.append((len(A), len(B)))
        return np.exp(-0.5 * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))

    n = 3000
    Z = rng.normal(size=(n, 2)) + np.repeat([[0.0, 0.0], [4.0, 4.0]], n // 2, axis=0)
    y = np.repeat([0, 1], n // 2)
    model = SVC(kernel=kernel, C=1.0).fit(Z, y)
    assert model.certificate_.status == "optimal"
    assert sum(a * b for a, b in asked) < 0.6 * n * n
    same = SVC(kernel=Kernel.rbf(gamma=0.5), C=1.0).fit(Z, y)
    np.testing.assert_allclose(
        model.decision_function(Z[::10]), same.decision_function(Z[::10]), atol=5e-3
    )
    asked.clear()
    model.predict(Z[:10])
    assert sum(a * b for a, b in asked) == 10 * len(model.support_)


def test_callable_on_objects():
    """Strings, not numbers: the kernel sees what the user gave."""
    words = ["spam spam", "egg", "spam egg spam", "egg egg", "ham spam", "egg ham egg"]
    vocabulary = ["spam", "egg", "ham"]

    def count(A, B):
        assert all(isinstance(a, str) for a in A)
        return np.array(
            [[sum(a.count(w) * b.count(w) for w in vocabulary) for b in B] for a in A], dtype=float
        )

    y = [0, 1, 0, 1, 0, 1]
    counts = np.array([[w.count(v) for v in vocabulary] for w in words], dtype=float)
    model, linear = SVC(kernel=count).fit(words, y), SVC(kernel="linear").fit(counts, y)
    np.testing.assert_allclose(
        model.decision_function(words), linear.decision_function(counts), atol=1e-10
    )
    assert list(model.support_vectors_) == [words[i] for i in model.support_]
    regression = SVR(kernel=count).fit(words, np.arange(6.0))
    np.testing.assert_allclose(
        regression.predict(words),
        SVR(kernel="linear").fit(counts, np.arange(6.0)).predict(counts),
        atol=1e-8,
    )


def test_callable_of_wrong_shape_or_value():
    with pytest.raises(ValueError, match="must return an array of shape"):
        SVC(kernel=lambda A, B: np.zeros((1, 1))).fit(X, np.arange(300) % 2)
    with pytest.raises(ValueError, match="infinite or not a number"):
        SVC(kernel=lambda A, B: np.full((len(A), len(B)), np.nan)).fit(X, np.arange(300) % 2)


def test_precomputed_rows_are_not_copied():
    K = np.ascontiguousarray(X @ X.T)
    source = make_source(Kernel.precomputed(), K)
    assert isinstance(source, MatrixSource)
    assert np.shares_memory(source.K, K)
    assert RowCache(source, np.float64, 0).capacity == 300


def test_tile_of_a_matrix_follows_its_indices():
    K = np.ascontiguousarray(X @ X.T)
    cache = RowCache(make_source(Kernel.precomputed(), K), np.float64, 0)
    everything = np.arange(300)
    assert cache.tile(everything) is K
    shuffled = np.r_[0, 1 + rng.permutation(299)]
    assert np.array_equal(cache.tile(shuffled), K[np.ix_(shuffled, shuffled)])


@pytest.mark.parametrize(
    "kernel", ["linear", "rbf", "poly", "sigmoid", "laplacian", "cosine", "logistic"]
)
def test_sparse_is_dense(kernel):
    S = sparse.random(200, 30, density=0.2, random_state=0, format="csr")
    y = (np.median(S.sum(axis=1).A1) < S.sum(axis=1).A1).astype(int)
    dense, thin = SVC(kernel=kernel, C=5.0), SVC(kernel=kernel, C=5.0)
    with warnings.catch_warnings():
        # sigmoid and logistic are not positive semidefinite
        warnings.simplefilter("ignore", ConvergenceWarning)
        dense.fit(S.toarray(), y)
        thin.fit(S, y)
    np.testing.assert_allclose(
        thin.decision_function(S), dense.decision_function(S.toarray()), rtol=1e-6, atol=1e-8
    )


@pytest.mark.parametrize("other", [np.float32, np.float64])
def test_a_tile_in_another_precision_is_computed_anew(other):
    source = make_source(Kernel.rbf(gamma=0.3), np.random.default_rng(1).normal(size=(40, 70)))
    idx = np.array([5, 3, 30])
    for dtype in (np.float32, np.float64):
        cache = RowCache(source, dtype, 1e6)
        cache.add_rows(np.arange(40), np.ones(40), np.zeros(40))
        tile = cache.tile(idx, other)
        assert tile.dtype == other
        np.testing.assert_array_equal(tile, source.block(idx, idx, other))
        assert cache.tile(idx).dtype == dtype


@pytest.mark.parametrize("d", [3, 700])  # computed, and gathered from stored rows
def test_the_part_of_a_tile_that_stays_is_kept(d, monkeypatch):
    draw = np.random.default_rng(0)
    source = make_source(Kernel.rbf(0.5 / d), draw.normal(size=(90, d)))
    cache, made = RowCache(source, np.float32, 1e9), []
    fill = cache._fill
    monkeypatch.setattr(cache, "_fill", lambda idx, tile: (made.append(len(idx)), fill(idx, tile)))
    idx = draw.permutation(90)[:40]
    for changed in (0, 1, 24, 25, 0, 7, 40, 3):
        places = draw.permutation(40)[:changed]
        others = np.setdiff1d(np.arange(90), idx)
        idx = idx.copy()
        idx[places] = draw.permutation(others)[:changed]
        cache.keep(idx[draw.random(40) < 0.8])
        for dtype in (np.float32, np.float64):
            tile, expected = cache.tile(idx, dtype), source.block(idx, idx, dtype)
            np.testing.assert_array_equal(tile, expected)
    assert made == [40, 40] * 3, "at first and where more than 24 of 40 rows changed"
    some = cache.tile(idx[:20])
    np.testing.assert_array_equal(some, source.block(idx[:20], idx[:20], np.float32))


def test_blocks_of_a_matrix():
    K = np.random.default_rng(2).normal(size=(6, 6))
    some, other = np.array([4, 1]), np.array([0, 5, 2])
    for a, b in ((None, None), (some, None), (None, other), (some, other)):
        wanted = [
            [K[i, j] for j in (range(6) if b is None else b)]
            for i in (range(6) if a is None else a)
        ]
        np.testing.assert_array_equal(MatrixSource(K).block(a, b, np.float64), wanted)


class Counting(Source):
    """A matrix, row by row on demand, which notes what it is asked for."""

    def __init__(self, K):
        self.backend = CPU()
        self.K, self.n_rows, self.n_columns, self.asked = K, len(K), len(K), []

    def block(self, a, b, dtype):
        self.asked.append(("block", None if a is None else a.tolist()))
        return self.K[
            np.ix_(
                np.arange(self.n_rows) if a is None else a,
                np.arange(self.n_rows) if b is None else b,
            )
        ].astype(dtype)

    def fill_rows(self, a, rows, slots):
        self.asked.append(("rows", a.tolist()))
        rows[slots] = self.K[a]

    def add_product(self, a, coef, b, out, dtype):
        self.asked.append(("product", a.tolist()))
        out += coef.T @ self.K[a]


def counted(capacity, n=8):
    K = np.random.default_rng(3).normal(size=(n, n))
    source = Counting(K + K.T)
    return source, RowCache(source, np.float64, capacity * n * 8)


def test_the_least_recently_used_rows_are_dropped():
    source, cache = counted(4)
    for idx, missing in (
        ([0, 1, 2], [0, 1, 2]),
        ([3], [3]),
        ([0, 1], []),
        ([4], [4]),  # in place of 2
        ([0, 1, 3], []),
        ([2, 5], [2, 5]),  # in place of 4 and one of 0, 1, 3, which were used together
        ([2, 5], []),
    ):
        source.asked.clear()
        F = np.zeros(8)
        cache.add_rows(np.array(idx), np.ones(len(idx)), F)
        fetched = [i for _, rows in source.asked for i in rows]
        assert fetched == missing
        np.testing.assert_allclose(F, source.K[idx].sum(axis=0))
    for i in range(8):
        np.testing.assert_array_equal(cache.block(np.array([i]), np.arange(8)), source.K[[i]])


def test_more_rows_than_there_is_room_for_are_not_stored():
    source, cache = counted(2)
    F = np.zeros(8)
    cache.add_rows(np.array([1, 2, 3]), np.ones(3), F)
    assert source.asked == [("product", [1, 2, 3])]
    cache.keep(np.array([1, 2, 3]))
    assert len(source.asked) == 1
    cache.keep(np.array([4, 1]))
    assert source.asked[1:] == [("rows", [1, 4])]
    cache.keep(np.array([1, 4]))
    assert len(source.asked) == 2


def test_stored_rows_are_not_computed_again():
    source, cache = counted(3)
    cache.keep(np.array([1, 4]))
    source.asked.clear()
    np.testing.assert_array_equal(
        cache.block(np.array([4, 1]), np.array([0, 7])), source.K[np.ix_([4, 1], [0, 7])]
    )
    np.testing.assert_array_equal(cache.tile(np.array([1, 4])), source.K[np.ix_([1, 4], [1, 4])])
    assert not source.asked
    np.testing.assert_array_equal(
        cache.block(np.array([4, 2]), np.array([0])), source.K[np.ix_([4, 2], [0])]
    )
    assert source.asked == [("block", [4, 2])]
    np.testing.assert_array_equal(
        cache.tile(np.array([1, 5, 4])), source.K[np.ix_([1, 5, 4], [1, 5, 4])]
    )
    assert source.asked[1:] == [("block", [5])], "only what is not stored"


def test_a_whole_matrix_is_computed_at_once():
    source, _ = counted(0)
    cache = RowCache(source, np.float64, 0.0, whole=True)
    assert (cache.complete, cache.capacity) == (True, 8)
    assert source.asked == [("block", None)]
    np.testing.assert_array_equal(cache.tile(np.array([3, 1])), source.K[np.ix_([3, 1], [3, 1])])
    cache = RowCache(source, np.float64, 8 * 8 * 3 - 1)
    assert (cache.complete, cache.capacity) == (False, 2)
    assert RowCache(source, np.float64, 1e9).capacity == 8


def test_free_memory_as_far_as_the_system_tells(monkeypatch, tmp_path):
    told = tmp_path / "meminfo"
    told.write_text("MemTotal:  9 kB\nMemAvailable:   1234 kB\n")
    real = open
    monkeypatch.setattr(
        "builtins.open", lambda path, *rest: real(told if path == "/proc/meminfo" else path, *rest)
    )
    assert free_memory() == 1234 * 1024
    told.write_text("MemTotal:  9 kB\n")
    monkeypatch.setattr(
        rows_module.os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1000}.__getitem__
    )
    assert free_memory() == 4096 * 500
    told.unlink()
    assert free_memory() == 4096 * 500

    def unknown(name):
        raise ValueError

    monkeypatch.setattr(rows_module.os, "sysconf", unknown)
    assert free_memory() == 2**31
    monkeypatch.setattr(rows_module, "free_memory", lambda: 10**9)
    assert cache_bytes("auto") == cache_bytes(200) == 250_000_000
    assert cache_bytes(1000) == 900_000_000
    assert cache_bytes(1000, 2) == 450_000_000
    monkeypatch.setattr(rows_module, "free_memory", lambda: 10**8)
    assert cache_bytes("auto") == 90_000_000
    monkeypatch.setattr(rows_module, "free_memory", lambda: 4 * 10**8)
    assert cache_bytes("auto") == 200 * 2**20
