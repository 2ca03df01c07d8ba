"""SVDD: 100 random problems against a quadratic program, OneClassSVM where they agree, known
outliers, exact relations, files."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import reference
from maxmargin import SVDD, Kernel, OneClassSVM, compact, io, kernel_matrix
from maxmargin.kernel.evaluation import kernel_values
from test_against_qp import make

rng = np.random.default_rng(6)
X = rng.normal(size=(90, 3)) + 1.0
y = np.where(X[:, 0] > 2.2, -1, 1)


@pytest.mark.parametrize("seed", range(100))
def test_against_a_quadratic_program(seed):
    draw, A, labels, weight, kernel, _ = make(seed)
    labels = np.where(draw.uniform(size=len(A)) < 0.2, labels, 1.0)
    nu = float(draw.uniform(0.05, 1.0))
    model = SVDD(kernel=kernel, nu=nu).fit(A, labels, weight)
    found, again = model.certificate_, model.certify(A, labels, weight)
    K = kernel_values(kernel, A, A)
    C = weight / (nu * weight[labels > 0].sum())
    optimum, f = reference.svdd(K, labels, C)
    slack = 1e-8 * max(abs(optimum), 1e-2 * np.diag(K).max())
    assert found.status == again.status == "optimal"
    assert found.primal == pytest.approx(optimum, rel=1e-8, abs=slack)
    assert max(found.gap, again.gap) <= slack
    gap = model.decision_function(A) - f  # the radius need not be unique
    assert np.ptp(gap) <= 1e-3 * max(1.0, np.diag(K).max())
    # the certificate's objective, from what the estimator says
    distance = -model.score_samples(A)
    square = model.radius_**2
    value = square + np.sum(C * np.maximum(0.0, -labels * (square - distance)))
    assert value == pytest.approx(optimum, rel=1e-7, abs=10 * slack)


@pytest.mark.parametrize("seed", range(10))
def test_a_ball_around_the_origin_has_the_objective_0_of_one_class(seed):
    """Unit vectors all around the origin: w = 0, and rounding is all that is left of the gap."""
    draw = np.random.default_rng(seed)
    A, weight = draw.normal(size=(1200, 3)), draw.integers(1, 4, size=1200)
    plane = OneClassSVM(kernel=Kernel.cosine(), nu=0.2).fit(A, sample_weight=weight)
    assert plane.certificate_.status == "optimal"
    assert np.abs(plane.decision_function(A)).max() < 1e-9


@pytest.mark.parametrize("n", [90, 1200])
def test_the_region_is_that_of_one_class_where_the_diagonal_is_constant(n):
    A = rng.normal(size=(n, 3))
    weight = rng.integers(1, 4, size=n)
    for kernel in (Kernel.rbf(0.4), Kernel.laplacian(0.2), Kernel.cosine()):
        ball = SVDD(kernel=kernel, nu=0.2).fit(A, sample_weight=weight)
        plane = OneClassSVM(kernel=kernel, nu=0.2).fit(A, sample_weight=weight)
        scale = 2 / (0.2 * weight.sum())
        room = 1e-9 if n < 1000 else 3e-3 * scale
        np.testing.assert_allclose(
            ball.decision_function(A), scale * plane.decision_function(A), atol=room
        )
        if n < 1000:
            np.testing.assert_array_equal(ball.predict(A), plane.predict(A))


@pytest.mark.parametrize("nu", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_the_share_outside(nu, kernel):
    model = SVDD(kernel=kernel, nu=nu).fit(X)
    assert np.sum(model.predict(X) == -1) <= nu * len(X)
    assert len(model.support_) >= nu * len(X) - 1e-9
    assert model.dual_coef_.sum() == pytest.approx(2.0)


def test_the_centre_of_a_linear_ball():
    model = SVDD(kernel="linear", nu=0.1).fit(X, y)
    distance = ((X - model.center_) ** 2).sum(axis=1)
    np.testing.assert_allclose(model.score_samples(X), -distance, atol=1e-9)
    np.testing.assert_allclose(model.decision_function(X), model.radius_**2 - distance, atol=1e-9)
    free = np.abs(model.decision_function(X)) < 1e-9
    assert free.any(), "some samples lie on the sphere"
    with pytest.raises(AttributeError, match="center_ is only available"):
        _ = SVDD().fit(X).center_


def test_the_smallest_ball_without_slack():
    """One outlier of nu n < 1: every sample is inside, and the ball is that of two far points."""
    A = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 0.3], [0.9, -0.2]])
    model = SVDD(kernel="linear", nu=0.1).fit(A)
    np.testing.assert_allclose(model.center_, [1.0, 0.0], atol=1e-10)
    assert model.radius_ == pytest.approx(1.0)
    assert (model.predict(A) == 1).all()


def test_known_outliers_are_left_outside():
    y = np.where(X[:, 0] > 1.5, -1, 1)
    plain, told = SVDD(gamma=0.1, nu=0.05).fit(X), SVDD(gamma=0.1, nu=0.05).fit(X, y)
    inside = [np.mean(model.predict(X[y < 0]) == 1) for model in (plain, told)]
    assert inside[1] < inside[0]
    outlier = y[told.support_] < 0
    assert outlier.any()
    np.testing.assert_array_equal(told.dual_coef_[0] < 0, outlier)
    heavy = SVDD(gamma=0.1, nu=0.05).fit(X, y, np.where(y < 0, 50.0, 1.0))
    assert np.mean(heavy.predict(X[y < 0]) == 1) <= inside[1]


def test_relations():
    model = SVDD(gamma=0.5, nu=0.2)
    f = clone(model).fit(X, y).decision_function(X)
    weight = rng.integers(0, 3, size=90)
    copies = np.repeat(np.arange(90), weight)
    np.testing.assert_allclose(
        clone(model).fit(X, y, weight).decision_function(X),
        clone(model).fit(X[copies], y[copies]).decision_function(X),
        atol=1e-8,
    )
    order = rng.permutation(90)
    again = clone(model).fit(X[order], y[order]).decision_function(X)
    np.testing.assert_allclose(again, f, atol=1e-8)
    for unit in (1e-150, 1e150):  # weights of any scale
        scaled = clone(model).fit(X, y, np.full(90, unit)).decision_function(X)
        np.testing.assert_allclose(scaled, f, atol=1e-9)
    linear = SVDD(kernel="linear", nu=0.2)
    moved = clone(linear).fit(10 * X - 3, y)
    np.testing.assert_allclose(moved.center_, 10 * linear.fit(X, y).center_ - 3, atol=1e-7)
    assert moved.radius_ == pytest.approx(10 * linear.radius_)


def test_kernels_of_other_forms():
    K = kernel_matrix(Kernel.rbf(0.4), X)
    given = SVDD(kernel="precomputed", nu=0.1).fit(K, y)
    wanted = SVDD(gamma=0.4, nu=0.1).fit(X, y)
    np.testing.assert_allclose(
        given.decision_function(K[:5]), wanted.decision_function(X[:5]), atol=1e-9
    )
    with pytest.raises(ValueError, match=r"equal values on its diagonal.*between"):
        SVDD(kernel="precomputed").fit(X @ X.T)
    quadratic = SVDD(kernel=lambda A, B: (A @ B.T + 1.0) ** 2, nu=0.1).fit(X, y)
    named = SVDD(kernel="poly", degree=2, gamma=1.0, coef0=1.0, nu=0.1).fit(X, y)
    np.testing.assert_allclose(
        quadratic.decision_function(X), named.decision_function(X), atol=1e-6
    )
    csr = sparse.csr_matrix(np.where(np.abs(X) > 0.5, X, 0.0))
    model = SVDD(kernel="linear", nu=0.1).fit(csr, y)
    dense = SVDD(kernel="linear", nu=0.1).fit(csr.toarray(), y)
    np.testing.assert_allclose(
        model.decision_function(csr), dense.decision_function(csr.toarray()), atol=1e-8
    )
    np.testing.assert_allclose(model.center_, dense.center_, atol=1e-8)
    with pytest.warns(ConvergenceWarning, match="indefinite|positive semidefinite"):
        sigmoid = SVDD(kernel="sigmoid", gamma=1.0, nu=0.3).fit(X)
    assert sigmoid.certificate_.status == "stationary"


def test_labels():
    with pytest.raises(ValueError, match=r"must be -1 for outliers and 1 for inliers.*0"):
        SVDD().fit(X, np.where(y < 0, -1, 0))
    with pytest.warns(UserWarning, match="no label -1"):
        SVDD().fit(X, np.where(y < 0, 1, 0))
    with pytest.raises(ValueError, match="at least one inlier"):
        SVDD().fit(X, -np.ones(90))
    with pytest.raises(ValueError, match="at least one inlier"):
        SVDD().fit(X, y, (y < 0).astype(float))
    with pytest.raises(ValueError, match="inconsistent numbers"):
        SVDD().fit(X, y[:10])
    np.testing.assert_array_equal(
        SVDD().fit(X, np.ones(90)).decision_function(X), SVDD().fit(X).decision_function(X)
    )


def test_certify_finds_other_labels():
    model = SVDD(nu=0.1).fit(X, y)
    assert model.certify(X, y).status == "optimal"
    assert model.certify(X, -y).status == "refuted"


def test_warm_starts_and_limits():
    model = SVDD(nu=0.3, kernel="linear", warm_start=True).fit(X, y)
    f, steps = model.decision_function(X), model.n_iter_
    assert model.fit(X, y).n_iter_ < steps
    np.testing.assert_allclose(model.decision_function(X), f, atol=1e-9)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        early = SVDD(max_iter=1).fit(X)
    assert np.isfinite(early.decision_function(X)).all()


def test_files(tmp_path):
    path = tmp_path / "model.mm"
    for model in (SVDD(nu=0.1).fit(X, y), SVDD(kernel="linear").fit(sparse.csr_matrix(X))):
        io.save(model, path)
        loaded = io.load(path)
        A = sparse.csr_matrix(X) if model._sparse else X
        np.testing.assert_array_equal(loaded.decision_function(A), model.decision_function(A))
        np.testing.assert_array_equal(loaded.offset_, model.offset_)
        copy = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(copy.predict(A), model.predict(A))
    for convert in (io.to_c, io.to_javascript, io.to_sklearn):
        with pytest.raises(TypeError, match=r"k\(x, x\).*io\.save"):
            convert(model)
    with pytest.raises((TypeError, ValueError)):
        io.save_libsvm(model, path)
    with pytest.raises(TypeError, match=r"k\(x, x\)"):
        compact(model, tolerance=0.1)
    model.offset_ = np.array([1.0])
    with pytest.raises(ValueError, match="offset_"):
        io.save(model, path)


@pytest.mark.parametrize("seed", range(4))
def test_the_share_outside_holds_for_sparse_float32(seed):
    """k(x, x) was computed in float32, and samples on the boundary fell outside."""
    X = sparse.csr_matrix(np.random.default_rng(seed).normal(size=(23, 5)).astype(np.float32))
    model = SVDD(kernel="poly", degree=2, coef0=1, gamma=0.1, nu=0.5).fit(X)
    assert np.sum(model.predict(X) < 0) <= 0.5 * 23
