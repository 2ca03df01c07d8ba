"""The planes found so far, and the minimum of the model of the risk that they make.

    model(w) = max over j of  offset_j + <slope_j, w>  <=  R(w)

    minimise  1/2 |w|^2 + C model(w)

The dual problem has a variable alpha_j for each plane:

    maximise  sum_j alpha_j offset_j - 1/2 |sum_j alpha_j slope_j|^2     alpha >= 0, sum alpha = C

with w = -sum_j alpha_j slope_j. It is a DualProblem whose kernel matrix holds the inner products of
the slopes, with one group: the exact solver of kernel machines solves it to rounding. The first
plane is 0, since the risk is not negative. Its maximum is a lower bound of P.

A plane whose variable has been 0 for long is dropped. A weighted mean of planes is a plane below
the risk as well: if there are too many, those of the least weight become one.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Mask
from maxmargin.core.choose import HOST
from maxmargin.kernel import block
from maxmargin.kernel.problems import DualProblem
from maxmargin.kernel.sources import MatrixSource
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.monitor import Monitor
from maxmargin.structured.risks import Plane
from maxmargin.structured.spaces import Space


class Settings(NamedTuple):
    """Which planes are kept, and how exactly their problem is solved (decision 30)."""

    idle: int = 50
    """Solves in a row without weight after which a plane is dropped (Joachims, Finley and Yu
    2009)."""
    most: int = 1000
    """Planes at the most: their problem is small, and is solved to rounding."""
    merged: int = 250
    """Planes that become one if there are too many."""
    steps: int = 20_000
    """Pair steps of one solve at the most: any weights prove a lower bound. Slopes of unequal sizes
    may need many more, and a limit of time could not interrupt them."""
    tol: float = 1e-10
    """Violation of the optimality conditions, relative to the greatest offset."""


SETTINGS = Settings()


class Bundle:
    """Planes below a risk, with the weights of the last solve."""

    def __init__(self, space: Space, C: float) -> None:
        self.space, self.C = space, C
        self.count = 1
        self._slopes = np.zeros((8, space.size))
        self._gram = np.zeros((8, 8))
        self.offsets, self.alpha, self.idle = np.zeros(1), np.array([C]), np.zeros(1, np.int64)

    @property
    def slopes(self) -> Floats:
        """The slopes of the planes, a row each."""
        return self._slopes[: self.count]

    @property
    def gram(self) -> Floats:
        """The inner products of the slopes."""
        return self._gram[: self.count, : self.count]

    def add(self, plane: Plane) -> None:
        """Take one more plane, without weight."""
        if self.count == SETTINGS.most:
            self._merge()
        if self.count == len(self._slopes):
            self._grow()
        k = self.count
        self._slopes[k] = plane.slope
        self.count += 1
        self._gram[k, : k + 1] = self._gram[: k + 1, k] = self.space.dots(self.slopes, plane.slope)
        self.offsets = np.append(self.offsets, plane.offset)
        self.alpha, self.idle = np.append(self.alpha, 0.0), np.append(self.idle, 0)

    def minimise(self) -> tuple[Floats, float]:
        """The minimiser w of the model, and the lower bound of P that it proves."""
        size, m = float(np.abs(self.offsets).max()) or 1.0, self.count
        zero = np.zeros(m)
        problem = DualProblem(
            -self.offsets,
            zero,
            np.full(m, self.C),
            np.zeros(m, np.int64),
            np.arange(m),
            self.alpha,
            zero,
        )
        K = MatrixSource(np.ascontiguousarray(self.gram), HOST)
        K.convex = True  # inner products: negative curvature is rounding
        workspace = KernelWorkspace(K, Monitor(SETTINGS.steps))
        found = block.solve(problem, workspace, SETTINGS.tol * size, self.alpha).b
        self.alpha = np.maximum(found, 0.0)
        self.alpha *= self.C / float(self.alpha.sum())
        self.idle = np.where(self.alpha > 0, 0, self.idle + 1)
        self._drop()
        w = -(self.alpha @ self.slopes)
        return w, float(self.alpha @ self.offsets) - 0.5 * self.space.square(w)

    def value(self, w: Floats) -> float:
        """The model at w."""
        return float((self.offsets + self.space.dots(self.slopes, w)).max())

    def _grow(self) -> None:
        """Twice the memory."""
        slopes, gram, k = self._slopes, self._gram, self.count
        self._slopes, self._gram = np.zeros((2 * k, self.space.size)), np.zeros((2 * k, 2 * k))
        self._slopes[:k], self._gram[:k, :k] = slopes[:k], gram[:k, :k]

    def _drop(self) -> None:
        """Drop planes that have been without weight for long, once they are a quarter of all."""
        stale = self.idle > SETTINGS.idle
        stale[0] = False
        if 4 * np.count_nonzero(stale) > self.count:
            self._keep(~stale)

    def _keep(self, kept: Mask) -> None:
        rows = np.flatnonzero(kept)
        self._slopes[: len(rows)] = self._slopes[rows]
        self._gram[: len(rows), : len(rows)] = self._gram[np.ix_(rows, rows)]
        self.count = len(rows)
        self.offsets, self.alpha = self.offsets[rows], self.alpha[rows]
        self.idle = self.idle[rows]

    def _merge(self) -> None:
        """Make one plane of those with the least weight; planes without weight are dropped."""
        order = np.argsort(self.alpha[1:], kind="stable")[: SETTINGS.merged] + 1
        weight = self.alpha[order]
        total, kept = float(weight.sum()), np.ones(self.count, bool)
        kept[order] = False
        share = weight / total if total > 0 else weight
        mean = Plane(float(share @ self.offsets[order]), share @ self.slopes[order])
        self._keep(kept)
        if total > 0:
            self.add(mean)
            self.alpha[-1] = total
