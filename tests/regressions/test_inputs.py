"""Inputs: rows 69-73 of the failure table: containers and dtypes, targets, kernels that are none,
silence, and messages that help."""

import logging
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning

from helpers import (
    CLASSIFIERS,
    FIVE,
    REGRESSORS,
    assert_close,
    assert_same_bits,
    binary,
    target,
    three,
    values,
)
from maxmargin import SVC, SVR, Kernel, NuSVC, NuSVR, OneClassSVM, kernel_matrix

WHOLE = np.random.default_rng(0).integers(-8, 9, (60, 5)).astype(float)
"""Whole numbers from -8 to 8: every dtype holds them exactly."""
LABELS = ((WHOLE[:, 0] > 0) ^ (np.arange(60) % 15 == 0)).astype(int)

# ---- row 69: containers and dtypes ---------------------------------------------------------------


def _misaligned(X):
    return np.frombuffer(b"x" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)


def _read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


DENSE = {
    **{
        dtype: lambda X, dtype=dtype: X.astype(dtype)
        for dtype in ("float16", "float32", "longdouble", "int8", "int16", "int32", "int64", ">f8")
    },
    "unsigned": lambda X: (X + 8).astype(np.uint8),
    "bool": lambda X: X > 0,
    "object": lambda X: X.astype(object),
    "objects-of-python": lambda X: np.array([[int(v) for v in row] for row in X], dtype=object),
    "list": lambda X: X.tolist(),
    "tuples": lambda X: [tuple(row) for row in X.tolist()],
    "fortran": np.asfortranarray,
    "negative-strides": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "zero-stride": lambda X: np.broadcast_to(X[:, :1], X.shape),
    "misaligned": _misaligned,
    "read-only": _read_only,
    "pandas": pd.DataFrame,
    "pandas-mixed": lambda X: pd.DataFrame(X).astype({0: "int8", 1: "float32", 2: "int64"}),
    "pandas-Int64": lambda X: pd.DataFrame(X).astype("Int64"),
    "pandas-Float64": lambda X: pd.DataFrame(X).astype("Float64"),
    "pandas-Float32": lambda X: pd.DataFrame(X).astype("Float32"),
    "pandas-boolean": lambda X: pd.DataFrame(X > 0).astype("boolean"),
    "polars": lambda X: pl.DataFrame(X, schema=list("abcde")),
    "polars-int": lambda X: pl.DataFrame(X.astype(np.int32), schema=list("abcde")),
}


@pytest.mark.parametrize("cls", FIVE)
@pytest.mark.parametrize("name", DENSE)
def test_polars_stats_84_dense_containers_give_the_bits_of_float64(name, cls):
    """float16 aborted and other dtypes were misread.

    Each container gives the bits of the same numbers as float64 in C order.
    """
    X = DENSE[name](WHOLE)
    plain = np.array(np.asarray(X), dtype=np.float64, order="C")
    y = target(cls, WHOLE, LABELS)
    for weight in (None, np.linspace(0.95, 1.05, 60)):
        model = cls().fit(X, y, sample_weight=weight)
        expected = cls().fit(plain, y, sample_weight=weight)
        assert_same_bits(values(model, X), values(expected, plain))
        assert values(model, X).dtype == np.float64


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian", "cosine"])
@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_polars_stats_84_float32_is_computed_and_certified_in_float64(kernel, wrap):
    """float32 data were computed in float32.

    They give the bits of their float64 values, and as sharp a certificate.
    """
    single = wrap((WHOLE / 7).astype(np.float32))
    double = single.astype(np.float64)
    models = [SVC(kernel=kernel, gamma=0.02).fit(X, LABELS) for X in (single, double)]
    assert_same_bits(models[0].decision_function(single), models[1].decision_function(double))
    assert models[0].certificate_.audit_error < 1e-10
    assert models[0].certificate_ == models[1].certificate_


@pytest.mark.parametrize("weight", [None, np.linspace(0.5, 2, 60)], ids=["plain", "weighted"])
@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_sklearn_12741_gamma_scale_of_float32_is_that_of_float64(wrap, weight):
    """The variance behind gamma="scale" was taken in float32.

    Float32 data have the gamma of their float64 values.
    """
    single = wrap((WHOLE / 7 + 100).astype(np.float32))
    a, b = (
        SVC().fit(X, LABELS, sample_weight=weight)._gamma
        for X in (single, single.astype(np.float64))
    )
    assert a == pytest.approx(b, rel=1e-13)


def _duplicates(X):
    """COO with every entry stored as two halves, in another order."""
    X = X.tocoo()
    order = np.random.default_rng(0).permutation(2 * X.nnz)
    data, row, col = (np.tile(a, 2)[order] for a in (X.data / 2, X.row, X.col))
    return sparse.coo_matrix((data, (row, col)), shape=X.shape)


def _unsorted(X):
    X = X.tocsr().copy()
    for begin, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        X.indices[begin:end], X.data[begin:end] = (
            X.indices[begin:end][::-1].copy(),
            X.data[begin:end][::-1].copy(),
        )
    X.has_sorted_indices = X.has_canonical_format = False
    return X


def _explicit_zeros(X):
    """CSR that stores every cell."""
    n, d = X.shape
    return sparse.csr_matrix(
        (X.toarray().ravel(), np.tile(np.arange(d), n), np.arange(0, n * d + 1, d)), shape=(n, d)
    )


def _wide(X):
    X = X.tocsr().copy()
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


SPARSE = {
    "csr_array": sparse.csr_array,
    "csc_matrix": sparse.csc_matrix,
    "csc_array": sparse.csc_array,
    "coo_matrix": sparse.coo_matrix,
    "coo_array": sparse.coo_array,
    "lil": lambda X: X.tolil(),
    "dok": lambda X: X.todok(),
    "float32": lambda X: X.astype(np.float32),
    "int8": lambda X: X.astype(np.int8),
    "int64-indices": _wide,
    "duplicates": _duplicates,
    "unsorted": _unsorted,
    "explicit-zeros": _explicit_zeros,
}


@pytest.mark.parametrize("cls", FIVE)
@pytest.mark.parametrize("name", SPARSE)
def test_sklearnex_1880_sparse_containers_give_the_bits_of_csr(name, cls):
    """Index order, duplicates and explicit zeros changed results.

    Every sparse form gives the bits of canonical CSR, near dense.
    """
    dense = np.where(np.abs(WHOLE) < 3, 0, WHOLE)
    canonical = sparse.csr_matrix(dense)
    X = SPARSE[name](canonical)
    y = target(cls, WHOLE, LABELS)
    for kernel in ("linear", "rbf", "laplacian"):
        expected, model = (
            cls(kernel=kernel, gamma=0.05).fit(canonical, y),
            cls(kernel=kernel, gamma=0.05).fit(X, y),
        )
        assert_same_bits(values(model, X), values(expected, canonical))
        assert_close(
            values(expected, canonical),
            values(cls(kernel=kernel, gamma=0.05).fit(dense, y), dense),
            tol=1e-7,
        )
    assert cls().fit(X, y)._gamma == pytest.approx(cls().fit(dense, y)._gamma, rel=1e-13)


REFUSED = {
    "complex": lambda X: X + 0j,
    "complex-sparse": lambda X: sparse.csr_matrix(X + 0j),
    "nan": lambda X: np.where(X[3, 2] == X, np.nan, X),
    "inf": lambda X: np.where(X[3, 2] == X, np.inf, X),
    "nan-sparse": lambda X: sparse.csr_matrix(np.where(X[3, 2] == X, np.nan, X)),
    "none": lambda X: np.where(X[3, 2] == X, None, X.astype(object)),
    "text": lambda X: np.where(X[3, 2] == X, "three", X.astype(object)),
    "nested": lambda X: np.array([[[1.0]] * 5] * 60),
    "one-dimensional": lambda X: X[:, 0],
    "ragged": lambda X: [[1.0, 2.0], [3.0]] * 30,
    "pandas-NA": lambda X: pd.DataFrame(X).astype("Int64").where(X[3, 2] != X),
    "pandas-Float64-NA": lambda X: pd.DataFrame(X).astype("Float64").where(X[3, 2] != X),
    "polars-null": lambda X: pl.DataFrame(
        {name: [None, *X[1:, k]] for k, name in enumerate("abcde")}
    ),
    "polars-int-null": lambda X: pl.DataFrame(
        {name: [None, *X[1:, k].astype(int).tolist()] for k, name in enumerate("abcde")}
    ),
    "overflowing-longdouble": lambda X: np.abs(X).astype(np.longdouble) * np.longdouble("1e400"),
}


@pytest.mark.filterwarnings(
    "ignore:overflow encountered in cast:RuntimeWarning", "ignore:X has feature names:UserWarning"
)
@pytest.mark.parametrize("cls", FIVE)
@pytest.mark.parametrize("name", REFUSED)
def test_feature_engine_989_nulls_and_what_has_no_float64_value_raise(name, cls):
    """Nulls passed as numbers and odd arrays crashed.

    What is not a finite table of real numbers is refused, in fit and predict.
    """
    if name == "overflowing-longdouble" and np.finfo(np.longdouble).max == np.finfo(float).max:
        pytest.skip("long double is float64 here")
    X = REFUSED[name](WHOLE)
    y = target(cls, WHOLE, LABELS)
    with pytest.raises((ValueError, TypeError)):
        cls().fit(X, y)
    with pytest.raises((ValueError, TypeError)):
        cls().fit(sparse.csr_matrix(WHOLE) if sparse.issparse(X) else WHOLE, y).predict(X)


def test_feature_engine_989_columns_in_another_order_raise():
    """Frames with columns renamed or in another order were accepted.

    ValueError names the columns, for pandas and polars.
    """
    for frame in (
        pd.DataFrame(WHOLE, columns=list("abcde")),
        pl.DataFrame(WHOLE, schema=list("abcde")),
    ):
        model = SVC().fit(frame, LABELS)
        assert model.feature_names_in_.tolist() == list("abcde")
        for columns in (list("edcba"), list("abcd")):
            with pytest.raises(ValueError, match="feature"):
                model.predict(frame[columns])


# ---- row 70: targets -----------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@pytest.mark.parametrize("cls", CLASSIFIERS + REGRESSORS)
@pytest.mark.parametrize("kernel", ["rbf", lambda A, B: A @ B.T], ids=["rbf", "callable"])
def test_sklearn_check_supervised_y_2d_column_vectors_warn_and_tables_raise(cls, kernel):
    """A column vector y is flattened with a warning.

    Several columns, a scalar, None or another length raise ValueError.
    """
    X, y = binary()
    y = target(cls, X, y)
    with pytest.warns(DataConversionWarning, match="column-vector"):
        model = cls(kernel=kernel).fit(X, y[:, None])
    assert_same_bits(values(model, X), values(cls(kernel=kernel).fit(X, y), X))
    for bad in (
        np.column_stack([y, y]),
        y[:-1],
        None,
        np.full(60, np.nan),
        np.where(np.arange(60) == 3, np.inf, y),
    ):
        with pytest.raises(ValueError):
            cls(kernel=kernel).fit(X, bad)


@pytest.mark.parametrize("cls", CLASSIFIERS)
@pytest.mark.parametrize("kernel", ["rbf", lambda A, B: A @ B.T], ids=["rbf", "callable"])
def test_scikit_multilearn_56_targets_that_are_no_classes_raise(cls, kernel):
    """Continuous and multilabel targets were taken for classes: ValueError."""
    X, y = binary()
    for bad in (
        X[:, 0],
        np.eye(2, dtype=int)[y],
        sparse.csr_matrix(np.eye(2)[y]),
        y + 0j,
        [[1], [1, 2]] * 30,
    ):
        with pytest.raises((ValueError, TypeError)):
            cls(kernel=kernel).fit(X, bad)


@pytest.mark.parametrize("cls", REGRESSORS)
def test_scikit_multilearn_56_regression_targets_must_be_real(cls):
    """Text, complex and huge targets reached the solver: they raise.

    Text that is a number counts as one.
    """
    X, _ = binary()
    for bad in (np.array(["a", "b"] * 30), X[:, 0] + 1j, np.full(60, None)):
        with pytest.raises((ValueError, TypeError)):
            cls().fit(X, bad)


@pytest.mark.parametrize(
    "labels",
    [
        [False, True],
        ["b", "a"],
        [-3.0, 2.0],
        [2**53, 2**53 + 1],
        [np.uint64(2**64 - 1), np.uint64(0)],
    ],
)
def test_scikit_multilearn_56_every_type_of_label_comes_back(labels):
    """Labels were squeezed through int or float: predictions are the very labels given."""
    X, y = binary()
    labels = np.asarray(labels)
    predicted = SVC(C=1e4, gamma=5.0).fit(X, labels[y]).predict(X)
    assert predicted.dtype == labels.dtype
    np.testing.assert_array_equal(predicted, labels[y])


# ---- row 71: kernels that are none ---------------------------------------------------------------


@pytest.mark.parametrize("cls", FIVE)
def test_sklearn_8590_precomputed_kernels_must_be_square_and_symmetric(cls):
    """A kernel matrix that is not square or not symmetric gave garbage: ValueError that says so,
    and says what was given."""
    X, y = binary()
    K, y = X @ X.T, target(cls, X, y)
    with pytest.raises(ValueError, match=r"square[\s\S]*50|50[\s\S]*square"):
        cls(kernel="precomputed").fit(K[:, :50], y)
    with pytest.raises(ValueError, match=r"square[\s\S]*60|60[\s\S]*square"):
        cls(kernel="precomputed").fit(K[:50], y[:50])
    with pytest.raises(ValueError, match="symmetric"):
        cls(kernel="precomputed").fit(K + np.triu(np.ones_like(K)), y)
    rounded = K * (1 + 1e-15 * np.random.default_rng(0).normal(size=K.shape))
    assert_close(
        values(cls(kernel="precomputed").fit(rounded, y), K),
        values(cls(kernel="precomputed").fit(K, y), K),
        tol=1e-6,
    )


def test_sklearn_8590_precomputed_prediction_needs_a_column_for_each_training_sample():
    """Kernel values of another shape were indexed past their end: ValueError with both numbers."""
    X, y = binary()
    model = SVC(kernel="precomputed").fit(X @ X.T, y)
    with pytest.raises(ValueError, match=r"59[\s\S]*60"):
        model.predict((X @ X.T)[:, :59])
    with pytest.raises(TypeError, match="parse precomputed"):
        SVC(kernel="precomputed").fit(sparse.csr_matrix(X @ X.T), y)


def _definite(K):
    return np.linalg.eigvalsh((K + K.T) / 2)[0] > -1e-9 * np.abs(K).max()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("cls", [SVC, SVR, OneClassSVM])
@pytest.mark.parametrize("coef0", [-10.0, -1.0, 0.0, 1.0, 10.0])
def test_sklearn_8590_sigmoid_kernels_end_at_stationary_points(cls, coef0):
    """An indefinite kernel looped or was called solved.

    Fit ends, and only a definite matrix is "optimal", others "stationary".
    """
    X, y = binary()
    model = cls(kernel="sigmoid", gamma=0.5, coef0=coef0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, target(cls, X, y))
    definite = _definite(kernel_matrix(Kernel.sigmoid(0.5, coef0), X))
    assert model.certificate_.status == ("optimal" if definite else "stationary")
    assert model.certificate_.kkt_violation <= 1e-3
    assert [w.category for w in caught] == ([] if definite else [ConvergenceWarning])
    assert definite or "not positive semidefinite" in str(caught[0].message)
    assert model.certificate_.decision_error() < np.inf or not definite


@pytest.mark.timeout(60)
@pytest.mark.parametrize("cls", FIVE)
@pytest.mark.parametrize("seed", range(4))
def test_cuml_indefinite_precomputed_matrices_end_and_are_not_called_optimal(cls, seed):
    """A random symmetric matrix is not a kernel.

    Fit ends with finite values and reports "indefinite", never "optimal".
    """
    rng = np.random.default_rng(seed)
    K = rng.normal(size=(40, 40))
    K, y = (K + K.T) / 2, np.arange(40) % 2
    model = cls(kernel="precomputed")
    with pytest.warns(ConvergenceWarning):
        model.fit(K, target(cls, rng.normal(size=(40, 2)), y))
    assert model.certificate_.status != "optimal"
    assert model.certificate_.convexity == "indefinite"
    assert np.isfinite(values(model, K)).all()


def test_cuml_indefinite_kernels_without_bounds_raise():
    """With no upper bounds an indefinite kernel has no minimum.

    Hard margin and squared hinge say so.
    """
    K, y = -np.eye(20), np.arange(20) % 2
    for model in (
        SVC(kernel="precomputed", C=np.inf),
        SVC(kernel="precomputed", loss="squared_hinge", C=100.0),
    ):
        with pytest.raises(ValueError, match=r"positive semidefinite|hulls"):
            model.fit(K, y)


# ---- row 72: silence -----------------------------------------------------------------------------


@pytest.mark.parametrize("cls", FIVE)
def test_libsvm_167_nothing_is_printed(cls, capfd, caplog):
    """Native code printed dots and stars.

    With verbose=False nothing is written or logged, whatever happens.
    """
    caplog.set_level(logging.DEBUG)
    X, y = three()
    z = target(cls, X, y)
    values(cls().fit(X, z), X)
    with pytest.warns(ConvergenceWarning):
        cls(max_iter=1).fit(X, z)
    with pytest.raises(ValueError):
        cls(kernel="linear").fit(X * 1e200, z)
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []


@pytest.mark.parametrize("cls", FIVE)
def test_libsvm_167_progress_goes_to_logging_not_to_stdout(cls, capfd, caplog):
    """verbose wrote to C's stdout past Python's.

    Progress goes to the logger "maxmargin", and standard output stays empty.
    """
    caplog.set_level(logging.INFO, logger="maxmargin")
    X, y = binary()
    cls(verbose=True).fit(X, target(cls, X, y))
    assert capfd.readouterr().out == ""
    assert [r.name for r in caplog.records] == ["maxmargin"]
    assert all(
        word in caplog.text
        for word in (cls.__name__, "steps", "gap", "violation", "support vectors")
    )


# ---- row 73: messages ----------------------------------------------------------------------------

X_SMALL, Y_SMALL = binary()
MESSAGES = {
    "overflow": (
        SVC(kernel="poly", degree=40, gamma=1e3),
        X_SMALL * 1e5,
        Y_SMALL,
        {},
        ("poly", "degree=40", "gamma=1000", "Scale"),
    ),
    "infeasible-nu": (
        NuSVC(nu=0.9),
        X_SMALL,
        (np.arange(60) < 6) * 1,
        {},
        ("nu=0.9", "0.2", "lighter class"),
    ),
    "hard-margin": (
        SVC(kernel="linear", C=np.inf),
        X_SMALL * 0,
        Y_SMALL,
        {},
        ("C=inf", "hulls", "finite C"),
    ),
    "hard-tube": (
        SVR(kernel="linear", C=np.inf),
        X_SMALL * 0,
        X_SMALL[:, 0],
        {},
        ("C=inf", "epsilon=0.1", "finite C"),
    ),
    "one-class-left": (
        SVC(),
        X_SMALL,
        Y_SMALL,
        {"sample_weight": Y_SMALL * 1.0},
        ("same class", "[1]"),
    ),
    "negative-weight": (
        SVR(),
        X_SMALL,
        X_SMALL[:, 0],
        {"sample_weight": np.linspace(-1, 1, 60)},
        ("30 negative", "-1", ">= 0"),
    ),
    "nan-weight": (
        SVC(),
        X_SMALL,
        Y_SMALL,
        {"sample_weight": np.full(60, np.nan)},
        ("sample_weight", "NaN"),
    ),
    "weights-too-few": (
        SVC(),
        X_SMALL,
        Y_SMALL,
        {"sample_weight": np.ones(59)},
        ("sample_weight", "59", "60"),
    ),
    "nan": (SVC(), X_SMALL * np.nan, Y_SMALL, {}, ("NaN",)),
    "negative-histogram": (
        SVC(kernel="chi2"),
        X_SMALL,
        Y_SMALL,
        {},
        ("Negative", "chi2", "non-negative"),
    ),
    "kernel-and-gamma": (
        SVC(kernel=Kernel.rbf(1.0), gamma=2.0),
        X_SMALL,
        Y_SMALL,
        {},
        ("gamma", "Kernel"),
    ),
    "kernel-shape": (
        SVC(kernel=lambda A, B: np.ones(3)),
        X_SMALL,
        Y_SMALL,
        {},
        ("(60, 60)", "(3,)"),
    ),
    "kernel-nan": (
        SVC(kernel=lambda A, B: np.full((len(A), len(B)), np.nan)),
        X_SMALL,
        Y_SMALL,
        {},
        ("callable", "not a number"),
    ),
    "C": (SVC(C=-1.0), X_SMALL, Y_SMALL, {}, ("'C'", "-1.0")),
    "epsilon": (SVR(epsilon=-0.5), X_SMALL, Y_SMALL, {}, ("'epsilon'", "-0.5")),
    "nu": (NuSVR(nu=1.5), X_SMALL, Y_SMALL, {}, ("'nu'", "1.5")),
    "kernel": (SVC(kernel="gaussian"), X_SMALL, Y_SMALL, {}, ("'kernel'", "rbf", "gaussian")),
    "time_limit": (SVC(time_limit=-1), X_SMALL, Y_SMALL, {}, ("'time_limit'", "-1")),
    "on_interrupt": (
        SVC(on_interrupt="stop"),
        X_SMALL,
        Y_SMALL,
        {},
        ("'on_interrupt'", "keep", "stop"),
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_libsvm_faq_errors_name_the_cause_the_number_and_the_remedy(name):
    """The FAQ blamed a VPN client for NaN.

    Every error says what is wrong, with the number, and where possible what to do.
    """
    model, X, y, weights, words = MESSAGES[name]
    with pytest.raises(ValueError) as raised:
        model.fit(X, y, **weights)
    assert [word for word in words if word not in str(raised.value)] == []


def test_libsvm_faq_warnings_name_the_violation_and_the_remedy():
    """A fit that fell short said nothing.

    The warning has the status, the violation, the tolerance and what to do.
    """
    X, y = binary()
    with pytest.warns(ConvergenceWarning) as caught:
        SVC(max_iter=2).fit(X, y)
    (message,) = (str(w.message) for w in caught)
    assert all(
        word in message
        for word in (
            "max_iter=2",
            "KKT violation",
            "tol=0.001",
            "relative gap",
            "warm_start",
            "Scaler",
        )
    )
    with pytest.warns(ConvergenceWarning) as caught:
        NuSVC(kernel="linear", nu=1e-3).fit(X * 0, y)
    (message,) = (str(w.message) for w in caught)
    assert all(word in message for word in ("nu is too small", "hulls", "Raise nu"))
