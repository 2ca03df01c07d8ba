"""What several solves share and what outlives them: data, cached values, scratch memory, the clock.

Each family of models has a workspace. `training.train_many` distributes tasks over threads. The
contract of every solver is

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
        """The number of tasks to solve in parallel; 1 where that gains nothing."""

    @abstractmethod
    def share(self, monitor: Monitor, workers: int, tasks: int) -> Self:
        """The workspace of one task, with its share of the time and of the workers' memory."""
