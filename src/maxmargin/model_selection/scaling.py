"""Preparation of the samples as part of a search: each fold is prepared by its training samples.

``scale`` is a name, or any transformer of scikit-learn; the names are short for

    "standard"   StandardScaler()
    "minmax"     MinMaxScaler(), or MaxAbsScaler() for sparse data
"""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from maxmargin.core.arrays import Floats, Integers


def scaler_of(scale: Any, X: Any, y: Any, weight: Floats | None) -> Any:
    """The transformer, fitted to X; sparse data are not shifted by those with a name.

    A sample of weight two counts as two samples where the transformer takes weights, and one of
    weight zero not at all.
    """
    made = clone(_named(scale, sparse.issparse(X)) if isinstance(scale, str) else scale)
    if weight is None:
        return made.fit(X, y)
    if has_fit_parameter(made, "sample_weight"):
        return made.fit(X, y, sample_weight=weight)
    counted = np.flatnonzero(weight)
    return made.fit(rows_of(X, counted), None if y is None else y[counted])


def _named(name: str, is_sparse: bool) -> Any:
    if name == "standard":
        return StandardScaler(with_mean=not is_sparse)
    return MaxAbsScaler() if is_sparse else MinMaxScaler()


def rows_of(X: Any, rows: Integers) -> Any:
    """Some samples of data in any form that scikit-learn takes."""
    if sparse.issparse(X):
        return X.tocsr()[rows]
    return _safe_indexing(X if hasattr(X, "__getitem__") else np.asarray(X), rows)
