"""Coordinate descent on penalised squared losses, a column of the data at a time; lasso.py says
when.

Each side of each sample's tube that costs anything is one residual:

    r_i = q_i (low_i - f_i),  q_i = sqrt(up_i / most)         or        r_i = q_i (high_i - f_i),  q_i = -sqrt(down_i / most)
    sum_i loss_i(f_i) = most sum_i max(0, r_i)^2

so that one number a residual is all that a column meets. A classification has one side a sample;
where a sample has two, the columns are twice as long. The columns of diag(q) X and of the bias are
copied once, in the data's precision where all q are +1 and -1.
"""

from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.core.arrays import Floats
from maxmargin.core.backend import Points
from maxmargin.core.linear_backend import LinearBackend
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.losses import Tube
from maxmargin.monitor import Monitor


class Columns:
    """The columns and the order in which they were visited last."""

    def __init__(
        self, tube: Tube, design: ArrayDesign, column: float, price: Floats, seed: int
    ) -> None:
        up = tube.up > 0
        both = bool((up & (tube.down > 0)).any())
        self.most = float(max(tube.up.max(initial=0.0), tube.down.max(initial=0.0))) or 1.0
        above, below = np.sqrt(tube.up / self.most), -np.sqrt(tube.down / self.most)
        self.q = np.concatenate((above, below)) if both else np.where(up, above, below)
        edge = np.concatenate((tube.low, tube.high)) if both else np.where(up, tube.low, tube.high)
        self.edge = np.where(self.q != 0, edge, 0.0)
        self.both = both
        self.backend = design.backend
        self.columns, self.price = _columns(self.backend, design.X, self.q, column), price
        self.squares = 1.0001 * np.asarray(
            self.columns.norms, np.float64
        )  # float32 sums: never too little
        self.bias = np.array(
            [len(price) - 1], np.int32
        )  # visited after each pass once more: every sample feels it
        self.order, self.draw = np.arange(len(price), dtype=np.int32), np.random.default_rng(seed)

    def descend(
        self, u: Floats, f: Floats, most: int, monitor: Monitor, steps: int
    ) -> tuple[Floats, int]:
        """Pass over the columns so many times, the last time over all of them.

        Return the weights and the number of passes made.
        """
        u = u.copy()
        r = self.q * (self.edge - (np.concatenate((f, f)) if self.both else f))
        active, aside = len(self.order), np.inf
        for done in range(most):
            if monitor.stop(steps + done) is not None:
                return u, done
            active = len(self.order) if done == most - 1 else active
            seed = int(self.draw.integers(2**63))
            violation, active = self.backend.column_pass(
                self.columns,
                self.price,
                self.squares,
                2 * self.most,
                u,
                r,
                self.order,
                active,
                aside,
                seed,
            )
            self.backend.column_pass(
                self.columns, self.price, self.squares, 2 * self.most, u, r, self.bias, 1, np.inf, 0
            )
            aside = 0.1 * min(violation, 1.0) if done < most - 2 else np.inf
        return u, most


def _columns(backend: LinearBackend, X: Any, q: Floats, column: float) -> Points:
    """The columns of diag(q) X, and of the bias, as points.

    Of X twice where there are two q's a sample.
    """
    kind = X.dtype if np.isin(q, (-1.0, 0.0, 1.0)).all() else np.float64
    if sparse.issparse(X):
        return backend.scaled_columns(backend.points(X.astype(kind, copy=False)), q, column)
    out = np.empty((X.shape[1] + 1, len(q)), kind)
    for begin in range(0, len(q), len(X)):
        part = slice(begin, begin + len(X))
        np.multiply(X.T, q[part], out=out[:-1, part], casting="same_kind")
    out[-1] = column * q
    return backend.points(out)
