"""Kernel values that are given.

Functions must not depend on their batch, matrices may be a little asymmetric.
"""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import laplacian_kernel, linear_kernel, rbf_kernel

from helpers import settings
from maxmargin import SVC, SVR, Kernel, NuSVC, OneClassSVM, PegasosSVC
from maxmargin.estimators._data import refuse_batch_dependence
from maxmargin.kernel.sources import CallableSource, MatrixSource, Scratch, given

X, y = load_iris(return_X_y=True)


def normalised(A, B):
    K = linear_kernel(A, B)
    return K / K.max()


def centred(A, B):
    K = rbf_kernel(A, B)
    return K - K.mean()


def rank(A, B):
    return np.argsort(np.argsort(linear_kernel(A, B), axis=None)).reshape(len(A), len(B)) / 10.0


@pytest.mark.parametrize("kernel", [normalised, centred, rank])
@pytest.mark.parametrize("estimator", [SVC, SVR, NuSVC, OneClassSVM, PegasosSVC])
def test_a_kernel_function_that_depends_on_its_batch_is_refused(estimator, kernel):
    """It used to be fitted on one block and asked in another: 0.333 instead of 0.927
    correct, in silence."""
    with pytest.raises(ValueError, match=r"depends on its batch.*kernel='precomputed'"):
        estimator(kernel=kernel).fit(X, y)


def test_a_batch_dependent_record_is_refused_too():
    with pytest.raises(ValueError, match="depends on its batch"):
        SVC(kernel=Kernel.callable(normalised)).fit(X, y)


@pytest.mark.parametrize("kernel", [linear_kernel, rbf_kernel, laplacian_kernel])
def test_honest_kernel_functions_are_not(kernel):
    model = SVC(kernel=kernel).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), svm.SVC(kernel=kernel).fit(X, y).predict(X))


def asymmetric(share):
    K = rbf_kernel(X, gamma=0.5)
    noise = np.random.default_rng(0).uniform(-1, 1, K.shape)
    return K + share / 2 * (noise - noise.T)


def test_small_asymmetry_is_averaged_out_with_a_warning():
    K = asymmetric(1e-4)
    before = K.copy()
    with pytest.warns(UserWarning, match=r"not symmetric.*\(K \+ K\.T\) / 2 is used"):
        model = SVC(kernel="precomputed").fit(K, y)
    np.testing.assert_array_equal(K, before)
    np.testing.assert_array_equal(
        model.predict(K), svm.SVC(kernel="precomputed").fit(K, y).predict(K)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exact = SVC(kernel="precomputed").fit((K + K.T) / 2, y)
        SVC(kernel="precomputed").fit(asymmetric(1e-6), y)  # the rounding of float32
    np.testing.assert_array_equal(model.dual_coef_, exact.dual_coef_)


def test_large_asymmetry_is_refused():
    with pytest.raises(ValueError, match=r"must be symmetric.*Pass \(K \+ K\.T\) / 2"):
        SVC(kernel="precomputed").fit(asymmetric(1e-2), y)


def test_a_block_of_a_wrong_shape_is_no_dependence_on_the_batch():
    """Right for a square, wrong for other blocks: the fit is to say so, not the comparison of two
    blocks."""
    refuse_batch_dependence(lambda A, B: rbf_kernel(A, A), X[:7])
    refuse_batch_dependence(lambda A, B: rbf_kernel(A, B)[:3], X[:7])
    refuse_batch_dependence(normalised, X[:3])
    with pytest.raises(ValueError, match="depends on its batch"):
        refuse_batch_dependence(normalised, X[[0, 1, 100, 120]])


def test_a_kernel_function_is_asked_about_samples_of_all_the_data():
    asked = []

    def kernel(A, B):
        asked.append((A[:, 0].tolist(), B[:, 0].tolist()))
        return A @ B.T

    refuse_batch_dependence(kernel, np.arange(100.0)[:, None])
    rows = [0, 14, 28, 42, 56, 70, 84, 99]
    assert asked == [(rows, rows), (rows[:4], rows[4:])]
    asked.clear()
    refuse_batch_dependence(kernel, np.arange(5.0)[:, None])
    assert asked == [([0, 1, 2, 3, 4],) * 2, ([0, 1], [2, 3, 4])]


# ---- what is asked of a function -----------------------------------------------------------------


POINTS, OTHERS = np.arange(12.0)[:, None], np.arange(7.0)[:, None] + 0.5


def asking(monkeypatch, rows_of_seven, dtype=np.float64, others=OTHERS):
    """The kernel a + 100 b, its values, and the shapes it was asked for; so many rows of 7 values
    at once."""
    settings(monkeypatch, given, block_bytes=8 * 7 * rows_of_seven)
    asked = []

    def function(B, A):
        asked.append((len(B), len(A)))
        return (100 * B + A.T).astype(dtype)

    values = 100 * (POINTS if others is None else others).T + POINTS
    return CallableSource(Kernel.callable(function), POINTS, others), values, asked


def test_a_function_is_asked_for_what_fits_in_memory(monkeypatch):
    source, values, asked = asking(monkeypatch, 5)
    assert (source.n_rows, source.n_columns) == (12, 7)
    a, b = np.array([4, 1, 9]), np.array([2, 6])
    np.testing.assert_array_equal(source.block(None, None, np.float64), values)
    assert asked == [(7, 5), (7, 5), (7, 2)]
    asked.clear()
    np.testing.assert_array_equal(source.block(a, b, np.float64), values[np.ix_(a, b)])
    np.testing.assert_array_equal(source.block(None, b, np.float64), values[:, b])
    np.testing.assert_array_equal(source.block(a, None, np.float64), values[a])
    assert asked == [(2, 3), (2, 12), (7, 3)]
    assert source.block(a[:0], b, np.float64).shape == (0, 2)
    assert source.block(a[:0], None, np.float64).shape == (0, 7)
    asked.clear()
    coef = np.arange(24.0).reshape(12, 2) - 7.0
    for which, columns, shapes in (
        (None, None, [(7, 5), (7, 5), (7, 2)]),
        (a, b, [(2, 3)]),
        (a, None, [(7, 3)]),
        (None, b, [(2, 12)]),
    ):
        rows = np.arange(12) if which is None else which
        k = values[np.ix_(rows, np.arange(7) if columns is None else columns)]
        out = np.full((2, k.shape[1]), 0.5)
        source.add_product(which, coef[: len(rows)], columns, out, np.float64)
        np.testing.assert_allclose(out, 0.5 + coef[: len(rows)].T @ k)
        assert asked == shapes
        asked.clear()


def test_a_function_of_one_set_of_points(monkeypatch):
    source, values, _ = asking(monkeypatch, 100, others=None)
    assert (source.n_rows, source.n_columns) == (12, 12)
    np.testing.assert_array_equal(source.block(None, None, np.float64), values)


def test_precision_of_given_values(monkeypatch):
    for dtype, precision in ((np.float64, 2.0**-52), (np.float32, 2.0**-23), (np.int64, 2.0**-52)):
        source, _, _ = asking(monkeypatch, 100, dtype)
        assert source.precision == 2.0**-52
        source.block(None, None, np.float64)
        assert source.precision == precision
        assert MatrixSource(np.eye(3, dtype=dtype)).precision == precision
    source, _, _ = asking(monkeypatch, 2, np.float32)
    source.kernel = Kernel.callable(
        lambda B, A: np.zeros((len(B), len(A)), np.float32 if A[0, 0] == 0 else np.float64)
    )
    source.block(None, None, np.float64)
    assert source.precision == 2.0**-23, "the worst of all answers"


def test_products_with_a_given_matrix():
    K = np.random.default_rng(0).normal(size=(6, 5))
    source, coef = MatrixSource(K), np.random.default_rng(1).normal(size=(6, 2))
    assert (source.n_rows, source.n_columns) == (6, 5)
    a, b = np.array([3, 0]), np.array([4, 1, 2])
    for which, columns in ((None, None), (a, None), (None, b), (a, b)):
        rows = np.arange(6) if which is None else which
        k = K[np.ix_(rows, np.arange(5) if columns is None else columns)]
        out = np.full((2, k.shape[1]), 0.5)
        source.add_product(which, coef[: len(rows)], columns, out, np.float64)
        np.testing.assert_allclose(out, 0.5 + coef[: len(rows)].T @ k)


def test_a_sparse_block_and_points_without_a_shape():
    kernel = Kernel.callable(
        lambda B, A: sparse.csr_matrix([[len(a) * len(b) for a in A] for b in B])
    )
    source = CallableSource(kernel, ["a", "bb", "ccc"], ["dddd", "e"])
    assert source.block(None, None, np.float64).tolist() == [[4.0, 1.0], [8.0, 2.0], [12.0, 3.0]]
    assert source.block(np.array([2, 0]), np.array([1]), np.float64).tolist() == [[3.0], [1.0]]
    with pytest.raises(
        ValueError,
        match=r"given 2 and 3 points and must return an array of shape \(2, 3\); "
        r"it returned \(3, 2\)",
    ):
        CallableSource(
            Kernel.callable(lambda B, A: np.zeros((3, 2))), ["a", "bb", "ccc"], ["dddd", "e"]
        ).block(None, None, np.float64)


def test_what_sources_share():
    """The parts that a source inherits: blocks into given memory, rows into slots, groups, pair
    steps."""
    K = np.random.default_rng(2).normal(size=(6, 6))
    K = K @ K.T + np.eye(6)
    source, a, b = MatrixSource(K), np.array([3, 0, 5]), np.array([4, 1])
    out = np.zeros((3, 2), np.float32)
    source.fill_block(a, b, out)
    np.testing.assert_array_equal(out, K[np.ix_(a, b)].astype(np.float32))
    rows = np.zeros((7, 6))
    source.fill_rows(a, rows, np.array([6, 0, 2]))
    np.testing.assert_array_equal(rows[[6, 0, 2]], K[a])
    assert not rows[[1, 3, 4, 5]].any()
    coef, sums = np.arange(12.0).reshape(6, 2), np.zeros((3, 2, 6))
    source.add_products(np.array([0, 1, 1, 6]), coef, sums, np.float64)
    np.testing.assert_allclose(sums, [coef[:1].T @ K[:1], np.zeros((2, 6)), coef[1:].T @ K[1:]])
    np.testing.assert_allclose(source.product(a, coef[:3, 1], b), coef[:3, 1] @ K[np.ix_(a, b)])
    assert source.by_differences() is None
    assert source.float32_bound() is None
    assert source.suspects(3).tolist() == []
    assert (source.value_error, source.convex, source.cheap, source.dtypes) == (
        0.0,
        False,
        False,
        (np.float64,),
    )


def test_memory_that_is_used_again():
    scratch = Scratch()
    first = scratch.matrix("tile", (3, 4), np.float64)
    assert (first.shape, first.dtype) == ((3, 4), np.float64)
    assert np.shares_memory(scratch.matrix("tile", (2, 2), np.float64), first)
    assert np.shares_memory(scratch.matrix("tile", (4, 3), np.float64), first)
    assert not np.shares_memory(scratch.matrix("other", (2, 2), np.float64), first)
    assert scratch.matrix("tile", (2, 2), np.float32).dtype == np.float32
    larger = scratch.matrix("tile", (5, 5), np.float64)
    assert larger.shape == (5, 5)
    assert not np.shares_memory(larger, first)
