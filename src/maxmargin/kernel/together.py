"""Binary problems of one fit solved together: the pairs of classes of a support vector classifier.

Where problems are small, most of the time of a fit is the way from one to the next. So all of them
are the groups of one problem,

    minimise    1/2 b' K b + linear' b      lower <= b <= upper, the sum of b is 0 in each group

whose K is 0 between groups, and one call of the core takes the pair steps of every group
(``Backend.separate_steps``). Levels and decision values follow for all of them at once.

* **Small problems** (``workspace.is_small``) are solved to rounding, as block.py does, in float64.
* **Larger ones** of cheap kernels are solved to tol, with steps in float32 and G in float64.

Each is judged like any other (training.judged). What is not optimal then, or would need too many
steps, has no result here: its task is trained by itself, with all that block.py knows (decision
36).
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from maxmargin.core.arrays import Integers
from maxmargin.core.backend import Steps
from maxmargin.core.threads import thread_count
from maxmargin.kernel.evaluation import kernel_diagonal
from maxmargin.kernel.problems import DualProblem
from maxmargin.kernel.solution import Solution, levels
from maxmargin.kernel.sources import KernelNotFinite, NativeSource
from maxmargin.kernel.state import State
from maxmargin.kernel.training import Method, Task, Trained, bound_suffices, judged
from maxmargin.kernel.workspace import KernelWorkspace, is_small
from maxmargin.status import Convexity, Status


class Settings(NamedTuple):
    """Which problems are solved together, and how."""

    goal: float = 1e-12
    """Violation that small problems reach (decision 36)."""
    largest: int = 3072
    """Rows of a problem, at most (decision 36)."""
    steps: int = 20
    """Pair steps for each variable, at most; beyond, Newton steps are better (decision 36)."""
    multiply_adds: float = 5e8
    """Multiply-adds of a thread between two checks for signals: a fraction of a second."""


SETTINGS = Settings()


def train_together(
    tasks: Sequence[Any],
    workspace: KernelWorkspace,
    train_each: Callable[[Sequence[Any], KernelWorkspace], list[Trained]],
) -> list[Trained]:
    """Train every task: together what can be, the others with ``train_each``."""
    found = _together(tasks, workspace)
    others = [task for task, trained in zip(tasks, found, strict=True) if trained is None]
    rest = iter(train_each(others, workspace) if others else ())
    return [next(rest) if trained is None else trained for trained in found]


def _together(tasks: Sequence[Any], workspace: KernelWorkspace) -> list[Trained | None]:
    """The results of those tasks that were solved together, None for the others."""
    found: list[Trained | None] = [None] * len(tasks)
    source, monitor = workspace.source, workspace.monitor
    limited = monitor.verbose or monitor.limit < np.inf
    if limited or not isinstance(source, NativeSource) or not source.convex:
        return found
    served = [k for k, task in enumerate(tasks) if _is_plain(task)]
    shared = workspace.share(monitor, 1, len(tasks))
    for chosen in _batches([(k, len(_rows_of(tasks[k], source))) for k in served], source):
        if monitor.stop(0) is not None:
            break
        with np.errstate(over="ignore", invalid="ignore"):
            try:
                results = _train([tasks[k] for k in chosen], shared, source)
            except KernelNotFinite:  # in float32, perhaps
                continue
        for k, result in zip(chosen, results, strict=True):
            found[k] = result
    return found


def _is_plain(task: Any) -> bool:
    """Whether a task is of the kind that this file solves."""
    plain = isinstance(task, Task) and task.formulation.plain
    return plain and task.method is Method.BLOCK and task.start is None


def _rows_of(task: Task, source: NativeSource) -> Integers:
    return np.arange(source.n_rows) if task.rows is None else task.rows


def _batches(served: list[tuple[int, int]], source: NativeSource) -> Iterator[list[int]]:
    """Tasks of the given sizes, small ones first, a fraction of a second at a time."""
    small = [(k, n) for k, n in served if is_small(n)]
    large = [(k, n) for k, n in served if not is_small(n) and n <= SETTINGS.largest]
    most = SETTINGS.multiply_adds * thread_count()
    for some in (small, large if source.cheap else []):
        batch: list[int] = []
        work = 0.0
        for k, n in some:
            batch.append(k)
            work += n * min(n, 512) * (source.terms + 16.0)
            if work > most:
                yield batch
                batch, work = [], 0.0
        if batch:
            yield batch


def _train(
    tasks: list[Task], workspace: KernelWorkspace, source: NativeSource
) -> list[Trained | None]:
    """Solve all of them, and judge each."""
    rows = [_rows_of(task, source) for task in tasks]
    problems = [task.formulation.build(source) for task in tasks]
    small, tol = is_small(len(rows[0])), tasks[0].tol
    goal, dtype = (min(SETTINGS.goal, tol), np.float64) if small else (tol, np.float32)
    state, steps = _solve(_joined(problems), np.concatenate(rows), source, goal, dtype)
    ends, begin = levels(state.variables(state.G), state.backend), state.problem.begin
    diagonal = float(kernel_diagonal(source.kernel, workspace.samples.own).max(initial=0.0))
    found: list[Trained | None] = []
    for g, (task, problem, done) in enumerate(zip(tasks, problems, steps, strict=True)):
        if done.violation > goal or done.taken >= workspace.monitor.max_iter:
            found.append(None)
            continue
        own = slice(begin[g], begin[g + 1])
        solution = Solution(
            None, state.b[own], state.F[own], (ends[g],), done.taken, False, diagonal
        )
        decision = task.formulation.read(problem, solution)
        if not bound_suffices(source, decision, tol):
            found.append(None)
            continue
        view = workspace if task.rows is None else workspace.view(task.rows)
        trained = judged(task, problem, view, solution, decision, Convexity.PROVED)
        found.append(trained if trained.status is Status.OPTIMAL else None)
    return found


def _joined(problems: list[DualProblem]) -> DualProblem:
    """The problems as groups of one."""
    linear, lower, upper, ridge = (
        np.concatenate([getattr(problem, name) for problem in problems])
        for name in ("linear", "lower", "upper", "ridge")
    )
    group = np.repeat(np.arange(len(problems)), [len(problem.row) for problem in problems])
    return DualProblem(
        linear, lower, upper, group, np.arange(len(group)), np.zeros(len(group)), ridge
    )


def _solve(
    problem: DualProblem, a: Integers, source: NativeSource, tol: float, dtype: DTypeLike
) -> tuple[State, list[Steps]]:
    """Pair steps on every group; a are the samples of the variables."""
    b, G = problem.start.copy(), problem.linear.copy()
    zero = np.zeros(len(b))
    steps = source.separate_steps(a, dtype, problem.variables(b, G), tol, SETTINGS.steps)
    state = State(problem, b, G - problem.linear, zero, zero, source.backend, convex=True)
    state.snap()
    return state, steps

