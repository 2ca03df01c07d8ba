"""The Newton equation of semismooth.py, solved for the direction of a step.

With few features the Hessian is formed and factored. With fewer samples that have curvature than
features, the equation is solved in their space. With many features conjugate gradients use products
with the Hessian, two passes over these samples each.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers
from maxmargin.linear.designs import ArrayDesign, Design
from maxmargin.linear.equations import cholesky_solve, conjugate_gradients
from maxmargin.linear.gram import IncrementalGram
from maxmargin.linear.losses import Bias, Duals, LinearProblem
from maxmargin.linear.objectives import Gap
from maxmargin.monitor import Monitor


class Settings(NamedTuple):
    """How the Newton equation is solved (decision 15)."""

    factor_up_to: int = 1200
    """Features up to which the Hessian is formed and factored."""
    woodbury_below: float = 0.7
    """Samples with curvature, as a share of the features, below which the Newton equation is solved
    in the space of the samples."""
    rebuild_above: float = 0.7
    """Samples whose curvature changed, as a share of those with curvature, above which X'DX is
    computed from all of them."""
    cg_products: int = 200
    """Products with the Hessian per step, at most."""
    cg_accuracy: float = 0.01
    """Conjugate gradients end when the squared residual is this share of the first."""


SETTINGS = Settings()


class Iterate(NamedTuple):
    """A model (w, b), its decision values and what follows from them."""

    w: Floats
    bias: float
    f: Floats
    duals: Duals
    gradient: Floats
    """w - X't and, last, m b + total - sum t."""
    gap: Gap
    own_gap: float
    """The gap of the smoothed problem."""
    bias_curvature: float
    """The second derivative by b. Where no loss has curvature, as if every loss had."""


class NewtonSystem:
    """The Newton equations of one solve, which share X'DX."""

    def __init__(self, problem: LinearProblem, design: Design, monitor: Monitor) -> None:
        self.problem, self.design, self.monitor = problem, design, monitor
        self.gram = IncrementalGram(design.gram, SETTINGS.rebuild_above)

    def direction(self, here: Iterate) -> Floats:
        """Minus the inverse Hessian times the gradient; the bias is last."""
        curved, design = np.flatnonzero(here.duals.curvature), self.design
        d, free = design.shape[1], self.problem.bias is not Bias.NONE
        if len(curved) == 0 and self.problem.bias is Bias.FREE:
            return _flat_direction(here)
        curvature = here.duals.curvature[curved]
        few = 0 < len(curved) < SETTINGS.woodbury_below * d and len(curved) <= SETTINGS.factor_up_to
        if few and isinstance(design, ArrayDesign) and design.precise:
            return self._by_woodbury(here, design.products(curved), curved, curvature)
        corner = here.bias_curvature if free else 1.0
        if d > SETTINGS.factor_up_to:
            return self._by_conjugate_gradients(here, curved, curvature, corner)
        border = design.sum(curvature, curved) if free else np.zeros(d)
        H = np.empty((d + 1, d + 1))
        if isinstance(design, ArrayDesign):
            H[:d, :d] = self.gram.of_scaled(here.duals.curvature)
        else:
            H[:d, :d] = design.gram(curvature, curved)
        H[d, :d] = H[:d, d] = border
        H[d, d] = corner
        H[np.arange(d), np.arange(d)] += 1.0
        return cholesky_solve(H, -here.gradient)

    def _by_woodbury(self, here: Iterate, S: Floats, curved: Integers, curvature: Floats) -> Floats:
        """The same from the dot products S of the samples with curvature, which are few.

        With v = diag(curvature) (X_J dw + db) the Newton equation is dw = -g - X_J'v,
        m db + 1'v = -h (g, h the gradient), so that
        (diag(1 / curvature) + X_J X_J') v = 1 db - X_J g.
        """
        g, h = here.gradient[:-1], float(here.gradient[-1])
        S[np.arange(len(S)), np.arange(len(S))] += 1 / curvature
        right = np.column_stack([-self.design.values(g, curved), np.ones(len(S))])
        first, second = cholesky_solve(S, right).T
        stiffness = self.problem.m + float(second.sum())
        db = -(h + float(first.sum())) / stiffness if self.problem.bias is not Bias.NONE else 0.0
        return np.append(-g - self.design.sum(first + db * second, curved), db)

    def _by_conjugate_gradients(
        self, here: Iterate, curved: Integers, curvature: Floats, corner: float
    ) -> Floats:
        """The same by conjugate gradients, scaled by the diagonal of the Hessian.

        Features that most samples have are stiff, those that few have are not.
        """
        diagonal = np.append(1.0 + self.design.diagonal(curvature, curved), corner)

        def product(u: Floats) -> Floats:
            along, total = self.design.hessian(curvature, u[:-1], float(u[-1]), curved)
            along += u[:-1]
            last = self.problem.m * u[-1] + total if self.problem.bias is not Bias.NONE else u[-1]
            return np.append(along, last)

        accuracy, most = SETTINGS.cg_accuracy, SETTINGS.cg_products
        scale = 1 / np.sqrt(diagonal)
        return conjugate_gradients(product, -here.gradient, scale, accuracy, most, self.monitor)


def _flat_direction(here: Iterate) -> Floats:
    """A direction where no loss has curvature.

    w and a free bias are independent there and need steps of their own: the steeper one moves.
    """
    g, h = here.gradient[:-1], here.gradient[-1]
    if h**2 > here.bias_curvature * float(g @ g):
        return np.append(np.zeros(len(g)), -h / here.bias_curvature)
    return np.append(-g, 0.0)
