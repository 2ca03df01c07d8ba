"""The labels of unlabelled samples, for given decision values, under the class balance constraint.

The labels of the unlabelled samples j are shares p_j in [0, 1] of the positive class. For fixed
decision values f the best ones minimise

    sum_j c_j [ p_j hinge(f_j) + (1 - p_j) hinge(-f_j) ]  +  T sum_j c_j [ p_j ln p_j + ... ]
    subject to  sum_j c_j p_j = share sum_j c_j

with hinge(f) = max(0, 1 - f), and c_j = C_unlabelled times the weight of the sample. The entropy
(the last term, with 1 - p_j for ...) is that of deterministic annealing. With
g_j = hinge(f_j) - hinge(-f_j), which falls as f_j grows,

    T > 0    p_j = 1 / (1 + exp((g_j - level) / T)), the level such that the constraint holds
    T = 0    p_j = 1 for the samples of greatest f_j, as many as the constraint asks for

At T = 0 labels are 0 or 1, so that the constraint holds up to half the weight of one sample.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, xlogy

from maxmargin.core.arrays import Floats


class Settings(NamedTuple):
    """Constants of the labels."""

    digits: float = 1e-12
    """How far the level is from its exact value, relative to the temperature."""
    bracket: float = 40.0
    """Temperatures above all g_j, or below, at which every p_j is 1 or 0 up to rounding."""


SETTINGS = Settings()


def hinge(f: Floats) -> Floats:
    """max(0, 1 - f)."""
    return np.maximum(0.0, 1.0 - f)


def loss(f: Floats, p: Floats, cost: Floats) -> float:
    """The loss of labels p."""
    return float(np.sum(cost * (p * hinge(f) + (1 - p) * hinge(-f))))


def negative_entropy(p: Floats, cost: Floats) -> float:
    """The sum of c_j [ p_j ln p_j + (1 - p_j) ln(1 - p_j) ], which is not above 0."""
    return float(np.sum(cost * (xlogy(p, p) + xlogy(1 - p, 1 - p))))


def assign(f: Floats, cost: Floats, share: float, temperature: float) -> Floats:
    """The best labels for decision values f; see the top of this file."""
    return soft(f, cost, share, temperature) if temperature > 0 else hard(f, cost, share)


def hard(f: Floats, cost: Floats, share: float) -> Floats:
    """1 for the samples of greatest f, up to the share; of equal f the first."""
    order = np.argsort(-f, kind="stable")
    before = np.cumsum(cost[order]) - cost[order] / 2  # a sample is in if most of it is
    p = np.zeros(len(f))
    p[order[before < share * cost.sum()]] = 1.0
    return p


def switched(before: Floats, p: Floats, f: Floats, pairs: int) -> Floats:
    """Labels on the way from one set to another: the pairs that gain most switch first."""
    rising, falling = np.flatnonzero(p > before), np.flatnonzero(p < before)
    rising = rising[np.argsort(-f[rising], kind="stable")][:pairs]
    falling = falling[np.argsort(f[falling], kind="stable")][:pairs]
    found = before.copy()
    found[rising], found[falling] = p[rising], p[falling]
    return found


def soft(f: Floats, cost: Floats, share: float, temperature: float) -> Floats:
    """1 / (1 + exp((g - level) / T)), with the level at which the balance holds."""
    g = (hinge(f) - hinge(-f)) / temperature
    total = share * float(cost.sum())

    def excess(level: float) -> float:
        return float(np.sum(cost * expit(level - g)) - total)

    low, high = g.min() - SETTINGS.bracket, g.max() + SETTINGS.bracket
    found: Floats = expit(brentq(excess, low, high, xtol=SETTINGS.digits) - g)
    return found
