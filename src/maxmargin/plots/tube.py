"""Regression: the curve y(x), its tube of half-width epsilon, and the support vectors.

The support vectors are the points on or outside the tube.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d

from maxmargin.core.arrays import Floats
from maxmargin.plots.decision import support_of
from maxmargin.plots.display import Display
from maxmargin.plots.plane import dense, feature_names, for_estimator
from maxmargin.plots.style import CLASS_COLOURS, PALE, legend_outside, paler, rings


@dataclass(eq=False, repr=False)
class TubeDisplay(Display):
    """The tube of a regression.

    Parameters
    ----------
    x, y : ndarray of shape (n_samples,)
        The feature on the horizontal axis and the targets.
    line_x, line_y : ndarray
        The curve.
    epsilon : float
        Half the width of the tube.
    support : ndarray of int
        Indices of the ringed points: the support vectors, or those on or outside the tube.
    name : str
        Name of the feature.
    note : str
        Note in the title about features that are not shown.
    rings : str
        Label of the ringed points.

    See Also
    --------
    IntervalDisplay : how far targets lie from the curve.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from maxmargin import SVR
    >>> from maxmargin.plots import TubeDisplay
    >>> X = np.linspace(0, 6, 50).reshape(-1, 1)
    >>> y = np.sin(X[:, 0]) + 0.2 * np.random.default_rng(0).normal(size=50)
    >>> shown = TubeDisplay.from_estimator(SVR(C=10, epsilon=0.2).fit(X, y), X, y)
    >>> plt.show()
    """

    x: Floats
    y: Floats
    line_x: Floats
    line_y: Floats
    epsilon: float
    support: NDArray[np.intp]
    name: str = "x"
    note: str = ""
    rings: str = "support vectors"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        epsilon: float | None = None,
        feature: int = 0,
        name: str | None = None,
        resolution: int = 400,
        ax: Any = None,
    ) -> "TubeDisplay":
        """Draw a fitted regression.

        Parameters
        ----------
        estimator : fitted regressor, or a model of ``maxmargin.textbook``
        X, y : the data to show.
        epsilon : float, default=None
            Half the width of the tube; by default the estimator's ``epsilon_`` or ``epsilon``.
        feature : int, default=0
            The feature on the horizontal axis. For the curve, all others are at their mean.
        name : str, default=None
            Name of that feature; by default the column of a data frame.
        resolution : int, default=400
        ax : matplotlib axes, default=None

        Returns
        -------
        TubeDisplay
        """
        data, t = dense(X), column_or_1d(y).astype(float)
        if data.ndim != 2:
            raise ValueError(
                f"X must have two dimensions, got shape {data.shape}; for one feature give "
                "X[:, None]."
            )
        for attribute in ("epsilon_", "epsilon"):
            if epsilon is None:
                epsilon = getattr(estimator, attribute, None)
        if epsilon is None:
            raise ValueError(
                f"{type(estimator).__name__} has no epsilon, the half-width of its tube: give one."
            )

        def value(points: Any) -> Floats:
            return np.asarray(estimator.predict(for_estimator(estimator, X, points)))

        x = data[:, feature]
        room = 0.04 * (np.ptp(x) or 1.0)
        grid = np.tile(data.mean(axis=0), (resolution, 1))
        grid[:, feature] = np.linspace(x.min() - room, x.max() + room, resolution)
        ringed, support = "support vectors", support_of(estimator, data)
        # the model has no support vectors, or was fitted to other points
        if support is None or not len(support):
            ringed = "on or outside the tube"
            support = np.flatnonzero(np.abs(value(data) - t) >= epsilon * (1 - 1e-3))
        d = data.shape[1]
        note = f"along one of {d} features, the others at their mean" if d > 1 else ""
        if name is None:
            name = feature_names(X)[feature] if hasattr(X, "columns") else "x"
        curve = grid[:, feature], value(grid)
        return cls(x, t, *curve, float(epsilon), support, name, note, ringed).plot(ax)

    def _draw(self, ax: Any) -> None:
        low, high = self.line_y - self.epsilon, self.line_y + self.epsilon
        pale, label = paler(CLASS_COLOURS[:1], 0.8)[0], f"tube, $\\varepsilon$ = {self.epsilon:.3g}"
        ax.fill_between(self.line_x, low, high, color=pale, label=label)
        ax.plot(self.line_x, self.line_y, color=CLASS_COLOURS[0], label="$y(x)$")
        for edge in (low, high):
            ax.plot(self.line_x, edge, color=CLASS_COLOURS[0], linewidth=0.8, linestyle="--")
        ax.scatter(self.x, self.y, s=16, c=PALE, edgecolors="none", zorder=3, label="points")
        ringed = np.column_stack([self.x, self.y])[self.support]
        rings(ax, ringed, 45, self.rings, zorder=4)
        ax.set(xlabel=self.name, ylabel="target")
        legend_outside(ax, self.note, columns=2)
