"""The sum of hinge losses: the measure "error".

    loss(s) = min over b of sum_i weight_i max(0, 1 - y_i (s_i + b))    (b = 0 if it is fixed)

Its planes are known: for any a_i in [0, weight_i], with sum_i y_i a_i = 0 if b is free,

    sum_i a_i - sum_i a_i y_i s_i <= loss(s)

So the dual variables t_i = C y_i a_i of a linear SVM are a plane below the risk that proves the
same lower bound (``solved_by_duals``). Linear solvers find it in a few passes over the data. The
cutting-plane method, which works for losses that are not sums, needs many more planes.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Mask
from maxmargin.linear import losses
from maxmargin.linear.bias_search import best_bias
from maxmargin.linear.designs import Design
from maxmargin.linear.losses import Bias, LinearProblem, with_sum
from maxmargin.linear.training import Choice, Task, choose
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.monitor import Monitor
from maxmargin.structured.risks import Plane, Tangent

EPOCHS = 1000
"""Passes over the data that the linear solver may take, as in LinearSVC: where features are very
unequal it would never end by itself."""


class HingeLoss(NamedTuple):
    """sum_i weight_i max(0, 1 - y_i s_i), or its minimum over all intercepts."""

    is_positive: Mask
    weight: Floats
    free_intercept: bool

    def __call__(self, s: Floats) -> Tangent:
        """The tangent at the scores s.

        A sample whose margin is exactly 1 may have any share of its slope. The samples at the best
        intercept's kink have the share with which the slopes sum to 0.
        """
        up, b = self.is_positive, self.intercept(s)
        kink = np.where(up, 1.0, -1.0) - s  # the b at which the loss of a sample begins or ends
        share = np.where(up, b < kink, b > kink) * self.weight
        if self.free_intercept:
            missing = float(np.sum(share[~up]) - np.sum(share[up]))
            at = (kink == b) & (up if missing > 0 else ~up)
            room = float(np.sum(self.weight[at]))
            if room > 0:
                share = np.where(at, self.weight * min(abs(missing) / room, 1.0), share)
        return Tangent(float(np.sum(share)), np.where(up, -share, share))

    def intercept(self, s: Floats) -> float:
        """The best intercept, or the middle of several; 0 if it is not free."""
        return best_bias(self.problem(1.0), s)

    @property
    def has_both_classes(self) -> bool:
        """Whether there is a positive and a negative sample."""
        return bool(self.is_positive.any() and not self.is_positive.all())

    def problem(self, C: float) -> LinearProblem:
        """The problem of a linear model with this loss."""
        sign = np.where(self.is_positive, 1.0, -1.0)
        tube = losses.classification(sign, C * self.weight, squared=False)
        return LinearProblem(tube, Bias.FREE if self.free_intercept else Bias.NONE)


def solved_by_duals(
    loss: HingeLoss, design: Design, C: float, tol: float, monitor: Monitor
) -> tuple[Floats, Plane]:
    """The weights that a linear solver finds, and the plane that its dual variables make."""
    problem, part = loss.problem(C), monitor.part(1.0)
    part.max_iter = min(monitor.max_iter, EPOCHS)
    task = Task(problem, tol, Choice(choose(design)))
    found = task.train(LinearWorkspace(design, part)).solution
    t = np.clip(found.t, -problem.tube.down, problem.tube.up)
    if loss.free_intercept:
        t = with_sum(problem.tube, t, 0.0)
    return found.w, Plane(float(np.abs(t).sum()) / C, design.sum(-t / C))
