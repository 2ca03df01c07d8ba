"""Latent variables by the concave-convex procedure (Yu and Joachims 2009).

An output has a latent part h that no one has labelled: which of several patterns a sample of a
class follows, or which instance of a bag is the one that counts. Its score is that of the best h:

    R(w) = sum_i weight_i { max over y, h of [ loss(y_i, y) + f(x_i, y, h) ] - max over h of
                            f(x_i, y_i, h) }                                     f linear in w

This is a difference of convex functions. With h_i fixed, in place of the last maximum, R_h is
convex, and R_h >= R, with equality where every h_i is the best one at w. So P never rises in

    repeat    w = minimiser of 1/2 |w|^2 + C R_h(w)                (cutting planes, certified)
              h = the best one at w for every sample               (imputation)
    until     h stays the same, or P falls by less than tol P

The end is a stationary point, which depends on the start: there are several starts, and the one
with the least P wins.
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
from maxmargin.structured.multiclass import ClassesLoss
from maxmargin.structured.risks import Plane, Risk, ScoreRisk, Tangent
from maxmargin.structured.spaces import Space


class Settings(NamedTuple):
    """How exactly the convex problems are solved: relative gaps."""

    first: float = 0.1
    """Of the first round, whose latent variables are a guess."""
    share: float = 0.1
    """Of later rounds, as a share of what the objective fell by in the round before."""


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
) -> LatentSolution:
    """Alternate from given latent variables; ``start`` is a point at which they are the best.

    Early rounds are solved roughly, to a share of what the round before gained.
    """
    w, objectives, rounds = start, [], []
    known: list[Plane] = []
    best = np.inf if start is None else _objective(problem, h, start, C)
    rough = max(tol, SETTINGS.first)
    while True:
        risk = problem.convex(h)
        found = solve(risk, C, rough, monitor.quiet(-1), w, known)
        mean = _with_mean_plane(found, C)
        rounds.append(certificate.certify(risk, C, mean, rough, found.risk))
        w, used, h = found.w, h, problem.impute(found.w)
        objectives.append(min(best, _objective(problem, h, w, C)))
        fall, best = best - objectives[-1], objectives[-1]
        monitor.say(
            f"round {len(rounds)}, objective {best:.6g}, {found.n_iter} planes, "
            f"{monitor.seconds:.1f} s"
        )
        same = np.array_equal(h, used) or fall <= tol * abs(best)
        ended = found.ended or (None if same and rough == tol else monitor.stop(len(rounds)))
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
    problem: LatentProblem, starts: Iterable[Integers], C: float, tol: float, monitor: Monitor
) -> tuple[LatentSolution, list[float]]:
    """The best stationary point of several starts, and the objective of each."""
    best: LatentSolution | None = None
    found: list[float] = []
    for h in starts:
        if best is not None and monitor.too_late() is not None:
            break
        one = descend(problem, h, C, tol, monitor)
        found.append(one.objectives[-1])
        if best is None or found[-1] < best.objectives[-1]:
            best = one
    assert best is not None
    return best, found


# ---- classes made of parts -----------------------------------------------------------------------


class Parts(NamedTuple):
    """Classes that are each the best of several linear functions, their parts.

        f(x, y) = max over the parts p of y of <v_p, x>

    A class without parts scores 0. With it and one other class f is the latent SVM of Felzenszwalb
    et al. (2010): its loss is max(0, 1 - y f).
    """

    owner: Integers
    """The class of each output; outputs are the parts, then the classes without parts."""
    n_parts: int

    @property
    def paths(self) -> Floats | None:
        """Which columns add up to an output; None where each output has its own."""
        outputs = len(self.owner)
        return None if outputs == self.n_parts else np.eye(outputs, self.n_parts)

    @property
    def delta(self) -> Floats:
        """1 between outputs of different classes."""
        different: Floats = (self.owner[:, None] != self.owner).astype(np.float64)
        return different

    def best(self, s: Floats, label: Integers) -> Integers:
        """The output of each sample that is best for its class."""
        f = self.scores(s)
        f[self.owner != label[:, None]] = -np.inf
        found: Integers = f.argmax(axis=1)
        return found

    def scores(self, s: Floats) -> Floats:
        """The score of each output; those of classes without parts are 0."""
        none = np.zeros((len(s), len(self.owner) - self.n_parts))
        return np.column_stack([s.reshape(len(s), -1), none])

    def class_scores(self, s: Floats, n_classes: int) -> Floats:
        """The score of each class."""
        f = self.scores(s)
        return np.column_stack([f[:, self.owner == k].max(axis=1) for k in range(n_classes)])


def parts_of(counts: Integers) -> Parts:
    """The parts of classes, given how many each class has."""
    parts = np.repeat(np.arange(len(counts)), counts)
    return Parts(np.concatenate([parts, np.flatnonzero(counts == 0)]), len(parts))


class PartsProblem(NamedTuple):
    """Samples whose classes are known and whose parts are not; h_i is an output of its class."""

    space: Space
    label: Integers
    weight: Floats
    parts: Parts

    def convex(self, h: Integers) -> ScoreRisk:
        """The risk of samples with known parts: a multi-class one."""
        parts = self.parts
        return ScoreRisk(self.space, ClassesLoss(h, self.weight, parts.delta, parts.paths))

    def impute(self, w: Floats) -> Integers:
        """The best part of each sample."""
        return self.parts.best(self.space.scores(w), self.label)

    def change(self, h: Integers, new: Integers) -> Floats:
        """The scores of the samples' old parts less those of the new ones."""
        t, rows = np.zeros((len(h), len(self.parts.owner))), np.arange(len(h))
        t[rows, h] += self.weight
        t[rows, new] -= self.weight
        t = t[:, : self.parts.n_parts]
        return self.space.element(t[:, 0] if self.parts.n_parts == 1 else t)

    def start(self, values: Floats) -> Integers:
        """Parts to start with: where each sample is greatest among random functions.

        ``values`` are those of random linear functions, a column for each part. They are centred
        and scaled in each class, so that copies of samples count as weights do.
        """
        values = values.copy()
        for k in np.unique(self.label):
            mine = self.label == k
            share = self.weight[mine] / self.weight[mine].sum()
            centred = values[mine] - share @ values[mine]
            size = np.sqrt(share @ centred**2)
            values[mine] = centred / np.where(size > 0, size, 1.0)
        return self.parts.best(values, self.label)


# ---- bags of instances ---------------------------------------------------------------------------


class Bags(NamedTuple):
    """Bags of instances: a bag scores what its best instance does (MI-SVM).

        m_i = max over the instances j of bag i of s_j
        R = min over b of  sum_i weight_i max(0, 1 - y_i (m_i + b)),   y_i = -1 or 1

    For negative bags that is convex. The witness of a positive bag, its best instance, is latent.
    """

    space: Space
    y: Floats
    weight: Floats
    first: Integers
    """The first instance of each bag."""

    def best(self, s: Floats) -> Integers:
        """The best instance of each bag; the first one among equals."""
        greatest = np.maximum.reduceat(s, self.first)
        lengths = np.diff(np.append(self.first, len(s)))
        places = np.where(s == np.repeat(greatest, lengths), np.arange(len(s)), len(s))
        return np.minimum.reduceat(places, self.first)

    def convex(self, h: Integers) -> ScoreRisk:
        """The risk with the witnesses h of positive bags."""
        return ScoreRisk(self.space, WitnessLoss(self, h))

    def impute(self, w: Floats) -> Integers:
        """The best instance of every bag."""
        best = self.best(self.space.scores(w))
        return np.where(self.y > 0, best, self.first)

    def change(self, h: Integers, new: Integers) -> None:
        """The loss of a positive bag is the hinge of its witness: the change is not linear."""
        return None


class WitnessLoss(NamedTuple):
    """The convex loss of bags whose witnesses are known."""

    bags: Bags
    h: Integers

    def __call__(self, s: Floats) -> Tangent:
        """The tangent at s, the scores of all instances."""
        y, weight = self.bags.y, self.bags.weight
        which = np.where(y > 0, self.h, self.bags.best(s))
        a = hinge_duals(y, s[which], weight)
        t = np.zeros(len(s))
        np.subtract.at(t, which, a * y)
        return Tangent(float(a.sum()), t)


class MeanLoss(NamedTuple):
    """The convex loss of bags that score the mean of their instances: a start.

    If negative bags scored their best instance here, w = 0 would often be the best start.
    """

    bags: Bags

    def __call__(self, s: Floats) -> Tangent:
        """The tangent at s, the scores of all instances."""
        bags = self.bags
        lengths = np.diff(np.append(bags.first, len(s)))
        a = hinge_duals(bags.y, np.add.reduceat(s, bags.first) / lengths, bags.weight)
        return Tangent(float(a.sum()), np.repeat(-a * bags.y / lengths, lengths))


def hinge_intercept(y: Floats, m: Floats, weight: Floats) -> tuple[float, Integers, int]:
    """The b of least sum_i weight_i max(0, 1 - y_i (m_i + b)).

    Its slope grows by weight_i at y_i - m_i, from minus the weight of the positive samples on.
    Returns b, the order of these places, and which of them is b.
    """
    place = y - m
    order = np.argsort(place, kind="stable")
    slope = np.cumsum(weight[order]) - weight[y > 0].sum()
    size = 1e-12 * float(weight.sum())
    j = min(int(np.searchsorted(slope, -size)), len(order) - 1)
    return float(place[order[j]]), order, j


def hinge_duals(y: Floats, m: Floats, weight: Floats) -> Floats:
    """How much each sample's loss is active at the best b: 0 <= a <= weight, sum(a y) = 0."""
    _, order, j = hinge_intercept(y, m, weight)
    before = np.zeros(len(y), bool)
    before[order[:j]] = True
    a: Floats = np.where(before == (y < 0), weight, 0.0)
    i = order[j]
    a[i] = 0.0
    a[i] = float(np.clip(-y[i] * (a @ y), 0.0, weight[i]))
    return a
