"""Damping of a regression whose solver stopped early.

Its function may be far from the samples. Every multiple of its coefficients in [0, 1] is feasible
too: where a constant alone has a smaller primal value, take the best multiple with its best bias.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats
from maxmargin.kernel.tube import Side, Tube

HALVINGS = 40
"""Multiples to try, each half of the one before; then 0."""
STEPS = 200
"""Most steps to the best bias; some ten are enough."""


class Damped(NamedTuple):
    """A multiple of a function, with a bias and the half-width of its tube."""

    factor: float
    bias: float
    epsilon: float


class Primal(NamedTuple):
    """The primal problem of a regression in the multiple, the bias and, for nu-SVR, the tube."""

    tube: Tube
    nu: float | None = None
    """Of nu-SVR, which finds epsilon and pays nu sum_i C_i for a unit of it."""

    def value(self, one: Damped, g: Floats, square: float) -> float:
        """1/2 |w|^2 and the losses, where g is the kernel part of f and |w|^2 = square at 1."""
        z, up, down, _ = self.tube
        r = z - one.factor * g - one.bias
        price = 0.0 if self.nu is None else self.nu * float(up.limit.sum()) * one.epsilon
        loss = float(np.sum(_price(r - one.epsilon, up) + _price(-r - one.epsilon, down)))
        total = one.factor**2 * square / 2 + price + loss
        return total if total == total else np.inf

    def best(self, factor: float, g: Floats) -> Damped:
        """A multiple with its best bias and half-width of the tube.

        With plain losses the bias is a quantile of the edges of all tubes, else a root of the sum
        of their slopes. In nu-SVR nu / 2 of the weight lies on each side of the tube.
        """
        z, up, down, epsilon = self.tube
        r = z - factor * g if factor > 0 else z
        if self.nu is not None:
            low, high = (_quantile(r, up.limit, at) for at in (self.nu / 2, 1 - self.nu / 2))
            return Damped(factor, (low + high) / 2, max(0.0, (high - low) / 2))
        if self.tube.smooth:
            return Damped(factor, _balance(self.tube._replace(z=r)), epsilon)
        above, below = float(up.limit.sum()), float(down.limit.sum())
        edges = np.concatenate([r - epsilon, r + epsilon])
        weight = np.concatenate([up.limit, down.limit])
        return Damped(factor, _quantile(edges, weight, above / (above + below)), epsilon)


def _slope(e: Floats, side: Side) -> Floats:
    """The derivative of the price by e, which is the dual variable."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(side.ridge > 0, np.minimum(side.limit, e / side.ridge), side.limit)
    return np.where(e > 0, found, 0.0)


def _price(e: Floats, side: Side) -> Floats:
    """The loss by e outside an edge of the tube."""
    t = _slope(e, side)
    return t * (e - side.ridge * t / 2)


def _balance(tube: Tube) -> float:
    """The best bias of losses with a ridge: the root of the sum of their slopes.

    The sum is piecewise linear and decreasing. Newton's method ends in the piece of the root;
    bisection takes over where a step leaves the interval.
    """
    z, up, down, epsilon = tube
    low, high = float(z.min()) - epsilon, float(z.max()) + epsilon
    bias = (low + high) / 2
    for _ in range(STEPS):
        pull = _slope(z - bias - epsilon, up), _slope(bias - z - epsilon, down)
        total = float(pull[0].sum() - pull[1].sum())
        low, high = (bias, high) if total > 0 else (low, bias)
        steep = sum(
            float(np.sum(1 / side.ridge[(t > 0) & (t < side.limit)]))
            for t, side in zip(pull, (up, down), strict=True)
        )
        step = bias + total / steep if steep > 0 else np.inf
        new = step if low <= step <= high else (low + high) / 2
        if total == 0 or new == bias:
            break
        bias = new
    return bias


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
