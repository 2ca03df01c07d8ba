"""Every SVM as one quadratic problem, written as data. This is the page to read first.

In signed dual variables b_i = y_i a_i each of them is

    minimise    1/2 b' (K[row, row] + diag(ridge)) b + linear' b
    subject to  lower <= b <= upper
                the sum of b in each group is that of start, except in groups `unconstrained`

===========  =================  ======================  ======  ==============  ====================
problem      linear             lower, upper            group   row             start
===========  =================  ======================  ======  ==============  ====================
C-SVC        -y                 min(0, yC), max(0, yC)  0       0..n-1          0
nu-SVC       0                  min(0, yw), max(0, yw)  y < 0   0..n-1          fill(nu sum(w) / 2)
hard margin  0                  -inf, 0 or 0, inf       y < 0   0..n-1          1 in each class
one-class    0                  0, w                    0       0..n-1          fill(nu sum(w))
SVDD         -total k(x,x) / 2  min(0, yw), max(0, yw)  0       0..n-1          fill(total), y = 1
SVR          eps - z, -eps - z  [0, up], [-down, 0]     0       0..n-1, 0..n-1  0
nu-SVR       -z, -z             [0, C], [-C, 0]         0, 1    0..n-1, 0..n-1  fill(nu sum(C) / 2)
LS-SVM       -z                 -inf, inf               0       0..n-1          0
===========  =================  ======================  ======  ==============  ====================

w are the sample weights; C stands for the bounds C w_i. A squared loss C xi^2 instead of C xi
removes the bounds and adds ridge = 1 / (2 C) to the diagonal. In eps-SVR up = down = C; the bounds
and ridges of the other losses of regression (quantile, expectile, Huber) are in tube.py.

Hard margin is the nearest pair of points of the two classes' convex hulls, nu-SVC the nearest pair
of their reduced hulls (bounds w_i): in both the answer comes in an arbitrary scale and is read in
units of the margin (``in_margin_units``). A distance of zero says that the (reduced) hulls meet: no
hyperplane separates them.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers, Mask
from maxmargin.core.backend import Variables
from maxmargin.kernel.tube import Tube, insensitive


class DualProblem(NamedTuple):
    """The data of one problem; see the table above."""

    linear: Floats
    lower: Floats
    upper: Floats
    group: Integers
    row: Integers
    start: Floats
    ridge: Floats
    in_margin_units: bool = False
    unconstrained: tuple[int, ...] = ()
    """Groups without a sum constraint: their level is 0."""

    @property
    def groups(self) -> int:
        """Number of groups."""
        return int(self.group[-1]) + 1 if len(self.group) else 0

    @property
    def begin(self) -> Integers:
        """Where each group begins, and the end of the last: variables are sorted by group."""
        return np.searchsorted(self.group, np.arange(self.groups + 1))

    @property
    def fixed(self) -> Mask:
        """Whether the sum of each group is fixed."""
        return np.array([g not in self.unconstrained for g in range(self.groups)], bool)

    def on(self, xp: Any) -> "DualProblem":
        """The same with its arrays in the namespace of a backend."""
        if xp is np:
            return self
        return DualProblem._make([*map(xp.asarray, self[:7]), *self[7:]])

    def variables(self, b: Floats, G: Floats) -> Variables:
        """The variables b with their gradient."""
        return Variables(G, b, self.lower, self.upper, self.ridge, self.begin, self.fixed)


UNBOUNDED = ("linear", "group", "row", "start", "ridge")
"""The arrays of a problem beside its bounds."""


def weight_unit(weight: Floats) -> float:
    """A power of two near the mean of positive weights.

    Dividing by it is exact and brings weights of any scale near 1.
    """
    greatest = float(weight.max())
    exponent = round(np.log2(greatest) + np.log2((weight / greatest).mean()))
    return float(2.0 ** min(max(exponent, -1022), 1023))


def bounds(C: float, weight: Floats, squared: bool = False) -> Floats:
    """C_i = C weight_i for positive weights.

    Raises ValueError if float64 cannot hold them, or 1 / (2 C_i) of a squared loss.
    """
    with np.errstate(over="ignore", under="ignore"):
        found: Floats = C * weight
    if math.isfinite(C) and not np.isfinite(found).all():
        raise ValueError(
            f"C times a sample weight is beyond float64: C={C:g}, and the greatest weight is "
            f"{weight.max():g}. Divide the weights by a constant, or lower C."
        )
    if not found.min(initial=1.0) > (2.0**-1024 if squared else 0.0):
        raise ValueError(
            f"C times a sample weight is too small for float64: C={C:g}, and the least positive "
            f"weight is {weight.min():g}. Use 0 to leave a sample out, multiply the weights by a "
            "constant, or raise C."
        )
    return found


def fill(total: float, capacity: Floats, xp: Any = np) -> Floats:
    """Spread a total over variables in their order, each up to its capacity."""
    before = xp.concatenate([xp.zeros(1), xp.cumsum(capacity)[:-1]])
    part: Floats = xp.clip(total - before, 0.0, capacity)
    return part


def _bounds(sign: Floats, C: Floats, squared: bool) -> tuple[Floats, Floats, Floats]:
    """Lower bound, upper bound and ridge of variables of the given signs."""
    end = sign * np.inf if squared else sign * C
    ridge = 0.5 / C if squared else np.zeros(len(C))
    return np.minimum(end, 0.0), np.maximum(end, 0.0), ridge


def c_svc(
    y: Floats, C: Floats, squared: bool = False, group: Integers | None = None
) -> DualProblem:
    """Soft margin: 1/2 |w|^2 + sum C_i max(0, 1 - y_i f_i), or with the square of the hinge.

    The labels y are +1 or -1. Several such problems are the groups of one (together.py).
    """
    n = len(y)
    group = np.zeros(n, np.int64) if group is None else group
    lower, upper, ridge = _bounds(y, C, squared)
    return DualProblem(-y, lower, upper, group, np.arange(n), np.zeros(n), ridge)


def nu_svc(y: Floats, weight: Floats, nu: float) -> DualProblem:
    """Soft margin by nu: the share of margin errors is at most nu, of support vectors at least nu.

    Variables are sorted, the positive class first: each class is one group.
    """
    row = np.argsort(-y, kind="stable")
    y, weight = y[row], weight[row]
    total = nu * weight.sum() / 2
    start = np.zeros(len(y))
    for sign in (1.0, -1.0):
        start[y == sign] = sign * fill(total, weight[y == sign])
    return _hulls(y, weight, row, start)


def largest_nu(y: Floats, weight: Floats) -> float:
    """The largest feasible nu of nu-SVC: 2 min(weight of a class) / weight of both."""
    positive, negative = weight[y > 0].sum(), weight[y < 0].sum()
    return float(2 * min(positive, negative) / (positive + negative))


def hard_margin(y: Floats) -> DualProblem:
    """The nearest points of the two classes' convex hulls.

    Scaled, they solve: minimise 1/2 |w|^2 subject to y_i f_i >= 1.
    """
    row = np.argsort(-y, kind="stable")
    y = y[row]
    start = np.zeros(len(y))
    start[0], start[-1] = 1.0, -1.0
    return _hulls(y, np.full(len(y), np.inf), row, start)


def _hulls(y: Floats, weight: Floats, row: Integers, start: Floats) -> DualProblem:
    """The nearest points of the (reduced) convex hulls of two classes, each class one group."""
    lower, upper, ridge = _bounds(y, weight, squared=False)
    group = (y < 0).astype(np.int64)
    return DualProblem(np.zeros(len(y)), lower, upper, group, row, start, ridge, True)


def one_class(weight: Floats, nu: float) -> DualProblem:
    """The hyperplane that separates all but nu of the weight from the origin."""
    n = len(weight)
    zeros = np.zeros(n)
    start = fill(nu * weight.sum(), weight)
    return DualProblem(zeros, zeros, weight, np.zeros(n, np.int64), np.arange(n), start, zeros)


def svdd(y: Floats, weight: Floats, diagonal: Floats, total: float) -> DualProblem:
    """The smallest ball: R^2 + sum C_i max(0, -y_i (R^2 - |phi(x_i) - c|^2)), C = weight / total.

    Known outliers have the label -1. The variables are those of c = sum b_i phi(x_i), times total,
    and ``diagonal`` is k(x, x): where it is constant this is the one-class problem.
    """
    n, inside = len(y), y > 0
    lower, upper, zeros = *_bounds(y, weight, squared=False)[:2], np.zeros(n)
    start = zeros.copy()
    start[inside] = fill(total, weight[inside])
    linear = -total / 2 * diagonal
    return DualProblem(linear, lower, upper, np.zeros(n, np.int64), np.arange(n), start, zeros)


def svr(tube: Tube) -> DualProblem:
    """Regression with any loss of tube.py: 1/2 |w|^2 + sum_i loss_i(z_i - f_i).

    Each sample has two variables, the first of which is positive.
    """
    n, (z, up, down, epsilon) = len(tube.z), tube
    zero = np.zeros(n)
    return DualProblem(
        np.concatenate([epsilon - z, -epsilon - z]),
        np.concatenate([zero, -down.limit]),
        np.concatenate([up.limit, zero]),
        np.zeros(2 * n, np.int64),
        np.tile(np.arange(n), 2),
        np.zeros(2 * n),
        np.concatenate([up.ridge, down.ridge]),
    )


def nu_svr(z: Floats, C: Floats, nu: float) -> DualProblem:
    """The tube whose width is found by the problem: at most nu of the weight lies outside."""
    half = fill(nu * C.sum() / 2, C)
    start, group = np.concatenate([half, -half]), np.repeat([0, 1], len(z))
    return svr(insensitive(z, C, 0.0))._replace(group=group, start=start)


def least_squares(z: Floats, C: Floats) -> DualProblem:
    """Ridge regression in feature space: 1/2 |w|^2 + sum C_i (z_i - f_i)^2."""
    n = len(z)
    zeros, limit = np.zeros(n), np.full(n, np.inf)
    return DualProblem(-z, -limit, limit, np.zeros(n, np.int64), np.arange(n), zeros, 0.5 / C)


def fold(
    problem: DualProblem, b: Floats, n: int, row: Integers | None = None, xp: Any = np
) -> Floats:
    """The coefficient of each of n kernel rows: the sum of the variables b that share it.

    ``row`` are the rows of the variables, if b are not all of them.
    """
    row = problem.row if row is None else row
    coef: Floats = xp.bincount(row, weights=b, minlength=n).astype(np.float64)
    return coef


def unfold(problem: DualProblem, coef: Floats) -> Floats:
    """Variables with these coefficients: those of the rows' first variables."""
    rows, first = np.unique(problem.row, return_index=True)
    b = np.zeros(len(problem.row))
    b[first] = coef[rows]
    return b


def feasible_start(problem: DualProblem, guess: Floats) -> Floats:
    """A feasible point near a guess: clipped to the bounds, sums restored.

    Where a sum is too large in magnitude, the variables of its sign are scaled down and zeros stay
    zeros. What is missing is then filled into the variables in their order, those that are not 0
    first.
    """
    b = np.clip(guess, problem.lower, problem.upper)
    for g in np.flatnonzero(problem.fixed):
        inside = problem.group == g
        target = problem.start[inside].sum()
        part, lower, upper = b[inside], problem.lower[inside], problem.upper[inside]
        excess = part.sum() - target
        pushing = part > 0 if excess > 0 else part < 0
        push = abs(part[pushing].sum())
        if push > 0:
            part = np.where(pushing, part * max(0.0, 1 - abs(excess) / push), part)
        missing = target - part.sum()
        order = np.argsort(part == 0, kind="stable")
        room = (upper - part if missing > 0 else part - lower)[order]
        move = np.empty(len(part))
        move[order] = np.sign(missing) * fill(abs(missing), np.minimum(room, abs(missing)))
        b[inside] = np.clip(part + move, lower, upper)
    return b


def same_conditions(before: DualProblem, now: DualProblem, b: Floats) -> bool:
    """Whether b, if it solves one problem, solves another that differs in bounds alone.

    It does where the same variables are at their bounds: the optimality conditions are the same.
    """
    same = np.array_equal
    return (
        before.in_margin_units == now.in_margin_units
        and before.unconstrained == now.unconstrained
        and same(b > before.lower, b > now.lower)
        and same(b < before.upper, b < now.upper)
        and all(same(getattr(before, name), getattr(now, name)) for name in UNBOUNDED)
    )
