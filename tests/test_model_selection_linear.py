"""Searches over linear models: the scores of GridSearchCV, one convention with kernel machines."""

import os
import signal

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import LinearSVC, LinearSVCCV, LinearSVR, LinearSVRCV
from maxmargin.model_selection import SVCCV
from maxmargin.model_selection import search as searches
from maxmargin.model_selection.linear_search import LinearSearch
from test_model_selection import regression, same_scores, two_classes

TIGHT = 1e-9
GRID = {"C": [0.01, 1.0, 30.0], "epsilon": [0.0, 0.1, 0.5]}


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_scores_are_those_of_grid_search(loss, form):
    X, y = regression(120)
    search = LinearSVRCV(
        GRID["C"], GRID["epsilon"], cv=3, estimator=LinearSVR(loss=loss, tol=TIGHT)
    )
    ours, theirs = same_scores(search, form(X), y, GRID)
    assert ours.best_params_ == theirs.best_params_
    assert set(ours.cv_results_["status"]) <= {"optimal", "approximate"}
    np.testing.assert_allclose(ours.coef_, theirs.best_estimator_.coef_)
    np.testing.assert_allclose(ours.intercept_, theirs.best_estimator_.intercept_)
    assert ours.certificate_.status.converged


def test_scaling_weights_and_groups():
    X, y = regression(120)
    X = X * [1, 100, 0.01, 5, 1]
    search = LinearSVRCV(
        GRID["C"], GRID["epsilon"], cv=3, scale="standard", estimator=LinearSVR(tol=TIGHT)
    )
    ours, _ = same_scores(search, X, y, GRID, prefix="machine__")
    assert isinstance(ours.best_estimator_, Pipeline)
    labels = y > 0
    classes = LinearSVCCV(
        GRID["C"],
        cv=GroupKFold(3),
        scale="standard",
        scoring="roc_auc",
        estimator=LinearSVC(tol=TIGHT),
    )
    groups = {"groups": np.arange(len(y)) // 10}
    same_scores(classes, X, labels, {"C": GRID["C"]}, prefix="machine__", fit=groups, **groups)
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    found = LinearSVRCV([1.0], [0.1], cv=KFold(3), scale=StandardScaler()).fit(X, y, weight)
    for k, (a, b) in enumerate(KFold(3).split(X)):
        scaler = StandardScaler().fit(X[a], sample_weight=weight[a])
        model = LinearSVR(C=1.0, epsilon=0.1).fit(scaler.transform(X[a]), y[a], weight[a])
        score = model.score(scaler.transform(X[b]), y[b], sample_weight=weight[b])
        assert found.cv_results_[f"split{k}_test_score"][0] == pytest.approx(score)


@pytest.mark.parametrize("probability", [True, "isotonic"])
def test_scores_of_probabilities(probability, monkeypatch):
    X, y = two_classes(120)
    search = LinearSVCCV(
        [0.1, 3.0],
        cv=3,
        scoring="neg_brier_score",
        estimator=LinearSVC(tol=TIGHT, probability=probability),
    )
    same_scores(search, X, y, {"C": [0.1, 3.0]})
    p = search.predict_proba(X)
    np.testing.assert_array_equal(p, search.best_estimator_.predict_proba(X))
    seen, fit = [], LinearSearch._fit

    def watched(self, *rest):
        seen.append(fit(self, *rest))
        return seen[-1]

    monkeypatch.setattr(LinearSearch, "_fit", watched)
    plain = clone(search).set_params(scoring="accuracy").fit(X, y)
    assert not any(hasattr(one.machine, "predict_proba") for one in seen)  # not needed
    assert hasattr(plain, "predict_proba")


def test_grids_fitted_to_the_data():
    X, y = regression(60)
    found = LinearSVRCV(3, 2, cv=2).fit(X, 10 * y)
    np.testing.assert_allclose(np.unique(found.cv_results_["param_C"].data), [1e-4, 1, 1e4])
    np.testing.assert_allclose(
        np.unique(found.cv_results_["param_epsilon"].data), 10 * y.std() * np.array([1e-3, 1])
    )
    np.testing.assert_allclose(LinearSVCCV(2, cv=2).fit(X, y > 0).Cs_, [1e-4, 1e4])
    for odd in ({"Cs": [0]}, {"Cs": "ten"}, {"epsilons": [-1]}, {"epsilons": []}, {"Cs": True}):
        with pytest.raises(ValueError, match=next(iter(odd))):
            LinearSVRCV(**odd).fit(X, y)


def test_one_convention_with_kernel_machines():
    X, y = two_classes(90)
    linear = LinearSVCCV([0.1, 1.0], cv=3).fit(X, y)
    kernel = SVCCV([0.1, 1.0], [0.1], cv=3).fit(X, y)
    only = {"param_gamma"}
    assert set(kernel.cv_results_) - only == set(linear.cv_results_)
    shared = {name for name in vars(kernel) if name.endswith("_")}
    assert shared <= {name for name in vars(linear) if name.endswith("_")}
    assert linear.get_params().keys() == kernel.get_params().keys() - {"gammas"}
    assert linear.estimator_ is linear.best_estimator_
    assert linear.best_params_ == {"C": linear.C_}
    np.testing.assert_array_equal(
        linear.scores_.mean(axis=0), linear.cv_results_["mean_test_score"]
    )


def test_refining_resuming_and_jobs(monkeypatch):
    monkeypatch.setattr(searches, "SETTINGS", searches.Settings(alone=0))
    X, y = regression(90)
    search = LinearSVRCV([0.1, 10.0], [0.1, 1.0], cv=3, refine=True, warm_start=True).fit(X, y)
    assert len(search.cv_results_["params"]) > 4
    fits, fit = [], LinearSearch._fit
    monkeypatch.setattr(
        LinearSearch, "_fit", lambda self, *rest: (fits.append(1), fit(self, *rest))[1]
    )
    means = search.cv_results_["mean_test_score"]
    again = search.fit(X, y).cv_results_["mean_test_score"]
    assert not fits
    np.testing.assert_array_equal(means, again)
    for jobs in (1, 3, -1):
        other = clone(search).set_params(n_jobs=jobs).fit(X, y)
        np.testing.assert_array_equal(other.cv_results_["mean_test_score"], means)


@pytest.mark.parametrize("cls", [LinearSVCCV, LinearSVRCV])
def test_limits_keep_what_is_done(cls, monkeypatch):
    X, y = regression(90)
    y = y > 0 if cls is LinearSVCCV else y
    with pytest.warns(ConvergenceWarning, match="0 of 15 fits"):
        none = cls(
            *([[1, 2, 3, 4, 5]] if cls is LinearSVCCV else [[1, 2, 3, 4, 5], [0.1]]),
            cv=3,
            time_limit=0.0,
        ).fit(X, y)
    assert none.predict(X).shape == y.shape
    fits, fit = [], LinearSearch._fit

    def interrupted(self, *rest):
        fits.append(1)
        if len(fits) == 7:
            os.kill(os.getpid(), signal.SIGINT)
        return fit(self, *rest)

    monkeypatch.setattr(LinearSearch, "_fit", interrupted)
    with pytest.warns(ConvergenceWarning, match="ended early"):
        search = cls(20, cv=3, on_interrupt="keep").fit(X, y)
    assert search.predict(X).shape == y.shape
    fits.clear()
    with pytest.raises(KeyboardInterrupt):
        cls(20, cv=3).fit(X, y)


def test_a_fit_has_its_own_limits_too():
    """What ends one fit does not end the search."""
    X, y = two_classes(200)
    with pytest.warns(ConvergenceWarning):
        found = LinearSVCCV(
            [0.1, 1e6], cv=2, estimator=LinearSVC(solver="coordinate", loss="hinge", max_iter=1)
        ).fit(X, y)
    assert (found.cv_results_["n_splits_done"] == 2).all()
    assert found.cv_results_["status"][-1] == "max_iter"


def test_routing_and_a_pipeline():
    X, y = regression(90)
    weight = np.random.default_rng(0).integers(1, 3, len(y)).astype(float)
    plain = LinearSVRCV([1.0], [0.1], cv=3).fit(X, y, weight)
    with config_context(enable_metadata_routing=True):
        search = LinearSVRCV([1.0], [0.1], cv=3).set_fit_request(sample_weight=True)
        pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=True), search)
        pipe.fit(X, y, sample_weight=weight)
        assert search.fit(X, y, sample_weight=weight).best_score_ == plain.best_score_
        search.set_score_request(sample_weight=True)
        nested = GridSearchCV(search, {"cv": [2, 3]}, cv=2).fit(X, y, sample_weight=weight)
    assert nested.best_score_ > 0
