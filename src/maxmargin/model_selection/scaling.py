"""Scaling of the features, as part of a search: each fold is scaled by its training samples."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.utils import _safe_indexing

from maxmargin.core.arrays import Floats, Integers


def scaler_of(name: str, X: Any, weight: Floats | None) -> Any:
    """The transformer of a name, fitted to X; sparse data are not shifted.

    A sample of weight two counts as two samples, and one of weight zero not at all.
    """
    if name == "standard":
        return StandardScaler(with_mean=not sparse.issparse(X)).fit(X, sample_weight=weight)
    scaler = MaxAbsScaler() if sparse.issparse(X) else MinMaxScaler()
    return scaler.fit(X if weight is None else rows_of(X, np.flatnonzero(weight)))


def rows_of(X: Any, rows: Integers) -> Any:
    """Some samples of data in any form that scikit-learn takes."""
    if sparse.issparse(X):
        return X.tocsr()[rows]
    return _safe_indexing(X if hasattr(X, "__getitem__") else np.asarray(X), rows)
