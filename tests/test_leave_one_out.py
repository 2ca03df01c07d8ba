"""The leave-one-out error against n fits, and its bounds against it."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from maxmargin import SVC, SVR, Kernel, NuSVC
from maxmargin.kernel import span
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.model_selection import SVCCV, leave_one_out
from maxmargin.monitor import Monitor

TIGHT = 1e-10


def two_classes(n=80, seed=0):
    return make_classification(
        n, 5, n_informative=4, n_redundant=0, flip_y=0.1, class_sep=0.8, random_state=seed
    )


def regression(n=70):
    X, y = make_regression(n, 4, noise=20, random_state=1)
    return X, y / y.std()


def loop(model, X, y, weight=None):
    """n fits: the model without each sample, and its decision values there."""
    fits, values = [], []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        own = None if weight is None else weight[rest]
        part = X[rest][:, rest] if model.kernel == "precomputed" else X[rest]
        at = X[i : i + 1][:, rest] if model.kernel == "precomputed" else X[i : i + 1]
        fitted = clone(model).set_params(tol=TIGHT).fit(part, y[rest], sample_weight=own)
        call = fitted.decision_function if is_classifier(model) else fitted.predict
        fits.append(fitted)
        values.append(call(at)[0])
    return fits, np.array(values)


def loop_error(model, fits, X, y, weight=None):
    """The error of the n fits."""
    found = np.array([fit.predict(X[i : i + 1])[0] for i, fit in enumerate(fits)])
    wrong = found != y if is_classifier(model) else np.abs(found - y)
    return np.average(wrong, weights=weight)


def small_problem(seed):
    """Few samples, weights or copies, any C: solutions without free variables included."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 20))
    X = rng.normal(size=(n, int(rng.integers(1, 4))))
    X = np.round(X) if seed % 3 == 0 else X
    y = np.where(rng.random(n) < rng.choice([0.3, 0.5]), 1, -1)
    y[:2], y[2:4] = 1, -1
    weight = None if seed % 2 else rng.integers(1, 4, n).astype(float)
    loss = "squared_hinge" if seed % 5 == 0 else "hinge"
    kernel = ["linear", "rbf"][seed % 4 < 2]
    C = 10.0 ** rng.uniform(-2, 3)
    model = SVC(C=C, kernel=kernel, gamma=1.0, loss=loss, tol=TIGHT)
    return model.fit(X, y, sample_weight=weight), X, y, weight


# ---- exact ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        SVC(C=0.05, gamma=0.2),
        SVC(C=1.0, gamma=0.2, class_weight={0: 1.0, 1: 3.0}),
        SVC(C=100.0, kernel="linear"),
        SVC(C=3.0, gamma=0.2, loss="squared_hinge"),
        SVC(C=3.0, gamma=0.2, loss="squared_hinge", solver="newton"),
        SVC(C=np.inf, gamma=1.0),
        SVR(C=2.0, gamma=0.1, epsilon=0.3),
        SVR(C=2.0, gamma=0.1, loss="squared_epsilon_insensitive"),
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_exact_is_that_of_n_fits(model, weighted):
    X, y = two_classes() if is_classifier(model) else regression()
    weight = np.random.default_rng(3).integers(1, 4, len(y)).astype(float) if weighted else None
    model.set_params(tol=TIGHT).fit(X, y, sample_weight=weight)
    found = leave_one_out(model, X, y, sample_weight=weight)
    fits, values = loop(model, X, y, weight)
    np.testing.assert_allclose(found.decision_values, values, atol=1e-6)
    assert found.error == pytest.approx(loop_error(model, fits, X, y, weight), abs=1e-7)
    assert set(np.flatnonzero(found.refitted)) == set(model.support_)
    assert found.certificate.status == "optimal"
    assert not found.upper_bound


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_several_classes(multiclass):
    X, y = load_iris(return_X_y=True)
    X, y = X[::2] + np.random.default_rng(0).normal(scale=0.3, size=X[::2].shape), y[::2]
    names = np.array(["c", "a", "b"])[y]
    model = SVC(C=5.0, gamma=0.3, tol=TIGHT, multiclass=multiclass, break_ties=True).fit(X, names)
    found = leave_one_out(model, X, names)
    fits, values = loop(model, X, names)
    np.testing.assert_allclose(found.decision_values, values, atol=1e-6)
    assert found.error == pytest.approx(loop_error(model, fits, X, names))
    assert found.error > 0


@pytest.mark.parametrize("kind", ["sparse", "precomputed", "callable"])
def test_every_kind_of_samples(kind):
    X, y = two_classes(50)
    plain = leave_one_out(SVC(C=2.0, gamma=0.3, tol=TIGHT).fit(X, y), X, y)
    if kind == "sparse":
        given, model = sparse.csr_matrix(X), SVC(C=2.0, gamma=0.3, tol=TIGHT)
    elif kind == "precomputed":
        given, model = rbf_kernel(X, gamma=0.3), SVC(C=2.0, kernel="precomputed", tol=TIGHT)
    else:
        given = X.tolist()
        model = SVC(C=2.0, kernel=lambda a, b: rbf_kernel(a, b, gamma=0.3), tol=TIGHT)
    found = leave_one_out(model.fit(given, y), given, y)
    np.testing.assert_allclose(found.decision_values, plain.decision_values, atol=1e-6)


@pytest.mark.parametrize("method", ["exact", "span", "xi-alpha"])
def test_data_frames(method):
    pd = pytest.importorskip("pandas")
    X, y = two_classes(40)
    table, labels = pd.DataFrame(X, columns=list("abcde")), pd.Series(y, index=np.arange(40) + 7)
    found = leave_one_out(SVC(gamma=0.3).fit(table, labels), table, labels, method)
    assert found.error == leave_one_out(SVC(gamma=0.3).fit(X, y), X, y, method).error


def test_gamma_and_class_weights_stay_those_of_the_model():
    X, y = two_classes()
    model = SVC(C=2.0, class_weight="balanced", tol=TIGHT).fit(X, y)
    weights = dict(enumerate(model.class_weight_))
    fixed = SVC(C=2.0, class_weight=weights, gamma=model.kernel_.gamma)
    _, values = loop(fixed, X, y)
    np.testing.assert_allclose(leave_one_out(model, X, y).decision_values, values, atol=1e-6)


@pytest.mark.parametrize("seed", range(40))
def test_solutions_without_free_variables(seed):
    """The intercept may then lie anywhere in an interval: that of a fit is its middle."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(12, 2)))
    y = np.array([0, 1] * 6)
    model = SVC(C=0.02, gamma=1.0, tol=TIGHT).fit(X, y)
    _, values = loop(model, X, y)
    np.testing.assert_allclose(leave_one_out(model, X, y).decision_values, values, atol=1e-6)


def test_a_sample_that_is_no_support_vector_may_be_the_end_of_the_intercepts_interval():
    """f(x) = x / 5 + b with -0.4 <= b <= 0.4; without x = 7 the lower end is -0.8."""
    X, y = np.array([[-7.0], [-1.0], [1.0], [7.0]]), np.array([0, 0, 1, 1])
    model = SVC(C=0.1, kernel="linear", tol=TIGHT).fit(X, y)
    assert model.support_.tolist() == [1, 2]
    found = leave_one_out(model, X, y)
    assert found.decision_values[3] == pytest.approx(7 / 5 - 0.2)
    assert found.refitted.all()
    np.testing.assert_allclose(found.decision_values, loop(model, X, y)[1], atol=1e-9)


def test_the_only_sample_of_a_class():
    X, y = np.array([[0.0], [1.0], [2.0], [5.0]]), np.array([0, 0, 0, 1])
    found = leave_one_out(SVC(kernel="linear").fit(X, y), X, y)
    assert found.decision_values[3] == -1.0
    assert found.error >= 0.25


def test_samples_of_weight_zero_do_not_count():
    X, y = two_classes(60)
    weight = np.repeat([1.0, 0.0], 30)
    found = leave_one_out(
        SVC(C=2, gamma=0.3, tol=TIGHT).fit(X, y, weight), X, y, sample_weight=weight
    )
    alone = leave_one_out(SVC(C=2, gamma=0.3, tol=TIGHT).fit(X[:30], y[:30]), X[:30], y[:30])
    assert found.error == pytest.approx(alone.error)
    np.testing.assert_allclose(found.decision_values[:30], alone.decision_values, atol=1e-6)


def test_more_samples_than_are_solved_as_one_matrix():
    X, _ = two_classes(1300)
    model = SVC(C=1e3, gamma=0.02, tol=1e-6).fit(X[:, :3] * [3, 1, 1], X[:, 0] > 0)
    Z, labels = X[:, :3] * [3, 1, 1], X[:, 0] > 0
    found = leave_one_out(model, Z, labels)
    assert 0 < found.refitted.sum() < 100
    for i in np.flatnonzero(found.refitted)[:5]:
        rest = np.arange(len(labels)) != i
        value = clone(model).fit(Z[rest], labels[rest]).decision_function(Z[i : i + 1])
        assert found.decision_values[i] == pytest.approx(value[0], abs=1e-3)


def test_no_time_leaves_an_upper_bound():
    X, y = two_classes()
    model = SVC(C=1.0, gamma=0.2).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="ended early"):
        found = leave_one_out(model, X, y, time_limit=0)
    whole = leave_one_out(model, X, y)
    assert found.upper_bound
    assert found.error >= whole.error
    assert not found.refitted.any()
    assert set(np.flatnonzero(np.isnan(found.decision_values))) == set(model.support_)


def test_no_time_for_a_regression():
    X, y = regression()
    with pytest.warns(ConvergenceWarning, match="ended early"):
        found = leave_one_out(SVR().fit(X, y), X, y, time_limit=0)
    assert np.isnan(found.error)
    assert not found.upper_bound


def test_progress(capsys):
    X, y = two_classes(40)
    leave_one_out(SVC(gamma=0.2).fit(X, y), X, y, verbose=1)
    assert "about 0 s left" in capsys.readouterr().err


def test_fits_that_do_not_converge_are_told():
    X, y = two_classes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SVC(C=1.0, gamma=0.2, max_iter=1).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="not every fit"):
        leave_one_out(model, X, y)


# ---- closed forms --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(100))
def test_xi_alpha_is_an_upper_bound(seed):
    model, X, y, weight = small_problem(seed)
    bound = leave_one_out(model, X, y, "xi-alpha", weight)
    fits, values = loop(model, X, y, weight)
    assert bound.upper_bound
    assert bound.error >= loop_error(model, fits, X, y, weight) - 1e-12
    assert (y * bound.decision_values <= y * values + 1e-6)[model.support_].all()


def test_xi_alpha_is_joachims_count():
    """2 a R^2 + xi >= 1, written out."""
    X, y = two_classes()
    X[:, 0] += 3 * y
    model = SVC(C=0.4, gamma=0.2, tol=TIGHT).fit(X, y)
    K, f = rbf_kernel(X, gamma=0.2), model.decision_function(X)
    a = np.zeros(len(y))
    a[model.support_] = np.abs(model.dual_coef_[0])
    xi = np.maximum(0, 1 - (2 * y - 1) * f)
    count = (2 * a * (K.max() - K.min()) + xi >= 1).mean()
    found = leave_one_out(model, X, y, "xi-alpha")
    assert found.error == pytest.approx(count)
    assert 0 < count < 1


def test_xi_alpha_of_an_indefinite_kernel_proves_nothing():
    X, y = two_classes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SVC(kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(X, y)
    assert model.certificate_.status == "stationary"
    assert not leave_one_out(model, X, y, "xi-alpha").upper_bound


def test_xi_alpha_says_something():
    X, y = two_classes(200)
    X[:, 0] += 6 * y
    model = SVC(C=0.3, gamma=0.2).fit(X, y)
    exact, bound = (leave_one_out(model, X, y, method).error for method in ("exact", "xi-alpha"))
    assert exact <= bound < 0.3


def span_of(K, i, others):
    """The squared distance to the affine hull of others, by least squares."""
    if len(others) == 1:
        return K[i, i] + K[others[0], others[0]] - 2 * K[i, others[0]]
    root = np.linalg.cholesky(K + 1e-13 * np.eye(len(K)))
    base = root[others[0]]
    directions = (root[others[1:]] - base).T
    step = root[i] - base
    rest = step - directions @ np.linalg.lstsq(directions, step, rcond=None)[0]
    return rest @ rest


@pytest.mark.parametrize("model", [SVC(C=2.0, gamma=0.5), SVR(C=2.0, gamma=0.5, epsilon=0.2)])
def test_span_is_the_distance_to_the_other_free_vectors(model):
    X, y = two_classes() if is_classifier(model) else regression()
    model.set_params(tol=TIGHT).fit(X, y)
    f = model.decision_function(X) if is_classifier(model) else model.predict(X)
    coef = np.zeros(len(y))
    coef[model.support_] = model.dual_coef_[0]
    free = np.flatnonzero((np.abs(coef) > 0) & (np.abs(coef) < model.C * (1 - 1e-9)))
    assert 2 < len(free) < len(model.support_) < len(y)
    K = rbf_kernel(X, gamma=0.5)
    spans = np.array([span_of(K, i, free[free != i]) for i in range(len(y))])
    found = leave_one_out(model, X, y, "span")
    np.testing.assert_allclose(found.decision_values, f - coef * spans, atol=1e-5)
    assert not found.upper_bound
    assert not found.refitted.any()


@pytest.mark.parametrize("squared", [False, True])
def test_span_is_exact_where_the_support_vectors_stay(squared):
    """All samples are free support vectors: least squares, whose leave-one-out is known."""
    X, y = regression(40)
    loss = "squared_epsilon_insensitive" if squared else "epsilon_insensitive"
    C = 5.0 if squared else 100.0
    model = SVR(C=C, epsilon=0.0, gamma=2.0, loss=loss, tol=TIGHT).fit(X, y)
    _, values = loop(model, X, y)
    found = leave_one_out(model, X, y, "span")
    np.testing.assert_allclose(found.decision_values, values, atol=1e-5)


@pytest.mark.parametrize("method", ["exact", "span"])
def test_searches_and_pipelines_are_unwrapped(method):
    X, y = two_classes()
    X = X * [1, 10, 100, 0.1, 3]
    search = SVCCV([1.0], [0.2], cv=3, scale="standard").fit(X, y)
    scaler, machine = search.best_estimator_
    expected = leave_one_out(machine, scaler.transform(X), y, method)
    for model in (search, search.best_estimator_):
        found = leave_one_out(model, X, y, method)
        np.testing.assert_array_equal(found.decision_values, expected.decision_values)
    with pytest.raises(TypeError, match="refit=False and holds no model"):
        leave_one_out(search.set_params(refit=False).fit(X, y), X, y)


def test_copies_have_no_span():
    X = np.array([[0.0, 0.0], [0.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    workspace = KernelWorkspace.of(Kernel.linear(), X, Monitor())
    free = np.array([True, True, True, False])
    function = span.Function(np.array([1.0, 2.0, -2.0, -1.0]), free, np.zeros(4))
    found = span.shifts(workspace.source, function, np.arange(4))
    np.testing.assert_allclose(found, [0.0, 0.0, 8.0, 1.0], atol=1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_kernel_that_is_not_positive_definite_has_no_span():
    X, y = two_classes()
    model = SVC(kernel="sigmoid", gamma=1.0, coef0=-2.0, C=10.0).fit(X, y)
    with pytest.raises(ValueError, match=r"positive definite beyond rounding: use method='exact'"):
        leave_one_out(model, X, y, "span")
    assert 0 <= leave_one_out(model, X, y, "xi-alpha").error <= 1


def test_without_another_free_vector_the_span_proves_nothing(capfd):
    X, y = np.array([[-1.0], [-1.0], [1.0], [1.0]]), np.array([0, 0, 1, 1])
    model = SVC(C=0.01, kernel="linear").fit(X, y)
    found = leave_one_out(model, X, y, "span")
    assert found.error == 1.0
    np.testing.assert_array_equal(found.decision_values, [np.inf, np.inf, -np.inf, -np.inf])
    assert capfd.readouterr() == ("", "")  # LAPACK complains of empty systems


# ---- bad input -----------------------------------------------------------------------------------


def test_bad_input():
    X, y = two_classes()
    model = SVC(gamma=0.2).fit(X, y)
    with pytest.raises(ValueError, match="method must be one of"):
        leave_one_out(model, X, y, "fast")
    with pytest.raises(ValueError, match="SVC or SVR, got NuSVC"):
        leave_one_out(NuSVC(nu=0.3).fit(X, y), X, y)
    with pytest.raises(ValueError, match="not fitted"):
        leave_one_out(SVC(), X, y)
    with pytest.raises(ValueError, match="not rows of X"):
        leave_one_out(model, X[::-1], y)
    with pytest.raises(ValueError, match="another number of samples"):
        leave_one_out(model, X[:50], y[:50])
    with pytest.raises(ValueError, match="other labels"):
        leave_one_out(model, X, y + 1)
    with pytest.raises(ValueError, match="for classifiers"):
        leave_one_out(SVR().fit(*regression()), *regression(), "xi-alpha")
    X, y = load_iris(return_X_y=True)
    for method in ("span", "xi-alpha"):
        with pytest.raises(ValueError, match="two classes"):
            leave_one_out(SVC().fit(X, y), X, y, method)


def test_a_result_is_one_line():
    X, y = two_classes(40)
    model = SVC().fit(X, y)
    exact, bound = leave_one_out(model, X, y), leave_one_out(model, X, y, "xi-alpha")
    count = exact.refitted.sum()
    assert repr(exact) == (
        f"<LeaveOneOut error {exact.error:.4g}: {count} of 40 samples left out by a fit>"
    )
    assert "error at most" in repr(bound)
