"""Scorers of the searches: probabilities, weights, metadata routing, odd results."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning, UnsetMetadataPassedError
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC, SVR, NuSVC
from maxmargin.model_selection import SVCCV, SVRCV, NuSVCCV, OneClassSVMCV
from test_model_selection import C_GAMMA, EXACT, regression, same_scores, two_classes

SMALL = {"C": [0.3, 10.0], "gamma": [0.1, 1.0]}


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


# ---- probabilities -------------------------------------------------------------------------------


@pytest.mark.parametrize("scoring", ["neg_log_loss", "neg_brier_score"])
@pytest.mark.parametrize("scale", [None, "standard"])
def test_scores_of_probabilities(scoring, scale):
    X, y = two_classes(160)
    estimator = SVC(probability=True, tol=EXACT)
    search = SVCCV(
        SMALL["C"], SMALL["gamma"], cv=3, scoring=scoring, scale=scale, estimator=estimator
    )
    same_scores(search, X, y, SMALL, prefix="machine__" if scale else "")
    best = search.best_estimator_
    np.testing.assert_array_equal(search.predict_proba(X), best.predict_proba(X))
    np.testing.assert_array_equal(search.predict_log_proba(X), best.predict_log_proba(X))


def test_scores_of_probabilities_of_several_classes():
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    X = X + rng.normal(size=X.shape)
    for scoring in ("roc_auc_ovr", "neg_log_loss"):
        search = SVCCV(
            SMALL["C"],
            SMALL["gamma"],
            cv=3,
            scoring=scoring,
            estimator=SVC(probability=True, tol=EXACT),
        )
        same_scores(search, X, y, SMALL)
    search = NuSVCCV(
        [0.3], [0.1], cv=3, scoring="neg_log_loss", estimator=NuSVC(probability=True, tol=EXACT)
    )
    same_scores(search, X, y, {"nu": [0.3], "gamma": [0.1]})


def test_isotonic_probabilities():
    X, y = two_classes(120)
    estimator = SVC(probability="isotonic", tol=EXACT)
    search = SVCCV([0.5, 5.0], [0.2], cv=3, scoring="neg_brier_score", estimator=estimator)
    same_scores(search, X, y, {"C": [0.5, 5.0], "gamma": [0.2]})


def test_a_function_of_probabilities():
    X, y = two_classes(120)

    def surest(model, X, y):
        return float(model.predict_proba(X).max())

    search = SVCCV([1.0], [0.5], cv=3, scoring=surest, estimator=SVC(probability=True, tol=EXACT))
    same_scores(search, X, y, {"C": [1.0], "gamma": [0.5]})


def test_probabilities_are_learnt_only_for_scores_that_need_them(monkeypatch):
    X, y = two_classes(80)
    calls, learn = [], SVC._learn_probabilities
    monkeypatch.setattr(
        SVC, "_learn_probabilities", lambda self, *rest: (calls.append(1), learn(self, *rest))
    )
    SVCCV([1.0], [0.5], cv=3, scoring="roc_auc", estimator=SVC(probability=True)).fit(X, y)
    assert len(calls) == 1  # the best model


def test_without_probability_there_is_none():
    X, y = two_classes(60)
    search = SVCCV([1.0], [0.5], cv=3).fit(X, y)
    assert not hasattr(search, "predict_proba")
    assert not hasattr(SVCCV(), "predict_log_proba")
    assert hasattr(SVCCV(estimator=SVC(probability=True)), "predict_proba")
    with pytest.raises(ValueError, match="scores probabilities"):
        SVCCV([1.0], [0.5], cv=3, scoring="neg_log_loss").fit(X, y)


# ---- the score of the search ---------------------------------------------------------------------


def test_score_is_by_scoring_and_takes_weights():
    X, y = two_classes(120)
    weight = np.arange(len(y)) % 3 + 0.5
    search = SVCCV([1.0], [0.5], cv=3, scoring="roc_auc").fit(X, y)
    best = search.best_estimator_
    assert search.score(X, y) == get_scorer("roc_auc")(best, X, y)
    assert search.score(X, y, weight) == get_scorer("roc_auc")(best, X, y, sample_weight=weight)
    plain = SVCCV([1.0], [0.5], cv=3).fit(X, y)
    assert plain.score(X, y, weight) == plain.best_estimator_.score(X, y, weight)


# ---- odd scorers ---------------------------------------------------------------------------------


def test_scores_that_are_no_numbers_are_refused():
    X, y = two_classes(60)
    for odd in ([0.1, 0.2], np.zeros(3), {}, {"a": "b"}, "good", None):
        with pytest.raises(ValueError, match="scoring must return a number"):
            SVCCV([1.0], [0.5], cv=3, scoring=lambda model, X, y, odd=odd: odd).fit(X, y)
    for fine in (np.float32(0.5), np.array(0.5), np.array([0.5]), 1, True):
        search = SVCCV([1.0], [0.5], cv=3, scoring=lambda model, X, y, fine=fine: fine)
        assert search.fit(X, y).best_score_ == np.ravel(fine)[0]


def test_scores_that_are_nan_or_infinite():
    X, y = two_classes(60)
    with pytest.raises(ValueError, match="score is NaN"):
        SVCCV([1.0], [0.5], cv=3, scoring=lambda *rest: np.nan).fit(X, y)

    def sometimes(model, X, y):
        return np.nan if model.C == 1.0 else -np.inf if model.C == 2.0 else model.score(X, y)

    with pytest.warns(FitFailedWarning, match="3 of 9 .* NaN"):
        search = SVCCV([1.0, 2.0, 3.0], [0.5], cv=3, scoring=sometimes).fit(X, y)
    assert search.best_params_["C"] == 3.0
    assert list(search.cv_results_["n_splits_done"]) == [0, 3, 3]
    assert list(search.cv_results_["rank_test_score"]) == [3, 2, 1]


def test_weights_need_a_score_that_takes_them():
    X, y = two_classes(60)
    weight = np.ones(len(y))

    def plain(model, X, y):
        return model.score(X, y)

    for scoring in (plain, make_scorer(lambda y, said: 1.0)):
        with pytest.raises(ValueError, match="takes none"):
            SVCCV([1.0], [0.5], cv=3, scoring=scoring).fit(X, y, weight)


# ---- metadata routing ----------------------------------------------------------------------------


def test_metadata_without_routing_is_refused():
    X, y = two_classes(60)
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        SVCCV([1.0], [0.5]).fit(X, y, price=np.ones(60))


@pytest.mark.usefixtures("routing")
def test_weights_and_metadata_are_routed_as_in_grid_search():
    X, y = two_classes(120)
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    price = np.random.default_rng(1).random(len(y))

    def worth(y, said, price=None, sample_weight=None):
        assert price.shape == y.shape
        assert sample_weight is None
        return float(np.sum(price * (y == said)))

    scorer = make_scorer(worth).set_score_request(price=True, sample_weight=False)
    estimator = SVC(tol=EXACT).set_fit_request(sample_weight=True)
    search = SVCCV(SMALL["C"], SMALL["gamma"], cv=3, scoring=scorer, estimator=estimator)
    given = {"sample_weight": weight, "price": price}
    same_scores(search, X, y, SMALL, fit=given, **given)
    assert search.score(X, y, price=price) == worth(y, search.predict(X), price)
    with pytest.raises(TypeError, match="cost"):
        search.fit(X, y, cost=price)


@pytest.mark.usefixtures("routing")
def test_the_default_score_asks_for_the_weights():
    X, y = two_classes(120)
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    routed = SVCCV(SMALL["C"], SMALL["gamma"], cv=3).fit(X, y, weight)
    silent = SVC().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
    others = SVCCV(SMALL["C"], SMALL["gamma"], cv=3, estimator=silent).fit(X, y, weight)
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        SVCCV(cv=3, scoring="f1").fit(X, y, weight)
    with config_context(enable_metadata_routing=False):
        plain = SVCCV(SMALL["C"], SMALL["gamma"], cv=3).fit(X, y, weight)
    means = [one.cv_results_["mean_test_score"] for one in (plain, routed, others)]
    np.testing.assert_array_equal(means[0], means[1])
    assert (means[0] != means[2]).any()
    labels = np.where(y == 1, 1, -1)
    folds = KFold(2)
    assert OneClassSVMCV([0.2], [0.1], cv=folds).fit(X, labels, weight).best_score_ > 0


@pytest.mark.usefixtures("routing")
def test_a_search_in_a_pipeline_and_in_cross_validation():
    X, y = two_classes(120)
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    groups = np.arange(len(y)) // 10
    ask = {"sample_weight": True}
    ours = SVCCV(SMALL["C"], SMALL["gamma"], cv=GroupKFold(3), estimator=SVC(tol=EXACT))
    theirs = GridSearchCV(
        SVC(tol=EXACT).set_fit_request(**ask).set_score_request(**ask), SMALL, cv=GroupKFold(3)
    )
    means = []
    for search in (ours.set_fit_request(**ask), theirs):
        pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), search)
        pipe.fit(X, y, sample_weight=weight, groups=groups)
        means.append(pipe[-1].cv_results_["mean_test_score"])
    order = [
        theirs.fit(X, y, sample_weight=weight, groups=groups).cv_results_["params"].index(p)
        for p in ours.fit(X, y, weight, groups=groups).cv_results_["params"]
    ]
    np.testing.assert_allclose(means[0], means[1][order])
    nested = [
        cross_validate(
            one.set_score_request(**ask) if one is ours else one,
            X,
            y,
            cv=GroupKFold(2),
            params={"sample_weight": weight, "groups": groups},
        )["test_score"]
        for one in (ours, theirs)
    ]
    np.testing.assert_allclose(*nested)


@pytest.mark.usefixtures("routing")
def test_regression_with_routing():
    X, y = regression(80)
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    routed = SVRCV([1.0], [0.1], [0.1], cv=3, estimator=SVR(tol=EXACT)).fit(X, y, weight)
    with config_context(enable_metadata_routing=False):
        plain = SVRCV([1.0], [0.1], [0.1], cv=3, estimator=SVR(tol=EXACT)).fit(X, y, weight)
    assert routed.best_score_ == plain.best_score_


def test_status_of_each_candidate():
    X, y = two_classes(120)
    search = SVCCV(C_GAMMA["C"], [0.5], cv=3).fit(X, y)
    assert set(search.cv_results_["status"]) == {"optimal"}
    with pytest.warns(ConvergenceWarning):
        short = SVCCV([0.1, 1e3], [0.5], cv=3, estimator=SVC(max_iter=30)).fit(X, y)
    assert short.cv_results_["status"][-1] == "max_iter"
