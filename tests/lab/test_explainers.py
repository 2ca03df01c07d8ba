"""The explainers: every number on their pages is what maxmargin or NumPy computes."""

import re
from contextlib import nullcontext
from math import comb
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from playground import Playground
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel, sigmoid_kernel

import needs
from maxmargin import SVC, SVR, NuSVC, NuSVR, textbook
from maxmargin.textbook.cutting_planes import plane

needs.package("playwright")
MINUS = "\N{MINUS SIGN}"
SETTLED = 450
"""Milliseconds after which a page and its address show what a control asked for."""
NAMES = (
    "c",
    "losses",
    "lift",
    "gaussian",
    "matrix",
    "nu",
    "tube",
    "ambiguity",
    "growth",
    "planes",
    "transductive",
)


class Explainer:
    """A page with an explainer."""

    def __init__(self, page):
        self.page = page
        page.wait_for_selector("[data-key]")

    def settle(self):
        """Wait until the page and its address show what was asked for."""
        self.page.wait_for_timeout(SETTLED)

    def text(self, key):
        """A value of the list of numbers."""
        return self.page.locator(f"[data-key='{key}']").inner_text().replace(MINUS, "-")

    def value(self, key):
        """The first number of a value."""
        return float(re.search(r"[-+]?[\d.,]+(e-?\d+)?", self.text(key))[0].replace(",", ""))

    def all(self):
        """All values."""
        return self.page.locator("[data-key]").all_inner_texts()

    def type(self, label, value):
        """Type a number into the field of a slider."""
        field = self.page.locator(".field:visible", has_text=label).locator("input.number")
        field.fill(str(value))
        field.press("Enter")
        self.settle()

    def radio(self, name):
        """Choose one of several buttons."""
        self.page.get_by_role("radio", name=name, exact=True).check()
        self.settle()

    def press(self, selector, *keys):
        """Press keys in an element."""
        for key in keys:
            self.page.locator(selector).press(key)
        self.settle()

    def playground(self):
        """What the playground shows behind the link, and its points: coordinates and labels."""
        self.page.get_by_role("link", name="Open in the playground").click()
        shown = Playground(self.page).shown()
        return shown, shown.points[:, :2], shown.points[:, 2]


@pytest.fixture
def explain(open_lab):
    """A function that opens an explainer: explain("c", "C=5")."""
    return lambda name, state="", **options: Explainer(
        open_lab(f"#/explain/{name}?{state}", **options)
    )


def test_the_index_names_each_explainer_and_its_lecture(open_lab):
    page = open_lab("#/explain")
    links = page.locator(".explain-cards a")
    names = [link.get_attribute("href") for link in links.all()]
    assert names == [f"#/explain/{name}" for name in NAMES]
    sources = set(page.locator(".explain-source").all_inner_texts())
    lectures = textbook.lectures.LECTURES.values()
    assert sources <= {re.sub('"(.*)"', r"“\1”", str(lecture)) for lecture in lectures}
    links.first.click()
    page.get_by_role("heading", name="What C trades").wait_for()


@pytest.mark.parametrize("size", [(1280, 800), (360, 740)], ids=["desktop", "phone"])
@pytest.mark.parametrize("name", NAMES)
def test_pages_draw_their_pictures_and_fit_the_window(explain, name, size):
    lab = explain(name, size=size, dark=size[0] < 400)
    assert lab.page.locator("figure svg").count() >= 1
    assert lab.page.locator(".katex-error").count() == 0
    assert lab.page.evaluate("document.documentElement.scrollWidth") <= size[0]
    assert "NaN" not in lab.page.locator("main").inner_html()


# Soft margin.


@pytest.mark.parametrize(("C", "printed"), [(50, "6.37"), (5, "7.07"), (1, "10.58")])
def test_sums_of_slacks_are_those_the_lecture_prints(explain, C, printed):
    lab = explain("c", "C=0.3")
    lab.radio(f"C = {C}")
    X, y = textbook.data.twenty_points()
    model = SVC(kernel="linear", C=C, tol=1e-8).fit(X, y)
    slack = np.maximum(0, 1 - y * model.decision_function(X))
    assert lab.text("slack") == printed == f"{slack.sum():.2f}"
    assert lab.text("width") == f"{2 / np.linalg.norm(model.coef_):.3f}"
    assert lab.text("wrong") == f"{(slack > 1).sum()} of 20"
    assert lab.text("inside") == f"{((slack > 1e-6) & (slack <= 1)).sum()} of 20"
    drawn = lab.page.locator(".layer-values text").all_text_contents()
    assert sorted(drawn) == sorted(f"{xi:.2f}" for xi in slack if xi > 1e-6)


def test_a_click_in_the_curve_chooses_C(explain):
    lab = explain("c")
    lab.page.locator("figure svg").nth(1).click(position={"x": 120, "y": 60})
    lab.settle()
    chosen = float(re.search(r"C=([\d.]+)", lab.page.url)[1])
    X, y = textbook.data.twenty_points()
    model = SVC(kernel="linear", C=chosen, tol=1e-8).fit(X, y)
    assert_allclose(
        lab.value("slack"), np.maximum(0, 1 - y * model.decision_function(X)).sum(), atol=6e-3
    )


# Losses.


def test_losses_are_those_of_the_textbook(explain):
    f = np.array([2.4, 1.2, 0.5, -0.6, -2.1, -1.3, -0.4, 0.8])
    y = np.repeat([1, -1], 4)
    lab = explain("losses")
    for step in range(2):
        for key in ("zero_one", "hinge", "squared_hinge", "logistic"):
            assert_allclose(lab.value(key), getattr(textbook.losses, key)(y, f).sum(), rtol=6e-4)
        assert_allclose(lab.value("squared"), textbook.losses.squared_error(y, f).sum(), rtol=6e-4)
        if step == 0:
            handle = lab.page.get_by_role("slider", name="Sample 4, square")
            handle.press("Shift+ArrowLeft")
            lab.settle()
            f[3] -= 0.5


def test_a_sample_can_be_dragged(explain):
    lab = explain("losses", "f=1.00,2.00,2.50,3.00,-1.00,-2.00,-2.50,-3.00")
    assert lab.value("hinge") == 0
    box = lab.page.get_by_role("slider", name="Sample 5").locator(".grip").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    lab.page.mouse.move(x, y)
    lab.page.mouse.down()
    lab.page.mouse.move(x + 150, y, steps=5)
    lab.page.mouse.up()
    lab.settle()
    moved = float(lab.page.get_by_role("slider", name="Sample 5").get_attribute("aria-valuenow"))
    assert moved > 0
    assert_allclose(lab.value("hinge"), 1 + moved, atol=6e-3)


# Kernels.

LIFTS = {
    "product": lambda a, b: np.column_stack([a, b, a * b]),
    "squares": lambda a, b: np.column_stack([a, b, a**2 + b**2]),
    "quadratic": lambda a, b: np.column_stack([a**2, b**2, np.sqrt(2) * a * b]),
}


@pytest.mark.parametrize(
    ("points", "lift"),
    [("xor", "product"), ("xor", "squares"), ("rings", "squares"), ("rings", "quadratic")],
)
def test_the_plane_of_a_lift_is_the_linear_machine_in_space(explain, points, lift):
    lab = explain("lift", f"set={points}&lift={lift}")
    w = [float(part) for part in re.findall(r"[-+][\d.]+", lab.text("w"))]
    b, wrong, support = lab.value("b"), lab.value("wrong"), lab.value("support")
    apart = lab.value("apart") if lift == "quadratic" else 0
    _, X, y = lab.playground()
    phi = LIFTS[lift](*X.T)
    model = SVC(kernel="linear", C=10, tol=1e-8).fit(phi, y)
    assert_allclose(w, model.coef_[0], atol=6e-4)
    assert_allclose(b, model.intercept_[0], atol=6e-4)
    assert wrong == (model.predict(phi) != y).sum()
    assert (wrong > 0) == ((points, lift) == ("xor", "squares"))
    assert support == len(model.support_)
    assert apart < 1e-9


def test_keys_and_pointer_turn_the_space(explain):
    lab = explain("lift")
    scene = lab.page.locator("svg.scene")
    shapes = [scene.locator("polygon").get_attribute("points")]
    lab.press("svg.scene", "ArrowLeft")
    assert "turn=35" in lab.page.url
    shapes.append(scene.locator("polygon").get_attribute("points"))
    box = scene.bounding_box()
    lab.page.mouse.move(box["x"] + 200, box["y"] + 150)
    lab.page.mouse.down()
    lab.page.mouse.move(box["x"] + 200, box["y"] + 190, steps=4)
    lab.page.mouse.up()
    lab.settle()
    assert "tilt=40" in lab.page.url
    shapes.append(scene.locator("polygon").get_attribute("points"))
    assert len(set(shapes)) == 3


def test_weights_of_neighbours_are_those_of_the_model(explain):
    lab = explain("gaussian", "gamma=3&C=2&x=0.35&y=0.3")
    lab.press("svg.interactive", "ArrowUp")
    shown = {key: lab.value(key) for key in ("f", "up", "down", "b", "knn")}
    lab.page.locator("summary", has_text="The weights as a table").click()
    table = [
        [float(cell) for cell in row.replace(MINUS, "-").split("\t") if re.match(r"[-\d]", cell)]
        for row in lab.page.locator("tbody tr").all_inner_texts()
    ]
    assert "y=0.35" in lab.page.url
    _, X, y = lab.playground()
    model = SVC(gamma=3, C=2, tol=1e-10).fit(X, y)
    x = np.array([[0.35, 0.35]])
    weights = model.dual_coef_[0] * rbf_kernel(x, X[model.support_], gamma=3)[0]
    assert_allclose(shown["f"], model.decision_function(x)[0], atol=6e-4)
    assert_allclose(shown["up"], weights[weights > 0].sum(), atol=6e-4)
    assert_allclose(shown["down"], weights[weights < 0].sum(), atol=6e-4)
    assert_allclose(shown["b"], model.intercept_[0], atol=6e-4)
    order = np.argsort(-np.abs(weights))[:12]
    assert_allclose([row[-1] for row in table], weights[order], atol=6e-5)
    assert [row[1] for row in table] == list(model.support_[order] + 1)
    nearest = np.argsort(np.linalg.norm(X - x, axis=1))[:5]
    assert shown["knn"] == y[nearest].sum()


@pytest.mark.parametrize("kernel", ["rbf", "sigmoid"])
def test_eigenvalues_and_status_of_a_kernel_matrix(explain, kernel):
    lab = explain("matrix")
    lab.page.get_by_label("Kernel", exact=True).select_option(kernel)
    lab.type("Scale", 1.5)
    if kernel == "sigmoid":
        lab.type("Shift", -1)
    shown = {key: lab.value(key) for key in ("most", "least", "negative", "trace")}
    status = lab.text("status")
    lab.press("svg.interactive", "ArrowRight", "ArrowRight", "ArrowDown")
    entry = lab.value("entry")
    _, X, y = lab.playground()
    if kernel == "rbf":
        K, model = rbf_kernel(X, gamma=1.5), SVC(kernel="rbf", gamma=1.5)
    else:
        K = sigmoid_kernel(X, gamma=1.5, coef0=-1)
        model = SVC(kernel="sigmoid", gamma=1.5, coef0=-1)
    values = np.linalg.eigvalsh(K)
    assert_allclose(shown["most"], values[-1], rtol=1e-4)
    assert_allclose(shown["least"], values[0], rtol=1e-4, atol=1e-12)
    assert_allclose(shown["trace"], np.trace(K), rtol=1e-4)
    assert shown["negative"] == (values < -1e-12 * values[-1]).sum()
    indefinite = pytest.warns(ConvergenceWarning, match="not positive semidefinite")
    with indefinite if kernel == "sigmoid" else nullcontext():
        model.fit(X, y)
    assert status.split()[0] == model.certificate_.status
    assert (status.split()[0] == "stationary") == (kernel == "sigmoid")
    assert_allclose(entry, K[1, 2], rtol=1e-3)


# nu, and regression.


@pytest.mark.parametrize("nu", [0.1, 0.3, 0.55, 0.8])
@pytest.mark.parametrize("machine", [NuSVC, NuSVR])
def test_nu_lies_between_the_shares(explain, machine, nu):
    lab = explain("nu")
    if machine is NuSVR:
        lab.radio("Regression")
    lab.type("Share", nu)
    errors, support, order = lab.value("errors"), lab.value("support"), lab.text("order")
    found = lab.value("found")
    _, X, y = lab.playground()
    assert order == "holds"
    assert errors <= 50 * nu <= support
    if machine is NuSVC:
        model = NuSVC(nu=nu, gamma=1, tol=1e-9).fit(X, y)
        slack = 1 - (2 * y - 1) * model.decision_function(X)
        assert_allclose(found, np.abs(model.dual_coef_).max(), rtol=1e-3)
    else:
        x, z = X[:, :1], X[:, 1]
        model = NuSVR(nu=nu, gamma=1, C=10, tol=1e-9).fit(x, z)
        residuals = np.abs(z - model.predict(x))
        epsilon = residuals[model.support_][np.abs(model.dual_coef_[0]) < 9.999].mean()
        slack = residuals - epsilon
        assert_allclose(found, epsilon, rtol=1e-3)
    assert support == len(model.support_)
    assert errors == (slack > 1e-6).sum()


def test_the_tube_is_that_of_SVR_and_epsilon_follows_the_noise(explain):
    lab = explain("tube", "epsilon=0.3&C=3&gamma=0.8&noise=0.3")
    assert_allclose(lab.value("rule"), 3 * 0.3 * np.sqrt(np.log(40) / 40), atol=6e-4)
    lab.page.get_by_role("button", name="ε from the noise").click()
    lab.settle()
    keys = ("support", "outside", "slack", "primal")
    shown = {key: lab.value(key) for key in keys}
    epsilon = float(re.search(r"epsilon=([\d.]+)", lab.page.url)[1])
    assert epsilon == 0.273
    read, X, _ = lab.playground()
    x, z = X[:, :1], X[:, 1]
    model = SVR(gamma=0.8, C=3, epsilon=epsilon, tol=1e-9).fit(x, z)
    slack = np.maximum(0, np.abs(z - model.predict(x)) - epsilon)
    assert shown["support"] == len(model.support_)
    assert shown["outside"] == (slack > 1e-6).sum()
    assert_allclose(shown["slack"], slack.sum(), atol=6e-4)
    assert_allclose(shown["primal"], model.certificate_.primal, rtol=1e-4)
    assert_allclose(read.primal, model.certificate_.primal, rtol=1e-6)


# Several classes.


@pytest.mark.parametrize("points", ["three", "row", "uneven", "five"])
def test_regions_of_one_versus_rest_without_or_with_several_answers(explain, points):
    lab = explain("ambiguity", f"set={points}")
    none, several = lab.value("none"), lab.value("several")
    _, X, y = lab.playground()
    yes = sum((decision(X, y == k) > 0).astype(int) for k in range(int(y.max()) + 1))
    assert_allclose(none, 100 * np.mean(yes == 0), atol=0.06)
    assert_allclose(several, 100 * np.mean(yes > 1), atol=0.06)
    assert none + several > 1


@pytest.mark.parametrize("points", ["three", "uneven", "five"])
def test_ties_of_one_versus_one(explain, points):
    lab = explain("ambiguity", f"set={points}")
    lab.radio("One-versus-one")
    tied = lab.value("tied")
    _, X, y = lab.playground()
    classes = int(y.max()) + 1
    votes = np.zeros((classes, MIDDLES.shape[0]))
    for k in range(classes):
        for other in range(k + 1, classes):
            pair = np.isin(y, (k, other))
            wins = decision(X[pair], y[pair] == k) > 0
            votes[k] += wins
            votes[other] += ~wins
    most = (votes == votes.max(axis=0)).sum(axis=0)
    assert_allclose(tied, 100 * np.mean(most > 1), atol=0.06)


MIDDLES = np.stack(
    np.meshgrid(-2 + 4 * (np.arange(160) + 0.5) / 160, -1.5 + 3 * (np.arange(120) + 0.5) / 120),
    axis=-1,
).reshape(-1, 2)
"""Where the page looks for ambiguous answers."""


def decision(X, positive):
    """Decision values of a linear machine at the middles of the cells."""
    return SVC(kernel="linear", C=1, tol=1e-9).fit(X, positive).decision_function(MIDDLES)


def test_the_cross_tells_what_each_machine_says(explain):
    lab = explain("ambiguity", "x=-1.5&y=-1")
    says = [lab.text(f"f{k}").split(": ")[1] for k in range(3)]
    yes = says.count("yes")
    assert yes == 2
    assert lab.text("verdict").startswith("2 machines say yes")


# Growth.


def test_counts_of_primal_and_dual(explain):
    lab = explain("growth", "n=500")
    lab.type("Inputs", 7)
    lab.type("Degree", 3)
    lab.type("Epochs", 11)
    features = comb(10, 3) - 1
    assert lab.value("features") == features
    assert lab.value("primal") == 11 * 500 * features
    assert (lab.value("least"), lab.value("most")) == (500 * 7, 500**2 * 7)
    assert lab.value("crossing") == round(11 * features / 7)


def test_both_solvers_are_measured(explain):
    lab = explain("growth", "d=2&degree=2&epochs=30")
    lab.page.get_by_role("button", name="Measure in this page").click()
    lab.page.wait_for_selector("text=Measured N = 1000")
    lab.settle()
    primal, dual = lab.text("measured-primal"), lab.text("measured-dual")
    time, excess = re.fullmatch(r"([\d.]+) ms, ([-\d.]+) % above the optimum", primal).groups()
    assert 0 <= float(excess) < 5
    assert float(time) > 0
    assert float(re.fullmatch(r"([\d.]+) ms, optimal", dual)[1]) > 0


# Addresses.


@pytest.mark.parametrize(
    ("name", "label", "value"),
    [
        ("c", "Price of slack", 7.5),
        ("gaussian", "Narrowness", 12),
        ("lift", "Height", 0.5),
        ("matrix", "Scale", 0.2),
        ("nu", "Share", 0.41),
        ("tube", "Half width", 0.07),
        ("ambiguity", "Price of slack", 0.2),
        ("growth", "Inputs", 9),
    ],
)
def test_a_link_shows_the_same_page_again(explain, open_lab, name, label, value):
    lab = explain(name)
    before = lab.all()
    lab.type(label, value)
    changed = lab.all()
    if name != "lift":
        assert changed != before
    again = Explainer(open_lab("#" + lab.page.url.split("#")[1]))
    assert again.all() == changed
    field = again.page.locator(".field:visible", has_text=label).locator("input.number")
    assert float(field.input_value()) == value


def test_a_link_is_followed_even_while_the_address_is_written(explain):
    lab = explain("c")
    follow = """async () => {
        const [later, due] = [window.setTimeout, []];
        window.setTimeout = (run, ms) => due.push(run);
        document.querySelector("input[type=range]").dispatchEvent(new Event("input"));
        await new Promise((drawn) => requestAnimationFrame(() => later(drawn, 50)));
        window.setTimeout = later;
        location.hash = "#/explain/nu";
        for (const run of due) run();  // the page writes its address before it hears of the link
        await new Promise((done) => later(done, 500));
        return due.length;
    }"""
    assert lab.page.evaluate(follow) > 0
    assert lab.page.locator("h1").inner_text().endswith("promises")


def test_bad_states_give_the_defaults(explain):
    lab = explain("c", "C=nonsense")
    assert lab.text("slack") == "6.37"
    lab = explain("losses", "f=1,2,x&loss=none")
    assert lab.value("hinge") == 4.5


def test_pictures_are_saved(explain):
    lab = explain("matrix")
    with lab.page.expect_download() as info:
        lab.page.get_by_role("button", name="SVG").first.click()
    saved = info.value
    assert saved.suggested_filename == "maxmargin-matrix-1.svg"
    assert saved.path().read_text().count("<rect") > 24 * 24


@pytest.mark.parametrize("name", ["c", "nu", "ambiguity"])
def test_the_copied_program_fits_the_same_machine(explain, name, monkeypatch):
    lab = explain(name, "scheme=ovr")
    lab.page.get_by_role("button", name="Copy as Python").click()
    lab.page.wait_for_selector("text=Python copied.")
    program = lab.page.evaluate("navigator.clipboard.readText()")
    shown, *_ = lab.playground()
    monkeypatch.setattr("matplotlib.pyplot.show", lambda: None)
    names = {}
    exec(program, names)
    assert_allclose(names["model"].certificate_.primal, shown.primal, rtol=1e-6)


def test_wrong_nu_is_explained(explain):
    lab = explain("nu")
    lab.type("Share", 5)
    assert "from 0.02 to 1" in lab.page.locator(".field-note:visible").inner_text()


# Cutting planes, and transduction.


def samples_of_planes():
    """The samples of the page, from its source."""
    source = Path(__file__).parents[2] / "lab" / "src" / "explainers" / "planes.ts"
    lists = re.findall(r"const (?:NEGATIVE|POSITIVE) = \[(.*?)\]", source.read_text(), re.DOTALL)
    negative, positive = (list(map(float, re.findall(r"[-\d.]+", numbers))) for numbers in lists)
    return np.array(negative + positive)[:, None], np.repeat(
        [-1, 1], [len(negative), len(positive)]
    )


@pytest.mark.parametrize("C", [0.05, 1.0])
def test_bounds_of_the_planes_are_those_of_the_textbook(explain, C):
    X, y = samples_of_planes()
    _, trace = textbook.cutting_planes(X, y, C=C, tol=1e-6)
    lab = explain("planes", f"C={C}")
    for step in trace.steps:
        assert_allclose(lab.value("w"), step.variables[0], atol=6e-5)
        assert_allclose(lab.value("P"), step.primal, rtol=6e-5)
        assert_allclose(lab.value("D"), step.dual, rtol=6e-5, atol=1e-9)
        assert lab.value("planes") == step.iteration
        lab.page.get_by_role("button", name="Add a plane and go on").click()
        lab.settle()
    assert lab.text("verdict") == "the bounds meet: w is the best"


def test_a_plane_touches_where_the_weight_was_dragged(explain):
    lab = explain("planes", "C=0.1&w=0.5")
    handle = lab.page.get_by_role("slider", name="Weight w")
    handle.press("Shift+ArrowRight")
    lab.settle()
    assert lab.value("w") == 0.7
    box = handle.locator(".grip").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    lab.page.mouse.move(x, y)
    lab.page.mouse.down()
    lab.page.mouse.move(x + 80, y, steps=4)
    lab.page.mouse.up()
    lab.page.get_by_role("button", name="Add a plane at w").click()
    lab.settle()
    w = float(handle.get_attribute("aria-valuenow"))
    assert w > 0.8
    X, t = samples_of_planes()
    offset, slope = plane(np.array([w]), X, t)
    assert lab.text("last") == f"{offset:.0f} {'-' if slope < 0 else '+'} {abs(slope[0]):.2f} w"
    assert "at=" in lab.page.url


@pytest.mark.parametrize("state", ["", "seed=23", "seed=3&price=0.1&gap=1"])
def test_label_switching_is_that_of_the_textbook(explain, state):
    lab = explain("transductive", state)
    shown = []
    while True:
        at, last = map(int, lab.text("step").split(" of "))
        shown.append((at, lab.value("objective"), lab.value("switches"), lab.value("agree")))
        if at == last:
            break
        lab.page.get_by_role("button", name="Next switch").click()
        lab.settle()
    _, X, y = lab.playground()
    price = float(dict(part.split("=") for part in state.split("&") if part).get("price", 1))
    _, trace = textbook.transductive(X[:2], [-1, 1], X[2:], C=10.0, C_star=price)
    assert len(trace) == last + 1
    side = np.repeat([-1, 1], 20)
    for at, objective, switches, agree in shown:
        step = trace.steps[at]
        assert_allclose(objective, step.primal, rtol=1e-5)
        assert switches == sum(bool(one.chosen) for one in trace.steps[: at + 1])
        assert agree == np.sum(step.variables == side)
    np.testing.assert_array_equal(np.where(y[2:] > 0, 1, -1), trace.steps[-1].variables)
