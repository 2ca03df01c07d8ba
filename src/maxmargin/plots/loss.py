"""The losses of the lectures over the margin m = t y(x).

The zero-one loss costs 1 for every error. The hinge loss is zero from m = 1 on. The squared error
also penalises points far on the right side.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maxmargin.core.arrays import Floats
from maxmargin.plots.display import Display
from maxmargin.plots.style import DASHES, INK, colour

Loss = Callable[[Floats], Floats]

OF_MARGIN: dict[str, Loss] = {
    "errors": lambda m: np.where(m < 0, 1.0, 0.0),
    "hinge": lambda m: np.maximum(0.0, 1.0 - m),
    "squared hinge": lambda m: np.maximum(0.0, 1.0 - m) ** 2,
    "logistic": lambda m: np.logaddexp(0.0, -m),
    "squared error": lambda m: 0.5 * (m - 1.0) ** 2,
}
"""Losses of classification as functions of the margin."""

OF_RESIDUAL: dict[str, Loss] = {
    "epsilon-insensitive, 0.5": lambda r: np.maximum(0.0, np.abs(r) - 0.5),
    "its square": lambda r: np.maximum(0.0, np.abs(r) - 0.5) ** 2,
    "absolute error": np.abs,
    "squared error": lambda r: 0.5 * r**2,
}
"""Losses of regression as functions of the residual t - y(x)."""


@dataclass(eq=False, repr=False)
class LossDisplay(Display):
    """Losses as curves.

    Parameters
    ----------
    losses : dict of name to function, default=``OF_MARGIN``
    over : str
        Label of the horizontal axis.
    between : pair of float
        The range shown.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from maxmargin.plots import LossDisplay
    >>> shown = LossDisplay().plot()
    >>> plt.show()
    """

    losses: Mapping[str, Loss] = field(default_factory=lambda: OF_MARGIN)
    over: str = "margin $t\\,y(x)$"
    between: tuple[float, float] = (-2.2, 2.8)

    @classmethod
    def of_classification(cls, ax: Any = None) -> "LossDisplay":
        """The losses of two-class classification, as Milan Straka compares them."""
        return cls().plot(ax)

    @classmethod
    def of_regression(cls, ax: Any = None) -> "LossDisplay":
        """The losses of regression.

        The epsilon-insensitive one is (32) of "Support Vector Machines (SVM): Theory and
        Algorithms".
        """
        return cls(OF_RESIDUAL, "residual $t - y(x)$", (-2.2, 2.2)).plot(ax)

    def _draw(self, ax: Any) -> None:
        m = np.linspace(*self.between, 801)
        for k, (name, loss) in enumerate(self.losses.items()):
            style: dict[str, Any] = {"color": colour(k - ("errors" in self.losses))}
            if name == "errors":
                style = {"color": INK, "linewidth": 1.2}
            ax.plot(m, loss(m), label=name, linestyle=DASHES[k % len(DASHES)], **style)
        ax.set(xlabel=self.over, ylabel="loss", ylim=(-0.06, 3.6), xlim=self.between)
        ax.legend(loc="upper right")
