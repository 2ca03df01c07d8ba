"""ExpectileSVR: 100 random problems against a quadratic program, kernel ridge regression, exact
relations."""

import numpy as np
import pytest
from sklearn.base import clone

import reference
from maxmargin import SVR, ExpectileSVR, io
from maxmargin.kernel.evaluation import kernel_values
from test_against_qp import make

rng = np.random.default_rng(4)
X = rng.uniform(0, 5, size=(70, 2))
y = np.sin(X[:, 0]) + 0.3 * X[:, 1] * rng.normal(size=70)


@pytest.mark.parametrize("seed", range(100))
def test_against_a_quadratic_program(seed):
    draw, A, _, weight, kernel, C = make(seed)
    z = np.sin(3 * A[:, 0]) + 0.3 * draw.normal(size=len(A))
    level = float(draw.uniform(0.02, 0.98))
    model = ExpectileSVR(expectile=level, C=C, kernel=kernel).fit(A, z, weight)
    found, again = model.certificate_, model.certify(A, z, weight)
    K, bound = kernel_values(kernel, A, A), C * weight
    optimum, f = reference.asymmetric(K, z, level * bound, (1 - level) * bound, squared=True)
    slack = 1e-8 * max(abs(optimum), 1e-3 * C)
    assert found.status == again.status == "optimal"
    assert found.primal == pytest.approx(optimum, rel=1e-8, abs=slack)
    assert again.gap <= slack
    room = 1e-3 * np.sqrt(1e-4 + np.diag(K).max()) * max(1.0, np.sqrt(abs(optimum)))
    np.testing.assert_allclose(model.predict(A), f, atol=room)


def test_the_mean_is_kernel_ridge_regression():
    """With a free intercept: (K + 1/C) b + intercept = y, sum b = 0."""
    model = ExpectileSVR(C=5.0, gamma=0.4).fit(X, y)
    n = len(y)
    K = kernel_values(model.kernel_, X, X)
    system = np.block([[K + np.eye(n) / 5.0, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    x = np.linalg.solve(system, np.append(y, 0.0))
    np.testing.assert_allclose(model.predict(X), K @ x[:n] + x[n], atol=1e-8)
    squared = SVR(C=2.5, gamma=0.4, epsilon=0.0, loss="squared_epsilon_insensitive").fit(X, y)
    np.testing.assert_allclose(model.predict(X), squared.predict(X), atol=1e-10)


def test_the_definition_of_an_expectile():
    """The weighted distances above and below balance, by the free intercept."""
    for level in (0.1, 0.7):
        r = y - ExpectileSVR(expectile=level, C=10.0, gamma=0.4).fit(X, y).predict(X)
        above, below = r[r > 0].sum(), -r[r < 0].sum()
        assert level * above == pytest.approx((1 - level) * below, rel=1e-8)


def test_relations():
    model = ExpectileSVR(expectile=0.2, C=3.0, gamma=0.5)
    f = clone(model).fit(X, y).predict(X)
    weight = rng.integers(0, 3, size=70)
    copies = np.repeat(np.arange(70), weight)
    np.testing.assert_allclose(
        clone(model).fit(X, y, weight).predict(X),
        clone(model).fit(X[copies], y[copies]).predict(X),
        atol=1e-8,
    )
    order = rng.permutation(70)
    np.testing.assert_allclose(clone(model).fit(X[order], y[order]).predict(X), f, atol=1e-8)
    flipped = clone(model).set_params(expectile=0.8).fit(X, -y).predict(X)
    np.testing.assert_allclose(flipped, -f, atol=1e-8)
    np.testing.assert_allclose(clone(model).fit(X, 10 * y + 7).predict(X), 10 * f + 7, atol=1e-7)


def test_files(tmp_path):
    model = ExpectileSVR(expectile=0.2).fit(X, y)
    io.save(model, tmp_path / "model.mm")
    loaded = io.load(tmp_path / "model.mm")
    assert type(loaded) is ExpectileSVR
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    io.save_libsvm(model, tmp_path / "model.libsvm")  # the function alone, as that of an SVR
    np.testing.assert_allclose(io.load(tmp_path / "model.libsvm").predict(X), model.predict(X))


def test_parameters_that_float64_does_not_hold():
    with pytest.raises(ValueError, match="too small for float64"):
        ExpectileSVR(expectile=1e-300, C=1e-20).fit(X, y)
    with pytest.raises(ValueError, match="expectile"):
        ExpectileSVR(expectile=1.0).fit(X, y)
