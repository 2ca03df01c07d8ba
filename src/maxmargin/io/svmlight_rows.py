"""The rows of svmlight text as the core parses them, and what its errors mean."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from maxmargin.core.text import TEXT_PADDING, parse_svmlight
from maxmargin.io.growing import Growing

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
        X.data, X.indptr = self.values.astype(dtype, copy=False), indptr
        X.indices = self.indices.astype(indptr.dtype, copy=False)
        X.has_sorted_indices = X.has_canonical_format = True
        return X


def joined(blocks: Iterable[Rows], dtype: DTypeLike = np.float64, expected: float = 1.0) -> Rows:
    """Return the rows of all blocks, with values of this type.

    Memory is reserved for `expected` blocks as large as the first.
    """
    columns = [
        Growing(kind, expected) for kind in (np.float64, np.int64, np.int32, dtype, np.int64)
    ]
    entries, least, greatest = 0, MOST_FEATURES, -1
    for rows in blocks:
        np.add(rows.ends, entries, out=rows.ends)
        entries += len(rows.indices)
        if len(rows.indices):
            least, greatest = min(least, rows.least), max(greatest, rows.greatest)
        pieces: tuple[Any, ...] = rows[:5]
        for column, piece in zip(columns, pieces, strict=True):
            column.append(piece)
    targets, ends, indices, values, queries = (column.whole() for column in columns)
    return Rows(targets, ends, indices, values, queries, least, greatest)


def parse_text(text: bytes, limit: int) -> tuple[Rows, int, int]:
    """Return the rows of a text in memory, an error number (0 is none) and the error's byte."""
    end = b"" if not text or text.endswith((b"\n", b"\r")) else b"\n"
    buffer = np.frombuffer(text + end + bytes(TEXT_PADDING), np.uint8)
    ((*arrays, _, error, at, _),) = parse_svmlight(
        buffer, len(text) + len(end), limit, -1, threads=1
    )
    return Rows(*arrays), error, at
