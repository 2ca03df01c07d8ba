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
from maxmargin.io.formula import Formula
from maxmargin.kernel import multiclass


def _axes(*values: int) -> NDArray[np.int64]:
    return np.array(values, np.int64)


def probabilities(g: Any, formula: Formula, values: str, place: str) -> str:
    """Return the probabilities of the classes, given the pairs' values and the label's position."""
    assert formula.sigmoids is not None
    assert formula.classes is not None
    k, (a, b) = len(formula.classes), formula.sigmoids
    r = g.op("Sigmoid", g.op("Neg", g.op("Add", g.op("Mul", values, a), b)))
    r = g.op("Min", g.op("Max", r, SETTINGS.least), 1 - SETTINGS.least)
    both = g.op("Concat", r, g.op("Sub", 1.0, r), axis=1)
    p = both if k == 2 else _coupled(g, both, k)
    return _agreeing(g, p, place, k)


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
