"""Decision regions of several classes; regions where one-versus-one votes tie are hatched."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter
from sklearn.utils import column_or_1d

from maxmargin.core.arrays import Floats
from maxmargin.plots.display import Display
from maxmargin.plots.plane import Plane, for_estimator
from maxmargin.plots.style import INK, class_names, colour, dots, legend_outside, paler

FEWEST_TIES = 1e-3
"""Ties are shown if they cover at least this fraction of the picture; fewer cannot be seen."""
SMOOTH = 1.2
"""Width of the neighbourhood of a grid point, in grid points."""


@dataclass(eq=False, repr=False)
class ClassesDisplay(Display):
    """Regions of a classifier with any number of classes.

    Parameters
    ----------
    plane : Plane
    regions : ndarray of int of shape (resolution, resolution)
        Index of the predicted class on the plane's grid.
    tied : ndarray of bool of shape (resolution, resolution)
        Whether classes tie for the most votes.
    points : ndarray of shape (n_samples, 2)
    labels : ndarray of int of shape (n_samples,)
        Index of each point's class.
    classes : ndarray
        The classes' names.

    See Also
    --------
    DecisionDisplay : two classes, with margins.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from maxmargin import SVC
    >>> from maxmargin.plots import ClassesDisplay
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(60, centers=3, random_state=6)
    >>> shown = ClassesDisplay.from_estimator(SVC().fit(X, y), X, y)
    >>> plt.show()
    """

    plane: Plane
    regions: NDArray[np.intp]
    tied: NDArray[np.bool_]
    points: Floats
    labels: NDArray[np.intp]
    classes: NDArray[Any]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        features: Sequence[int | str] | None = None,
        feature_names: Sequence[str] | None = None,
        resolution: int = 250,
        ax: Any = None,
    ) -> "ClassesDisplay":
        """Draw a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier, or a multi-class model of ``maxmargin.textbook``
            It needs ``predict`` and ``classes_``. Ties are shown for one-versus-one machines:
            ``SVC``, ``NuSVC``, those of scikit-learn, and ``textbook.OneVersusOne``.
        X, y : the data to show.
        features, feature_names, resolution, ax : as in ``DecisionDisplay.from_estimator``

        Returns
        -------
        ClassesDisplay
        """
        plane = Plane.of(X, features, feature_names)
        a, _, grid = plane.grid(resolution)
        known = estimator.classes_ if hasattr(estimator, "classes_") else estimator.classes
        classes = np.asarray(known)
        grid = for_estimator(estimator, X, grid)
        regions = np.searchsorted(classes, np.asarray(estimator.predict(grid)))
        counted = votes(estimator, grid, len(classes))
        tied: NDArray[np.bool_] = np.zeros(a.size, bool)
        if counted is not None:
            tied = np.sum(counted == counted.max(axis=1, keepdims=True), axis=1) > 1
        labels = column_or_1d(y)
        if not np.isin(labels, classes).all():
            raise ValueError(
                "y has labels that are not classes of the model, which are "
                f"{', '.join(map(str, classes[:8]))}."
            )
        regions, tied = regions.reshape(a.shape), tied.reshape(a.shape)
        index = np.searchsorted(classes, labels)
        return cls(plane, regions, tied, plane.project(X), index, classes).plot(ax)

    def _draw(self, ax: Any) -> None:
        a, b, _ = self.plane.grid(self.regions.shape[0])
        k, names = len(self.classes), class_names(self.classes)
        leads = _leads(self.regions, k)
        for i, area in enumerate(paler([colour(i) for i in range(k)])):
            if (leads[i] > 0).any():
                ax.contourf(a, b, leads[i], levels=[0.0, np.inf], colors=[area])
        for lead in leads:
            if lead.min() < 0 < lead.max():
                ax.contour(a, b, lead, levels=[0.0], colors=INK, linewidths=0.9)
        for i in range(k):
            dots(ax, self.points[self.labels == i], i, 24, names[i])
        if self.tied.mean() > FEWEST_TIES:
            hatch = "////"
            ax.contourf(a, b, self.tied, levels=[0.5, 1.5], colors="none", hatches=[hatch])
            ax.fill_between([], [], fc="white", ec=INK, hatch=hatch, label="tied votes")
        self.plane.label(ax)
        legend_outside(ax, self.plane.note)


def _leads(regions: NDArray[np.intp], k: int) -> Floats:
    """Return for each class a smooth function on the grid that is positive in its region.

    The border of a region on a grid has steps. Smoothing the regions makes it a line.
    """
    shares = np.array(
        [gaussian_filter((regions == i).astype(float), SMOOTH, mode="nearest") for i in range(k)]
    )
    first, second = np.sort(shares, axis=0)[[-1, -2]]
    leads: Floats = np.where(shares == first, shares - second, shares - first)
    return leads


def votes(estimator: Any, X: Any, k: int) -> NDArray[np.int64] | None:
    """Return one-versus-one votes, a column for each class, or None if the model does not vote."""
    if hasattr(estimator, "votes"):
        return np.asarray(estimator.votes(X))
    if (
        k < 3
        or not hasattr(estimator, "decision_function_shape")
        or getattr(estimator, "multiclass", "ovo") == "ovr"
    ):
        return None
    voting = copy(estimator)
    voting.decision_function_shape, voting.break_ties = "ovo", False
    values = np.asarray(voting.decision_function(X))
    if values.ndim != 2 or values.shape[1] != k * (k - 1) // 2:
        return None
    counted = np.zeros((len(values), k), dtype=np.int64)
    for column, (i, j) in zip(values.T, combinations(range(k), 2), strict=True):
        counted[column > 0, i] += 1
        counted[column <= 0, j] += 1
    return counted
