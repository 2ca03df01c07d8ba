"""A whole grid as one job: every candidate on every fold, with shared kernel values.

    for each kernel, from the middle of the grid outwards
        for each fold                                                (in parallel)
            for each candidate with this kernel, C ascending
                fit, starting from the solution before; score on the fold's test samples

Along C the dual variables at a bound grow in proportion to C, so the start is C / C_before times
the solution before. Where no variable is at its bound, the solution before stays optimal.
"""

import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning

from maxmargin.core.arrays import Floats, Integers
from maxmargin.core.threads import one_thread
from maxmargin.estimators._machine import KernelMachine
from maxmargin.kernel import model
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.sources import take
from maxmargin.model_selection.shared import Fold, FoldModel, KernelStore
from maxmargin.monitor import Monitor
from maxmargin.status import Status

Parameters = dict[str, float]


class Outcome(NamedTuple):
    """One candidate on one fold."""

    score: float
    fit_time: float = 0.0
    score_time: float = 0.0
    status: Status | None = None
    error: str = ""


class Data(NamedTuple):
    """The samples of a search and their folds."""

    X: Any
    y: NDArray[Any] | None
    weight: Floats | None
    folds: Sequence[tuple[Integers, Integers]]
    stores: Sequence[KernelStore]
    """One for each fold, or the same for all."""


class Chain(NamedTuple):
    """The candidates of one kernel on one fold, in the order of their fits."""

    fold: int
    kernel: Kernel
    candidates: list[int]


def chains(
    machine: KernelMachine, candidates: Sequence[Parameters], X: Any, folds: int
) -> list[Chain]:
    """What is done one after the other; the middle of the grid comes first."""
    gammas = sorted({one.get("gamma", 0.0) for one in candidates})
    middle = (len(gammas) - 1) / 2
    rank = {gamma: abs(i - middle) for i, gamma in enumerate(gammas)}

    def of_kernel(k: int) -> tuple[float, ...]:
        gamma = candidates[k].get("gamma", 0.0)
        return rank[gamma], gamma

    def in_chain(k: int) -> tuple[Any, ...]:
        one = candidates[k]
        tube = [value for name, value in one.items() if name not in ("C", "gamma")]
        return *of_kernel(k), *tube, one.get("C", 0.0)

    found = []
    for _, some in groupby(sorted(range(len(candidates)), key=in_chain), of_kernel):
        members = list(some)
        resolved = clone(machine).set_params(**candidates[members[0]])._resolve_kernel(X, None)
        found += [Chain(fold, resolved, members) for fold in range(folds)]
    return found


class Search:
    """The state of a search: what is done, and the best so far."""

    def __init__(
        self,
        machine: KernelMachine,
        candidates: Sequence[Parameters],
        data: Data,
        scorer: Callable[..., float],
        monitor: Monitor,
    ) -> None:
        self.machine, self.candidates, self.data = machine, list(candidates), data
        self.scorer, self.monitor = scorer, monitor
        self.done: dict[tuple[int, int], Outcome] = {}

    def run(self, jobs: int) -> None:
        """Fit and score everything that is not done, until the monitor says stop."""
        data = self.data
        todo = chains(self.machine, self.candidates, data.X, len(data.folds))
        total = len(self.candidates) * len(data.folds)
        with ThreadPoolExecutor(jobs) as pool:
            futures = [pool.submit(self._follow, chain, jobs > 1, total) for chain in todo]
            try:
                for future in as_completed(futures):
                    future.result()
            except BaseException:
                self.monitor.interrupted.set()
                for future in futures:
                    future.cancel()
                raise

    def _follow(self, chain: Chain, alone: bool, total: int) -> None:
        """The fits of a chain."""
        missing = [k for k in chain.candidates if (k, chain.fold) not in self.done]
        if not missing or self.monitor.stop(0) is not None:
            return
        train, _ = self.data.folds[chain.fold]
        store = self.data.stores[chain.fold]
        fold = Fold.of(store, chain.kernel, train)
        X = take(chain.kernel.kind, store.X, train)
        before: tuple[Parameters, FoldModel] | None = None
        for k in missing:
            if self.monitor.stop(0) is not None:
                return
            if alone:
                with one_thread():
                    outcome, fitted = self._one(chain.fold, fold, X, self.candidates[k], before)
            else:
                outcome, fitted = self._one(chain.fold, fold, X, self.candidates[k], before)
            if outcome.status in (Status.TIME_LIMIT, Status.INTERRUPTED):
                return
            before = None if fitted is None else (self.candidates[k], fitted)
            self.done[k, chain.fold] = outcome
            self._report(total)

    def _one(
        self,
        number: int,
        fold: Fold,
        X: Any,
        parameters: Parameters,
        before: tuple[Parameters, FoldModel] | None,
    ) -> tuple[Outcome, FoldModel | None]:
        """Fit one candidate on one fold and score it."""
        data, machine = self.data, clone(self.machine).set_params(**parameters)
        train, test = data.folds[number]
        y = None if data.y is None else data.y[train]
        weight = None if data.weight is None else data.weight[train]
        starts = None if before is None else _starts(*before, parameters, len(train))
        began = time.perf_counter()
        try:
            fitted = fold.fit(machine, X, y, weight, self.monitor.quiet(machine.max_iter), starts)
        except ValueError as error:
            return Outcome(np.nan, time.perf_counter() - began, 0.0, None, str(error)), None
        done = time.perf_counter()
        y = None if data.y is None else data.y[test]
        try:
            score, said = float(self.scorer(fitted, test, y)), ""
        except Exception as raised:
            score, said = np.nan, f"{type(raised).__name__}: {raised}"
        end = time.perf_counter()
        return Outcome(score, done - began, end - done, machine.certificate_.status, said), fitted

    def _report(self, total: int) -> None:
        count, seconds = len(self.done), self.monitor.seconds
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

    def warn(self) -> None:
        """Warn of fits and scorers that failed; raise where all did."""
        errors = [outcome.error for outcome in self.done.values() if outcome.error]
        if not errors:
            return
        if len(errors) == len(self.done):
            raise ValueError(f"All the {len(errors)} fits of the search failed: {errors[0]}")
        warnings.warn(
            f"{len(errors)} of {len(self.done)} fits or scores of the search failed, and their "
            f"scores are NaN. The first error: {errors[0]}",
            FitFailedWarning,
            stacklevel=4,
        )


def _starts(parameters: Parameters, fitted: FoldModel, now: Parameters, n: int) -> Floats | None:
    """Dual variables to begin at, from the fit before; see the top of this file."""
    record = fitted.machine.model_
    found = model.starts(record, n)
    before, C = parameters.get("C"), now.get("C")
    if found is None or before is None or C is None or before == C:
        return found
    greatest = np.abs(found).max(axis=1, keepdims=True, initial=0.0)
    found *= np.where(greatest < before * (1 - 1e-12), 1.0, C / before)
    return found
