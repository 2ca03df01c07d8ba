"""What linear models say about themselves: violations, the word "optimal", solvers that take over,
data of any scale."""

import time
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning

from helpers import binary
from maxmargin import SVC, LinearOneClassSVM, LinearSVC, LinearSVR
from maxmargin.certificate import Certificate
from maxmargin.core.choose import HOST as core
from maxmargin.linear import certificate as linear_certificate
from maxmargin.linear import dual_coordinate, losses, semismooth, together, verification, workspace
from maxmargin.linear import training as linear_training
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.losses import Bias, LinearProblem, Penalty
from maxmargin.linear.objectives import Gap, LinearSolution, sizes
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.monitor import Monitor
from maxmargin.status import Status
from maxmargin.verdict import Demand, Size, verdict, verdict_again

# ---- violations ----------------------------------------------------------------------------------


def scaled(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def fitted(name):
    """The models whose duals at rounding level once counted as free."""
    if name == "breast cancer":
        X, y = load_breast_cancer(return_X_y=True)
        return LinearSVC(loss="hinge", tol=1e-13).fit(scaled(X), y), scaled(X), y
    if name == "two clouds":
        X, y = make_classification(3000, 20, random_state=0)
        return LinearSVC(loss="hinge", tol=1e-13).fit(X, y), X, y
    X, z = load_diabetes(return_X_y=True)
    return LinearSVR(epsilon=0.1, C=10.0, tol=1e-13).fit(X, z / z.std()), X, z / z.std()


@pytest.mark.parametrize("name", ["breast cancer", "two clouds", "diabetes"])
def test_a_gap_of_zero_leaves_no_violation(name):
    model, X, y = fitted(name)
    for found in (model.certificate_, model.certify(X, y)):
        assert found.status == "optimal"
        assert found.relative_gap < 1e-11
        assert found.kkt_violation < 1e-9


@pytest.mark.parametrize("kind", ["hinge", "tube", "one-class"])
def test_the_violation_is_a_samples_share_of_the_gap(kind):
    """gap_i / C_i, written out here by loss and gain.

    The greatest is the violation, and all of them make up the gap.
    """
    random = np.random.default_rng(0)
    n, C, b, epsilon = 40, random.uniform(0.5, 3.0, size=40), 0.3, 0.2
    A, z = random.normal(size=(n, 5)), random.normal(size=n)
    sign = np.where(z > 0, 1.0, -1.0)
    if kind == "hinge":
        tube, t = (
            losses.classification(sign, C, False),
            sign * C * random.choice([0, 0.4, 1], size=n),
        )
    elif kind == "tube":
        tube, t = (
            losses.regression(z, C, epsilon, False),
            C * random.choice([-1, -0.3, 0, 0.5, 1], size=n),
        )
    else:
        tube, t = losses.one_class(C), C * random.choice([0, 0.4, 1], size=n)
    w, total = A.T @ t, float(t.sum())  # so that the sum is right, whatever it is
    f = A @ w + b
    if kind == "hinge":
        gaps = C * np.maximum(0, 1 - sign * f) - np.abs(t) + t * f
    elif kind == "tube":
        gaps = C * np.maximum(0, np.abs(z - f) - epsilon) - z * t + epsilon * np.abs(t) + t * f
    else:
        gaps = C * np.maximum(0, -f) + t * f
    found = linear_certificate.linear(f, tuple(tube), w, b, t, w, 0.0, total, True)
    assert found.kkt_violation == pytest.approx((gaps / C).max(), rel=1e-12)
    assert found.gap == pytest.approx(gaps.sum(), rel=1e-9)


def test_duals_at_rounding_of_a_bound_are_at_it():
    tube = tuple(losses.classification(np.array([1.0, 1.0, -1.0]), np.full(3, 2.0), False))
    f, t = np.array([4.0, -3.0, -1.0]), np.array([1e-15, 2.0 - 1e-15, -0.7])
    nothing = np.zeros(0)
    found = linear_certificate.linear(f, tube, nothing, 0.0, t, nothing, 0.0, float(t.sum()), True)
    assert found.kkt_violation < 1e-14
    found = linear_certificate.linear(
        f, tube, nothing, 0.0, np.array([0.5, 2.0, -0.7]), nothing, 0.0, 1.8, True
    )
    assert found.kkt_violation == pytest.approx(0.25 * 3.0)


def test_violation_of_all_classes_in_one_problem():
    X, y = make_classification(200, 6, n_informative=4, n_classes=3, random_state=0)
    model = LinearSVC(multi_class="crammer_singer", tol=1e-9, max_iter=100_000).fit(X, y)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.kkt_violation < 1e-5
    assert model.certify(X, y).status == "optimal"


# ---- the verdict ---------------------------------------------------------------------------------

GOOD = Certificate(Status.UNJUDGED, 1.0, 1.0, 0.005, 0.005, 0.05, 0.0, 0.0)
SIZE = Size(1.0, 1.0, 10.0)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (GOOD, Status.OPTIMAL),
        (replace(GOOD, kkt_violation=4.1), Status.APPROXIMATE),
        (replace(GOOD, relative_gap=0.02), Status.STALLED),
        (replace(GOOD, audit_error=4.1), Status.STALLED),
        (replace(GOOD, box_violation=1e-3), Status.STALLED),
        (replace(GOOD, kkt_violation=4.1, equality_violation=1e-3), Status.STALLED),
    ],
)
def test_the_word_for_a_gap_within_tol(found, said):
    demand = Demand.on_gap(0.01)
    assert verdict(None, found, demand, SIZE) is said
    ended = verdict(Status.TIME_LIMIT, found, demand, SIZE)
    assert ended is (said if said.converged else Status.TIME_LIMIT)
    again = verdict_again(Status.APPROXIMATE, found, demand, SIZE)
    assert again is (Status.APPROXIMATE if said.converged else Status.REFUTED)
    assert verdict_again(Status.OPTIMAL, found, demand, SIZE) is (
        said if said is Status.OPTIMAL else Status.REFUTED
    )


def test_an_approximate_model_says_so(monkeypatch):
    """Coordinate descent on raw features ends within a gap that single samples take more of than
    they may.
    """
    monkeypatch.setattr(workspace, "SETTINGS", workspace.SETTINGS._replace(polish_up_to=0))
    random = np.random.default_rng(0)
    X = random.normal(size=(3000, 8)) * np.logspace(-1, 1, 8)
    y = X @ np.logspace(1, -1, 8) + 0.5 * random.standard_t(2, size=3000) > 0
    model = LinearSVC(solver="coordinate", tol=0.1, C=0.1, max_iter=5000)
    statuses = set()
    for tol in (0.3, 0.1, 0.03):
        found = model.set_params(tol=tol).fit(X, y).certificate_
        assert found.relative_gap <= tol
        assert found.status == ("optimal" if found.kkt_violation <= tol**0.25 else "approximate")
        assert model.certify(X, y).status == found.status
        statuses.add(found.status)
    assert "approximate" in statuses


def test_the_audit_has_a_say(monkeypatch):
    """A solver whose decision values are not those of its weights is not believed."""
    X, y = binary(300)

    def wrong(problem, *rest):
        found = semismooth.solve(problem, *rest)
        return found._replace(f=found.f + shift)

    monkeypatch.setitem(linear_training.SOLVERS, linear_training.Solver.NEWTON, wrong)
    monkeypatch.setattr(workspace, "SETTINGS", workspace.SETTINGS._replace(polish_up_to=0))
    monkeypatch.setattr(together, "SETTINGS", together.SETTINGS._replace(features=0))
    shift = 0.0
    model = LinearSVC(solver="newton", tol=1e-4).fit(X, y)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.audit_error < 1e-12
    shift = np.where(np.arange(300) % 7 == 3, 3e-2, 0.0) * np.where(y == 1, 1, -1)
    model.tol = 0.05  # the gap of those values is within it
    with pytest.warns(ConvergenceWarning, match="Float64"):
        model.fit(X, y)
    assert model.certificate_.audit_error == pytest.approx(3e-2, rel=1e-6)
    assert model.certificate_.relative_gap < 0.05
    assert model.certificate_.status == "stalled"


# ---- data of any scale ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("scale", [1e8, 1e-8])
def test_huge_and_tiny_features(scale, seed):
    """Ten samples of twenty features: the objective is 1e-16 and is reached all the same."""
    random = np.random.default_rng(seed)
    X, y = scale * random.normal(size=(10, 20)), np.arange(10) % 2
    found = LinearSVC().fit(X, y).certificate_
    assert found.status == "optimal"
    unit = LinearSVC(C=scale**2).fit(X / scale, y).certificate_
    assert found.primal * scale**2 == pytest.approx(unit.primal, rel=1e-3)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("scale", [1e8, 1e20, 1e60, 1e150])
def test_no_bare_overflow_and_no_false_word(scale):
    """Whatever the scale: a model, with "optimal" only where its gap is within tol, or an error
    that names the remedy."""
    random = np.random.default_rng(3)
    X, y = scale * random.normal(size=(10, 20)), np.arange(10) % 2
    models = [
        LinearSVC(loss="hinge"),
        LinearSVC(intercept="regularised"),
        LinearSVC(penalty="l1"),
        LinearSVC(solver="coordinate"),
    ]
    for model in (
        *models,
        LinearSVC(),
        LinearSVR(),
        LinearSVR(loss="squared_epsilon_insensitive"),
        LinearOneClassSVM(),
    ):
        refused = ""
        try:
            model.fit(X, y)
        except ValueError as error:
            refused = str(error)
        if refused:
            assert "Scale the data" in refused
        elif model.certificate_.status == "optimal":
            assert model.certificate_.relative_gap <= model.tol
            assert model.certify(X, y).status == "optimal"


def test_a_gap_that_is_rounding_must_not_blur_decision_values():
    """sqrt(2 gap) |x| bounds the error of f.

    For samples of length 1e8 a gap of 1e-13 is not rounding.
    """
    tube = losses.classification(np.array([1.0, -1.0]), np.ones(2), False)
    small, large = (ArrayDesign(s * np.array([[1.0, 0.0], [0.0, 1.0]])) for s in (1.0, 1e8))
    problem = LinearProblem(tube, Bias.FREE)
    assert Gap(1e-14, 0.0, sizes(problem, small).scale).within(0.0)
    assert not Gap(1e-14, 0.0, sizes(problem, large).scale).within(0.0)
    assert Gap(1e-24, 0.0, sizes(problem, large).scale).within(0.0)


def test_a_gap_is_not_lost_beside_the_loss_that_is_rounding():
    """Losses of 1e-32 are rounding of decision values.

    The rest of the gap, |w| = 1e-60, has no digit beside them.
    """
    X, nothing = 1e60 * np.array([[1.0], [-1.0]]), np.zeros(2)
    problem = LinearProblem(
        losses.classification(np.array([1.0, -1.0]), np.ones(2), True), Bias.NONE
    )
    w, f = np.array([1e-60]), (1 - 2.0**-53) * np.array([1.0, -1.0])
    found = LinearSolution(w, 0.0, nothing, f, np.zeros(1), None, 1)
    design = ArrayDesign(X)
    result = verification.evaluate(problem._replace(penalty=Penalty.L1), found)
    result, demand, size = verification.question(
        problem, found, design, result, 1e-4, sizes(problem, design)
    )
    assert result.dual == 0
    assert verdict(None, result, demand, size) is Status.STALLED


def test_a_constant_target_is_no_failure():
    X = np.random.default_rng(0).normal(size=(50, 3))
    for epsilon in (0.0, 0.1):
        assert LinearSVR(epsilon=epsilon).fit(X, np.full(50, 0.1)).certificate_.status == "optimal"


# ---- solvers that take over ----------------------------------------------------------------------


def test_wine_with_dual_true():
    """Coordinate descent needs millions of passes here: Newton's method takes over;
    solver="coordinate" is an order."""
    X, y = load_wine(return_X_y=True)
    exact = LinearSVC().fit(X, y)
    model = LinearSVC(dual=True, max_iter=1_000_000).fit(X, y)
    assert model.solver_ == "newton"
    assert model.n_iter_ < 200
    assert model.certificate_.status == "optimal"
    assert model.certificate_.primal == pytest.approx(exact.certificate_.primal, rel=1e-9)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = LinearSVC(solver="coordinate", max_iter=200).fit(X, y)
    assert (model.solver_, model.n_iter_) == ("coordinate", 200)


def test_dual_true_stays_where_it_converges():
    X, y = binary(400)
    model = LinearSVC(dual=True, C=0.01, tol=1e-2).fit(X, y)
    assert model.solver_ == "coordinate"
    assert model.certificate_.status == "optimal"


def test_newton_hands_over_where_it_stalls():
    X, y = 1e8 * np.random.default_rng(0).normal(size=(10, 20)), np.arange(10) % 2
    with pytest.warns(ConvergenceWarning, match="Float64"):
        alone = LinearSVC(solver="newton").fit(X, y)
    assert alone.n_iter_ < 200, "steps without progress end the work"
    both = LinearSVC().fit(X, y)
    assert (both.solver_, both.certificate_.status) == ("coordinate", "optimal")
    assert both.certificate_.gap < alone.certificate_.gap


# ---- passes that can be interrupted --------------------------------------------------------------


def problem_of(n, d):
    random = np.random.default_rng(0)
    X = np.tile(random.normal(size=(1000, d)).astype(np.float32), (n // 1000, 1))
    y = np.where(X[:, 0] + random.normal(size=n) > 0, 1.0, -1.0)
    return LinearProblem(losses.classification(y, np.ones(n), False), Bias.FREE), ArrayDesign(X)


def test_a_pass_stops_between_its_parts():
    """Where a part of a pass ends the clock is looked at; what was visited by then counts."""
    problem, design = problem_of(100_000, 400)
    monitor = Monitor()
    asked = []

    def stop(steps):
        asked.append(steps)
        return Status.INTERRUPTED if len(asked) > 1 else None

    monitor.stop = stop
    found = dual_coordinate.solve(problem, LinearWorkspace(design, monitor), 1e-6)
    assert asked[:2] == [0, 0], "a pass over this many values has several parts"
    assert found.ended is Status.INTERRUPTED
    assert found.n_iter == 1
    assert 0 < np.count_nonzero(found.t) < 90_000


@pytest.mark.parametrize("threads", [1, 2])
def test_parts_of_a_pass_are_whole_stretches(threads):
    """The descent visits each active sample once, whether a call takes all of them or some."""
    problem, design = problem_of(100_000, 400)
    order, w = np.arange(100_000, dtype=np.int32), np.zeros(400)
    descent = core.coordinate_descent(
        design.points, problem.tube, core.linear_squares(design.points), np.zeros(100_000), 1.0
    )
    ends, bias, aside = [0], 0.0, 1e-3
    while ends[-1] < 100_000:
        _, _, end, bias = descent.run(w, bias, order, 100_000, ends[-1], aside, 7, threads)
        ends.append(end)
    assert len(ends) > 2
    assert (np.diff(ends) > 0).all()
    active = descent.settle(order)
    assert 0 < active <= 100_000
    assert np.array_equal(np.sort(order), np.arange(100_000))
    t = np.empty(100_000)
    descent.duals(t)
    assert np.abs(design.sum(t) - w).max() < 1e-9 * np.abs(w).max()
    assert bias == pytest.approx(t.sum(), abs=1e-9)


def test_a_time_limit_holds_within_a_pass():
    problem, design = problem_of(100_000, 400)
    monitor, began = Monitor(time_limit=0.0), time.perf_counter()
    found = dual_coordinate.solve(problem, LinearWorkspace(design, monitor), 1e-9)
    assert found.ended is Status.TIME_LIMIT
    assert time.perf_counter() - began < 20


# ---- rounding, and what it is not ----------------------------------------------------------------


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("solver", ["newton", "coordinate"])
def test_targets_far_from_zero(loss, solver):
    """The gap is measured by the spread of the targets, not by their distance from 0."""
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3))
    z = X @ [1.0, -2.0, 0.5] + 0.1 * random.normal(size=60)
    near, far = (
        LinearSVR(C=0.05, loss=loss, solver=solver).fit(X, z + shift) for shift in (0.0, 1e6)
    )
    assert (
        near.certificate_.status
        == far.certificate_.status
        == far.certify(X, z + 1e6).status
        == "optimal"
    )
    assert far.certificate_.primal == pytest.approx(near.certificate_.primal, rel=1e-4)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-2, atol=1e-3)


def test_equal_targets_are_solved():
    X = np.random.default_rng(0).normal(size=(5, 3))
    for z in (0.1, 1e9 / 3):
        model = LinearSVR(epsilon=0.0, C=1e6).fit(X, np.full(5, z))
        assert model.certificate_.status == "optimal"
        np.testing.assert_allclose(model.predict(X), z, rtol=1e-12)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_huge_C_of_separable_data(loss):
    """The last digit of a margin times C is much of the objective, and rounding all the same."""
    X, y = (
        np.array([[3.0, 1.0], [2.0, 1.5], [-1.0, 0.3], [-2.0, -1.0], [0.1, -2.0]]),
        np.array([1, 1, 0, 0, 0]),
    )
    model = LinearSVC(C=1e12, loss=loss, tol=1e-8).fit(X, y)
    assert model.certificate_.status == model.certify(X, y).status == "optimal"
    hard = SVC(kernel="linear", C=np.inf, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.coef_, hard.coef_, rtol=1e-5)


# ---- outliers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["newton", "coordinate"])
@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-8])
@pytest.mark.parametrize("n", [1500, 50_000])
def test_at_most_nu_are_outliers(n, tol, solver):
    """Many samples have equal scores, up to rounding, at the boundary."""
    X = np.random.default_rng(3).normal(size=(n, 3)) + 2.0
    X = np.round(X, 1) / 3
    model = LinearOneClassSVM(nu=0.2, tol=tol, solver=solver).fit(X)
    assert model.certificate_.status == model.certify(X).status == "optimal"
    found = model.predict(X)
    assert 0.19 * n <= np.sum(found == -1) <= 0.2 * n
    np.testing.assert_array_equal(model.fit_predict(X), found)


def test_points_on_the_boundary_are_inliers():
    """Solved to rounding, every sample whose dual is inside its bounds is on the boundary."""
    for seed in range(5):
        X = np.random.default_rng(seed).normal(size=(1500, 3)) + 2.0
        model = LinearOneClassSVM(nu=0.2003).fit(X)
        t = model.dual_coef_.toarray()[0]
        free = (t > 1e-6) & (t < 1 - 1e-6)
        assert free.any()
        np.testing.assert_allclose(
            model.decision_function(X[free]), 0, atol=1e-8 * model.offset_[0]
        )
        assert (model.predict(X[free]) == 1).all()
        assert np.sum(model.predict(X) == -1) <= 300
