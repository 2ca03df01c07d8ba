"""The losses of regression as one record: a tube around the targets, and the price of each side.

With residuals r_i = z_i - f_i the loss of a sample is

    loss_i = price(r_i - epsilon; up_i) + price(-r_i - epsilon; down_i)

    price(e; limit, ridge) = max over 0 <= t <= limit of  t e - ridge t^2 / 2
                           = 0                              for e <= 0
                             e^2 / (2 ridge)                up to e = ridge limit
                             limit (e - ridge limit / 2)    beyond

The t that attains it is the dual variable of that side: a plain loss has no ridge, a squared loss
no limit, Huber's loss has both.

===================  =======  ==============  ======================  ==============================
loss                 epsilon  limit up, down  ridge up, down          loss where r > 0, r < 0
===================  =======  ==============  ======================  ==============================
epsilon-insensitive  epsilon  C, C            0, 0                    C (|r| - epsilon)
its square           epsilon  inf, inf        1/(2C), 1/(2C)          C (|r| - epsilon)^2
pinball (quantile)   0        qC, (1-q)C      0, 0                    C q r, C (1-q) |r|
expectile            0        inf, inf        1/(2qC), 1/(2(1-q)C)    C q r^2, C (1-q) r^2
Huber                0        C, C            delta/C, delta/C        C r^2 / (2 delta) up to delta,
                                                                      C (|r| - delta / 2) beyond
===================  =======  ==============  ======================  ==============================

C stands for the bounds C w_i with the sample weights w_i. This file holds data alone: the
certificate, which reads it, shares no code with the solvers.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Mask


class Side(NamedTuple):
    """What residuals beyond one edge of the tube cost; see the top of this file."""

    limit: Floats
    """The slope far outside, the greatest dual variable."""
    ridge: Floats

    def without(self, out: Mask) -> "Side":
        """The same without a price for some samples."""
        return Side(np.where(out, 0.0, self.limit), self.ridge)


class Tube(NamedTuple):
    """The losses of all samples."""

    z: Floats
    """The targets."""
    up: Side
    """The price of targets above the tube: r > epsilon."""
    down: Side
    """The price of targets below it."""
    epsilon: float = 0.0
    """Half its width."""

    @property
    def smooth(self) -> bool:
        """Whether there is a ridge."""
        return bool(self.up.ridge.any() or self.down.ridge.any())

    @property
    def hard(self) -> Mask:
        """Which samples may not leave the tube."""
        found: Mask = np.isinf(self.up.limit) & (self.up.ridge == 0)
        return found

    def without(self, out: Mask) -> "Tube":
        """The same without the losses of some samples."""
        return self._replace(up=self.up.without(out), down=self.down.without(out))


def _plain(C: Floats) -> Side:
    return Side(C, np.zeros(len(C)))


def _squared(C: Floats) -> Side:
    return Side(np.full(len(C), np.inf), 0.5 / C)


def insensitive(z: Floats, C: Floats, epsilon: float, squared: bool = False) -> Tube:
    """The loss of eps-SVR, or its square."""
    side = _squared(C) if squared else _plain(C)
    return Tube(z, side, side, epsilon)


def pinball(z: Floats, C: Floats, quantile: float) -> Tube:
    """The loss whose minimiser is a quantile: a share ``quantile`` of the weight lies below f."""
    return Tube(z, _plain(quantile * C), _plain((1 - quantile) * C))


def expectile(z: Floats, C: Floats, level: float) -> Tube:
    """The asymmetric squared loss."""
    return Tube(z, _squared(level * C), _squared((1 - level) * C))


def huber(z: Floats, C: Floats, delta: float) -> Tube:
    """Squared up to |r| = delta, linear beyond."""
    side = Side(C, delta / C)
    return Tube(z, side, side)
