"""Isotonic functions: against scikit-learn's, by their definition, and altered records."""

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from maxmargin import isotonic
from maxmargin.isotonic import Isotonic


@pytest.mark.parametrize("seed", range(20))
def test_functions_are_those_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 80))
    values = np.round(rng.normal(size=n), 1 if seed % 2 else 8)  # ties
    t = (values + rng.normal(size=n) > 0).astype(float)
    weight = rng.integers(0, 4, n) * 1.0 if seed % 3 == 0 else rng.uniform(0.5, 2, n)
    weight[:2] = 1.0
    points = isotonic.fit(values, t, weight)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(values, t, sample_weight=weight)
    asked = np.concatenate([values, rng.normal(scale=3, size=50)])
    found = isotonic.evaluate(isotonic.joined([points, points]), np.column_stack([asked, asked]))
    np.testing.assert_allclose(found[:, 0], theirs.predict(asked), atol=1e-12)
    np.testing.assert_array_equal(found[:, 0], found[:, 1])


def test_whole_weights_are_copies():
    rng = np.random.default_rng(0)
    values, times = np.round(rng.normal(size=40), 1), rng.integers(0, 4, 40)
    t = (values + rng.normal(size=40) > 0).astype(float)
    copied = isotonic.fit(np.repeat(values, times), np.repeat(t, times), np.ones(times.sum()))
    for a, b in zip(isotonic.fit(values, t, times * 1.0), copied, strict=True):
        np.testing.assert_allclose(a, b)


def good():
    """Two functions, of two points and of one."""
    return Isotonic(np.array([0.0, 1.0, -1.0]), np.array([0.2, 0.7, 0.5]), np.array([2, 3]))


def test_consistent_records():
    assert isotonic.is_consistent(good(), 2)
    assert not isotonic.is_consistent(good(), 1)
    assert not isotonic.is_consistent((1, 2, 3), 2)
    wrong = [
        {"values": np.array([1.0, 0.0, -1.0])},
        {"values": np.array([0.0, np.nan, -1.0])},
        {"values": np.array([0.0, 1.0])},
        {"values": np.array([0, 1, 2])},
        {"p": np.array([0.7, 0.2, 0.5])},
        {"p": np.array([0.2, 1.7, 0.5])},
        {"p": np.array([-0.2, 0.7, 0.5])},
        {"ends": np.array([3, 3])},
        {"ends": np.array([0, 3])},
        {"ends": np.array([2, 4])},
        {"ends": np.array([2.0, 3.0])},
    ]
    for change in wrong:
        assert not isotonic.is_consistent(good()._replace(**change), 2), change
