"""Labels of a `KernelModel`, by float32 where it decides.

Let f be the float64 decision values of a row and |f32 - f| <= E for all of its functions
(maxmargin.kernel.rounding). Then

* two classes: the sign of f is that of f32 if |f32| > E;
* one-vs-rest: the greatest of f is the greatest of f32 if it exceeds the second by more than 2 E;
* one-vs-one: a class that wins all its pairs in f32, each by more than E, wins them in f too. Every
  other class then has fewer votes, so this class is the label, whether ties are broken by order or
  by confidence, which is less than 1/3.

Labels are therefore always those of the float64 decision values: rows that float32 does not decide,
NaN included, are evaluated again in float64.

The bound needs one more column of the product (`rounding.BoundColumn`).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.arrays import Floats
from maxmargin.kernel import multiclass, rounding
from maxmargin.kernel.model import KernelModel
from maxmargin.kernel.packed import Estimate
from maxmargin.kernel.prediction import (
    Question,
    ask,
    check_float32,
    values,
    values_of_parts,
)
from maxmargin.kernel.sources import KernelNotFinite


class Settings(NamedTuple):
    """When float32 is tried."""

    float32_from: int = 2**19
    """Kernel values from which float32 is faster, its bound included (decision 11)."""
    packed_from: int = 2**17
    """The same of packed models (decision 39)."""
    greatest_growth: float = 1.01
    """exp of the greatest error of an exponent with which float32 decides enough labels."""


SETTINGS = Settings()
ADDITIONS = 8 * rounding.UNIT64
"""Adding parts and an intercept in float64, in any order, is wrong by at most this share of value
and intercept."""
OPEN = -1
"""In place of a label's position: the bound does not decide."""


def label_positions(model: KernelModel, X: Any, break_ties: bool = False) -> NDArray[np.intp]:
    """The position in classes of the label of each of the validated samples X."""
    question = ask(model, X)
    rough = estimate(question)
    if rough is None:
        return winners(model, values(model, question), break_ties)
    found = certain_winners(model, rough)
    undecided = np.flatnonzero(found == OPEN)
    if len(undecided):
        again = values(model, question.at(undecided))
        found[undecided] = winners(model, again, break_ties)
    return found


def decision_values(model: KernelModel, X: Any, float32: bool = False) -> Floats:
    """Values of every decision function at the validated samples X, one column each.

    ``float32`` allows float32 kernel values. The values of a classifier then belong to the labels
    that `label_positions` finds: rows that float32 does not decide are float64.
    """
    question = ask(model, X)
    if not float32:
        return values(model, question).T
    check_float32(model)
    if model.classes is None or question.packed is None:
        return values(model, question, float32=True).T
    rough = question.packed.estimate(X, each_alone=True)
    if rough is None or rough.near is None:
        return values(model, question).T
    undecided = np.flatnonzero((certain_winners(model, rough) == OPEN) | ~rough.near)
    found = values_of_parts(model, rough.parts)
    if len(undecided):
        found[:, undecided] = values(model, question.at(undecided))
    return found.T


def winners(model: KernelModel, values: Floats, break_ties: bool = False) -> NDArray[np.intp]:
    """The position of the label for each column of float64 decision values."""
    assert model.classes is not None
    order, n_classes = model.label_order, len(model.classes)
    if order is not None and not break_ties:  # LIBSVM's votes, in the order of its file
        source, sign = multiclass.pairs_in_order(order)
        pair_values = (-values if n_classes == 2 else values)[source].T * sign
        first: NDArray[np.intp] = order[multiclass.votes(pair_values, n_classes).argmax(axis=1)]
        return first
    if model.pairs:
        count = multiclass.votes_and_confidence if break_ties else multiclass.votes
        values = count(values.T, n_classes).T
    return greatest(values)


def greatest(values: Floats) -> NDArray[np.intp]:
    """The row of the greatest value in each column; for a single row whether it is not negative."""
    if len(values) == 1:
        return np.where(values[0] < 0, 0, 1)
    found: NDArray[np.intp] = values.argmax(axis=0)
    return found


def estimate(question: Question) -> Estimate | None:
    """The products in float32 with a bound of their error; None where float32 is of no use."""
    source, (begin, coef), packed, X = question
    if packed is not None:
        return packed.estimate(X) if len(coef) * len(X) >= SETTINGS.packed_from else None
    if source.n_rows * source.n_columns < SETTINGS.float32_from:
        return None
    bound = source.float32_bound()
    if bound is None or not np.median(bound.growth) <= SETTINGS.greatest_growth:
        return None
    column = rounding.bound_column(begin, coef, np.square(bound.lengths_a))
    with np.errstate(over="ignore"):
        columns = np.column_stack([coef, column.weights]).astype(np.float32)
    parts = np.zeros((len(begin) - 1, columns.shape[1], source.n_columns))
    try:
        source.add_products(begin, columns, parts, np.float32)
    except KernelNotFinite:
        return None
    errors = rounding.sum_bound(bound, column, parts[:, -1], source.backend.longest_run)
    return Estimate(parts[:, :-1], errors)


def certain_winners(model: KernelModel, estimate: Estimate) -> NDArray[np.intp]:
    """The same as `winners` where the estimate decides, OPEN elsewhere."""
    intercept = model.intercept
    if model.pairs:
        return by_pairs(estimate.parts, estimate.errors, intercept)
    values = estimate.parts[0] + intercept[:, None]
    rounded = (np.abs(values) + np.abs(intercept[:, None])).max(axis=0)
    error = estimate.errors[0] + ADDITIONS * rounded
    return by_sign(values[0], error) if len(values) == 1 else by_greatest(values, error)


def by_sign(values: Floats, error: Floats) -> NDArray[np.intp]:
    """1 for positive values, 0 for negative ones."""
    found = np.where(values > error, 1, OPEN)
    found[values < -error] = 0
    return found


def by_greatest(values: Floats, error: Floats) -> NDArray[np.intp]:
    """The row of the greatest value in each column."""
    second, first = np.partition(values, len(values) - 2, axis=0)[-2:]
    return np.where(first - second > 2 * error, values.argmax(axis=0), OPEN)


def by_pairs(parts: Floats, errors: Floats, intercept: Floats) -> NDArray[np.intp]:
    """The class that wins all its pairs, from each class's share of their values.

    ``worst`` is its least win so far, less the error.
    """
    worst = np.full(errors.shape, np.inf)
    for i, some in multiclass.pairs_of_first(len(errors)):
        values = parts[i, i:] + parts[i + 1 :, i]
        values += intercept[some, None]
        error = np.abs(values)
        error += np.abs(intercept[some, None])
        error *= ADDITIONS
        error += errors[i]
        error += errors[i + 1 :]
        np.minimum(worst[i], (values - error).min(axis=0), out=worst[i])
        np.minimum(worst[i + 1 :], np.negative(values, out=values) - error, out=worst[i + 1 :])
    return np.where(worst.max(axis=0) > 0, worst.argmax(axis=0), OPEN)
