"""Convergence: the duality gap of several solvers over iterations or over time."""

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from maxmargin.core.arrays import Floats
from maxmargin.plots.display import Display
from maxmargin.plots.style import DASHES, MARKERS, colour, legend_outside


class Curve(NamedTuple):
    """One solver's progress."""

    name: str
    x: Floats
    y: Floats


class ConvergenceDisplay(Display):
    """Curves that fall towards zero.

    Parameters
    ----------
    curves : list of Curve
    xlabel, ylabel : str
    """

    def __init__(self, curves: Sequence[Curve], xlabel: str, ylabel: str) -> None:
        self.curves, self.xlabel, self.ylabel = curves, xlabel, ylabel

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, Any],
        X: ArrayLike,
        y: ArrayLike,
        *,
        tols: Sequence[float] | None = None,
        ax: Any = None,
    ) -> "ConvergenceDisplay":
        """Fit each estimator with decreasing tolerances; plot the relative gap over the seconds.

        Parameters
        ----------
        estimators : dict of name to estimator of maxmargin; they are cloned.
        X, y : the data.
        tols : sequence of float, default=1e-1 to 1e-8
        ax : matplotlib axes, default=None

        Returns
        -------
        ConvergenceDisplay
        """
        curves = []
        for name, estimator in estimators.items():
            seconds, gaps = [], []
            for tol in tols if tols is not None else 10.0 ** -np.arange(1, 9):
                model = clone(estimator).set_params(tol=float(tol))
                began = time.perf_counter()
                model.fit(X, y)
                seconds.append(time.perf_counter() - began)
                gaps.append(max(model.certificate_.relative_gap, 1e-16))
            order = np.argsort(seconds)
            curves.append(
                Curve(name, np.array(seconds)[order], np.minimum.accumulate(np.array(gaps)[order]))
            )
        return cls(curves, "seconds", "relative gap").plot(ax)

    @classmethod
    def from_traces(
        cls, *traces: Any, best: float | None = None, ax: Any = None
    ) -> "ConvergenceDisplay":
        """Show traces of ``maxmargin.textbook`` over their iterations.

        Parameters
        ----------
        *traces : Trace
        best : float, default=None
            The optimal objective. If given, the curve is primal - best, which also works for
            methods without a dual; otherwise it is primal - dual.
        ax : matplotlib axes, default=None

        Returns
        -------
        ConvergenceDisplay
        """
        curves = []
        for trace in traces:
            if not len(trace):
                raise ValueError(
                    f"{trace.name or 'This trace'} keeps no steps: train with trace=1."
                )
            error = trace.column("gap") if best is None else trace.column("primal") - best
            if not np.isfinite(error).any():
                raise ValueError(
                    f"{trace.name or 'This trace'} has no dual: give best, the optimal objective."
                )
            curves.append(
                Curve(trace.name, trace.column("iteration") + 1.0, np.maximum(error, 1e-16))
            )
        return cls(
            curves, "iteration", "primal - dual" if best is None else "primal - optimum"
        ).plot(ax)

    def _draw(self, ax: Any) -> None:
        for k, curve in enumerate(self.curves):
            marker = MARKERS[k % len(MARKERS)] if len(curve.x) <= 20 else None
            ax.plot(
                curve.x,
                curve.y,
                color=colour(k),
                linestyle=DASHES[k % len(DASHES)],
                marker=marker,
                label=curve.name,
            )
        ax.set(xscale="log", yscale="log", xlabel=self.xlabel, ylabel=self.ylabel)
        ax.grid(True, linewidth=0.4, alpha=0.5)
        legend_outside(ax, columns=2)
