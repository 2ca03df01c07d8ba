"""Ranking: the loss against all pairs, the fits against a quadratic program over all pairs, and
what must hold exactly."""

import numpy as np
import pytest
from scipy import sparse

import reference
from helpers import threads
from maxmargin import RankSVC, RankSVR
from maxmargin.core.choose import HOST
from maxmargin.structured.ranking import query_numbers, rank_loss

BOTH = (RankSVC, RankSVR)
EXACT = 1e-9
"""A tolerance that leaves rounding alone."""


def pairs_of(y, query, weight):
    """Every pair (i, j) with y_i > y_j of one query, and what it costs for each unit of loss."""
    found, cost = [], []
    for q in np.unique(query):
        own = np.flatnonzero(query == q)
        mine = [(i, j) for i in own for j in own if y[i] > y[j]]
        total = sum(weight[i] * weight[j] for i, j in mine)
        found += mine
        cost += [weight[own].sum() / total * weight[i] * weight[j] for i, j in mine]
    return np.array(found, dtype=int).reshape(-1, 2), np.array(cost)


def margins(cls, y, pairs):
    """What each pair asks of its scores."""
    difference = y[pairs[:, 0]] - y[pairs[:, 1]]
    return np.ones(len(pairs)) if cls is RankSVC else difference


def enumerated(cls, s, y, query, weight):
    """The loss, pair by pair."""
    pairs, cost = pairs_of(y, query, weight)
    broken = margins(cls, y, pairs) - (s[pairs[:, 0]] - s[pairs[:, 1]])
    return float(cost @ np.maximum(0.0, broken))


def quadratic_program(cls, K, y, query, weight, C):
    """The least objective, with a slack for each pair."""
    pairs, cost = pairs_of(y, query, weight)
    L, m = reference.factor(K), len(pairs)
    n = len(y)
    P = np.zeros((n + m, n + m))
    P[:n, :n] = np.eye(n)
    q = np.concatenate([np.zeros(n), C * cost])
    order = np.hstack([-(L[pairs[:, 0]] - L[pairs[:, 1]]), -np.eye(m)])
    positive = np.hstack([np.zeros((m, n)), -np.eye(m)])
    right = np.concatenate([-margins(cls, y, pairs), np.zeros(m)])
    return reference._solve(P, q, np.vstack([order, positive]), right)[1]


def problem(seed, n=14, d=3, queries=3):
    """A small problem in which some query has pairs; ties in y, weights that are not whole."""
    rng = np.random.default_rng(seed)
    X, query = rng.normal(size=(n, d)), rng.integers(0, queries, n)
    query[:2] = 0
    y = np.round(X[:, 0] + rng.normal(size=n)) + 2.0 * query
    y[:2] = 0, 1
    return X, y, query, rng.choice([0.5, 1.0, 2.0], n)


def loss_of(cls, y, query, weight):
    return rank_loss(y, query, weight, margin=cls._margin, rise=cls._rise)


# ---- the loss ------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", BOTH)
def test_the_tangent_touches_the_loss_of_all_pairs_and_stays_below_it(cls):
    rng = np.random.default_rng(0)
    for seed in range(100):
        _, y, query, weight = problem(seed, n=int(rng.integers(2, 30)), queries=4)
        tangent = loss_of(cls, y, query, weight)
        s = np.round(rng.normal(size=len(y)), 1)  # some differences are exactly the margin
        offset, t = tangent(s)
        assert offset + t @ s == pytest.approx(enumerated(cls, s, y, query, weight), abs=1e-10)
        for other in rng.normal(size=(3, len(y))):
            assert offset + t @ other <= enumerated(cls, other, y, query, weight) + 1e-10


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_weights_of_any_size_are_multiplied(size):
    _, y, query, weight = problem(3, n=20)
    s = np.random.default_rng(0).normal(size=20)
    plain, scaled = (rank_loss(y, query, one)(s) for one in (weight, size * weight))
    assert scaled.offset / size == pytest.approx(plain.offset)
    assert scaled.t / size == pytest.approx(plain.t)


@pytest.mark.parametrize("levels", [2, 5, 5000])
def test_any_number_of_levels_is_counted(levels):
    rng = np.random.default_rng(levels)
    s, level = rng.normal(size=5000), np.sort(rng.integers(0, levels, 5000))
    begin = np.searchsorted(level, np.append(np.unique(level), levels))
    below, above = HOST.rank_pairs(s, np.ones(5000), begin, np.array([0, len(begin) - 1]), 1.0)
    higher = level[:, None] > level[None, :]
    active = higher & (s[:, None] - s[None, :] < 1.0)
    assert np.array_equal(below, active.sum(axis=1))
    assert np.array_equal(above, active.sum(axis=0))


def test_empty_queries_and_levels_are_nothing():
    levels, queries = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 0, 1, 5, 5])
    below, above = HOST.rank_pairs(np.zeros(2), np.ones(2), levels, queries, 1.0)
    assert (below.tolist(), above.tolist()) == ([0.0, 1.0], [1.0, 0.0])
    nothing = HOST.rank_pairs(np.empty(0), np.empty(0), levels[:1], queries[:1], 1.0)
    assert [len(part) for part in nothing] == [0, 0]


def test_the_number_of_threads_changes_no_bit():
    rng = np.random.default_rng(0)
    n = 200_000
    loss = rank_loss(rng.normal(size=n), rng.integers(0, 3000, n), rng.random(n) + 0.1)
    s = rng.normal(size=n)
    with threads(1):
        first = loss(s)
    with threads(4):
        second = loss(s)
    assert first.offset == second.offset
    assert np.array_equal(first.t, second.t)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"key": np.array([0.0, np.nan, 1.0])}, "finite"),
        ({"weight": np.ones(2)}, "weight"),
        ({"level_begin": np.array([0, 2])}, "levels"),
        ({"level_begin": np.array([0, 2, 1, 3])}, "levels"),
        ({"level_begin": np.array([], np.int64)}, "levels"),
        ({"query_begin": np.array([0, 3])}, "queries"),
    ],
)
def test_the_core_checks_what_it_is_given(changes, match):
    given = {
        "key": np.zeros(3),
        "weight": np.ones(3),
        "level_begin": np.array([0, 1, 3]),
        "query_begin": np.array([0, 2]),
        "margin": 1.0,
    }
    HOST.rank_pairs(**given)
    with pytest.raises(ValueError, match=match):
        HOST.rank_pairs(**given | changes)


# ---- the optimum ---------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("part", range(5))
def test_the_objective_is_that_of_all_pairs_enumerated(cls, part):
    """100 random problems in all, with linear and other kernels."""
    for seed in range(10 * part, 10 * part + 10):
        X, y, query, weight = problem(seed)
        C = 10.0 ** (seed % 4 - 2)
        name = ("linear", "rbf")[seed % 2]
        model = cls(kernel=name, gamma=0.5, C=C, tol=1e-8)
        model.fit(X, y, qid=query, sample_weight=weight)
        K = X @ X.T
        if name == "rbf":
            square = np.diag(K)
            K = np.exp(-0.5 * (square[:, None] + square[None, :] - 2 * K))
        exact = quadratic_program(cls, K, y, query, weight, C)
        assert model.certificate_.status == "optimal"
        assert model.certificate_.primal == pytest.approx(exact, rel=1e-6)
        assert model.certificate_.dual <= exact * (1 + 1e-7)
        own = enumerated(cls, model.predict(X), y, query, weight)
        assert C * own <= model.certificate_.primal * (1 + 1e-9)


@pytest.mark.parametrize("cls", BOTH)
def test_a_linear_model_is_that_of_the_linear_kernel(cls):
    X, y, query, _ = problem(0, n=40)
    model = cls(tol=EXACT).fit(X, y, qid=query)
    kernel = cls(kernel="precomputed", tol=EXACT).fit(X @ X.T, y, qid=query)
    assert kernel.predict(X @ X.T) == pytest.approx(model.predict(X), abs=1e-4)
    assert kernel.certificate_.primal == pytest.approx(model.certificate_.primal, rel=1e-7)
    assert model.predict(X) == pytest.approx(X @ model.coef_[0])
    assert model.intercept_ == 0


# ---- exact relations -----------------------------------------------------------------------------


def primal(cls, X, y, qid=None, sample_weight=None, **parameters):
    model = cls(tol=EXACT, **parameters).fit(X, y, qid=qid, sample_weight=sample_weight)
    return model.certificate_.primal, model.predict(X)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("cls", BOTH)
def test_weights_count_copies(cls, kernel):
    X, y, query, _ = problem(3, n=20)
    weight = np.resize([1, 2, 0, 3], 20)
    copied = np.repeat(np.arange(20), weight)
    options = {"kernel": kernel, "gamma": 0.5}
    value, s = primal(cls, X, y, query, weight, **options)
    again, t = primal(cls, X[copied], y[copied], query[copied], **options)
    assert value == pytest.approx(again, rel=1e-7)
    assert s[copied] == pytest.approx(t, abs=1e-4)


@pytest.mark.parametrize("cls", BOTH)
def test_the_weight_of_a_query_multiplies_its_loss(cls):
    X, y, query, _ = problem(13, n=20)
    twice = np.flatnonzero(query == 1)
    again = np.concatenate([np.arange(20), twice])
    labels = np.concatenate([query, np.full(len(twice), 9)])  # the same query once more
    weighted = primal(cls, X, y, query, np.where(query == 1, 2.0, 1.0))[0]
    assert weighted == pytest.approx(primal(cls, X[again], y[again], labels)[0], rel=1e-7)
    assert weighted != pytest.approx(primal(cls, X, y, query)[0], rel=1e-3)


@pytest.mark.parametrize("cls", BOTH)
def test_what_changes_no_pair_changes_nothing(cls):
    X, y, query, weight = problem(5, n=20)
    value, s = primal(cls, X, y, query, weight)
    order = np.random.default_rng(0).permutation(20)
    words = np.array(["c", "a", "b"])[query]
    assert primal(cls, X[order], y[order], query[order], weight[order])[0] == pytest.approx(value)
    assert primal(cls, X, y, words, weight)[0] == pytest.approx(value)
    assert primal(cls, X, y + 1e6 * query, query, weight)[0] == pytest.approx(value, rel=1e-6)
    assert primal(cls, X + 100.0 * query[:, None], y, query, weight)[0] == pytest.approx(
        value, rel=1e-6
    )
    assert primal(cls, -X, -y, query, weight)[1] == pytest.approx(-s, abs=1e-4)
    assert primal(cls, 2 * X, y, query, weight, C=0.25)[0] == pytest.approx(value / 4)


def test_grades_count_by_their_order_alone_and_real_targets_by_their_differences():
    X, y, query, _ = problem(6, n=20)
    value = primal(RankSVC, X, y, query)[0]
    assert primal(RankSVC, X, np.exp(y), query)[0] == pytest.approx(value)
    value, s = primal(RankSVR, X, y, query, C=2.0)
    scaled, t = primal(RankSVR, X, 3 * y, query, C=6.0)
    assert scaled == pytest.approx(9 * value)
    assert t == pytest.approx(3 * s, abs=1e-3)


@pytest.mark.parametrize("cls", BOTH)
def test_queries_without_pairs_are_ignored(cls):
    X, y, query, _ = problem(7, n=20)
    extra = np.vstack([X, np.full((3, 3), 50.0)])
    labels = np.concatenate([query, [7, 8, 8]])  # one sample, and two of equal targets
    value = primal(cls, X, y, query)[0]
    assert primal(cls, extra, np.concatenate([y, [0, 1, 1]]), labels)[0] == pytest.approx(value)


@pytest.mark.parametrize("cls", BOTH)
def test_no_qid_is_one_query(cls):
    X, y, _, _ = problem(8, n=20)
    assert primal(cls, X, y)[0] == primal(cls, X, y, np.full(20, 3))[0]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("cls", BOTH)
def test_sparse_data_give_the_same_model(cls, kernel):
    X, y, query, _ = problem(9, n=30)
    X[np.abs(X) < 0.5] = 0.0
    dense = cls(kernel=kernel, gamma=0.5, tol=EXACT).fit(X, y, qid=query)
    model = cls(kernel=kernel, gamma=0.5, tol=EXACT).fit(sparse.csr_matrix(X), y, qid=query)
    assert model.predict(sparse.csr_matrix(X)) == pytest.approx(dense.predict(X), abs=1e-5)
    assert model.predict(X) == pytest.approx(dense.predict(sparse.csr_matrix(X)), abs=1e-5)


def test_query_numbers_are_positions():
    assert query_numbers(["b", "a", "b"], 3).tolist() == [1, 0, 1]
    assert query_numbers(None, 2).tolist() == [0, 0]
