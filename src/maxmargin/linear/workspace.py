"""The workspace of linear models: their data, the clock, the seed of random choices."""

from collections.abc import Sequence
from typing import Any

from maxmargin.core.threads import thread_count
from maxmargin.linear.designs import Design
from maxmargin.monitor import Monitor
from maxmargin.workspace import Workspace

POLISHED = 2**17
"""Values of X up to which a model is solved to rounding, whatever the tolerance."""
TOGETHER = 2**26
"""Values of X up to which several problems are solved side by side; beyond, each has all
threads."""


class LinearWorkspace(Workspace):
    """The data of several linear problems."""

    def __init__(self, design: Design, monitor: Monitor, seed: int = 0) -> None:
        self.design, self.monitor, self.seed = design, monitor, seed

    def workers(self, tasks: Sequence[Any]) -> int:
        """Problems of data of middling size run side by side.

        With larger ones each has all threads.
        """
        return min(thread_count(), len(tasks)) if POLISHED < self.design.entries <= TOGETHER else 1

    def share(self, monitor: Monitor, workers: int, tasks: int) -> "LinearWorkspace":
        return LinearWorkspace(self.design, monitor, self.seed)
