"""The problems as data: feasible starts, warm starts, degenerate cases."""

import numpy as np
import pytest

from maxmargin.kernel import problems
from maxmargin.kernel.tube import insensitive

rng = np.random.default_rng(0)
n = 12
y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
w = rng.uniform(0.5, 2.0, size=n)
z = rng.normal(size=n)

ALL = {
    "c_svc": problems.c_svc(y, 3 * w),
    "squared": problems.c_svc(y, 3 * w, squared=True),
    "nu_svc": problems.nu_svc(y, w, 0.3),
    "hard_margin": problems.hard_margin(y),
    "one_class": problems.one_class(w, 0.4),
    "eps_svr": problems.svr(insensitive(z, 2 * w, 0.1)),
    "nu_svr": problems.nu_svr(z, 2 * w, 0.6),
}


def feasible(problem, b):
    inside = np.all((b >= problem.lower) & (b <= problem.upper))
    sums = [
        np.isclose(b[problem.group == g].sum(), problem.start[problem.group == g].sum())
        for g in range(problem.groups)
    ]
    return inside and all(sums)


@pytest.mark.parametrize("name", ALL)
def test_start_is_feasible(name):
    problem = ALL[name]
    assert feasible(problem, problem.start)
    assert np.all(np.diff(problem.group) >= 0), "groups are contiguous"


@pytest.mark.parametrize("name", ALL)
def test_any_guess_becomes_feasible(name):
    problem = ALL[name]
    for scale in (0.0, 1e-3, 1.0, 100.0):
        guess = scale * rng.normal(size=len(problem.linear))
        assert feasible(problem, problems.feasible_start(problem, guess))
    assert np.allclose(problems.feasible_start(problem, problem.start), problem.start)


def test_sums_of_the_table():
    """The right-hand sides of the table at the top of kernel/problems.py."""
    nu = ALL["nu_svc"]
    assert nu.start[nu.group == 0].sum() == pytest.approx(0.3 * w.sum() / 2)
    assert nu.start[nu.group == 1].sum() == pytest.approx(-0.3 * w.sum() / 2)
    assert ALL["one_class"].start.sum() == pytest.approx(0.4 * w.sum())
    assert ALL["nu_svr"].start[:n].sum() == pytest.approx(0.6 * (2 * w).sum() / 2)
    assert np.array_equal(ALL["squared"].ridge, 1 / (2 * 3 * w))


def test_fill():
    assert problems.fill(2.5, np.ones(4)).tolist() == [1.0, 1.0, 0.5, 0.0]
    assert problems.fill(0.0, np.ones(2)).tolist() == [0.0, 0.0]


def test_largest_nu():
    assert problems.largest_nu(np.array([1.0, -1.0, -1.0]), np.ones(3)) == pytest.approx(2 / 3)


def test_the_unit_of_weights_is_a_power_of_two_near_their_mean():
    for weight, exponent in (
        ([1.0, 1.0], 0),
        ([4.0, 0.0], 1),
        ([3.0, 3.0, 0.001], 1),
        ([1e-3, 5e-4], -10),
        ([1.7e308, 1.7e308], 1023),
        ([5e-324, 5e-324], -1022),
    ):
        assert problems.weight_unit(np.array(weight)) == 2.0**exponent


def test_bounds_beyond_float64_are_refused():
    weight = np.array([1.0, 4.0])
    assert problems.bounds(2.0, weight).tolist() == [2.0, 8.0]
    assert problems.bounds(np.inf, weight).tolist() == [np.inf, np.inf]
    assert len(problems.bounds(2.0, weight[:0])) == 0
    with pytest.raises(
        ValueError, match=r"beyond float64: C=1e\+308, and the greatest weight is 4"
    ):
        problems.bounds(1e308, weight)
    for C, squared in ((5e-324, False), (2.0**-1025, True)):
        with pytest.raises(
            ValueError, match=r"too small for float64: C=.*, and the least positive weight is 0.25"
        ):
            problems.bounds(C, np.array([0.25, 1.0]), squared)
    assert problems.bounds(2.0**-1024, np.ones(1), False).tolist() == [2.0**-1024]
    with pytest.raises(ValueError, match="too small"):
        problems.bounds(2.0**-1024, np.ones(1), True)
    assert problems.bounds(2.0**-1023, np.ones(1), True).tolist() == [2.0**-1023]
