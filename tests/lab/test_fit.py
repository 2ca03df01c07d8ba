"""The fits of the page beside those of maxmargin: dual variables, decision values, predictions,
objectives and verdicts, on random states of all machines and kernels; and what bad input says.
"""

from typing import NamedTuple

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import needs
from maxmargin import SVC, SVR, NuSVC, NuSVR, OneClassSVM

needs.package("playwright")

STATES = 50
SEVERAL_SOLUTIONS = {12, 24, 36}
"""States in which the dual variables of a class are not unique: linear one-vs-rest, w = 0."""
FITTED = """([spec, x, d, y, points]) => {
  const list = (values) => Array.from(values);
  try {
    const fit = lab.fit(spec, {x: Float64Array.from(x), d, y: Float64Array.from(y)});
    const grid = Float64Array.from(points);
    return {
      ...fit, spec: null, data: null,
      parts: fit.parts.map((part) => ({
        ...part, rows: list(part.rows), coef: list(part.coef), bound: list(part.bound),
        decision: list(part.decision), slack: list(part.slack), sign: list(part.sign),
      })),
      values: lab.decisionValues(fit, grid).map(list),
      labels: list(lab.predict(fit, grid)),
    };
  } catch (error) {
    if (!(error instanceof lab.LabError)) throw error;
    return { problem: error.message };
  }
}"""
KERNELS = {
    "c-svc": ("linear", "poly", "rbf"),
    "nu-svc": ("rbf",),  # others: w = 0 where the reduced hulls meet
    "hard-margin": ("rbf",),
    "one-class": ("rbf",),  # others: many solutions where the origin is among the points
    "eps-svr": ("linear", "poly", "rbf"),
    "nu-svr": ("linear", "poly", "rbf"),
}


class State(NamedTuple):
    """What the page is asked for."""

    spec: dict
    X: np.ndarray
    y: np.ndarray
    points: np.ndarray

    def fitted_by(self, page):
        """The page's answer."""
        X, points = self.X.ravel().tolist(), self.points.ravel().tolist()
        return page.evaluate(FITTED, [self.spec, X, self.X.shape[1], self.y.tolist(), points])

    def fitted_by_maxmargin(self):
        """The estimator that the state describes, fitted."""
        spec, kernel = self.spec, self.spec["kernel"]
        names = {"linear": (), "rbf": ("gamma",), "poly": ("gamma", "coef0", "degree")}
        names["sigmoid"] = ("gamma", "coef0")
        given = {"kernel": kernel["kind"]} | {k: kernel[k] for k in names[kernel["kind"]]}
        shape = {"multiclass": spec["multiclass"], "decision_function_shape": spec["multiclass"]}
        model = {
            "c-svc": lambda: SVC(C=spec["C"], **given, **shape),
            "nu-svc": lambda: NuSVC(nu=spec["nu"], **given, **shape),
            "hard-margin": lambda: SVC(C=np.inf, **given, **shape),
            "one-class": lambda: OneClassSVM(nu=spec["nu"], **given),
            "eps-svr": lambda: SVR(C=spec["C"], epsilon=spec["epsilon"], **given),
            "nu-svr": lambda: NuSVR(C=spec["C"], nu=spec["nu"], **given),
        }[spec["machine"]]()
        return model.fit(self.X, self.y)


def a_spec(machine="c-svc", kind="rbf", **changes):
    """A machine with moderate parameters."""
    kernel = {"kind": kind, "gamma": 1.0, "coef0": 0.0, "degree": 2} | changes.pop("kernel", {})
    spec = {"machine": machine, "kernel": kernel, "C": 1.0, "nu": 0.3, "epsilon": 0.1}
    return spec | {"multiclass": "ovo"} | changes


def a_state(number):
    """One of the random states; C lies between 1e-2 and 1e4."""
    rng = np.random.default_rng(number)
    machine = list(KERNELS)[number % len(KERNELS)]
    n, d = int(rng.integers(8, 120)), 1 if machine.endswith("svr") else 2
    spec = a_spec(
        machine,
        str(rng.choice(KERNELS[machine])),
        kernel={
            "gamma": 10 ** rng.uniform(-1, 0.5),
            "coef0": float(rng.integers(2)),
            "degree": int(rng.integers(2, 4)),
        },
        C=10 ** rng.uniform(-2, 4),
        nu=rng.uniform(0.05, 0.45),
        epsilon=rng.uniform(0.01, 0.3),
        multiclass=str(rng.choice(["ovo", "ovr"])),
    )
    X, points = rng.normal(size=(n, d)), 2 * rng.normal(size=(100, d))
    if d == 1:
        return State(spec, X, np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=n), points)
    y = np.arange(n) % rng.integers(2, 5)
    if machine in ("hard-margin", "nu-svc"):  # narrow: the classes can be separated
        spec["kernel"]["gamma"] = rng.uniform(2, 5)
    centres = np.array([[0, 0], [1, 1], [-1, 1], [1, -1]])
    return State(spec, X + rng.choice([1.0, 3.0]) * centres[y], y, points)


def coefficients(model, n, part, rows):
    """y_i a_i of the points `rows` in one of the problems of an estimator."""
    whole = np.zeros(n)
    if model.dual_coef_.shape[0] == 1:
        whole[model.support_] = model.dual_coef_[0]
        return whole[rows]
    if model.multiclass == "ovr":
        whole[model.support_] = model.dual_coef_[part]
        return whole[rows]
    pairs = [(i, j) for i in range(len(model.classes_)) for j in range(i + 1, len(model.classes_))]
    (i, j), ends = pairs[part], np.cumsum([0, *model.n_support_])
    first, second = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
    whole[model.support_[first]] = model.dual_coef_[j - 1, first]
    whole[model.support_[second]] = model.dual_coef_[i, second]
    return whole[rows]


@pytest.mark.parametrize("number", range(STATES))
def test_random_states_beside_maxmargin(solver, number):
    state = a_state(number)
    found, model = state.fitted_by(solver), state.fitted_by_maxmargin()
    assert "problem" not in found, found
    certificate, machine = model.certificate_, state.spec["machine"]
    assert found["status"] == certificate.status == "optimal"
    largest = state.spec["C"] if machine in ("c-svc", "eps-svr", "nu-svr") else 0.0
    for k, part in enumerate(found["parts"]):
        goal = coefficients(model, len(state.X), k, part["rows"])
        size = max(largest, np.abs(goal).max())
        if number not in SEVERAL_SOLUTIONS:
            np.testing.assert_allclose(part["coef"], goal, rtol=0, atol=1e-8 * size)
        assert part["intercept"] == pytest.approx(model.intercept_[k], abs=1e-7, rel=1e-7)
    values = getattr(model, "decision_function", model.predict)(state.points)
    values = values.reshape(len(state.points), -1).T
    np.testing.assert_allclose(found["values"], values, rtol=1e-7, atol=1e-7 * np.abs(values).max())
    if not machine.endswith("svr"):
        np.testing.assert_array_equal(found["labels"], model.predict(state.points))
    for name in ("primal", "dual"):
        assert found[name] == pytest.approx(getattr(certificate, name), rel=1e-7)
    assert abs(found["gap"]) <= 1e-7 * abs(found["primal"])
    assert found["violation"] <= 1e-6 * max(1.0, np.abs(values).max())


def test_what_is_drawn_follows_from_the_duals(solver):
    state = a_state(0)
    assert state.spec["machine"] == "c-svc"
    for part in state.fitted_by(solver)["parts"]:
        sign, decision, slack = (np.array(part[k]) for k in ("sign", "decision", "slack"))
        np.testing.assert_allclose(slack, np.maximum(0, 1 - sign * decision), atol=1e-12)
        outside = slack > 1e-6
        np.testing.assert_allclose((sign * part["coef"])[outside], state.spec["C"])
        norm = np.sum(part["coef"] * (decision - part["intercept"]))
        assert part["margin"] == pytest.approx(1 / np.sqrt(norm))


def test_an_indefinite_kernel_is_never_optimal(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(float)
    spec = a_spec(kind="sigmoid", kernel={"gamma": 1.0, "coef0": -1.0}, C=10.0)
    state = State(spec, X, y, X)
    with pytest.warns(ConvergenceWarning, match="not positive semidefinite"):
        model = state.fitted_by_maxmargin()
    found = state.fitted_by(solver)
    assert found["status"] == model.certificate_.status == "stationary"
    assert found["violation"] <= 1e-3
    values = np.array(found["values"][0])
    np.testing.assert_allclose(values, found["parts"][0]["decision"], atol=1e-11)
    # On two points the same kernel may be positive semidefinite, which Cholesky's factor shows.
    few = State(a_spec(kind="sigmoid"), np.array([[1.0, 0.0], [0.0, 1.0]]), y[:2] * 0 + [0, 1], X)
    assert few.fitted_by(solver)["status"] == few.fitted_by_maxmargin().certificate_.status
    assert few.fitted_by(solver)["status"] == "optimal"


@pytest.mark.parametrize("kind", ["linear", "poly"])
def test_one_class_around_the_origin(solver, kind):
    """Where the origin is among the points w = 0: many solutions, all of them optimal."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    state = State(a_spec("one-class", kind, kernel={"degree": 3}), X, np.zeros(40), X)
    found, model = state.fitted_by(solver), state.fitted_by_maxmargin()
    assert found["status"] == model.certificate_.status == "optimal"
    np.testing.assert_allclose(found["values"][0], model.decision_function(X), atol=1e-10)


def test_the_matrix_of_a_kernel(solver):
    X = np.random.default_rng(0).normal(size=(7, 3)) + 1e6
    given = [a_spec()["kernel"], X.ravel().tolist()]
    K = solver.evaluate(
        "([kernel, x]) => Array.from(lab.kernelMatrix(kernel, Float64Array.from(x), 3))", given
    )
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(np.reshape(K, (7, 7)), np.exp(-squares), rtol=1e-13)


TWO = [0, 0, 1, 1, 2, 0, 3, 1]
PROBLEMS = {
    "no points": (a_spec(), [], [], "no points yet"),
    "one class": (a_spec(), TWO, [1, 1, 1, 1], "All points are of one class"),
    "nan": (a_spec(), [0, float("nan"), *TWO[2:]], [0, 1, 0, 1], "not a finite number"),
    "no class": (a_spec(), TWO, [0, 1, 0, float("nan")], "class of a point is missing"),
    "half": (a_spec(), TWO, [0, 1, 0.5, 1], "Classes are numbered 0, 1, 2"),
    "lengths": (a_spec(), TWO, [0, 1], "all of its coordinates"),
    "C": (a_spec(C=0), TWO, [0, 1, 0, 1], "C must be a positive number, not 0"),
    "nu": (a_spec("one-class", nu=1.5), TWO, [0, 1, 0, 1], "nu must be greater than 0"),
    "epsilon": (a_spec("eps-svr", epsilon=-1), TWO, [0, 1, 0, 1], "not negative, not -1"),
    "gamma": (a_spec(kernel={"gamma": 0}), TWO, [0, 1, 0, 1], "gamma must be a positive"),
    "degree": (a_spec(kind="poly", kernel={"degree": 1.5}), TWO, [0, 1, 0, 1], "whole number"),
    "machine": (a_spec("svm"), TWO, [0, 1, 0, 1], 'no machine "svm"'),
    "kernel": (a_spec(kind="cosine"), TWO, [0, 1, 0, 1], 'no kernel "cosine"'),
    "infeasible": (a_spec("nu-svc", nu=0.6), TWO, [0, 1, 1, 1], "largest feasible nu is 0.5"),
    "not separable": (
        a_spec("hard-margin", "linear"),
        [0, 0, 1, 1, 1, 0, 0, 1],
        [0, 0, 1, 1],
        "No hyperplane separates the classes",
    ),
    "reduced hulls": (
        a_spec("nu-svc", "linear", nu=0.9),
        [0, 0, 1, 1, 1, 0, 0, 1],
        [0, 0, 1, 1],
        "reduced convex hulls of the classes meet",
    ),
    "overflow": (
        a_spec(kind="poly", kernel={"degree": 100, "gamma": 1e9}),
        TWO,
        [0, 1, 0, 1],
        "choose a smaller degree",
    ),
    "too many": (a_spec(), [0] * 2004, [0, 1, 1] * 334, "at most 1000 points, not 1002"),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_bad_input_gets_an_error_with_a_remedy(solver, name):
    spec, x, y, message = PROBLEMS[name]
    assert message in solver.evaluate(FITTED, [spec, x, 2, y, []])["problem"]


# ---- the worker ----------------------------------------------------------------------------------

ASKED = """async ([spec, x, y, times]) => {
  const client = new lab.Client();
  const data = {x: Float64Array.from(x), d: 2, y: Float64Array.from(y)};
  const answered = [];
  const ask = (k) => client.fitAndEvaluate({...spec, C: k}, data, data.x)
    .then((answer) => answered.push([k, answer.fit.parts[0].coef[0], answer.labels.length]))
    .catch((error) => answered.push([k, error.name, error.message]));
  const requests = Array.from({length: times}, (_, k) => ask(k + 1));
  await requests.at(-1);
  return answered;
}"""


@pytest.mark.parametrize("workers", [True, False])
def test_the_newest_request_wins(open_lab, workers):
    forbidden = "window.Worker = class { constructor() { throw new Error('forbidden'); } };"
    page = open_lab("", before="" if workers else forbidden)
    asked = [a_spec(kind="linear"), [0, 0, 1, 1], [0, 1], 30]
    answered = page.evaluate(ASKED, asked)
    assert [number for number, *_ in answered] == [1, 30]
    assert answered[1][1:] == [-1, 2]
    wrong = page.evaluate(ASKED, [a_spec(kind="linear"), [0, 0, 1, 1], [1, 1], 1])
    assert wrong[0][1] == "LabError"
    assert "one class" in wrong[0][2]
