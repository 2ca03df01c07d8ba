"""Folds of linear walks, samples that tell the bias, shortened models: by their definitions."""

import numpy as np
import pytest

from helpers import three
from maxmargin import PegasosSVC
from maxmargin.linear.designs import ArrayDesign
from maxmargin.monitor import Monitor
from maxmargin.online import epochs
from maxmargin.online.pegasos import SCALE, SIGMA, Rule, Task
from maxmargin.online.pegasos_linear import U, V, _Folds, _records


@pytest.mark.parametrize("repeated", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_folds_meet_what_was_taken_before_them(seed, repeated):
    """Each fold turns (v, u) of every sample into (scale v, u - sigma v).

    Samples take something at their visits.
    """
    rng = np.random.default_rng(seed)
    n = 12
    order = rng.integers(0, n, size=15) if repeated else rng.permutation(n)[:9]
    samples = np.zeros((n, 8))
    samples[:, [V, U]] = rng.normal(size=(n, 2))
    plain = samples[:, [V, U]].copy()
    folds = _Folds(samples, order)
    for done, i in enumerate(order):
        while rng.random() < 0.4:
            numbers = np.zeros(10)
            numbers[SCALE], numbers[SIGMA] = rng.uniform(0.2, 0.9), rng.normal()
            folds.add(done, numbers)
            plain[:, 1] -= numbers[SIGMA] * plain[:, 0]
            plain[:, 0] *= numbers[SCALE]
        taken = rng.normal(size=2)
        samples[i, [V, U]] += taken
        plain[i] += taken
    folds.finish()
    np.testing.assert_allclose(samples[:, [V, U]], plain, atol=1e-12)


def test_a_walk_without_folds_is_left_alone():
    samples = np.ones((3, 8))
    folds = _Folds(samples, np.arange(3))
    folds.finish()
    assert samples.tolist() == np.ones((3, 8)).tolist()


def test_each_sample_has_a_cache_line():
    for n in (1, 2, 3, 5, 10, 33, 100, 1001):
        for _ in range(5):
            found = _records(n)
            assert found.shape == (n, 8)
            assert found.flags.c_contiguous
            assert found.ctypes.data % 64 == 0
            assert not found.any()


@pytest.mark.parametrize("functions", [1, 3])
def test_a_few_samples_of_each_class_are_spread_over_it(functions, monkeypatch):
    monkeypatch.setattr(epochs, "LOOKED", 12)
    label = np.arange(50) % 3 if functions == 3 else (np.arange(50) % 5 == 0).astype(int)
    signs = np.array(
        [np.where(label == c, 1.0, -1.0) for c in (range(3) if functions == 3 else [1])]
    )
    visits = np.concatenate([np.arange(50), np.arange(10)])
    gain = np.random.default_rng(0).uniform(0.5, 2, size=50)
    look = epochs._look(Task(signs, gain, visits), Rule(0.5, 1, False, True, False), [])
    rows, cost = [], []
    for c in range(3 if functions == 3 else 2):
        members = [i for i in visits if label[i] == c]
        room = 4 if functions == 3 else 6
        few = [members[int(k)] for k in np.linspace(0, len(members) - 1, min(room, len(members)))]
        rows += few
        cost += [gain[i] * sum(gain[members]) / sum(gain[few]) / (60 * 0.5) for i in few]
    assert look.rows.tolist() == rows
    assert len(look.problems) == functions
    for problem, sign in zip(look.problems, signs, strict=True):
        np.testing.assert_allclose(problem.tube.up, np.where(sign[rows] > 0, cost, 0.0))
        np.testing.assert_allclose(problem.tube.down, np.where(sign[rows] < 0, cost, 0.0))
        assert not problem.tube.squared


@pytest.mark.parametrize("options", [{}, {"kernel": "rbf", "gamma": 0.4}])
def test_a_model_that_is_too_long_is_judged_as_shortened(options):
    X, y = three(30)
    model = PegasosSVC(alpha=0.05, shuffle=False, **options)
    signs = model._signs(y, 3)
    task = model._task(signs, np.ones(30), np.arange(30))
    path = model._path(X, ArrayDesign(X), np.ones(30), task, False)
    path.advance(np.arange(30), Monitor())
    asked = epochs.problems(task, path.rule)
    long = path.model() * np.array([1.0, 10.0, 1000.0])[:, None]
    for shorten in (False, True):
        function, found = epochs.judge(path, long, asked, shorten)
        sizes = np.max(np.abs(function), axis=1) / np.max(np.abs(long), axis=1)
        assert sizes[2] < 0.01 if shorten else sizes.tolist() == [1, 1, 1]
        F, squares = path.values(function), path.norms(function)
        for k, one in enumerate(found):
            assert one.square == pytest.approx(squares[k], rel=1e-9)
            np.testing.assert_allclose(one.f, F[k] + one.bias, atol=1e-9 * np.abs(one.f).max())
            primal = 0.025 * squares[k] + np.mean(np.maximum(0, 1 - signs[k] * one.f))
            assert one.gap.primal == pytest.approx(primal, rel=1e-9)
            losses = [
                np.mean(np.maximum(0, 1 - signs[k] * (F[k] + one.bias + e)))
                for e in (-0.01, 0.0, 0.01)
            ]
            assert losses[1] <= min(losses) + 1e-12, "the bias is the best"
            dual = 0.05 * (np.sum(one.t * signs[k]) - 0.5 * one.dual_square)
            assert one.gap.dual == pytest.approx(dual, rel=1e-9)
            assert one.dual_square == pytest.approx(path.dual_norms(one.t[None])[0], rel=1e-9)
            assert np.abs(one.t.sum()) < 1e-9
            assert ((one.t * signs[k] >= 0) & (one.t * signs[k] <= 1 / (30 * 0.05) + 1e-12)).all()
            assert one.gap.value >= -1e-12
