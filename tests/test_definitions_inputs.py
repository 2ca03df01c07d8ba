"""What becomes of data, labels and weights before a fit, by definitions in plain Python."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from maxmargin import SVC
from maxmargin.estimators import _data, _plain, _targets
from maxmargin.estimators._data import canonical_csr, gamma_value, symmetric
from maxmargin.estimators.libsvm_layout import shown
from maxmargin.kernel.kernels import Kind
from maxmargin.kernel.locate import locate
from maxmargin.kernel.sources import take

rng = np.random.default_rng(9)
X = rng.normal(size=(12, 3)) * [1, 5, 0.3] + [0, 2, 1]


# ---- data ----------------------------------------------------------------------------------------


def variance(values, weight):
    """Of all entries, each row counted as often as its weight says."""
    repeated = np.repeat(values, weight, axis=0)
    return np.mean((repeated - repeated.mean()) ** 2)


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix])
def test_gamma_is_one_over_features_times_variance(wrap):
    A = X * (np.abs(X) > 0.8)
    ones, twos = np.ones(12, int), np.full(12, 2)
    some = np.arange(12) % 4
    for weight in (ones, twos, some):
        expected = 1 / (3 * variance(A, weight))
        assert gamma_value("scale", wrap(A), weight.astype(float)) == pytest.approx(
            expected, rel=1e-12
        )
        huge = weight * 1e307
        assert gamma_value("scale", wrap(A), huge) == pytest.approx(expected, rel=1e-12)
    assert gamma_value("scale", wrap(A), None) == pytest.approx(1 / (3 * A.var()), rel=1e-12)
    assert gamma_value("auto", wrap(A), None) == 1 / 3
    assert gamma_value(0.7, wrap(A), None) == 0.7
    assert gamma_value("scale", wrap(np.full((4, 2), 3.0)), None) == 1.0, (
        "where all values are the same"
    )
    assert gamma_value("scale", sparse.csr_matrix((4, 2)), None) == 1.0
    one = sparse.csr_matrix(np.eye(4))
    assert gamma_value("scale", one, None) == pytest.approx(1 / (4 * np.eye(4).var()))
    offset = X.astype(np.float32) + 100
    assert gamma_value("scale", wrap(offset), None) == pytest.approx(
        1 / (3 * offset.astype(float).var()), rel=1e-9
    )


def test_gamma_of_values_too_large_or_too_small():
    with pytest.raises(ValueError, match="the variance of X overflows"):
        gamma_value("scale", np.array([[1e200], [-1e200]]), None)
    with pytest.raises(ValueError, match="The variance of X underflows"):
        gamma_value("scale", np.array([[1e-200], [2e-200]]), None)
    with pytest.raises(ValueError, match="The variance of X underflows"):
        gamma_value("scale", sparse.csr_matrix([[1e-200], [2e-200]]), None)


def test_sparse_data_are_sorted_and_summed_in_a_copy():
    data, indices, indptr = (
        np.array([1.0, 2.0, 3.0, 4.0]),
        np.array([2, 0, 2, 1]),
        np.array([0, 3, 4]),
    )
    given = sparse.csr_matrix((data.copy(), indices.copy(), indptr), shape=(2, 3))
    found = canonical_csr(given)
    assert found.has_canonical_format
    assert found.toarray().tolist() == [[2.0, 0.0, 4.0], [0.0, 4.0, 0.0]]
    assert given.indices.tolist() == indices.tolist()
    assert given.data.tolist() == data.tolist()
    assert canonical_csr(found) is found
    given.indices[0] = 7
    with pytest.raises(ValueError, match="indices"):
        canonical_csr(given)


def test_more_columns_than_32_bits_count():
    def wide(columns):
        return sparse.csr_matrix(([1.0, 2.0], ([0, 1], [5, columns - 1])), shape=(2, columns))

    with pytest.raises(
        ValueError, match=r"Sparse data with 2147483648 columns: at most 2\*\*31 - 1"
    ):
        canonical_csr(wide(2**31))
    assert canonical_csr(wide(2**31 - 1)).shape[1] == 2**31 - 1
    with pytest.raises(ValueError, match="Sparse data with 2147483648 columns"):
        SVC().fit(wide(2**31), [0, 1])


def test_sparse_coefficients_store_their_zeros():
    for values in (
        np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]]),
        np.zeros((2, 0)),
        np.zeros((1, 2)),
    ):
        functions = {"coef": values, "intercept": np.zeros(len(values))}
        thin = sparse.csr_matrix((values.shape[1], 4))
        found = shown(
            replace(SVC().fit(X, np.arange(12) % 2).model_, vectors=thin, **functions), values
        )
        assert found.nnz == values.size
        assert found.shape == values.shape
        np.testing.assert_array_equal(found.toarray(), values)


def test_samples_are_taken_from_both_sides_of_a_matrix():
    K, some = X @ X.T, np.array([5, 2])
    assert take(Kind.PRECOMPUTED, K, some).tolist() == [[K[5, 5], K[5, 2]], [K[2, 5], K[2, 2]]]
    assert take(Kind.RBF, X, some).tolist() == [X[5].tolist(), X[2].tolist()]
    assert take(Kind.RBF, X, np.arange(12)) is X
    assert take(Kind.CALLABLE, ["a", "b", "c"], np.array([2, 0])) == ["c", "a"]


def test_a_matrix_is_symmetric_but_for_rounding(recwarn):
    K = X @ X.T
    size = np.abs(K).max()
    assert symmetric(Kind.PRECOMPUTED, K) is K
    assert symmetric(Kind.RBF, X) is X
    assert len(symmetric(Kind.PRECOMPUTED, np.zeros((0, 0)))) == 0
    for share, outcome in (
        (0.9e-5, ""),
        (1.1e-5, "warns"),
        (0.9e-3, "warns"),
        (1.1e-3, "raises"),
        (np.nan, "raises"),
    ):
        other = K.copy()
        other[2, 7] += share * size
        before = other.copy()
        if outcome == "raises":
            with pytest.raises(
                ValueError, match="must be symmetric: entries differ from their mirror images"
            ):
                symmetric(Kind.PRECOMPUTED, other)
            continue
        recwarn.clear()
        found = symmetric(Kind.PRECOMPUTED, other)
        np.testing.assert_allclose(found, (other + other.T) / 2, rtol=1e-12)
        np.testing.assert_array_equal(found, found.T)
        np.testing.assert_array_equal(other, before)
        said = [str(one.message) for one in recwarn]
        assert len(said) == (outcome == "warns")
        assert all(text.startswith("The precomputed matrix is not symmetric") for text in said)


def test_columns_of_words_are_named():
    words = pd.DataFrame({"a": [1, 2], **{f"w{k}": ["1.5", f"red{k}"] for k in range(7)}})
    said = _data._where_words_are(words)
    assert said.startswith(
        "X has 7 columns of words: 'w0' with 'red0', 'w1' with 'red1', 'w2' with 'red2', 'w3' with "
        "'red3', "
    )
    assert "'w4' with 'red4' and 2 more. Encode" in said
    assert "and" not in _data._where_words_are(words[["a", "w1", "w2"]]).partition(". ")[0]
    said = _data._where_words_are([[1, "x"], [2, "y"]])
    assert said.startswith("X has 1 column of words: 1 (counted from 0) with 'x'. Encode")
    assert _data._where_words_are([[1, 2]]) == _targets.WORDS_IN_Y
    assert _data._where_words_are([[None, "3"]]) == _targets.WORDS_IN_Y
    five = _data._where_words_are(words[[f"w{k}" for k in range(5)]])
    assert five.startswith("X has 5 columns of words")
    assert "more" not in five


def test_which_arrays_need_no_validation():
    good = np.ones((3, 2))
    assert _plain.plain_data(good)
    assert _plain.plain_data(good.astype(np.float32))
    bad = (
        good.T.copy().T,
        good[0],
        good.tolist(),
        good.astype(int),
        np.ones((0, 2)),
        np.ones((2, 0)),
        np.ones((1, 2, 2)),
    )
    for odd in (*bad, np.array([[np.nan]]), np.array([[1.0, -np.inf]]), np.ma.array(good)):
        assert not _plain.plain_data(odd)
    assert not _plain.plain_data(np.full((2, 2), 1e308)), (
        "whose sum is not finite goes the long way"
    )
    for y in (np.arange(3), np.ones(3, bool), np.arange(3, dtype=np.uint8)):
        assert _plain.plain_labels(y)
        assert _plain.plain_target(y, 3)
        assert not _plain.plain_target(y, 4)
    assert _plain.plain_target(np.ones(3), 3)
    assert _plain.plain_target(np.ones(3, np.float32), 3)
    for y in (np.ones((3, 1)), [1, 2, 3], np.array(["a", "b", "c"]), np.array([1, 2, 3], object)):
        assert not _plain.plain_labels(y)
        assert not _plain.plain_target(y, 3)
    for y in (np.array([1.0, np.nan, 2.0]), np.ones(3, np.float16)):
        assert not _plain.plain_target(y, 3)
    assert not _plain.plain_labels(np.ones(3))


# ---- labels and weights --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, bool])
def test_labels_are_positions_among_sorted_classes(dtype):
    for values in ([3, 1, 3, 7], [0, 1, 1, 0], [120, 5, 5, 6]):
        y = np.array(values).astype(dtype)
        if len(np.unique(y)) < 2:
            continue
        classes, label = _targets.encode(y)
        expected, places = np.unique(y, return_inverse=True)
        np.testing.assert_array_equal(classes, expected)
        assert classes.dtype == y.dtype
        np.testing.assert_array_equal(label, places)
        assert label.dtype == np.int64
    far = np.array([-(2**62), 2**62, 5])
    assert _targets.encode(far)[1].tolist() == [0, 2, 1]


def test_integers_close_together_are_not_sorted(monkeypatch):
    sorted_ = []
    real = np.unique
    monkeypatch.setattr(np, "unique", lambda *a, **k: sorted_.append(1) or real(*a, **k))
    for span, sorts in ((1000 + 2 * 3, 0), (1000 + 2 * 3 + 1, 1)):
        sorted_.clear()
        classes, label = _targets._sorted_integers(np.array([7, 7 + span - 1, 7]))
        assert (len(sorted_), classes.tolist(), label.tolist()) == (sorts, [7, 6 + span], [0, 1, 0])


def test_one_class_and_continuous_targets_are_refused():
    with pytest.raises(ValueError, match="greater than one; got 1 class"):
        _targets.encode(np.ones(4, int))
    with pytest.raises(ValueError, match="Unknown label type"):
        _targets.encode(np.array([0.5, 1.5, 2.5]))
    with pytest.warns(UserWarning, match="number of unique classes is greater than 50%"):
        _targets.encode(np.arange(30))


def test_weights_of_classes():
    classes, label = np.array([2, 5, 9]), np.array([0, 0, 1, 1, 1, 0])
    y = classes[label]
    assert _targets.class_weights(None, classes, label, y, np.ones(6)).tolist() == [1, 1, 1]
    assert _targets.class_weights({5: 3.0}, classes, label, y, np.ones(6)).tolist() == [1, 3, 1]
    weight = np.array([1.0, 2.0, 3.0, 0.0, 3.0, 0.5])
    for scale in (1.0, 1e-300, 1e307):
        found = _targets.class_weights("balanced", classes, label, y, scale * weight)
        np.testing.assert_allclose(found, [9.5 / (2 * 3.5), 9.5 / (2 * 6), 1.0], rtol=1e-12)
    for wrong in ({5: -1.0}, {5: np.inf}, {5: np.nan}):
        with pytest.raises(
            ValueError,
            match=r"class_weight must be finite and >= 0, got \[1\.0, .*\] "
            r"for the classes \[2, 5, 9\]",
        ):
            _targets.class_weights(wrong, classes, label, y, np.ones(6))
    assert _targets.class_weights({5: 0.0}, classes, label, y, np.ones(6)).tolist() == [1, 0, 1]


def test_weights_of_samples():
    assert _targets.finite_weight(None, 3).tolist() == [1, 1, 1]
    assert _targets.finite_weight(2, 3).tolist() == [2, 2, 2]
    assert _targets.finite_weight([0, 1, -1], 3).tolist() == [0, 1, -1]
    for wrong, text in (
        ([1, 2], r"sample_weight.shape == \(2,\), expected \(3,\)!"),
        ([[1], [2], [3]], r"sample_weight.shape == \(3, 1\), expected \(3,\)!"),
        ([1, np.nan, 1], "NaN"),
        (np.inf, "contains NaN or infinity"),
        ([0, 0, 0], "all samples have zero or negative weights"),
        ([0, -1, 0], "all samples have zero or negative weights"),
        (-1.0, "all samples have zero or negative weights"),
    ):
        with pytest.raises(ValueError, match=text):
            _targets.finite_weight(wrong, 3)
    with pytest.raises(ValueError, match="sample_weight has 2 negative values, the least is -3"):
        _targets.validate_weight([1, -3, -1], 3)
    assert _targets.validate_weight([1, 0, 2], 3).tolist() == [1, 0, 2]


def test_labels_of_several_kinds_are_named():
    for labels in ([1, 2.5, True], ["a", "b"], [None, None]):
        _targets.refuse_mixed_labels(np.array(labels, dtype=object))
    with pytest.raises(
        ValueError, match="y mixes words like 'a' and numbers like 1 and NoneType objects like None"
    ):
        _targets.refuse_mixed_labels(np.array(["a", 1, None, 2, "b"], dtype=object))


def test_targets_of_a_regression_are_numbers():
    assert _targets.numbers([1, 2]).dtype == np.float64
    with pytest.raises(
        ValueError, match=r"could not convert string to float: 'x'\. The targets y are words"
    ):
        _targets.numbers(["x"])
    with pytest.raises(ValueError, match="inhomogeneous") as caught:
        _targets.numbers([[1], [1, 2]])
    assert "words" not in str(caught.value)


# ---- where support vectors were ------------------------------------------------------------------


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix])
def test_support_vectors_are_found_by_value_and_label(wrap):
    A = np.vstack([X, X[:3], X[:1]])
    label = np.array([0] * 12 + [1, 0, 1, 0])
    rows = [15, 12, 0, 13, 1, 14]
    vectors, groups = A[rows], label[rows]
    found = locate(wrap(vectors), groups.tolist(), wrap(A), label.tolist())
    assert found.tolist() == [0, 12, 15, 1, 13, 14], "equal ones in order"
    rounded = np.array([[float(f"{value:.8g}") for value in row] for row in vectors])
    assert (
        locate(wrap(rounded), groups.tolist(), wrap(A), label.tolist()).tolist() == found.tolist()
    )
    for other, group in (
        (vectors[[0, 0, 0]], [0, 0, 0]),
        (vectors[[1]], [2]),
        (1.01 * vectors[[1]], [1]),
    ):
        with pytest.raises(
            ValueError,
            match=f"support vector {len(other) - 1} of {len(other)} is not among the samples given",
        ):
            locate(wrap(other), group, wrap(A), label.tolist())
