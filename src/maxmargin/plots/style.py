"""The style of the plots: colours that can be told apart by everyone and in print, and plain axes.

The colours are those of Okabe and Ito. Classes also differ in their markers, lines in their dashes.
Nothing here changes matplotlib's global settings: every display draws inside ``rc``.
"""

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from textwrap import wrap
from typing import Any

import numpy as np

INK = "#222222"
PALE = "#9a9a9a"
CLASS_COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#f0e442",
    "#000000",
)
MARKERS = "os^Dv<>P"
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))
SETTINGS = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.labelsize": 9.5,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "legend.fontsize": 8.5,
    "legend.framealpha": 0.85,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "figure.dpi": 200,
    "svg.hashsalt": "maxmargin",
}
LONGEST, INCH_PER_LETTER = 28, 0.06
"""Longest name in a legend, in letters, and the approximate width of a letter, in inches."""
ROOM = 1.08
"""A legend may be this much wider than the axes are before they are laid out."""
FEWEST = 20
"""Smallest number of letters in a line of a title."""


def pyplot() -> Any:
    """Return matplotlib.pyplot, or raise an error that says how to install it."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as missing:
        raise ImportError(
            "The plots of maxmargin need matplotlib: pip install 'maxmargin[plots]'."
        ) from missing
    return plt


def rc() -> AbstractContextManager[None]:
    """Return a context with the settings above."""
    return pyplot().rc_context(SETTINGS)  # type: ignore[no-any-return]


def figure(
    rows: int = 1, columns: int = 1, size: tuple[float, float] | None = None, **ratios: Any
) -> tuple[Any, Any]:
    """Return a new figure and its axes, laid out so that no text is cut or overlaps."""
    with rc():
        return pyplot().subplots(  # type: ignore[no-any-return]
            rows,
            columns,
            figsize=size or (4.6 * columns, 3.9 * rows),
            layout="constrained",
            gridspec_kw=ratios or None,
        )


def colour(k: int) -> str:
    """Return the colour of the k-th class or line."""
    return CLASS_COLOURS[k % len(CLASS_COLOURS)]


def paler(colours: Sequence[str], share: float = 0.72) -> list[tuple[float, float, float]]:
    """Return the colours mixed with white, for areas behind points."""
    from matplotlib.colors import to_rgb

    mixed = [tuple(share + (1 - share) * part for part in to_rgb(c)) for c in colours]
    return mixed  # type: ignore[return-value]


def dots(ax: Any, points: Any, k: int, size: float, label: str, **style: Any) -> None:
    """Draw points in the colour and with the marker of the k-th class."""
    style = {"marker": MARKERS[(k + k // len(MARKERS)) % len(MARKERS)], "linewidths": 0.5, **style}
    ax.scatter(*points.T, s=size, c=colour(k), edgecolors="white", label=label, **style)


def rings(ax: Any, points: Any, size: float, label: str, **style: Any) -> None:
    """Draw rings around points; the legend shows their number."""
    style = {"facecolors": "none", "edgecolors": INK, "linewidths": 0.9, **style}
    ax.scatter(*points.T, s=size, label=f"{label} ({len(points)})", **style)


def heat_map(
    ax: Any,
    values: Any,
    label: str,
    room: float,
    *,
    edges: tuple[Any, Any] | None = None,
    others: Sequence[float] = (),
    **options: Any,
) -> None:
    """Draw a matrix in colours, with a colour bar; edges are those of its columns and rows.

    The colours span the values, and others that are drawn in them. If these differ by rounding
    only, they span room on both sides: a colour bar over the range alone would show noise.
    """
    known = np.asarray([*np.asarray(values)[np.isfinite(values)], *others])
    least, most = known.min(initial=np.inf), known.max(initial=-np.inf)
    if not known.size:
        least, most = 0.0, 0.0
    if most - least <= 1e-9 * max(abs(least), abs(most)):
        least, most = least - room, most + room
    options |= {"vmin": least, "vmax": most, "cmap": "cividis"}
    if edges is None:
        image = ax.imshow(values, **options)
    else:
        image = ax.pcolormesh(*edges, np.ma.masked_invalid(values), **options)
    ax.figure.colorbar(image, ax=ax, label=label)


def legend_outside(ax: Any, title: str = "", columns: int = 4) -> None:
    """Put a legend above the axes, in as many columns as fit, and the title above it."""
    handles, labels = ax.get_legend_handles_labels()
    labels = [label if len(label) <= LONGEST else label[: LONGEST - 1] + "…" for label in labels]
    room = ROOM * ax.get_position().width * ax.figure.bbox.width
    for count in range(min(columns, len(labels)), 0, -1):
        shown = ax.legend(
            handles,
            labels,
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            ncols=count,
            frameon=False,
            borderaxespad=0.2,
            columnspacing=1.2,
        )
        if shown.get_window_extent().width <= room:
            break
    titled(ax, title)


def titled(ax: Any, title: str) -> None:
    """Put a title above the axes and their legend, broken into lines that fit."""
    legend = ax.get_legend()
    rows = -(-len(legend.get_texts()) // legend._ncols) if legend is not None else 0
    room = ax.get_position().width * ax.figure.bbox.width
    for letters in range(int(room / (INCH_PER_LETTER * ax.figure.dpi)), FEWEST - 1, -2):
        lines = [
            line
            for part in title.split("\n")
            for line in wrap(part, letters + len(part) - _letters(part))
        ]
        drawn = ax.set_title("\n".join(lines), pad=7 + 16 * rows)
        if drawn.get_window_extent().width <= room:
            return


def class_names(classes: Any) -> list[str]:
    """Return names of classes for a legend: "class 1" for a number, a word as it is."""
    return [c if isinstance(c, str) else f"class {_plain(c)}" for c in classes]


def _plain(label: Any) -> Any:
    """Return a label as people write it: 1, not 1.0."""
    return int(label) if isinstance(label, float) and label.is_integer() else label


def _letters(text: str) -> int:
    """Return the number of drawn letters; a command of a formula is one letter."""
    return len(re.sub(r"\\[a-zA-Z]+", "x", text).replace("$", ""))
