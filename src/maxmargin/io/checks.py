"""Whether the fitted attributes of an estimator fit together: asked before a model is written, and
of every model that was read.

What a file says twice must agree (public coefficients and the underscored ones that prediction
uses, an offset and an intercept), and what later calls take for granted must be there: weights of
the classes for ``certify``, a certificate, scales, the numbers of iterations.
"""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin

from maxmargin.certificate import Certificate
from maxmargin.estimators import _state
from maxmargin.estimators._base import BaseSVM
from maxmargin.estimators._linear import BaseLinear
from maxmargin.estimators._online import BaseOnline
from maxmargin.estimators._outlier import BaseOneClass
from maxmargin.estimators._voting import Voting, libsvm_sign
from maxmargin.kernel.kernels import Kernel, Kind

WRONG = (
    TypeError,
    AttributeError,
    KeyError,
    IndexError,
    ArithmeticError,
    RecursionError,
    AssertionError,
)
"""What values of the wrong type or size raise where they are looked at."""


def validate(model: Any) -> None:
    """Refuse a fitted state that does not fit together; ValueError, whatever is wrong."""
    try:
        _validate(model)
    except WRONG as error:
        raise ValueError(
            f"The internal representation of {type(model).__name__} is inconsistent: {error}"
        ) from None


def _validate(model: Any) -> None:
    _check_common(model)
    if isinstance(model, BaseOnline):
        _check_kernel(model)
        _state.check_online(model)
    elif isinstance(model, BaseSVM):
        _check_kernel(model)
        _state.check(model)
        _check_machine(model)
    elif isinstance(model, BaseLinear):
        _state.check_linear(model)
        _state.check_duals(model)
        _check_linear(model)
    else:
        _validate(model.estimator_)
        _require(isinstance(model.certificate_, Certificate), "certificate_")
        for name in ("classes_", "coef_", "intercept_"):
            _require(_same(getattr(model, name), getattr(model.estimator_, name)), name)


def _require(condition: Any, what: str) -> None:
    if not condition:
        raise ValueError(f"{what} is not what it should be.")


def _check_common(model: Any) -> None:
    """Attributes that every kind of estimator may have."""
    has = vars(model)
    _require("classes_" in has or not isinstance(model, ClassifierMixin), "classes_")
    _require("offset_" in has or not isinstance(model, BaseOneClass), "offset_")
    if "n_features_in_" in has:
        _require(type(model.n_features_in_) is int and model.n_features_in_ >= 0, "n_features_in_")
    if "feature_names_in_" in has:
        names = model.feature_names_in_
        _require(
            names.shape == (model.n_features_in_,)
            and all(isinstance(name, str) for name in names.tolist()),
            "feature_names_in_",
        )
    if "_target_name" in has:
        _require(isinstance(model._target_name, str), "_target_name")
    if "classes_" in has:
        classes = model.classes_
        _require(
            classes.ndim == 1 and len(classes) >= 2 and bool((classes[:-1] < classes[1:]).all()),
            "classes_",
        )
    if "_label_order" in has:
        order = model._label_order
        _require(
            order.dtype == np.int64
            and np.array_equal(np.sort(order), np.arange(len(model.classes_))),
            "_label_order",
        )
    if "certificate_" in has:
        _require(isinstance(model.certificate_, Certificate), "certificate_")
    if "offset_" in has:
        _require(_numbers(model.offset_, (1,)), "offset_")


def _check_kernel(model: Any) -> None:
    _require(
        isinstance(model._kernel, Kernel) and model._kernel.kind is model._kernel_kind(),
        "the kernel",
    )
    if "shape_fit_" in vars(model):
        shape = model.shape_fit_
        _require(
            type(shape) is tuple and all(type(k) is int and k >= 0 for k in shape) and shape,
            "shape_fit_",
        )
    if isinstance(model, BaseOnline):
        return
    numeric = model._kernel.kind not in (Kind.PRECOMPUTED, Kind.CALLABLE)
    _require(model._sparse is (numeric and sparse.issparse(model.support_vectors_)), "_sparse")
    _require(not isinstance(model, Voting) or isinstance(model._one_vs_one, bool), "_one_vs_one")


def _check_machine(model: Any) -> None:
    """What a kernel machine holds besides what prediction uses."""
    functions, classifies = model._shapes()[2], isinstance(model, Voting)
    sign = libsvm_sign(len(model.classes_)) if classifies else 1.0
    _require(
        _same(model.dual_coef_, sign * model._dual_coef_),
        "dual_coef_, which disagrees with _dual_coef_,",
    )
    _require(
        _same(model.intercept_, sign * model._intercept_),
        "intercept_, which disagrees with _intercept_,",
    )
    _require(
        _numbers(model.intercept_interval_, (functions, 2), finite=False), "intercept_interval_"
    )
    _require(type(model._gamma) is float, "_gamma")
    _require(type(model._unit) is float and 0 < model._unit < np.inf, "_unit")
    _require(model.fit_status_ in (0, 1), "fit_status_")
    _require(_counts(model._num_iter, functions), "_num_iter")
    _require(len(model.certificate_.parts or (model.certificate_,)) == functions, "certificate_")
    for name in ("_probA", "_probB"):
        values = getattr(model, name)
        _require(_numbers(values, (len(values),)) and len(values) in (0, functions), name)
    if classifies:
        _check_class_weight(model)
        _require(_numbers(model._scales, (functions,)) and (model._scales > 0).all(), "_scales")
        _require(_counts(model.n_iter_, functions), "n_iter_")
    else:
        _require(type(model._scale) is float and 0 < model._scale < np.inf, "_scale")
        _require(type(model.n_iter_) is int, "n_iter_")
    if isinstance(model, BaseOneClass):
        _require(
            _same(model.offset_, -model._intercept_), "offset_, which disagrees with _intercept_,"
        )


def _check_linear(model: Any) -> None:
    """What a linear model holds besides what prediction uses."""
    _require(isinstance(model.certificate_, Certificate), "certificate_")
    _require(type(model.solver_) is str, "solver_")
    _require(type(model.n_iter_) is int, "n_iter_")
    if "classes_" in vars(model):
        _check_class_weight(model)
    if isinstance(model, BaseOneClass):
        _require(
            _same(model.offset_, -np.asarray(model.intercept_)),
            "offset_, which disagrees with intercept_,",
        )


def _check_class_weight(model: Any) -> None:
    weight = model.class_weight_
    _require(_numbers(weight, (len(model.classes_),)) and (weight >= 0).all(), "class_weight_")


def _numbers(values: Any, shape: tuple[int, ...], finite: bool = True) -> bool:
    """Whether values are float64 of this shape."""
    return bool(
        values.shape == shape
        and values.dtype == np.float64
        and (np.isfinite(values).all() or not finite)
    )


def _counts(values: Any, count: int) -> bool:
    return bool(values.shape == (count,) and values.dtype.kind in "iu" and (values >= 0).all())


def _same(a: Any, b: Any) -> bool:
    """Whether two arrays, or two sparse matrices, hold the same numbers."""
    if not (sparse.issparse(a) and sparse.issparse(b)):
        return not (sparse.issparse(a) or sparse.issparse(b)) and np.array_equal(a, b)
    for matrix in (a, b):
        matrix.check_format(full_check=True)
    return a.shape == b.shape and bool((a != b).nnz == 0)
