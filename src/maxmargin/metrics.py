"""Scores of a ranking, averaged over queries.

Each takes the targets, the scores and ``qid``, the query of each sample. Queries whose targets are
all equal have no order and are left out. In scikit-learn's searches ``qid`` is routed to them:

    make_scorer(ndcg_score, k=10).set_score_request(qid=True)
"""

from typing import Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from maxmargin.core.arrays import Floats, Integers
from maxmargin.structured.ranking import Ranking, pair_weights, query_numbers, ranking_of

__all__ = ["kendall_tau_score", "ndcg_score"]


def kendall_tau_score(y_true: Any, y_score: Any, *, qid: Any = None) -> float:
    """Kendall's tau-b between targets and scores, averaged over queries.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The targets.
    y_score : array-like of shape (n_samples,)
        The scores that rank the samples.
    qid : array-like of shape (n_samples,), default=None
        The query of each sample; None is one query.

    Returns
    -------
    tau : float
        From -1, every pair swapped, to 1, every pair in order. A query with equal scores for all
        samples counts as 0. Pairs are counted, not enumerated: n samples take O(n log n) steps.

    See Also
    --------
    ndcg_score : counts the top of the ranking more than its end.

    References
    ----------
    Kendall, M. G. (1945). The treatment of ties in ranking problems. Biometrika 33, 239-251.

    Examples
    --------
    >>> from maxmargin.metrics import kendall_tau_score
    >>> kendall_tau_score([2, 1, 0, 1, 0], [0.9, 0.5, 0.1, 0.2, 0.7], qid=[1, 1, 1, 2, 2])
    0.0
    """
    y, s, query = _validated(y_true, y_score, qid)
    ranking = ranking_of(y, query, np.ones(len(y)))
    pairs = pair_weights(ranking)
    swapped, _ = ranking.active(s[ranking.order], 0.0)
    discordant, same = ranking.sums(swapped), _ties(ranking, query, s)
    concordant = pairs - discordant - (same - _ties(ranking, query, s, y))
    size = ranking.sums(ranking.weight)
    differ = size * (size - 1) / 2 - same
    known = np.sqrt(pairs * differ)
    tau = np.divide(concordant - discordant, known, out=np.zeros(len(pairs)), where=known > 0)
    return _mean(tau, pairs)


def ndcg_score(
    y_true: Any, y_score: Any, *, qid: Any = None, k: int | None = None, gain: str = "linear"
) -> float:
    """Normalised discounted cumulative gain, averaged over queries.

    The gains of the samples are discounted by 1 / log2(1 + rank) and added up; the sum is divided
    by that of the best order. Samples of equal scores share their discounts, as in scikit-learn.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The targets, >= 0.
    y_score : array-like of shape (n_samples,)
        The scores that rank the samples.
    qid : array-like of shape (n_samples,), default=None
        The query of each sample; None is one query.
    k : int, default=None
        Only the first k samples of a ranking count; None is all.
    gain : {"linear", "exponential"}, default="linear"
        The gain of a sample is its target y, or 2^y - 1 as XGBoost and LightGBM have it.

    Returns
    -------
    ndcg : float
        From 0 to 1, the best order.

    See Also
    --------
    kendall_tau_score : every pair counts the same.
    sklearn.metrics.ndcg_score : the same for queries of equal sizes, as rows of a matrix.

    References
    ----------
    Järvelin, K. and Kekäläinen, J. (2002). Cumulated gain-based evaluation of IR techniques. ACM
    Transactions on Information Systems 20, 422-446.

    Examples
    --------
    >>> from maxmargin.metrics import ndcg_score
    >>> y, qid = [3, 0, 1, 2, 0], [1, 1, 1, 2, 2]
    >>> round(ndcg_score(y, [0.3, 0.1, 0.2, 0.4, 0.5], qid=qid), 3)
    0.815
    >>> round(ndcg_score(y, [0.3, 0.1, 0.2, 0.4, 0.5], qid=qid, k=1), 3)
    0.5
    """
    y, s, query = _validated(y_true, y_score, qid)
    if not (k is None or k >= 1):
        raise ValueError(f"k={k} must be >= 1: that many samples at the top are counted.")
    if gain not in ("linear", "exponential"):
        raise ValueError(f"gain must be 'linear' or 'exponential', got {gain!r}.")
    if y.min() < 0:
        raise ValueError(
            f"y_true has negative targets, the least is {y.min():g}, and gains must be >= 0: shift "
            "the targets, or use kendall_tau_score."
        )
    with np.errstate(over="ignore"):
        gains = y if gain == "linear" else np.exp2(y) - 1
    if not np.isfinite(gains).all():
        raise ValueError(f"2^{y.max():g} exceeds the range of float64: use gain='linear'.")
    found = _discounted(gains, query, s, k)
    best = _discounted(gains, query, gains, k)
    pairs = pair_weights(ranking_of(y, query, np.ones(len(y))))
    return _mean(np.divide(found, best, out=np.zeros(len(best)), where=best > 0), pairs)


def _validated(y_true: Any, y_score: Any, qid: Any) -> tuple[Floats, Floats, Integers]:
    """Targets and scores as float64, and the queries as numbers from 0 on."""
    y, s = (
        check_array(column_or_1d(values), ensure_2d=False, dtype=np.float64, input_name=name)
        for values, name in ((y_true, "y_true"), (y_score, "y_score"))
    )
    check_consistent_length(y, s)
    return y, s, query_numbers(qid, len(y))


def _mean(values: Floats, pairs: Floats) -> float:
    """The mean over queries with pairs."""
    if not pairs.any():
        raise ValueError(
            f"There is nothing to rank: the targets of each query ({len(pairs)} in all) are equal."
        )
    return float(values[pairs > 0].mean())


def _runs(order: Integers, *keys: Any) -> Integers:
    """Where runs of equal keys begin in this order."""
    new = np.zeros(len(order), bool)
    new[0] = True
    for key in keys:
        new[1:] |= np.diff(key[order]) != 0
    return np.flatnonzero(new)


def _ties(ranking: Ranking, query: Integers, *keys: Floats) -> Floats:
    """The number of pairs of each query that agree in all keys."""
    order = np.lexsort((*keys, query))
    begin = _runs(order, query, *keys)
    count = np.diff(np.append(begin, len(order))).astype(np.float64)
    found = np.zeros(len(ranking.query_begin) - 1)
    np.add.at(found, query[order[begin]], count * (count - 1) / 2)
    return found


def _discounted(gains: Floats, query: Integers, s: Floats, k: int | None) -> Floats:
    """The discounted gain of each query, ranked by the scores s."""
    order = np.lexsort((-s, query))
    start, tied = _runs(order, query), _runs(order, query, s)
    rank = np.arange(len(order)) - np.repeat(start, np.diff(np.append(start, len(order))))
    discount = 1 / np.log2(rank + 2.0)
    if k is not None:
        discount[rank >= k] = 0.0
    count = np.diff(np.append(tied, len(order)))
    shared = np.add.reduceat(discount, tied) / count
    return np.add.reduceat(gains[order] * np.repeat(shared, count), start)
