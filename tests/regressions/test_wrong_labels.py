"""Silent wrong answers about labels, votes and classes: rows 6, 8, 9, 10, 23 and 34 of the failure
table."""

import itertools

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, KFold

from helpers import CLASSIFIERS, FIVE, assert_close, assert_same_bits, binary, target, three, values
from maxmargin import SVC, SVR, NuSVC, NuSVR

# ---- row 6: votes, ties, decision values ---------------------------------------------------------


def cyclic():
    """Three overlapping classes and, of many points, those where each class wins one of its two
    pairs: votes are 1, 1, 1.
    """
    X, y = three(45, 2, seed=1)
    Z = np.random.default_rng(4).uniform(-4, 4, (4000, 2))
    # (0,1), (0,2), (1,2); positive: the first
    pair = SVC(gamma=0.3, C=10, decision_function_shape="ovo").fit(X, y).decision_function(Z)
    won = pair > 0
    tied = Z[(won[:, 0] == won[:, 2]) & (won[:, 0] != won[:, 1])]
    assert len(tied) >= 5
    return X, y, tied


def test_libsvm_85_ties_go_to_the_first_class_unless_broken_by_confidence():
    """Ties always went to class 0, undocumented.

    Equal votes go to the first class, with break_ties=True to the most confident.
    """
    X, y, tied = cyclic()
    model = SVC(gamma=0.3, C=10).fit(X, y)
    confidence = model.decision_function(tied)
    np.testing.assert_array_equal(model.predict(tied), 0)
    broken = SVC(gamma=0.3, C=10, break_ties=True).fit(X, y).predict(tied)
    np.testing.assert_array_equal(broken, confidence.argmax(axis=1))
    assert (broken != 0).any()


@pytest.mark.parametrize("cls", CLASSIFIERS)
@pytest.mark.parametrize("options", [{"break_ties": True}, {"multiclass": "ovr"}])
def test_sklearn_8277_predict_is_the_argmax_of_the_decision_values(cls, options):
    """predict and argmax(decision_function) disagreed.

    With break_ties=True, and with one-vs-rest, they must agree everywhere.
    """
    X, y, tied = cyclic()
    Z = np.vstack([X, tied, np.random.default_rng(0).normal(size=(500, 2)) * 3])
    model = cls(gamma=0.3, **options).fit(X, y)
    np.testing.assert_array_equal(model.predict(Z), model.decision_function(Z).argmax(axis=1))


def test_sklearn_8276_break_ties_refuses_the_shape_it_cannot_serve():
    """break_ties with decision_function_shape="ovo" has no meaning.

    It must raise, not be ignored.
    """
    X, y = three()
    with pytest.raises(ValueError, match="break_ties must be False"):
        SVC(break_ties=True, decision_function_shape="ovo").fit(X, y).predict(X)
    with pytest.raises(ValueError, match="needs multiclass='ovo'"):
        SVC(multiclass="ovr", decision_function_shape="ovo").fit(X, y)


def test_sklearn_6416_votes_and_confidences_have_the_sign_of_the_class():
    """Confidences were subtracted instead of added.

    A column must be votes + s / (3 (|s| + 1)), s the sum of values for the class.
    """
    X, y = three(80, 2)
    model = SVC(gamma=2.0, decision_function_shape="ovo").fit(X, y)
    p = model.decision_function(X)
    votes = np.stack(
        [
            (p[:, 0] > 0) * 1 + (p[:, 1] > 0),
            (p[:, 0] <= 0) * 1 + (p[:, 2] > 0),
            (p[:, 1] <= 0) * 1 + (p[:, 2] <= 0),
        ],
        axis=1,
    )
    s = np.stack([p[:, 0] + p[:, 1], p[:, 2] - p[:, 0], -p[:, 1] - p[:, 2]], axis=1)
    assert_close(
        SVC(gamma=2.0).fit(X, y).decision_function(X), votes + s / (3 * (np.abs(s) + 1)), 1e-12
    )
    np.testing.assert_array_equal(model.predict(X), votes.argmax(axis=1))


def test_sklearn_10388_each_one_vs_one_column_is_that_pair_alone():
    """Column k of the "ovo" values is the SVM of its pair, positive for the pair's first class."""
    X, y = three()
    together = SVC(gamma=0.5, decision_function_shape="ovo").fit(X, y).decision_function(X)
    for k, (i, j) in enumerate(itertools.combinations(range(3), 2)):
        of_pair = (y == i) | (y == j)
        assert_close(
            together[:, k], -SVC(gamma=0.5).fit(X[of_pair], y[of_pair]).decision_function(X)
        )


def test_sklearn_19270_two_classes_predict_by_the_sign_and_zero_is_the_second_class():
    """For two classes f > 0 is classes_[1].

    A point exactly on the boundary follows the documented rule, in predict alone or in a batch.
    """
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    model = SVC(kernel="linear").fit(X, ["a", "a", "b", "b"])
    Z = np.array([[-0.5], [0.0], [0.5]])
    np.testing.assert_array_equal(np.sign(model.decision_function(Z)), [-1, 0, 1])
    assert model.predict(Z).tolist() == ["a", "b", "b"]
    assert model.predict(Z[1:2]).tolist() == ["b"]


# ---- row 8: order and sign -----------------------------------------------------------------------


@pytest.mark.parametrize("cls", FIVE)
def test_thundersvm_134_the_order_of_rows_does_not_matter(cls):
    """The sign depended on which label came first.

    A permutation of the rows must leave classes_ and decision values.
    """
    X, y = binary()
    y = target(cls, X, y)
    model = cls(gamma=0.5).fit(X, y)
    for order in (np.arange(len(y))[::-1], np.argsort(y), np.argsort(-y)):
        other = cls(gamma=0.5).fit(X[order], y[order])
        assert_close(values(other, X), values(model, X), 1e-8)
        assert (
            getattr(other, "classes_", np.zeros(1)).tolist()
            == getattr(model, "classes_", np.zeros(1)).tolist()
        )


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_libsvm_faq_f430_first_label_does_not_set_the_sign(cls):
    """f > 0 must mean classes_[1] whichever label is first, and exchanging the labels must negate
    f.
    """
    X, y = binary()
    for first in (0, 1):
        order = np.argsort(y != first, kind="stable")
        model = cls(gamma=0.5, class_weight={0: 1.0, 1: 1.5}).fit(X[order], y[order])
        np.testing.assert_array_equal(
            model.predict(X), (model.decision_function(X) >= 0).astype(int)
        )
        flipped = cls(gamma=0.5, class_weight={1: 1.0, 0: 1.5}).fit(X[order], 1 - y[order])
        assert_close(-flipped.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("options", [{}, {"multiclass": "ovr"}])
def test_thundersvm_132_columns_follow_the_sorted_classes(options):
    """Columns came in first-seen order.

    They must follow classes_, sorted, whatever the order of the rows.
    """
    X, y = three()
    model = SVC(gamma=0.5, **options).fit(X, y)
    for order in itertools.permutations(range(3)):
        rows = np.argsort(np.array(order)[y], kind="stable")
        other = SVC(gamma=0.5, **options).fit(X[rows], y[rows])
        assert other.classes_.tolist() == [0, 1, 2]
        assert_close(other.decision_function(X), model.decision_function(X))


def test_sklearn_4262_renaming_classes_permutes_columns():
    """A renaming that reverses the order of the classes reverses the columns and nothing else."""
    X, y = three()
    f = SVC(gamma=0.5).fit(X, y).decision_function(X)
    assert_close(SVC(gamma=0.5).fit(X, 2 - y).decision_function(X)[:, ::-1], f)


# ---- rows 9, 10, 23: types of labels -------------------------------------------------------------

NAMES = np.array(["ant", "bee", "cow"])
LABELS = {
    "str": NAMES,
    "object": NAMES.astype(object),
    "float": np.array([-7.0, 0.0, 2e9]),
    "negative": np.array([-7, -3, 12]),
    "uint64": np.array([0, 2**63, 2**64 - 1], dtype=np.uint64),
    "beyond_2_53": np.array([2**53, 2**53 + 1, 2**53 + 2]),
    "beyond_2_24": np.array([2**24, 2**24 + 1, 2**24 + 2]),
} | {
    kind: np.array([0, 1, 2], dtype=kind)
    for kind in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "float32")
}


@pytest.mark.parametrize("cls", CLASSIFIERS)
@pytest.mark.parametrize("kind", LABELS)
def test_sklearn_11263_the_type_of_labels_changes_no_bit(cls, kind):
    """String labels gave other results than numbers, large ones were truncated: same bits for every
    type, labels come back whole."""
    X, y = three()
    names = LABELS[kind]
    model, renamed = cls(gamma=0.5).fit(X, y), cls(gamma=0.5).fit(X, names[y])
    assert_same_bits(renamed.decision_function(X), model.decision_function(X))
    assert_same_bits(renamed.predict(X), names[model.predict(X)])
    assert_same_bits(renamed.classes_, names)
    assert renamed.decision_function(X).dtype == np.float64


@pytest.mark.parametrize("kind", [bool, str, np.int8, np.uint64, np.float16])
def test_cuml_2586_two_class_decision_values_are_float64(kind):
    """Integer labels made decision_function return integers.

    It must be float64, not rounded, the same bits for every type.
    """
    X, y = binary()
    f = SVC(gamma=0.5).fit(X, y.astype(kind)).decision_function(X)
    assert_same_bits(f, SVC(gamma=0.5).fit(X, y).decision_function(X))
    assert f.dtype == np.float64
    assert (f != np.round(f)).any()


def test_cuml_2586_regression_on_integers_predicts_fractions():
    """Integer targets must not truncate predictions."""
    X, y = binary()
    for cls in (SVR, NuSVR):
        for kind in (np.int8, np.int64, np.uint64, bool):
            assert_same_bits(
                cls().fit(X, y.astype(kind)).predict(X), cls().fit(X, y.astype(float)).predict(X)
            )


def test_libsvm_114_labels_that_are_not_classes_are_refused():
    """LIBSVM truncates 0.25 and 0.75 to the one label 0.

    Fractions are refused, -0.0 and 0.0 are one class.
    """
    X, y = binary()
    with pytest.raises(ValueError, match="continuous"):
        SVC().fit(X, np.array([0.25, 0.75])[y])
    with pytest.raises(ValueError, match="NaN"):
        SVC().fit(X, np.where(y == 1, np.nan, 0.0))
    signed = np.where(np.arange(len(y)) % 2, -0.0, 0.0)
    with pytest.raises(ValueError, match="greater than one; got 1 class"):
        SVC().fit(X, signed)
    assert SVC().fit(X, np.where(y == 1, 1.0, signed)).classes_.tolist() == [0.0, 1.0]


# ---- row 34: one class ---------------------------------------------------------------------------


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_sklearn_1009_one_class_is_refused_with_the_count(cls):
    """A fit with one class gave garbage: it must raise, also where zero weights leave one class."""
    X, y = binary()
    with pytest.raises(ValueError, match="greater than one; got 1 class"):
        cls().fit(X, np.ones(len(y)))
    with pytest.raises(ValueError, match=r"same class \(\[1\]\)"):
        cls().fit(X, y, sample_weight=(y == 1).astype(float))
    with pytest.raises(ValueError, match=r"same class \(\[0\]\)"):
        cls(class_weight={1: 0.0}).fit(X, y)


def test_sklearn_1009_one_class_in_a_fold_is_reported_by_the_search():
    """Inside cross-validation a fold of one class must raise the same error, not score garbage."""
    X, y = binary(20)
    rows = np.argsort(y)
    with pytest.raises(ValueError, match="greater than one; got 1 class"):
        GridSearchCV(SVC(), {"C": [1.0]}, cv=KFold(2), error_score="raise").fit(
            X[rows], np.repeat([0, 1], 10)
        )


def test_sklearn_1009_a_failed_fit_leaves_the_fitted_model():
    """A refused fit must not half-change a fitted model."""
    X, y = binary()
    model = NuSVC(gamma=0.5).fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="one; got 1 class"):
        model.fit(X[:, :2], np.ones(len(y)))
    assert_same_bits(model.decision_function(X), before)
