"""Whole-grid searches on odd input: little memory, unusual folds, scales, weights and labels."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

from maxmargin import SVC
from maxmargin.model_selection import SVCCV, base
from test_model_selection import C_GAMMA, EXACT, same_scores


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("weighted", [False, True])
def test_without_memory_for_the_values_the_scores_are_the_same(monkeypatch, store, weighted):
    """Pairs of classes, and samples of positive weight, are views of the view of a fold."""
    monkeypatch.setattr(base, "budget", lambda: 0.0)
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
