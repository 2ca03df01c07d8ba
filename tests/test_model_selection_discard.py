"""Early discard: the safe rule never changes what is chosen; racing is a t-test."""

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer_names

from maxmargin import SVC, LinearSVRCV
from maxmargin.model_selection import SVCCV, SVRCV, OneClassSVMCV
from maxmargin.model_selection import search as searches
from maxmargin.model_selection.discard import AT_MOST_ONE, bound_of, hopeless, rounds
from maxmargin.model_selection.kernel_search import KernelSearch
from test_model_selection import EXACT, regression, two_classes

GRID = {"Cs": [0.01, 1.0, 100.0], "gammas": [1e-4, 1e-3, 0.01, 0.1, 1.0, 10.0]}


def test_nothing_that_could_win_is_discarded():
    """Whatever the scores on the missing folds, up to the bound."""
    random = np.random.default_rng(0)
    for _ in range(300):
        k = random.integers(2, 7)
        scores = random.integers(0, 5, size=(6, k)) / 4
        some = scores.copy()
        for row, folds in enumerate(random.integers(0, k + 1, size=6)):
            some[row, folds:] = np.nan
        out = hopeless(some, 1, 1.0)
        complete = ~np.isnan(some).any(axis=1)
        if not complete.any():
            assert not out.any()
            continue
        filled = np.where(np.isnan(some), 1.0, some)
        best = some[complete].mean(axis=1).max()
        np.testing.assert_array_equal(out, filled.mean(axis=1) < best - 1e-12)
    assert not hopeless(np.array([[0.9, 0.9], [0.8, np.nan]]), 1, 1.0)[1]  # a tie may win


def test_racing_is_the_corrected_t_test():
    random = np.random.default_rng(0)
    scores = random.random((8, 5))
    scores[:, 3:] = np.nan
    leader = scores[:, :3].mean(axis=1).argmax()
    out = hopeless(scores, 3, None)
    for row, own in enumerate(scores[:, :3]):
        d = scores[leader, :3] - own
        t = d.mean() / np.sqrt((1 / 3 + 1 / 4) * d.var(ddof=1)) if d.any() else 0.0
        assert out[row] == (stats.t.sf(t, 2) < 0.05)
    assert not out[leader]
    same = np.array([[0.9, 0.9, np.nan], [0.8, 0.8, np.nan], [0.9, 0.9, np.nan]])
    np.testing.assert_array_equal(hopeless(same, 2, None), [False, True, False])
    assert not hopeless(same, 1, None).any()


@pytest.mark.parametrize("scoring", [None, "balanced_accuracy", "neg_log_loss"])
@pytest.mark.parametrize("refine", [False, True])
def test_safe_discard_chooses_what_a_full_search_chooses(scoring, refine):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:200], y[:200]
    estimator = SVC(tol=EXACT, probability=scoring == "neg_log_loss")
    options = {**GRID, "cv": 5, "scale": "standard", "scoring": scoring, "estimator": estimator}
    whole = SVCCV(**options, refine=refine).fit(X, y)
    part = SVCCV(**options, refine=refine, discard="safe").fit(X, y)  # and does not warn
    assert part.best_params_ == whole.best_params_
    assert part.best_score_ == pytest.approx(whole.best_score_, rel=1e-4)
    results = part.cv_results_
    assert results["discarded"].any()
    np.testing.assert_array_equal(results["discarded"], results["n_splits_done"] < 5)
    assert results["rank_test_score"][part.best_index_] == 1
    assert not whole.cv_results_["discarded"].any()


def test_results_do_not_depend_on_the_number_of_jobs(monkeypatch):
    X, y = load_iris(return_X_y=True)
    fits, fit = [], KernelSearch._fit
    monkeypatch.setattr(searches, "SETTINGS", searches.Settings(alone=0))
    monkeypatch.setattr(
        KernelSearch, "_fit", lambda self, *rest: (fits.append(1), fit(self, *rest))[1]
    )
    for discard in ("safe", "racing"):
        tables, counts = [], []
        for jobs in (1, 2, 5):
            fits.clear()
            found = SVCCV(**GRID, cv=6, discard=discard, n_jobs=jobs).fit(X, y)
            tables.append(
                np.column_stack([found.cv_results_[f"split{k}_test_score"] for k in range(6)])
            )
            counts.append(len(fits))
        assert counts[0] == counts[1] == counts[2] < 18 * 6
        for other in tables[1:]:
            np.testing.assert_array_equal(tables[0], other)


def test_a_discarded_candidate_can_be_completed(monkeypatch):
    X, y = load_iris(return_X_y=True)
    fits, fit = [], KernelSearch._fit
    monkeypatch.setattr(
        KernelSearch, "_fit", lambda self, *rest: (fits.append(1), fit(self, *rest))[1]
    )
    search = SVCCV(**GRID, cv=4, discard="racing", warm_start=True).fit(X, y)
    first = len(fits)
    search.fit(X, y)
    assert len(fits) == first
    search.set_params(discard=None).fit(X, y)
    assert len(fits) == 18 * 4
    assert not search.cv_results_["discarded"].any()


def test_limits_and_other_machines():
    X, y = two_classes(120)
    with pytest.warns(ConvergenceWarning, match="0 of 72 fits"):
        SVCCV(**GRID, cv=4, discard="safe", time_limit=0).fit(X, y)
    Z, z = regression(80)
    for search in (
        SVRCV([0.1, 10.0], [1e-3, 0.1, 10.0], [0.1], cv=4, discard="racing"),
        LinearSVRCV([1e-4, 1.0], [1e-3, 0.1, 5.0], cv=4, discard="racing"),
    ):
        found = search.fit(Z, z)
        assert found.cv_results_["discarded"].any()
        assert found.best_score_ > 0.5
    labels = np.where(y == 1, 1, -1)
    OneClassSVMCV([0.2], [0.1, 1.0, 10.0], cv=4, discard="safe").fit(X, labels)


def test_scores_without_a_known_bound():
    X, y = two_classes(60)
    for scoring in (lambda model, X, y: 0.0, "mutual_info_score", "positive_likelihood_ratio"):
        with pytest.raises(ValueError, match="discard='safe' needs the greatest value"):
            SVCCV([1.0], [0.1], cv=3, scoring=scoring, discard="safe").fit(X, y)
    assert SVCCV([1.0], [0.1], cv=3, scoring=lambda *rest: 0.0, discard="racing").fit(X, y)
    with pytest.raises(ValueError, match="'discard' parameter"):
        SVCCV(discard="always").fit(X, y)
    assert set(AT_MOST_ONE) <= set(get_scorer_names())
    assert bound_of("neg_mean_squared_error", None, None) == 0.0


def test_every_fold_is_in_a_round():
    for folds in range(1, 8):
        assert [fold for some in rounds(folds) for fold in some] == list(range(folds))
