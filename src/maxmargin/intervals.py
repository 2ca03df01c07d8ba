"""Prediction intervals of a regression from the errors of machines on samples held out (CV+).

The samples (x_i, y_i) are split into K folds. f_k is the machine that was trained without fold k,
and k(i) is the fold of sample i, which has weight w_i:

    e_i = |y_i - f_k(i)(x_i)|                   its error, out of fold
    N = sum_i w_i                               the number of samples

    upper(x) = the least t with     sum of w_i over { f_k(i)(x) + e_i <= t }  >=  c (N + 1)
    lower(x) = the greatest t with  sum of w_i over { f_k(i)(x) - e_i >= t }  >=  c (N + 1)

for a confidence c (Barber, Candes, Ramdas, Tibshirani 2021, "Predictive inference with the
jackknife+"). Where c (N + 1) > N no t is large enough: the interval is infinite. Where lower would
be above upper, which needs c < 1/2, both are their mean.

**What is guaranteed.** If the N samples and a new one (x, y) are exchangeable, for example drawn
independently from one distribution, whatever it is, then

    P( lower(x) <= y <= upper(x) )  >=  2 c - 1 - 2 (1 - 1 / K) / (N / K + 1)

over the draw of all N + 1 samples (their theorem 4, folds of equal size). That is the proof's
worst case. In practice the coverage is about c, or a little more, since f_k has seen a share
1 - 1 / K of the samples only. It is marginal: an average over x. The width of the interval varies
with x only as far as the f_k differ, so where noise depends on x, quiet regions are covered more
often than c, and noisy ones less. Three things are outside the theorem and matter little: folds go
by a hash of the features instead of at random, gamma="scale" is computed from all samples, and f_k
is optimal to the tolerance only.

**Cost.** The f_k are stored: K coefficients for each vector that supports one of them, so that
their values are one product with K columns. Values f_k(x) + e_i are never listed. The errors of a
fold ascend; in each fold the least error that suffices is found by bisection, and the least of the
K candidates is the quantile.
"""

from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers
from maxmargin.integrity import is_finite


class Folds(NamedTuple):
    """Machines that were trained without a fold each, and the errors that they make on it."""

    machine: Any
    """The record of a model with one function for each fold."""
    error: Floats
    """e of the samples: fold by fold, each ascending."""
    weight: Floats
    """Of the same samples."""
    end: Integers
    """Where each fold ends."""


class Settings(NamedTuple):
    """Rounding of quantiles."""

    rounding: float = 1e-12
    """Relative errors of c (N + 1), of sums of weights and of f + e; not a tuned number."""


SETTINGS = Settings()


def is_consistent(folds: Folds) -> bool:
    """Whether errors, weights and folds belong together and are in order."""
    _, error, weight, end = folds
    ascending = np.diff(error, prepend=0.0) >= 0
    ascending[np.append(0, end[:-1])] = True
    return (
        end.shape == folds.machine.intercept.shape
        and bool((np.diff(end, prepend=0) > 0).all())
        and is_finite(error, (int(end[-1]),))
        and is_finite(weight, error.shape)
        and bool((error >= 0).all() and (weight > 0).all() and ascending.all())
    )


def collect(machine: Any, error: Floats, weight: Floats, fold: Integers) -> Folds:
    """The machines with the errors of the samples, whose folds are 0, ..., K - 1."""
    order = np.lexsort((error, fold))
    end = np.cumsum(np.bincount(fold, minlength=len(machine.intercept)))
    return Folds(machine, error[order], weight[order], end)


def enough(folds: Folds, confidence: float) -> bool:
    """Whether the samples are enough for finite intervals of this confidence."""
    total = float(folds.weight.sum())
    return confidence * (total + 1) * (1 - SETTINGS.rounding) <= total


def bounds(folds: Folds, values: Floats, confidence: Floats) -> Floats:
    """Lower and upper ends for each confidence in turn, from f_k(x), a column for each fold."""
    found = np.empty((len(confidence), len(values), 2))
    for k, c in enumerate(confidence):
        upper, lower = _quantile(folds, values, c), -_quantile(folds, -values, c)
        crossed = lower > upper  # below a confidence of 1/2 alone
        lower[crossed] = upper[crossed] = (lower[crossed] + upper[crossed]) / 2
        found[k, :, 0], found[k, :, 1] = lower, upper
    return found


def _quantile(folds: Folds, values: Floats, confidence: float) -> Floats:
    """The least t such that f + e <= t for the share of the samples that confidence asks for."""
    if not enough(folds, confidence):
        return np.full(len(values), np.inf)
    need = confidence * (float(folds.weight.sum()) + 1) * (1 - SETTINGS.rounding)
    begin = np.append(0, folds.end[:-1])
    parts = [slice(a, b) for a, b in zip(begin, folds.end, strict=True)]
    errors = [folds.error[part] for part in parts]
    sums = [np.append(0.0, np.cumsum(folds.weight[part])) for part in parts]
    slack = SETTINGS.rounding * np.abs(values).max(axis=1, initial=0.0)

    def suffices(t: Floats) -> Any:
        """Whether the samples below t are enough."""
        counted = np.zeros(len(t))
        for k, (error, total) in enumerate(zip(errors, sums, strict=True)):
            counted += total[np.searchsorted(error, t - values[:, k] + slack, side="right")]
        return counted >= need

    best = np.full(len(values), np.inf)
    for k, error in enumerate(errors):
        first, last = np.zeros(len(values), np.int64), np.full(len(values), len(error))
        while (first < last).any():  # the least error of this fold that suffices lies between
            middle = (first + last) // 2
            good = suffices(values[:, k] + error[np.minimum(middle, len(error) - 1)])
            good |= middle == len(error)
            first = np.where(good | (first == last), first, middle + 1)
            last = np.where(good, middle, last)
        found = values[:, k] + error[np.minimum(first, len(error) - 1)]
        best = np.where(first < len(error), np.minimum(best, found), best)
    return best
