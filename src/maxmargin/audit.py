"""The audit of a fit: decision values of its solver beside those of an independent evaluation.

The evaluations (kernel/evaluation.py, linear/certificate.py) share no code with the solvers. Every
fit evaluates a sample of its rows. Where rounding of the solver's values may decide about the
status, the audit evaluates as ``certify`` does, and all rows if it can afford them: the fit is then
judged by those values (decision 19).
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers


class Plan(NamedTuple):
    """What to evaluate independently."""

    rows: Integers
    closer: bool = False
    """Whether rounding may decide: the values must be those that ``certify`` computes."""
    rounding: float = 0.0
    """A bound on the rounding of the solver's decision values."""


class Audit(NamedTuple):
    """What an audit found."""

    error: float
    """The greatest difference between the two evaluations, in units of the decision values; no less
    than the rounding where that may decide and not every row was evaluated."""
    exact: Floats | None = None
    """The decision values of all rows as ``certify`` computes them, where rounding may decide."""


def plan_audit(n: int, sample: Integers, rounding: float, allowed: float, affordable: int) -> Plan:
    """The rows to audit: the sample, or as many of n rows as are affordable.

    The larger audit is due if rounding may exceed what is allowed.
    """
    if rounding <= allowed:
        return Plan(sample)
    step = -(-len(sample) // max(1, affordable))
    return Plan(np.arange(n) if n <= affordable else sample[::step], True, rounding)


def audit(f: Floats, exact: Floats, plan: Plan) -> Audit:
    """Compare the decision values f of a solver with independent ones of the planned rows."""
    error = greatest_error(f[plan.rows], exact)
    if plan.closer and len(plan.rows) == len(f):
        return Audit(error, exact)
    return Audit(max(error, plan.rounding) if plan.closer else error)


def greatest_error(f: Floats, exact: Floats) -> float:
    """The greatest difference between decision values."""
    return float(np.abs(exact - f).max(initial=0.0))


@cache
def drawn(n: int, count: int) -> Integers:
    """Some of n rows at random; all of them where they are few."""
    if n <= count:
        return np.arange(n)
    return np.random.default_rng(1).choice(n, count, replace=False)
