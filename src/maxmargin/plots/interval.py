"""Prediction intervals: over the samples, and the share that they cover at every confidence.

The left panel shows intervals of one confidence, along a feature or in the order of the
predictions. The right panel shows for each confidence which share of the targets lies inside, with
a band for the number of these samples (shares.py); chance in the samples of the fit adds to it.
Intervals that keep their word lie on the diagonal, or a little above it. A share of all samples
says nothing about parts of them: an even width over uneven noise shows on the left.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length, column_or_1d

from maxmargin.core.arrays import Floats, Mask
from maxmargin.estimators.records import interval_of
from maxmargin.plots.display import Display
from maxmargin.plots.plane import dense, feature_names
from maxmargin.plots.shares import diagonal, percent, share_band
from maxmargin.plots.style import CLASS_COLOURS, PALE, legend_outside, paler

LEVELS = np.concatenate([np.arange(0.05, 0.95, 0.05), [0.95, 0.98]])
"""Confidences of the right panel; fewer where the fit had too few samples for the greatest."""


@dataclass(eq=False, repr=False)
class IntervalDisplay(Display):
    """Prediction intervals and their coverage.

    Parameters
    ----------
    x : ndarray of shape (n_samples,)
        Places on the horizontal axis.
    y, prediction : ndarray of shape (n_samples,)
        Targets, and what was predicted.
    interval : ndarray of shape (n_samples, 2)
        Lower and upper ends.
    confidence : float
        Of these intervals.
    levels, coverage : ndarray of shape (n_levels,)
        Confidences, and the shares of the targets inside intervals of these.
    name : str
        Name of the horizontal axis.

    See Also
    --------
    TubeDisplay : the tube of a regression, which is no interval.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from maxmargin import SVR
    >>> from maxmargin.plots import IntervalDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 6, size=(150, 1))
    >>> y = np.sin(X[:, 0]) + 0.2 * rng.normal(size=150)
    >>> model = SVR(C=10, interval=True).fit(X[:100], y[:100])
    >>> shown = IntervalDisplay.from_estimator(model, X[100:], y[100:])
    >>> plt.show()
    """

    x: Floats
    y: Floats
    prediction: Floats
    interval: Floats
    confidence: float
    levels: Floats
    coverage: Floats
    name: str = "samples, in the order of the predictions"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        confidence: float = 0.9,
        feature: int | None = None,
        name: str | None = None,
        ax: Any = None,
    ) -> "IntervalDisplay":
        """Draw the intervals of a fitted regression for samples that it has not seen.

        Parameters
        ----------
        estimator : SVR or NuSVR fitted with ``interval=True``, or a pipeline or search of one
            Any other estimator with ``predict_interval(X, confidence)``, too.
        X, y : the samples, which should not be those of the fit.
        confidence : float, default=0.9
            Of the intervals in the left panel.
        feature : int, default=None
            The feature on the horizontal axis; by default the only one, or none: samples are shown
            in the order of the predictions.
        name : str, default=None
            Name of that feature; by default the column of a data frame.
        ax : array of two matplotlib axes, default=None

        Returns
        -------
        IntervalDisplay
        """
        t, data = column_or_1d(y).astype(float), dense(X)
        check_consistent_length(data, t)
        if feature is None and data.shape[1] == 1:
            feature = 0
        prediction, place = np.asarray(estimator.predict(X)), np.arange(len(t), dtype=float)
        if feature is None:
            at, name = np.argsort(prediction, kind="stable"), cls.name
        else:
            at = np.argsort(data[:, feature], kind="stable")
            place, column = data[at, feature], f"feature {feature}"
            name = name or (feature_names(X)[feature] if hasattr(X, "columns") else column)
        interval = interval_of(estimator, X, confidence)[at]
        greatest = _greatest(estimator)
        levels = np.array([level for level in LEVELS if level <= greatest])
        coverage = inside(interval_of(estimator, X, levels), t).mean(axis=1)
        shown = place, t[at], prediction[at], interval, float(confidence)
        return cls(*shown, levels, coverage, name).plot(ax)

    def _panels(self) -> tuple[Any, ...]:
        return (1, 2, (9.2, 4.1))

    def _draw(self, ax: Any) -> None:
        left, right = _two(ax)
        self._draw_intervals(left)
        self._draw_coverage(right)

    def _draw_intervals(self, ax: Any) -> None:
        blue, orange = CLASS_COLOURS[:2]
        low, high = self.interval.T
        good, style = inside(self.interval, self.y), {"linewidths": 0.0, "zorder": 3}
        label = f"{percent(self.confidence)} intervals"
        ax.fill_between(self.x, low, high, color=paler([blue], 0.8)[0], linewidth=0, label=label)
        ax.plot(self.x, self.prediction, color=blue, linewidth=1.1, label="prediction")
        ax.scatter(self.x[good], self.y[good], s=9, c=PALE, label="inside", **style)
        shown = f"outside ({int((~good).sum())})"
        ax.scatter(self.x[~good], self.y[~good], s=15, c=orange, marker="D", label=shown, **style)
        ax.set(xlabel=self.name, ylabel="target")
        ax.margins(x=0.02)
        share = f"{percent(good.mean())} of {len(good):,} targets lie inside"
        legend_outside(ax, share, columns=2)

    def _draw_coverage(self, ax: Any) -> None:
        blue, total = CLASS_COLOURS[0], len(self.y)
        low, high = share_band(np.round(self.coverage * total), total)
        diagonal(ax, "share = confidence")
        pale = paler([blue], 0.8)[0]
        label = f"95 % band of {total:,} samples"
        ax.fill_between(self.levels, low, high, color=pale, linewidth=0, label=label)
        ax.plot(self.levels, self.coverage, "o-", color=blue, markersize=3, label="share inside")
        ax.set(xlabel="confidence", ylabel="share of the targets inside")
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        ax.set_aspect("equal")
        legend_outside(ax, "Coverage at every confidence", columns=2)


def inside(interval: Floats, y: Floats) -> Mask:
    """Whether targets lie in their intervals; of several confidences, one row each."""
    found: Mask = (interval[..., 0] <= y) & (y <= interval[..., 1])
    return found


def _greatest(estimator: Any) -> float:
    """The greatest confidence of finite intervals, where it is known."""
    last = getattr(estimator, "best_estimator_", estimator)
    last = last[-1] if hasattr(last, "steps") else last
    folds = getattr(getattr(last, "model_", None), "folds", None)
    return 1.0 if folds is None else 1 - 1 / (float(folds.weight.sum()) + 1)


def _two(ax: Any) -> Any:
    """The two axes that were given."""
    found = np.ravel(ax)
    if len(found) != 2:
        raise ValueError(f"IntervalDisplay has two panels and needs two axes, got {len(found)}.")
    return found
