"""Isotonic regression: probabilities that never fall with the decision value, and of no other form.

For values f_i with targets t_i and weights w_i, the non-decreasing p with the least

    sum_i  w_i (t_i - p(f_i))^2

is found by pooling adjacent violators. Equal values are one point with the mean of their targets.
Between two points p is linear, beyond the last ones it is constant (Zadrozny and Elkan 2002).
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from sklearn.isotonic import isotonic_regression

from maxmargin.core.arrays import Floats, Integers


class Isotonic(NamedTuple):
    """Several such functions, their points one after the other."""

    values: Floats
    """Decision values, ascending in each function."""
    p: Floats
    ends: Integers
    """Where the points of each function end."""


Points = tuple[Floats, Floats]


def fit(values: Floats, targets: Floats, weight: Floats) -> Points:
    """The points of one function."""
    used = weight > 0
    at, where = np.unique(values[used], return_inverse=True)
    total = np.bincount(where, weight[used])
    mean = np.bincount(where, weight[used] * targets[used]) / total
    p = np.asarray(isotonic_regression(mean, sample_weight=total), np.float64)
    inner = np.zeros(len(p), bool)  # neither the first nor the last of equal ones
    inner[1:-1] = (p[1:-1] == p[:-2]) & (p[1:-1] == p[2:])
    return at[~inner], p[~inner]


def joined(functions: Sequence[Points]) -> Isotonic:
    """The record of several functions."""
    values, p = (np.concatenate(parts) for parts in zip(*functions, strict=True))
    return Isotonic(values, p, np.cumsum([len(at) for at, _ in functions], dtype=np.int64))


def evaluate(isotonic: Isotonic, values: Floats) -> Floats:
    """p of decision values, one column for each function."""
    found = np.empty(values.shape)
    for k, (begin, end) in enumerate(pairwise([0, *isotonic.ends.tolist()])):
        here = slice(begin, end)
        found[:, k] = np.interp(values[:, k], isotonic.values[here], isotonic.p[here])
    return found


def is_consistent(isotonic: Any, functions: int) -> bool:
    """Whether a record is one of this many functions."""
    if not isinstance(isotonic, Isotonic):
        return False
    values, p, ends = isotonic
    begins = np.append(0, ends[:-1]).astype(np.int64) if len(ends) else ends
    shapes = values.shape == p.shape == (len(values),) and ends.shape == (functions,)
    if not (shapes and values.dtype == p.dtype == np.float64 and ends.dtype == np.int64):
        return False
    whole = functions > 0 and ends[-1] == len(values) and bool((begins < ends).all())
    if not (whole and np.isfinite(values).all() and np.isfinite(p).all()):
        return False
    inside = np.ones(max(len(values) - 1, 0), bool)
    inside[ends[:-1] - 1] = False
    return bool(
        (np.diff(values)[inside] > 0).all()
        and (np.diff(p)[inside] >= 0).all()
        and p.min() >= 0
        and p.max() <= 1
    )
