"""Ranking: order the samples of a query (Herbrich et al. 2000; Joachims 2002, 2006).

A sample i should score higher than j if its target is larger: t_i > t_j, both of the same query.
The machine pays for pairs whose scores w'x differ by less than 1 in the right direction:

    minimise over w   1/2 |w|^2 + C sum over pairs of max(0, 1 - w'(x_i - x_j))

It is a soft margin without bias for the points x_i - x_j, all of label +1. For n samples there are
about n^2 / 2 pairs, so this page, which lists them, is for small n.

The loss and its subgradient need no list. Sort by score; a pair is swapped if the better sample
has the lower score. Merge sort counts such pairs while it sorts: when an element of the right half
is written before what is left of the left half, it forms a swapped pair with each of those. That
takes n log n steps. Kendall's tau is 1 - 2 swapped / pairs. (The hinge counts pairs that are
swapped after the better samples have lost 1 of their score.)
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maxmargin.textbook.checks import Array, matrix, targets
from maxmargin.textbook.models import LinearModel
from maxmargin.textbook.quadratic_program import QuadraticProgram, box, solve, tidy
from maxmargin.textbook.soft_margin import check_C
from maxmargin.textbook.trace import Step, Trace


def swapped_pairs(order: ArrayLike) -> int:
    """The number of pairs i < j with order_i > order_j, by merge sort.

    Give the targets in the order of the scores to count the pairs that the scores swap.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> textbook.swapped_pairs([1, 3, 2, 4])
    1
    >>> textbook.swapped_pairs([4, 3, 2, 1])
    6
    """
    return _sort(list(np.asarray(order, float)))[1]


def _sort(values: list[float]) -> tuple[list[float], int]:
    """The values in order, and the number of pairs that were out of order."""
    if len(values) < 2:
        return values, 0
    (left, a), (right, b) = _sort(values[: len(values) // 2]), _sort(values[len(values) // 2 :])
    merged, swapped, i = [], a + b, 0
    for value in right:
        while i < len(left) and left[i] <= value:
            merged.append(left[i])
            i += 1
        swapped += len(left) - i  # value goes before all that is left of the left half
        merged.append(value)
    return merged + left[i:], swapped


def pairs(y: ArrayLike, queries: ArrayLike | None = None) -> NDArray[np.intp]:
    """A row (i, j) for each pair of one query with t_i > t_j.

    Examples
    --------
    >>> from maxmargin.textbook import ranking
    >>> ranking.pairs([2, 1, 3], [0, 0, 1])
    array([[0, 1]])
    """
    t = np.asarray(y, float)
    q = np.zeros(len(t)) if queries is None else np.asarray(queries)
    if q.shape != t.shape:
        raise ValueError(f"queries has shape {q.shape}, but there are {len(t)} targets.")
    return np.argwhere((t[:, None] > t) & (q[:, None] == q))


def ranking_svm(
    X: ArrayLike,
    y: ArrayLike,
    queries: ArrayLike | None = None,
    C: float = 1.0,
    trace: int = 1,
) -> tuple[LinearModel, Trace]:
    """The machine of all pairs by a QP library.

    Parameters
    ----------
    X, y : the samples and their targets.
    queries : the query of each sample; None for a single one.
    C : the price of a unit of slack of a pair.
    trace : 0 to keep no trace; the trace has one step, the end, with a multiplier for each pair.

    Returns
    -------
    model, trace
        ``model.predict`` is the score.

    See Also
    --------
    maxmargin.RankSVC : for real work.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, t = [[1.0, 2.0], [2.0, 1.0], [3.0, 3.0]], [1, 2, 3]
    >>> model, trace = textbook.ranking_svm(X, t, C=10.0)
    >>> model.predict(X).round(3)
    array([1., 2., 3.])
    """
    X = matrix(X)
    listed = pairs(targets(y, len(X)), queries)
    check_C(C)
    if not len(listed):
        raise ValueError("No two samples of a query have different targets: there are no pairs.")
    apart = X[listed[:, 0]] - X[listed[:, 1]]
    n, nothing = len(apart), (np.zeros((0, len(apart))), np.zeros(0))
    a = tidy(solve(QuadraticProgram(apart @ apart.T, -np.ones(n), *box(n, C), *nothing)), C)
    w: Array = a @ apart
    kept, half = Trace("ranking QP", trace), 0.5 * float(w @ w)
    if trace:
        primal = half + C * float(np.maximum(0.0, 1.0 - apart @ w).sum())
        kept.keep(Step(0, (), a, 0.0, primal, float(a.sum()) - half))
    return LinearModel(w, regression=True), kept
