"""200 random small problems against an interior-point solver of the primal: weights, duplicates,
tiny and huge C, every kernel."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import reference
from maxmargin import SVC, SVR, Kernel, NuSVC, NuSVR, OneClassSVM
from maxmargin.kernel.evaluation import kernel_values

KERNELS = [
    Kernel.linear(),
    Kernel.rbf(gamma=0.5),
    Kernel.rbf(gamma=5.0),
    Kernel.poly(degree=2, gamma=0.5, coef0=1.0),
    Kernel.laplacian(gamma=0.3),
    Kernel.cosine(),
]


def make(seed):
    """A random data set: some rows twice, sample weights, a kernel, a scale of C between 1e-4 and
    1e4."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(8, 40)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d)).round(int(rng.integers(1, 4)))
    X[n // 2 : n // 2 + 3] = X[:3]
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    weight = rng.choice([0.5, 1.0, 2.0, 3.0], size=n) if seed % 2 else np.ones(n)
    return (
        rng,
        X,
        y,
        weight,
        KERNELS[int(rng.integers(len(KERNELS)))],
        float(10.0 ** rng.uniform(-4, 4)),
    )


def agree(certificate, optimum, scale=1.0):
    """The certified interval [dual, primal] holds the optimum, and the gap is at the level of
    rounding.
    """
    slack = 1e-6 * max(abs(optimum), scale)
    assert certificate.status == "optimal"
    assert certificate.dual - slack <= optimum <= certificate.primal + slack
    assert certificate.gap <= 1e-6 * max(abs(certificate.primal), scale)


@pytest.mark.parametrize("seed", range(50))
def test_classification(seed):
    _, X, y, weight, kernel, C = make(seed)
    squared = seed % 5 == 0
    model = SVC(kernel=kernel, C=C, loss="squared_hinge" if squared else "hinge").fit(X, y, weight)
    optimum, _ = reference.classification(kernel_values(kernel, X, X), y, C * weight, squared)
    agree(model.certificate_, optimum, scale=C * 1e-3)
    agree(model.certify(X, y, weight), optimum, scale=C * 1e-3)


@pytest.mark.parametrize("seed", range(50, 90))
def test_regression(seed):
    rng, X, _y, weight, kernel, C = make(seed)
    squared = seed % 5 == 0
    z = np.sin(3 * X[:, 0]) + 0.3 * rng.normal(size=len(X))
    epsilon = float(rng.choice([0.0, 0.05, 0.3]))
    loss = "squared_epsilon_insensitive" if squared else "epsilon_insensitive"
    model = SVR(kernel=kernel, C=C, epsilon=epsilon, loss=loss).fit(X, z, weight)
    optimum, _ = reference.regression(kernel_values(kernel, X, X), z, C * weight, epsilon, squared)
    agree(model.certificate_, optimum, scale=C * 1e-3)
    agree(model.certify(X, z, weight), optimum, scale=C * 1e-3)


@pytest.mark.parametrize("seed", range(90, 120))
def test_one_class(seed):
    rng, X, _, weight, kernel, _ = make(seed)
    nu = float(rng.uniform(0.05, 1.0))
    model = OneClassSVM(kernel=kernel, nu=nu).fit(X, sample_weight=weight)
    optimum, _ = reference.one_class(kernel_values(kernel, X, X), weight, nu)
    agree(model.certificate_, optimum)
    agree(model.certify(X, sample_weight=weight), optimum)


@pytest.mark.parametrize("seed", range(120, 150))
def test_nu_regression(seed):
    rng, X, _, weight, kernel, C = make(seed)
    z = np.sin(3 * X[:, 0]) + 0.3 * rng.normal(size=len(X))
    nu = float(rng.uniform(0.05, 1.0))
    model = NuSVR(kernel=kernel, C=C, nu=nu).fit(X, z, weight)
    optimum, _ = reference.nu_regression(kernel_values(kernel, X, X), z, C * weight, nu)
    assert model.certificate_.primal == pytest.approx(optimum, rel=1e-5, abs=1e-6 * C)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.gap <= 1e-6 * max(abs(optimum), C * 1e-3)


@pytest.mark.parametrize("seed", range(150, 180))
def test_nu_classification(seed):
    rng, X, y, weight, _, _ = make(seed)
    kernel = KERNELS[1 + seed % 2]
    largest = 2 * min(weight[y > 0].sum(), weight[y < 0].sum()) / weight.sum()
    nu = float(rng.uniform(0.3, 0.95)) * largest
    K = kernel_values(kernel, X, X)
    _, f = reference.nu_classification(K, y, weight, nu)
    if not np.abs(f).max() < 1e4:
        with pytest.warns(ConvergenceWarning, match="reduced convex hulls"):
            assert NuSVC(kernel=kernel, nu=nu).fit(X, y, weight).certificate_.status == "degenerate"
        return
    model = NuSVC(kernel=kernel, nu=nu).fit(X, y, weight)
    assert model.certificate_.status == "optimal"
    # the equivalent C-SVC, C_i = w_i / r, has the same decision function
    r = nu * weight.sum() / np.abs(model.dual_coef_).sum()
    optimum, _ = reference.classification(K, y, weight / r)
    agree(model.certificate_, optimum)


@pytest.mark.parametrize("seed", range(180, 200))
def test_hard_margin(seed):
    _, X, y, _, _, _ = make(seed)
    # no two points equal or nearly so: well separable in the RBF's feature space
    X = X + np.arange(len(X))[:, None] * 0.3137
    kernel = Kernel.rbf(gamma=5.0)
    model = SVC(kernel=kernel, C=np.inf).fit(X, y)
    optimum, f = reference.classification(kernel_values(kernel, X, X), y, np.full(len(y), np.inf))
    agree(model.certificate_, optimum)
    np.testing.assert_allclose(model.decision_function(X), f, atol=1e-4 * np.abs(f).max())
