"""A fitted model of the cutting-plane method as a frozen record: a fit returns it, prediction
evaluates it, files hold it.

Its functions are those of the other families: weights of the features, or coefficients of support
vectors,

    f_k(x) = coef_k . x + intercept_k          f_k(x) = sum_j coef_kj k(x_j, x) + intercept_k

Each function has a risk of its own. Beside it the record keeps one plane below that risk, the
weighted mean of those that the solver found: offset_k + <slope_k, w> <= R_k(w). It proves the lower
bound  C offset_k - C^2 / 2 |slope_k|^2  of the objective, and `certify` compares it with the
objective of the model.
"""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.integrity import count_functions, is_finite, refuse_altered
from maxmargin.kernel import expansion
from maxmargin.kernel.kernels import Kernel, Kind


@dataclass(frozen=True, eq=False)
class PlaneModel:
    """A fitted model; see the top of this file. Use `dataclasses.replace` to change it."""

    kernel: Kernel
    coef: Floats
    """A row for each function: weights of the features, or coefficients of the support vectors."""
    intercept: Floats
    offset: Floats
    slope: Floats
    """The mean plane of each risk; the slopes have the form of coef."""
    certificate: Certificate
    n_features: int
    """Number of features; of training samples for a precomputed kernel; 0 for objects."""
    classes: NDArray[Any] | None = None
    """Sorted."""
    vectors: Any = None
    """The support vectors: an array, CSR, or objects; empty for a precomputed kernel. None where
    coef holds weights of the features."""
    rows: NDArray[Any] | None = None
    """The support vectors' rows among the training samples."""
    n_samples: int = 0
    """Number of training samples."""

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """The certificate of each function."""
        return self.certificate.parts or (self.certificate,)


def check(model: PlaneModel, name: str) -> None:
    """Refuse a record that was altered; the name is that of the estimator."""
    refuse_altered(name, _is_consistent, model)


def _is_consistent(model: PlaneModel) -> bool:
    functions = count_functions(model.classes)
    linear = model.vectors is None
    shape = functions, model.n_features if linear else len(model.rows)  # type: ignore[arg-type]
    good = (
        isinstance(model.kernel, Kernel)
        and is_finite(model.intercept, (functions,))
        and is_finite(model.coef, shape)
        and is_finite(model.slope, shape)
        and is_finite(model.offset, (functions,))
    )
    if linear:
        return good and model.kernel.kind is Kind.LINEAR
    return good and expansion.points_are_consistent(model)


def decision_values(model: PlaneModel, X: Any) -> Floats:
    """Every function of a checked model at the validated samples X, one row each.

    X is stored as the vectors are: both dense, or both sparse.
    """
    return expansion.values(model, X) + model.intercept[:, None]
