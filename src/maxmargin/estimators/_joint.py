"""What the estimators with joint features share: parameters, the fit, its proof, certification."""

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.core.threads import one_blas_thread
from maxmargin.estimators import _outcome
from maxmargin.estimators._options import StrOptions
from maxmargin.estimators._record import checked, field, fitted
from maxmargin.estimators._samples import TakesSamples
from maxmargin.estimators._scored import SETTINGS
from maxmargin.linear import objectives
from maxmargin.monitor import Monitor
from maxmargin.status import Convexity, Status
from maxmargin.structured import certificate
from maxmargin.structured.cutting_plane import PlaneSolution, solve
from maxmargin.structured.joint_features import JointSpace
from maxmargin.structured.joint_model import JointModel, check
from maxmargin.structured.risks import Plane, Risk
from maxmargin.structured.spaces import LinearSpace, Space

Solve = Callable[..., PlaneSolution]
"""solve(risk, C, tol, monitor, start)."""


class Proved(NamedTuple):
    """A solution with the weighted mean of its planes, and its certificate."""

    solution: PlaneSolution
    certificate: Certificate


class JointEstimator(TakesSamples):
    """Parameters of the cutting-plane method, the fit and its certificate."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
        "time_limit": [None, Interval(Real, 0, None, closed="left")],
        "verbose": ["verbose"],
        "on_interrupt": [StrOptions({"raise", "keep"})],
        "warm_start": ["boolean"],
    }

    model_: JointModel
    certificate_ = field("certificate")

    def _check_state(self) -> None:
        check(fitted(self), type(self).__name__)

    def _fit_risk(
        self, risk: Any, by: Solve = solve, convexity: Convexity = Convexity.PROVED
    ) -> None:
        """Minimise 1/2 |w|^2 + C R(w), and keep the record."""
        quiet = np.errstate(over="ignore", invalid="ignore")
        with self._monitor() as monitor, one_blas_thread(), quiet:
            start = self._start(risk.space.size)
            proved = self._solve(risk, monitor, start, by, convexity)
        _outcome.raise_interrupt(self, monitor)
        self._keep(proved)

    def _start(self, size: int) -> Floats | None:
        """The weights of the last fit, where ``warm_start`` can use them."""
        if not self.warm_start or not hasattr(self, "model_"):
            return None
        last: Floats = checked(self).weights
        return last if len(last) == size else None

    def _solve(
        self,
        risk: Any,
        monitor: Monitor,
        start: Floats | None = None,
        by: Solve = solve,
        convexity: Convexity = Convexity.PROVED,
    ) -> Proved:
        """The solution with the mean of its planes, which is all that its proof needs."""
        C, tol = float(self.C), float(self.tol)
        found = by(risk, C, self._stop_at(risk.space), monitor, start)
        if not (np.isfinite(found.primal) and np.isfinite(found.w).all()):
            raise ValueError(
                "The objective exceeds the range of float64: the squares of the data, or the "
                "losses times C and the sample weights, are too large. Scale the data "
                "(StandardScaler), lower C, or divide the weights."
            )
        offset, slope = found.combined
        found = found._replace(
            planes=slope[None, :], offsets=np.array([offset]), alpha=np.array([C])
        )
        return Proved(
            found, certificate.certify(risk, C, found, tol, found.risk, convexity=convexity)
        )

    def _stop_at(self, space: Space) -> float:
        """The relative gap to stop at: small problems are solved to rounding."""
        linear = space.linear if isinstance(space, JointSpace) else space
        small = isinstance(linear, LinearSpace) and (
            linear.design.entries * linear.columns <= SETTINGS.polish_up_to
        )
        return min(float(self.tol), objectives.ROUNDING) if small else float(self.tol)

    def _keep(self, proved: Proved) -> None:
        """Keep the record; warn of what fell short."""
        found, judged = proved
        self.model_ = JointModel(found.w, float(found.offsets[0]), found.planes[0], judged)
        self.n_iter_ = judged.n_iter
        _outcome.warn_of([judged], self._describe)

    def _describe(self, status: Status, found: Sequence[Certificate], count: str) -> str | None:
        """The warning for a fit that ended with a status, with the gap that fell short."""
        if status is Status.STATIONARY:  # all that a problem which is not convex can reach
            return None
        return (
            f"{type(self).__name__} failed to converge: {status.message} Relative gap "
            f"{found[0].relative_gap:.3g} (tol={self.tol:g})."
        )

    def _certify_risk(self, risk: Risk) -> Certificate:
        """Recompute the certificate of the fitted weights for the risk of some data."""
        record, C = checked(self), float(self.C)
        w, slope, known = record.weights, record.slope, record.certificate
        if w.shape != (risk.space.size,):
            raise ValueError(
                "certify needs the data the model was fitted on: another number of features or "
                "labels was given."
            )
        plane = Plane(record.offset, slope)
        return certificate.certify_again(risk, C, w, plane, float(self.tol), known)
