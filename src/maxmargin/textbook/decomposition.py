"""Decomposition: a working set B of any size, and only the kernel rows that it needs.

``theory``, "Decomposition methods". In every iteration the multipliers outside B stay fixed, and
those of B solve the small problem

    minimise over a_B   1/2 a_B'Q_BB a_B + (g_B - Q_BB a_B old)'a_B,      Q_ij = t_i t_j k_ij
    subject to          t_B'a_B = t_B'a_B old,   0 <= a_i <= C

where g = Q a - 1 is the gradient before the iteration: g_B - Q_BB a_B is the term of the lecture
that couples B with the rest N, minus 1. Pairs of B solve it, by the steps of ``smo``. Then

    g <- g + Q_B' (a_B - a_B old)

which needs the kernel rows of B alone. B = {i, j} is SMO: one pair, one closed form.

The working set (Joachims 1998): with v_i = -t_i g_i, the q / 2 points whose t_i a_i can grow with
the largest v and the q / 2 whose t_i a_i can shrink with the smallest; smo.py has the sets. Its
first pair is the maximal violating pair, so every iteration makes progress.

The rows of points that never enter B are never computed. The lecture: "In general, no more than
15% to 50% kernel values are actually needed". ``trace.kernel_share`` is the share of the rows that
this run computed; the rows of the support vectors are needed by any algorithm.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maxmargin.textbook.checks import Array, points, warn_stopped
from maxmargin.textbook.kernels import Function, gram, linear
from maxmargin.textbook.models import KernelModel
from maxmargin.textbook.smo import move_pair, violating_pair
from maxmargin.textbook.soft_margin import check_C
from maxmargin.textbook.trace import Trace, dual_trace, soft_margin_step

MOST_PAIRS = 1000
"""The small problem is left after this many pairs; the next working set goes on."""


class KernelRows:
    """Rows of the kernel matrix, computed when they are first needed."""

    def __init__(self, kernel: Function, X: Array) -> None:
        gram(kernel, X[:1])  # says what a kernel is, at the price of one value
        self.kernel, self.X = kernel, X
        self.rows: dict[int, Array] = {}

    def __getitem__(self, B: NDArray[np.intp]) -> Array:
        """The rows of B."""
        new = [i for i in B if i not in self.rows]
        if new:
            self.rows.update(zip(new, self.kernel(self.X[new], self.X), strict=True))
        return np.array([self.rows[i] for i in B])

    @property
    def share(self) -> float:
        """Share of all rows that were computed."""
        return len(self.rows) / len(self.X)


def decomposition(
    X: ArrayLike,
    y: ArrayLike,
    C: float = 1.0,
    kernel: Function = linear,
    size: int = 10,
    tol: float = 1e-3,
    max_iter: int = 10_000,
    trace: int = 1,
) -> tuple[KernelModel, Trace]:
    """The soft margin by working sets of a given size.

    Parameters
    ----------
    X, y : the points and their labels -1 and +1.
    C : the price of a unit of slack.
    kernel : a function of ``textbook.kernels``.
    size : number of points in the working set, at least 2.
    tol : stop when no pair violates optimality by more than this.
    max_iter : stop after this many working sets in any case.
    trace : keep the state after every `trace` working sets, 0 for never.

    Returns
    -------
    model, trace
        ``trace.kernel_share`` is the share of kernel rows that were computed.

    See Also
    --------
    smo : working sets of two.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]
    >>> model, trace = textbook.decomposition(X, y, size=2)
    >>> model.w.round(3), round(model.b, 3)
    (array([1.]), -2.0)
    """
    X, t = points(X, y)
    check_C(C)
    if size < 2:
        raise ValueError(f"size={size}: one multiplier cannot move alone, give at least 2.")
    K, a, g = KernelRows(kernel, X), np.zeros(len(t)), -np.ones(len(t))
    kept = dual_trace(f"decomposition, |B| = {size}", trace, X, t, kernel)
    B = np.array([], int)
    for iteration in range(max_iter + 1):
        v = -t * g
        up, low = np.where(t > 0, a < C, a > 0), np.where(t > 0, a > 0, a < C)
        top, bottom = np.where(up, v, -np.inf), np.where(low, v, np.inf)
        violation, b = float(top.max() - bottom.min()), float(0.5 * (top.max() + bottom.min()))
        done = violation <= tol or iteration == max_iter
        if trace and (done or kept.due(iteration)):
            step = soft_margin_step(iteration, None, t - v + b, t, a, b, C)
            kept.keep(step._replace(chosen=tuple(map(int, B))))
        if done:
            break
        B = _working_set(top, bottom, size)
        rows = K[B]
        new = _small_problem(rows[:, B], t[B], a[B], g[B], C, tol)
        g += t * (rows.T @ (t[B] * (new - a[B])))
        a[B] = new
    kept.kernel_share = K.share
    if violation > tol:
        what = f"decomposition stopped after {max_iter} working sets"
        warn_stopped(what, violation, tol, "give a larger max_iter or size")
    return KernelModel(X, a * t, b, kernel), kept


def _working_set(top: Array, bottom: Array, size: int) -> NDArray[np.intp]:
    """The points that can grow with the largest v and those that can shrink with the smallest."""
    growing = [i for i in np.argsort(-top, kind="stable") if np.isfinite(top[i])]
    shrinking = [i for i in np.argsort(bottom, kind="stable") if np.isfinite(bottom[i])]
    return np.unique(growing[: (size + 1) // 2] + shrinking[: size // 2])


def _small_problem(K: Array, t: Array, a: Array, g: Array, C: float, tol: float) -> Array:
    """The best a_B with the others fixed, by pairs inside B."""
    a, g = a.copy(), g.copy()
    for _ in range(MOST_PAIRS):
        i, j, violation, _ = violating_pair(K, t, a, g, C)
        if violation <= 0.1 * tol:
            break
        move_pair(i, j, K, t, a, g, C)
    return a
