"""Damping of a regression whose solver stopped early.

Its function may be far from the samples. Every multiple of its coefficients in [0, 1] is feasible
too: where a constant alone has a smaller primal value, take the best multiple with its best bias.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats
from maxmargin.linear import losses
from maxmargin.linear.bias_search import best_bias
from maxmargin.linear.losses import Bias, LinearProblem

HALVINGS = 40
"""Multiples to try, each half of the one before; then 0."""


class Damped(NamedTuple):
    """A multiple of a function, with a bias and the half-width of its tube."""

    factor: float
    bias: float
    epsilon: float


class Primal(NamedTuple):
    """The primal problem of an SVR in the multiple, the bias and, for nu-SVR, the tube."""

    z: Floats
    C: Floats
    epsilon: float | None
    """None for nu-SVR, which finds it and pays nu sum_i C_i for a unit of it."""
    nu: float = 0.0
    squared: bool = False

    def value(self, one: Damped, g: Floats, square: float) -> float:
        """1/2 |w|^2 and the losses, where g is the kernel part of f and |w|^2 = square at 1."""
        outside = np.maximum(0.0, np.abs(self.z - one.factor * g - one.bias) - one.epsilon)
        price = self.nu * float(self.C.sum()) * one.epsilon if self.epsilon is None else 0.0
        loss = float(np.sum(self.C * outside**2 if self.squared else self.C * outside))
        total = one.factor**2 * square / 2 + price + loss
        return total if total == total else np.inf

    def best(self, factor: float, g: Floats) -> Damped:
        """A multiple with its best bias and half-width of the tube.

        With a given epsilon the bias is the median of the ends of all tubes, or solves a least
        squares problem. In nu-SVR nu / 2 of the weight lies on each side of the tube.
        """
        C, epsilon = self.C, self.epsilon
        r = self.z - factor * g if factor > 0 else self.z
        if epsilon is None:
            low, high = _quantile(r, C, self.nu / 2), _quantile(r, C, 1 - self.nu / 2)
            return Damped(factor, (low + high) / 2, max(0.0, (high - low) / 2))
        if self.squared:
            problem = LinearProblem(losses.regression(r, C, epsilon, True), Bias.FREE)
            mean = float(np.average(r, weights=C))
            return Damped(factor, best_bias(problem, np.zeros(len(r)), mean), epsilon)
        ends = np.concatenate([r - epsilon, r + epsilon])
        return Damped(factor, _quantile(ends, np.tile(C, 2), 0.5), epsilon)


def damped(primal: Primal, bias: float, epsilon: float, g: Floats, square: float) -> Damped:
    """The best multiple of a function; the function itself unless a constant is better."""

    def value(one: Damped) -> float:
        return primal.value(one, g, square)

    now = Damped(1.0, bias, epsilon)
    if value(now) <= value(primal.best(0.0, g)):
        return now
    factors = [*(0.5**k for k in range(HALVINGS)), 0.0]
    return min((primal.best(factor, g) for factor in factors), key=value)


def _quantile(values: Floats, weight: Floats, share: float) -> float:
    """The least value at or below which there is the given share of the weight."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order])
    at = int(np.searchsorted(below, share * below[-1]))
    return float(values[order[min(at, len(order) - 1)]])
