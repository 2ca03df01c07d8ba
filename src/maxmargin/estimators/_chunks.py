"""Data in chunks, of which one is in memory at a time."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array, column_or_1d

from maxmargin.core.arrays import Floats
from maxmargin.estimators._data import canonical_csr, check_chunk
from maxmargin.estimators._plain import plain_data
from maxmargin.linear.designs import ChunkDesign

Read = Callable[[], Iterable[Any]]
"""A function that starts to read the chunks from the beginning."""


def read_all(read: Read) -> tuple[NDArray[Any], Floats | None, tuple[int, int]]:
    """The first pass: targets and weights of all chunks, and the shape of the data."""
    if not callable(read):
        raise TypeError(
            "read must be a function that returns the chunks at each call, got "
            f"{type(read).__name__}: the data are read often"
        )
    targets: list[NDArray[Any]] = []
    weights: list[Floats] = []
    n, d = 0, None
    for k, chunk in enumerate(read()):
        if not (isinstance(chunk, tuple) and len(chunk) in (2, 3)):
            raise ValueError(
                f"chunk {k} is not (X, y) or (X, y, sample_weight) but {type(chunk).__name__}"
            )
        X, y, *weight = chunk
        rows, columns = np.shape(X)
        if d is not None and columns != d:
            raise ValueError(f"chunk {k} has {columns} features, the ones before {d}")
        d, n = columns, n + rows
        options = {"dtype": None, "ensure_min_samples": 0, "input_name": f"y of chunk {k}"}
        targets.append(column_or_1d(check_array(y, ensure_2d=False, **options)))
        weights.extend(np.asarray(w, dtype=np.float64) for w in weight)
        for part, name in [(targets[-1], "targets"), *((w, "weights") for w in weights[k:])]:
            if len(part) != rows:
                raise ValueError(f"chunk {k} has {rows} samples and {len(part)} {name}")
    if d is None:
        raise ValueError(
            "no chunks: the reader must return an iterable of (X, y) at each call, not an iterator "
            "that is used up"
        )
    if weights and len(weights) != len(targets):
        raise ValueError("some chunks have sample weights and some have none")
    return np.concatenate(targets), np.concatenate(weights) if weights else None, (n, d)


def chunk_design(read: Read, shape: tuple[int, int]) -> ChunkDesign:
    """The data of the chunks; each chunk is checked whenever it is read."""

    def chunks() -> Iterator[Any]:
        for k, (X, *_) in enumerate(read()):
            checked = X if plain_data(X) else check_chunk(X, f"X of chunk {k}")
            yield canonical_csr(checked) if sparse.issparse(checked) else checked

    return ChunkDesign(chunks, shape)
