"""Checks that the fitted attributes of an estimator are consistent, for writing and reading.

Redundant values, such as an offset and an intercept, must agree. Values that later calls rely on
must be present: class weights for ``certify``, a certificate, scales, the numbers of iterations.
"""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin

from maxmargin.calibration import SETTINGS
from maxmargin.certificate import Certificate
from maxmargin.estimators._joint import JointEstimator
from maxmargin.estimators._linear import BaseLinear
from maxmargin.estimators._machine import KernelMachine
from maxmargin.estimators._online import BaseOnline
from maxmargin.estimators._outlier import BaseOneClass
from maxmargin.estimators._pegasos import BasePegasos
from maxmargin.estimators._record import checked
from maxmargin.estimators._scored import PlaneMachine
from maxmargin.estimators.laplacian import LaplacianSVC
from maxmargin.estimators.records import kind_of_kernel, problem_of
from maxmargin.estimators.transductive import TransductiveSVC
from maxmargin.intervals import Folds
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.model import KernelModel, Problem, count_pairs
from maxmargin.linear.model import LinearModel, check_duals, check_folds
from maxmargin.linear.model import check as check_linear
from maxmargin.online.model import OnlineModel
from maxmargin.online.model import check as check_online
from maxmargin.online.norma import Hypotheses
from maxmargin.online.pegasos import Iterates
from maxmargin.structured.joint_model import JointModel
from maxmargin.structured.joint_model import check as check_joint
from maxmargin.structured.model import PlaneModel
from maxmargin.structured.model import check as check_planes

WRONG = (
    TypeError,
    AttributeError,
    KeyError,
    IndexError,
    ArithmeticError,
    RecursionError,
    AssertionError,
)
"""Errors that looking at values of the wrong type or size raises."""


def validate(model: Any) -> None:
    """Raise ValueError if the fitted state is inconsistent."""
    try:
        _validate(model)
    except WRONG as error:
        raise ValueError(
            f"The internal representation of {type(model).__name__} is inconsistent: {error}"
        ) from None


def _validate(model: Any) -> None:
    _check_common(model)
    if isinstance(model, BaseOnline):
        _check_online(model)
    elif isinstance(model, KernelMachine):
        _check_machine(model)
    elif isinstance(model, BaseLinear):
        _check_linear(model)
    elif isinstance(model, JointEstimator):
        _require(isinstance(model.model_, JointModel), "model_")
        check_joint(model.model_, type(model).__name__)
        _require(model.coef_.size <= model.model_.weights.size, "coef_")
    elif isinstance(model, PlaneMachine):
        _check_planes(model)
    elif isinstance(model, TransductiveSVC | LaplacianSVC):
        _check_semi_supervised(model)
    else:
        _validate(model.estimator_)


def _require(condition: Any, what: str) -> None:
    if not condition:
        raise ValueError(f"{what} is wrong.")


def _check_common(model: Any) -> None:
    """Check attributes that every kind of estimator may have."""
    has = vars(model)
    if "n_features_in_" in has:
        _require(type(model.n_features_in_) is int and model.n_features_in_ >= 0, "n_features_in_")
    if "feature_names_in_" in has:
        names = model.feature_names_in_
        _require(
            names.shape == (model.n_features_in_,)
            and all(isinstance(name, str) for name in names.tolist()),
            "feature_names_in_",
        )
    if "target_name_" in has:
        _require(isinstance(model.target_name_, str), "target_name_")


def _check_kernel(model: Any, kernel: Any) -> None:
    _require(isinstance(kernel, Kernel) and kernel.kind is kind_of_kernel(model), "the kernel")
    if "shape_fit_" in vars(model):
        shape = model.shape_fit_
        _require(
            type(shape) is tuple and all(type(k) is int and k >= 0 for k in shape) and shape,
            "shape_fit_",
        )


def _check_machine(model: Any) -> None:
    """Check the record of a kernel machine."""
    record: KernelModel = model.model_
    _require(isinstance(record, KernelModel), "model_")
    _require(record.problem is problem_of(model), "the problem")
    _check_kernel(model, record.kernel)
    _check_classes(model, record)
    checked(model)
    _check_folds(record)
    _check_offset(model)
    functions = len(record.intercept)
    several = record.problem in (Problem.QUANTILE_SVR, Problem.MULTI_OUTPUT_SVR)
    _require(record.classes is not None or several or functions == 1, "intercept")
    _check_functions(model, functions)
    _require(type(record.n_features) is int, "n_features")
    _require(record.n_features == model.n_features_in_, "n_features_in_")
    _require(type(record.n_samples) is int and record.n_samples >= 0, "n_samples")
    _require(_numbers(record.intervals, (functions, 2), finite=False), "intervals")
    _require(_numbers(record.scales, (functions,)) and (record.scales > 0).all(), "scales")
    _require(type(record.unit) is float and 0 < record.unit < np.inf, "unit")
    _require(record.epsilon is None or type(record.epsilon) is float, "epsilon")
    _require(isinstance(record.certificate, Certificate), "certificate")
    _require(len(record.certificates) == functions, "certificate")
    marks = (0, SETTINGS.marks) if record.problem is Problem.ONE_CLASS else (0,)
    for values, counts in (
        (record.prob_a, (0, count_pairs(record))),
        (record.prob_b, (0, count_pairs(record))),
        (record.marks, marks),
    ):
        _require(_numbers(values, (len(values),)) and len(values) in counts, "probabilities")
    _require((np.diff(record.marks) >= 0).all(), "marks")
    _require(model.fit_status_ in (0, 1), "fit_status_")
    if record.classes is None:
        _require(type(model.n_iter_) is int, "n_iter_")
    else:
        _check_class_weight(model)
        _require(_counts(model.n_iter_, functions), "n_iter_")


def _check_functions(model: Any, functions: int) -> None:
    """Check that the number of functions is that of what ``predict`` returns."""
    problem = problem_of(model)
    if problem is Problem.QUANTILE_SVR:
        _require(np.size(model.quantiles) == functions, "the number of quantiles")
    if problem is Problem.MULTI_OUTPUT_SVR:
        _require(type(model.flat_) is bool and (functions == 1 or not model.flat_), "flat_")


def _check_folds(record: KernelModel | LinearModel) -> None:
    """Check that the machines without a fold are of the same kind, where there are some."""
    if record.folds is None:
        return
    _require(isinstance(record.folds, Folds) and record.classes is None, "folds")
    _require(record.folds.end.dtype == np.int64, "folds")
    part = record.folds.machine
    _require(type(part) is type(record) and part.folds is None, "folds")
    for name in ("problem", "kernel", "n_features", "n_samples", "classes"):
        same = getattr(part, name, None) == getattr(record, name, None)
        _require(same, f"{name} of the folds")
    if isinstance(record, KernelModel):
        _require(record.problem is not Problem.ONE_CLASS, "folds")
        _require(sparse.issparse(part.vectors) == sparse.issparse(record.vectors), "folds")


def _check_classes(model: Any, record: KernelModel) -> None:
    pairs = record.classes is not None and len(record.classes) > 2
    _require(type(record.pairs) is bool and (pairs or not record.pairs), "pairs")
    _check_label_order(model, record)


def _check_label_order(model: Any, record: KernelModel | LinearModel) -> None:
    """A classifier has classes, and only a classifier has an order of them."""
    classes = record.classes
    _require((classes is not None) is isinstance(model, ClassifierMixin), "classes")
    if classes is not None:
        _check_labels(classes, record.label_order)
    else:
        _require(record.label_order is None, "label_order")


def _check_labels(classes: Any, order: Any) -> None:
    """Classes are sorted, and an order of theirs is a permutation."""
    _require(
        classes.ndim == 1 and len(classes) >= 2 and bool((classes[:-1] < classes[1:]).all()),
        "classes_",
    )
    good = order is None or (
        order.dtype == np.int64 and np.array_equal(np.sort(order), np.arange(len(classes)))
    )
    _require(good, "label_order_")


def _check_linear(model: Any) -> None:
    """Check the record of a linear model."""
    record: LinearModel = model.model_
    _require(isinstance(record, LinearModel), "model_")
    _check_label_order(model, record)
    check_linear(record, type(model).__name__)
    check_duals(record, type(model).__name__)
    if record.folds is not None:
        check_folds(record, type(model).__name__)
        _check_folds(record)
    _require(type(record.n_features) is int, "n_features")
    _require(record.n_features == model.n_features_in_, "n_features_in_")
    _require(isinstance(record.certificate, Certificate), "certificate")
    _require(type(model.solver_) is str, "solver_")
    _require(type(model.n_iter_) is int, "n_iter_")
    if record.classes is not None:
        _check_class_weight(model)


def _check_semi_supervised(model: Any) -> None:
    """Check the record of a machine that unlabelled samples helped to train."""
    record = checked(model)
    _require(isinstance(record, KernelModel | LinearModel), "model_")
    _check_label_order(model, record)
    _require(record.n_features == model.n_features_in_, "n_features_in_")
    _require(isinstance(record.certificate, Certificate), "certificate")
    _require(model.transduction_.ndim == 1, "transduction_")
    if isinstance(model, LaplacianSVC):
        _validate(model.estimator_)


def _check_online(model: Any) -> None:
    """Check the record of an online model."""
    record: OnlineModel = model.model_
    _require(isinstance(record, OnlineModel), "model_")
    _check_kernel(model, record.kernel)
    _require((record.classes is not None) is isinstance(model, ClassifierMixin), "classes")
    if record.classes is not None:
        _check_labels(record.classes, None)
    check_online(record, type(model).__name__)
    pegasos = isinstance(model, BasePegasos)
    _require(isinstance(record.state, Iterates if pegasos else Hypotheses), "state")
    _require(type(record.n_features) is int, "n_features")
    _require(record.n_features == getattr(model, "n_features_in_", 0), "n_features_in_")
    known = record.certificate is not None
    _require(not known or isinstance(record.certificate, Certificate), "certificate")
    _require(record.duals is None or (known and sparse.issparse(record.duals)), "duals")


def _check_planes(model: Any) -> None:
    """Check the record of a model of the cutting-plane method."""
    record: PlaneModel = model.model_
    _require(isinstance(record, PlaneModel), "model_")
    _check_kernel(model, record.kernel)
    _require((record.classes is not None) is isinstance(model, ClassifierMixin), "classes")
    if record.classes is not None:
        _check_labels(record.classes, None)
    check_planes(record, type(model).__name__)
    _require(type(record.n_features) is int, "n_features")
    _require(record.n_features == getattr(model, "n_features_in_", 0), "n_features_in_")
    _require(type(record.n_samples) is int and record.n_samples >= 0, "n_samples")
    _require(isinstance(record.certificate, Certificate), "certificate")
    _require(len(record.certificates) == len(record.coef), "certificate")
    _require(type(model.n_iter_) is int, "n_iter_")
    if "class_weight_" in vars(model):
        _check_class_weight(model)


def _check_offset(model: Any) -> None:
    """Check that the offset is the negative intercept, where there is one."""
    if problem_of(model) is Problem.SVDD:
        offset, diagonal = model.offset_, model.diagonal_
        _require(_numbers(offset, (1,)) and offset[0] <= 0, "offset_")
        _require(type(diagonal) is float and np.isfinite(diagonal), "diagonal_")
    elif isinstance(model, BaseOneClass):
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
