"""The searched surface of AutoSVC and AutoSVR: how far each candidate stays behind the best.

Scores grow with the number of samples, and a search tries some candidates on few samples and others
on all. So a candidate is compared with the best one on the same samples with the same kernel:

    deficit = best mean score on these samples - mean score

which is 0 for the best of each stage and can be drawn in one picture.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.interpolate import LinearNDInterpolator

from maxmargin.core.arrays import Floats
from maxmargin.model_selection.trials import Trial
from maxmargin.plots.display import Display
from maxmargin.plots.style import CLASS_COLOURS, INK, colour, legend_outside, titled

MOST = 0.1
"""Deficits beyond this are drawn in the last colour."""
FINE = 100
"""Points of each axis at which the surface between the candidates is computed."""


class Point(NamedTuple):
    """One candidate: parameters, the samples it was tried on, its score."""

    C: float
    gamma: float
    samples: int
    mean: float
    error: float
    deficit: float
    certified: bool


@dataclass(eq=False, repr=False)
class SurfaceDisplay(Display):
    """Scores of the candidates of a search within a time.

    Parameters
    ----------
    linear, rbf : list of Point
        The candidates of each kernel; an empty list has no panel.
    chosen : Point
        The candidate that was fitted.
    kernel : str
        Its kernel.
    score_name : str

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from maxmargin.model_selection import AutoSVC
    >>> from maxmargin.plots import SurfaceDisplay
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> shown = SurfaceDisplay.from_report(AutoSVC(time_budget=20).fit(X, y).report_)
    >>> plt.show()
    """

    linear: list[Point]
    rbf: list[Point]
    chosen: Point
    kernel: str
    score_name: str = "score"

    @classmethod
    def from_report(cls, report: Any, *, ax: Any = None) -> "SurfaceDisplay":
        """Draw what a fit of AutoSVC or AutoSVR tried.

        Parameters
        ----------
        report : AutoReport or fitted estimator with ``report_``
        ax : matplotlib axes, or an array of them for both kernels, default=None

        Returns
        -------
        SurfaceDisplay
        """
        report = getattr(report, "report_", report)
        points = {kernel: _points(report.trials, kernel) for kernel in ("linear", "rbf")}
        if not any(points.values()):
            raise ValueError("Nothing was scored in the time, so nothing can be drawn.")
        own = report.chosen.parameters
        chosen = next(
            point
            for point in points[report.chosen.kernel]
            if (point.C, point.gamma, point.samples)
            == (own["C"], own.get("gamma", 0.0), report.chosen.samples)
        )
        return cls(
            points["linear"], points["rbf"], chosen, report.chosen.kernel, report.score_name
        ).plot(ax)

    def _panels(self) -> tuple[Any, ...]:
        count = bool(self.linear) + bool(self.rbf)
        return (1, count, (3.9 if count == 1 and self.linear else 4.4 * count, 3.6))

    def _draw(self, ax: Any) -> None:
        axes = list(np.ravel(ax))
        wanted = bool(self.linear) + bool(self.rbf)
        if len(axes) != wanted:
            raise ValueError(
                f"This search needs {wanted} axes, one for each kernel; got {len(axes)}."
            )
        if self.linear:
            self._draw_linear(axes[0])
        if self.rbf:
            self._draw_rbf(axes[-1])

    def _draw_linear(self, ax: Any) -> None:
        """Scores along C with their standard errors, a line for each number of samples."""
        for k, samples in enumerate(sorted({point.samples for point in self.linear})):
            some = sorted(point for point in self.linear if point.samples == samples)
            C, mean, error = (np.array([getattr(p, n) for p in some]) for n in _CURVE)
            style = {"color": colour(k), "marker": "osv^D"[k % 5], "capsize": 2}
            ax.errorbar(C, mean, np.nan_to_num(error), label=f"{samples:,} samples", **style)
        if self.kernel == "linear":
            self._mark(ax, self.chosen.C, self.chosen.mean)
        ax.set(xscale="log", xlabel="C", ylabel=self.score_name)
        legend_outside(ax, "linear kernel")

    def _draw_rbf(self, ax: Any) -> None:
        """Deficits over C and gamma; large points were tried on more samples."""
        points = sorted(self.rbf, key=lambda point: point.samples)
        C, gamma = (np.array([getattr(p, name) for p in points]) for name in ("C", "gamma"))
        deficit = np.minimum([point.deficit for point in points], 1.02 * self._most())
        samples = np.array([point.samples for point in points])
        limits = {"vmin": 0.0, "vmax": max(self._most(), 1e-9), "cmap": "cividis_r"}
        self._fill(ax, C, gamma, deficit, limits)
        sizes = 18 + 50 * np.sqrt(samples / samples.max())
        sure = np.array([point.certified for point in points])
        for marker, some in (("o", sure), ("X", ~sure)):
            shown = ax.scatter(
                C[some],
                gamma[some],
                s=sizes[some],
                c=deficit[some],
                marker=marker,
                edgecolors="white",
                linewidths=0.6,
                **limits,
            )
        if self.kernel == "rbf":
            self._mark(ax, self.chosen.C, self.chosen.gamma)
        ax.set(xscale="log", yscale="log", xlabel="C", ylabel=r"$\gamma$")
        ax.set_xlim(C.min() / 1.6, C.max() * 1.6)
        ax.set_ylim(gamma.min() / 1.6, gamma.max() * 1.6)
        label = f"{self.score_name} below the best"
        ax.figure.colorbar(shown, ax=ax, label=label, extend="max")
        note = "" if sure.all() else "; crosses: a fit did not converge"
        several = samples.min() < samples.max()
        sizes_note = f"large points: {samples.max():,} samples" if several else ""
        titled(ax, "\n".join(filter(None, ["RBF kernel", sizes_note + note])))

    def _most(self) -> float:
        """The greatest deficit that has a colour of its own."""
        return min(MOST, max((point.deficit for point in self.rbf), default=0.0))

    def _fill(self, ax: Any, C: Floats, gamma: Floats, deficit: Floats, limits: Any) -> None:
        """The surface between the points, from the value on most samples at each."""
        latest = {(float(c), float(g)): float(d) for c, g, d in zip(C, gamma, deficit, strict=True)}
        place = np.array(list(latest))
        if len({c for c, _ in latest}) < 2 or len({g for _, g in latest}) < 2:
            return
        between = LinearNDInterpolator(np.log10(place), np.array(list(latest.values())))
        x, y = (np.log10(np.geomspace(axis.min(), axis.max(), FINE)) for axis in place.T)
        values = between(*np.meshgrid(x, y))
        levels = np.linspace(0.0, limits["vmax"], 11)
        ax.contourf(10**x, 10**y, values, levels=levels, alpha=0.55, extend="max", **limits)

    def _mark(self, ax: Any, x: float, y: float) -> None:
        """A ring around the chosen candidate."""
        style = {"facecolors": "none", "edgecolors": CLASS_COLOURS[1], "linewidths": 2.0}
        ax.scatter([x], [y], s=190, zorder=5, **style)
        ax.annotate(
            "chosen", (x, y), xytext=(9, 9), textcoords="offset points", color=INK, fontsize=8.5
        )


_CURVE = ("C", "mean", "error")


def _points(trials: tuple[Trial, ...], kernel: str) -> list[Point]:
    """The scored candidates of a kernel, the best over epsilon at each place."""
    scored = [one for one in trials if one.kernel == kernel and one.done]
    best: dict[int, float] = {}
    for one in scored:
        best[one.samples] = max(best.get(one.samples, -np.inf), one.mean)
    found: dict[tuple[float, float, int], Point] = {}
    for one in scored:
        C, gamma = one.parameters["C"], one.parameters.get("gamma", 0.0)
        deficit = best[one.samples] - one.mean
        point = Point(C, gamma, one.samples, one.mean, one.error, deficit, one.certified)
        place = (C, gamma, one.samples)
        if place not in found or found[place].deficit > deficit:
            found[place] = point
    return list(found.values())
