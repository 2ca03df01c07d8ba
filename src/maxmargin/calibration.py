"""Probabilities from decision values: LIBSVM's, and labels that agree with them.

A pair of classes has P(first | f) = 1 / (1 + exp(A f + B)), f the decision value, positive for the
first. A and B maximise the likelihood of decision values of samples that the machine was not
trained on (Platt 1999), with targets t a little inside 0 and 1,

    minimise  F(A, B) = sum_i  w_i (t_i z_i + log(1 + exp(-z_i))),    z = A f + B,    A <= 0
    t = (n1 + 1) / (n1 + 1 + d) for the first class, whose weights w add up to n1
    t = d / (n2 + 1 + d)        for the second, with n2

d = 1 are Platt's targets: by Laplace's rule a sample of a class with n samples belongs to another
with probability 1 / (n + 2). Of k classes it may belong to k - 1 others. With d = 1 in each pair
the coupled probability of another class would be about (k - 1) / (n + 2), and no class could be
certain where there are many; d = 1 / (k - 1) leaves it at 1 / (n + 2) altogether (decision 22).

The problem is convex: Newton's method with halved steps ends at the optimum (Lin, Lin, Weng 2007).
With A <= 0 a greater decision value is never a smaller probability: where the likelihood asks for
A > 0, the machine orders unseen samples worse than chance, and A = 0 is the optimum.

Several classes have r_ij = P(i | i or j). Their probabilities p are those that agree best with all
pairs (Wu, Lin, Weng 2004),

    minimise  sum_{i<j} (r_ji p_i - r_ij p_j)^2    subject to  sum p = 1

whose conditions are a system of k + 1 linear equations for each sample; its solution is never
negative.

Where each class has a function of its own (one-vs-rest, Crammer and Singer), f_i - f_j is the
decision value of the pair i, j, and the rest is the same. **sigmoid.py** has Newton's method and
sigmoids that may flatten, which predict_proba uses; **isotonic.py** is another way from decision
values to r_ij. Both have the same targets.

**Labels.** predict goes by signs and votes, and neither need agree with the greatest probability:
a sigmoid is 1/2 at f = -B / A, not at 0, and coupled pairs can differ from their votes. LIBSVM's
probabilities are left as they are. Those of predict_proba are, where they contradict the label,
the nearest ones (in Euclidean distance) that do not: the label L and the classes above it share
their probability,

    q_L = t,    q_j = min(p_j, t) for the others,    t so that sum q = 1

and the others then give up a share of 1e-6, so that L alone is the greatest, in float32 too. Seen
as a function of a binary machine's decision value, q is the sigmoid, kept on the side of 1/2 where
the label is.

A regression has errors of a Laplace distribution, P(|error| > s) = exp(-s / scale), scale the mean
absolute error without the extreme ones.

A one-class machine has marks m_1 <= ... <= m_10 (Que and Lin 2022; LIBSVM since 3.30). Its negative
decision values on the training samples, ascending, are cut into five parts of as many samples, and
so are the others; together with 0 the cuts are eleven edges, and the marks are the middles of
neighbouring edges. A sample is then inside with probability

    P(f) = k / 10, k the number of marks at or below f;    0.001 below all, 0.999 above all

so that P is less than 1/2 for f < m_5 <= 0 and more for f >= m_6 >= 0.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from maxmargin import sigmoid
from maxmargin.core.arrays import Floats, Integers, Mask
from maxmargin.kernel import multiclass


class Settings(NamedTuple):
    """LIBSVM's constants, how much is solved at once, and how far labels stand out."""

    least: float = 1e-7
    """Distance of a pair's probabilities from 0 and 1, at least."""
    outlier: float = 5.0
    """Standard deviations beyond which errors do not count for the scale."""
    entries: int = 2**20
    """Numbers of the systems of equations that are solved at once."""
    marks: int = 10
    """Marks of a one-class machine."""
    surest: float = 0.001
    """Distance of its probabilities from 0 and 1."""
    lead: float = 1e-6
    """Share of its probability that a class gives up where it would equal the label's."""


SETTINGS = Settings()


def targets(first: Mask, weight: Floats, n_classes: int = 2) -> Floats:
    """t of each sample of the first class (True) and the second, of several classes."""
    doubt = 1 / (n_classes - 1)
    count, other = float(weight[first].sum()), float(weight[~first].sum())
    return np.where(first, (count + 1) / (count + 1 + doubt), doubt / (other + 1 + doubt))


def fit_sigmoid(
    values: Floats, first: Mask, weight: Floats | None = None, n_classes: int = 2
) -> tuple[float, float]:
    """A and B for decision values of samples of the first class (True) and the second."""
    w = np.ones(len(values)) if weight is None else weight
    count, other = float(w[first].sum()), float(w[~first].sum())
    t = targets(first, w, n_classes)
    unit = float(np.abs(values).max(initial=0.0)) or 1.0
    slope, constant = sigmoid.fit_plain(values / unit, t, w, np.log((other + 1) / (count + 1)))
    if slope > 0:
        share = float(w @ t) / (count + other)
        return 0.0, float(np.log((1 - share) / share))
    return slope / unit, constant


def representing(weight: Floats, kinds: Sequence[Integers], known: Mask) -> Floats:
    """Weights of the known samples with which each kind has its share of all samples.

    There may be several kinds of kinds, numbers from 0 on for each sample; the shares of the last
    are exact.
    """
    if known.all():
        return weight
    found = weight[known]
    for kind in kinds:
        here = kind[known]
        sums, count = np.bincount(kind, weight), np.bincount(here, found)
        factor = np.divide(sums[: len(count)], count, out=np.zeros(len(count)), where=count > 0)
        found = found * factor[here]
    total: Floats = found * (float(weight[known].sum()) / float(found.sum()))
    return total


def pair_probabilities(values: Floats, a: Floats, b: Floats, n_classes: int) -> Floats:
    """Probabilities of the classes, one column each, from decision values of their pairs.

    Values have one column for each pair, in the order of multiclass.pairs.
    """
    return coupled(sigmoid.plain(values, a, b), n_classes)


def coupled(r: Floats, n_classes: int) -> Floats:
    """The same from r_ij = P(i | i or j) of the pairs."""
    r = np.clip(r, SETTINGS.least, 1 - SETTINGS.least)
    if n_classes == 2:
        return np.column_stack((r[:, 0], 1 - r[:, 0]))
    first, second = np.array(list(multiclass.pairs(n_classes))).T
    step = max(1, SETTINGS.entries // (n_classes + 1) ** 2)
    parts = [r[k : k + step] for k in range(0, max(1, len(r)), step)]
    return np.concatenate([_coupled(part, first, second, n_classes) for part in parts])


def _coupled(r: Floats, first: Integers, second: Integers, k: int) -> Floats:
    """The p of each row of r_ij, i < j."""
    system = np.zeros((len(r), k + 1, k + 1))
    for column, (i, j) in enumerate(zip(first, second, strict=True)):
        ij, ji = r[:, column], 1 - r[:, column]
        system[:, i, i] += ji**2
        system[:, j, j] += ij**2
        system[:, i, j] = system[:, j, i] = -ij * ji
    system[:, :k, k] = system[:, k, :k] = 1.0
    right = np.zeros((len(r), k + 1, 1))
    right[:, k] = 1.0
    p = np.maximum(np.linalg.solve(system, right)[:, :k, 0], 0.0)  # rounding
    found: Floats = p / p.sum(axis=1, keepdims=True)
    return found


def agreeing(p: Floats, label: Integers) -> Floats:
    """The nearest probabilities whose greatest is that of the label; see the top of this file."""
    rows = np.flatnonzero(p.argmax(axis=1) != label)
    if not len(rows):
        return p
    found, own = p.copy(), label[rows]
    at = np.arange(len(rows)), own
    q = p[rows]
    before, q[at] = q[at], -1.0
    others = -np.sort(-q, axis=1)[:, :-1]
    shared = (before[:, None] + np.cumsum(others, axis=1)) / np.arange(2, p.shape[1] + 1)
    t = shared.max(axis=1)  # means grow while the next class is above them
    q = np.minimum(q, (1 - SETTINGS.lead) * t[:, None])
    q[at] = 0.0
    q[at] = 1 - q.sum(axis=1)
    found[rows] = q
    return found


def laplace_scale(errors: Floats, weight: Floats | None = None) -> float:
    """The scale of a Laplace distribution of errors."""
    size, w = np.abs(errors), np.ones(len(errors)) if weight is None else weight
    usual = size <= SETTINGS.outlier * np.sqrt(2 * float(np.average(size, weights=w)) ** 2)
    return float(np.average(size[usual], weights=w[usual]))


def density_marks(values: Floats, weight: Floats) -> Floats:
    """The marks of a one-class machine; none where one side has less weight than marks."""
    half, order = SETTINGS.marks // 2, np.argsort(values, kind="stable")
    f, w = values[order], weight[order]
    below, sums = f < 0, []
    for side in (below, ~below):
        sums.append(np.cumsum(w[side]))
        if not len(sums[-1]) or sums[-1][-1] < half:
            return np.empty(0)
    begins, ends = (np.floor(np.arange(half + 1) * total[-1] / half) for total in sums)
    lower = f[below][np.searchsorted(sums[0], begins[:-1], side="right")]
    upper = f[~below][np.searchsorted(sums[1], ends[1:])]
    edges = np.concatenate([lower, [0.0], upper])
    marks: Floats = (edges[:-1] + edges[1:]) / 2
    return marks


def inside_probability(values: Floats, marks: Floats) -> Floats:
    """The probability of lying inside, from decision values of a one-class machine."""
    above = np.searchsorted(marks, values, side="right") / SETTINGS.marks
    return np.clip(above, SETTINGS.surest, 1 - SETTINGS.surest)
