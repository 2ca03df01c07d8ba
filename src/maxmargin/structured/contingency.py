"""Losses that count: the F1 score, and precision and recall among the k best.

A labeling yhat of the n samples has a contingency table: of the p positive samples it misses c, of
the q negative ones it takes d for positive. With the scores s of the samples the structured hinge
loss of a measure (Joachims 2005) is

    loss(s) = max over yhat of  n Delta(c, d) + 1/2 sum_i (yhat_i - y_i) s_i

For each table the worst labeling misses the c lowest positive samples and takes the d highest
negative ones. So the tables are searched, not the 2^n labelings. With sorted scores

    missed(c) = sum of the c lowest positive scores,   taken(d) = sum of the d highest negative ones

**F1.** Delta = 1 - F1 = (c + d) / (2p + k), where p + k = p - c + d samples are labelled positive.
For each k the value

    n (2c + k) / (2p + k) - missed(c) + taken(c + k)

is concave in c: bisection finds the best c of all k at once, in O(n log n). Let h(k) be the best
values. Without an intercept the loss is max h(k). A free intercept b adds b k:

    min over b of max over k of h(k) + b k

is the upper concave envelope of h at k = 0. It is a mixture of two labelings, one with too many
positives and one with too few. This b labels too many samples positive, because a negative sample
costs the less the more of them are taken. A trained model has the intercept of the greatest F1 of
its samples instead.

**The k best.** Exactly k samples are labelled positive, and m = min(k, p) - c' of them could still
be replaced by positive samples, where c' = p - c is the number of positive ones among the k:

    loss(s) = max over c of  unit m + m (mean of the d highest negative scores
                                         - mean of the c lowest positive scores),   d = k - p + c

unit is n/k for precision and n/p for recall. It bounds the measure's loss from above, whatever k
is, and is the loss above where k = p: the break-even point of precision and recall. For k < p this
is the surrogate "avg" of Kar et al. (2015); SVM-perf's is not a bound there, because it compares
with the scores of all positive samples. The intercept cancels.

References: T. Joachims, A support vector method for multivariate performance measures, ICML 2005.
P. Kar, H. Narasimhan, P. Jain, Surrogate functions for maximizing precision at the top, ICML 2015.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers, Mask
from maxmargin.structured.risks import Tangent


class Settings(NamedTuple):
    """Constants of the search for the worst table."""

    stride: int = 64
    """Every how many k the search begins: it halves the time of 200,000 samples."""


SETTINGS = Settings()


class Sides(NamedTuple):
    """The samples of both classes, the most dangerous ones first."""

    positive: Integers
    """Positive samples, the lowest score first."""
    negative: Integers
    """Negative samples, the highest score first."""
    missed: Floats
    """Sums of the first 0, 1, ... positive scores."""
    taken: Floats
    """Sums of the first 0, 1, ... negative scores."""


def sides(is_positive: Mask, s: Floats) -> Sides:
    """Sort the scores of both classes."""
    positive, negative = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
    positive = positive[np.argsort(s[positive])]
    negative = negative[np.argsort(-s[negative])]
    return Sides(positive, negative, sums(s[positive]), sums(s[negative]))


def sums(values: Floats) -> Floats:
    """The sums of the first 0, 1, ... values."""
    return np.concatenate([[0.0], np.cumsum(values)])


# ---- F1 ------------------------------------------------------------------------------------------


class F1Loss(NamedTuple):
    """n (1 - F1) as a structured hinge loss; see the top of this file."""

    is_positive: Mask
    free_intercept: bool

    def __call__(self, s: Floats) -> Tangent:
        """The tangent at the scores s."""
        found = sides(self.is_positive, s)
        table = _best_tables(found)
        if not self.free_intercept:
            return _labelled(found, table, int(np.argmax(table.h)))
        left, right = _bridge(table.h, len(found.positive))
        few, many = _labelled(found, table, left), _labelled(found, table, right)
        # the mixture labels p samples positive
        share = 1.0 if left == right else (right - len(found.positive)) / (right - left)
        return Tangent(
            share * few.offset + (1 - share) * many.offset, share * few.t + (1 - share) * many.t
        )

    def intercept(self, s: Floats) -> float:
        """The intercept with the greatest F1 of the samples, in the widest gap; 0 if not free."""
        if not self.free_intercept:
            return 0.0
        order = np.argsort(-s, kind="stable")
        hits, k = np.cumsum(self.is_positive[order]), np.arange(1, len(s) + 1)
        high = s[order]
        low = np.append(high[1:], high[-1] - 1.0)
        f1 = np.where(high > low, 2 * hits / (hits[-1] + k), -1.0)
        best = np.flatnonzero(f1 >= f1.max() - 1e-12)
        widest = best[np.argmax(high[best] - low[best])]
        return -0.5 * float(high[widest] + low[widest])


class _Tables(NamedTuple):
    """For each number of samples labelled positive the worst contingency table."""

    h: Floats
    """Its value; place k + p of the array is that of k."""
    c: Integers
    """The number of positive samples that it misses."""


def _best_tables(found: Sides) -> _Tables:
    """h(k) for all k = -p .. q, by bisection for all k at once.

    The best c falls as k grows. So some k come first, and bound c for those between them.
    """
    positive, negative, missed, taken = found
    p, q = len(positive), len(negative)
    k, n = np.arange(-p, q + 1), p + q
    gain = 2 * n / (2.0 * p + k)
    up, down = np.diff(missed), np.diff(taken)
    low, high = np.maximum(0, -k), np.minimum(p, q - k)
    some = np.append(np.arange(0, n, SETTINGS.stride), n)
    first = _bisect(k[some], low[some], high[some], gain[some], up, down)
    after = np.searchsorted(some, np.arange(n + 1))
    low = np.maximum(low, first[after])
    high = np.minimum(high, first[np.maximum(after - 1, 0)])
    c = _bisect(k, low, high, gain, up, down)
    return _Tables(gain * (c + 0.5 * k) - missed[c] + taken[c + k], c)


def _bisect(
    k: Integers, low: Integers, high: Integers, gain: Floats, up: Floats, down: Floats
) -> Integers:
    """For each k the least c in low .. high from which on h does not grow."""
    low, high = low.copy(), high.copy()
    active = np.flatnonzero(low < high)
    while len(active):
        begin, end = low[active], high[active]
        middle = (begin + end) // 2
        grows = gain[active] - up[middle] + down[middle + k[active]] > 0
        low[active] = begin = np.where(grows, middle + 1, begin)
        high[active] = end = np.where(grows, end, middle)
        active = active[begin < end]
    return low


def _labelled(found: Sides, table: _Tables, place: int) -> Tangent:
    """The tangent of the labeling that h takes at a place."""
    p, q = len(found.positive), len(found.negative)
    k, c = place - p, int(table.c[place])
    t = np.zeros(p + q)
    t[found.positive[:c]] = -1.0
    t[found.negative[: c + k]] = 1.0
    return Tangent((p + q) * (2 * c + k) / (2 * p + k), t)


def _bridge(h: Floats, at: int) -> tuple[int, int]:
    """The places left <= at <= right between which the upper concave envelope of h is a line."""
    left, right = 0, len(h) - 1
    while left < at < right:
        slope = (h[right] - h[left]) / (right - left)
        above = h[left : right + 1] - slope * np.arange(right - left + 1)
        highest = int(np.argmax(above))
        if above[highest] <= above[0] + 1e-13 * (abs(above[0]) + abs(h[at])):
            break
        place = left + highest
        left = place if place <= at else left
        right = place if place >= at else right
    return (left, right) if left < at < right else (at, at)


# ---- the k best ----------------------------------------------------------------------------------


class TopLoss(NamedTuple):
    """The loss of the k samples with the highest scores; see the top of this file."""

    is_positive: Mask
    k: int
    unit: float
    """The loss of a negative sample among the k: n/k for precision, n/p for recall."""

    def __call__(self, s: Floats) -> Tangent:
        """The tangent at the scores s."""
        positive, negative, missed, taken = sides(self.is_positive, s)
        p, q, k = len(positive), len(negative), self.k
        least = max(p - k, 0)
        c = np.arange(least, min(p, p - k + q) + 1)
        m, d = c - least, c + k - p
        mean_taken = taken[d] / np.maximum(d, 1)
        mean_missed = missed[c] / np.maximum(c, 1)
        best = int(np.argmax(m * (self.unit + mean_taken - mean_missed)))
        t, count = np.zeros(p + q), float(m[best])
        if count > 0:
            t[positive[: c[best]]] = -count / c[best]
            t[negative[: d[best]]] = count / d[best]
        return Tangent(self.unit * count, t)

    def intercept(self, s: Floats) -> float:
        """Half way between the k-th and the next score: k samples are above."""
        return above_the_threshold(s, self.k)


def above_the_threshold(s: Floats, k: int) -> float:
    """The intercept with which the k highest scores are positive, if no two scores are equal."""
    n = len(s)
    if k >= n:
        return 1.0 - float(s.min())
    parts = np.partition(s, (n - k - 1, n - k))
    return -0.5 * float(parts[n - k - 1] + parts[n - k])
