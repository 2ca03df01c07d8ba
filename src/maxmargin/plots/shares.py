"""Shares of samples, and how well a number of samples knows them (Clopper and Pearson 1934).

If k of n independent samples have a property, its probability p lies in

    [ the p with P(at least k) = a / 2,  the p with P(at most k) = a / 2 ]

with confidence 1 - a at least. Both ends are quantiles of beta distributions.
"""

from typing import Any

import numpy as np
from scipy.stats import beta

from maxmargin.core.arrays import Floats
from maxmargin.plots.style import INK

CONFIDENCE = 0.95


def share_band(count: Any, total: Any) -> tuple[Floats, Floats]:
    """Lower and upper ends of the probability, for count of total samples."""
    k, n, a = np.asarray(count, float), np.asarray(total, float), 1 - CONFIDENCE
    low = np.where(k > 0, beta.ppf(a / 2, np.maximum(k, 1), n - k + 1), 0.0)
    high = np.where(k < n, beta.ppf(1 - a / 2, k + 1, np.maximum(n - k, 1)), 1.0)
    return low, high


def diagonal(ax: Any, label: str) -> None:
    """Draw the line of shares that are as they should be."""
    ax.plot([0, 1], [0, 1], color=INK, linewidth=0.9, linestyle="--", label=label)


def percent(share: float) -> str:
    """A share in percent, with at most one decimal."""
    return f"{100 * share:.1f}".rstrip("0").rstrip(".") + " %"
