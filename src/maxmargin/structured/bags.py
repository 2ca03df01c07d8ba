"""Bags of instances, which score what their best instance does (MI-SVM, Andrews et al. 2003).

    m_i = max over the instances j of bag i of s_j
    R = min over b of  sum_i weight_i max(0, 1 - y_i (m_i + b)),   y_i = -1 or 1

For negative bags that is convex. The witness of a positive bag, its best instance, is latent.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers
from maxmargin.structured.risks import ScoreRisk, Tangent
from maxmargin.structured.spaces import Space


class Bags(NamedTuple):
    """The problem of labelled bags; h_i is the witness of a positive bag."""

    space: Space
    y: Floats
    weight: Floats
    first: Integers
    """The first instance of each bag."""

    def best(self, s: Floats) -> Integers:
        """The best instance of each bag; the first one among equals."""
        greatest = np.maximum.reduceat(s, self.first)
        lengths = np.diff(np.append(self.first, len(s)))
        places = np.where(s == np.repeat(greatest, lengths), np.arange(len(s)), len(s))
        return np.minimum.reduceat(places, self.first)

    def convex(self, h: Integers) -> ScoreRisk:
        """The risk with the witnesses h of positive bags."""
        return ScoreRisk(self.space, WitnessLoss(self, h))

    def impute(self, w: Floats) -> Integers:
        """The best instance of every bag."""
        best = self.best(self.space.scores(w))
        return np.where(self.y > 0, best, self.first)

    def change(self, h: Integers, new: Integers) -> None:
        """The loss of a positive bag is the hinge of its witness: the change is not linear."""
        return None


class WitnessLoss(NamedTuple):
    """The convex loss of bags whose witnesses are known."""

    bags: Bags
    h: Integers

    def __call__(self, s: Floats) -> Tangent:
        """The tangent at s, the scores of all instances."""
        y, weight = self.bags.y, self.bags.weight
        which = np.where(y > 0, self.h, self.bags.best(s))
        a = hinge_duals(y, s[which], weight)
        t = np.zeros(len(s))
        np.subtract.at(t, which, a * y)
        return Tangent(float(a.sum()), t)


class MeanLoss(NamedTuple):
    """The convex loss of bags that score the mean of their instances: a start.

    If negative bags scored their best instance here, w = 0 would often be the best start.
    """

    bags: Bags

    def __call__(self, s: Floats) -> Tangent:
        """The tangent at s, the scores of all instances."""
        bags = self.bags
        lengths = np.diff(np.append(bags.first, len(s)))
        a = hinge_duals(bags.y, np.add.reduceat(s, bags.first) / lengths, bags.weight)
        return Tangent(float(a.sum()), np.repeat(-a * bags.y / lengths, lengths))


def hinge_intercept(y: Floats, m: Floats, weight: Floats) -> tuple[float, Integers, int]:
    """The b of least sum_i weight_i max(0, 1 - y_i (m_i + b)).

    Its slope grows by weight_i at y_i - m_i, from minus the weight of the positive samples on.
    Returns b, the order of these places, and which of them is b.
    """
    place = y - m
    order = np.argsort(place, kind="stable")
    slope = np.cumsum(weight[order]) - weight[y > 0].sum()
    size = 1e-12 * float(weight.sum())
    j = min(int(np.searchsorted(slope, -size)), len(order) - 1)
    return float(place[order[j]]), order, j


def hinge_duals(y: Floats, m: Floats, weight: Floats) -> Floats:
    """How much each sample's loss is active at the best b: 0 <= a <= weight, sum(a y) = 0."""
    _, order, j = hinge_intercept(y, m, weight)
    before = np.zeros(len(y), bool)
    before[order[:j]] = True
    a: Floats = np.where(before == (y < 0), weight, 0.0)
    i = order[j]
    a[i] = 0.0
    a[i] = float(np.clip(-y[i] * (a @ y), 0.0, weight[i]))
    return a
