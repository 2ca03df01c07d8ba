"""The workspace of linear models: their data, the clock, the seed of random choices."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.threads import thread_count
from maxmargin.linear.designs import ArrayDesign, Design
from maxmargin.linear.losses import LinearProblem
from maxmargin.monitor import Monitor
from maxmargin.workspace import Workspace


class Settings(NamedTuple):
    """Which problems are small, and which are trained in parallel (decision 15)."""

    polish_up_to: int = 2**11
    """Values of X up to which a problem is solved to rounding, whatever the tolerance: weights
    must equal copies of samples to 1e-7 there, as scikit-learn's checks ask (decision 37)."""
    polish_one_class_up_to: int = 2**17
    """The same for one-class models: which samples are on the boundary, hence inliers, is known
    only then."""
    audit_up_to: int = 2**17
    """Values of X up to which all decision values of a solution are audited."""
    parallel_above: int = 2**17
    """Values of X above which several problems are trained in parallel: below, threads wait for
    Python (decision 37)."""
    parallel_up_to: int = 2**26
    """Values of X up to which several problems are trained in parallel, one thread each.
    Beyond, they are trained in turn, each with all threads."""
    subsample_divisor: int = 8
    """Samples of a problem per sample of the subsample whose solution the solver starts at."""
    subsample_tol: float = 1e-2
    """The tolerance of the subsample's problem."""


SETTINGS = Settings()


def is_tiny(problem: LinearProblem, design: Design) -> bool:
    """Whether a problem is solved to rounding, whatever the tolerance."""
    one_class = problem.total != 0
    most = SETTINGS.polish_one_class_up_to if one_class else SETTINGS.polish_up_to
    return design.entries <= most


def is_small(design: Design) -> bool:
    """Whether all decision values on these data are audited."""
    return design.entries <= SETTINGS.audit_up_to


class LinearWorkspace(Workspace):
    """The data of several linear problems."""

    def __init__(self, design: Design, monitor: Monitor, seed: int = 0) -> None:
        self.design, self.monitor, self.seed = design, monitor, seed

    def workers(self, tasks: Sequence[Any]) -> int:
        """The number of problems trained in parallel; more than one for problems of medium size.

        Small ones are not worth a thread, and large ones use all threads each.
        """
        parallel = SETTINGS.parallel_above < self.design.entries <= SETTINGS.parallel_up_to
        return min(thread_count(), len(tasks)) if parallel else 1

    def share(self, monitor: Monitor, workers: int, tasks: int) -> "LinearWorkspace":
        return LinearWorkspace(self.design, monitor, self.seed)

    @property
    def in_memory(self) -> bool:
        """Whether samples can be picked: not where they come in chunks."""
        return isinstance(self.design, ArrayDesign)

    def subsample(self, problem: LinearProblem) -> tuple[LinearProblem, "LinearWorkspace", float]:
        """A problem on some of the samples, each weighted accordingly, its workspace and tolerance.

        Its solution is a warm start for the whole problem.
        """
        assert isinstance(self.design, ArrayDesign)
        n, divisor = self.design.shape[0], SETTINGS.subsample_divisor
        rows = np.sort(np.random.default_rng(self.seed).choice(n, n // divisor, replace=False))
        smaller = problem._replace(tube=problem.tube.pick(rows, n / len(rows)))
        part = LinearWorkspace(self.design.pick(rows), self.monitor, self.seed)
        return smaller, part, SETTINGS.subsample_tol
