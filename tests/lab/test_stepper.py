"""The stepper: its numbers are the textbook's, its end is optimal, and it goes forward and back."""

import warnings

import numpy as np
import pytest
from stepper import address, run, step_of

from maxmargin import SVC, LinearSVC, textbook

SETTINGS = [
    {"data": "revisited", "C": 1},
    {"data": "revisited", "C": 50},
    {"data": "revisited", "kernel": "rbf", "gamma": 2, "C": 10},
    {"data": "moons", "kernel": "rbf", "gamma": 1, "C": 10},
    {"data": "xor", "kernel": "poly", "gamma": 1, "degree": 2, "C": 1},
    {"data": "three", "C": 1},
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


EACH_KIND = ["simplified", "smo-second", "dual-permutation", "pegasos", "kernel-pegasos"]


@pytest.mark.parametrize("algorithm", [*EACH_KIND, "coordinate-cyclic"])
def test_forward_and_back_give_the_same_state(open_lab, algorithm):
    page = open_lab(address(algorithm=algorithm, step=0))
    forward = page.get_by_role("button", name="Forward")
    seen = [step_of(page)]
    for _ in range(5):
        forward.click()
        seen.append(step_of(page))
    assert len({shown["hash"] for shown in seen}) == 6
    assert len({shown["words"] for shown in seen}) == 6
    page.get_by_role("button", name="To the end").click()
    end = step_of(page)
    assert end["count"].split()[1] == end["count"].split()[3]
    page.get_by_role("slider", name="Step").fill("5")
    for shown in reversed(seen):
        assert step_of(page) == shown
        if shown["count"] != seen[0]["count"]:
            page.get_by_role("button", name="Back").click()


def test_the_keyboard(open_lab):
    page = open_lab(address(algorithm="smo-first", data="moons", kernel="rbf"))
    step_of(page)

    def press(key):
        page.keyboard.press(key)
        return int(step_of(page)["count"].split()[1])

    assert [press(key) for key in ("ArrowRight", "ArrowRight", "ArrowLeft")] == [1, 2, 1]
    end = press("End")
    assert end > 5
    assert [press("ArrowRight"), press("Home"), press("ArrowLeft")] == [end, 0, 0]
    page.keyboard.press(" ")
    page.wait_for_function("document.querySelector('.step-count').textContent.startsWith('Step 3')")
    stopped = press(" ")
    page.wait_for_timeout(800)
    assert int(step_of(page)["count"].split()[1]) == stopped
    page.get_by_label("Price of slack").first.focus()
    assert press("Home") == stopped  # a field keeps its keys


def test_the_address_holds_the_state(open_lab):
    first = {"algorithm": "smo-second", "data": "moons", "kernel": "rbf", "gamma": 3, "C": 7}
    page = open_lab(address(**first, step=4))
    shown = step_of(page)
    assert shown["count"].startswith("Step 4 of")
    assert page.get_by_label("Gamma", exact=False).first.input_value() in ("3", "19")
    other = open_lab(shown["hash"])
    assert step_of(other) == shown
    page.get_by_label("Kernel", exact=True).select_option("linear")
    changed = step_of(page)
    assert "kernel=linear" in changed["hash"]
    assert changed["count"].startswith("Step 0 of")


def test_a_broken_address_gives_the_defaults(open_lab):
    page = open_lab("#/step?algorithm=nonsense&data=own&points=%%%&C=-5&step=1e99&against=x")
    shown = step_of(page)
    assert "algorithm=simplified" in shown["hash"]
    assert "data=revisited" in shown["hash"]
    assert "against" not in shown["hash"]


def test_points_of_one_class_are_an_error_that_says_what_to_do(open_lab):
    page = open_lab("#/step?data=own&points=0~1CCEE")
    page.get_by_text("points of both classes").wait_for()


def test_the_points_of_the_playground_come_along(open_lab):
    page = open_lab(address(data="three", C=2))
    step_of(page)
    page.get_by_role("link", name="Change these points in the playground").click()
    page.wait_for_function("window.lab.shown()?.fit.parts[0].rows.length === 3")
    primal = page.evaluate("window.lab.shown().fit.primal")
    found = run(page, algorithm="smo-second", data="three", C=2)
    assert primal == pytest.approx(found.steps[-1]["primal"], abs=6 * TOL)


def test_each_step_is_the_slides_formula_with_numbers(open_lab):
    page = open_lab(address(algorithm="simplified", data="three", step=2))
    shown = step_of(page)
    tex = page.eval_on_selector_all(
        ".step-work annotation", "nodes => nodes.map((node) => node.textContent).join('\\n')"
    )
    for part in (
        r"2\cdot0 - 1 - 4 = -5",
        r"0.4 - (-1)\cdot\frac{-3.2 - 0}{-5}",
        r"\operatorname{clip}(1.04,\, 0.4,\, 1) = 1",
        r"0 - (-1)\cdot(1 - 0.4) = 0.6",
    ):
        assert part in tex
    assert "Point 2 (class +1) violates its condition by 3.2" in shown["words"]
    assert "clipped" in shown["words"]


def test_a_race(open_lab):
    params = {"data": "xor", "kernel": "rbf", "algorithm": "simplified", "against": "smo-second"}
    page = open_lab(address(**params, step=12))
    shown = step_of(page)
    assert "B (SMO, second order) is ahead" in shown["words"]
    table = page.locator(".step-board table").inner_text()
    runs = [run(page, **{**params, "algorithm": key}) for key in ("simplified", "smo-second")]
    for found in runs:
        assert str(found.steps[12]["evaluations"]) in table
    page.get_by_role("radio", name="Kernel values").check()
    page.get_by_role("slider", name="Step").fill("300")
    shown = step_of(page)
    assert shown["count"].startswith("Kernel value 300 of")
    last = [max(k for k, step in enumerate(r.steps) if step["evaluations"] <= 300) for r in runs]
    table = page.locator(".step-board table").inner_text()
    for at, found in zip(last, runs, strict=True):
        assert f"{at} of {len(found.steps) - 1}" in table
    page.get_by_role("button", name="To the end").click()
    assert "have finished" in step_of(page)["words"]


def test_only_methods_for_the_same_problem_race(open_lab):
    page = open_lab(address(algorithm="coordinate-cyclic", against="smo-second"))
    assert "against" not in step_of(page)["hash"]
    names = page.get_by_label("Race against").locator("option").all_inner_texts()
    assert names == ["Nobody", "Coordinate descent, largest decrease"]


PYTHON = [
    {"algorithm": "simplified", "seed": 1},
    {"algorithm": "smo-first", "data": "moons", "kernel": "rbf", "gamma": 2},
    {"algorithm": "smo-second", "data": "xor", "kernel": "poly", "gamma": 0.5, "degree": 3},
    {"algorithm": "dual-random", "seed": 3},
    {"algorithm": "pegasos", "C": 3},
    {"algorithm": "kernel-pegasos", "data": "rings", "kernel": "rbf"},
    {"algorithm": "coordinate-largest", "target": "two", "r": 0.3},
    {"algorithm": "coordinate-cyclic", "target": "regression", "kernel": "rbf", "data": "moons"},
]


@pytest.mark.parametrize("params", PYTHON, ids=lambda params: params["algorithm"])
def test_the_copied_program_makes_the_same_trace(open_lab, params):
    page = open_lab(address(**params, step=5))
    step_of(page)
    page.get_by_role("button", name="Copy as Python").click()
    page.get_by_text("Python copied").wait_for()
    made = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # simplified SMO may stop early
        exec(page.evaluate("navigator.clipboard.readText()"), made)
    found, trace = run(page, **params), made["trace"]
    whole = len(found.t) if params["algorithm"].startswith("dual") else None
    theirs = trace.steps[0] if whole else next(s for s in trace.steps if s.iteration == 5)
    ours = found.steps[whole or 5]
    np.testing.assert_allclose(ours["variables"], theirs.variables, rtol=1e-6, atol=1e-6)


def test_pictures_can_be_saved(open_lab, tmp_path):
    page = open_lab(address(algorithm="simplified", step=3))
    step_of(page)
    for kind, start in (("SVG", b"<?xml"), ("PNG", b"\x89PNG")):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"{kind} of the picture: The box").click()
        saved = tmp_path / download.value.suggested_filename
        download.value.save_as(saved)
        assert saved.suffix == f".{kind.lower()}"
        assert saved.read_bytes().startswith(start)
