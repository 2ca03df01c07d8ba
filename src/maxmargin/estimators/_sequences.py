"""Validation of sequences of samples: one matrix of all tokens, and where each sequence ends.

Bags of instances are sequences whose order does not matter.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array

from maxmargin.core.arrays import Integers
from maxmargin.estimators._data import CHECKS, canonical_csr
from maxmargin.estimators._targets import refuse_mixed_labels


class Sequences(NamedTuple):
    """The rows of all sequences, one after the other."""

    X: Any
    """An array or CSR."""
    lengths: Integers

    def split(self, values: Any) -> list[Any]:
        """What belongs to each sequence."""
        return np.split(values, np.cumsum(self.lengths)[:-1])

    def pick(self, used: Integers) -> "Sequences":
        """Some of the sequences."""
        if len(used) == len(self.lengths):
            return self
        ends = np.cumsum(self.lengths)
        rows = [np.arange(ends[i] - self.lengths[i], ends[i]) for i in used]
        return Sequences(self.X[np.concatenate(rows)], self.lengths[used])


def sequences_of(X: Any, width: int | None, what: str = "sequence") -> Sequences:
    """The sequences as one matrix; ValueError names the one that is wrong.

    ``width`` is the number of features of the fit; None while fitting.
    """
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype != object:
        raise ValueError(
            f"X is one matrix of shape {X.shape}, but must be a list with a matrix for each "
            f"{what}: use [X] for a single one."
        )
    try:
        parts = list(X)
    except TypeError:
        raise ValueError(f"X must be a list of matrices, got {type(X).__name__}.") from None
    if not parts:
        raise ValueError(f"X is empty: at least one {what} is needed.")
    parts = [part if sparse.issparse(part) else np.asarray(part) for part in parts]
    for i, part in enumerate(parts):
        if part.ndim != 2:
            raise ValueError(
                f"{what} {i} of X has {part.ndim} dimensions, but must be a matrix of shape "
                "(length, n_features)."
            )
        width = part.shape[1] if width is None else width
        if part.shape[1] != width:
            raise ValueError(
                f"{what} {i} of X has {part.shape[1]} features, but {width} are expected."
            )
        if part.shape[0] == 0:
            raise ValueError(f"{what} {i} of X is empty: leave it out.")
    lengths = np.array([part.shape[0] for part in parts], np.int64)
    return Sequences(_whole(parts, what), lengths)


def _whole(parts: list[Any], what: str) -> Any:
    """All rows as one matrix; one check of all of them takes less time than one for each."""
    if any(map(sparse.issparse, parts)):
        whole = sparse.vstack([sparse.csr_matrix(part) for part in parts], format="csr")
    else:
        whole = np.concatenate(parts)
    try:
        whole = check_array(whole, **CHECKS)
    except ValueError:
        for i, part in enumerate(parts):
            check_array(part, input_name=f"{what} {i} of X", **CHECKS)
        raise
    return canonical_csr(whole) if sparse.issparse(whole) else whole


def labels_of_tokens(y: Any, lengths: Integers) -> NDArray[Any]:
    """The labels of all tokens, one after the other; ValueError names the sequence."""
    try:
        parts = [np.asarray(one) for one in y]
    except TypeError:
        raise ValueError(f"y must be a list of sequences, got {type(y).__name__}.") from None
    if len(parts) != len(lengths):
        raise ValueError(f"X has {len(lengths)} sequences, but y has {len(parts)}.")
    for i, (part, length) in enumerate(zip(parts, lengths.tolist(), strict=True)):
        if part.shape != (length,):
            raise ValueError(
                f"sequence {i}: X has {length} tokens, but y has the shape {part.shape}; there "
                "must be a label for each token."
            )
        refuse_mixed_labels(part)
    found: NDArray[Any] = np.concatenate(parts)
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        raise ValueError("y has labels that are NaN or infinite.")
    return found
