"""The fitted state as prediction uses it: checked, and prepared once.

Native code must never meet a state that was altered, and checking and preparing it costs more than
predicting a few rows. So what was prepared is kept beside a fingerprint of all it was made from: as
long as that is the same, so is the state. It is kept outside the estimator, whose attributes,
copies and pickles do not change by predicting.
"""

from collections.abc import Callable
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _num_samples

from maxmargin.core.memory import fingerprint
from maxmargin.estimators._labels import Coefficients
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.sources import NativeSource, combine

ODD = (AttributeError, TypeError, ValueError, IndexError)
"""What looking at an altered state raises."""
FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
WALK_NUMBERS, FUNCTION_NUMBERS = 10, 4
"""Numbers that Pegasos keeps of a walk, and NORMA of a function."""


class Prepared(NamedTuple):
    """What prediction needs of a fitted model."""

    fingerprint: Any
    source: NativeSource | None
    """The support vectors; with a linear kernel instead of them the weights of the features, a row
    for each function. None where the kernel
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


PREDICTED = 1e-5
"""Error of a decision value, by its bound, from which distances are computed by differences
(rounding.py). A constant, not a share of
tol: parameters that are set after the fit leave a model as it is."""


def _known(kernel: Kernel, model: Any) -> NativeSource | None:
    if kernel.kind is Kind.PRECOMPUTED or kernel.kind is Kind.CALLABLE:
        return None
    if kernel.kind is Kind.LINEAR:
        return NativeSource(kernel, combine(model._columns(), model.support_vectors_))
    source = NativeSource(kernel, model.support_vectors_)
    size = float(np.abs(model._columns()).sum(axis=1).max(initial=0.0))
    if source.value_error * size <= PREDICTED * getattr(model, "_unit", 1.0):
        return source
    return source.by_differences() or source


def check(model: Any) -> None:
    """Refuse a fitted state that was altered."""
    _refuse_unless(model, _is_consistent)


def _arrays(matrix: Any) -> list[Any]:
    """The memory of a dense or sparse matrix."""
    return [matrix.data, matrix.indices, matrix.indptr] if sparse.issparse(matrix) else [matrix]


def _fingerprint(model: Any) -> Any:
    """All that the checks and the prepared points depend on.

    None for a state that has no fingerprint.
    """
    try:
        matrices = (model._dual_coef_, model.support_vectors_)
        arrays = [
            model._intercept_,
            model.support_,
            model._n_support,
            *_arrays(matrices[0]),
            *_arrays(matrices[1]),
        ]
        numbers = [(fingerprint(array), array.dtype, array.shape) for array in arrays]
        shapes = (
            matrices[0].shape,
            matrices[1].shape,
            model.shape_fit_,
            model.n_features_in_,
            model._shapes(),
        )
        return numbers, shapes, model._kernel
    except ODD:
        return None


def _is_consistent(model: Any) -> bool:
    coef, intercept, support, vectors = (
        model._dual_coef_,
        model._intercept_,
        model.support_,
        model.support_vectors_,
    )
    precomputed, objects = (
        model._kernel.kind is Kind.PRECOMPUTED,
        model._kernel.kind is Kind.CALLABLE,
    )
    matrices = [coef] if precomputed or objects else [coef, vectors]
    for matrix in matrices:
        if sparse.issparse(matrix):
            matrix.check_format(full_check=True)
    numbers = [intercept, *(m.data if sparse.issparse(m) else m for m in matrices)]
    n_support = len(support) if precomputed else _num_samples(vectors)
    parts, coefficients, decisions = model._shapes()
    return bool(
        all(part.dtype == np.float64 and np.isfinite(part).all() for part in numbers)
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


# ---- models without prepared points --------------------------------------------------------------


def check_linear(model: Any) -> None:
    """Refuse weights of features that were altered."""
    _refuse_unless(model, _linear_is_consistent)


def check_duals(model: Any) -> None:
    """Refuse duals of a linear model that were altered.

    A crafted sparse matrix would make SciPy write where it must not.
    """
    _refuse_unless(model, _duals_are_consistent)


def check_online(model: Any) -> None:
    """Refuse functions of points, or weights of features, of an online model that were altered."""
    _refuse_unless(model, _online_is_consistent)


def _refuse_unless(model: Any, consistent: Callable[[Any], bool]) -> None:
    try:
        good = consistent(model)
    except ODD:
        good = False
    if not good:
        raise ValueError(f"The internal representation of {type(model).__name__} was altered")


def _finite(values: Any, shape: tuple[int, ...], dtypes: tuple[Any, ...] = FLOATS[:1]) -> bool:
    """Whether values are finite floats of this shape, of float64 unless others are given."""
    return bool(values.shape == shape and values.dtype in dtypes and np.isfinite(values).all())


def _functions(model: Any) -> int:
    """Decision functions that labels need: one for two classes, else one for each.

    Without labels one.
    """
    classes = getattr(model, "classes_", None)
    if classes is None:
        return 1
    if classes.ndim != 1 or len(classes) < 2:
        raise ValueError("labels")
    return 1 if len(classes) == 2 else len(classes)


def _linear_is_consistent(model: Any) -> bool:
    coef, intercept, functions = model.coef_, np.asarray(model.intercept_), _functions(model)
    if sparse.issparse(coef):
        coef.check_format(full_check=True)
        width, values = coef.shape, coef.data
    else:
        width, values = np.atleast_2d(coef).shape, coef
    return bool(
        width == (functions, model.n_features_in_)
        and _finite(values, values.shape)
        and intercept.shape in ((), (functions,))
        and intercept.dtype.kind == "f"
        and np.isfinite(intercept).all()
    )


def _duals_are_consistent(model: Any) -> bool:
    duals = model.dual_coef_
    duals.check_format(full_check=True)
    return bool(np.isfinite(duals.data).all())


def _online_is_consistent(model: Any) -> bool:
    functions, kind = _functions(model), model._kernel.kind
    if not _finite(model.intercept_, (functions,)):
        return False
    walks = getattr(model, "_walks", None)
    if walks is not None and kind is Kind.LINEAR:
        width, good = model.n_features_in_, _finite(model._coef, (functions, model.n_features_in_))
        good = good and _finite(model._centre, (width,))
    else:
        width, good = (
            len(model.support_),
            _points_are_consistent(model, kind)
            and _finite(model.dual_coef_, (functions, len(model.support_))),
        )
    if walks is not None:
        good = (
            good
            and all(_finite(part, (functions, width)) for part in walks[:2])
            and _finite(walks.numbers, (functions, WALK_NUMBERS))
        )
    else:
        found = model._functions
        good = (
            good
            and _finite(found.coef, (functions, width))
            and _finite(found.numbers, (functions, FUNCTION_NUMBERS))
        )
        good = good and _finite(found.lost, (functions,))
    return bool(good)


def _points_are_consistent(model: Any, kind: Kind) -> bool:
    """The points that an online model keeps; a matrix of kernel values has none."""
    support, points = model.support_, model.support_vectors_
    good = (
        support.ndim == 1
        and np.issubdtype(support.dtype, np.integer)
        and (len(support) == 0 or support.min() >= 0)
    )
    if kind is Kind.PRECOMPUTED:
        return bool(good and (len(support) == 0 or support.max() < model._matrix_width))
    if kind is Kind.CALLABLE:
        return bool(good and _num_samples(points) == len(support))
    if sparse.issparse(points):
        points.check_format(full_check=True)
    values = points.data if sparse.issparse(points) else points
    return bool(
        good
        and points.shape == (len(support), model.n_features_in_)
        and _finite(values, values.shape, FLOATS)
    )
