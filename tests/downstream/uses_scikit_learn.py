"""Ten scripts in the manner of scikit-learn's gallery of SVM examples; a warning is an error.

`sklearn.svm` is whatever the names mean in this run, `_classes` holds scikit-learn's own
estimators.
"""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn import svm
from sklearn.datasets import load_iris, make_blobs
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler
from sklearn.svm import _classes

pytestmark = pytest.mark.filterwarnings("error")

X, y = load_iris(return_X_y=True)
PLANE = X[:, :2]
WITHIN = 2e-3
"""How near decision values must be, relative to the greatest: scikit-learn's own tol is 1e-3."""


@pytest.fixture(autouse=True)
def figures():
    yield
    plt.close("all")


def agree(model, X, y, **fit):
    """Decision values, or predictions, equal those of scikit-learn's estimator with a small tol."""
    defaults = type(model)().get_params()
    given = {name: value for name, value in model.get_params().items() if value != defaults[name]}
    theirs = getattr(_classes, type(model).__name__)(**given, tol=1e-8).fit(X, y, **fit)
    method = "decision_function" if hasattr(model, "decision_function") else "predict"
    expected = getattr(theirs, method)(X)
    found = getattr(model.fit(X, y, **fit), method)(X)
    np.testing.assert_allclose(found, expected, atol=WITHIN * np.abs(expected).max())


def draw(model, X, **options):
    """The regions or lines of a classifier."""
    return DecisionBoundaryDisplay.from_estimator(model, X, grid_resolution=50, **options)


def margins(model, X):
    """The boundary, the margin and the support vectors of two classes."""
    draw(
        model, X, plot_method="contour", colors="k", levels=[-1, 0, 1], linestyles=["--", "-", "--"]
    )
    chosen = getattr(model, "support_vectors_", X)
    plt.scatter(chosen[:, 0], chosen[:, 1], s=100, facecolors="none", edgecolors="k")


def test_kernels_on_iris():
    models = [
        svm.SVC(kernel="linear"),
        svm.LinearSVC(max_iter=10_000),
        svm.SVC(gamma=0.7),
        svm.SVC(kernel="poly", degree=3, gamma="auto"),
    ]
    for model in models:
        assert model.fit(PLANE, y).score(PLANE, y) >= 0.8
        draw(model, PLANE, response_method="predict", multiclass_colors="coolwarm")
        assert type(model).__name__ in repr(model)


def test_regression():
    points = np.sort(5 * np.random.RandomState(0).rand(40, 1), axis=0)
    z = np.sin(points).ravel()
    z[::5] += 3 * (0.5 - np.random.RandomState(1).rand(8))
    for model in [
        svm.SVR(C=100, gamma=0.1, epsilon=0.1),
        svm.SVR(kernel="linear", C=100, gamma="auto"),
        svm.SVR(kernel="poly", C=1, gamma="auto", degree=3, epsilon=0.1, coef0=1),
    ]:
        agree(model, points, z)
        plt.plot(points, model.predict(points))
        plt.scatter(points[model.support_], z[model.support_])
        assert model.n_support_.sum() == len(model.support_) == len(model.support_vectors_)


def test_one_class():
    rng = np.random.RandomState(0)
    blob = 0.3 * rng.randn(120, 2)
    points = np.r_[blob + 2, blob - 2]
    model = svm.OneClassSVM(nu=0.1, kernel="rbf", gamma=0.1)
    agree(model, points, None)
    assert 0 < np.sum(model.predict(points) == -1) <= 25
    assert np.all(model.predict([[0.0, 4.0], [4.0, -4.0]]) == -1)
    for method in ("contourf", "contour"):
        draw(model, points, response_method="decision_function", plot_method=method)
    draw(model, points, response_method="predict")


def test_weighted_samples():
    rng = np.random.RandomState(0)
    points = np.r_[rng.randn(10, 2) + 1, rng.randn(10, 2)]
    label = np.repeat([1, -1], 10)
    weight = np.abs(rng.randn(20))
    weight[15:] *= 5
    weight[9] *= 15
    model = svm.SVC(gamma=1)
    agree(model, points, label)
    agree(model, points, label, sample_weight=weight)
    draw(model, points, response_method="decision_function", alpha=0.5)


def test_separating_hyperplane():
    points, label = make_blobs(n_samples=40, centers=2, random_state=6)
    model = svm.SVC(kernel="linear", C=1000)
    agree(model, points, label)
    margins(model, points)
    assert model.coef_.shape == (1, 2)
    np.testing.assert_allclose(
        np.abs(model.decision_function(model.support_vectors_)), 1, rtol=WITHIN
    )


def test_ties():
    points, label = make_blobs(random_state=27)
    grid = np.dstack(np.meshgrid(np.linspace(-12, 12, 100), np.linspace(-12, 12, 100))).reshape(
        -1, 2
    )
    counts = []
    for ties in (False, True):
        model = svm.SVC(kernel="linear", C=1, break_ties=ties, decision_function_shape="ovr")
        counts.append(np.bincount(model.fit(points, label).predict(grid), minlength=3))
        assert model.coef_.shape == (3, 2)
    assert np.any(counts[0] != counts[1])
    with pytest.raises(
        ValueError, match="break_ties must be False when decision_function_shape is 'ovo'"
    ):
        svm.SVC(break_ties=True, decision_function_shape="ovo").fit(points, label).predict(grid)


def test_grid_of_rbf_parameters():
    scaled = StandardScaler().fit_transform(X)
    grid = {"gamma": np.logspace(-9, 3, 5), "C": np.logspace(-2, 10, 5)}
    splits = StratifiedShuffleSplit(n_splits=2, test_size=0.2, random_state=42)
    found = GridSearchCV(svm.SVC(), param_grid=grid, cv=splits).fit(scaled, y)
    assert found.best_score_ > 0.9
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("C", [1, 100])
def test_support_vectors_of_a_linear_model(C):
    points, label = make_blobs(n_samples=40, centers=2, random_state=0)
    model = svm.LinearSVC(C=C, loss="hinge", random_state=42, max_iter=100_000)
    agree(model, points, label)
    f = model.decision_function(points)
    np.testing.assert_allclose(f, points @ model.coef_[0] + model.intercept_[0])
    assert np.sum(np.abs(f) <= 1 + 1e-3) >= 3
    margins(model, points)


def test_kernel_function():
    def kernel(A, B):
        return A @ np.diag([2.0, 1.0]) @ B.T

    model = svm.SVC(kernel=kernel).fit(PLANE, y)
    draw(
        model,
        PLANE,
        response_method="predict",
        plot_method="pcolormesh",
        multiclass_colors="Paired",
        shading="auto",
    )
    matrix = kernel(PLANE, PLANE)
    expected = svm.SVC(kernel="precomputed").fit(matrix, y).predict(matrix)
    np.testing.assert_array_equal(model.predict(PLANE), expected)


def test_margin():
    rng = np.random.RandomState(0)
    points = np.r_[rng.randn(20, 2) - 2, rng.randn(20, 2) + 2]
    label = [0] * 20 + [1] * 20
    widths = []
    for C in (1, 0.05):
        model = svm.SVC(kernel="linear", C=C)
        agree(model, points, label)
        widths.append(1 / np.linalg.norm(model.coef_))
        margins(model, points)
    assert widths[0] < widths[1]
