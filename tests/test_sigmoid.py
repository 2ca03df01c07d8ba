"""Bent sigmoids: against a general optimiser, their constraints, their choice, their record."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from helpers import settings
from maxmargin import calibration, io, sigmoid
from maxmargin.estimators import SVC
from maxmargin.sigmoid import Bent


def samples(seed, n=200, tail=2.0, apart=1.0):
    """Decision values with heavy tails, which side they belong to, weights."""
    rng = np.random.default_rng(seed)
    first = rng.random(n) < rng.uniform(0.3, 0.7)
    values = rng.standard_t(tail, n) + apart * np.where(first, 1, -1)
    return values, first, rng.uniform(0.5, 2, n)


def fitted(values, first, weight):
    t = calibration.targets(first, weight)
    return t, sigmoid.fit_bent(values, t, weight, calibration.fit_sigmoid(values, first, weight))


def loss(x, s, values, t, weight):
    """Written again: minus the logarithm of the likelihood."""
    z = x[0] * values + x[1] * np.arcsinh(s * values) + x[2]
    return np.sum(weight * (t * np.logaddexp(0, z) + (1 - t) * np.logaddexp(0, -z)))


def least(s, values, t, weight, begin):
    """The least loss with A, D <= 0 by a general optimiser."""
    bounds = [(None, 0.0), (None, 0.0), (None, None)]
    how = {"method": "L-BFGS-B", "bounds": bounds, "options": {"ftol": 1e-15, "gtol": 1e-10}}
    return minimize(loss, begin, args=(s, values, t, weight), **how).fun


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("apart", [0.7, 1.0, 3.0])
def test_bent_sigmoids_are_the_most_likely(seed, apart, monkeypatch):
    """Of those that do not fall, with the scale that Schwarz's criterion chooses."""
    settings(monkeypatch, sigmoid, gain=-np.inf)
    values, first, weight = samples(seed, apart=apart)
    t, (a, d, s, b) = fitted(values, first, weight)
    assert a <= 0 >= d
    price = np.log(weight.sum()) / 2
    ours = loss((a, d, b), s, values, t, weight) + (price if s == 4 else 0)
    begins = ([a - 0.1, d, b], [-0.01, -1.0, b])
    theirs = min(
        least(scale, values, t, weight, begin) + extra
        for scale, extra in ((1.0, 0.0), (4.0, price))
        for begin in begins
    )
    assert ours <= theirs + 1e-6 * (1 + abs(theirs))


def test_each_face_occurs():
    """Both slopes, the bend alone, no bend, the sharper one."""
    found = [
        fitted(*samples(seed, n, tail))[1]
        for seed in range(6)
        for n, tail in ((100, 50.0), (100, 1.5), (3000, 1.5), (3000, 6.0))
    ]
    a, d, s, _ = np.array(found).T
    for face in ((a < 0) & (d < 0), (a == 0) & (d < 0), (a < 0) & (d == 0)):
        assert face.any()
    assert set(s) == {1.0, 4.0}


def test_log_odds_that_grow_straight_are_not_bent():
    """Where the truth is a sigmoid, so is the fit, or nearly."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=20_000) * 2
    first = rng.random(20_000) < sigmoid.plain(values[:, None], np.array([-2.0]), 0.3)[:, 0]
    bent = sigmoid.joined([fitted(values, first, np.ones(20_000))[1]])
    at = np.linspace(-3, 3, 50)[:, None]
    truth = sigmoid.plain(at, np.array([-2.0]), np.array([0.3]))
    assert np.abs(sigmoid.evaluate(bent, at) - truth).max() < 0.015


def test_wrong_labels_flatten_the_log_odds():
    """A tenth of the labels turned: no sigmoid says so, a bent one nearly does."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=5000) * 4
    first = (values > 0) ^ (rng.random(5000) < 0.1)
    bent = sigmoid.joined([fitted(values, first, np.ones(5000))[1]])
    plain = calibration.fit_sigmoid(values, first)
    at = np.array([[0.5], [1.0], [6.0], [12.0]])
    ours = np.abs(sigmoid.evaluate(bent, at) - 0.9)
    theirs = np.abs(sigmoid.plain(at, *map(np.array, plain)) - 0.9)
    assert ours.max() < 0.6 * theirs.max()
    assert ours.mean() < 0.6 * theirs.mean()


def test_values_that_order_worse_than_chance_are_not_bent():
    values, first, weight = samples(0, apart=-2.0)
    _, (a, d, _, b) = fitted(values, first, weight)
    assert (a, d) == (0.0, 0.0)
    assert np.isfinite(b)


def test_tiny_values_are_nearly_collinear():
    """asinh(s f) is s f for small f: nothing to choose, and nothing breaks."""
    values, first, weight = samples(1)
    for scale in (1e-8, 1e-3, 1e6):
        found = fitted(values * scale, first, weight)[1]
        assert np.isfinite(found).all()
        assert found[0] <= 0 >= found[1]


def good():
    return sigmoid.joined([(-1.0, -2.0, 1.0, 0.5), (0.0, -1.0, 4.0, 0.0)])


def test_records_are_checked():
    assert sigmoid.is_consistent(good(), 2)
    assert not sigmoid.is_consistent(good(), 1)
    assert not sigmoid.is_consistent(tuple(good()), 2)
    for change in (
        {"a": np.array([0.1, 0.0])},
        {"d": np.array([-1.0, 1e-9])},
        {"s": np.array([0.0, 1.0])},
        {"b": np.array([np.nan, 0.0])},
        {"b": np.zeros(3)},
        {"b": np.zeros(2, np.float32)},
        {"b": [0.0, 0.0]},
    ):
        assert not sigmoid.is_consistent(good()._replace(**change), 2), change


def test_files_with_altered_records_are_refused(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    model = SVC(probability=True).fit(X, y)
    assert isinstance(model.model_.bent, Bent)
    model.model_ = replace(model.model_, bent=model.model_.bent._replace(a=np.array([1.0])))
    with pytest.raises(ValueError):
        model.predict(X)
    with pytest.raises(ValueError):
        io.save(model, tmp_path / "m.mm")
