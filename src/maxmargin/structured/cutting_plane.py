"""The cutting-plane method, with one slack for all samples (Joachims 2006; Joachims, Finley and Yu
2009).

    minimise  P(w) = 1/2 |w|^2 + C R(w)                                               (risks.py)

    repeat    w_model = minimiser of 1/2 |w|^2 + C model(w)                          (bundle.py)
              D = its value, a lower bound of P
              w = best + step (w_model - best)
              add the plane that touches R at w                          (one call of the risk)
              best = w if P(w) < P(best)
    until     P(best) - D <= tol P(best)

The minimiser of the model is far from the best point at first: there the model knows little, and P
may be much larger. So a new plane is made near the best point, as in OCAS (Franc and Sonnenburg
2009), but without a line search: the plane itself tells whether P still falls at w in this
direction. If it does, the next step is twice as long, up to the whole way, otherwise half as long.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats
from maxmargin.core.threads import one_blas_thread
from maxmargin.monitor import Monitor
from maxmargin.status import Status
from maxmargin.structured.bundle import Bundle
from maxmargin.structured.risks import Plane, Risk


class Settings(NamedTuple):
    """Lengths of steps, and when rounding ends a solve (decision 30)."""

    longer: float = 2.0
    """The factor of a step after one at whose end P still falls."""
    shorter: float = 0.5
    """The factor of a step after one at whose end P rises."""
    least: float = 0.02
    """The shortest step, as a share of the way to the model's minimiser."""
    patience: int = 100
    """Calls of the risk that do not lower the gap by ``progress``: only rounding is left."""
    progress: float = 1e-3
    """Share of the gap. The dual value may creep up by its last digits for ever."""
    rounding: float = 1e-9
    """By how much a plane may be below the model where it should touch the risk, relative to the
    terms of both."""


SETTINGS = Settings()


class InconsistentRisk(ValueError):
    """A plane is above the risk: the risk, or the inference behind it, is wrong."""


class PlaneSolution(NamedTuple):
    """The best weights, and the planes that prove how good they are."""

    w: Floats
    primal: float
    """P(w)."""
    dual: float
    """The greatest lower bound of P found."""
    risk: float
    """R(w)."""
    planes: Floats
    """The slopes of the planes with weight, a row each."""
    offsets: Floats
    alpha: Floats
    """Their weights: the sum is C."""
    ended: Status | None
    """Why the solver gave up; None where it reached the tolerance."""
    n_iter: int
    """Calls of the risk."""
    history: tuple[tuple[float, float], ...]
    """P of the best point and the lower bound after each call."""

    @property
    def combined(self) -> Plane:
        """The weighted mean of the planes: with it a solve can start again, at any C."""
        share = self.alpha / float(self.alpha.sum())
        return Plane(float(share @ self.offsets), share @ self.planes)


def solve(
    risk: Risk,
    C: float,
    tol: float,
    monitor: Monitor,
    start: Floats | None = None,
    known: Sequence[Plane] = (),
    enough: float = 0.0,
) -> PlaneSolution:
    """Minimise 1/2 |w|^2 + C R(w) to a relative gap of tol.

    ``start`` is a point to begin at. ``known`` are planes below the risk: those of an earlier solve
    of the same risk, or the dual solution of another solver, which is a weighted mean of planes (of
    the hinge losses: offset = sum t_i, slope = -sum t_i y_i x_i with 0 <= t_i <= 1). A gap of
    ``enough`` may do: from there the solver goes on to tol for about as many calls again.
    """
    run = _Run(risk, C, tol, monitor, enough)
    with one_blas_thread():
        for plane in known:
            run.bundle.add(plane)
        if start is None:
            start = run.bundle.minimise()[0] if known else np.zeros(risk.space.size)
        return run.until(start)


class _Run:
    """One solve."""

    def __init__(
        self, risk: Risk, C: float, tol: float, monitor: Monitor, enough: float = 0.0
    ) -> None:
        self.risk, self.C, self.tol, self.monitor = risk, C, tol, monitor
        self.enough, self.last = enough, np.inf
        self.space, self.bundle = risk.space, Bundle(risk.space, C)
        self.calls, self.step = 0, 1.0
        self.history: list[tuple[float, float]] = []

    def until(self, w: Floats) -> PlaneSolution:
        """Add planes until the gap is small enough; w is the point to begin at."""
        best, primal, risk = w, np.inf, np.inf
        direction, least, idle = np.zeros_like(w), np.inf, 0
        while True:
            plane, value = self._touching(w)
            here = 0.5 * self.space.square(w) + self.C * value
            if here < primal:
                best, primal, risk = w, here, value
            self._adapt(plane, w, direction)
            model, dual = self.bundle.minimise()
            self.history.append((primal, dual))
            gap = primal - dual
            falls = gap < (1 - SETTINGS.progress) * least
            least, idle = (gap, 0) if falls else (least, idle + 1)
            self.monitor.say(
                f"{self.calls:,} planes, objective {primal:.6g}, gap {gap:.3g}, "
                f"{self.monitor.seconds:.1f} s"
            )
            size = max(abs(primal), abs(dual))
            if gap <= self.enough * size:
                self.last = min(self.last, 2 * self.calls + SETTINGS.patience)
            if gap <= self.tol * size or self.calls >= self.last:
                return self._found(best, primal, dual, risk, None)
            reason = self.monitor.stop(self.calls)
            if reason is not None or idle > SETTINGS.patience:
                return self._found(best, primal, dual, risk, reason or Status.STALLED)
            direction = model - best
            w = best + self.step * direction

    def _touching(self, w: Floats) -> tuple[Plane, float]:
        """The plane that touches the risk at w, now in the bundle, and R(w)."""
        plane = self.risk.at(w)
        self.calls += 1
        value = plane.offset + self._dot(plane.slope, w)
        below = self.bundle.value(w)
        size = abs(plane.offset) + abs(value) + float(np.abs(self.bundle.offsets).max())
        if below - value > SETTINGS.rounding * size:
            raise InconsistentRisk(
                f"The risk at some w is {value:.10g}, but a plane that was found before has "
                f"{below:.10g} there: one of the two is not the greatest."
            )
        self.bundle.add(plane)
        return plane, value

    def _adapt(self, plane: Plane, w: Floats, direction: Floats) -> None:
        """A longer step next time if P still falls at w in this direction, else a shorter one."""
        if self.calls > 1:
            slope = self._dot(w, direction) + self.C * self._dot(plane.slope, direction)
            factor = SETTINGS.longer if slope < 0 else SETTINGS.shorter
            self.step = min(1.0, max(SETTINGS.least, factor * self.step))

    def _dot(self, a: Floats, b: Floats) -> float:
        return float(self.space.dots(a[None, :], b)[0])

    def _found(
        self, w: Floats, primal: float, dual: float, risk: float, ended: Status | None
    ) -> PlaneSolution:
        """The solution, with the planes that have weight."""
        bundle = self.bundle
        used = np.flatnonzero(bundle.alpha)
        planes, offsets, alpha = bundle.slopes[used], bundle.offsets[used], bundle.alpha[used]
        history = tuple(self.history)
        return PlaneSolution(
            w, primal, dual, risk, planes, offsets, alpha, ended, self.calls, history
        )
