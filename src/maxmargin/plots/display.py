"""What all displays share: scikit-learn's convention.

``XDisplay.from_estimator(estimator, X, y)`` computes and draws, ``XDisplay(...)`` holds what was
computed, ``.plot(ax=...)`` draws it (again), and afterwards ``.ax_`` and ``.figure_`` are there to
be changed or saved.
"""

from abc import ABC, abstractmethod
from typing import Any, Self

from maxmargin.plots.style import figure, rc


class Display(ABC):
    """A picture that was computed and can be drawn."""

    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib axes, or an array of them for a display of several panels, default=None
            Where to draw; by default a new figure.

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
        """Rows, columns and size of a figure of its own."""
        return (1, 1)

    @abstractmethod
    def _draw(self, ax: Any) -> None:
        """Draw on the axes."""
