"""Searches that prepare their samples by a transformer inside each fold."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer, StandardScaler

from maxmargin import SVC, OneClassSVM
from maxmargin.model_selection import SVCCV, OneClassSVMCV
from test_model_selection import EXACT, scores, two_classes

GRID = {"C": [0.3, 10.0], "gamma": [0.1, 1.0]}


def same_as_a_pipeline(scale, X, y, **options):
    """The scores of GridSearchCV on a pipeline of the transformer and the machine."""
    ours = SVCCV(GRID["C"], GRID["gamma"], cv=3, scale=scale, estimator=SVC(tol=EXACT), **options)
    pipe = Pipeline([("scale", clone(scale)), ("machine", SVC(tol=EXACT))])
    grid = {f"machine__{name}": values for name, values in GRID.items()}
    theirs = GridSearchCV(pipe, grid, cv=3, **options).fit(X, y)
    found = scores(ours.fit(X, y).cv_results_, list(GRID))
    for key, values in scores(theirs.cv_results_, list(grid)).items():
        np.testing.assert_allclose(found[key], values, rtol=1e-5, err_msg=str(key))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    return ours


@pytest.mark.parametrize(
    "scale",
    [
        PCA(3),
        SelectKBest(k=2),
        make_pipeline(StandardScaler(), PCA(4)),
        StandardScaler().set_output(transform="pandas"),
    ],
    ids=["pca", "best features", "pipeline", "frames"],
)
def test_any_transformer_prepares_each_fold(scale):
    X, y = two_classes(150)
    found = same_as_a_pipeline(scale, X * [1, 10, 0.1, 1, 1, 5], y)
    assert found.n_features_in_ == 6
    assert not hasattr(scale, "n_features_in_")


def test_mixed_tables():
    pandas = pytest.importorskip("pandas")
    X, y = two_classes(150)
    frame = pandas.DataFrame(X[:, :2], columns=["a", "b"])
    frame["colour"] = np.where(X[:, 2] > 0, "red", np.where(X[:, 3] > 0, "green", "blue"))
    scale = make_column_transformer(
        (StandardScaler(), ["a", "b"]), (OneHotEncoder(handle_unknown="ignore"), ["colour"])
    )
    found = same_as_a_pipeline(scale, frame, y)
    assert list(found.feature_names_in_) == ["a", "b", "colour"]
    grid = SVCCV(2, 3, cv=3, scale=scale).fit(frame, y)
    assert len(grid.cv_results_["params"]) == 6


def test_texts():
    words = np.array(["good film", "bad film", "very good", "very bad", "a film", "good"] * 8)
    y = np.array([1, 0, 1, 0, 0, 1] * 8)
    found = same_as_a_pipeline(TfidfVectorizer(), list(words), y)
    assert found.predict(["good good", "bad bad"]).tolist() == [1, 0]


def test_a_users_score_sees_the_samples_as_they_were_given():
    X, y = two_classes(120)
    seen = []

    def score(model, X, y):
        seen.append(X)
        return model.score(X, y)

    same_as_a_pipeline(StandardScaler(), X * 100, y, scoring=score)
    assert all(np.abs(one).max() > 100 for one in seen)


class Weighed(TransformerMixin, BaseEstimator):
    """Notes the samples and weights that it is fitted with."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y=None, sample_weight=None):
        self.seen.append((len(X), len(y), None if sample_weight is None else sample_weight.sum()))
        self.fitted_ = True
        return self

    def transform(self, X):
        return X


def test_weights_reach_a_transformer_that_takes_them():
    X, y = two_classes(60)
    weight = np.r_[np.zeros(10), np.full(50, 2.0)]
    Weighed.seen.clear()
    SVCCV([1.0], [0.5], cv=KFold(2), scale=Weighed()).fit(X, y, weight)
    assert Weighed.seen[-3:] == [(30, 30, 60.0), (30, 30, 40.0), (60, 60, 100.0)]
    ranks = QuantileTransformer(n_quantiles=5)
    found = SVCCV([1.0], [0.5], cv=KFold(2), scale=ranks).fit(X, y, weight)
    alone = QuantileTransformer(n_quantiles=5).fit(X[10:])
    np.testing.assert_array_equal(found.best_estimator_[0].quantiles_, alone.quantiles_)


def test_one_class_machines_prepare_by_the_inliers():
    X, y = two_classes(90)
    labels = np.where(y == 1, 1, -1)
    found = OneClassSVMCV([0.2], [0.1], cv=KFold(3), scale=StandardScaler()).fit(X, labels)
    inside = StandardScaler().fit(X[y == 1])
    alone = OneClassSVM(nu=0.2, gamma=0.1).fit(inside.transform(X[y == 1]))
    np.testing.assert_allclose(
        found.decision_function(X), alone.decision_function(inside.transform(X)), atol=1e-10
    )


def test_what_is_no_transformer_is_refused():
    X, y = two_classes(60)
    for odd in ("robust", 3, SVC()):
        with pytest.raises(ValueError, match="'scale' parameter"):
            SVCCV(scale=odd).fit(X, y)
    with pytest.raises(ValueError, match="needs features"):
        SVCCV(scale=PCA(2), estimator=SVC(kernel="precomputed")).fit(X @ X.T, y)
