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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from maxmargin.model_selection.base import SearchCV, searched
from maxmargin.model_selection.scoring import ONE
from maxmargin.model_selection.subsamples import Samples
from maxmargin.model_selection.trials import Cost, Parameters, Trial, best, key_of
from maxmargin.monitor import Monitor
from maxmargin.status import Status

Grid = dict[str, list[float]]
AXES = {"C": "Cs", "gamma": "gammas", "epsilon": "epsilons"}
"""The parameters of the searches that hold the values of each parameter of a machine."""


EXPONENT = {"linear": 1.3, "rbf": 1.8}
"""The power of the samples with which the time of a fit grows, until it is measured."""
SLACK = 0.03
"""Share of the time that is not planned."""


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
    final: int = 0
    """The number of the last round that it is; 0 for the search before."""


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
        self.finals: list[Trial] = []
        """Those of the last rounds, with other folds."""
        self.stages: list[Stage] = []
        self.costs: dict[str, Cost] = {}
        """Of a fit without probabilities, by kernel."""
        self.calibration: dict[str, float] = {}
        """How many times as long a fit with probabilities or intervals takes, by kernel."""
        self.growth = 2.2
        """The exponent p of a search with the RBF kernel."""
        self.interrupted = False
        self.errors: list[str] = []

    @property
    def left(self) -> float:
        """Seconds that may be planned: a little before the deadline, fits and stages end late."""
        slack = SLACK * self.monitor.limit
        return self.monitor.deadline - slack - time.perf_counter()

    def of(self, kernel: str, samples: int | None = None) -> list[Trial]:
        """The trials of one kernel, on that many samples."""
        return [
            one
            for one in self.trials
            if one.kernel == kernel and samples in (None, one.samples) and one.done
        ]

    def best(self, kernel: str) -> Trial | None:
        """The best trial of a kernel; after the last rounds, of those that took part in them."""
        return best([one for one in self.finals if one.kernel == kernel] or self.of(kernel))

    # ---- stages ----------------------------------------------------------------------------------

    def run(self, kernel: str, m: int, grid: Grid, limit: float) -> None:
        """Score those of a grid of machines on m samples that have no score yet."""
        known = {key_of(one.parameters) for one in self.of(kernel, m)}
        todo = [one for one in product(grid) if key_of(one) not in known]
        if todo:
            began = time.perf_counter()
            trials = self._scored(kernel, self.samples.part(m), todo, limit)
            self.trials += trials
            self._note(kernel, m, trials, time.perf_counter() - began)

    def repeat(self, trials: Sequence[Trial], k: int, limit: float) -> bool:
        """Score trials with the k-th of the other partitions; False if that took too long.

        For k > 0 the trials are those of the partition before, and their scores are kept.
        """
        kernel, m, began = trials[0].kernel, trials[0].samples, time.perf_counter()
        part = self.samples.part(m)
        part = part._replace(folds=part.others[k])
        found = self._scored(kernel, part, [one.parameters for one in trials], limit)
        self._note(kernel, m, found, time.perf_counter() - began, k + 1)
        if len(found) < len(trials) or any(one.done < len(part.folds) for one in found):
            return False
        for old, new in zip(trials, found, strict=True):
            if k > 0:
                self.finals.remove(old)
            self.finals.append(old.joined(new) if k > 0 else new)
        return True

    def _scored(
        self, kernel: str, part: Samples, todo: Sequence[Parameters], limit: float
    ) -> list[Trial]:
        """The trials of some candidates; none if the machine refuses the samples or the score."""
        machine = self.machines[kernel]
        axes = {name: [one[name] for one in todo] for name in todo[0]}
        search = machine.search(
            **{AXES[name]: values for name, values in axes.items()},
            cv=part.folds,
            scoring=self.scoring,
            n_jobs=self.n_jobs,
            time_limit=max(limit, 0.01),
            on_interrupt="keep" if self.keep else "raise",
            estimator=machine.template,
        )
        try:
            with quietly():
                found = searched(search, part.X, part.y, part.weight, todo)
        except ValueError as error:
            self.errors.append(str(error))
            return []
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
            trials.append(Trial(kernel, dict(parameters), part.size, scores, seconds, sure))
        return trials

    def _note(
        self, kernel: str, m: int, trials: list[Trial], seconds: float, final: int = 0
    ) -> None:
        """Keep what a stage took, and say what is best in it."""
        folds = max((len(one.scores) for one in trials), default=0)
        work = sum(one.seconds * one.done for one in trials)
        done = sum(one.done == folds for one in trials)
        self.stages.append(Stage(kernel, m, len(trials), done, seconds, work, final))
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
        trials = self.of("rbf", known)
        seconds = {key_of(one.parameters): one.seconds for one in trials}
        usual = float(np.mean(list(seconds.values())))
        work = trials[0].folds * sum(seconds.get(key_of(one), usual) for one in product(grid))
        return float(work * self._efficiency("rbf", known) * (m / known) ** self.growth)

    def predicted_again(self, trials: Sequence[Trial]) -> float:
        """Seconds that trials take on one of the other partitions."""
        work = sum(one.seconds for one in trials) * len(self.samples.others[0])
        return work * self._efficiency(trials[0].kernel, trials[0].samples)

    def _efficiency(self, kernel: str, m: int) -> float:
        """Wall time of the stages on m samples, divided by the time of their fits."""
        stages = [one for one in self.stages if (one.kernel, one.samples) == (kernel, m)]
        return sum(one.seconds for one in stages) / max(sum(one.work for one in stages), 1e-9)

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
        """Time the machine that is to be fitted last, on m samples and on twice as many, again and
        again up to half of all, unless a fit would take more than twice the limit, which ends it.

        On m samples it is also timed with probabilities or intervals, if it is to have any.
        """
        plain, most = without_extra(machine), self.samples.size // 2
        first = self._seconds(plain, m, limit)
        if first is None:
            return
        cost = Cost(m, first, EXPONENT[kernel])
        while cost.samples < most and cost.at(larger := min(2 * cost.samples, most)) <= 2 * limit:
            seconds = self._seconds(plain, larger, limit)
            if seconds is None:
                break
            cost = cost.then(larger, seconds)
        self.costs[kernel] = cost
        if extra_of(machine) and (longer := self._seconds(machine, m, limit)) is not None:
            self.calibration[kernel] = max(longer / max(first, 1e-9), 1.0)

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


def extra_of(machine: Any) -> str | None:
    """The parameter that makes a machine learn probabilities or intervals, if it is set."""
    given = machine.get_params()
    return next((name for name in ("probability", "interval") if given.get(name)), None)


def without_extra(machine: Any) -> Any:
    """The machine without probabilities and intervals."""
    extra = extra_of(machine)
    return clone(machine).set_params(**{} if extra is None else {extra: False})


@contextmanager
def quietly() -> Iterator[None]:
    """Without warnings: the report says in the end what matters."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def product(grid: Grid) -> list[Parameters]:
    """Every combination of the values of a grid."""
    names = list(grid)
    every = np.array(np.meshgrid(*grid.values())).reshape(len(names), -1).T
    return [dict(zip(names, map(float, values), strict=True)) for values in every]


def spelled(parameters: Parameters) -> str:
    """C = 10, gamma = 0.1."""
    return ", ".join(f"{name} = {value:.3g}" for name, value in sorted(parameters.items()))
