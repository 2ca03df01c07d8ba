"""The stepper: forward and back, keyboard, address, formulas, races, what it copies and saves."""

import warnings
from urllib.parse import parse_qsl

import numpy as np
import pytest
from stepper import address, run, step_of

import needs

TOL = 1e-3
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


def test_the_playgrounds_points_can_be_stepped_through(open_lab):
    page = open_lab("#/play?machine=c-svc&kernel=linear&C=2&set=revisited")
    page.wait_for_function("window.lab.shown?.()?.fit.parts[0].rows.length === 20")
    primal = page.evaluate("window.lab.shown().fit.primal")
    page.get_by_role("button", name="Step through").click()
    shown = step_of(page)
    assert "data=own" in shown["hash"]
    page.get_by_role("button", name="To the end").click()
    assert "this is the optimum" in step_of(page)["words"]
    found = run(page, **dict(parse_qsl(shown["hash"].partition("?")[2])))
    assert primal == pytest.approx(found.steps[-1]["primal"], abs=20 * TOL)


def test_points_that_the_stepper_does_not_take_are_refused(open_lab):
    page = open_lab("#/play?machine=c-svc&kernel=rbf&set=three&n=30")
    page.wait_for_function("window.lab.shown?.()")
    page.get_by_role("button", name="Step through").click()
    page.get_by_text("first two classes").wait_for()


def test_the_points_of_the_stepper_can_be_changed(open_lab):
    page = open_lab(address(data="three", C=2))
    step_of(page)
    page.get_by_role("link", name="Change these points in the playground").click()
    page.wait_for_function("window.lab.shown?.()?.fit.parts[0].rows.length === 3")
    primal = page.evaluate("window.lab.shown().fit.primal")
    found = run(page, algorithm="smo-second", data="three", C=2)
    assert primal == pytest.approx(found.steps[-1]["primal"], abs=6 * TOL)


def test_each_step_is_the_slides_formula_with_numbers(open_lab):
    page = open_lab(address(algorithm="smo-first", data="three", step=2))
    shown = step_of(page)
    tex = page.eval_on_selector_all(
        ".step-work annotation", "nodes => nodes.map((node) => node.textContent).join('\\n')"
    )
    for part in (
        r"2\cdot0 - 0 - 1 = -1",
        r"0 - (-1)\cdot\frac{-1 - 1}{-1} \\ &= 2",
        r"\min(3,\, 3 + 0 - 2) = 1",
        r"\operatorname{clip}(2,\, 0,\, 1) = 1",
        r"2 - (-1)\cdot(1 - 0) = 3",
    ):
        assert part in tex
    assert "no pair disagrees more than these 2." in shown["words"]
    assert "above H = 1: it is clipped" in shown["words"]


@pytest.mark.parametrize(
    "params",
    [
        {"algorithm": "simplified", "step": 5},
        {"algorithm": "kernel-pegasos", "kernel": "rbf", "step": 40},
        {"algorithm": "coordinate-largest", "step": 3},
        {"algorithm": "dual-cyclic", "against": "pegasos", "step": 12},
    ],
    ids=lambda params: params["algorithm"],
)
def test_every_kind_of_page_fits_a_phone_and_is_accessible(open_lab, params):
    axe = needs.package("axe_playwright_python.sync_playwright")
    page = open_lab(address(**params), size=(360, 740), dark=True)
    step_of(page)
    page.get_by_text("Algorithm, data, kernel").click()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    found = axe.Axe().run(page).response["violations"]
    assert not [problem["help"] for problem in found]


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
