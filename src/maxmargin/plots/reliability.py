"""Reliability of probabilities: what was predicted against what happened.

Samples are sorted by a predicted probability and cut into bins of as many samples each. For each
bin the share of samples for which the event happened is drawn over the mean probability, with a
band for the number of samples (shares.py); below are the probabilities themselves. Probabilities
that keep their word lie on the diagonal, within their bands.

With two classes the event is the second class. With more it is that the most probable class is
right. scikit-learn's CalibrationDisplay draws the curve alone, for two classes.

    Brier score = mean of (p - event)^2        log loss = - mean of log p(class that occurred)
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length, column_or_1d

from maxmargin.core.arrays import Floats, Integers, Mask
from maxmargin.plots.display import Display
from maxmargin.plots.shares import diagonal, share_band
from maxmargin.plots.style import CLASS_COLOURS, class_names, legend_outside, paler

FEWEST = 10
"""Samples of a bin, at least."""


@dataclass(eq=False, repr=False)
class ReliabilityDisplay(Display):
    """A reliability curve above a histogram of the probabilities.

    Parameters
    ----------
    probability : ndarray of shape (n_samples,)
        Predicted probability of the event.
    event : ndarray of bool of shape (n_samples,)
        Whether it happened.
    scores : str
        For the title.
    what : str
        Name of the event.
    sides : pair of str
        What the histogram calls samples for which it did not happen, and for which it did.
    n_bins : int

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from maxmargin import SVC
    >>> from maxmargin.plots import ReliabilityDisplay
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(400, noise=0.35, random_state=0)
    >>> model = SVC(probability=True).fit(X[:200], y[:200])
    >>> shown = ReliabilityDisplay.from_estimator(model, X[200:], y[200:])
    >>> plt.show()
    """

    probability: Floats
    event: Mask
    scores: str = ""
    what: str = "event"
    sides: tuple[str, str] = ("no", "yes")
    n_bins: int = 10

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, n_bins: int = 10, ax: Any = None
    ) -> "ReliabilityDisplay":
        """Draw the probabilities of a fitted classifier for samples that it has not seen.

        Parameters
        ----------
        estimator : fitted classifier with ``predict_proba``
        X, y : the samples, which should not be those of the fit.
        n_bins : int, default=10
            Bins at most; each holds at least ten samples.
        ax : array of two matplotlib axes, default=None

        Returns
        -------
        ReliabilityDisplay
        """
        if not hasattr(estimator, "predict_proba"):
            raise ValueError(
                f"{type(estimator).__name__} has no predict_proba: fit it with probability=True, "
                "if it has this parameter."
            )
        p = estimator.predict_proba(X)
        return cls.from_predictions(y, p, classes=estimator.classes_, n_bins=n_bins, ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        p: ArrayLike,
        *,
        classes: ArrayLike | None = None,
        n_bins: int = 10,
        ax: Any = None,
    ) -> "ReliabilityDisplay":
        """Draw given probabilities, such as those of ``cross_val_predict``.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            The classes that occurred.
        p : array-like of shape (n_samples, n_classes)
            Probabilities of all classes.
        classes : array-like of shape (n_classes,), default=None
            The columns of p; by default the sorted values of y.
        n_bins : int, default=10
        ax : array of two matplotlib axes, default=None

        Returns
        -------
        ReliabilityDisplay
        """
        label, p = column_or_1d(y), np.asarray(p, float)
        check_consistent_length(label, p)
        names = np.unique(label) if classes is None else np.asarray(classes)
        if p.ndim != 2 or p.shape[1] != len(names) or len(names) < 2:
            raise ValueError(
                f"p must have a column for each of {len(names)} classes, at least two; got shape "
                f"{p.shape}. Name the classes of the columns if y lacks some."
            )
        place = np.searchsorted(names, label)
        if (names[np.minimum(place, len(names) - 1)] != label).any():
            raise ValueError(f"y has classes that p has no column for: {names.tolist()} are known.")
        rows = np.arange(len(label))
        if len(names) == 2:
            probability, event, sides = p[:, 1], place == 1, class_names(names)
            what = f"of {sides[1]}"
        else:
            probability, event, sides = p.max(axis=1), p.argmax(axis=1) == place, ["wrong", "right"]
            what = "of the most probable class"
        brier = float(np.mean((probability - event) ** 2))
        loss = -float(np.mean(np.log(np.maximum(p[rows, place], np.finfo(float).tiny))))
        scores = f"Brier score {brier:.4f}, log loss {loss:.3f}"
        pair = (sides[0], sides[1])
        return cls(probability, np.asarray(event), scores, what, pair, n_bins).plot(ax)

    def bins(self) -> list[Integers]:
        """The samples of each bin, in the order of their probabilities."""
        count = max(1, min(self.n_bins, len(self.event) // FEWEST))
        return np.array_split(np.argsort(self.probability, kind="stable"), count)

    def _panels(self) -> tuple[Any, ...]:
        return (2, 1, (4.6, 5.6))

    def _draw(self, ax: Any) -> None:
        found = np.ravel(ax)
        if len(found) != 2:
            raise ValueError(
                f"ReliabilityDisplay has two panels and needs two axes, got {len(found)}."
            )
        self._draw_curve(found[0])
        self._draw_histogram(found[1])
        found[0].get_gridspec().set_height_ratios([3, 1])

    def _draw_curve(self, ax: Any) -> None:
        blue, parts = CLASS_COLOURS[0], self.bins()
        x = np.array([self.probability[part].mean() for part in parts])
        count, total = np.array([(self.event[part].sum(), len(part)) for part in parts]).T
        low, high = share_band(count, total)
        share = count / total
        diagonal(ax, "share = probability")
        label = f"{len(parts)} bins of {total.mean():.0f} samples"
        style = {"color": blue, "markersize": 4.5, "capsize": 2.5, "elinewidth": 1.0}
        ax.errorbar(x, share, [share - low, high - share], fmt="o", label=label, **style)
        ax.plot(x, share, color=blue, linewidth=1.1)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), ylabel="share, with its 95 % band")
        ax.set_xticklabels([])
        legend_outside(ax, self.scores, columns=2)

    def _draw_histogram(self, ax: Any) -> None:
        sides = [self.probability[~self.event], self.probability[self.event]]
        colours, edges = [CLASS_COLOURS[1], CLASS_COLOURS[0]], np.linspace(0, 1, 21)
        style = {"stacked": True, "histtype": "stepfilled"}
        ax.hist(sides, edges, color=paler(colours, 0.35), label=list(self.sides), **style)
        ax.set(xlim=(-0.02, 1.02), xlabel=f"probability {self.what}", ylabel="samples")
        ax.legend(loc="upper center", ncols=2, frameon=False)
