"""What AutoSVC and AutoSVR share: prepare, diagnose, search, choose, fit, report.

The RBF machine is chosen if its mean score exceeds that of the best linear machine by more than the
standard error of the difference; else the linear one, which is simpler and faster.
"""

import warnings
from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.pipeline import Pipeline
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _num_samples, validate_data

from maxmargin.estimators._base import all_or_nothing
from maxmargin.estimators._data import gamma_value
from maxmargin.estimators._options import StrOptions
from maxmargin.estimators._plain import QuickParameters
from maxmargin.estimators._targets import validate_weight
from maxmargin.model_selection import auto_plan, diagnosis
from maxmargin.model_selection.auto_report import EXTRAS, AutoReport
from maxmargin.model_selection.explorer import (
    Explorer,
    Machine,
    extra_of,
    quietly,
    spelled,
    without_extra,
)
from maxmargin.model_selection.scoring import PROBABILITIES
from maxmargin.model_selection.subsamples import Samples, folds_of, is_count, nested_order
from maxmargin.model_selection.table_columns import as_table
from maxmargin.model_selection.tables import TablePreparation, accept_tables
from maxmargin.model_selection.trials import Trial, difference
from maxmargin.monitor import Monitor

LEAST, LEAST_SECONDS = 0.05, 0.1
"""Share of the time and seconds that the last fit has at least, even if the search left less."""


class AutoMachine(QuickParameters):
    """A machine that chooses its preparation, kernel and parameters within a time."""

    _classifier: ClassVar[bool]
    _plan: ClassVar[auto_plan.Settings] = auto_plan.SETTINGS
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "time_budget": [Interval(Real, 0, None, closed="neither")],
        "kernel": [StrOptions({"auto", "linear", "rbf"})],
        "cv": ["cv_object"],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "on_interrupt": [StrOptions({"raise", "keep"})],
        "random_state": ["random_state"],
    }

    def __sklearn_tags__(self) -> Any:
        """Mixed tables are accepted."""
        tags = super().__sklearn_tags__()
        accept_tables(tags)
        return tags

    @abstractmethod
    def _targets(self, y: Any) -> NDArray[Any]:
        """y checked."""

    @abstractmethod
    def _final(self) -> dict[str, Any]:
        """The machines that may be fitted in the end, by kernel."""

    @abstractmethod
    def _machines(self) -> dict[str, Machine]:
        """The machines of the search, by kernel."""

    @abstractmethod
    def _units(self, samples: Samples) -> auto_plan.Units:
        """The units of C, gamma and epsilon."""

    # ---- fit -------------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Prepare the table, choose kernel and parameters, and fit the model.

        Parameters
        ----------
        X : table of shape (n_samples, n_columns)
            A frame of pandas or polars, an array or a sparse matrix: numbers, words, booleans,
            dates, missing values.
        y : array-like of shape (n_samples,)
            Labels or targets.
        sample_weight : array-like of shape (n_samples,), default=None
            How many times each sample counts, in the fits and in the scores.
        groups : array-like of shape (n_samples,), default=None
            Groups of the samples, for splitters that keep them together.

        Returns
        -------
        self : object
            The fitted estimator; ``report_`` says what was done.
        """
        monitor = Monitor(
            -1, self.time_budget, int(self.verbose), type(self).__name__, self._keeps()
        )
        with all_or_nothing(self):
            samples = self._samples(X, y, sample_weight, groups)
            final = self._final()
            explorer = Explorer(
                samples,
                self._machines(),
                monitor,
                scoring=self.scoring,
                n_jobs=self.n_jobs,
                keep=self._keeps(),
            )
            plan = auto_plan.Plan(explorer, self._units(samples), final, self._plan)
            plan.run()
            chosen, rival = self._choose(explorer, plan)
            self._fit_last(explorer, chosen, final[chosen.kernel])
            self._report(plan, chosen, rival)
            return self

    def _keeps(self) -> bool:
        return bool(self.on_interrupt == "keep")

    def _samples(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Samples:
        """The prepared samples of positive weight, with their folds."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        X, prepared, weight = as_table(X), TablePreparation(), None
        if sample_weight is not None:
            weight = validate_weight(sample_weight, _num_samples(X))
        self._preparation = prepared.fit(X, sample_weight=weight)
        validate_data(self, X, skip_check_array=True)
        features, y = prepared.features(X), self._targets(y)
        check_consistent_length(features, y)
        random = check_random_state(0 if self.random_state is None else self.random_state)
        folds = folds_of(self.cv, y, groups, self._classifier, random)
        finals = self._plan.finals
        more, rounds = finals.folds * len(folds), finals.rounds if is_count(self.cv) else 0
        others = [folds_of(more, y, None, self._classifier, random) for _ in range(rounds)]
        used = np.arange(len(y)) if weight is None else np.flatnonzero(weight)
        samples = Samples(features, y, weight, folds, used, others).part(len(used))
        if not samples.folds:
            raise ValueError("No fold has training and test samples of positive weight.")
        order = nested_order(samples.y, samples.folds, self._classifier, random)
        self._diagnosis = diagnosis.Diagnosis(
            tuple(diagnosis.of_samples(X, features, y, self._classifier))
        )
        return samples._replace(order=order)

    def _choose(self, explorer: Explorer, plan: auto_plan.Plan) -> tuple[Trial, Trial | None]:
        """The trial whose parameters are fitted, and the best one of the other kernel."""
        linear, rbf = explorer.best("linear"), explorer.best("rbf")
        if linear is None and rbf is None:
            if explorer.errors:
                raise ValueError(
                    f"All the {len(explorer.errors)} fits of the search failed: "
                    f"{explorer.errors[0]}"
                )
            return plan.default(), None
        if linear is None or rbf is None:
            found = linear or rbf
            assert found is not None
            return found, None
        gain, error = difference(rbf, linear)
        noise = error if np.isfinite(error) else 0.0
        return (rbf, linear) if gain > noise else (linear, rbf)

    def _fit_last(self, explorer: Explorer, chosen: Trial, machine: Any) -> None:
        """Fit the chosen machine on all samples, or on as many as the time allows.

        Probabilities and intervals are left out if they would take more than the time.
        """
        samples, cost = explorer.samples, explorer.costs.get(chosen.kernel)
        left = max(explorer.left, LEAST * self.time_budget, LEAST_SECONDS)
        rows, extra = samples.size, extra_of(machine)
        if cost is not None and chosen.samples < rows and cost.at(rows) > left:
            rows = min(rows, max(cost.within(left / self._plan.margin), chosen.samples))
        times = explorer.calibration.get(chosen.kernel, 1.0)
        late = cost is not None and times > 1 and times * cost.at(rows) > left
        self._left_out = extra if late and not self._scores_probabilities() else None
        machine = without_extra(machine) if self._left_out else clone(machine)
        explorer.monitor.say(
            f"fitting {chosen.kernel} kernel, {spelled(chosen.parameters)}, on {rows:,} samples",
            True,
        )
        part = samples.part(rows)
        machine.set_params(**chosen.parameters, time_limit=left)
        with quietly():
            machine.fit(part.X, part.y, sample_weight=part.weight)
        machine.set_params(time_limit=None)
        self.best_estimator_ = Pipeline([("prepare", self._preparation), ("svm", machine)])
        self.best_params_ = {"kernel": chosen.kernel, **chosen.parameters}
        self.best_score_ = chosen.mean
        self.n_samples_fit_ = rows

    def _report(self, plan: auto_plan.Plan, chosen: Trial, rival: Trial | None) -> None:
        """Say what was done, and warn where it falls short."""
        explorer, certificate = plan.explorer, self.certificate_
        n = explorer.samples.size
        self.report_ = AutoReport(
            self._diagnosis,
            self._preparation.describe(),
            tuple(explorer.stages),
            tuple(explorer.trials),
            tuple(explorer.finals),
            chosen,
            rival,
            n,
            self.n_samples_fit_,
            certificate,
            explorer.monitor.seconds,
            float(self.time_budget),
            self._score_name(),
            explorer.interrupted,
            plan.limited,
            extra_of(self.best_estimator_[-1]),
            self._left_out,
        )
        short = []
        if not chosen.done:
            short.append("no candidate could be scored")
        if self.n_samples_fit_ < n:
            short.append(f"the model was fitted on {self.n_samples_fit_:,} of {n:,} samples")
        if not certificate.status.converged:
            short.append(f"the last fit ended as {certificate.status}")
        if self._left_out:
            short.append(f"{EXTRAS[self._left_out].lower()} were left out")
        if short:
            late = f"time_budget={self.time_budget:g} was too short"
            cause = "Ctrl-C ended the search" if explorer.interrupted else late
            warnings.warn(
                f"{cause}: {', and '.join(short)}. Raise time_budget; report_ says more.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _scores_probabilities(self) -> bool:
        """Whether the score calls predict_proba."""
        if self.scoring is None:
            return False
        return getattr(get_scorer(self.scoring), "_response_method", None) in PROBABILITIES

    def _score_name(self) -> str:
        if self.scoring is None:
            return "accuracy" if self._classifier else "R^2"
        named = self.scoring if isinstance(self.scoring, str) else "score"
        return named.replace("_", " ")


def gamma_unit(samples: Samples) -> float:
    """1 / (n_features * variance of X)."""
    return gamma_value("scale", samples.X, samples.weight)
