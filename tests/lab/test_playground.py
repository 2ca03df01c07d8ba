"""The playground: editing points by pointer, touch and keys, undo, CSV, links, the table."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from playground import Playground

import needs

needs.package("playwright")
EMPTY = "?points=0&box=-2,2,-1.5,1.5"
FOUR = [(-1.0, -0.5, 0), (-0.5, 0.5, 0), (0.5, -0.5, 1), (1.0, 0.5, 1)]
CSV = "x1,x2,class\n" + "\n".join(f"{x},{y},{k}" for x, y, k in FOUR)


@pytest.fixture
def play(open_lab):
    """A function that opens the playground."""
    return lambda state="", **options: Playground(open_lab(f"#/play{state}", **options))


@pytest.fixture
def four(play):
    """The playground with four points and a linear kernel."""
    lab = play(f"{EMPTY}&kernel=linear")
    paste(lab, CSV)
    return lab


def paste(lab, text):
    """Paste CSV."""
    lab.page.get_by_role("button", name="Paste CSV").click()
    lab.page.get_by_label("CSV", exact=True).fill(text)
    lab.page.get_by_role("button", name="Use these points").click()


# Pointer and touch.


def test_clicks_add_points_of_the_chosen_class_and_undo_takes_them_back(play):
    lab = play(EMPTY)
    assert lab.page.locator(".hint").inner_text().startswith("Click or tap")
    lab.click(-1, -1)
    assert "second class" in lab.page.locator(".results").inner_text()
    lab.page.get_by_title("Class 2").click()
    lab.click(1, 1)
    assert_allclose(lab.shown().points, [[-1, -1, 0], [1, 1, 1]], atol=5e-3)
    assert lab.result("Support vectors") == "2 of 2"
    lab.page.get_by_role("button", name="Undo").click()
    assert lab.shown() is None
    lab.page.get_by_role("button", name="Redo").click()
    assert len(lab.shown().points) == 2
    lab.page.get_by_role("button", name="Clear").click()
    assert lab.count(".layer-points .glyph") == 0


def test_a_drag_moves_a_point_and_is_one_step_of_undo(four):
    four.drag((0.5, -0.5), (0.9, 0.1), (1.1, -0.4))
    assert_allclose(four.shown().points[2], [1.1, -0.4, 1], atol=0.01)
    four.page.keyboard.press("Control+z")
    assert_allclose(four.shown().points, FOUR)


def test_a_point_cannot_leave_the_frame(four):
    four.drag((1.0, 0.5), (40.0, 0.5))
    x, y, _ = four.shown().points[3]
    assert 1.0 < x < 2.5
    assert y == pytest.approx(0.5, abs=0.01)


def test_paint_scatters_points_and_erase_removes_them(play):
    lab = play(EMPTY)
    lab.page.get_by_role("radio", name="Paint").check()
    lab.drag((-1.5, 1.0), (1.5, 1.0))
    lab.page.get_by_title("Class 3").click()
    lab.drag((-1.5, -1.0), (1.5, -1.0))
    points = lab.shown().points
    upper, lower = points[points[:, 2] == 0], points[points[:, 2] == 2]
    assert min(len(upper), len(lower)) > 8
    assert abs(upper[:, 1].mean() - 1) < 0.1
    assert upper[:, 0].max() - upper[:, 0].min() > 2.5
    lab.page.get_by_role("radio", name="Erase").check()
    for height in (0.7, 0.85, 1.0, 1.15, 1.3):
        lab.drag((-1.9, height), (1.9, height))
    assert lab.count(".layer-points .glyph.class-0") < 3
    assert lab.count(".layer-points .glyph.class-2") == len(lower)


def test_touch_on_a_phone_and_no_page_wider_than_the_screen(play):
    for size in ((390, 844), (360, 640)):
        lab = play(EMPTY, size=size, touch=True)
        lab.page.touchscreen.tap(*lab.pixel(-1, 0))
        lab.page.get_by_title("Class 2").tap()
        lab.page.touchscreen.tap(*lab.pixel(1, 0))
        assert_allclose(lab.shown().points, [[-1, 0, 0], [1, 0, 1]], atol=0.02)
        wide = lab.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= size[0]


# Keys.


def test_keys_move_add_and_remove_points(four):
    four.plot.focus()
    press = four.page.keyboard.press
    press(".")
    press("ArrowRight")
    moved = four.shown().points[0]
    assert -1 < moved[0] < -0.95
    assert moved[1] == -0.5
    press("Shift+ArrowUp")
    assert four.shown().points[0][1] > -0.45
    press("2")
    press("c")
    assert four.shown().points[0][2] == 1
    press("Delete")
    assert len(four.shown().points) == 3
    press("5")
    press("Enter")
    added = four.shown().points[-1]
    assert added[2] == 4
    press("Control+z")
    assert len(four.shown().points) == 3
    press("?")
    assert "Arrow keys" in four.page.get_by_role("dialog").inner_text()


def test_keys_leave_fields_alone(four):
    field = four.page.locator(".field:visible", has_text="Price").locator("input.number")
    field.click()
    four.page.keyboard.press("Delete")
    four.page.keyboard.press("Control+z")
    assert_allclose(four.shown().points, FOUR)


# Parameters.


def test_sliders_move_in_decades_and_fields_take_numbers(four):
    slider = four.page.get_by_role("slider", name="Price of a slack")
    slider.focus()
    for _ in range(20):
        slider.press("ArrowRight")
    assert "C=10&" in four.link()
    four.number("Price of a slack", 250)
    assert "C=250&" in four.link()
    four.number("Price of a slack", "-1")
    assert four.page.get_by_role("alert").first.inner_text().startswith("A number from 0.001")
    assert "C=250&" in four.link()


def test_sigma_and_gamma_are_two_names_of_one_width(play):
    lab = play("?set=moons&gamma=2")
    before = lab.shown().primal
    lab.page.get_by_role("checkbox", name="Width").check()
    assert lab.page.get_by_role("slider", name="Width").get_attribute("aria-valuetext") == "0.5"
    assert lab.shown().primal == before
    lab.number("Width", 1)
    assert "gamma=0.5&" in lab.link()


def test_a_machine_brings_data_that_suit_it_but_keeps_own_points(play, four):
    lab = play("?set=moons")
    lab.choose("Machine", "eps-svr")
    assert "set=sine" in lab.link()
    lab.choose("Machine", "one-class")
    assert "set=outliers" in lab.link()
    four.choose("Machine", "eps-svr")
    assert_allclose(four.shown().points, FOUR)


def test_a_machine_without_a_solution_says_why(play):
    lab = play("?set=gaussians&kernel=linear&machine=hard-margin")
    assert lab.shown() is None
    assert "No hyperplane separates" in lab.page.locator(".results").inner_text()
    lab.page.get_by_role("radio", name="RBF").check()
    lab.number("Kernel scale", 50)
    assert lab.shown().status == "optimal"


# CSV.


def test_csv_goes_out_and_comes_back(four, play):
    text = four.copied("Copy CSV")
    assert text.splitlines()[:2] == ["x1,x2,class", "-1,-0.5,0"]
    other = play(EMPTY)
    paste(other, text)
    assert_allclose(other.shown().points, FOUR)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no point"),
        ("x1,x2,class\n", "no point"),
        ("1,2,0\n3,four,1", "Line 2: “four” is not a number"),
        ("1,2,0\n3,,1", "Line 2: “” is not a number"),
        ("1\n2", "Line 1 has 1 columns"),
        ("1,2,3,4", "Line 1 has 4 columns"),
        ("1e9,2,0", "larger than a million"),
        ("\n".join(f"{i},0,{i}" for i in range(6)), "6 classes"),
        ("\n".join("0,0,1" for _ in range(1001)), "1001 points"),
    ],
)
def test_bad_csv_is_refused_with_its_line(play, text, message):
    lab = play(EMPTY)
    paste(lab, text)
    assert message in lab.page.get_by_role("dialog").get_by_role("alert").inner_text()
    assert lab.count(".layer-points .glyph") == 0


def test_csv_of_other_programs(play):
    lab = play(EMPTY)
    paste(lab, "# a comment\r\na;b;label\r\n1.25;2;setosa\r\n\r\n-1;0;versicolor\r\n")
    assert_allclose(lab.shown().points, [[1.25, 2, 0], [-1, 0, 1]])
    paste(lab, "0 0 -1\n1 1 1")
    assert_allclose(lab.shown().points, [[0, 0, 0], [1, 1, 1]])


# Links.


@pytest.mark.parametrize(
    "state",
    [
        "?machine=c-svc&kernel=poly&C=3&gamma=0.5&coef0=-0.5&degree=4&slacks=yes&set=rings&n=40"
        "&noise=0.2&seed=7",
        "?machine=nu-svc&kernel=rbf&nu=0.2&gamma=2&multiclass=ovr&part=1&set=three&n=30"
        "&noise=0.3&seed=2",
        "?machine=eps-svr&kernel=rbf&C=2&epsilon=0.1&gamma=1&margins=no&set=sine&n=50&noise=0.1"
        "&seed=3",
        "?machine=c-svc&kernel=linear&C=5&set=revisited",
    ],
)
def test_a_link_holds_what_is_shown(play, state):
    first = play(state)
    before = first.shown()
    assert first.link() == f"#/play{state}"
    again = play(first.link().removeprefix("#/play"))
    assert_allclose(again.shown().points, before.points, rtol=0)
    assert again.shown().primal == before.primal


def test_a_link_holds_own_points_in_a_few_letters_each(play):
    random = np.random.default_rng(5)
    points = np.round(random.normal(size=(300, 2)), 3)
    text = "\n".join(f"{x},{y},{i % 3}" for i, (x, y) in enumerate(points))
    lab = play(EMPTY)
    paste(lab, text)
    link = lab.link()
    assert len(link) < 300 * 9 + 200
    again = play(link.removeprefix("#/play"))
    assert_allclose(again.shown().points[:, :2], points, rtol=0, atol=0)
    assert_allclose(again.shown().points[:, 2], np.arange(300) % 3)


@pytest.mark.parametrize(
    "state",
    [
        "?points=3~0ABC",
        "?points=%E2%82%AC&C=abc&gamma=-3&degree=1e99",
        "?points=7~0AAAA&set=nothing&machine=perceptron",
        "?points=0~9AAAA",
        "?points=0~0" + "g" * 40 + "A",
        "?box=1,2,3&points=0~0AACA~1EEGG",
        "?set=revisited&n=Infinity&noise=NaN&part=99",
    ],
)
def test_a_broken_link_shows_the_playground_all_the_same(play, state):
    lab = play(state)
    assert len(lab.shown().points) >= 2


# The table and the look.


def test_the_table_lists_the_conditions_and_lights_up_with_its_point(four):
    four.page.get_by_text("Optimality conditions").click()
    rows = four.page.locator(".kkt tbody tr")
    four.shown()
    assert rows.count() == 4
    assert rows.locator("td:last-child").all_inner_texts() == ["0"] * 4
    rows.nth(3).hover()
    assert four.count(".layer-marks .hovered") == 1
    four.page.mouse.move(*four.pixel(-0.5, 0.5))
    four.page.wait_for_selector(".kkt tr.hovered")
    assert rows.nth(1).get_attribute("class") == "hovered"
    assert four.page.locator(".readout").inner_text().startswith("point 2: a = ")
    four.page.get_by_role("button", name="y f(x)").click()
    values = [float(v) for v in four.page.locator(".kkt tbody td:nth-child(3)").all_inner_texts()]
    assert values == sorted(values, reverse=True)
    four.page.get_by_role("button", name="y f(x)").click()
    assert four.page.locator("th[aria-sort=ascending]").count() == 1


def test_light_dark_and_what_screen_readers_hear(play):
    lab = play("?set=revisited&kernel=linear&C=5", dark=True)
    lab.shown()
    theme = "document.documentElement.dataset.theme"
    assert lab.page.evaluate(theme) == "dark"
    lab.page.get_by_role("button", name="Dark colours").click()
    assert lab.page.evaluate(theme) == "light"
    heard = lab.page.locator("[aria-live]").inner_text()
    assert heard.startswith("Optimal: ")
    assert "sum of slacks 7.07" in heard
    assert "20 points" in lab.plot.get_attribute("aria-label")
