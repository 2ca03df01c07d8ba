"""Coordinate descent on squared losses with an l1 penalty, one column of the data at a time.

lasso.py says when. Each end of a sample's tube that costs anything has one residual:

    r_i = q_i (low_i - f_i),   q_i = sqrt(up_i / most)        or
    r_i = q_i (high_i - f_i),  q_i = -sqrt(down_i / most)
    sum_i loss_i(f_i) = most sum_i max(0, r_i)^2

so that a column meets one number per residual. In a classification each sample has one end; where
some have two, the columns are twice as long. The columns of diag(q) X and of the bias are copied
once, in the precision of the data if all q are +1 and -1.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from maxmargin.core.arrays import Floats
from maxmargin.core.backend import Points
from maxmargin.core.linear_backend import LinearBackend
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.losses import Tube
from maxmargin.monitor import Monitor


class Settings(NamedTuple):
    """Settings of coordinate descent over columns (decision 15)."""

    shrink_factor: float = 0.1
    """Weights at 0 are shrunk if their condition holds by this share of the largest violation."""
    most_violation: float = 1.0
    """The violation that counts for shrinking, at most, in units of the penalty."""
    curvature_margin: float = 1.0001
    """The factor on bounds of the curvature, which are sums in float32: they are never too low."""


SETTINGS = Settings()


class Columns:
    """The columns and the order in which they were visited last."""

    def __init__(
        self, tube: Tube, design: ArrayDesign, column: float, penalty: Floats, seed: int
    ) -> None:
        up = tube.up > 0
        both = bool((up & (tube.down > 0)).any())
        self.most = float(max(tube.up.max(initial=0.0), tube.down.max(initial=0.0))) or 1.0
        above, below = np.sqrt(tube.up / self.most), -np.sqrt(tube.down / self.most)
        self.q = np.concatenate((above, below)) if both else np.where(up, above, below)
        ends = tube.low, tube.high
        edge = np.concatenate(ends) if both else np.where(up, *ends)
        self.edge = np.where(self.q != 0, edge, 0.0)
        self.both = both
        self.backend = design.backend
        self.columns, self.penalty = _columns(self.backend, design.X, self.q, column), penalty
        self.squares = SETTINGS.curvature_margin * np.asarray(self.columns.norms, np.float64)
        # The bias is visited once more after each epoch, because it moves every sample.
        self.bias = np.array([len(penalty) - 1], np.int32)
        self.order = np.arange(len(penalty), dtype=np.int32)
        self.draw = np.random.default_rng(seed)

    def descend(
        self, u: Floats, f: Floats, epochs: int, monitor: Monitor, steps: int
    ) -> tuple[Floats, int]:
        """Some epochs, the last one over all columns; return the weights and the epochs done."""
        u = u.copy()
        r = self.q * (self.edge - (np.concatenate((f, f)) if self.both else f))
        active, shrink_above = len(self.order), np.inf
        for done in range(epochs):
            if monitor.stop(steps + done) is not None:
                return u, done
            active = len(self.order) if done == epochs - 1 else active
            seed = int(self.draw.integers(2**63))
            model = self.columns, self.penalty, self.squares, 2 * self.most, u, r
            violation, active = self.backend.column_pass(
                *model, self.order, active, shrink_above, seed
            )
            self.backend.column_pass(*model, self.bias, 1, np.inf, 0)
            shrink_above = SETTINGS.shrink_factor * min(violation, SETTINGS.most_violation)
            shrink_above = shrink_above if done < epochs - 2 else np.inf
        return u, epochs


def _columns(backend: LinearBackend, X: Any, q: Floats, column: float) -> Points:
    """The columns of diag(q) X and of the bias as points; of X twice if each sample has two q."""
    kind = X.dtype if np.isin(q, (-1.0, 0.0, 1.0)).all() else np.float64
    if sparse.issparse(X):
        return backend.scaled_columns(backend.points(X.astype(kind, copy=False)), q, column)
    out = np.empty((X.shape[1] + 1, len(q)), kind)
    for begin in range(0, len(q), len(X)):
        part = slice(begin, begin + len(X))
        np.multiply(X.T, q[part], out=out[:-1, part], casting="same_kind")
    out[-1] = column * q
    return backend.points(out)
