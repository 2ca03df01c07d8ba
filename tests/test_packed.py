"""Models packed for prediction: core/expansion.h and kernel/packed.py."""

from itertools import pairwise

import numpy as np
import pytest

from maxmargin import SVC, SVR
from maxmargin.core.choose import HOST
from maxmargin.core.threads import one_thread
from maxmargin.kernel import packed, prediction
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.sources import KernelNotFinite, NativeSource

GAMMA = 0.3


def model_of(n, d, columns, begin=None, offset=0.0, seed=0):
    """Points, their packed model and the exact values of its functions at any samples."""
    generator = np.random.default_rng(seed)
    Z, coef = generator.normal(size=(n, d)) + offset, generator.normal(size=(n, columns))
    begin = np.array([0, n] if begin is None else begin)
    points = NativeSource(Kernel.rbf(gamma=GAMMA), Z).dense_rbf_points()
    found = packed.PackedModel(points, packed.Coefficients(begin, coef))

    def exact(X):
        differences = Z[:, None, :].astype(np.longdouble) - X[None, :, :].astype(np.longdouble)
        K = np.exp(-np.longdouble(GAMMA) * np.square(differences).sum(axis=2))
        parts = [coef[i:j].T.astype(np.longdouble) @ K[i:j] for i, j in pairwise(begin)]
        return np.array(parts)

    return found, exact, generator


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 7, 26])
@pytest.mark.parametrize("d", [1, 2, 9])
@pytest.mark.parametrize("rows", [1, 31, 200])
def test_values(columns, d, rows):
    """Every share of every function; groups of any length, points filled up, panels not full."""
    found, exact, generator = model_of(151, d, columns, [0, 0, 3, 68, 151], offset=50.0)
    X = generator.normal(size=(rows, d)) + 50.0
    np.testing.assert_allclose(found.values(X), exact(X).astype(float), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.estimate(X).parts, exact(X).astype(float), rtol=0, atol=1e-4)


@pytest.mark.parametrize("columns", [1, 2, 5])
@pytest.mark.parametrize("ask", ["values", "estimate"])
def test_bits_depend_on_the_row_alone(columns, ask, monkeypatch):
    found, _, generator = model_of(700, 5, columns)
    X = generator.normal(size=(3001, 5))

    def values(X):
        answer = getattr(found, ask)(X)
        return answer if ask == "values" else answer.parts

    whole = values(X)
    with one_thread():
        assert np.array_equal(values(X), whole)
    split = [values(X[i : i + size]) for i, size in ((0, 1), (1, 40), (41, 959), (1000, 2001))]
    assert np.array_equal(np.concatenate(split, axis=2), whole)
    assert np.array_equal(values(np.asfortranarray(X)), whole)
    monkeypatch.setattr(packed, "SETTINGS", packed.SETTINGS._replace(multiply_adds=1.0))
    assert np.array_equal(values(X), whole), "called in parts of 64 rows"
    single = X.astype(np.float32)
    assert np.array_equal(values(single), values(single.astype(np.float64)))


@pytest.mark.parametrize("offset", [0.0, 0.3])
@pytest.mark.parametrize("d", [1, 4, 40])
def test_bound(d, offset):
    """The bound holds against exact sums, and it is within a few powers of ten."""
    found, exact, generator = model_of(900, d, 2, [0, 400, 900], seed=d)
    X = np.vstack([generator.normal(size=(200, d)) + offset, 30 * np.ones((1, d))])
    rough = found.estimate(X)
    error = np.abs(rough.parts - exact(X)).max(axis=1)
    assert (error <= rough.errors).all()
    assert error.max() > 1e-4 * rough.errors.max()


def test_equal_points_are_at_distance_zero():
    Z = np.random.default_rng(3).normal(size=(20, 7)) * 9
    points = NativeSource(Kernel.rbf(gamma=10.0), Z).dense_rbf_points()
    one = packed.PackedModel(points, packed.Coefficients(np.array([0, 20]), np.ones((20, 1))))
    assert np.array_equal(one.values(Z)[0, 0], np.ones(20))


def test_rows_out_of_range():
    found, _, _ = model_of(20, 2, 1)
    X = np.array([[0.0, 0.0], [1e200, 0.0]])
    with pytest.raises(KernelNotFinite):
        found.values(X)
    assert found.estimate(np.array([[1e30, 0.0]])) is None, "float32 ends sooner"
    assert found.values(np.array([[1e30, 0.0]]))[0, 0, 0] == 0.0


def test_no_rows_and_no_points():
    found, _, _ = model_of(20, 2, 3)
    assert found.values(np.empty((0, 2))).shape == (1, 3, 0)
    points = packed.Points(Kernel.rbf(gamma=1.0), HOST, np.empty((0, 2)), np.zeros(2), np.empty(0))
    empty = packed.PackedModel(points, packed.Coefficients(np.array([0, 0]), np.empty((0, 1))))
    assert np.array_equal(empty.values(np.ones((5, 2))), np.zeros((1, 1, 5)))
    assert empty.estimate(np.ones((5, 2))) is None


def test_which_models_are_packed():
    """Dense data and the RBF kernel, where |x|^2 + |z|^2 - 2 x.z has digits enough."""
    generator = np.random.default_rng(1)
    X = generator.normal(size=(60, 3))
    y = X[:, 0] + X[:, 1] > 0

    def is_packed(model, X):
        return prediction.prepared(model.fit(X, y).model_).packed is not None

    assert is_packed(SVC(), X)
    assert is_packed(SVR(), X)
    assert not is_packed(SVC(kernel="poly"), X)
    assert not is_packed(SVC(kernel="laplacian"), X)
    assert not is_packed(SVC(gamma=1e9), X), "differences"
    few = np.hstack([X, np.zeros((60, 30))])
    few[np.arange(60), 3 + np.arange(60) % 30] = 1.0
    assert not is_packed(SVC(), few), "compressed"


def test_shapes_are_checked():
    found, _, _ = model_of(20, 2, 3)
    core, X = found._exact, np.ones((4, 2))
    for wrong, out, halves in (
        (X[:, :1].copy(), np.empty((1, 3, 4)), None),
        (X, np.empty((1, 3, 5)), None),
        (X, np.empty((2, 3, 4)), None),
        (X, np.empty((1, 2, 4)), None),
        (X, np.empty((1, 3, 4)), np.empty(3)),
    ):
        with pytest.raises(ValueError, match="expansion"):
            HOST.expansion_sums(core, wrong, out, halves, 1.0)
    Z, coef, centre = np.ones((4, 2)), np.ones((4, 1)), np.zeros(2)
    for begin, weights, middle in (
        ([0, 3], coef, centre),
        ([0, 5], coef, centre),
        ([0, 5, 4], coef, centre),
        ([0, 4], coef[:3], centre),
        ([0, 4], coef, np.zeros(3)),
    ):
        with pytest.raises(ValueError, match="expansion"):
            HOST.expansion(Z, np.array(begin), weights, middle, 1.0, np.float64)
