"""MultiOutputSVR: the machines of SVR on shared kernel values."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.multioutput import MultiOutputRegressor

from maxmargin import SVR, Kernel, MultiOutputSVR, io, kernel_matrix
from maxmargin.kernel.sources import NativeSource

rng = np.random.default_rng(7)
X = rng.uniform(0, 5, size=(70, 3))
Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2], np.cos(X.sum(axis=1))])
Y += 0.1 * rng.normal(size=Y.shape)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"C": 10.0, "epsilon": 0.0},
        {"loss": "squared_epsilon_insensitive", "solver": "newton"},
        {"loss": "huber", "epsilon": 0.5},
        {"kernel": "linear"},
        {"kernel": "laplacian", "gamma": 0.2},
    ],
    ids=str,
)
def test_the_machines_are_those_of_svr(parameters):
    weight = rng.integers(0, 3, size=70)
    model = MultiOutputSVR(**parameters).fit(X, Y, weight)
    theirs = MultiOutputRegressor(SVR(**parameters)).fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(model.predict(X), theirs.predict(X), atol=1e-9)
    assert model.certificate_.status == model.certify(X, Y, weight).status == "optimal"
    for k, one in enumerate(theirs.estimators_):
        assert model.certificate_.parts[k].primal == pytest.approx(one.certificate_.primal)
        assert model.intercept_[k] == pytest.approx(one.intercept_[0], abs=1e-9)
    assert model.score(X, Y) == pytest.approx(theirs.score(X, Y))


def test_more_than_a_small_problem():
    A = rng.normal(size=(1100, 70))
    B = np.column_stack([A[:, 0] ** 2, A[:, 1] + A[:, 2]])
    model = MultiOutputSVR(C=2.0).fit(A, B)
    assert model.certificate_.status == "optimal"
    theirs = SVR(C=2.0).fit(A, B[:, 1])
    np.testing.assert_allclose(model.predict(A)[:, 1], theirs.predict(A), atol=2e-3)


def test_kernel_values_are_computed_once(monkeypatch):
    """As many as for one target."""
    counts = []
    block = NativeSource.block

    def counted(self, a, b, dtype, *rest):
        found = block(self, a, b, dtype, *rest)
        counts.append(found.size)
        return found

    monkeypatch.setattr(NativeSource, "block", counted)
    SVR().fit(X, Y[:, 0])
    one = sum(counts)
    counts.clear()
    MultiOutputSVR().fit(X, Y)
    assert 70 * 70 <= sum(counts) < 2 * one


def test_one_target():
    flat = MultiOutputSVR().fit(X, Y[:, 0])
    column = MultiOutputSVR().fit(X, Y[:, :1])
    assert (flat.predict(X).shape, column.predict(X).shape) == ((70,), (70, 1))
    np.testing.assert_array_equal(flat.predict(X), column.predict(X)[:, 0])
    np.testing.assert_allclose(flat.predict(X), SVR().fit(X, Y[:, 0]).predict(X), atol=1e-12)


def test_data_of_other_forms():
    wanted = MultiOutputSVR(gamma=0.3).fit(X, Y).predict(X)
    csr = sparse.csr_matrix(X)
    found = MultiOutputSVR(gamma=0.3).fit(csr, Y).predict(csr)
    np.testing.assert_allclose(found, wanted, atol=1e-6)
    K = kernel_matrix(Kernel.rbf(0.3), X)
    found = MultiOutputSVR(kernel="precomputed").fit(K, Y).predict(K)
    np.testing.assert_allclose(found, wanted, atol=1e-9)
    found = MultiOutputSVR(gamma=0.3).fit(X.tolist(), Y.tolist()).predict(X)
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_relations():
    model = MultiOutputSVR(C=5.0).fit(X, Y)
    order = [2, 0, 1]
    permuted = MultiOutputSVR(C=5.0).fit(X, Y[:, order])
    np.testing.assert_allclose(permuted.predict(X), model.predict(X)[:, order], atol=1e-10)
    flipped = MultiOutputSVR(C=5.0).fit(X, -Y)
    np.testing.assert_allclose(flipped.predict(X), -model.predict(X), atol=1e-8)


def test_warm_starts_and_limits():
    model = MultiOutputSVR(C=10.0, warm_start=True).fit(X, Y)
    steps = model.n_iter_
    assert model.fit(X, Y).n_iter_ < steps
    model.fit(X, Y[:, :2])
    assert model.predict(X).shape == (70, 2)
    with pytest.warns(ConvergenceWarning, match="3 of 3 problems"):
        early = MultiOutputSVR(C=100.0, max_iter=2).fit(X, Y)
    assert early.certificate_.status == "max_iter"


def test_targets_that_are_none():
    for bad, message in (
        (np.where(Y > 1, np.nan, Y), "NaN"),
        (Y[:, :0], "0 feature|n_outputs"),
        (np.zeros((70, 2, 2)), "dim"),
        (np.full((70, 2), "a"), "string|numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            MultiOutputSVR().fit(X, bad)


def test_files(tmp_path):
    path = tmp_path / "model.mm"
    for target in (Y, Y[:, 0]):
        model = MultiOutputSVR().fit(X, target)
        io.save(model, path)
        np.testing.assert_array_equal(io.load(path).predict(X), model.predict(X))
    with pytest.raises(TypeError, match=r"MultiOutputSVR may have several functions"):
        io.to_c(model)
    with pytest.raises(TypeError, match=r"several functions"):
        io.save_libsvm(model, path)
