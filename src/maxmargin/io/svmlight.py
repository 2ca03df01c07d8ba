"""Reading svmlight text of any size, in blocks of whole lines that the core parses.

A line is ``target [qid:q] index:value index:value ... # comment``. Empty lines and comments are
skipped; a line ends in \\n, \\r\\n or \\r. Whether indices start at 0 or 1, and how many features
there are, is only known at the end of the file, so both are decided there. A malformed line is an
error that names the file, line and column.

Zeros: the stored entries of a sparse matrix are written, including zeros of either sign, so the
matrix reads back with the same entries and bits. For an array, 0.0 and -0.0 are not written, and
both read back as 0.0.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from maxmargin.core.text import TEXT_PADDING, parse_svmlight
from maxmargin.io.files import STDIN, name_of, open_read, require_file
from maxmargin.io.growing import Growing
from maxmargin.io.lines import blocks_of_lines

BLOCK = 2**23
"""Bytes of text read at once. The memory of a parsed block is reused for the next one."""
MOST_FEATURES = 2**31 - 2
"""The largest accepted index; it fits in 32 bits."""
ERRORS = (
    "",
    "a number was expected, the target; several targets (1,2) and words (nan, inf) are not read",
    "unexpected character after the target: a blank, or the end of the line, must follow",
    "an index was expected, digits only; feature names and signs are not read",
    "':' was expected right after the index",
    "a number was expected right after ':', for example 0.5 or 1e-3; words (nan, inf) are not read",
    "unexpected character after the value: a blank must follow, and the decimal mark is a point",
    "the number is too large for a float64",
    "the index is greater than {limit}, the most that is accepted; if it is correct, raise "
    "max_features or renumber the features",
    "the index is not greater than the one before: sort each line's indices, and give each once",
    "a whole number of 64 bits was expected after qid:",
    "some lines have a qid and others have none: give every line one, or none",
)
"""What each error of core/svmlight.h means."""


class Layout(NamedTuple):
    """The size of a file and the base of its indices."""

    n_samples: int
    n_features: int
    zero_based: bool


class Problem(NamedTuple):
    """What is wrong with a line, and where.

    Line and column start at 1. A 0 means that the message says where, or that the whole line is
    wrong.
    """

    line: int
    column: int
    message: str

    def __str__(self) -> str:
        """Return the message for a user."""
        place = f"line {self.line}, column {self.column}" if self.column else f"line {self.line}"
        return f"{place}: {self.message}" if self.line else self.message


class Rows(NamedTuple):
    """The rows of some lines; indices are as in the file."""

    targets: NDArray[np.float64]
    ends: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float64]
    queries: NDArray[np.int64]
    least: int
    greatest: int

    def matrix(self, layout: Layout, dtype: Any) -> Any:
        """Return the rows in CSR. It takes ownership of the arrays, so call it once."""
        if not layout.zero_based:
            np.subtract(self.indices, np.int32(1), out=self.indices)
        indptr = np.zeros(len(self.ends) + 1, np.int32 if len(self.indices) < 2**31 else np.int64)
        indptr[1:] = self.ends
        X = sparse.csr_matrix((len(self.targets), layout.n_features), dtype=dtype)
        X.data, X.indices, X.indptr = (
            self.values.astype(dtype, copy=False),
            self.indices.astype(indptr.dtype, copy=False),
            indptr,
        )
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
    """Return a reader of an svmlight file in blocks, for ``fit_chunks``.

    Parameters
    ----------
    path : str or path-like
        The file. A compressed one (gzip, bz2, xz, zstd) is decompressed while it is read.
    n_features : int or None, default=None
        The number of features of X; by default as many as occur in the file. All files of a data
        set need the same number.
    block_bytes : int, default=2**23
        Approximate number of bytes of text to read at once. The memory needed is a few times that.
    zero_based : bool or "auto", default="auto"
        Whether indices start at 0; "auto" means at 1 unless a 0 occurs anywhere in the file.
    dtype : {float64, float32}, default=float64
        Type of the values; targets are float64.
    max_features : int, default=2**31 - 2
        An index above this is an error: a guard against files that are not what they seem.

    Returns
    -------
    reader : SvmlightChunks
        Each call ``reader()`` starts again and yields ``(X, y)`` of one block after another, X in
        CSR. ``reader.layout`` holds the number of samples, the number of features and the base of
        the indices.

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
    if not (
        isinstance(zero_based, bool | np.bool_)
        or (isinstance(zero_based, str) and zero_based == "auto")
    ):
        raise ValueError(f"zero_based must be True, False or 'auto', got {zero_based!r}")
    if np.dtype(dtype) not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise ValueError(f"dtype must be float64 or float32, got {np.dtype(dtype)}")
    if not (isinstance(max_features, Integral) and 1 <= max_features <= MOST_FEATURES):
        raise ValueError(
            f"max_features must be an integer from 1 to {MOST_FEATURES}, got {max_features!r}"
        )
    path = Path(path)
    if path != STDIN:
        require_file(path)
    base = None if isinstance(zero_based, str) else bool(zero_based)
    return SvmlightChunks(
        path, n_features, int(block_bytes), base, np.dtype(dtype), int(max_features)
    )


@dataclass(frozen=True)
class SvmlightChunks:
    """The blocks of a file; see ``svmlight_chunks``, which makes it."""

    path: Path
    n_features: int | None
    block_bytes: int
    zero_based: bool | None
    dtype: np.dtype[Any]
    max_features: int = MOST_FEATURES
    name: str = ""
    """The name in messages, if the path means nothing to the user."""

    def __call__(self) -> Iterator[tuple[Any, NDArray[Any]]]:
        """Start again and yield X and y of one block after another."""
        layout = self.layout
        for rows in self.rows():
            if rows.greatest >= layout.n_features + (not layout.zero_based) or (
                rows.least == 0 and not layout.zero_based
            ):
                raise ValueError(
                    f"{self._name()} changed while it was read: it now has features from "
                    f"{rows.least} to {rows.greatest}"
                )
            yield rows.matrix(layout, self.dtype), rows.targets

    @cached_property
    def layout(self) -> Layout:
        """The numbers of samples and features and the base of the indices; reads the file once."""
        if self.path == STDIN:
            raise ValueError(
                "standard input cannot be read twice: write it to a file, or load it as a whole"
            )
        n, least, greatest = 0, MOST_FEATURES, -1
        for rows in self.rows():
            n += len(rows.targets)
            if len(rows.indices):
                least, greatest = min(least, rows.least), max(greatest, rows.greatest)
        return self.layout_of(n, least, greatest)

    def whole(self) -> tuple[Any, NDArray[np.float64], NDArray[np.int64]]:
        """Return X, y and queries of the whole file, in one pass."""
        # number of blocks; compressed files have more
        expected = 1.05 * self.path.stat().st_size / self.block_bytes if self.path != STDIN else 1.0
        columns = [
            Growing(dtype, expected)
            for dtype in (np.float64, np.int64, np.int32, self.dtype, np.int64)
        ]
        entries, least, greatest = 0, MOST_FEATURES, -1
        for rows in self.rows():
            np.add(rows.ends, entries, out=rows.ends)
            entries += len(rows.indices)
            if len(rows.indices):
                least, greatest = min(least, rows.least), max(greatest, rows.greatest)
            pieces: tuple[NDArray[Any], ...] = (
                rows.targets,
                rows.ends,
                rows.indices,
                rows.values,
                rows.queries,
            )
            for column, piece in zip(columns, pieces, strict=True):
                column.append(piece)
        targets, ends, indices, values, queries = (column.whole() for column in columns)
        layout = self.layout_of(len(targets), least, greatest)
        return (
            Rows(targets, ends, indices, values, queries, least, greatest).matrix(
                layout, self.dtype
            ),
            targets,
            queries,
        )

    def rows(self) -> Iterator[Rows]:
        """Yield the rows of each block that is not empty; the first problem is an error."""
        for found in self.parsed():
            if isinstance(found, Problem):
                raise ValueError(f"{self._name()}, {found}")
            yield found

    def parsed(self) -> Iterator[Rows | Problem]:
        """Yield the rows of each block, up to the first problem."""
        lines, queries = 0, -1
        with open_read(self.path) as file:
            for buffer, begin, end in blocks_of_lines(
                file, self.block_bytes, TEXT_PADDING, self._name()
            ):
                text = buffer[begin:]
                for *arrays, passed, error, at, column in parse_svmlight(
                    text, end - begin, self.max_features, queries
                ):
                    rows = Rows(*arrays)
                    if error:
                        yield Problem(
                            lines + passed + 1, int(column), self.message(error, text, at)
                        )
                        return
                    lines += passed
                    if len(rows.targets):
                        queries = int(len(rows.queries) > 0)
                        yield rows

    def message(self, error: int, text: NDArray[np.uint8], at: int) -> str:
        """Return what is wrong, and the text at that place."""
        here = text[at : at + 20].tobytes()
        shown = (
            repr(here.splitlines()[0].decode("ascii", "replace"))
            if here[:1] not in (b"\n", b"\r")
            else "the end of the line"
        )
        return f"{ERRORS[error].format(limit=self.max_features)}; found {shown}"

    def _name(self) -> str:
        return self.name or name_of(self.path)

    def layout_of(self, n: int, least: int, greatest: int) -> Layout:
        """Return the layout for n rows and these indices; impossible ones are errors."""
        name = self._name()
        if n == 0:
            raise ValueError(f"{name} has no samples")
        zero_based = least == 0 if self.zero_based is None else self.zero_based
        if not zero_based and least == 0:
            raise ValueError(
                f"{name} has a feature with index 0, but with zero_based=False indices start at 1"
            )
        found = greatest + 1 if zero_based else max(greatest, 0)
        if self.n_features is not None and found > self.n_features:
            raise ValueError(f"{name} has {found} features, more than n_features={self.n_features}")
        if not (found or self.n_features):
            raise ValueError(
                f"{name} has {n} samples without any feature: does it hold labels only? "
                "Give n_features to read it"
            )
        return Layout(n, self.n_features or found, zero_based)


def parse_text(text: bytes, limit: int) -> tuple[Rows, int, int]:
    """Return the rows of a text in memory, an error number (0 is none) and the error's byte."""
    end = b"" if not text or text.endswith((b"\n", b"\r")) else b"\n"
    buffer = np.frombuffer(text + end + bytes(TEXT_PADDING), np.uint8)
    ((*arrays, _, error, at, _),) = parse_svmlight(
        buffer, len(text) + len(end), limit, -1, threads=1
    )
    return Rows(*arrays), error, at


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
        As in ``svmlight_chunks``; the path "-" is standard input.
    query_id : bool, default=False
        Also return the numbers after qid:.

    Returns
    -------
    X : CSR matrix of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    queries : ndarray of int, only if query_id
        Empty if the file has none.
    """
    X, y, queries = svmlight_chunks(
        path, n_features, zero_based=zero_based, dtype=dtype, max_features=max_features
    ).whole()
    return (X, y, queries) if query_id else (X, y)
