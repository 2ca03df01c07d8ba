"""Every machine of the playground beside maxmargin, by the Python that the page copies."""

import warnings

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose
from playground import Playground

import needs

needs.package("playwright")
mpl.use("agg")

STATES = {
    "c-svc": "?kernel=rbf&C=3&gamma=2&set=moons&n=80&noise=0.2&seed=1",
    "c-svc linear": "?kernel=linear&C=0.5&set=gaussians&n=60&noise=0.5&seed=2",
    "c-svc poly": "?kernel=poly&C=2&gamma=0.7&coef0=0.5&degree=2&set=xor&n=50&noise=0.3&seed=3",
    "c-svc sigmoid": "?kernel=sigmoid&C=1&gamma=0.3&coef0=0.2&set=gaussians&n=40&noise=0.5&seed=4",
    "nu-svc": "?machine=nu-svc&kernel=rbf&nu=0.3&gamma=1&set=moons&n=60&noise=0.2&seed=5",
    "hard-margin": "?machine=hard-margin&kernel=rbf&gamma=4&set=moons&n=40&noise=0.1&seed=6",
    "one-class": "?machine=one-class&kernel=rbf&nu=0.15&gamma=2&set=outliers&n=60&noise=0.1&seed=7",
    "eps-svr": "?machine=eps-svr&kernel=rbf&C=5&epsilon=0.15&gamma=0.8&set=sine&n=60&noise=0.2"
    "&seed=8",
    "nu-svr": "?machine=nu-svr&kernel=linear&C=2&nu=0.4&set=line&n=40&noise=0.1&seed=9",
    "one-vs-one": "?kernel=rbf&C=2&gamma=1&set=five&n=60&noise=0.3&seed=10",
    "one-vs-rest": "?kernel=poly&C=1&gamma=1&coef0=1&degree=2&multiclass=ovr&set=three&n=60"
    "&noise=0.4&seed=11",
    "nu-svc, three": "?machine=nu-svc&kernel=rbf&nu=0.2&gamma=1&set=three&n=45&noise=0.3&seed=12",
}


def run(code):
    """The names that copied code leaves; its pictures are drawn and thrown away."""
    names = {}
    with warnings.catch_warnings():
        # a sigmoid is no positive semidefinite kernel; the page says "Stationary"
        warnings.filterwarnings("ignore", "The problem is not convex")
        exec(code, names)
    plt.close("all")
    return names


def values(model, X):
    """The decision values of each binary problem, one row for each."""
    if hasattr(model, "epsilon") or type(model).__name__ == "NuSVR":
        return model.predict(X)[None]
    if hasattr(model, "decision_function_shape") and model.multiclass == "ovo":
        model.decision_function_shape = "ovo"
    return np.atleast_2d(model.decision_function(X).T)


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_copied_python_gives_what_is_shown(open_lab, state):
    lab = Playground(open_lab(f"#/play{state}"))
    shown = lab.shown()
    names = run(lab.copied("Copy as Python"))
    model, X = names["model"], names["X"]
    assert_allclose(X, shown.x, rtol=0)
    theirs = values(model, X)
    assert len(theirs) == len(shown.parts)
    for part, expected in zip(shown.parts, theirs, strict=True):
        assert_allclose(part["decision"], expected[part["rows"]], rtol=1e-6, atol=1e-6)
    certificate = model.certificate_
    assert shown.status == certificate.status
    assert shown.primal == pytest.approx(certificate.primal, rel=1e-6)
    support = {
        i for part in shown.parts for i, c in zip(part["rows"], part["coef"], strict=True) if c
    }
    assert lab.result("Support vectors") == f"{len(support)} of {len(X)}"


@pytest.mark.parametrize(("C", "printed"), [(50, "6.37"), (5, "7.07"), (1, "10.58")])
def test_the_sums_of_slacks_that_the_lecture_prints(open_lab, C, printed):
    lab = Playground(open_lab(f"#/play?set=revisited&kernel=linear&C={C}&slacks=yes"))
    shown = lab.shown()
    slack = np.sum(shown.parts[0]["slack"])
    assert f"{slack:.2f}" == printed
    assert float(lab.result("Sum of slacks")) == pytest.approx(slack, rel=1e-3)
    drawn = np.array(lab.page.locator(".slack-number").all_text_contents(), float)
    positive = np.array([s for s in shown.parts[0]["slack"] if s > 1e-6])
    assert_allclose(np.sort(drawn), np.sort(positive), rtol=0.06)


def test_slacks_of_a_line_go_to_the_nearest_point_of_the_margin(open_lab):
    lab = Playground(open_lab("#/play?set=revisited&kernel=linear&C=1&slacks=yes"))
    shown = lab.shown()
    (part,) = shown.parts
    w = np.array(part["coef"]) @ shown.x[part["rows"]]
    paths = [p.get_attribute("d") for p in lab.page.locator("path.slack").all()]
    outside = [i for i, slack in enumerate(part["slack"]) if slack > 1e-6]
    box = lab.plot.bounding_box()
    frame = box["x"], box["y"]
    for path, i in zip(paths, outside, strict=True):
        sign = 2 * shown.points[i, 2] - 1
        foot = shown.x[i] + (1 - sign * part["decision"][i]) * sign * w / (w @ w)
        end = [float(v) for v in path.split("L")[-1].split(",")]
        assert_allclose(np.add(end, frame), lab.pixel(*foot), atol=1)


def test_a_tied_vote_is_hatched(open_lab):
    lab = Playground(open_lab("#/play?set=three&kernel=linear&C=1&multiclass=ovr"))
    lab.shown()
    assert lab.count(".layer-hatch path[fill^=url]") == 1
    assert "several classes claim it" in lab.page.locator(".legend").inner_text()
    lab.page.get_by_role("combobox", name="Margins and table of").select_option("1")
    lab.shown()
    assert lab.count(".layer-lines .margin") == 2
    assert "part=1" in lab.link()


def test_a_drag_of_three_hundred_points_is_quick(open_lab):
    lab = Playground(open_lab("#/play?set=gaussians&n=300&noise=0.5&seed=1&C=1&gamma=1"))
    first = lab.shown()
    x, y, _ = first.points[0]
    times = []
    for _ in range(6):
        lab.drag((x, y), (x + 0.05, y))
        x, y, _ = lab.shown().points[0]
        times.append(lab.shown().milliseconds)
    assert x > first.points[0][0] + 0.1
    assert min(times) < 30
