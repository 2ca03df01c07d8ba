"""The certificate: its formulas are P - D, it sees every tampering, and it never calls an unsolved
problem optimal."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from helpers import FIVE, binary, target, values
from maxmargin import SVC, SVR, Kernel, NuSVC, OneClassSVM
from maxmargin.kernel import certificate as kernel_certificate
from maxmargin.kernel.evaluation import kernel_values
from maxmargin.kernel.tube import insensitive

rng = np.random.default_rng(0)
X, label = binary(80)
y = np.where(label == 1, 1.0, -1.0)
K = kernel_values(Kernel.rbf(gamma=0.5), X, X)
z = X[:, 0] + 0.2 * rng.normal(size=80)
C = rng.uniform(0.5, 2.0, size=80)


def feasible_signed():
    """Random b with sum 0 and 0 <= y b <= C."""
    a = rng.uniform(0, 1, size=80) * C
    positive, negative = a[y > 0].sum(), a[y < 0].sum()
    return y * a * np.where(y > 0, min(1, negative / positive), min(1, positive / negative))


def test_classification_gap_is_primal_minus_dual():
    for _ in range(20):
        b, bias = feasible_signed(), rng.normal()
        f = K @ b + bias
        primal = 0.5 * b @ K @ b + np.sum(C * np.maximum(0, 1 - y * f))
        dual = np.sum(y * b) - 0.5 * b @ K @ b
        found = kernel_certificate.classification(f, y, C, b, bias)
        assert (found.primal, found.dual) == pytest.approx((primal, dual))
        assert found.gap == pytest.approx(primal - dual)
        assert found.gap >= 0
        squared = kernel_certificate.classification(f, y, C, b, bias, squared=True)
        assert squared.primal == pytest.approx(
            0.5 * b @ K @ b + np.sum(C * np.maximum(0, 1 - y * f) ** 2)
        )
        assert squared.gap >= 0


def test_regression_gap_is_primal_minus_dual():
    for _ in range(20):
        b = rng.normal(size=80).clip(-C, C)
        b -= b.mean()
        b *= min(1, (C / np.abs(b)).min())
        bias, epsilon = rng.normal(), 0.1
        f = K @ b + bias
        primal = 0.5 * b @ K @ b + np.sum(C * np.maximum(0, np.abs(z - f) - epsilon))
        dual = z @ b - epsilon * np.abs(b).sum() - 0.5 * b @ K @ b
        found = kernel_certificate.regression(f, insensitive(z, C, epsilon), b, bias)
        assert (found.primal, found.dual, found.gap) == pytest.approx((primal, dual, primal - dual))
        squared = insensitive(z, C, epsilon, True)
        assert kernel_certificate.regression(f, squared, b, bias).gap >= 0


def test_one_class_gap_is_primal_minus_dual():
    for _ in range(20):
        b, rho = rng.uniform(0, 1, size=80) * C, rng.uniform(0, 5)
        f = K @ b - rho
        total = b.sum()
        primal = 0.5 * b @ K @ b - rho * total + np.sum(C * np.maximum(0, -f))
        found = kernel_certificate.one_class(f, C, b, rho, total)
        assert (found.primal, found.dual, found.gap) == pytest.approx(
            (primal, -0.5 * b @ K @ b, primal + 0.5 * b @ K @ b)
        )


@pytest.mark.parametrize("estimator", FIVE)
def test_every_fit_is_certified(estimator):
    model = estimator().fit(X, target(estimator, X, label))
    for found in (model.certificate_, model.certify(X, target(estimator, X, label))):
        assert found.status == "optimal"
        assert found.convexity == "proved"
        assert found.relative_gap < 1e-9
        assert found.kkt_violation < 1e-8
        assert found.box_violation < 1e-12
        assert found.equality_violation < 1e-9
        assert found.audit_error < 1e-9
        assert found.n_iter > 0
        assert "optimal: gap" in str(found)


@pytest.mark.parametrize("estimator", FIVE)
def test_certify_sees_tampering(estimator):
    z = target(estimator, X, label)
    model = estimator().fit(X, z)
    model.dual_coef_[0, 0] += 0.1
    found = model.certify(X, z)
    assert found.status != "optimal"
    assert found.kkt_violation > 1e-3
    assert found.equality_violation > 0.05


def test_certify_needs_the_training_data():
    model = SVC().fit(X, label)
    with pytest.raises(ValueError, match="fitted on"):
        model.certify(X[:10], label[:10])
    with pytest.raises(ValueError, match="fitted on"):
        model.certify(X, label + 5)


@pytest.mark.parametrize("estimator", FIVE)
def test_one_step_is_never_optimal(estimator):
    """max_iter=1: a warning, fit_status_ 1, the gap of what was reached, and a model that
    predicts."""
    with pytest.warns(ConvergenceWarning, match="terminated early"):
        model = estimator(max_iter=1).fit(X, target(estimator, X, label))
    assert model.certificate_.status == "max_iter"
    assert model.fit_status_ == 1
    assert model.certificate_.kkt_violation > 1e-3
    assert np.isfinite(values(model, X)).all()


def test_time_limit_of_zero():
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = SVR(time_limit=0.0).fit(X, z)
    assert model.certificate_.status == "time_limit"


def test_worst_of_several():
    model = SVC().fit(X, np.arange(80) % 4)
    whole = model.certificate_
    assert len(whole.parts) == 6
    assert whole.gap == pytest.approx(sum(part.gap for part in whole.parts))
    assert whole.kkt_violation == max(part.kkt_violation for part in whole.parts)
    assert whole.n_iter == sum(model.n_iter_)


def test_decision_error_is_a_bound():
    """The kernel part of every decision value is within sqrt(2 gap k(x, x)) of the exact one."""
    exact = SVC(C=50.0, tol=1e-10).fit(X, label)
    wanted = exact.decision_function(X) - exact.intercept_
    for steps in (5, 20, 60):
        with pytest.warns(ConvergenceWarning):
            rough = SVC(C=50.0, max_iter=steps).fit(X, label)
        error = np.abs(rough.decision_function(X) - rough.intercept_ - wanted).max()
        assert error <= rough.certificate_.decision_error()
        assert rough.certificate_.gap > 0


def test_hard_margin_certificate():
    separable = np.where(X[:, 0] > 0, 1, 0)
    model = SVC(kernel="rbf", gamma=10.0, C=np.inf).fit(X, separable)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.relative_gap < 1e-8
    assert np.min(np.where(separable, 1, -1) * model.decision_function(X)) == pytest.approx(
        1.0, abs=1e-6
    )


@pytest.mark.parametrize("coef0", [-10.0, -1.0, 0.0, 1.0, 10.0])
def test_indefinite_kernel_is_stationary(coef0):
    """A sigmoid kernel that is not positive semidefinite ends, satisfies the conditions, and is
    never called optimal.
    """
    with pytest.warns(ConvergenceWarning, match="not positive semidefinite"):
        model = SVC(kernel="sigmoid", gamma=1.0, coef0=coef0, C=10.0).fit(X, label)
    assert model.certificate_.status == "stationary"
    assert model.certificate_.convexity == "indefinite"
    assert model.certificate_.kkt_violation <= 1e-3
    assert model.fit_status_ == 0
    assert model.certificate_.decision_error() == np.inf


def test_random_indefinite_matrix_ends():
    A = rng.normal(size=(60, 60))
    with pytest.warns(ConvergenceWarning, match="not positive semidefinite"):
        model = SVC(kernel="precomputed").fit(A + A.T, np.arange(60) % 2)
    assert model.certificate_.status == "stationary"


def test_unknown_kernels_are_checked():
    gram = X @ X.T
    assert SVC(kernel="precomputed").fit(gram, label).certificate_.convexity == "checked"
    # x.z - 1e-6 is indefinite as soon as one point is near the origin
    shifted = Kernel.poly(degree=1, gamma=1.0, coef0=-1e-6)
    with pytest.warns(ConvergenceWarning, match="not positive semidefinite"):
        model = SVC(kernel=shifted).fit(np.vstack([X, np.zeros(4)]), np.append(label, 0))
    assert model.certificate_.convexity == "indefinite"


def test_nu_svc_is_certified_as_its_c_svc():
    model = NuSVC(nu=0.4, gamma=0.5).fit(X, label)
    same = SVC(C=1 / model.model_.scales[0], gamma=0.5).fit(X, label)
    np.testing.assert_allclose(model.decision_function(X), same.decision_function(X), atol=1e-7)
    assert model.certificate_.primal == pytest.approx(same.certificate_.primal)


def test_nu_properties():
    """At most nu of the samples are margin errors, at least nu are support vectors (one-class and
    classification).
    """
    for nu in (0.1, 0.3, 0.5):
        detector = OneClassSVM(nu=nu).fit(X)
        assert np.mean(detector.predict(X) == -1) <= nu + 1e-12
        assert np.mean(np.isin(np.arange(80), detector.support_)) >= nu - 1e-12
        model = NuSVC(nu=nu, gamma=2.0).fit(X, label)
        assert np.mean(y * model.decision_function(X) < 1 - 1e-9) <= nu + 1e-12
        assert len(model.support_) >= nu * 80 - 1e-9


@pytest.mark.parametrize(
    ("seed", "solver"), [(1345, "block"), (1677, "block"), (1441, "newton"), (1525, "newton")]
)
def test_certify_never_refutes_what_fit_called_optimal(seed, solver):
    """A linear kernel at C of 1e7.

    Decision values are rounded by nearly tol, and a fit's audit does not look at all rows.
    """
    rng = np.random.default_rng(seed)
    n, d, scale, C = (
        int(rng.integers(65, 160)),
        int(rng.integers(1, 5)),
        10.0 ** rng.uniform(1, 2),
        float(10.0 ** rng.uniform(6, 8)),
    )
    X = scale * rng.normal(size=(n, d))
    y = np.where(X[:, 0] + scale * rng.normal(size=n) > 0, 1, 0)
    y[:2] = 0, 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SVC(kernel="linear", C=C, loss="squared_hinge", solver=solver).fit(X, y)
    assert model.certify(X, y).status != "refuted"
