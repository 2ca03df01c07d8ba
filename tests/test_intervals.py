"""Regressions with interval=True: against CV+ written out with lone fits, its coverage on real and
synthetic data, weights, storage and files."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import data
from command import run
from maxmargin import SVR, Kernel, LinearSVR, NuSVR, calibration, compact, intervals, io
from maxmargin.estimators._probability import sample_keys
from maxmargin.intervals import Folds
from maxmargin.kernel.held_out import folds_of
from maxmargin.kernel.kernels import Kind
from maxmargin.kernel.model import Problem
from maxmargin.model_selection import SVCCV, SVRCV, LinearSVRCV, svr_path

MODELS = [
    SVR(gamma=0.5, C=10, interval=True),
    SVR(gamma=0.5, C=10, interval=True, random_state=3),
    SVR(gamma=0.5, C=2, loss="squared_epsilon_insensitive", interval=True),
    SVR(gamma=0.5, loss="squared_epsilon_insensitive", solver="newton", interval=True),
    SVR(kernel="linear", C=0.5, interval=True),
    SVR(kernel="poly", degree=2, gamma=0.3, coef0=1.0, interval=True),
    SVR(gamma=2.0, C=np.inf, epsilon=0.2, interval=True),
    NuSVR(gamma=0.5, nu=0.3, interval=True),
    NuSVR(gamma=0.5, C=5, nu=0.8, interval=True),
    LinearSVR(interval=True),
    LinearSVR(epsilon=0.1, loss="squared_epsilon_insensitive", interval=True),
    LinearSVR(C=0.1, intercept="regularised", interval=True, random_state=1),
    LinearSVR(solver="coordinate", max_iter=100_000, tol=1e-8, interval=True),
    LinearSVR(fit_intercept=False, interval=True),
]


def curve(n=80, seed=0):
    """A curve with noise that grows along it, and a second feature that does not matter."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 2))
    noise = (0.1 + 0.4 * (X[:, 0] > 0)) * rng.normal(size=n)
    return X, np.sin(2 * X[:, 0]) + noise


def intervals_of_lone_fits(model, X, y, new, confidence, weight=None):
    """CV+ as it is defined, from machines fitted without each fold, sample by sample."""
    weight = np.ones(len(y)) if weight is None else weight
    folds = folds_of(sample_keys(Kind.RBF, X, model.random_state), np.zeros(len(y), int))
    values, errors = np.empty((len(y), len(new))), np.empty(len(y))
    for fold in np.unique(folds):
        out = folds == fold
        lone = clone(model).set_params(interval=False, tol=1e-8)
        lone.fit(X[~out], y[~out], sample_weight=weight[~out])
        values[out], errors[out] = lone.predict(new), np.abs(y[out] - lone.predict(X[out]))
    need = confidence * (weight.sum() + 1) - 1e-9

    def least(v):
        order = np.argsort(v)
        enough = np.flatnonzero(np.cumsum(weight[order]) >= need)
        return v[order][enough[0]] if len(enough) else np.inf

    upper = [least(column) for column in (values + errors[:, None]).T]
    lower = [-least(column) for column in (errors[:, None] - values).T]
    return np.column_stack([lower, upper])


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_intervals_are_those_of_lone_fits(model):
    X, y = curve()
    new = np.random.default_rng(1).uniform(-3, 3, (50, 2))
    found = clone(model).fit(X, y).predict_interval(new, [0.6, 0.9])
    for interval, confidence in zip(found, (0.6, 0.9), strict=True):
        expected = intervals_of_lone_fits(model, X, y, new, confidence)
        np.testing.assert_allclose(interval, expected, atol=1e-5)
    assert (found[1, :, 0] <= found[0, :, 0]).all()  # greater confidence, wider
    assert (found[1, :, 1] >= found[0, :, 1]).all()


@pytest.mark.parametrize("model", [MODELS[0], MODELS[8], MODELS[9]], ids=str)
def test_weighted_intervals_are_those_of_lone_fits(model):
    X, y = curve()
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    found = clone(model).fit(X, y, sample_weight=weight).predict_interval(X[:20], 0.8)
    expected = intervals_of_lone_fits(model, X, y, X[:20], 0.8, weight)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_large_problems():
    """They are solved in rounds, to a tolerance: errors and values of both fits are within it."""
    X, y = curve(n=1500)
    model = SVR(gamma=0.5, C=10, interval=True).fit(X, y)
    new = X[:30] + 0.01
    expected = intervals_of_lone_fits(model, X, y, new, 0.9)
    np.testing.assert_allclose(model.predict_interval(new), expected, atol=4 * model.tol)


@pytest.mark.parametrize("seed", range(60))
def test_quantiles_by_bisection(seed):
    """The bisection in the folds finds what sorting all f + e finds, ties included."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, rng.integers(1, 6))
    error, weight = rng.exponential(size=sizes.sum()), rng.uniform(0.2, 3, sizes.sum())
    values = rng.normal(size=(7, len(sizes)))
    if seed % 2:
        error, values, weight = np.round(error, 1), np.round(values, 1), np.ceil(weight)
    fold = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((error, fold))
    error, weight = error[order], weight[order]
    folds = Folds(None, error, weight, np.cumsum(sizes))
    confidence = rng.uniform(0.05, 0.99)
    found = intervals._quantile(folds, values, confidence)
    for row, t in zip(values, found, strict=True):
        v = np.sort(row[fold] + error)
        need = confidence * (weight.sum() + 1)
        enough = [s for s in v if weight[row[fold] + error <= s + 1e-9].sum() >= need - 1e-9]
        assert t == pytest.approx(min(enough, default=np.inf), abs=1e-9)


# ---- coverage ------------------------------------------------------------------------------------


def coverage(interval, y):
    return np.mean((interval[:, 0] <= y) & (y <= interval[:, 1]))


def mean_coverages(draw, model, confidence, repetitions):
    """The mean over fits of the share of new targets inside, and the same for the errors that the
    machine makes on its own samples, to which no folds belong."""
    found, naive = [], []
    for seed in range(repetitions):
        X, y, X_new, y_new = draw(seed)
        model.fit(X, y)
        found.append([coverage(i, y_new) for i in model.predict_interval(X_new, confidence)])
        error, new = np.abs(y - model.predict(X)), np.abs(y_new - model.predict(X_new))
        naive.append([np.mean(new <= np.quantile(error, c)) for c in confidence])
    return np.mean(found, axis=0), np.mean(naive, axis=0)


def noisy_curve(seed):
    X, y = curve(200, seed)
    return X[:100], y[:100], X[100:], y[100:]


@pytest.mark.parametrize("model", [SVR(gamma=0.5, interval=True), NuSVR(interval=True)], ids=str)
def test_coverage_of_noise_that_depends_on_x(model):
    """The standard error of these means is 0.005: coverage is the confidence, or a little more."""
    confidence = np.array([0.7, 0.9])
    found, _ = mean_coverages(noisy_curve, model, confidence, 90)
    assert (found >= confidence - 0.015).all()
    assert (found <= confidence + 0.045).all()


def test_coverage_of_a_machine_that_overfits():
    """Errors on samples that it has seen are far too small; out of fold they are not."""
    model = SVR(C=100, gamma=5.0, epsilon=0.01, interval=True)
    confidence = np.array([0.7, 0.9])
    found, naive = mean_coverages(noisy_curve, model, confidence, 40)
    assert (found >= confidence - 0.015).all()
    assert (naive < confidence - 0.2).all()


def test_coverage_is_of_the_average_sample():
    """Where noise depends on x, quiet places are covered too often and noisy ones too rarely."""
    X, y = curve(2000)
    model = SVR(C=10, gamma=1.0, interval=True).fit(X[:500], y[:500])
    interval, y, noisy = model.predict_interval(X[500:]), y[500:], X[500:, 0] > 0
    assert coverage(interval[~noisy], y[~noisy]) > 0.97
    assert coverage(interval[noisy], y[noisy]) < 0.89


@pytest.mark.parametrize("name", ["diabetes", "housing"])
def test_coverage_on_real_data(name):
    X, y = data.load(name, 4000)

    def draw(seed):
        order = np.random.default_rng(seed).permutation(len(y))
        train, new = order[:200], order[200:440]
        return X[train], y[train], X[new], y[new]

    confidence = np.array([0.8, 0.9])
    model = SVR(C=float(np.std(y)), epsilon=0.1 * float(np.std(y)), interval=True)
    found, _ = mean_coverages(draw, model, confidence, 40)
    assert (found >= confidence - 0.012).all()
    assert (found <= confidence + 0.03).all()


# ---- what they do not depend on ------------------------------------------------------------------


@pytest.mark.parametrize("cls", [SVR, NuSVR, LinearSVR])
def test_the_machine_is_that_without_intervals(cls):
    X, y = curve(1300)
    plain, model = cls().fit(X, y), cls(interval=True).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    assert model.certificate_ == plain.certificate_
    assert plain.model_.folds is None


@pytest.mark.parametrize("model", [SVR(gamma=0.5, interval=True), LinearSVR(interval=True)])
def test_weights_order_and_storage(model):
    X, y = curve()
    new = np.random.default_rng(1).uniform(-3, 3, (30, 2))
    weight = np.random.default_rng(2).integers(0, 3, len(y))
    expected = clone(model).fit(X, y, sample_weight=weight).predict_interval(new)
    copied = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(copied.predict_interval(new), expected, atol=1e-7)
    order = np.random.default_rng(3).permutation(len(y))
    shuffled = clone(model).fit(X[order], y[order], sample_weight=weight[order])
    np.testing.assert_allclose(shuffled.predict_interval(new), expected, atol=1e-7)
    thin = clone(model).fit(sparse.csr_matrix(X), y, sample_weight=weight)
    np.testing.assert_allclose(thin.predict_interval(sparse.csr_matrix(new)), expected, atol=1e-7)
    other = clone(model).set_params(random_state=1).fit(X, y, sample_weight=weight)
    assert np.abs(other.predict_interval(new) - expected).max() > 1e-3


def test_kernels_of_the_user():
    X, y = curve()
    new = np.random.default_rng(1).uniform(-3, 3, (30, 2))
    given = SVR(kernel="precomputed", interval=True).fit(rbf_kernel(X, gamma=0.5), y)
    found = given.predict_interval(rbf_kernel(new, X, gamma=0.5))
    called = SVR(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.5), interval=True).fit(X, y)
    named = SVR(gamma=0.5, interval=True).fit(X, y)
    np.testing.assert_allclose(called.predict_interval(new), named.predict_interval(new), atol=1e-7)
    # folds of a matrix go by the position of its rows: about as wide
    widths = [np.ptp(interval, axis=1).mean() for interval in (found, named.predict_interval(new))]
    assert widths[0] == pytest.approx(widths[1], rel=0.2)


# ---- messages and limits -------------------------------------------------------------------------


def test_without_intervals():
    X, y = curve()
    model = SVR().fit(X, y)
    for later in (model, model.set_params(interval=True)):
        with pytest.raises(NotFittedError, match="set interval=True and fit it again"):
            later.predict_interval(X)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        SVR(interval=True).predict_interval(X)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 90, "0.9", [], [[0.9]], [0.5, np.nan], None])
def test_confidence_that_is_none(confidence):
    X, y = curve(20)
    model = SVR(interval=True).fit(X, y)
    with pytest.raises(ValueError, match="confidence must be a number between 0 and 1"):
        model.predict_interval(X, confidence)


def test_too_few_samples_for_a_confidence():
    X, y = curve(20)
    model = SVR(interval=True).fit(X, y)
    with pytest.warns(UserWarning, match=r"confidence=0\.99 needs .* weight 99, .* had 20"):
        found = model.predict_interval(X[:5], [0.9, 0.99])
    assert np.isfinite(found[0]).all()
    assert (found[1] == [-np.inf, np.inf]).all()
    assert np.isfinite(model.predict_interval(X[:5], 20 / 21)).all()  # the greatest that is finite


def test_low_confidences_give_no_crossed_intervals():
    X, y = curve(40)
    found = SVR(interval=True).fit(X, y).predict_interval(10 * X, [0.01, 0.1, 0.3, 0.5])
    assert (found[..., 0] <= found[..., 1]).all()


def test_equal_samples():
    with pytest.raises(ValueError, match="n_samples = 3, all equal"):
        SVR(interval=True).fit(np.ones((3, 2)), np.arange(3.0))
    model = SVR(interval=True).fit(np.array([[0.0], [0.0], [1.0]]), [0.0, 1.0, 2.0])
    assert len(model.model_.folds.end) == 2


@pytest.mark.parametrize("cls", [SVR, NuSVR])
@pytest.mark.parametrize("steps", [20, 400])
def test_a_limit_that_ends_the_folds(cls, steps):
    """A machine that ended early is damped as that of all samples is: intervals stay sensible."""
    X, y = curve(1500)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model = cls(C=1000, gamma=5.0, max_iter=steps, interval=True).fit(X, y)
    assert any(issubclass(one.category, ConvergenceWarning) for one in seen)
    interval = model.predict_interval(X)
    assert np.ptp(interval, axis=1).max() < 3 * np.ptp(y)
    assert coverage(interval, y) > 0.8


def test_altered_intervals_are_refused():
    X, y = curve()
    model = SVR(interval=True).fit(X, y)
    model.predict_interval(X)
    model.model_.folds.machine.coef[0, 0] = np.nan
    with pytest.raises(ValueError, match="altered"):
        model.predict_interval(X)


# ---- elsewhere -----------------------------------------------------------------------------------


def test_linear_searches_and_chunks():
    X, y = curve()
    search = LinearSVRCV(Cs=[0.1, 1], epsilons=[0.1], estimator=LinearSVR(interval=True)).fit(X, y)
    lone = LinearSVR(**search.best_params_, interval=True).fit(X, y)
    np.testing.assert_allclose(search.predict_interval(X), lone.predict_interval(X), atol=1e-6)
    with pytest.raises(ValueError, match="fit_chunks learns no intervals"):
        lone.fit_chunks(lambda: [(X, y)])
    lone.model_.folds.error[0] = np.nan
    assert np.isfinite(lone.predict(X)).all()
    with pytest.raises(ValueError, match="altered"):
        lone.predict_interval(X)


def test_searches_and_paths():
    """The best model of a search has intervals; machines of folds and of a path have none."""
    X, y = curve()
    search = SVRCV([1, 10], [0.5], [0.1], estimator=SVR(interval=True)).fit(X, y)
    lone = SVR(**search.best_params_, interval=True).fit(X, y)
    found = search.best_estimator_.predict_interval(X)
    np.testing.assert_allclose(found, lone.predict_interval(X), atol=1e-6)
    np.testing.assert_array_equal(search.predict_interval(X), found)
    search.set_params(scale="standard").fit(X, y)
    scaled = search.best_estimator_[0].transform(X)
    expected = search.best_estimator_[-1].predict_interval(scaled, 0.7)
    np.testing.assert_array_equal(search.predict_interval(X, 0.7), expected)
    with pytest.raises(NotFittedError, match="interval=True"):
        SVRCV([1], [0.5], [0.1]).fit(X, y).predict_interval(X)
    assert not hasattr(SVCCV(), "predict_interval")
    path = svr_path(X, y, [0.1, 1], estimator=SVR(interval=True))
    with pytest.raises(NotFittedError):
        path.models[0].predict_interval(X)


@pytest.mark.parametrize(
    "model",
    [MODELS[0], MODELS[8], SVR(kernel="linear", interval=True), LinearSVR(interval=True)],
    ids=str,
)
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_files_of_ours(model, storage, tmp_path):
    X, y = curve()
    model = clone(model).fit(storage(X), y)
    io.save(model, tmp_path / "m.mm")
    again = io.load(tmp_path / "m.mm")
    for confidence in (0.5, 0.9):
        np.testing.assert_array_equal(
            again.predict_interval(storage(X), confidence),
            model.predict_interval(storage(X), confidence),
        )


@pytest.mark.parametrize(
    "change",
    [
        {"error": lambda e: e[::-1].copy()},
        {"error": lambda e: e[:-1].copy()},
        {"weight": lambda w: -w},
        {"end": lambda e: e[::-1].copy()},
        {"end": lambda e: e.astype(float)},
        {"machine": lambda m: replace(m, kernel=Kernel.rbf(0.1))},
        {"machine": lambda m: replace(m, coef=m.coef[:-1].copy())},
        {"machine": lambda m: replace(m, problem=Problem.NU_SVR)},
        {"machine": lambda m: m.coef},
    ],
)
def test_crafted_files(change, tmp_path):
    X, y = curve()
    model = SVR(gamma=0.5, interval=True).fit(X, y)
    folds = model.model_.folds
    changed = {name: how(getattr(folds, name)) for name, how in change.items()}
    model.model_ = replace(model.model_, folds=folds._replace(**changed))
    with pytest.raises(ValueError, match=r"altered|wrong|inconsistent"):
        io.save(model, tmp_path / "m.mm")


def test_files_of_libsvm_have_the_noise_model(tmp_path):
    X, y = curve()
    model = SVR(gamma=0.5, interval=True).fit(X, y)
    error = model.model_.folds.error
    assert model.model_.prob_a[0] == pytest.approx(calibration.laplace_scale(error), rel=1e-12)
    io.save_libsvm(model, tmp_path / "m.model")
    assert (
        f"probA {model.model_.prob_a.tolist()[0]!r}"
        in (tmp_path / "m.model").read_text().splitlines()
    )
    again = io.load(tmp_path / "m.model")
    np.testing.assert_array_equal(again.model_.prob_a, model.model_.prob_a)
    with pytest.raises(NotFittedError, match="interval=True"):
        again.predict_interval(X)


def test_a_compact_model_has_the_intervals_of_the_model():
    X, y = curve()
    model = SVR(gamma=0.5, interval=True).fit(X, y)
    small = compact(model, max_support_vectors=20)
    np.testing.assert_array_equal(small.predict_interval(X), model.predict_interval(X))


def test_the_noise_model_counts_weights():
    X, y = curve()
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    weighted = SVR(gamma=0.5, interval=True).fit(X, y, sample_weight=weight)
    copied = SVR(gamma=0.5, interval=True).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.model_.prob_a, copied.model_.prob_a, rtol=1e-6)


def test_weighted_scale_is_that_of_copies():
    error, weight = np.array([0.1, 0.2, 0.3, 9.0]), np.array([3, 2, 5, 1])
    found = calibration.laplace_scale(error, weight)
    assert found == pytest.approx(calibration.laplace_scale(np.repeat(error, weight)))
    assert found < 0.3  # 9 is beyond five standard deviations


def test_commands(tmp_path, monkeypatch):
    """train --probability learns intervals, predict --interval writes them, also of a pipeline."""
    monkeypatch.chdir(tmp_path)
    X, y = (np.round(part, 3) for part in curve(60))
    io.dump_svmlight(X, y, "data.svm")
    run("train", "data.svm", "m.mm", "--problem", "nu-svr", "--probability")
    run("predict", "data.svm", "m.mm", "out", "--interval", "0.8")
    model = io.load("m.mm")
    expected = np.column_stack([model.predict(X), model.predict_interval(X, 0.8)])
    np.testing.assert_array_equal(np.loadtxt("out"), expected)
    found = json.loads(run("predict", "data.svm", "m.mm", "--interval", "0.8", "--json").stdout)
    np.testing.assert_array_equal(found["intervals"], expected[:, 1:])
    scaled = make_pipeline(MaxAbsScaler(), SVR(interval=True)).fit(sparse.csr_matrix(X), y)
    io.save(scaled, "p.mm")
    run("predict", "data.svm", "p.mm", "out", "--interval", "0.5")
    expected = scaled[-1].predict_interval(scaled[0].transform(sparse.csr_matrix(X)), 0.5)
    np.testing.assert_allclose(np.loadtxt("out")[:, 1:], expected, rtol=1e-12)
    run("train", "data.svm", "plain.mm", "--problem", "svr")
    for name, words in (("m.mm", ["--probability"]), ("plain.mm", ["--interval", "0.9"])):
        done = run("predict", "data.svm", name, "out", *words, code=1)
        assert "train it with --probability" in done.stderr
    done = run("predict", "data.svm", "m.mm", "--interval", "90", code=1)
    assert "between 0 and 1" in done.stderr
    done = run("predict", "data.svm", "m.mm", "--interval", "0.9", "--decision", code=1)
    assert "give one of them" in done.stderr
