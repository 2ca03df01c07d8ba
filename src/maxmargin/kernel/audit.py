"""The audit of kernel machines: which rows, and their decision values by evaluation.py."""

from typing import NamedTuple

import numpy as np

from maxmargin.audit import Audit, audit, drawn, plan_audit
from maxmargin.core.arrays import Floats, Integers
from maxmargin.kernel import evaluation
from maxmargin.kernel.evaluation import extended_products, kernel_products, products_per_row
from maxmargin.kernel.formulations import Decision
from maxmargin.kernel.kernels import Kind
from maxmargin.kernel.sources import Source
from maxmargin.kernel.workspace import KernelWorkspace, is_small

EPS = float(np.finfo(float).eps)


class Settings(NamedTuple):
    """How many rows an audit compares."""

    rows: int = 64
    """Rows of a fit."""
    fewest: int = 8
    """Rows of each problem, at least, where a fit solves several: they share ``rows``."""


SETTINGS = Settings()


def audit_decision(
    workspace: KernelWorkspace, decision: Decision, f: Floats, allowed: float
) -> Audit:
    """Audit the decision values f, whose rounding is ``allowed`` to be so large."""
    samples, kernel = workspace.samples, workspace.samples.kernel
    support = np.flatnonzero(decision.coef)
    given = kernel.kind is Kind.PRECOMPUTED
    A, coef = samples.X if given else samples.pick(support), decision.coef[support, None]
    # rounding of a sum adds up like a random walk
    rounding = EPS * np.sqrt(len(support)) * decision.diagonal + workspace.source.value_error
    rounding *= float(np.abs(coef).sum())
    count = max(SETTINGS.fewest, SETTINGS.rows // workspace.problems)
    sample = sampled(workspace.source, decision.coef, count)
    per_row = max(1, products_per_row(kernel, A, len(support)))
    affordable = evaluation.SETTINGS.long_double_products // per_row
    plan = plan_audit(len(f), sample, rounding, allowed, affordable)
    B = samples.pick(plan.rows)
    if plan.closer and kernel.has_dot_product:
        exact = extended_products(kernel, A, coef, B, decision.intercept)
    else:
        B = B[:, support] if given else B
        exact = kernel_products(kernel, A, coef, B, decision.intercept, exact=plan.closer)
    return audit(f, exact[:, 0], plan)


def sampled(source: Source, coef: Floats, count: int) -> Integers:
    """Rows to compare: half of them at random, the others where errors are most likely or largest.

    Small problems are solved in float64, whose values have a bound: none of their rows is suspect.
    """
    n, some = len(coef), count // 4
    if n <= count:
        return drawn(n, count)
    suspects = np.empty(0, np.int64) if is_small(n) else source.suspects(some)
    heavy = np.argpartition(-np.abs(coef), some)[:some]
    return np.concatenate([drawn(n, count - 2 * some), suspects, heavy])
