"""What the cutting-plane solver minimises. This is the page to read first.

    P(w) = 1/2 |w|^2 + C R(w)

The risk R is convex, not negative, and the greatest of many linear functions, the planes:

    R(w) = max over j of  offset_j + <slope_j, w>

There are far too many planes to list: one for each way to label all samples. But the greatest of
them at a given w is found quickly. A structured risk asks loss-augmented inference for it:

    R(w) = sum_i max over y of  loss(y_i, y) + <w, psi(x_i, y) - psi(x_i, y_i)>

A performance measure or a ranking sorts the scores of the samples. Such a risk depends on w through
the scores s = (<w, phi(x_i)>)_i alone, R(w) = loss(s), and its planes come from those of the loss:

    loss(s) = max over j of  offset_j + sum_i t_ij s_i         slope_j = sum_i t_ij phi(x_i)

A free intercept b is part of the loss, which is the least one over all b: loss(s) = min over b of
loss(s + b). It is convex too, and its planes have sum_i t_i = 0.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from maxmargin.core.arrays import Floats
from maxmargin.structured.spaces import Space


class Plane(NamedTuple):
    """A linear function below the risk: R(v) >= offset + <slope, v> for every v."""

    offset: float
    slope: Floats
    """An element of the space."""


class Risk(Protocol):
    """A convex risk that knows its greatest plane at any w."""

    @property
    def space(self) -> Space:
        """Where w lives."""

    def at(self, w: Floats) -> Plane:
        """The plane that touches the risk at w: R(w) = offset + <slope, w>."""


class Tangent(NamedTuple):
    """A linear function below a loss of scores: loss(s) >= offset + sum(t * s) for every s."""

    offset: float
    t: Floats
    """As many numbers as there are scores."""


class ScoreLoss(Protocol):
    """A convex loss of the scores of all samples together."""

    def __call__(self, s: Floats) -> Tangent:
        """The tangent that touches the loss at s: loss(s) = offset + sum(t * s)."""


class Goal(NamedTuple):
    """What a function is trained for."""

    loss: ScoreLoss
    intercept: Callable[[Floats], float] = lambda s: 0.0
    """The intercept that belongs to the scores of a trained function."""


class ScoreRisk(NamedTuple):
    """The risk of a loss of scores."""

    space: Space
    loss: ScoreLoss

    def at(self, w: Floats) -> Plane:
        """The plane that touches the risk at w."""
        return self.plane(self.loss(self.space.scores(w)))

    def plane(self, tangent: Tangent) -> Plane:
        """The plane of a tangent of the loss."""
        return Plane(tangent.offset, self.space.element(tangent.t))
