"""What is known about a solution: the record that every fit and every `certify` returns.

The numbers come from kernel/certificate.py and linear/certificate.py, which share no code with the
solvers; verdict.py says what they mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from maxmargin.core.arrays import Floats
from maxmargin.status import Convexity, Status


@dataclass(frozen=True, repr=False)
class Certificate:
    """What is known about a solution.

    Attributes
    ----------
    status : Status
        "optimal", "approximate" (linear models and Pegasos: the gap is within tol, while the conditions of single samples are
        not), "stationary" (indefinite kernel), "max_iter", "time_limit", "interrupted", "stalled" (float64 does not reach the
        tolerance), "degenerate" (nu-SVC with w = 0), "refuted" (``certify`` found the conditions broken on the data it was given),
        "imported" (read from a file of another program: nothing was checked), or "compacted" (by ``compact``, after the fit).
    primal, dual, gap, relative_gap : float
        Values of the two problems; gap = primal - dual, relative to the larger magnitude. Sums over ``parts`` where there are several.
    kkt_violation : float
        The greatest amount by which a sample's decision value breaks its optimality condition.
    box_violation, equality_violation : float
        By how much the variables leave their bounds, and their sum its value.
    audit_error : float
        The greatest difference between decision values of the solver and those computed here, on the rows compared; what rounding
        may amount to, where that decides about the status and there are too many rows to compare all.
    n_iter : int
        Pair steps, or Newton steps with ``solver="newton"``.
    convexity : Convexity
        "proved" (every matrix of this kernel is positive semidefinite), "checked" (this one is), "assumed" (the user's matrix or
        function, of which only a part could be checked: "optimal" rests on its being a kernel), "unknown" (a kernel that need not be,
        of which only a part was checked), or "indefinite" (it is not): the last two are never "optimal", and the gap bounds nothing.
    parts : tuple of Certificate
        One for each binary problem where there are several; this one then holds the worst of each.
    """

    status: Status
    primal: float = 0.0
    dual: float = 0.0
    gap: float = 0.0
    relative_gap: float = 0.0
    kkt_violation: float = 0.0
    box_violation: float = 0.0
    equality_violation: float = 0.0
    audit_error: float = 0.0
    n_iter: int = 0
    convexity: Convexity = Convexity.PROVED
    parts: tuple["Certificate", ...] = ()

    def decision_error(self, kernel_diagonal: float = 1.0) -> float:
        """Bound on the error of the kernel part of a decision value at a point x with k(x, x) =
        kernel_diagonal (1 for RBF).
        """
        return (
            float(np.sqrt(2 * max(self.gap, 0.0) * kernel_diagonal))
            if self.convexity.convex
            else np.inf
        )

    def __repr__(self) -> str:
        """The line of __str__, marked as a certificate; the fields are attributes."""
        return f"<Certificate {self}>"

    def __str__(self) -> str:
        """One line to read."""
        unchecked = self.status in (Status.IMPORTED, Status.COMPACTED)
        if unchecked and not np.isfinite(self.gap):
            return f"{self.status}: {self.status.message}"
        parts = f", worst of {len(self.parts)} problems" if self.parts else ""
        assumed = (
            " (kernel assumed positive semidefinite)"
            if self.status == "optimal" and self.convexity is Convexity.ASSUMED
            else ""
        )
        return (
            f"{self.status}{assumed}: gap {max(self.gap, 0.0):.3g} "
            f"({max(self.relative_gap, 0.0):.2g} of the objective {self.primal:.7g}), "
            f"KKT violation {self.kkt_violation:.2g}, {self.n_iter:,} steps{parts}"
        )


def certificate_of(
    primal: float,
    dual: float,
    gap: float,
    kkt: Floats,
    box: Floats,
    equality: float,
    rounding: tuple[float, float] = (0.0, 0.0),
) -> Certificate:
    """A certificate without its outcome, from violations of the conditions and the bounds, sample
    by sample.

    ``rounding`` is what float64 leaves of a primal and of a dual value of 0. Where both are that
    small the relative gap is 0: there is no objective to compare the gap with.
    """
    size = max(abs(primal), abs(dual), np.finfo(float).tiny)
    relative = gap / size if np.isfinite(gap) else np.inf
    if abs(primal) <= rounding[0] and abs(dual) <= rounding[1]:
        relative = 0.0
    return Certificate(
        Status.UNJUDGED,
        primal,
        dual,
        gap,
        relative,
        float(max(0.0, kkt.max(initial=0.0))),
        float(max(0.0, box.max(initial=0.0))),
        equality,
    )


def worst(parts: Sequence[Certificate]) -> Certificate:
    """One certificate for several problems: objectives added, everything else the worst."""
    if len(parts) == 1:
        return parts[0]
    primal, dual, gap = (sum(getattr(p, name) for p in parts) for name in ("primal", "dual", "gap"))
    return Certificate(
        max((p.status for p in parts), key=list(Status).index),
        primal,
        dual,
        gap,
        max(p.relative_gap for p in parts),
        max(p.kkt_violation for p in parts),
        max(p.box_violation for p in parts),
        max(p.equality_violation for p in parts),
        max(p.audit_error for p in parts),
        sum(p.n_iter for p in parts),
        max((p.convexity for p in parts), key=list(Convexity).index),
        tuple(parts),
    )
