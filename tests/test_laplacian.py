"""LaplacianSVC against its primal problem as a quadratic program, and against its definition."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import rbf_kernel

from maxmargin import SVC, LaplacianSVC, io
from maxmargin.estimators import laplacian as estimator
from maxmargin.semi_supervised import graph
from maxmargin.semi_supervised.deformed_kernel import deform
from maxmargin.semi_supervised.graph import EdgeWeights
from reference import _solve, factor
from test_transductive import partial


def dense_laplacian(X, k, heat=False, normalised=False):
    """The Laplacian of the graph of nearest neighbours, by its definition."""
    D = pairwise_distances(X) ** 2
    n = len(X)
    near = np.zeros((n, n), bool)
    for i in range(n):
        order = [j for j in np.argsort(D[i], kind="stable") if j != i]
        near[i, order[:k]] = True
    lengths = D[near].mean()
    W = np.where(near | near.T, np.exp(-D / lengths) if heat else 1.0, 0.0)
    d = W.sum(axis=1)
    L = np.diag(d) - W
    return L / np.sqrt(np.outer(d, d)) if normalised else L


def primal(K, M, y, C):
    """min 1/2 |w|^2 + 1/2 h'M h + sum C slack over h = L w and b, with K = L L'."""
    known = np.flatnonzero(y >= 0)
    L, n, m = factor(K), len(K), len(known)
    P = np.zeros((n + 1 + m, n + 1 + m))
    P[:n, :n] = np.eye(n) + L.T @ M @ L
    q = np.append(np.zeros(n + 1), np.full(m, C))
    s = np.where(y[known] == 1, 1.0, -1.0)[:, None]
    margin = -np.hstack([s * L[known], s, np.eye(m)])
    slack = np.hstack([np.zeros((m, n + 1)), -np.eye(m)])
    x, value = _solve(P, q, np.vstack([margin, slack]), np.append(-np.ones(m), np.zeros(m)))
    return value, L @ x[:n] + x[n]


@pytest.mark.parametrize("seed", range(20))
def test_it_solves_the_primal_problem(seed):
    rng = np.random.default_rng(seed)
    X, y, _ = partial(seed, n=30 + seed, labels=6 + seed % 5)
    heat, normalised = bool(seed % 2), seed % 3 == 0
    C, manifold, gamma = 10 ** rng.uniform(-1, 1.5), 10 ** rng.uniform(-2, 1), 0.5
    model = LaplacianSVC(
        C=C,
        manifold=manifold,
        gamma=gamma,
        n_neighbors=4,
        edges="heat" if heat else "binary",
        normalize=normalised,
    ).fit(X, y)
    K = rbf_kernel(X, gamma=gamma)
    value, f = primal(K, manifold * dense_laplacian(X, 4, heat, normalised), y, C)
    assert model.certificate_.status == "optimal"
    assert np.isclose(model.certificate_.primal, value, rtol=1e-6)
    ours = model.decision_function(X)  # up to the intercept, which may lie in an interval
    np.testing.assert_allclose(ours - ours.mean(), f - f.mean(), atol=2e-4)
    again = model.certify(X, y)
    assert again.status == "optimal"
    assert again.audit_error < 1e-8


def test_the_deformed_kernel_is_that_of_its_definition():
    X, y, _ = partial(1, n=25)
    K, M = rbf_kernel(X), 0.7 * dense_laplacian(X, 3)
    rows = np.array([4, 2, 9, 2])
    found = deform(K, sparse.csr_matrix(M), rows)
    whole = K - K @ np.linalg.solve(np.eye(25) + M @ K, M @ K)
    np.testing.assert_allclose(found.values, whole[np.ix_(rows, rows)], atol=1e-12)
    np.testing.assert_allclose(K @ found.expansion, whole[:, rows], atol=1e-12)
    # new samples, by the formula
    model = LaplacianSVC(C=5, manifold=0.7, n_neighbors=3, gamma=1.0).fit(X, y)
    Z = X[:7] + 0.1
    KZ, known = rbf_kernel(Z, X, gamma=1.0), np.flatnonzero(y >= 0)
    K = rbf_kernel(X, gamma=1.0)
    deformed = KZ - KZ @ np.linalg.solve(np.eye(25) + M @ K, M @ K)
    np.testing.assert_allclose(
        model.decision_function(Z),
        model.estimator_.decision_function(deformed[:, known]),
        atol=1e-8,
    )


@pytest.mark.parametrize("heat", [False, True])
@pytest.mark.parametrize("normalised", [False, True])
def test_the_graph_is_that_of_its_definition(heat, normalised):
    X = np.random.default_rng(0).normal(size=(40, 3))
    W = graph.neighbour_graph(X, 5, EdgeWeights("heat" if heat else "binary"))
    L = graph.laplacian(W, normalised)
    np.testing.assert_allclose(L.toarray(), dense_laplacian(X, 5, heat, normalised), atol=1e-12)


def test_without_the_penalty_it_is_svc():
    X, y, _ = partial(2)
    known = y >= 0
    model = LaplacianSVC(C=3, manifold=0, gamma=0.4).fit(X, y)
    other = SVC(C=3, gamma=0.4).fit(X[known], y[known])
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), atol=1e-8)


@pytest.mark.parametrize("normalised", [False, True])
def test_equal_samples_are_one_vertex(normalised):
    _, y, _ = partial(6, n=20)
    model = LaplacianSVC(normalize=normalised).fit(np.ones((20, 3)), y)
    assert model.certificate_.status == "optimal"
    assert len(model.support_) <= 1


def test_two_moons_with_one_label_of_each_class():
    errors = []
    for seed in range(5):
        X, truth = make_moons(200, noise=0.05, random_state=seed)
        y = np.full(200, -1)
        rng = np.random.default_rng(seed)
        known = [rng.choice(np.flatnonzero(truth == k)) for k in (0, 1)]
        y[known] = truth[known]
        model = LaplacianSVC(C=10, manifold=100, gamma=10, n_neighbors=8).fit(X, y)
        assert (model.transduction_ == model.predict(X)).all()
        errors.append(np.mean(model.transduction_ != truth))
    assert np.median(errors) == 0
    assert np.mean(errors) < 0.05


def test_a_given_kernel_has_the_graph_of_its_feature_space():
    """Distances in the feature space of the RBF kernel are in the order of those of the samples."""
    X, y, _ = partial(3)
    K = rbf_kernel(X, gamma=0.5)
    model = LaplacianSVC(gamma=0.5).fit(X, y)
    for kernel, data in (
        ("precomputed", K),
        (lambda A, B: rbf_kernel(A, B, gamma=0.5), X),
    ):
        other = LaplacianSVC(kernel=kernel).fit(data, y)
        np.testing.assert_allclose(
            other.decision_function(data), model.decision_function(X), atol=1e-9
        )
        assert other.certify(data, y).status == "optimal"


def test_weights_are_copies_and_zero_leaves_out():
    X, y, _ = partial(4, n=40)
    model = LaplacianSVC(gamma=0.5)
    f = model.fit(X, y, np.where(np.arange(40) % 3 == 0, 2.0, 1.0)).decision_function(X)
    twice = np.sort(np.append(np.arange(40), np.arange(0, 40, 3)))
    copies = model.fit(X[twice], y[twice])
    np.testing.assert_allclose(f, copies.decision_function(X), atol=1e-8)
    weight = np.ones(40)
    weight[[3, 20, 30]] = 0
    f = model.fit(X, y, weight).decision_function(X)
    assert (model.transduction_[[20, 30]] == model.predict(X[[20, 30]])).all()
    assert model.certify(X, y, weight).status == "optimal"
    kept = weight > 0
    np.testing.assert_allclose(f, model.fit(X[kept], y[kept]).decision_function(X), atol=1e-8)


def test_several_classes_sparse_data_files_and_pickles(tmp_path):
    X, truth = make_blobs(90, centers=3, random_state=3)
    y = np.where(np.arange(90) < 12, truth, -1)
    model = LaplacianSVC(gamma=0.1).fit(X, y)
    assert np.mean(model.transduction_ == truth) > 0.95
    assert model.decision_function(X).shape == (90, 3)
    assert len(model.certificate_.parts) == 3
    other = LaplacianSVC(gamma=0.1).fit(sparse.csr_matrix(X), y)
    f = model.decision_function(X)
    np.testing.assert_allclose(other.decision_function(sparse.csr_matrix(X)), f, atol=1e-8)
    io.save(model, tmp_path / "model.mm")
    for again in (io.load(tmp_path / "model.mm"), pickle.loads(pickle.dumps(model))):
        assert (again.decision_function(X) == f).all()
        assert again.certify(X, y).status == "optimal"
    linear = LaplacianSVC(kernel="linear").fit(X, y)
    np.testing.assert_allclose(
        X @ linear.coef_.T + linear.intercept_, linear.decision_function(X), atol=1e-8
    )


def test_clear_errors(monkeypatch):
    X, y, _ = partial(5)
    with pytest.raises(ValueError, match="all 60 samples are unlabelled"):
        LaplacianSVC().fit(X, np.full(60, -1))
    model = LaplacianSVC().fit(X, y)
    with pytest.raises(ValueError, match="8 labelled samples, got 7"):
        model.certify(X[1:], y[1:])
    assert model.certify(X + np.arange(60)[:, None], y).status == "refuted"
    monkeypatch.setattr(estimator, "free_memory", lambda: 1000.0)
    with pytest.raises(MemoryError, match="60 distinct samples take"):
        LaplacianSVC().fit(X, y)


def test_an_expansion_that_loses_its_digits_is_not_optimal():
    """The machine on the deformed kernel was optimal, the decision values wrong by hundreds."""
    X = np.random.default_rng(0).normal(size=(20, 2)) + 1e6
    y = np.where(np.arange(20) < 8, np.arange(20) % 2, -1)
    model = LaplacianSVC(kernel="poly", degree=1, gamma=1e-6, C=1e5)
    with pytest.warns(ConvergenceWarning, match="Decision values of labelled samples"):
        model.fit(X, y)
    assert model.estimator_.certificate_.status == "optimal"
    assert model.certificate_.audit_error > 1
    assert model.certificate_.status == model.certify(X, y).status == "stalled"


def test_an_ill_conditioned_system_gives_a_warning_of_ours_alone():
    """A LinAlgWarning of scipy went to the user."""
    X = np.column_stack([np.full(9, 1567.0), 1e8 * np.linspace(-1.3, 1.8, 9) ** 3])
    y = [0, -1, 0, -1, 1, -1, -1, -1, -1]
    with pytest.warns(ConvergenceWarning):
        model = LaplacianSVC(kernel="linear", n_neighbors=2, normalize=True).fit(X, y)
    assert model.certificate_.status == model.certify(X, y).status == "stalled"


def test_a_kernel_that_is_not_positive_semidefinite_is_never_optimal():
    """The deformed kernel of the labelled samples was positive semidefinite, the given one not."""
    K, y = 0.1 - np.eye(30), np.where(np.arange(30) < 20, np.arange(30) % 2, -1)
    with pytest.warns(ConvergenceWarning, match="not positive semidefinite"):
        model = LaplacianSVC(kernel="precomputed").fit(K, y)
    assert model.certificate_.convexity == "indefinite"
    assert model.certificate_.status == model.certify(K, y).status == "stationary"
