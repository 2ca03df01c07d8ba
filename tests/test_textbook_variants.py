"""The pages on the rest of the family: semi-supervised, structured, latent, ranking, and others.

Each is held to an enumeration, a quadratic program of another form, or an estimator.
"""

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import Ridge

from maxmargin import (
    LSSVR,
    MISVC,
    MKLSVC,
    SVC,
    SVDD,
    SVR,
    Kernel,
    LaplacianSVC,
    LinearSVC,
    OneClassSVM,
    PerfSVC,
    QuantileSVR,
    RankSVC,
    SequenceSVM,
    StructuredSVM,
    TransductiveSVC,
    textbook,
)
from maxmargin.textbook.cutting_planes import plane
from maxmargin.textbook.latent import latent_objective, trained
from maxmargin.textbook.quadratic_program import QuadraticProgram, solve
from maxmargin.textbook.ranking import pairs
from maxmargin.textbook.structured import features

RBF = textbook.kernels.rbf(0.7)


def clouds(seed, n, gap=1.0, d=2):
    """Two clouds with labels -1 and +1."""
    random = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    return random.normal(size=(n, d)) + gap * y[:, None], y


# Transductive.


def transductive_objective(X, y, U, s, C, C_star):
    """The optimum for fixed labels, by the estimator with sample weights."""
    weights = np.repeat([C, C_star], [len(X), len(U)])
    model = SVC(C=1.0, kernel="linear", tol=1e-8)
    model.fit(np.vstack([X, U]), np.concatenate([y, s]), sample_weight=weights)
    return model.certificate_.primal


@pytest.mark.parametrize("seed", range(3))
def test_switches_lower_the_objective_and_end_near_the_best_labelling(seed):
    X, y = clouds(seed, 10)
    U, y, X = X[4:], y[:4], X[:4]
    _, trace = textbook.transductive(X, y, U, C=2.0, C_star=1.0)
    for before, after in pairwise(trace.steps):
        assert after.variables.sum() == 0  # the balance stays
        if after.chosen:
            assert after.primal < before.primal
            assert set(np.flatnonzero(after.variables != before.variables)) == set(after.chosen)
        elif before.iteration > 0:
            np.testing.assert_array_equal(after.variables, before.variables)
    last = trace.steps[-1]
    found = transductive_objective(X, y, U, last.variables, 2.0, 1.0)
    assert last.primal == pytest.approx(found, rel=1e-6)
    every = [np.where(np.isin(np.arange(6), one), 1.0, -1.0) for one in combinations(range(6), 3)]
    best = min(transductive_objective(X, y, U, s, 2.0, 1.0) for s in every)
    assert best - 1e-6 <= last.primal <= 1.3 * best  # a local search


def test_unlabelled_points_move_the_boundary_into_the_gap():
    random = np.random.default_rng(1)
    right = np.repeat([-1.0, 1.0], 30)
    U = np.column_stack([1.2 * random.normal(size=60), right + 0.3 * random.normal(size=60)])
    X, y = [[-1.5, -1.0], [1.5, 1.0]], [-1, 1]
    model, trace = textbook.transductive(X, y, U, C=10.0)
    np.testing.assert_array_equal(model.predict(U), right)
    np.testing.assert_array_equal(trace.steps[-1].variables, right)
    assert np.mean(trace.model_at(trace.steps[0]).predict(U) == right) < 0.8
    assert any(step.chosen for step in trace.steps)


def test_the_estimator_is_never_above_label_switching():
    X, y = clouds(3, 30, gap=0.8)
    X, U, t = X[:6], X[6:], y[:6]
    _, trace = textbook.transductive(X, t, U, C=2.0, C_star=0.5)
    labels = np.concatenate([t > 0, np.full(len(U), -1)]).astype(int)
    model = TransductiveSVC(C=2.0, C_unlabelled=0.5, kernel="linear", tol=1e-6)
    model.fit(np.vstack([X, U]), labels)
    assert model.certificate_.primal <= trace.steps[-1].primal * (1 + 1e-5)


def test_transductive_needs_both_labels():
    with pytest.raises(ValueError, match="positive=3: from 1 to 2 of the 3"):
        textbook.transductive([[0.0], [1.0]], [-1, 1], [[0.0], [1.0], [2.0]], positive=3)


# Cutting planes.


@pytest.mark.parametrize("C", [0.1, 5.0])
def test_cutting_planes_reach_the_optimum_from_below(C):
    X, y = clouds(1, 60, gap=0.6, d=4)
    exact = LinearSVC(C=C, loss="hinge", fit_intercept=False, tol=1e-9).fit(X, y).certificate_
    model, trace = textbook.cutting_planes(X, y, C, tol=1e-6)
    last = trace.steps[-1]
    w = model.w
    primal = 0.5 * w @ w + C * np.maximum(0, 1 - y * (X @ w)).sum()
    assert primal == pytest.approx(exact.primal, rel=2e-6)
    assert last.dual == pytest.approx(exact.primal, rel=2e-6)
    assert np.all(np.diff(trace.column("dual")) >= -1e-9)
    assert np.all(trace.column("dual") <= exact.primal * (1 + 1e-9))
    perf = PerfSVC("error", C=C, fit_intercept=False, tol=1e-6).fit(X, y)
    assert perf.certificate_.primal == pytest.approx(primal, rel=5e-6)


def test_a_plane_touches_the_risk_and_lies_below_it():
    X, y = clouds(2, 30)
    random = np.random.default_rng(0)
    for v in random.normal(size=(20, 2)):
        offset, slope = plane(v, X, y)
        assert offset + slope @ v == pytest.approx(np.maximum(0, 1 - y * (X @ v)).sum())
        for w in random.normal(size=(20, 2)):
            assert offset + slope @ w <= np.maximum(0, 1 - y * (X @ w)).sum() + 1e-9


def test_n_slack_is_the_machine_of_crammer_and_singer():
    random = np.random.default_rng(3)
    y = np.arange(45) % 3
    X = random.normal(size=(45, 2)) + np.array([[0, 1.5], [-1.5, -1], [1.5, -1]])[y]
    exact = LinearSVC(
        C=0.5, multi_class="crammer_singer", loss="hinge", fit_intercept=False, tol=1e-9
    )
    exact.fit(X, y)
    model, trace = textbook.n_slack(X, y, C=0.5, tol=1e-7)
    assert trace.steps[-1].primal == pytest.approx(exact.certificate_.primal, rel=1e-6)
    np.testing.assert_allclose([m.w for m in model.machines], exact.coef_, atol=1e-3)
    np.testing.assert_array_equal(model.predict(X), exact.predict(X))
    structured = StructuredSVM("multiclass", C=0.5, tol=1e-7).fit(X, y)
    assert structured.certificate_.primal == pytest.approx(exact.certificate_.primal, rel=1e-6)


def test_cutting_planes_that_stop_early_say_so():
    X, y = clouds(1, 60, gap=0.6, d=4)
    with pytest.warns(UserWarning, match="cutting planes: stopped after 2 rounds"):
        textbook.cutting_planes(X, y, max_iter=2)


# Performance measures.


@pytest.mark.parametrize("measure", ["error", "f1", "prbep"])
def test_the_worst_table_is_the_worst_of_all_labellings(measure):
    random = np.random.default_rng(0)
    y = np.array([1, 1, -1, 1, -1, -1, -1])
    for f in random.normal(size=(5, 7)):
        worst = -np.inf
        for z in map(np.array, product((-1, 1), repeat=7)):
            tp, called = np.sum((z > 0) & (y > 0)), np.sum(z > 0)
            lost = {"error": np.mean(z != y), "f1": 1 - 2 * tp / (3 + called), "prbep": 1 - tp / 3}
            if measure != "prbep" or called == 3:
                worst = max(worst, 7 * lost[measure] + 0.5 * (z - y) @ f)
        z, lost = textbook.worst_table(f, y, measure)
        assert lost + 0.5 * (z - y) @ f == pytest.approx(worst)


@pytest.mark.parametrize("measure", ["error", "f1", "prbep"])
def test_machines_for_a_measure_are_those_of_the_estimator(measure):
    X, y = clouds(8, 40, gap=0.7)
    X, y = X[(y < 0) | (np.arange(40) < 16)], y[(y < 0) | (np.arange(40) < 16)]
    _, trace = textbook.measure_svm(X, y, measure, C=0.5, tol=1e-6)
    exact = PerfSVC(measure, C=0.5, fit_intercept=False, tol=1e-8).fit(X, y)
    assert trace.steps[-1].dual == pytest.approx(exact.certificate_.primal, rel=5e-6)
    with pytest.raises(ValueError, match="none of error, f1, prbep"):
        textbook.measure_svm(X, y, "auc")


# Several kernels.


@pytest.mark.parametrize("p", [1.0, 2.0, 4.0])
def test_weights_of_kernels_are_those_of_the_estimator(p):
    X, y = clouds(9, 40, gap=0.6, d=3)
    gammas = (0.05, 0.5, 5.0)
    rbfs = [textbook.kernels.rbf(gamma) for gamma in gammas]
    model, trace = textbook.kernel_weights(X, y, rbfs, p, C=2.0, tol=1e-4)
    assert np.all(np.diff(trace.column("primal")) <= 1e-7)
    last = trace.steps[-1]
    assert np.sum(last.variables**p) == pytest.approx(1.0)
    bank = [Kernel.rbf(gamma) for gamma in gammas]
    exact = MKLSVC(bank, norm=p, C=2.0, normalize=None, tol=1e-6).fit(X, y)
    assert last.dual - 1e-9 <= exact.certificate_.primal <= last.primal * (1 + 1e-7)
    np.testing.assert_allclose(last.variables, exact.kernel_weights_, atol=0.05)
    np.testing.assert_allclose(model.decision_function(X), exact.decision_function(X), atol=0.05)


# Latent variables.


def bags(seed, count=6, parts=3):
    """Bags of which one part of the positive ones lies apart."""
    random = np.random.default_rng(seed)
    y = np.where(np.arange(count) % 2 == 0, 1, -1)
    made = random.normal(size=(count, parts, 2))
    made[y > 0, 0] += 2.0
    return [bag[random.permutation(parts)] for bag in made], y


@pytest.mark.parametrize("seed", range(4))
def test_latent_alternation_falls_to_a_stationary_point(seed):
    data, y = bags(seed)
    model, trace = textbook.latent_svm(data, y, C=1.0)
    assert np.all(np.diff(trace.column("primal")) <= 1e-9)
    positive = [bag for bag, label in zip(data, y, strict=True) if label > 0]
    assert trace.steps[-1].chosen == tuple(np.argmax(bag @ model.w) for bag in positive)
    best = np.inf
    for chosen in product(range(3), repeat=3):
        negative = [bag for bag, label in zip(data, y, strict=True) if label < 0]
        best = min(best, latent_objective(trained(positive, negative, chosen, 1.0), data, y, 1.0))
    assert best - 1e-8 <= trace.steps[-1].primal <= 1.5 * best


def test_bags_of_one_part_are_a_soft_margin():
    X, y = clouds(4, 30)
    model, trace = textbook.latent_svm(X[:, None], y, C=0.7)
    exact = SVC(C=0.7, kernel="linear", tol=1e-9).fit(X, y)
    assert trace.steps[-1].primal == pytest.approx(exact.certificate_.primal, rel=1e-6)
    np.testing.assert_allclose(model.w, exact.coef_[0], atol=1e-4)


def test_witnesses_are_those_of_the_estimator():
    data, y = bags(0, count=20)
    model, trace = textbook.latent_svm(data, y, C=0.5)
    exact = MISVC(C=0.5, n_init=5, tol=1e-8).fit(data, y)
    assert exact.certificate_.status == "stationary"
    assert trace.steps[-1].primal == pytest.approx(exact.objectives_[-1], rel=1e-6)
    assert trace.steps[-1].chosen == tuple(exact.witnesses_[y > 0])
    np.testing.assert_allclose(model.w, exact.coef_[0], atol=1e-3)


def test_empty_bags_are_refused():
    with pytest.raises(ValueError, match="each with a part"):
        textbook.latent_svm([np.zeros((1, 2)), np.zeros((0, 2))], [1, -1])


# Manifold regularisation.


def test_the_deformed_kernel_minimises_the_objective():
    """Against the primal in the coefficients of all points."""
    X, y = clouds(5, 20)
    (X, U), y, C, s = (X[:8], X[8:]), y[:8], 2.0, 0.5
    model, trace = textbook.laplacian_svm(X, y, U, C, s, neighbours=3, kernel=RBF)
    both = np.vstack([X, U])
    K, L = RBF(both, both), textbook.graph_laplacian(both, 3)
    n, m = len(both), len(y)
    P = np.zeros((n + 1 + m, n + 1 + m))
    P[:n, :n] = K + s * K @ L @ K
    margins = np.column_stack([y[:, None] * K[:m], y, np.eye(m)])
    G = -np.vstack([margins, np.eye(n + 1 + m)[n + 1 :]])
    h, q = np.repeat([-1.0, 0.0], [m, m]), np.repeat([0.0, C], [n + 1, m])
    x = solve(QuadraticProgram(P, q, G, h, np.zeros((0, n + 1 + m)), np.zeros(0)))
    assert trace.steps[0].primal == pytest.approx(0.5 * x @ P @ x + q @ x, rel=1e-6)
    values = K @ x[:n] + x[n]
    np.testing.assert_allclose(model.decision_function(both), values, atol=1e-4)
    plain = textbook.soft_margin_qp(X, y, C, RBF)[0].decision_function(U)
    labels = np.concatenate([y > 0, np.full(len(U), -1)]).astype(int)
    exact = LaplacianSVC(C=C, manifold=s, n_neighbors=3, gamma=0.7, tol=1e-8).fit(both, labels)
    np.testing.assert_allclose(exact.decision_function(both), values, atol=1e-4)
    flat = textbook.laplacian_svm(X, y, U, C, 0.0, 3, RBF)[0].decision_function(U)
    np.testing.assert_allclose(flat, plain, atol=1e-5)


def test_the_laplacian_measures_changes_along_edges():
    X, _ = clouds(6, 15)
    L = textbook.graph_laplacian(X, 3)
    W = np.diag(L.diagonal()) - L
    f = np.random.default_rng(0).normal(size=15)
    assert f @ L @ f == pytest.approx(0.5 * np.sum(W * (f[:, None] - f) ** 2))
    assert np.all((W > 0).sum(axis=1) >= 3)
    with pytest.raises(ValueError, match="neighbours=15 must be from 1 to 14"):
        textbook.graph_laplacian(X, 15)


# The smallest ball.


def smallest_ball(X):
    """The radius of the smallest circle, among those through two or three points."""

    def holds(c, r):
        return np.all(np.linalg.norm(X - c, axis=1) <= r * (1 + 1e-9))

    found = [((a + b) / 2, np.linalg.norm(a - b) / 2) for a, b in combinations(X, 2)]
    for a, b, c in combinations(X, 3):
        centre = np.linalg.solve(2 * np.array([b - a, c - a]), [b @ b - a @ a, c @ c - a @ a])
        found.append((centre, np.linalg.norm(centre - a)))
    return min(((r, *c) for c, r in found if holds(c, r)))


def test_the_ball_is_the_smallest_circle():
    X = np.random.default_rng(0).normal(size=(12, 2))
    ball, trace = textbook.svdd(X)
    radius, *centre = smallest_ball(X)
    assert ball.radius == pytest.approx(radius, rel=1e-6)
    np.testing.assert_allclose(ball.alpha @ X, centre, atol=1e-5)
    assert np.all(ball.predict(X) == 1)
    exact = SVDD(kernel="linear", nu=1 / 12, tol=1e-8).fit(X)
    assert exact.radius_ == pytest.approx(radius, rel=1e-5)
    np.testing.assert_allclose(exact.decision_function(X), ball.decision_function(X), atol=1e-5)
    assert abs(trace.steps[0].gap) < 1e-6


@pytest.mark.parametrize("C", [0.05, 0.2])
def test_svdd_with_a_gaussian_kernel_is_the_one_class_machine(C):
    X, _ = clouds(7, 40)
    ball, trace = textbook.svdd(X, C=C, kernel=RBF)
    exact = OneClassSVM(nu=1 / (40 * C), gamma=0.7, tol=1e-9).fit(X)
    ours, theirs = ball.decision_function(X), exact.decision_function(X)
    ratio = np.median(ours / theirs)
    np.testing.assert_allclose(ours, ratio * theirs, atol=1e-4 * np.abs(ours).max())
    assert np.mean(ours < -1e-6) <= 1 / (40 * C)
    assert abs(trace.steps[0].gap) < 1e-6
    with pytest.raises(ValueError, match="at least 1/n"):
        textbook.svdd(X, C=0.01)


# Quantiles.


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_quantiles_divide_the_targets(q):
    random = np.random.default_rng(1)
    X = random.uniform(-2, 2, size=(60, 1))
    t = np.sin(2 * X[:, 0]) + 0.3 * random.normal(size=60)
    model, trace = textbook.quantile_svr(X, t, q, C=3.0, kernel=RBF)
    residuals = t - model.predict(X)
    assert np.mean(residuals < -1e-6) <= q
    assert np.mean(residuals > 1e-6) <= 1 - q
    step = trace.steps[0]
    assert abs(step.gap) < 1e-6 * step.primal
    exact = QuantileSVR(quantiles=q, C=3.0, gamma=0.7, tol=1e-8).fit(X, t)
    assert step.primal == pytest.approx(exact.certificate_.primal, rel=1e-6)
    if q == 0.5:
        median = SVR(C=1.5, epsilon=0.0, gamma=0.7, tol=1e-9).fit(X, t)
        assert step.primal == pytest.approx(median.certificate_.primal, rel=1e-6)
        np.testing.assert_allclose(model.predict(X), median.predict(X), atol=1e-4)


# Ranking.


@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_merge_sort_counts_swapped_pairs(n):
    random = np.random.default_rng(n)
    order = random.integers(0, 9, size=n)
    listed = sum(order[i] > order[j] for i, j in combinations(range(n), 2))
    assert textbook.swapped_pairs(order) == listed
    scores, t = random.normal(size=n), random.permutation(n)
    swapped = textbook.swapped_pairs(t[np.argsort(scores)])
    if n > 1:
        tau = 1 - 2 * swapped / (n * (n - 1) / 2)
        assert tau == pytest.approx(stats.kendalltau(scores, t).statistic)


def test_ranking_is_a_classification_of_pairs():
    random = np.random.default_rng(0)
    X, t, q = random.normal(size=(24, 3)), random.integers(0, 4, size=24), np.arange(24) // 8
    model, trace = textbook.ranking_svm(X, t, q, C=0.3)
    i, j = pairs(t, q).T
    assert np.all((t[i] > t[j]) & (q[i] == q[j]))
    apart = X[i] - X[j]
    exact = LinearSVC(C=0.15, loss="hinge", fit_intercept=False, tol=1e-9)
    exact.fit(np.vstack([apart, -apart]), np.repeat([1, -1], len(apart)))
    assert trace.steps[0].primal == pytest.approx(exact.certificate_.primal, rel=1e-6)
    np.testing.assert_allclose(model.w, exact.coef_[0], atol=1e-4)
    weights = np.array([np.sum(q[i] == one) / 8 for one in q])  # a mean over pairs for each query
    ranked = RankSVC(C=0.3, tol=1e-8).fit(X, t, qid=q, sample_weight=weights)
    assert ranked.certificate_.primal == pytest.approx(trace.steps[0].primal, rel=1e-6)
    with pytest.raises(ValueError, match="there are no pairs"):
        textbook.ranking_svm(X, t, np.arange(24))


# Least squares.


def test_least_squares_and_its_leave_one_out():
    random = np.random.default_rng(0)
    X = random.normal(size=(25, 3))
    t = X @ [1.0, -2.0, 0.5] + 3.0 + 0.2 * random.normal(size=25)
    model, trace = textbook.least_squares_svm(X, t, C=0.8)
    ridge = Ridge(alpha=1 / 0.8).fit(X, t)
    np.testing.assert_allclose(model.w, ridge.coef_, rtol=1e-8)
    assert model.b == pytest.approx(ridge.intercept_)
    assert abs(trace.steps[0].gap) < 1e-9 * trace.steps[0].primal
    free = textbook.leave_one_out(X, t, C=0.8, kernel=RBF)
    exact = LSSVR(C=0.4, gamma=0.7).fit(X, t)  # its C is that of the squares, not of their halves
    np.testing.assert_allclose(t - exact.loo_predictions_, free, rtol=1e-6, atol=1e-9)
    for i in range(25):
        rest = np.arange(25) != i
        without, _ = textbook.least_squares_svm(X[rest], t[rest], C=0.8, kernel=RBF)
        assert free[i] == pytest.approx(t[i] - without.predict(X[i : i + 1])[0], rel=1e-8)


# Chains.


def test_viterbi_finds_the_best_of_all_labellings():
    random = np.random.default_rng(0)
    for n in (1, 2, 5):
        emit, follow = random.normal(size=(n, 3)), random.normal(size=(3, 3))
        right = random.integers(0, 3, size=n)

        def score(z, emit=emit, follow=follow):
            steps = sum(follow[a, b] for a, b in pairwise(z))
            return sum(emit[p, k] for p, k in enumerate(z)) + steps

        every = list(product(range(3), repeat=n))
        labels, value = textbook.viterbi(emit, follow)
        assert value == pytest.approx(max(map(score, every)))
        assert score(labels) == pytest.approx(value)
        z, worst = textbook.worst_labelling(emit, follow, right)
        assert worst == pytest.approx(max(score(z) + np.sum(np.array(z) != right) for z in every))
        assert score(z) + np.sum(z != right) == pytest.approx(worst)


def test_scores_are_linear_in_the_features():
    random = np.random.default_rng(1)
    X, y, w = random.normal(size=(6, 2)), random.integers(0, 3, size=6), random.normal(size=15)
    emit, follow = X @ w[:6].reshape(3, 2).T, w[6:].reshape(3, 3)
    score = emit[np.arange(6), y].sum() + follow[y[:-1], y[1:]].sum()
    assert features(X, y, 3) @ w == pytest.approx(score)


def test_chains_of_one_place_are_the_machine_of_crammer_and_singer():
    random = np.random.default_rng(3)
    y = np.arange(30) % 3
    X = random.normal(size=(30, 2)) + np.array([[0, 1.5], [-1.5, -1], [1.5, -1]])[y]
    exact = LinearSVC(
        C=0.5, multi_class="crammer_singer", loss="hinge", fit_intercept=False, tol=1e-9
    )
    primal = exact.fit(X, y).certificate_.primal
    _, trace = textbook.chain_svm(X[:, None], y[:, None], C=0.5, tol=1e-6)
    assert trace.steps[-1].dual == pytest.approx(primal, rel=2e-6)


def test_a_chain_with_features_of_its_ends_is_that_of_the_estimator():
    """Weights of the first and the last label, which the estimator has, as features."""
    random = np.random.default_rng(5)
    states = [random.integers(0, 3, size=n) for n in (4, 6, 5, 3, 7)]
    seen = [np.eye(3)[s] + 0.5 * random.normal(size=(len(s), 3)) for s in states]
    ends = [np.eye(len(s))[:, [0, -1]] for s in states]
    wide = [np.hstack([x, end]) for x, end in zip(seen, ends, strict=True)]
    model, trace = textbook.chain_svm(wide, states, C=0.7, tol=1e-7)
    exact = SequenceSVM(C=0.7, tol=1e-7).fit(seen, states)
    assert trace.steps[-1].dual == pytest.approx(exact.certificate_.primal, rel=1e-6)
    np.testing.assert_allclose(model.follow, exact.transitions_, atol=1e-3)
    np.testing.assert_allclose(model.W[:, 3:].T, [exact.start_, exact.end_], atol=1e-3)


def test_a_chain_uses_what_comes_before():
    """States that stay, seen through noise."""
    random = np.random.default_rng(0)
    states = [np.cumsum(random.random(30) < 0.1) % 2 for _ in range(16)]
    seen = [np.column_stack([s + 0.7 * random.normal(size=30), np.ones(30)]) for s in states]
    model, trace = textbook.chain_svm(seen[:8], states[:8], C=0.1)
    alone, _ = textbook.n_slack(np.vstack(seen[:8]), np.concatenate(states[:8]), C=0.1, tol=1e-3)
    new, right = np.vstack(seen[8:]), np.concatenate(states[8:])
    chained = np.concatenate([model.predict(x) for x in seen[8:]])
    assert np.mean(chained != right) < 0.6 * np.mean(alone.predict(new) != right)
    assert np.all(np.diff(trace.column("dual")) >= -1e-9)
    with pytest.raises(ValueError, match="the lengths differ"):
        textbook.chain_svm([np.zeros((3, 1))], [[0, 1]])
