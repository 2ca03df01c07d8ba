"""One-vs-one, one-vs-rest, shapes, votes and ties as maxmargin.kernel.multiclass documents them."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm
from sklearn.multiclass import OneVsRestClassifier

from helpers import assert_close, three
from maxmargin import SVC, NuSVC
from maxmargin.kernel import empty_columns as columns
from maxmargin.kernel import multiclass

X, y = three(90)
four = np.arange(90) % 4


@pytest.mark.parametrize("estimator", [SVC, NuSVC])
@pytest.mark.parametrize("labels", [y, four])
def test_one_vs_one_is_scikit_learns(estimator, labels):
    ours = estimator().fit(X, labels)
    theirs = getattr(svm, estimator.__name__)(tol=1e-10).fit(X, labels)
    assert_close(ours.decision_function(X), theirs.decision_function(X), tol=1e-5)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    ours.set_params(decision_function_shape="ovo")
    theirs.set_params(decision_function_shape="ovo")
    assert_close(ours.decision_function(X), theirs.decision_function(X), tol=1e-5)
    assert ours.dual_coef_.shape == theirs.dual_coef_.shape
    assert np.array_equal(ours.n_support_, theirs.n_support_)
    assert np.array_equal(ours.support_, theirs.support_)


def test_pair_is_that_pair_alone():
    model = SVC(C=2.0, gamma=0.3, decision_function_shape="ovo").fit(X, four)
    for k, (i, j) in enumerate(multiclass.pairs(4)):
        pair = (four == i) | (four == j)
        alone = SVC(C=2.0, gamma=0.3).fit(X[pair], four[pair])
        np.testing.assert_allclose(
            model.decision_function(X)[:, k], -alone.decision_function(X), atol=1e-8
        )


def test_one_vs_rest_is_really_trained():
    model = SVC(C=2.0, gamma=0.3, multiclass="ovr").fit(X, four)
    reference = OneVsRestClassifier(svm.SVC(C=2.0, gamma=0.3, tol=1e-10)).fit(X, four)
    np.testing.assert_allclose(
        model.decision_function(X), reference.decision_function(X), atol=1e-6
    )
    # where no two classes share a margin
    clear = np.diff(np.sort(model.decision_function(X)))[:, -1] > 1e-6
    assert clear.mean() > 0.9
    assert np.array_equal(model.predict(X)[clear], reference.predict(X)[clear])
    assert model.dual_coef_.shape == (4, len(model.support_))
    assert model.intercept_.shape == (4,)
    assert len(model.certificate_.parts) == 4
    assert model.certify(X, four).status == "optimal"


def test_one_vs_rest_has_no_pairs():
    with pytest.raises(ValueError, match="needs multiclass='ovo'"):
        SVC(multiclass="ovr", decision_function_shape="ovo").fit(X, y)


def test_linear_coef():
    for kind in ("ovo", "ovr"):
        model = SVC(kernel="linear", multiclass=kind).fit(X, y)
        plain = model._decision_values(X)
        np.testing.assert_allclose(X @ model.coef_.T + model.intercept_, plain, atol=1e-9)
        assert not model.coef_.flags.writeable


def test_exact_ties_go_to_the_first_class():
    """A cycle: every class gets one vote, all confidences are equal."""
    decision = np.array([[1.0, -1.0, 1.0]])  # 0 beats 1, 2 beats 0, 1 beats 2
    assert multiclass.votes(decision, 3).tolist() == [[1.0, 1.0, 1.0]]
    assert multiclass.votes(decision, 3).argmax() == 0
    assert np.ptp(multiclass.votes_and_confidence(decision, 3)) == 0
    decision = np.array([[1.0, -3.0, 1.0]])
    assert multiclass.votes_and_confidence(decision, 3).argmax() == 2


def test_break_ties():
    points = np.random.default_rng(0).uniform(-4, 4, size=(4000, 4))
    model = SVC(gamma=3.0, C=100.0, break_ties=True).fit(X, y)
    assert np.array_equal(model.predict(points), model.decision_function(points).argmax(axis=1))
    model.set_params(break_ties=False)
    assert np.array_equal(
        model.predict(points), multiclass.votes(model._decision_values(points), 3).argmax(axis=1)
    )
    model.set_params(break_ties=True, decision_function_shape="ovo")
    with pytest.raises(ValueError, match="break_ties must be False"):
        model.predict(points)


def test_confidence_never_outweighs_a_vote():
    decision = np.random.default_rng(0).normal(size=(500, 6)) * 1e6
    values, count = multiclass.votes_and_confidence(decision, 4), multiclass.votes(decision, 4)
    assert np.all(np.abs(values - count) < 1 / 3 + 1e-12)


def test_packing_is_invertible():
    rng = np.random.default_rng(0)
    label = np.sort(rng.integers(0, 5, size=40))
    coef, packed = np.zeros((10, 40)), np.zeros((4, 40))
    for k, (i, j) in enumerate(multiclass.pairs(5)):
        members = np.flatnonzero((label == i) | (label == j))
        coef[k, members] = rng.normal(size=len(members))
        packed[multiclass.packed_rows(k, label[members], 5), members] = coef[k, members]
    assert np.array_equal(multiclass.unpack_pairs(packed, label, 5), coef)


@pytest.mark.parametrize("kind", ["ovo", "ovr"])
@pytest.mark.parametrize("absent", [0, 1, 2])
def test_class_without_weight_never_wins(kind, absent):
    weight = (y != absent).astype(float)
    model = SVC(multiclass=kind).fit(X, y, weight)
    assert model.classes_.tolist() == [0, 1, 2]
    assert absent not in model.predict(X)
    assert model.decision_function(X).shape == (90, 3)
    without = SVC().fit(X[y != absent], y[y != absent])
    assert np.array_equal(model.predict(X), without.predict(X))
    assert model.certify(X, y, weight).status == "optimal"


@pytest.mark.parametrize("estimator", [SVC, NuSVC])
@pytest.mark.parametrize("kind", ["ovo", "ovr"])
def test_problems_of_a_class_without_weight_are_constant(estimator, kind):
    model = estimator(multiclass=kind).fit(X, y, sample_weight=(y != 1) * 1.0)
    level = {"ovo": [1.0, None, -1.0], "ovr": [None, -1.0, None]}[kind]
    for k, value in enumerate(level):
        part = model.certificate_.parts[k]
        if value is not None:
            assert model.intercept_[k] == value
            assert model.intercept_interval_[k].tolist() == [value, value]
            assert (part.status, part.gap, part.n_iter, part.primal) == ("optimal", 0.0, 0, 0.0)
        else:
            assert part.n_iter > 0
    again = model.certify(X, y, sample_weight=(y != 1) * 1.0)
    assert [part.status for part in again.parts] == ["optimal"] * 3


# ---- definitions ---------------------------------------------------------------------------------


def test_members_and_tasks_of_classes():
    label = np.array([2, 0, 1, 2, 0, 3])
    assert [part.tolist() for part in multiclass.members_of(label, 5)] == [
        [1, 4],
        [2],
        [0, 3],
        [5],
        [],
    ]
    (two,) = multiclass.tasks(np.array([1, 0, 1]), 2, False)
    assert (two.samples.tolist(), two.sign.tolist()) == ([0, 1, 2], [1, -1, 1])
    rest = multiclass.tasks(label, 4, True)
    assert [task.sign.tolist() for task in rest] == [
        np.where(label == c, 1, -1).tolist() for c in range(4)
    ]
    assert all(task.samples.tolist() == list(range(6)) for task in rest)
    found = [
        (task.samples.tolist(), task.sign.tolist())
        for task in multiclass.tasks(label[:5], 3, False)
    ]
    assert found == [
        ([1, 4, 2], [1, 1, -1]),
        ([1, 4, 0, 3], [1, 1, -1, -1]),
        ([2, 0, 3], [1, -1, -1]),
    ]


@pytest.mark.parametrize("k", [2, 3, 5])
def test_votes_and_confidence_by_loops(k):
    values = np.random.default_rng(k).normal(size=(30, k * (k - 1) // 2)).round(1)
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    assert multiclass.pairs(k) == pairs
    assert multiclass.pairs_of_first(k)[: k - 1] == [
        (i, slice(min(part), max(part) + 1))
        for i in range(k - 1)
        if (part := [n for n, pair in enumerate(pairs) if pair[0] == i])
    ]
    for row, votes, both in zip(
        values, multiclass.votes(values, k), multiclass.votes_and_confidence(values, k), strict=True
    ):
        count, total = np.zeros(k), np.zeros(k)
        for value, (i, j) in zip(row, pairs, strict=True):
            count[i if value > 0 else j] += 1
            total[i] += value
            total[j] -= value
        assert votes.tolist() == count.tolist()
        np.testing.assert_allclose(both, count + total / (3 * (np.abs(total) + 1)), rtol=1e-12)


def test_pairs_of_classes_in_another_order():
    source, sign = multiclass.pairs_in_order(np.array([2, 0, 1]))
    assert source.tolist() == [1, 2, 0]  # (2, 0), (2, 1), (0, 1)
    assert sign.tolist() == [-1, -1, 1]


@pytest.mark.parametrize("k", [3, 4])
def test_the_layout_of_coefficients_by_loops(k):
    rng = np.random.default_rng(k)
    label = np.sort(rng.integers(0, k, size=12))
    packed = rng.normal(size=(k - 1, 12))
    coef = multiclass.unpack_pairs(packed, label, k)
    for pair, (i, j) in enumerate(multiclass.pairs(k)):
        rows = multiclass.packed_rows(pair, label, k)
        for column, c in enumerate(label):
            expected = packed[j - 1, column] if c == i else packed[i, column] if c == j else 0.0
            assert coef[pair, column] == expected
            if c in (i, j):
                assert rows[column] == (j - 1 if c == i else i)
    K = rng.normal(size=(12, 5))
    parts = np.array([packed[:, label == c] @ K[label == c] for c in range(k)])
    np.testing.assert_allclose(multiclass.join_pairs(parts), coef @ K, rtol=1e-10, atol=1e-12)


# ---- columns that are empty ----------------------------------------------------------------------


def test_columns_without_an_entry_are_left_out(monkeypatch):
    monkeypatch.setattr(columns, "MANY_COLUMNS", 5)
    A = sparse.csr_matrix(np.array([[0, 1.0, 0, 0, 2, 0], [0, 0, 0, 0, 3, 0]]))
    B = sparse.csr_matrix(np.array([[0, 0, 0, 0, 5.0, 4]]))
    alone, nothing = columns.without_empty_columns(A)
    assert nothing is None
    assert alone.toarray().tolist() == [[1, 2], [0, 3]]
    a, b = columns.without_empty_columns(A, B)
    assert a.toarray().tolist() == [[1, 2, 0], [0, 3, 0]]
    assert b.toarray().tolist() == [[0, 5, 4]]
    for given in ((A.toarray(), None), (A, B.toarray()), (A[:, :5], B[:, :5])):
        found = columns.without_empty_columns(*given)
        assert all(one is other for one, other in zip(found, given, strict=True))
