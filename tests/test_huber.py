"""SVR with Huber's loss: 100 random problems against a quadratic program, its limits, outliers."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import reference
from maxmargin import SVR, Kernel, io
from maxmargin.kernel import certificate as kernel_certificate
from maxmargin.kernel import problems, tube
from maxmargin.kernel.damping import Damped, Primal, damped
from maxmargin.kernel.evaluation import kernel_values
from maxmargin.model_selection import leave_one_out, svr_path
from test_against_qp import make

rng = np.random.default_rng(5)
X = rng.uniform(0, 5, size=(60, 2))
y = np.sin(X[:, 0]) + 0.2 * X[:, 1] * rng.normal(size=60)


@pytest.mark.parametrize("seed", range(100))
def test_against_a_quadratic_program(seed):
    draw, A, _, weight, kernel, C = make(seed)
    z = np.sin(3 * A[:, 0]) + 0.3 * draw.normal(size=len(A))
    delta = float(10.0 ** draw.uniform(-2, 0.5))
    model = SVR(loss="huber", epsilon=delta, C=C, kernel=kernel).fit(A, z, weight)
    found, again = model.certificate_, model.certify(A, z, weight)
    K = kernel_values(kernel, A, A)
    optimum, f = reference.huber(K, z, C * weight, delta)
    slack = 1e-8 * max(abs(optimum), 1e-3 * C)
    assert found.status == again.status == "optimal"
    assert found.primal == pytest.approx(optimum, rel=1e-8, abs=slack)
    assert again.gap <= slack
    room = 1e-3 * np.sqrt(1e-4 + np.diag(K).max()) * max(1.0, np.sqrt(abs(optimum)))
    assert np.ptp(model.predict(A) - f) <= room


def test_limits_of_the_transition_point():
    """0 is the absolute error, a large one least squares with C / (2 epsilon)."""
    absolute = SVR(C=2.0, epsilon=0.0, gamma=0.5).fit(X, y)
    for epsilon in (0.0, 1e-9):
        found = SVR(loss="huber", C=2.0, epsilon=epsilon, gamma=0.5).fit(X, y)
        np.testing.assert_allclose(found.predict(X), absolute.predict(X), atol=1e-6)
    squared = SVR(C=1.0, epsilon=0.0, gamma=0.5, loss="squared_epsilon_insensitive").fit(X, y)
    wide = SVR(loss="huber", C=2e3, epsilon=1e3, gamma=0.5).fit(X, y)
    np.testing.assert_allclose(wide.predict(X), squared.predict(X), atol=1e-7)


def test_relations():
    model = SVR(loss="huber", epsilon=0.3, C=3.0, gamma=0.5)
    f = clone(model).fit(X, y).predict(X)
    weight = rng.integers(0, 3, size=60)
    copies = np.repeat(np.arange(60), weight)
    np.testing.assert_allclose(
        clone(model).fit(X, y, weight).predict(X),
        clone(model).fit(X[copies], y[copies]).predict(X),
        atol=1e-8,
    )
    np.testing.assert_allclose(clone(model).fit(X, -y).predict(X), -f, atol=1e-8)
    scaled = clone(model).set_params(epsilon=3.0, C=30.0).fit(X, 10 * y + 7).predict(X)
    np.testing.assert_allclose(scaled, 10 * f + 7, atol=1e-7)


def test_outliers_pull_with_at_most_C():
    """Moving a sample that is farther than epsilon away changes nothing."""
    far = y.copy()
    far[7] += 5.0
    model = SVR(loss="huber", epsilon=0.3, C=3.0, gamma=0.5)
    f = clone(model).fit(X, far).predict(X)
    far[7] += 1000.0
    np.testing.assert_allclose(clone(model).fit(X, far).predict(X), f, atol=1e-7)


def test_it_interpolates_where_C_is_infinite():
    model = SVR(loss="huber", C=np.inf, gamma=5.0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-2)
    with pytest.raises(ValueError, match="every prediction is its target"):
        SVR(loss="huber", C=np.inf, kernel="linear").fit(X, y)


def test_newton_and_sizes_are_refused():
    with pytest.raises(ValueError, match="not squared"):
        SVR(loss="huber", solver="newton").fit(X, y)
    with pytest.raises(ValueError, match="beyond float64"):
        SVR(loss="huber", C=1e-300, epsilon=1e10).fit(X, y)


def test_intervals_and_files(tmp_path):
    model = SVR(loss="huber", interval=True, C=5.0).fit(X, y)
    low, high = model.predict_interval(X, 0.8).T
    assert (low < high).all()
    io.save(model, tmp_path / "model.mm")
    np.testing.assert_array_equal(io.load(tmp_path / "model.mm").predict(X), model.predict(X))
    io.save_libsvm(model, tmp_path / "model.libsvm")
    np.testing.assert_allclose(io.load(tmp_path / "model.libsvm").predict(X), model.predict(X))


def test_a_limit_leaves_a_sensible_model():
    with pytest.warns(ConvergenceWarning):
        model = SVR(loss="huber", C=1e4, max_iter=2).fit(X, 1000 * y)
    constant = Primal(tube.huber(1000 * y, np.full(60, 1e4), 0.1)).best(0.0, np.zeros(60))
    primal = Primal(tube.huber(1000 * y, np.full(60, 1e4), 0.1))
    assert model.certificate_.primal <= primal.value(constant, np.zeros(60), 0.0) * (1 + 1e-9)


def test_samples_left_out_and_paths():
    """Exactly, and by the closed form, which is exact where no sample reaches the linear part."""
    model = SVR(loss="huber", epsilon=0.3, C=3.0, gamma=0.5).fit(X, y)
    found = leave_one_out(model, X, y).decision_values
    for i in (0, 17, 41):
        keep = np.arange(60) != i
        wanted = clone(model).fit(X[keep], y[keep]).predict(X[[i]])
        assert found[i] == pytest.approx(wanted[0], abs=1e-9)
    model = SVR(loss="huber", epsilon=10.0, C=30.0, gamma=0.5).fit(X, y)
    found, span = (leave_one_out(model, X, y, method=name) for name in ("exact", "span"))
    np.testing.assert_allclose(span.decision_values, found.decision_values, atol=1e-6)
    path = svr_path(X, y, Cs=[0.1, 3.0], estimator=SVR(loss="huber", epsilon=0.3, gamma=0.5))
    for C, one in zip(path.Cs, path.models, strict=True):
        wanted = clone(one).set_params(C=C).fit(X, y)
        np.testing.assert_allclose(one.predict(X), wanted.predict(X), atol=1e-9)


# ---- one record for all losses -------------------------------------------------------------------

C, Z = rng.uniform(0.5, 2.0, size=60), y
TUBES = {
    "insensitive": tube.insensitive(Z, C, 0.1),
    "squared": tube.insensitive(Z, C, 0.1, squared=True),
    "pinball": tube.pinball(Z, C, 0.2),
    "expectile": tube.expectile(Z, C, 0.7),
    "huber": tube.huber(Z, C, 0.3),
}


def losses(name, r, C=C):
    """Each loss as a textbook writes it."""
    size = np.abs(r)
    if name == "insensitive":
        return C * np.maximum(0.0, size - 0.1)
    if name == "squared":
        return C * np.maximum(0.0, size - 0.1) ** 2
    if name == "pinball":
        return C * np.where(r > 0, 0.2 * size, 0.8 * size)
    if name == "expectile":
        return C * np.where(r > 0, 0.7, 0.3) * r**2
    return C * np.where(size <= 0.3, size**2 / 0.6, size - 0.15)


@pytest.mark.parametrize("name", TUBES)
def test_the_certificate_has_every_loss(name):
    K = kernel_values(Kernel.rbf(0.5), X, X)
    b = rng.normal(size=60).clip(-0.2 * C, 0.2 * C)
    b -= b.mean()
    f = K @ b + 0.4
    found = kernel_certificate.regression(f, TUBES[name], b, 0.4)
    r = Z - f
    primal = b @ K @ b / 2 + losses(name, r).sum()
    assert found.primal == pytest.approx(primal)
    # the conjugate of each loss, by brute force over residuals
    grid = np.linspace(-6, 6, 60_001)
    conjugate = 0.0
    for i in range(60):
        conjugate += np.max(b[i] * grid - losses(name, grid, C[i]))
    dual = Z @ b - conjugate - b @ K @ b / 2
    assert found.dual == pytest.approx(dual, rel=1e-6)
    assert found.gap == pytest.approx(primal - dual, rel=1e-5)


@pytest.mark.parametrize("name", TUBES)
def test_damping_finds_the_best_constant(name):
    primal = Primal(TUBES[name])
    best = primal.best(0.0, np.zeros(60))
    value = losses(name, Z - best.bias).sum()
    assert primal.value(best, np.zeros(60), 0.0) == pytest.approx(value)
    for bias in best.bias + np.linspace(-1, 1, 201):
        assert value <= losses(name, Z - bias).sum() * (1 + 1e-9)
    g = 30 * rng.normal(size=60)
    found = damped(primal, 0.0, TUBES[name].epsilon, g, 5.0)
    assert isinstance(found, Damped)
    assert found.factor < 1


def test_the_dual_problem_of_a_tube():
    found = problems.svr(TUBES["expectile"])
    np.testing.assert_allclose(found.ridge, np.r_[0.5 / (0.7 * C), 0.5 / (0.3 * C)])
    found = problems.svr(TUBES["pinball"])
    np.testing.assert_allclose(found.upper, np.r_[0.2 * C, np.zeros(60)])
    np.testing.assert_allclose(found.lower, np.r_[np.zeros(60), -0.8 * C])
    found = problems.svr(TUBES["huber"].without(np.arange(60) < 5))
    assert not found.upper[:5].any()
    np.testing.assert_allclose(found.ridge[60:], 0.3 / C)
