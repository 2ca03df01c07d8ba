"""Probabilities in ONNX: sigmoids of the pairs, their coupling, the agreement with the label.

ONNX has no operator that solves equations. The conditions of calibration.py,

    Q p = b e,    e' p = 1,        Q_ii = sum_j r_ji^2,  Q_ij = -r_ij r_ji,  e = (1, ..., 1)

mean that p is in proportion to the solution of (Q + e e') p = e, since Q p + e (e' p) is in
proportion to e. This matrix is positive definite and well-conditioned, so that Gauss and Jordan's
elimination needs no pivots. It is written out, a few nodes for each class, for all samples at once.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.calibration import SETTINGS
from maxmargin.core.arrays import Floats
from maxmargin.io.formula import Formula
from maxmargin.isotonic import Isotonic
from maxmargin.kernel import multiclass


def _axes(*values: int) -> NDArray[np.int64]:
    return np.array(values, np.int64)


def probabilities(g: Any, formula: Formula, values: str, place: str) -> str:
    """Return the probabilities of the classes, given the values and the label's position."""
    how, k = formula.calibration, len(formula.labels)
    assert how is not None
    if how.marks is not None:
        return _agreeing(g, _from_marks(g, values, how.marks), place, k)
    if how.differences:
        first, second = np.array(list(multiclass.pairs(k)), np.int64).T
        picked = [g.op("Gather", values, part, axis=1) for part in (first, second)]
        values = g.op("Sub", *picked)
    if how.bent is not None:
        a, d, s, b = how.bent
        bend = g.op("Mul", _asinh(g, g.op("Mul", values, s)), d)
        z = g.op("Add", g.op("Add", g.op("Mul", values, a), bend), b)
        r = g.op("Sigmoid", g.op("Neg", z))
    elif how.sigmoids is not None:
        a, b = how.sigmoids
        r = g.op("Sigmoid", g.op("Neg", g.op("Add", g.op("Mul", values, a), b)))
    else:
        assert how.isotonic is not None
        r = _between(g, values, how.isotonic)
    r = g.op("Min", g.op("Max", r, SETTINGS.least), 1 - SETTINGS.least)
    both = g.op("Concat", r, g.op("Sub", 1.0, r), axis=1)
    return _agreeing(g, both if k == 2 else _coupled(g, both, k), place, k)


def _asinh(g: Any, v: str) -> str:
    """Return asinh(v) = sign(v) log(|v| + sqrt(v^2 + 1)); ONNX Runtime has no doubles for Asinh."""
    size = g.op("Abs", v)
    root = g.op("Sqrt", g.op("Add", g.op("Mul", v, v), 1.0))
    return str(g.op("Mul", g.op("Sign", v), g.op("Log", g.op("Add", size, root))))


def _from_marks(g: Any, values: str, marks: Floats) -> str:
    """Return the probabilities of outside and inside: the share of marks that a value reaches."""
    reached = g.op("Not", g.op("Less", values, marks[None]))
    count = g.op("ReduceSum", g.op("Cast", reached, to=g.onnx.TensorProto.DOUBLE), _axes(1))
    inside = g.op("Div", count, float(len(marks)))
    inside = g.op("Min", g.op("Max", inside, SETTINGS.surest), 1 - SETTINGS.surest)
    return str(g.op("Concat", g.op("Sub", 1.0, inside), inside, axis=1))


def _between(g: Any, values: str, points: Isotonic) -> str:
    """Return r of each pair: its first point and the share of each segment that v has passed."""
    begins = np.append(0, points.ends[:-1])
    inner = np.setdiff1d(np.arange(len(points.values)), points.ends - 1)
    pair = np.searchsorted(points.ends, inner, side="right")
    rise = np.zeros((len(inner), len(points.ends)))
    rise[np.arange(len(inner)), pair] = points.p[inner + 1] - points.p[inner]
    if not len(inner):
        return str(g.op("Add", g.op("Mul", values, 0.0), points.p[begins]))
    here = g.op("Sub", g.op("Gather", values, pair, axis=1), points.values[inner])
    passed = g.op("Div", here, points.values[inner + 1] - points.values[inner])
    passed = g.op("Min", g.op("Max", passed, 0.0), 1.0)
    return str(g.op("Add", g.op("MatMul", passed, rise), points.p[begins]))


def _coupled(g: Any, both: str, k: int) -> str:
    """Return p from r_ij of all pairs i < j, followed by all r_ji."""
    pairs = list(multiclass.pairs(k))
    place = np.zeros((k, k), np.int64)
    for column, (i, j) in enumerate(pairs):
        place[i, j], place[j, i] = column, column + len(pairs)
    r = g.op("Mul", g.op("Gather", both, place, axis=1), 1 - np.eye(k))
    products = g.op("Mul", r, g.op("Transpose", r, perm=[0, 2, 1]))
    squares = g.op("ReduceSum", g.op("Mul", r, r), _axes(1), keepdims=1)  # sums over i of r_ij^2
    matrix = g.op("Sub", g.op("Add", g.op("Mul", squares, np.eye(k)), 1.0), products)
    ones = g.op("Add", g.op("Mul", g.op("ReduceSum", r, _axes(2), keepdims=1), 0.0), 1.0)
    system = g.op("Concat", matrix, ones, axis=2)
    for i in range(k):
        row = g.op("Gather", system, _axes(i), axis=1)
        column = g.op("Gather", system, _axes(i), axis=2)
        row = g.op("Div", row, g.op("Gather", row, _axes(i), axis=2))
        rest = g.op("Sub", column, np.eye(k)[:, i : i + 1])
        system = g.op("Sub", system, g.op("Mul", rest, row))
    solution = g.op("Squeeze", g.op("Gather", system, _axes(k), axis=2), _axes(2))
    p = g.op("Max", solution, 0.0)
    return str(g.op("Div", p, g.op("ReduceSum", p, _axes(1), keepdims=1)))


def _agreeing(g: Any, p: str, place: str, k: int) -> str:
    """Return the nearest probabilities whose greatest is that of the label; see calibration.py."""
    wrong = g.op("Not", g.op("Equal", g.op("ArgMax", p, axis=1, keepdims=0), place))
    own = g.op("Equal", g.op("Unsqueeze", place, _axes(1)), np.arange(k)[None])
    before = g.op("ReduceSum", g.op("Where", own, p, 0.0), _axes(1), keepdims=1)
    others = g.op("Where", own, -1.0, p)
    sums = g.op("CumSum", g.op("TopK", others, _axes(k - 1), axis=1), _axes(1))
    shared = g.op("Div", g.op("Add", sums, before), np.arange(2.0, k + 1))
    t = g.op("ReduceMax", shared, axes=[1], keepdims=1)
    q = g.op("Where", own, 0.0, g.op("Min", others, g.op("Mul", t, 1 - SETTINGS.lead)))
    rest = g.op("Sub", 1.0, g.op("ReduceSum", q, _axes(1), keepdims=1))
    q = g.op("Where", own, rest, q)
    return str(g.op("Where", g.op("Unsqueeze", wrong, _axes(1)), q, p))
