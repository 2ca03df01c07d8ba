"""Whole-grid searches on odd input: little memory, unusual folds, scales, weights and labels."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning, UndefinedMetricWarning
from sklearn.model_selection import KFold, LeaveOneOut
from sklearn.preprocessing import StandardScaler

import needs
from maxmargin import SVC, SVR, LinearSVCCV, OneClassSVM
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.model_selection import SVCCV, SVRCV, OneClassSVMCV, kernel_cv
from test_model_selection import C_GAMMA, EXACT, regression, same_scores, two_classes


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("weighted", [False, True])
def test_without_memory_for_the_values_the_scores_are_the_same(monkeypatch, store, weighted):
    """Pairs of classes, and samples of positive weight, are views of the view of a fold."""
    monkeypatch.setattr(kernel_cv, "budget", lambda: 0.0)
    X, y = load_iris(return_X_y=True)
    y = np.where(weighted & (y == 2), 0, y)
    weight = {"sample_weight": (np.arange(len(y)) % 3 > 0) * 1.0} if weighted else {}
    search = SVCCV(C_GAMMA["C"], C_GAMMA["gamma"], estimator=SVC(tol=EXACT))
    if not weighted:
        same_scores(search, store(X), y, C_GAMMA)
        return
    found = search.fit(store(X), y, **weight).cv_results_
    monkeypatch.undo()
    wanted = search.fit(store(X), y, **weight).cv_results_
    np.testing.assert_array_equal(found["mean_test_score"], wanted["mean_test_score"])


@pytest.mark.parametrize("count", [3, 4])
def test_few_candidates_of_a_kernel_are_not_worth_its_values(monkeypatch, count):
    stored, calls = KernelWorkspace.stored, []
    monkeypatch.setattr(
        KernelWorkspace, "stored", lambda self, *into: (calls.append(1), stored(self, *into))[1]
    )
    grid = {"C": [0.1, 1.0, 10.0, 100.0][:count], "gamma": [0.1, 1.0]}
    search = SVCCV(grid["C"], grid["gamma"], estimator=SVC(tol=EXACT))
    same_scores(search, *two_classes(), grid)
    assert bool(calls) == (count == 4)


def halves(n):
    return np.arange(n) % 2 == 0, np.arange(n) % 2 == 1


@pytest.mark.parametrize(
    "folds",
    [
        lambda n: [halves(n), halves(n)[::-1]],
        lambda n: [(np.arange(-n, -9), np.arange(-9, 0))],
        lambda n: [(np.random.RandomState(0).randint(0, n, n), [5, 5, 7])],
        lambda n: [(np.arange(n), np.arange(n))],
    ],
    ids=["masks", "negative", "repeated", "all"],
)
def test_folds_as_scikit_learn_takes_them(folds):
    X, y = two_classes(120)
    search = SVCCV(C_GAMMA["C"], C_GAMMA["gamma"], cv=folds(120), estimator=SVC(tol=EXACT))
    same_scores(search, X, y, C_GAMMA)


def test_no_folds_are_refused():
    with pytest.raises(ValueError, match="cv has no folds"):
        SVCCV(2, 2, cv=[]).fit(*two_classes(40))


def test_a_fitted_grid_of_gammas_is_of_the_scaled_data():
    X, y = two_classes(200)
    units = np.array([1e6, 1, 1, 1e-3, 1, 1])
    ours = SVCCV(3, 3, scale="standard").fit(X * units, y)
    wanted = SVCCV(3, 3).fit(StandardScaler().fit_transform(X), y)
    gammas = [one.cv_results_["param_gamma"].data for one in (ours, wanted)]
    np.testing.assert_allclose(*gammas, rtol=1e-9)


def test_kernel_values_are_not_scaled():
    X, y = two_classes(60)
    search = SVCCV(2, scale="standard", estimator=SVC(kernel="precomputed"))
    with pytest.raises(ValueError, match="scale='standard' needs features"):
        search.fit(X @ X.T, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_indefinite_kernel_has_the_scores_of_fits_on_their_own():
    X, y = two_classes(80)
    grid = {"C": [0.1, 1.0, 100.0], "gamma": [0.01, 0.3, 2.0]}
    search = SVCCV(grid["C"], grid["gamma"], estimator=SVC(kernel="sigmoid"))
    same_scores(search, X, y, grid)


@pytest.mark.parametrize("tubes", [[0.1, 10.0], [0.0, 0.1]], ids=["wide", "zero"])
def test_tubes_wider_than_the_targets_and_of_no_width(tubes):
    X, y = regression(80)
    grid = {"C": [0.1, 100.0], "epsilon": tubes, "gamma": [0.05, 0.5]}
    search = SVRCV(grid["C"], grid["gamma"], grid["epsilon"], cv=3, estimator=SVR(tol=EXACT))
    same_scores(search, X, y, grid)
    with pytest.raises(ValueError, match="epsilons must be finite and not negative"):
        SVRCV(epsilons=[-1.0]).fit(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_costs_whose_ratio_overflows():
    found = SVCCV([1e-300, 1e300], [0.1], cv=3).fit(*two_classes(60))
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()


def test_negative_weights_are_refused_before_any_fit(recwarn):
    X, y = two_classes(60)
    with pytest.raises(ValueError, match="1 negative values"):
        SVCCV(2, 2).fit(X, y, sample_weight=np.r_[-1.0, np.ones(59)])
    assert not recwarn.list


def test_one_class_search_on_kernel_values_takes_every_column():
    X, y = two_classes(90)
    label, K = np.where(y == 1, 1, -1), np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))
    found = OneClassSVMCV([0.2], estimator=OneClassSVM(kernel="precomputed")).fit(K, label)
    alone = OneClassSVM(nu=0.2, gamma=0.3).fit(X[y == 1])
    np.testing.assert_allclose(found.decision_function(K), alone.decision_function(X), atol=1e-6)


# ---- grids, folds and limits ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("Cs", "message"),
    [
        (10**400, "more than 1000 were asked for"),
        (1001, "more than 1000 were asked for"),
        ([10**400], "Cs must be numbers"),
        ([[1, 2]], "Cs must be numbers"),
        (True, "Cs must be numbers"),
        ([1, None], "Cs must be positive"),
        ({1, 2}, "Cs must be numbers"),
        (-3, "positive number of values"),
    ],
    ids=str,
)
def test_grids_that_are_none(Cs, message):
    X, y = two_classes(40)
    for search in (SVCCV(Cs), LinearSVCCV(Cs), SVRCV(Cs)):
        with pytest.raises(ValueError, match=message):
            search.fit(X, y)


def test_repeated_values_are_tried_once():
    X, y = two_classes(40)
    found = SVCCV([1, 1.0, 2, np.float32(2)], [0.1, 0.1], cv=2).fit(X, y)
    assert [one["C"] for one in found.cv_results_["params"]] == [1.0, 2.0]


def test_a_template_is_refused_before_any_fit():
    X, y = two_classes(40)
    with pytest.raises(ValueError, match="'tol' parameter of SVC"):
        SVCCV(estimator=SVC(tol=-1)).fit(X, y)
    with pytest.raises(ValueError, match="'kernel' parameter of SVC"):
        SVCCV(estimator=SVC(kernel="rfb")).fit(X, y)
    with pytest.raises(ValueError, match=r"use estimator=SVC\(probability=True\)"):
        SVCCV(scoring="neg_log_loss").fit(X, y)


def test_folds_without_samples_and_folds_that_are_used_up():
    X, y = two_classes(40)
    with pytest.raises(ValueError, match="Fold 1 of cv has no training or no test samples"):
        SVCCV(2, 2, cv=[halves(40), (np.arange(40), [])]).fit(X, y)
    once = iter([halves(40)])
    search = SVCCV([1.0], [0.1], cv=once).fit(X, y)
    with pytest.raises(ValueError, match="A generator gives its folds once"):
        search.fit(X, y)


def test_without_time_it_is_the_middle_of_the_grid():
    X, y = two_classes(40)
    with pytest.warns(ConvergenceWarning, match="0 of 30 fits are done, and .* middle of the grid"):
        found = SVCCV([1, 2, 4], [0.1, 1, 3, 7, 9], cv=2, time_limit=0).fit(X, y)
    assert found.best_params_ == {"C": 2.0, "gamma": 3.0}


def test_a_limit_of_each_fit_does_not_end_the_search():
    X, y = two_classes(80)
    with pytest.warns(ConvergenceWarning):
        found = SVCCV([1, 2], [0.1, 1], cv=2, estimator=SVC(time_limit=0.0)).fit(X, y)
    assert (found.cv_results_["n_splits_done"] == 2).all()
    assert set(found.cv_results_["status"]) == {"time_limit"}


def test_leaving_one_out():
    X, y = regression(14)
    search = SVRCV(
        [1.0],
        [0.1],
        [0.1],
        cv=LeaveOneOut(),
        scoring="neg_mean_squared_error",
        estimator=SVR(tol=EXACT),
    )
    same_scores(search, X, y, {"C": [1.0], "gamma": [0.1], "epsilon": [0.1]})
    with (
        pytest.warns(UndefinedMetricWarning),
        pytest.raises(ValueError, match="the score is NaN"),
    ):
        SVRCV([1.0], [0.1], [0.1], cv=LeaveOneOut()).fit(X, y)


def test_a_fold_without_weight_has_no_score():
    X, y = two_classes(60)
    weight = np.r_[np.zeros(20), np.ones(40)]
    for search in (SVCCV([1.0], [0.1], cv=KFold(3)), LinearSVCCV([1.0], cv=KFold(3))):
        with pytest.warns(FitFailedWarning, match="1 of 3"):
            search.fit(X, y, weight)
        assert np.isnan(search.cv_results_["split0_test_score"]).all()
        assert np.isfinite(search.best_score_)


@pytest.mark.parametrize(
    "labels",
    [
        lambda y: np.array(["no", "yes"])[y],
        lambda y: y > 0,
        lambda y: np.array(["no", "yes"], dtype=object)[y],
        lambda y: (y * 10**12).tolist(),
    ],
    ids=["words", "booleans", "objects", "large numbers"],
)
def test_labels_of_any_kind(labels):
    X, y = two_classes(60)
    given = labels(y)
    found = SVCCV([1.0, 9.0], [0.1], cv=3, scale="standard").fit(X, given)
    plain = SVCCV([1.0, 9.0], [0.1], cv=3, scale="standard").fit(X, y)
    np.testing.assert_array_equal(
        found.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
    )
    np.testing.assert_array_equal(
        found.predict(X),
        np.asarray(given)[[np.flatnonzero(y == one)[0] for one in plain.predict(X)]],
    )


def test_frames():
    X, y = two_classes(60)
    plain = SVCCV([1.0], [0.1], cv=3, scale="standard").fit(X, y)
    for name in ("pandas", "polars"):
        package = needs.package(name)
        frame = package.DataFrame({f"f{k}": X[:, k] for k in range(6)})
        found = SVCCV([1.0], [0.1], cv=3, scale="standard").fit(frame, package.Series(y))
        assert list(found.feature_names_in_) == [f"f{k}" for k in range(6)]
        assert found.best_score_ == plain.best_score_
        np.testing.assert_array_equal(found.predict(frame), plain.predict(X))


def test_a_fitted_search_is_copied_and_goes_on():
    X, y = two_classes(60)
    search = SVCCV([1.0, 9.0], [0.1], cv=3, scale="standard", warm_start=True).fit(X, y)
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(again.decision_function(X), search.decision_function(X))
    before = again.cv_results_["mean_fit_time"].copy()
    np.testing.assert_array_equal(again.fit(X, y).cv_results_["mean_fit_time"], before)
    assert not hasattr(clone(search), "best_params_")


def test_the_estimator_of_another_library_is_named():
    from sklearn.svm import SVC as Theirs

    X, y = two_classes(40)
    with pytest.raises(ValueError, match=r"maxmargin.SVC or None, got an instance of sklearn\.svm"):
        SVCCV(estimator=Theirs()).fit(X, y)
    with pytest.raises(ValueError, match=r"got the class maxmargin\..*SVC\."):
        SVCCV(estimator=SVC).fit(X, y)
