"""Least squares machines against the equations solved by NumPy, clarabel and brute force."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import Ridge

from helpers import binary, settings
from maxmargin import LSSVC, LSSVR, SVR, Kernel, compact, io, kernel_matrix
from maxmargin.core.lapack import inverse_diagonal
from maxmargin.kernel import least_squares, least_squares_systems
from maxmargin.kernel.least_squares_systems import Spectrum
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.model_selection import LSSVCCV, LSSVRCV
from maxmargin.monitor import Monitor


def problem(seed):
    """Random samples, targets, weights, C and a kernel."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(5, 40)), int(rng.integers(1, 6))
    X, C = rng.normal(size=(n, d)), float(10.0 ** rng.uniform(-2, 3))
    z = X[:, 0] + rng.normal(size=n)
    weight = rng.uniform(0.2, 3, n) if seed % 2 else np.ones(n)
    kernels = Kernel.rbf(gamma=0.5), Kernel.linear(), Kernel.poly(degree=2, coef0=1.0)
    return X, z, weight, C, (*kernels, Kernel.laplacian(gamma=0.3))[seed % 4]


def equations(K, z, C):
    """Coefficients and bias of the system in the textbook's form."""
    n = len(z)
    M = np.ones((n + 1, n + 1))
    M[:n, :n], M[n, n] = K + np.diag(0.5 / C), 0.0
    found = np.linalg.solve(M, np.append(z, 0.0))
    return found[:n], found[n]


def left_out(K, z, C, groups):
    """The prediction of each sample by a machine without its group."""
    found = np.empty(len(z))
    for i, group in enumerate(groups):
        rest = np.flatnonzero(groups != group)
        b, bias = equations(K[np.ix_(rest, rest)], z[rest], C[rest])
        found[i] = K[i, rest] @ b + bias
    return found


@pytest.mark.parametrize("seed", range(100))
def test_solves_the_equations(seed):
    X, z, weight, C, kernel = problem(seed)
    model = LSSVR(C=C, kernel=kernel).fit(X, z, weight)
    K = kernel_matrix(kernel, X)
    b, bias = equations(K, z, C * weight)
    np.testing.assert_allclose(model.predict(X), K @ b + bias, rtol=0, atol=1e-8)
    assert model.certificate_.status == "optimal"
    assert model.certify(X, z, weight).status == "optimal"


@pytest.mark.parametrize("seed", range(100, 108))
def test_objective_is_that_of_clarabel(seed):
    clarabel = pytest.importorskip("clarabel")
    X, z, weight, C, kernel = problem(seed)
    found = LSSVR(C=C, kernel=kernel).fit(X, z, weight).certificate_
    K, n = kernel_matrix(kernel, X), len(z)
    P = sparse.csc_matrix(np.triu(K + np.diag(0.5 / (C * weight))))
    options = clarabel.DefaultSettings()
    options.verbose = False
    one = sparse.csc_matrix(np.ones((1, n)))
    cones = [clarabel.ZeroConeT(1)]
    solved = clarabel.DefaultSolver(P, -z, one, np.zeros(1), cones, options).solve()
    np.testing.assert_allclose(found.dual, -solved.obj_val, rtol=1e-6)
    np.testing.assert_allclose(found.primal, -solved.obj_val, rtol=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_leave_one_out_is_brute_force(seed):
    X, z, weight, C, kernel = problem(seed)
    model = LSSVR(C=C, kernel=kernel).fit(X, z, weight)
    exact = left_out(kernel_matrix(kernel, X), z, C * weight, np.arange(len(z)))
    np.testing.assert_allclose(model.loo_predictions_, exact, rtol=1e-7, atol=1e-7)
    error = np.average((z - exact) ** 2, weights=weight)
    variance = np.average((z - np.average(z, weights=weight)) ** 2, weights=weight)
    assert model.loo_score_ == pytest.approx(1 - error / variance, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_weights_are_copies(kernel):
    X, y = binary(40)
    weight = np.random.default_rng(0).integers(0, 3, 40)
    copies = np.repeat(np.arange(40), weight)
    one = LSSVC(C=2, kernel=kernel, gamma=0.3 if kernel == "rbf" else "scale", probability=True)
    two = clone(one).fit(X[copies], y[copies])
    one.fit(X, y, weight)
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), atol=1e-10)
    np.testing.assert_allclose(one.loo_decision_[copies], two.loo_decision_, atol=1e-9)
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), atol=1e-8)
    assert one.loo_score_ == pytest.approx(two.loo_score_)
    left = weight == 0
    np.testing.assert_allclose(one.loo_decision_[left], one.decision_function(X[left]), atol=1e-12)


def test_classes_share_a_factor_and_leave_one_out_is_brute_force():
    X, y = load_iris(return_X_y=True)
    X, y = X[::2] + 1e-3 * np.random.default_rng(0).normal(size=(75, 4)), y[::2]
    model = LSSVC(C=3, gamma=0.4, class_weight={0: 1, 1: 2, 2: 0.5}).fit(X, y)
    K, C = kernel_matrix(Kernel.rbf(gamma=0.4), X), 3 * np.array([1, 2, 0.5])[y]
    for c in range(3):
        sign = np.where(y == c, 1.0, -1.0)
        b, bias = equations(K, sign, C)
        np.testing.assert_allclose(model.decision_function(X)[:, c], K @ b + bias, atol=1e-9)
        exact = left_out(K, sign, C, np.arange(75))
        np.testing.assert_allclose(model.loo_decision_[:, c], exact, atol=1e-8)
    assert model.loo_score_ == np.mean(model.loo_decision_.argmax(axis=1) == y)
    assert model.certify(X, y).status == "optimal"
    assert len(model.certificate_.parts) == 3


def test_is_the_svr_of_squared_losses_without_tube():
    X, y = load_diabetes(return_X_y=True)
    one = LSSVR(C=5).fit(X, y)
    two = SVR(C=5, loss="squared_epsilon_insensitive", epsilon=0.0).fit(X, y)
    np.testing.assert_allclose(one.predict(X), two.predict(X), atol=1e-6)
    assert one.certificate_.primal == pytest.approx(two.certificate_.primal, rel=1e-12)


def test_linear_kernel_of_many_samples_is_ridge_regression():
    rng = np.random.default_rng(0)
    X = 100 + rng.normal(size=(3000, 6)) * [1, 2, 3, 1, 1, 5]
    y = X @ rng.normal(size=6) + rng.normal(size=3000)
    model = LSSVR(C=0.1, kernel="linear").fit(X, y)
    peer = Ridge(alpha=5, solver="svd").fit(X, y)
    np.testing.assert_allclose(model.coef_[0], peer.coef_, atol=1e-9)
    np.testing.assert_allclose(model.predict(X), peer.predict(X), atol=1e-7)
    assert model.certificate_.status == model.certify(X, y).status == "optimal"
    other = LSSVR(C=0.1, kernel="linear").fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(other.predict(sparse.csr_matrix(X)), model.predict(X), atol=1e-8)
    np.testing.assert_allclose(other.loo_predictions_, model.loo_predictions_, atol=1e-8)
    without = Ridge(alpha=5, solver="svd").fit(X[1:], y[1:])
    assert model.loo_predictions_[0] == pytest.approx(without.predict(X[:1])[0], abs=1e-7)


def test_primal_and_dual_agree(monkeypatch):
    X, y = load_diabetes(return_X_y=True)
    one = LSSVR(kernel="linear", C=50).fit(X, y)
    monkeypatch.setattr(least_squares_systems, "is_primal", lambda workspace: False)
    two = LSSVR(kernel="linear", C=50).fit(X, y)
    np.testing.assert_allclose(one.predict(X), two.predict(X), atol=1e-8)
    np.testing.assert_allclose(one.loo_predictions_, two.loo_predictions_, atol=1e-8)


@pytest.mark.parametrize("kernel", [Kernel.rbf(gamma=0.2), Kernel.linear()])
def test_a_spectrum_has_every_C(kernel):
    X, z, weight, _, _ = problem(7)
    workspace = KernelWorkspace.of(kernel, X, Monitor())
    spectrum = Spectrum.of(workspace, weight)
    for C in (1e-2, 1.0, 1e4):
        one = least_squares.solve(spectrum.at(C), z[:, None])
        system = least_squares_systems.system_of(workspace, C * weight)
        two = least_squares.solve(system, z[:, None])
        np.testing.assert_allclose(one.part + one.bias, two.part + two.bias, atol=1e-9)
        np.testing.assert_allclose(one.held_out, two.held_out, rtol=1e-6, atol=1e-8)


def test_any_kernel_and_storage():
    X, y = binary(50)
    base = LSSVC(C=2, gamma=0.25).fit(X, y)
    K = kernel_matrix(Kernel.rbf(gamma=0.25), X)
    given = LSSVC(C=2, kernel="precomputed").fit(K, y)
    asked = LSSVC(C=2, kernel=lambda A, B: kernel_matrix(Kernel.rbf(gamma=0.25), A, B)).fit(X, y)
    thin = LSSVC(C=2, gamma=0.25).fit(sparse.csr_matrix(X), y)
    for other, at in ((given, K), (asked, X), (thin, sparse.csr_matrix(X))):
        assert other.certificate_.status == "optimal"
        np.testing.assert_allclose(
            other.decision_function(at), base.decision_function(X), atol=1e-9
        )
        np.testing.assert_allclose(other.loo_decision_, base.loo_decision_, atol=1e-9)


def test_order_and_labels_do_not_matter():
    X, y = binary(60)
    order = np.random.default_rng(1).permutation(60)
    one, two = LSSVC(C=3).fit(X, y), LSSVC(C=3).fit(X[order], 1 - y[order])
    np.testing.assert_allclose(one.decision_function(X), -two.decision_function(X), atol=1e-10)
    np.testing.assert_allclose(one.loo_decision_[order], -two.loo_decision_, atol=1e-10)


def test_an_indefinite_kernel_is_stationary():
    X, y = binary(60)
    with pytest.warns(match="not positive semidefinite"):
        model = LSSVC(kernel="sigmoid", gamma=1.0, coef0=1.0, C=0.7).fit(X, y)
    assert model.certificate_.status == "stationary"
    b, _ = equations(
        kernel_matrix(Kernel.sigmoid(1.0, 1.0), X), np.where(y == 1, 1.0, -1.0), np.full(60, 0.7)
    )
    np.testing.assert_allclose(model.dual_coef_[0], b[model.support_], atol=1e-7)


def test_far_from_the_origin_and_at_extreme_C():
    rng = np.random.default_rng(0)
    X = 1e3 + rng.normal(size=(80, 3))
    y = rng.normal(size=80)
    for C in (1e-8, 1e4):
        for kernel in ("linear", "rbf"):
            model = LSSVR(C=C, kernel=kernel, gamma=1.0 if kernel == "rbf" else "scale").fit(X, y)
            assert model.certificate_.status == "optimal", (C, kernel, model.certificate_)


def test_too_many_samples_are_refused_with_a_remedy(monkeypatch):
    monkeypatch.setattr(least_squares_systems, "free_memory", lambda: 2**20)
    X, y = binary(2000)
    with pytest.raises(MemoryError, match=r"2,000 samples needs .* GiB .*kernel='linear'.*SVR\("):
        LSSVC().fit(X, y)
    assert LSSVC(kernel="linear").fit(X, y).certificate_.status == "optimal"


def test_one_sample_has_no_machine_without_it():
    model = LSSVR(gamma=1.0).fit([[1.0]], [3.0])
    assert np.isnan(model.loo_predictions_).all()
    assert np.isnan(model.loo_score_)
    assert model.predict([[2.0]]) == pytest.approx([3.0])


@pytest.mark.parametrize("make", [LSSVC(C=4, probability=True), LSSVR(C=4, kernel="linear")])
def test_files_pickles_and_compression(make, tmp_path):
    X, y = binary(60)
    model = clone(make).fit(X, y)
    io.save(model, tmp_path / "model.mm")
    for other in (io.load(tmp_path / "model.mm"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        assert other.loo_score_ == model.loo_score_
        assert other.certify(X, y).status == "optimal"
    io.save_libsvm(model, tmp_path / "model.libsvm")
    again = io.load(tmp_path / "model.libsvm", n_features=4)
    np.testing.assert_allclose(again.predict(X), model.predict(X), atol=1e-6)


def test_progress_and_a_class_without_weight(capfd):
    X, y = load_iris(return_X_y=True)
    weight = (y != 1).astype(float)
    model = LSSVC(verbose=1).fit(X, y, weight)
    assert "LSSVC: optimal: gap" in capfd.readouterr().err
    assert set(model.predict(X)) == {0, 2}
    assert model.certify(X, y, weight).status == "optimal"


def test_compact_needs_fewer_vectors():
    X, y = binary(80)
    model = LSSVC(C=4).fit(X, y)
    assert len(compact(model, tolerance=0.1).support_) < 80


# ---- searches ------------------------------------------------------------------------------------


def test_search_scores_are_those_of_fits():
    X, y = load_diabetes(return_X_y=True)
    X, y, weight = X[:120], y[:120], np.random.default_rng(0).uniform(0.5, 2, 120)
    search = LSSVRCV(Cs=[0.1, 10, 1000], gammas=[1, 30]).fit(X, y, weight)
    for params, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        model = LSSVR(**params).fit(X, y, weight)
        assert score == pytest.approx(model.loo_score_, rel=1e-7)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    assert search.best_estimator_.C == search.C_
    assert search.best_estimator_.gamma == search.gamma_
    assert search.score(X, y) == search.best_estimator_.score(X, y)
    assert search.certificate_.status == "optimal"


def test_search_of_classes_with_another_score():
    X, y = load_iris(return_X_y=True)
    search = LSSVCCV(Cs=3, gammas=2, scoring="f1_macro").fit(X, y)
    model = LSSVC(**search.best_params_).fit(X, y)
    from sklearn.metrics import f1_score

    found = f1_score(y, model.loo_decision_.argmax(axis=1), average="macro")
    assert search.best_score_ == pytest.approx(found)
    assert list(search.classes_) == [0, 1, 2]
    ranked = LSSVCCV(Cs=3, gammas=2, scoring="roc_auc").fit(X[y > 0], y[y > 0])
    assert ranked.best_score_ > 0.9


def test_search_without_gamma(tmp_path):
    X, y = binary(60)
    search = LSSVCCV(Cs=4, estimator=LSSVC(kernel="linear")).fit(X, y)
    with pytest.raises(AttributeError, match="no gamma"):
        search.gamma_  # noqa: B018
    io.save(search, tmp_path / "best.mm")
    assert isinstance(io.load(tmp_path / "best.mm"), LSSVC)
    with pytest.raises(ValueError, match="takes no gamma"):
        LSSVCCV(gammas=[1.0], estimator=LSSVC(kernel="linear")).fit(X, y)
    with pytest.raises(ValueError, match=r"instance of maxmargin.LSSVC"):
        LSSVCCV(estimator=LSSVR()).fit(X, y)


@pytest.mark.parametrize("n", [1, 5, 255, 256, 257, 700])
def test_diagonal_of_the_inverse(n):
    A = np.random.default_rng(0).normal(size=(n, n))
    A = A @ A.T + n * np.eye(n)
    found = inverse_diagonal(np.linalg.cholesky(A), workers=2)
    np.testing.assert_allclose(found, np.linalg.inv(A).diagonal(), rtol=1e-10)


def test_bits_do_not_depend_on_threads(monkeypatch):
    from helpers import threads

    X, y = binary(700)
    found = []
    for count in (1, 2):
        with threads(count):
            model = LSSVC(C=10).fit(X, y)
        found.append((model.dual_coef_, model.loo_decision_))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


def test_a_large_residual_is_not_optimal(monkeypatch):
    X, y = binary(60)
    settings(monkeypatch, least_squares, refinements=0)
    right = least_squares_systems.cholesky_solve
    monkeypatch.setattr(
        least_squares_systems, "cholesky_solve", lambda factor, V: right(factor, V) * 1.01
    )
    with pytest.warns(match="tolerance"):
        assert LSSVC(C=10).fit(X, y).certificate_.status == "stalled"
