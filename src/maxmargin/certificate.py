"""What is known about a solution: the record that every fit and every `certify` returns.

The numbers come from kernel/certificate.py and linear/certificate.py, which share no code with the
solvers; verdict.py says what they mean.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

from maxmargin.core.arrays import Floats
from maxmargin.status import Convexity, Status

STATUSES, CONVEXITIES = list(Status), list(Convexity)
"""From best to worst."""
ADDED = attrgetter("primal", "dual", "gap", "n_iter")
"""The fields that are sums over several problems."""
ERRORS = attrgetter(
    "relative_gap", "kkt_violation", "box_violation", "equality_violation", "audit_error"
)
"""Those of which the greatest counts."""
TINY = float(np.finfo(float).tiny)
"""The least normal number: what gaps are relative to is not less."""


@dataclass(frozen=True, repr=False)
class Certificate:
    """What is known about a solution.

    Attributes
    ----------
    status : Status
        How the fit ended, equal to a string:

        * "optimal";
        * "approximate": the gap is within tol, but the conditions of some samples are not (linear
          models and Pegasos);
        * "stationary": the problem is not convex, or not known to be (see ``convexity``);
        * "max_iter", "time_limit", "interrupted": the solver stopped early;
        * "stalled": float64 does not reach the tolerance;
        * "degenerate": nu-SVC with w = 0;
        * "refuted": the conditions do not hold on the data given to ``certify``;
        * "imported": read from a file of another program, not checked;
        * "compacted": changed by ``compact`` after the fit.
    primal, dual, gap, relative_gap : float
        Values of the two problems; gap = primal - dual, relative to the larger magnitude. Sums over
        ``parts`` where there are several.
    kkt_violation : float
        The greatest amount by which a sample's decision value violates its optimality condition.
    box_violation, equality_violation : float
        By how much the variables violate their bounds and their sum constraint.
    audit_error : float
        The greatest difference between decision values of the solver and independent ones, on the
        rows compared. Where rounding may decide about the status and there are too many rows to
        compare all, a bound on the rounding.
    n_iter : int
        Pair steps, or Newton steps with ``solver="newton"``.
    convexity : Convexity
        What is known about the kernel matrix, equal to a string:

        * "proved": every matrix of this kernel is positive semidefinite;
        * "checked": this one is;
        * "assumed": the user's matrix or function, checked only in part; "optimal" relies on it;
        * "unknown": a kernel that need not be positive semidefinite, checked only in part;
        * "indefinite": it is not positive semidefinite;
        * "nonconvex": labels or latent variables are chosen too.

        With the last three no solution is "optimal", and the gap bounds nothing.
    parts : tuple of Certificate
        One for each binary problem where there are several; this one then holds the worst of each.

    Examples
    --------
    >>> from maxmargin import SVC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> certificate = SVC(C=10).fit(X, y).certificate_
    >>> certificate.status, len(certificate.parts)
    ('optimal', 3)
    >>> certificate.relative_gap < 1e-6
    True
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

    def updated(self, **changes: Any) -> "Certificate":
        """A copy with some fields changed, ten times as fast as dataclasses.replace."""
        other = object.__new__(Certificate)
        other.__dict__.update(self.__dict__, **changes)
        return other

    def decision_error(self, kernel_diagonal: float = 1.0) -> float:
        """Bound on the error of the kernel part of a decision value at a point x.

        ``kernel_diagonal`` is k(x, x), which is 1 for RBF.
        """
        if not self.convexity.convex:
            return np.inf
        return float(np.sqrt(2 * max(self.gap, 0.0) * kernel_diagonal))

    def __repr__(self) -> str:
        """The line of ``__str__``, marked as a certificate."""
        return f"<Certificate {self}>"

    def __str__(self) -> str:
        """One line to read."""
        unchecked = self.status in (Status.IMPORTED, Status.COMPACTED)
        if unchecked and not np.isfinite(self.gap):
            return f"{self.status}: {self.status.message}"
        parts = f", worst of {len(self.parts)} problems" if self.parts else ""
        assumed = ""
        if self.status == "optimal" and self.convexity is Convexity.ASSUMED:
            assumed = " (kernel assumed positive semidefinite)"
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
    """A certificate that verdict.py will judge, from violations sample by sample.

    ``rounding`` bounds a primal and a dual value that are 0 up to rounding. Where both values are
    that small the relative gap is 0: there is no objective to compare the gap with.
    """
    worst = float(kkt.max(initial=0.0)), float(box.max(initial=0.0))
    return certificate_of_worst(primal, dual, gap, *worst, equality, rounding)


def certificate_of_worst(
    primal: float,
    dual: float,
    gap: float,
    kkt: float,
    box: float,
    equality: float,
    rounding: tuple[float, float] = (0.0, 0.0),
) -> Certificate:
    """The same from the greatest violations; those below 0 are none."""
    size = max(abs(primal), abs(dual), TINY)
    relative = gap / size if math.isfinite(gap) else math.inf
    if abs(primal) <= rounding[0] and abs(dual) <= rounding[1]:
        relative = 0.0
    violations = max(0.0, kkt), max(0.0, box), equality
    return Certificate(Status.UNJUDGED, primal, dual, gap, relative, *violations)


def unknown(status: Status) -> Certificate:
    """The certificate of a model that nobody has checked."""
    return Certificate(status, np.inf, -np.inf, np.inf, np.inf, np.inf)


def worst(parts: Sequence[Certificate]) -> Certificate:
    """One certificate for several problems: objectives added, everything else the worst."""
    if len(parts) == 1:
        return parts[0]
    primal, dual, gap, n_iter = map(sum, zip(*map(ADDED, parts), strict=True))
    relative, kkt, box, equality, audit = map(max, zip(*map(ERRORS, parts), strict=True))
    return Certificate(
        max((p.status for p in parts), key=STATUSES.index),
        *(primal, dual, gap, relative, kkt, box, equality, audit, n_iter),
        max((p.convexity for p in parts), key=CONVEXITIES.index),
        tuple(parts),
    )
