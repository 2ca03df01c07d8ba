"""Early discard: candidates that cannot win, or are unlikely to, skip the folds that are left.

Kernels are searched two at a time, and their folds two at a time. After each two folds a candidate
with scores s_1 ... s_j on j of k folds is judged:

    safe      discard if (s_1 + ... + s_j + (k - j) bound) / k < best,

where no score is greater than bound, and best is the mean of the best candidate that has all its
folds. It could not have won, so the best candidate is the one of a full search.

    racing    discard if a t-test says, at level 0.05, that it is worse than the leader: the
              candidate with the best mean on these folds. With d the differences of their scores,
              t = mean(d) / sqrt((1/j + 1/(k - 1)) var(d)), j - 1 degrees of freedom.

The term 1/(k - 1) is Nadeau and Bengio's (2003) correction for folds that share training samples.
The level is that of one comparison; a search makes many, so racing may lose a best candidate.

What is judged depends on scores alone, so results are the same for any number of jobs.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import stats
from sklearn.base import is_classifier, is_regressor

from maxmargin.core.arrays import Floats, Mask


class Settings(NamedTuple):
    """When candidates are judged."""

    kernels: int = 2
    """Searched together: as many as have their values stored."""
    folds: int = 2
    """Between two judgements; a t-test needs two."""
    level: float = 0.05
    """Of the t-test, as usual in racing (Kuhn 2014)."""


SETTINGS = Settings()
ROUNDING = 1e-12
"""Means that differ by less are tied, and a tie may win."""
AT_MOST_ONE = (
    *("accuracy", "balanced_accuracy", "top_k_accuracy", "average_precision", "roc_auc"),
    *("roc_auc_ovr", "roc_auc_ovo", "roc_auc_ovr_weighted", "roc_auc_ovo_weighted"),
    *(f"{name}{kind}" for name in ("f1", "precision", "recall", "jaccard") for kind in
      ("", "_micro", "_macro", "_weighted", "_samples")),
    *("matthews_corrcoef", "r2", "explained_variance", "d2_absolute_error_score"),
)  # fmt: skip
"""Scores of scikit-learn that are at most 1; those whose names begin with neg_ are at most 0."""


def bound_of(scoring: Any, default: str | None, machine: Any) -> float:
    """What no score exceeds; ValueError where that is not known."""
    name = default if scoring is None else scoring
    if name is None and (is_classifier(machine) or is_regressor(machine)):
        return 1.0  # accuracy, R^2
    if isinstance(name, str) and name.startswith("neg_"):
        return 0.0
    if name in AT_MOST_ONE:
        return 1.0
    raise ValueError(
        f"discard='safe' needs the greatest value that a score can have, which is not known of "
        f"scoring={scoring!r}: use a score such as 'accuracy', or discard='racing' or None."
    )


def complete_in(scores: Floats) -> Mask:
    """Which candidates, the rows of a table, have all their scores."""
    found: Mask = np.logical_not(np.isnan(scores).any(axis=1))
    return found


def hopeless(scores: Floats, folds: int, bound: float | None) -> Mask:
    """Which candidates to discard after a number of folds, from the scores of all candidates.

    NaN is a score that is not there. With a bound it is the safe rule, without racing.
    """
    k = scores.shape[1]
    here = complete_in(scores[:, :folds])
    if bound is not None:
        complete = complete_in(scores)
        if not complete.any():
            return np.zeros(len(scores), bool)
        most = np.where(np.isnan(scores), bound, scores).mean(axis=1)
        found: Mask = most < scores[complete].mean(axis=1).max() - ROUNDING
        return found
    if folds < 2 or not here.any() or k < 2:
        return np.zeros(len(scores), bool)
    means = np.where(here, np.where(here[:, None], scores[:, :folds], 0).mean(axis=1), -np.inf)
    behind = scores[np.argmax(means), :folds] - scores[:, :folds]
    spread = np.sqrt((1 / folds + 1 / (k - 1)) * behind.var(axis=1, ddof=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = behind.mean(axis=1) / spread  # of equal differences it is infinite, of none NaN
        worse: Mask = here & (stats.t.sf(t, folds - 1) < SETTINGS.level)
    return worse


def batches(keys: Sequence[Any]) -> list[set[Any]]:
    """The kernels that are searched together, in their order."""
    distinct, size = list(dict.fromkeys(keys)), SETTINGS.kernels
    return [set(distinct[i : i + size]) for i in range(0, len(distinct), size)]


def rounds(folds: int) -> list[range]:
    """The folds between two judgements."""
    size = SETTINGS.folds
    return [range(i, min(i + size, folds)) for i in range(0, folds, size)]
