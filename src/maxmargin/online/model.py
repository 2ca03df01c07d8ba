"""A fitted online model as a frozen record: fits and chunks return it and continue from it,
prediction evaluates it, files hold it.

Its decision functions are

    f_k(x) = sum_j coef_kj k(x_j, x) + intercept_k

over the support vectors x_j. Pegasos with a linear kernel keeps weights of the features instead of
support vectors: f_k(x) = coef_k . x + intercept_k.
"""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.integrity import count_functions, is_finite, refuse_altered
from maxmargin.kernel.expansion import points_are_consistent
from maxmargin.kernel.kernels import Kernel, Kind
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
        and (points_are_consistent(model) if model.vectors is not None else _is_linear(model))
    )


def _is_linear(model: OnlineModel) -> bool:
    """Weights of the features, which only Pegasos with a linear kernel keeps."""
    linear = model.kernel.kind is Kind.LINEAR and isinstance(model.state, Iterates)
    return linear and is_finite(model.centre, (model.n_features,))
