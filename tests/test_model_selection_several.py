"""Searches with several scores, and searches that fit no best model: as GridSearchCV has them."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning, UnsetMetadataPassedError
from sklearn.metrics import accuracy_score, get_scorer, make_scorer
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import (
    SVC,
    SVR,
    LinearSVC,
    LinearSVCCV,
    LinearSVR,
    LinearSVRCV,
    NuSVC,
    NuSVR,
    OneClassSVM,
    io,
)
from maxmargin.model_selection import SVCCV, SVRCV, NuSVCCV, NuSVRCV, OneClassSVMCV
from test_model_selection import EXACT, regression, two_classes

GRID = {"C": [0.3, 10.0], "gamma": [0.1, 1.0]}
CLASSES = ["accuracy", "roc_auc", "f1"]
NUMBERS = ["r2", "neg_mean_absolute_error"]
SEARCHES = {
    "SVCCV": (SVCCV, SVC, GRID, CLASSES),
    "NuSVCCV": (NuSVCCV, NuSVC, {"nu": [0.3, 0.5], "gamma": [0.1, 1.0]}, CLASSES),
    "SVRCV": (SVRCV, SVR, {**GRID, "epsilon": [0.1, 0.5]}, NUMBERS),
    "NuSVRCV": (NuSVRCV, NuSVR, {"C": [0.03, 0.3], "gamma": [0.1, 1.0], "nu": [0.3, 0.6]}, NUMBERS),
    "LinearSVCCV": (LinearSVCCV, LinearSVC, {"C": [0.01, 1.0]}, CLASSES),
    "LinearSVRCV": (LinearSVRCV, LinearSVR, {"C": [0.01, 1.0], "epsilon": [0.1, 0.5]}, NUMBERS),
}
AXES = {"C": "Cs", "gamma": "gammas", "epsilon": "epsilons", "nu": "nus"}
both = pytest.mark.parametrize("case", SEARCHES.values(), ids=SEARCHES)


def data_of(case):
    return two_classes(120) if case[3] is CLASSES else regression(90)


def pair(case, scoring, refit, **options):
    """The same search by GridSearchCV and by us."""
    search, machine, grid, _ = case
    estimator = machine(tol=1e-9 if machine.__name__.startswith("Linear") else EXACT)
    axes = {AXES[name]: values for name, values in grid.items()}
    own = {"cv": 3, "scoring": scoring, "refit": refit, **options}
    return search(**axes, estimator=estimator, **own), GridSearchCV(estimator, grid, **own)


def assert_same_results(ours, theirs, rtol=1e-5):
    """Compare every array of scores in cv_results_, candidate by candidate."""
    mine, wanted = ours.cv_results_, theirs.cv_results_
    keys = [key for key in wanted if "_test_" in key]
    assert [key for key in mine if "_test_" in key] == keys
    order = [mine["params"].index(params) for params in wanted["params"]]
    for key in keys:
        np.testing.assert_allclose(mine[key][order], wanted[key], rtol, 1e-9, err_msg=key)


@both
def test_results_are_those_of_grid_search(case):
    X, y = data_of(case)
    ours, theirs = (one.fit(X, y) for one in pair(case, case[3], case[3][-1]))
    assert_same_results(ours, theirs)
    assert ours.multimetric_ is theirs.multimetric_ is True
    assert ours.scorer_.keys() == theirs.scorer_.keys()
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-5)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), rel=1e-4)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-3, atol=1e-3)


def test_one_class():
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(size=(80, 3)), rng.normal(size=(20, 3)) * 4])
    y = np.repeat([1, -1], [80, 20])
    folds = [(a, b) for a, b in KFold(3, shuffle=True, random_state=0).split(X)]
    inside = [(a[y[a] == 1], b) for a, b in folds]
    grid = {"nu": [0.1, 0.4], "gamma": [0.1, 1.0]}
    estimator, names = OneClassSVM(tol=EXACT), ["balanced_accuracy", "f1"]
    ours = OneClassSVMCV(
        grid["nu"], grid["gamma"], cv=folds, scoring=names, refit="f1", estimator=estimator
    ).fit(X, y)
    theirs = GridSearchCV(estimator, grid, cv=inside, scoring=names, refit=False).fit(X, y)
    assert_same_results(ours, theirs)
    assert ours.best_score_ == ours.cv_results_["mean_test_f1"].max()
    none = OneClassSVMCV([0.1], [0.1], cv=folds, refit=False)
    with pytest.raises(AttributeError, match="fit_predict is available only after"):
        none.fit_predict(X, y)
    none.fit(X, y)
    for name in ("predict", "score_samples", "decision_function", "offset_"):
        assert not hasattr(none, name)


def of_two(model, X, y):
    """A user's function that returns several scores."""
    return {"right": model.score(X, y), "small": -float(model.C)}


@pytest.mark.parametrize("refit", ["right", "small", lambda results: 2, False])
@pytest.mark.parametrize(
    "scoring",
    [
        of_two,
        {"right": "accuracy", "small": lambda model, X, y: -float(model.C)},
        {"right": make_scorer(accuracy_score), "small": "roc_auc"},
    ],
    ids=["function", "dict", "scorers"],
)
def test_kinds_of_scoring_and_refit(scoring, refit):
    X, y = two_classes(120)
    ours, theirs = (one.fit(X, y) for one in pair(SEARCHES["SVCCV"], scoring, refit))
    assert_same_results(ours, theirs)
    names = ("best_index_", "best_params_", "best_score_", "best_estimator_", "refit_time_")
    for name in names:
        assert hasattr(ours, name) == hasattr(theirs, name), name
    if refit is not False:
        assert ours.best_params_ == theirs.best_params_
    if isinstance(refit, str):
        assert ours.score(X, y) == pytest.approx(theirs.score(X, y))


def test_a_function_chooses_the_candidate_of_one_score():
    X, y = two_classes(120)
    ours, theirs = (one.fit(X, y) for one in pair(SEARCHES["SVCCV"], None, lambda found: 3))
    assert_same_results(ours, theirs)
    assert ours.best_params_ == theirs.best_params_ == {"C": 10.0, "gamma": 1.0}
    assert hasattr(ours, "best_score_") == hasattr(theirs, "best_score_") is False
    assert ours.score(X, y) == theirs.score(X, y)
    for wrong, error in ((0.5, TypeError), (9, IndexError), (-1, IndexError)):
        for search in pair(SEARCHES["SVCCV"], None, lambda found, wrong=wrong: wrong):
            with pytest.raises(error):
                search.fit(X, y)


@both
def test_without_refit_nothing_is_fitted(case):
    X, y = data_of(case)
    ours, theirs = (one.fit(X, y) for one in pair(case, None, False))
    assert_same_results(ours, theirs)
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-5)
    names = ("best_estimator_", "predict", "decision_function", "classes_", "certificate_")
    for name in (*names, "predict_interval", "predict_proba", "coef_"):
        assert not hasattr(ours, name)
    for name in ("predict", "score"):
        messages = []
        for one in (ours, theirs):
            with pytest.raises(AttributeError) as raised:
                getattr(one, name)(X, y)
            messages.append(str(raised.value.__cause__ or raised.value))
        assert messages[0] == messages[1].replace("GridSearchCV", type(ours).__name__)
    assert not hasattr(type(ours)(refit=False), "predict")
    assert hasattr(type(ours)(), "predict")


def test_a_search_that_fits_nothing_forgets_an_earlier_model(tmp_path):
    X, y = two_classes(60)
    search = LinearSVCCV([0.1, 1.0], cv=3).fit(X, y).set_params(refit=False).fit(X, y)
    assert "best_estimator_" not in vars(search)
    assert search.scores_.shape == (3, 2)
    assert search.best_params_["C"] == search.C_
    with pytest.raises(TypeError, match="refit=False and holds no model"):
        io.save(search, tmp_path / "model.mm")
    search.set_params(scoring=["f1", "accuracy"]).fit(X, y)
    assert not any(name.startswith("best_") for name in vars(search))
    with pytest.raises(AttributeError, match="refit names none"):
        _ = search.scores_
    search.set_params(refit="f1").fit(X, y)
    assert search.scores_.mean(axis=0).max() == pytest.approx(search.best_score_)


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("refit", [True, "precision", ""])
@pytest.mark.parametrize("scoring", [["accuracy", "f1"], {"a": "accuracy", "b": "f1"}, of_two])
def test_refit_must_name_one_of_several(scoring, refit):
    X, y = two_classes(60)
    ours, theirs = pair(SEARCHES["SVCCV"], scoring, refit)
    with pytest.raises(ValueError, match="refit"):
        theirs.fit(X, y)
    with pytest.raises(ValueError, match="which of several scores decides: give the name of"):
        ours.fit(X, y)


def test_refit_must_not_name_another_score():
    X, y = two_classes(60)
    with pytest.raises(ValueError, match=r"'f1' names a score, and the only one is .*'accuracy'"):
        SVCCV([1.0], [0.5], cv=3, scoring="accuracy", refit="f1").fit(X, y)
    for name in ("accuracy", "score"):
        found = SVCCV([1.0], [0.5], cv=3, scoring="accuracy", refit=name).fit(X, y)
        assert found.best_score_ > 0.5


def test_options_that_compare_need_one_score():
    X, y = two_classes(60)
    for refit in (False, lambda found: 0):
        for scoring in (["accuracy", "f1"], of_two):
            with pytest.raises(ValueError, match="discard compares candidates by one score"):
                SVCCV([1.0], [0.5], scoring=scoring, refit=refit, discard="racing").fit(X, y)
    with pytest.raises(ValueError, match="refine compares candidates by one score"):
        SVCCV([1.0], [0.5], scoring=["accuracy", "f1"], refit=False, refine=True).fit(X, y)
    with pytest.raises(ValueError, match="scores probabilities"):
        SVCCV([1.0], [0.5], scoring=["accuracy", "neg_log_loss"], refit="accuracy").fit(X, y)
    with pytest.raises(ValueError, match="the score of the search"):
        SVCCV([1.0], [0.5], scoring=CLASSES, refit=lambda found: 0).fit(X, y).score(X, y)


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
@pytest.mark.filterwarnings("ignore:Scoring failed")
def test_a_score_that_raises_leaves_the_others():
    X, y = two_classes(120)

    def fussy(model, X, y):
        if model.C > 1:
            raise RuntimeError("too large a C")
        return model.score(X, y)

    scoring = {"right": "accuracy", "fussy": fussy}
    ours, theirs = pair(SEARCHES["SVCCV"], scoring, "right")
    with pytest.warns(FitFailedWarning, match="6 of 12 .* fussy: RuntimeError: too large a C"):
        ours.fit(X, y)
    theirs.fit(X, y)
    for key in ("split0_test_right", "mean_test_right", "rank_test_right", "split2_test_fussy"):
        np.testing.assert_allclose(ours.cv_results_[key], theirs.cv_results_[key], err_msg=key)
    assert list(ours.cv_results_["n_splits_done"]) == [3, 3, 0, 0]
    ours.set_params(refit="fussy")
    with pytest.warns(FitFailedWarning):
        assert ours.fit(X, y).best_params_["C"] == 0.3
    ours.set_params(Cs=[10.0])
    with pytest.raises(ValueError, match=r"All the 6 fits .* fussy: RuntimeError"):
        ours.fit(X, y)
    ours.set_params(refit="right")
    with pytest.warns(FitFailedWarning):
        assert np.isnan(ours.fit(X, y).cv_results_["mean_test_fussy"]).all()


# ---- with other options --------------------------------------------------------------------------


def test_scaling_and_probabilities():
    X, y = two_classes(120)
    scoring = ["accuracy", "neg_log_loss"]
    estimator = SVC(probability=True, tol=EXACT)
    ours = SVCCV(*GRID.values(), cv=3, scoring=scoring, refit="neg_log_loss", scale="standard")
    ours.set_params(estimator=estimator).fit(X * 50, y)
    theirs = GridSearchCV(
        make_pipeline(StandardScaler(), estimator),
        {f"svc__{name}": values for name, values in GRID.items()},
        cv=3,
        scoring=scoring,
        refit="neg_log_loss",
    ).fit(X * 50, y)
    for key in ("mean_test_accuracy", "mean_test_neg_log_loss", "rank_test_neg_log_loss"):
        np.testing.assert_allclose(ours.cv_results_[key], theirs.cv_results_[key], 1e-5)


def test_a_search_is_resumed():
    X, y = two_classes(150)
    names = ["accuracy", "f1"]
    search = SVCCV(*GRID.values(), cv=3, scoring=names, refit="f1", warm_start=True, time_limit=0)
    with pytest.warns(ConvergenceWarning, match="0 of 12 .* best_params_ is the middle"):
        search.fit(X, y)
    assert np.isnan(search.best_score_)
    search.set_params(time_limit=None).fit(X, y)
    times = search.cv_results_["mean_fit_time"].copy()
    search.set_params(refit="accuracy", Cs=[0.3, 1.0, 10.0]).fit(X, y)  # refit changes no score
    kept = np.isin(search.cv_results_["param_C"].astype(float), [0.3, 10.0])
    np.testing.assert_array_equal(search.cv_results_["mean_fit_time"][kept], times)
    fresh = SVCCV([0.3, 1.0, 10.0], GRID["gamma"], cv=3, scoring=names, refit="accuracy").fit(X, y)
    for key in ("mean_test_f1", "mean_test_accuracy", "rank_test_accuracy"):
        np.testing.assert_array_equal(search.cv_results_[key], fresh.cv_results_[key])


@pytest.mark.parametrize("discard", ["safe", "racing"])
@pytest.mark.parametrize("scoring", [["f1", "accuracy"], {"one": "f1", "accuracy": "accuracy"}])
def test_discard_goes_by_the_score_that_decides(scoring, discard):
    X, y = two_classes(200)
    grid = {"Cs": [1e-3, 1.0, 100.0], "gammas": [0.01, 0.3, 30.0]}
    one = SVCCV(**grid, cv=6, scoring="accuracy", discard=discard).fit(X, y)
    both = SVCCV(**grid, cv=6, scoring=scoring, refit="accuracy", discard=discard).fit(X, y)
    assert one.cv_results_["discarded"].any()
    np.testing.assert_array_equal(both.cv_results_["discarded"], one.cv_results_["discarded"])
    assert both.best_params_ == one.best_params_
    with pytest.raises(ValueError, match="greatest value"):
        SVCCV(**grid, scoring={"a": lambda *rest: 1.0}, refit="a", discard="safe").fit(X, y)


def test_refine_goes_by_the_score_that_decides():
    X, y = two_classes(100)
    options = {"Cs": [0.1, 10.0], "gammas": [0.1, 1.0], "cv": 3, "refine": True}
    one = SVCCV(**options, scoring="roc_auc").fit(X, y)
    several = SVCCV(**options, scoring=["f1", "roc_auc"], refit="roc_auc").fit(X, y)
    chosen = SVCCV(**options, refit=lambda found: 0).fit(X, y)
    assert several.cv_results_["params"] == one.cv_results_["params"]
    assert several.best_params_ == one.best_params_
    assert {"C": 0.1, "gamma": pytest.approx(0.1**0.5)} in chosen.cv_results_["params"]


def test_weights_count_in_every_score():
    X, y = two_classes(120)
    weight = np.arange(len(y)) % 4 + 0.5
    names = ["accuracy", "roc_auc"]
    found = SVCCV([1.0], [0.5], cv=3, scoring=names, refit="roc_auc").fit(X, y, weight)
    for name in names:
        one = SVCCV([1.0], [0.5], cv=3, scoring=name).fit(X, y, weight)
        assert found.cv_results_[f"mean_test_{name}"] == one.cv_results_["mean_test_score"]
    best = found.best_estimator_
    assert found.score(X, y, weight) == get_scorer("roc_auc")(best, X, y, sample_weight=weight)
    with pytest.raises(ValueError, match="takes none"):
        SVCCV([1.0], [0.5], scoring={"a": "accuracy", "b": of_two}, refit="a").fit(X, y, weight)


def test_metadata_are_routed_to_each_score():
    X, y = two_classes(120)
    weight = np.arange(len(y)) % 4 + 0.5
    with config_context(enable_metadata_routing=True):
        scoring = {
            "weighted": get_scorer("accuracy").set_score_request(sample_weight=True),
            "plain": get_scorer("accuracy").set_score_request(sample_weight=False),
        }
        estimator = SVC(tol=EXACT).set_fit_request(sample_weight=True)
        options = {"cv": 3, "scoring": scoring, "refit": "weighted"}
        ours = SVCCV(*GRID.values(), estimator=SVC(tol=EXACT), **options)
        theirs = GridSearchCV(estimator, GRID, **options)
        for one in (ours, theirs):
            one.fit(X, y, sample_weight=weight)
        assert_same_results(ours, theirs)
        assert (ours.cv_results_["mean_test_plain"] != ours.cv_results_["mean_test_weighted"]).any()
        plain, weighted = ours.score(X, y), ours.score(X, y, sample_weight=weight)
        assert weighted == theirs.score(X, y, sample_weight=weight) != plain
        scoring["unset"] = get_scorer("accuracy")
        raised = []
        for one in (ours, theirs):
            try:
                one.fit(X, y, sample_weight=weight)
            except UnsetMetadataPassedError:
                raised.append(one)
        assert len(raised) in (0, 2)  # scikit-learn 1.6 lets it pass


def test_in_cross_validation_the_score_is_the_one_that_decides():
    X, y = two_classes(90)
    options = {"Cs": [1.0], "gammas": [0.5], "cv": 3}
    several = SVCCV(**options, scoring=["accuracy", "f1"], refit="f1")
    one = SVCCV(**options, scoring="f1")
    np.testing.assert_array_equal(
        cross_val_score(several, X, y, cv=3), cross_val_score(one, X, y, cv=3)
    )
