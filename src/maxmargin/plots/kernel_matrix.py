"""The kernel matrix as an image, with the points ordered by class.

Bright blocks on the diagonal show that the kernel separates the classes.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.core.arrays import Floats
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.sources import kernel_matrix
from maxmargin.plots.display import Display
from maxmargin.plots.plane import dense
from maxmargin.plots.style import INK, heat_map

MOST_POINTS = 2000
"""Larger data are shown as an evenly spaced sample of this many points."""


@dataclass(eq=False, repr=False)
class KernelMatrixDisplay(Display):
    """K(x_i, x_j) for all pairs.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel values in the order shown.
    ends : list of int
        End of each class in that order.
    names : list of str
        Names of the classes; empty if there are none.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from maxmargin import SVC
    >>> from maxmargin.plots import KernelMatrixDisplay
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> shown = KernelMatrixDisplay.from_estimator(SVC(gamma=2.0).fit(X, y), X, y)
    >>> plt.show()
    """

    K: Floats
    ends: list[int]
    names: list[str]

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, y: ArrayLike | None = None, *, ax: Any = None
    ) -> "KernelMatrixDisplay":
        """Draw the kernel matrix of a fitted estimator, a ``Kernel``, or a function.

        Parameters
        ----------
        estimator : fitted estimator of maxmargin, Kernel, or callable(X, Z) -> matrix
        X : the data.
        y : labels that order the rows, default=None
        ax : matplotlib axes, default=None

        Returns
        -------
        KernelMatrixDisplay
        """
        data = dense(X)
        labels = np.zeros(len(data)) if y is None else np.asarray(y)
        if len(data) > MOST_POINTS:
            some = np.linspace(0, len(data) - 1, MOST_POINTS).astype(int)
            data, labels = data[some], labels[some]
        order = np.argsort(labels, kind="stable")
        data, labels = data[order], labels[order]
        classes, counts = np.unique(labels, return_counts=True)
        return cls(
            _matrix(estimator, data),
            [int(e) for e in np.cumsum(counts)],
            [] if y is None else [str(c) for c in classes],
        ).plot(ax)

    def _draw(self, ax: Any) -> None:
        heat_map(ax, self.K, "$k(x_i, x_j)$", 1.0, interpolation="nearest")
        for end in self.ends[:-1]:
            ax.axhline(end - 0.5, color="white", linewidth=0.8)
            ax.axvline(end - 0.5, color="white", linewidth=0.8)
        if self.names:
            middles = np.convolve([0, *self.ends], [0.5, 0.5], "valid") - 0.5
            ax.set_xticks(middles, self.names, rotation=90 if sum(map(len, self.names)) > 30 else 0)
            ax.set_yticks(middles, self.names)
            ax.set(xlabel="class", ylabel="class")
        ax.tick_params(length=0, colors=INK)


def _matrix(estimator: Any, X: Floats) -> Floats:
    """Return the kernel values of all pairs of points."""
    if isinstance(estimator, Kernel):
        return np.asarray(kernel_matrix(estimator, X))
    if not hasattr(estimator, "fit"):
        return np.asarray(estimator(X, X), float)
    if not hasattr(estimator, "kernel_"):
        raise ValueError(
            f"{type(estimator).__name__} does not expose its kernel: give a Kernel or a function "
            "of two sets of points."
        )
    return np.asarray(kernel_matrix(estimator.kernel_, X))
