"""The plane a picture is drawn in.

Data with two features are drawn as they are. With more, a picture shows a plane cut through the space: through the mean of the data,
along the two principal components, or along two chosen features with all others at their mean. Points are drawn where they project to;
the decision values in the picture are those *on the plane*, so a point can be on the wrong side of a line that it does not cross: the
title says so.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.problems import Floats

EDGE = 0.12
"""The picture goes beyond the points by this share of their range."""


class Plane(NamedTuple):
    """Points origin + a u + b v; u and v are of unit length and orthogonal."""

    origin: Floats
    u: Floats
    v: Floats
    limits: tuple[float, float, float, float]
    """Least and largest a, then b."""
    names: tuple[str, str]
    note: str
    """For the title; empty if the picture is the whole space."""

    @classmethod
    def of(cls, X: ArrayLike, features: Sequence[int] | None = None, names: Sequence[str] | None = None) -> "Plane":
        """The plane of the data: their own, two chosen features, or the first two principal components."""
        data = dense(X)
        d = data.shape[1]
        if d < 2:
            raise ValueError("A plane needs at least two features; this data has one.")
        called = list(names) if names is not None else [f"$x_{{{i + 1}}}$" for i in range(d)]
        if features is not None or d == 2:
            i, j = features if features is not None else (0, 1)
            origin, u, v = data.mean(axis=0), np.eye(d)[i], np.eye(d)[j]
            origin[[i, j]] = 0.0
            note = "" if d == 2 else f"plane of {called[i]} and {called[j]}, other features at their mean"
            axes = (called[i], called[j])
        else:
            origin = data.mean(axis=0)
            u, v = _principal(data - origin)
            axes, note = ("first principal component", "second"), f"plane of the principal components, {d} features"
        a, b = (data - origin) @ u, (data - origin) @ v
        return cls(origin, u, v, (*_widened(a), *_widened(b)), axes, note)

    def project(self, X: ArrayLike) -> Floats:
        """Coordinates (a, b) of points."""
        return (dense(X) - self.origin) @ np.column_stack([self.u, self.v])

    def grid(self, resolution: int = 200) -> tuple[Floats, Floats, Floats]:
        """Two arrays of coordinates a and b, and the points of the space at them, a row for each."""
        a, b = np.meshgrid(np.linspace(*self.limits[:2], resolution), np.linspace(*self.limits[2:], resolution))
        return a, b, self.origin + a.reshape(-1, 1) * self.u + b.reshape(-1, 1) * self.v

    def label(self, ax: Any) -> None:
        """Names and limits of the axes."""
        ax.set(xlabel=self.names[0], ylabel=self.names[1], xlim=self.limits[:2], ylim=self.limits[2:])


def dense(X: Any) -> Floats:
    """Data as an array of floats, whatever they come in."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, float)


def _principal(centred: Floats) -> tuple[Floats, Floats]:
    """The first two right singular vectors, each with its largest entry positive, so that pictures do not flip."""
    _, _, V = np.linalg.svd(centred, full_matrices=False)
    pair = V[:2] if len(V) > 1 else np.vstack([V, np.eye(V.shape[1])[:1]])
    signs = np.sign(pair[np.arange(2), np.argmax(np.abs(pair), axis=1)])
    u, v = pair * signs[:, None]
    return u, v


def _widened(values: Floats) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    room = EDGE * (high - low) or 1.0
    return low - room, high + room
