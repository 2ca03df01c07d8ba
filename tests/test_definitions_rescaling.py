"""Rescalings of linear iterates, samples that determine the bias, models that are shrunk."""

import numpy as np
import pytest

from helpers import three
from maxmargin import PegasosSVC
from maxmargin.linear.designs import ArrayDesign
from maxmargin.monitor import Monitor
from maxmargin.online import epochs
from maxmargin.online.pegasos import Iterates, Rule, Task
from maxmargin.online.pegasos_linear import SAMPLE, Rescalings, new_samples


@pytest.mark.parametrize("repeated", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_rescalings_reach_what_was_added_before_them(seed, repeated):
    """Each rescaling turns (v, u) of every sample into (scale v, u - sigma v).

    A sample adds to its coefficients whenever it is used.
    """
    rng = np.random.default_rng(seed)
    n = 12
    order = rng.integers(0, n, size=15) if repeated else rng.permutation(n)[:9]
    samples = new_samples(n)
    samples["coef"] = rng.normal(size=(n, 2))
    plain = samples["coef"].copy()
    rescalings = Rescalings(samples, order)
    (state,) = Iterates.new(1, 1).state
    for used, i in enumerate(order):
        while rng.random() < 0.4:
            state["scale"], state["sigma"] = rng.uniform(0.2, 0.9), rng.normal()
            rescalings.add(used, state)
            plain[:, 1] -= state["sigma"] * plain[:, 0]
            plain[:, 0] *= state["scale"]
        added = rng.normal(size=2)
        samples["coef"][i] += added
        plain[i] += added
    rescalings.finish()
    np.testing.assert_allclose(samples["coef"], plain, atol=1e-12)


def test_without_rescalings_samples_stay_as_they_are():
    samples = np.ones(24).view(SAMPLE)
    Rescalings(samples, np.arange(3)).finish()
    assert samples.view(float).tolist() == [1.0] * 24


def test_each_sample_has_a_cache_line():
    for n in (1, 2, 3, 5, 10, 33, 100, 1001):
        for _ in range(5):
            found = new_samples(n)
            assert found.shape == (n,)
            assert found.itemsize == 64
            assert found.flags.c_contiguous
            assert found.ctypes.data % 64 == 0
            assert not found.view(float).any()


@pytest.mark.parametrize("functions", [1, 3])
def test_a_few_samples_of_each_class_are_spread_over_it(functions, monkeypatch):
    monkeypatch.setattr(epochs, "SETTINGS", epochs.SETTINGS._replace(bias_samples=12))
    label = np.arange(50) % 3 if functions == 3 else (np.arange(50) % 5 == 0).astype(int)
    signs = np.array(
        [np.where(label == c, 1.0, -1.0) for c in (range(3) if functions == 3 else [1])]
    )
    epoch = np.concatenate([np.arange(50), np.arange(10)])
    weight = np.random.default_rng(0).uniform(0.5, 2, size=50)
    found = epochs._bias_problems(Task(signs, weight, epoch), Rule(0.5, 1, False, True, False), [])
    rows, cost = [], []
    for c in range(3 if functions == 3 else 2):
        members = [i for i in epoch if label[i] == c]
        room = 4 if functions == 3 else 6
        few = [members[int(k)] for k in np.linspace(0, len(members) - 1, min(room, len(members)))]
        rows += few
        cost += [weight[i] * sum(weight[members]) / sum(weight[few]) / (60 * 0.5) for i in few]
    assert found.rows.tolist() == rows
    assert len(found.problems) == functions
    for problem, sign in zip(found.problems, signs, strict=True):
        np.testing.assert_allclose(problem.tube.up, np.where(sign[rows] > 0, cost, 0.0))
        np.testing.assert_allclose(problem.tube.down, np.where(sign[rows] < 0, cost, 0.0))
        assert not problem.tube.squared


@pytest.mark.parametrize("options", [{}, {"kernel": "rbf", "gamma": 0.4}])
def test_a_model_that_is_too_long_is_shrunk_before_it_is_evaluated(options):
    X, y = three(30)
    model = PegasosSVC(alpha=0.05, shuffle=False, **options)
    signs = model._signs(y, 3)
    task = model._task(signs, np.ones(30), np.arange(30))
    _, solver = model._solver(X, ArrayDesign(X), np.ones(30), task, False)
    solver.advance(np.arange(30), Monitor())
    asked = epochs.problems(task, solver.rule)
    long = solver.model() * np.array([1.0, 10.0, 1000.0])[:, None]
    for shrink in (False, True):
        function, found = epochs.evaluate(solver, long, asked, shrink)
        sizes = np.max(np.abs(function), axis=1) / np.max(np.abs(long), axis=1)
        assert sizes[2] < 0.01 if shrink else sizes.tolist() == [1, 1, 1]
        F, squares = solver.values(function), solver.norms(function)
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
            assert one.dual_square == pytest.approx(solver.dual_norms(one.t[None])[0], rel=1e-9)
            assert np.abs(one.t.sum()) < 1e-9
            assert ((one.t * signs[k] >= 0) & (one.t * signs[k] <= 1 / (30 * 0.05) + 1e-12)).all()
            assert one.gap.value >= -1e-12
