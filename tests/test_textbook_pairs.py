"""The pages of SMO: what the slide computes for a pair, progress at any C, and the printed sums."""

import re
import warnings

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from maxmargin import SVC, textbook
from maxmargin.textbook.data import SUMS_OF_SLACKS, twenty_points
from maxmargin.textbook.pair import snap, update_pair
from maxmargin.textbook.soft_margin import bias_of_free
from maxmargin.textbook.trace import kkt_violation

RBF = textbook.kernels.rbf(0.7)
ALGORITHMS = {
    "simplified": textbook.simplified_smo,
    "second order": textbook.smo,
    "maximal violating pair": lambda *args, **options: textbook.smo(
        *args, selection="maximal violating pair", **options
    ),
}


def overlapping():
    random = np.random.default_rng(0)
    y = np.repeat([-1, 1], 20)
    return random.normal(size=(40, 2)) + 0.9 * y[:, None], y


@pytest.mark.parametrize("C", SUMS_OF_SLACKS)
def test_the_printed_sums_of_slacks(C):
    """6.37, 7.07 and 10.58: the only numbers that a lecture prints."""
    X, y = twenty_points()
    machines = (
        textbook.soft_margin_qp(X, y, C=C)[0],
        textbook.smo(X, y, C=C, tol=1e-8)[0],
        SVC(kernel="linear", C=C, tol=1e-8).fit(X, y),
    )
    for machine in machines:
        total = float(np.maximum(0, 1 - y * machine.decision_function(X)).sum())
        assert round(total, 2) == SUMS_OF_SLACKS[C]


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("C", [0.3, 20.0])
def test_each_step_keeps_what_the_slide_has(name, C):
    """Recompute every number of every step from the state before it."""
    X, y = overlapping()
    _, trace = ALGORITHMS[name](X, y, C=C, kernel=RBF)
    K, a = RBF(X, X), np.zeros(len(y))
    seen = {"clipped": 0, "free": 0}
    for step in trace.steps:
        if step.pair is None:
            assert step.iteration == 0
            continue
        i, j, E_i, E_j, eta, L, H, unclipped, a_i, a_j, b_1, b_2, b = step.pair
        assert step.chosen == (i, j)
        values = K @ (a * y)
        assert E_i - E_j == pytest.approx(values[i] - y[i] - values[j] + y[j], abs=1e-9)
        assert eta == pytest.approx(-(np.linalg.norm([1, -1]) ** 2) * (1 - K[i, j]))
        assert unclipped == pytest.approx(a[j] - y[j] * (E_i - E_j) / eta)
        ends = [a[i] + a[j] - C, a[i] + a[j]] if y[i] == y[j] else [a[j] - a[i], C + a[j] - a[i]]
        assert pytest.approx((max(0, ends[0]), min(C, ends[1])), abs=1e-12) == (L, H)
        seen["clipped" if not L < unclipped < H else "free"] += 1
        a[i] -= y[i] * y[j] * (np.clip(unclipped, L, H) - a[j])
        a[j] = np.clip(unclipped, L, H)
        np.testing.assert_allclose(step.variables, a, atol=1e-9 * C)
        np.testing.assert_allclose([a_i, a_j], step.variables[[i, j]], atol=1e-12 * C)
        after = step.variables * y
        assert b_1 == pytest.approx(y[i] - K[i] @ after, abs=1e-8)  # where y(x_i) = t_i
        assert b_2 == pytest.approx(y[j] - K[j] @ after, abs=1e-8)
        free = [b for b, m in ((b_1, a_i), (b_2, a_j)) if 0 < m < C]
        assert b == pytest.approx(free[0] if free else (b_1 + b_2) / 2, abs=1e-12)
        a = step.variables.copy()
    assert min(seen.values()) > 0


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_printed_step_shows_the_slide(name):
    X, y = overlapping()
    _, trace = ALGORITHMS[name](X, y, C=1.0)
    text = str(trace.steps[2])
    for name, value in (("E_i", 4), ("eta", 4), ("L", 4), ("b1", 4), ("b2", 4)):
        assert re.search(rf"\b{name} = -?[\d.e-]{{1,{value + 9}}}", text), (name, text)
    assert f"step {trace.steps[2].iteration}, moved " in text
    assert "clipped to [L, H]" in text
    assert "dual" not in str(textbook.pegasos(X, y, steps=200)[1].steps[0])


@pytest.mark.parametrize(
    ("kernel", "C"),
    [*((k, C) for k in ("linear", "rbf") for C in (1e-5, 1e-3, 1.0, 100.0)), ("rbf", 1000.0)],
)
def test_simplified_smo_makes_progress_at_any_price(kernel, C):
    X, y = make_moons(40, noise=0.3, random_state=0)
    y = 2 * y - 1
    function, options = {
        "linear": (textbook.kernels.linear, {"kernel": "linear"}),
        "rbf": (RBF, {"gamma": 0.7}),
    }[kernel]
    best = SVC(C=C, tol=1e-8, **options).fit(X, y).certificate_.primal
    for seed in range(3):
        model, trace = textbook.simplified_smo(X, y, C=C, kernel=function, seed=seed, trace=10**9)
        last = trace.steps[-1]
        assert last.violation <= 1e-3
        assert last.primal == pytest.approx(best, rel=0.01)
        bound = model.alpha[model.alpha > (1 - 1e-9) * C]
        assert np.array_equal(bound, np.full(len(bound), C))  # on the bound, not beside it
        exact = SVC(C=C, tol=1e-8, **options).fit(X, y)
        assert len(model.support) <= len(exact.support_) + 3


def test_simplified_smo_says_when_it_stops_early():
    X, y = overlapping()
    for C in (1e3, 1e5, 1e8):
        with pytest.warns(ConvergenceWarning, match="max_sweeps=300"):
            model, _ = textbook.simplified_smo(X, y, C=C, max_sweeps=300)
        assert len(model.support) > 2
    with pytest.warns(ConvergenceWarning, match="larger max_passes"):
        textbook.simplified_smo(X, y, C=0.1, max_passes=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        textbook.simplified_smo(X, y, C=0.1)


def test_multipliers_within_rounding_of_a_bound_are_moved_onto_it():
    assert snap(1e-14, 1.0, 0.5, 2.0) == 0.0
    assert snap(1e-14, 1e-13, 0.0, 2.0) == 1e-14
    assert snap(2.0 - 1e-13, 1.0, 0.5, 2.0) == 2.0
    assert snap(3.0, 1.0, 0.5, np.inf) == 3.0


def test_equal_points_of_two_labels_have_a_line_instead_of_a_parabola():
    """eta = 0: the best of [L, H] is an end, here C."""
    X, t = np.array([[1.0], [1.0]]), np.array([1.0, -1.0])
    pair = update_pair(0, 1, X @ X.T, t, np.zeros(2), 0.0, 2.0)
    assert (pair.eta, pair.unclipped, pair.a_i, pair.a_j) == (0.0, np.inf, 2.0, 2.0)


def test_the_weights_of_the_mean_are_the_distances_from_the_bounds():
    K, t, a = np.eye(3), np.array([1.0, -1.0, 1.0]), np.array([0.5, 0.9, 0.1])
    single = t - K @ (a * t)
    assert bias_of_free(K, t, a, 1.0) == pytest.approx(single @ [0.5, 0.1, 0.1] / 0.7)


def test_violation_of_a_point_at_its_bound_counts_one_side_only():
    assert kkt_violation(np.array([0.0, 2.0]), np.array([3.0, -1.0]), 2.0) == 0.0
    assert kkt_violation(np.array([1e-9, 2.0]), np.array([3.0, -1.0]), 2.0) == 2.0
