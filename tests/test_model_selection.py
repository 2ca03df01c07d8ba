"""Whole-grid searches: the scores of GridSearchCV, whatever is shared; limits; bad input."""

import os
import signal
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from maxmargin import SVC, SVR, Kernel, NuSVC, NuSVR, OneClassSVM
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.model_selection import SVCCV, SVRCV, NuSVCCV, NuSVRCV, OneClassSVMCV
from maxmargin.monitor import Monitor

EXACT = 1e-6
"""A tolerance at which two solutions give the same votes."""


def two_classes(n=300, seed=0):
    return make_classification(
        n, 6, n_informative=4, n_redundant=0, flip_y=0.15, class_sep=0.7, random_state=seed
    )


def regression(n=250):
    X, y = make_regression(n, 5, noise=20, random_state=1)
    return X, y / y.std()


def scores(results, names):
    """The scores of every fold, by parameters."""
    splits = sum(name.startswith("split") and name.endswith("test_score") for name in results)
    table = np.column_stack([results[f"split{k}_test_score"] for k in range(splits)])
    return {
        tuple(one[name] for name in names): row
        for one, row in zip(results["params"], table, strict=True)
    }


def same_scores(search, X, y, grid, prefix="", fit=None, **options):
    """Compare with GridSearchCV on the same candidates; return both."""
    base = search.estimator
    if search.scale is not None:
        scaler = {"standard": StandardScaler(), "minmax": MinMaxScaler()}[search.scale]
        base = Pipeline([("scale", scaler), ("machine", base)])
    theirs = GridSearchCV(
        base, {prefix + k: v for k, v in grid.items()}, cv=search.cv, scoring=search.scoring
    ).fit(X, y, **(fit or {}))
    search.fit(X, y, **options)
    ours = scores(search.cv_results_, list(grid))
    assert ours.keys() == scores(theirs.cv_results_, [prefix + k for k in grid]).keys()
    for key, values in scores(theirs.cv_results_, [prefix + k for k in grid]).items():
        np.testing.assert_allclose(ours[key], values, rtol=1e-5, atol=1e-12, err_msg=str(key))
    return search, theirs


C_GAMMA = {"C": [0.1, 3.0, 30.0, 100.0], "gamma": [0.05, 0.5, 5.0]}
"""Enough values of C that kernel values are stored."""


@pytest.mark.parametrize("n", [300, 1400], ids=["small", "large"])
def test_scores_are_those_of_grid_search(n):
    X, y = two_classes(n)
    search = SVCCV(C_GAMMA["C"], C_GAMMA["gamma"], cv=3, estimator=SVC(tol=EXACT))
    ours, theirs = same_scores(search, X, y, C_GAMMA)
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    assert list(ours.cv_results_["rank_test_score"]) == list(theirs.cv_results_["rank_test_score"])
    assert ours.certificate_.status == "optimal"
    np.testing.assert_array_equal(ours.predict(X), theirs.best_estimator_.predict(X))


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_several_classes(multiclass):
    X, y = load_iris(return_X_y=True)
    estimator = SVC(tol=EXACT, multiclass=multiclass)
    same_scores(SVCCV(C_GAMMA["C"], C_GAMMA["gamma"], estimator=estimator), X, y, C_GAMMA)


@pytest.mark.parametrize("scale", ["standard", "minmax"])
def test_scaling_happens_inside_each_fold(scale):
    X, y = two_classes()
    X = X * [1, 10, 100, 0.1, 3, 7] + 5
    search = SVCCV(C_GAMMA["C"], C_GAMMA["gamma"], cv=3, scale=scale, estimator=SVC(tol=EXACT))
    ours, _ = same_scores(search, X, y, C_GAMMA, prefix="machine__")
    assert isinstance(ours.best_estimator_, Pipeline)
    np.testing.assert_array_equal(ours.predict(X), ours.best_estimator_.predict(X))


def test_sparse_data_and_scaling_without_a_shift():
    X, y = two_classes()
    X = sparse.csr_matrix(np.where(np.abs(X) > 1, X, 0.0))
    same_scores(
        SVCCV(C_GAMMA["C"], C_GAMMA["gamma"], cv=3, estimator=SVC(tol=EXACT)), X, y, C_GAMMA
    )
    found = SVCCV([1.0], [0.5], scale="minmax").fit(X, y)
    assert isinstance(found.best_estimator_[0], MaxAbsScaler)


def test_a_precomputed_kernel():
    X, y = two_classes()
    K = (
        Kernel.rbf(0.3)(X, X)
        if callable(Kernel.rbf(0.3))
        else np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    )
    search = SVCCV(C_GAMMA["C"], cv=3, estimator=SVC(kernel="precomputed", tol=EXACT))
    ours, _ = same_scores(search, K, y, {"C": C_GAMMA["C"]})
    assert ours.best_params_.keys() == {"C"}


@pytest.mark.parametrize("kernel", ["linear", "poly", "laplacian", "cosine"])
def test_other_kernels(kernel):
    X, y = two_classes(120)
    grid = {"C": [0.1, 1.0], "gamma": [0.1, 0.2]}
    if kernel in ("linear", "cosine"):
        grid.pop("gamma")
    search = SVCCV(grid["C"], grid.get("gamma", 10), cv=3, estimator=SVC(kernel=kernel, tol=1e-9))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        same_scores(search, X, y, grid)


def test_weights_count_in_fits_and_scores():
    X, y = two_classes()
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    estimator = SVC(tol=EXACT, class_weight="balanced")
    search = SVCCV([0.1, 3.0], [0.05, 5.0], cv=KFold(3), estimator=estimator)
    search.fit(X, y, sample_weight=weight)
    for (C, gamma), values in scores(search.cv_results_, ["C", "gamma"]).items():
        for k, (a, b) in enumerate(KFold(3).split(X)):
            model = clone(estimator).set_params(C=C, gamma=gamma)
            model.fit(X[a], y[a], sample_weight=weight[a])
            assert values[k] == pytest.approx(model.score(X[b], y[b], sample_weight=weight[b]))


def test_groups_and_a_splitter():
    X, y = two_classes()
    groups = np.arange(len(y)) // 10
    search = SVCCV([1.0], [0.5], cv=GroupKFold(3), estimator=SVC(tol=EXACT))
    same_scores(search, X, y, {"C": [1.0], "gamma": [0.5]}, fit={"groups": groups}, groups=groups)


@pytest.mark.parametrize("scoring", ["roc_auc", "f1", "average_precision", None])
def test_scorers_of_scikit_learn(scoring):
    X, y = two_classes()
    search = SVCCV(C_GAMMA["C"], C_GAMMA["gamma"], cv=3, scoring=scoring, estimator=SVC(tol=EXACT))
    same_scores(search, X, y, C_GAMMA)


def test_a_scorer_that_looks_at_the_samples():
    X, y = two_classes()

    def positive_side(model, X, y):
        assert X.shape[1] == 6
        return float(np.mean(model.predict(X[X[:, 0] > 0]) == y[X[:, 0] > 0]))

    search = SVCCV(
        C_GAMMA["C"], C_GAMMA["gamma"], cv=3, scoring=positive_side, estimator=SVC(tol=EXACT)
    )
    same_scores(search, X, y, C_GAMMA)


def test_regression():
    X, y = regression()
    grid = {"C": [0.1, 1.0, 30.0], "gamma": [0.01, 0.1], "epsilon": [0.01, 0.3]}
    search = SVRCV(grid["C"], grid["gamma"], grid["epsilon"], cv=3, estimator=SVR(tol=1e-8))
    same_scores(search, X, y, grid)
    grid = {"C": [0.1, 1.0, 30.0], "gamma": [0.01, 0.1], "nu": [0.2, 0.7]}
    search = NuSVRCV(grid["C"], grid["gamma"], grid["nu"], cv=3, estimator=NuSVR(tol=1e-8))
    same_scores(search, X, y, grid)


def test_nu_classification():
    X, y = two_classes()
    grid = {"nu": [0.3, 0.5], "gamma": [0.1, 1.0]}
    search = NuSVCCV(grid["nu"], grid["gamma"], cv=3, estimator=NuSVC(tol=EXACT))
    same_scores(search, X, y, grid)


def test_one_class_search_needs_labels_and_fits_inliers_alone():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(200, 2)), rng.uniform(-6, 6, size=(40, 2))])
    y = np.repeat([1, -1], [200, 40])
    order = rng.permutation(len(y))
    X, y = X[order], y[order]
    search = OneClassSVMCV([0.05, 0.2], [0.1, 1.0], cv=KFold(4)).fit(X, y)
    found = scores(search.cv_results_, ["nu", "gamma"])
    for (nu, gamma), values in found.items():
        for k, (a, b) in enumerate(KFold(4).split(X)):
            model = OneClassSVM(nu=nu, gamma=gamma).fit(X[a][y[a] == 1])
            said = model.predict(X[b])
            recall = [np.mean(said[y[b] == label] == label) for label in (1, -1)]
            assert values[k] == pytest.approx(np.mean(recall))
    assert search.best_estimator_.shape_fit_[0] == 200
    with pytest.raises(ValueError, match="labels"):
        OneClassSVMCV().fit(X)


# ---- sharing -------------------------------------------------------------------------------------


def test_results_do_not_depend_on_the_number_of_jobs():
    X, y = two_classes(1300)
    tables = [
        SVCCV(C_GAMMA["C"], C_GAMMA["gamma"], cv=3, n_jobs=jobs).fit(X, y).cv_results_
        for jobs in (1, 2, 3)
    ]
    for other in tables[1:]:
        np.testing.assert_array_equal(tables[0]["mean_test_score"], other["mean_test_score"])


def test_small_fits_follow_each_other(monkeypatch):
    from maxmargin.model_selection import search as module

    asked, pool = [], module.ThreadPoolExecutor
    monkeypatch.setattr(
        module, "ThreadPoolExecutor", lambda jobs: (asked.append(jobs), pool(jobs))[1]
    )
    for samples in (768, 771):  # 512 and 514 train
        X, y = two_classes(samples)
        SVCCV([1.0], [0.1], cv=3, n_jobs=2).fit(X, y)
    assert asked == [1, 2]


def test_every_fold_is_certified(monkeypatch):
    from maxmargin.model_selection import search as module

    seen = []
    note = module.Search._note

    def watched(self, k, fold, outcome, total):
        seen.append(outcome)
        note(self, k, fold, outcome, total)

    monkeypatch.setattr(module.Search, "_note", watched)
    X, y = two_classes(1300)
    SVCCV(C_GAMMA["C"], C_GAMMA["gamma"], cv=3).fit(X, y)
    assert len(seen) == 36
    assert {one.status for one in seen} == {"optimal"}


def test_stored_values_are_those_of_the_source():
    X, _ = two_classes(200)
    whole = KernelWorkspace.of(Kernel.rbf(0.3), X, Monitor())
    whole.keep_distances()
    stored, rows = whole.stored(), np.arange(3, 150, 2)
    for dtype, close in ((np.float64, 1e-12), (np.float32, 1e-4)):
        expected = whole.source.block(rows, rows, dtype)
        found = stored.view(rows).source.block(None, None, dtype)
        np.testing.assert_allclose(found, expected, rtol=close)
    coef = np.random.default_rng(0).normal(size=10)
    some = np.arange(10)
    view = stored.view(rows)
    np.testing.assert_allclose(
        view.source.product(some, coef), whole.view(rows).source.product(some, coef), rtol=1e-10
    )
    again = view.view(np.array([5, 2]))
    np.testing.assert_array_equal(again.samples.pick(np.array([0, 1])), X[rows[[5, 2]]])


def test_the_last_product_is_known_for_multiples_alone():
    X, _ = two_classes(50)
    workspace = KernelWorkspace.of(Kernel.rbf(0.3), X, Monitor())
    coef = np.random.default_rng(0).normal(size=50)
    workspace.kept.product = coef, 2 * coef
    np.testing.assert_allclose(workspace.product_of(3 * coef), 6 * coef)
    other = 3 * coef
    other[7] += 1e-6
    assert workspace.product_of(other) is None
    assert workspace.product_of(coef[:40]) is None


# ---- limits --------------------------------------------------------------------------------------


def test_a_time_limit_keeps_what_is_done_and_a_search_can_go_on(monkeypatch):
    from maxmargin.model_selection import kernel_search as module

    X, y = two_classes()
    fits, fit = [], module.KernelSearch._fit

    def limited(self, *rest):
        fits.append(1)
        if len(fits) == 10:
            self.monitor.deadline = 0.0
        return fit(self, *rest)

    monkeypatch.setattr(module.KernelSearch, "_fit", limited)
    search = SVCCV(4, 4, cv=3, n_jobs=1, time_limit=1000, warm_start=True)
    with pytest.warns(ConvergenceWarning, match="10 of 48 fits"):
        search.fit(X, y)
    done = search.cv_results_["n_splits_done"]
    assert done.sum() == 10
    assert search.predict(X).shape == y.shape
    first = search.cv_results_["split0_test_score"].copy()
    search.set_params(time_limit=None).fit(X, y)
    assert len(fits) == 10 + 38
    assert (search.cv_results_["n_splits_done"] == 3).all()
    known = np.isfinite(first)
    np.testing.assert_array_equal(search.cv_results_["split0_test_score"][known], first[known])


def test_no_time_at_all_gives_the_middle_candidate():
    X, y = two_classes()
    with pytest.warns(ConvergenceWarning, match="0 of 18 fits"):
        search = SVCCV([1, 2], [0.1, 0.2, 0.3], cv=3, time_limit=0.0).fit(X, y)
    assert search.best_params_ in search.cv_results_["params"]


def test_resuming_computes_nothing_twice(monkeypatch):
    from maxmargin.model_selection import kernel_search as module

    X, y = two_classes()
    search = SVCCV([1, 2], [0.1, 0.2], cv=3, warm_start=True).fit(X, y)
    fits = []
    fit = module.KernelSearch._fit
    monkeypatch.setattr(
        module.KernelSearch, "_fit", lambda self, *rest: (fits.append(1), fit(self, *rest))[1]
    )
    search.fit(X, y)
    assert not fits
    search.set_params(Cs=[1, 2, 4]).fit(X, y)
    assert len(fits) == 2 * 3
    search.fit(X[::-1], y[::-1])
    assert len(fits) == 2 * 3 + 3 * 2 * 3


def test_ctrl_c_keeps_what_is_done(monkeypatch):
    from maxmargin.model_selection import kernel_search as module

    X, y = two_classes()
    fits, fit = [], module.KernelSearch._fit

    def interrupted(self, *rest):
        fits.append(1)
        if len(fits) == 10:
            os.kill(os.getpid(), signal.SIGINT)
        return fit(self, *rest)

    monkeypatch.setattr(module.KernelSearch, "_fit", interrupted)
    with pytest.warns(ConvergenceWarning, match="ended early"):
        search = SVCCV(8, 8, cv=3, on_interrupt="keep").fit(X, y)
    assert search.cv_results_["n_splits_done"].sum() < 8 * 8 * 3
    assert search.predict(X).shape == y.shape
    fits.clear()
    search = SVCCV(8, 8, cv=3, warm_start=True)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    assert len(fits) < 8 * 8 * 3
    assert not hasattr(search, "best_params_")
    before = len(fits)
    search.fit(X, y)  # goes on
    assert 8 * 8 * 3 <= len(fits) <= 8 * 8 * 3 + 4
    assert before > 8
    assert (search.cv_results_["n_splits_done"] == 3).all()


def test_what_failed_is_tried_again():
    X, y = two_classes(60)
    calls = []

    def flaky(model, X, y):
        calls.append(1)
        if len(calls) == 2:
            raise RuntimeError("once")
        return model.score(X, y)

    search = SVCCV([1, 2], [0.1], cv=3, scoring=flaky, n_jobs=1, warm_start=True)
    with pytest.warns(FitFailedWarning, match="once"):
        search.fit(X, y)
    search.fit(X, y)
    assert len(calls) == 7
    assert (search.cv_results_["n_splits_done"] == 3).all()


def test_refining_adds_values_between():
    X, y = two_classes()
    search = SVCCV([0.1, 1, 10], [0.01, 0.1, 1], cv=3, refine=True).fit(X, y)
    assert 9 < len(search.cv_results_["params"]) <= 9 + 8
    known = {(one["C"], one["gamma"]) for one in search.cv_results_["params"]}
    assert len(known) == len(search.cv_results_["params"])
    assert search.best_score_ == np.max(search.cv_results_["mean_test_score"])


# ---- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"Cs": [1, -1]}, "Cs must be positive"),
        ({"Cs": [np.nan]}, "Cs must be positive"),
        ({"gammas": []}, "gammas has no values"),
        ({"Cs": 0}, "Cs must be a list"),
        ({"Cs": ["a"]}, "Cs must be numbers"),
        ({"n_jobs": 0}, "n_jobs == 0"),
        ({"estimator": SVC(kernel=Kernel.rbf(1.0))}, "sets gamma itself"),
        ({"estimator": NuSVC()}, "maxmargin.SVC or None, got an instance of .*NuSVC"),
        ({"estimator": "SVC"}, "maxmargin.SVC or None, got an instance of builtins.str"),
        (
            {"gammas": [0.1], "estimator": SVC(kernel="linear")},
            r"kernel='linear' has no gamma, got gammas=\[0.1\]: leave gammas out",
        ),
    ],
)
def test_bad_parameters_are_refused_by_name(options, message):
    X, y = two_classes(60)
    with pytest.raises(ValueError, match=message):
        SVCCV(**options).fit(X, y)


def test_a_kernel_without_gamma_needs_no_gammas():
    X, y = two_classes(60)
    assert set(SVCCV([1.0], estimator=SVC(kernel="linear")).fit(X, y).best_params_) == {"C"}


def test_a_search_without_probabilities_says_how_to_get_them():
    X, y = two_classes(60)
    search = SVCCV([1.0], [0.1], scale="standard")
    for model in (search, search.fit(X, y)):
        assert not hasattr(model, "predict_proba")
        with pytest.raises(AttributeError) as caught:
            model.predict_proba(X)
        assert "estimator=SVC(probability=True)" in str(caught.value.__cause__)


def test_a_fold_without_one_class_has_no_score():
    X, y = two_classes(60)
    order = np.argsort(y, kind="stable")
    folds = [(order[: np.sum(y == 0)], order[np.sum(y == 0) :]), (np.arange(40), np.arange(40, 60))]
    with pytest.warns(FitFailedWarning, match="class"):
        search = SVCCV([1.0], [0.1], cv=folds).fit(X, y)
    assert np.isnan(search.cv_results_["split0_test_score"]).all()
    assert np.isfinite(search.best_score_)


def test_a_scorer_that_raises():
    X, y = two_classes(60)

    def broken(y, said):
        raise RuntimeError("the scorer is broken")

    with pytest.raises(ValueError, match="the scorer is broken"):
        SVCCV([1.0], [0.1], scoring=make_scorer(broken)).fit(X, y)


def test_a_failed_search_leaves_the_last_one():
    X, y = two_classes(60)
    search = SVCCV([1.0], [0.1]).fit(X, y)
    before = dict(search.__dict__)
    with pytest.raises(ValueError):
        search.set_params(Cs=[-1]).fit(X, y)
    assert search.best_estimator_ is before["best_estimator_"]
    assert clone(search).Cs == [-1]


# ---- the best model ------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["standard", "minmax"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.coo_matrix])
def test_a_sample_of_weight_zero_scales_nothing(scale, form):
    X, y = two_classes(60)
    far = np.vstack([X, np.full((1, X.shape[1]), 1e3)])
    weight = np.append(np.ones(60), 0.0)
    folds = [(np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30))]
    longer = [(np.append(train, 60), test) for train, test in folds]
    alone = SVCCV([1, 9], 2, cv=folds, scale=scale).fit(form(X), y)
    both = SVCCV([1, 9], 2, cv=longer, scale=scale).fit(form(far), np.append(y, 0), weight)
    assert both.best_params_ == pytest.approx(alone.best_params_)
    np.testing.assert_allclose(
        both.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"]
    )
    np.testing.assert_allclose(
        both.decision_function(X), alone.decision_function(X), rtol=1e-6, atol=1e-8
    )


def test_a_one_class_search_scores_by_the_labels():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(80, 2)), rng.uniform(-6, 6, (20, 2))])
    y = np.repeat([1, -1], [80, 20])
    search = OneClassSVMCV(3, 3, cv=KFold(3, shuffle=True, random_state=0))
    found = search.fit_predict(X, y)
    np.testing.assert_array_equal(found, search.best_estimator_.predict(X))
    assert search.score(X, y) == pytest.approx(
        ((found == 1)[y == 1].mean() + (found == -1)[y == -1].mean()) / 2
    )
    np.testing.assert_allclose(
        search.score_samples(X) - search.offset_, search.decision_function(X), atol=1e-12
    )
    with pytest.raises(ValueError, match="needs labels"):
        search.fit_predict(X)


def test_a_grid_of_gammas_is_fitted_to_the_scaled_samples():
    X, y = two_classes(60)
    wide = X * 10.0 ** np.arange(6)
    found = SVCCV([1], 3, cv=2, scale="standard").fit(wide, y)
    np.testing.assert_allclose(
        found.cv_results_["param_gamma"].data.astype(float), [1e-2 / 6, 1 / 6, 1e2 / 6]
    )
