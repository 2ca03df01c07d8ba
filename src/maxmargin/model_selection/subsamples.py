"""Nested subsamples that keep the folds and the shares of the classes.

The samples are put in one random order such that its first m are a stratified subsample for every
m. Within a stratum (a class, in one test fold) of n_s samples, the sample of random rank r has the
place (r + 1/2) / n_s, and all samples are sorted by their places. The first two of each stratum
come first, so that a small subsample has every class in every fold.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold, check_cv

from maxmargin.core.arrays import Floats, Integers
from maxmargin.model_selection.scaling import rows_of

AT_LEAST = 2
"""Samples of each stratum that come first."""


Folds = Sequence[tuple[Integers, Integers]]


class Samples(NamedTuple):
    """Prepared samples with their folds, and an order whose beginnings are subsamples."""

    X: Any
    y: NDArray[Any]
    weight: Floats | None
    folds: Folds
    order: Integers
    others: Sequence[Folds] = ()
    """Other partitions into folds."""

    @property
    def size(self) -> int:
        """The number of samples."""
        return len(self.y)

    def part(self, m: int) -> "Samples":
        """The first m samples of the order, with the folds restricted to them."""
        if m >= self.size:
            return self
        rows = np.sort(self.order[:m])
        place = np.full(self.size, -1)
        place[rows] = np.arange(m)
        folds, *others = (_inside(place, folds) for folds in (self.folds, *self.others))
        weight = None if self.weight is None else self.weight[rows]
        return Samples(rows_of(self.X, rows), self.y[rows], weight, folds, np.arange(m), others)


def _inside(place: Integers, folds: Folds) -> Folds:
    """The folds in the numbers of a subsample; place is -1 outside."""
    inside = [[place[rows][place[rows] >= 0] for rows in fold] for fold in folds]
    return [(train, test) for train, test in inside if len(train) and len(test)]


def is_count(cv: Any) -> bool:
    """Whether cv is a number of folds, so that the samples can be split in other ways, too."""
    return cv is None or isinstance(cv, int)


def folds_of(
    cv: Any, y: NDArray[Any], groups: Any, classifier: bool, random: np.random.RandomState
) -> Folds:
    """The folds; a number of them is shuffled, and stratified for classes."""
    if is_count(cv):
        count = 5 if cv is None else cv
        if classifier:  # as many as the most frequent class has samples
            greatest = int(np.unique(y, return_counts=True)[1].max())
            count = max(2, min(count, greatest))
        else:
            count = max(2, min(count, len(y)))
        splitter = StratifiedKFold if classifier else KFold
        cv = splitter(count, shuffle=True, random_state=random)
    rows = np.arange(len(y))
    splits = check_cv(cv, y, classifier=classifier).split(np.zeros((len(y), 1)), y, groups)
    folds = [(rows[train], rows[test]) for train, test in splits]
    if not folds:
        raise ValueError("cv has no folds: it must give at least one training and test set.")
    return folds


def nested_order(
    y: NDArray[Any],
    folds: Folds,
    classifier: bool,
    random: np.random.RandomState,
) -> Integers:
    """The order of the samples; see the top of this file."""
    n = len(y)
    fold = np.zeros(n, np.int64)
    for k, (_, test) in enumerate(folds):
        fold[test] = k
    label = np.unique(y, return_inverse=True)[1] if classifier else np.zeros(n, np.int64)
    stratum = fold * (int(label.max(initial=0)) + 1) + label
    shuffled = random.permutation(n)
    by_stratum = shuffled[np.argsort(stratum[shuffled], kind="stable")]
    sizes = np.bincount(stratum)
    begin = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    rank = np.empty(n, np.int64)
    rank[by_stratum] = np.arange(n) - begin[stratum[by_stratum]]
    place = np.where(rank < AT_LEAST, rank - AT_LEAST, (rank + 0.5) / sizes[stratum])
    return np.lexsort((random.permutation(n), place)).astype(np.int64)
