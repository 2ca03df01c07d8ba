"""Cross-validation of linear and RBF machines on subsamples, within a time.

`Explorer` holds the samples, the deadline and everything tried. `run` is one stage, a grid of
candidates on the first m samples of the nested order. It notes their scores and its wall time,
which predicts that of later stages:

    seconds of a stage on m' samples = wall(m) * (work of its candidates / work at m) * (m' / m)^p

where the work of a candidate is the time of its fits. Every stage has a time limit, so a wrong
prediction costs results and not time.
"""

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from maxmargin.model_selection.base import SearchCV, searched
from maxmargin.model_selection.scoring import ONE
from maxmargin.model_selection.subsamples import Samples
from maxmargin.model_selection.trials import Cost, Parameters, Trial, best, key_of, smoothest
from maxmargin.monitor import Monitor
from maxmargin.status import Status

Grid = dict[str, list[float]]
AXES = {"C": "Cs", "gamma": "gammas", "epsilon": "epsilons"}
"""The parameters of the searches that hold the values of each parameter of a machine."""


class Stage(NamedTuple):
    """One set of candidates on one subsample."""

    kernel: str
    samples: int
    candidates: int
    done: int
    """Candidates with a score in every fold."""
    seconds: float
    work: float
    """Seconds of all its fits, added up."""


class Machine(NamedTuple):
    """A kind of machine: how it is searched, and everything that is not searched."""

    search: type[SearchCV]
    template: Any


class Explorer:
    """What was tried, and the time that is left."""

    def __init__(
        self,
        samples: Samples,
        machines: dict[str, Machine],
        monitor: Monitor,
        *,
        scoring: Any = None,
        n_jobs: int | None = None,
        keep: bool = False,
    ) -> None:
        self.samples, self.machines, self.monitor = samples, machines, monitor
        self.scoring, self.n_jobs, self.keep = scoring, n_jobs, keep
        self.trials: list[Trial] = []
        self.stages: list[Stage] = []
        self.costs: dict[str, Cost] = {}
        """Of a fit without probabilities, by kernel."""
        self.calibration: dict[str, float] = {}
        """How many times as long a fit with probabilities takes, by kernel."""
        self.growth = 2.2
        """The exponent p of a search with the RBF kernel."""
        self.interrupted = False
        self.errors: list[str] = []

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return self.monitor.deadline - time.perf_counter()

    def of(self, kernel: str, samples: int | None = None) -> list[Trial]:
        """The trials of one kernel, on that many samples."""
        return [
            one
            for one in self.trials
            if one.kernel == kernel and samples in (None, one.samples) and one.done
        ]

    def best(self, kernel: str) -> Trial | None:
        """The best trial of a kernel.

        On a part of the samples, of those within the noise it is the one with the least C: scores
        of a few samples do not tell them apart, and a large C is slow.
        """
        trials = self.of(kernel)
        found = best(trials)
        if found is None or found.samples == self.samples.size:
            return found
        return smoothest(trials)

    # ---- stages ----------------------------------------------------------------------------------

    def run(self, kernel: str, m: int, grid: Grid, limit: float) -> None:
        """Score a grid of machines on m samples."""
        part, began = self.samples.part(m), time.perf_counter()
        machine = self.machines[kernel]
        search = machine.search(
            **{AXES[name]: values for name, values in grid.items()},
            cv=part.folds,
            scoring=self.scoring,
            n_jobs=self.n_jobs,
            time_limit=max(limit, 0.01),
            on_interrupt="keep" if self.keep else "raise",
            estimator=machine.template,
        )
        try:
            with quietly():
                found = searched(search, part.X, part.y, part.weight)
        except ValueError as error:  # the machine does not do for the score, or the fold
            self.errors.append(str(error))
            return
        self.interrupted |= found.monitor.interrupted.is_set()
        trials = []
        for k, parameters in enumerate(found.candidates):
            outcomes = [found.done.get((k, fold)) for fold in range(len(part.folds))]
            done = [one for one in outcomes if one is not None]
            self.errors += [one.error for one in done if one.error]
            scores = tuple(
                np.nan if one is None else one.scores.get(ONE, np.nan) for one in outcomes
            )
            seconds = float(np.mean([one.fit_time + one.score_time for one in done] or [0.0]))
            sure = all(one.status is not None and one.status.converged for one in done)
            trials.append(Trial(kernel, dict(parameters), m, scores, seconds, sure))
        self._note(kernel, m, trials, time.perf_counter() - began)

    def _note(self, kernel: str, m: int, trials: list[Trial], seconds: float) -> None:
        """Keep the trials of a stage, and say what is best so far."""
        folds = max((len(one.scores) for one in trials), default=0)
        work = sum(one.seconds * one.done for one in trials)
        known = {key_of(one.parameters) for one in self.of(kernel, m)}
        self.trials += [one for one in trials if key_of(one.parameters) not in known]
        done = sum(one.done == folds for one in trials)
        self.stages.append(Stage(kernel, m, len(trials), done, seconds, work))
        chosen = best(trials)
        if chosen is not None:
            self.monitor.say(
                f"{done} of {len(trials)} candidates, {kernel} kernel, on {m:,} of "
                f"{self.samples.size:,} samples: best score {chosen.mean:.4g} "
                f"({spelled(chosen.parameters)}); {max(self.left, 0.0):.0f} s left",
                True,
            )

    # ---- predictions -----------------------------------------------------------------------------

    def predicted(self, m: int, grid: Grid) -> float:
        """Seconds that a grid of RBF machines takes on m samples."""
        known = max(one.samples for one in self.of("rbf"))
        stages = [one for one in self.stages if one.kernel == "rbf" and one.samples == known]
        trials = self.of("rbf", known)
        seconds = {key_of(one.parameters): one.seconds for one in trials}
        usual = float(np.mean(list(seconds.values())))
        folds = len(trials[0].scores)
        work = folds * sum(seconds.get(key_of(one), usual) for one in _product(grid))
        efficiency = sum(one.seconds for one in stages) / max(sum(one.work for one in stages), 1e-9)
        return float(work * efficiency * (m / known) ** self.growth)

    def learn_growth(self) -> None:
        """Measure the exponent of the search on the candidates of its two greatest subsamples."""
        sizes = sorted({one.samples for one in self.of("rbf")})
        if len(sizes) < 2:
            return
        small, large = (
            {key_of(one.parameters): one.seconds for one in self.of("rbf", m)} for m in sizes[-2:]
        )
        both = small.keys() & large.keys()
        if both and sum(small[key] for key in both) > 0:
            cost = Cost(sizes[-2], sum(small[key] for key in both))
            self.growth = cost.then(sizes[-1], sum(large[key] for key in both)).exponent

    def measure(self, kernel: str, machine: Any, m: int, limit: float) -> None:
        """Time the machine that is to be fitted last, on half of m samples and on m.

        On the half it is also timed with probabilities, if it is to have any.
        """
        calibrated = machine.get_params().get("probability") is True
        plain = clone(machine).set_params(**{"probability": False} if calibrated else {})
        half = self._seconds(plain, m // 2, limit)
        if half is None:
            return
        cost = Cost(m // 2, half, self.growth if kernel == "rbf" else 1.3)
        if cost.at(m) < limit and (whole := self._seconds(plain, m, limit)) is not None:
            cost = cost.then(m, whole)
        self.costs[kernel] = cost
        if calibrated and (with_them := self._seconds(machine, m // 2, limit)) is not None:
            self.calibration[kernel] = max(with_them / max(half, 1e-9), 1.0)

    def _seconds(self, machine: Any, m: int, limit: float) -> float | None:
        """Time of a fit on m samples; None if they are all of one class."""
        part, began = self.samples.part(m), time.perf_counter()
        machine = clone(machine).set_params(time_limit=max(limit, 0.01))
        try:
            with quietly():
                machine.fit(part.X, part.y, sample_weight=part.weight)
        except ValueError:
            return None
        seconds = time.perf_counter() - began
        status = machine.certificate_.status
        self.interrupted |= status is Status.INTERRUPTED
        early = status in (Status.TIME_LIMIT, Status.INTERRUPTED)
        return 2 * seconds if early else seconds  # nobody knows how long it would have taken


@contextmanager
def quietly() -> Iterator[None]:
    """Without warnings: the report says in the end what matters."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _product(grid: Grid) -> Iterator[Parameters]:
    """Every combination of the values of a grid."""
    names = list(grid)
    for values in np.array(np.meshgrid(*grid.values())).reshape(len(names), -1).T:
        yield {name: float(value) for name, value in zip(names, values, strict=True)}


def spelled(parameters: Parameters) -> str:
    """C = 10, gamma = 0.1."""
    return ", ".join(f"{name} = {value:.3g}" for name, value in sorted(parameters.items()))
