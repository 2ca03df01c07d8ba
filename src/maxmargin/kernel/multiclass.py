"""From binary problems to many classes: which classes a problem separates, votes, and ties.

**One-vs-one** (``multiclass="ovo"``): one problem for each pair (i, j), i < j, in the order (0,1),
(0,2), ..., (1,2), ...; its decision value is positive for class i.
``decision_function_shape="ovo"`` returns these values. ``"ovr"`` returns for each class its votes
plus the sum s of its decision values squeezed into (-1/3, 1/3) by s / (3 (|s| + 1)), so that
confidence orders classes with equal votes. predict takes the class with the most votes, the first
of them in ``classes_`` where votes are equal, as LIBSVM does; with ``break_ties=True`` it takes the
argmax of the "ovr" values.

**One-vs-rest** (``multiclass="ovr"``): one problem for each class against all others; its decision
value is positive for the class. predict takes the argmax, the first where equal.

With **two classes** there is one problem; its decision value is positive for ``classes_[1]``, and 0
is predicted as ``classes_[1]``.

Models read from files of LIBSVM and LIBLINEAR know the order of the labels there
(``_label_order``), and break ties in that order.

A class whose samples all have weight 0 stays in ``classes_`` and never wins: its problems are
constant, +1 for the other side.
"""

import itertools
from functools import cache
from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers


class BinaryTask(NamedTuple):
    """One binary problem: these samples, with signs +1 or -1.

    For a pair of classes, samples of the first class come first.
    """

    samples: Integers
    sign: Floats


@cache
def pairs(n_classes: int) -> list[tuple[int, int]]:
    """The pairs of one-vs-one, in order."""
    return [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]


def members_of(label: Integers, n_classes: int) -> list[Integers]:
    """The samples of each class, in order."""
    order = np.argsort(label, kind="stable")
    ends = itertools.accumulate(np.bincount(label, minlength=n_classes).tolist(), initial=0)
    return [order[begin:end] for begin, end in itertools.pairwise(ends)]


def tasks(label: Integers, n_classes: int, one_vs_rest: bool) -> list[BinaryTask]:
    """The binary problems for samples with labels 0..n_classes-1."""
    if n_classes == 2:
        return [BinaryTask(np.arange(len(label)), np.where(label == 1, 1.0, -1.0))]
    if one_vs_rest:
        return [
            BinaryTask(np.arange(len(label)), np.where(label == c, 1.0, -1.0))
            for c in range(n_classes)
        ]
    return tasks_of_pairs(members_of(label, n_classes))


def tasks_of_pairs(members: list[Integers]) -> list[BinaryTask]:
    """The problem of each pair of classes with these samples."""
    found = []
    for i, j in pairs(len(members)):
        sign = np.repeat([1.0, -1.0], [len(members[i]), len(members[j])])
        found.append(BinaryTask(np.concatenate([members[i], members[j]]), sign))
    return found


def pairs_of_first(n_classes: int) -> list[tuple[int, slice]]:
    """For each class the slice of pairs in which it is the first; the second class runs upwards."""
    ends = [0, *itertools.accumulate(range(n_classes - 1, 0, -1))]
    return [(i, slice(begin, end)) for i, (begin, end) in enumerate(itertools.pairwise(ends))]


@cache
def _ballot(n_classes: int) -> Floats:
    """Row k, for the pair k = (i, j): 1 for i and -1 for j."""
    ballot = np.zeros((len(pairs(n_classes)), n_classes))
    for k, (i, j) in enumerate(pairs(n_classes)):
        ballot[k, i], ballot[k, j] = 1.0, -1.0
    return ballot


def votes(decision: Floats, n_classes: int) -> Floats:
    """Votes of the one-vs-one decision values.

    Class j is the second of j pairs, and wins those that the first class does not.
    """
    count: Floats = (decision > 0).astype(np.float64) @ _ballot(n_classes) + np.arange(n_classes)
    return count


def votes_and_confidence(decision: Floats, n_classes: int) -> Floats:
    """The "ovr" shape of one-vs-one decision values: votes, with ties ordered by confidence."""
    values = decision.T
    confidence = np.zeros((n_classes, len(decision)))
    for i, some in pairs_of_first(n_classes):
        for value in values[some]:
            confidence[i] += value
        confidence[i + 1 :] -= values[some]
    confidence = confidence.T
    squeezed: Floats = confidence / (3 * (np.abs(confidence) + 1))
    return votes(decision, n_classes) + squeezed


def pairs_in_order(order: Integers) -> tuple[Integers, Floats]:
    """The pairs of the classes order[0], order[1], ...

    Returns their positions in the usual order, and -1.0 for each pair that is reversed there.
    """
    number = {pair: k for k, pair in enumerate(pairs(len(order)))}
    turned = [(int(order[a]), int(order[b])) for a, b in pairs(len(order))]
    source = np.array([number[min(p, q), max(p, q)] for p, q in turned], np.int64)
    return source, np.array([1.0 if p < q else -1.0 for p, q in turned])


def packed_rows(pair: int | Integers, label: Integers, n_classes: int) -> Integers:
    """The rows of a pair's coefficients in LIBSVM's layout, for support vectors of these classes;
    the pair of all, or of each.

    A support vector of class i has its coefficient against class j in row j - 1 if j > i, and in
    row j if j < i.
    """
    i, j = np.array(pairs(n_classes))[pair].T
    rows: Integers = np.where(label == i, j - 1, i)
    return rows


def unpack_pairs(packed: Floats, label: Integers, n_classes: int) -> Floats:
    """Coefficients with a row for each pair, from LIBSVM's layout; vectors are sorted by class."""
    found, ends = pairs(n_classes), np.searchsorted(label, np.arange(n_classes + 1))
    members = [slice(begin, end) for begin, end in itertools.pairwise(ends)]
    coef = np.zeros((len(found), packed.shape[1]))
    for k, (i, j) in enumerate(found):
        coef[k, members[i]] = packed[j - 1, members[i]]
        coef[k, members[j]] = packed[i, members[j]]
    return coef


def join_pairs(parts: Floats) -> Floats:
    """Values of every pair from the contributions of each class, in LIBSVM's layout.

    Class i contributes parts[i][j - 1] (j > i) or parts[i][j] (j < i) against class j.
    """
    found = np.empty((len(pairs(len(parts))), *parts.shape[2:]))
    for i, some in pairs_of_first(len(parts)):
        np.add(parts[i, i:], parts[i + 1 :, i], out=found[some])
    return found
