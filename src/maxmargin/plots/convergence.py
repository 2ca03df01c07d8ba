"""Convergence: the duality gap of several solvers over iterations or over time."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(eq=False, repr=False)
class ConvergenceDisplay(Display):
    """Curves that fall towards zero.

    Parameters
    ----------
    curves : list of Curve
    xlabel, ylabel : str

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from maxmargin import textbook
    >>> from maxmargin.plots import ConvergenceDisplay
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> model, trace = textbook.smo(X, 2 * y - 1, C=10, kernel=textbook.kernels.rbf(1.0))
    >>> shown = ConvergenceDisplay.from_traces(trace)
    >>> plt.show()
    """

    curves: Sequence[Curve]
    xlabel: str
    ylabel: str

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
            least = np.minimum.accumulate(np.array(gaps)[order])
            curves.append(Curve(name, np.array(seconds)[order], least))
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
            name = trace.name or "This trace"
            if not len(trace):
                raise ValueError(f"{name} keeps no steps: train with trace=1.")
            error = trace.column("gap") if best is None else trace.column("primal") - best
            if not np.isfinite(error).any():
                raise ValueError(f"{name} has no dual: give best, the optimal objective.")
            iterations = trace.column("iteration") + 1.0
            curves.append(Curve(trace.name, iterations, np.maximum(error, 1e-16)))
        ylabel = "primal - dual" if best is None else "primal - optimum"
        return cls(curves, "iteration", ylabel).plot(ax)

    def _draw(self, ax: Any) -> None:
        for k, curve in enumerate(self.curves):
            marker = MARKERS[k % len(MARKERS)] if len(curve.x) <= 20 else None
            style = {"color": colour(k), "linestyle": DASHES[k % len(DASHES)], "marker": marker}
            ax.plot(curve.x, curve.y, label=curve.name, **style)
        ax.set(xscale="log", yscale="log", xlabel=self.xlabel, ylabel=self.ylabel)
        ax.grid(True, linewidth=0.4, alpha=0.5)
        legend_outside(ax, columns=2)
