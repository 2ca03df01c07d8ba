"""Inputs that skip scikit-learn's validation give the same models, and nothing invalid slips
through.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from maxmargin import SVC, SVR, OneClassSVM
from maxmargin.estimators._plain import plain_data

X, LABEL = make_classification(60, 5, random_state=0)


def _values(model):
    return model.support_, model.dual_coef_, model.intercept_, model.n_features_in_


@pytest.mark.parametrize(
    "slow", [np.asfortranarray, np.ndarray.tolist, lambda A: np.ascontiguousarray(A, dtype=">f8")]
)
def test_the_short_way_gives_the_same_model(slow):
    for short, long in zip(
        _values(SVC().fit(X, LABEL)), _values(SVC().fit(slow(X), LABEL.tolist())), strict=True
    ):
        np.testing.assert_array_equal(short, long)
    for short, long in zip(
        _values(SVR().fit(X, 0.5 * LABEL)),
        _values(SVR().fit(slow(X), (0.5 * LABEL).tolist())),
        strict=True,
    ):
        np.testing.assert_array_equal(short, long)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_refused(dtype, bad):
    broken = X.astype(dtype)
    broken[7, 3] = bad
    with pytest.raises(ValueError, match="contains"):
        SVC().fit(broken, LABEL)
    with pytest.raises(ValueError, match="contains"):
        OneClassSVM().fit(broken)
    with pytest.raises(ValueError, match="contains"):
        SVC().fit(X.astype(dtype), LABEL).predict(broken)
    target = LABEL.astype(dtype)
    target[5] = bad
    with pytest.raises(ValueError, match="contains"):
        SVR().fit(X, target)


def test_a_sum_that_overflows_goes_the_long_way_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not plain_data(np.full((3, 2), 1e308))
        assert plain_data(np.full((3, 2), 1e307))


@pytest.mark.parametrize(
    ("bad_X", "bad_y", "message"),
    [
        (X[:0], LABEL[:0], "0 sample"),
        (X[0], LABEL[:1], "2D array"),
        (X, LABEL[:-1], "inconsistent numbers"),
        (X, LABEL + 0.5, "label type"),
    ],
)
def test_other_faults_are_named_as_before(bad_X, bad_y, message):
    with pytest.raises(ValueError, match=message):
        SVC().fit(bad_X, bad_y)


def test_features_are_counted_and_their_names_kept():
    model = SVC().fit(X, LABEL)
    with pytest.raises(ValueError, match="X has 4 features, but SVC is expecting 5"):
        model.predict(X[:, :4])
    frame = pd.DataFrame(X, columns=list("abcde"))
    model.fit(frame, LABEL)
    with pytest.warns(UserWarning, match="valid feature names"):
        model.predict(X)
    assert not hasattr(model.fit(X, LABEL), "feature_names_in_")


def test_many_classes_warn():
    with pytest.warns(UserWarning, match="unique classes"):
        SVC().fit(X, np.arange(60) % 40)


def test_a_value_that_was_valid_once_does_not_excuse_another():
    SVC(C=1, break_ties=True).fit(X, LABEL)
    SVC(C=1, break_ties=True).fit(X, LABEL)
    for wrong in (
        {"C": -1},
        {"C": "1"},
        {"C": np.nan},
        {"break_ties": 1},
        {"kernel": "rfb"},
        {"tol": 0},
        {"class_weight": 1},
    ):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            SVC(**wrong).fit(X, LABEL)


def test_names_of_parameters_belong_to_the_class():
    class Mine(SVC):
        def __init__(self, *, C=1.0, colour="red"):
            super().__init__(C=C)
            self.colour = colour

    assert set(Mine().get_params()) == {"C", "colour"}
    assert "kernel" in SVC().get_params()
