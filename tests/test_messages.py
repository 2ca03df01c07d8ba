"""Messages of the estimators.

They name the cause and the remedy, in the same words in every process.
"""

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_predict
from sklearn.utils import _param_validation, get_tags
from sklearn.utils._param_validation import InvalidParameterError

import maxmargin
from maxmargin.estimators._options import StrOptions
from maxmargin.suggestions import SYNONYMS, closest

ALL = [
    cls
    for _, cls in inspect.getmembers(maxmargin, inspect.isclass)
    if issubclass(cls, BaseEstimator)
]
ENUMERATED = [
    (cls, name, sorted(item.options))
    for cls in ALL
    for name, constraints in cls._parameter_constraints.items()
    for item in constraints
    if isinstance(item, _param_validation.StrOptions)
]
X = np.random.default_rng(0).normal(size=(12, 3))
Y = np.arange(12) % 2


def fit(model, X=X, y=Y):
    return model.fit(X, y) if has_targets(model) else model.fit(X)


def takes_a_matrix(cls):
    """Whether the samples are the rows of one matrix: not where they are bags or sequences."""
    return get_tags(cls()).input_tags.two_d_array


def has_targets(model):
    """Whether it learns from targets: a ranker does too."""
    return get_tags(model).target_tags.required


def message(model, X=X, y=Y, error=ValueError):
    with pytest.raises(error) as caught:
        fit(model, X, y)
    return str(caught.value)


@pytest.mark.parametrize("cls", ALL)
def test_every_parameter_has_its_constraint(cls):
    assert set(inspect.signature(cls).parameters) == set(cls._parameter_constraints)


# ---- bags and sequences --------------------------------------------------------------------------

LISTS = {
    maxmargin.MISVC: ([X[:3], X[3:6], X[6:9], X[9:]], [0, 1, 0, 1]),
    maxmargin.SequenceSVM: ([X[:6], X[6:]], [Y[:6], Y[6:]]),
}
"""Samples as estimators take them that do not take a matrix."""


def test_all_estimators_of_bags_and_sequences_are_here():
    assert set(LISTS) == {cls for cls in ALL if not takes_a_matrix(cls)}


@pytest.mark.parametrize("cls", LISTS)
def test_a_limit_of_time_on_lists_is_the_users(cls):
    with pytest.warns(ConvergenceWarning) as caught:
        fit(cls(time_limit=0.0), *LISTS[cls])
    assert {one.filename for one in caught} == {__file__}


@pytest.mark.parametrize("cls", LISTS)
def test_words_among_features_of_lists_are_named(cls):
    samples, labels = LISTS[cls]
    words = [np.array([["x"] * 3] * len(one), dtype=object) for one in samples]
    assert "could not convert string to float" in message(cls(), words, labels)
    assert "must be a list" in message(cls(), X, Y)


# ---- one of a few words --------------------------------------------------------------------------


def test_all_estimators_are_here():
    assert len(ALL) == 29
    assert {name for _, name, _ in ENUMERATED} >= {
        "kernel",
        "loss",
        "solver",
        "intercept",
        "multiclass",
        "class_weight",
        "scoring",
    }


@pytest.mark.parametrize(
    ("cls", "name", "options"),
    ENUMERATED,
    ids=lambda v: getattr(v, "__name__", v if isinstance(v, str) else ""),
)
def test_every_option_is_suggested_for_its_own_word_in_other_letters(cls, name, options):
    for option in options:
        wrong = option.upper().replace("_", "-") + " "
        said = message(cls(**{name: wrong}), error=InvalidParameterError)
        assert said.endswith(f"Got {wrong!r} instead. Did you mean {option!r}?")


@pytest.mark.parametrize(
    ("model", "meant"),
    [
        (maxmargin.SVC(kernel="gaussian"), "rbf"),
        (maxmargin.SVR(kernel="RBF"), "rbf"),
        (maxmargin.OneClassSVM(kernel="polynomial"), "poly"),
        (maxmargin.PegasosSVC(kernel="laplace"), "laplacian"),
        (maxmargin.NuSVC(kernel="laplacain"), "laplacian"),
        (maxmargin.SVC(multiclass="one-vs-rest"), "ovr"),
        (maxmargin.SVC(loss="square_hinge"), "squared_hinge"),
        (maxmargin.LinearSVC(intercept="regularized"), "regularised"),
        (maxmargin.LinearSVC(penalty="lasso"), "l1"),
        (maxmargin.LinearSVC(class_weight="balance"), "balanced"),
        (maxmargin.LinearSVR(loss="epsilon-insensitive"), "epsilon_insensitive"),
        (maxmargin.LinearSVCCV(scoring="balanced accuracy"), "balanced_accuracy"),
    ],
)
def test_did_you_mean(model, meant):
    assert message(model, error=InvalidParameterError).endswith(f"Did you mean {meant!r}?")


@pytest.mark.parametrize("value", ["cake", "", "!", 3, None, ["rbf"], b"rbf"])
def test_nothing_is_suggested_where_nothing_suggests_itself(value):
    said = message(maxmargin.SVC(kernel=value), error=InvalidParameterError)
    assert said.endswith(f"Got {value!r} instead.")


def test_synonyms_are_those_of_words_that_some_option_knows():
    known = {option for _, _, options in ENUMERATED for option in options} | {
        "svc",
        "svr",
        "one-class",
        "svmlight",
        "mm",
    }
    assert set(SYNONYMS.values()) <= known
    assert all(closest(word, [meant]) == meant for word, meant in SYNONYMS.items())
    assert closest("squared", ["squared_hinge", "squared_epsilon_insensitive"]) is None


def test_options_are_listed_in_the_same_order_in_every_process():
    assert all(
        type(item) is StrOptions
        for cls in ALL
        for constraints in cls._parameter_constraints.values()
        for item in constraints
        if isinstance(item, _param_validation.StrOptions)
    )
    names = (
        message(maxmargin.SVC(kernel="cake"), error=InvalidParameterError)
        .partition("{")[2]
        .partition("}")[0]
        .split(", ")
    )
    assert names == sorted(names)
    assert len(names) == 9


# ---- words among the data ------------------------------------------------------------------------

FRAME = pd.DataFrame(
    {
        "age": np.arange(12.0),
        "city": ["Oslo", "Bern", "Rome"] * 4,
        "digits": ["1", "2", "3"] * 4,
        "sex": ["f", "m"] * 6,
    }
)


@pytest.mark.parametrize("cls", [cls for cls in ALL if takes_a_matrix(cls)])
def test_columns_of_words_are_named(cls):
    for data in (FRAME, FRAME.astype({"city": "category"})):
        said = message(cls(), data)
        assert said.startswith("could not convert string to float: ")
        assert "X has 2 columns of words: 'city' with 'Oslo', 'sex' with 'f'. Encode" in said
        assert "OneHotEncoder" in said
    said = message(cls(), FRAME[["age", "city"]].to_numpy())
    assert "X has 1 column of words: 1 (counted from 0) with 'Oslo'. Encode" in said
    assert "1 column of words: 0 (counted" in message(cls(), [["x", 1.0]] * 12)
    model = fit(
        cls(**({"tol": None} if cls is maxmargin.PegasosSVC else {})),
        FRAME[["age", "digits"]].astype(float),
    )
    with pytest.raises(ValueError, match="1 column of words: 'digits' with 'Bern'"):
        model.predict(FRAME[["age", "city"]].rename(columns={"city": "digits"})[1:])


def test_columns_of_words_in_a_chunk_are_named():
    with pytest.raises(ValueError, match=r"X of chunk 0: could not convert .*'city' with 'Oslo'"):
        maxmargin.LinearSVC().fit_chunks(lambda: iter([(FRAME, Y)]))


@pytest.mark.parametrize("cls", [cls for cls in ALL if is_regressor(cls())])
def test_words_as_targets_of_a_regression(cls):
    assert (
        "The targets y are words: a regression needs numbers, and words are classes (SVC"
        in message(cls(), X, ["a", "b"] * 6)
    )


@pytest.mark.parametrize(
    "cls", [cls for cls in ALL if is_classifier(cls()) and takes_a_matrix(cls)]
)
@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([0, "a"], "y mixes numbers like 0 and words like 'a'"),
        (["a", None], "y mixes words like 'a' and NoneType objects like None"),
        ([True, "b"], "y mixes numbers like True and words like 'b'"),
    ],
)
def test_mixed_labels(cls, labels, said):
    y = np.array(labels * 6, dtype=object)
    found = message(cls(), X, y)
    assert found.startswith(f"Unknown label type: {said}. Make all labels one kind")
    assert said in message(cls(), X, pd.Series(y, dtype=object))
    if hasattr(cls, "partial_fit"):
        with pytest.raises(ValueError, match="y mixes"):
            cls().partial_fit(X, y, classes=np.array(["a", "b"]))


# ---- whose line a warning names ------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "cls",
    [cls for cls in ALL if "kernel" in cls._parameter_constraints and takes_a_matrix(cls)],
)
def test_a_matrix_that_is_not_symmetric_is_the_users(cls):
    K = X @ X.T
    K /= np.sqrt(np.outer(np.diag(K), np.diag(K)))  # SVDD needs equal values on the diagonal
    K += 0.01 * np.eye(len(K))  # and the cutting-plane method a positive semidefinite matrix
    K[2, 7] += 1e-4 * np.abs(K).max()
    with pytest.warns(UserWarning, match="The precomputed matrix is not symmetric") as caught:
        fit(cls(kernel="precomputed"), K)
    names = {one.filename for one in caught if "not symmetric" in str(one.message)}
    assert names == {__file__}


@pytest.mark.parametrize(
    "cls",
    [
        cls
        for cls in ALL
        if "time_limit" in cls._parameter_constraints
        and "CV" not in cls.__name__
        and takes_a_matrix(cls)
    ],
)
def test_a_limit_of_time_is_the_users(cls):
    with pytest.warns(ConvergenceWarning) as caught:
        fit(cls(time_limit=0.0))
    assert {one.filename for one in caught} == {__file__}
    y = Y if has_targets(cls()) else None
    with pytest.warns(ConvergenceWarning) as caught:
        cross_val_predict(cls(time_limit=0.0), X, y, cv=2)
    assert {one.filename for one in caught} == {__file__}, "through scikit-learn, too"
    if hasattr(cls, "partial_fit"):
        with pytest.warns(ConvergenceWarning) as caught:
            fit_first(
                cls(
                    time_limit=0.0,
                    **(
                        {"budget": 16}
                        if "Norma" in cls.__name__
                        else {"kernel": "rbf", "budget": 16}
                    ),
                )
            )
        assert {one.filename for one in caught} == {__file__}


def fit_first(model):
    many = np.tile(X, (3, 1))
    return (
        model.partial_fit(many, np.tile(Y, 3), classes=[0, 1])
        if is_classifier(model)
        else model.partial_fit(many)
    )


def test_a_nu_that_class_weights_make_infeasible_is_the_users():
    with pytest.warns(UserWarning, match="class_weight makes nu=0.8 infeasible") as caught:
        maxmargin.NuSVC(nu=0.8, class_weight={0: 3.0}).fit(X, Y)
    assert caught[0].filename == __file__
