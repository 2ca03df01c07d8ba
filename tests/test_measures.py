"""The losses of performance measures, against all labelings or rankings of a few samples."""

import numpy as np
import pytest
from sklearn.metrics import f1_score

from maxmargin.structured.contingency import F1Loss, TopLoss
from maxmargin.structured.hinge import HingeLoss
from maxmargin.structured.measures import Measure, goal
from measure_cases import NAMES, SMALL, definition, sample


def loss_of(measure, y, k=2, free=False, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    return goal(Measure(measure), y > 0, weight, k, free).loss


def value(found, s):
    return found.offset + float(found.t @ s)


def test_names_are_those_of_the_library():
    assert {measure.value for measure in Measure} == set(NAMES)


@pytest.mark.parametrize("measure", NAMES)
@pytest.mark.parametrize("free", [False, True])
def test_value_by_enumeration(measure, free):
    for seed, (p, q) in enumerate(SMALL):
        if measure in ("auc", "average_precision") and p + q > 5:
            continue
        for ties in (False, True):
            y, s = sample(p, q, seed, ties)
            for k in range(1, p + q) if measure.endswith("_k") else [0]:
                found = loss_of(measure, y, k, free)(s)
                expected = definition(measure, y, s, k, free)
                assert value(found, s) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("measure", NAMES)
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize(("p", "q"), [(4, 3), (10, 40), (40, 10), (1, 30), (30, 1)])
def test_tangent_is_below_the_loss_and_not_negative(measure, free, p, q):
    rng = np.random.default_rng(p)
    for ties in (False, True):
        y, s = sample(p, q, 3, ties)
        loss = loss_of(measure, y, 5, free)
        found = loss(s)
        assert value(found, s) >= -1e-9
        invariant = free or measure not in ("error", "f1")
        assert not invariant or abs(found.t.sum()) < 1e-9
        for scale in (0.1, 1, 10):
            other = s + scale * rng.normal(size=len(s))
            assert value(loss(other), other) >= value(found, other) - 1e-9


def test_error_is_the_sum_of_hinge_losses():
    y, s = sample(30, 50, 1)
    weight = np.random.default_rng(0).random(80)
    found = loss_of("error", y, weight=weight)(s)
    assert value(found, s) == pytest.approx(weight @ np.maximum(0, 1 - y * s), rel=1e-12)


@pytest.mark.parametrize("p", [1, 3, 40])
def test_break_even_point_is_where_k_is_the_number_of_positives(p):
    """For k = p the loss is that of SVM-perf, whose planes are half the difference of labels."""
    y, s = sample(p, 30, 2)
    up, down = np.sort(s[y > 0]), np.sort(s[y < 0])[::-1]
    values = [len(y) * m / p - up[:m].sum() + down[:m].sum() for m in range(min(p, len(down)) + 1)]
    for measure in ("prbep", "precision_at_k", "recall_at_k"):
        assert value(loss_of(measure, y, p)(s), s) == pytest.approx(max(values), rel=1e-12)


@pytest.mark.parametrize("measure", ["precision_at_k", "recall_at_k"])
@pytest.mark.parametrize("k", [1, 5, 10, 17, 35])
def test_loss_of_the_k_best_bounds_the_measure(measure, k):
    """n times what the k best samples lack, at any scores and any k."""
    for seed in range(20):
        y, s = sample(10, 30, seed)
        hits = np.sum(y[np.argsort(-s)[:k]] > 0)
        lost = 40 * (min(k, 10) - hits) / (10 if measure == "recall_at_k" else k)
        assert value(loss_of(measure, y, k)(s), s) >= lost - 1e-9


@pytest.mark.parametrize(("p", "q"), [(7, 200), (150, 60), (1, 100), (100, 1)])
def test_f1_of_many_samples_by_all_tables(p, q):
    y, s = sample(p, q, 4)
    up, down = np.sort(s[y > 0]), np.sort(s[y < 0])[::-1]
    missed, taken = np.append(0, np.cumsum(up)), np.append(0, np.cumsum(down))
    c, d = np.arange(p + 1)[:, None], np.arange(q + 1)[None, :]
    tables = (p + q) * (c + d) / (2 * p - c + d) - missed[:, None] + taken
    assert value(loss_of("f1", y)(s), s) == pytest.approx(tables.max(), rel=1e-12)
    spread = (d - c) * np.linspace(-40, 40, 4001)[:, None, None] if p * q < 1000 else None
    if spread is not None:
        least = (tables + spread).max(axis=(1, 2)).min()
        found = value(loss_of("f1", y, free=True)(s), s)
        assert least - 0.02 * p * q <= found <= least + 1e-9


@pytest.mark.parametrize(("p", "q"), [(7, 200), (150, 60), (1, 100), (100, 1), (64, 64)])
@pytest.mark.parametrize("ties", [False, True])
def test_average_precision_of_many_samples_by_all_pairs(p, q, ties):
    """Yue and others' choice for every negative sample, in p q steps."""
    y, s = sample(p, q, 5, ties)
    s /= 4
    up, down = np.sort(s[y > 0])[::-1], np.sort(s[y < 0])[::-1]
    i, j = np.arange(1, p + 1), np.arange(1, q + 1)[:, None]
    gain = i / (i + j - 1) - i / (i + j) - (up - down[:, None]) / q
    best = np.maximum(0, np.cumsum(gain[:, ::-1], axis=1)).max(axis=1)
    expected = (p + q) / p * best.sum()
    assert value(loss_of("average_precision", y)(s), s) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("measure", NAMES)
@pytest.mark.parametrize("free", [False, True])
def test_weights_are_copies(measure, free):
    y, s = sample(8, 12, 6)
    weight = np.random.default_rng(1).integers(1, 4, 20)
    found = loss_of(measure, y, 5, free, weight.astype(float))(s)
    copies = np.repeat(np.arange(20), weight)
    expected = loss_of(measure, y[copies], 5, free)(s[copies])
    assert value(found, s) == pytest.approx(value(expected, s[copies]), rel=1e-12)
    sums = np.bincount(copies, expected.t)
    other = s + np.random.default_rng(2).normal(size=20)
    assert (
        value(found, other)
        <= value(loss_of(measure, y[copies], 5, free)(other[copies]), other[copies]) + 1e-9
    )
    assert found.offset + found.t @ s == pytest.approx(expected.offset + sums @ s, rel=1e-12)


def test_intercept_of_hinge_losses_is_the_best_one():
    for seed in range(10):
        y, s = sample(5 + seed, 30, seed)
        free, fixed = (HingeLoss(y > 0, np.ones(len(y)), one) for one in (True, False))
        b = free.intercept(s)
        assert value(fixed(s + b), s + b) == pytest.approx(value(free(s), s), rel=1e-12)
        assert fixed.intercept(s) == 0


@pytest.mark.parametrize("ties", [False, True])
def test_intercept_of_f1_has_the_greatest_f1(ties):
    for seed in range(10):
        y, s = sample(5 + seed, 30, seed, ties)
        b = F1Loss(y > 0, True).intercept(s)
        found = [f1_score(y, np.where(s + one > 0, 1, -1)) for one in [b, *(1e-9 - s)]]
        assert found[0] == pytest.approx(max(found))
        assert F1Loss(y > 0, False).intercept(s) == 0


def test_intercept_of_separated_samples_is_in_the_middle():
    y = np.repeat([1, -1], [5, 25])
    assert F1Loss(y > 0, True).intercept(10.0 * y + 3) == -3
    assert HingeLoss(y > 0, np.ones(30), True).intercept(10.0 * y + 3) == -3
    assert F1Loss(y > 0, True).intercept(np.zeros(30)) > 0


@pytest.mark.parametrize("measure", ["precision_at_k", "prbep"])
def test_intercept_makes_the_k_best_positive(measure):
    y, s = sample(9, 40, 7)
    k = 4 if measure == "precision_at_k" else 9
    b = goal(Measure(measure), y > 0, np.ones(49), 4, True).intercept(s)
    assert np.sum(s + b > 0) == k
    assert TopLoss(y > 0, 49, 1.0).intercept(s) > -s.min()
    assert goal(Measure(measure), y > 0, np.ones(49), 4, False).intercept(s) == 0


@pytest.mark.parametrize("measure", NAMES)
def test_order_of_samples_does_not_matter(measure):
    y, s = sample(20, 30, 8)
    order = np.random.default_rng(0).permutation(50)
    found, other = loss_of(measure, y, 7)(s), loss_of(measure, y[order], 7)(s[order])
    assert other.offset == pytest.approx(found.offset, rel=1e-12)
    np.testing.assert_allclose(other.t, found.t[order], atol=1e-12)
