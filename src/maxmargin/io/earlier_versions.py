"""Files of earlier versions of the .mm format, which held the attributes that estimators had before
their records.
"""

from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.estimators._linear import BaseLinear
from maxmargin.estimators._machine import KernelMachine
from maxmargin.kernel.model import KernelModel, none
from maxmargin.linear.model import LinearModel
from maxmargin.online.model import OnlineModel

RENAMED = {
    "_label_order": "label_order_",
    "_target_name": "target_name_",
    "_walks": "_iterates",
    "_functions": "_hypotheses",
}
KEPT = {
    *("class_weight_", "fit_status_", "n_iter_", "shape_fit_", "n_features_in_", "solver_"),
    *("feature_names_in_", "target_name_", "compression_"),
}
"""Attributes that an estimator still has besides its record."""
SEARCH = "LinearSVCCV"
"""A search, whose files held its parameters and scores with the model that it chose."""


def with_record(cls: type, attributes: dict[str, Any]) -> dict[str, Any]:
    """The fitted attributes of an estimator as it has them today."""
    if "model_" in attributes or not attributes:
        return attributes
    found = {RENAMED.get(name, name): value for name, value in attributes.items()}
    if issubclass(cls, KernelMachine):
        record: Any = _machine(cls, found)
    elif issubclass(cls, BaseLinear):
        record = _linear(found)
    else:
        record = _online(found)
    return {name: found[name] for name in found if name in KEPT} | {"model_": record}


def _machine(cls: type[KernelMachine], found: dict[str, Any]) -> KernelModel:
    problem, coef, known = cls._problem, found["dual_coef_"], found.get("_rows_known", True)
    return KernelModel(
        problem,
        found["_kernel"],
        found["support_vectors_"],
        found["n_features_in_"],
        coef.toarray() if sparse.issparse(coef) else coef,
        found["intercept_"],
        found["_n_support"],
        found["intercept_interval_"],
        found["_scales"] if problem.classifies else np.array([found["_scale"]]),
        found["certificate_"],
        found.get("classes_"),
        found.get("_one_vs_one", False),
        found["support_"] if known else None,
        found["shape_fit_"][0] if known else 0,
        found["_unit"],
        found.get("epsilon_"),
        found["_probA"],
        found["_probB"],
        found.get("_density_marks", none()),
        found.get("label_order_"),
    )


def _linear(found: dict[str, Any]) -> LinearModel:
    coef = found["coef_"]
    return LinearModel(
        coef if sparse.issparse(coef) else np.atleast_2d(coef),
        found["intercept_"],
        found["dual_coef_"],
        found["certificate_"],
        found["n_features_in_"],
        found.get("classes_"),
        found.get("label_order_"),
    )


def _online(found: dict[str, Any]) -> OnlineModel:
    return OnlineModel(
        found["_kernel"],
        found["_coef"] if "_coef" in found else found["dual_coef_"],
        found["intercept_"],
        found["_iterates"] if "_iterates" in found else found["_hypotheses"],
        found.get("n_features_in_", 0),
        found.get("classes_"),
        found.get("support_vectors_"),
        found.get("support_"),
        found.get("_matrix_width", 0),
        found.get("_centre"),
        found.get("_coefs"),
        found.get("certificate_"),
        found.get("_duals"),
    )
