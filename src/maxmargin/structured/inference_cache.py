"""Structured risks with few calls of the user's inference: the constraint cache of Joachims, Finley
and Yu (2009).

Inference is called for all samples at some points w. Every output that it ever returned is kept,
with its loss and joint features. The outputs of a sample give a lower bound of its loss, and all of
them a risk that needs no inference:

    cached(w) = sum_i weight_i max(0, max over known y of loss(y_i, y) + <w, psi(y) - psi(y_i)>)
    cached(w) <= R(w)

    repeat    call inference at w: R(w), and P(w); keep the outputs that are new
              w = minimiser of 1/2 |w|^2 + C cached(w)       (cutting planes, without inference)
              D = its lower bound, which is one of P
    until     P - D <= tol P

The planes of one round are those of the next as well, since the cached risk only grows. A round
whose cached problem is solved exactly is one of the n-slack algorithm: there are few of them. Early
rounds are solved roughly, to a share of the present gap.

If an output that is known has a greater loss-augmented score at w than the one that inference
returns, inference is not an arg max. That is an error, unless inference is known to be approximate.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from maxmargin.core.arrays import Floats, Integers
from maxmargin.monitor import Monitor
from maxmargin.status import Status
from maxmargin.structured.cutting_plane import PlaneSolution, solve
from maxmargin.structured.joint_features import ROUNDING, Answer, Examples
from maxmargin.structured.risks import Plane
from maxmargin.structured.spaces import WeightSpace


class Settings(NamedTuple):
    """How exactly the cached problem is solved."""

    share: float = 0.1
    """Gap of the cached problem, as a share of the present gap."""
    final: float = 0.5
    """The least of these gaps, as a share of the tolerance."""
    patience: int = 5
    """Rounds in which inference finds no new output, after which only rounding is left."""


SETTINGS = Settings()


class CachedRisk(NamedTuple):
    """The risk of the outputs that are known."""

    space: WeightSpace
    weight: Floats
    """The weight of each sample."""
    owner: Integers
    """The sample of each known output, sorted."""
    loss: Floats
    change: sparse.csr_matrix
    """psi(x, y) - psi(x, y_i), a row for each."""

    def values(self, w: Floats) -> Floats:
        """The loss-augmented score of each known output, less that of the true output."""
        found: Floats = self.loss + self.change @ w
        return found

    def best(self, w: Floats) -> tuple[Integers, Floats]:
        """Which known outputs are best for their samples and better than the true ones; values."""
        values = self.values(w)
        order = np.lexsort((values, self.owner))
        last = np.append(self.owner[order][1:] != self.owner[order][:-1], True)[: len(order)]
        found = order[last]
        found = found[values[found] > 0]
        return found, values[found]

    def at(self, w: Floats) -> Plane:
        """The plane that touches the cached risk at w."""
        best, _ = self.best(w)
        share = self.weight[self.owner[best]]
        return Plane(float(share @ self.loss[best]), self.change[best].T @ share)


def empty_cache(examples: Examples) -> CachedRisk:
    """The risk of no output but the true ones: 0."""
    width = examples.width
    nothing = sparse.csr_matrix((0, width))
    return CachedRisk(
        WeightSpace(width), examples.weight, np.zeros(0, np.int64), np.zeros(0), nothing
    )


class TaskRisk:
    """The risk of a task, by inference; it keeps the outputs that it sees."""

    def __init__(self, examples: Examples, exact: bool) -> None:
        self.examples, self.exact = examples, exact
        self.cache, self.space = empty_cache(examples), WeightSpace(examples.width)
        self.calls = 0
        """How often inference was called for all samples."""
        self.found_new = False
        """Whether the last call found an output that was not known."""

    def at(self, w: Floats) -> Plane:
        """The plane that touches the risk at w."""
        answers = self.examples.infer(w)
        self.calls += 1
        known = np.zeros(len(answers))
        best, values = self.cache.best(w)
        known[self.cache.owner[best]] = values
        found = np.array([answer.value(w) for answer in answers])
        room = ROUNDING * np.array([answer.size for answer in answers])
        self._refuse_worse(known, found, room)
        new = np.flatnonzero(found > known + room)
        self.found_new = len(new) > 0
        self._keep(new, [answers[i] for i in new])
        return self.cache.at(w)

    def _refuse_worse(self, known: Floats, found: Floats, room: Floats) -> None:
        """ValueError if inference returned less than it could, unless it is approximate."""
        worse = np.flatnonzero(known > found + room)
        if self.exact and len(worse):
            i = int(worse[np.argmax((known - found)[worse])])
            raise ValueError(
                f"sample {self.examples.number[i]}: infer returned an output whose loss-augmented "
                f"score is {known[i] - found[i]:.6g} less than that of an output which it returned "
                f"before ({len(worse)} of {len(found)} samples are so). infer(x, w, y) must return "
                "the greatest of loss(y, y') + w @ joint_feature(x, y'): correct it, or set "
                "inference='approximate', which certifies nothing."
            )

    def _keep(self, samples: Integers, answers: list[Answer]) -> None:
        if not answers:
            return
        cache = self.cache
        owner = np.append(cache.owner, samples)
        loss = np.append(cache.loss, [answer.loss for answer in answers])
        change = sparse.vstack([cache.change, *(answer.change for answer in answers)], "csr")
        self.cache = cache._replace(owner=owner, loss=loss, change=change)


def solve_cached(
    risk: TaskRisk, C: float, tol: float, monitor: Monitor, start: Floats | None = None
) -> PlaneSolution:
    """Minimise 1/2 |w|^2 + C R(w) to a relative gap of tol with few calls of inference."""
    w = np.zeros(risk.space.size) if start is None else start
    found, idle = _nothing(w, C), 0
    while True:
        found = _with_risk_at(found, w, risk, C)
        gap, size = found.primal - found.dual, max(abs(found.primal), abs(found.dual))
        monitor.say(
            f"{risk.calls:,} rounds of inference, {len(risk.cache.loss):,} outputs, objective "
            f"{found.primal:.6g}, gap {gap:.3g}, {monitor.seconds:.1f} s"
        )
        if gap <= tol * size:
            return found
        idle = 0 if risk.found_new else idle + 1
        ended = monitor.stop(risk.calls)
        if ended is not None or idle > SETTINGS.patience:
            return found._replace(ended=ended or Status.STALLED)
        rough = max(SETTINGS.final * tol, SETTINGS.share * gap / size)
        cached = solve(risk.cache, C, rough, monitor.quiet(-1), found.w, _planes(found))
        w = cached.w
        found = found._replace(
            dual=cached.dual, planes=cached.planes, offsets=cached.offsets, alpha=cached.alpha
        )


def _nothing(w: Floats, C: float) -> PlaneSolution:
    """What is known before the first call: the risk is not negative."""
    plane = np.zeros((1, len(w)))
    return PlaneSolution(
        w, np.inf, 0.0, np.inf, plane, np.zeros(1), np.array([C]), None, n_iter=0, history=()
    )


def _with_risk_at(found: PlaneSolution, w: Floats, risk: TaskRisk, C: float) -> PlaneSolution:
    """Call inference at w; w is the solution if P is less there."""
    plane = risk.at(w)
    value = plane.offset + float(plane.slope @ w)
    primal = 0.5 * float(w @ w) + C * value
    if primal < found.primal:
        found = found._replace(w=w, primal=primal, risk=value)
    history = (*found.history, (found.primal, found.dual))
    return found._replace(n_iter=risk.calls, history=history)


def _planes(found: PlaneSolution) -> list[Plane]:
    """The planes with weight but the one that is 0, which every bundle has."""
    planes = zip(found.offsets, found.planes, strict=True)
    return [Plane(float(offset), slope) for offset, slope in planes if offset or slope.any()]
