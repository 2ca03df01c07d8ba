"""Converting fitted models from and to scikit-learn keeps their decision values."""

import warnings

import numpy as np
import pytest
import sklearn.svm
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.svm import _classes as theirs

import needs
from helpers import assert_close, binary, three
from maxmargin import SVC, LinearOneClassSVM, LinearSVC, NuSVC, io
from maxmargin.estimators.records import restore
from maxmargin.kernel.model import imported
from models import KERNEL, LINEAR


def fitted(cls, wrap=np.asarray, data=three, **parameters):
    X, y = data()
    target = X[:, 0] + 0.3 * y if "SVR" in cls.__name__ else y
    return cls(**parameters).fit(wrap(X), target), wrap(X), target


def values(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


CASES = {
    "SVC": (theirs.SVC, {}),
    "SVC-binary": (theirs.SVC, {"data": binary}),
    "SVC-sparse": (theirs.SVC, {"wrap": sparse.csr_matrix}),
    "SVC-poly": (theirs.SVC, {"kernel": "poly", "coef0": 1.0, "degree": 2}),
    "SVC-sigmoid": (theirs.SVC, {"kernel": "sigmoid", "gamma": 0.01}),
    "SVC-linear": (theirs.SVC, {"kernel": "linear", "decision_function_shape": "ovo"}),
    "SVC-balanced": (theirs.SVC, {"class_weight": "balanced", "break_ties": True}),
    "SVC-precomputed": (theirs.SVC, {"kernel": "precomputed", "wrap": lambda X: X @ X.T}),
    "NuSVC": (theirs.NuSVC, {"nu": 0.3}),
    "SVR": (theirs.SVR, {"C": 2.0}),
    "NuSVR": (theirs.NuSVR, {"nu": 0.4}),
    "OneClassSVM": (theirs.OneClassSVM, {"nu": 0.2}),
}


@pytest.mark.parametrize("name", CASES)
def test_from_scikit_learn(name):
    cls, options = CASES[name]
    model, X, y = fitted(cls, tol=1e-6, **options)
    ours = io.from_sklearn(model)
    assert type(ours).__name__ == cls.__name__
    assert_close(values(ours, X), values(model, X), 1e-10)
    if "SVR" in name:
        assert np.ptp(model.predict(X)) > 0.1
        assert_close(ours.predict(X), model.predict(X), 1e-10)
    else:
        np.testing.assert_array_equal(ours.predict(X), model.predict(X))
    shared = set(ours.get_params()) & set(model.get_params()) - {"probability"}
    assert all(ours.get_params()[key] == model.get_params()[key] for key in shared)
    np.testing.assert_array_equal(ours.support_, model.support_)
    if name != "SVC-sigmoid":
        assert ours.set_params(tol=1e-3).certify(X, y).status in ("optimal", "stationary")
    back = io.to_sklearn(ours)
    np.testing.assert_array_equal(values(back, X), values(model, X))


@pytest.mark.parametrize("name", KERNEL)
def test_to_scikit_learn(name):
    model, X = KERNEL[name]()
    them = io.to_sklearn(model)
    assert type(them) is getattr(theirs, type(model).__name__)
    assert_close(values(them, X), values(model, X), 1e-10)
    clear = np.abs(np.atleast_2d(model._decision_values(X).T)).min(axis=0) > 1e-9
    if "SVR" not in name:
        np.testing.assert_array_equal(them.predict(X)[clear], model.predict(X)[clear])
    again = io.from_sklearn(them)
    np.testing.assert_array_equal(values(again, X), values(model, X))


@pytest.mark.parametrize("cls", [theirs.LinearSVC, theirs.LinearSVR])
@pytest.mark.parametrize("data", [binary, three])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_linear_from_scikit_learn(cls, data, fit_intercept):
    model, X, _ = fitted(
        cls, data=data, fit_intercept=fit_intercept, max_iter=10**6, random_state=0
    )
    ours = io.from_sklearn(model)
    assert_close(values(ours, X), values(model, X), 1e-12)
    assert ours.intercept == "regularised"
    back = io.to_sklearn(ours)
    np.testing.assert_array_equal(values(back, X), values(model, X))


@pytest.mark.parametrize("name", sorted(set(LINEAR) - {"LinearOneClassSVM"}))
def test_linear_to_scikit_learn(name):
    model, X = LINEAR[name]()
    them = io.to_sklearn(model)
    assert type(them).__module__ == theirs.__name__
    assert_close(values(them, X), values(model, X), 1e-12)
    if "SVR" not in name:
        np.testing.assert_array_equal(them.predict(X), model.predict(X))


def test_probabilities_are_kept():
    X, y = three()
    if "probability" not in theirs.SVC().get_params():
        pytest.skip(needs.NOT_APPLICABLE + "scikit-learn has removed probability")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = theirs.SVC(probability=True, random_state=0).fit(X, y)
    ours = io.from_sklearn(model)
    np.testing.assert_array_equal(ours.probA_, model._probA)
    assert ours.fit(X, y).certificate_.status == "optimal"  # probability=True was not carried over


def test_refused():
    X, y = three()
    with pytest.raises(ValueError, match="Python function"):
        io.from_sklearn(theirs.SVC(kernel=lambda A, B: A @ B.T).fit(X, y))
    with pytest.raises(TypeError, match="not an SVM of scikit-learn"):
        io.from_sklearn(SVC().fit(X, y))
    with pytest.raises(NotFittedError):
        io.from_sklearn(theirs.SVC())
    with pytest.raises(ValueError, match="scikit-learn has no"):
        io.to_sklearn(SVC(kernel="laplacian").fit(X, y))
    with pytest.raises(ValueError, match="one-vs-rest"):
        io.to_sklearn(SVC(multiclass="ovr").fit(X, y))
    with pytest.raises(TypeError, match="LinearOneClassSVM"):
        io.to_sklearn(LinearOneClassSVM().fit(X + 3))


def test_subclasses_of_theirs():
    class Mine(theirs.SVC):
        pass

    X, y = binary()
    assert type(io.from_sklearn(Mine().fit(X, y))) is SVC
    assert type(io.from_sklearn(sklearn.svm.LinearSVC(dual=False).fit(X, y))) is LinearSVC


@pytest.mark.parametrize("nu", [0.4, 0.9])
def test_nu_svc_is_certified_without_its_nu(nu):
    """Files of other programs do not hold nu: the bounds are read off the coefficients."""
    X, y = binary()
    known = NuSVC(nu=0.4).fit(X, y).model_
    numbers = known.n_features, known.coef, known.intercept, known.n_support
    labels = {"classes": known.classes, "rows": known.rows, "n_samples": known.n_samples}
    machine = imported(known.problem, known.kernel, known.vectors, *numbers, **labels)
    again = restore(machine, nu=nu)
    assert again.certify(X, y).status == "optimal"
