"""The plane of a plot.

Data with two features are drawn as they are. With more features, a plot shows a plane through the
mean of the data, along the first two principal components or along two chosen features. Points are
projected onto the plane, but the decision values are those *on the plane*. So a point can appear on
the wrong side of the boundary; the title says that the plot is a plane.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.core.arrays import Floats

EDGE = 0.12
"""The plot extends beyond the points by this fraction of their range."""


ROUNDING = 1e-9
"""A range below this fraction of the data's size is rounding error."""


class Plane(NamedTuple):
    """The points origin + a u + b v; u and v are orthonormal.

    Examples
    --------
    >>> from maxmargin.plots import Plane
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> plane = Plane.of(X, features=[2, 3])
    >>> plane.project(X).shape
    (150, 2)
    """

    origin: Floats
    u: Floats
    v: Floats
    limits: tuple[float, float, float, float]
    """Smallest and largest a, then b."""
    names: tuple[str, str]
    note: str
    """For the title; empty if the picture is the whole space."""

    @classmethod
    def of(
        cls, X: Any, features: Sequence[int | str] | None = None, names: Sequence[str] | None = None
    ) -> "Plane":
        """Return the plane of two features or of the first two principal components.

        Features are numbers or names. ``names`` are by default the columns of a data frame.
        """
        data = dense(X)
        d = data.shape[1]
        if d < 2:
            raise ValueError("A plane needs at least two features; these data have one.")
        called = feature_names(X, names)
        if features is not None or d == 2:
            i, j = _pair(features, called) if features is not None else (0, 1)
            origin, u, v = data.mean(axis=0), np.eye(d)[i], np.eye(d)[j]
            origin[[i, j]] = 0.0
            axes = (called[i], called[j])
            note = f"plane of {axes[0]} and {axes[1]}, other features at their mean" * (d > 2)
        else:
            origin = data.mean(axis=0)
            u, v = _principal(data - origin)
            axes = ("first principal component", "second principal component")
            note = f"plane of the principal components, {d} features"
        a, b = (data - origin) @ u, (data - origin) @ v
        sizes = [float((np.abs(data) @ np.abs(direction)).max(initial=0.0)) for direction in (u, v)]
        return cls(origin, u, v, (*_widened(a, sizes[0]), *_widened(b, sizes[1])), axes, note)

    def project(self, X: ArrayLike) -> Floats:
        """Return the coordinates (a, b) of points."""
        return (dense(X) - self.origin) @ np.column_stack([self.u, self.v])

    def grid(self, resolution: int = 200) -> tuple[Floats, Floats, Floats]:
        """Return coordinates a and b of a grid, and its points in the space, one per row."""
        a, b = np.meshgrid(
            np.linspace(*self.limits[:2], resolution), np.linspace(*self.limits[2:], resolution)
        )
        return a, b, self.origin + a.reshape(-1, 1) * self.u + b.reshape(-1, 1) * self.v

    def squared(self) -> "Plane":
        """Return the plane with limits as wide as high: the shorter range is widened."""
        middles = np.mean(self.limits[:2]), np.mean(self.limits[2:])
        half = 0.5 * max(np.ptp(self.limits[:2]), np.ptp(self.limits[2:]))
        left, bottom = (float(middle - half) for middle in middles)
        right, top = (float(middle + half) for middle in middles)
        return self._replace(limits=(left, right, bottom, top))

    def label(self, ax: Any) -> None:
        """Set the names and limits of the axes."""
        ax.set(
            xlabel=self.names[0], ylabel=self.names[1], xlim=self.limits[:2], ylim=self.limits[2:]
        )


def dense(X: Any) -> Floats:
    """Return data of any kind as an array of floats."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, float)


def feature_names(X: Any, names: Sequence[str] | None = None) -> list[str]:
    """Return the given names, the columns of a data frame, or x_1, x_2, ..."""
    if names is None and hasattr(X, "columns"):
        return [str(name) for name in X.columns]
    if names is None:
        return [f"$x_{{{i + 1}}}$" for i in range(dense(X).shape[1])]
    return list(names)


def for_estimator(estimator: Any, X: Any, points: Any) -> Any:
    """Return points in the form that the estimator was fitted on.

    An estimator fitted on a data frame expects named columns; any other expects an array.
    """
    if not hasattr(X, "columns"):
        return points
    if not hasattr(estimator, "feature_names_in_"):
        return dense(points)
    if hasattr(points, "columns"):
        return points
    columns = {name: points[:, k] for k, name in enumerate(X.columns)}
    return type(X)(columns)


def decision_values(estimator: Any, X: Any, points: Any) -> Floats:
    """Return the decision values of an estimator, fitted on data like X, at points."""
    return np.asarray(estimator.decision_function(for_estimator(estimator, X, points)), float)


def _pair(features: Sequence[int | str], names: list[str]) -> tuple[int, int]:
    """Return two features as numbers."""
    found = []
    for feature in features:
        if isinstance(feature, str):
            if feature not in names:
                raise ValueError(
                    f"There is no feature {feature!r}; the data have {', '.join(names[:8])}."
                )
            feature = names.index(feature)
        if not 0 <= feature < len(names):
            raise ValueError(
                f"There is no feature {feature}: the data have {len(names)}, counted from 0."
            )
        found.append(int(feature))
    if len(found) != 2 or found[0] == found[1]:
        raise ValueError(f"A plane needs two different features, got {list(features)!r}.")
    return found[0], found[1]


def _principal(centred: Floats) -> tuple[Floats, Floats]:
    """Return the first two right singular vectors, each with a positive largest entry.

    The fixed sign keeps plots from flipping.
    """
    _, _, V = np.linalg.svd(centred, full_matrices=False)
    pair = V[:2] if len(V) > 1 else np.vstack([V, np.eye(V.shape[1])[:1]])
    signs = np.sign(pair[np.arange(2), np.argmax(np.abs(pair), axis=1)])
    u, v = pair * signs[:, None]
    return u, v


def _widened(values: Floats, size: float) -> tuple[float, float]:
    """Return limits around values of data of the given size.

    A range that is rounding error is widened.
    """
    low, high = float(values.min()), float(values.max())
    room = EDGE * (high - low) if high - low > ROUNDING * size else 1.0
    return low - room, high + room
