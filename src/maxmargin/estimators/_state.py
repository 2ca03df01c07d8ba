"""Checks of the fitted state of linear and online models: native code must never read one that was
altered.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _num_samples

from maxmargin.kernel.kernels import Kind
from maxmargin.online import norma, pegasos

ODD = (AttributeError, TypeError, ValueError, IndexError)
"""What looking at an altered state raises."""
FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


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
    """Number of decision functions that labels need: one for two classes, else one for each class.

    A model without labels has one.
    """
    classes = getattr(model, "classes_", None)
    if classes is None:
        return 1
    if classes.ndim != 1 or len(classes) < 2:
        raise ValueError("labels")
    return 1 if len(classes) == 2 else len(classes)


def _online_is_consistent(model: Any) -> bool:
    functions, kind = _functions(model), model._kernel.kind
    if not _finite(model.intercept_, (functions,)):
        return False
    iterates = getattr(model, "_iterates", None)
    if iterates is not None and kind is Kind.LINEAR:
        width, good = model.n_features_in_, _finite(model._coef, (functions, model.n_features_in_))
        good = good and _finite(model._centre, (width,))
    else:
        width, good = (
            len(model.support_),
            _points_are_consistent(model, kind)
            and _finite(model.dual_coef_, (functions, len(model.support_))),
        )
    if iterates is not None:
        good = (
            good
            and all(_finite(part, (functions, width)) for part in iterates[:2])
            and _finite(iterates.numbers, (functions, len(pegasos.FIELDS)))
        )
    else:
        found = model._hypotheses
        good = (
            good
            and _finite(found.coef, (functions, width))
            and _finite(found.numbers, (functions, len(norma.FIELDS)))
        )
        good = good and _finite(found.truncation, (functions,))
    return bool(good)


def _points_are_consistent(model: Any, kind: Kind) -> bool:
    """The points that an online model keeps; a matrix of kernel values has none."""
    support, points = model.support_, model.support_vectors_
    good = (
        type(model._matrix_width) is int
        and support.ndim == 1
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
