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
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from maxmargin.core.text import TEXT_PADDING, parse_svmlight
from maxmargin.io.files import STDIN, name_of, open_read, require_file
from maxmargin.io.lines import blocks_of_lines
from maxmargin.io.svmlight_rows import ERRORS, MOST_FEATURES, Layout, Problem, Rows, joined

BLOCK = 2**23
"""Bytes of text read at once. The memory of a parsed block is reused for the next one."""


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
    >>> from maxmargin.io import dump_svmlight, svmlight_chunks
    >>> dump_svmlight([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], "train.svm")
    >>> model = LinearSVC().fit_chunks(svmlight_chunks("train.svm"))
    >>> model.predict([[0.5], [2.5]])
    array([0., 1.])
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
    """The blocks of a file; see ``svmlight_chunks``, which makes it.

    See Also
    --------
    svmlight_chunks : makes it.

    Examples
    --------
    >>> from maxmargin.io import dump_svmlight, svmlight_chunks
    >>> dump_svmlight([[1.0, 0.0], [0.0, 2.0]], [1, -1], "train.svm")
    >>> reader = svmlight_chunks("train.svm")
    >>> [(X.shape, y.tolist()) for X, y in reader()]
    [((2, 2), [1.0, -1.0])]
    """

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
        rows = joined(self.rows(), self.dtype, expected)
        layout = self.layout_of(len(rows.targets), rows.least, rows.greatest)
        return rows.matrix(layout, self.dtype), rows.targets, rows.queries

    def rows(self) -> Iterator[Rows]:
        """Yield the rows of each block that is not empty; the first problem is an error."""
        for found in self.parsed():
            if isinstance(found, Problem):
                raise ValueError(f"{self._name()}, {found}")
            yield found

    def parsed(self) -> Iterator[Rows | Problem]:
        """Yield the rows of each block, and the problems of lines, which are left out."""
        lines, queries, name = 0, -1, self._name()
        with open_read(self.path) as file:
            for buffer, begin, end in blocks_of_lines(file, self.block_bytes, TEXT_PADDING, name):
                while begin < end:
                    text, size = buffer[begin:], end - begin
                    for *arrays, passed, error, at, column in parse_svmlight(
                        text, size, self.max_features, queries
                    ):
                        rows, lines = Rows(*arrays), lines + passed
                        if len(rows.targets):
                            queries = int(len(rows.queries) > 0)
                            yield rows
                        if error:
                            lines += 1
                            yield Problem(lines, int(column), self._message(error, text, at))
                            begin += _line_end(text[:size], at)
                            break
                    else:
                        begin = end

    def _message(self, error: int, text: NDArray[np.uint8], at: int) -> str:
        """Return what is wrong, and the text at that place."""
        here, shown = text[at : at + 20].tobytes(), "the end of the line"
        if here[:1] not in (b"\n", b"\r"):
            shown = repr(here.splitlines()[0].decode("ascii", "replace"))
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


def _line_end(text: NDArray[np.uint8], at: int) -> int:
    """Return where the line after a place begins."""
    rest = text[at:].tobytes()
    ends = [k for k in (rest.find(b"\n"), rest.find(b"\r")) if k >= 0]
    end = min(ends, default=len(rest) - 1)
    return at + end + (2 if rest[end : end + 2] == b"\r\n" else 1)


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

    See Also
    --------
    svmlight_chunks : in blocks, for files larger than memory.
    dump_svmlight : write one.

    Examples
    --------
    >>> from maxmargin.io import dump_svmlight, load_svmlight
    >>> dump_svmlight([[0.5, 0.0], [0.0, 2.0]], [1, -1], "train.svm")
    >>> X, y = load_svmlight("train.svm")
    >>> X.toarray(), y
    (array([[0.5, 0. ],
           [0. , 2. ]]), array([ 1., -1.]))
    """
    X, y, queries = svmlight_chunks(
        path, n_features, zero_based=zero_based, dtype=dtype, max_features=max_features
    ).whole()
    return (X, y, queries) if query_id else (X, y)
