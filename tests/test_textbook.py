"""The lectures' algorithms reach the production solver's optimum, on easy and hard data.

The classic examples come out as by hand.
"""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

import maxmargin
from maxmargin import SVC, SVR, LinearSVC, NuSVC, OneClassSVM, textbook
from maxmargin.textbook.hard_margin import bias_of_all, bias_of_one
from maxmargin.textbook.primal_versus_dual import polynomial_features
from maxmargin.textbook.soft_margin import bias_of_extremes, bias_of_free

LINEAR, RBF = textbook.kernels.linear, textbook.kernels.rbf(0.7)
KERNELS = {"linear": (LINEAR, {"kernel": "linear"}), "rbf": (RBF, {"kernel": "rbf", "gamma": 0.7})}
FOLDER = Path(maxmargin.__file__).parent / "textbook"


def blobs():
    """Two overlapping clouds."""
    random = np.random.default_rng(0)
    y = np.repeat([-1, 1], 20)
    return random.normal(size=(40, 2)) + 0.9 * y[:, None], y


def moons():
    """Two crescents."""
    X, y = make_moons(50, noise=0.25, random_state=1)
    return X, 2 * y - 1


def hard():
    """Few positives, features of unequal scale, equal points of both labels, a point twice."""
    random = np.random.default_rng(2)
    X = random.normal(size=(36, 3)) * [1.0, 3.0, 0.2]
    y = np.where(np.arange(36) < 8, 1, -1)
    X[10], X[11], X[20] = X[0], X[1], X[21]
    return X, y


DATA = {"blobs": blobs, "moons": moons, "hard": hard}
everywhere = pytest.mark.parametrize("data", DATA)
with_kernels = pytest.mark.parametrize("kernel", KERNELS)


def assert_reaches(trace, expected, tol):
    """The trace's last primal is the optimum, and no step's dual exceeds it."""
    assert trace.steps[-1].primal == pytest.approx(expected, rel=tol, abs=1e-9)
    duals = trace.column("dual")
    assert np.all(duals[np.isfinite(duals)] <= expected * (1 + 1e-9) + 1e-9)


@everywhere
@with_kernels
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_soft_margin_algorithms_reach_the_production_objective(data, kernel, C):
    X, y = DATA[data]()
    function, parameters = KERNELS[kernel]
    exact = SVC(C=C, tol=1e-8, **parameters).fit(X, y)
    best = exact.certificate_.primal
    for algorithm, tol in (
        (textbook.soft_margin_qp, 1e-6),
        (partial(textbook.smo, tol=1e-6), 1e-6),
        (
            partial(
                textbook.smo,
                selection="maximal violating pair",
                tol=1e-6,
                max_iter=200_000,
                trace=1000,
            ),
            1e-6,
        ),
    ):
        model, trace = algorithm(X, y, C=C, kernel=function)
        assert_reaches(trace, best, tol)
        np.testing.assert_allclose(
            model.decision_function(X), exact.decision_function(X), atol=2e-3
        )


@everywhere
@with_kernels
def test_simplified_smo_approaches_the_optimum(data, kernel):
    X, y = DATA[data]()
    function, parameters = KERNELS[kernel]
    best = SVC(C=1.0, **parameters).fit(X, y).certificate_.primal
    _, trace = textbook.simplified_smo(X, y, C=1.0, kernel=function, tol=1e-4, trace=50)
    assert_reaches(trace, best, 2e-3)
    assert np.all(np.diff(trace.column("dual")) >= -1e-12)  # every update raises the dual


@everywhere
def test_smo_moves_the_pair_it_says_and_raises_the_dual(data):
    X, y = DATA[data]()
    _, trace = textbook.smo(X, y, C=2.0, kernel=RBF)
    assert np.all(np.diff(trace.column("dual")) > 0)
    before = trace.steps[0].variables
    for step in trace.steps[1:]:
        moved = np.flatnonzero(step.variables != before)
        assert set(moved) <= set(step.chosen)
        assert step.variables @ y == pytest.approx(0, abs=1e-9)
        assert step.variables.min() >= 0
        assert step.variables.max() <= 2.0
        before = step.variables


@pytest.mark.parametrize(
    ("X", "y", "w", "b"),
    [
        ([[-1.0], [1.0]], [-1, 1], [1.0], 0.0),
        ([[0.0, 0.0], [2.0, 2.0]], [-1, 1], [0.5, 0.5], -1.0),
        (
            [[3, 1], [3, -1], [6, 1], [6, -1], [1, 0], [0, 1], [0, -1], [-1, 0]],
            [1, 1, 1, 1, -1, -1, -1, -1],
            [1.0, 0.0],
            -2.0,
        ),
        ([[1, 1], [2, 2], [2, 0], [0, 0], [1, 0], [0, 1]], [1, 1, 1, -1, -1, -1], [2.0, 2.0], -3.0),
    ],
)
def test_hard_margin_by_hand(X, y, w, b):
    for model, _ in (textbook.hard_margin_qp(X, y), textbook.smo(X, y, C=np.inf, tol=1e-10)):
        np.testing.assert_allclose(model.w, w, atol=1e-5)
        assert model.b == pytest.approx(b, abs=1e-5)


def test_hard_margin_equals_production_and_its_margin_is_one_over_w():
    random = np.random.default_rng(5)
    for d in (2, 3, 5):
        y = np.repeat([-1, 1], 15)
        X = random.normal(size=(30, d)) + 3.0 * y[:, None]
        model, trace = textbook.hard_margin_qp(X, y)
        exact = SVC(kernel="linear", C=np.inf).fit(X, y)
        np.testing.assert_allclose(model.w, exact.coef_[0], rtol=1e-4, atol=1e-6)
        distance = np.min(y * model.decision_function(X)) / np.linalg.norm(model.w)
        assert distance == pytest.approx(1 / np.linalg.norm(model.w), rel=1e-5)
        assert trace.steps[-1].gap == pytest.approx(0, abs=1e-5)


def test_hard_margin_says_when_classes_overlap():
    X, y = blobs()
    with pytest.raises(ValueError, match="soft_margin_qp"):
        textbook.hard_margin_qp(X, y)
    model, _ = textbook.hard_margin_qp(X, y, kernel=textbook.kernels.rbf(5.0))
    assert np.all(model.predict(X) == y)


def test_exclusive_or_by_hand():
    """Kernel (1 + x'z)^2 on the corners of a square: all multipliers 1/8, y(x) = x1 x2."""
    X, y = np.array([[-1.0, -1], [-1, 1], [1, -1], [1, 1]]), [1, -1, -1, 1]
    model, _ = textbook.hard_margin_qp(X, y, kernel=textbook.kernels.polynomial(2))
    np.testing.assert_allclose(model.alpha, 0.125, atol=1e-7)
    Z = np.random.default_rng(0).normal(size=(10, 2))
    np.testing.assert_allclose(model.decision_function(Z), Z[:, 0] * Z[:, 1], atol=1e-6)


def test_one_update_of_a_pair_by_hand():
    """x = -1, 1 with C = 0.2: one pair, clipped at C; b = 0 lies between the bounds."""
    model, trace = textbook.smo([[-1.0], [1.0]], [-1, 1], C=0.2)
    assert trace.steps[1].chosen == (1, 0)
    np.testing.assert_allclose(model.alpha, 0.2)
    assert model.b == pytest.approx(0.0)
    other, _ = textbook.simplified_smo([[-1.0], [1.0]], [-1, 1], C=0.2)
    np.testing.assert_allclose(other.alpha, 0.2)


@everywhere
def test_rules_for_the_bias_agree(data):
    X, y = DATA[data]()
    model, _ = textbook.soft_margin_qp(X, y, C=1.0, kernel=RBF)
    K, t, a = RBF(X, X), y.astype(float), model.alpha
    assert bias_of_free(K, t, a, 1.0) == pytest.approx(model.b)
    free = (a > 0) & (a < 1.0)
    if (free & (t > 0)).any() and (free & (t < 0)).any():
        assert bias_of_extremes(K, t, a) == pytest.approx(model.b, abs=1e-5)
    separable = textbook.kernels.rbf(20.0)(X[:30:3], X[:30:3]) + 1e-9 * np.eye(10)
    t = np.where(np.arange(10) % 2, 1.0, -1.0)
    hard_model, _ = textbook.hard_margin_qp(X[:30:3], t, kernel=textbook.kernels.rbf(20.0))
    assert bias_of_one(separable, t, hard_model.alpha) == pytest.approx(
        bias_of_all(separable, t, hard_model.alpha), abs=1e-5
    )


@everywhere
@pytest.mark.parametrize("bias", [False, True])
def test_dual_coordinate_descent(data, bias):
    X, y = DATA[data]()
    model, trace = textbook.dual_coordinate_descent(X, y, C=0.5, bias=bias, tol=1e-8)
    exact = LinearSVC(
        loss="hinge",
        C=0.5,
        tol=1e-10,
        fit_intercept=bias,
        intercept="regularised" if bias else "free",
    ).fit(X, y)
    assert_reaches(trace, exact.certificate_.primal, 1e-7)
    np.testing.assert_allclose(model.w, exact.coef_[0], atol=1e-5)
    assert model.b == pytest.approx(float(np.ravel(exact.intercept_)[0]), abs=1e-5)


@everywhere
@with_kernels
@pytest.mark.parametrize("C", [0.5, 50.0])
def test_primal_newton(data, kernel, C):
    X, y = DATA[data]()
    function, parameters = KERNELS[kernel]
    exact = SVC(loss="squared_hinge", C=C, tol=1e-9, **parameters).fit(X, y)
    model, trace = textbook.primal_newton(X, y, C=C, kernel=function)
    assert_reaches(trace, exact.certificate_.primal, 1e-9)
    assert trace.steps[-1].gap == pytest.approx(0, abs=1e-8 * exact.certificate_.primal)
    assert len(trace) < 20
    np.testing.assert_allclose(model.decision_function(X), exact.decision_function(X), atol=1e-6)


@everywhere
def test_pegasos_approaches_at_its_rate(data):
    """P(average) - P* <= 4 R^2 (1 + log k) / (2 lambda k), the theorem's bound, and both algorithms
    take the same steps.
    """
    X, y = DATA[data]()
    X = X / np.linalg.norm(X, axis=1).max()
    lam = 0.05
    exact = LinearSVC(loss="hinge", C=1 / (lam * len(y)), fit_intercept=False, tol=1e-10).fit(X, y)
    best = exact.certificate_.primal * lam
    for steps in (100, 1000, 10_000, 50_000):
        model, _ = textbook.pegasos(X, y, lam, steps=steps, average=True, trace=0)
        values = X @ model.w
        excess = textbook.pegasos_objective(values, model.w @ model.w, y, lam) - best
        assert -1e-9 <= excess <= 4 * (1 + np.log(steps)) / (2 * lam * steps)
    linear, trace = textbook.pegasos(X, y, lam, steps=2000, seed=3)
    dual, dual_trace = textbook.kernel_pegasos(X, y, lam, steps=2000, seed=3)
    np.testing.assert_allclose(linear.decision_function(X), dual.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(trace.column("primal"), dual_trace.column("primal"), atol=1e-9)


@everywhere
def test_kernel_pegasos_approaches(data):
    X, y = DATA[data]()
    lam, function = 0.05, RBF
    quadratic = _no_bias_optimum(function(X, X), y, 1 / (lam * len(y)))
    _, trace = textbook.kernel_pegasos(X, y, lam, function, steps=40_000, trace=10_000)
    excess = trace.column("primal") - lam * quadratic
    assert np.all(excess >= -1e-9)
    assert excess[-1] <= 4 * (1 + np.log(40_000)) / (2 * lam * 40_000)


def _no_bias_optimum(K, y, C):
    """The soft margin without b by a slow reference: projected gradient on the dual."""
    Q = np.outer(y, y) * K
    a, step = np.zeros(len(y)), 1 / np.linalg.norm(Q, 2)
    for _ in range(20_000):
        a = np.clip(a - step * (Q @ a - 1), 0, C)
    return a.sum() - 0.5 * a @ Q @ a


@pytest.mark.parametrize(
    ("data", "kernel"),
    [("blobs", "linear"), ("moons", "linear"), ("blobs", "rbf"), ("moons", "rbf"), ("hard", "rbf")],
)
def test_nu_svc(data, kernel):
    X, y = DATA[data]()
    function, parameters = KERNELS[kernel]
    exact = NuSVC(nu=0.44, tol=1e-8, **parameters).fit(X, y)
    model, trace = textbook.nu_svc(X, y, nu=0.44, kernel=function)
    np.testing.assert_allclose(model.decision_function(X), exact.decision_function(X), atol=2e-3)
    assert trace.steps[0].gap == pytest.approx(0, abs=1e-6)
    margins = y * model.decision_function(X)
    assert np.mean(margins < 1 - 1e-3) <= 0.44 <= np.mean(model.alpha > 0) + 1e-9


def test_nu_svc_says_when_the_margin_is_empty():
    with pytest.raises(ValueError, match="larger nu"):
        textbook.nu_svc(*hard(), nu=0.3)


@everywhere
def test_one_class(data):
    X, _ = DATA[data]()
    exact = OneClassSVM(nu=0.2, gamma=0.7, tol=1e-8).fit(X)
    model, trace = textbook.one_class(X, nu=0.2, kernel=RBF)
    np.testing.assert_allclose(
        model.decision_function(X) * 0.2 * len(X), exact.decision_function(X), atol=1e-4
    )
    assert trace.steps[0].gap == pytest.approx(0, abs=1e-7)
    assert np.mean(model.decision_function(X) < -1e-6) <= 0.2


@everywhere
@with_kernels
def test_epsilon_svr(data, kernel):
    X, y = DATA[data]()
    t = np.sin(X[:, 0]) + 0.3 * y
    function, parameters = KERNELS[kernel]
    exact = SVR(C=2.0, epsilon=0.1, tol=1e-8, **parameters).fit(X, t)
    model, trace = textbook.epsilon_svr(X, t, C=2.0, epsilon=0.1, kernel=function)
    assert_reaches(trace, exact.certificate_.primal, 1e-6)
    np.testing.assert_allclose(model.decision_function(X), exact.predict(X), atol=1e-3)


@pytest.mark.parametrize("rows", [slice(0, 150), slice(0, 150, 3), slice(20, 140)])
def test_several_classes(rows):
    X, y = (part[rows] for part in load_iris(return_X_y=True))
    X = X[:, 2:]
    train = partial(textbook.smo, C=5.0, kernel=RBF, tol=1e-5, trace=0)
    names = np.array(["a", "b", "c"])[y]
    pairs, traces = textbook.one_vs_one(X, names, train)
    assert len(traces) == 3
    exact = SVC(C=5.0, gamma=0.7).fit(X, names)
    assert np.mean(pairs.predict(X) == exact.predict(X)) >= 0.99
    assert pairs.votes(X).sum(axis=1).max() == 3
    rest, _ = textbook.one_vs_rest(X, names, train)
    other = SVC(C=5.0, gamma=0.7, multiclass="ovr", tol=1e-8).fit(X, names)
    np.testing.assert_allclose(rest.decision_function(X), other.decision_function(X), atol=1e-3)


def test_one_versus_one_has_ambiguous_regions():
    corners = np.array([[0, 1], [-0.87, -0.5], [0.87, -0.5]])
    X = np.vstack([corners * (1 + 0.1 * k) for k in range(4)])
    y = np.tile([0, 1, 2], 4)
    model, _ = textbook.one_vs_one(X, y)
    around = np.random.default_rng(0).uniform(-2, 2, size=(2000, 2))
    tied = model.ambiguous(around)
    assert not model.ambiguous(X).any()
    votes = model.votes(around)
    assert np.array_equal(tied, np.sort(votes, axis=1)[:, -1] == np.sort(votes, axis=1)[:, -2])


def test_regressions_equal_scikit_learn():
    for seed in range(3):
        random = np.random.default_rng(seed)
        X = random.normal(size=(60, 3))
        t = X @ [1.0, -2.0, 0.5] + 0.7 + 0.1 * random.normal(size=60)
        model, _ = textbook.linear_regression(X, t)
        np.testing.assert_allclose(model.w, LinearRegression().fit(X, t).coef_, atol=1e-9)
        model, _ = textbook.linear_regression(X, t, lam=2.0)
        np.testing.assert_allclose(model.w, Ridge(2.0, tol=1e-12).fit(X, t).coef_, atol=1e-8)
        y = np.where(t + random.normal(size=60) > 0, 1, -1)
        model, trace = textbook.logistic_regression(X, y, lam=0.5)
        reference = LogisticRegression(C=2.0, tol=1e-12, max_iter=10_000).fit(X, y)
        np.testing.assert_allclose(model.w, reference.coef_[0], atol=1e-5)
        assert np.all(np.diff(trace.column("primal")) <= 1e-12)
        labels = np.digitize(t, [-1, 1])
        model, _ = textbook.softmax_regression(X, labels, lam=0.5)
        reference = LogisticRegression(C=2.0, tol=1e-12, max_iter=10_000).fit(X, labels)
        np.testing.assert_allclose(model.predict_proba(X), reference.predict_proba(X), atol=1e-5)


def test_losses_at_known_points():
    losses = textbook.losses
    assert losses.hinge(1, 0.25) == 0.75
    assert losses.squared_hinge(-1, 1) == 4.0
    assert losses.squared_error(1, 3) == 2.0
    assert losses.logistic(1, 0) == pytest.approx(np.log(2))
    assert losses.logistic(-1, -1000) == 0.0
    assert losses.epsilon_insensitive(1.0, 1.05, 0.1) == 0.0
    assert losses.zero_one(-1, 2) == 1.0
    scores = np.array([[0.3, 0.0]])
    # "L(t, y) = L(t, [y, 0])"
    assert losses.softmax([0], scores)[0] == pytest.approx(losses.logistic(1, 0.3))


def test_primal_and_dual_are_the_same_model():
    for data in DATA.values():
        X, y = data()
        table = textbook.primal_versus_dual(X, y, degree=2, C=0.5, repeats=1)
        assert table.disagreement < 1e-4
        d = X.shape[1]
        assert table.primal.parameters == d + d * (d + 1) // 2
        assert table.dual.parameters == len(X)
        assert "inference" in str(table)
    Z = np.random.default_rng(0).normal(size=(5, 3))
    np.testing.assert_allclose(
        polynomial_features(Z, 3) @ polynomial_features(Z, 3).T + 1, (1 + Z @ Z.T) ** 3
    )
    with pytest.raises(ValueError, match="features"):
        textbook.primal_versus_dual(np.ones((4, 100)), [1, 1, -1, -1], degree=4)


@everywhere
def test_kkt_table(data):
    X, y = DATA[data]()
    model = SVC(C=1.0, gamma=0.7, class_weight={-1: 1.0, 1: 2.0}).fit(X, y)
    table = textbook.kkt_table(model, X, y)
    assert table.holds.all()
    assert table.a @ y == pytest.approx(0, abs=1e-9)
    assert str(table).count("\n") == len(y) + 2
    assert textbook.kkt_table(LinearSVC(loss="hinge", tol=1e-9).fit(X, y), X, y).holds.all()
    mine, _ = textbook.smo(X, y, C=1.0, kernel=RBF)
    assert textbook.kkt_table(mine, X, y, C=1.0, tol=2e-3).holds.all()
    wrong = textbook.KernelModel(mine.X, mine.coef, mine.b + 0.5, mine.kernel)
    broken = textbook.kkt_table(wrong, X, y, C=1.0)
    assert not broken.holds.all()
    assert "NO" in str(broken)
    assert set(broken.place) <= {
        "outside the margin",
        "on the margin",
        "inside the margin",
        "misclassified",
    }


def test_kkt_table_says_what_it_needs():
    X, y = blobs()
    with pytest.raises(ValueError, match="give the C"):
        textbook.kkt_table(textbook.smo(X, y)[0], X, y)
    with pytest.raises(ValueError, match="hinge"):
        textbook.kkt_table(SVC(loss="squared_hinge").fit(X, y), X, y)
    with pytest.raises(ValueError, match="LogisticRegression"):
        textbook.kkt_table(LogisticRegression().fit(X, y), X, y)
    with pytest.raises(ValueError, match="training data"):
        textbook.kkt_table(SVC().fit(X, y), X[:5], y[:5])


def test_coordinate_descent():
    for seed in range(3):
        random = np.random.default_rng(seed)
        A = random.normal(size=(6, 4))
        b = random.normal(size=4)
        P = A.T @ A + 0.1 * np.eye(4)
        w, trace = textbook.coordinate_descent(
            lambda w, P=P, b=b: float(0.5 * w @ P @ w - b @ w), np.zeros(4), tol=1e-15
        )
        np.testing.assert_allclose(w, np.linalg.solve(P, b), atol=1e-4)
        assert np.all(np.diff(trace.column("primal")) <= 1e-12)
    stuck, _ = textbook.coordinate_descent(
        lambda w: abs(w[0] - w[1]) + 0.1 * float(w @ w), [1.0, 1.0]
    )
    np.testing.assert_allclose(stuck, [1.0, 1.0], atol=1e-6)  # a kink: no coordinate helps alone


def test_margin_and_slack_fall_as_C_grows():
    """The last page of the slack lecture: C = 1, 5, 50."""
    random = np.random.default_rng(7)
    y = np.repeat([-1, 1], 25)
    X = random.normal(size=(50, 2)) + 1.1 * y[:, None]
    fits = [textbook.soft_margin_qp(X, y, C=C)[0] for C in (1, 5, 50)]
    margins = [1 / np.linalg.norm(model.w) for model in fits]
    slack = [textbook.slacks(model, X, y).sum() for model in fits]
    assert margins[0] > margins[1] > margins[2]
    assert slack[0] > slack[1] > slack[2]


def test_traces_can_be_switched_off_and_tell():
    X, y = blobs()
    for algorithm in (
        textbook.smo,
        textbook.simplified_smo,
        textbook.pegasos,
        textbook.kernel_pegasos,
        textbook.primal_newton,
    ):
        model, trace = algorithm(X, y, trace=0)
        assert len(trace) == 0
        assert "no steps" in repr(trace)
        same, kept = algorithm(X, y, trace=1)
        np.testing.assert_array_equal(model.decision_function(X), same.decision_function(X))
        assert len(kept) > 1
        np.testing.assert_allclose(
            kept.model_at(kept.steps[-1]).decision_function(X),
            same.decision_function(X),
            atol=1e-12,
        )
    with pytest.raises(ValueError, match="trace=-1"):
        textbook.smo(X, y, trace=-1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: textbook.smo(X, np.where(y > 0, 1, 0)), "-1 and"),
        (lambda X, y: textbook.smo(X, np.ones(len(y))), "both present"),
        (lambda X, y: textbook.smo(X, y, C=0), "hard margin is C to infinity"),
        (lambda X, y: textbook.smo(X, y, selection="random"), "second order"),
        (lambda X, y: textbook.smo(X[:5], y), "5 rows"),
        (lambda X, y: textbook.smo(np.full_like(X, np.nan), y), "NaN"),
        (lambda X, y: textbook.nu_svc(X, y, nu=1.5), "at most"),
        (lambda X, y: textbook.one_class(X, nu=0), "fraction"),
        (lambda X, y: textbook.epsilon_svr(X, y, epsilon=-1), "negative"),
        (lambda X, y: textbook.pegasos(X, y, lam=0), "above 0"),
        (lambda X, y: textbook.logistic_regression(X, y, lam=0), "separable"),
        (lambda X, y: textbook.kernels.rbf(), "gamma or sigma"),
        (lambda X, y: textbook.one_vs_one(X, np.ones(len(y))), "one class"),
        (lambda X, y: textbook.smo(X, y, kernel=RBF)[0].w, "feature space"),
    ],
)
def test_errors_name_cause_and_remedy(call, message):
    X, y = blobs()
    with pytest.raises((ValueError, AttributeError), match=message):
        call(X, y)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda p: p.name)
def test_a_topic_fits_on_a_page(path):
    assert len(path.read_text().splitlines()) <= 200


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e3, 1e6])
def test_quadratic_programs_of_any_scale(scale):
    X, y = np.array([[3, 1], [3, -1], [1, 0], [0, 1]]) * scale, [1, 1, -1, -1]
    model, _ = textbook.hard_margin_qp(X, y)
    np.testing.assert_allclose(model.w * scale, [1.0, 0.0], atol=1e-4)
    C = 1e3 / scale**2
    soft, trace = textbook.soft_margin_qp(X, y, C=C)
    np.testing.assert_allclose(soft.w * scale, [1.0, 0.0], atol=1e-4)
    assert trace.steps[-1].gap <= 1e-5 * trace.steps[-1].primal


@pytest.mark.parametrize("C", [1e-4, 1e5])
def test_extreme_prices_of_errors(C):
    X, y = blobs()
    exact = SVC(kernel="linear", C=C).fit(X, y).certificate_.primal
    assert textbook.soft_margin_qp(X, y, C=C)[1].steps[-1].primal == pytest.approx(exact, rel=1e-5)
    if C < 1:
        assert textbook.simplified_smo(X, y, C=C)[1].steps[-1].primal == pytest.approx(
            exact, rel=1e-2
        )


def test_hard_margin_multipliers_have_no_bound():
    X, y = np.array([[3.0, 1], [3, -1], [1, 0], [0, 1]]), [1, 1, -1, -1]
    for table in (
        textbook.kkt_table(SVC(kernel="linear", C=np.inf).fit(X, y), X, y),
        textbook.kkt_table(textbook.smo(X, y, C=np.inf, tol=1e-8)[0], X, y, C=np.inf),
    ):
        assert table.holds.all()
        assert np.sum(table.case == 1) == 3
    with pytest.raises(ValueError, match="no plane separates"):
        textbook.smo(*blobs(), C=np.inf, max_iter=1000)


def test_regressions_predict_numbers():
    x = np.linspace(0, 1, 9)[:, None]
    t = 2 * x[:, 0] + 0.5
    for model in (
        textbook.epsilon_svr(x, t, C=100, epsilon=0.01)[0],
        textbook.linear_regression(x, t)[0],
    ):
        np.testing.assert_allclose(model.predict(x), t, atol=0.011)


def test_the_share_of_novel_points_is_bounded():
    X = np.random.default_rng(0).normal(size=(40, 2))
    model, _ = textbook.one_class(X, nu=0.1, kernel=RBF)
    assert np.mean(model.predict(X) < 0) <= 0.1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: textbook.smo(X, y, kernel="rbf"), "kernels.rbf"),
        (lambda X, y: textbook.smo(X, y, kernel=textbook.kernels.rbf), "makes one"),
        (lambda X, y: textbook.kernels.rbf(-1.0), "above 0"),
        (lambda X, y: textbook.simplified_smo(X, y, C=np.inf), "finite"),
        (lambda X, y: textbook.primal_newton(X, y, C=np.inf), "finite"),
        (lambda X, y: textbook.dual_coordinate_descent(X, y, C=np.inf), "finite"),
        (lambda X, y: textbook.linear_regression(X, y[:, None]), "one for each row"),
        (lambda X, y: textbook.linear_regression(X, y, lam=-1), "negative"),
        (lambda X, y: textbook.softmax_regression(X, y[:5]), "rows"),
        (lambda X, y: textbook.kkt_table(textbook.smo(X, y)[0], X, y, C=0.1), "above its bound"),
        (
            lambda X, y: textbook.kkt_table(SVC().fit(X, y), X, y + 5),
            "are not classes of the model",
        ),
        (lambda X, y: textbook.primal_versus_dual(X, y, degree=0), "at least 1"),
    ],
)
def test_more_errors_name_cause_and_remedy(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call(*blobs())
