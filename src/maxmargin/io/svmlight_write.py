"""Writing svmlight text; see svmlight.py for the format and the treatment of zeros."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from maxmargin.core.memory import contiguous
from maxmargin.core.text import format_svmlight
from maxmargin.io.files import compressed_write


def dump_svmlight(
    X: Any,
    y: ArrayLike,
    path: Any,
    *,
    zero_based: bool = False,
    query_id: ArrayLike | None = None,
    comment: str = "",
    rows: int = 50_000,
) -> None:
    """Write an svmlight file, atomically; it reads back bit for bit.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        All stored entries of a sparse matrix are written, and the nonzero entries of an array.
    y : array-like of shape (n_samples,)
        The targets.
    path : str or path-like
        File to write; "-" is standard output. The suffixes .gz, .bz2, .xz and .zst compress it.
    zero_based : bool, default=False
        Count features from 0; LIBSVM's programs count from 1.
    query_id : array-like of int of shape (n_samples,), default=None
        Written as qid:.
    comment : str, default=""
        Written at the top, each line after #.
    rows : int, default=50_000
        Number of rows to convert to text at a time.

    See Also
    --------
    load_svmlight : read it again.

    Examples
    --------
    >>> from pathlib import Path
    >>> from maxmargin.io import dump_svmlight
    >>> dump_svmlight([[0.5, 0.0], [0.0, 2.0]], [1, -1], "train.svm")
    >>> print(Path("train.svm").read_text())
    1 1:0.5
    -1 2:2
    """
    matrix = _canonical(X)
    targets = _numbers(y, matrix.shape[0], "y", np.float64)
    if not (np.isfinite(matrix.data).all() and np.isfinite(targets).all()):
        raise ValueError(
            "X or y has values that are NaN or infinite: an svmlight file cannot hold them"
        )
    n = matrix.shape[0]
    queries = None if query_id is None else _numbers(query_id, n, "query_id", np.int64)
    ends = matrix.indptr.astype(np.int64)
    entries = matrix.indices.astype(np.int32), contiguous(matrix.data), 0 if zero_based else 1
    with compressed_write(path) as out:
        out.write("".join(f"# {line}\n" for line in comment.splitlines()).encode())
        for begin in range(0, n, rows):
            end = begin + rows
            some = None if queries is None else queries[begin:end]
            out.write(format_svmlight(targets[begin:end], some, ends[begin : end + 1], *entries))


def _canonical(X: Any) -> Any:
    """Return X in CSR of float64, each row sorted and without duplicates.

    The caller's matrix is not changed.
    """
    if np.iscomplexobj(X):
        raise ValueError("X is complex: an svmlight file holds real numbers")
    matrix = sparse.csr_matrix(X, dtype=np.float64)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if matrix.shape[1] > 2**31 - 1:
        raise ValueError(
            f"X has {matrix.shape[1]} features, the indices of an svmlight file go to {2**31 - 1}"
        )
    return matrix


def _numbers(values: ArrayLike, n: int, name: str, dtype: Any) -> NDArray[Any]:
    """Return one number for each row."""
    given = np.asarray(values)
    if given.shape != (n,):
        raise ValueError(f"X has {n} rows but {name} has shape {given.shape}")
    if given.dtype.kind not in "biuf" or (dtype is np.int64 and given.dtype.kind == "f"):
        raise ValueError(
            f"{name} must hold {'whole ' if dtype is np.int64 else ''}numbers in an svmlight file, "
            f"got {given.dtype}"
        )
    return contiguous(given, dtype)
