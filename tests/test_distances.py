"""Squared distances keep their digits however far the data reach, and every fit knows what rounding may have done to them.

The oracle sums squared differences in long double and shares no code with the library.
"""

import numpy as np
import pytest
from scipy import sparse

from maxmargin import SVC

ROWS = np.arange(24)
"""Rows that the oracle looks at: the close pairs are among them."""


def values_in_long_double(model, Z):
    """Decision values of an RBF model at Z, from its support vectors by differences in long double."""
    vectors = np.asarray(model.support_vectors_.toarray() if sparse.issparse(model.support_vectors_) else model.support_vectors_)
    A, B = vectors.astype(np.longdouble), np.asarray(Z).astype(np.longdouble)
    K = np.array([np.exp(-np.longdouble(model._gamma) * ((A - row) ** 2).sum(axis=1)) for row in B])
    coef = model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else model.dual_coef_
    return (K @ coef[0].astype(np.longdouble) + model.intercept_[0]).astype(float)


def margin_violation(model, X, y, C, rows):
    """The greatest violation of optimality among some samples, from decision values in long double."""
    sign = np.where(y[rows] == model.classes_[1], 1.0, -1.0)
    a = np.zeros(len(y))
    a[model.support_] = np.abs(np.asarray(model.dual_coef_.todense() if sparse.issparse(model.dual_coef_) else model.dual_coef_)[0])
    a, C = a[rows], np.broadcast_to(C, len(y))[rows]
    distance = sign * values_in_long_double(model, X[rows])
    low, high = np.where(a < C, 1 - distance, 0), np.where(a > 0, distance - 1, 0)
    return float(np.maximum(low, high).max())


def one_close_pair(n=6000):
    x = np.linspace(0, 1e10, n)
    x[11] = x[10] + 30
    return x[:, None], np.tile([-1, 1], n // 2)


def five_close_pairs(n=2000):
    generator = np.random.default_rng(5)
    X = generator.random((n, 2)) * 3e8
    X[5:10] = X[:5] + generator.normal(size=(5, 2)) * 10
    y = np.tile([0, 1], n // 2)
    y[5:10] = 1 - y[:5]
    return X, y


def test_close_pair_in_data_of_huge_range():
    X, y = one_close_pair()
    model = SVC(C=10, gamma=1 / 900).fit(X, y)
    assert model.certificate_.status == "optimal"
    np.testing.assert_allclose(model.decision_function(X[[10, 11]]), [-1, 1], atol=1e-3)  # was 0, 0 with both at C
    np.testing.assert_allclose(model.decision_function(X[ROWS]), values_in_long_double(model, X[ROWS]), atol=1e-9)
    assert margin_violation(model, X, y, 10, ROWS) <= 1e-3
    assert model.certify(X, y).status == "optimal"
    np.testing.assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_five_close_pairs(storage):
    X, y = five_close_pairs()
    model = SVC(C=10, gamma=1 / 900).fit(storage(X), y)
    assert model.certificate_.status == "optimal"
    np.testing.assert_allclose(model.decision_function(storage(X[ROWS])), values_in_long_double(model, X[ROWS]), atol=1e-9)
    assert margin_violation(model, X, y, 10, ROWS) <= 1e-3


def test_scales_and_weights_of_many_decades():
    generator = np.random.default_rng(7)
    scales = np.geomspace(8e-4, 2e4, 6)
    X = generator.normal(size=(1100, 6)) * scales
    y = (X[:, 0] / scales[0] + X[:, 3] / scales[3] + generator.normal(size=1100) > 0).astype(int)
    weight = np.geomspace(2e-5, 3e4, 1100)
    model = SVC(C=1.0, gamma=0.5).fit(X, y, sample_weight=weight)
    if model.certificate_.status == "optimal":
        assert margin_violation(model, X, y, weight, np.arange(0, 1100, 20)) <= 1e-3
        assert model.certify(X, y, sample_weight=weight).status == "optimal"
