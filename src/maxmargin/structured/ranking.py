"""The hinge losses of all pairs of a ranking, in O(n log n): Joachims (2006).

The samples of a query are to be ranked by their targets y. A pair (i, j) of one query with
y_i > y_j demands of the scores s that s_i - s_j reaches a margin, and costs

    l_ij = max(0, margin + rise (y_i - y_j) - (s_i - s_j))

Grades ask for margin = 1, rise = 0: the order alone counts. Real targets ask for margin = 0,
rise = 1: differences of scores should reach those of the targets. The loss is

    loss(s) = sum over queries q of  V_q / P_q  sum over the pairs (i, j) of q of  v_i v_j l_ij
    V_q = sum of v_i over the samples of q,    P_q = sum of v_i v_j over the pairs of q

A query counts as many times as it has samples, each time with the mean loss of its pairs. So C
means what it means in SVC, and a factor on the weights v of a query is a factor on its loss.

Pairs are active where l_ij > 0. With the keys k = s - rise y that is k_i - k_j < margin, which
`core/ranking.h` adds up by merge sort: below_i is the weight of the active partners of i that are
to rank below it, above_i that of those above. In these sums

    t_i = V_q / P_q v_i (above_i - below_i)
    loss(s) = offset + sum(t * s),   offset = sum over active pairs of V_q / P_q v_i v_j
                                                (margin + rise (y_i - y_j))

Every choice of pairs gives a plane below the loss, so rounding of the keys does no harm. The sum of
t is 0 in each query: an intercept would change nothing, and there is none.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import column_or_1d

from maxmargin.core.arrays import Floats, Integers
from maxmargin.core.choose import HOST
from maxmargin.structured.risks import Tangent


def query_numbers(qid: Any, n: int) -> Integers:
    """The query of each of n samples as a number from 0 on; None is one query."""
    if qid is None:
        return np.zeros(n, np.int64)
    labels = column_or_1d(qid)
    if len(labels) != n:
        raise ValueError(
            f"qid has {len(labels)} entries, but there are {n} samples: give the query of each one."
        )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError(
            f"qid contains NaN or infinity in {int((~np.isfinite(labels)).sum())} places: give "
            "every sample the number of its query."
        )
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


class Ranking(NamedTuple):
    """The samples in order of query and target."""

    order: Integers
    """The samples in this order; the arrays below follow it."""
    y: Floats
    """Targets above the least one of the query: differences of large targets keep their digits."""
    weight: Floats
    level_begin: Integers
    """Where the samples of each target of each query begin, and the end."""
    query_begin: Integers
    """Where the targets of each query begin in level_begin, and the end."""

    def active(self, key: Floats, margin: float) -> tuple[Floats, Floats]:
        """The weights of the partners below and above each sample in pairs of key difference below
        the margin.
        """
        return HOST.rank_pairs(key, self.weight, self.level_begin, self.query_begin, margin)

    def sums(self, values: Floats) -> Floats:
        """The sum of some values, in this order, over each query."""
        return np.add.reduceat(values, self.level_begin[self.query_begin[:-1]])

    def spread(self, values: Floats) -> Floats:
        """The value of its query for each sample, in this order."""
        return np.repeat(values, np.diff(self.level_begin[self.query_begin]))


def ranking_of(y: Floats, query: Integers, weight: Floats) -> Ranking:
    """Sort samples by query and target; there is at least one."""
    order = np.lexsort((y, query))
    y, query = y[order], query[order]
    new_query = np.diff(query) != 0
    new_level = new_query | (np.diff(y) != 0)
    level_begin = np.concatenate([[0], np.flatnonzero(new_level) + 1, [len(y)]])
    first = np.concatenate([[0], np.flatnonzero(new_query) + 1])
    query_begin = np.append(np.searchsorted(level_begin, first), len(level_begin) - 1)
    least = np.repeat(y[first], np.diff(np.append(first, len(y))))
    return Ranking(order, y - least, weight[order], level_begin, query_begin)


def pair_weights(ranking: Ranking) -> Floats:
    """The weight P_q of all pairs of each query; 0 where all targets are equal."""
    below, _ = ranking.active(np.zeros(len(ranking.y)), np.inf)
    return ranking.sums(ranking.weight * below)


class RankLoss(NamedTuple):
    """The mean hinge loss of the pairs of each query, times its samples; see above."""

    ranking: Ranking
    cost: Floats
    """V_q / P_q v_i, in units of the greatest weight of the query; 0 in queries without pairs."""
    margin: float
    rise: float

    def __call__(self, s: Floats) -> Tangent:
        """The plane that touches the loss at the scores s."""
        ranking, cost = self.ranking, self.cost
        key = s[ranking.order] - self.rise * ranking.y
        below, above = ranking.active(key, self.margin)
        slope = cost * (above - below)
        # not a product by BLAS, whose bits depend on the number of threads
        offset = float(np.sum(self.margin * cost * below - self.rise * slope * ranking.y))
        t = np.empty(len(s))
        t[ranking.order] = slope
        return Tangent(offset, t)


def rank_loss(
    y: Floats, query: Integers, weight: Floats, *, margin: float = 1.0, rise: float = 0.0
) -> RankLoss:
    """The loss of samples with these targets, queries and positive weights."""
    ranking = ranking_of(y, query, weight)
    greatest = np.maximum.reduceat(ranking.weight, ranking.level_begin[ranking.query_begin[:-1]])
    unit = ranking.spread(np.ldexp(1.0, np.frexp(greatest)[1]))  # products of weights stay finite
    ranking = ranking._replace(weight=ranking.weight / unit)
    pairs, samples = pair_weights(ranking), ranking.sums(ranking.weight)
    factor = np.divide(samples, pairs, out=np.zeros(len(pairs)), where=pairs > 0)
    cost = ranking.spread(factor) * ranking.weight * unit
    return RankLoss(ranking, cost, margin, rise)
