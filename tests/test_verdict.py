"""The rule that calls a solution optimal, and problems that once defeated it or never ended."""

import logging
import time
import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info, threadpool_limits

from helpers import binary, settings
from maxmargin import SVC, SVR, Kernel, NuSVC, NuSVR, OneClassSVM, monitor
from maxmargin.certificate import Certificate
from maxmargin.kernel import block, definiteness, evaluation, problems, working_set
from maxmargin.kernel import certificate as kernel_certificate
from maxmargin.kernel.block import Progress
from maxmargin.kernel.cache import RowCache
from maxmargin.kernel.sources import MatrixSource
from maxmargin.kernel.state import State
from maxmargin.kernel.tube import insensitive
from maxmargin.status import Convexity, Status
from maxmargin.verdict import Demand, Size, error_allowed, verdict, verdict_again

rng = np.random.default_rng(0)
GOOD = Certificate(Status.UNJUDGED, 100.0, 99.5, 0.5, 0.005, 5e-4, 0.0, 0.0)
SIZE = Size(values=10.0, largest=1.0, total=50.0, weight=50.0)
DEMAND = Demand.on_violation(1e-3)


def judged(size=SIZE, **changes):
    return verdict(None, replace(GOOD, **changes), DEMAND, size)


def quiet(model, *data, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*data, **more)


# ---- the rule ------------------------------------------------------------------------------------


def test_what_passes_is_optimal_whatever_the_solver_thought():
    assert Demand.on_violation(1e-3, 2.0) == Demand(2e-3, 1e-2)
    for ended in (None, Status.STALLED, Status.MAX_ITER, Status.TIME_LIMIT):
        assert verdict(ended, GOOD, DEMAND, SIZE) is Status.OPTIMAL
    assert verdict(Status.DEGENERATE, GOOD, DEMAND, SIZE) is Status.DEGENERATE


@pytest.mark.parametrize(
    "broken",
    [
        {"kkt_violation": 1.1e-3},
        {"kkt_violation": 9e-4, "audit_error": 2e-4},
        {"relative_gap": 0.011},
        {"relative_gap": -0.011},
        {"relative_gap": np.inf},
        {"relative_gap": np.nan},
        {"kkt_violation": np.nan},
        {"box_violation": 2e-9},
        {"equality_violation": 1e-7},
        {"relative_gap": 0.0099, "audit_error": 4e-4},
        {"kkt_violation": 1.0, "relative_gap": 2e-9},
        {"kkt_violation": 1.0, "relative_gap": 1e-13, "audit_error": 2e-8},
    ],
    ids=str,
)
def test_each_condition_is_needed(broken):
    """One condition broken.

    What the solver said of itself stays, and it is stalled where it thought it was done.
    """
    assert judged(**broken) is Status.STALLED
    for ended in (Status.MAX_ITER, Status.INTERRUPTED):
        assert verdict(ended, replace(GOOD, **broken), DEMAND, SIZE) is ended
    assert verdict_again(Status.OPTIMAL, replace(GOOD, **broken), DEMAND, SIZE) is Status.REFUTED
    assert verdict_again(Status.STATIONARY, replace(GOOD, **broken), DEMAND, SIZE) is Status.REFUTED
    assert (
        verdict_again(Status.TIME_LIMIT, replace(GOOD, **broken), DEMAND, SIZE) is Status.TIME_LIMIT
    )


def test_an_exact_gap_needs_no_tolerance():
    assert judged(kkt_violation=1.0, gap=1e-11, relative_gap=1e-13) is Status.OPTIMAL


def test_an_exact_gap_is_known_as_well_as_the_decision_values():
    """A gap of 0 in the fit's own decision values says nothing where their error may add more than
    is allowed.
    """
    nothing = replace(GOOD, gap=0.0, relative_gap=0.0, kkt_violation=0.0, audit_error=4e-4)
    assert verdict(None, nothing, DEMAND, SIZE) is Status.OPTIMAL
    assert verdict(None, nothing, DEMAND, SIZE._replace(weight=1e4)) is Status.STALLED
    zero = replace(nothing, primal=1e-20, dual=-1e-20, gap=2e-20)
    assert verdict(None, zero, DEMAND, SIZE._replace(weight=1e4)) is Status.STALLED
    zero = replace(zero, audit_error=9e-12)
    assert verdict(None, zero, DEMAND, SIZE._replace(weight=1e4)) is Status.OPTIMAL
    exact = replace(GOOD, gap=0.0, relative_gap=0.0, kkt_violation=1.0, audit_error=1e-10)
    assert verdict(None, exact, DEMAND, SIZE) is Status.OPTIMAL
    assert verdict(None, exact, DEMAND, SIZE._replace(weight=1e4)) is Status.STALLED


def test_the_error_that_breaks_the_demand():
    room = 0.01 - GOOD.relative_gap
    assert error_allowed(None, GOOD, DEMAND, SIZE) == pytest.approx(1e-3 - GOOD.kkt_violation)
    steep = SIZE._replace(weight=1e4)
    assert error_allowed(None, GOOD, DEMAND, steep) == pytest.approx(room * 100 / (1e4 + 50))
    assert error_allowed(None, replace(GOOD, relative_gap=0.0), DEMAND, SIZE) == 0
    assert error_allowed(None, replace(GOOD, kkt_violation=2e-3), DEMAND, SIZE) == 0
    assert error_allowed(None, replace(GOOD, relative_gap=0.011), DEMAND, SIZE) == 0


@pytest.mark.parametrize("curvature", [1e8, 1e30])
def test_squared_losses_grow_with_the_square_of_an_error(curvature):
    size = SIZE._replace(curvature=curvature)
    error = error_allowed(None, GOOD, DEMAND, size)
    assert 0 < error <= error_allowed(None, GOOD, DEMAND, SIZE)
    assert judged(size=size, kkt_violation=0.0, audit_error=0.999 * error) is Status.OPTIMAL
    assert judged(size=size, kkt_violation=0.0, audit_error=1.1 * error) is Status.STALLED


def test_any_error_is_allowed_where_nothing_depends_on_it():
    broken = replace(GOOD, kkt_violation=1.0)
    for ended in (Status.MAX_ITER, Status.TIME_LIMIT, Status.INTERRUPTED):
        assert error_allowed(ended, broken, DEMAND, SIZE) == np.inf
        assert error_allowed(ended, GOOD, DEMAND, SIZE) < np.inf
    assert error_allowed(Status.STALLED, broken, DEMAND, SIZE) == 0


def test_known_values_are_judged_as_certify_judges_them():
    """The error of the solver's own values no longer counts, and a gap may be as large as there."""
    small = replace(GOOD, kkt_violation=1.0, relative_gap=5e-10)
    for found in (replace(GOOD, audit_error=1.0), small):
        assert verdict(None, found, DEMAND, SIZE) is Status.STALLED
        assert verdict(None, found, DEMAND, SIZE, known=True) is Status.OPTIMAL
        again = replace(found, audit_error=0.0)
        assert verdict_again(Status.OPTIMAL, again, DEMAND, SIZE) is Status.OPTIMAL
    inexact = {"kkt_violation": 1.0, "relative_gap": 1.1e-9}
    for broken in ({"relative_gap": 0.011}, inexact, {"box_violation": 2e-9}):
        assert verdict(None, replace(GOOD, **broken), DEMAND, SIZE, known=True) is Status.STALLED


@pytest.mark.parametrize("kernel", ["laplacian", "sigmoid", "linear", "precomputed"])
def test_certify_sums_as_the_audit_does(kernel):
    """Large coefficients that cancel.

    The sum of the terms depends on their order, its certificate must not.
    """
    r = np.random.default_rng(3)
    X = r.normal(size=(40, 2))
    z = r.normal(size=40)
    K = X @ X.T if kernel == "precomputed" else X
    model = quiet(SVR(kernel=kernel, C=1e11, gamma=1e-6, epsilon=0.0), K, z)
    found, again = model.certificate_, model.certify(K, z)
    assert again.kkt_violation <= found.kkt_violation + found.audit_error * 1.000001
    assert again.status != "refuted"


@pytest.mark.parametrize(
    "convexity", [Convexity.UNKNOWN, Convexity.INDEFINITE, Convexity.NONCONVEX]
)
def test_no_optimum_without_convexity(convexity):
    assert judged(convexity=convexity) is Status.STATIONARY
    assert replace(GOOD, convexity=convexity).decision_error() == np.inf


@pytest.mark.parametrize("convexity", [Convexity.PROVED, Convexity.CHECKED, Convexity.ASSUMED])
def test_what_was_assumed_is_said(convexity):
    assert judged(convexity=convexity) is Status.OPTIMAL
    text = str(replace(GOOD, status=Status.OPTIMAL, convexity=convexity))
    assert text.startswith(
        "optimal (kernel assumed positive semidefinite): gap"
        if convexity == "assumed"
        else "optimal: gap"
    )


def test_imported_models_have_fewer_digits():
    rough = replace(GOOD, box_violation=5e-7, equality_violation=2e-5)
    assert verdict_again(Status.IMPORTED, rough, DEMAND, SIZE) is Status.OPTIMAL
    assert verdict_again(Status.OPTIMAL, rough, DEMAND, SIZE) is Status.REFUTED
    assert (
        verdict_again(Status.IMPORTED, replace(GOOD, relative_gap=0.02), DEMAND, SIZE)
        is Status.REFUTED
    )


# ---- a small gap, too ----------------------------------------------------------------------------


def test_nu_svr_with_huge_weights_has_a_small_gap():
    """Both variables of a sample were about 1e9, their difference about 1.

    Its digits were lost, and with them the gap.
    """
    X = rng.normal(size=(60, 3))
    z = X[:, 0] + 0.1 * rng.normal(size=60)
    weight = np.full(60, 1e9)
    model = NuSVR().fit(X, z, weight)
    assert model.certificate_.relative_gap <= 0.01
    assert (model.certificate_.status, model.certify(X, z, weight).status) == ("optimal", "optimal")


def draw(seed):
    """A small problem of any scale, with duplicates, constant targets and unequal weights now and
    then.
    """
    r = np.random.default_rng(seed)
    n, d = int(r.integers(3, 60)), int(r.integers(1, 5))
    X = r.normal(size=(n, d)) * 10 ** r.uniform(-3, 3)
    z = (
        np.full(n, 3.7)
        if r.random() < 0.2
        else r.normal(size=n) * 10 ** r.uniform(-6, 6) + r.choice([0, 1e3])
    )
    X = X[r.integers(0, n, n)] if r.random() < 0.3 else X
    weight = None if r.random() < 0.5 else 10 ** r.uniform(-4, 4, n)
    return (
        X,
        z,
        weight,
        10 ** r.uniform(-6, 8),
        r.uniform(0.05, 1),
        str(r.choice(["rbf", "linear", "poly"])),
    )


@pytest.mark.parametrize("kind", [NuSVR, SVR, OneClassSVM])
def test_optimal_means_a_small_gap(kind):
    optimal = 0
    for seed in range(40):
        X, z, weight, C, nu, kernel = draw(seed)
        model = kind(kernel=kernel)
        model.set_params(
            **{name: value for name, value in (("C", C), ("nu", nu)) if name in model.get_params()}
        )
        quiet(model, X, z, sample_weight=weight)
        if model.certificate_.status == "optimal":
            optimal += 1
            again = model.certify(X, z, weight)
            assert max(model.certificate_.relative_gap, again.relative_gap) <= 0.010001, seed
            assert again.status == "optimal", seed
    assert optimal >= 30


def test_an_objective_of_zero_has_no_relative_gap():
    """Constant targets: both objectives are rounding of 0, and their quotient says nothing."""
    found = kernel_certificate.regression(
        np.full(5, 3.7) + 4e-16, insensitive(np.full(5, 3.7), np.ones(5), 0.0), np.zeros(5), 3.7
    )
    assert found.gap > 0
    assert found.relative_gap == 0
    found = kernel_certificate.regression(
        np.full(5, 3.8), insensitive(np.full(5, 3.7), np.ones(5), 0.0), np.zeros(5), 3.8
    )
    assert found.relative_gap == 1


def test_the_width_of_the_nu_tube_is_certified():
    """Another width has the gap eps (nu sum(C) - sum |b|), although its SVR is solved."""
    X = rng.normal(size=(50, 2))
    z = X[:, 0] + 0.3 * rng.normal(size=50)
    tube = SVR(epsilon=0.05, C=2.0).fit(X, z)
    model = NuSVR(nu=0.3, C=2.0).fit(X, z)
    assert model.epsilon_ > 0.06
    model.__dict__.update(
        {k: v for k, v in tube.__dict__.items() if k not in ("C", "epsilon")}, epsilon_=0.05
    )
    found = model.certify(X, z)
    assert found.status == "refuted"
    assert found.equality_violation > 0.1


# ---- definiteness --------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [(1050, 1060, 1070, 1080), (3, 4, 5, 6)])
def test_an_indefinite_pair_anywhere_is_seen(rows):
    i, j, k, m = rows
    K = np.eye(1100)
    K[[i, j, k, m], [j, i, m, k]] = -50.0
    with pytest.warns(ConvergenceWarning, match="not positive semidefinite"):
        model = SVR(kernel="precomputed", C=1.0, epsilon=0.1).fit(K, rng.normal(size=1100))
    assert (model.certificate_.status, model.certificate_.convexity) == ("stationary", "indefinite")


def test_a_large_given_matrix_is_assumed_and_said_to_be():
    X = rng.normal(size=(1100, 3))
    model = SVC(kernel="precomputed").fit(X @ X.T, X[:, 0] > 0.3)
    assert (model.certificate_.status, model.certificate_.convexity) == ("optimal", "assumed")
    assert "kernel assumed positive semidefinite" in str(model.certificate_)


def test_a_kernel_that_need_not_be_positive_is_stationary_where_it_cannot_be_checked():
    X = 0.1 * rng.normal(size=(1100, 2))
    model = quiet(SVC(kernel="sigmoid", gamma=0.01, coef0=1.0), X, X[:, 0] > 0)
    assert model.certificate_.status == "stationary"
    assert model.certificate_.convexity in ("unknown", "indefinite")


def symmetric_matrix(n, least):
    """A random symmetric matrix with eigenvalues 1 and, once, least."""
    Q = np.linalg.qr(np.random.default_rng(1).normal(size=(n, n)))[0]
    return (Q * np.append(least, np.ones(n - 1))) @ Q.T


@pytest.mark.parametrize(
    ("least", "positive"), [(1.0, True), (-1e-12, True), (-1e-7, False), (-0.5, False)]
)
def test_slightly_indefinite_matrices(least, positive):
    K = symmetric_matrix(60, least)
    assert definiteness.is_positive_semidefinite(K) is positive
    assert definiteness.is_positive_semidefinite(1e6 * K) is positive
    assert definiteness.least_eigenvalue_below(K) is not positive
    assert not definiteness.least_eigenvalue_below(K, rounding=1e-5)
    assert not definiteness.has_bad_pair(K) or not positive


def test_pairs_are_compared_with_their_diagonal():
    K = np.diag([1.0, 4.0, 9.0])
    K[0, 2] = K[2, 0] = 2.999
    assert not definiteness.has_bad_pair(K)
    K[0, 2] = K[2, 0] = -3.001
    assert definiteness.has_bad_pair(K)
    assert definiteness.has_bad_pair(np.diag([1.0, -1e-3]))


def test_lanczos_decides_beyond_the_rows_of_cholesky(monkeypatch):
    settings(monkeypatch, definiteness, cholesky_rows=40)
    assert definiteness.refuted(symmetric_matrix(60, -0.05), np.arange(60), 1e-15)
    assert not definiteness.refuted(symmetric_matrix(60, 0.05), np.arange(60), 1e-15)


def rbf_of(dtype, A, B):
    return np.exp(-((A[:, None] - B) ** 2).sum(axis=2)).astype(dtype)


@pytest.mark.parametrize("n", [200, 1100])
def test_a_kernel_function_may_return_float32(n):
    """Its rounding does not count as indefiniteness, for any number of rows."""
    X = np.random.default_rng(2).normal(size=(n, 2))
    X[n // 2 :] = X[: n - n // 2] + 1e-7
    model = SVC(kernel=partial(rbf_of, np.float32), C=10.0).fit(
        X, X[:, 0] + 0.3 * X[:, 1] ** 2 > 0.2
    )
    assert (model.certificate_.status, model.certificate_.convexity) == (
        "optimal",
        "checked" if n == 200 else "assumed",
    )


@pytest.mark.parametrize(("coef0", "proved"), [(0.0, True), (2.0, True), (-1e-3, None)])
def test_a_polynomial_is_proved_to_be_positive_only_where_it_is(coef0, proved):
    kernel = Kernel.poly(degree=2, gamma=1.0, coef0=coef0)
    assert kernel.coef0 == coef0
    assert kernel.positive_semidefinite is proved
    assert (Kernel.poly(sigma=2.0).coef0, Kernel.poly(sigma=2.0, coef0=coef0).coef0) == (1.0, coef0)
    A = rng.normal(size=(4, 3))
    np.testing.assert_allclose(evaluation.kernel_values(kernel, A, A), (A @ A.T + coef0) ** 2)


# ---- the boundary of a one-class model -----------------------------------------------------------


@pytest.mark.parametrize("tol", [1e-3, 1e-8])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_points_on_the_boundary_are_inliers(kernel, tol):
    """More rows than are solved to rounding.

    Free support vectors have f of either sign, within tol.
    """
    X = np.random.default_rng(3).normal(size=(1500, 3)) + 2.0
    model = OneClassSVM(nu=0.2, tol=tol, kernel=kernel).fit(X)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.kkt_violation <= tol
    free = (model.dual_coef_[0] > 0) & (model.dual_coef_[0] < 1)
    assert free.any()
    assert (model.predict(X[model.support_[free]]) == 1).all()
    assert np.sum(model.predict(X) == -1) <= 300
    np.testing.assert_array_equal(model.fit_predict(X), model.predict(X))
    assert model.certify(X).status == "optimal"


# ---- every fit ends ------------------------------------------------------------------------------

ALTERNATING = np.arange(5) % 2


@pytest.mark.parametrize(
    ("model", "X"),
    [
        (SVC(kernel="poly"), np.full((5, 1), 1e4)),
        (SVR(kernel="poly"), np.full((5, 1), 1e4)),
        (NuSVR(kernel="poly"), np.full((5, 1), 1e4)),
        (OneClassSVM(kernel="poly"), np.full((5, 1), 1e4)),
        (SVC(kernel="precomputed"), np.full((5, 5), 1e20)),
        (SVR(kernel="precomputed"), np.full((5, 5), 1e20)),
        (SVC(kernel="linear"), np.full((5, 3), 1e10)),
        (SVC(kernel="linear"), np.full((1200, 3), 1e10)),
    ],
    ids=str,
)
def test_equal_rows_with_huge_kernel_values(model, X):
    """No curvature between equal rows: steps go to the bounds at once, and the answer is right:
    nothing but a constant."""
    y = np.resize(ALTERNATING, len(X))
    began = time.perf_counter()
    model.fit(X, y)
    assert time.perf_counter() - began < 10
    assert model.certificate_.status == "optimal"
    assert model.certificate_.n_iter <= len(X)
    if isinstance(model, SVR):
        np.testing.assert_allclose(model.predict(X), np.clip(np.median(y), 0.1, 0.9), atol=1e-3)


# ---- weights of any scale, and what is stopped early ---------------------------------------------


@pytest.mark.parametrize("scale", [1e100, 1e300, 1e-300])
def test_nu_svc_does_not_see_the_scale_of_weights(scale):
    X, y = binary(80)
    weight = rng.uniform(0.5, 2.0, size=80)
    wanted = NuSVC(nu=0.4).fit(X, y, weight)
    model = NuSVC(nu=0.4).fit(X, y, weight * scale)
    assert model.certificate_.status == "optimal"
    np.testing.assert_allclose(model.decision_function(X), wanted.decision_function(X), atol=1e-6)
    assert model.certify(X, y, weight * scale).status == "optimal"


@pytest.mark.parametrize("kind", [NuSVR, SVR])
@pytest.mark.parametrize(("n", "C"), [(40, 1e4), (1700, 1e6)])
@pytest.mark.parametrize("steps", [0, 1, 30])
def test_a_regression_stopped_early_is_no_worse_than_a_constant(kind, n, C, steps):
    r = np.random.default_rng(4)
    X = r.normal(size=(n, 3))
    z = 3 * np.sin(X[:, 0]) + 0.1 * r.normal(size=n)
    model = quiet(kind(C=C, kernel="linear", max_iter=steps), X, z)
    assert model.certificate_.status == "max_iter"
    constant = C * np.abs(z - np.median(z)).sum()
    assert model.certificate_.primal <= constant * (1 + 1e-9)
    assert model.score(X, z) > -1
    assert model.certify(X, z).primal == pytest.approx(model.certificate_.primal, rel=1e-6)


@pytest.mark.parametrize("steps", [0, 1, 30])
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_squared_losses_stopped_early_are_no_worse_than_a_constant(steps, epsilon):
    r = np.random.default_rng(4)
    X = r.normal(size=(60, 3))
    z, weight, C = 3 * np.sin(X[:, 0]) + 0.1 * r.normal(size=60), r.uniform(0.5, 2, 60), 1e4
    model = SVR(C=C, kernel="poly", gamma=1e5, max_iter=steps, epsilon=epsilon)
    model = quiet(model.set_params(loss="squared_epsilon_insensitive"), X, z, sample_weight=weight)
    assert model.certificate_.status == "max_iter"
    ends = np.linspace(z.min(), z.max(), 2001)
    away = np.maximum(0.0, np.abs(z - ends[:, None]) - epsilon)
    assert model.certificate_.primal <= (C * weight * away**2).sum(axis=1).min() * (1 + 1e-6)
    again = model.certify(X, z, sample_weight=weight)
    assert again.primal == pytest.approx(model.certificate_.primal, rel=1e-6)


# ---- guards --------------------------------------------------------------------------------------


def test_values_beyond_float32_are_computed_in_float64():
    """K of up to 1e42 with C of 1e-39 is the same problem as K with C = 1."""
    r = np.random.default_rng(5)
    X = r.normal(size=(1100, 2))
    y = X[:, 0] + 0.5 * X[:, 1] + 0.3 * r.normal(size=1100) > 0
    model = SVC(kernel="poly", gamma=1e13, C=1e-39, degree=3, tol=1e-5).fit(X, y)
    wanted = SVC(kernel="poly", gamma=1.0, C=1.0, degree=3, tol=1e-5).fit(X, y)
    assert model.certificate_.status == "optimal"
    np.testing.assert_allclose(model.decision_function(X), wanted.decision_function(X), atol=5e-3)


def test_the_tube_of_a_regression_without_loss_is_widened_to_the_residuals():
    X = rng.normal(size=(40, 3))
    z = X[:, 0] ** 2
    model = SVR(C=np.inf, epsilon=0.1).fit(X, z)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.relative_gap <= 0.01
    f = np.array([1.0, 2.0])
    wide = kernel_certificate.regression(
        f, insensitive(np.array([1.0, 2.3]), np.full(2, np.inf), 0.1), np.zeros(2), 0.0
    )
    assert (wide.gap, wide.kkt_violation) == (0.0, 0.0)


def test_blas_has_its_threads_again_after_one_fit():
    X, y = binary(60)
    with threadpool_limits(2, user_api="blas"):
        SVC(C=100.0).fit(X, y)
        assert {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"} == {2}


def test_problems_not_begun_at_a_time_limit_know_nothing():
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 4
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = SVC(time_limit=0.0).fit(X, y)
    first, *others = model.certificate_.parts
    assert np.isfinite(first.gap)
    assert all((part.status, part.gap, part.n_iter) == ("time_limit", np.inf, 0) for part in others)
    with pytest.warns(ConvergenceWarning, match="max_iter=0"):
        model = SVC(max_iter=0).fit(X, y)
    assert all(np.isfinite(part.gap) for part in model.certificate_.parts)


@pytest.mark.parametrize(
    ("b", "F", "endless"),
    [((1.0, -1.0), 0.0, True), ((1.0, -1.0), 1.0, False), ((-1.0, 1.0), 0.0, False)],
)
def test_a_problem_without_bounds_falls_forever_along_a_direction_without_norm(b, F, endless):
    """SVR with C = inf on two equal points of unequal targets; not where the norm grows, nor where
    the objective does not fall."""
    problem = problems.svr(insensitive(np.array([1.0, -1.0]), np.full(2, np.inf), 0.1))
    variables = np.array([max(b[0], 0.0), max(b[1], 0.0), min(b[0], 0.0), min(b[1], 0.0)])
    state = State(problem, variables, F * np.array(b), variables, np.zeros(2), diagonal=1.0)
    assert state.no_minimum() is endless


def test_progress_is_shown_between_rounds(monkeypatch, caplog):
    settings(monkeypatch, monitor, report_every=0.0)
    caplog.set_level(logging.INFO, "maxmargin")
    X = rng.normal(size=(3500, 3))
    SVC(verbose=True).fit(X, X[:, 0] * X[:, 1] > 0)
    *lines, last = [record.message for record in caplog.records]
    assert last.endswith(": optimal")
    assert lines
    assert all("steps, gap" in line and line.endswith(" s") for line in lines)


class Crooked(MatrixSource):
    """The identity in float64; in float32, as if by rounding, minus the identity."""

    convex, dtypes = True, (np.float32, np.float64)

    def __init__(self, n):
        super().__init__(np.eye(n))
        self.rounded = MatrixSource(-np.eye(n))

    def block(self, a, b, dtype):
        return (
            self.rounded.block(a, b, dtype).astype(dtype)
            if dtype == np.float32
            else super().block(a, b, dtype)
        )

    def add_product(self, a, coef, b, out, dtype):
        (self.rounded if dtype == np.float32 else super()).add_product(a, coef, b, out, np.float64)


def test_rounded_values_may_not_lead_above_a_primal_value(monkeypatch):
    """No dual value of a convex problem exceeds the primal value at 0.

    Float32 then gives up where it was exact.
    """
    settings(monkeypatch, working_set, least=8, most=8)
    y = np.where(np.arange(200) % 2, 1.0, -1.0)
    source, problem = Crooked(200), problems.c_svc(y, np.full(200, 10.0))
    nothing = np.zeros(200)
    state = State(
        problem,
        nothing.copy(),
        nothing.copy(),
        nothing.copy(),
        nothing.copy(),
        diagonal=1.0,
        convex=True,
    )
    reason = block._descend(state, RowCache(source, np.float32, 0.0), 1e-3, monitor.Monitor())
    assert reason is Status.STALLED
    assert not state.b.any()
    assert not state.F.any()


def test_a_solver_that_creeps_ends():
    """Kernel values of 1e15 and more under a squared loss.

    Each round lowered a dual of nearly 0 by some share of itself.
    """
    r = np.random.default_rng(5)
    X = 1e5 * r.normal(size=(180, 1))
    model = quiet(
        SVR(kernel="poly", gamma=1.0, C=17.5, epsilon=0.0, loss="squared_epsilon_insensitive"),
        X,
        r.normal(size=180),
    )
    assert model.certificate_.status == "stalled"
    assert model.n_iter_ <= 2_000_000


def test_what_creeping_is():
    """A window of rounds, or of steps, without a fall of the objective or of the violation."""
    problem = problems.c_svc(np.array([1.0, -1.0]), np.ones(2))
    state = State(problem, np.array([0.5, -0.5]), np.array([0.5, -0.5]), np.zeros(2), np.zeros(2))
    progress, window = Progress(), block.SETTINGS.window_rounds
    assert [progress.creeps(state) for _ in range(2 * window)] == [False] * (2 * window - 1) + [
        True
    ]
    state.b = 0.6 * np.sign(state.b)
    assert not any(progress.creeps(state) for _ in range(window))
    state.steps += 2 * block.SETTINGS.window_steps
    assert progress.creeps(state)


def test_indefinite_problems_end():
    """Pair steps go on only as long as they lower the objective."""
    A = np.random.default_rng(7).normal(size=(80, 80))
    K = 1e12 * (A + A.T)
    began = time.perf_counter()
    model = quiet(SVC(kernel="precomputed", C=1e3), K, np.arange(80) % 2)
    assert time.perf_counter() - began < 10
    assert model.certificate_.status in ("stationary", "stalled")


def test_huge_objectives_raise_no_warning():
    f = np.array([1e300, -1e300])
    found = kernel_certificate.classification(
        f, np.array([1.0, -1.0]), np.full(2, 1e200), np.array([1e200, -1e200]), 0.0
    )
    assert verdict(None, found, DEMAND, SIZE) is Status.STALLED


def test_errors_that_solvers_leave_do_not_stall_a_fit(monkeypatch):
    """Decision values known to 1e-5 are good enough for tol, but not for the gap at C=1e6.

    They are computed again.
    """
    settings(monkeypatch, working_set, stiff=2, settled=10.0)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5000, 10)), rng.integers(0, 2, 5000)
    model = SVC(C=1e6, gamma=0.1).fit(X, y)
    assert model.certificate_.status == model.certify(X, y).status == "optimal"
    assert model.certificate_.gap == pytest.approx(model.certify(X, y).gap, rel=1e-3)
