"""Fits without one sample, many of them, on shared kernel values."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from maxmargin import certificate
from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats, Integers, Mask
from maxmargin.core.threads import one_thread, thread_count
from maxmargin.estimators._warnings import warn
from maxmargin.kernel import model as records
from maxmargin.kernel.training import Constant, Task, Trained
from maxmargin.kernel.workspace import KernelWorkspace, is_small
from maxmargin.model_selection.parts import Machine, Part
from maxmargin.monitor import Monitor
from maxmargin.status import Status


class Removals(NamedTuple):
    """What is known of every sample left out."""

    values: Floats
    """Decision values at the samples left out, one row for each function."""
    refitted: Mask
    done: Mask
    certificate: Certificate | None


class Removal(NamedTuple):
    """One sample left out of one problem."""

    function: int
    position: int
    """In the rows of the problem."""
    row: int


EARLY = (Status.TIME_LIMIT, Status.INTERRUPTED)


def leave_out(
    machine: Machine,
    parts: Sequence[Part],
    workspace: KernelWorkspace,
    values: Floats,
    monitor: Monitor,
) -> Removals:
    """Leave out every sample whose absence may change a function, until the monitor says stop.

    ``values`` are the decision values of all samples.
    """
    starts = records.starts(machine.model_, values.shape[1])
    assert starts is not None
    values, done = values.copy(), np.ones(values.shape[1], bool)
    refitted, certificates, lock = np.zeros(len(done), bool), list[Certificate](), threading.Lock()
    todo = [
        Removal(k, int(position), int(part.rows[position]))
        for k, part in enumerate(parts)
        for position in matters(machine, part, starts[k, part.rows])
    ]
    jobs = 1 if is_small(max(len(part.rows) for part in parts)) else thread_count()

    def work(one: Removal) -> None:
        stopped, k = monitor.stop(0), one.function
        if stopped is None:
            rest = parts[k].without(one.position)
            with one_thread() if jobs > 1 else nullcontext():
                trained = _fit(machine, rest, starts[k], workspace.share(monitor, jobs, 1))
                value = _value(trained, rest, workspace, one.row)
            stopped = trained.status if trained.status in EARLY else None
        with lock:
            if stopped is not None:
                done[one.row] = False
                return
            values[k, one.row], refitted[one.row] = value, True
            certificates.append(trained.certificate)
            _report(len(certificates), len(todo), monitor)

    _each(work, todo, jobs)
    worst = certificate.worst(certificates) if certificates else None
    return Removals(values, refitted, done, worst)


def matters(machine: Machine, part: Part, coef: Floats) -> Integers:
    """The positions of the samples whose absence may change a function.

    They are the support vectors, or all where the intercept may not be unique.
    """
    unique = part.free(machine, coef).any()
    return np.flatnonzero(coef) if unique else np.arange(len(coef))


def _fit(machine: Machine, rest: Part, start: Floats, workspace: KernelWorkspace) -> Trained:
    """The problem without a sample, from the solution with it; the solver repairs the sum."""
    problem = rest.formulation(machine)
    if isinstance(problem, Constant):
        return problem.train()
    workspace.monitor = workspace.monitor.quiet(machine.max_iter)
    task = Task(problem, float(machine.tol), machine._method(), start[rest.rows], rest.rows)
    return task.train(workspace)


def _value(trained: Trained, rest: Part, workspace: KernelWorkspace, row: int) -> float:
    """The decision value at a row that was left out."""
    coef, intercept, *_ = trained.decision
    support = np.flatnonzero(coef)
    out = np.zeros((1, 1))
    if len(support):
        own = np.ascontiguousarray(coef[support][:, None])
        workspace.source.add_product(rest.rows[support], own, np.array([row]), out, np.float64)
    return float(out[0, 0] + intercept)


def _each(work: Callable[[Removal], None], todo: Sequence[Removal], jobs: int) -> None:
    """Do all of it, on several threads if there are to be."""
    if jobs == 1:
        for one in todo:
            work(one)
        return
    with ThreadPoolExecutor(jobs) as pool:
        for _ in pool.map(work, todo):
            pass


def _report(count: int, total: int, monitor: Monitor) -> None:
    """Show the progress."""
    left = monitor.seconds / count * (total - count)
    text = f"{count} of {total} fits, {monitor.seconds:.1f} s, about {left:.0f} s left"
    monitor.say(text, count == total)


def warn_early(done: Mask) -> None:
    """Warn that some samples were not left out."""
    warn(
        f"leave_one_out ended early: {int((~done).sum())} of {len(done)} samples are not done. A "
        "classifier counts them as errors. Raise time_limit.",
        ConvergenceWarning,
    )


def warn_unsolved(machine: Machine, found: Certificate | None) -> None:
    """Warn where some fit without a sample did not converge."""
    if found is None or found.status.converged:
        return
    warn(
        f"leave_one_out: not every fit without a sample converged (worst: {found.status}, KKT "
        f"violation {found.kkt_violation:.3g}, tol={machine.tol:g}). {found.status.message}",
        ConvergenceWarning,
    )
