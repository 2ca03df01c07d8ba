"""SVC and NuSVC with probability=True: against lone fits without each fold, scikit-learn's
calibration, and the guarantee that the most probable class is the label."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from command import run
from helpers import settings
from maxmargin import SVC, NuSVC, calibration, io
from maxmargin.estimators._probability import sample_keys
from maxmargin.io import dump_svmlight
from maxmargin.kernel import left_out
from maxmargin.kernel.held_out import NEVER, folds_of, repaired, without
from maxmargin.kernel.kernels import Kind
from maxmargin.kernel.problems import c_svc, hard_margin, nu_svc
from maxmargin.model_selection import SVCCV, leave_one_out

sys.path.insert(0, str(Path(__file__).parent / "hunt"))
from labels import trial


def blobs(n=90, classes=3, apart=1.5, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(n, 4)) + apart * rng.normal(size=(classes, 4))[y], y


def sigmoids_of_lone_fits(model, X, y, weight=None):
    """A and B of every pair, from machines fitted on the other folds alone."""
    model = clone(model).set_params(probability=False)
    weight = np.ones(len(y)) if weight is None else weight
    folds = folds_of(sample_keys(Kind.RBF, X, model.random_state), y)
    found, classes = [], np.unique(y)
    for i, first in enumerate(classes):
        for second in classes[i + 1 :]:
            rows = np.flatnonzero((y == first) | (y == second))
            values = np.empty(len(rows))
            for fold in np.unique(folds[rows]):
                out = folds[rows] == fold
                a, b = rows[~out], rows[out]
                lone = clone(model).fit(X[a], y[a], sample_weight=weight[a])
                values[out] = -lone.decision_function(X[b])
            sigmoid = calibration.fit_sigmoid(values, y[rows] == first, weight[rows], len(classes))
            found.append(sigmoid)
    return np.array(found).T


@pytest.mark.parametrize(
    "model",
    [
        SVC(gamma=0.2),
        SVC(gamma=0.2, C=100, random_state=3),
        SVC(gamma=0.2, loss="squared_hinge"),
        SVC(gamma=0.2, loss="squared_hinge", solver="newton"),
        SVC(kernel="linear", C=0.1),
        SVC(gamma=1.0, C=np.inf),
        NuSVC(gamma=0.2, nu=0.3),
        NuSVC(gamma=0.2, nu=0.9),
    ],
    ids=str,
)
@pytest.mark.parametrize("classes", [2, 3])
def test_sigmoids_are_those_of_lone_fits(model, classes, monkeypatch):
    settings(monkeypatch, left_out, few=100)
    X, y = blobs(classes=classes)
    a, b = sigmoids_of_lone_fits(model, X, y)
    found = clone(model).set_params(probability=True).fit(X, y)
    np.testing.assert_allclose(found.probA_, a, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(found.probB_, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("model", [SVC(gamma=0.2), NuSVC(gamma=0.2, nu=0.4)], ids=str)
def test_weighted_sigmoids_are_those_of_lone_fits(model, monkeypatch):
    settings(monkeypatch, left_out, few=100)
    X, y = blobs(classes=2)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    a, b = sigmoids_of_lone_fits(model, X, y, weight)
    found = clone(model).set_params(probability=True).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(found.probA_, a, rtol=1e-5)
    np.testing.assert_allclose(found.probB_, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "model", [SVC(C=10, gamma=0.2), NuSVC(nu=0.8, gamma=0.2), SVC(loss="squared_hinge", gamma=0.2)]
)
@pytest.mark.parametrize("n", [300, 1300])
def test_sigmoids_of_folds_of_large_problems(model, n, monkeypatch):
    """Where there is no closed form; beyond 1,024 samples they are solved to a tolerance."""
    settings(monkeypatch, left_out, most_active=1)
    X, y = blobs(n=n, classes=2, apart=1.0)
    a, b = sigmoids_of_lone_fits(model, X, y)
    found = clone(model).set_params(probability=True).fit(X, y)
    np.testing.assert_allclose(found.probA_, a, rtol=0.01)
    np.testing.assert_allclose(found.probB_, b, atol=0.01)


# ---- leave-one-out in closed form ----------------------------------------------------------------


def left_out_values(model, X, y, weight=None):
    """Decision values of the samples left out, as the fit sees them."""
    found = []
    real = left_out.leave_out

    def seen(*given):
        result = real(*given)
        found.append(result[0])
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(left_out, "leave_out", seen)
        clone(model).set_params(probability=True).fit(X, y, sample_weight=weight)
    return found[0]


def test_closed_form_where_no_variable_reaches_a_bound():
    """All samples of a squared hinge with little C are support vectors, with and without one."""
    X, y = blobs(n=150, classes=2, apart=0.2)
    model = SVC(C=0.01, gamma=0.3, loss="squared_hinge")
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
    found = left_out_values(model, X, y, weight)
    for i in range(0, 150, 7):
        rest = np.arange(150) != i
        lone = clone(model).fit(X[rest], y[rest], sample_weight=weight[rest])
        assert found[i] == pytest.approx(lone.decision_function(X[[i]])[0], abs=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_closed_form_against_machines_without_a_sample(C, kernel):
    X, y = blobs(n=200, classes=2, apart=1.0)
    model = SVC(C=C, kernel=kernel, gamma=0.2).fit(X, y)
    exact = leave_one_out(model, X, y).decision_values
    found = left_out_values(model, X, y)
    assert np.corrcoef(found, exact)[0, 1] > 0.98
    outside = np.isin(np.arange(200), model.support_, invert=True)
    np.testing.assert_allclose(found[outside], exact[outside], atol=1e-7)
    ours, theirs = (calibration.fit_sigmoid(-f, y == 0) for f in (found, exact))
    np.testing.assert_allclose(ours, theirs, rtol=0.1, atol=0.05)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_copies_are_left_out_together(loss):
    X, y = blobs(n=150, classes=2)
    times = np.random.default_rng(1).integers(1, 4, len(y))
    model = SVC(C=3, gamma=0.3, loss=loss)
    weighted = left_out_values(model, X, y, times)
    copied = left_out_values(model, np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(copied, np.repeat(weighted, times), atol=1e-8)


def test_a_part_of_many_samples_represents_them(monkeypatch):
    X, y = blobs(n=1500, classes=2, apart=0.7)
    keep = (y == 0) | (np.arange(1500) % 3 == 0)
    X, y = X[keep], y[keep]
    model = SVC(gamma=0.2, probability=True)
    whole = model.fit(X, y).predict_proba(X)
    settings(monkeypatch, left_out, for_each_class=100, others=120)
    values = left_out_values(model, X, y)
    support = np.isin(np.arange(len(y)), model.support_)
    for c in (0, 1):
        assert np.isfinite(values[support & (y == c)]).sum() == 100
        assert np.isfinite(values[~support & (y == c)]).sum() == 120
    part = model.fit(X, y).predict_proba(X)
    assert np.abs(part - whole).max() < 0.1
    assert part.mean(axis=0) == pytest.approx(whole.mean(axis=0), abs=0.03)
    settings(monkeypatch, left_out, most_active=1)
    values = left_out_values(model, X, y)
    assert 200 <= np.isfinite(values).sum() < 0.5 * len(y)


@pytest.mark.parametrize("estimator", [SVC(), NuSVC(nu=0.3)], ids=str)
@pytest.mark.parametrize("classes", [2, 4])
def test_the_machine_is_that_without_probabilities(estimator, classes):
    X, y = blobs(n=1200, classes=classes)
    plain = clone(estimator).fit(X, y)
    model = clone(estimator).set_params(probability=True).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
    assert model.certificate_ == plain.certificate_


# ---- the label is the most probable class --------------------------------------------------------


def test_the_most_probable_class_is_the_label():
    """tests/hunt/labels.py tries thousands."""
    seen = [trial(seed) for seed in range(300)]
    assert not [(seed, one.wrong) for seed, one in enumerate(seen) if one.wrong]
    fits = sum(not one.refused for one in seen)
    changed, ties = sum(one.changed for one in seen), sum(one.tie for one in seen)
    assert np.all([fits > 260, changed > 75, ties > 8])  # or the test says nothing


def test_probabilities_never_contradict_the_score():
    rng = np.random.default_rng(0)
    X, noise = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    for y in (noise, (X[:, 0] + 0.5 * rng.normal(size=60) > 0.3).astype(int)):
        model = SVC(probability=True).fit(X, y)
        asked = rng.normal(size=(500, 3))
        order = np.argsort(model.decision_function(asked))
        assert (np.diff(model.predict_proba(asked)[order, 1]) >= 0).all()


def test_a_class_without_weight_has_no_probability():
    X, y = blobs(classes=3)
    model = SVC(probability=True).fit(X, y, sample_weight=(y != 1) * 1.0)
    two = SVC(probability=True).fit(X[y != 1], y[y != 1])
    p = model.predict_proba(X)
    assert p[:, 1].max() < 1e-6
    np.testing.assert_allclose(p[:, [0, 2]], two.predict_proba(X), atol=1e-5)


def test_classes_of_one_sample():
    """It is never held out; a class of copies of one sample neither."""
    X, y = np.array([[0.0], [1.0]] * 20), np.array([0, 1] * 20)
    p = SVC(probability=True).fit(X, y).predict_proba(X)
    assert p[[0, 1], [0, 1]].min() > 0.9
    X = np.array([[0.0], [0.1], [0.2], [5.0]])
    p = SVC(probability=True).fit(X, [0, 0, 0, 1]).predict_proba(X)
    assert p[[3, 0], [1, 0]].min() > 0.5


# ---- against scikit-learn ------------------------------------------------------------------------


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits])
@pytest.mark.parametrize("model", [SVC(), NuSVC(nu=0.1)], ids=str)
def test_log_loss_is_not_worse_than_that_of_scikit_learn(load, model):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    A, B, ya, yb = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
    if len(A) > 500:
        A, ya = A[:500], ya[:500]
    ours = clone(model).set_params(probability=True).fit(A, ya).predict_proba(B)
    theirs = CalibratedClassifierCV(model, ensemble=False).fit(A, ya).predict_proba(B)
    assert log_loss(yb, ours) <= 1.1 * log_loss(yb, theirs)


# ---- folds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [90, 200])
def test_order_and_copies_do_not_matter(n, monkeypatch):
    """Nor sparse storage, nor float32; the seed of the folds of few samples does."""
    settings(monkeypatch, left_out, few=64)
    X, y = blobs(n=n)
    X = X.astype(np.float32)
    base = SVC(probability=True, gamma=0.3, random_state=5).fit(X.astype(float), y)
    p = base.predict_proba(X.astype(float))
    turn = np.random.default_rng(0).permutation(len(y))
    np.testing.assert_allclose(
        clone(base).fit(X[turn].astype(float), y[turn]).predict_proba(X.astype(float)), p, atol=1e-9
    )
    times = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = clone(base).fit(X, y, sample_weight=times).predict_proba(X)
    copied = clone(base).fit(np.repeat(X, times, axis=0), np.repeat(y, times)).predict_proba(X)
    np.testing.assert_allclose(weighted, copied, atol=1e-9)
    rare = sparse.csr_matrix(X * (np.abs(X) > 0.7))
    np.testing.assert_allclose(
        clone(base).fit(rare, y).probA_, clone(base).fit(rare.toarray(), y).probA_, rtol=1e-6
    )
    np.testing.assert_array_equal(clone(base).fit(X.astype(float), y).predict_proba(X), p)
    other = clone(base).set_params(random_state=6).fit(X, y)
    assert (np.abs(other.probA_ - base.probA_).max() > 1e-3) == (n == 90)


def test_folds_are_stratified_and_keep_copies_together():
    rng = np.random.default_rng(0)
    key, label = rng.integers(0, 200, 1000), rng.integers(0, 3, 1000)
    label[0], key[0] = 3, 7
    folds = folds_of(key, label)
    assert folds[0] == NEVER
    for c in range(3):
        own = label == c
        for value in np.unique(key[own]):
            assert len(np.unique(folds[own & (key == value)])) == 1
        count = [len(np.unique(key[own & (folds == fold)])) for fold in range(5)]
        assert max(count) - min(count) <= 1
        assert min(count) > 0


def test_kernel_functions_and_kernel_matrices():
    """A function of features has their folds; rows of a matrix and objects go by position."""
    X, y = blobs(classes=3)
    named = SVC(gamma=0.3, probability=True).fit(X, y)
    p = named.predict_proba(X)
    function = SVC(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.3), probability=True).fit(X, y)
    np.testing.assert_allclose(function.predict_proba(X), p, atol=1e-6)
    K = rbf_kernel(X, gamma=0.3)
    given = SVC(kernel="precomputed", probability=True).fit(K, y)
    assert log_loss(y, given.predict_proba(K)) < 1.2 * log_loss(y, p)
    listed = SVC(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.3), probability=True)
    objects = [row.tolist() for row in X]
    np.testing.assert_allclose(
        listed.fit(objects, y).predict_proba(objects), given.predict_proba(K), atol=1e-6
    )


@pytest.mark.parametrize("seed", range(30))
def test_problems_without_a_fold_start_feasible(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 40))
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    y[:4] = 1, 1, -1, -1
    out = rng.random(n) < 0.3
    out[:4] = False
    C = rng.uniform(0.5, 2, n)
    nu = 0.9 * 2 * min(C[y > 0].sum(), C[y < 0].sum()) / C.sum()
    for problem in (c_svc(y, C), c_svc(y, C, squared=True), nu_svc(y, C, nu), hard_margin(y)):
        part = without(problem, out)
        guess = np.clip(rng.normal(size=n), problem.lower, problem.upper)
        b = repaired(part, guess)
        fixed = out[part.row]
        np.testing.assert_array_equal(b, np.clip(b, part.lower, part.upper))
        assert not b[fixed].any()
        for g in range(part.groups):
            own = part.group == g
            assert b[own].sum() == pytest.approx(part.start[own].sum(), abs=1e-12)


# ---- availability, limits, files -----------------------------------------------------------------


def test_availability():
    X, y = blobs(classes=3)
    for plain in (SVC(), SVC(probability="deprecated"), SVC().fit(X, y)):
        assert not hasattr(plain, "predict_proba")
        assert not hasattr(plain, "predict_log_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        _ = SVC().predict_proba
    with pytest.raises(NotFittedError):
        SVC(probability=True).predict_proba(X)
    with pytest.raises(NotFittedError, match="fit again"):
        SVC().fit(X, y).set_params(probability=True).predict_proba(X)
    two = SVC(probability=True, multiclass="ovr").fit(X[y < 2], y[y < 2])
    np.testing.assert_array_equal(np.log(two.predict_proba(X)), two.predict_log_proba(X))
    assert len(SVC().fit(X, y).probA_) == 0


def test_a_search_fits_probabilities_of_the_best_model_alone():
    X, y = blobs(classes=2)
    search = SVCCV(Cs=[1, 10], gammas=[0.1], estimator=SVC(probability=True)).fit(X, y)
    p = search.best_estimator_.predict_proba(X)
    lone = SVC(probability=True, gamma=0.1, C=search.best_params_["C"]).fit(X, y)
    np.testing.assert_array_equal(p, lone.predict_proba(X))


def test_limits_leave_a_usable_model():
    X, y = blobs(n=300, classes=3)
    for limit in ({"time_limit": 0.0}, {"max_iter": 1}):
        with pytest.warns(ConvergenceWarning):
            model = SVC(probability=True, **limit).fit(X, y)
        p = model.predict_proba(X)
        np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))


@pytest.mark.parametrize("how", [True, "sigmoid"])
@pytest.mark.parametrize("classes", [2, 3])
def test_files_keep_probabilities(classes, how, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = blobs(classes=classes)
    model = SVC(probability=how, gamma=0.3).fit(X, y)
    io.save(model, tmp_path / "m.mm")
    io.save_libsvm(model, tmp_path / "m.model")
    p = model.predict_proba(X)
    theirs = clone(model).set_params(probability="sigmoid").fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(io.load(tmp_path / "m.mm").predict_proba(X), p)
    loaded = io.load_libsvm(tmp_path / "m.model").predict_proba(X)
    np.testing.assert_allclose(loaded, theirs, atol=1e-9)  # its files hold Platt's sigmoids
    dump_svmlight(X, y, tmp_path / "data.svm")
    for name, expected in (("m.mm", p), ("m.model", theirs)):
        run("svm-predict", "-b", "1", "-q", "data.svm", name, "out")
        head, *lines = (tmp_path / "out").read_text().splitlines()
        assert head.split() == ["labels", *map(str, range(classes))]
        table = np.array([line.split() for line in lines], float)
        same = table[:, 0] == model.predict(X)  # LIBSVM's labels are its most probable classes
        assert same.all() if name == "m.mm" else same.mean() > 0.9
        np.testing.assert_allclose(table[same, 1:], expected[same], atol=1e-4)
        run("predict", "data.svm", name, "out", "--probability")
        table = np.loadtxt("out")
        np.testing.assert_array_equal(table[:, 0], model.predict(X))
        np.testing.assert_allclose(table[:, 1:], expected, atol=1e-4)


def test_predict_refuses_probabilities_that_were_not_learnt(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = blobs(classes=2)
    io.save(SVC().fit(X, y), "plain.mm")
    dump_svmlight(X, y, "data.svm")
    found = run("predict", "data.svm", "plain.mm", "--probability", code=1)
    assert "train it with --probability" in found.stderr
