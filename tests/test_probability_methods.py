"""Isotonic probabilities, those of one-vs-rest, and those of LinearSVC: the same guarantees, lone
fits without each fold, scikit-learn's calibration, files."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from helpers import settings
from maxmargin import SVC, LinearSVC, NuSVC, calibration, io
from maxmargin.estimators._calibrated import method_of, of_classes
from maxmargin.estimators._probability import sample_keys
from maxmargin.kernel import held_out, left_out
from maxmargin.kernel.held_out import folds_of
from maxmargin.kernel.kernels import Kind
from maxmargin.linear import class_span, span
from test_probability import blobs

MODELS = [
    SVC(probability="isotonic"),
    NuSVC(nu=0.1, probability="isotonic"),
    SVC(multiclass="ovr", probability="sigmoid"),
    SVC(multiclass="ovr", probability="isotonic"),
    LinearSVC(probability=True),
    LinearSVC(loss="hinge", probability="isotonic"),
    LinearSVC(penalty="l1", probability=True),
    LinearSVC(multi_class="crammer_singer", max_iter=20_000, probability=True),
    LinearSVC(intercept="regularised", probability="isotonic"),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("classes", [2, 4])
def test_the_most_probable_class_is_the_label(model, classes):
    changed = 0
    for seed in range(4):
        X, y = blobs(n=40 + 30 * (seed % 3), classes=classes, apart=0.7, seed=seed)
        X = np.round(X) if seed % 2 else X
        weight = np.random.default_rng(seed).integers(0, 3, len(y)) * 1.0 if seed % 4 == 3 else None
        names = np.array(["d", "c", "b", "a"])[y]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = clone(model).fit(X, names, sample_weight=weight)
        asked = np.concatenate([X, 0 * X, -X])
        p = found.predict_proba(asked)
        np.testing.assert_array_equal(found.classes_[p.argmax(axis=1)], found.predict(asked))
        np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
        assert p.min() >= 0
        np.testing.assert_array_equal(np.log(p), found.predict_log_proba(asked))
        changed += len(np.unique(np.round(p, 6))) > 5
    assert changed > 2  # or the test says nothing


@pytest.mark.parametrize("model", MODELS[:6], ids=str)
def test_probabilities_never_contradict_the_score(model):
    rng = np.random.default_rng(0)
    X, y = blobs(n=200, classes=2, apart=0.6)
    found = clone(model).fit(X, y)
    asked = rng.normal(size=(500, 4))
    order = np.argsort(found.decision_function(asked))
    lead = calibration.SETTINGS.lead  # by which a class stays below the label, where 1/2 is reached
    assert np.diff(found.predict_proba(asked)[order, 1]).min() >= -lead


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_order_and_copies_do_not_matter(model):
    X, y = blobs(n=120)
    base = clone(model).set_params(tol=1e-8, max_iter=100_000, random_state=3)
    times = np.random.default_rng(1).integers(0, 4, len(y))
    p = clone(base).fit(X, y, sample_weight=times).predict_proba(X)
    turn = np.random.default_rng(0).permutation(len(y))
    turned = clone(base).fit(X[turn], y[turn], sample_weight=times[turn]).predict_proba(X)
    copied = clone(base).fit(np.repeat(X, times, axis=0), np.repeat(y, times)).predict_proba(X)
    near = 2e-3 if isinstance(model, LinearSVC) else 1e-6  # folds are solved to a tolerance
    np.testing.assert_allclose(turned, p, atol=near)
    np.testing.assert_allclose(copied, p, atol=near)
    np.testing.assert_array_equal(clone(base).fit(X, y, sample_weight=times).predict_proba(X), p)


@pytest.mark.parametrize(
    "model", [m for m in MODELS if isinstance(m, LinearSVC) and m.probability is True], ids=str
)
@pytest.mark.parametrize("classes", [2, 3])
def test_linear_sigmoids_are_those_of_lone_fits(model, classes, monkeypatch):
    settings(monkeypatch, held_out, tol=1.0)
    settings(monkeypatch, left_out, few=1000)
    X, y = blobs(classes=classes)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    base = clone(model).set_params(tol=1e-10, max_iter=100_000)
    found = clone(base).fit(X, y, sample_weight=weight)
    folds = folds_of(sample_keys(Kind.LINEAR, X, None), y)
    values = np.empty((len(y), 1 if classes == 2 else classes))
    for fold in range(5):
        rest, out = folds != fold, folds == fold
        lone = clone(base).set_params(probability=False)
        lone.fit(X[rest], y[rest], sample_weight=weight[rest])
        values[out] = lone.decision_function(X[out]).reshape(out.sum(), -1)
    if classes == 2:
        expected = [calibration.fit_sigmoid(-values[:, 0], y == 0, weight)]
    else:
        parts = of_classes(values, y, weight, np.ones(values.shape, int))
        expected = [calibration.fit_sigmoid(f, s > 0, w, classes) for f, s, w, _ in parts]
    np.testing.assert_allclose(found.model_.prob_a, np.array(expected)[:, 0], rtol=1e-3)
    np.testing.assert_allclose(found.model_.prob_b, np.array(expected)[:, 1], atol=1e-3)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("times", [1, 2])
def test_closed_form_of_linear_models_is_that_of_the_linear_kernel(loss, times):
    X, y = blobs(n=150, classes=2, apart=0.8)
    X, y = np.repeat(X, times, axis=0), np.repeat(y, times)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    common = {"C": 2.0, "loss": loss, "probability": True}
    linear = LinearSVC(tol=1e-9, **common).fit(sparse.csr_matrix(X), y, sample_weight=weight)
    kernel = SVC(kernel="linear", **common).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(linear.model_.prob_a, kernel.probA_, rtol=1e-3)
    np.testing.assert_allclose(linear.model_.prob_b, kernel.probB_, atol=1e-3)


@pytest.mark.parametrize("intercept", ["free", "regularised", "none"])
def test_closed_form_of_linear_models_against_machines_without_a_sample(intercept, monkeypatch):
    """All samples of a squared hinge with little C are support vectors, with and without one."""
    X, y = blobs(n=60, classes=2, apart=0.2)
    how = {"fit_intercept": False} if intercept == "none" else {"intercept": intercept}
    how |= {"intercept_scaling": 2.0} if intercept == "regularised" else {}
    model = LinearSVC(C=0.001, tol=1e-10, **how)
    seen = []
    real = LinearSVC._in_closed_form
    monkeypatch.setattr(LinearSVC, "_in_closed_form", lambda *a: seen.append(real(*a)) or seen[-1])
    clone(model).set_params(probability=True).fit(X, y)
    for i in range(0, 60, 7):
        rest = np.arange(60) != i
        value = clone(model).fit(X[rest], y[rest]).decision_function(X[[i]])[0]
        assert seen[0][0][i, 0] == pytest.approx(value, abs=1e-8)


def closed_form_of(model, X, y, **fit):
    """Decision values of samples left out, as the fit of a linear model sees them."""
    seen, real = [], LinearSVC._in_closed_form
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LinearSVC, "_in_closed_form", lambda *a: seen.append(real(*a)) or seen[-1])
        clone(model).set_params(probability=True).fit(X, y, **fit)
    return seen[0]


@pytest.mark.parametrize("how", [{}, {"intercept": "regularised"}, {"fit_intercept": False}])
@pytest.mark.parametrize("C", [0.02, 1.0])
def test_two_classes_in_one_problem_are_a_hinge(C, how):
    """With W_1 = -W_0 = w / 2, Crammer and Singer's machine is that of the hinge and 2 C."""
    X, y = blobs(n=150, classes=2, apart=0.7)
    times = np.random.default_rng(0).integers(1, 3, len(y))
    X, y = np.repeat(X, times, axis=0), np.repeat(y, times)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
    common = {"tol": 1e-10, "max_iter": 100_000, **how}
    one = LinearSVC(C=C, multi_class="crammer_singer", **common)
    other = LinearSVC(C=2 * C, loss="hinge", **common)
    found, moved = closed_form_of(one, X, y, sample_weight=weight)
    expected, support = closed_form_of(other, X, y, sample_weight=weight)
    np.testing.assert_allclose(found, expected, atol=2e-4)
    assert np.mean(moved == support) > 0.97
    assert np.abs(found - one.fit(X, y, weight).decision_function(X)[:, None]).max() > 0.01


@pytest.mark.parametrize("model", [MODELS[6], MODELS[7]], ids=str)
@pytest.mark.parametrize("classes", [2, 4])
def test_closed_form_follows_machines_without_a_sample(model, classes):
    X, y = blobs(n=160, classes=classes, apart=0.5)
    base = clone(model).set_params(tol=1e-7, max_iter=20_000, C=0.3, probability=False)
    found, moved = closed_form_of(base, X, y)
    f = clone(base).fit(X, y).decision_function(X).reshape(len(y), -1)
    exact, ours = [], []
    for i in np.flatnonzero(moved.any(axis=1))[::4]:
        rest = np.arange(len(y)) != i
        lone = clone(base).fit(X[rest], y[rest])
        exact.append(lone.decision_function(X[[i]]).ravel() - f[i])
        ours.append(found[i] - f[i])
    exact, ours = np.ravel(exact), np.ravel(ours)
    assert np.corrcoef(exact, ours)[0, 1] > 0.65
    assert 0.6 < exact @ ours / (ours @ ours) < 1.7


def test_large_problems_of_all_classes_take_folds(monkeypatch):
    X, y = blobs(n=90)
    model = LinearSVC(multi_class="crammer_singer", max_iter=20_000)
    assert closed_form_of(model, X, y) is not None
    settings(monkeypatch, class_span, most_weights=14)
    assert closed_form_of(model, X, y) is None
    settings(monkeypatch, class_span, most_weights=15)
    assert closed_form_of(model, X, y) is not None


@pytest.mark.parametrize("model", [MODELS[k] for k in (0, 2, 4, 7)], ids=str)
def test_log_loss_is_not_worse_than_that_of_scikit_learn(model):
    X, y = load_digits(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    A, B, ya, yb = train_test_split(X, y, train_size=400, random_state=0, stratify=y)
    B, yb = B[:600], yb[:600]
    ours = clone(model).fit(A, ya).predict_proba(B)
    plain = clone(model).set_params(probability=False)
    theirs = CalibratedClassifierCV(plain, ensemble=False, cv=5).fit(A, ya).predict_proba(B)
    assert log_loss(yb, ours) <= 1.05 * log_loss(yb, theirs)


def test_many_samples_take_few_folds(monkeypatch):
    settings(monkeypatch, left_out, for_each_class=50)
    settings(monkeypatch, span, most_features=0)
    X, y = blobs(n=600, classes=2, apart=0.6)
    calls = []
    real = LinearSVC._without
    monkeypatch.setattr(LinearSVC, "_without", lambda *a: calls.append(1) or real(*a))
    model = LinearSVC(penalty="l1", probability=True)
    p = model.fit(X, y).predict_proba(X)
    assert len(calls) == 1
    settings(monkeypatch, left_out, for_each_class=1000)
    whole = model.fit(X, y).predict_proba(X)
    assert len(calls) == 6
    assert np.abs(p - whole).max() < 0.15


def test_the_machine_is_that_without_probabilities():
    X, y = blobs(n=300)
    for model in MODELS:
        plain = clone(model).set_params(probability=False).fit(X, y)
        found = clone(model).fit(X, y)
        np.testing.assert_array_equal(found.decision_function(X), plain.decision_function(X))
        assert found.certificate_ == plain.certificate_


# ---- availability and files ----------------------------------------------------------------------


def test_names_of_methods():
    assert [method_of(p) for p in (False, np.False_, "deprecated")] == [None] * 3
    assert [method_of(p) for p in (True, np.True_, "bent")] == ["bent"] * 3
    assert [method_of(p) for p in ("sigmoid", "isotonic")] == ["sigmoid", "isotonic"]


def test_availability():
    X, y = blobs()
    assert not hasattr(LinearSVC(), "predict_proba")
    assert not hasattr(LinearSVC().fit(X, y), "predict_log_proba")
    with pytest.raises(NotFittedError):
        LinearSVC(probability=True).predict_proba(X)
    with pytest.raises(NotFittedError, match="fit again"):
        LinearSVC().fit(X, y).set_params(probability=True).predict_proba(X)
    with pytest.raises(ValueError, match="isotonic"):
        SVC(probability="isotnic").fit(X, y)
    with pytest.raises(ValueError, match="fit_chunks learns no probabilities"):
        LinearSVC(probability=True).fit_chunks(lambda: [(X, y)])


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_files_keep_probabilities(model, tmp_path):
    X, y = blobs()
    found = clone(model).fit(X, y)
    io.save(found, tmp_path / "m.mm")
    p = found.predict_proba(X)
    np.testing.assert_array_equal(io.load(tmp_path / "m.mm").predict_proba(X), p)


def test_other_formats_say_what_they_cannot_hold(tmp_path):
    X, y = blobs()
    model = SVC(probability="isotonic").fit(X, y)
    with pytest.raises(ValueError, match="sigmoids, and this model has isotonic"):
        io.save_libsvm(model, tmp_path / "m.model")
    with pytest.raises(ValueError, match="LIBLINEAR has no probabilities"):
        io.save_liblinear(LinearSVC(probability=True).fit(X, y), tmp_path / "m.model")


@pytest.mark.parametrize("change", [{"prob_a": np.zeros(1)}, {"prob_b": np.full(3, np.nan)}])
def test_altered_records_are_refused(change):
    from dataclasses import replace

    X, y = blobs()
    model = LinearSVC(probability=True).fit(X, y)
    model.model_ = replace(model.model_, **change)
    with pytest.raises(ValueError, match="altered"):
        model.predict_proba(X)
