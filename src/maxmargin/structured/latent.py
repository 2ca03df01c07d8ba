"""Latent variables by the concave-convex procedure (Yu and Joachims 2009).

An output has a latent part h that is not labelled: which of several patterns a sample of a class
follows, or which instance of a bag is the one that counts. Its score is that of the best h:

    R(w) = sum_i weight_i { max over y, h of [ loss(y_i, y) + f(x_i, y, h) ] - max over h of
                            f(x_i, y_i, h) }                                     f linear in w

This is a difference of convex functions. With h_i fixed, in place of the last maximum, R_h is
convex, and R_h >= R, with equality where every h_i is the best one at w. So P never rises in

    repeat    w = minimiser of 1/2 |w|^2 + C R_h(w)                (cutting planes, certified)
              h = the best one at w for every sample               (imputation)
    until     h stays the same, or P falls by less than tol P

The end is a stationary point, which depends on the start: there are several starts, and the one
with the least P wins, the first of them if several reach it. Two problems are of this kind: classes
made of parts (parts.py) and bags of instances (bags.py).
"""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

import numpy as np

from maxmargin.certificate import TINY, Certificate
from maxmargin.core.arrays import Floats, Integers
from maxmargin.monitor import Monitor
from maxmargin.status import Convexity, Status
from maxmargin.structured import certificate
from maxmargin.structured.cutting_plane import PlaneSolution, solve
from maxmargin.structured.risks import Plane, Risk
from maxmargin.structured.spaces import Space


class Settings(NamedTuple):
    """How exactly the convex problems are solved (relative gaps), and which ends are the same."""

    first: float = 0.1
    """Of the first round, whose latent variables are a guess."""
    share: float = 0.1
    """Of later rounds, as a share of what the objective fell by in the round before."""
    tie: float = 1e-9
    """Relative difference of two objectives that count as one: those of permuted parts, say."""


SETTINGS = Settings()


class LatentProblem(Protocol):
    """A risk with latent variables, numbers h_i of the samples."""

    @property
    def space(self) -> Space:
        """Where w lives."""

    def convex(self, h: Integers) -> Risk:
        """R_h, the risk whose latent variables are fixed for the true outputs."""

    def impute(self, w: Floats) -> Integers:
        """The best h of every true output at w."""

    def change(self, h: Integers, new: Integers) -> Floats | None:
        """R_new - R_h as an element of the space, where it is linear; None where it is not."""


class LatentSolution(NamedTuple):
    """A stationary point."""

    solution: PlaneSolution
    """Of the last convex problem; its planes are their weighted mean."""
    certificate: Certificate
    h: Integers
    """The latent variables of the last convex problem."""
    objectives: tuple[float, ...]
    """P after each round: it never rises."""
    rounds: tuple[Certificate, ...]
    """The certificates of the convex problems."""


def descend(
    problem: LatentProblem,
    h: Integers,
    C: float,
    tol: float,
    monitor: Monitor,
    start: Floats | None = None,
    enough: float = 0.0,
) -> LatentSolution:
    """Alternate from given latent variables; ``start`` is a point at which they are the best.

    Early rounds are solved roughly, to a share of what the round before gained. A gap of ``enough``
    will do where rounding keeps the solver from tol.
    """
    w, objectives, rounds = start, [], []
    known: list[Plane] = []
    best = np.inf if start is None else _objective(problem, h, start, C)
    rough = max(tol, SETTINGS.first)
    while True:
        risk = problem.convex(h)
        found = solve(risk, C, rough, monitor.quiet(-1), w, known, enough)
        mean = _with_mean_plane(found, C)
        rounds.append(certificate.certify(risk, C, mean, max(rough, enough), found.risk))
        reached = found.ended is Status.STALLED and rounds[-1].status.converged
        w, used, h = found.w, h, problem.impute(found.w)
        objectives.append(min(best, _objective(problem, h, w, C)))
        fall, best = best - objectives[-1], objectives[-1]
        monitor.say(
            f"round {len(rounds)}, objective {best:.6g}, {found.n_iter} planes, "
            f"{monitor.seconds:.1f} s"
        )
        same = np.array_equal(h, used) or fall <= tol * abs(best)
        ended = None if reached else found.ended
        ended = ended or (None if same and rough == tol else monitor.stop(len(rounds)))
        if (same and rough == tol) or ended is not None:
            judged = _judged(rounds[-1], ended, sum(one.n_iter for one in rounds))
            return LatentSolution(mean, judged, used, tuple(objectives), tuple(rounds))
        known = _carried(found, problem.change(used, h))
        gained = SETTINGS.share * fall / max(abs(best), TINY) if np.isfinite(fall) else rough
        rough = tol if same else max(tol, min(rough, gained))


def _carried(found: PlaneSolution, change: Floats | None) -> list[Plane]:
    """The planes of one risk as planes of the next, which differs from it by a linear function."""
    if change is None:
        return []
    planes = zip(found.offsets.tolist(), found.planes, strict=True)
    return [Plane(offset, slope + change) for offset, slope in planes]


def _with_mean_plane(found: PlaneSolution, C: float) -> PlaneSolution:
    """The solution with the weighted mean of its planes, which is all that its proof needs."""
    offset, slope = found.combined
    return found._replace(planes=slope[None, :], offsets=np.array([offset]), alpha=np.array([C]))


def _objective(problem: LatentProblem, h: Integers, w: Floats, C: float) -> float:
    """P(w), h being the best one there."""
    plane = problem.convex(h).at(w)
    value = plane.offset + float(problem.space.dots(plane.slope[None, :], w)[0])
    return 0.5 * problem.space.square(w) + C * value


def _judged(found: Certificate, ended: Status | None, n_iter: int) -> Certificate:
    """A stationary point of a problem that is not convex: never an optimum."""
    status = Status.STATIONARY if found.status.converged else found.status
    return found.updated(status=ended or status, convexity=Convexity.NONCONVEX, n_iter=n_iter)


def best_of(
    problem: LatentProblem,
    starts: Iterable[Integers],
    C: float,
    tol: float,
    monitor: Monitor,
    enough: float = 0.0,
) -> tuple[LatentSolution, list[float]]:
    """The best stationary point of several starts, and the objective of each."""
    best: LatentSolution | None = None
    found: list[float] = []
    for h in starts:
        if best is not None and monitor.too_late() is not None:
            break
        one = descend(problem, h, C, tol, monitor, enough=enough)
        found.append(one.objectives[-1])
        if best is None or found[-1] < (1 - SETTINGS.tie) * best.objectives[-1]:
            best = one
    assert best is not None
    return best, found
