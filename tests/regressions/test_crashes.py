"""Crashes and memory safety: rows 35, 40-51, 53 and 54 of the failure table. What may kill a
process runs in one of its own.
"""

import copy
import os
import pickle
import subprocess
import sys
import warnings
from functools import partial

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from helpers import (
    CLASSIFIERS,
    FIVE,
    REGRESSORS,
    CacheUse,
    assert_same_bits,
    binary,
    cached,
    in_subprocess,
    target,
    three,
    values,
)
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
    NuSVC,
    NuSVR,
    OneClassSVM,
    PegasosSVC,
    compact,
    io,
    kernel_matrix,
)
from maxmargin.core import _cpu

linux = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")

# ---- row 35: altered fitted state ----------------------------------------------------------------


def _two():
    X, y = binary()
    return SVC().fit(X, y), X


def _three():
    X, y = three()
    return SVC().fit(X, y), X


def _sparse():
    X, y = binary()
    return SVC().fit(sparse.csr_matrix(X), y), sparse.csr_matrix(X)


def _precomputed():
    X, y = binary()
    return SVC(kernel="precomputed").fit(X @ X.T, y), X @ X.T


def _regression():
    X, y = binary()
    return SVR().fit(X, y), X


def _broken_indices(sv):
    sv = sv.copy()
    sv.indices[0] = 10**6
    return sv


def _broken_indptr(sv):
    sv = sv.copy()
    sv.indptr[1] = 10**6
    return sv


ALTERATIONS = {
    "n_support-negative-sum-kept": (_two, "_n_support", lambda v: np.array([v.sum() + 1, -1])),
    "n_support-huge": (_two, "_n_support", lambda v: np.array([2**31 - 1, 1])),
    "n_support-one-class": (_two, "_n_support", lambda v: np.array([v.sum()])),
    "n_support-classes-missing": (_three, "_n_support", lambda v: np.array([v.sum(), 0])),
    "n_support-negative-sparse": (_sparse, "_n_support", lambda v: np.array([v.sum() + 1, -1])),
    "coef-short": (_two, "_dual_coef_", lambda v: v[:, :-1]),
    "coef-short-sparse": (_sparse, "_dual_coef_", lambda v: v[:, :-1]),
    "coef-1d": (_two, "_dual_coef_", lambda v: v[0]),
    "coef-two-rows": (_two, "_dual_coef_", lambda v: np.vstack([v, v])),
    "coef-row-missing": (_three, "_dual_coef_", lambda v: v[:1]),
    "coef-nan": (_two, "_dual_coef_", lambda v: v * np.nan),
    "coef-inf": (_regression, "_dual_coef_", lambda v: v + np.inf),
    "coef-text": (_two, "_dual_coef_", lambda v: "coefficients"),
    "coef-objects": (_two, "_dual_coef_", lambda v: np.full(v.shape, "1", dtype=object)),
    "coef-complex": (_two, "_dual_coef_", lambda v: v * 1j),
    "intercept-long": (_two, "_intercept_", lambda v: np.zeros(3)),
    "intercept-long-regression": (_regression, "_intercept_", lambda v: np.zeros(3)),
    "intercept-short": (_three, "_intercept_", lambda v: v[:1]),
    "intercept-empty": (_two, "_intercept_", lambda v: np.zeros(0)),
    "intercept-scalar": (_two, "_intercept_", lambda v: 0.5),
    "intercept-nan": (_two, "_intercept_", lambda v: v * np.nan),
    "support-short": (_two, "support_", lambda v: v[:-1]),
    "support-too-large": (_precomputed, "support_", lambda v: v + 1000),
    "support-negative": (_precomputed, "support_", lambda v: -1 - v),
    "support-nan": (_precomputed, "support_", lambda v: v * np.nan),
    "vectors-row-missing": (_two, "support_vectors_", lambda v: v[:-1]),
    "vectors-column-missing": (_two, "support_vectors_", lambda v: v[:, :-1]),
    "vectors-1d": (_two, "support_vectors_", lambda v: v[:, 0]),
    "vectors-nan": (_two, "support_vectors_", lambda v: v * np.nan),
    "vectors-none": (_two, "support_vectors_", lambda v: None),
    "vectors-index": (_sparse, "support_vectors_", _broken_indices),
    "vectors-indptr": (_sparse, "support_vectors_", _broken_indptr),
    "classes-one": (_two, "classes_", lambda v: v[:1]),
    "classes-three": (_two, "classes_", lambda v: np.arange(3)),
    "kernel-gone": (_two, "_kernel", lambda v: None),
}


@pytest.mark.parametrize("name", ALTERATIONS)
def test_sklearn_18891_altered_fitted_state_is_refused(name):
    """CVE-2020-28975, predict trusted n_support_ and read past the end: whatever was altered,
    predict raises ValueError.
    """
    make, attribute, change = ALTERATIONS[name]
    model, X = make()
    setattr(model, attribute, change(getattr(model, attribute)))
    with pytest.raises(ValueError):
        model.predict(X)


# ---- row 40: values that are not finite ----------------------------------------------------------

OVERFLOWING = {
    "linear": ({"kernel": "linear"}, 1e200),
    "poly-5": ({"kernel": "poly", "degree": 5, "gamma": 1.0}, 1e40),
    "poly-40": ({"kernel": "poly", "degree": 40, "gamma": 1e3}, 1e5),
    "poly-gamma": ({"kernel": "poly", "gamma": 1e300}, 1.0),
    "rbf-scale": ({"kernel": "rbf"}, 1e200),
}


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", OVERFLOWING)
def test_libsvm_87_and_sklearn_6687_overflowing_kernels_raise(name, wrap):
    """An infinite gradient made the working set index -1 and corrupted memory: kernel values that
    overflow raise ValueError.
    """
    parameters, scale = OVERFLOWING[name]
    X, y = binary()
    with pytest.raises(ValueError, match=r"finite[\s\S]*[Ss]cale"):
        SVC(**parameters).fit(wrap(X * scale), y)


@pytest.mark.parametrize("cls", FIVE)
def test_libsvm_87_the_largest_floats_raise_or_are_solved(cls):
    """Data at the end of float64's range crashed solvers: each estimator raises ValueError, or what
    it returns is finite.
    """
    X, y = binary()
    huge = np.where(X > 0, np.finfo(float).max, 0.0)
    for kernel in ("linear", "poly", "rbf", "laplacian", "sigmoid", "cosine"):
        model, refusal = cls(kernel=kernel, gamma=1.0), ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                model.fit(huge, target(cls, X, y))
            except ValueError as error:
                refusal = str(error)
        assert "finite" in refusal if refusal else np.isfinite(values(model, huge)).all()


def test_libsvm_87_infinite_gamma_is_refused_and_huge_gamma_is_the_identity_kernel():
    """gamma=inf made 0 * inf = NaN on the diagonal: it is refused, and gamma=1e300 gives k(x, x) =
    1 and 0 elsewhere.
    """
    X, y = binary()
    with pytest.raises(ValueError, match="gamma"):
        SVC(gamma=np.inf).fit(X, y)
    assert_same_bits(kernel_matrix(Kernel.rbf(gamma=1e300), X), np.eye(len(X)))
    assert SVC(gamma=1e300).fit(X, y).certificate_.status == "optimal"


# ---- row 41: many classes, failing allocations ---------------------------------------------------


@pytest.mark.memory
@linux
def test_sklearn_15008_fifty_thousand_classes_raise_before_anything_is_allocated():
    """n_classes^2 overflowed: 50 000 classes are 1.2 thousand million problems, so MemoryError with
    numbers, at once.
    """
    code = """
    import resource, warnings
    resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, 6 * 2**30))
    import numpy as np
    from maxmargin import SVC
    warnings.simplefilter("ignore", UserWarning)
    try:
        SVC().fit(np.arange(50000.0)[:, None], np.arange(50000))
    except MemoryError as error:
        print(error)
    """
    message = in_subprocess(code, timeout=20)
    assert "1249975000" in message.replace(",", "").replace("_", "").replace(" ", "")


@pytest.mark.memory
@linux
def test_sklearn_15008_an_allocation_that_fails_is_an_exception():
    """Allocations and threads that failed inside native code ended the process: with any amount of
    memory left it must survive.
    """
    code = """
    import os, resource
    import numpy as np
    from scipy import linalg
    from maxmargin import SVC
    X = np.random.default_rng(0).normal(size=(700, 300))
    y = X[:, 0] > 0
    # NumPy's and SciPy's OpenBLAS allocate their buffers at first use; if that fails, they end the
    # process or wait forever
    linalg.cho_solve(linalg.cho_factor(X.T @ X), np.linalg.cholesky(X.T @ X) @ X.T)
    SVC().fit(X[:50], y[:50]).predict(X)  # what is imported late is imported now
    size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    for extra in range(2, 80, 3):
        pid = os.fork()
        if not pid:
            limit = size + extra * 2**20
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            try:
                SVC(max_iter=100000).fit(X, y).predict(X)
            except (MemoryError, RuntimeError, OSError):
                pass
            os._exit(0)
        status = os.waitpid(pid, 0)[1]
        assert status == 0, f"wait status {status} with {extra} MB left"
    """
    in_subprocess(code, OMP_NUM_THREADS="8", OPENBLAS_NUM_THREADS="1")


# ---- rows 42, 43: sizes and index widths ---------------------------------------------------------


@pytest.mark.memory
@linux
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("exponent", [20, 30])
def test_sklearn_19660_sparse_data_with_more_than_two_to_the_31_cells(exponent, kernel):
    """32-bit products of rows and columns overflowed: a wide CSR matrix gives the model of its few
    entries, in 256 MB.
    """
    code = f"""
    import resource
    import numpy as np
    from scipy import sparse
    from helpers import assert_close, binary
    from maxmargin import SVC
    X, y = binary()
    limit = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize() + 256 * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    narrow = sparse.csr_matrix(X)
    indices = narrow.indices * (2**{exponent} // 4 - 1)
    wide = sparse.csr_matrix((narrow.data, indices, narrow.indptr), shape=(60, 2**{exponent}))
    f = [SVC(kernel={kernel!r}, gamma=0.5).fit(A, y).decision_function(A) for A in (narrow, wide)]
    assert_close(f[1], f[0])
    """
    in_subprocess(code)


@pytest.mark.parametrize("cls", FIVE)
@pytest.mark.parametrize(
    ("indices", "indptr"), [("int32", "int64"), ("int64", "int32"), ("int64", "int64")]
)
def test_sklearn_9545_sparse_indices_of_64_bits(cls, indices, indptr):
    """CSR with int64 indices was misread or segfaulted: any widths of indices and indptr give the
    same bits, in fit and predict.
    """
    X, y = binary()
    X = sparse.csr_matrix(np.where(np.abs(X) < 0.5, 0, X))
    other = X.copy()
    other.indices, other.indptr = X.indices.astype(indices), X.indptr.astype(indptr)
    assert (other.indices.dtype, other.indptr.dtype) == (indices, indptr)
    model = cls(gamma=0.3).fit(X, target(cls, X.toarray(), y))
    again = cls(gamma=0.3).fit(other, target(cls, X.toarray(), y))
    assert_same_bits(values(again, other), values(model, X))
    assert_same_bits(values(model, other), values(model, X))


@linux
def test_sklearn_9545_malformed_sparse_matrices_raise():
    """A CSR matrix whose indices point outside made native code read and write there: ValueError,
    in fit and in predict.
    """
    code = """
    import os, resource
    import numpy as np
    from scipy import sparse
    from helpers import binary
    from maxmargin import SVC
    A, y = binary()
    model = SVC().fit(sparse.csr_matrix(A), y)
    damages = (
        "X.indices[3] = -5",
        "X.indices[3] = 60",
        "X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64); "
        "X.indices[3] = 2**32",
        "X.indptr[3] = 10**6",
        "X.indptr[3] = -1",
        "X.indptr[3] = X.indptr[5]",
        "X.indptr[-1] += 4",
    )
    calls = (
        lambda X: SVC(gamma=0.5).fit(X, y),
        lambda X: SVC(kernel="linear").fit(X, y),
        lambda X: model.predict(X),
    )
    wrong = []
    for damage in damages:
        for k, call in enumerate(calls):
            pid = os.fork()
            if not pid:
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                outcome = 1
                try:
                    X = sparse.csr_matrix(A)
                    exec(damage)
                    call(X)
                except ValueError:
                    outcome = 0
                except BaseException:
                    outcome = 2
                os._exit(outcome)
            status = os.waitpid(pid, 0)[1]
            if status:
                meaning = {256: "accepted", 512: "another error"}.get(status, f"signal {status}")
                wrong.append((damage, k, meaning))
    assert not wrong, wrong
    """
    in_subprocess(code)


# ---- rows 44, 45: input as it comes, and left as it was ------------------------------------------


def _snapshot(X):
    """What a caller could see change: every array of X, its flags and the object's attributes."""
    if sparse.issparse(X):
        parts = (X.data, X.row, X.col) if X.format == "coo" else (X.data, X.indices, X.indptr)
        return [*(_snapshot(part) for part in parts), X.shape, X.nnz]
    return X.tobytes(), X.dtype.str, X.strides, X.flags.writeable


def _unsorted(X):
    """CSR with each row's entries in reverse order, one entry stored twice by halves, and an
    explicit zero.
    """
    rows = [np.arange(a, b)[::-1] for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)]
    order = np.concatenate(rows)
    data, indices, indptr = X.data[order], X.indices[order], X.indptr.copy()
    first = data[0] / 2
    data, indices = (
        np.concatenate([[first, first, 0.0], data[1:]]),
        np.concatenate([[indices[0]] * 2, [X.shape[1] - 1], indices[1:]]),
    )
    indptr[1:] += 2
    return sparse.csr_matrix((data, indices, indptr), shape=X.shape)


@pytest.mark.parametrize("cls", FIVE)
@pytest.mark.parametrize(
    "form", ["dense", "fortran", "csr", "unsorted", "csc", "coo", "precomputed"]
)
def test_scs_203_inputs_are_never_modified(cls, form):
    """Fits sorted the caller's sparse indices or scaled arrays in place: X, y and weights keep
    every bit and flag.
    """
    X, y = binary()
    y, weight = target(cls, X, y), np.random.default_rng(1).uniform(0.9, 1.1, len(X))
    X = np.where(np.abs(X) < 0.3, 0, X)
    canonical = sparse.csr_matrix(X)
    made = {
        "dense": X,
        "fortran": np.asfortranarray(X),
        "csr": canonical,
        "unsorted": _unsorted(canonical),
        "csc": canonical.tocsc(),
        "coo": canonical.tocoo(),
        "precomputed": X @ X.T,
    }[form]
    before = [_snapshot(a) for a in (made, y, weight)]
    model = cls(kernel="precomputed" if form == "precomputed" else "rbf").fit(
        made, y, sample_weight=weight
    )
    values(model, made)
    model.certify(made, y, weight)
    assert [_snapshot(a) for a in (made, y, weight)] == before
    if form == "unsorted":
        assert not made.has_sorted_indices


@pytest.mark.parametrize("cls", FIVE)
@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_sklearn_10667_read_only_memory_maps(cls, kernel, tmp_path):
    """Read-only and memory-mapped X and y raised or crashed: they give the same bits as arrays."""
    X, y = binary()
    X, y = X @ X.T if kernel == "precomputed" else X, np.asarray(target(cls, X, y), dtype=float)
    for name, array in (("X", X), ("y", y)):
        np.save(tmp_path / f"{name}.npy", array)
    mapped = [np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in "Xy"]
    model, again = cls(kernel=kernel).fit(X, y), cls(kernel=kernel).fit(*mapped)
    assert_same_bits(values(again, mapped[0]), values(model, X))


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_joblib_1199_misaligned_arrays(kernel):
    """Arrays at odd addresses, as old joblib mapped them, crashed vector code: they give the bits
    of aligned ones.
    """
    X, y = binary()
    X = X @ X.T if kernel == "precomputed" else X
    odd = np.frombuffer(b"x" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)
    assert not odd.flags.aligned
    model, again = SVC(kernel=kernel).fit(X, y), SVC(kernel=kernel).fit(odd, y)
    assert_same_bits(again.decision_function(odd), model.decision_function(X))


def _odd(values):
    """The same numbers at an odd address."""
    if sparse.issparse(values):
        odd = sparse.csr_matrix(values.shape, dtype=values.dtype)
        odd.data, odd.indices, odd.indptr = (
            _odd(values.data),
            _odd(values.indices),
            _odd(values.indptr),
        )
        return odd
    values = np.ascontiguousarray(values)
    odd = (
        np.frombuffer(b"x" + values.tobytes(), np.uint8)[1:]
        .view(values.dtype)
        .reshape(values.shape)
    )
    assert values.size == 0 or not odd.flags.aligned
    return odd


def _odd_kernel(A, B):
    return _odd(A @ B.T)


MODELS = [
    *(cls() for cls in FIVE),
    *(SVC(kernel=kernel) for kernel in ("linear", "chi2", "cosine", _odd_kernel)),
    *(LinearSVC(solver=solver) for solver in ("newton", "coordinate")),
    LinearSVC(penalty="l1"),
    LinearSVC(multi_class="crammer_singer"),
    LinearSVCCV(),
    LinearSVR(),
    LinearOneClassSVM(),
    NormaSVC(random_state=0),
    NormaNovelty(random_state=0),
    PegasosSVC(random_state=0),
    PegasosSVC(kernel="rbf", random_state=0),
]


@pytest.mark.parametrize("kind", [np.asarray, np.float32, sparse.csr_matrix])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: str(model).partition(" at ")[0])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_joblib_1199_misaligned_arrays_of_every_estimator(model, kind):
    """The core reads no number where C++ does not allow it: of the data, the targets, the weights
    and a model that was loaded.
    """
    X, y = binary()
    y, weight, X = target(model, X, y), np.linspace(0.5, 1.5, len(X)), kind(np.abs(X))
    expected, found = (
        clone(model).fit(X, y, weight),
        clone(model).fit(_odd(X), _odd(y), _odd(weight)),
    )
    assert_same_bits(values(found, _odd(X)), values(expected, X))
    for name, value in vars(found).items():
        if (isinstance(value, np.ndarray) and value.dtype.kind in "iuf") or sparse.issparse(value):
            setattr(found, name, _odd(value))
    assert_same_bits(values(found, _odd(X)), values(expected, X))
    if hasattr(found, "certify"):
        gap = expected.certify(X, y, weight).gap  # NumPy's own sums depend on the address
        assert found.certify(_odd(X), _odd(y), _odd(weight)).gap == pytest.approx(
            gap, rel=1e-9, abs=1e-9
        )


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_joblib_1199_misaligned_arrays_elsewhere(kind, tmp_path):
    X, y = binary()
    X = kind(X)
    assert_same_bits(
        kernel_matrix(Kernel.rbf(1.0), _odd(X), _odd(X)), kernel_matrix(Kernel.rbf(1.0), X, X)
    )
    io.dump_svmlight(X, y, tmp_path / "plain")
    io.dump_svmlight(_odd(X), _odd(y), tmp_path / "odd")
    assert (tmp_path / "odd").read_bytes() == (tmp_path / "plain").read_bytes()
    plain, odd = SVC().fit(X, y), SVC().fit(_odd(X), y)
    odd.support_vectors_, odd.dual_coef_ = _odd(odd.support_vectors_), _odd(odd.dual_coef_)
    for model, name in ((plain, "plain"), (odd, "odd")):
        io.save_libsvm(model, tmp_path / name)
    assert (tmp_path / "odd").read_bytes() == (tmp_path / "plain").read_bytes()
    assert_same_bits(
        compact(odd, max_support_vectors=5).decision_function(X),
        compact(plain, max_support_vectors=5).decision_function(X),
    )


def test_sklearn_10667_sparse_matrix_over_strided_and_read_only_arrays():
    """Sparse data whose arrays are slices of larger ones, or read-only, must work as their
    contiguous copies do.
    """
    X, y = binary()
    X = sparse.csr_matrix(X)
    buffer = np.repeat(X.data, 2)
    strided = sparse.csr_matrix((buffer[::2], X.indices, X.indptr), shape=X.shape, copy=False)
    assert not strided.data.flags.c_contiguous
    expected = SVC(gamma=0.5).fit(X, y).decision_function(X)
    assert_same_bits(SVC(gamma=0.5).fit(strided, y).decision_function(strided), expected)
    for array in (X.data, X.indices, X.indptr):
        array.flags.writeable = False
    assert_same_bits(SVC(gamma=0.5).fit(X, y).decision_function(X), expected)


# ---- rows 46, 47: nothing to learn ---------------------------------------------------------------


@pytest.mark.parametrize(
    "wrap",
    [np.asarray, sparse.csr_matrix, sparse.csr_array],
    ids=["dense", "csr_matrix", "csr_array"],
)
@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_sklearn_14893_no_support_vectors(kernel, wrap):
    """No support vector was a ZeroDivisionError: constant targets give a constant model with empty
    attributes, also after pickling.
    """
    X, _ = binary()
    if kernel == "precomputed":
        X, wrap = X @ X.T, np.asarray
    X = wrap(X)
    for model in (
        SVR(kernel=kernel).fit(X, np.full(60, 7.0)),
        SVR(kernel=kernel, epsilon=100.0).fit(X, np.linspace(2.0, 12.0, 60)),
    ):
        assert model.support_.shape == (0,)
        assert model.dual_coef_.shape == (1, 0)
        assert model.n_support_.tolist() == [0]
        assert kernel == "precomputed" or model.support_vectors_.shape == (0, X.shape[1])
        assert kernel != "linear" or (
            model.coef_.shape == (1, X.shape[1]) and abs(model.coef_).max() == 0
        )
        for fitted in (model, pickle.loads(pickle.dumps(model))):
            np.testing.assert_allclose(fitted.predict(X), 7.0, atol=1e-12)
        assert model.certificate_.status == "optimal"


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_cuml_4033_negligible_C_and_duplicates_leave_a_valid_model(cls):
    """Coefficients at the edge of nothing broke prediction: tiny weights and identical points give
    finite, certified models.
    """
    X, y = np.zeros((6, 2)), np.array([0, 1, 0, 1, 0, 1])
    if cls is NuSVC:
        with pytest.warns(ConvergenceWarning, match="hulls"):
            model = NuSVC().fit(X, y)
        assert (model.decision_function(X) == 0).all()
        return
    model = SVC(C=1e-300).fit(X, y)
    assert model.certificate_.status == "optimal"
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian", "cosine"])
def test_sklearnex_two_samples_of_one_class_and_other_tiny_sets(kernel, wrap):
    """Sets of one, two or three samples failed inside native code: each has a defined answer."""
    one, pair, zeros = (
        wrap(np.array([[1.0, 2.0]])),
        wrap(np.array([[1.0, 2.0]] * 2)),
        wrap(np.zeros((3, 1))),
    )
    for cls in REGRESSORS:
        np.testing.assert_allclose(cls(kernel=kernel).fit(one, [3.0]).predict(one), 3.0, atol=1e-12)
        np.testing.assert_allclose(
            cls(kernel=kernel).fit(pair, [3.0, 3.0]).predict(pair), 3.0, atol=1e-12
        )
        np.testing.assert_allclose(
            cls(kernel=kernel).fit(zeros, [3.0] * 3).predict(zeros), 3.0, atol=1e-12
        )
    for X in (one, pair, zeros):
        model = OneClassSVM(kernel=kernel).fit(X)
        assert np.abs(model.decision_function(X)).max() < 1e-8
        assert (model.predict(X) == 1).all()
    assert SVC(kernel=kernel).fit(pair, ["a", "b"]).predict(one).shape == (1,)
    with pytest.raises(ValueError, match="class"):
        SVC(kernel=kernel).fit(pair, ["a", "a"])


@pytest.mark.parametrize("cls", FIVE)
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_sklearnex_no_samples_or_no_features(cls, shape):
    """Empty input reached native code: ValueError, in fit and in predict."""
    with pytest.raises(ValueError, match=r"0 (sample|feature)"):
        cls().fit(np.empty(shape), np.arange(shape[0]) % 2)
    X, y = binary()
    with pytest.raises(ValueError, match=r"0 (sample|feature)|features"):
        cls().fit(X, target(cls, X, y)).predict(np.empty(shape))


# ---- row 48: infeasible nu -----------------------------------------------------------------------


@pytest.mark.parametrize("ones", [1, 5, 20, 40, 59])
def test_sklearn_33478_infeasible_nu_is_known_before_any_kernel_value(ones):
    """nu was found infeasible after the kernel was computed, or silently: ValueError first, with
    the largest feasible nu.
    """
    calls = []

    def kernel(A, B):
        calls.append(len(A))
        return np.asarray(A) @ np.asarray(B).T

    X, y = binary()[0], (np.arange(60) < ones).astype(int)
    largest = 2 * min(ones, 60 - ones) / 60
    with pytest.raises(ValueError, match=rf"largest feasible nu[\s\S]*{largest:.6g}"):
        NuSVC(nu=min(1.0, largest * 1.01), kernel=kernel).fit(X, y)
    assert calls == []
    assert NuSVC(nu=largest, gamma=50.0).fit(X, y).certificate_.status == "optimal"


def test_opencv_25812_infeasible_nu_counts_weights_and_every_pair():
    """Training returned false in silence: nu is checked against weights, not counts, and for every
    pair of classes.
    """
    X, y = binary()[0], np.repeat([0, 1], 30)
    weight = np.where(y == 0, 3.0, 1.0)
    assert NuSVC(nu=0.9, gamma=50.0).fit(X, y).certificate_.status == "optimal"
    with pytest.raises(ValueError, match=r"largest feasible nu.* 0\.5 "):
        NuSVC(nu=0.9, gamma=50.0).fit(X, y, sample_weight=weight)
    with pytest.raises(ValueError, match="largest feasible nu"):
        NuSVC(nu=0.9, gamma=50.0).fit(X, np.repeat([0, 1, 2, 2], [25, 25, 5, 5]))


# ---- rows 49, 50: exceptions, and copies of models -----------------------------------------------


@pytest.mark.parametrize("cls", FIVE)
def test_thundersvm_123_copies_of_models_outlive_each_other(cls):
    """Models held raw pointers that were freed twice: clones, copies, pickles and joblib files are
    plain, equal and independent.
    """
    X, y = three() if cls is SVC else binary()
    model = cls().fit(X, target(cls, X, y))
    expected = values(model, X)
    with pytest.raises(NotFittedError):
        clone(model).predict(X)
    copies = [
        copy.copy(model),
        copy.deepcopy(model),
        *(pickle.loads(pickle.dumps(model, p)) for p in range(2, pickle.HIGHEST_PROTOCOL + 1)),
    ]
    del model
    for other in copies:
        assert_same_bits(values(other, X), expected)
        assert other.certificate_.status == "optimal"


def test_thundersvm_239_models_go_through_joblib_files(tmp_path):
    """Models could not be pickled: a joblib file, mapped read-only, predicts the same bits."""
    X, y = three()
    model = SVC().fit(X, y)
    joblib.dump(model, tmp_path / "model.joblib")
    assert_same_bits(
        joblib.load(tmp_path / "model.joblib", mmap_mode="r").decision_function(X),
        model.decision_function(X),
    )


def test_thundersvm_107_errors_leave_the_process_and_the_model_alive():
    """exit(1) and LOG(FATAL) took the process down: errors are exceptions, and the model fitted
    before still predicts the same.
    """
    X, y = binary()
    model = SVC().fit(X, y)
    expected = model.decision_function(X)
    for bad_X, bad_y in (
        (X * np.nan, y),
        (X[:, :2], y[:-1]),
        (X, y * 0),
        (X[:, :3] * 1e200, y),
        (X[:, :1], y + 0.5),
    ):
        with pytest.raises(ValueError):
            model.fit(bad_X, bad_y)
        assert_same_bits(model.decision_function(X), expected)


# ---- row 51: leaks -------------------------------------------------------------------------------


@linux
@pytest.mark.memory
def test_sklearnex_843_memory_is_flat_over_many_fits():
    """SVC and SVR leaked for years: resident memory does not grow over fits, predictions, errors
    and interrupts.
    """
    code = """
    import gc, resource, warnings
    import numpy as np
    from scipy import sparse
    from helpers import FIVE, target, values
    warnings.simplefilter("ignore")
    X = np.random.default_rng(0).normal(size=(120, 100))
    y = np.arange(120) % 2
    S = sparse.csr_matrix(np.where(np.abs(X) < 1.5, 0, X))

    def failing(error):
        def kernel(A, B):
            raise error
        return kernel

    def work():
        for cls in FIVE:
            z = target(cls, X, y)
            values(cls().fit(X, z), X)
            values(cls().fit(S, z), S)
            interrupted = cls(kernel=failing(KeyboardInterrupt()))
            for estimator, data in ((cls(kernel="linear"), X * 1e200), (interrupted, X)):
                try:
                    estimator.fit(data, z)
                except (ValueError, KeyboardInterrupt):
                    pass

    def resident():
        gc.collect()
        return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

    sizes = []
    for _ in range(6):
        for _ in range(12):
            work()
        sizes.append(resident())
    print(min(np.diff(sizes)) / (12 * 10))
    """
    per_fit = float(in_subprocess(code, timeout=120, OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="1"))
    # the least of five slopes: a leak is in all of them; a copy of X is 96 000 bytes
    assert per_fit < 2048


# ---- rows 53, 54: the cache, and a dependency gone wrong -----------------------------------------


@pytest.mark.parametrize("cls", [SVC, NuSVR])
def test_libsvm_80_cache_size_changes_nothing_but_time(cls, monkeypatch):
    """cache_size times 2^20 overflowed: from a kilobyte to a petabyte the answer is the same, and
    no such memory is asked for.
    """
    X, y = cached(cls)
    use = CacheUse(monkeypatch)
    models = [cls(cache_size=size) for size in (1e-3, 1, 200, 1e9, "auto")]
    rows = [use.of(model, X, y) for model in models]
    assert rows == [0, 2**20 // (4 * len(X)), len(X), len(X), len(X)]
    for model in models:
        assert model.certificate_.status == "optimal"
        assert_same_bits(values(model, X[:50]), values(models[0], X[:50]))
    for size in (0, -1, np.nan):
        with pytest.raises(ValueError, match="cache_size"):
            cls(cache_size=size).fit(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n", [60, 1300])
def test_cuml_8064_a_wrong_kernel_from_below_is_never_certified(n, monkeypatch):
    """A bug in a dependency gave wrong models: kernel values wrong by 5 % must not end in status
    "optimal".
    """
    X, y = binary(n)

    def wrong(function, kernel, *rest):
        return function((*kernel[:1], kernel[1] * 1.05, *kernel[2:]), *rest)

    for name in ("kernel_block", "kernel_product", "separate_steps"):
        monkeypatch.setattr(_cpu, name, partial(wrong, getattr(_cpu, name)))
    model = SVC(gamma=1.0).fit(X, y)
    assert model.certificate_.audit_error > 1e-3
    assert model.certificate_.status != "optimal"
    assert model.fit_status_ == 1


def test_cuml_8064_a_solver_that_does_nothing_is_never_certified(monkeypatch):
    """A broken solver reported success: when no step is done the status says so, with a warning."""
    X, y = binary()
    nothing = 0, 0.0, False, False
    monkeypatch.setattr(_cpu, "pair_steps", lambda *arguments: nothing)
    monkeypatch.setattr(_cpu, "separate_steps", lambda *arguments: [(*nothing, True)])
    with pytest.warns(ConvergenceWarning, match="KKT violation"):
        model = SVC().fit(X, y)
    assert model.certificate_.status == "stalled"
    assert model.fit_status_ == 1


def test_thundersvm_97_importing_needs_no_configuration():
    """Libraries aborted at import without some file or device: import works in an empty environment
    and folder.
    """
    keep = {
        name: os.environ[name] for name in ("SYSTEMROOT", "LD_LIBRARY_PATH") if name in os.environ
    }
    done = subprocess.run(
        [sys.executable, "-c", "import maxmargin"],
        env=keep,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
