"""The trainer of every family: tasks on one workspace, in parallel or one after the other."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from maxmargin.core.threads import crew, one_thread
from maxmargin.status import Status
from maxmargin.workspace import Workspace


class Task(Protocol):
    """One problem as data: kernel.training and linear.training have one each."""

    def train(self, workspace: Any) -> Any:
        """Solve and certify it."""

    def unsolved(self, workspace: Any, status: Status) -> Any:
        """The result if there is no time to begin; None if the task must be trained anyway."""


def train_many(tasks: Sequence[Task], workspace: Workspace) -> list[Any]:
    """Train every task; results are in their order.

    Tasks in parallel have one thread each. Every task has an equal share of the time left when it
    starts, so that a time limit leaves each with some solution. Long after the limit no task begins
    except the first.
    """
    monitor, workers = workspace.monitor, workspace.workers(tasks)

    def run(k: int) -> Any:
        stopped = monitor.too_late() if k > 0 and monitor.max_iter > 0 else None
        unsolved = None if stopped is None else tasks[k].unsolved(workspace, stopped)
        if unsolved is not None:
            return unsolved
        part = monitor.part(
            workers / (len(tasks) - k), f" {k + 1}/{len(tasks)}" if len(tasks) > 1 else ""
        )
        with one_thread() if workers > 1 else crew():
            return tasks[k].train(workspace.share(part, workers, len(tasks)))

    if workers == 1:
        return [run(k) for k in range(len(tasks))]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(run, range(len(tasks))))
