"""pyod's one-class SVM, alone and in an ensemble."""

import pickle

import numpy as np
import pytest
from pyod.models.ocsvm import OCSVM
from sklearn.base import clone

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(size=(180, 2)), rng.uniform(-6, 6, size=(20, 2))])
outside = np.repeat([0, 1], [180, 20])


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "sigmoid"])
def test_attributes(kernel):
    model = OCSVM(kernel=kernel, contamination=0.1).fit(X)
    assert model.decision_scores_.shape == (200,)
    assert set(model.labels_) <= {0, 1}
    assert model.support_.size == model.dual_coef_.shape[1] == len(model.support_vectors_)
    assert model.intercept_.shape == (1,)
    assert hasattr(model, "coef_") == (kernel == "linear")


def test_finds_outliers():
    model = OCSVM(contamination=0.1).fit(X)
    scores = model.decision_function(X)
    assert np.mean(scores[outside == 1]) > np.mean(scores[outside == 0])
    assert np.mean(model.predict(X) == outside) > 0.85
    assert model.predict_proba(X).shape == (200, 2)
    assert model.predict_confidence(X).shape == (200,)


def test_clone_and_pickle():
    model = OCSVM(nu=0.3, gamma=0.1).fit(X)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert clone(model).get_params() == model.get_params()


def test_weights():
    heavy = OCSVM().fit(X, sample_weight=np.where(outside, 1e-3, 1.0))
    assert np.mean(heavy.decision_function(X)[outside == 1]) > np.mean(
        heavy.decision_function(X)[outside == 0]
    )
