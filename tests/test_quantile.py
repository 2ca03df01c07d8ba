"""QuantileSVR: 100 random problems against a quadratic program, the share of samples below, exact
relations, crossing, files."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import QuantileRegressor
from sklearn.metrics import mean_pinball_loss

import reference
from command import run
from maxmargin import SVR, QuantileSVR, compact, io
from maxmargin.kernel.evaluation import kernel_values
from maxmargin.kernel.workspace import KernelWorkspace
from test_against_qp import make

rng = np.random.default_rng(3)
X = rng.uniform(0, 5, size=(80, 2))
y = np.sin(X[:, 0]) + 0.3 * X[:, 1] * rng.normal(size=80)


@pytest.mark.parametrize("seed", range(100))
def test_against_a_quadratic_program(seed):
    draw, A, _, weight, kernel, C = make(seed)
    z = np.sin(3 * A[:, 0]) + 0.3 * draw.normal(size=len(A))
    q = float(draw.uniform(0.02, 0.98))
    model = QuantileSVR(quantiles=q, C=C, kernel=kernel).fit(A, z, weight)
    found, again = model.certificate_, model.certify(A, z, weight)
    K, bound = kernel_values(kernel, A, A), C * weight
    optimum, f = reference.asymmetric(K, z, q * bound, (1 - q) * bound)
    slack = 1e-8 * max(abs(optimum), 1e-3 * C)
    assert found.status == again.status == "optimal"
    assert found.gap <= slack
    assert found.primal == pytest.approx(optimum, rel=1e-8, abs=slack)
    assert again.primal == pytest.approx(optimum, rel=1e-8, abs=slack)
    gap = model.predict(A) - f  # the intercept need not be unique
    room = 1e-3 * np.sqrt(1e-4 + np.diag(K).max()) * max(1.0, np.sqrt(abs(optimum)))
    assert np.ptp(gap) <= room


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_share_of_samples_below(kernel, C):
    """b of n samples lie below f and s on it: b <= q n <= b + s."""
    levels = np.array([0.05, 0.25, 0.5, 0.9])
    model = QuantileSVR(quantiles=levels, C=C, kernel=kernel).fit(X, y)
    for q, f in zip(levels, model.predict(X).T, strict=True):
        below, on = np.sum(y < f - 1e-9), np.sum(np.abs(y - f) <= 1e-9)
        assert below <= q * len(y) + 1e-9
        assert q * len(y) - 1e-9 <= below + on
        assert on < 70, "not a function through all samples"


def test_weights_count_copies():
    weight = rng.integers(0, 4, size=80)
    copies = np.repeat(np.arange(80), weight)
    model = QuantileSVR(quantiles=[0.2, 0.7], C=2.0, gamma=0.5)
    weighted = clone(model).fit(X, y, weight)
    repeated = clone(model).fit(X[copies], y[copies])
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-8)
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal)
    rest = model.fit(X[weight > 0], y[weight > 0], weight[weight > 0])
    np.testing.assert_allclose(rest.predict(X), weighted.predict(X), atol=1e-10)


def test_relations():
    """Order of samples; y upside down exchanges q and 1 - q; a unit of y moves into C."""
    model = QuantileSVR(quantiles=[0.1, 0.6], C=3.0, gamma=0.5)
    f = clone(model).fit(X, y).predict(X)
    order = rng.permutation(80)
    np.testing.assert_allclose(clone(model).fit(X[order], y[order]).predict(X), f, atol=1e-8)
    flipped = clone(model).set_params(quantiles=[0.9, 0.4]).fit(X, -y).predict(X)
    np.testing.assert_allclose(flipped, -f, atol=1e-8)
    scaled = clone(model).set_params(C=30.0).fit(X, 10 * y + 7).predict(X)
    np.testing.assert_allclose(scaled, 10 * f + 7, atol=1e-7)


def test_the_median_is_that_of_svr():
    """Half the absolute error: SVR with epsilon = 0 and half of C."""
    model = QuantileSVR(C=4.0, gamma=0.5).fit(X, y)
    theirs = SVR(C=2.0, gamma=0.5, epsilon=0.0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), theirs.predict(X), atol=1e-9)
    assert model.certificate_.primal == pytest.approx(theirs.certificate_.primal)
    assert model.predict(X).shape == (80,)


def test_a_large_C_is_unpenalised_linear_quantile_regression():
    q = 0.3
    model = QuantileSVR(quantiles=q, C=1e6, kernel="linear").fit(X, y)
    theirs = QuantileRegressor(quantile=q, alpha=0.0).fit(X, y)
    losses = [mean_pinball_loss(y, one.predict(X), alpha=q) for one in (model, theirs)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)


def test_crossing_quantiles_are_sorted():
    """As given, in the order of the quantiles; sorted, no farther from the true ones."""
    few = X[:25], y[:25]
    levels = [0.5, 0.4, 0.45, 0.55, 0.6]
    plain = QuantileSVR(quantiles=levels, C=3.0, gamma=0.5).fit(*few)
    f, order = plain.predict(X), np.argsort(levels)
    assert (np.diff(f[:, order], axis=1) < -1e-3).any(), "the test needs functions that cross"
    g = clone(plain).set_params(non_crossing=True).fit(*few).predict(X)
    assert (np.diff(g[:, order], axis=1) >= 0).all()
    np.testing.assert_array_equal(np.sort(g, axis=1), np.sort(f, axis=1))
    truth = np.tile(levels, (80, 1))
    assert np.abs(g - truth).sum() <= np.abs(f - truth).sum() + 1e-12


def test_quantiles_of_a_fit_are_those_of_single_fits():
    levels = [0.9, 0.1, 0.5]
    together = QuantileSVR(quantiles=levels, gamma=0.5).fit(X, y)
    assert together.predict(X).shape == (80, 3)
    assert len(together.certificate_.parts) == 3
    assert together.dual_coef_.shape[0] == 3 == len(together.intercept_)
    for k, q in enumerate(levels):
        alone = QuantileSVR(quantiles=q, gamma=0.5).fit(X, y)
        np.testing.assert_allclose(together.predict(X)[:, k], alone.predict(X), atol=1e-10)
        part = together.certificate_.parts[k]
        assert part.primal == pytest.approx(alone.certificate_.primal)


def test_dear_kernel_values_are_stored_for_several_quantiles(monkeypatch):
    """More than 1,024 rows and 64 features: the same functions as one by one."""
    calls, stored = [], KernelWorkspace.stored
    monkeypatch.setattr(KernelWorkspace, "stored", lambda self: calls.append(1) or stored(self))
    A = rng.normal(size=(1100, 80))
    z = A[:, 0] + rng.normal(size=1100)
    together = QuantileSVR(quantiles=[0.2, 0.8], tol=1e-5).fit(A, z)
    assert together.certificate_.status == "optimal"
    assert calls == [1]
    alone = QuantileSVR(quantiles=0.8, tol=1e-5).fit(A, z)
    assert calls == [1], "one problem computes what it uses"
    np.testing.assert_allclose(together.predict(A)[:, 1], alone.predict(A), atol=1e-3)


def test_score_is_the_explained_pinball_loss():
    model = QuantileSVR(quantiles=[0.2, 0.8]).fit(X, y)
    wanted = 0.0
    for q, f in zip((0.2, 0.8), model.predict(X).T, strict=True):
        constant = np.full(80, np.quantile(y, q))
        wanted += 1 - mean_pinball_loss(y, f, alpha=q) / mean_pinball_loss(y, constant, alpha=q)
    assert model.score(X, y) == pytest.approx(wanted / 2)


def test_sparse_data_and_warm_starts():
    levels = [0.3, 0.7]
    dense = QuantileSVR(quantiles=levels, gamma=0.5, warm_start=True).fit(X, y)
    first = dense.predict(X)
    steps = dense.n_iter_
    assert dense.fit(X, y).n_iter_ < steps
    np.testing.assert_allclose(dense.predict(X), first, atol=1e-9)
    csr = QuantileSVR(quantiles=levels, gamma=0.5).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(csr.predict(sparse.csr_matrix(X)), first, atol=1e-6)
    dense.set_params(quantiles=0.5).fit(X, y)  # another number of functions begins at zero
    assert dense.predict(X).shape == (80,)


def test_limits_leave_a_model():
    with pytest.warns(ConvergenceWarning, match=r"max_iter=3.*2 of 2 problems"):
        model = QuantileSVR(quantiles=[0.3, 0.7], C=100.0, max_iter=3).fit(X, y)
    assert model.certificate_.status == "max_iter"
    constant = QuantileSVR(quantiles=[0.3, 0.7], C=1e-12).fit(X, y)
    assert model.score(X, y) >= constant.score(X, y) - 1e-9


def test_files(tmp_path):
    path = tmp_path / "model.mm"
    for levels in (0.3, [0.9, 0.2]):
        model = QuantileSVR(quantiles=levels, non_crossing=True).fit(X, y)
        io.save(model, path)
        loaded = io.load(path)
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        assert loaded.certify(X, y).status == "optimal"
        np.testing.assert_array_equal(
            pickle.loads(pickle.dumps(model)).predict(X), model.predict(X)
        )
    for write in (io.save_libsvm, io.save_svm_light):
        with pytest.raises((TypeError, ValueError), match=r"QuantileSVR|io\.save"):
            write(model, path)
    for convert in (io.to_c, io.to_javascript, io.to_sklearn):
        with pytest.raises(TypeError, match=r"several functions.*io\.save"):
            convert(model)
    with pytest.raises(TypeError, match="several functions"):
        compact(model, tolerance=0.1)


def test_the_command_writes_a_line_of_quantiles(tmp_path):
    model = QuantileSVR(quantiles=[0.1, 0.9]).fit(X, y)
    io.save(model, tmp_path / "model.mm")
    io.dump_svmlight(X, y, tmp_path / "data.svm")
    run("predict", tmp_path / "data.svm", tmp_path / "model.mm", tmp_path / "out.txt")
    np.testing.assert_array_equal(np.loadtxt(tmp_path / "out.txt"), model.predict(X))


@pytest.mark.parametrize("levels", [[], [0.5, 0.5], [0.2, 1.0], [[0.1, 0.2]], ["a"], [np.nan]])
def test_quantiles_that_are_none(levels):
    with pytest.raises(ValueError, match="quantiles must be"):
        QuantileSVR(quantiles=levels).fit(X, y)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, None, "median"])
def test_a_quantile_that_is_none(level):
    with pytest.raises(ValueError, match="quantiles"):
        QuantileSVR(quantiles=level).fit(X, y)


def test_quantiles_set_after_the_fit():
    model = QuantileSVR(quantiles=[0.1, 0.9]).fit(X, y).set_params(quantiles=[0.1, 0.5, 0.9])
    with pytest.raises(ValueError, match="fit again"):
        model.predict(X)
