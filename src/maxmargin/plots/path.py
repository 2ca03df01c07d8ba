"""The regularisation path: how the machine changes as C grows.

A multiplier a_i is at its bound C (on the diagonal), free, or zero. For a fixed kernel the path is
piecewise linear in C; the points leave the bound one after the other. Beside the multipliers, a
path shows the number of support vectors by kind, the width of the margin, the objective, the errors
and the gap that certifies each model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone, is_classifier

from maxmargin.core.arrays import Floats
from maxmargin.estimators import SVC, SVR
from maxmargin.model_selection import CPath, svc_path, svr_path
from maxmargin.plots.display import Display
from maxmargin.plots.style import DASHES, INK, PALE, class_names, colour, paler
from maxmargin.verdict import GAP

ZERO = 1e-6
"""Multipliers below this fraction of C count as zero and are not drawn."""
LEAST_GAP = 1e-12
"""Smaller relative gaps are rounding and are drawn here."""
PANELS = ("multipliers", "support", "margin", "objective", "error", "gap")


class Curves(NamedTuple):
    """The numbers of a path, one for each C."""

    free: NDArray[np.int64]
    bound: NDArray[np.int64]
    """Support vectors inside their bounds, and at them."""
    margin: Floats
    """1 / |w|, one column for each decision function."""
    objective: Floats
    errors: dict[str, Floats]
    """By the samples they are of."""
    error_name: str
    gap: Floats
    """Relative duality gaps."""
    demanded: float
    """The greatest relative gap of an optimal model."""


@dataclass(eq=False, repr=False)
class PathDisplay(Display):
    """Multipliers over C, and other numbers of the models along C.

    Parameters
    ----------
    C : ndarray of shape (n_values,)
    alpha : ndarray of shape (n_values, n_samples)
    positive : ndarray of bool of shape (n_samples,)
        Which points belong to the positive class, or lie above the function of a regression.
    names : pair of str
        Names of the negative and the positive class.
    curves : Curves, default=None
        What the panels other than "multipliers" show.
    panels : sequence of str, default=("multipliers",)
        What is shown: "multipliers", "support" vectors by kind, "margin" width 1/\\|w\\|,
        "objective", "error", relative "gap".

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from maxmargin.model_selection import svc_path
    >>> from maxmargin.plots import PathDisplay
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> shown = PathDisplay.from_path(svc_path(X, y, 20))
    >>> plt.show()
    """

    C: Floats
    alpha: Floats
    positive: NDArray[np.bool_]
    names: tuple[str, str]
    curves: Curves | None = None
    panels: Sequence[str] = ("multipliers",)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        C: Sequence[float] | None = None,
        ax: Any = None,
    ) -> "PathDisplay":
        """Fit a clone for each C and draw every multiplier.

        Parameters
        ----------
        estimator : binary ``SVC``, or ``SVR``; it is cloned.
        X, y : the data.
        C : sequence of float, default=60 values from 1e-3 to 1e3
        ax : matplotlib axes, default=None

        Returns
        -------
        PathDisplay
        """
        values = np.geomspace(1e-3, 1e3, 60) if C is None else np.asarray(C, float)
        if not isinstance(estimator, SVR):
            _refuse_several(len(np.unique(y)))
        if isinstance(estimator, SVC | SVR):
            fit = svc_path if isinstance(estimator, SVC) else svr_path
            path = fit(X, y, values, estimator=estimator)
            return cls(path.Cs, *_multipliers(path)).plot(ax)
        labels, classes = np.asarray(y), np.unique(y)
        alpha = np.zeros((len(values), len(labels)))
        for row, value in zip(alpha, values, strict=True):
            model = clone(estimator).set_params(C=float(value)).fit(X, y)
            row[model.support_] = np.abs(np.ravel(model.dual_coef_))
        first, second = class_names(classes)
        return cls(values, alpha, labels == classes[1], (first, second)).plot(ax)

    @classmethod
    def from_path(
        cls,
        path: CPath,
        X: Any = None,
        y: Any = None,
        *,
        panels: Sequence[str] | None = None,
        ax: Any = None,
    ) -> "PathDisplay":
        """Draw the path that ``svc_path`` or ``svr_path`` has found.

        Parameters
        ----------
        path : CPath
        X, y : default=None
            Samples that the models have not seen, for the validation error.
        panels : sequence of str, default=None
            As above; all by default, without the multipliers if there are more than two classes.
        ax : array of matplotlib axes, one for each panel, or a single one, default=None

        Returns
        -------
        PathDisplay
        """
        several = path.dual_coef.shape[1] > 1
        chosen = tuple(PANELS[several:] if panels is None else panels)
        unknown = [name for name in chosen if name not in PANELS]
        if unknown or not chosen:
            raise ValueError(f"panels must be some of {', '.join(PANELS)}; got {panels!r}.")
        if "multipliers" in chosen and is_classifier(path.models[0]):
            _refuse_several(len(path.models[0].classes_))
        alpha, positive, names = _multipliers(path)
        return cls(path.Cs, alpha, positive, names, _curves(path, X, y), chosen).plot(ax)

    def _panels(self) -> tuple[Any, ...]:
        if len(self.panels) == 1:
            return (1, 1)
        columns = 2 if len(self.panels) in (2, 4) else 3
        rows = -(-len(self.panels) // columns)
        return (rows, columns, (3.7 * columns, 3.0 * rows))

    def _draw(self, ax: Any) -> None:
        all_axes = list(np.ravel(ax))
        if len(all_axes) < len(self.panels):
            raise ValueError(
                f"{len(self.panels)} panels need as many axes, got {len(all_axes)}: choose panels."
            )
        for name, one in zip(self.panels, all_axes, strict=False):
            getattr(self, f"_draw_{name}")(one)
            one.set(xscale="log", xlabel="$C$")
        for unused in all_axes[len(self.panels) :]:
            unused.set_axis_off()

    def _draw_multipliers(self, ax: Any) -> None:
        ax.plot(self.C, self.C, color=INK, linewidth=1.0, linestyle="--", label="bound $a = C$")
        for k, here in enumerate((~self.positive, self.positive)):
            seen = np.where(self.alpha > ZERO * self.C[:, None], self.alpha, np.nan)
            lines = ax.plot(self.C, seen[:, here], color=colour(k), linewidth=0.9, alpha=0.7)
            if lines:
                lines[0].set_label(self.names[k])
        ax.set(yscale="log", ylabel="multiplier $a_i$")
        ax.legend(loc="upper left")

    def _draw_support(self, ax: Any) -> None:
        """Areas on top of each other: at the bound, and free."""
        bound, free = self._known.bound, self._known.free
        shades = paler([PALE, colour(0)], 0.45)
        labels = ("at the bound", "free")
        ax.stackplot(self.C, bound, free, colors=shades, labels=labels)
        ax.plot(self.C, bound + free, color=INK, linewidth=1.2)
        ax.set(ylabel="support vectors", ylim=(0, 1.3 * max(1, int((bound + free).max()))))
        ax.legend(loc="upper right", ncols=2)

    def _draw_margin(self, ax: Any) -> None:
        """One line for each decision function."""
        margin = self._known.margin
        shown = margin if margin.shape[1] > 1 else margin[:, 0]
        ax.plot(self.C, shown, color=colour(2), linewidth=1.6 if shown.ndim == 1 else 0.9)
        ax.set(yscale="log", ylabel="margin width $1 / |w|$")

    def _draw_objective(self, ax: Any) -> None:
        ax.plot(self.C, self._known.objective, color=INK)
        ax.set(yscale="log", ylabel="objective")

    def _draw_error(self, ax: Any) -> None:
        """The least validation error is marked."""
        errors = self._known.errors
        for k, (name, values) in enumerate(errors.items()):
            ax.plot(self.C, values, color=colour(k), linestyle=DASHES[k], label=name)
        if len(errors) > 1:
            values = list(errors.values())[-1]
            best = int(np.argmin(values))
            label = f"least, at $C$ = {self.C[best]:.3g}"
            style = {"color": colour(1), "marker": "o", "linestyle": "none"}
            ax.plot(self.C[best], values[best], label=label, **style)
        most = max(float(np.max(values)) for values in errors.values())
        ax.set(ylabel=self._known.error_name, ylim=(0, 1.35 * most or 1.0))
        ax.legend(loc="upper right")

    def _draw_gap(self, ax: Any) -> None:
        """Models below the dashed line are certified."""
        gap = np.maximum(self._known.gap, LEAST_GAP)
        style = {"color": INK, "linewidth": 1.0, "linestyle": "--"}
        ax.axhline(self._known.demanded, label="tolerance", **style)
        ax.plot(self.C, gap, color=colour(4), marker="o", markersize=3, linewidth=0.8)
        top = max(float(gap.max()), self._known.demanded)
        ax.set(yscale="log", ylabel="relative duality gap", ylim=(LEAST_GAP / 3, 100 * top))
        ax.legend(loc="upper right")

    @property
    def _known(self) -> Curves:
        if self.curves is None:
            raise ValueError("This panel needs curves: draw it with PathDisplay.from_path.")
        return self.curves


def _refuse_several(count: int) -> None:
    if count != 2:
        raise ValueError(f"PathDisplay shows the multipliers of two classes; y has {count}.")


def _multipliers(path: CPath) -> tuple[Floats, NDArray[np.bool_], tuple[str, str]]:
    """Multipliers, and which points are on the positive side, with names of the sides.

    A point of a regression is on the side where its variables are greater.
    """
    coef, model = path.dual_coef[:, 0], path.models[0]
    names = class_names(model.classes_) if is_classifier(model) else ["below", "above"]
    return np.abs(coef), coef.sum(axis=0) > 0, (names[0], names[1])


def _curves(path: CPath, X: Any, y: Any) -> Curves:
    """The numbers of a path, with the error on samples that are given."""
    model, errors = path.models[0], {"training": path.errors}
    if (X is None) != (y is None):
        raise ValueError("The validation error needs both X and y.")
    if X is not None:
        errors["validation"] = np.array([_error(one, X, np.ravel(y)) for one in path.models])
    with np.errstate(divide="ignore"):
        margin = 1 / path.norms
    return Curves(
        path.n_support - path.n_bound,
        path.n_bound,
        np.where(np.isfinite(margin), margin, np.nan),
        path.objectives,
        errors,
        "share of errors" if is_classifier(model) else "mean absolute error",
        np.array([one.relative_gap for one in path.certificates]),
        GAP * float(model.tol),
    )


def _error(model: Any, X: Any, y: NDArray[Any]) -> float:
    """The share of wrong labels, or the mean absolute error."""
    found = model.predict(X)
    return float(np.mean(found != y) if is_classifier(model) else np.mean(np.abs(found - y)))
