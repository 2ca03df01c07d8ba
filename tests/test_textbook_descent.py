"""The pages on descent, decomposition and regression reach optima that others computed."""

import numpy as np
import pytest
from scipy.optimize import nnls
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso

from maxmargin import SVC, SVR, LinearSVC, NuSVR, textbook
from maxmargin.textbook.quadratic_program import QuadraticProgram, solve

LINEAR, RBF = textbook.kernels.linear, textbook.kernels.rbf(0.7)


def moons(n=60):
    X, y = make_moons(n, noise=0.25, random_state=1)
    return X, 2 * y - 1


def curve(n=50):
    random = np.random.default_rng(3)
    X = np.sort(random.uniform(-3, 3, size=(n, 1)), axis=0)
    return X, np.sin(X[:, 0]) + 0.2 * random.normal(size=n)


@pytest.mark.parametrize("order", ["cyclic", "largest decrease"])
def test_coordinate_descent_in_both_orders(order):
    random = np.random.default_rng(0)
    A, b = random.normal(size=(6, 4)), random.normal(size=4)
    P = A.T @ A + 0.1 * np.eye(4)

    def L(w):
        return float(0.5 * w @ P @ w - b @ w)

    w, trace = textbook.coordinate_descent(L, np.zeros(4), order=order, tol=1e-15)
    np.testing.assert_allclose(w, np.linalg.solve(P, b), atol=1e-4)
    before = np.zeros(4)
    for step in trace.steps[1:]:
        (i,) = step.chosen
        others = np.delete(np.arange(4), i)
        np.testing.assert_array_equal(step.variables[others], before[others])
        if order == "largest decrease":
            # a move along i lowers L by g_i^2 / (2 P_ii)
            decrease = (P @ before - b) ** 2 / (2 * np.diag(P))
            assert decrease[i] >= decrease.max() - 1e-8
        before = step.variables


@pytest.mark.parametrize("order", ["cyclic", "largest decrease"])
@pytest.mark.parametrize("kernel", [LINEAR, RBF])
def test_kernel_regression_by_single_examples(order, kernel):
    X, t = curve()
    model, trace = textbook.kernel_regression(X, t, 0.3, kernel, order)
    K = kernel(X, X)
    np.testing.assert_allclose(model.coef, np.linalg.solve(K + 0.3 * np.eye(len(t)), t), atol=1e-5)
    other = KernelRidge(alpha=0.3, kernel="precomputed").fit(K, t)
    np.testing.assert_allclose(model.predict(X), other.predict(K), atol=1e-5)
    assert np.all(np.diff(trace.column("primal")) <= 1e-12)
    for before, after in zip(trace.steps[:-1], trace.steps[1:], strict=True):
        assert set(np.flatnonzero(after.variables != before.variables)) <= set(after.chosen)
    if order == "largest decrease":
        _, cyclic = textbook.kernel_regression(X, t, 0.3, kernel)
        assert trace.steps[20].primal < cyclic.steps[20].primal


@pytest.mark.parametrize("order", ["cyclic", "permutation", "random"])
def test_the_three_rules_for_the_index(order):
    X, y = moons()
    exact = LinearSVC(loss="hinge", C=0.5, tol=1e-10, fit_intercept=False).fit(X, y)
    model, trace = textbook.dual_coordinate_descent(X, y, C=0.5, order=order, tol=1e-8)
    assert trace.steps[-1].primal == pytest.approx(exact.certificate_.primal, rel=1e-7)
    np.testing.assert_allclose(model.w, exact.coef_[0], atol=1e-5)
    other = textbook.dual_coordinate_descent(X, y, C=0.5, order=order, tol=1e-8, seed=1)[1]
    same = np.array_equal(trace.steps[0].variables, other.steps[0].variables)
    assert same == (order == "cyclic")
    if order == "cyclic":
        a, w = np.zeros(len(y)), np.zeros(2)
        for x, t, i in zip(X, y, range(len(y)), strict=True):
            a[i] = np.clip((1 - t * (w @ x)) / (x @ x), 0, 0.5)
            w += a[i] * t * x
        np.testing.assert_allclose(trace.steps[0].variables, a)


@pytest.mark.parametrize("method", ["gradient descent", "conjugate gradients"])
@pytest.mark.parametrize(("kernel", "C"), [(LINEAR, 0.5), (RBF, 0.5), (RBF, 20.0)])
def test_steps_on_the_primal(method, kernel, C):
    """The dual is a least squares problem with a >= 0: Lawson and Hanson solve it."""
    X, y = moons()
    Q = np.outer(y, y) * kernel(X, X) + np.eye(len(y)) / (2 * C)
    root = np.linalg.cholesky(Q)
    a, _ = nnls(root.T, np.linalg.solve(root, np.ones(len(y))), maxiter=10_000)
    best = a.sum() - 0.5 * a @ Q @ a
    model, trace = textbook.primal_gradient(X, y, C, kernel, method)
    assert trace.steps[-1].primal == pytest.approx(best, rel=1e-8)
    assert trace.steps[-1].gap == pytest.approx(0, abs=1e-6 * best)
    np.testing.assert_allclose(model.decision_function(X), kernel(X, X) @ (a * y), atol=1e-3)
    assert np.all(np.diff(trace.column("primal")) <= 1e-10 * best)


def test_conjugate_gradients_need_fewer_steps():
    X, y = moons()
    steps = {
        method: len(textbook.primal_gradient(X, y, 20.0, RBF, method)[1])
        for method in ("gradient descent", "conjugate gradients")
    }
    assert 3 * steps["conjugate gradients"] < steps["gradient descent"]


@pytest.mark.parametrize("size", [2, 5, 20, 60])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_decomposition_with_a_working_set_of_any_size(size, C):
    X, y = moons()
    exact = SVC(C=C, gamma=0.7, tol=1e-8).fit(X, y)
    model, trace = textbook.decomposition(X, y, C, RBF, size, tol=1e-5)
    assert trace.steps[-1].primal == pytest.approx(exact.certificate_.primal, rel=1e-5)
    np.testing.assert_allclose(
        model.decision_function(X), exact.decision_function(X), atol=1e-3 * (1 + C)
    )
    assert abs(model.coef.sum()) <= 1e-12 * C * len(y)
    before = np.zeros(len(y))
    for step in trace.steps[1:]:
        assert 2 <= len(step.chosen) <= size
        assert set(np.flatnonzero(step.variables != before)) <= set(step.chosen)
        before = step.variables
    if size == len(y):
        assert len(trace) == 2  # the whole problem at once


def test_decomposition_computes_a_part_of_the_kernel_matrix():
    X, y = moons(300)
    computed = []

    def counting(A, B):
        computed.append(len(A) * len(B))
        return RBF(A, B)

    model, trace = textbook.decomposition(X, y, 10.0, counting)
    assert trace.kernel_share == pytest.approx((sum(computed) - 1) / len(y) ** 2)
    assert len(model.support) / len(y) <= trace.kernel_share <= 0.5  # "no more than 15% to 50%"
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        textbook.decomposition(X, y, 10.0, RBF, max_iter=2)


@pytest.mark.parametrize("C", [0.5, 20.0])
@pytest.mark.parametrize("nu", [0.2, 0.6])
def test_nu_svr(C, nu):
    X, t = curve()
    model, trace = textbook.nu_svr(X, t, C, nu, RBF)
    exact = NuSVR(C=C, nu=nu, gamma=0.7, tol=1e-8).fit(X, t)
    np.testing.assert_allclose(model.predict(X), exact.predict(X), atol=1e-5)
    twin = SVR(C=C, epsilon=model.epsilon, gamma=0.7, tol=1e-8).fit(X, t)
    np.testing.assert_allclose(model.predict(X), twin.predict(X), atol=1e-5)
    assert trace.steps[0].gap == pytest.approx(0, abs=1e-5 * trace.steps[0].primal)
    outside = np.abs(t - model.predict(X)) > model.epsilon + 1e-6
    assert outside.mean() <= nu <= len(model.support) / len(t)


@pytest.mark.parametrize("lam", [0.5, 5.0, 50.0])
def test_lasso(lam):
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 8))
    t = X @ [3, -2, 0, 0, 1, 0, 0, 0] + 1.0 + 0.5 * random.normal(size=40)
    model, trace = textbook.lasso(X, t, lam, tol=1e-12)
    other = Lasso(lam / len(t), tol=1e-12, max_iter=100_000).fit(X, t)
    np.testing.assert_allclose(model.w, other.coef_, atol=1e-6)
    assert model.b == pytest.approx(other.intercept_, abs=1e-6)
    assert trace.steps[-1].gap <= 1e-10 * trace.steps[-1].primal
    assert lam < 1 or np.sum(model.w == 0) >= 1
    assert np.all(textbook.linear_regression(X, t, lam)[0].w != 0)  # ridge has no zeros
    # the lecture's form: |w|_1 <= t as w = u - v with u, v >= 0
    Z, z, bound = X - X.mean(axis=0), t - t.mean(), float(np.abs(model.w).sum())
    both = np.hstack([Z, -Z])
    G, h = np.vstack([-np.eye(16), np.ones(16)]), np.append(np.zeros(16), bound)
    program = QuadraticProgram(both.T @ both, -both.T @ z, G, h, np.zeros((0, 16)), np.zeros(0))
    found = solve(program)
    np.testing.assert_allclose(found[:8] - found[8:], model.w, atol=1e-4)
    none, _ = textbook.lasso(X, t, float(np.abs(Z.T @ z).max()) * 1.001)
    assert not none.w.any()


@pytest.mark.parametrize(
    ("call", "remedy"),
    [
        (lambda X, y: textbook.smo(X, y, max_iter=2), "max_iter"),
        (lambda X, y: textbook.primal_gradient(X, y, max_iter=2), "max_iter"),
        (lambda X, y: textbook.dual_coordinate_descent(X, y, max_sweeps=1), "max_sweeps"),
        (lambda X, y: textbook.kernel_regression(X, y, max_sweeps=1), "max_sweeps"),
        (lambda X, y: textbook.lasso(X, y, max_sweeps=0), "max_sweeps"),
        (lambda X, y: textbook.decomposition(X, y, max_iter=1), "max_iter"),
    ],
)
def test_stopping_early_is_said(call, remedy):
    with pytest.warns(ConvergenceWarning, match=f"stopped after .* above tol=.*{remedy}"):
        call(*moons())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: textbook.decomposition(X, y, size=1), "at least 2"),
        (lambda X, y: textbook.primal_gradient(X, y, method="newton"), "conjugate gradients"),
        (lambda X, y: textbook.dual_coordinate_descent(X, y, order="greedy"), "permutation"),
        (lambda X, y: textbook.coordinate_descent(np.sum, [0.0], order="random"), "largest"),
        (lambda X, y: textbook.kernel_regression(X, y, order="random"), "largest decrease"),
        (lambda X, y: textbook.kernel_regression(X, y, lam=0), "above 0"),
        (lambda X, y: textbook.nu_svr(X, y, nu=2), "share"),
        (lambda X, y: textbook.lasso(X, y, lam=0), "linear_regression"),
    ],
)
def test_errors_name_cause_and_remedy(call, message):
    with pytest.raises(ValueError, match=message):
        call(*moons())
