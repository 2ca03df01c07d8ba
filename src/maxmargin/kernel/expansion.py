"""Functions as records of several families hold them: weights of the features, or coefficients of
support vectors.

    f_k(x) = coef_k . x          f_k(x) = sum_j coef_kj k(x_j, x)
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples

from maxmargin.core.arrays import Floats
from maxmargin.integrity import FLOATS, is_matrix
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.prediction import Expansion, expansion_values
from maxmargin.linear.designs import ArrayDesign


class Functions(Protocol):
    """The fields of such a record."""

    @property
    def kernel(self) -> Kernel:
        """The kernel."""

    @property
    def coef(self) -> Floats:
        """A row for each function."""

    @property
    def n_features(self) -> int:
        """0 for objects."""

    @property
    def vectors(self) -> Any:
        """The support vectors; None where coef holds weights of the features."""

    @property
    def rows(self) -> NDArray[Any] | None:
        """The support vectors' rows among the training samples."""

    @property
    def n_samples(self) -> int:
        """Number of samples that rows refer to."""


def points_are_consistent(model: Functions) -> bool:
    """Whether native code may read the support vectors and their rows."""
    kind, rows = model.kernel.kind, model.rows
    assert rows is not None
    good = (
        type(model.n_samples) is int
        and rows.ndim == 1
        and np.issubdtype(rows.dtype, np.integer)
        and bool(len(rows) == 0 or rows.min() >= 0)
    )
    if kind is Kind.PRECOMPUTED:
        return good and bool(len(rows) == 0 or rows.max() < model.n_samples)
    if kind is Kind.CALLABLE:
        return good and _num_samples(model.vectors) == len(rows)
    return good and is_matrix(model.vectors, (len(rows), model.n_features), FLOATS)


def values(model: Functions, X: Any) -> Floats:
    """The functions of a checked model at the validated samples X, one row each.

    X is stored as the vectors are: both dense, or both sparse.
    """
    given = model.kernel.kind in (Kind.PRECOMPUTED, Kind.CALLABLE)
    if not given and X.shape[1] != model.n_features:
        raise ValueError(f"X has {X.shape[1]} features, but the model has {model.n_features}.")
    if model.vectors is None:
        design = ArrayDesign(X)
        return np.array([design.values(w) for w in model.coef])
    assert model.rows is not None
    functions = Expansion(model.kernel, model.vectors, model.coef, model.rows, model.n_samples)
    return expansion_values(model, functions, X)
