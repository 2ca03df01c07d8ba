"""Binary problems of one fit solved together: the pairs of classes of a support vector classifier.

Where problems are small, most of the time of a fit is the way from one to the next. So all of them
are the groups of one problem,

    minimise    1/2 b' K b + linear' b      lower <= b <= upper, the sum of b is 0 in each group

whose K is 0 between groups, and one call of the core takes the pair steps of every group
(``Backend.separate_steps``). Levels and decision values follow for all of them at once.

* **Small problems** (``workspace.is_small``) are solved to rounding, as block.py does, in float64.
* **Larger ones** of cheap kernels of a distance are solved to tol, with steps in float32 and G in
  float64.

Each is judged like any other (judgement.py). What is not optimal then, or would need too many
steps, goes on by itself from where it is, with all that block.py knows (decision 36).
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.backend import Steps
from maxmargin.core.threads import thread_count
from maxmargin.kernel import block
from maxmargin.kernel.formulations import Formulation
from maxmargin.kernel.judgement import judged_together
from maxmargin.kernel.left_out import TaskLeavingOut
from maxmargin.kernel.problems import DualProblem, c_svc
from maxmargin.kernel.sources import KernelNotFinite, NativeSource
from maxmargin.kernel.state import State
from maxmargin.kernel.training import SOLVERS, Task, Trained
from maxmargin.kernel.workspace import KernelWorkspace, is_small


class Settings(NamedTuple):
    """Which problems are solved together, and how."""

    goal: float = 1e-12
    """Violation that small problems reach (decision 36)."""
    largest: int = 3072
    """Rows of a problem, at most (decision 36)."""
    small_work: float = 4e6
    """Pair steps times variables of a small problem, at most: beyond, Newton steps are better
    (decision 36)."""
    large_work: float = 2e7
    """The same for larger problems, whose steps see 256 variables at a time (decision 36)."""
    alone: int = 256
    """Rows, at most, of a problem that is the only one: larger ones gain from all threads (decision
    36)."""
    variables: int = 2**20
    """Variables, at most, of the problems that are judged at once: about a hundred megabytes."""
    multiply_adds: float = 5e8
    """Multiply-adds of a thread between two checks for signals: a fraction of a second."""


SETTINGS = Settings()


def train_together(tasks: Sequence[Any], workspace: KernelWorkspace) -> list[Any]:
    """The result of each task that was solved together; for the others what is left, a task.

    A task that also leaves samples out has that to do, too: its machine is the same.
    """
    inner = [task.task if isinstance(task, TaskLeavingOut) else task for task in tasks]
    found = list(inner)
    source, monitor = workspace.source, workspace.monitor
    limited = monitor.verbose or monitor.limit < np.inf
    if limited or not isinstance(source, NativeSource) or not source.convex:
        return list(tasks)
    for chosen in _chosen(inner, source):
        with np.errstate(over="ignore", invalid="ignore"):
            try:
                results = _train([inner[k] for k in chosen], workspace, source)
            except KernelNotFinite:  # in float32, perhaps
                continue
        for k, result in zip(chosen, results, strict=True):
            found[k] = result
    return [_outer(task, result) for task, result in zip(tasks, found, strict=True)]


def _outer(task: Any, result: Any) -> Any:
    """What is left of a task, from what is left of the problem inside it."""
    if not isinstance(task, TaskLeavingOut):
        return result
    done = isinstance(result, Trained)
    return task._replace(solved=result) if done else task._replace(task=result)


def _chosen(tasks: Sequence[Any], source: NativeSource) -> Iterator[list[int]]:
    """The numbers of the tasks to solve at once: pairs of classes, or one that has all samples."""
    plain = [k for k, task in enumerate(tasks) if _is_plain(task)]
    if len(tasks) == 1:
        if plain and source.n_rows <= SETTINGS.alone:
            yield plain
        return
    sizes = {k: len(tasks[k].rows) for k in plain if tasks[k].rows is not None}
    small = [k for k, n in sizes.items() if is_small(n)]
    large = [k for k, n in sizes.items() if not is_small(n) and n <= SETTINGS.largest]
    fast = source.cheap and not source.kernel.has_dot_product
    for some in (small, large if fast else []):
        for first, last in _batches([sizes[k] for k in some], SETTINGS.variables):
            yield some[first:last]


def _is_plain(task: Any) -> bool:
    """Whether a task is of the kind that this file solves."""
    plain = isinstance(task, Task) and task.formulation.hinges is not None
    return plain and SOLVERS[task.method] is block.solve and task.start is None


def _batches(sizes: Sequence[float], most: float) -> Iterator[tuple[int, int]]:
    """The first of each batch and the first of the next; a batch ends where its sizes exceed
    ``most``.
    """
    first, total = 0, 0.0
    for k, size in enumerate(sizes):
        total += size
        if total > most or k + 1 == len(sizes):
            yield first, k + 1
            first, total = k + 1, 0.0


def _train(
    tasks: list[Task], workspace: KernelWorkspace, source: NativeSource
) -> list[Trained | Task]:
    """Solve all of them, and judge each; all are small, or none is.

    A task that is not done goes on from where it is.
    """
    everything = np.arange(source.n_rows)
    rows = [everything if task.rows is None else task.rows for task in tasks]
    problem = _joined([task.formulation for task in tasks])
    a, tol, small = np.concatenate(rows), tasks[0].tol, is_small(len(rows[0]))
    goal, dtype = (min(SETTINGS.goal, tol), np.float64) if small else (tol, np.float32)
    b, G, zero = problem.start.copy(), problem.linear.copy(), np.zeros(len(problem.row))
    state = State(problem, b, zero, zero, zero, source.backend, convex=True)
    variables = state.variables(G)
    steps: list[Steps] = []
    allowed = SETTINGS.small_work if small else SETTINGS.large_work
    most = np.array([allowed / len(some) for some in rows]).astype(np.int64)
    work = [len(some) * min(len(some), 512) * (source.terms + 16.0) for some in rows]
    for first, last in _batches(work, SETTINGS.multiply_adds * thread_count()):
        if workspace.monitor.stop(0) is not None:
            return list(tasks)
        own = a[variables.begin[first] : variables.begin[last]]
        part = variables.groups(first, last)
        steps += source.separate_steps(own, dtype, part, goal, most[first:last])
    state.F = G - problem.linear
    state.snap()
    taken = [done.taken for done in steps]
    found: list[Any] = [*judged_together(workspace, state, a, taken, tol)]
    limit, begin = workspace.monitor.max_iter, variables.begin
    for g, (task, done) in enumerate(zip(tasks, steps, strict=True)):
        if done.taken >= limit:
            found[g] = task
        elif found[g] is None or done.violation > goal:
            found[g] = task._replace(start=state.b[begin[g] : begin[g + 1]])
    return found


def _joined(formulations: list[Formulation]) -> DualProblem:
    """The problems as groups of one."""
    hinges = [one.hinges for one in formulations if one.hinges is not None]
    y, C = (np.concatenate(arrays) for arrays in zip(*hinges, strict=True))
    return c_svc(y, C, group=np.repeat(np.arange(len(hinges)), [len(one) for one, _ in hinges]))
