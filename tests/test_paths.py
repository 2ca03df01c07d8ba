"""Paths of C: each model is that of a lone fit, certified, on kernel values computed once."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.metrics.pairwise import rbf_kernel

from maxmargin import SVC, SVR
from maxmargin.model_selection import svc_path, svr_path

TIGHT = 1e-10
CS = [0.01, 0.1, 1.0, 10.0, 100.0]


def two_classes(n=120):
    return make_classification(
        n, 5, n_informative=4, n_redundant=0, flip_y=0.1, class_sep=0.8, random_state=0
    )


def regression(n=100):
    X, y = make_regression(n, 4, noise=20, random_state=1)
    return X, y / y.std()


def lone_fits(estimator, Cs, X, y, weight=None):
    return [clone(estimator).set_params(C=C).fit(X, y, sample_weight=weight) for C in Cs]


@pytest.mark.parametrize(
    "estimator",
    [
        SVC(tol=TIGHT),
        SVC(kernel="linear", class_weight="balanced", tol=TIGHT),
        SVC(gamma=0.2, loss="squared_hinge", tol=TIGHT),
        SVC(gamma=0.2, loss="squared_hinge", solver="newton", tol=TIGHT),
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_svc_models_are_those_of_lone_fits(estimator, weighted):
    X, y = two_classes()
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float) if weighted else None
    path = svc_path(X, y, CS[::-1], estimator=estimator, sample_weight=weight)
    np.testing.assert_array_equal(path.Cs, CS)
    kept = np.ones(len(y)) if weight is None else weight
    for k, lone in enumerate(lone_fits(estimator, CS, X, y, weight)):
        model = path.models[k]
        assert CS[k] == model.C
        assert model.kernel_ == lone.kernel_
        assert path.certificates[k].status == "optimal"
        assert model.certify(X, y, sample_weight=weight).status == "optimal"
        f = lone.decision_function(X)
        np.testing.assert_allclose(model.decision_function(X), f, atol=1e-6 * np.abs(f).max())
        primal = lone.certificate_.primal
        assert path.objectives[k] == pytest.approx(primal, rel=1e-7)
        assert path.errors[k] == pytest.approx(np.average(lone.predict(X) != y, weights=kept))
        K = rbf_kernel(X, gamma=lone.kernel_.gamma) if lone.kernel == "rbf" else X @ X.T
        b = np.zeros(len(y))
        b[lone.support_] = lone.dual_coef_[0]
        assert path.norms[k, 0] == pytest.approx(np.sqrt(b @ K @ b), rel=1e-6)


def test_numbers_by_sample():
    X, y = two_classes()
    path = svc_path(X, y, CS, estimator=SVC(gamma=0.2, tol=TIGHT))
    assert path.dual_coef.shape == (5, 1, len(y))
    for C, b, count, bound, model in zip(
        CS, path.dual_coef[:, 0], path.n_support, path.n_bound, path.models, strict=True
    ):
        np.testing.assert_array_equal(np.flatnonzero(b), np.sort(model.support_))
        np.testing.assert_array_equal(np.sign(b[b != 0]), np.where(y[b != 0] == 1, 1, -1))
        assert count == len(model.support_)
        assert bound == np.isclose(np.abs(b), C, rtol=1e-8).sum()
        assert abs(b.sum()) < 1e-8 * C * len(y)
    assert 0 < path.n_bound[2] < path.n_support[2] < len(y)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_svr_models_are_those_of_lone_fits(loss):
    X, y = regression()
    estimator = SVR(epsilon=0.2, loss=loss, tol=TIGHT)
    path = svr_path(X, y, CS, estimator=estimator)
    for k, lone in enumerate(lone_fits(estimator, CS, X, y)):
        assert path.certificates[k].status == "optimal"
        f = lone.predict(X)
        np.testing.assert_allclose(path.models[k].predict(X), f, atol=1e-6)
        assert path.errors[k] == pytest.approx(np.abs(f - y).mean(), abs=1e-7)
    assert (path.n_bound == 0).all() == loss.startswith("squared")


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    names = np.array(["c", "a", "b"])[y]
    path = svc_path(X, names, [1.0, 30.0], estimator=SVC(tol=TIGHT))
    assert path.dual_coef.shape == (2, 3, 150)
    for k, lone in enumerate(lone_fits(SVC(tol=TIGHT), [1.0, 30.0], X, names)):
        np.testing.assert_array_equal(path.models[k].predict(X), lone.predict(X))
        assert path.n_support[k] == lone.n_support_.sum()
        assert path.errors[k] == np.mean(lone.predict(X) != names)


@pytest.mark.parametrize("kind", ["sparse", "precomputed", "callable"])
def test_every_kind_of_samples(kind):
    X, y = two_classes(60)
    plain = svc_path(X, y, CS, estimator=SVC(gamma=0.3, tol=TIGHT))
    given, kernel = {
        "sparse": (sparse.csr_matrix(X), "rbf"),
        "precomputed": (rbf_kernel(X, gamma=0.3), "precomputed"),
        "callable": (X.tolist(), lambda a, b: rbf_kernel(a, b, gamma=0.3)),
    }[kind]
    gamma = 0.3 if kind == "sparse" else "scale"
    path = svc_path(given, y, CS, estimator=SVC(kernel=kernel, gamma=gamma, tol=TIGHT))
    np.testing.assert_allclose(path.norms, plain.norms, rtol=1e-5)
    for one, other in zip(path.models, plain.models, strict=True):
        f = other.decision_function(X)
        np.testing.assert_allclose(one.decision_function(given), f, atol=1e-6)


def test_kernel_values_are_computed_once():
    X, y = two_classes()
    entries = []

    def kernel(a, b):
        entries.append(len(a) * len(b))
        return rbf_kernel(a, b, gamma=0.3)

    path = svc_path(X, y, CS, estimator=SVC(kernel=kernel))
    assert [one.status for one in path.certificates] == ["optimal"] * 5
    assert sum(entries) == len(y) ** 2


def test_later_fits_start_from_earlier_ones():
    """The same C again takes no steps; a path takes fewer than lone fits."""
    X, y = two_classes(3000)
    estimator = SVC(gamma=0.1, tol=1e-4)
    Cs = np.geomspace(1, 2, 4)
    steps = sum(one.n_iter for one in svc_path(X, y, Cs, estimator=estimator).certificates)
    alone = sum(one.certificate_.n_iter for one in lone_fits(estimator, Cs, X, y))
    assert steps < alone


def test_a_number_of_values():
    X, y = two_classes(40)
    path = svc_path(X, y, 7)
    np.testing.assert_allclose(path.Cs, np.geomspace(1e-2, 1e4, 7))
    assert repr(path) == "<CPath of 7 SVC, C from 0.01 to 10000: optimal>"


def test_names_of_features_and_inputs_stay():
    pd = pytest.importorskip("pandas")
    X, y = two_classes(40)
    table, estimator = pd.DataFrame(X, columns=list("abcde")), SVC(C=7.0)
    path = svc_path(table, y, [1.0], estimator=estimator)
    assert list(path.models[0].feature_names_in_) == list("abcde")
    assert estimator.C == 7.0
    assert not hasattr(estimator, "model_")


def test_bad_input():
    X, y = two_classes(40)
    with pytest.raises(ValueError, match="estimator must be an SVC, got SVR"):
        svc_path(X, y, estimator=SVR())
    with pytest.raises(ValueError, match="Cs must be positive and finite"):
        svc_path(X, y, [0.0, 1.0])
    with pytest.raises(ValueError, match="tol"):
        svr_path(X, y, estimator=SVR(tol=-1))
    with pytest.raises(ValueError, match="number of classes"):
        svc_path(X, np.zeros(40, int))
