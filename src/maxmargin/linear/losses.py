"""The losses of linear models as one record, and their convex duals.

Every loss of the lectures is 0 while the decision value f_i is inside a tube [low_i, high_i]:

    loss_i(f) = up_i (low_i - f)^p     below the tube
                down_i (f - high_i)^p  above it
                0                      inside           p = 1, or 2 for squared losses

| | low, high | up, down |
|---|---|---|
| hinge, y = +1 | 1, inf | C, 0 |
| hinge, y = -1 | -inf, -1 | 0, C |
| epsilon-insensitive | z - epsilon, z + epsilon | C, C |
| one-class | 0, inf | C, 0 |

A linear model has f_i = x_i . w + b and minimises

    P(w, b) = 1/2 |w|^2 + m/2 b^2 + total b + sum_i loss_i(f_i)

m is 0 for a free bias and 1/s^2 for LIBLINEAR's bias, the weight of an added column of s's.
total is 0 except for the one-class model. The dual has one variable t_i per sample, with w = X't:

    D(t) = sum_i neg_conjugate_i(t_i) - 1/2 |X't|^2 - (sum_i t_i - total)^2 / (2m)
           (m = 0: the sum must be total)

    neg_conjugate_i(t) = -loss_i*(-t) = low_i t   for t >= 0
                                        high_i t  for t <= 0
           minus t^2 / (4 up_i) or t^2 / (4 down_i) for squared losses

    -down_i <= t_i <= up_i for plain losses. For squared losses t_i may be positive only if
    up_i > 0, and negative only if down_i > 0.

P >= D always; where they meet both are optimal. At a decision value f the dual that attains
loss_i(f) = neg_conjugate_i(t) - t f is -loss_i'(f). Plain losses have kinks. A proximal term around
a dual c_i (the proximal centre) smooths them:

    smooth_i(f) = max over t of  neg_conjugate_i(t) - t f - (t - c_i)^2 smoothing / (2 cost_i)

with cost_i = max(up_i, down_i). Its derivative is -t(f), where

    t(f) = c_i + (low_i - f) cost_i / smoothing   clipped to [0, up_i], or likewise below 0.

``smoothing`` is in units of f, whatever the weights: a sample of weight 2 is smoothed like two
samples.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers
from maxmargin.core.linear_backend import LinearBackend


class Tube(NamedTuple):
    """The losses of all samples; see the top of this file."""

    low: Floats
    high: Floats
    up: Floats
    down: Floats
    squared: bool

    def pick(self, rows: Integers, factor: float = 1.0) -> "Tube":
        """The losses of some samples, weighted by a factor."""
        up, down = factor * self.up[rows], factor * self.down[rows]
        return Tube(self.low[rows], self.high[rows], up, down, self.squared)

    def losses(self, f: Floats) -> float:
        """The sum of all losses."""
        below, above = np.maximum(0.0, self.low - f), np.maximum(0.0, f - self.high)
        power = 2 if self.squared else 1
        losses = np.where(self.up > 0, self.up * below**power, 0.0)
        return float(np.sum(losses + np.where(self.down > 0, self.down * above**power, 0.0)))

    def duals(
        self, f: Floats, prox_centre: Floats | None, smoothing: float, backend: LinearBackend
    ) -> "Duals":
        """t(f) and the sums that belong to it."""
        t, curvature = np.empty(len(f)), np.empty(len(f))
        return Duals(
            t, curvature, *backend.tube_duals(self, f, prox_centre, smoothing, t, curvature)
        )


class Duals(NamedTuple):
    """The duals at given decision values."""

    t: Floats
    curvature: Floats
    """-dt/df: zero where the loss is linear."""
    loss: float
    """Sum of the losses."""
    neg_conjugate: float
    """Sum of the negative conjugates."""
    total: float
    """Sum of the duals."""


class Bias(Enum):
    """How the bias b is treated."""

    NONE = 0
    FREE = 1
    PENALISED = 2

    def choose(self, free: float, penalised: float) -> float:
        """The number that belongs to this kind of bias; 0 without one."""
        return {Bias.NONE: 0.0, Bias.FREE: free, Bias.PENALISED: penalised}[self]


class Penalty(Enum):
    """The penalty of the weights; the value is its name for the user."""

    L2 = "l2"
    """1/2 |w|^2."""
    L1 = "l1"
    """The sum of |w_k|: the lasso."""


class LinearProblem(NamedTuple):
    """A linear problem without its data."""

    tube: Tube
    bias: Bias
    scaling: float = 1.0
    """s, the added column of a penalised bias."""
    total: float = 0.0
    """Sum of the duals (free bias)."""
    penalty: Penalty = Penalty.L2

    @property
    def m(self) -> float:
        """The weight of b^2 / 2."""
        return 1 / (self.scaling * self.scaling) if self.bias is Bias.PENALISED else 0.0


@dataclass(frozen=True, eq=False)
class Hinges(Sequence[LinearProblem]):
    """The problems of several classes, whose samples have the same weights in all of them."""

    sign: Floats
    """A row of +1 and -1 for each problem."""
    C: Floats
    squared: bool
    bias: Bias
    scaling: float = 1.0
    penalty: Penalty = Penalty.L2

    @property
    def m(self) -> float:
        """The weight of b^2 / 2."""
        return 1 / (self.scaling * self.scaling) if self.bias is Bias.PENALISED else 0.0

    def part(self, some: slice) -> "Hinges":
        """Some of the problems."""
        return replace(self, sign=self.sign[some])

    def __len__(self) -> int:
        return len(self.sign)

    def __getitem__(self, k: Any) -> Any:
        """Problem k, made when it is asked for: together.py needs none."""
        tube = classification(self.sign[k], self.C, self.squared)
        return LinearProblem(tube, self.bias, self.scaling, penalty=self.penalty)


def classification(sign: Floats, C: Floats, squared: bool) -> Tube:
    """(Squared) hinge of samples with signs +1 and -1."""
    up = sign > 0
    low, high = np.where(up, 1.0, -np.inf), np.where(up, np.inf, -1.0)
    return Tube(low, high, np.where(up, C, 0.0), np.where(up, 0.0, C), squared)


def regression(z: Floats, C: Floats, epsilon: float, squared: bool) -> Tube:
    """(Squared) epsilon-insensitive loss around targets z."""
    return Tube(z - epsilon, z + epsilon, C.copy(), C.copy(), squared)


def one_class(C: Floats) -> Tube:
    """Samples below the hyperplane cost C."""
    n = len(C)
    return Tube(np.zeros(n), np.full(n, np.inf), C.copy(), np.zeros(n), False)


def with_sum(tube: Tube, t: Floats, total: float) -> Floats:
    """Duals near t whose sum is total, inside the bounds.

    Duals of the sign that is in excess shrink in proportion to their size. If that is not enough,
    they become 0, and the others grow in proportion to the room that their bounds leave.
    """
    excess = float(t.sum()) - total
    if excess == 0:
        return t
    side = t > 0 if excess > 0 else t < 0
    mass = float(np.abs(t[side]).sum())
    if mass >= abs(excess):
        return np.where(side, t * (1 - abs(excess) / mass), t)
    t = np.where(side, 0.0, t)
    missing = total - float(t.sum())
    end, bound = (tube.low, tube.up) if missing > 0 else (tube.high, tube.down)
    room = bound if tube.squared else np.where(np.isfinite(end), bound - np.abs(t), 0.0)
    return t + room * (missing / float(room.sum()))
