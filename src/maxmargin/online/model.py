"""A fitted online model as a frozen record: fits and chunks return it and continue from it,
prediction evaluates it, files hold it.

Its decision functions are

    f_k(x) = sum_j coef_kj k(x_j, x) + intercept_k

over the support vectors x_j. Pegasos with a linear kernel keeps weights of the features instead of
support vectors: f_k(x) = coef_k . x + intercept_k.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.integrity import FLOATS, count_functions, is_finite, is_matrix, refuse_altered
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.prediction import Expansion, expansion_values
from maxmargin.linear.designs import ArrayDesign
from maxmargin.online import norma, pegasos
from maxmargin.online.norma import Hypotheses
from maxmargin.online.pegasos import Iterates


@dataclass(frozen=True, eq=False)
class OnlineModel:
    """A fitted online model; see the top of this file. Use `dataclasses.replace` to change it."""

    kernel: Kernel
    coef: Floats
    intercept: Floats
    state: Iterates | Hypotheses
    """From where steps continue."""
    n_features: int
    """0 for objects."""
    classes: NDArray[Any] | None = None
    """Sorted."""
    vectors: Any = None
    """The support vectors: an array, CSR, or objects; empty for a precomputed kernel. None where
    coef holds weights of the features."""
    rows: NDArray[Any] | None = None
    """The support vectors' rows among the training samples; 0, 1, ... after chunks."""
    n_samples: int = 0
    """Number of samples that rows refer to."""
    centre: Floats | None = None
    """With weights of the features: the point that steps are measured from."""
    sample_coefs: Floats | None = None
    """With weights of the features: the samples' coefficients, where warm starts need them."""
    certificate: Certificate | None = None
    """None after chunks and for NORMA."""
    duals: Any = None
    """CSR: the dual variables that certify the model."""


def check(model: OnlineModel, name: str) -> None:
    """Refuse a record that was altered; the name is that of the estimator."""
    refuse_altered(name, _is_consistent, model)


def _is_consistent(model: OnlineModel) -> bool:
    functions, state = count_functions(model.classes), model.state
    width = model.n_features if model.vectors is None else len(model.rows)  # type: ignore[arg-type]
    if isinstance(state, Iterates):
        parts, fields = [state.v, state.u], len(pegasos.FIELDS)
    else:
        parts, fields = [state.coef], len(norma.FIELDS)
        if not is_finite(state.truncation, (functions,)):
            return False
    return (
        isinstance(model.kernel, Kernel)
        and is_finite(model.intercept, (functions,))
        and is_finite(state.numbers, (functions, fields))
        and all(is_finite(part, (functions, width)) for part in [model.coef, *parts])
        and (_points_are_consistent(model) if model.vectors is not None else _is_linear(model))
    )


def _is_linear(model: OnlineModel) -> bool:
    """Weights of the features, which only Pegasos with a linear kernel keeps."""
    linear = model.kernel.kind is Kind.LINEAR and isinstance(model.state, Iterates)
    return linear and is_finite(model.centre, (model.n_features,))


def _points_are_consistent(model: OnlineModel) -> bool:
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


def values(model: OnlineModel, X: Any) -> Floats:
    """The functions of a checked model without intercepts, one row each.

    X is validated, and stored as the vectors are: both dense, or both sparse.
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
