"""Validation and conversion of the user's data: sparse formats, precomputed kernels, gamma."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import _num_samples, validate_data

from maxmargin.core.arrays import Floats
from maxmargin.estimators._targets import WORDS_IN_Y, is_word_error
from maxmargin.estimators._warnings import warn
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.sources import pick

CHECKS: dict[str, Any] = {
    "dtype": [np.float64, np.float32],
    "order": "C",
    "accept_sparse": "csr",
    "accept_large_sparse": True,
}
"""Options of the validation of X: float32 stays float32, everything else becomes float64."""

SINGLE, ASYMMETRY = 1e-5, 1e-3
"""Asymmetry of a kernel matrix as a fraction of its greatest value: up to the first it is rounding
in float32, up to the second it is averaged out with a warning, beyond that it is an error."""
BATCH_ROWS = 8
"""Samples on which a kernel function is evaluated twice."""


def validated(estimator: Any, X: Any, *y: Any, **options: Any) -> Any:
    """Validate data by scikit-learn's validate_data with CHECKS."""
    with _words_explained(X):
        return validate_data(estimator, X, *y, **CHECKS, **options)


def check_chunk(X: Any, name: str) -> Any:
    """Validate the X of a chunk in the same way."""
    with _words_explained(X, f"{name}: "):
        return check_array(X, input_name=name, **CHECKS)


@contextmanager
def _words_explained(X: Any, prefix: str = "") -> Iterator[None]:
    """If X or y contain words, the error says where they are and what to do about them."""
    try:
        yield
    except ValueError as error:
        if not is_word_error(error):
            raise
        raise ValueError(f"{prefix}{error}. {_where_words_are(X)}") from error


def _where_words_are(X: Any) -> str:
    """Says which columns of X contain words; if none does, y does."""
    if hasattr(X, "columns"):
        columns = [(repr(str(name)), np.asarray(X[name])) for name in X.columns]
    else:
        values = np.atleast_2d(np.asarray(X, dtype=object)).T
        columns = [(f"{k} (counted from 0)", column) for k, column in enumerate(values)]
    found = [(name, word) for name, column in columns if (word := _first_word(column)) is not None]
    if not found:
        return WORDS_IN_Y
    shown = ", ".join(f"{name} with {word!r}" for name, word in found[:5])
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    return (
        f"X has {len(found)} {'column' if len(found) == 1 else 'columns'} of words: {shown}{more}. "
        "Encode categories as numbers (OneHotEncoder, OrdinalEncoder, within a ColumnTransformer), "
        "or leave the columns out."
    )


def _first_word(column: NDArray[Any]) -> str | None:
    """The first value of a column that is not a number; None if all are."""
    for value in column.tolist():
        try:
            float(value)
        except (TypeError, ValueError):
            if isinstance(value, str):
                return value
    return None


def symmetric(kind: Kind | None, K: Any) -> Any:
    """A precomputed kernel matrix made exactly symmetric; other data are returned unchanged.

    A matrix that is asymmetric by more than rounding is an error.
    """
    if kind is not Kind.PRECOMPUTED:
        return K
    step = max(1, 2**22 // max(1, len(K)))
    blocks = [slice(i, i + step) for i in range(0, len(K), step)]
    worst = float(np.max([np.abs(K[b] - K[:, b].T).max() for b in blocks], initial=0.0))
    if worst == 0:
        return K
    size = float(np.abs(K).max())
    differ = f"entries differ from their mirror images by up to {worst:.3g}, "
    differ += f"with values up to {size:.3g}"
    if not worst <= ASYMMETRY * size:
        raise ValueError(
            f"Precomputed matrix must be symmetric: {differ}. Pass (K + K.T) / 2 if the difference "
            "does not matter."
        )
    if worst > SINGLE * size:
        warn(
            f"The precomputed matrix is not symmetric: {differ}. (K + K.T) / 2 is used; pass that "
            "to avoid this warning.",
            UserWarning,
        )
    return (K + K.T) / 2


def refuse_batch_dependence(kernel: Any, X: Any) -> None:
    """Refuse a kernel function whose values depend on the other samples of a call.

    A few entries are evaluated in two blocks. Other kernels are not checked.
    """
    function = kernel.function if isinstance(kernel, Kernel) else kernel
    if not callable(function) or (n := _num_samples(X)) < 4:
        return
    rows = np.linspace(0, n - 1, min(n, BATCH_ROWS)).astype(np.int64)
    few = len(rows) // 2
    some, others = pick(X, rows[:few]), pick(X, rows[few:])
    whole, part = _dense(function(pick(X, rows), pick(X, rows))), _dense(function(some, others))
    if whole.shape != (len(rows), len(rows)) or part.shape != (few, len(rows) - few):
        return  # the fit reports the wrong shape
    difference = float(np.abs(whole[:few, few:] - part).max(initial=0.0))
    if difference > ASYMMETRY * float(np.abs(whole).max()):
        raise ValueError(
            "The kernel function depends on its batch: values of the same pairs of samples differ "
            f"by up to {difference:.3g} between two calls with other samples in the batch. A value "
            "k(x, z) may depend on x and z only, because the kernel is evaluated in blocks. Divide "
            "by a constant instead of K.max(), do not centre the block; or compute the matrices "
            "yourself and use kernel='precomputed'."
        )


def _dense(values: Any) -> Floats:
    return np.asarray(values.toarray() if sparse.issparse(values) else values, dtype=np.float64)


def canonical_csr(X: Any) -> Any:
    """CSR with sorted, unique indices, 32 bits wide.

    The caller's matrix is copied where it is not canonical.
    """
    if X.shape[1] > np.iinfo(np.int32).max:
        raise ValueError(
            f"Sparse data with {X.shape[1]} columns: at most 2**31 - 1 are supported. Drop or hash "
            "empty columns."
        )
    X.check_format(full_check=True)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
        X.sort_indices()
    return X


def gamma_value(gamma: Any, X: Any, weight: Floats | None) -> float:
    """gamma as a number: "scale" is 1 / (n_features var(X)), "auto" is 1 / n_features.

    The variance is taken in two passes, the same for sparse data; with sample weights it is that of
    the data with each sample repeated as often as its weight says.
    """
    if not isinstance(gamma, str):
        return float(gamma)
    with np.errstate(over="ignore", invalid="ignore"):
        return _gamma_of_data(gamma, X, weight)


def _gamma_of_data(gamma: str, X: Any, weight: Floats | None) -> float:
    n, d = X.shape
    if gamma == "auto":
        return 1.0 / float(d)
    equal = weight is None or bool((weight == weight[0]).all())
    if weight is None or equal:
        weight = np.ones(n)
    else:  # their scale does not matter
        weight = np.ldexp(weight, -np.frexp(weight.max(initial=0.0))[1])
    total = float(weight.sum()) * d
    if sparse.issparse(X):
        entries = np.repeat(weight, np.diff(X.indptr))
        mean = float(np.sum(entries * X.data)) / total
        squares = np.subtract(X.data, mean, dtype=np.float64) ** 2
        absent = max(0.0, total - float(entries.sum()))
        variance = (float(np.sum(entries * squares)) + absent * mean * mean) / total
    elif equal:
        squares = np.subtract(X, X.sum(dtype=np.float64) / total, dtype=np.float64)
        squares *= squares
        variance = float(squares.sum()) / total
    else:
        mean = float(np.sum(weight * X.sum(axis=1, dtype=np.float64))) / total
        squares = np.subtract(X, mean, dtype=np.float64) ** 2
        variance = float(np.sum(weight * np.sum(squares, axis=1))) / total
    if not np.isfinite(variance):
        raise ValueError(
            "The dual coefficients or intercepts are not finite: the variance of X overflows. "
            "Scale the data (StandardScaler)."
        )
    values = X.data if sparse.issparse(X) else X
    if variance == 0 and values.size and values.min() != values.max():
        raise ValueError(
            "The variance of X underflows: gamma='scale' is infinite. Scale the data "
            "(StandardScaler)."
        )
    return 1.0 / (d * variance) if variance != 0 else 1.0


def stack(A: Any, B: Any) -> Any:
    """The points of A followed by those of B, in the storage of A."""
    if sparse.issparse(A):
        return canonical_csr(sparse.vstack([A, sparse.csr_matrix(B)], format="csr"))
    if isinstance(A, np.ndarray):
        return np.concatenate([A, B.toarray() if sparse.issparse(B) else np.asarray(B)])
    return [*A, *B]


def like(X: Any, A: Any) -> Any:
    """X as a sparse matrix or a dense array, whichever A is."""
    if sparse.issparse(A) and not sparse.issparse(X):
        return canonical_csr(sparse.csr_matrix(X))
    return X.toarray() if sparse.issparse(X) and isinstance(A, np.ndarray) else X
