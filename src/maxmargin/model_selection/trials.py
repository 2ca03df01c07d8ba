"""Candidates that were cross-validated, how sure their scores are, and what a fit costs.

The samples are split into k folds, once or several times. With N scores s_i of all these folds, and
1 / (k - 1) test samples for each training sample, the standard error of their mean is (Nadeau and
Bengio 2003)

    se = sd(s) sqrt(1/N + 1/(k - 1))

The training sets of the folds overlap, so the usual sd(s) / sqrt(N) is too small. The score of the
best of many candidates is optimistic; Tibshirani and Tibshirani (2009) estimate by how much:

    optimism = mean over folds of (best score of any candidate in the fold - score of the chosen)

Fits on n samples take about seconds(m) (n / m)^p; p is measured on two subsamples.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from maxmargin.core.arrays import Floats

Parameters = dict[str, float]


def key_of(parameters: Parameters) -> tuple[tuple[str, str], ...]:
    """Parameters as the key of a table, the same for values that differ by rounding."""
    return tuple((name, f"{value:.9g}") for name, value in sorted(parameters.items()))


class Trial(NamedTuple):
    """One candidate on the folds of a subsample."""

    kernel: str
    parameters: Parameters
    samples: int
    scores: tuple[float, ...]
    """One for each fold, partition by partition; NaN where it was not done."""
    seconds: float = 0.0
    """Mean time of a fit and its score."""
    certified: bool = True
    """Whether all fits converged."""
    partitions: int = 1
    """How often the samples were split into folds."""

    @property
    def folds(self) -> int:
        """Folds of one partition."""
        return len(self.scores) // self.partitions

    @property
    def done(self) -> int:
        """Folds with a score."""
        return int(np.isfinite(self.scores).sum())

    @property
    def mean(self) -> float:
        """Mean score; NaN without any."""
        return float(np.nanmean(self.scores)) if self.done else float("nan")

    @property
    def error(self) -> float:
        """Standard error of the mean; NaN with fewer than two folds."""
        return standard_error(np.asarray(self.scores), self.partitions)

    def joined(self, other: "Trial") -> "Trial":
        """The same candidate with the scores of another partition, too."""
        return self._replace(
            scores=self.scores + other.scores,
            certified=self.certified and other.certified,
            partitions=self.partitions + other.partitions,
        )


def standard_error(scores: Floats, partitions: int = 1) -> float:
    """Nadeau and Bengio's standard error of the mean of the folds' scores."""
    known = scores[np.isfinite(scores)]
    count = len(known)
    folds = count / partitions
    if folds < 2:
        return float("nan")
    return float(np.std(known, ddof=1) * np.sqrt(1 / count + 1 / (folds - 1)))


def interval(trial: Trial, confidence: float = 0.95) -> tuple[float, float]:
    """Student's confidence interval of the mean score."""
    half = student.ppf((1 + confidence) / 2, max(trial.done - 1, 1)) * trial.error
    return trial.mean - float(half), trial.mean + float(half)


def difference(a: Trial, b: Trial) -> tuple[float, float]:
    """Mean of a minus mean of b, and its standard error, fold by fold where both have the folds."""
    if a.samples == b.samples and a.folds == b.folds:
        partitions = min(a.partitions, b.partitions)
        both = slice(a.folds * partitions)
        each = np.asarray(a.scores[both]) - np.asarray(b.scores[both])
        if np.isfinite(each).sum() >= 2:
            return float(np.nanmean(each)), standard_error(each, partitions)
    return a.mean - b.mean, float(np.hypot(a.error, b.error))


def best(trials: Sequence[Trial]) -> Trial | None:
    """The trial with the greatest mean, of those with the most samples and folds.

    Ties go to the smaller C, then to the smaller gamma: the smoother function.
    """
    scored = [one for one in trials if one.done]
    if not scored:
        return None
    most = max((one.samples, one.done) for one in scored)
    usable = [one for one in scored if (one.samples, one.done) == most]
    return max(usable, key=lambda one: (one.mean, *(-v for _, v in sorted(one.parameters.items()))))


def finalists(trials: Sequence[Trial], most: int) -> list[Trial]:
    """The trials within two standard errors of the best, with as many samples and folds; at most
    some, the best first."""
    chosen = best(trials)
    if chosen is None:
        return []
    found = []
    for one in trials:
        if (one.samples, one.done) == (chosen.samples, chosen.done):
            gap, error = difference(chosen, one)
            if one is chosen or (np.isfinite(error) and gap <= 2 * error):
                found.append(one)
    return sorted(found, key=lambda one: (-one.mean, one is not chosen))[:most]


def optimism(trials: Sequence[Trial], chosen: Trial) -> float:
    """Tibshirani and Tibshirani's estimate, from trials on the first folds of the chosen one."""
    k = chosen.folds
    same = [one.scores[:k] for one in trials if one.samples == chosen.samples and one.folds == k]
    table = np.array([scores for scores in same if np.isfinite(scores).all()])
    if len(table) < 2:
        return 0.0
    return float(np.mean(table.max(axis=0) - np.asarray(chosen.scores[:k])))


def on_edge(trials: Sequence[Trial], chosen: Trial, name: str) -> int:
    """-1 or 1 if the chosen trial has the least or greatest value tried of a parameter, else 0.

    It must be better than all with other values on the same samples, by more than half a standard
    error of the difference: a plateau has no edge.
    """
    values = [one.parameters[name] for one in trials]
    own = chosen.parameters[name]
    others = [
        one
        for one in trials
        if one.samples == chosen.samples and one.done and one.parameters[name] != own
    ]
    if not others:
        return 0
    gain, error = difference(chosen, max(others, key=lambda one: one.mean))
    if gain <= (0.5 * error if np.isfinite(error) else 0.0):
        return 0
    return int(own == max(values)) - int(own == min(values))


EXPONENTS = (1.0, 3.0)
"""Measured exponents of a fit's time are kept between these."""


class Cost(NamedTuple):
    """Time of a fit on some samples, and how it grows."""

    samples: int
    seconds: float
    exponent: float = 2.2

    def at(self, n: int) -> float:
        """Predicted seconds of a fit on n samples."""
        return float(self.seconds * (n / self.samples) ** self.exponent)

    def within(self, seconds: float) -> int:
        """The number of samples that a fit of this length can have."""
        share = max(seconds, 0.0) / max(self.seconds, 1e-9)
        return int(self.samples * share ** (1 / self.exponent))

    def then(self, samples: int, seconds: float) -> "Cost":
        """The same with a second measurement, which tells the exponent.

        Two measurements are noisy, so it is the mean of theirs and the one assumed.
        """
        if samples <= self.samples:
            return self
        growth = np.log(max(seconds, 1e-9) / max(self.seconds, 1e-9))
        measured = growth / np.log(samples / self.samples)
        exponent = (self.exponent + np.clip(measured, *EXPONENTS)) / 2
        return Cost(samples, seconds, float(exponent))
