"""The exact bias of plain losses, found by looking at a few of many samples first."""

import numpy as np
import pytest

from maxmargin.linear import bias_search, losses, objectives
from maxmargin.linear.losses import Bias, LinearProblem, classification, one_class, regression

N = 3 * bias_search.SETTINGS.sort_up_to


def objective(problem, g, b):
    return 0.5 * problem.m * b**2 + problem.total * b + problem.tube.losses(g + b)


def cases():
    rng = np.random.default_rng(0)
    C = rng.uniform(0.1, 2.0, size=N)
    for share in (0.5, 0.02, 1e-4):
        s = np.where(rng.random(N) < share, 1.0, -1.0)
        s[:2] = 1, -1
        g = s * rng.normal(1.0, 2.0, size=N)
        yield LinearProblem(classification(s, C, False), Bias.FREE), g
        yield LinearProblem(classification(s, np.ones(N), False), Bias.FREE), g.round(1)
        yield LinearProblem(classification(s, C, False), Bias.PENALISED, 0.01), g
        misleading = g.copy()  # what the few look at is no guide to the rest
        misleading[np.linspace(0, N - 1, bias_search.SETTINGS.sampled).astype(int)] += 1e3
        yield LinearProblem(classification(s, C, False), Bias.FREE), misleading
    yield (
        LinearProblem(regression(rng.normal(size=N), C, 0.1, False), Bias.FREE),
        rng.normal(size=N),
    )
    for nu in (0.01, 0.5, 1.0):
        yield (
            LinearProblem(one_class(np.full(N, 1 / N)), Bias.FREE, total=nu),
            rng.exponential(size=N),
        )


@pytest.mark.parametrize(("problem", "g"), list(cases()))
def test_looking_at_a_few_finds_the_same_bias(problem, g, monkeypatch):
    found = bias_search.best_bias(problem, g)
    value = objective(problem, g, found)
    for step in (1e-9, 1e-4, 0.1, 10.0):
        assert min(
            objective(problem, g, found + step), objective(problem, g, found - step)
        ) >= value - 1e-12 * (1 + abs(value))
    monkeypatch.setattr(bias_search, "SETTINGS", bias_search.SETTINGS._replace(sort_up_to=np.inf))
    assert found == pytest.approx(bias_search.best_bias(problem, g), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_the_bias_of_plain_losses_is_the_middle_of_the_best(seed):
    """Small problems with ties, flat stretches, samples without weight.

    All ends are tried, and the points between them.
    """
    rng = np.random.default_rng(seed)
    for size in (1, 2, 3, 6, 9):
        s, C = rng.choice([-1.0, 1.0], size), rng.choice([0.0, 0.5, 1.0], size)
        C[0] = 1.0
        g = rng.integers(-3, 4, size).astype(float)
        regression_tube, total = regression(g[::-1] + 2.0, C, 1.0, False), 0.5 * float(C.sum())
        for tube, rest in (
            (classification(s, C, False), 0.0),
            (regression_tube, 0.0),
            (one_class(C), total),
        ):
            for bias, scaling in ((Bias.FREE, 1.0), (Bias.PENALISED, 0.5), (Bias.PENALISED, 3.0)):
                problem = LinearProblem(tube, bias, scaling, rest)
                ends = sorted({*(tube.low - g)[tube.up > 0], *(tube.high - g)[tube.down > 0]})
                b = bias_search.best_bias(problem, g)
                value = objective(problem, g, b)
                if bias is Bias.FREE:
                    values = [objective(problem, g, end) for end in ends]
                    best = [
                        end
                        for end, at in zip(ends, values, strict=True)
                        if at <= min(values) + 1e-12
                    ]
                    assert b == pytest.approx((best[0] + best[-1]) / 2), (size, ends)
                else:
                    near = [
                        objective(problem, g, b + step)
                        for step in (1e-7, -1e-7, 1e-3, -1e-3, 0.3, -0.3)
                    ]
                    assert value <= min(near) + 1e-13


def test_a_flat_stretch_is_seen_beside_the_rounding_of_many_weights():
    for weight in (0.1, 7.3):
        sign = np.where(np.arange(2000) < 1000, 1.0, -1.0)
        problem = LinearProblem(classification(sign, np.full(2000, weight), False), Bias.FREE)
        assert bias_search.best_bias(problem, np.zeros(2000)) == 0.0


def test_the_bias_of_squared_losses_of_little_or_no_weight():
    rng = np.random.default_rng(5)
    g, z = rng.normal(size=9), rng.normal(size=9)
    inside = LinearProblem(regression(z, np.ones(9), 50.0, True), Bias.FREE)
    assert bias_search.best_bias(inside, g, 0.25) == 0.25, "no loss at all"
    for begin in (-3.0, 0.0, 3.0):
        problem = LinearProblem(regression(z, np.full(9, 1e-3), 0.0, True), Bias.FREE)
        assert bias_search.best_bias(problem, g, begin) == pytest.approx(float(np.mean(z - g)))


class Looked:
    """Products with the data; counts how often they are looked at."""

    def __init__(self, values):
        self.values, self.times = values, 0

    def __add__(self, bias):
        self.times += 1
        return self.values + bias


@pytest.mark.parametrize("far", [0.0, 1e6, -1e9])
def test_the_bias_of_squared_losses_takes_few_looks(far):
    rng = np.random.default_rng(2)
    C, g = rng.uniform(0.1, 2.0, 25), rng.normal(size=25)
    looked = Looked(g)
    problem = LinearProblem(regression(3 * g[::-1] + far, C, 0.1, True), Bias.FREE)
    b = bias_search.best_bias(problem, looked)
    assert looked.times <= 40
    assert abs(b - far) < 5


@pytest.mark.parametrize("begin", [0.0, -50.0, 50.0])
@pytest.mark.parametrize(
    "bias",
    [(Bias.FREE, 1.0), (Bias.PENALISED, 0.01), (Bias.PENALISED, 1.0), (Bias.PENALISED, 50.0)],
)
def test_the_bias_of_squared_losses_is_a_root_of_the_slope(bias, begin):
    rng = np.random.default_rng(2)
    s, C, g = (
        np.where(rng.random(25) < 0.3, 1.0, -1.0),
        rng.uniform(0.1, 2.0, 25),
        rng.normal(size=25),
    )
    for tube in (classification(s, C, True), regression(3 * g[::-1] + 7, C, 0.1, True)):
        problem = LinearProblem(tube, *bias)
        b = bias_search.best_bias(problem, g, begin)
        slope = problem.m * b
        for i in range(25):
            slope -= 2 * tube.up[i] * max(0.0, tube.low[i] - g[i] - b)
            slope += 2 * tube.down[i] * max(0.0, g[i] + b - tube.high[i])
        assert abs(slope) <= 1e-12 * (1 + problem.m) * (1 + C.sum())
    assert bias_search.best_bias(LinearProblem(tube, Bias.NONE), g, begin) == 0.0


def test_few_are_sorted(monkeypatch):
    """It is the point of looking: most ends are not sorted."""
    rng, seen = np.random.default_rng(0), []
    s = np.where(rng.random(N) < 0.3, 1.0, -1.0)
    around = bias_search._around_the_root
    monkeypatch.setattr(
        bias_search, "_around_the_root", lambda *given: seen.append(around(*given)) or seen[-1]
    )
    bias_search.best_bias(
        LinearProblem(classification(s, np.ones(N), False), Bias.FREE), rng.normal(size=N)
    )
    assert len(seen[0][0]) < N / 4


# ---- duals with a given sum ----------------------------------------------------------------------


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_duals_with_a_given_sum(squared, seed):
    """The sum is exact, the bounds hold, and only duals that must change do."""
    draw = np.random.default_rng(seed)
    n, C = 12, np.random.default_rng(seed).uniform(0.5, 2.0, size=12)
    sign = np.where(np.arange(n) < n // 2, 1.0, -1.0)
    tube = losses.classification(sign, C, squared)
    t = sign * C * draw.uniform(0, 1, size=n) * (sign > 0 if seed % 2 else 1.0)
    total = draw.uniform(-1, 1) if seed % 3 else 0.0
    found = losses.with_sum(tube, t, total)
    assert found.sum() == pytest.approx(total, abs=1e-12)
    assert (found * sign >= 0).all()
    assert squared or (np.abs(found) <= C * (1 + 1e-12)).all()


def test_what_is_missing_of_a_squared_loss_goes_by_its_weight():
    """There is no bound to keep away from.

    Duals of 0 take their share of what is missing, in proportion to the weights.
    """
    tube = losses.classification(np.array([1.0, 1.0, -1.0]), np.array([1.0, 3.0, 2.0]), True)
    assert losses.with_sum(tube, np.zeros(3), 8.0).tolist() == [2.0, 6.0, 0.0]
    assert losses.with_sum(tube, np.array([2.0, 0.0, 0.0]), 8.0).tolist() == [3.5, 4.5, 0.0]
    assert losses.with_sum(tube, np.array([0.0, 1.0, -5.0]), -6.0).tolist() == [0.0, 0.0, -6.0]
    plain = tube._replace(squared=False)
    assert losses.with_sum(plain, np.array([0.0, 1.0, 0.0]), 2.5).tolist() == [0.5, 2.0, 0.0]


def test_sums_that_need_no_room():
    tube = classification(np.ones(2), np.ones(2), False)
    assert losses.with_sum(tube, np.zeros(2), 0.0).tolist() == [0.0, 0.0]
    assert losses.with_sum(tube, np.array([1.0, 0.0]), 0.0).tolist() == [0.0, 0.0]
    assert losses.with_sum(tube, np.array([1.0, 0.5]), 0.5).tolist() == pytest.approx(
        [1 / 3, 1 / 6]
    )


@pytest.mark.parametrize("squared", [False, True])
def test_feasible_duals_are_inside_their_bounds(squared):
    rng = np.random.default_rng(0)
    s, C, t = (
        rng.choice([-1.0, 1.0], 40),
        np.resize([0.0, 0.3, 1.0, 2.0], 40),
        3 * rng.normal(size=40),
    )
    for tube in (classification(s, C, squared), regression(s, C, 0.1, squared)):
        wanted = []
        for v, up, down in zip(t, tube.up, tube.down, strict=True):
            most = [(np.inf if b > 0 else 0.0) if squared else b for b in (up, down)]
            wanted.append(min(max(v, -most[1]), most[0]))
        for bias in (Bias.NONE, Bias.PENALISED):
            np.testing.assert_array_equal(objectives.feasible(LinearProblem(tube, bias), t), wanted)
        free = objectives.feasible(LinearProblem(tube, Bias.FREE), t)
        np.testing.assert_array_equal(free, losses.with_sum(tube, np.array(wanted), 0.0))
