"""The base class of all displays, with scikit-learn's interface.

``XDisplay.from_estimator(estimator, X, y)`` computes and draws. ``XDisplay(...)`` holds computed
values, and ``.plot(ax=...)`` draws them. Then ``.ax_`` and ``.figure_`` can be changed or saved.
"""

from abc import ABC, abstractmethod
from typing import Any, Self

from maxmargin.plots.style import figure, rc


class Display(ABC):
    """A picture that was computed and can be drawn.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from maxmargin.plots import Display, LossDisplay
    >>> shown = LossDisplay.of_regression()
    >>> isinstance(shown, Display)
    True
    >>> plt.show()
    """

    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib axes, or an array of axes for several panels, default=None
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        self
        """
        with rc():
            if ax is None:
                _, ax = figure(*self._panels())
            self.ax_ = ax
            self.figure_ = getattr(ax, "figure", None) or ax.flat[0].figure
            self._draw(ax)
        return self

    def _panels(self) -> tuple[Any, ...]:
        """Return the rows, columns and size of a new figure."""
        return (1, 1)

    @abstractmethod
    def _draw(self, ax: Any) -> None:
        """Draw on the axes."""
