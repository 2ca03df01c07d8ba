"""The order of labels in model files of LIBSVM and LIBLINEAR, and machines in another order.

LIBSVM and LIBLINEAR list labels in the order of the training file; our classes are sorted. Where
sorting turns a pair (i, j) of classes into (j, i), its coefficients and intercept change signs.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.kernel import multiclass
from maxmargin.kernel.kernels import Kind
from maxmargin.kernel.model import KernelModel


def label_order(y: NDArray[Any]) -> NDArray[np.int64]:
    """Return positions of the sorted labels in LIBSVM's and LIBLINEAR's order.

    Labels are in the order of y, but 1 before -1.
    """
    classes, first = np.unique(y, return_index=True)
    return np.array([1, 0]) if classes.tolist() == [-1, 1] else np.argsort(first)


def whole_labels(classes: NDArray[Any], program: str) -> list[int]:
    """Return labels as 32-bit integers; ValueError for others."""
    good = classes.dtype.kind in "iuf" and bool(
        np.isfinite(classes).all() and (np.abs(classes.astype(np.float64)) < 2**31).all()
    )
    if not (good and (classes == np.floor(classes)).all()):
        raise ValueError(
            f"{program} writes labels as integers of 32 bits, not {classes[:5].tolist()}: encode "
            "them (LabelEncoder), or use io.save, which writes every kind of label."
        )
    return [int(label) for label in classes]


def reordered(machine: KernelModel, order: NDArray[np.int64]) -> KernelModel:
    """Return the same machine with class order[a] at position a."""
    ends = np.concatenate([[0], np.cumsum(machine.n_support)])
    members = [np.arange(ends[p], ends[p + 1]) for p in order]
    columns = np.concatenate(members).astype(np.int64)
    places = np.cumsum([0, *(len(member) for member in members)])
    coef = np.empty_like(machine.coef)
    for a, p in enumerate(order):
        here = slice(places[a], places[a + 1])
        for b, q in enumerate(order):
            if a != b:
                turned = 1.0 if (a < b) == (p < q) else -1.0
                coef[b - (b > a), here] = turned * machine.coef[q - (q > p), members[a]]
    source, sign = multiclass.pairs_in_order(order)
    classes = machine.classes
    intervals = machine.intervals[source]
    return replace(
        machine,
        vectors=machine.vectors[columns]
        if machine.kernel.kind is not Kind.PRECOMPUTED
        else machine.vectors,
        coef=coef,
        intercept=sign * machine.intercept[source],
        intervals=np.where(sign[:, None] < 0, -intervals[:, ::-1], intervals),
        n_support=machine.n_support[order],
        classes=None if classes is None else classes[order],
        rows=None if machine.rows is None else machine.rows[columns],
        prob_a=machine.prob_a[source] if len(machine.prob_a) else machine.prob_a,
        prob_b=sign * machine.prob_b[source] if len(machine.prob_b) else machine.prob_b,
    )


def with_sorted_classes(machine: KernelModel) -> KernelModel:
    """Return the machine with its classes sorted; it remembers the order of the file."""
    if machine.classes is None:
        return machine
    order = np.argsort(machine.classes)
    if (order == np.arange(len(order))).all():
        return machine
    return replace(reordered(machine, order), label_order=np.argsort(order))
