"""Cutting planes: a convex function from below (Joachims 2006, 2009; Tsochantaridis et al. 2005).

``theory`` names SVM-perf, which trains so; ``fan`` names structured machines, which need it.

    P(w) = 1/2 |w|^2 + C R(w),    R(w) = sum_i max(0, 1 - t_i w'x_i)

R is convex: each of its tangent planes lies below it. The plane at v is

    R(w) >= offset + slope'w,   offset = |{i : t_i v'x_i < 1}|,   slope = -sum of t_i x_i over them

Keep a list of planes j. With R replaced by their maximum (and by 0, a plane too), the problem is a
small one, the reduced problem, whose optimum D lies below that of P:

    primal:  minimise over w, xi >= 0   1/2 |w|^2 + C xi   with   xi >= offset_j + slope_j'w
    dual:    maximise over a >= 0       sum_j a_j offset_j - 1/2 |w|^2   with   sum_j a_j <= C
             where w = -sum_j a_j slope_j

Every round adds the plane at the new w. D grows, P(w) - D bounds the error, and the algorithm stops
when it is small. This is the "1-slack" form: one xi for all points. A plane sums over the points.
For a given price of the mean loss, C n, the bound on the rounds does not depend on n.

The "n-slack" form has a xi_i for each point. For classes k with a w_k each, the loss of a point is
its worst violation, where a wrong class must be behind by 1 (margin rescaling):

    xi_i >= 1 + w_k'x_i - w_y'x_i     for the classes k other than y = y_i

A round adds the most violated one of every point; sum_k a_ik <= C. (The paper solves after each.)
There is no bias: centre the data, or give ``bias=True`` for a constant feature.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.textbook.checks import Array, labelled, points, warn_stopped
from maxmargin.textbook.models import LinearModel
from maxmargin.textbook.multiclass import OneVersusRest
from maxmargin.textbook.quadratic_program import QuadraticProgram, solve
from maxmargin.textbook.soft_margin import check_C
from maxmargin.textbook.trace import Step, Trace


class Plane(NamedTuple):
    """xi_slack >= offset + slope'w."""

    slack: int
    """Which slack it bounds; the 1-slack form has only the number 0."""
    offset: float
    slope: Array


Oracle = Callable[[Array], tuple[float, list[Plane]]]
"""R(w) and the planes that touch it at w."""


def cutting_planes(
    X: ArrayLike,
    y: ArrayLike,
    C: float = 1.0,
    bias: bool = False,
    tol: float = 1e-4,
    max_iter: int = 1000,
    trace: int = 1,
) -> tuple[LinearModel, Trace]:
    """The soft margin by the 1-slack algorithm.

    Parameters
    ----------
    X, y : the points and their labels -1 and +1.
    C : the price of a unit of slack.
    bias : add a constant feature of one.
    tol : stop when P - D <= tol P.
    max_iter : stop after this many planes in any case.
    trace : keep the state after every `trace` planes, 0 for never.

    Returns
    -------
    model, trace
        The variables of a step are w, with the bias as its last; ``plane`` gives the plane there.

    See Also
    --------
    maxmargin.PerfSVC : for real work, and for other measures than the error.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[-2.0], [-1.0], [1.0], [2.0]], [-1, -1, 1, 1]
    >>> model, trace = textbook.cutting_planes(X, y)
    >>> trace.column("dual").round(3)  # the lower bound grows
    array([0.   , 0.222, 0.5  ])
    >>> model.w.round(3)
    array([1.])
    """
    data, t = points(X, y)
    X = np.column_stack([data, np.ones(len(data))]) if bias else data
    kept = Trace(
        "cutting planes", trace, data, t, lambda step: LinearModel.of_weights(step.variables, bias)
    )

    def oracle(w: Array) -> tuple[float, list[Plane]]:
        offset, slope = touching = plane(w, X, t)
        return offset + float(slope @ w), [Plane(0, *touching)]

    w = grow(oracle, X.shape[1], C, tol, max_iter, kept)
    return LinearModel.of_weights(w, bias), kept


def plane(w: Array, X: Array, t: Array) -> tuple[float, Array]:
    """Offset and slope of the plane that touches R at w."""
    violated = t * (X @ w) < 1.0
    return float(violated.sum()), -(t[violated] @ X[violated])


def grow(oracle: Oracle, size: int, C: float, tol: float, max_iter: int, kept: Trace) -> Array:
    """The algorithm: add planes until P - D <= tol P; the best of all w."""
    check_C(C)
    planes: list[Plane] = []
    w, dual, best, lowest = np.zeros(size), 0.0, np.zeros(size), np.inf
    for iteration in range(max_iter + 1):
        risk, touching = oracle(w)
        primal = 0.5 * float(w @ w) + C * risk
        if primal < lowest:
            best, lowest = w, primal
        done = lowest - dual <= tol * lowest or iteration == max_iter
        if done or kept.due(iteration):
            kept.keep(Step(iteration, (), w, primal=primal, dual=dual))
        if done:
            break
        planes += touching
        w, dual = reduced(planes, C)
    if lowest - dual > tol * lowest:
        said, gap = f"{kept.name}: stopped after {max_iter} rounds", lowest - dual
        warn_stopped(said, gap, tol * lowest, "give a larger max_iter")
    return best


def reduced(planes: list[Plane], C: float) -> tuple[Array, float]:
    """w and D of the reduced problem."""
    n, slopes = len(planes), np.array([plane.slope for plane in planes])
    slack, offsets = np.array([(plane.slack, plane.offset) for plane in planes]).T
    members = (slack == np.unique(slack)[:, None]).astype(float)
    G, h = np.vstack([-np.eye(n), members]), np.repeat([0.0, C], [n, len(members)])
    nothing = np.zeros((0, n)), np.zeros(0)
    a = np.maximum(0.0, solve(QuadraticProgram(slopes @ slopes.T, -offsets, G, h, *nothing)))
    a /= np.maximum(1.0, members.T @ (members @ a) / C)  # exactly feasible, so that D is a bound
    w = -(a @ slopes)
    return w, float(a @ offsets - 0.5 * w @ w)


def n_slack(
    X: ArrayLike,
    y: ArrayLike,
    C: float = 1.0,
    bias: bool = False,
    tol: float = 1e-4,
    max_iter: int = 1000,
    trace: int = 1,
) -> tuple[OneVersusRest, Trace]:
    """Several classes by the n-slack algorithm; parameters as in ``cutting_planes``.

    The labels are of any kind. It is the machine of Crammer and Singer (2001).

    See Also
    --------
    maxmargin.StructuredSVM : for real work; LinearSVC with ``multi_class="crammer_singer"``, too.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[0.0, 2.0], [2.0, 0.0], [-2.0, -2.0]], ["up", "right", "down"]
    >>> model, trace = textbook.n_slack(X, y)
    >>> model.predict(X)
    array(['up', 'right', 'down'], dtype='<U5')
    >>> bool(trace.steps[-1].gap < 1e-4)
    True
    """
    data, labels, classes = labelled(X, y)
    X = np.column_stack([data, np.ones(len(data))]) if bias else data
    own, rows, shape = np.searchsorted(classes, labels), np.arange(len(X)), (len(classes), -1)

    def oracle(w: Array) -> tuple[float, list[Plane]]:
        scores = X @ w.reshape(shape).T
        behind = scores - scores[rows, own][:, None] + 1.0
        behind[rows, own] = 0.0
        worst = np.argmax(behind, axis=1)
        violated = np.flatnonzero(worst != own)
        return float(behind.max(axis=1).sum()), [apart(int(i), worst[i]) for i in violated]

    def apart(i: int, k: int) -> Plane:
        """The constraint of point i and the wrong class k."""
        slope = np.zeros((len(classes), X.shape[1]))
        slope[k], slope[own[i]] = X[i], -X[i]
        return Plane(i, 1.0, slope.ravel())

    kept = Trace("n-slack", trace)
    W = grow(oracle, len(classes) * X.shape[1], C, tol, max_iter, kept).reshape(shape)
    return OneVersusRest(classes, [LinearModel.of_weights(w, bias) for w in W]), kept
