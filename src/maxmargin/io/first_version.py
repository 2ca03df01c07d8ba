"""Files of the first version of the .mm format, which held the attributes that kernel machines had
before their records.
"""

from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.estimators.records import ESTIMATORS
from maxmargin.io.tagged import Decoder
from maxmargin.kernel.model import KernelModel, none

RENAMED = {
    "_label_order": "label_order_",
    "_target_name": "target_name_",
    "_walks": "_iterates",
    "_functions": "_hypotheses",
}
KEPT = {"class_weight_", "fit_status_", "n_iter_", "shape_fit_", "n_features_in_"} | {
    "feature_names_in_",
    "target_name_",
    "compression_",
}
"""Attributes that a kernel machine still has besides its record."""


def attributes(decoder: Decoder, record: Any, depth: int) -> dict[str, Any]:
    """The fitted attributes in a record of the first version, under today's names."""
    found = {
        RENAMED.get(name, name): decoder.decode(value, depth)
        for name, value in record["attributes"].items()
    }
    problem = next((p for p, cls in ESTIMATORS.items() if cls.__name__ == record["class"]), None)
    if problem is None or not found:
        return found
    coef, known = found["dual_coef_"], found.get("_rows_known", True)
    machine = KernelModel(
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
    return {name: found[name] for name in found if name in KEPT} | {"model_": machine}
