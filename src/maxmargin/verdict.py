"""The one place that calls a solution optimal: every solver, every family, ``fit`` and ``certify``.

A solver only says why it stopped. ``outcome`` decides what its solution is, from the certificate
and the demand:

1. **feasible**: the dual variables keep their bounds and their sum, up to rounding
   (``Limits.feasible`` times their size);
2. **converged**: KKT violation + audit error <= ``Demand.violation`` and relative gap <=
   ``Demand.gap``. Decision values are known only to within the audit error, and what that error may
   add to the gap (``Size.weight``) counts too;
3. **exact**: where float64 cannot resolve the tolerance on decision values, the relative gap is at
   most ``Limits.gap``, and at most ``AGREED`` with what the error may add; decision values agree
   with the audit to ``AGREED`` of the largest. Nothing is left to gain then. Where the objective is
   0 there is no relative gap: violations are at most ``AGREED`` of the largest decision value, and
   decision values agree with the audit to ``GAP_ROUNDING`` of it.

A solution that is feasible and (converged or exact) is OPTIMAL where the problem is convex
(``Convexity.convex``) and STATIONARY otherwise: then the gap bounds nothing.

Linear models and Pegasos must reach a gap. Their samples may share it unequally: each may take
sqrt(tol) of it, in units of its weight (``Demand.on_gap``). Where the gap is within the tolerance
and some sample takes more, the solution is APPROXIMATE: as near to the optimum as demanded, while
the optimality conditions do not hold sample by sample. Pegasos may measure its gap relative to the
loss of the best constant function, which exceeds the objective (``Demand.value``).

Any other solution keeps the reason why its solver stopped, or is STALLED where the solver reached
its own tolerance (``verdict``). ``certify`` asks the same question about recomputed numbers
(``verdict_again``): a model that passed before and does not now is REFUTED, an imported model that
passes is OPTIMAL.

``fit`` and ``certify`` agree. Where rounding of decision values may decide (``error_allowed``), a
fit evaluates all of them as ``certify`` will (``known``). Elsewhere the audit error, the difference
between the two on some samples, bounds what ``certify`` can find, and counts above (decision 19).

Gaps are relative to the larger of |P| and |D|, the primal and the dual value; a relative gap is 0
where both are zero within the rounding of their terms (``certificate.certificate_of``).
"""

from typing import NamedTuple

import numpy as np

from maxmargin.certificate import TINY, Certificate
from maxmargin.core.arrays import Floats
from maxmargin.status import Status

GAP = 10
"""The relative gap of a kernel machine may be GAP * tol: at large C a small violation alone says
little."""
GAP_ROUNDING = 1e-12
"""A gap of this share of the objective is rounding, whatever the tolerance."""
AGREED = 1e-9
"""Share of the largest decision value by which exact ones may differ from the audit's, and of the
objective by which the gap may exceed its rounded value."""


class Limits(NamedTuple):
    """Room for rounding in the conditions."""

    feasible: float = 1e-9
    """Share of the variables' size by which they may miss their bounds and their sum."""
    gap: float = GAP_ROUNDING
    """Share of the objective up to which a gap is rounding."""
    slack: float = 1.0
    """Factor on every limit."""


FIT = Limits()
KNOWN = Limits(gap=AGREED)
"""A fit whose decision values are all known as ``certify`` computes them."""
CERTIFY = Limits(gap=AGREED, slack=1 + 1e-6)
"""``certify`` evaluates with other roundings than ``fit``: its limits are a little wider."""
IMPORTED = CERTIFY._replace(feasible=1e-6)
"""A model read from a file: old files hold 8 digits."""


class Demand(NamedTuple):
    """The tolerances that a solution must meet."""

    violation: float
    """Greatest KKT violation plus audit error, in units of the decision values."""
    gap: float
    """Greatest relative gap."""
    error: float = np.inf
    """Greatest audit error by itself."""
    by_gap: bool = False
    """Whether a gap within its limit makes a solution approximate, whatever the violation."""
    value: float = 0.0
    """What the gap of an approximate solution is relative to, where that exceeds the objective."""

    @classmethod
    def on_violation(cls, tol: float, unit: float = 1.0) -> "Demand":
        """Kernel machines: violations up to tol units, a relative gap up to GAP * tol."""
        return cls(tol * unit, GAP * tol)

    @classmethod
    def on_gap(
        cls, tol: float, unit: float = 1.0, squared: bool = False, error: float = np.inf
    ) -> "Demand":
        """Linear models and Pegasos: a gap up to tol, of which a sample may take sqrt(tol).

        A sample takes weight * violation of the gap, or weight * violation^2 of squared losses.
        """
        return cls(unit * tol ** (0.25 if squared else 0.5), tol, error, by_gap=True)


class Size(NamedTuple):
    """The magnitudes in a model that its rounding errors are relative to."""

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

    @classmethod
    def of(
        cls,
        f: Floats,
        variables: Floats,
        bounds: Floats | None = None,
        curvature: float = 0.0,
        intercept: float = 0.0,
    ) -> "Size":
        """The size of a model with decision values f; ``bounds`` are those of its variables."""
        size = np.abs(variables)
        total = float(size.sum())
        weight = total
        if bounds is not None:
            weight = float(np.where(np.isfinite(bounds), bounds, size)[size > 0].sum())
        values = float(np.abs(f).max(initial=abs(intercept)))
        largest = float(size.max(initial=0.0))
        return cls(values, largest, total, weight, curvature)


def verdict(
    ended: Status | None, found: Certificate, demand: Demand, size: Size, known: bool = False
) -> Status:
    """Name the outcome of a fit; ``ended`` says why its solver gave up, None if it did not.

    ``known`` says that ``found`` follows from all decision values as ``certify`` computes them: the
    audit error, by which the solver's own were wrong, no longer matters.
    """
    if ended is Status.DEGENERATE:
        return ended
    found = found.updated(audit_error=0.0) if known else found
    reached = outcome(found, demand, size, KNOWN if known else FIT)
    if reached is not None:
        return reached
    return Status.STALLED if ended is None or ended.converged else ended


def verdict_again(before: Status, found: Certificate, demand: Demand, size: Size) -> Status:
    """Name the outcome of ``certify`` on a model whose status was ``before``.

    ``found`` follows from recomputed decision values: its audit error is 0 here.
    """
    imported = before is Status.IMPORTED
    if not (imported or before.converged):
        return before
    reached = outcome(found, demand, size, IMPORTED if imported else CERTIFY)
    short = reached is Status.APPROXIMATE and before in (Status.OPTIMAL, Status.IMPORTED)
    if reached is None or short:
        return Status.REFUTED
    return reached if imported else before


def outcome(found: Certificate, demand: Demand, size: Size, limits: Limits = FIT) -> Status | None:
    """OPTIMAL, APPROXIMATE or STATIONARY if the demand is met, None if it is not."""
    convex = found.convexity.convex
    if holds(found, demand, size, limits):
        return Status.OPTIMAL if convex else Status.STATIONARY
    if approximates(found, demand, size, limits):
        return Status.APPROXIMATE if convex else Status.STATIONARY
    return None


def holds(found: Certificate, demand: Demand, size: Size, limits: Limits = FIT) -> bool:
    """Whether a certificate is feasible, and converged or exact; see the top of this file."""
    slack = limits.slack
    feasible = slack * limits.feasible
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
    exact = (
        gap <= slack * limits.gap and largest <= slack * AGREED and error <= AGREED * size.values
    )
    if _is_zero(found):
        exact &= violation <= slack * AGREED * size.values
        inside &= error <= GAP_ROUNDING * size.values
    return bool(inside and error <= demand.error and (converged or exact))


def _is_zero(found: Certificate) -> bool:
    """Whether the objective is 0 within rounding: then there is no relative gap."""
    return found.relative_gap == 0 and (found.gap != 0 or found.primal == found.dual == 0)


def _value(found: Certificate) -> float:
    """What gaps are relative to."""
    return max(abs(found.primal), abs(found.dual), TINY)


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


def approximates(found: Certificate, demand: Demand, size: Size, limits: Limits = FIT) -> bool:
    """Whether nothing but the violation exceeds its limit, where a gap was demanded."""
    found = found.updated(kkt_violation=0.0)
    if demand.value > _value(found):
        relative = abs(found.gap) / demand.value
        found = found.updated(primal=demand.value, relative_gap=relative)
    return demand.by_gap and holds(found, demand, size, limits._replace(gap=GAP_ROUNDING))
