"""Squared distances keep their digits however far the data reach, and every fit knows what rounding
may have done to them.

The oracle sums squared differences in long double and shares no code with the library.
"""

import warnings
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from helpers import threads
from maxmargin import SVC, Kernel
from maxmargin.core.choose import HOST as core
from maxmargin.estimators._data import gamma_value
from maxmargin.io import load_libsvm
from maxmargin.kernel import audit, rounding
from maxmargin.kernel.sources import NativeSource

ROWS = np.arange(24)
"""Rows that the oracle looks at: the close pairs are among them."""


def values_in_long_double(model, Z):
    """Decision values of an RBF model at Z, from differences to the support vectors."""
    vectors = np.asarray(
        model.support_vectors_.toarray()
        if sparse.issparse(model.support_vectors_)
        else model.support_vectors_
    )
    A, B = vectors.astype(np.longdouble), np.asarray(Z).astype(np.longdouble)
    K = np.array([np.exp(-np.longdouble(model._gamma) * ((A - row) ** 2).sum(axis=1)) for row in B])
    coef = model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else model.dual_coef_
    return (K @ coef[0].astype(np.longdouble) + model.intercept_[0]).astype(float)


def margin_violation(model, X, y, C, rows):
    """The largest violation of optimality of some samples, from decision values in long double."""
    sign = np.where(y[rows] == model.classes_[1], 1.0, -1.0)
    a = np.zeros(len(y))
    a[model.support_] = np.abs(
        np.asarray(
            model.dual_coef_.todense() if sparse.issparse(model.dual_coef_) else model.dual_coef_
        )[0]
    )
    a, C = a[rows], np.broadcast_to(C, len(y))[rows]
    distance = sign * values_in_long_double(model, X[rows])
    low, high = np.where(a < C, 1 - distance, 0), np.where(a > 0, distance - 1, 0)
    return float(np.maximum(low, high).max())


def one_close_pair(n=6000):
    x = np.linspace(0, 1e10, n)
    x[11] = x[10] + 30
    return x[:, None], np.tile([-1, 1], n // 2)


def five_close_pairs(n=2000):
    generator = np.random.default_rng(5)
    X = generator.random((n, 2)) * 3e8
    X[5:10] = X[:5] + generator.normal(size=(5, 2)) * 10
    y = np.tile([0, 1], n // 2)
    y[5:10] = 1 - y[:5]
    return X, y


def test_close_pair_in_data_of_huge_range():
    X, y = one_close_pair()
    model = SVC(C=10, gamma=1 / 900).fit(X, y)
    assert model.certificate_.status == "optimal"
    # was 0, 0 with both at C
    np.testing.assert_allclose(model.decision_function(X[[10, 11]]), [-1, 1], atol=1e-3)
    np.testing.assert_allclose(
        model.decision_function(X[ROWS]), values_in_long_double(model, X[ROWS]), atol=1e-9
    )
    assert margin_violation(model, X, y, 10, ROWS) <= 1e-3
    assert model.certify(X, y).status == "optimal"
    np.testing.assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_five_close_pairs(storage):
    X, y = five_close_pairs()
    model = SVC(C=10, gamma=1 / 900).fit(storage(X), y)
    assert model.certificate_.status == "optimal"
    np.testing.assert_allclose(
        model.decision_function(storage(X[ROWS])), values_in_long_double(model, X[ROWS]), atol=1e-9
    )
    assert margin_violation(model, X, y, 10, ROWS) <= 1e-3


@pytest.mark.parametrize("gamma", [0.5, "scale", 1e-6])
def test_scales_and_weights_of_many_decades(gamma):
    generator = np.random.default_rng(7)
    scales = np.geomspace(8e-4, 2e4, 6)
    X = generator.normal(size=(1100, 6)) * scales
    y = (X[:, 0] / scales[0] + X[:, 3] / scales[3] + generator.normal(size=1100) > 0).astype(int)
    weight = np.geomspace(2e-5, 3e4, 1100)
    model = SVC(C=1.0, gamma=gamma).fit(X, y, sample_weight=weight)
    assert model.certificate_.status == "optimal"
    assert margin_violation(model, X, y, weight, np.arange(0, 1100, 20)) <= 1e-3
    assert model.certify(X, y, sample_weight=weight).status == "optimal"


def test_the_audit_looks_where_distances_cancel():
    """Two near rows among thousands that are far from each other, and the longest rows."""
    X, _ = one_close_pair()
    assert set(NativeSource(Kernel.rbf(gamma=1 / 900), X).suspects(2)) == {10, 11}
    source, coef = NativeSource(Kernel.rbf(gamma=1 / 900), X), np.zeros(len(X))
    coef[123] = 5.0
    assert {10, 11, 123} <= set(audit.sampled(source, coef, 64))
    X = np.random.default_rng(0).normal(size=(500, 3))
    X[[3, 77]] *= 100
    assert set(NativeSource(Kernel.linear(), X).suspects(2)) == {3, 77}
    assert set(NativeSource(Kernel.linear(), X).suspects(2, np.arange(70))) >= {3}


@pytest.mark.parametrize("kind", ["rbf", "laplacian"])
def test_values_of_far_data_by_differences(kind):
    """Near points that are far from the origin and from the others.

    Values are as exact as those at the origin.
    """
    generator = np.random.default_rng(1)
    X = generator.normal(size=(40, 3)) + 10.0 ** generator.integers(0, 9, size=(40, 1))
    source = NativeSource(getattr(Kernel, kind)(gamma=0.5), X)
    assert source.differences
    differences = X[:, None, :].astype(np.longdouble) - X[None, :, :].astype(np.longdouble)
    exact = np.exp(
        -0.5 * ((differences**2).sum(axis=2) if kind == "rbf" else np.abs(differences).sum(axis=2))
    )
    np.testing.assert_allclose(
        source.block(None, None, np.float64), exact.astype(float), rtol=1e-12, atol=1e-300
    )


def test_ordinary_data_keep_the_quick_formula():
    """Standardised data at usual widths, dense and sparse, are not made slower."""
    generator = np.random.default_rng(2)
    for n, d, gamma in ((2000, 10, 0.1), (500, 54, 1.0), (300, 784, 0.02)):
        X = generator.normal(size=(n, d))
        assert not NativeSource(Kernel.rbf(gamma=gamma), X).differences
        assert not NativeSource(
            Kernel.rbf(gamma=gamma), sparse.csr_matrix(X * (generator.random(X.shape) < 0.2))
        ).differences
        assert not NativeSource(
            Kernel.rbf(gamma=gamma), X + 1e4
        ).differences  # an offset alone is centred away


def test_a_fit_goes_on_by_differences_where_the_sum_of_coefficients_needs_it(monkeypatch):
    """The values' bound is small, but coefficients of 1e9 multiply it.

    The fit and its predictions change over.
    """
    generator = np.random.default_rng(3)
    X = generator.normal(size=(300, 2)) * 30
    y = (generator.random(300) > 0.5).astype(int)
    made = []
    original = NativeSource.by_differences
    monkeypatch.setattr(
        NativeSource,
        "by_differences",
        lambda self, *rows: made.append(original(self, *rows)) or made[-1],
    )
    SVC(C=1.0, gamma=0.001).fit(X, y)
    assert not made
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SVC(C=1e9, gamma=0.001).fit(X, y)
    assert any(source is not None and source.differences for source in made)
    made.clear()
    model.predict(X)
    assert made[-1].differences


@pytest.mark.parametrize("kernel", ["linear", "poly", "sigmoid", "cosine"])
def test_dot_products_that_cannot_be_trusted_are_not_called_optimal(kernel):
    """Data far from the origin.

    A certificate of what float64 cannot resolve is refused, and certify agrees.
    """
    generator = np.random.default_rng(4)
    X = generator.normal(size=(150, 2)) + 1e8
    y = (X[:, 0] + generator.normal(size=150) > 1e8).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SVC(kernel=kernel, C=10.0, gamma=1.0, degree=2, time_limit=5).fit(X, y)
        again = model.certify(X, y)
    assert again.status != "refuted"
    if model.certificate_.status == "optimal":
        assert again.kkt_violation <= 1e-3 or again.relative_gap <= 1e-9


def test_no_call_of_the_core_takes_long():
    """Signals are seen between calls.

    None has more than 1e9 multiply-adds for a thread, whatever the number of rows asked about.
    """
    for d, columns in ((4, 400_000), (100, 400_000), (10, 5000), (784, 10_000)):
        with threads(2):
            rows = NativeSource._rows_at_once(SimpleNamespace(terms=d), columns)
        assert rows * columns * (d + 16) <= 2e9


# ---- the constants of kernel/rounding.py ---------------------------------------------------------


def exact_exponent(x, z, gamma):
    """gamma |x - z|^2 of two rows of floats, exactly."""
    return mpmath.mpf(float(gamma)) * mpmath.fsum(
        (mpmath.mpf(float(a)) - mpmath.mpf(float(b))) ** 2 for a, b in zip(x, z, strict=True)
    )


@pytest.mark.parametrize(
    ("dtype", "scale"),
    [(np.float32, 1.0), (np.float32, 30.0), (np.float64, 1.0), (np.float64, 1000.0)],
)
def test_bound_of_rbf_values(dtype, scale):
    """|k - exact| <= k growth (slope S^2 + 9 u), value by value, and the bound is not idle.

    Near points come within a hundredth of it.
    """
    generator = np.random.default_rng(6)
    X = generator.normal(size=(12, 20)) * scale
    Z = X + generator.normal(size=X.shape) * 0.05
    unit = rounding.UNIT32 if dtype == np.float32 else rounding.UNIT64
    kernel = (2, 1.0, 0.0, 0)
    A, B = core.points(X.astype(dtype)), core.points(Z.astype(dtype))
    values = core.kernel_block(kernel, A, None, B, None)
    lengths = np.linalg.norm(X, axis=1)[:, None] + np.linalg.norm(Z, axis=1)[None, :]
    delta = (20 + 8) * unit / (1 - (20 + 8) * unit) * np.square(lengths)
    bound = values * np.exp(delta) * (delta + 9 * unit) + rounding.UNDERFLOW
    exact = np.array([[float(mpmath.exp(-exact_exponent(x, z, 1.0))) for z in Z] for x in X])
    error = np.abs(values.astype(float) - exact)
    assert (error <= bound).all()
    assert (error > 1e-3 * bound)[values > 0.01].any()
    longest = max(np.linalg.norm(X, axis=1).max(), np.linalg.norm(Z, axis=1).max())
    if dtype == np.float64:
        assert rounding.exponent_error(1.0, 20, longest) >= delta.max()
        np.testing.assert_allclose(
            rounding.exponent_error(1.0, 20, longest), 4 * 28 * 2.0**-53 * longest**2, rtol=1e-9
        )


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_bound_of_dot_products(degree):
    generator = np.random.default_rng(8)
    X = generator.normal(size=(15, 9)) + 1e3
    values = core.kernel_block((1, 0.5, 2.0, degree), core.points(X), None, core.points(X), None)
    exact = [
        [
            (mpmath.fsum(mpmath.mpf(a) * mpmath.mpf(b) for a, b in zip(x, z, strict=True)) / 2 + 2)
            ** degree
            for z in X
        ]
        for x in X
    ]
    error = max(
        abs(mpmath.mpf(float(v)) - e)
        for row, other in zip(values, exact, strict=True)
        for v, e in zip(row, other, strict=True)
    )
    bound = rounding.dot_error(0.5, 2.0, degree, 9, float(np.linalg.norm(X, axis=1).max()))
    assert 1e-3 * bound < float(error) <= bound


def test_constants_of_the_bounds():
    """What the proofs in kernel/rounding.py need of their constants."""
    assert np.finfo(np.float32).eps / 2 == rounding.UNIT32
    assert np.finfo(np.float64).eps / 2 == rounding.UNIT64
    assert mpmath.exp(-rounding.EXPONENT_END) < rounding.UNDERFLOW
    assert 127 * mpmath.log(2) < rounding.EXPONENT_END
    assert np.exp(-rounding.EXPONENT_END64) == 0.0
    assert np.finfo(np.float32).tiny < rounding.UNDERFLOW  # more than one value can lose
    assert 1 < rounding.MORE < 1.01
    assert rounding.TRUSTED * 2**29 <= 0.1  # the same data in float32 have a digit at least
    # nothing is known
    assert (
        rounding.rbf_bound(1.0, 2**23, np.ones(1, np.float32), np.ones(1, np.float32)).slope
        == np.inf
    )


@pytest.mark.parametrize("most", [1e-3, 1.0, 1e6])
def test_bound_of_sums(most):
    """Sums of float32 values with float32 coefficients, against exact sums of exact values."""
    generator = np.random.default_rng(9)
    A, B = generator.normal(size=(700, 4)), generator.normal(size=(20, 4))
    coef = generator.normal(size=700) * most
    source = NativeSource(Kernel.rbf(gamma=0.7), A, B)
    bound, begin = source.float32_bound(), np.array([0, 700])
    column = rounding.bound_column(begin, coef[:, None], np.square(bound.lengths_a))
    columns = np.column_stack([coef, column.weights]).astype(np.float32)
    parts = np.zeros((1, 2, 20))
    source.add_products(begin, columns, parts, np.float32)
    limit = rounding.sum_bound(bound, column, parts[:, 1], core.longest_run)[0]
    differences = A[:, None, :].astype(np.longdouble) - B[None, :, :].astype(np.longdouble)
    exact = coef.astype(np.longdouble) @ np.exp(-np.longdouble(0.7) * (differences**2).sum(axis=2))
    error = np.abs(parts[0, 0] - exact.astype(float))
    assert (error <= limit).all()
    assert error.max() > 1e-4 * limit.max()


def test_terms_of_the_bound_of_sums():
    """Each term of the proof with its constant: errors of values, of their sums, underflow."""
    u32, u64, run, n = 2.0**-24, 2.0**-53, 20, 1000
    total, one = np.array([3.0]), np.ones((1, 1))
    column = rounding.BoundColumn(np.ones(1), 4.0, total, n)
    near = rounding.ValueBound(0.0, 9.0, np.zeros(1), np.zeros(1))
    sums = (9 * u32 + 22 * u32 / (1 - 22 * u32) + n * u64) / 4
    found = rounding.sum_bound(near, column, one, run)[0, 0]
    np.testing.assert_allclose(found, (1 + 2.0**-10) * sums, rtol=1e-12)
    far = rounding.ValueBound(0.01, 9.0, np.array([7.0]), np.array([6.0]))
    found, growth = rounding.sum_bound(far, column, 9 * one, run)[0, 0], np.exp(0.01 * 13**2)
    wanted = (1 + 2.0**-10) * growth * 0.01 * (1 + 36 / 4) * 9
    np.testing.assert_allclose(found, wanted, rtol=1e-4)
    lost = 2 * 2.0**-120 * (3 + n)
    assert rounding.sum_bound(near, column, 0 * one, run)[0, 0] == lost


def test_the_column_of_the_bound():
    """Groups have totals of their own, and the weights cover every function."""
    coef = np.array([[1.0, -5.0], [2.0, 0.0], [-3.0, 1.0]])
    found = rounding.bound_column(np.array([0, 1, 3]), coef, np.array([1.0, 4.0, 7.0]))
    assert found.square == 4.0
    assert found.n == 3
    np.testing.assert_allclose(found.weights, [5 * 5, 2 * 8, 3 * 11])
    np.testing.assert_allclose(found.total, [30, 2 + 16 + 3 + 33])
    for squares in (np.zeros(3), np.zeros(0)):
        empty = rounding.bound_column(np.array([0, len(squares)]), coef[: len(squares)], squares)
        assert empty.square == 1.0


def test_an_error_that_is_not_a_number_is_infinite():
    assert rounding._known(np.nan) == np.inf
    assert rounding._known(np.inf) == np.finfo(float).max
    assert rounding._known(0.5) == 0.5


def test_terms_of_the_bound_of_values():
    """slope = gamma g_(t+8); growth = exp(slope S^2) with the farthest z that has a value.

    Lengths are not less than they are.
    """
    u, norms = 2.0**-24, np.array([4.0, 1e8], np.float32)
    bound = rounding.rbf_bound(0.25, 10, norms, norms[:1])
    slope = 0.25 * 18 * u / (1 - 18 * u)
    assert bound.slope == pytest.approx(slope, rel=1e-12, abs=0.0)
    np.testing.assert_allclose(bound.lengths_a, [2.0, 1e4], rtol=1e-5)
    assert (np.square(bound.lengths_a) >= norms * (1 + 12 * u)).all()
    farthest = 2 + np.sqrt(89 / 0.25)
    np.testing.assert_allclose(np.log(bound.growth), slope * (2 + farthest) ** 2, rtol=1e-5)
    assert rounding.exponent_error(0.25, 10, 3.0) == pytest.approx(
        0.25 * 36 * 18 * 2.0**-53, rel=1e-9, abs=0.0
    )
    assert rounding.difference_error(10) == pytest.approx(745.2 * 18 * 2.0**-53, rel=1e-9, abs=0.0)
    assert rounding.dot_error(0.5, 2.0, 3, 10, 4.0) == pytest.approx(
        3 * 10.0**3 * 21 * 2.0**-53, rel=1e-9, abs=0.0
    )


# ---- numbers beyond the range of float64 ---------------------------------------------------------


@pytest.mark.parametrize("gamma", [1e308, 1.7e308, 5e-324])
@pytest.mark.parametrize("name", ["rbf", "laplacian", "chi2", "poly", "sigmoid", "logistic"])
def test_extreme_gamma_is_a_fit_or_a_clear_error(name, gamma):
    generator = np.random.default_rng(0)
    X = np.abs(generator.normal(size=(30, 3)))
    y = np.arange(30) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        if name == "poly" and gamma > 1:
            with pytest.raises(ValueError, match=r"Kernel\.poly\(gamma=1.*Scale the data"):
                SVC(kernel=name, gamma=gamma).fit(X, y)
            return
        model = SVC(kernel=name, gamma=gamma).fit(X, y)
        assert model.certify(X, y).status == model.certificate_.status
        if name in ("rbf", "laplacian", "chi2") and gamma > 1:  # the identity matrix
            np.testing.assert_array_equal(model.predict(X), y)


def test_imported_model_of_extreme_gamma(tmp_path):
    lines = (
        "svm_type c_svc",
        "kernel_type rbf",
        "gamma 1e308",
        "nr_class 2",
        "total_sv 2",
        "rho 0",
        "label 1 -1",
        "nr_sv 1 1",
        "SV",
    )
    (tmp_path / "far.model").write_text("\n".join([*lines, "1 1:1 2:2", "-1 1:3 2:1", ""]))
    model = load_libsvm(tmp_path / "far.model")
    Z = sparse.csr_matrix([[1.0, 2.0], [3.0, 1.0], [0.0, 0.0]])
    np.testing.assert_array_equal(np.abs(model.decision_function(Z)), [1, 1, 0])
    np.testing.assert_array_equal(model.predict(Z)[:2], [1, -1])


def test_data_whose_squares_overflow():
    """Distances of 1e200 are infinite when squared: the value is 0 all the same."""
    X = np.random.default_rng(0).normal(size=(40, 2)) * 1e200
    y = np.arange(40) % 2
    model = SVC(gamma=1.0).fit(X, y)
    assert model.certificate_.status == "optimal"
    np.testing.assert_array_equal(model.predict(X), y)


def test_scale_of_weights_does_not_change_gamma():
    X = np.random.default_rng(0).normal(size=(40, 2))
    weight = np.linspace(1.0, 2.0, 40)
    found = [gamma_value("scale", X, weight * scale) for scale in (1.0, 1e-300, 1e300)]
    np.testing.assert_allclose(found, found[0], rtol=1e-12)


@pytest.mark.parametrize("sigma", [1e-200, 1e200])
def test_sigma_beyond_the_range(sigma):
    with pytest.raises(ValueError, match="beyond the range of float64"):
        Kernel.rbf(sigma=sigma)
