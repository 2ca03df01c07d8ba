"""The one place that calls a solution optimal, for every solver and family, in ``fit`` and in
``certify``.

A solver says how it ended, and nothing more. What may be said about its solution follows from the
certificate alone:

1. **feasible**: the dual variables keep their bounds and their sum, up to rounding
   (``FEASIBLE`` times their size);
2. **converged**: KKT violation + audit error <= ``Demand.violation`` and relative gap <=
   ``Demand.gap``. Decision values are known only to within the error, and what it may add to the
   gap (``Size.weight``) is counted too;
3. **exact**: where float64 cannot resolve the tolerance on decision values, the relative gap is at
   most ``EXACT``, and at most ``AGREED`` with what the error may add; decision values agree with the
   audit to ``AGREED`` of the largest. That is a bound as well: nothing is left to gain. Where the
   objective is 0 there is no relative gap: violations are at most ``AGREED`` of the largest, and
   decision values agree with the audit to ``EXACT`` of it.

A solution that is feasible and (converged or exact) is

* OPTIMAL where the kernel matrix is positive semidefinite: ``convexity`` is "proved", "checked"
  (this matrix is), or "assumed" (the user's matrix or function, of which only a part could be
  checked; ``str(certificate)`` says so);
* STATIONARY otherwise: the problem is not known to be convex, and the gap bounds nothing.

Linear models and Pegasos are asked for a gap. Their samples may share it unequally: each may take
sqrt(tol) of it, in units of its weight (``linear_demand``). Where the gap is within the tolerance
and some sample takes more, the solution is APPROXIMATE: as near to the optimum as was asked for,
while the conditions of optimality do not hold sample by sample. Pegasos may ask for a gap relative
to the loss of the best constant function, which is more than the objective (``Demand.value``): it
gets near the optimum fast, and to it slowly.

Any other solution keeps the reason why its solver ended, or is STALLED where the solver thought it
was done. ``certify`` asks the same question about recomputed numbers: a model that was OPTIMAL or
STATIONARY and does not pass is REFUTED, an imported model that passes is OPTIMAL.

``fit`` and ``certify`` agree. Where rounding of decision values may decide (``error_allowed``), a
fit evaluates all of them as ``certify`` will and is judged by those: both are asked the same
question about the same numbers (``known``). Elsewhere the audit error, the difference between the
two on some samples, bounds what ``certify`` can find, and is counted above.

Gaps are relative to the larger of |P| and |D|, the primal and the dual value; a relative gap is 0
where both values are zero within the rounding of the terms they are sums of
(``certificate.certificate_of``).
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.status import Status

GAP = 10
"""The relative gap of a kernel machine may be GAP * tol: at large C a small violation alone says
little."""
EXACT = 1e-12
"""A gap of this share of the objective is rounding, whatever the tolerance."""
AGREED = 1e-9
"""Share of the largest decision value by which exact ones may differ from the audit's, and of the
objective by which the gap may be larger than its rounded value."""
FEASIBLE = 1e-9
"""Share of the variables' size by which they may miss their bounds and their sum."""
IMPORTED = 1e-6
"""The same for a model read from a file: old files hold 8 digits."""
AGAIN = 1 + 1e-6
"""``certify`` evaluates with other roundings than ``fit``: its limits are that much wider."""


class Demand(NamedTuple):
    """What the conditions must hold to."""

    violation: float
    """Greatest KKT violation plus audit error, in units of the decision values."""
    gap: float
    """Greatest relative gap."""
    error: float = np.inf
    """Greatest audit error by itself."""
    by_gap: bool = False
    """Whether a gap within its limit makes a solution approximate, whatever the violation."""
    value: float = 0.0
    """What the gap of an approximate solution is relative to, where that is more than the
    objective."""


class Size(NamedTuple):
    """What is large in a model: the measure of its rounding errors."""

    values: float
    """The greatest decision value, in magnitude."""
    largest: float
    """The greatest dual variable, in magnitude."""
    total: float
    """The sum of the magnitudes of the dual variables."""
    weight: float = 0.0
    """The sum of the bounds of those that are not 0: how fast the losses grow with an error."""
    curvature: float = 0.0
    """The sum of the weights of squared losses, which grow with the square of an error too."""


def demand_of(tol: float, unit: float = 1.0) -> Demand:
    """Kernel machines: violations up to tol in the given unit, a relative gap up to GAP * tol."""
    return Demand(tol * unit, GAP * tol)


def linear_demand(
    tol: float, unit: float = 1.0, squared: bool = False, error: float = np.inf
) -> Demand:
    """Linear models and Pegasos: a relative gap up to tol, of which each sample may take sqrt(tol).

    A sample takes weight * violation of the gap, or weight * violation^2 where losses are squared.
    """
    return Demand(unit * tol ** (0.25 if squared else 0.5), tol, error, by_gap=True)


def size_of(
    f: Floats, variables: Floats, bounds: Floats | None = None, curvature: float = 0.0
) -> Size:
    """The size of a model with decision values f.

    ``bounds`` are the greatest its variables may be.
    """
    size = np.abs(variables)
    total = float(size.sum())
    weight = total
    if bounds is not None:
        weight = float(np.where(np.isfinite(bounds), bounds, size)[size > 0].sum())
    values, largest = float(np.abs(f).max(initial=0.0)), float(size.max(initial=0.0))
    return Size(values, largest, total, weight, curvature)


def holds(
    found: Certificate,
    demand: Demand,
    size: Size,
    feasible: float = FEASIBLE,
    slack: float = 1.0,
    rounding: float = EXACT,
) -> bool:
    """Whether a certificate passes: feasible, and converged or exact; see the top of this file."""
    feasible *= slack
    inside = (
        found.box_violation <= feasible * size.largest
        and found.equality_violation <= feasible * size.total
    )
    violation, error = found.kkt_violation, found.audit_error
    gap = largest = abs(found.relative_gap)
    if error > 0 and not _is_zero(found):
        value = _value(found)
        largest += error * ((size.total + size.weight) / value + error * (size.curvature / value))
    converged = violation + error <= slack * demand.violation and largest <= slack * demand.gap
    exact = gap <= slack * rounding and largest <= slack * AGREED and error <= AGREED * size.values
    if _is_zero(found):
        exact &= violation <= slack * AGREED * size.values
        inside &= error <= EXACT * size.values
    return bool(inside and error <= demand.error and (converged or exact))


def _is_zero(found: Certificate) -> bool:
    """Whether the objective is 0 within rounding: then there is no relative gap."""
    return found.relative_gap == 0 and (found.gap != 0 or found.primal == found.dual == 0)


def _value(found: Certificate) -> float:
    """What gaps are relative to."""
    return max(abs(found.primal), abs(found.dual), float(np.finfo(float).tiny))


def error_allowed(ended: Status | None, found: Certificate, demand: Demand, size: Size) -> float:
    """The error of decision values that would break the demand; 0 where the objective is.

    It is 0 too where the demand is broken already. Any error is allowed where nothing depends on
    it: the solver gave up, and its own values say so.
    """
    stopped = ended is not None and ended is not Status.STALLED and not ended.converged
    if stopped and not holds(found, demand, size):
        return np.inf
    room = (demand.gap - abs(found.relative_gap)) * _value(found)
    if _is_zero(found) or not room > 0:
        return 0.0
    slope = size.total + size.weight  # the gap grows by slope e + curvature e^2
    steepness = 2 * slope
    if size.curvature > 0:
        steepness = slope + float(np.hypot(slope, 2 * np.sqrt(size.curvature) * np.sqrt(room)))
    error = 2 * room / steepness if steepness > 0 else np.inf
    return max(0.0, min(demand.violation - found.kkt_violation, error))


def approximates(found: Certificate, demand: Demand, size: Size, slack: float = 1.0) -> bool:
    """Whether the gap is within its limit, and nothing but the violation is not."""
    found = replace(found, kkt_violation=0.0)
    if demand.value > _value(found):
        relative = abs(found.gap) / demand.value
        found = replace(found, primal=demand.value, relative_gap=relative)
    return demand.by_gap and holds(found, demand, size, slack=slack)


def verdict(
    ended: Status | None, found: Certificate, demand: Demand, size: Size, known: bool = False
) -> Status:
    """Name the outcome of a fit; ``ended`` says why its solver gave up, None if it did not.

    ``known`` says that ``found`` is of all decision values as ``certify`` computes them: the audit
    error, by which the solver's own were wrong, no longer matters.
    """
    if ended is Status.DEGENERATE:
        return ended
    found = replace(found, audit_error=0.0) if known else found
    if holds(found, demand, size, rounding=AGREED if known else EXACT):
        return _best(found)
    if approximates(found, demand, size):
        return Status.APPROXIMATE if found.convexity.convex else Status.STATIONARY
    return Status.STALLED if ended is None or ended.converged else ended


def verdict_again(before: Status, found: Certificate, demand: Demand, size: Size) -> Status:
    """Name the outcome of ``certify`` on a model whose status was ``before``.

    ``found`` is of recomputed decision values: its audit error is 0 here.
    """
    if before is Status.IMPORTED:
        passed = holds(found, demand, size, IMPORTED, AGAIN, AGREED)
        return _best(found) if passed else Status.REFUTED
    if before in (Status.APPROXIMATE, Status.STATIONARY) and approximates(
        found, demand, size, AGAIN
    ):
        return before
    if before.converged and not holds(found, demand, size, FEASIBLE, AGAIN, AGREED):
        return Status.REFUTED
    return before


def _best(found: Certificate) -> Status:
    return Status.OPTIMAL if found.convexity.convex else Status.STATIONARY
