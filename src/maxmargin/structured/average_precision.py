"""Average precision as a structured hinge loss (Yue, Finley, Radlinski and Joachims 2007).

A ranking of p positive and q negative samples has the average precision

    AP = 1/p sum_i i / (i + before_i)

where before_i negative samples stand before the i-th positive one. With the scores s the loss is a
maximum over all rankings, n = p + q:

    loss(s) = n max over rankings of  1 - AP + 1/(p q) sum over swapped pairs of s_neg - s_pos

A pair is swapped if its negative sample stands first. In the worst ranking samples of a class are
in the order of their scores, both descending. Let the j-th negative sample stand before the
positive samples i_j, i_j + 1, ..., p. It lowers the precision of each of them from i / (i + j - 1)
to i / (i + j), because the j - 1 negative ones above it stand before them too. So

    loss(s) = n/p sum_j max over i_j of  sum over i >= i_j of  g(i, j)
    g(i, j) = i / (i + j - 1) - i / (i + j) - (s_i - s_j) / q

g falls in j, hence i_j grows with j and the best choices of all j make a ranking. Their sums over i
are known at once from the harmonic numbers H, because i / (i + j) = 1 - j / (i + j). The best i_j
of the middle j bounds those of the lower and the higher j: divide and conquer takes
O(n log n) in place of p q.

Reference: Y. Yue, T. Finley, F. Radlinski, T. Joachims, A support vector method for optimizing
average precision, SIGIR 2007. Their margins are half of these: s counts twice there.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers, Mask
from maxmargin.structured.contingency import sums
from maxmargin.structured.risks import Tangent


class AveragePrecisionLoss(NamedTuple):
    """n (1 - AP) as a structured hinge loss; see the top of this file."""

    is_positive: Mask

    def __call__(self, s: Floats) -> Tangent:
        """The tangent at the scores s."""
        positive, negative = np.flatnonzero(self.is_positive), np.flatnonzero(~self.is_positive)
        positive = positive[np.argsort(-s[positive])]
        negative = negative[np.argsort(-s[negative])]
        p, q = len(positive), len(negative)
        first = _first_below(s[positive], s[negative])
        before = np.searchsorted(first, np.arange(1, p + 1), side="right")
        i, n = np.arange(1, p + 1), p + q
        t = np.zeros(n)
        t[positive] = -before * (n / (p * q))
        t[negative] = (p + 1 - first) * (n / (p * q))
        return Tangent(n * float(np.mean(before / (i + before))), t)


def _first_below(up: Floats, down: Floats) -> Integers:
    """i_j of every negative sample, 1 .. p + 1; both lists of scores descend."""
    p, q = len(up), len(down)
    harmonic = sums(1.0 / np.arange(1, p + q + 1))
    score = sums(up)

    def value(i: Integers, j: Integers) -> Floats:
        """sum over i' >= i of g(i', j)."""
        lost = j * (harmonic[p + j] - harmonic[i + j - 1])
        lost -= (j - 1) * (harmonic[p + j - 1] - harmonic[i + j - 2])
        return np.asarray(lost - (score[p] - score[i - 1] - (p + 1 - i) * down[j - 1]) / q)

    first = np.zeros(q + 2, np.int64)  # j = 0 and j = q + 1 bound the others
    first[0], first[q + 1] = 1, p + 1
    step = 1 << q.bit_length()
    while step > 1:
        half = step // 2
        j = np.arange(half, q + 1, step)
        low, high = first[j - half], first[np.minimum(j + half, q + 1)]
        first[j] = _best_between(low, high, j, value)
        step = half
    return first[1:-1]


def _best_between(
    low: Integers, high: Integers, j: Integers, value: Callable[[Integers, Integers], Floats]
) -> Integers:
    """For each j the i of the greatest value in low .. high: at most p + 2 len(j) values in all."""
    count = high - low + 1
    begin = np.cumsum(count) - count
    i = np.arange(int(count.sum())) - np.repeat(begin - low, count)
    values = value(i, np.repeat(j, count))
    highest = np.repeat(np.maximum.reduceat(values, begin), count)
    found = np.flatnonzero(values == highest)
    first: Integers = i[found[np.searchsorted(found, begin)]]  # of equal values
    return first
