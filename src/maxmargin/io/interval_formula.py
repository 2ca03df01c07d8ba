"""The machines without a fold as further functions of a formula, for intervals in exports.

The first function is that of the model; then follow the functions f_k of the K machines without a
fold. With them and the errors on the folds, exports find the ends of intervals (intervals.py).
"""

from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.core.arrays import Floats
from maxmargin.estimators._record import checked
from maxmargin.intervals import Folds
from maxmargin.io.formula import Formula, formula_of
from maxmargin.io.preparation import parts_of
from maxmargin.kernel.kernels import Kind
from maxmargin.kernel.sources import combine


def formula_with_folds(model: Any) -> tuple[Formula, Folds]:
    """The formula of a regression with 1 + K functions, and the errors on the folds.

    ValueError where the model has no intervals.
    """
    formula, machine = formula_of(model), parts_of(model)[1]
    record = checked(machine)
    folds = getattr(record, "folds", None)
    if folds is None:
        raise ValueError(
            f"This {type(machine).__name__} was fitted without intervals: use SVR, NuSVR or "
            "LinearSVR with interval=True."
        )
    own = folds.machine
    intercept = np.append(formula.intercept, own.intercept)
    if formula.kernel.kind is Kind.LINEAR:
        coef = np.concatenate([formula.coef, _weights(own)])
        return formula._replace(coef=coef, intercept=intercept), folds
    others = np.flatnonzero(~np.isin(record.rows, own.rows))  # no machine of a fold has them
    first = np.zeros((1, len(own.rows)))
    found, at = np.isin(own.rows, record.rows), np.argsort(record.rows)
    place = at[np.searchsorted(record.rows, own.rows[found], sorter=at)]
    first[0, found] = formula.coef[0, place]
    coef = np.concatenate([first, own.columns()])
    last = np.zeros((len(coef), len(others)))
    last[0] = formula.coef[0, others]
    coef = np.concatenate([coef, last], axis=1)
    if formula.columns is not None:
        columns = np.append(own.rows, formula.columns[others]).astype(np.int64)
        return formula._replace(coef=coef, intercept=intercept, columns=columns), folds
    assert formula.vectors is not None
    vectors = np.concatenate([_dense(own.vectors), formula.vectors[others]])
    return formula._replace(coef=coef, intercept=intercept, vectors=vectors), folds


def _weights(machine: Any) -> Floats:
    """The weights of the features of linear machines."""
    if hasattr(machine, "weights"):
        found: Floats = machine.weights()
        return found
    return _dense(combine(machine.columns(), machine.vectors))


def _dense(values: Any) -> Floats:
    return np.asarray(values.toarray() if sparse.issparse(values) else values, np.float64)
