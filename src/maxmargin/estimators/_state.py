"""The fitted state as prediction uses it: checked, and prepared once.

Native code must never meet a state that was altered, and checking and preparing it costs more than predicting a few rows. So what was
prepared is kept beside a fingerprint of all it was made from: as long as that is the same, so is the state. It is kept outside the
estimator, whose attributes, copies and pickles do not change by predicting.
"""

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _num_samples

from maxmargin.core import cpu as core
from maxmargin.estimators._labels import Coefficients
from maxmargin.kernels import Kernel, Kind
from maxmargin.sources import NativeSource, combine

ODD = (AttributeError, TypeError, ValueError, IndexError)
"""What looking at an altered state raises."""


class Prepared(NamedTuple):
    """What prediction needs of a fitted model."""

    fingerprint: Any
    source: NativeSource | None
    """The support vectors; with a linear kernel instead of them the weights of the features, a row for each function. None where the kernel
    is a matrix or a Python function."""
    coefficients: Coefficients


_prepared: "WeakKeyDictionary[Any, Prepared]" = WeakKeyDictionary()


def prepared(model: Any) -> Prepared:
    """The state of a fitted model, after every check; what has no fingerprint is prepared anew."""
    found, kept = _fingerprint(model), _prepared.get(model)
    if kept is None or found is None or kept.fingerprint != found:
        check(model)
        kept = Prepared(found, _known(model._kernel, model), model._coefficients())
        _prepared[model] = kept
    return kept


def _known(kernel: Kernel, model: Any) -> NativeSource | None:
    if kernel.kind is Kind.PRECOMPUTED or kernel.kind is Kind.CALLABLE:
        return None
    return NativeSource(kernel, combine(model._columns(), model.support_vectors_) if kernel.kind is Kind.LINEAR else model.support_vectors_)


def check(model: Any) -> None:
    """Refuse a fitted state that was altered."""
    try:
        consistent = _is_consistent(model)
    except ODD:
        consistent = False
    if not consistent:
        raise ValueError(f"The internal representation of {type(model).__name__} was altered")


def _arrays(matrix: Any) -> list[Any]:
    """The memory of a dense or sparse matrix."""
    return [matrix.data, matrix.indices, matrix.indptr] if sparse.issparse(matrix) else [matrix]


def _fingerprint(model: Any) -> Any:
    """All that the checks and the prepared points depend on; None for a state that has no fingerprint."""
    try:
        matrices = (model._dual_coef_, model.support_vectors_)
        arrays = [model._intercept_, model.support_, model._n_support, *_arrays(matrices[0]), *_arrays(matrices[1])]
        numbers = [(core.fingerprint(array), array.dtype, array.shape) for array in arrays]
        shapes = (matrices[0].shape, matrices[1].shape, model.shape_fit_, model.n_features_in_, model._shapes())
        return numbers, shapes, model._kernel
    except ODD:
        return None


def _is_consistent(model: Any) -> bool:
    coef, intercept, support, vectors = model._dual_coef_, model._intercept_, model.support_, model.support_vectors_
    precomputed, objects = model._kernel.kind is Kind.PRECOMPUTED, model._kernel.kind is Kind.CALLABLE
    matrices = [coef] if precomputed or objects else [coef, vectors]
    for matrix in matrices:
        if sparse.issparse(matrix):
            matrix.check_format(full_check=True)
    numbers = [intercept, *(m.data if sparse.issparse(m) else m for m in matrices)]
    n_support = len(support) if precomputed else _num_samples(vectors)
    parts, coefficients, decisions = model._shapes()
    return bool(
        all(np.issubdtype(part.dtype, np.floating) and np.isfinite(part).all() for part in numbers)
        and coef.shape == (coefficients, n_support)
        and intercept.shape == (decisions,)
        and np.issubdtype(support.dtype, np.integer)
        and support.shape == (n_support,)
        and (n_support == 0 or (support.min() >= 0 and support.max() < model.shape_fit_[0]))
        and model._n_support.shape == (parts,)
        and model._n_support.min() >= 0
        and int(model._n_support.sum()) == n_support
        and (precomputed or objects or vectors.shape[1] == model.n_features_in_)
    )
