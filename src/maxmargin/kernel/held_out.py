"""Decision values of samples that the machine was not trained on, for little more than one fit.

A fold is held out by bounds 0 <= b_i <= 0 for its samples: the problem of the other samples on the
kernel values that the fit has computed. Three things make it cheap.

* **Start.** The duals of the fit without those of the fold are nearly optimal. The sums are
  restored by the free variables, so that those at their bounds stay there. K b of this start is
  that of the fit plus the rows of the variables that have changed.
* **Kernel values.** Rows of expensive kernels are kept from the fit and from fold to fold.
* **Values.** The solver keeps K b of every sample, those held out included, so that their decision
  values are known when it ends.

A class that has one distinct sample cannot do without it. That sample is never held out, and its
value is that of the fit.

Which fold a sample belongs to depends on its features and the seed alone: neither on the order of
the samples nor on how often one occurs. Copies stay together, so that no machine is tested on a
copy of what it was trained on.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from maxmargin import certificate
from maxmargin.core.arrays import Floats, Integers, Mask
from maxmargin.kernel import block
from maxmargin.kernel.formulations import Decision
from maxmargin.kernel.model import KernelModel, kept_vectors
from maxmargin.kernel.problems import DualProblem, fill, fold
from maxmargin.kernel.solution import Solution
from maxmargin.kernel.training import Task, Trained, bound_suffices, train, with_damping
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.status import Status


class Settings(NamedTuple):
    """How samples are held out."""

    folds: int = 5
    """As in LIBSVM."""
    tol: float = 20.0
    """Tolerance of the machines without a fold, in tolerances of the fit: a sigmoid averages over
    all samples, and hundredths of a decision value do not move it."""


SETTINGS = Settings()
EARLY = (Status.MAX_ITER, Status.TIME_LIMIT, Status.INTERRUPTED)
"""Ends of machines that may be far from optimal."""
NEVER = -1
"""The fold of a sample that is never held out."""


class TaskWithFolds(NamedTuple):
    """A problem whose samples are also held out, one fold at a time."""

    task: Task
    folds: Integers
    """Of each sample of the task."""
    keep: bool = False
    """Whether the machines without a fold are kept. They then have the tolerance of the fit."""

    @property
    def rows(self) -> Integers | None:
        """The samples of the view; None means all of them."""
        return self.task.rows

    def train(self, workspace: KernelWorkspace) -> Trained:
        """Solve and certify it, then hold out its folds."""
        view = workspace if self.rows is None else workspace.view(self.rows)
        trained = train(self.task, view)
        if trained.status is Status.DEGENERATE:
            return trained
        values, machines, early = hold_out(self, view, trained.decision)
        kept = machines if self.keep else ()
        return trained._replace(held_out=values, held_out_by=kept, held_out_early=early)

    def unsolved(self, workspace: KernelWorkspace, status: Status) -> Trained:
        """The result without a solve: nothing is known."""
        return self.task.unsolved(workspace, status)


def ranks_of(key: Integers, label: Integers) -> Integers:
    """The position of each sample among the distinct ones of its class, in the order of keys."""
    rank = np.empty(len(key), np.int64)
    for c in np.unique(label):
        own = np.flatnonzero(label == c)
        rank[own] = np.unique(key[own], return_inverse=True)[1]
    return rank


def folds_of(key: Integers, label: Integers, rank: Integers | None = None) -> Integers:
    """A fold for each sample: stratified, and the same for samples of a class with equal keys.

    ``rank`` are their ranks, where these are known.
    """
    rank = ranks_of(key, label) if rank is None else rank
    folds, before = np.full(len(key), NEVER), 0
    for c in np.unique(label):
        own = np.flatnonzero(label == c)
        distinct = int(rank[own].max()) + 1
        if distinct > 1:
            folds[own] = (before + rank[own]) % SETTINGS.folds
            before += distinct
    return folds


def hold_out(
    asked: TaskWithFolds, workspace: KernelWorkspace, decision: Decision
) -> tuple[Floats, tuple[Decision, ...], bool]:
    """The decision value of each sample by a machine that was trained without its fold.

    All of them begin at the decision function of all samples. The second result holds the machines
    in the order of their folds, the third says whether a limit or Ctrl-C ended one of them early.
    """
    task, folds = asked.task, asked.folds
    tol = task.tol * (1.0 if asked.keep else SETTINGS.tol)
    if not bound_suffices(workspace.source, decision, task.tol):
        better = workspace.source.by_differences()
        workspace = workspace if better is None else workspace.on(better)
    monitor = workspace.monitor.quiet(workspace.monitor.max_iter)
    workspace = workspace.share(monitor, 1, workspace.problems)
    problem = task.formulation.build(workspace.source)
    coef = decision.coef * decision.scale
    product = workspace.product_of(coef) if coef.any() else None
    values, machines, early = np.zeros(len(folds)), [], False
    kept = np.flatnonzero(folds == NEVER)
    if len(kept):
        support = np.flatnonzero(coef)
        part = workspace.source.product(support, decision.coef[support], kept)
        values[kept] = workspace.source.backend.to_host(part) + decision.intercept
    for number in np.unique(folds[folds != NEVER]):
        out = folds == number
        solution, read, part = _solve_without(
            task._replace(tol=tol), problem, workspace, out, coef, product
        )
        values[out] = part[out]
        machines.append(read)
        early |= solution.ended in EARLY
    return values, tuple(machines), early


def _solve_without(
    task: Task,
    problem: DualProblem,
    workspace: KernelWorkspace,
    out: Mask,
    coef: Floats,
    product: Floats | None,
) -> tuple[Solution, Decision, Floats]:
    """The problem without some samples, its decision function, and the values of all of them."""
    workspace.kept.solved = None  # without a fold other variables are free: pair steps come first
    problem = without(problem, out)
    start = repaired(problem, coef[problem.row])
    if product is not None:
        first = fold(problem, start, len(coef))
        changed = np.flatnonzero(first != coef)
        rows, F = block.rows_for(problem, workspace, workspace.source.dtypes[0]), product.copy()
        rows.add_rows(changed, (first - coef)[changed], F)
        workspace.kept.product = first, F
    solution = block.solve(problem, workspace, task.tol, start)
    if solution.ended is Status.DEGENERATE:
        nothing = np.zeros(len(coef))
        return solution, Decision(nothing, 0.0, (0.0, 0.0)), nothing
    read, part = task.formulation.read(problem, solution), solution.kernel_part
    primal = task.formulation.primal
    if primal is not None and solution.ended in EARLY:
        primal = primal._replace(tube=primal.tube.without(out))
        factor, read = with_damping(primal, read, part)
        part = factor * part
    return solution, read, part / read.scale + read.intercept


def without(problem: DualProblem, out: Mask) -> DualProblem:
    """The same problem with some samples fixed at 0.

    Sums that are a share of the bounds (nu-SVC) stay that share of what is left, or what the
    lighter group allows.
    """
    fixed = out[problem.row]
    lower, upper = (np.where(fixed, 0.0, bound) for bound in (problem.lower, problem.upper))
    room, left = (np.maximum(-a, b) for a, b in ((problem.lower, problem.upper), (lower, upper)))
    groups = [problem.group == g for g in range(problem.groups)]
    share = float(left.sum() / room.sum()) if np.isfinite(room).all() else 1.0
    start = np.zeros(len(fixed))
    totals = [abs(float(problem.start[own].sum())) * share for own in groups]
    total = min([*totals, *(float(left[own].sum()) for own in groups)])
    for own in groups if total > 0 else ():
        part = fill(total, np.minimum(left[own], total))
        start[own] = np.where(upper[own] > 0, part, -part)
    return problem._replace(lower=lower, upper=upper, start=start)


def repaired(problem: DualProblem, guess: Floats) -> Floats:
    """A feasible point near a guess: clipped, and the sums restored by free variables first.

    Variables at their bounds change only where the free ones do not suffice.
    """
    b = np.clip(guess, problem.lower, problem.upper)
    for g in np.flatnonzero(problem.fixed):
        own = np.flatnonzero(problem.group == g)
        excess = float(b[own].sum() - problem.start[own].sum())
        sign, part = np.sign(excess), b[own]
        lower, upper = problem.lower[own], problem.upper[own]
        room = np.minimum(np.abs(part - (lower if sign > 0 else upper)), abs(excess))
        free = (part > lower) & (part < upper)
        most = np.where(free, room, 0.0)
        move = most * min(1.0, abs(excess) / (float(most.sum()) or np.inf))
        missing = max(0.0, abs(excess) - float(move.sum()))
        move += fill(missing, np.where(free, 0.0, room))
        b[own] = np.clip(part - sign * move, lower, upper)
    return b


def fold_machine(
    model: KernelModel, X: Any, rows: Integers, machines: Sequence[Decision]
) -> KernelModel:
    """The machines without a fold, trained on these rows of X, as the functions of one record."""
    coef = np.array([machine.coef for machine in machines])
    support = np.flatnonzero((coef != 0).any(axis=0))
    return replace(
        model,
        vectors=kept_vectors(model.kernel, X, rows[support]),
        coef=coef[:, support].copy(),
        intercept=np.array([machine.intercept for machine in machines]),
        n_support=np.array([len(support)], np.int32),
        intervals=np.array([machine.interval for machine in machines]),
        scales=np.ones(len(machines)),
        certificate=certificate.worst([certificate.unknown(Status.UNJUDGED)] * len(machines)),
        rows=rows[support].astype(np.int32),
        epsilon=None,
    )
