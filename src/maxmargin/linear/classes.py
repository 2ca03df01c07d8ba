"""All classes in one linear problem (Crammer and Singer): its record, solution and objectives.

Each sample's own class must lead every other class by 1:

    P(W, b) = 1/2 sum_m |w_m|^2 + 1/2 sum_m b_m^2 / s^2 + sum_i C_i (max_m g_im - f_i,label)
    f = X W' + b,   g_im = f_im + [m != label_i]

A free bias has no term in b; without a bias b = 0. The dual has a variable t_im for each sample and
class, with w_m = sum_i t_im x_i:

    D(t) = sum_i t_i,label - 1/2 sum_m |w_m|^2 - s^2/2 sum_m (sum_i t_im)^2
    t_im <= C_i [m = label_i],   sum_m t_im = 0,   for a free bias also  sum_i t_im = 0  for all m
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.losses import Bias
from maxmargin.linear.objectives import Gap
from maxmargin.status import Status


class ClassesProblem(NamedTuple):
    """The problem of all classes without its data."""

    label: Integers
    """0 .. n_classes - 1."""
    n_classes: int
    C: Floats
    bias: Bias
    scaling: float = 1.0
    """s, the added column of a penalised bias."""

    @property
    def m(self) -> float:
        """The weight of b^2 / 2."""
        return 1 / (self.scaling * self.scaling) if self.bias is Bias.PENALISED else 0.0


class CrammerSinger(NamedTuple):
    """The model of all classes, its duals, and both objectives computed from the data."""

    W: Floats
    bias: Floats
    t: Floats
    primal: float
    dual: float
    ended: Status | None
    """Why the solver stopped early; None if it reached the tolerance."""
    n_iter: int


def objectives(
    problem: ClassesProblem, design: ArrayDesign, W: Floats, b: Floats, t: Floats
) -> Gap:
    """P and D from the data in float64; D is -inf if t violates a constraint."""
    label, _, C, bias, scaling = problem
    rows = np.arange(len(label))
    g = np.column_stack([design.values(w) for w in W]) + b
    own = g[rows, label].copy()
    g += 1.0
    g[rows, label] -= 1.0
    s2 = scaling**2 if bias is Bias.PENALISED else 0.0
    penalty = 0.5 * float(b @ b) / s2 if s2 else 0.0
    primal = 0.5 * float(np.sum(W * W)) + penalty + float(C @ (g.max(axis=1) - own))
    upper = np.zeros_like(t)
    upper[rows, label] = C
    size, sums = 1e-12 * float(np.abs(t).sum()), t.sum(axis=0)
    wrong = (t > upper * (1 + 1e-12)).any() or np.abs(t.sum(axis=1)).max(initial=0.0) > size
    if wrong or (bias is Bias.FREE and np.abs(sums).max() > size):
        return Gap(primal, -np.inf)
    V, own_duals = weights_of(design, t), float(t[rows, label].sum())
    dual = own_duals - 0.5 * float(np.sum(V * V)) - 0.5 * s2 * float(sums @ sums)
    return Gap(primal, dual)


def weights_of(design: ArrayDesign, t: Floats) -> Floats:
    """W = t'X."""
    return np.stack([design.sum(np.ascontiguousarray(column)) for column in t.T])
