"""Probabilities from decision values: against a general optimiser, exact relations, and the
definition of the best agreement."""

import numpy as np
import pytest
from scipy.optimize import minimize

from helpers import settings
from maxmargin import calibration
from maxmargin.core import cpu
from maxmargin.kernel import multiclass


def likelihood(x, values, first, weight=None):
    """Written again: minus the logarithm of the likelihood with Platt's targets."""
    weight = np.ones(len(values)) if weight is None else weight
    count, other = weight[first].sum(), weight[~first].sum()
    t = np.where(first, (count + 1) / (count + 2), 1 / (other + 2))
    z = x[0] * values + x[1]
    return np.sum(weight * (t * np.logaddexp(0, z) + (1 - t) * np.logaddexp(0, -z)))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e5])
@pytest.mark.parametrize("gap", [-0.5, 0.0, 1.0, 100.0])
def test_sigmoids_are_the_most_likely(seed, scale, gap, weighted):
    """Of those that do not fall; a machine that is worse than chance has a flat one."""
    rng = np.random.default_rng(seed)
    n = rng.integers(4, 200)
    first = rng.random(n) < rng.uniform(0.05, 0.95)
    first[:2] = True, False
    values = scale * (rng.normal(size=n) + gap * np.where(first, 1, -1))
    weight = rng.uniform(0.1, 5, n) if weighted else None
    A, B = calibration.fit_sigmoid(values, first, weight)
    ours = likelihood((A, B), values, first, weight)
    assert A <= 0
    for begin in ([A * scale, B], [-1e-3, 0.0]):
        theirs = minimize(
            lambda x: likelihood((x[0] / scale, x[1]), values, first, weight),
            begin,
            method="L-BFGS-B",
            bounds=[(None, 0.0), (None, None)],
            options={"ftol": 1e-15, "gtol": 1e-9},
        )
        assert ours <= theirs.fun + 1e-7 * (1 + abs(ours))


def test_whole_weights_are_copies():
    """Except for Platt's targets nothing but the sum counts, and these count weights too."""
    rng = np.random.default_rng(3)
    values, first, times = rng.normal(size=40), rng.random(40) < 0.5, rng.integers(0, 4, 40)
    values += np.where(first, 1, -1)
    copies = calibration.fit_sigmoid(np.repeat(values, times), np.repeat(first, times))
    assert calibration.fit_sigmoid(values, first, times * 1.0) == pytest.approx(copies, rel=1e-8)


@pytest.mark.parametrize("k", [2, 3, 7])
def test_agreeing_probabilities_are_the_nearest(k):
    """Against a general optimiser with the constraints written out."""
    rng = np.random.default_rng(k)
    p = rng.dirichlet(np.ones(k), 20)
    p[:3] = 1 / k
    label = rng.integers(0, k, 20)
    found = calibration.agreeing(p, label)
    np.testing.assert_array_equal(found.argmax(axis=1), label)
    np.testing.assert_array_equal(found.astype(np.float32).argmax(axis=1), label)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-15)
    assert found.min() >= 0
    same = p.argmax(axis=1) == label
    np.testing.assert_array_equal(found[same], p[same])
    for q, before, own in zip(found[~same], p[~same], label[~same], strict=True):
        best = minimize(
            lambda x, before=before: np.sum((x - before) ** 2),
            np.full(k, 1 / k),
            constraints=[
                {"type": "eq", "fun": lambda x: x.sum() - 1},
                {"type": "ineq", "fun": lambda x, own=own: x[own] - x},
            ],
            method="SLSQP",
            options={"ftol": 1e-14},
        )
        np.testing.assert_allclose(q, best.x, atol=1e-5)


@pytest.mark.parametrize("k", [2, 3, 10])
def test_targets_leave_the_same_doubt_for_any_number_of_classes(k):
    """Pairs that have them are those of a class with probability (n + 1) / (n + 2)."""
    first, weight = np.arange(60) < 40, np.full(60, 0.5)
    t = calibration.targets(first, weight, k)
    if k == 2:
        np.testing.assert_allclose(t[[0, -1]], [21 / 22, 1 / 12])
    values = np.zeros((1, k * (k - 1) // 2))
    values[0, : k - 1] = np.log(t[0] / (1 - t[0]))  # the first class against all others
    found = calibration.pair_probabilities(values, -np.ones(values.size), np.zeros(values.size), k)
    assert found[0, 0] == pytest.approx(21 / 22, rel=1e-3)


def test_known_samples_represent_all():
    """Their weights have the sum of the known ones and the shares of all."""
    rng = np.random.default_rng(0)
    weight, side = rng.uniform(0.5, 2, 90), np.where(np.arange(90) < 70, -1.0, 1.0)
    which = (side > 0).astype(np.int64)
    assert calibration.representing(weight, (which,), np.ones(90, bool)) is weight
    known = np.arange(90) >= 60
    found = calibration.representing(weight, (which,), known)
    assert found.sum() == pytest.approx(weight[known].sum())
    assert found[side[known] > 0].sum() / found.sum() == pytest.approx(
        weight[side > 0].sum() / weight.sum()
    )
    within = found[:10] / weight[60:70]
    np.testing.assert_allclose(within, within[0])
    kind = np.arange(90) % 3 + 3 * which
    found = calibration.representing(weight, (kind, which), known)
    for own, here in ((kind == k, kind[known] == k) for k in range(6)):
        assert found[here].sum() / found.sum() == pytest.approx(weight[own].sum() / weight.sum())


def test_equal_values_give_the_share():
    first = np.arange(30) < 10
    A, B = calibration.fit_sigmoid(np.zeros(30), first)
    assert calibration.pair_probabilities(np.zeros((1, 1)), np.array([A]), np.array([B]), 2)[
        0, 0
    ] == pytest.approx((10 * 11 / 12 + 20 / 22) / 30, rel=1e-8)


def test_turned_pairs_have_the_complement():
    rng = np.random.default_rng(0)
    values, first = rng.normal(size=60), rng.random(60) < 0.4
    A, B = calibration.fit_sigmoid(values, first)
    assert calibration.fit_sigmoid(-values, ~first) == pytest.approx((A, -B), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("a", [-1e-3, -1.0, -1e300])
def test_probabilities_are_never_0_or_1(a):
    """Decision values of any size.

    A pair's probabilities stay 1e-7 away from both, as LIBSVM's do, so that their logarithms are
    finite.
    """
    values = np.array([[1e308], [-1e308], [0.0]])
    with np.errstate(over="ignore"):
        found = calibration.pair_probabilities(values, np.array([a]), np.zeros(1), 2)
    np.testing.assert_array_equal(found, [[1 - 1e-7, 1 - (1 - 1e-7)], [1e-7, 1 - 1e-7], [0.5, 0.5]])


@pytest.mark.parametrize("k", [3, 6])
def test_certain_pairs_of_several_classes(k):
    """One class that wins all its pairs for certain, and classes that beat each other in turn.

    The system stays regular.
    """
    pairs = multiclass.pairs(k)
    wins = np.array(
        [
            [1e9 if i == 0 else 0.0 for i, j in pairs],
            [-1e9 if (j - i) % 2 == 0 else 1e9 for i, j in pairs],
        ]
    )
    found = calibration.pair_probabilities(wins, np.full(len(pairs), -1.0), np.zeros(len(pairs)), k)
    assert np.isfinite(found).all()
    assert found.min() >= 0
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    assert found[0].argmax() == 0
    assert 1 - k * 1e-6 < found[0, 0] < 1
    if k == 3:
        np.testing.assert_allclose(found[1], 1 / 3, rtol=1e-12)


def pairwise(p):
    """The decision values of pairs that agree with these probabilities exactly, where A = -1, B =
    0.
    """
    return np.array([[np.log(row[i] / row[j]) for i, j in multiclass.pairs(len(row))] for row in p])


@pytest.mark.parametrize("k", [3, 4, 10])
def test_pairs_that_agree_give_their_probabilities(k):
    p = np.random.default_rng(k).dirichlet(np.ones(k), 50)
    pairs = k * (k - 1) // 2
    found = calibration.pair_probabilities(pairwise(p), np.full(pairs, -1.0), np.zeros(pairs), k)
    np.testing.assert_allclose(found, p, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("k", [3, 5])
def test_others_are_as_near_as_can_be(k, monkeypatch):
    rng = np.random.default_rng(k)
    pairs = multiclass.pairs(k)
    values = 3 * rng.normal(size=(7, len(pairs)))
    r = 1 / (1 + np.exp(-values))
    found = calibration.pair_probabilities(
        values, np.full(len(pairs), -1.0), np.zeros(len(pairs)), k
    )
    assert found.min() >= 0
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    for row, p in zip(r, found, strict=True):

        def distance(q, row=row):
            return sum(((1 - row[c]) * q[i] - row[c] * q[j]) ** 2 for c, (i, j) in enumerate(pairs))

        best = minimize(
            distance,
            np.full(k, 1 / k),
            constraints={"type": "eq", "fun": lambda q: q.sum() - 1},
            tol=1e-14,
        )
        assert distance(p) <= best.fun + 1e-9
    settings(monkeypatch, calibration, entries=1)
    np.testing.assert_array_equal(
        calibration.pair_probabilities(values, np.full(len(pairs), -1.0), np.zeros(len(pairs)), k),
        found,
    )


def test_the_scale_leaves_the_extreme_out():
    errors = np.append(np.tile([1.0, -1.0], 50), 1e6)
    assert calibration.laplace_scale(errors[:-1]) == 1.0
    assert calibration.laplace_scale(errors) == 1.0
    assert calibration.laplace_scale(np.zeros(3)) == 0.0


def test_newton_takes_few_steps_to_a_sigmoid(monkeypatch):
    """Passes over the samples: seen, and an eighth more for other arithmetic."""
    counts, real = [], cpu._cpu.minimise_logistic

    def counted(*given):
        value, passes = real(*given)
        counts.append(passes)
        return value, passes

    monkeypatch.setattr(cpu._cpu, "minimise_logistic", counted)
    for gap, seen in ((0, 14), (1, 25), (3, 31), (10, 31), (1000, 31)):
        counts.clear()
        for seed in range(4):
            rng = np.random.default_rng(seed)
            first = rng.random(100) < 0.3
            calibration.fit_sigmoid(rng.normal(size=100) + gap * np.where(first, 1, -1), first)
        assert 0.8 * seen <= sum(counts) <= 1.125 * seen


def test_the_unit_of_decision_values_does_not_matter():
    """To the last bit where units differ by a power of two."""
    rng = np.random.default_rng(3)
    first = rng.random(50) < 0.4
    values = rng.normal(size=50) + np.where(first, 1, -1)
    A, B = calibration.fit_sigmoid(values, first)
    for power in (-300, -30, 30, 300):
        assert calibration.fit_sigmoid(values * 2.0**power, first) == (A / 2.0**power, B)


def test_the_scale_of_few_errors():
    assert calibration.laplace_scale(np.zeros(3)) == 0.0
    assert calibration.laplace_scale(np.array([1.0, -1.0, 4.0])) == 2.0
    errors = np.array([1.0] * 99 + [-1000.0])  # five times sqrt(2) 10.99 = 77.7
    assert calibration.laplace_scale(errors) == 1.0
    edge = np.array([0.0] * 9 + [1.0])  # sqrt(50) 0.1 < 1
    assert calibration.laplace_scale(edge) == 0.0
    assert calibration.laplace_scale(np.array([0.0] * 6 + [1.0])) == pytest.approx(1 / 7)
    assert calibration.laplace_scale(np.array([0.0] * 7 + [1.0])) == 0.0


def test_several_samples_of_several_classes_at_once(monkeypatch):
    rng = np.random.default_rng(0)
    values, a, b = rng.normal(size=(23, 6)), -rng.uniform(0.5, 2, size=6), rng.normal(size=6)
    expected = calibration.pair_probabilities(values, a, b, 4)
    np.testing.assert_allclose(expected.sum(axis=1), 1.0)
    r = 1 / (1 + np.exp(values * a + b))
    for p, row in zip(expected, r, strict=True):
        pairs = list(multiclass.pairs(4))
        best = sum(((1 - row[k]) * p[i] - row[k] * p[j]) ** 2 for k, (i, j) in enumerate(pairs))
        for _ in range(20):
            q = np.abs(p + 0.01 * rng.normal(size=4))
            q /= q.sum()
            assert best <= sum(
                ((1 - row[k]) * q[i] - row[k] * q[j]) ** 2 for k, (i, j) in enumerate(pairs)
            )
    for room in (1, 25, 49, 50, 75, 600):
        settings(monkeypatch, calibration, entries=room)
        np.testing.assert_allclose(
            calibration.pair_probabilities(values, a, b, 4), expected, rtol=1e-12
        )
    assert calibration.pair_probabilities(values[:0], a, b, 4).shape == (0, 4)
    assert calibration.pair_probabilities(values[:0, :1], a[:1], b[:1], 2).shape == (0, 2)
