"""Online estimators before and after their steps: order, weights, fitted state, warnings."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from helpers import assert_close, assert_same_bits, binary, three
from maxmargin import NormaSVC, PegasosSVC
from maxmargin.estimators._online import canonical_order
from maxmargin.kernel import prediction
from maxmargin.linear.designs import ArrayDesign

X, y = binary(60)
A, z = three(60)
ONLINE = {
    "pegasos": PegasosSVC(shuffle=False),
    "kernel": PegasosSVC(kernel="rbf", gamma=0.3, shuffle=False),
    "norma": NormaSVC(gamma=0.3, shuffle=False),
}
rng = np.random.default_rng(1)


@pytest.fixture(params=ONLINE)
def model(request):
    return ONLINE[request.param].__class__(**ONLINE[request.param].get_params())


# ---- order and weights ---------------------------------------------------------------------------


def test_the_order_of_samples_depends_on_values_alone():
    values = X @ np.random.RandomState(1).standard_normal(4)
    np.testing.assert_array_equal(canonical_order(ArrayDesign(X)), np.argsort(values))
    many = np.tile(np.round(X[:20], 0), (40, 1))
    order = canonical_order(ArrayDesign(many))
    assert (np.diff(many[order] @ np.random.RandomState(1).standard_normal(4)) >= -1e-12).all()
    for row in np.unique(many, axis=0):
        places = order[(many[order] == row).all(axis=1)]
        assert (np.diff(places) > 0).all(), "equal samples stay in order"
    assert canonical_order(ArrayDesign(np.ones((500, 3)))).tolist() == list(range(500))


def test_whole_weights_are_repetitions_up_to_ten_on_average(model):
    n = 12
    used = np.array([0, 1, 2, 5, 7, 8, 9, 10, 11])
    for weight, whole in (
        (np.arange(n) % 3 + 0.0, True),
        (np.full(n, 10.0), True),
        (np.where(np.arange(n) == 5, 11.0, 10.0), False),
        (np.arange(n) / 2, False),
        (np.full(n, 0.5), False),
    ):
        for shuffle in (False, True):
            model.set_params(shuffle=shuffle)
            order = canonical_order(ArrayDesign(X[:n])) if shuffle else np.arange(n)
            order = np.array([i for i in order if i in used])
            rows, step_weight = model._rows(ArrayDesign(X[:n]), weight, used)
            expected = np.repeat(order, weight[order].astype(int)) if whole else order
            assert rows.tolist() == expected.tolist()
            assert step_weight.tolist() == (np.ones(n) if whole else weight).tolist()
            task = model._task(np.ones((1, n)), step_weight, rows)
            assert task.weight[rows].mean() == pytest.approx(1.0)
    assert model._rows(None, np.ones(3), np.arange(3))[0].tolist() == [0, 1, 2]


def test_balanced_classes_count_samples_by_their_weights(model):
    """Also where weights are below 1, or a sample has none."""
    weight = rng.uniform(0.0, 0.5, size=60) * (np.arange(60) % 7 > 0)
    mass = np.bincount(y, weights=weight)
    balanced = (
        model.set_params(class_weight="balanced")
        .fit(X, y, sample_weight=weight)
        .decision_function(X)
    )
    factors = mass.sum() / (2 * mass)
    given = model.set_params(class_weight={0: factors[0], 1: factors[1]}).fit(
        X, y, sample_weight=weight
    )
    assert_close(balanced, given.decision_function(X), 1e-9)
    plain = model.set_params(class_weight=None).fit(X, y, sample_weight=weight * factors[y])
    if model.get_params()["kernel"] == "linear":
        assert_close(balanced, plain.decision_function(X), 1e-9)


def test_samples_that_count_have_a_weight_and_a_class_of_weight(model):
    weight = np.arange(60) % 4 / 2
    model.set_params(class_weight={1: 0.5, 2: 0.0})
    found, classes, used = model._checked_weights(weight, np.arange(3), z, z)
    assert found.tolist() == weight.tolist()
    assert classes.tolist() == [1.0, 0.5, 0.0]
    assert used.tolist() == [i for i in range(60) if weight[i] > 0 and z[i] < 2]


def test_class_weights_of_chunks_multiply_the_steps(model):
    weight, classes = {0: 0.5, 1: 2.0}, [0, 1]
    model.set_params(class_weight=weight).partial_fit(X, y, classes)
    plain = model.__class__(**model.get_params()).set_params(class_weight=None)
    plain.partial_fit(X, y, classes, sample_weight=np.where(y == 1, 2.0, 0.5))
    assert_same_bits(model.decision_function(X), plain.decision_function(X))


def test_weights_that_leave_one_class_or_none(model):
    for weight, text in (
        (np.where(y == 1, 1.0, 0.0), "same class; at least two are needed"),
        (np.where(y == 1, 1.0, -1.0), "same class; at least two are needed"),
        (np.where(np.arange(60) == 3, -2.0, 1.0), "1 negative values, the least is -2"),
        (np.zeros(60), "all samples have zero or negative weights"),
    ):
        for balanced in (None, "balanced"):
            with pytest.raises(ValueError, match=text):
                model.set_params(class_weight=balanced).fit(X, y, sample_weight=weight)
    with pytest.raises(ValueError, match="same class; at least two are needed"):
        model.set_params(class_weight={0: 0.0}).fit(X, y)


# ---- the fitted state ----------------------------------------------------------------------------


def test_weights_of_features_are_of_linear_models_only():
    fitted = PegasosSVC(kernel="rbf").partial_fit(X, y, [0, 1])
    with pytest.raises(AttributeError, match="only available when using a linear kernel"):
        _ = fitted.coef_
    assert not hasattr(PegasosSVC(), "coef_")
    linear = PegasosSVC().partial_fit(X, y, [0, 1])
    assert_close(X @ linear.coef_[0] + linear.intercept_[0], linear.decision_function(X), 1e-12)


def test_numbers_that_are_not_finite_are_refused():
    huge = np.full(60, 1.5e308)
    for given in (
        PegasosSVC(kernel="rbf", alpha=1e-3, fit_intercept=False, project=False),
        PegasosSVC(kernel="rbf", alpha=1e5, project=False),
        PegasosSVC(alpha=1e-3, project=False),
    ):
        with (
            np.errstate(all="ignore"),
            pytest.raises(ValueError, match="The weights are not finite: alpha is too small"),
        ):
            given.partial_fit(X, y, [0, 1], sample_weight=huge)
        assert not hasattr(given, "intercept_")
    for given in (
        NormaSVC(eta0=2.0, alpha=0.1, fit_intercept=False),
        NormaSVC(nu=0.1, alpha=0.1, random_state=1),  # some orders keep the numbers finite
    ):
        with (
            np.errstate(all="ignore"),
            pytest.raises(ValueError, match="The coefficients are not finite: lower eta0"),
        ):
            given.partial_fit(X, y, [0, 1], sample_weight=huge)


def test_samples_of_another_number_of_features(model):
    model.partial_fit(X, y, [0, 1])
    name = type(model).__name__
    for ask in (model.predict, model.decision_function, lambda A: model.partial_fit(A, y)):
        with pytest.raises(
            ValueError, match=f"X has 3 features, but {name} is expecting 4 features"
        ):
            ask(X[:, :3])


def test_an_altered_model_neither_predicts_nor_learns(model):
    """Even where what was altered is not what is asked for."""
    model.partial_fit(X, y, [0, 1])
    state = model.model_.state._replace(numbers=np.full((1, 2), np.nan))
    model.model_ = replace(model.model_, state=state)
    for ask in (model.predict, model.decision_function, lambda A: model.partial_fit(A, y)):
        with pytest.raises(
            ValueError, match=f"The internal representation of {type(model).__name__} was altered"
        ):
            ask(X)


def test_predictions_of_zero_are_of_the_second_class(model):
    model.partial_fit(X, y, [0, 1])
    f = model.decision_function(X)
    np.testing.assert_array_equal(model.predict(X), np.where(f >= 0, 1, 0))
    if hasattr(model, "coef_"):
        model.coef_[:] = 0.0
    else:
        model.dual_coef_[:] = 0.0
    model.intercept_[:] = 0.0
    assert model.predict(X[:3]).tolist() == [1, 1, 1]


def test_a_warm_start_needs_the_same_classes_functions_and_samples(model):
    model.set_params(max_iter=2, warm_start=True)
    if "tol" in model.get_params():
        model.set_params(tol=None)
    steps = model.fit(X, y).t_
    assert steps == 120
    assert model.fit(X, y).t_ == 240
    assert model.fit(A, z).t_ == 120, "other classes"
    assert model.fit(A, z).t_ == 240
    assert model.fit(A[:, :3], z).t_ == (120 if model.get_params()["kernel"] == "linear" else 360)
    assert model.set_params(warm_start=False).fit(A, z).t_ == 120


def test_a_warm_start_of_fewer_samples_begins_anew_where_support_vectors_are_missing():
    for given in (PegasosSVC(kernel="rbf", tol=None), NormaSVC()):
        given.set_params(max_iter=2, warm_start=True, shuffle=False).fit(X, y)
        last = int(given.support_.max())
        assert given.fit(X[: last + 1], y[: last + 1]).t_ == 120 + 2 * (last + 1)
        given.fit(X, y)
        steps, last = given.t_, int(given.support_.max())
        assert steps > 2 * 60
        assert given.fit(X[:last], y[:last]).t_ == 2 * last


# ---- warnings ------------------------------------------------------------------------------------


def test_what_is_said_of_a_tolerance_not_reached():
    with pytest.warns(ConvergenceWarning) as caught:
        few = PegasosSVC(alpha=0.01, tol=1e-9, max_iter=2, random_state=0).fit(X, y)
    share = few.certificate_.gap / (2 * min(y.mean(), 1 - y.mean()))
    said = str(caught[0].message)
    assert said.startswith(
        "2 epochs were not enough: scale the data (StandardScaler), raise alpha, or raise "
        "max_iter. "
    )
    assert (
        f"The gap is {share:.3g} of the loss of a constant (tol=1e-09); tol=None asks for none."
        in said
    )
    assert "budget" not in said
    assert few.fit_status_ == 1
    with pytest.warns(
        ConvergenceWarning,
        match=r"none\. A budget of 5 support vectors may be too small for this tol\.",
    ):
        PegasosSVC(alpha=0.01, kernel="rbf", budget=5, tol=1e-9, max_iter=2, random_state=0).fit(
            X, y
        )
    with pytest.warns(ConvergenceWarning, match="time_limit") as caught:
        PegasosSVC(tol=None, time_limit=0.0).fit(X, y)
    assert "not enough" not in str(caught[0].message)
    assert PegasosSVC(tol=None, max_iter=2).fit(X, y).fit_status_ == 1, "without a warning"
    with pytest.warns(ConvergenceWarning, match="The gap is inf of the loss of a constant"):
        PegasosSVC(tol=1e-9, max_iter=2).fit(A, z, sample_weight=(z > 0) * 1.0)


def test_a_stream_that_is_cut_off_says_so(monkeypatch):
    with pytest.warns(ConvergenceWarning, match=r"^Not all samples were used\. .*time_limit"):
        short = NormaSVC(time_limit=0.0, budget=20, shuffle=False).fit(X, y)
    assert (short.t_, short.n_iter_) == (20, 1)
    assert NormaSVC(max_iter=4).fit(X, y).n_iter_ == 4


def test_one_step_is_its_own_average():
    for options in ({}, {"kernel": "rbf", "gamma": 0.3}):
        first, last = (
            PegasosSVC(average=average, **options).partial_fit(X[:1], y[:1], [0, 1])
            for average in (True, False)
        )
        assert_close(first.decision_function(X), last.decision_function(X), 1e-12)


def test_a_fit_after_chunks_goes_on_with_their_average():
    """What chunks left behind is rescaled with the walk, though no coefficients of their samples
    are kept.
    """
    B = 10 * X + 5  # projects, and so rescales, many times
    options = {"alpha": 1e-4, "fit_intercept": False, "shuffle": False, "warm_start": True}
    chunks = PegasosSVC(**options).partial_fit(B, y, [0, 1])
    fitted = PegasosSVC(tol=None, max_iter=1, **options).partial_fit(B, y, [0, 1])
    assert_close(fitted.fit(B, y).coef_, chunks.partial_fit(B, y).coef_, 1e-9)
    assert fitted.t_ == 120


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", ["kernel", "norma"])
def test_the_points_of_a_model_are_prepared_once(name, storage, monkeypatch):
    """And again after any part was altered in place or replaced."""
    data, made, real = storage(X), [], prediction.NativeSource
    fitted = clone(ONLINE[name]).partial_fit(data, y, classes=[0, 1])
    monkeypatch.setattr(prediction, "NativeSource", lambda *a: made.append(1) or real(*a))
    before = [fitted.decision_function(data) for _ in range(3)]
    assert len(made) == 1
    assert_same_bits(before[0], before[2])
    points = fitted.support_vectors_

    def move_a_point():
        (points.data if sparse.issparse(points) else points.reshape(-1))[0] += 1.0

    def scale_a_coefficient():
        fitted.dual_coef_[0, 0] *= 2.0

    def replace_the_kernel():
        fitted._kernel = replace(fitted._kernel, gamma=0.7)

    for count, alter in enumerate((move_a_point, scale_a_coefficient, replace_the_kernel), 2):
        alter()
        after = fitted.decision_function(data)
        assert len(made) == count
        assert np.abs(after - before[-1]).max() > 1e-6
        assert_same_bits(after, copy.deepcopy(fitted).decision_function(data))
        before.append(after)
        made.pop()  # of the copy
