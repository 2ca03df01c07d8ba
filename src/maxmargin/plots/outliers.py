"""One-class models: the region of the data, as contours of the decision function.

Points beyond the solid line count as novel.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maxmargin.core.arrays import Floats
from maxmargin.plots.decision import support_of
from maxmargin.plots.display import Display
from maxmargin.plots.plane import Plane, for_estimator
from maxmargin.plots.style import CLASS_COLOURS, INK, legend_outside


class OutlierDisplay(Display):
    """Contours of a one-class model.

    Parameters
    ----------
    plane : Plane
    values : ndarray of shape (resolution, resolution)
        Decision values on the plane's grid, positive inside.
    points : ndarray of shape (n_samples, 2)
    inside : ndarray of bool
        Which points the model accepts.
    support : ndarray of int
        Indices of the support vectors.
    """

    def __init__(
        self,
        plane: Plane,
        values: Floats,
        points: Floats,
        inside: NDArray[np.bool_],
        support: NDArray[np.intp],
    ) -> None:
        self.plane, self.values, self.points, self.inside, self.support = (
            plane,
            values,
            points,
            inside,
            support,
        )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        *,
        features: Sequence[int | str] | None = None,
        feature_names: Sequence[str] | None = None,
        resolution: int = 200,
        ax: Any = None,
    ) -> "OutlierDisplay":
        """Draw a fitted one-class model.

        Parameters
        ----------
        estimator : fitted outlier detector, or a model of ``maxmargin.textbook``
            It needs ``decision_function``.
        X : the data to show.
        features, feature_names, resolution, ax : as in ``DecisionDisplay.from_estimator``

        Returns
        -------
        OutlierDisplay
        """
        plane = Plane.of(X, features, feature_names)
        a, _, grid = plane.grid(resolution)
        values, at_points = (
            np.asarray(estimator.decision_function(for_estimator(estimator, X, where)))
            for where in (grid, X)
        )
        support = support_of(estimator, X)
        if support is None:
            support = np.flatnonzero(at_points <= 1e-6 * np.abs(at_points).max())
        inside = at_points >= -1e-6 * np.abs(at_points).max()
        return cls(
            plane, values.reshape(a.shape), plane.project(X), inside, np.asarray(support)
        ).plot(ax)

    def _draw(self, ax: Any) -> None:
        a, b, _ = self.plane.grid(self.values.shape[0])
        scale = np.abs(self.values).max()
        ax.contourf(
            a, b, self.values, levels=np.linspace(-scale, scale, 15), cmap="PuBu", alpha=0.75
        )
        if self.values.min() < 0 < self.values.max():
            ax.contour(a, b, self.values, levels=[0.0], colors=INK, linewidths=1.6)
        ax.scatter(
            *self.points[self.inside].T,
            s=18,
            c=CLASS_COLOURS[0],
            edgecolors="white",
            linewidths=0.4,
            label="inside",
        )
        ax.scatter(
            *self.points[~self.inside].T,
            s=30,
            c=CLASS_COLOURS[1],
            marker="X",
            edgecolors="white",
            linewidths=0.4,
            label="novel",
        )
        ring = self.points[self.support]
        if len(ring):  # a model fitted to other points has none among these
            ax.scatter(
                *ring.T,
                s=70,
                facecolors="none",
                edgecolors=INK,
                linewidths=0.8,
                label=f"support vectors ({len(ring)})",
            )
        self.plane.label(ax)
        legend_outside(ax, self.plane.note)
