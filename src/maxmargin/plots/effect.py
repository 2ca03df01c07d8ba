"""The effect of a parameter: the same data, a panel for each value.

"Soft Margin Revisited", last page: as C grows, both the margin 1 / |w| and the sum of the slacks
xi_i decrease, because the optimum trades one for the other. gamma is the inverse square of the RBF
kernel's range: the larger it is, the more the boundary follows single points.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from maxmargin.core.arrays import Floats
from maxmargin.plots.decision import DecisionDisplay
from maxmargin.plots.display import Display
from maxmargin.plots.plane import decision_values
from maxmargin.plots.style import CLASS_COLOURS, figure, rc


@dataclass(eq=False, repr=False)
class EffectDisplay(Display):
    """Decision regions for several values of a parameter.

    Parameters
    ----------
    parameter : str
    values : sequence of float
    panels : list of DecisionDisplay
        One for each value.
    margin : ndarray
        1 / |w| for each value; |w|^2 = sum_ij coef_i coef_j k(x_i, x_j).
    slack : ndarray
        The sum of max(0, 1 - t_i y(x_i)) for each value.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from maxmargin import SVC
    >>> from maxmargin.plots import EffectDisplay
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> shown = EffectDisplay.from_estimator(SVC(), X, y, parameter="gamma", values=(0.1, 1, 10))
    >>> plt.show()
    """

    parameter: str
    values: Sequence[float]
    panels: list[DecisionDisplay]
    margin: Floats
    slack: Floats

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        parameter: str = "C",
        values: Sequence[float] = (1, 5, 50),
        ax: Any = None,
    ) -> "EffectDisplay":
        """Fit a clone for each value and draw them side by side.

        Parameters
        ----------
        estimator : binary classifier with that parameter; it is cloned.
        X, y : the data.
        parameter : str, default="C"
        values : sequence of float, default=(1, 5, 50)
        ax : array of matplotlib axes, one for each value, default=None

        Returns
        -------
        EffectDisplay
        """
        return cls.computed(estimator, X, y, parameter=parameter, values=values).plot(ax)

    @classmethod
    def computed(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        parameter: str = "C",
        values: Sequence[float] = (1, 5, 50),
    ) -> "EffectDisplay":
        """Compute the display of ``from_estimator`` without drawing it; same parameters."""
        if len(np.unique(np.asarray(y))) != 2:
            raise ValueError(
                "EffectDisplay shows two classes; draw each fit with ClassesDisplay instead."
            )
        fitted = [clone(estimator).set_params(**{parameter: value}).fit(X, y) for value in values]
        margin, slack = np.array([margin_and_slack(model, X, y) for model in fitted]).T
        symbols = {"gamma": "\\gamma", "nu": "\\nu", "epsilon": "\\varepsilon"}
        symbol = f"${symbols.get(parameter, parameter)}$"
        panels = []
        for model, value, room, total in zip(fitted, values, margin, slack, strict=True):
            shown = value if isinstance(value, str) else f"{value:g}"
            title = f"{symbol} = {shown}:  margin {room:.3g},  $\\sum\\xi$ = {total:.3g}"
            panels.append(DecisionDisplay.computed(model, X, y, title=title))
        return cls(parameter, values, panels, margin, slack)

    def plot_curves(self, ax: Any = None) -> Any:
        """Plot the margin and the sum of slacks over the parameter; return the axes.

        Each has its own vertical axis.
        """
        with rc():
            ax = figure()[1] if ax is None else ax
            other = ax.twinx()
            margin, slack = "margin $1/|w|$", "$\\sum\\xi$"
            one = ax.plot(self.values, self.margin, "o-", color=CLASS_COLOURS[0], label=margin)
            two = other.plot(self.values, self.slack, "s--", color=CLASS_COLOURS[1], label=slack)
            ax.set(xscale="log", xlabel=self.parameter, ylabel=margin)
            other.set_ylabel(slack)
            other.spines["right"].set_visible(True)
            ax.legend(handles=[*one, *two], loc="upper right")
        return ax

    def _panels(self) -> tuple[Any, ...]:
        return (1, len(self.panels), (4.2 * len(self.panels), 4.1))

    def _draw(self, ax: Any) -> None:
        for panel, axes in zip(self.panels, np.ravel(ax), strict=True):
            panel.plot(axes)


def margin_and_slack(model: Any, X: ArrayLike, y: ArrayLike) -> tuple[float, float]:
    """Return 1 / |w| and the sum of slacks of a fitted binary classifier; rounding is no slack.

    |w|^2 comes from coef_ if the model has it, otherwise from sum_i coef_i (y(x_i) - b) over the
    support vectors.
    """
    values = decision_values(model, X, X)
    t = np.where(np.asarray(y) == model.classes_[1], 1.0, -1.0)
    if hasattr(model, "coef_"):
        squared = float(np.sum(np.asarray(model.coef_) ** 2))
    else:
        of_support = decision_values(model, X, model.support_vectors_) - np.ravel(model.intercept_)
        squared = float(np.ravel(model.dual_coef_) @ of_support)
    slack = 1.0 - t * values
    return 1.0 / np.sqrt(max(squared, 1e-300)), float(slack[slack > 1e-12].sum())
