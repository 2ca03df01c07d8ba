"""An animation of an algorithm at work on data in the plane.

The upper panel shows the decision boundary y(x) = 0 and the margins y(x) = +-1 of each kept step;
rings mark the points that the step moved. The lower panel shows the objectives. SMO's boundary
settles while the gap closes from both sides; that of Pegasos trembles less and less.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.plots.plane import Plane
from maxmargin.plots.style import CLASS_COLOURS, INK, dots, figure, legend_outside, pyplot, titled
from maxmargin.textbook.trace import Trace

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation

RESOLUTION = 80


def animate(
    trace: Trace, path: str | Path | None = None, frames: int = 60, fps: int = 10
) -> "FuncAnimation":
    """Animate a trace and write the animation to a file.

    Parameters
    ----------
    trace : trace of a classifier on data with two features, with at least two kept steps.
    path : file to write; ``.gif`` needs Pillow, which comes with matplotlib, ``.mp4`` needs the
        program ffmpeg. None writes nothing.
    frames : largest number of steps to show, evenly spaced on a logarithmic scale: the first steps
        change the most.
    fps : frames per second.

    Returns
    -------
    matplotlib.animation.FuncAnimation
        In a notebook: ``HTML(animation.to_jshtml())``.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X = [[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]]
    >>> model, trace = textbook.smo(X, [-1, -1, 1, 1])
    >>> film = textbook.animate(trace, "smo.gif", frames=3)
    """
    if trace.X is None or trace.y is None or trace.model_at is None or trace.X.shape[1] != 2:
        raise ValueError("animate needs the trace of a classifier on data with two features.")
    if len(trace) < 2:
        raise ValueError(
            f"This trace keeps {len(trace)} steps, an animation needs two: train with trace=1 (a "
            "quadratic program has one)."
        )
    writer = _writer(Path(path), fps) if path is not None else None
    from matplotlib.animation import FuncAnimation

    if frames < 1:
        raise ValueError(f"frames={frames} must be at least 1.")
    chosen = np.unique(np.geomspace(1, len(trace), frames).round().astype(int)) - 1
    drawing, (plane_axes, curve_axes) = figure(2, 1, size=(5.6, 6.4), height_ratios=(3, 1))
    _points(plane_axes, trace)
    plane = Plane.of(trace.X)
    _curves(curve_axes, trace)
    mark = curve_axes.axvline(0, color=INK, linewidth=1)
    drawn: list[Any] = []

    def show(frame: int) -> list[Any]:
        step = trace.steps[chosen[frame]]
        for artist in drawn:
            artist.remove()
        drawn.clear()
        u, v, grid = plane.grid(RESOLUTION)
        values = trace.model_at(step).decision_function(grid).reshape(u.shape)  # type: ignore[misc]
        if values.min() < 0 < values.max():
            lines = {"levels": [-1, 0, 1], "colors": INK, "linestyles": ["--", "-", "--"]}
            drawn.append(plane_axes.contour(u, v, values, **lines))
        moved = trace.X[list(step.chosen)[:50]]  # type: ignore[index]
        rings = {"s": 160, "facecolors": "none", "edgecolors": INK, "linewidths": 2}
        drawn.append(plane_axes.scatter(*moved.T, **rings))
        titled(plane_axes, f"{trace.name}: step {step.iteration}")
        mark.set_xdata([step.iteration, step.iteration])
        return drawn

    film = FuncAnimation(drawing, show, frames=len(chosen), interval=1000 / fps)
    if writer is not None:
        film.save(str(path), writer=writer)
        pyplot().close(drawing)
    return film


def _points(ax: Any, trace: Trace) -> None:
    """The data, in the colours of their classes."""
    for k, sign in enumerate((-1, 1)):
        dots(ax, trace.X[trace.y == sign], k, 36, f"t = {sign:+d}")  # type: ignore[index]
    ax.set(xlabel="$x_1$", ylabel="$x_2$")
    legend_outside(ax)


def _curves(ax: Any, trace: Trace) -> None:
    """The primal objective and, if there is one, the dual objective of each step."""
    iteration = trace.column("iteration")
    primal, dual = trace.column("primal"), trace.column("dual")
    ax.plot(iteration, primal, color=CLASS_COLOURS[0], label="primal")
    if np.isfinite(dual).any():
        ax.plot(iteration, dual, color=CLASS_COLOURS[1], label="dual")
    scale = "symlog" if primal.max() > 100 * max(primal.min(), 1e-300) else "linear"
    ax.set(xlabel="step", ylabel="objective", yscale=scale)
    ax.legend(loc="upper right")


def _writer(path: Path, fps: int) -> Any:
    """The writer for this kind of file."""
    from matplotlib import animation

    kinds: dict[str, Any] = {".gif": animation.PillowWriter, ".mp4": animation.FFMpegWriter}
    if path.suffix.lower() not in kinds:
        raise ValueError(f"{path.name}: give a file that ends in .gif or .mp4.")
    writer = kinds[path.suffix.lower()]
    if not writer.isAvailable():
        raise ValueError(
            f"No program here can write {path.suffix} files: "
            f"{'install ffmpeg' if path.suffix == '.mp4' else 'pip install pillow'}."
        )
    return writer(fps=fps)
