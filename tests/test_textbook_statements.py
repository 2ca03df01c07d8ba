"""Theorems, rules of thumb, online learners, measured curves, and the example by hand."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.datasets import make_moons

from maxmargin import SVC, LinearSVC, textbook
from maxmargin.model_selection import diagnose
from maxmargin.textbook import duality, experiments, practice, theorems
from maxmargin.textbook.primal_versus_dual import polynomial_features
from maxmargin.textbook.quadratic_program import QuadraticProgram, solve
from maxmargin.textbook.worked_example import LABELS, POINTS

RBF = textbook.kernels.rbf(0.7)


def moons(n=60, seed=1, noise=0.25):
    X, y = make_moons(n, noise=noise, random_state=seed)
    return X, 2 * y - 1


def apart(n=30):
    random = np.random.default_rng(4)
    y = np.repeat([-1, 1], n // 2)
    return random.normal(size=(n, 3)) + 2.5 * y[:, None], y


def test_the_example_by_hand_is_what_smo_does():
    exact = textbook.worked_example()
    half = Fraction(3, 2)
    assert exact.a == (3, half, half)
    assert exact.b == Fraction(1, 2)
    X, y = np.array(POINTS, float), np.array(LABELS)
    model, trace = textbook.smo(X, y, C=3.0, selection="maximal violating pair", tol=1e-12)
    assert len(trace) == 1 + len(exact.steps)
    for step, by_hand in zip(trace.steps[1:], exact.steps, strict=True):
        pair = step.pair
        assert (pair.i, pair.j) == (by_hand.i, by_hand.j)
        assert pair.E_i - pair.E_j == pytest.approx(float(by_hand.E_i - by_hand.E_j))
        for name in ("eta", "L", "H", "unclipped"):
            assert getattr(pair, name) == pytest.approx(float(getattr(by_hand, name)))
        np.testing.assert_allclose(step.variables, np.array(by_hand.a, float))
    best = SVC(kernel="linear", C=3.0, tol=1e-10).fit(X, y)
    assert best.certificate_.primal == pytest.approx(15 / 4)
    np.testing.assert_allclose(model.decision_function(X), best.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(y * model.decision_function(X), [0.5, 1, 1])


def test_dual_function_is_the_infimum_of_the_lagrangian():
    random = np.random.default_rng(0)
    A = random.normal(size=(6, 4))
    program = QuadraticProgram(
        A.T @ A + np.eye(4),
        random.normal(size=4),
        random.normal(size=(5, 4)),
        np.ones(5),
        random.normal(size=(2, 4)),
        np.zeros(2),
    )
    best = solve(program)
    optimum = float(0.5 * best @ program.P @ best + program.q @ best)
    for _ in range(50):
        u, v = np.abs(random.normal(size=5)), random.normal(size=2)
        theta = duality.dual_function(program, u, v)
        around = [duality.lagrangian(program, x, u, v) for x in random.normal(size=(50, 4))]
        assert theta <= min(around) + 1e-12  # an infimum ...
        assert theta <= optimum + 1e-9  # ... and weak duality
        slope = program.q + program.G.T @ u + program.A.T @ v
        lowest = -np.linalg.solve(program.P, slope)
        assert theta == pytest.approx(duality.lagrangian(program, lowest, u, v))
    none = duality.kkt_residuals(program, best + 0.1, np.ones(5), np.ones(2))
    assert min(none.stationarity, none.complementarity) > 1e-3
    assert duality.kkt_residuals(program, best, -np.ones(5), np.zeros(2)).dual_feasibility == 1.0


def test_the_dual_of_the_hard_margin_as_the_lectures_derive_it():
    X, y = apart()
    program = duality.hard_margin_primal(X, y)
    model, trace = textbook.hard_margin_qp(X, y)
    optimal = duality.kkt_residuals(program, np.append(model.w, model.b), model.alpha, np.zeros(0))
    assert max(optimal) < 1e-4
    random = np.random.default_rng(1)
    for _ in range(20):
        a = random.uniform(size=len(y))
        assert duality.dual_function(program, a, np.zeros(0)) == -np.inf  # sum_i a_i t_i is not 0
        a[y > 0] *= a[y < 0].sum() / a[y > 0].sum()
        w = (a * y) @ X
        theta = duality.dual_function(program, a, np.zeros(0))
        assert theta == pytest.approx(a.sum() - 0.5 * w @ w)
        assert theta <= trace.steps[-1].primal
    reached = duality.dual_function(program, model.alpha, np.zeros(0))
    assert reached in (-np.inf, pytest.approx(trace.steps[-1].primal, rel=1e-5))


def test_distances_and_margins():
    X, y = apart()
    model, _ = textbook.hard_margin_qp(X, y)
    foot = theorems.nearest_on_plane(model, X)
    np.testing.assert_allclose(model.decision_function(foot), 0, atol=1e-9)
    np.testing.assert_allclose(
        np.linalg.norm(X - foot, axis=1), np.abs(theorems.distances(model, X))
    )
    np.testing.assert_allclose((foot[1:] - foot[:1]) @ model.w, 0, atol=1e-9)  # lemma 1
    assert theorems.margin(model, X, y) == pytest.approx(1 / np.linalg.norm(model.w), rel=1e-5)
    scaled = textbook.LinearModel(3 * model.w, 3 * model.b)
    assert theorems.margin(scaled, X, y) == pytest.approx(theorems.margin(model, X, y))
    shifted = textbook.LinearModel(model.w, model.b + 0.5)
    assert theorems.margin(shifted, X, y) < theorems.margin(model, X, y)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_sum_of_slacks_bounds_the_errors(C):
    for seed in range(5):
        X, y = moons(seed=seed, noise=0.5)
        model, _ = textbook.soft_margin_qp(X, y, C=C)
        errors, slack = theorems.errors_and_slacks(model, X, y)
        assert errors == np.sum(SVC(kernel="linear", C=C, tol=1e-8).fit(X, y).predict(X) != y)
        assert 0 < errors <= slack


def test_representer_theorem():
    X, y = moons(8)
    Phi = polynomial_features(X, 3)
    assert Phi.shape[1] > len(y)
    random = np.random.default_rng(0)
    w = random.normal(size=Phi.shape[1])
    beta, rest = theorems.representer(w, Phi)
    np.testing.assert_allclose(Phi @ rest, 0, atol=1e-9)
    np.testing.assert_allclose(Phi.T @ beta + rest, w)
    assert np.linalg.norm(Phi.T @ beta) < np.linalg.norm(w)
    exact = LinearSVC(loss="hinge", C=1.0, tol=1e-10).fit(Phi, y)
    _, outside = theorems.representer(exact.coef_[0], Phi)
    assert np.linalg.norm(outside) < 1e-5 * np.linalg.norm(exact.coef_)  # the optimum lies inside


def test_mercer_by_eigenvalues():
    X, _ = moons(30)
    for kernel in (textbook.kernels.linear, RBF, textbook.kernels.polynomial(3)):
        assert theorems.mercer_eigenvalues(kernel, X)[0] > -1e-9
        Phi = theorems.mercer_features(kernel, X)
        np.testing.assert_allclose(Phi @ Phi.T, kernel(X, X), atol=1e-8)
    sigmoid = textbook.kernels.sigmoid(-1.0)
    assert theorems.mercer_eigenvalues(sigmoid, X)[0] < -1e-3
    with pytest.raises(ValueError, match="negative eigenvalue"):
        theorems.mercer_features(sigmoid, X)


def test_squared_loss_is_a_likelihood():
    random = np.random.default_rng(0)
    t, y = random.normal(size=20), random.normal(size=20)
    for sigma in (0.5, 1.0, 3.0):
        expected = -norm(loc=y, scale=sigma).logpdf(t)
        np.testing.assert_allclose(textbook.losses.gaussian_nll(t, y, sigma), expected)


def test_epsilon_is_proportional_to_the_noise():
    """The rule's epsilon follows the noise, and its test error is near the best of a range."""
    random = np.random.default_rng(0)
    X = np.sort(random.uniform(-3, 3, size=(200, 1)), axis=0)
    signal = np.sin(X[:, 0])
    for sigma in (0.05, 0.2, 0.5):
        t = signal + sigma * random.normal(size=200)
        found = practice.noise_level(X, t)
        assert found == pytest.approx(sigma, rel=0.3)
        assert practice.epsilon_of_noise(found, 200) == pytest.approx(
            3 * found * np.sqrt(np.log(200) / 200)
        )

        def error(epsilon, t=t):
            model, _ = textbook.epsilon_svr(X, t, practice.C_of_targets(t), epsilon, RBF)
            return np.sqrt(np.mean((model.predict(X) - signal) ** 2))

        ours = error(practice.epsilon_of_noise(found, 200))
        assert ours <= 1.5 * min(error(factor * sigma) for factor in (0.01, 0.3, 1, 2))
    assert practice.C_of_targets([-1.0, 1.0]) == 3.0
    pairs = practice.noise_level([[0.0], [0.0], [1.0], [1.0]], [1.0, -1.0, 2.0, 0.0], k=2)
    assert pairs == pytest.approx(np.sqrt(4**0.2 * 2 / (4**0.2 * 2 - 1)))


def test_features_against_samples_is_the_doctors_rule():
    X, y = moons(40)
    assert practice.which_machine(2, 40) == str(diagnose(X, y, cost=False)["kernel"])
    assert "linear" in practice.which_machine(1000, 100)
    assert "RBF" in practice.which_machine(10, 10_000)
    assert "add features" in practice.which_machine(10, 1_000_000)


def test_norma_is_its_definition():
    """Against a list of terms that is written down from scratch, with and without a window."""
    X, y = moons(20)
    K, lam, eta = RBF(X, X), 0.05, 0.8
    for window in (None, 7):
        model, trace = textbook.norma(X, y, lam, RBF, eta, window, steps=60, trace=1)
        terms = []
        drawn = np.random.default_rng(0).integers(len(y), size=60)
        for k, i in enumerate(drawn, start=1):
            rate = eta / np.sqrt(k)
            loss = y[i] * sum(c * K[i, j] for j, c in terms) < 1
            terms = [(j, (1 - rate * lam) * c) for j, c in terms]
            terms.append((i, rate * y[i] if loss else 0.0))
            terms = terms if window is None else terms[-window:]
        coef = np.zeros(len(y))
        for j, c in terms:
            coef[j] += c
        np.testing.assert_allclose(model.coef, coef, atol=1e-12)
        np.testing.assert_allclose(trace.steps[-1].variables, coef, atol=1e-12)


def test_norma_approaches_the_optimum():
    X, y = moons()
    lam = 0.05
    K = np.outer(y, y) * RBF(X, X)
    n = len(y)
    box = np.vstack([-np.eye(n), np.eye(n)])
    bounds = np.append(np.zeros(n), np.full(n, 1 / (lam * n)))
    a = solve(QuadraticProgram(K, -np.ones(n), box, bounds, np.zeros((0, n)), np.zeros(0)))
    best = lam * (a.sum() - 0.5 * a @ K @ a)
    _, trace = textbook.norma(X, y, lam, RBF, steps=20_000, trace=10)
    excess = trace.column("primal") - best
    assert excess.min() >= -1e-9
    assert excess[-500:].mean() < 0.01
    assert excess[-500:].mean() < 0.3 * excess[:50].mean()


@pytest.mark.parametrize("average", [True, False])
def test_sgd_svm_approaches_the_optimum(average):
    X, y = moons(200)
    lam = 0.02
    exact = LinearSVC(loss="hinge", C=1 / (lam * len(y)), tol=1e-10).fit(X, y)
    best = exact.certificate_.primal * lam
    model, trace = textbook.sgd_svm(X, y, lam, epochs=100, average=average)
    excess = trace.column("primal") - best
    assert excess.min() >= -1e-9
    assert excess[-1] < (2e-3 if average else 2e-2)
    np.testing.assert_allclose(model.w, exact.coef_[0], atol=0.1 if average else 0.5)
    assert trace.steps[0].primal < 2  # no far throw at the beginning, unlike Pegasos
    assert len(trace) == 100


def test_errors_over_C():
    X, y = moons(80, noise=0.35)
    X_test, y_test = moons(600, seed=2, noise=0.35)
    curve = experiments.error_over_C(X, y, X_test, y_test, gamma=3.0)
    assert curve.train_error[-1] < 0.02 < curve.test_error[-1]  # over-fitting
    assert curve.test_error[0] > curve.test_error.min() + 0.01  # under-fitting
    assert 0 < np.argmin(curve.test_error) < len(curve.values) - 1
    machine = SVC(C=curve.values[7], gamma=3.0, tol=1e-5).fit(X, y)
    assert curve.train_error[7] == pytest.approx(1 - machine.score(X, y))
    assert curve.support[7] == len(machine.support_) / len(y)
    assert str(curve).count("\n") == len(curve.values)


def test_errors_over_nu():
    X, y = moons(80, noise=0.35)
    curve = experiments.error_over_nu(X, y, *moons(100, seed=2), gamma=1.0)
    assert np.all(curve.margin_errors <= curve.values + 1e-9)
    assert np.all(curve.support >= curve.values - 1e-9)
    assert curve.margin_errors[-1] > 0.8


def test_growth_with_the_number_of_points():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 4))
    y = np.where(random.normal(size=400) + X[:, 0] * X[:, 1] > 0, 1, -1)
    small, large = experiments.growth(X, y, sizes=(100, 400), repeats=1)
    assert small.primal.parameters == large.primal.parameters
    assert (small.dual.parameters, large.dual.parameters) == (100, 400)
    assert large.dual.size > 2 * small.dual.size  # s D grows with N, F does not
    assert max(small.disagreement, large.disagreement) < 1e-3
    with pytest.raises(ValueError, match="400 points"):
        experiments.growth(X, y, sizes=(500,))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: textbook.norma(X, y, lam=2.0), "smaller eta"),
        (lambda X, y: textbook.norma(X, y, window=0), "at least 1"),
        (lambda X, y: textbook.sgd_svm(X, y, lam=0), "above 0"),
        (lambda X, y: textbook.sgd_svm(X, y, epochs=0), "at least 1"),
        (lambda X, y: practice.noise_level(X, y, k=1), "between 2"),
        (lambda X, y: practice.epsilon_of_noise(-1, 10), "negative"),
    ],
)
def test_errors_name_cause_and_remedy(call, message):
    with pytest.raises(ValueError, match=message):
        call(*moons())
