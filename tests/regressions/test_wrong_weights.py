"""Silent wrong answers about weights and arguments: rows 11 to 16 and 30 of the failure table."""

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import InvalidParameterError

from helpers import (
    CLASSIFIERS,
    FIVE,
    REGRESSORS,
    assert_close,
    assert_same_bits,
    binary,
    target,
    three,
    values,
)
from maxmargin import SVC, SVR, Kernel, NuSVC, NuSVR, OneClassSVM

# ---- row 11: no argument is ignored --------------------------------------------------------------


@pytest.mark.parametrize("cls", CLASSIFIERS)
@pytest.mark.parametrize("options", [{}, {"multiclass": "ovr"}, {"decision_function_shape": "ovo"}])
@pytest.mark.parametrize("data", [binary, three])
def test_sklearn_30332_class_weight_moves_the_boundary(cls, options, data):
    """NuSVC ignored class_weight and cuML ignores it for many classes.

    A heavy class must win more points, for every scheme.
    """
    X, y = data()
    if len(np.unique(y)) == 2:
        options = {k: v for k, v in options.items() if k != "decision_function_shape"}
    nu = {"nu": 0.1} if cls is NuSVC else {}
    plain = cls(gamma=0.3, **nu, **options).fit(X, y)
    heavy = cls(gamma=0.3, **nu, **options, class_weight={0: 5.0}).fit(X, y)
    assert (heavy.predict(X) == 0).sum() > (plain.predict(X) == 0).sum()
    assert heavy.class_weight_[0] == 5.0


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_sklearn_30332_class_weight_is_the_sample_weight_of_its_members(cls, multiclass):
    """class_weight must equal the sample weights that say the same, bit for bit."""
    X, y = three()
    weight = np.array([1.0, 1.5, 0.75])
    nu = {"nu": 0.4} if cls is NuSVC else {}
    by_class = cls(
        gamma=0.3, multiclass=multiclass, class_weight=dict(enumerate(weight)), **nu
    ).fit(X, y)
    by_sample = cls(gamma=0.3, multiclass=multiclass, **nu).fit(X, y, weight[y])
    assert_same_bits(by_class.decision_function(X), by_sample.decision_function(X))


OTHER = {
    "C": 0.05,
    "nu": 0.3,
    "epsilon": 0.5,
    "kernel": "poly",
    "gamma": 3.0,
    "degree": 2,
    "coef0": 1.5,
    "class_weight": {0: 3.0},
    "decision_function_shape": "ovo",
    "multiclass": "ovr",
    "loss": {SVC: "squared_hinge", SVR: "squared_epsilon_insensitive"},
}
"""For each parameter that chooses the model another value than its default; with kernel="poly"
every one of them has an effect."""
HOW = {
    "shrinking": False,
    "tol": 1e-6,
    "cache_size": 1,
    "verbose": 0,
    "max_iter": 10**7,
    "random_state": 1,
    "time_limit": 100,
    "on_interrupt": "keep",
    "warm_start": True,
}
"""Parameters that say how to compute: none of them may change the model of a finished fit."""


@pytest.mark.parametrize(
    ("cls", "name"),
    [(cls, name) for cls in FIVE for name in sorted(inspect.signature(cls).parameters)],
)
def test_sklearn_30332_every_parameter_changes_the_model_or_raises_or_only_says_how(cls, name):
    """Arguments were accepted and ignored.

    Each parameter must change the decision values, be refused, or provably not choose the model.
    """
    X, y = three()
    X, y = X + 1.0, target(cls, X, y)
    base = {"kernel": "poly" if name in ("degree", "coef0") else "rbf"}
    plain = values(cls(**base).fit(X, y), X)
    if name in HOW:
        assert_close(values(cls(**base, **{name: HOW[name]}).fit(X, y), X), plain, 1e-7)
    elif name == "solver":  # the other solver wants a squared loss, and then gives the same model
        squared = base | {"loss": OTHER["loss"][cls]}
        found = [
            values(cls(**squared, solver=solver).fit(X, y), X)
            for solver in ("auto", "block", "newton")
        ]
        assert_close(found[1], found[0], 1e-7)
        assert_close(found[2], found[0], 1e-7)
        with pytest.raises(ValueError, match="squared"):
            cls(**base, solver="newton").fit(X, y)
    elif name == "probability":  # the same machine, and predict_proba besides
        model = cls(**base, probability=True).fit(X, y)
        np.testing.assert_array_equal(values(model, X), plain)
        assert model.predict_proba(X).shape == (len(y), 3 if cls in CLASSIFIERS else 2)
        assert not hasattr(cls(**base).fit(X, y), "predict_proba")
    elif name == "interval":  # the same machine, and predict_interval besides
        model = cls(**base, interval=True).fit(X, y)
        np.testing.assert_array_equal(values(model, X), plain)
        assert model.predict_interval(X).shape == (len(y), 2)
        with pytest.raises(AttributeError, match="interval=True"):
            cls(**base).fit(X, y).predict_interval(X)
    elif name == "break_ties":  # its effect on ties is tested with the votes
        with pytest.raises(ValueError, match="break_ties must be False"):
            cls(break_ties=True, decision_function_shape="ovo").fit(X, y).predict(X)
    else:
        other = OTHER[name][cls] if name == "loss" else OTHER[name]
        changed = values(cls(**base | {name: other}).fit(X, y), X)
        assert changed.shape != plain.shape or np.abs(changed - plain).max() > 1e-3


def test_sklearn_30332_numbers_beside_a_kernel_record_are_refused():
    """A Kernel carries its numbers: gamma, coef0 or degree given beside it would be ignored, so
    they must raise."""
    X, y = binary()
    for beside in ({"gamma": 0.5}, {"coef0": 1.0}, {"degree": 2}):
        with pytest.raises(ValueError, match="would be ignored"):
            SVC(kernel=Kernel.rbf(gamma=1.0), **beside).fit(X, y)


@pytest.mark.parametrize("cls", FIVE)
def test_cuml_svc_sample_weight_is_never_ignored(cls):
    """cuML only logs that sample weights are ignored for many classes.

    They must change the model of every estimator.
    """
    X, y = three()
    y, weight = target(cls, X, y), np.where(np.arange(60) % 2, 1.0, 4.0)
    nu = {"nu": 0.3} if cls in (NuSVC, NuSVR, OneClassSVM) else {}
    plain, weighted = (
        values(cls(**nu).fit(X, y), X),
        values(cls(**nu).fit(X, y, sample_weight=weight), X),
    )
    assert np.abs(plain - weighted).max() > 1e-2


# ---- rows 12 and 13: weight k is k copies --------------------------------------------------------


def assert_weights_are_copies(estimator, X, y, count):
    """The fit with weights is the fit with copies: the same gamma, objective and decision
    values."""
    weighted = clone(estimator).fit(X, y, sample_weight=count)
    copied = clone(estimator).fit(np.repeat(X, count, axis=0), np.repeat(y, count))
    assert weighted._gamma == pytest.approx(copied._gamma, rel=1e-12)
    assert weighted.certificate_.primal == pytest.approx(
        copied.certificate_.primal, rel=1e-8, abs=1e-9
    )
    assert_close(values(weighted, X), values(copied, X), 1e-6)


@pytest.mark.parametrize(
    "estimator", [SVC(), NuSVC(nu=0.21), SVR(), NuSVR(nu=0.51), OneClassSVM(nu=0.51)]
)
@settings(max_examples=15, deadline=None, derandomize=True)
@given(count=st.lists(st.integers(0, 4), min_size=24, max_size=24))
def test_sklearn_16298_weight_k_is_k_copies_and_0_is_absent(estimator, count):
    """Weights were not equivalent to repetition.

    The fit with weights k must be the fit with k copies, gamma="scale" included.
    """
    X, y = three(24, 3)
    count = np.maximum(count, np.arange(24) < 6)  # of each class two samples stay
    assert_weights_are_copies(estimator, X, target(estimator, X, y), count)


@pytest.mark.parametrize("heavy", [{7: 2, 13: 4}, {1: 4, 7: 3}])
def test_sklearn_16298_weight_k_is_k_copies_where_the_margin_is_an_interval(heavy):
    """Where nu times the weight fills whole samples the margin is an interval.

    Which point is taken must not depend on rounding.
    """
    X, y = three(24, 3)
    count = (np.arange(24) < 6).astype(int)
    count[list(heavy)] = list(heavy.values())
    assert_weights_are_copies(NuSVC(nu=0.2), X, y, count)


@pytest.mark.parametrize("cls", FIVE)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_sklearn_16298_weight_zero_is_the_sample_removed_bitwise(cls, form):
    """A zero weight must be the sample removed before gamma, nu and the classes are looked at: the
    same bits."""
    X, y = three()
    y, keep = target(cls, X, y), np.random.default_rng(0).random(60) < 0.7
    X[~keep] *= 1000  # would change gamma="scale"
    weighted, removed = (
        cls().fit(form(X), y, sample_weight=keep.astype(float)),
        cls().fit(form(X[keep]), y[keep]),
    )
    assert_same_bits(values(weighted, form(X[keep])), values(removed, form(X[keep])))
    np.testing.assert_array_equal(np.flatnonzero(keep)[removed.support_], weighted.support_)


@pytest.mark.parametrize("cls", [SVC, SVR, NuSVR])
def test_sklearn_16298_C_times_k_is_weights_times_k(cls):
    """C k with weights w must be C with weights k w, bit for bit for a power of two."""
    X, y = binary()
    y = target(cls, X, y)
    a, b = cls(C=8.0).fit(X, y), cls(C=2.0).fit(X, y, np.full(60, 4.0))
    assert_same_bits(values(a, X), values(b, X))


@pytest.mark.parametrize("cls", [NuSVC, OneClassSVM])
def test_sklearn_16298_nu_ignores_the_unit_of_weights(cls):
    """nu is a fraction: weights in another unit give the same decision function.

    That of a one-class model is in the unit of the weights.
    """
    X, y = binary()
    plain = values(cls().fit(X, y), X)
    for unit in (2.0**-30, 2.0**30):
        other = values(cls().fit(X, y, sample_weight=np.full(60, unit)), X)
        assert_close(other / unit if cls is OneClassSVM else other, plain)


@pytest.mark.parametrize("cls", CLASSIFIERS)
@pytest.mark.parametrize("data", [binary, three])
def test_sklearn_30056_balanced_counts_are_weighted_counts(cls, data):
    """class_weight="balanced" ignored sample_weight.

    With weights it must equal the copies, and balance the weighted classes.
    """
    X, y = data(45)
    count = 1 + (np.arange(45) % 4) * (y == 0)
    weighted = cls(class_weight="balanced").fit(X, y, sample_weight=count)
    copied = cls(class_weight="balanced").fit(np.repeat(X, count, axis=0), np.repeat(y, count))
    np.testing.assert_allclose(weighted.class_weight_, copied.class_weight_, rtol=1e-14)
    mass = np.bincount(y, weights=count) * weighted.class_weight_
    np.testing.assert_allclose(mass, mass.mean(), rtol=1e-14)
    assert_close(weighted.decision_function(X), copied.decision_function(X), 1e-7)


# ---- row 14: a whole class of weight zero --------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
@pytest.mark.parametrize(("n_classes", "gone"), [(3, 0), (3, 1), (3, 2), (4, 0), (4, 2), (4, 3)])
def test_sklearn_5150_a_class_of_weight_zero_stays_and_never_wins(
    form, multiclass, n_classes, gone
):
    """A class of weight zero lost its column or crashed.

    It must stay in classes_, never win, and leave the other pairs as they are.
    """
    y = np.arange(48) % n_classes
    X = np.random.default_rng(0).normal(size=(48, 3)) + y[:, None]
    left = y != gone
    model = SVC(gamma=0.3, multiclass=multiclass).fit(form(X), y, sample_weight=left.astype(float))
    without = SVC(gamma=0.3, multiclass=multiclass).fit(form(X[left]), y[left])
    assert model.classes_.tolist() == list(range(n_classes))
    assert model.decision_function(form(X)).shape == (48, n_classes)
    assert gone not in model.predict(form(X))
    np.testing.assert_array_equal(model.predict(form(X)), without.predict(form(X)))
    assert model.n_support_[gone] == 0


@pytest.mark.parametrize("cls", CLASSIFIERS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_sklearn_25380_zero_weight_on_one_of_two_classes_names_what_is_left(cls, form):
    """With one class left there is nothing to separate: ValueError that names it, dense and
    sparse."""
    X, y = binary()
    for gone in (0, 1):
        with pytest.raises(ValueError, match=rf"same class \(\[{1 - gone}\]\)"):
            cls().fit(form(X), y, sample_weight=(y != gone).astype(float))


# ---- rows 15, 16, 30: what is refused ------------------------------------------------------------


@pytest.mark.parametrize("cls", FIVE)
def test_sklearn_9494_negative_weights_are_refused(cls):
    """Negative weights were dropped silently: ValueError; -0.0 is zero."""
    X, y = binary()
    y, weight = target(cls, X, y), np.ones(60)
    weight[3] = -1.0
    with pytest.raises(ValueError, match="1 negative values, the least is -1"):
        cls().fit(X, y, sample_weight=weight)
    with pytest.raises(ValueError, match="zero or negative"):
        cls().fit(X, y, sample_weight=-np.ones(60))
    weight[3] = -0.0
    zero = np.where(np.arange(60) == 3, 0.0, 1.0)
    assert_same_bits(
        values(cls().fit(X, y, sample_weight=weight), X),
        values(cls().fit(X, y, sample_weight=zero), X),
    )


@pytest.mark.parametrize("cls", FIVE)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_sklearn_baselibsvm_fit_weights_must_be_finite(cls, bad):
    """NaN compares false and slips through.

    A weight, a feature, a class weight or a target that is not finite must raise.
    """
    X, y = binary()
    y, hole = target(cls, X, y), np.where(np.arange(60) == 5, bad, 1.0)
    broken = X.copy()
    broken[5, 0] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        cls().fit(X, y, sample_weight=hole)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        cls().fit(broken, y)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        cls().fit(sparse.csr_matrix(broken), y)
    if cls in CLASSIFIERS:
        with pytest.raises(ValueError, match="class_weight must be finite"):
            cls(class_weight={0: bad}).fit(X, y)
    if cls in REGRESSORS:
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            cls().fit(X, y * hole)


REFUSED = {
    "C": [0.0, -1.0, -0.0, "1", None],
    "nu": [0.0, 1.0 + 1e-9, -0.5, np.inf],
    "epsilon": [-1e-9, np.inf],
    "gamma": [-1e-9, np.inf, "other", None],
    "coef0": [np.inf, -np.inf],
    "degree": [-1, 2.5, np.inf],
    "tol": [0.0, -1.0, np.inf],
    "cache_size": [0, -1.0, np.inf, "big"],
    "time_limit": [-1.0, np.inf],
    "max_iter": [-2, 1.5, np.inf],
}
ACCEPTED = {
    "C": [5e-324, 1e-300, np.inf],
    "nu": [1e-3],
    "epsilon": [0.0, -0.0, 5e-324],
    "gamma": [0.0, -0.0, 5e-324],
    "coef0": [-0.0, 5e-324, -3.0],
    "degree": [0, 1, 12],
    "cache_size": [5e-324, 1e308],
    "time_limit": [1e308],
}
"""For every number a table of what is refused and what is valid."""


def table(entries):
    """(class, name, value) for every class that has the parameter."""
    return [
        (cls, name, v)
        for cls in FIVE
        for name in entries
        if name in inspect.signature(cls).parameters
        for v in entries[name]
    ]


@pytest.mark.parametrize(
    ("cls", "name", "value"), table({name: [*bad, np.nan] for name, bad in REFUSED.items()})
)
def test_scs_205_numbers_out_of_range_and_nan_are_refused(cls, name, value):
    """NaN passed range checks written as comparisons.

    Every number outside its range, and NaN, must raise and name the parameter.
    """
    X, y = binary(20)
    with pytest.raises(InvalidParameterError, match=f"The '{name}' parameter"):
        cls(**{name: value}).fit(X, target(cls, X, y))


@pytest.mark.parametrize(
    ("cls", "name", "value"),
    [case for case in table(ACCEPTED) if case[0] is not NuSVC and case[::2] != (NuSVR, np.inf)],
)
def test_sklearn_29772_valid_extremes_are_accepted(cls, name, value):
    """C=inf was rejected by a change of validation.

    Every valid extreme must give a finite, certified model.
    """
    X, y = binary(20)
    X, y = np.where(y[:, None] == 1, X + 9, X) / 10, target(cls, X, y)
    base = {"kernel": "poly" if name in ("coef0", "degree") else "rbf"}
    model = cls(**base, **{name: value})
    if value == -3.0:  # this kernel is indefinite, and the fit says so
        with pytest.warns(ConvergenceWarning, match="not positive semidefinite"):
            model.fit(X, y)
    else:
        model.fit(X, y)
    assert model.certificate_.status == ("stationary" if value == -3.0 else "optimal")
    assert np.isfinite(values(model, X)).all()


@pytest.mark.parametrize("number", ["gamma", "coef0", "degree"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scs_205_a_kernel_record_refuses_what_is_not_finite(number, bad):
    """Kernel records must refuse NaN and infinity with a ValueError that names the number."""
    with pytest.raises(ValueError, match=f"{number} must be"):
        Kernel.poly(**{number: bad})


def test_sklearn_29772_C_inf_is_the_limit_of_large_C():
    """C=inf must be the hard margin: the limit of the soft one on separable data, an error on data
    that are not."""
    X, y = binary(40)
    hard = SVC(C=np.inf, gamma=5.0).fit(X, y)
    assert_close(
        SVC(C=1e9, gamma=5.0).fit(X, y).decision_function(X), hard.decision_function(X), 1e-7
    )
    assert (2 * y - 1) @ hard.decision_function(X) >= len(y) * (1 - 1e-9)
    with pytest.raises(ValueError, match="no hyperplane separates"):
        SVC(C=np.inf, kernel="linear").fit(X, y)
