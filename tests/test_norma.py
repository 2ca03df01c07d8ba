"""NORMA: step by step against the obvious way, its regret, the share of margin errors, novelty
beside the exact one-class SVM, budgets."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from data import load
from helpers import assert_close, assert_same_bits, binary, three
from maxmargin import SVC, NormaNovelty, NormaSVC, OneClassSVM
from maxmargin.online import norma as norma_solver
from maxmargin.online.budget import Points
from maxmargin.online.norma import quantile

X, label = binary(300)
y = np.where(label == 1, 1.0, -1.0)
rng = np.random.default_rng(0)


def norma(K, y, alpha, eta0, nu, rho, bias, weight):
    """The updates of Kivinen, Smola and Williamson, one sample after the other; also the loss of
    each before its step."""
    c, b, losses = np.zeros(len(y)), 0.0, []
    for t in range(len(y)):
        eta = eta0 / np.sqrt(t + 1)
        f = c @ K[:, t] + b
        losses.append(max(0.0, rho - y[t] * f))
        error = y[t] * f < rho
        c *= 1 - eta * alpha
        if error:
            c[t] = eta * weight[t] * y[t]
            b += bias * eta * weight[t] * y[t]
        if nu is not None:
            rho += eta * weight[t] * (nu - error)
    return c, b, rho, np.array(losses)


@pytest.mark.parametrize("nu", [None, 0.3])
@pytest.mark.parametrize("bias", [True, False])
def test_steps_of_the_classifier(nu, bias):
    weight = rng.uniform(0.5, 2.0, size=300)
    model = NormaSVC(
        alpha=0.05,
        gamma=0.4,
        nu=nu,
        rho=0.7,
        eta0=0.8,
        fit_intercept=bias,
        shuffle=False,
        budget=None,
    )
    for some in np.split(np.arange(300), [1, 5, 270]):
        model.partial_fit(X[some], label[some], classes=[0, 1], sample_weight=weight[some])
    K = rbf_kernel(X, gamma=0.4)
    c, b, rho, _ = norma(K, y, 0.05, 0.8, nu, 0.7, bias, weight)
    np.testing.assert_allclose(model.decision_function(X), K @ c + b, rtol=0, atol=1e-11)
    np.testing.assert_allclose([model.intercept_[0], model.rho_[0]], [b, rho], rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.dual_coef_[0], c[c != 0], rtol=0, atol=1e-12)


def test_steps_of_novelty_detection():
    model = NormaNovelty(alpha=0.05, gamma=0.4, nu=0.2, shuffle=False, budget=None)
    for some in np.split(np.arange(300), [10, 100]):
        model.partial_fit(X[some])
    K = rbf_kernel(X, gamma=0.4)
    c, _, rho, _ = norma(K, np.ones(300), 0.05, 1.0, 0.2, 0.0, False, np.ones(300))
    np.testing.assert_allclose(model.score_samples(X), K @ c, rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.offset_, [rho], rtol=0, atol=1e-12)
    assert_same_bits(model.decision_function(X), model.score_samples(X) - model.offset_)
    np.testing.assert_array_equal(
        model.predict(X), np.where(model.decision_function(X) >= 0, 1, -1)
    )


def test_regret():
    """The mean regularised loss along the way exceeds that of the best fixed function by c /
    sqrt(T) at most, c for these steps below 4.
    """
    alpha, regrets = 0.01, []
    for T in (400, 1600):
        A, z = binary(T, 4, seed=5)
        sign, K = np.where(z == 1, 1.0, -1.0), rbf_kernel(A, gamma=0.4)
        exact = SVC(gamma=0.4, C=1 / (alpha * T)).fit(A, z)
        losses = norma(K, sign, alpha, 1.0, None, 1.0, True, np.ones(T))[3]
        regrets.append(losses.mean() - alpha * exact.certificate_.primal)
        assert regrets[-1] <= 4 / np.sqrt(T)
        model = NormaSVC(alpha=alpha, gamma=0.4, shuffle=False, budget=None, max_iter=20).fit(A, z)
        loss = np.maximum(0, 1 - sign * model.decision_function(A)).mean()
        norm = (
            model.dual_coef_[0]
            @ rbf_kernel(model.support_vectors_, gamma=0.4)
            @ model.dual_coef_[0]
        )
        assert loss + alpha / 2 * norm < 1.1 * alpha * exact.certificate_.primal
    assert regrets[1] < regrets[0]


def test_nu_is_the_share_of_margin_errors():
    A, z = binary(4000, 4, seed=6)
    for nu in (0.2, 0.5):
        model = NormaSVC(nu=nu, alpha=0.01, gamma=0.4, random_state=0, max_iter=2).fit(A, z)
        errors = np.mean(np.where(z == 1, 1, -1) * model.decision_function(A) < model.rho_[0])
        assert abs(errors - nu) < 0.1


@pytest.mark.parametrize("nu", [0.05, 0.2, 0.5])
def test_novelty_is_near_the_exact_one(nu):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2000, 2)), 2 * rng.normal(size=(2000, 2))
    exact = OneClassSVM(nu=nu, gamma=0.5).fit(A)
    model = NormaNovelty(nu=nu, gamma=0.5, random_state=0).fit(A)
    assert np.corrcoef(exact.score_samples(B), model.score_samples(B))[0, 1] > 0.98
    assert np.mean(exact.predict(B) == model.predict(B)) > 0.93
    assert np.mean(model.predict(A) == -1) == pytest.approx(nu, abs=1e-3), (
        "fit ends with the exact quantile"
    )
    stream = NormaNovelty(nu=nu, gamma=0.5, budget=300, shuffle=False)
    for begin in range(0, 2000, 250):
        stream.partial_fit(A[begin : begin + 250])
        assert len(stream.support_vectors_) <= 300
    assert 0.5 * nu < np.mean(stream.predict(A) == -1) < 2 * nu, (
        "a model that calls nothing novel does not pass"
    )
    assert np.mean(exact.predict(B) == stream.predict(B)) > 0.88


def test_quantile():
    for _ in range(50):
        n = int(rng.integers(1, 20))
        g, p, nu = (
            rng.normal(size=n).round(1),
            rng.integers(0, 3, size=n) + 0.0,
            rng.uniform(0.01, 1),
        )
        p[0] = 1.0
        p /= p.sum()
        values = [np.sum(p * np.maximum(0, r - g)) - nu * r for r in [quantile(g, p, nu), *g]]
        assert values[0] <= min(values) + 1e-12


def test_the_best_bias_of_a_margin():
    for _ in range(50):
        n = int(rng.integers(2, 20))
        g, p, rho = (
            rng.normal(size=n).round(1),
            rng.integers(0, 3, size=n) + 0.0,
            rng.uniform(0.1, 3),
        )
        s = np.where(rng.random(n) < 0.5, 1.0, -1.0)
        p[:2], s[:2] = 1.0, (1.0, -1.0)
        found = norma_solver.best_bias(g, s, p, rho)
        values = [np.sum(p * np.maximum(0, rho - s * (g + b))) for b in [found, *(s * rho - g)]]
        assert values[0] <= min(values) + 1e-12


def test_points_are_reduced_after_each_block(monkeypatch):
    calls = []
    real = Points.maintain
    monkeypatch.setattr(Points, "maintain", lambda *a: calls.append(1) or real(*a))
    for budget, count in ((25, 12), (26, 12), (290, 2), (None, 0)):
        calls.clear()
        NormaSVC(budget=budget, gamma=0.4, shuffle=False).partial_fit(X, label, classes=[0, 1])
        assert len(calls) == count


def test_a_stream_that_drifts():
    """After the classes have changed places the budgeted model has learned the new ones."""
    model = NormaSVC(gamma=0.5, alpha=0.01, budget=100, power_t=0.0, eta0=0.3, shuffle=False)
    for step in range(40):
        A = rng.normal(size=(50, 2))
        z = (A[:, 0] > 0) ^ (step >= 20)
        model.partial_fit(A, z, classes=[False, True])
    A = rng.normal(size=(500, 2))
    assert np.mean(model.predict(A) == (A[:, 0] <= 0)) > 0.9
    assert len(model.support_vectors_) <= 100
    assert model.truncation_[0] > 0


def test_budget_keeps_accuracy():
    A, z = load("digits", rows=900)
    model = NormaSVC(random_state=0, budget=300, max_iter=3).fit(A[:700], z[:700])
    free = NormaSVC(random_state=0, budget=None, max_iter=3).fit(A[:700], z[:700])
    assert model.dual_coef_.shape == (10, 300)
    assert len(free.support_) > 500
    assert model.score(A[700:], z[700:]) > free.score(A[700:], z[700:]) - 0.1 > 0.75


@pytest.mark.parametrize("make", [NormaSVC, NormaNovelty])
def test_weights_seeds_storage(make):
    A, z = three(120)
    A = A * (np.abs(A) > 0.4)
    weight = rng.integers(0, 4, size=120)
    model = make(random_state=3, gamma=0.3)
    dense = model.fit(A, z).decision_function(A)
    assert_same_bits(model.fit(A, z).decision_function(A), dense)
    assert_close(model.fit(sparse.csr_matrix(A), z).decision_function(A), dense, 1e-9)
    weighted = model.fit(A, z, sample_weight=weight).decision_function(A)
    assert_close(
        model.fit(np.repeat(A, weight, axis=0), np.repeat(z, weight)).decision_function(A),
        weighted,
        1e-8,
    )


def test_errors_and_limits():
    with pytest.raises(ValueError, match=r"eta0 \* alpha = 2 must be less than 1"):
        NormaSVC(eta0=20.0, alpha=0.1).fit(X, label)
    with pytest.raises(ValueError, match=r"eta0 \* alpha = 1 must be less than 1"):
        NormaSVC(eta0=2.0, alpha=0.5).fit(X, label)
    with pytest.warns(ConvergenceWarning, match="time_limit") as caught:
        NormaNovelty(time_limit=0.0).fit(X)
    assert caught[0].filename == __file__
