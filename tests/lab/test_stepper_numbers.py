"""The algorithms of the stepper: their numbers are the textbook's, and their end is optimal."""

import warnings

import numpy as np
import pytest
from stepper import run

from maxmargin import SVC, LinearSVC, textbook

SETTINGS = [
    {"data": "revisited", "C": 1},
    {"data": "revisited", "C": 50},
    {"data": "revisited", "kernel": "rbf", "gamma": 2, "C": 10},
    {"data": "moons", "kernel": "rbf", "gamma": 1, "C": 10},
    {"data": "xor", "kernel": "poly", "gamma": 1, "degree": 2, "C": 1},
    {"data": "three", "C": 3},
]
SETTING = pytest.mark.parametrize("setting", SETTINGS, ids=str)
TOL, DRAWS = 1e-3, 600
SLIDE = {
    "E_i": "E_i",
    "E_j": "E_j",
    "eta": "eta",
    "L": "L",
    "H": "H",
    "a_j_unclipped": "unclipped",
    "a_i_new": "a_i",
    "a_j_new": "a_j",
    "b1": "b_i",
    "b2": "b_j",
}
"""Names of the page, and the textbook's."""


def assert_same_steps(found, trace, shift=0, scale=1.0):
    """The page's steps are those of a trace; `shift` is the page's iteration of the trace's 0."""
    assert trace.steps
    for step in trace.steps:
        ours = found.steps[step.iteration + shift]
        np.testing.assert_allclose(ours["variables"], step.variables, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(ours["primal"], step.primal * scale, rtol=1e-8)
        np.testing.assert_allclose(ours["b"], step.b, rtol=1e-7, atol=1e-8)
        if not np.isnan(step.dual):
            np.testing.assert_allclose(ours["dual"], step.dual, rtol=1e-8, atol=1e-9)
            np.testing.assert_allclose(ours["violation"], step.violation, rtol=1e-6, atol=1e-8)


def assert_same_pairs(found, trace):
    """Each pair has the numbers of the slide."""
    for step in trace.steps:
        move = found.steps[step.iteration]["move"]
        if step.pair is None or move is None:
            continue
        assert (move["i"], move["j"]) == step.chosen
        for ours, theirs in SLIDE.items():
            value = getattr(step.pair, theirs)
            np.testing.assert_allclose(move[ours], value, rtol=1e-7, atol=1e-8, err_msg=ours)


@SETTING
@pytest.mark.parametrize("seed", [0, 3])
def test_simplified_smo_is_the_textbooks(solver, setting, seed):
    found = run(solver, algorithm="simplified", seed=seed, **setting)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it may stop early, and says so
        _, trace = textbook.simplified_smo(found.X, found.t, found.C, found.kernel, seed=seed)
    assert found.ending == "converged"
    assert len(found.steps) - 2 == trace.steps[-1].iteration
    assert_same_pairs(found, trace)
    assert_same_steps(found, trace)


@SETTING
@pytest.mark.parametrize("selection", ["maximal violating pair", "second order"])
def test_smo_is_the_textbooks(solver, setting, selection):
    algorithm = {"maximal violating pair": "smo-first", "second order": "smo-second"}[selection]
    found = run(solver, algorithm=algorithm, **setting)
    _, trace = textbook.smo(found.X, found.t, found.C, found.kernel, selection)
    assert len(found.steps) == len(trace)
    assert_same_pairs(found, trace)
    assert_same_steps(found, trace)


@pytest.mark.parametrize("order", ["cyclic", "permutation", "random"])
@pytest.mark.parametrize("constant", [0, 1])
def test_dual_coordinate_descent_is_the_textbooks(solver, order, constant):
    found = run(solver, algorithm=f"dual-{order}", data="revisited", seed=2, constant=constant)
    _, trace = textbook.dual_coordinate_descent(
        found.X, found.t, found.C, bool(constant), order=order, tol=TOL, seed=2
    )
    n = len(found.t)
    assert found.ending == "converged"
    assert len(found.steps) == n * len(trace) + 1
    for sweep, step in enumerate(trace.steps):
        ours = found.steps[n * (sweep + 1)]
        np.testing.assert_allclose(ours["variables"], step.variables, atol=1e-10)
        np.testing.assert_allclose(ours["primal"], step.primal, rtol=1e-9)
        np.testing.assert_allclose(ours["dual"], step.dual, rtol=1e-9)
        np.testing.assert_allclose(ours["violation"], step.violation, atol=1e-9)


@pytest.mark.parametrize("constant", [0, 1])
def test_pegasos_is_the_textbooks(solver, constant):
    found = run(solver, algorithm="pegasos", data="revisited", C=5, seed=4, constant=constant)
    n = len(found.t)
    _, trace = textbook.pegasos(
        found.X, found.t, 1 / (n * 5), DRAWS, bias=bool(constant), seed=4, trace=1
    )
    assert [step["move"]["i"] for step in found.steps[1:]] == [s.chosen[0] for s in trace.steps]
    assert_same_steps(found, trace, scale=n * 5)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_kernel_pegasos_is_the_textbooks(solver, kernel):
    found = run(solver, algorithm="kernel-pegasos", data="moons", kernel=kernel, C=2)
    n = len(found.t)
    _, trace = textbook.kernel_pegasos(
        found.X, found.t, 1 / (n * 2), found.kernel, DRAWS, seed=0, trace=1
    )
    assert_same_steps(found, trace, scale=n * 2)


@pytest.mark.parametrize("order", ["cyclic", "largest decrease"])
def test_coordinate_descent_is_the_textbooks(solver, order):
    algorithm = f"coordinate-{order.split()[0]}"
    found = run(solver, algorithm=algorithm, target="two", r=0.6)
    A = np.array([[1, 0.6], [0.6, 1]])
    _, trace = textbook.coordinate_descent(lambda w: 0.5 * w @ A @ w, [-0.9, 1.6], order=order)
    assert len(found.steps) > 10
    for ours, theirs in zip(found.steps, trace.steps, strict=False):
        np.testing.assert_allclose(ours["variables"], theirs.variables, atol=1e-6)
        np.testing.assert_allclose(ours["primal"], theirs.primal, atol=1e-9)


@pytest.mark.parametrize("order", ["cyclic", "largest decrease"])
def test_kernel_regression_is_the_textbooks(solver, order):
    algorithm = f"coordinate-{order.split()[0]}"
    setting = {"target": "regression", "data": "moons", "kernel": "rbf", "C": 1, "constant": 0}
    found = run(solver, algorithm=algorithm, **setting)
    _, trace = textbook.kernel_regression(found.X, found.t, 1.0, found.kernel, order=order, tol=TOL)
    assert len(found.steps) == len(trace)
    for ours, theirs in zip(found.steps, trace.steps, strict=True):
        np.testing.assert_allclose(ours["variables"], theirs.variables, atol=1e-9)
        np.testing.assert_allclose(ours["violation"], theirs.violation, atol=1e-9)


@SETTING
@pytest.mark.parametrize("algorithm", ["smo-first", "smo-second"])
def test_the_last_step_is_optimal(solver, setting, algorithm):
    found = run(solver, algorithm=algorithm, **setting)
    exact = SVC(C=found.C, kernel="precomputed", tol=1e-9).fit(found.K, found.t).certificate_
    last = found.steps[-1]
    assert last["dual"] <= exact.primal + 1e-9 * abs(exact.primal)
    assert last["primal"] >= exact.dual - 1e-9 * abs(exact.dual)
    # no margin is wrong by more than tol / 2, and each costs at most C
    assert last["primal"] - last["dual"] <= len(found.t) * found.C * TOL / 2 + 1e-9
    assert last["violation"] <= TOL


def test_the_last_step_without_b_is_optimal(solver):
    found = run(solver, algorithm="dual-permutation", data="revisited", C=1)
    exact = LinearSVC(C=1, loss="hinge", intercept="regularised", tol=1e-8)
    certificate = exact.fit(found.X, found.t).certificate_
    last = found.steps[-1]
    assert last["dual"] <= certificate.primal + 1e-6
    assert last["primal"] >= certificate.dual - 1e-6
    assert last["primal"] - last["dual"] <= len(found.t) * TOL


def test_pegasos_comes_closer_to_the_optimum(solver):
    found = run(solver, algorithm="pegasos", data="revisited", C=1)
    distance = found.column("primal") - found.column("dual")
    assert distance.min() >= -1e-8
    assert np.median(distance[-100:]) < 0.1 * np.median(distance[1:100])


def test_a_method_that_chooses_its_pairs_needs_fewer_of_them(solver):
    simplified = run(solver, algorithm="simplified", data="xor", kernel="rbf")
    second = run(solver, algorithm="smo-second", data="xor", kernel="rbf")
    assert len(second.steps) < len(simplified.steps) / 2


def test_the_three_points_are_those_of_the_worked_example(solver):
    found = run(solver, algorithm="smo-first", data="three")
    exact = textbook.worked_example().steps
    assert len(found.steps) == len(exact) + 1
    for ours, step in zip(found.steps[1:], exact, strict=True):
        move = ours["move"]
        assert (move["i"], move["j"]) == (step.i, step.j)
        assert move["E_i"] - move["E_j"] == pytest.approx(float(step.E_i - step.E_j))
        for name, value in (("eta", step.eta), ("a_j_unclipped", step.unclipped)):
            assert move[name] == pytest.approx(float(value))
        for name, value in (("L", step.L), ("H", step.H), ("b1", step.b1), ("b2", step.b2)):
            assert move[name] == pytest.approx(float(value))
        assert ours["variables"] == pytest.approx([float(a) for a in step.a])
