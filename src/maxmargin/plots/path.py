"""The regularisation path: the multiplier a_i of each point as C grows.

A multiplier is at its bound C (on the diagonal), free, or zero. For a fixed kernel the path is
piecewise linear in C; the points leave the bound one after the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from maxmargin.core.arrays import Floats
from maxmargin.plots.display import Display
from maxmargin.plots.style import INK, class_names, colour

ZERO = 1e-6
"""Multipliers below this fraction of C count as zero and are not drawn."""


@dataclass(eq=False, repr=False)
class PathDisplay(Display):
    """Multipliers over C.

    Parameters
    ----------
    C : ndarray of shape (n_values,)
    alpha : ndarray of shape (n_values, n_samples)
    positive : ndarray of bool of shape (n_samples,)
        Which points belong to the positive class.
    names : pair of str
        Names of the negative and the positive class.
    """

    C: Floats
    alpha: Floats
    positive: NDArray[np.bool_]
    names: tuple[str, str]

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
        estimator : binary ``SVC``; it is cloned.
        X, y : the data.
        C : sequence of float, default=60 values from 1e-3 to 1e3
        ax : matplotlib axes, default=None

        Returns
        -------
        PathDisplay
        """
        labels, classes = np.asarray(y), np.unique(y)
        values = np.geomspace(1e-3, 1e3, 60) if C is None else np.asarray(C, float)
        if len(classes) != 2:
            raise ValueError(
                f"PathDisplay shows the multipliers of two classes; y has {len(classes)}."
            )
        alpha = np.zeros((len(values), len(labels)))
        for row, value in zip(alpha, values, strict=True):
            model = clone(estimator).set_params(C=float(value)).fit(X, y)
            row[model.support_] = np.abs(np.ravel(model.dual_coef_))
        first, second = class_names(classes)
        return cls(values, alpha, labels == classes[1], (first, second)).plot(ax)

    def _draw(self, ax: Any) -> None:
        ax.plot(self.C, self.C, color=INK, linewidth=1.0, linestyle="--", label="bound $a = C$")
        for k, here in enumerate((~self.positive, self.positive)):
            seen = np.where(self.alpha > ZERO * self.C[:, None], self.alpha, np.nan)
            lines = ax.plot(self.C, seen[:, here], color=colour(k), linewidth=0.9, alpha=0.7)
            if lines:
                lines[0].set_label(self.names[k])
        ax.set(xscale="log", yscale="log", xlabel="$C$", ylabel="multiplier $a_i$")
        ax.legend(loc="upper left")
