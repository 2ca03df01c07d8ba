"""Silent wrong answers about kernels: rows 17 to 22 of the failure table."""

import pickle
import warnings

import mpmath
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from helpers import FIVE, assert_close, assert_same_bits, binary, target, values
from maxmargin import SVC, SVR, Kernel, NuSVC, OneClassSVM, kernel_matrix

# ---- rows 17 and 18: gamma="scale" ---------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_sklearn_12741_gamma_scale_is_one_over_features_times_variance(form):
    """gamma="scale" used the standard deviation: it must be 1 / (n_features var(X))."""
    X, y = binary()
    scale, auto = (
        SVC(gamma=g).fit(form(X), y).decision_function(form(X)) for g in ("scale", "auto")
    )
    assert_close(
        scale, SVC(gamma=1 / (4 * X.var())).fit(form(X), y).decision_function(form(X)), 1e-12
    )
    assert_close(auto, SVC(gamma=1 / 4).fit(form(X), y).decision_function(form(X)), 1e-12)


@pytest.mark.parametrize("cls", FIVE)
@pytest.mark.parametrize("power", [-300, -20, -1, 1, 20, 300])
def test_cuml_1353_gamma_scale_follows_the_unit_of_X_bitwise(cls, power):
    """With the right formula the unit of X does not matter.

    X times a power of two must give the same bits.
    """
    X, y = binary()
    y, unit = target(cls, X, y), 2.0**power
    assert_same_bits(values(cls().fit(X * unit, y), X * unit), values(cls().fit(X, y), X))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("power", [-70, -20, 20, 70])
def test_cuml_1353_gamma_scale_follows_the_unit_of_X_beyond_float32(kernel, power, form):
    """Large problems use float32 rows, whose range ends at 1e38.

    The unit of X must not matter there either.
    """
    X, y = binary(1100)
    plain, other = (
        SVC(kernel=kernel, coef0=1.0).fit(form(X * unit), y).decision_function(form(X * unit))
        for unit in (1.0, 2.0**power)
    )
    assert_close(other, plain, 2e-3)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid"])
@pytest.mark.parametrize("power", [-100, -3, 5, 100])
def test_cuml_1353_gamma_follows_the_unit_of_X_bitwise(kernel, power):
    """X times 2^k with gamma over 2^2k is the same kernel: the same bits."""
    X, y = binary()

    def f(unit):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the sigmoid kernel is indefinite
            return (
                SVC(kernel=kernel, gamma=0.25 / unit**2, coef0=0.5)
                .fit(X * unit, y)
                .decision_function(X * unit)
            )

    assert_same_bits(f(2.0**power), f(1.0))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("cls", FIVE)
def test_skordinal_83_constant_X_gives_a_constant_model(cls, form):
    """Zero variance divided by zero.

    Gamma must fall back to 1, and equal points get one finite value (nu-SVC: 0, with a warning).
    """
    X, y = np.full((20, 3), 0.1), np.arange(20) % 2
    if cls is NuSVC:
        with pytest.warns(ConvergenceWarning, match="convex hulls of the classes meet"):
            model = cls().fit(form(X), y)
        np.testing.assert_array_equal(model.decision_function(form(X)), 0)
        assert model.certificate_.status != "optimal"
        return
    model = cls().fit(form(X), y)
    f = values(model, form(X))
    assert np.isfinite(f).all()
    assert np.ptp(f) == 0
    if cls is SVC:
        assert f[0] == pytest.approx(0, abs=1)
    if cls is SVR:
        assert 0.1 <= f[0] <= 0.9
    assert_close(f, values(cls(gamma=1.0).fit(form(X), y), form(X)), 1e-6)


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
def test_sklearn_gamma_scale_does_not_cancel_far_from_the_origin(offset):
    """E[x^2] - E[x]^2 cancels at 1e8.

    Dense, sparse and weighted variances must be those of exact arithmetic.
    """
    X, y = binary()
    X = np.round(X * 2**20) / 2**20 + offset
    exact = 1 / (4 * np.var((X - offset).astype(np.longdouble)))
    for form in (np.asarray, sparse.csr_matrix, sparse.csc_matrix):
        for weight in (None, np.full(60, 3.0)):
            with warnings.catch_warnings():
                # what becomes of the kernel there is tested below
                warnings.simplefilter("ignore", ConvergenceWarning)
                assert SVC().fit(form(X), y, weight)._gamma == pytest.approx(
                    float(exact), rel=1e-12
                )


# ---- row 19: kernels against 40 digits -----------------------------------------------------------

mpmath.mp.dps = 40


def exactly(kernel, x, z):
    """k(x, z) in 40 digits, from the formulas of the lectures."""
    x, z = [mpmath.mpf(float(v)) for v in x], [mpmath.mpf(float(v)) for v in z]
    gamma, coef0 = mpmath.mpf(kernel.gamma), mpmath.mpf(kernel.coef0)
    dot = mpmath.fdot(x, z)
    norm = mpmath.sqrt(mpmath.fdot(x, x) * mpmath.fdot(z, z))
    pairs = list(zip(x, z, strict=True))
    formula = {
        "LINEAR": lambda: dot,
        "POLY": lambda: (gamma * dot + coef0) ** kernel.degree,
        "RBF": lambda: mpmath.exp(-gamma * mpmath.fsum((a - b) ** 2 for a, b in pairs)),
        "TANH": lambda: mpmath.tanh(gamma * dot + coef0),
        "LOGISTIC": lambda: 1 / (1 + mpmath.exp(-(gamma * dot + coef0))),
        "LAPLACIAN": lambda: mpmath.exp(-gamma * mpmath.fsum(abs(a - b) for a, b in pairs)),
        "CHI2": lambda: mpmath.exp(
            -gamma * mpmath.fsum((a - b) ** 2 / (a + b) for a, b in pairs if a + b)
        ),
        "COSINE": lambda: dot / norm if norm else mpmath.mpf(0),
    }
    return float(formula[kernel.kind.name]())


KERNELS = [
    Kernel.linear(),
    Kernel.rbf(gamma=0.7),
    Kernel.rbf(gamma=20.0),
    Kernel.rbf(sigma=0.5),
    Kernel.sigmoid(gamma=0.3, coef0=-0.4),
    Kernel.logistic(sigma=0.8, b=-1.0),
    Kernel.laplacian(gamma=0.9),
    Kernel.chi2(gamma=0.6),
    Kernel.cosine(),
    *(Kernel.poly(degree=degree, gamma=0.6, coef0=0.5) for degree in range(21)),
    *(Kernel.poly(degree=degree, gamma=0.6, coef0=-0.5) for degree in (1, 2, 3, 7)),
]


@pytest.mark.parametrize(
    "kernel", KERNELS, ids=lambda k: f"{k.kind.name}-{k.gamma:g}-{k.coef0:g}-{k.degree}"
)
def test_onedal_1532_kernels_have_the_values_of_forty_digits(kernel):
    """The polynomial kernel was wrong from degree 3 on.

    Every kernel must have the values of 40-digit arithmetic, dense and sparse.
    """
    rng = np.random.default_rng(0)
    X, Z = rng.uniform(0, 1, (6, 5)), rng.uniform(0, 1, (5, 5))
    X[0] = 0
    X[1, :3] = Z[1, :3] = 0
    exact = np.array([[exactly(kernel, x, z) for z in Z] for x in X])
    for form in (np.asarray, sparse.csr_matrix):
        np.testing.assert_allclose(
            kernel_matrix(kernel, form(X), form(Z)),
            exact,
            rtol=2e-14,
            atol=1e-300 + 1e-15 * (kernel.coef0 < 0),
        )
    square = kernel_matrix(kernel, X)
    np.testing.assert_array_equal(square, square.T)


def test_onedal_1532_a_model_uses_the_degree_it_was_given():
    """The whole model, degree by degree, must be that of the precomputed power."""
    X, y = binary()
    for degree in range(7):
        K = (0.5 * X @ X.T + 1) ** degree
        model = SVC(kernel="poly", degree=degree, gamma=0.5, coef0=1.0).fit(X, y)
        assert_close(
            model.decision_function(X),
            SVC(kernel="precomputed").fit(K, y).decision_function(K),
            1e-7,
        )


# ---- row 20: parameters survive a round trip -----------------------------------------------------


@pytest.mark.parametrize(
    "kernel", [*KERNELS[:9], Kernel.poly(degree=2, gamma=0.7, coef0=0.3)], ids=lambda k: k.kind.name
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_skordinal_48_every_kernel_parameter_survives_a_pickle(kernel, form):
    """degree was not saved and read uninitialised.

    After a round trip every attribute and every decision value must have the same bits.
    """
    X, y = binary()
    X = form(np.abs(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SVC(kernel=kernel).fit(X, y)
        again = clone(model).fit(X, y)
    loaded = pickle.loads(pickle.dumps(model))
    assert loaded._kernel == model._kernel == kernel
    assert loaded.get_params() == model.get_params()
    assert vars(loaded).keys() == vars(model).keys()
    for name, value in vars(model).items():
        if isinstance(value, np.ndarray):
            assert_same_bits(getattr(loaded, name), value)
    assert_same_bits(loaded.decision_function(X), model.decision_function(X))
    assert_same_bits(again.decision_function(X), model.decision_function(X))
    assert loaded.certificate_ == model.certificate_


@pytest.mark.parametrize("cls", FIVE)
def test_skordinal_48_every_estimator_survives_a_pickle(cls):
    """All parameters away from their defaults: the loaded model must give the same bits."""
    X, y = binary()
    nu = {"nu": 0.3} if "nu" in cls._parameter_constraints else {}
    model = cls(kernel="poly", degree=2, gamma=0.3, coef0=0.7, **nu).fit(X, target(cls, X, y))
    loaded = pickle.loads(pickle.dumps(model))
    assert (loaded._kernel.degree, loaded._kernel.gamma, loaded._kernel.coef0) == (2, 0.3, 0.7)
    assert_same_bits(values(loaded, X), values(model, X))


# ---- row 21: cancellation far from the origin ----------------------------------------------------


@pytest.mark.parametrize("kind", [Kernel.rbf, Kernel.laplacian])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("offset", [1e3, 1e6, 1e8])
def test_sklearn_9354_kernel_values_do_not_depend_on_the_origin(kind, form, offset):
    """|x|^2 + |z|^2 - 2 x.z cancels far from the origin.

    X + t must give the same kernel, 1 on the diagonal, none above 1.
    """
    X, _ = binary(40)
    X = np.round(X * 2**20) / 2**20  # X + t is exact
    near, far = kernel_matrix(kind(gamma=0.5), X), kernel_matrix(kind(gamma=0.5), form(X + offset))
    np.testing.assert_array_equal(np.diagonal(far), 1.0)
    assert far.max() <= 1.0
    np.testing.assert_allclose(far, near, rtol=0, atol=1e-6)


@pytest.mark.parametrize("cls", FIVE)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("offset", [1e3, 1e6, 1e8])
def test_sklearn_13905_a_model_does_not_depend_on_the_origin(cls, form, offset):
    """LIBSVM trains with the expansion and predicts with differences.

    X + t must give the same decision values, dense and sparse.
    """
    X, y = binary()
    X = np.round(X * 2**20) / 2**20
    y = target(cls, X, y)
    near = values(cls(gamma=0.5).fit(X, y), X)
    far = cls(gamma=0.5).fit(form(X + offset), y)
    assert_close(values(far, form(X + offset)), near, 1e-6)


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e8])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_gpytorch_780_optimal_is_never_said_of_inexact_kernel_values(form, offset):
    """Cancellation made the RBF matrix indefinite.

    "optimal" must hold for the kernel as the formula defines it.
    """
    X, y = binary()
    X = form(X + offset)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SVC(gamma=0.5).fit(X, y)
    if model.certificate_.status == "optimal":
        assert model.certificate_.audit_error <= model.tol
        assert model.certify(X, y).kkt_violation <= model.tol


def test_sklearn_13905_the_kernel_of_fit_is_the_kernel_of_predict():
    """Training and prediction used different kernels.

    Free support vectors must lie on the margin by decision_function itself.
    """
    X, y = binary()
    for offset in (0.0, 1e5):
        model = SVC(gamma=0.5, C=10).fit(X + offset, y)
        free = model.support_[np.abs(model.dual_coef_[0]) < 10]
        assert len(free) > 3
        assert_close(np.abs(model.decision_function(X + offset)[free]), np.ones(len(free)), 1e-8)


@pytest.mark.parametrize("scale", [1e-6, 1e-4, 1e-2])
@pytest.mark.parametrize("cls", [SVC, SVR, OneClassSVM])
def test_gpytorch_780_rbf_is_never_called_indefinite(cls, scale):
    """Rounding made RBF matrices look indefinite.

    The kernel is positive semidefinite, whatever C and the scale of the data.
    """
    X, y = binary(30, 3)
    y, hard = target(cls, X, y), {} if cls is OneClassSVM else {"C": 1e12, "max_iter": 20_000}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = cls(gamma=1.0, **hard).fit(X * scale, y)
    assert model.certificate_.convexity == "proved"
    assert not [w for w in caught if "semidefinite" in str(w.message)]
