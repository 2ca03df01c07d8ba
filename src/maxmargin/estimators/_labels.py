"""Class labels from float32 decision values, wherever a bound of their error decides; the other
rows are evaluated in float64.

Let f be the float64 decision values of a row and |f32 - f| <= E for all of its functions
(maxmargin.kernel.rounding). Then

* two classes (and the one-class boundary): the sign of f is that of f32 if |f32| > E;
* one-vs-rest: the greatest of f is the greatest of f32 if that is more than 2 E above the second;
* one-vs-one: if one class wins all its pairs in f32, each by more than E, then in f it wins them too. Every other class then has a vote
  less at least, so it is the label, whether ties are broken by order or by confidence, which is
  less than 1/3.

Labels are therefore those of the float64 decision values, always; what is not decided, NaN
included, is evaluated again.

The bound needs sum_j m_j k_j and sum_j m_j k_j |z_j|^2 with m_j >= |c_j| for all functions of a
group: two more columns of the product.
"""

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.arrays import Floats
from maxmargin.kernel import multiclass, rounding
from maxmargin.kernel.sources import KernelNotFinite, NativeSource, Source

MANY = 2**19
"""Kernel values from which on float32 is faster, its bound included."""
USEFUL = 1.01
"""exp of the greatest error of an exponent, beyond which float32 decides too little."""


class Coefficients(NamedTuple):
    """Coefficients of the support vectors, a row each.

    Those of begin[g], ..., begin[g + 1] - 1 make group g, with functions of its own.
    """

    begin: NDArray[np.int64]
    coef: Floats


class Question(NamedTuple):
    """Kernel values between support vectors and the rows asked about, and the coefficients that
    multiply them.
    """

    source: Source
    coefficients: Coefficients

    def at(self, rows: NDArray[np.intp]) -> "Question":
        """The same for these rows alone."""
        assert isinstance(
            self.source, NativeSource
        )  # no other has a float32_bound, which leaves rows undecided
        return Question(self.source.at(rows), self.coefficients)


class Estimate(NamedTuple):
    """What each group adds to its functions, in float32, and for each group and row the bound of
    its error.
    """

    parts: Floats
    errors: Floats


def products(question: Question) -> Floats:
    """What each group adds to its functions, in float64."""
    source, (begin, coef) = question
    parts = np.zeros((len(begin) - 1, coef.shape[1], source.n_columns))
    source.add_products(begin, coef, parts, np.float64)
    return parts


def estimate(question: Question) -> Estimate | None:
    """The same in float32; None where that is of no use."""
    source, (begin, coef) = question
    bound = source.float32_bound() if source.n_rows * source.n_columns >= MANY else None
    if bound is None or not np.median(bound.growth) <= USEFUL:
        return None
    size = np.abs(coef).max(axis=1, initial=0.0)
    with np.errstate(over="ignore"):
        columns = np.column_stack([coef, size, size * np.square(bound.lengths_a)]).astype(
            np.float32
        )
    parts = np.zeros((len(begin) - 1, columns.shape[1], source.n_columns))
    try:
        source.add_products(begin, columns, parts, np.float32)
    except KernelNotFinite:
        return None
    total = np.array([size[first:last].sum() for first, last in itertools.pairwise(begin)])
    errors = rounding.sum_bound(
        bound, parts[:, -2], parts[:, -1], total, question.source.backend.longest_run, len(coef)
    )
    return Estimate(parts[:, :-2], errors)


ADDITIONS = 8 * rounding.UNIT64
"""Adding parts and an intercept in float64, here and there, is wrong by at most that share of value
and intercept."""


OPEN = -1
"""In the place of a label's position: the bound does not decide."""


def by_sign(values: Floats, error: Floats) -> NDArray[np.intp]:
    """0 for positive values, 1 for negative ones."""
    found = np.where(values > error, 0, OPEN)
    found[values < -error] = 1
    return found


def by_greatest(values: Floats, error: Floats) -> NDArray[np.intp]:
    """The row of the greatest value in each column."""
    second, first = np.partition(values, len(values) - 2, axis=0)[-2:]
    return np.where(first - second > 2 * error, values.argmax(axis=0), OPEN)


def by_pairs(parts: Floats, errors: Floats, intercept: Floats) -> NDArray[np.intp]:
    """The class that wins all its pairs, from what each class adds to them.

    Worst is its least win, less the error, so far.
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
