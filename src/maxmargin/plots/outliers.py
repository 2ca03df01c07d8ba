"""One-class models: the region of the data, as contours of the decision function.

Points beyond the solid line count as novel.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maxmargin.core.arrays import Floats
from maxmargin.plots.decision import support_of
from maxmargin.plots.display import Display
from maxmargin.plots.plane import Plane, decision_values
from maxmargin.plots.style import INK, dots, legend_outside, rings


@dataclass(eq=False, repr=False)
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

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from maxmargin import OneClassSVM
    >>> from maxmargin.plots import OutlierDisplay
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> shown = OutlierDisplay.from_estimator(OneClassSVM(nu=0.1, gamma=2.0).fit(X), X)
    >>> plt.show()
    """

    plane: Plane
    values: Floats
    points: Floats
    inside: NDArray[np.bool_]
    support: NDArray[np.intp]

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
        values = decision_values(estimator, X, grid).reshape(a.shape)
        at_points = decision_values(estimator, X, X)
        rounding = 1e-6 * np.abs(at_points).max()
        support = support_of(estimator, X)
        if support is None:
            support = np.flatnonzero(at_points <= rounding)
        return cls(plane, values, plane.project(X), at_points >= -rounding, support).plot(ax)

    def _draw(self, ax: Any) -> None:
        a, b, _ = self.plane.grid(self.values.shape[0])
        levels = np.abs(self.values).max() * np.linspace(-1, 1, 15)
        ax.contourf(a, b, self.values, levels=levels, cmap="PuBu", alpha=0.75)
        if self.values.min() < 0 < self.values.max():
            ax.contour(a, b, self.values, levels=[0.0], colors=INK, linewidths=1.6)
        dots(ax, self.points[self.inside], 0, 18, "inside", linewidths=0.4)
        dots(ax, self.points[~self.inside], 1, 30, "novel", linewidths=0.4, marker="X")
        if len(self.support):  # a model fitted to other points has none among these
            rings(ax, self.points[self.support], 70, "support vectors", linewidths=0.8)
        self.plane.label(ax)
        legend_outside(ax, self.plane.note)
