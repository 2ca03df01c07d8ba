"""Kernel values that are given: functions must not depend on their batch, matrices may be a little asymmetric."""

import warnings

import numpy as np
import pytest
from sklearn import svm
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import laplacian_kernel, linear_kernel, rbf_kernel

from maxmargin import SVC, SVR, Kernel, NuSVC, OneClassSVM, PegasosSVC
from maxmargin.estimators._data import refuse_batch_dependence

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
    """It used to be fitted on one block and asked in another: 0.333 instead of 0.927 correct, in silence."""
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
    np.testing.assert_array_equal(model.predict(K), svm.SVC(kernel="precomputed").fit(K, y).predict(K))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exact = SVC(kernel="precomputed").fit((K + K.T) / 2, y)
        SVC(kernel="precomputed").fit(asymmetric(1e-6), y)  # the rounding of float32
    np.testing.assert_array_equal(model.dual_coef_, exact.dual_coef_)


def test_large_asymmetry_is_refused():
    with pytest.raises(ValueError, match=r"must be symmetric.*Pass \(K \+ K\.T\) / 2"):
        SVC(kernel="precomputed").fit(asymmetric(1e-2), y)


def test_a_block_of_a_wrong_shape_is_no_dependence_on_the_batch():
    """Right for a square, wrong for other blocks: the fit is to say so, not the comparison of two blocks."""
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
