"""svmlight text of any size: read in blocks of whole lines, each parsed by the core; written so that it reads back bit for bit.

A line is ``target [qid:q] index:value index:value ... # comment``; empty lines and comments are skipped, a line may end in \\n, \\r\\n or
\\r. Whether indices count from 0 or from 1, and how many features there are, can only be known at the end of the file, so both are
decided there. What is not of this form is an error that names file, line and column.

A block is what is left of the one before, then block_bytes more, cut after its last line end; a line longer than that is read to its end.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy import sparse

from maxmargin.core import cpu as core
from maxmargin.io.files import SUFFIXES, atomic_write, open_read

BLOCK = 2**26
"""Bytes of text read at once."""
MOST_FEATURES = 2**31 - 2
"""The greatest index accepted: what fits 32 bits."""
BOM = b"\xef\xbb\xbf"
ERRORS = (
    "",
    "a number was expected, the target; several targets (1,2) and words (nan, inf) are not read",
    "unexpected character after the target: a blank, or the end of the line, must follow",
    "an index was expected, digits only; feature names are not read",
    "':' was expected after the index",
    "a number was expected after ':', for example 0.5 or 1e-3; words (nan, inf) are not read",
    "unexpected character after the value: a blank must follow",
    "the number is too large for a float64",
    "the index is greater than {limit}, the most that is accepted; if it is right, raise max_features or renumber the features",
    "the index is not greater than the one before: sort each line's indices, and give each once",
    "a whole number was expected after qid:",
    "some lines have a qid and others have none",
)
"""What each error of core/svmlight.h means."""


class Layout(NamedTuple):
    """What the whole file has in common."""

    n_samples: int
    n_features: int
    zero_based: bool


class Rows(NamedTuple):
    """The rows of some lines, indices as they are written."""

    targets: NDArray[np.float64]
    ends: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float64]
    queries: NDArray[np.int64]
    least: int
    greatest: int

    def matrix(self, layout: Layout, dtype: Any) -> Any:
        """The rows in CSR."""
        indices = self.indices if layout.zero_based else self.indices - np.int32(1)
        indptr = np.concatenate([[0], self.ends]).astype(np.int32 if len(indices) < 2**31 else np.int64)
        X = sparse.csr_matrix((len(self.targets), layout.n_features), dtype=dtype)
        X.data, X.indices, X.indptr = self.values.astype(dtype, copy=False), indices.astype(indptr.dtype, copy=False), indptr
        X.has_sorted_indices = X.has_canonical_format = True
        return X


def svmlight_chunks(
    path: Any,
    n_features: int | None = None,
    block_bytes: int = BLOCK,
    zero_based: Any = "auto",
    dtype: DTypeLike = np.float64,
    max_features: int = MOST_FEATURES,
) -> "SvmlightChunks":
    """A reader of an svmlight file in blocks, for ``fit_chunks``.

    Parameters
    ----------
    path : str or path-like
        The file; compressed ones (gzip, bz2, xz, zstd) are decompressed while they are read.
    n_features : int or None, default=None
        How many features X has; None is as many as occur in the file. Files of one data set need the same number.
    block_bytes : int, default=2**26
        About how many bytes of text are read at once. The memory needed is a few times that.
    zero_based : bool or "auto", default="auto"
        Whether indices begin at 0; "auto" means at 1 unless a 0 occurs anywhere in the file.
    dtype : {float64, float32}, default=float64
        Type of the values and targets.
    max_features : int, default=2**31 - 2
        An index above this is an error: a guard against files that are not what they seem.

    Returns
    -------
    reader : SvmlightChunks
        Each call ``reader()`` begins again and yields ``(X, y)`` for each block, X in CSR; ``reader.layout`` holds the numbers of samples
        and features and the base of the indices.

    Examples
    --------
    >>> from maxmargin import LinearSVC
    >>> from maxmargin.io import svmlight_chunks
    >>> model = LinearSVC().fit_chunks(svmlight_chunks("train.svm"))  # doctest: +SKIP
    """
    if not (isinstance(block_bytes, Integral) and block_bytes >= 1):
        raise ValueError(f"block_bytes must be an integer >= 1, got {block_bytes!r}")
    if n_features is not None and not (isinstance(n_features, Integral) and n_features >= 1):
        raise ValueError(f"n_features must be an integer >= 1 or None, got {n_features!r}")
    if not (isinstance(zero_based, bool | np.bool_) or (isinstance(zero_based, str) and zero_based == "auto")):
        raise ValueError(f"zero_based must be True, False or 'auto', got {zero_based!r}")
    if np.dtype(dtype) not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise ValueError(f"dtype must be float64 or float32, got {np.dtype(dtype)}")
    if not (isinstance(max_features, Integral) and 1 <= max_features <= MOST_FEATURES):
        raise ValueError(f"max_features must be an integer from 1 to {MOST_FEATURES}, got {max_features!r}")
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no file {path}")
    base = None if isinstance(zero_based, str) else bool(zero_based)
    return SvmlightChunks(path, n_features, int(block_bytes), base, np.dtype(dtype), int(max_features))


@dataclass(frozen=True)
class SvmlightChunks:
    """The blocks of a file; see ``svmlight_chunks``, which makes it."""

    path: Path
    n_features: int | None
    block_bytes: int
    zero_based: bool | None
    dtype: np.dtype[Any]
    max_features: int = MOST_FEATURES

    def __call__(self) -> Iterator[tuple[Any, NDArray[Any]]]:
        """Begin again: X and y of each block."""
        layout = self.layout
        for rows in self.rows():
            if rows.greatest >= layout.n_features + (not layout.zero_based):
                raise ValueError(f"{self.path} changed while it was read: it has a feature {rows.greatest} now")
            yield rows.matrix(layout, self.dtype), rows.targets.astype(self.dtype, copy=False)

    @cached_property
    def layout(self) -> Layout:
        """Numbers of samples and features and the base of the indices, by a pass over the file."""
        n, least, greatest = 0, np.inf, -1
        for rows in self.rows():
            n += len(rows.targets)
            if len(rows.indices):
                least, greatest = min(least, rows.least), max(greatest, rows.greatest)
        return self._layout(n, least, greatest)

    def whole(self) -> tuple[Any, NDArray[Any], NDArray[np.int64]]:
        """X, y and queries of the whole file, by one pass over it."""
        blocks = list(self.rows())
        with_entries = [rows for rows in blocks if len(rows.indices)]
        least, greatest = min((r.least for r in with_entries), default=np.inf), max((r.greatest for r in with_entries), default=-1)
        layout = self._layout(sum(len(rows.targets) for rows in blocks), least, greatest)
        if blocks[0].queries.size and any(not rows.queries.size for rows in blocks):
            raise ValueError(f"{self.path}: {ERRORS[-1]}")
        starts = np.cumsum([0, *(len(rows.indices) for rows in blocks)])
        ends = np.concatenate([rows.ends + start for rows, start in zip(blocks, starts, strict=False)])
        names = ("targets", "indices", "values", "queries")
        targets, indices, values, queries = (
            blocks[0]._asdict()[name] if len(blocks) == 1 else np.concatenate([getattr(rows, name) for rows in blocks]) for name in names
        )
        del blocks, with_entries
        rows = Rows(targets, ends, indices, values, queries, int(min(least, greatest)), greatest)
        return rows.matrix(layout, self.dtype), targets.astype(self.dtype, copy=False), queries

    def rows(self) -> Iterator[Rows]:
        """The rows of each block that has some."""
        lines = 0
        with open_read(self.path) as file:
            rest, first = b"", True
            while piece := file.read(self.block_bytes):
                text = rest + piece if rest else piece
                end = text.rfind(b"\n") + 1
                if not end:
                    rest = text
                    continue
                text, rest = (text, b"") if end == len(text) else (text[:end], text[end:])
                yield from self._parsed(text.removeprefix(BOM) if first else text, lines)
                first, lines = False, lines + text.count(b"\n")
            if rest:
                yield from self._parsed(rest.removeprefix(BOM) if first else rest, lines)

    def _parsed(self, text: bytes, lines: int) -> Iterator[Rows]:
        *rows, error, at = core.parse_svmlight(np.frombuffer(text, np.uint8), self.max_features)
        if error:
            line, column = _place(text, at)
            shown = text[at : at + 20].splitlines()[0].decode("ascii", "replace") if text[at : at + 1].strip() else "the end of the line"
            message = ERRORS[error].format(limit=self.max_features)
            raise ValueError(f"{self.path}, line {lines + line}, column {column}: {message}; found {shown!r}")
        found = Rows(*rows)
        if len(found.targets):
            yield found

    def _layout(self, n: int, least: float, greatest: int) -> Layout:
        if n == 0:
            raise ValueError(f"{self.path} holds no samples")
        zero_based = least == 0 if self.zero_based is None else self.zero_based
        if not zero_based and least == 0:
            raise ValueError(f"{self.path} has a feature with index 0, but zero_based=False says that indices begin at 1")
        found = greatest + 1 if zero_based else max(greatest, 0)
        if self.n_features is not None and found > self.n_features:
            raise ValueError(f"{self.path} has {found} features, more than n_features={self.n_features}")
        if not (found or self.n_features):
            raise ValueError(f"{self.path} holds {n} samples without any feature: give n_features")
        return Layout(n, self.n_features or found, zero_based)


def load_svmlight(
    path: Any,
    n_features: int | None = None,
    zero_based: Any = "auto",
    dtype: DTypeLike = np.float64,
    query_id: bool = False,
    max_features: int = MOST_FEATURES,
) -> tuple[Any, ...]:
    """Read a whole svmlight file.

    Parameters
    ----------
    path, n_features, zero_based, dtype, max_features
        As of ``svmlight_chunks``.
    query_id : bool, default=False
        Return the numbers after qid: as well.

    Returns
    -------
    X : CSR matrix of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    queries : ndarray of int, only if query_id
        Empty if the file has none.
    """
    X, y, queries = svmlight_chunks(path, n_features, zero_based=zero_based, dtype=dtype, max_features=max_features).whole()
    return (X, y, queries) if query_id else (X, y)


def dump_svmlight(
    X: Any, y: ArrayLike, path: Any, *, zero_based: bool = False, query_id: ArrayLike | None = None, comment: str = "", rows: int = 50_000
) -> None:
    """Write an svmlight file, whole or not at all; it reads back bit for bit.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Zeros are not written.
    y : array-like of shape (n_samples,)
        The targets.
    path : str or path-like
        Where to; names that end in .gz, .bz2, .xz or .zst are compressed.
    zero_based : bool, default=False
        Count features from 0; LIBSVM's programs want 1.
    query_id : array-like of int of shape (n_samples,), default=None
        Written as qid:.
    comment : str, default=""
        Written at the top, each line after #.
    rows : int, default=50_000
        So many are turned into text at a time.
    """
    matrix = sparse.csr_matrix(X, dtype=np.float64)
    if matrix is X or matrix.data is getattr(X, "data", None):
        matrix = matrix.copy()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    targets = np.ascontiguousarray(y, np.float64)
    if targets.shape != (matrix.shape[0],):
        raise ValueError(f"X has {matrix.shape[0]} rows but y has shape {targets.shape}")
    if not (np.isfinite(matrix.data).all() and np.isfinite(targets).all()):
        raise ValueError("X or y has values that are NaN or infinite: an svmlight file cannot hold them")
    queries = None if query_id is None else np.ascontiguousarray(query_id, np.int64)
    indices, indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int64)
    target = Path(path)
    with atomic_write(target) as file:
        out: Any = SUFFIXES[target.suffix](file, "wb") if target.suffix in SUFFIXES else file
        out.write("".join(f"# {line}\n" for line in comment.splitlines()).encode())
        for begin in range(0, len(targets), rows):
            part = slice(begin, min(begin + rows, len(targets)))
            ends = indptr[part.start : part.stop + 1]
            some = None if queries is None else queries[part]
            out.write(core.format_svmlight(targets[part], some, ends, indices, matrix.data, 0 if zero_based else 1))
        if out is not file:
            out.close()


def _place(text: bytes, at: int) -> tuple[int, int]:
    """Line and column, from 1, of a byte; \\r\\n is one line end."""
    before = text[:at].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return before.count(b"\n") + 1, len(before) - before.rfind(b"\n")
