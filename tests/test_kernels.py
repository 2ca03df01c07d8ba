"""Every kernel against 50-digit arithmetic, dense and sparse, float64 and float32;
parametrisations; gamma."""

import mpmath
import numpy as np
import pytest
from scipy import sparse
from sklearn import svm

from maxmargin import SVC, Kernel, kernel_matrix
from maxmargin.estimators._data import gamma_value
from maxmargin.kernel.evaluation import kernel_values
from maxmargin.kernel.kernels import Kind
from maxmargin.kernel.sources import make_source

mpmath.mp.dps = 50
rng = np.random.default_rng(0)
X, Z = rng.normal(size=(7, 5)), rng.normal(size=(4, 5))
X[2] = Z[1]  # a pair at distance zero
X[3] = 0.0
HISTOGRAMS = np.abs(X), np.abs(Z)


def exact(kernel, x, z):
    """The kernel's formula in 50 digits."""
    x, z = [mpmath.mpf(float(v)) for v in x], [mpmath.mpf(float(v)) for v in z]
    gamma, coef0 = mpmath.mpf(kernel.gamma), mpmath.mpf(kernel.coef0)
    dot = mpmath.fdot(x, z)
    match kernel.kind:
        case Kind.LINEAR:
            return dot
        case Kind.POLY:
            return (gamma * dot + coef0) ** kernel.degree
        case Kind.RBF:
            return mpmath.exp(-gamma * sum((a - b) ** 2 for a, b in zip(x, z, strict=True)))
        case Kind.TANH:
            return mpmath.tanh(gamma * dot + coef0)
        case Kind.LOGISTIC:
            return 1 / (1 + mpmath.exp(-(gamma * dot + coef0)))
        case Kind.LAPLACIAN:
            return mpmath.exp(-gamma * sum(abs(a - b) for a, b in zip(x, z, strict=True)))
        case Kind.CHI2:
            return mpmath.exp(
                -gamma
                * sum((a - b) ** 2 / (a + b) for a, b in zip(x, z, strict=True) if a + b != 0)
            )
        case Kind.COSINE:
            norm = mpmath.sqrt(mpmath.fdot(x, x) * mpmath.fdot(z, z))
            return dot / norm if norm else mpmath.mpf(0)
    raise AssertionError(kernel)


KERNELS = [
    Kernel.linear(),
    *[Kernel.poly(degree=degree, gamma=0.7, coef0=0.3) for degree in range(21)],
    Kernel.rbf(gamma=0.3),
    Kernel.rbf(gamma=40.0),
    Kernel.rbf(gamma=0.0),
    Kernel.sigmoid(gamma=0.4, coef0=-0.2),
    Kernel.logistic(sigma=0.8, b=0.5),
    Kernel.laplacian(gamma=0.9),
    Kernel.chi2(gamma=1.3),
    Kernel.cosine(),
]


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: f"{k.kind.name}-{k.gamma:g}-{k.degree}")
def test_value(kernel, storage):
    A, B = HISTOGRAMS if kernel.kind is Kind.CHI2 else (X, Z)
    want = np.array([[float(exact(kernel, a, b)) for b in B] for a in A])
    # the argument is rounded relative to its terms; the formula multiplies that by its slope
    terms = kernel.gamma * (np.abs(A) @ np.abs(B).T) + abs(kernel.coef0)
    slope = np.abs(np.log(np.maximum(np.abs(want), 1e-300))) * np.abs(want) + np.abs(want)
    if kernel.kind is Kind.POLY and kernel.degree:
        slope = kernel.degree * np.abs(want) ** (
            1 - 1 / kernel.degree
        ) * terms + kernel.degree * np.abs(want)
    elif kernel.kind in (Kind.LINEAR, Kind.TANH, Kind.LOGISTIC, Kind.COSINE):
        slope = slope + terms
    tolerance = 1e-15 * slope + 1e-300
    got = kernel_matrix(kernel, storage(A), storage(B))
    assert np.all(np.abs(got - want) <= tolerance), np.max(np.abs(got - want) / tolerance)
    single = make_source(kernel, storage(A), storage(B)).block(None, None, np.float32)
    assert single.dtype == np.float32
    assert np.all(np.abs(single - want) <= 2.0**29 * 4 * tolerance + 1e-37)
    assert np.all(np.abs(kernel_values(kernel, storage(A), storage(B)) - want) <= 4 * tolerance)


def test_zero_distance_is_exact():
    for kernel in (Kernel.rbf(gamma=1e6), Kernel.laplacian(gamma=1e6)):
        K = kernel_matrix(kernel, X + 1e3)
        assert np.all(K.diagonal() == 1.0)
        assert np.array_equal(K, K.T)
        assert kernel_matrix(kernel, X, Z)[2, 1] == 1.0


def test_far_tails():
    """exp underflows to zero, without NaN, and huge logistic arguments saturate."""
    assert kernel_matrix(Kernel.rbf(gamma=1e300), X)[0, 1] == 0.0
    assert kernel_matrix(Kernel.logistic(sigma=1e-3), X, -X)[0, 0] == 0.0
    assert kernel_matrix(Kernel.logistic(sigma=1e-3), X)[0, 0] == 1.0


def test_lecture_parametrisations():
    """sigma as the lecture writes it: (47) polynomial, (48) RBF, (49) sigmoidal kernel of
    Fan, "Support Vector Machine"."""
    x, z, sigma, b = X[0], X[1], 1.7, 0.4
    assert kernel_matrix(Kernel.rbf(sigma=sigma), x[None], z[None])[0, 0] == pytest.approx(
        np.exp(-np.sum((x - z) ** 2) / (2 * sigma**2))
    )
    assert kernel_matrix(Kernel.poly(degree=3, sigma=sigma), x[None], z[None])[
        0, 0
    ] == pytest.approx((1 + x @ z / sigma**2) ** 3)
    want = 1 / (1 + np.exp(-(x @ z + b) / sigma**2))
    assert kernel_matrix(Kernel.logistic(sigma=sigma, b=b), x[None], z[None])[
        0, 0
    ] == pytest.approx(want)
    with pytest.raises(ValueError, match="gamma or sigma, not both"):
        Kernel.rbf(gamma=1, sigma=1)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Kernel.rbf(gamma=-1.0), "gamma must be"),
        (lambda: Kernel.rbf(gamma=np.nan), "gamma must be"),
        (lambda: Kernel.rbf(sigma=0.0), "sigma must be"),
        (lambda: Kernel.poly(degree=1.5), "degree must be"),
        (lambda: Kernel.sigmoid(coef0=np.inf), "coef0 must be"),
        (lambda: Kernel.callable(None), "function"),
    ],
)
def test_bad_numbers(build, message):
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e8])
def test_gamma_scale(offset):
    """gamma="scale" is scikit-learn's, in two passes, the same dense and sparse, also far from the
    origin.
    """
    data = rng.normal(size=(50, 3)) + offset
    dense = gamma_value("scale", data, None)
    assert dense == svm.SVC(gamma="scale").fit(data, np.arange(50) % 2)._gamma
    assert gamma_value("scale", sparse.csr_matrix(data), None) == pytest.approx(dense, rel=1e-12)
    weight = rng.integers(1, 4, size=50)
    repeated = gamma_value("scale", np.repeat(data, weight, axis=0), None)
    assert gamma_value("scale", data, weight.astype(float)) == pytest.approx(repeated, rel=1e-12)
    assert gamma_value("scale", sparse.csr_matrix(data), weight.astype(float)) == pytest.approx(
        repeated, rel=1e-12
    )


def test_gamma_scale_with_zeros():
    data = sparse.random(60, 20, density=0.2, random_state=0, format="csr")
    assert gamma_value("scale", data, None) == pytest.approx(
        gamma_value("scale", data.toarray(), None), rel=1e-12
    )
    assert gamma_value("scale", np.ones((5, 2)), None) == 1.0
    assert gamma_value("auto", data, None) == 1 / 20


def test_kernel_record_in_an_estimator():
    y = np.arange(7) % 2
    by_name = SVC(kernel="poly", gamma=0.5, coef0=1.0, degree=2).fit(X, y)
    by_record = SVC(kernel=Kernel.poly(degree=2, gamma=0.5, coef0=1.0)).fit(X, y)
    assert np.array_equal(by_name.decision_function(X), by_record.decision_function(X))
    with pytest.raises(ValueError, match="carries its own numbers; gamma"):
        SVC(kernel=Kernel.rbf(gamma=1.0), gamma=2.0).fit(X, y)


def test_chi2_needs_histograms():
    with pytest.raises(ValueError, match="non-negative"):
        SVC(kernel="chi2").fit(X, np.arange(7) % 2)


def test_kernel_matrix_validates():
    with pytest.raises(TypeError, match="must be a Kernel"):
        kernel_matrix("rbf", X)
    with pytest.raises(ValueError, match="NaN"):
        kernel_matrix(Kernel.rbf(), [[np.nan]])
    with pytest.raises(ValueError, match="features"):
        kernel_matrix(Kernel.rbf(), X, X[:, :2])
    with pytest.raises(ValueError, match="non-negative"):
        kernel_matrix(Kernel.chi2(), X)
    with pytest.raises(ValueError, match="its own matrix"):
        kernel_matrix(Kernel.precomputed(), X)


def test_matrix_of_a_kernel_function():
    kernel = Kernel.callable(lambda A, B: 10 * A[:, :1] + B[:, :1].T)
    np.testing.assert_allclose(kernel_matrix(kernel, X, Z).T, 10 * Z[:, :1] + X[:, :1].T)
    assert kernel_matrix(kernel, X, Z).shape == (7, 4)
    np.testing.assert_allclose(kernel_matrix(kernel, X).T, 10 * X[:, :1] + X[:, :1].T)


def test_kernel_record_refuses_numbers_its_formula_lacks():
    with pytest.raises(ValueError, match="has no gamma"):
        Kernel(Kind.LINEAR, gamma=5.0)
    with pytest.raises(ValueError, match="has no degree"):
        Kernel(Kind.RBF, degree=2)
    with pytest.raises(ValueError, match="'scale'"):
        Kernel.rbf(gamma="scale")


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_repr_can_be_read_back(kernel):
    again = eval(repr(kernel), {"Kernel": Kernel})
    assert again.kind is kernel.kind
    assert (again.gamma, again.coef0, again.degree) == pytest.approx(
        (kernel.gamma, kernel.coef0, kernel.degree), rel=1e-5
    )
