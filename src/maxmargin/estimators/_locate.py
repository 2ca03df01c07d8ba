"""Which training samples the support vectors are: model files of other programs hold their values and not their places."""

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def _keys(X: Any) -> Iterator[bytes]:
    """The non-zeros of each row as bytes: equal rows, and only those, have equal keys."""
    rows = sparse.csr_matrix(X, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    indices = rows.indices.astype(np.int64)
    for begin, end in zip(rows.indptr, rows.indptr[1:], strict=False):
        yield indices[begin:end].tobytes() + rows.data[begin:end].tobytes()


def locate(vectors: Any, groups: Sequence[int], X: Any, labels: Sequence[int]) -> NDArray[np.int64]:
    """For each vector a row of X with the same values and label, another for each; equal ones in order. ValueError where there is none."""
    wanted = list(zip(_keys(vectors), groups, strict=True))
    known = set(wanted)
    places: dict[Any, deque[int]] = defaultdict(deque)
    for row, key in enumerate(zip(_keys(X), labels, strict=True)):
        if key in known:
            places[key].append(row)
    found = np.empty(len(wanted), np.int64)
    for k, key in enumerate(wanted):
        if not places[key]:
            raise ValueError(
                f"certify needs the data the model was fitted on: support vector {k} of {len(wanted)} is not among the samples given. Were "
                "they scaled, or written with fewer digits, before the fit?"
            )
        found[k] = places[key].popleft()
    return found
