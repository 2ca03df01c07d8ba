"""Which training samples the support vectors are: model files of other programs hold their values
and not their places.

Rows are compared by their bytes. LIBSVM writes support vectors with 8 digits: where not all are
found so, both sides are rounded to 8.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.core.arrays import Integers


def row_keys(X: Any, rounded: bool = False) -> Iterator[bytes]:
    """The non-zeros of each row as bytes: equal rows, and only those, have equal keys."""
    rows = sparse.csr_matrix(X, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    indices, data = rows.indices.astype(np.int64), rows.data
    if rounded:
        data = np.array([float(f"{value:.8g}") for value in data.tolist()])
    for begin, end in zip(rows.indptr, rows.indptr[1:], strict=False):
        yield indices[begin:end].tobytes() + data[begin:end].tobytes()


def _found(
    vectors: Any, groups: Sequence[int], X: Any, labels: Sequence[int], rounded: bool
) -> Integers:
    """For each vector, a row of X with the same values and label; -1 if there is none.

    No row is used twice; equal vectors take their rows in order.
    """
    wanted = list(zip(row_keys(vectors, rounded), groups, strict=True))
    known = set(wanted)
    places: dict[Any, deque[int]] = defaultdict(deque)
    for row, key in enumerate(zip(row_keys(X, rounded), labels, strict=True)):
        if key in known:
            places[key].append(row)
    return np.array([places[key].popleft() if places[key] else -1 for key in wanted], np.int64)


def locate(vectors: Any, groups: Sequence[int], X: Any, labels: Sequence[int]) -> Integers:
    """The row of X that each vector is; ValueError where there is none."""
    found = _found(vectors, groups, X, labels, rounded=False)
    if (found < 0).any():
        found = _found(vectors, groups, X, labels, rounded=True)
    if (found < 0).any():
        raise ValueError(
            "certify needs the data the model was fitted on: support vector "
            f"{int(np.argmin(found))} of {len(found)} is not among the "
            "samples given. Were they scaled before the fit?"
        )
    return found
