"""Certifying a fitted machine again on its training data: every decision value is recomputed in
float64 by code that the solver does not share (evaluation.py).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _num_samples

from maxmargin import certificate
from maxmargin.audit import greatest_error
from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats, Integers
from maxmargin.kernel import evaluation
from maxmargin.kernel.formulations import Decision, Formulation
from maxmargin.kernel.kernels import Kind
from maxmargin.kernel.locate import locate
from maxmargin.kernel.model import KernelModel, check
from maxmargin.kernel.prediction import decision_values
from maxmargin.kernel.sources import make_source
from maxmargin.kernel.training import SETTINGS, Constant
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.monitor import Monitor
from maxmargin.status import Status
from maxmargin.verdict import Demand, Size, verdict_again

ZERO_AGAIN = 1.1
"""Last digits of decision values move an objective by eps / ``certificate.ZERO`` = 2 % of what is
called 0; fit and certify agree to them."""


class Claim(NamedTuple):
    """What a decision function is said to solve: a problem on some of the samples."""

    rows: Integers
    problem: Formulation | Constant


def certify(
    model: KernelModel, X: Any, label: Integers, claims: Sequence[Claim], tol: float
) -> Certificate:
    """The certificate of a machine on its training data, with the audit error over all samples.

    ``label`` holds positions in classes, or zeros.
    """
    check(model)
    columns, demand = model.columns(), Demand.on_violation(tol, model.unit)
    exact, solver = exact_values(model, X, tol), decision_values(model, X)
    coef = np.zeros((len(columns), len(label)))
    coef[:, training_rows(model, X, label)] = columns
    parts, workspace = [], KernelWorkspace.of(model.kernel, X, Monitor())
    for k, (claim, old) in enumerate(zip(claims, model.certificates, strict=True)):
        new = _recomputed(model, workspace, claim, k, coef[k], exact[:, k])
        new = replace(new, convexity=old.convexity, n_iter=old.n_iter)
        size = Size.of(exact[:, k], columns[k], intercept=float(model.intercept[k]))
        status = verdict_again(old.status, new, demand, size)
        error = greatest_error(solver[:, k], exact[:, k])
        parts.append(replace(new, audit_error=error, status=status))
    return certificate.worst(parts)


def _recomputed(
    model: KernelModel,
    workspace: KernelWorkspace,
    claim: Claim,
    k: int,
    coef: Floats,
    exact: Floats,
) -> Certificate:
    """The certificate of function k before the verdict."""
    old, (rows, form) = model.certificates[k], claim
    if isinstance(form, Constant):
        return form.train().certificate
    if old.status is Status.DEGENERATE:
        return old
    scale = 0.0 if old.status is Status.IMPORTED else float(model.scales[k])
    epsilon = np.nan if model.epsilon is None else model.epsilon
    decision = Decision(coef[rows], float(model.intercept[k]), (0.0, 0.0), scale, epsilon)
    if form.boundary:
        diagonal = float(evaluation.kernel_diagonal(model.kernel, workspace.samples.X)[rows].max())
        decision = decision._replace(diagonal=ZERO_AGAIN * diagonal)
    problem = form.build(workspace.view(rows).source)
    return form.certify(problem, exact[rows], decision)


def exact_values(model: KernelModel, X: Any, tol: float) -> Floats:
    """Decision values by an independent evaluation, one column for each function."""
    kernel, intercept = model.kernel, model.intercept
    precomputed = kernel.kind is Kind.PRECOMPUTED
    A, B = (None, X[:, model.rows]) if precomputed else (model.vectors, X)
    coef = np.ascontiguousarray(model.columns().T)
    if kernel.kind is Kind.LINEAR and not is_quick(model, X):
        return evaluation.linear_products(A, coef, B, intercept)
    if kernel.has_dot_product and (is_quick(model, X) or needs_more_digits(model, tol)):
        return evaluation.extended_products(kernel, A, coef, B, intercept)
    return evaluation.kernel_products(kernel, A, coef, B, intercept, exact=True)


def is_quick(model: KernelModel, X: Any) -> bool:
    """Whether a fit, too, evaluates all decision values in long double where necessary."""
    count = model.coef.shape[1]
    per_row = evaluation.products_per_row(model.kernel, model.vectors, count)
    return bool(per_row * _num_samples(X) <= evaluation.SETTINGS.long_double_products)


def needs_more_digits(model: KernelModel, tol: float) -> bool:
    """Whether rounding of dot products leaves decision values unknown to tol (rounding.py)."""
    error = make_source(model.kernel, model.vectors).value_error
    size = float(np.abs(model.columns()).sum(axis=1).max(initial=0.0))
    return error * size > SETTINGS.rounding_share * float(tol) * model.unit


def training_rows(model: KernelModel, X: Any, label: Integers) -> Integers:
    """The support vectors' rows among the samples, which model files of other programs lack."""
    if model.rows is not None:
        return model.rows
    return locate(model.vectors, model.support_label().tolist(), X, label.tolist())
