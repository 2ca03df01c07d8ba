"""What several solves share and what outlives them: data, memory for what is computed from them,
the clock.

Each family of models has a workspace. `training.train_many` deals its tasks to threads, and solvers
take what they need from it. Their contract is

    solve(problem, workspace, tol, start) -> solution
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

from maxmargin.monitor import Monitor


class Workspace(ABC):
    """The data of several problems; see the top of this file."""

    monitor: Monitor

    @abstractmethod
    def workers(self, tasks: Sequence[Any]) -> int:
        """How many of the tasks are solved side by side; 1 where they gain nothing by it."""

    @abstractmethod
    def share(self, monitor: Monitor, workers: int, tasks: int) -> Self:
        """The workspace of one of so many tasks, with its share of the time and, among the workers,
        of the memory.
        """
