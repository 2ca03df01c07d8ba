"""Scaled models for LIBSVM's, LIBLINEAR's and SVM-light's files, which hold no scaling.

A linear function of scaled features is a linear function of the features themselves:

    w . (factor x + shift) + b  =  (factor w) . x + (b + w . shift)

So the scaling of a linear model becomes part of its weights. The products are rounded: decision
values change by a few units of the last place of their largest term. A machine with a linear kernel
has its support vectors multiplied by factor in the same way. Other kernels cannot take the scaling
in.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.core.arrays import Floats
from maxmargin.estimators.records import linear_of, record_of
from maxmargin.io.preparation import affine, parts_of, steps_of
from maxmargin.kernel.kernels import Kind
from maxmargin.kernel.model import KernelModel
from maxmargin.linear.model import LinearModel


def linear_without_scaling(model: Any) -> tuple[Any, LinearModel]:
    """A linear model, or the one that a search chose, and its record for features as they are."""
    scalers, machine = parts_of(model)
    machine, found = linear_of(machine)
    if not scalers:
        return machine, found
    factor, shift = affine(steps_of(scalers), found.n_features)
    weights, intercept = found.weights(), found.intercepts() + found.weights() @ shift
    return machine, replace(found, coef=weights * factor, intercept=intercept)


def machine_without_scaling(model: Any, program: str = "LIBSVM") -> KernelModel:
    """The record of a kernel machine for features as they are; ValueError if there is none.

    The error names the program whose file is written.
    """
    scalers, machine = parts_of(model)
    found = record_of(machine)
    if not scalers:
        return found
    steps = steps_of(scalers)
    if found.kernel.kind is not Kind.LINEAR:
        raise ValueError(
            f"{program}'s model files hold no scaling, and a machine with {found.kernel!r} needs "
            "it. Write a .mm file (io.save), which holds it, or export the model (io.to_onnx, "
            f"to_c, to_javascript). For {program}'s own programs scale the data first, with "
            "maxmargin scale --save or svm-scale -s, and train on the scaled data."
        )
    factor, shift = affine(steps, found.n_features)
    moved: Floats = found.columns() @ np.ravel(found.vectors @ shift)
    vectors = found.vectors
    if sparse.issparse(vectors):
        vectors = sparse.csr_matrix(vectors.multiply(factor))
    else:
        vectors = np.asarray(vectors, np.float64) * factor
    return replace(found, vectors=vectors, intercept=found.intercept + moved)
