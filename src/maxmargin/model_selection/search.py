"""A whole grid as one job: every candidate on every fold.

    for each kernel, or epsilon of a linear model
        for each fold                                                (in parallel)
            for each candidate with it, C ascending
                fit, starting from the solution before; score on the fold's test samples

kernel_search.py and linear_search.py have the fits.
"""

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context, get_config
from sklearn.exceptions import FitFailedWarning

from maxmargin.core.arrays import Floats, Integers
from maxmargin.core.threads import one_blas_thread, one_thread
from maxmargin.kernel.kernels import Kernel
from maxmargin.model_selection.discard import batches, complete_in, hopeless, rounds
from maxmargin.model_selection.refit import decisive, refuse_without_name
from maxmargin.model_selection.scoring import ONE, Scoring
from maxmargin.monitor import Monitor
from maxmargin.status import Status


class Settings(NamedTuple):
    """How fits are shared out."""

    alone: int = 512
    """Training samples up to which fits run one after the other: most of their time is Python's,
    which one thread at a time may use (decision 21)."""


SETTINGS = Settings()
Parameters = dict[str, float]
Folds = Sequence[tuple[Integers, Integers]]


class Outcome(NamedTuple):
    """One candidate on one fold."""

    scores: Mapping[str, float]
    """By name; without those that failed."""
    fit_time: float = 0.0
    score_time: float = 0.0
    status: Status | None = None
    error: str = ""
    n_iter: int = 0


Known = dict[tuple[tuple[tuple[str, float], ...], int], Outcome]


def key_of(parameters: Parameters) -> tuple[tuple[str, float], ...]:
    """Parameters as the key of a table."""
    return tuple(sorted(parameters.items()))


class Data(NamedTuple):
    """The samples of a search and their folds."""

    X: Any
    y: NDArray[Any] | None
    weight: Floats | None
    folds: Folds
    scoring: Scoring


class Chain(NamedTuple):
    """The candidates of one kernel on one fold, in the order of their fits."""

    fold: int
    kernel: Kernel | None
    """None for a linear model."""
    candidates: list[int]


class Search(ABC):
    """The state of a search: what is done, and what is to do."""

    def __init__(
        self, machine: Any, candidates: Sequence[Parameters], data: Data, monitor: Monitor
    ) -> None:
        self.machine, self.candidates, self.data = machine, list(candidates), data
        self.monitor, self.grid_size = monitor, len(self.candidates)
        self.done: dict[tuple[int, int], Outcome] = {}
        self.discarded: set[int] = set()

    def known(self) -> Known:
        """What is done without an error, by parameters and fold, for a later search on the same
        data.
        """
        good = {at: one for at, one in self.done.items() if not one.error}
        return {(key_of(self.candidates[k]), fold): one for (k, fold), one in good.items()}

    def recall(self, known: Known) -> None:
        """Take over what an earlier search on the same data has done."""
        for k, parameters in enumerate(self.candidates):
            for fold in range(len(self.data.folds)):
                if (key_of(parameters), fold) in known:
                    self.done[k, fold] = known[key_of(parameters), fold]

    def run(self, jobs: int, discard: bool = False, bound: float | None = None) -> None:
        """Fit and score everything that is not done, until the monitor says stop.

        Candidates are discarded early if they are to be: safely with a bound of the scores, by
        racing without (discard.py).
        """
        chains = self._chains()
        if not discard:
            self._run(chains, jobs)
            return
        self.decisive("discard")
        for batch in batches([tuple(chain.candidates) for chain in chains]):
            own = [chain for chain in chains if tuple(chain.candidates) in batch]
            for folds in rounds(len(self.data.folds)):
                self._run([chain for chain in own if chain.fold in folds], jobs)
                if self.monitor.stop(0) is not None:
                    return
                scores = self.scores(self.decisive("discard"))
                out = hopeless(scores, folds.stop, bound) & ~complete_in(scores)
                tried = {k for chain in own for k in chain.candidates}
                self.discarded |= tried & set(np.flatnonzero(out).tolist())

    @property
    def skipped(self) -> int:
        """Fits that discarded candidates do without."""
        folds = range(len(self.data.folds))
        return sum((k, fold) not in self.done for k in self.discarded for fold in folds)

    def _run(self, todo: Sequence[Chain], jobs: int) -> None:
        """Some chains side by side, unless they are small."""
        if max(len(train) for train, _ in self.data.folds) <= SETTINGS.alone:
            jobs = 1
        total = len(self.candidates) * len(self.data.folds)
        config = get_config()  # of this thread, and the others have their own

        def work(chain: Chain) -> None:
            with config_context(**config):
                self._follow(chain, jobs > 1, total)

        with ThreadPoolExecutor(jobs) as pool:
            futures = [pool.submit(work, chain) for chain in todo]
            try:
                for future in as_completed(futures):
                    future.result()
            except BaseException:
                self.monitor.interrupted.set()
                for future in futures:
                    future.cancel()
                raise

    def _follow(self, chain: Chain, alone: bool, total: int) -> None:
        """The fits of a chain, then their scores."""
        wanted = [k for k in chain.candidates if k not in self.discarded]
        missing = [k for k in wanted if (k, chain.fold) not in self.done]
        if not missing or self.monitor.stop(0) is not None:
            return
        fold, X = self._open(chain)
        with one_blas_thread(), one_thread() if alone else nullcontext():
            fits = self._fits(chain.fold, fold, X, missing, total)
        self._score(chain.fold, fits, total)

    def _fits(
        self, number: int, fold: Any, X: Any, candidates: Sequence[int], total: int
    ) -> dict[int, tuple[Any, float]]:
        """The fitted candidates of a chain on one fold, and their times."""
        found: dict[int, tuple[Any, float]] = {}
        last: tuple[Parameters, Any] | None = None
        for k in candidates:
            if self.monitor.stop(0) is not None:
                break
            began, parameters = time.perf_counter(), self.candidates[k]
            try:
                fitted = self._fit(fold, X, parameters, last)
            except ValueError as error:
                self._note(k, number, Outcome({}, error=str(error)), total)
                continue
            except KeyboardInterrupt:  # the search itself raises it or not
                break
            ended = fitted.machine.certificate_.status in (Status.TIME_LIMIT, Status.INTERRUPTED)
            if ended and self.monitor.stop(0) is not None:
                break
            found[k], last = (fitted, time.perf_counter() - began), (parameters, fitted)
        return found

    def _watch(self, machine: Any) -> Monitor:
        """The limits of one fit: its own, and what is left to the search."""
        monitor = self.monitor.quiet(machine.max_iter)
        if machine.time_limit is not None:
            monitor.limit = min(monitor.limit, machine.time_limit)
            monitor.deadline = min(monitor.deadline, time.perf_counter() + machine.time_limit)
        return monitor

    @abstractmethod
    def _chains(self) -> list[Chain]:
        """What is done one after the other."""

    @abstractmethod
    def _open(self, chain: Chain) -> tuple[Any, Any]:
        """The fold of a chain and its training samples."""

    @abstractmethod
    def _fit(
        self, fold: Any, X: Any, parameters: Parameters, last: tuple[Parameters, Any] | None
    ) -> Any:
        """Fit one candidate on one fold, starting from the last one."""

    @abstractmethod
    def _evaluate(self, fits: Sequence[Any], test: Integers) -> None:
        """Compute what all models of a chain need for their scores."""

    def _score(self, fold: int, fits: dict[int, tuple[Any, float]], total: int) -> None:
        """The scores of the fits of a chain."""
        if not fits:
            return
        test, began = self.data.folds[fold][1], time.perf_counter()
        y = None if self.data.y is None else self.data.y[test]
        self._evaluate([fitted for fitted, _ in fits.values()], test)
        shared = (time.perf_counter() - began) / len(fits)
        for k, (fitted, seconds) in fits.items():
            began = time.perf_counter()
            scores, error = self.data.scoring.of(*self._seen(fitted, test), y, test)
            own = time.perf_counter() - began + shared
            machine = fitted.machine
            status, steps = machine.certificate_.status, int(np.max(machine.n_iter_))
            self._note(k, fold, Outcome(scores, seconds, own, status, error, steps), total)

    def _seen(self, fitted: Any, test: Integers) -> tuple[Any, Any]:
        """The model and the samples as the scorer sees them."""
        if self.data.scoring.by_rows:
            return fitted, test
        return fitted.fold.model_of(fitted.machine), fitted.fold.samples(test)

    def _note(self, k: int, fold: int, outcome: Outcome, total: int) -> None:
        """Keep an outcome and show the progress."""
        self.done[k, fold] = outcome
        self._report(total)

    def _report(self, total: int) -> None:
        count, seconds = len(self.done) + self.skipped, self.monitor.seconds
        left = seconds / count * (total - count)
        self.monitor.say(
            f"{count} of {total} fits, {seconds:.1f} s, about {left:.0f} s left", count == total
        )

    def table(self, field: str) -> Floats:
        """One field of all outcomes, candidates by folds; NaN where a fit is missing."""
        found = np.full((len(self.candidates), len(self.data.folds)), np.nan)
        for at, outcome in self.done.items():
            found[at] = getattr(outcome, field)
        return found

    @property
    def several(self) -> bool:
        """Whether there are several scores; those of a function are known once it was called."""
        return self.data.scoring.scorers.several or self.score_names != [ONE]

    @property
    def score_names(self) -> list[str]:
        """The names of the scores."""
        scorers = self.data.scoring.scorers
        if scorers.several:
            return list(scorers.named)
        outcomes = [self.done[at].scores for at in sorted(self.done)]
        return list(dict.fromkeys(name for one in outcomes for name in one)) or [ONE]

    def decisive(self, asked: str = "") -> str | None:
        """The score that candidates are compared by, which something that is asked for needs."""
        name = decisive(self.data.scoring.refit, self.score_names, self.several)
        return refuse_without_name(name, asked) if asked else name

    def scores(self, name: str | None) -> Floats:
        """One of the scores, candidates by folds; NaN where it is missing."""
        found = np.full((len(self.candidates), len(self.data.folds)), np.nan)
        for at, outcome in self.done.items():
            found[at] = np.nan if name is None else outcome.scores.get(name, np.nan)
        return found

    def warn(self) -> None:
        """Warn of fits and scorers that failed; raise where all did."""
        errors = [outcome.error for outcome in self.done.values() if outcome.error]
        if not errors:
            return
        name = self.decisive()
        wanted = self.score_names if name is None else [name]
        if all(np.isnan(self.scores(one)).all() for one in wanted):
            raise ValueError(f"All the {len(errors)} fits of the search failed: {errors[0]}")
        warnings.warn(
            f"{len(errors)} of {len(self.done)} fits or scores of the search failed, and their "
            f"scores are NaN. The first error: {errors[0]}",
            FitFailedWarning,
            stacklevel=4,
        )
