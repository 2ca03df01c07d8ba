"""compact: fewer support vectors, within the bound that it states."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from helpers import assert_close, binary, three
from maxmargin import (
    SVC,
    SVR,
    Kernel,
    LinearSVC,
    NuSVC,
    NuSVR,
    OneClassSVM,
    compact,
    io,
    kernel_matrix,
)
from models import KERNEL

MODELS = {
    "SVC": (lambda: SVC(gamma=0.5), binary),
    "SVC-three": (lambda: SVC(gamma=0.5), three),
    "SVC-ovr": (lambda: SVC(gamma=0.5, multiclass="ovr"), three),
    "SVC-poly": (lambda: SVC(kernel="poly", degree=2, coef0=1.0), three),
    "SVC-linear": (lambda: SVC(kernel="linear"), binary),
    "SVC-laplacian": (lambda: SVC(kernel="laplacian"), binary),
    "NuSVC": (lambda: NuSVC(nu=0.4), three),
    "SVR": (lambda: SVR(gamma=0.5), binary),
    "NuSVR": (lambda: NuSVR(gamma=0.5), binary),
    "OneClassSVM": (lambda: OneClassSVM(nu=0.5), binary),
}


def fitted(name, wrap=np.asarray):
    make, data = MODELS[name]
    X, y = data(120)
    model = make()
    return model.fit(wrap(X), X[:, 0] + 0.3 * y if "SVR" in name else y), X


def functions(model, X):
    return model._decision_values(X)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("tolerance", [0.3, 0.01])
def test_tolerance_is_kept(name, tolerance):
    model, X = fitted(name)
    small = compact(model, tolerance=tolerance)
    told = small.compression_
    assert told.before == len(model.support_)
    assert told.after == len(small.support_) <= told.before
    assert told.distance <= tolerance
    points = np.vstack([X, 3 * X, X + 0.1])
    change = np.abs(functions(small, points) - functions(model, points)).max(axis=1)
    diagonal = np.array([kernel_matrix(model.kernel_, x[None])[0, 0] for x in points])
    assert (change <= told.bound(1.0) * np.sqrt(diagonal) * (1 + 1e-9) + 1e-9).all()
    assert small.certificate_.status == "compacted"
    if tolerance == 0.3:
        assert told.after < told.before


@pytest.mark.parametrize("name", MODELS)
def test_the_distance_is_that_of_the_kernels_space(name):
    """|f - f'|^2 = u' K u over all support vectors, computed here from the two models."""
    model, _ = fitted(name)
    small = compact(model, max_support_vectors=max(2, len(model.support_) // 2))
    assert len(small.support_) == max(2, len(model.support_) // 2)
    K = kernel_matrix(model.kernel_, model.support_vectors_)
    place = {row: k for k, row in enumerate(model.support_.tolist())}
    u = model.model_.columns().copy()
    for k, row in enumerate(small.support_.tolist()):
        u[:, place[row]] -= small.model_.columns()[:, k]
    np.testing.assert_allclose(
        small.compression_.distances,
        np.sqrt(np.maximum(np.einsum("ki,ij,kj->k", u, K, u), 0)),
        rtol=1e-4,
        atol=1e-5,
    )
    assert small.n_support_.sum() == len(small.support_)


def test_the_order_is_that_of_exhaustive_search():
    """The first vector to go is the one whose removal, with the others solved for again, changes
    the function least.
    """
    X, y = binary(40)
    model = SVC(gamma=0.5, C=10).fit(X, y)
    K, c = kernel_matrix(model.kernel_, model.support_vectors_), model.model_.columns()[0]
    distances = []
    for s in range(len(c)):
        stay = np.delete(np.arange(len(c)), s)
        a = np.linalg.solve(K[np.ix_(stay, stay)], K[stay] @ c)
        u = c.copy()
        u[stay] -= a
        distances.append(u @ K @ u)
    small = compact(model, max_support_vectors=len(c) - 1)
    assert set(model.support_) - set(small.support_) == {model.support_[int(np.argmin(distances))]}
    np.testing.assert_allclose(small.compression_.distance, np.sqrt(min(distances)), rtol=1e-5)


def test_redundant_vectors_cost_nothing():
    X, y = binary(200)
    model = SVC(kernel="linear").fit(X, y)
    small = compact(model, tolerance=1e-4)  # in four dimensions four vectors are enough
    assert len(small.support_) <= 4
    assert_close(small.decision_function(X), model.decision_function(X), 1e-3)


def test_nothing_to_remove():
    X, y = binary()
    model = SVC().fit(X, y)
    same = compact(model, max_support_vectors=10**6)
    np.testing.assert_array_equal(same.decision_function(X), model.decision_function(X))
    assert same.compression_.distance == 0
    empty = SVR(epsilon=10.0).fit(X, X[:, 0])
    assert len(compact(empty, max_support_vectors=3).support_) == 0


def test_twice_adds_up():
    X, y = binary(120)
    model = SVC(gamma=0.5).fit(X, y)
    once = compact(model, max_support_vectors=30)
    twice = compact(once, max_support_vectors=20)
    assert twice.compression_.before == len(model.support_)
    assert (
        np.abs(twice.decision_function(X) - model.decision_function(X)).max()
        <= twice.compression_.bound()
    )


def test_files_and_sparse_data(tmp_path):
    model, X = fitted("SVC-three", sparse.csr_matrix)
    small = compact(model, tolerance=0.1)
    io.save(small, tmp_path / "m.mm")
    loaded = io.load(tmp_path / "m.mm")
    assert loaded.compression_ == small.compression_
    assert "support vectors" in str(loaded.compression_)
    np.testing.assert_array_equal(loaded.decision_function(X), small.decision_function(X))
    io.save_libsvm(small, tmp_path / "m.libsvm")
    assert small.fit(sparse.csr_matrix(X), three(120)[1]).certificate_.status == "optimal"
    assert not hasattr(small, "compression_")


def test_the_model_is_left_alone():
    X, y = binary()
    model = SVC().fit(X, y)
    before = model.decision_function(X)
    compact(model, max_support_vectors=5)
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_refused():
    X, y = binary()
    model = SVC().fit(X, y)
    with pytest.raises(ValueError, match="Give max_support_vectors"):
        compact(model)
    with pytest.raises(ValueError, match="max_support_vectors must be"):
        compact(model, max_support_vectors=0)
    with pytest.raises(ValueError, match="tolerance must be"):
        compact(model, tolerance=-1.0)
    with pytest.raises(ValueError, match="cannot both be met"):
        compact(model, max_support_vectors=1, tolerance=1e-9)
    with pytest.raises(TypeError, match="LinearSVC"):
        compact(LinearSVC().fit(X, y), tolerance=0.1)
    for kernel in ("sigmoid", Kernel.poly(coef0=-1.0)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = SVC(kernel=kernel).fit(X, y)
        with pytest.raises(ValueError, match="positive semidefinite"):
            compact(model, tolerance=0.1)
    with pytest.raises(ValueError, match="positive semidefinite"):
        compact(KERNEL["SVC-precomputed"]()[0], tolerance=0.1)
