"""Silent wrong answers of solvers: rows 1, 2, 22, 26, 28, 29 and 33 of the failure table.

Compared are decision values and objectives.
"""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale

import reference
from helpers import FIVE, assert_close, assert_same_bits, binary, target, values
from maxmargin import SVC, SVR, NuSVC, OneClassSVM

# ---- row 1: stopping early -----------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_sklearn_22283_linear_svm_reaches_the_interior_point_objective(C, loss):
    """LinearSVC(hinge) plateaued above the optimum.

    The objective, computed from coef_ alone, must be the true minimum.
    """
    X, y = load_breast_cancer(return_X_y=True)
    X, sign = scale(X)[:100], np.where(y[:100] == 1, 1.0, -1.0)
    model = SVC(kernel="linear", C=C, loss=loss).fit(X, sign)
    assert_close(X @ model.coef_[0] + model.intercept_, model.decision_function(X))
    slack = np.maximum(0, 1 - sign * model.decision_function(X))
    primal = 0.5 * np.sum(model.coef_**2) + C * np.sum(slack if loss == "hinge" else slack**2)
    best, _ = reference.classification(X @ X.T, sign, np.full(100, C), loss == "squared_hinge")
    assert primal <= best * (1 + 1e-7)
    assert model.certificate_.primal == pytest.approx(primal, rel=1e-9)
    assert abs(model.certificate_.gap) <= 1e-9 * primal


def test_sklearn_18264_centred_iris_does_not_depend_on_seed_or_order():
    """LIBLINEAR got stuck on centred iris, depending on the seed.

    Order and random_state must not matter.
    """
    X, y = load_iris(return_X_y=True)
    X, y = scale(X[50:], with_std=False), y[50:]
    first = SVC(kernel="linear", random_state=0).fit(X, y)
    assert first.certificate_.gap <= 1e-10 * first.certificate_.primal
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(y))
        again = SVC(kernel="linear", random_state=seed).fit(X[order], y[order])
        assert again.certificate_.primal == pytest.approx(first.certificate_.primal, rel=1e-10)
        assert_close(again.decision_function(X), first.decision_function(X))


@pytest.mark.parametrize("cls", FIVE)
def test_osqp_273_optimal_means_feasible_and_certified(cls):
    """OSQP said "solved" of an infeasible point.

    "optimal" must hold when everything is recomputed in float64 from the model.
    """
    X, y = binary(90)
    y = target(cls, X, y)
    model = cls(gamma=0.3).fit(X, y)
    for found in (model.certificate_, model.certify(X, y)):
        assert found.status == "optimal"
        assert found.kkt_violation <= 1e-9
        assert found.box_violation <= 1e-12 * np.abs(model.dual_coef_).max()
        assert found.equality_violation <= 1e-12 * np.abs(model.dual_coef_).sum()
        assert abs(found.relative_gap) <= 1e-9
        assert found.audit_error <= 1e-9


# ---- row 2: a cap or stagnation reported as success ----------------------------------------------


@pytest.mark.parametrize("cls", FIVE)
@pytest.mark.parametrize(
    ("limit", "status"), [({"max_iter": 1}, "max_iter"), ({"time_limit": 0}, "time_limit")]
)
def test_cuml_smosolver_297_a_budget_is_never_reported_as_success(cls, limit, status):
    """cuML set fit_status_ = 0 whatever happened.

    A spent budget must warn, say so, and keep the gap reached.
    """
    X, y = binary()
    y = target(cls, X, y)
    with pytest.warns(ConvergenceWarning, match=next(iter(limit))):
        model = cls(gamma=1.0, **limit).fit(X, y)
    assert (model.fit_status_, model.certificate_.status) == (1, status)
    full = cls(gamma=1.0).fit(X, y)
    assert full.fit_status_ == 0
    assert model.certificate_.kkt_violation > 1e-3 >= full.certificate_.kkt_violation
    assert model.certify(X, y).status == status
    assert np.isfinite(values(model, X)).all()


def test_cuml_smosolver_297_stagnation_is_never_reported_as_success():
    """Where float64 can no more, the fit must end, warn, and not say optimal.

    A gap at rounding is optimal whatever tol asks.
    """
    X, y = binary()
    model = SVC(tol=1e-300).fit(X, y)
    assert model.certificate_.status == "optimal"
    assert abs(model.certificate_.relative_gap) <= 1e-12
    rough = np.exp(30 * X)  # kernel values from 1e-20 to 1e40
    with pytest.warns(ConvergenceWarning, match="cannot reach the tolerance|terminated early"):
        model = SVC(kernel="linear", C=1e6, max_iter=10**6).fit(rough, y)
    assert model.fit_status_ == 1
    assert model.certificate_.status in ("stalled", "max_iter")


# ---- row 22: C and scale -------------------------------------------------------------------------


@pytest.mark.parametrize("C", 10.0 ** np.arange(-6, 13, 3))
@pytest.mark.parametrize("size", 10.0 ** np.arange(-6, 7, 3))
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("cls", [SVC, SVR])
def test_libsvm_faq_float32_cache_huge_C_ends_with_a_certificate_or_a_warning(cls, kernel, size, C):
    """Single precision loses the solution at huge C.

    A fit must satisfy a recomputed certificate or warn, never neither or both.
    """
    X, y = binary(30, 3)
    X, y = X * size, target(cls, X, y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = cls(kernel=kernel, gamma=1.0, C=C, max_iter=30_000).fit(X, y)
    warned = [w.category for w in caught]
    assert warned in ([], [ConvergenceWarning])
    assert (model.fit_status_ == 1) == bool(warned) == (model.certificate_.status != "optimal")
    found = model.certify(X, y)
    assert found.status == model.certificate_.status
    assert found.box_violation <= 1e-15 * C
    if not warned:
        assert found.kkt_violation <= model.tol
        assert -1e-12 <= found.relative_gap <= 0.01
        assert found.gap <= 2 * model.tol * C * len(y)


@pytest.mark.parametrize("C", [1.0, 1e3, 1e6, 1e9])
@pytest.mark.parametrize("cls", [SVC, SVR])
def test_libsvm_faq_float32_cache_optimal_means_a_small_relative_gap(cls, C):
    """A violation of 1e-3 at C=1e6 can be an objective a hundred times too high.

    "optimal" must mean a small gap, else the fit warns.
    """
    X, y = binary(1100, 6)  # large enough for float32 rows
    y = target(cls, X, y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = cls(C=C, gamma=5.0, max_iter=1_000_000).fit(X, y)
    found = model.certify(X, y)
    assert caught or (
        found.status == "optimal"
        and found.kkt_violation <= model.tol
        and found.relative_gap <= 0.01
    )


def test_cuml_1349_float32_data_give_the_model_of_the_same_numbers_in_float64():
    """Data cast to float32 lost the solution at large C.

    Float32 input must give the model of the same numbers in float64.
    """
    X, y = binary(80)
    X32 = X.astype(np.float32)
    for C in (1.0, 1e6):
        single, double = (
            SVC(C=C, gamma=0.5).fit(data, y) for data in (X32, X32.astype(np.float64))
        )
        assert_same_bits(
            single.decision_function(X32), double.decision_function(X32.astype(np.float64))
        )
        assert single.certify(X32, y).kkt_violation <= 1e-6


# ---- rows 26, 28, 29, 33 -------------------------------------------------------------------------


@pytest.mark.parametrize("cls", FIVE)
def test_sklearnex_15_duplicate_rows_change_no_decision_value(cls):
    """Duplicates make the dual not unique.

    The order of equal rows may change coefficients, not decision values or the objective.
    """
    X, y = binary(30)
    X, y = np.vstack([X, X, X]), np.tile(target(cls, X, y), 3)
    model = cls(gamma=0.5).fit(X, y)
    order = np.random.default_rng(1).permutation(len(y))
    other = cls(gamma=0.5).fit(X[order], y[order])
    assert_close(values(other, X), values(model, X), 1e-7)
    assert other.certificate_.primal == pytest.approx(
        model.certificate_.primal, rel=1e-9, abs=1e-12
    )


def test_sklearnex_15_conflicting_duplicates_reach_the_interior_point_optimum():
    """Equal rows with opposite labels make the kernel matrix singular.

    The objective must still be the true minimum.
    """
    X, y = binary(30)
    X, sign = np.vstack([X, X]), np.concatenate([2.0 * y - 1, 1 - 2.0 * y])
    sign[:8] = 1
    for C in (0.1, 10.0, 1e4):
        best, _ = reference.classification(rbf_kernel(X, gamma=0.5), sign, np.full(len(sign), C))
        assert SVC(C=C, gamma=0.5).fit(X, sign).certificate_.primal == pytest.approx(best, rel=1e-7)


@pytest.mark.parametrize("model", [SVC(), SVC(loss="squared_hinge"), SVR(), NuSVC(nu=0.71)])
def test_sklearn_26812_the_intercept_is_not_penalised(model):
    """LinearSVC penalises its intercept, so a shift of the data changes it.

    Here X + t must give the same decision values.
    """
    X, y = binary()
    y = target(model, X, y)
    model = clone(model).set_params(kernel="linear")
    plain = values(model.fit(X, y), X)
    assert_close(values(model.fit(X + 100.0, y), X + 100.0), plain, 1e-7)


@pytest.mark.parametrize("cls", FIVE)
@pytest.mark.parametrize("max_iter", [-1, 0, 1, 7])
def test_sklearn_34029_n_iter_is_a_count_within_the_budget(cls, max_iter):
    """An uninitialised n_iter_ gave false convergence warnings.

    It must be a count from 0 to max_iter, and repeatable.
    """
    X, y = binary()
    y = target(cls, X, y)

    def count():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return np.ravel(cls(gamma=1.0, max_iter=max_iter).fit(X, y).n_iter_)

    found = count()
    assert np.issubdtype(found.dtype, np.integer)
    assert len(found) == 1
    assert 0 <= found[0] <= (max_iter if max_iter >= 0 else 10**8)
    assert_same_bits(count(), found)


@pytest.mark.parametrize("nu", [0.01, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_libsvm_faq_one_class_nu_bounds_outliers_and_support_vectors(nu, kernel):
    """Points exactly on the boundary were counted as outliers.

    Outliers <= nu n <= support vectors must hold by predict itself.
    """
    X = load_diabetes().data[:200] + 1.0
    model = OneClassSVM(nu=nu, kernel=kernel).fit(X)
    outliers = np.count_nonzero(model.predict(X) == -1)
    assert outliers <= nu * 200 <= len(model.support_)
    assert outliers == np.count_nonzero(model.decision_function(X) < 0)


@pytest.mark.parametrize("nu", [0.2, 0.5, 0.8])
def test_libsvm_faq_nu_svc_nu_bounds_margin_errors_and_support_vectors(nu):
    """Margin errors <= nu n <= support vectors, counted with a tolerance at rounding level."""
    X, y = binary(100)
    model = NuSVC(nu=nu, gamma=1.0).fit(X, y)
    errors = np.count_nonzero((2 * y - 1) * model.decision_function(X) < 1 - 1e-9)
    assert errors <= nu * 100 <= len(model.support_)


def test_hunt_16161616_1689_nearly_equal_kernel_values_and_a_variable_near_its_bound():
    """A variable within 1e-12 of its bound was put onto it, and the coefficients no longer summed
    to 0: decision values moved by 1e-7, 10,000 times the violation that the fit had found.
    """
    points = [(0.26042042591465175, 22448.733939185906), (0.05941400113541749, 7481.6767032622765)]
    points += [(0.3908332096982055, 18823.75475822993), (0.14771444450422427, 22288.448846287214)]
    points += [(0.22562700279835157, 785.0365506358409)]
    X = np.array(points)[[0, 0, 1, 2, 3, 0, 2, 4, 0, 2, 4]]
    y = np.array([0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 0])
    model = NuSVC(kernel="laplacian", nu=0.572, tol=0.01).fit(X, y)
    assert model.certificate_.status == "optimal"
    assert abs(model.dual_coef_.sum()) <= 1e-15 * np.abs(model.dual_coef_).sum()
    assert model.certify(X, y).kkt_violation <= 1e-10
