"""Squared hinges of one fit on small data, solved together: each class against the rest.

On small data most of the time of a fit is the way from one NumPy call to the next, in each step of
each problem. So one call of the core takes the Newton steps of all of them (core/hinges.h). Their
certificates are sums over the rows of one matrix (certificate.squared_hinges), after all decision
values were computed again as ``certify`` computes them. verdict.py decides about each.

A problem that is not optimal then, or where rounding may decide, gets None: training.py solves it
by itself (decision 41).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from maxmargin.certificate import TINY
from maxmargin.core.arrays import Floats
from maxmargin.core.threads import one_blas_thread, thread_count
from maxmargin.linear import certificate
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.losses import Bias, Hinges, LinearProblem, Penalty
from maxmargin.linear.objectives import EPS, LinearSolution
from maxmargin.linear.training import Choice, Solver, TrainedLinear
from maxmargin.linear.verification import SETTINGS as VERIFICATION
from maxmargin.linear.workspace import LinearWorkspace, is_small, is_tiny
from maxmargin.status import Status
from maxmargin.verdict import Demand, Size, verdict


class Settings(NamedTuple):
    """Which problems are solved together, and how (decision 41)."""

    features: int = 128
    """Features, at most: LAPACK factors the Hessian of more of them sooner."""
    steps: int = 200
    """Newton steps of a problem, at most."""
    multiply_adds: float = 1e8
    """Multiply-adds of a thread in one step of all problems of a call: some twenty steps take a
    fraction of a second between two checks for signals."""
    share: float = 0.25
    """The gap that the steps aim at, as a share of the tolerance: that of feasible duals is
    larger."""
    sure: float = 0.1
    """Share of the gap allowed that rounding may take; training.py looks closer at more."""


SETTINGS = Settings()


def train_together(
    problems: Sequence[LinearProblem], workspace: LinearWorkspace, choice: Choice, tol: float
) -> list[TrainedLinear | None]:
    """The model of each problem that was solved together, None for the others."""
    design, monitor = workspace.design, workspace.monitor
    nothing: list[TrainedLinear | None] = [None] * len(problems)
    limited = monitor.verbose or monitor.limit < np.inf
    if limited or choice.solver is not Solver.NEWTON or not isinstance(problems, Hinges):
        return nothing
    if not isinstance(design, ArrayDesign) or not _suits(problems, design):
        return nothing
    goal = EPS if is_tiny(problems[0], design) else SETTINGS.share * tol
    most = min(monitor.max_iter, SETTINGS.steps)
    work = design.entries * (design.shape[1] + 16.0)
    at_once, parts = max(1, int(SETTINGS.multiply_adds * thread_count() / work)), []
    for first in range(0, len(problems), at_once):
        if monitor.stop(0) is not None:
            return nothing
        some = problems.part(slice(first, first + at_once))
        parts += _train(some, design, goal, most, tol)
    return parts


def _train(
    problems: Hinges, design: ArrayDesign, goal: float, most: int, tol: float
) -> list[TrainedLinear | None]:
    """Solve all of them in one call, and judge each."""
    column = 0.0 if problems.bias is Bias.NONE else 1.0
    u, f, ends = design.backend.squared_hinges(
        design.points, problems.sign, problems.C, column, problems.m, goal, most
    )
    if not np.isfinite(u).all():
        return [None] * len(problems)
    found = _judged(problems, design, u, f, [steps for steps, _ in ends], tol)
    return [one if ended else None for one, (_, ended) in zip(found, ends, strict=True)]


def _suits(problems: Hinges, design: ArrayDesign) -> bool:
    """Whether problems are of the kind that this file solves."""
    few = 0 < design.shape[1] <= SETTINGS.features and is_small(design)
    usual = problems.squared and problems.penalty is Penalty.L2
    return few and usual and isinstance(design.X, np.ndarray) and bool(problems.C.min() > 0)


def _judged(
    problems: Hinges, design: ArrayDesign, u: Floats, f: Floats, steps: list[int], tol: float
) -> list[TrainedLinear | None]:
    """What verification.py does for one problem, for all: None where one is not optimal, or where
    rounding may decide.
    """
    sign, C, free = problems.sign, problems.C, problems.bias is Bias.FREE
    w, bias = np.ascontiguousarray(u[:, :-1]), u[:, -1]
    X = design.X.astype(np.float64, copy=False)
    with one_blas_thread():
        exact = w @ X.T
        exact += bias[:, None]
        t = _duals(sign, C, exact, free)
        Xt = t @ X
    found = certificate.squared_hinges(exact, sign, C, w, bias, t, Xt, problems.m, free)
    size, errors = np.abs(t), np.abs(exact - f).max(axis=1).tolist()
    values, totals = np.abs(exact).max(axis=1), size.sum(axis=1)
    products = np.sqrt(np.einsum("ij,ij->i", w, w)) * design.largest_square**0.5
    drift = np.maximum(errors, EPS * (products + np.abs(bias) + values)).tolist()
    lengths = np.sqrt(np.einsum("ij,ij->i", Xt, Xt)).tolist()
    trained: list[TrainedLinear | None] = []
    for k, magnitudes in enumerate(
        zip(values.tolist(), size.max(axis=1).tolist(), totals.tolist(), strict=True)
    ):
        known = found[k].updated(n_iter=steps[k], audit_error=errors[k])
        of = Size(*magnitudes, weight=magnitudes[-1])
        demand = Demand.on_gap(tol, 1.0, True, VERIFICATION.agreement * max(of.values, 1.0))
        status = verdict(None, known, demand, of, known=True)
        lost = EPS * of.total * design.largest_square**0.5  # of X't
        allowed = max(tol, VERIFICATION.least_tol) * max(abs(known.primal), abs(known.dual))
        sure = drift[k] <= VERIFICATION.negligible
        sure &= lost * (lengths[k] + 0.5 * lost) <= SETTINGS.sure * allowed
        if status is not Status.OPTIMAL or not sure:
            trained.append(None)
            continue
        model = LinearSolution(w[k], float(bias[k]), t[k], exact[k], Xt[k], None, steps[k])
        trained.append(TrainedLinear(model, known.updated(status=status), Solver.NEWTON))
    return trained


def _duals(sign: Floats, C: Floats, f: Floats, free: bool) -> Floats:
    """The duals at decision values f; a free bias needs some whose sum is 0 (losses.with_sum)."""
    size = 2 * C * np.maximum(0.0, 1 - sign * f)
    t = sign * size
    if not free:
        return t
    excess = t.sum(axis=1)
    larger = sign * excess[:, None] > 0
    mass = np.sum(size, axis=1, where=larger)
    t *= 1 - np.where(larger, (np.abs(excess) / np.maximum(mass, TINY))[:, None], 0.0)
    return t
