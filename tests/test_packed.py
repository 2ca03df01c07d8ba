"""Models packed for prediction: core/expansion.h and kernel/packed.py."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from maxmargin import SVC, SVR
from maxmargin.core.choose import HOST
from maxmargin.core.threads import one_thread
from maxmargin.kernel import packed, prediction, rounding
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
@pytest.mark.parametrize("ask", ["values", "float32_values", "estimate"])
def test_bits_depend_on_the_row_alone(columns, ask, monkeypatch):
    found, _, generator = model_of(700, 5, columns)
    X = generator.normal(size=(3001, 5))

    def values(X):
        answer = getattr(found, ask)(X)
        return answer.parts if ask == "estimate" else answer

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


def test_the_bound_is_that_of_the_rows():
    """Lengths of rows and points, in the units of the scaled data, and the bound's own sums."""
    found, _, generator = model_of(300, 4, 1, seed=8)
    X, points, (begin, coef) = generator.normal(size=(50, 4)), found._points, found._coefficients
    x, z = ((part - points.centre) * points.scale for part in (X, points.Z))
    squares = [np.square(part).sum(axis=1) for part in (z, x)]
    K = np.exp2(-np.square(z[:, None] - x).sum(axis=2) / 2)
    column = rounding.bound_column(begin, coef, squares[0])
    bound = rounding.rbf_bound(packed.SCALED_GAMMA, 4, *squares)
    wanted = rounding.sum_bound(bound, column, (column.weights @ K)[None], HOST.longest_run)
    np.testing.assert_allclose(found.estimate(X).errors, wanted, rtol=1e-4)


def test_equal_points_are_at_distance_zero():
    Z = np.random.default_rng(3).normal(size=(20, 7)) * 9
    points = NativeSource(Kernel.rbf(gamma=10.0), Z).dense_rbf_points()
    one = packed.PackedModel(points, packed.Coefficients(np.array([0, 20]), np.ones((20, 1))))
    assert np.array_equal(one.values(Z)[0, 0], np.ones(20))


@pytest.mark.parametrize(("ask", "unit"), [("values", 2.0**-53), ("float32_values", 2.0**-24)])
def test_exponentials(ask, unit):
    """2^-s for exact s of all sizes and remainders, one term each."""
    points = packed.Points(
        Kernel.rbf(gamma=packed.SCALED_GAMMA), HOST, np.zeros((1, 1)), np.zeros(1), np.zeros(1)
    )
    one = packed.PackedModel(points, packed.Coefficients(np.array([0, 1]), np.ones((1, 1))))
    X = np.arange(1010)[:, None] / 64.0
    exact = np.exp2(-(X[:, 0].astype(np.longdouble) ** 2) / 2)
    found = getattr(one, ask)(X)[0, 0]
    assert np.abs(found / exact - 1).max() < 3 * unit
    assert found[0] == 1.0
    assert getattr(one, ask)(np.array([[46.0]]))[0, 0] == 0.0, "s = 1058"


def test_rows_out_of_range():
    found, _, _ = model_of(20, 2, 1)
    X = np.array([[0.0, 0.0], [1e200, 0.0]])
    with pytest.raises(KernelNotFinite):
        found.values(X)
    far = np.array([[0.0, 0.0], [1e30, 0.0]])  # float32 ends sooner
    near, over = found.estimate(far).errors[0]
    assert near < 1e-4
    assert not over < np.inf
    assert np.array_equal(found.float32_values(far)[:, :, 1], found.values(far)[:, :, 1])
    assert found.values(far)[0, 0, 1] == 0.0


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


# ---- precision="float32" -------------------------------------------------------------------------


def regression(n=400, d=4, seed=2):
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X, np.sin(X).sum(axis=1)


def test_float32_values_are_near_and_others():
    """Errors of a value against the promise: 0.1 % of a kernel value, and far less as a rule."""
    X, z = regression()
    model = SVR(C=100.0, gamma=0.3).fit(X, z)
    exact, single = model.predict(X), model.predict(X, precision="float32")
    assert not np.array_equal(exact, single)
    K = np.exp(-0.3 * np.square(X[:, None] - model.support_vectors_).sum(axis=2))
    terms = K * model.dual_coef_[0]
    error = np.abs(exact - single)
    assert (error <= 1e-3 * np.abs(terms).sum(axis=1)).all()
    typical = np.sqrt(np.square(terms).sum(axis=1))
    assert np.sqrt(np.mean(np.square(error / typical))) < 1e-6
    y = z > 0
    machine = SVC(C=10.0).fit(X, y)
    values = machine.decision_function(X, precision="float32")
    np.testing.assert_allclose(values, machine.decision_function(X), rtol=0, atol=1e-4)
    assert not np.array_equal(values, machine.decision_function(X))


def test_values_are_float64_unless_asked_whatever_the_samples_are():
    X, z = regression()
    single = X.astype(np.float32)
    same = single.astype(np.float64)
    for model, ask in (
        (SVR(C=100.0).fit(X, z), "predict"),
        (SVC(C=10.0).fit(X, z > 0), "decision_function"),
    ):
        values = getattr(model, ask)
        assert np.array_equal(values(single), values(same))
        rough = values(single, precision="float32")
        assert np.array_equal(rough, values(same, precision="float32"))
        assert not np.array_equal(rough, values(same))
        parts = [values(some, precision="float32") for some in (single[:7], single[7:])]
        assert np.array_equal(np.concatenate(parts), rough)
    assert np.array_equal(model.predict(single), model.classes_[(rough >= 0).astype(int)])


def random_labels(n_classes, **parameters):
    """A model of noise, with large coefficients, and samples in float32."""
    generator = np.random.default_rng(6)
    X = generator.normal(size=(300, 3))
    model = SVC(C=1e4, gamma=0.3, **parameters)
    return model.fit(X[:150], generator.integers(0, n_classes, 150)), X.astype(np.float32)


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_float32_values_of_classes_have_the_labels_of_float64(multiclass):
    model, X = random_labels(4, multiclass=multiclass)
    values, exact = (model.decision_function(X, precision=p) for p in ("float32", "float64"))
    assert not np.array_equal(values, exact)
    assert np.array_equal(values.argmax(axis=1), exact.argmax(axis=1))
    parts = [model.decision_function(X[i : i + 37], "float32") for i in range(0, 300, 37)]
    assert np.array_equal(np.concatenate(parts), values)


def test_float32_values_near_the_boundary_have_the_labels_of_float64():
    model, X = random_labels(2)
    exact, intercept, wrong = model.decision_function(X, "float64"), model.intercept_.copy(), 0
    for row in range(150, 190):
        model.intercept_ = intercept - exact[row] + 1e-9
        values = model.decision_function(X, "float32")
        assert np.array_equal(model.classes_[(values > 0).astype(int)], model.predict(X))
        assert abs(values[row] - 1e-9) < 1e-10
        alone = prediction.prepared(model.model_).packed.float32_values(X)[0, 0]
        wrong += alone[row] + model.intercept_[0] < 0
    assert wrong > 0, "needs the bound"


@pytest.mark.parametrize("error", [1e-7, 1e-5, 1e-3])
def test_the_length_within_which_float32_will_do(error):
    """Where points are longer than rows may be, and where they are not."""
    for squares in (np.array([1.0, 9.0]), np.array([1e6]), np.empty(0)):
        bound = rounding.rbf_bound(packed.SCALED_GAMMA, 3, squares, np.empty(0))
        longest = bound.longest_within(error)
        lengths = np.abs(longest) * np.array([0.5, 0.999, 1.001, 2.0])
        expected = [True, True, False, False] if longest >= 0 else [False] * 4
        assert (bound.exponent_errors(lengths) <= error).tolist() == expected


def test_float64_where_float32_cannot_promise():
    """Rows far out, each for itself; the others stay float32."""
    generator = np.random.default_rng(4)
    Z = generator.normal(size=(80, 3))
    Z[:20] += 50.0
    points = NativeSource(Kernel.rbf(gamma=GAMMA), Z).dense_rbf_points()
    coefficients = packed.Coefficients(np.array([0, 80]), generator.normal(size=(80, 1)))
    found = packed.PackedModel(points, coefficients)
    X = generator.normal(size=(40, 3))
    X[[3, 17]] += 50.0
    single, exact = found.float32_values(X)[0, 0], found.values(X)[0, 0]
    far = np.isin(np.arange(40), [3, 17])
    assert (np.abs(exact[far]) > 1e-3).all()
    assert np.array_equal(single[far], exact[far])
    assert (single[~far] != exact[~far]).mean() > 0.8
    assert np.array_equal(found.float32_values(X[:3])[0, 0], single[:3])


def test_models_that_float32_is_not_for():
    X, z = regression(60)
    for model, message in ((SVR(kernel="linear"), "RBF kernel"), (SVR(kernel="poly"), "RBF")):
        with pytest.raises(ValueError, match=message):
            model.fit(X, z).predict(X, precision="float32")
    rows = sparse.csr_matrix(X)
    with pytest.raises(ValueError, match="dense data"):
        SVR().fit(rows, z).predict(rows, precision="float32")
    with pytest.raises(ValueError, match="must be a str among"):
        SVR().fit(X, z).predict(X, precision="single")
    steep = SVC(gamma=1e9).fit(X, z > 0)
    found = steep.decision_function(X, precision="float32")
    assert np.array_equal(found, steep.decision_function(X)), "by differences, in float64"
