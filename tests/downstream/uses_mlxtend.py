"""mlxtend's stacking, voting, feature selection, resampling and plots with SVMs inside."""

import numpy as np
from mlxtend.classifier import EnsembleVoteClassifier, StackingClassifier, StackingCVClassifier
from mlxtend.evaluate import bias_variance_decomp, permutation_test
from mlxtend.feature_selection import SequentialFeatureSelector
from mlxtend.plotting import plot_decision_regions
from mlxtend.regressor import StackingCVRegressor, StackingRegressor
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import SVC, SVR, LinearSVC

X, y = load_iris(return_X_y=True)
A, z = load_diabetes(return_X_y=True)


def test_stacking_classifiers():
    for stack in (StackingClassifier, StackingCVClassifier):
        model = stack(
            classifiers=[SVC(), LinearSVC(random_state=0)], meta_classifier=LogisticRegression()
        )
        assert cross_val_score(model, X, y, cv=3).mean() > 0.9


def test_grid_search_of_a_stack():
    model = StackingClassifier(
        classifiers=[SVC(), LogisticRegression(max_iter=1000)], meta_classifier=SVC()
    )
    grid = GridSearchCV(model, {"svc__C": [0.1, 10.0], "meta_classifier__C": [1.0]}, cv=3).fit(X, y)
    assert grid.best_score_ > 0.9


def test_votes():
    model = EnsembleVoteClassifier(
        clfs=[SVC(), SVC(kernel="linear"), LogisticRegression(max_iter=1000)], voting="hard"
    )
    assert model.fit(X, y).score(X, y) > 0.95


def test_stacking_regressors():
    for stack in (StackingRegressor, StackingCVRegressor):
        model = stack(regressors=[SVR(), LinearRegression()], meta_regressor=SVR(kernel="linear"))
        assert cross_val_score(model, A, z / z.std(), cv=3).mean() > 0.35


def test_feature_selection():
    found = SequentialFeatureSelector(SVC(), k_features=2, cv=3).fit(X, y)
    assert found.k_score_ > 0.9
    assert set(found.k_feature_idx_) <= {0, 1, 2, 3}


def test_bias_and_variance():
    loss, _, _ = bias_variance_decomp(
        SVC(), X[::2], y[::2], X[1::2], y[1::2], num_rounds=10, random_seed=0
    )
    assert loss < 0.1


def test_permutation():
    f = SVC().fit(X, y > 0).decision_function(X)
    assert (
        permutation_test(f[y == 0], f[y > 0], method="approximate", num_rounds=100, seed=0) < 0.05
    )


def test_plot():
    model = SVC().fit(X[:, :2], y)
    axes = plot_decision_regions(X[:, :2], y, clf=model)
    assert len(axes.collections) > 0
    assert np.unique(model.predict(X[:, :2])).size == 3
