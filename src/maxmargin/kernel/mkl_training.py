"""Training and certifying machines whose kernel is learnt (multiple_kernels.py).

**Scales.** Before weights are compared, each kernel is multiplied by a scale, a function of the
samples with their weights: 1 over the mean of k(x, x), or 1 over the variance in feature space, the
mean of k(x, x) less the mean of all k(x, z).

**The certificate** shares no code with the solver. For the functions of the classes c, with their
coefficients b_c and s_mc = b_c' K_m b_c, the gap is that of their C-SVCs with the kernel K_d, plus

    1/2 (|s|_q - d's)        s = sum_c s_mc

which is 0 where the kernels with weight have the greatest s_m (p = 1). The dual value of a class
is that of its C-SVC with the weights that attain |s|_q: its gap may be negative, the sum is not.
"""

from collections.abc import Sequence
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificate import TINY, Certificate
from maxmargin.core.arrays import Floats
from maxmargin.core.threads import one_blas_thread
from maxmargin.kernel import certificate, definiteness, evaluation, multiple_kernels, problems
from maxmargin.kernel.audit import audit_decision
from maxmargin.kernel.formulations import Decision
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.mkl_values import Kernels
from maxmargin.kernel.multiple_kernels import Learner
from maxmargin.kernel.sources import MatrixSource, Source, make_source
from maxmargin.kernel.sources.sums import columns_of
from maxmargin.kernel.workspace import KernelWorkspace, Samples
from maxmargin.monitor import Monitor
from maxmargin.status import Convexity, Status
from maxmargin.verdict import Demand, Size, verdict, verdict_again


class Scaling(Enum):
    """What kernels are divided by; the value is its name for the user."""

    NONE = None
    TRACE = "trace"
    VARIANCE = "variance"


class Candidates(NamedTuple):
    """The kernels to choose from, on the samples."""

    kernel: Kernel
    """Their sum with weights 1, or a precomputed kernel."""
    X: Any
    """The samples; the values of all kernels, of shape (n, n, kernels), where they are given."""

    @property
    def given(self) -> bool:
        """Whether kernel values are given."""
        return self.kernel.kind is Kind.PRECOMPUTED

    def each(self) -> list[Samples]:
        """Each kernel with its view of the samples."""
        if self.given:
            values = np.moveaxis(np.asarray(self.X, np.float64), 2, 0)
            return [Samples(self.kernel, np.ascontiguousarray(K)) for K in values]
        return [
            Samples(part.kernel, columns_of(self.X, part.columns)) for part in self.kernel.parts
        ]

    def weighted(self, weights: Floats) -> Samples:
        """The sum with other weights; kernels without weight are left out."""
        if self.given:
            return Samples(self.kernel, np.ascontiguousarray(self.X @ weights))
        parts = zip(self.kernel.parts, weights, strict=True)
        kept = [part._replace(weight=float(w)) for part, w in parts if w > 0]
        return Samples(Kernel.sum(*kept), self.X)


class Machines(NamedTuple):
    """The learnt weights and the machine of each class."""

    d: Floats
    scales: Floats
    samples: Samples
    """The samples with the learnt kernel."""
    decisions: list[Decision]
    certificate: Certificate
    """Of all classes together; its parts are those of the classes, where there are several."""


class Claim(NamedTuple):
    """A class against the rest: labels, bounds, and a solution."""

    y: Floats
    C: Floats
    decision: Decision
    f: Floats
    s: Floats
    """b'K_m b of each kernel."""


def scales_of(sources: Sequence[Source], weight: Floats, scaling: Scaling) -> Floats:
    """What each kernel is multiplied by; 1 where its values are all 0 or do not differ."""
    if scaling is Scaling.NONE:
        return np.ones(len(sources))
    p, found = weight / weight.sum(), np.ones(len(sources))
    for m, source in enumerate(sources):
        mean = float(p @ source.diagonal())
        size = mean
        if scaling is Scaling.VARIANCE:
            size = mean - float(p @ source.product(None, p))
        if size > 1e-12 * abs(mean):
            found[m] = 1 / size
    return found


class MultipleTask(NamedTuple):
    """The problem: samples, kernels, labels and what is asked for."""

    candidates: Candidates
    signs: Sequence[Floats]
    """Labels +1 and -1 of each class against the rest."""
    C: Floats
    """The bounds."""
    weight: Floats
    """The weights of the samples, for the scales."""
    norm: float
    scaling: Scaling
    tol: float


def train(task: MultipleTask, monitor: Monitor, most: int, start: Floats | None = None) -> Machines:
    """Learn weights and machines, with at most this many for each class.

    ``start`` are weights to begin at.
    """
    candidates, signs, C, weight, norm, scaling, tol = task
    each = candidates.each()
    sources = [_source(one) for one in each]
    scales = scales_of(sources, weight, scaling)
    kernels = Kernels.of(sources, scales)
    tasks = tuple(problems.c_svc(y, C) for y in signs)
    learner = Learner(kernels, tasks, norm, tol, monitor)
    count = len(sources)
    u = np.full(count, 1 / count) if start is None else multiple_kernels.normalised(start**norm)
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        point, ended, solves = multiple_kernels.learn(learner, u, most)
    claims = []
    for k, (y, solution) in enumerate(zip(signs, point.solutions, strict=True)):
        level = solution.levels[0]
        decision = Decision(solution.b, level.value, (level.low, level.high))
        f = point.d @ point.F[:, k] + level.value
        claims.append(Claim(y, C, decision, f, point.F[:, k] @ solution.b))
    samples = candidates.weighted(point.d * scales)
    whole = KernelWorkspace.of(samples.kernel, samples.X, monitor)
    error = max(audit_decision(whole, one.decision, one.f, np.inf).error for one in claims)
    convexity = _convexity(each, claims)
    found = certified(claims, point.d, norm).updated(
        audit_error=error, convexity=convexity, n_iter=solves
    )
    status = verdict(ended, found, Demand.on_violation(tol), _size(claims))
    found = _with_status(found, status, solves)
    monitor.say(str(found), final=True)
    return Machines(point.d, scales, samples, [one.decision for one in claims], found)


def _source(samples: Samples) -> Source:
    if samples.kernel.kind is Kind.PRECOMPUTED:
        return MatrixSource(samples.X)
    return make_source(samples.kernel, samples.X)


def _convexity(each: Sequence[Samples], claims: Sequence[Claim]) -> Convexity:
    """The worst of what is known about the kernels."""
    coef = np.abs(np.array([one.decision.coef for one in claims])).sum(axis=0)
    rounding = float(np.finfo(float).eps)
    found = [definiteness.convexity_of(one, coef, rounding) for one in each]
    return max(found, key=list(Convexity).index)


def _size(claims: Sequence[Claim]) -> Size:
    f = np.concatenate([one.f for one in claims])
    coef = np.concatenate([one.decision.coef for one in claims])
    bounds = np.concatenate([one.C for one in claims])
    greatest = max(abs(one.decision.intercept) for one in claims)
    return Size.of(f, coef, bounds, intercept=greatest)


def _with_status(found: Certificate, status: Status, solves: int) -> Certificate:
    """The verdict on all classes is that on each of them."""
    changes: dict[str, Any] = {"status": status, "convexity": found.convexity, "n_iter": solves}
    parts = [part.updated(audit_error=found.audit_error, **changes) for part in found.parts]
    return found.updated(parts=tuple(parts), **changes)


@certificate.HUGE
def certified(claims: Sequence[Claim], d: Floats, norm: float) -> Certificate:
    """The certificate of machines with weights d, before the verdict."""
    own = [
        certificate.classification(one.f, one.y, one.C, one.decision.coef, one.decision.intercept)
        for one in claims
    ]
    S = np.maximum(np.array([one.s for one in claims]), 0.0)
    total = S.sum(axis=0)
    order = np.inf if norm == 1 else norm / (norm - 1)
    greatest = float(np.linalg.norm(total, order))
    if greatest <= 0:
        attains = np.zeros(len(d))
    elif norm == 1:
        attains = (np.arange(len(d)) == np.argmax(total)).astype(float)
    else:
        attains = (total / greatest) ** (order - 1)
    excess = max(0.0, float(np.linalg.norm(d, norm)) - 1)  # d may be too long: rounding
    parts = []
    for one, s in zip(own, S, strict=True):
        more = 0.5 * (float(attains @ s) - float(d @ s)) + 0.5 * excess * float(d @ s)
        primal = one.primal + 0.5 * excess * float(d @ s)
        dual = one.dual - 0.5 * (float(attains @ s) - float(d @ s))
        gap = one.gap + more
        parts.append(
            one.updated(primal=primal, dual=dual, gap=gap, relative_gap=_share(gap, primal, dual))
        )
    primal, dual, gap = (
        float(sum(getattr(one, name) for one in parts)) for name in ("primal", "dual", "gap")
    )
    whole = parts[0].updated(
        primal=primal,
        dual=dual,
        gap=gap,
        relative_gap=_share(gap, primal, dual),
        kkt_violation=max(one.kkt_violation for one in parts),
        box_violation=max(one.box_violation for one in parts),
        equality_violation=max(one.equality_violation for one in parts),
    )
    return whole.updated(parts=tuple(parts) if len(parts) > 1 else ())


def _share(gap: float, primal: float, dual: float) -> float:
    return gap / max(abs(primal), abs(dual), TINY) if np.isfinite(gap) else np.inf


class Fitted(NamedTuple):
    """A fitted machine as ``certify`` sees it: coefficients of all samples, and their values."""

    coef: Floats
    """A row for each class."""
    intercept: Floats
    exact: Floats
    """Decision values by an independent evaluation, one row for each class."""
    solver: Floats
    """Those that prediction computes."""
    old: Certificate


def certify(task: MultipleTask, scales: Floats, d: Floats, fitted: Fitted) -> Certificate:
    """The certificate of a fitted machine, recomputed from the samples."""
    candidates, signs = task.candidates, task.signs
    support = np.flatnonzero(fitted.coef.any(axis=0))
    coef = np.ascontiguousarray(fitted.coef[:, support].T)
    S = np.empty((len(d), len(signs)))
    for m, one in enumerate(candidates.each()):
        A = one.pick(support)
        B = A[:, support] if candidates.given else A
        K = evaluation.kernel_products(one.kernel, A, coef, B)
        S[m] = scales[m] * np.einsum("ic,ic->c", coef, K)
    claims = []
    for k, y in enumerate(signs):
        bias = float(fitted.intercept[k])
        decision = Decision(fitted.coef[k], bias, (bias, bias))
        claims.append(Claim(y, task.C, decision, fitted.exact[k], S[:, k]))
    found = certified(claims, d, task.norm).updated(
        audit_error=float(np.abs(fitted.exact - fitted.solver).max(initial=0.0)),
        convexity=fitted.old.convexity,
    )
    blind = found.updated(audit_error=0.0)
    status = verdict_again(fitted.old.status, blind, Demand.on_violation(task.tol), _size(claims))
    return _with_status(found, status, fitted.old.n_iter)
