"""A fitted model with joint features as a frozen record: one vector of weights, and its proof.

The proof is a plane below the risk, the weighted mean of those that the solver found:
offset + <slope, v> <= R(v) for every v. It proves the lower bound D of the objective P:

    D = C offset - C^2 / 2 |slope|^2  <=  P(w)
"""

from dataclasses import dataclass

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.integrity import is_finite, refuse_altered


@dataclass(frozen=True, eq=False)
class JointModel:
    """A fitted model; see the top of this file. Use `dataclasses.replace` to change it."""

    weights: Floats
    """w, one vector."""
    offset: float
    slope: Floats
    certificate: Certificate


def check(model: JointModel, name: str) -> None:
    """Refuse a record that was altered; the name is that of the estimator."""
    refuse_altered(name, _is_consistent, model)


def _is_consistent(model: JointModel) -> bool:
    shape = model.weights.shape
    return (
        len(shape) == 1
        and is_finite(model.weights, shape)
        and is_finite(model.slope, shape)
        and isinstance(model.offset, float)
        and isinstance(model.certificate, Certificate)
    )
