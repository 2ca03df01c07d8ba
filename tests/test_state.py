"""Fitted states that were altered, each condition alone, and states at the edge that are none."""

import copy
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from helpers import assert_same_bits, binary, three
from maxmargin import (
    SVC,
    SVR,
    Kernel,
    LinearOneClassSVM,
    LinearSVC,
    LinearSVCCV,
    LinearSVR,
    NormaNovelty,
    NormaSVC,
    PegasosSVC,
)
from maxmargin.integrity import count_functions
from maxmargin.kernel.model import check
from maxmargin.linear.model import check as check_linear
from maxmargin.linear.model import check_duals
from maxmargin.online.model import check as check_online

X, y = binary(40)
A, z = three(45)
S = sparse.csr_matrix(A)
S32 = S.astype(np.float32)
ONLINE = {"gamma": 0.3, "shuffle": False}
MACHINES = {
    "binary": SVC().fit(X, y),
    "three": SVC().fit(A, z),
    "rest": SVC(multiclass="ovr").fit(A, z),
    "sparse": SVC().fit(S, z),
    "given": SVC(kernel="precomputed").fit(A @ A.T, z),
    "objects": SVC(kernel=rbf_kernel).fit(A, z),
    "regression": SVR().fit(X, y),
}
LINEAR = {
    "binary": LinearSVC().fit(X, y),
    "three": LinearSVC().fit(A, z),
    "sparse": LinearSVC(penalty="l1").fit(A, z).sparsify(),
    "regression": LinearSVR().fit(X, y),
    "no intercept": LinearSVC(fit_intercept=False).fit(X, y),
}
PEGASOS = {
    "linear": PegasosSVC(shuffle=False).partial_fit(A, z, [0, 1, 2]),
    "kernel": PegasosSVC(kernel="rbf", **ONLINE).partial_fit(A, z, [0, 1, 2]),
    "sparse": PegasosSVC(kernel="rbf", **ONLINE).partial_fit(S, z, [0, 1, 2]),
    "float32": PegasosSVC(kernel="rbf", **ONLINE).partial_fit(S32, z, [0, 1, 2]),
    "given": PegasosSVC(kernel="precomputed", alpha=1.0, shuffle=False).fit(rbf_kernel(A), z),
    "objects": PegasosSVC(kernel=rbf_kernel, shuffle=False).partial_fit(A, z, [0, 1, 2]),
}
NORMA = {
    "binary": NormaSVC(**ONLINE).partial_fit(X, y, [0, 1]),
    "three": NormaSVC(**ONLINE).partial_fit(A, z, [0, 1, 2]),
    "novelty": NormaNovelty(**ONLINE).partial_fit(A),
    "given": NormaSVC(kernel="precomputed", shuffle=False).fit(rbf_kernel(A), z),
}


def at(values, place, value):
    """A copy with another value at one place."""
    found = values.copy()
    (found.data if sparse.issparse(found) else found)[place] = value
    return found


def numbers_alike(values):
    """Arrays that are not finite float64 of the same shape."""
    flat = (0,) * (1 if sparse.issparse(values) else values.ndim)
    yield at(values, flat, np.nan)
    yield at(values, flat, -np.inf)
    yield values.astype(np.float32)
    yield values[:-1]
    if values.ndim == 2:
        yield values[:, :-1]


# ---- machines ------------------------------------------------------------------------------------


def is_altered(model, **others):
    """Whether the check refuses the record of a machine with these fields."""
    try:
        check(replace(model.model_, **others))
    except ValueError as error:
        return str(error) == f"The internal representation of {type(model).__name__} was altered"
    return False


@pytest.mark.parametrize("name", MACHINES)
def test_machines_as_they_are_fitted_are_consistent(name):
    assert not is_altered(MACHINES[name])


@pytest.mark.parametrize("name", MACHINES)
def test_coefficients_of_machines(name):
    model = MACHINES[name]
    for field in ("coef", "intercept"):
        for other in (*numbers_alike(getattr(model.model_, field)), None, "words", 0.5):
            assert is_altered(model, **{field: other})


@pytest.mark.parametrize("name", MACHINES)
def test_support_of_machines(name):
    model = MACHINES[name]
    rows, n = model.model_.rows, model.model_.n_samples
    assert not is_altered(model, rows=at(rows, 0, 0))
    assert not is_altered(model, rows=at(rows, -1, n - 1))
    assert is_altered(model, rows=at(rows, 0, -1))
    assert is_altered(model, rows=at(rows, -1, n))
    assert is_altered(model, rows=rows.astype(float))
    assert is_altered(model, rows=rows[:-1])
    assert is_altered(model, rows=rows[:, None])
    assert is_altered(model, rows=None) is (name == "given")
    counts = model.model_.n_support
    assert is_altered(model, n_support=at(counts, 0, counts[0] - 1))
    assert is_altered(model, n_support=np.append(counts, 0))
    if len(counts) > 1:
        total, zeros = counts.sum(), [0] * (len(counts) - 1)
        assert not is_altered(model, n_support=np.array([total, *zeros]))
        assert is_altered(model, n_support=np.array([total + 1, -1, *zeros[1:]]))


@pytest.mark.parametrize("name", ["binary", "three", "rest", "sparse", "regression"])
def test_vectors_of_machines(name):
    model = MACHINES[name]
    vectors = model.model_.vectors
    for other in numbers_alike(vectors):
        assert is_altered(model, vectors=other)
    if sparse.issparse(vectors):
        for part in ("indices", "indptr"):
            broken = vectors.copy()
            getattr(broken, part)[1] = 10**6
            assert is_altered(model, vectors=broken)
    assert is_altered(model, n_features=3)


def test_another_number_of_features_never_reaches_the_core():
    model = SVC().fit(X, y)
    model.n_features_in_ = 3
    with pytest.raises(ValueError, match="X has 3 features, but the model has 4"):
        model.predict(X[:, :3])


def test_vectors_that_are_objects_and_those_of_a_matrix():
    given, objects = MACHINES["given"], MACHINES["objects"]
    assert not is_altered(given, vectors="nobody asks")
    assert not is_altered(objects, vectors=[None] * len(objects.support_))
    assert is_altered(objects, vectors=objects.support_vectors_[:-1])


def test_a_machine_without_support_vectors():
    model = SVR(epsilon=10.0).fit(X, y)
    assert len(model.support_) == 0
    assert not is_altered(model)
    assert is_altered(model, coef=np.zeros((1, 1)))


def test_a_record_is_frozen():
    for model in (MACHINES["binary"], LINEAR["binary"], PEGASOS["linear"]):
        with pytest.raises(FrozenInstanceError):
            model.model_.coef = np.zeros((1, 1))


# ---- linear models -------------------------------------------------------------------------------


def is_changed(model, check=check_linear, **others):
    """Whether the check refuses the record of a linear model with these fields."""
    try:
        check(replace(model.model_, **others), "its name")
    except ValueError as error:
        return str(error) == "The internal representation of its name was altered"
    return False


@pytest.mark.parametrize("name", LINEAR)
def test_weights_and_intercepts_of_linear_models(name):
    model = LINEAR[name]
    coef, functions = model.model_.coef, 3 if name in ("three", "sparse") else 1
    assert not is_changed(model)
    for other in (*numbers_alike(coef), None, "words", 0.5):
        assert is_changed(model, coef=other)
    assert is_changed(model, n_features=coef.shape[1] + 1)
    for wrong in (np.inf, np.nan, None, "1", 1, np.zeros(7), np.zeros((1, 1))):
        assert is_changed(model, intercept=wrong)
    for right in (0.5, np.float32(1), np.zeros(len(np.atleast_1d(model.intercept_)))):
        refused = is_changed(model, intercept=right)
        assert refused == (np.shape(right) not in ((), (functions,)))
    if sparse.issparse(coef):
        broken = coef.copy()
        broken.indices[0] = 10**6
        assert is_changed(model, coef=broken)


def test_labels_say_how_many_functions_there_are():
    assert [count_functions(LINEAR[name].model_.classes) for name in LINEAR] == [1, 3, 3, 1, 1]
    for classes in (np.arange(1), np.arange(4), np.arange(6).reshape(3, 2), None):
        assert is_changed(LINEAR["three"], classes=classes)


def test_duals_of_linear_models():
    model = LINEAR["three"]
    duals = model.model_.duals
    assert not is_changed(model, check_duals)
    assert is_changed(model, check_duals, duals=at(duals, 0, np.inf))
    broken = duals.copy()
    broken.indptr[1] = 10**6
    assert is_changed(model, check_duals, duals=broken)


def test_the_layout_of_weights():
    """Rows in the record; a vector for regression, as in scikit-learn."""
    for name, shape in (("binary", (1, 4)), ("three", (3, 4)), ("regression", (4,))):
        model = copy.deepcopy(LINEAR[name])
        assert model.coef_.shape == shape
        before = model.decision_function(X) if shape == (1, 4) else model.predict(X)
        model.coef_ = 2 * model.coef_
        model.intercept_ = 2 * model.intercept_
        assert model.model_.coef.shape == (np.atleast_2d(model.coef_)).shape
        if name != "three":
            after = model.decision_function(X) if shape == (1, 4) else model.predict(X)
            assert_same_bits(after, 2 * before)
    model = copy.deepcopy(LINEAR["binary"])
    model.coef_ = model.coef_[0]
    assert_same_bits(model.predict(X), LINEAR["binary"].predict(X))


def test_the_offset_of_a_linear_model_is_its_intercept():
    model = LinearOneClassSVM().fit(X + 5)
    f = model.decision_function(X)
    assert_same_bits(model.offset_, -model.intercept_)
    model.offset_ = model.offset_ + 1.0
    assert_same_bits(model.intercept_, -model.offset_)
    np.testing.assert_allclose(model.decision_function(X), f - 1.0, atol=1e-12)


def test_a_search_over_C_shows_the_attributes_of_its_best_model():
    model = LinearSVCCV(Cs=[0.1, 1.0]).fit(A, z)
    for name in ("classes_", "coef_", "intercept_", "certificate_"):
        assert getattr(model, name) is getattr(model.estimator_, name)
    assert not hasattr(LinearSVCCV(), "coef_")


# ---- online models -------------------------------------------------------------------------------


def is_refused(model, **others):
    """Whether the check refuses the record of an online model with these fields."""
    return is_changed(model, check_online, **others)


@pytest.mark.parametrize("name", PEGASOS)
def test_iterates(name):
    model = PEGASOS[name]
    record = model.model_
    assert not is_refused(model)
    for part in ("v", "u", "numbers"):
        for other in numbers_alike(getattr(record.state, part)):
            assert is_refused(model, state=record.state._replace(**{part: other}))
    for field in ["intercept", "coef", *(["centre"] if name == "linear" else [])]:
        for other in (*numbers_alike(getattr(record, field)), None):
            assert is_refused(model, **{field: other})
    assert is_refused(model, classes=np.arange(2))
    assert is_refused(model, kernel=None)
    assert is_refused(model, state=None)
    if name == "linear":
        assert is_refused(model, n_features=3)
        assert is_refused(model, kernel=Kernel.rbf(1.0)), "weights of features of another kernel"
    else:
        assert is_refused(model, vectors=None)
        assert is_refused(model, rows=None)


@pytest.mark.parametrize("name", NORMA)
def test_functions_of_norma(name):
    model = NORMA[name]
    state = model.model_.state
    assert not is_refused(model)
    for part in ("coef", "numbers", "truncation"):
        for other in numbers_alike(getattr(state, part)):
            assert is_refused(model, state=state._replace(**{part: other}))
    for field in ("intercept", "coef"):
        for other in numbers_alike(getattr(model.model_, field)):
            assert is_refused(model, **{field: other})


@pytest.mark.parametrize("model", [*list(PEGASOS.values())[1:], *NORMA.values()])
def test_points_of_online_models(model):
    rows, points = model.model_.rows, model.model_.vectors
    assert not is_refused(model, rows=at(rows, 0, 0))
    assert is_refused(model, rows=at(rows, 0, -1))
    assert is_refused(model, rows=rows.astype(float))
    assert is_refused(model, rows=rows[:, None])
    if model.kernel == "precomputed":
        assert not is_refused(model, rows=at(rows, -1, 44))
        assert is_refused(model, rows=at(rows, -1, 45))
        return
    assert is_refused(model, vectors=points[:-1])
    if callable(model.kernel):
        return
    for value in (np.nan, np.inf):
        place = (0,) if sparse.issparse(points) else (0, 0)
        assert is_refused(model, vectors=at(points, place, value))
    assert is_refused(model, vectors=points[:, :-1])
    assert is_refused(model, vectors=points.astype(np.longdouble))
    assert not is_refused(model, vectors=points.astype(np.float32))
    if sparse.issparse(points):
        broken = points.copy()
        broken.indices[0] = 10**6
        assert is_refused(model, vectors=broken)


def test_attributes_that_an_online_model_lacks():
    linear, kernel = PEGASOS["linear"], PEGASOS["kernel"]
    for name in ("support_", "support_vectors_", "dual_coef_", "n_support_", "certificate_"):
        assert not hasattr(linear, name)
    assert hasattr(linear, "coef_")
    assert not hasattr(kernel, "coef_")
    assert not hasattr(kernel, "certificate_"), "chunks are not certified"
    assert hasattr(PEGASOS["given"], "certificate_")
