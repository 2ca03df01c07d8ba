"""Silent wrong answers that depend on how data come in: rows 7, 24, 25, 27 and 31 of the failure
table."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from helpers import (
    FIVE,
    CacheUse,
    assert_close,
    assert_same_bits,
    binary,
    cached,
    target,
    three,
    values,
)
from maxmargin import SVC, SVR, Kernel, NuSVC
from maxmargin.core import threads as cores

KERNELS = {
    "linear": Kernel.linear(),
    "poly": Kernel.poly(degree=3, gamma=0.2, coef0=1.0),
    "rbf": Kernel.rbf(gamma=0.3),
    "laplacian": Kernel.laplacian(gamma=0.3),
    "chi2": Kernel.chi2(gamma=0.3),
    "cosine": Kernel.cosine(),
    "callable": Kernel.callable(lambda A, B: rbf_kernel(A, B, gamma=0.3)),
}
FORMS = {"dense": np.asarray, "csr": sparse.csr_matrix}

# ---- row 7: a row's value does not depend on the batch -------------------------------------------


def assert_batches_agree(model, X):
    """Every split into batches, and every row alone, gives the bits of the whole."""
    whole, n = values(model, X), X.shape[0]
    for size in (1, 2, 3, 5, 7, 16, 31, n - 1):
        assert_same_bits(
            np.concatenate([values(model, X[i : i + size]) for i in range(0, n, size)]), whole
        )
    order = np.random.default_rng(0).permutation(n)
    assert_same_bits(values(model, X[order]), whole[order])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kernel", [k for k in KERNELS if k != "callable"])
def test_sklearn_9174_decision_value_does_not_depend_on_batch(kernel, form):
    """The decision value of a row changed with the other rows of the batch.

    It must have the same bits in every batch.
    """
    X, y = three(70, 5)
    X = FORMS[form](np.abs(X) * (X > -1))
    assert_batches_agree(SVC(kernel=KERNELS[kernel]).fit(X, y), X)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cls", FIVE)
def test_sklearnex_1880_single_rows_are_predicted_as_in_a_batch(cls, form):
    """A single sparse row was predicted wrongly: the same bits alone, for every estimator."""
    X, y = binary(90)
    y, X = target(cls, X, y), FORMS[form](np.where(np.abs(X) < 0.5, 0, X))
    model = cls().fit(X, y)
    assert_batches_agree(model, X)
    np.testing.assert_array_equal(
        np.concatenate([model.predict(X[i : i + 1]) for i in range(90)]), model.predict(X)
    )


def test_sklearn_9174_precomputed_values_do_not_depend_on_batch():
    """The same for a precomputed kernel, where rows of the matrix are the batch."""
    X, y = binary(90)
    K = rbf_kernel(X, gamma=0.3)
    assert_batches_agree(SVC(kernel="precomputed").fit(K, y), K)


# ---- row 24: the same sparse matrix written in another way ---------------------------------------


def rewritten(X):
    """The same matrix: unsorted indices, explicit zeros, duplicate entries (halves), 64-bit
    indices."""
    coo, rng = X.tocoo(), np.random.default_rng(0)
    unsorted = X.copy()
    for i in range(X.shape[0]):
        part = slice(X.indptr[i], X.indptr[i + 1])
        order = rng.permutation(part.stop - part.start)
        unsorted.indices[part], unsorted.data[part] = X.indices[part][order], X.data[part][order]
    yield "unsorted", sparse.csr_matrix((unsorted.data, unsorted.indices, unsorted.indptr), X.shape)
    rows, columns = np.nonzero(X.toarray() == 0)
    at = np.concatenate([coo.row, rows[::2]]), np.concatenate([coo.col, columns[::2]])
    order = np.lexsort(at[::-1])
    ends = np.searchsorted(at[0][order], np.arange(X.shape[0] + 1))
    data = np.concatenate([coo.data, np.where(np.arange(len(rows[::2])) % 2, 0.0, -0.0)])[order]
    yield "explicit zeros", sparse.csr_matrix((data, at[1][order], ends), X.shape)
    yield (
        "duplicates",
        sparse.csr_matrix(
            (np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), X.shape
        ),
    )
    yield (
        "64-bit",
        sparse.csr_matrix((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), X.shape),
    )


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "laplacian", "cosine"])
def test_sklearn_1476_the_same_sparse_matrix_gives_the_same_bits(kernel):
    """Unsorted, duplicate and explicitly zero entries changed results.

    The same matrix must give the same bits, and stay as it is.
    """
    X, y = binary(60, 8)
    X = sparse.csr_matrix(np.where(np.abs(X) < 0.7, 0, X))
    model = SVC(kernel=kernel).fit(X, y)
    f = model.decision_function(X)
    for name, other in rewritten(X):
        before = other.data.copy(), other.indices.copy(), other.indptr.copy()
        assert (other != X).nnz == 0, name
        assert_same_bits(model.decision_function(other), f)
        assert_same_bits(SVC(kernel=kernel).fit(other, y).decision_function(X), f)
        for now, then in zip((other.data, other.indices, other.indptr), before, strict=True):
            assert_same_bits(now, then)


# ---- row 25: dense and every sparse container ----------------------------------------------------

CONTAINERS = [
    "csr_matrix",
    "csr_array",
    "csc_matrix",
    "csc_array",
    "coo_matrix",
    "coo_array",
    "lil_matrix",
    "dok_matrix",
    "bsr_matrix",
]


@pytest.mark.parametrize("cls", FIVE)
@pytest.mark.parametrize("container", CONTAINERS)
def test_sklearnex_test_sparse_every_container_gives_one_model(cls, container):
    """Sparse data gave another model than dense: the same objective and decision values, the same
    bits in every sparse container."""
    X, y = binary(60, 6)
    X = np.where(np.abs(X) < 0.6, 0, X)
    y, kept = target(cls, X, y), getattr(sparse, container)(X)
    dense, model, csr = cls().fit(X, y), cls().fit(kept, y), cls().fit(sparse.csr_matrix(X), y)
    assert_close(values(model, kept), values(dense, X), 1e-7)
    assert model.certificate_.primal == pytest.approx(
        dense.certificate_.primal, rel=1e-9, abs=1e-12
    )
    assert_same_bits(values(model, kept), values(csr, sparse.csr_matrix(X)))
    assert_same_bits(values(model, X), values(model, kept))


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k != "callable"])
def test_gmum_r_400_sparse_kernels_are_the_dense_ones(kernel):
    """For every kernel the sparse model must be the dense one."""
    X, y = binary(60, 6)
    X = np.maximum(X, 0)
    dense, kept = (SVC(kernel=KERNELS[kernel]).fit(form(X), y) for form in FORMS.values())
    assert_close(kept.decision_function(sparse.csr_matrix(X)), dense.decision_function(X), 1e-8)


@pytest.mark.parametrize("cls", FIVE)
def test_gmum_r_400_built_in_callable_and_precomputed_kernels_give_one_model(cls):
    """The kernel by name, as a function and as a matrix must give one decision function."""
    X, y = binary()
    y, K = target(cls, X, y), rbf_kernel(X, gamma=0.3)
    f = values(cls(gamma=0.3).fit(X, y), X)
    assert_close(values(cls(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.3)).fit(X, y), X), f, 1e-7)
    assert_close(values(cls(kernel="precomputed").fit(K, y), K), f, 1e-7)


@pytest.mark.parametrize(
    "layout", ["fortran", "strided", "reversed", "float32", "int", "list", "readonly"]
)
def test_sklearnex_test_sparse_memory_layout_changes_no_bit(layout):
    """Layout, strides, and any type that holds the numbers exactly must give the same bits."""
    X, y = binary()
    X = np.round(4 * X)
    f = SVC(gamma=0.02).fit(X, y).decision_function(X)
    wide = np.zeros((60, 8))
    wide[:, ::2] = X
    frozen = X.copy()
    frozen.flags.writeable = False
    forms = {
        "fortran": np.asfortranarray(X),
        "strided": wide[:, ::2],
        "reversed": X[::-1, ::-1].copy()[::-1, ::-1],
        "float32": X.astype(np.float32),
        "int": X.astype(np.int32),
        "list": X.tolist(),
        "readonly": frozen,
    }
    assert_same_bits(SVC(gamma=0.02).fit(forms[layout], y).decision_function(forms[layout]), f)


# ---- row 27: threads and runs --------------------------------------------------------------------


@pytest.mark.parametrize("cls", FIVE)
@pytest.mark.parametrize("n", [300, 1650])
def test_thundersvm_245_same_bits_for_any_number_of_threads_and_every_run(cls, n, monkeypatch):
    """Results differed from run to run.

    Fit and predict must give the same bits with 1, 2, 3 and 7 threads, small and large problems.
    """
    X, y = three(n, 10)
    y = target(cls, X, y)

    def f(threads):
        monkeypatch.setattr(cores, "_openmp_effective_n_threads", lambda: threads)
        return values(
            cls(gamma=0.05, **({"nu": 0.2} if cls not in (SVC, SVR) else {})).fit(X, y), X
        )

    first = f(1)
    for threads in (1, 2, 3, 7, 7):
        assert_same_bits(f(threads), first)


@pytest.mark.parametrize("cls", FIVE)
def test_sklearnex_1390_the_size_of_the_cache_changes_no_bit(cls, monkeypatch):
    """The cache of kernel rows must never change the result: the same bits with no room, all of it,
    and where rows are dropped."""
    X, y = cached(cls)
    use, reference = CacheUse(monkeypatch), cls()
    assert use.of(reference, X, y) == len(X)
    some = sorted(use.moved)[len(use.moved) // 2]
    for rows in (0, some):
        model = cls(cache_size=(rows + 0.5) * 4 * len(X) / 2**20)
        assert use.of(model, X, y) == rows
        assert (use.dropped > 0) == (rows > 0)
        assert_same_bits(values(model, X), values(reference, X))


def test_sklearn_8410_nothing_is_random():
    """A global random state steered the solver.

    Seeds, NumPy's or random_state, must change no bit.
    """
    X, y = binary(1300, 6)
    found = []
    for seed in (0, 1, None):
        np.random.seed(seed)  # noqa: NPY002
        found.append(SVC(random_state=seed).fit(X, y).decision_function(X))
    assert_same_bits(found[1], found[0])
    assert_same_bits(found[2], found[0])


def test_gmum_r_403_a_fitted_estimator_refits_to_the_same_bits():
    """A second fit of the same object ignores the first and leaves the first one's input alone."""
    X, y = binary()
    copies = X.copy(), y.copy()
    model = NuSVC().fit(X, y)
    f = model.decision_function(X)
    model.fit(X[:30] * 7, y[:30])
    assert_same_bits(model.fit(X, y).decision_function(X), f)
    assert_same_bits(X, copies[0])
    assert_same_bits(y, copies[1])


# ---- row 31: columns in another order ------------------------------------------------------------


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("cls", FIVE)
def test_sklearn_7242_columns_in_another_order_are_refused(cls, frame):
    """Reordered columns were accepted and gave wrong values.

    Reordered, renamed or missing names must raise, lost names warn.
    """
    X, y = binary()
    y, names = target(cls, X, y), list("abcd")
    made = frame({name: X[:, k] for k, name in enumerate(names)})
    model = cls().fit(made, y)
    assert model.feature_names_in_.tolist() == names
    f = values(model, made)
    assert_same_bits(f, values(cls().fit(X, y), X))
    for other in (["b", "a", "c", "d"], ["a", "b", "c"]):
        with pytest.raises(ValueError, match="feature names should match"):
            values(model, made[other])
    with pytest.raises(ValueError, match="feature names should match"):
        values(model, frame({name.upper(): X[:, k] for k, name in enumerate(names)}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert_same_bits(values(model, X), f)


def test_sklearn_12936_names_where_the_model_has_none_are_reported():
    """A model fitted without names cannot check them: names at prediction must warn."""
    X, y = binary()
    model = SVR().fit(X, y)
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        model.predict(pd.DataFrame(X, columns=list("abcd")))
