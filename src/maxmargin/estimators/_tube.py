"""The losses of SVR by their names, for one target and for several."""

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from maxmargin.core.arrays import Floats
from maxmargin.estimators._base import method_for
from maxmargin.estimators._options import StrOptions
from maxmargin.kernel import formulations
from maxmargin.kernel.formulations import Formulation
from maxmargin.kernel.training import Method

SQUARED = "squared_epsilon_insensitive"


class TubeLoss:
    """C, epsilon, loss and solver."""

    C: float
    epsilon: float
    loss: str
    solver: str

    _tube_constraints: ClassVar[dict[str, Any]] = {
        "C": [Interval(Real, 0.0, None, closed="right")],
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
        "loss": [StrOptions({"epsilon_insensitive", SQUARED, "huber"})],
        "solver": [StrOptions({"auto", "block", "newton"})],
    }

    def _method(self) -> Method:
        return method_for(self.solver, self.loss == SQUARED, self.C, SQUARED)

    def _formulation(self, z: Floats, weight: Floats) -> Formulation:
        C, epsilon = float(self.C), float(self.epsilon)
        if self.loss == "huber":
            return formulations.huber_svr(z, C, weight, epsilon)
        return formulations.eps_svr(z, C, weight, epsilon, self.loss == SQUARED)
