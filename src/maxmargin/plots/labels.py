"""Texts beside points and on lines, each where it covers the least.

``beside`` tries places around a point, from near to far, and takes the first of those whose box
covers the fewest points and texts. ``on_lines`` writes on a contour where points are farthest.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from maxmargin.core.arrays import Floats

DISTANCES = (6.0, 12.0, 20.0)
"""Distances of a text from its point that are tried, in typographic points."""
DIRECTIONS = [(1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1), (0, 1), (0, -1)]
DOT = 3.5
"""Half the side of a point on the picture, in typographic points."""
FAR = 30.0
"""An area that a text covers counts as much as this many times its distance from the point."""
BORDER = 0.12
"""No line is named within this fraction of the axes' width from their edge."""
APART = 30.0
"""Least distance between two names of lines, in typographic points."""


def beside(ax: Any, points: Floats, texts: Sequence[str], others: Floats, **style: Any) -> None:
    """Write a text beside each point, away from the other points and texts.

    Parameters
    ----------
    ax : matplotlib axes, complete but for these texts: their layout decides the places.
    points : ndarray of shape (n, 2)
    texts : one for each point.
    others : ndarray of shape (m, 2)
        Points that a text must not cover.
    **style : of the texts.
    """
    from matplotlib.patheffects import withStroke

    figure = ax.figure
    figure.draw_without_rendering()
    unit = figure.dpi / 72.0
    room = ax.get_window_extent()
    dots = ax.transData.transform(np.vstack([others, points]))
    taken = [_box(centre, 0, 0, 2 * DOT * unit, 2 * DOT * unit) for centre in dots]
    taken += [text.get_window_extent().extents for text in ax.texts]
    edge = [room.x0, room.y0, room.x1, room.y1]
    for point, words in zip(points, texts, strict=True):
        shown = ax.annotate(
            words, point, (0, 0), textcoords="offset points", va="center", ha="center", **style
        )
        shown.set_path_effects([withStroke(linewidth=2, foreground="white", alpha=0.8)])
        size = shown.get_window_extent()
        centre = ax.transData.transform(point)
        least, place, chosen = np.inf, (0.0, 0.0), taken[0]
        for distance in DISTANCES:
            for right, up in DIRECTIONS:
                shift_x = right * (distance * unit + size.width / 2)
                shift_y = up * (distance * unit + size.height / 2)
                box = _box(centre, shift_x, shift_y, size.width, size.height)
                covered = sum(_shared(box, one) for one in taken)
                covered += size.width * size.height - _shared(box, edge) + FAR * distance * unit
                if covered < least - 1.0:
                    least, place, chosen = covered, (shift_x / unit, shift_y / unit), box
        shown.set_position(place)
        taken.append(chosen)


def on_lines(ax: Any, contours: Any, names: Mapping[float, str], others: Floats) -> None:
    """Name the lines of a contour set, far from points and from each other.

    A line without room for its name gets none.

    Parameters
    ----------
    ax : matplotlib axes with their limits set.
    contours : ContourSet
    names : dict of level to text
    others : ndarray of shape (m, 2)
        Points to stay away from.
    """
    ax.apply_aspect()
    room, unit = ax.get_window_extent(), ax.figure.dpi / 72.0
    dots, placed = ax.transData.transform(others), np.zeros((0, 2))
    places = []
    for path in contours.get_paths():
        if not len(path.vertices):
            continue
        at = ax.transData.transform(path.interpolated(4).vertices)
        share = (at - [room.x0, room.y0]) / [room.width, room.height]
        at = at[((share > BORDER) & (share < 1 - BORDER)).all(axis=1)]
        far = _nearest(at, placed) >= APART * unit
        if not far.any():
            continue
        chosen = at[far][np.argmax(_nearest(at[far], dots))]
        placed = np.vstack([placed, chosen])
        places.append(tuple(ax.transData.inverted().transform(chosen)))
    if places:
        written = ax.clabel(contours, fmt=dict(names), manual=places, inline=False, fontsize=8)
        for text in written:
            text.set_bbox({"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.8})


def _box(centre: Floats, right: float, up: float, width: float, height: float) -> list[float]:
    """Return left, bottom, right and top of a box whose middle is shifted from a centre."""
    x, y = centre[0] + right, centre[1] + up
    return [x - width / 2, y - height / 2, x + width / 2, y + height / 2]


def _shared(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the area that two boxes share."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return max(width, 0.0) * max(height, 0.0)


def _nearest(points: Floats, others: Floats) -> Floats:
    """Return the distance of each point to the nearest of the others."""
    apart = np.linalg.norm(points[:, None] - others[None], axis=2)
    least: Floats = apart.min(axis=1, initial=1e9)
    return least
