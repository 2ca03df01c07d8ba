"""Decision regions of two classes: the boundary, the margins, the support vectors and the slacks.

The solid line is y(x) = 0, the dashed ones y(x) = +-1. Support vectors are ringed. In the plane of
a linear model the slack xi_i of a point is drawn as the segment from it to its margin, of length
xi_i / |w|; both axes have the same scale, so that the segment is perpendicular to the margin.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d

from maxmargin.core.arrays import Floats
from maxmargin.plots.display import Display
from maxmargin.plots.labels import beside, on_lines
from maxmargin.plots.plane import Plane, decision_values, dense
from maxmargin.plots.style import (
    CLASS_COLOURS,
    INK,
    class_names,
    dots,
    legend_outside,
    paler,
    rings,
)

UNEQUAL = 8.0
"""Axes have one scale, and slacks are drawn, if the ranges of the two features differ by less than
this factor."""
LINES = {-1.0: "$y = -1$", 0.0: "$y = 0$", 1.0: "$y = 1$"}
"""Levels of the decision function that are drawn, and their names."""


@dataclass(eq=False, repr=False)
class DecisionDisplay(Display):
    """Regions, margins, support vectors and slacks of a binary classifier.

    Parameters
    ----------
    plane : Plane
    values : ndarray of shape (resolution, resolution)
        Decision values on the plane's grid.
    points : ndarray of shape (n_samples, 2)
        The data in the plane.
    positive : ndarray of bool of shape (n_samples,)
        Which points belong to the positive class.
    names : pair of str
        Names of the negative and the positive class.
    support : ndarray of int
        Indices of the support vectors.
    segments : list of pairs of points
        Each slack, from the point to its margin.
    title : str
    rings : str
        Label of the ringed points.
    slack_values : ndarray of shape (n_samples,) or None
        Slacks to write beside their points.
    equal : bool
        Whether both axes have the same scale.

    See Also
    --------
    ClassesDisplay : more than two classes.
    EffectDisplay : several values of a parameter.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from maxmargin import SVC
    >>> from maxmargin.plots import DecisionDisplay
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> shown = DecisionDisplay.from_estimator(SVC(C=10).fit(X, y), X, y)
    >>> plt.show()
    """

    plane: Plane
    values: Floats
    points: Floats
    positive: NDArray[np.bool_]
    names: tuple[str, str]
    support: NDArray[np.intp]
    segments: Sequence[tuple[Floats, Floats]] = ()
    title: str = ""
    rings: str = "support vectors"
    slack_values: Floats | None = None
    equal: bool = False

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        features: Sequence[int | str] | None = None,
        feature_names: Sequence[str] | None = None,
        slacks: bool = True,
        slack_values: bool = False,
        resolution: int = 200,
        title: str = "",
        ax: Any = None,
    ) -> "DecisionDisplay":
        """Draw a fitted binary classifier.

        Parameters
        ----------
        estimator : fitted classifier, or a model of ``maxmargin.textbook``
            It needs ``decision_function``.
        X, y : the data to show.
        features : pair of int or str, default=None
            Numbers or column names of the features of the plane. By default, the plane of the first
            two principal components if there are more than two features.
        feature_names : list of str, default=None
            By default the columns of a data frame.
        slacks : bool, default=True
            Draw the slacks if the model is linear and has two features.
        slack_values : bool, default=False
            Write the slack of each point beside it, for a few points.
        resolution : int, default=200
        title : str, default=""
        ax : matplotlib axes, default=None

        Returns
        -------
        DecisionDisplay
        """
        return cls.computed(
            estimator,
            X,
            y,
            features=features,
            feature_names=feature_names,
            slacks=slacks,
            slack_values=slack_values,
            resolution=resolution,
            title=title,
        ).plot(ax)

    @classmethod
    def computed(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        features: Sequence[int | str] | None = None,
        feature_names: Sequence[str] | None = None,
        slacks: bool = True,
        slack_values: bool = False,
        resolution: int = 200,
        title: str = "",
    ) -> "DecisionDisplay":
        """Compute the display of ``from_estimator`` without drawing it; same parameters."""
        labels = column_or_1d(y)
        classes = np.unique(getattr(estimator, "classes_", labels))
        if len(classes) != 2:
            raise ValueError(
                f"DecisionDisplay shows two classes, this model has {len(classes)}: use "
                "ClassesDisplay."
            )
        plane = Plane.of(X, features, feature_names)
        normal = None if plane.note else _normal(estimator, X)
        if normal is not None:
            plane = plane.squared()
        a, _, grid = plane.grid(resolution)
        positive = labels == classes[1]
        t = np.where(positive, 1.0, -1.0)
        values = decision_values(estimator, X, grid).reshape(a.shape)
        at_points = decision_values(estimator, X, X)
        ringed, support = "support vectors", support_of(estimator, X)
        if support is None:
            ringed, support = "not beyond the margin", np.flatnonzero(t * at_points <= 1.0 + 1e-3)
        segments: list[tuple[Floats, Floats]] = []
        if slacks and normal is not None:
            segments = _slacks(normal, X, t, at_points)
        first, second = class_names(classes)
        shown, names = plane.project(X), (first, second)
        written = np.maximum(0.0, 1.0 - t * at_points) if slack_values else None
        model = (plane, values, shown, positive, names, support, segments)
        return cls(*model, title, ringed, written, normal is not None)

    def _draw(self, ax: Any) -> None:
        a, b, _ = self.plane.grid(self.values.shape[0])
        ax.contourf(a, b, self.values, levels=[-np.inf, 0, np.inf], colors=paler(CLASS_COLOURS[:2]))
        lines = None
        if self.values.min() < 0 < self.values.max():
            lines = ax.contour(
                a,
                b,
                self.values,
                levels=list(LINES),
                colors=INK,
                linestyles=["--", "-", "--"],
                linewidths=[1.0, 1.6, 1.0],
            )
        for start, end in self.segments:
            style = {"color": INK, "linewidth": 1.4, "linestyle": (0, (1.0, 1.2))}
            ax.plot(*np.transpose([start, end]), zorder=2, **style)
        for k, here in enumerate((~self.positive, self.positive)):
            dots(ax, self.points[here], k, 26, self.names[k])
        if len(self.support):
            rings(ax, self.points[self.support], 75, self.rings)
        self.plane.label(ax)
        if self.equal:
            ax.set_aspect("equal")
        legend_outside(ax, "\n".join(filter(None, [self.title, self.plane.note])))
        if lines is not None:
            on_lines(ax, lines, LINES, self.points)
        if self.slack_values is not None:
            texts = [f"$\\xi$ = {s:.2f}" if s > 1e-3 else "$\\xi$ = 0" for s in self.slack_values]
            drawn = [np.linspace(*segment, 12) for segment in self.segments]
            beside(ax, self.points, texts, np.vstack([self.points, *drawn]), fontsize=7.5)


def support_of(estimator: Any, X: ArrayLike) -> NDArray[np.intp] | None:
    """Return which rows of X are support vectors, if X is the training data of the model.

    Return None if the model does not have them. For a pipeline, the last step has them.
    """
    last = estimator[-1] if hasattr(estimator, "named_steps") else estimator
    support = getattr(last, "support_", getattr(last, "support", None))
    vectors = getattr(last, "support_vectors_", None)
    if support is None:
        return None
    data = dense(X)
    if len(support) and np.max(support) >= len(data):
        return np.zeros(0, np.intp)
    if vectors is not None and last is estimator and np.shape(vectors) == data[support].shape:
        same = np.allclose(dense(vectors), data[support])
        return np.asarray(support) if same else np.zeros(0, np.intp)
    return np.asarray(support)


def _normal(estimator: Any, X: ArrayLike) -> Floats | None:
    """Return w of a linear model with two features of similar ranges, otherwise None."""
    try:
        w = np.ravel(estimator.coef_ if hasattr(estimator, "coef_") else estimator.w).astype(float)
    except AttributeError:
        return None
    wide, high = np.ptp(dense(X), axis=0)
    # with very different ranges, axes of one scale would show a line instead of a plane
    return w if 1 / UNEQUAL < wide / max(high, 1e-300) < UNEQUAL else None


def _slacks(w: Floats, X: ArrayLike, t: Floats, values: Floats) -> list[tuple[Floats, Floats]]:
    """Return segments along w from points with slack to their margin."""
    data = dense(X)
    short = np.flatnonzero(t * values < 1.0 - 1e-3)
    return [(data[i], data[i] + (t[i] - values[i]) / (w @ w) * w) for i in short]
