"""What AutoSVC and AutoSVR did, in words and as data."""

from dataclasses import dataclass
from html import escape
from textwrap import fill
from typing import Any

import numpy as np

from maxmargin.certificate import Certificate
from maxmargin.model_selection.diagnosis import Diagnosis
from maxmargin.model_selection.discard import AT_MOST_ONE
from maxmargin.model_selection.explorer import Stage, spelled
from maxmargin.model_selection.trials import (
    Trial,
    difference,
    interval,
    on_edge,
    optimism,
)

NAMES = {"linear": "Linear", "rbf": "RBF"}
EXTRAS = {
    "probability": "Probabilities",
    "interval": "Intervals",
}


@dataclass(frozen=True)
class AutoReport:
    """What was found in the data, tried, chosen and fitted, and how sure the score is.

    ``print(report)`` shows it as text, ``plot()`` draws what was searched.

    Attributes
    ----------
    diagnosis : Diagnosis
        What was found in the data before the search.
    preparation : str
        What became of the columns.
    stages : tuple of Stage
        The sets of candidates in the order of the search.
    trials : tuple of Trial
        Every candidate: kernel, parameters, samples, the score of each fold.
    finals : tuple of Trial
        The best of them with the other folds of the last rounds, which decided if there were any.
    chosen : Trial
        The candidate that was fitted.
    rival : Trial or None
        The best one with the other kernel.
    n_samples, n_samples_fit : int
        Samples given, and samples of the last fit.
    certificate : Certificate
        What is known about the last fit.
    seconds, time_budget : float
        Time taken, and given.
    score_name : str
        What was maximised.
    interrupted : bool
        Whether Ctrl-C ended the search.
    limited : bool
        Whether the time limited the search, so that another run may choose differently.
    extra : {"probability", "interval"} or None
        What the model learned besides its function.
    left_out : {"probability", "interval"} or None
        What the time did not suffice for.
    """

    diagnosis: Diagnosis
    preparation: str
    stages: tuple[Stage, ...]
    trials: tuple[Trial, ...]
    finals: tuple[Trial, ...]
    chosen: Trial
    rival: Trial | None
    n_samples: int
    n_samples_fit: int
    certificate: Certificate
    seconds: float
    time_budget: float
    score_name: str
    interrupted: bool = False
    limited: bool = False
    extra: str | None = None
    left_out: str | None = None

    def sections(self) -> dict[str, list[str]]:
        """The sentences of the report by heading.

        Returns
        -------
        sections : dict of lists of str
        """
        return {
            "Data": [f"{self.n_samples:,} samples. {self.preparation}."],
            "Before the search": [str(one) for one in self.diagnosis.findings]
            or ["Nothing to mend was found in the data."],
            "Search": [*self._stages(), *self._search_end()],
            "Choice": self._choice(),
            "How sure": self._certainty(),
            "Model": self._model(),
        }

    def _stages(self) -> list[str]:
        found = [_stage(one) for one in self.stages if not one.final]
        for kernel in ("rbf", "linear"):
            again = [one for one in self.stages if one.final and one.kernel == kernel]
            if again:
                counts = ", ".join(str(one.candidates) for one in again)
                several = f" {counts}" if again[0].candidates > 1 else ""
                found.append(
                    f"{NAMES[kernel]} kernel: the best{several} again with other folds on "
                    f"{again[0].samples:,} samples, {sum(one.seconds for one in again):.1f} s."
                )
        return found

    def _search_end(self) -> list[str]:
        if self.interrupted:
            return ["Ctrl-C ended the search; the best so far was fitted."]
        if not self.limited:
            return ["The time sufficed for the whole search: the same seed gives the same model."]
        found = "The time limited the search: a faster machine or more time may choose differently"
        if self.chosen.samples < self.n_samples:
            found += f"; {self.chosen.samples:,} of the {self.n_samples:,} samples took part"
        return [found + "."]

    def _choice(self) -> list[str]:
        chosen, rival = self.chosen, self.rival
        found = [f"{NAMES[chosen.kernel]} kernel with {spelled(chosen.parameters)}."]
        if not chosen.done:
            found.append("No candidate could be scored in the time: these are usual values.")
        if rival is not None and chosen.done:
            found.append(_comparison(chosen, rival))
        for name in chosen.parameters:
            same = [one for one in self.trials if one.kernel == chosen.kernel]
            if side := on_edge(same, self._as_searched(), name):
                found.append(
                    f"{name} lies on the edge of the values tried, of which it is the "
                    f"{'greatest' if side > 0 else 'least'}: values beyond it may be better."
                )
        return found

    def _as_searched(self) -> Trial:
        """The chosen candidate with the folds of the search, which all candidates have."""
        own = (self.chosen.kernel, self.chosen.samples, self.chosen.parameters)
        found = [one for one in self.trials if (one.kernel, one.samples, one.parameters) == own]
        return found[0] if found else self.chosen

    def _certainty(self) -> list[str]:
        chosen = self.chosen
        if not chosen.done:
            return ["Not at all: the score is unknown. Raise time_budget."]
        text = f"Cross-validated {self.score_name} {chosen.mean:.4f}"
        if not np.isfinite(chosen.error):
            return [f"{text}, from one fold alone: its error is unknown. Raise time_budget."]
        low, high = interval(chosen)
        found = [
            f"{text}, standard error {chosen.error:.4f} ({_folds(chosen)}); 95% interval "
            f"{low:.4f} to {min(high, _greatest(self.score_name)):.4f}."
        ]
        rivals = [one for one in self.trials if one.samples == chosen.samples]
        gain = optimism(self.finals if chosen in self.finals else rivals, chosen)
        found.append(
            f"It was chosen from {len(rivals)} candidates and is thus optimistic, by about "
            f"{gain:.4f} (an estimate that tends to be too large). Only samples that the search "
            "has not seen tell the true score."
        )
        return found

    def _model(self) -> list[str]:
        some = self.n_samples_fit < self.n_samples
        rows = (
            f"{self.n_samples_fit:,} of {self.n_samples:,}" if some else f"all {self.n_samples:,}"
        )
        found = [f"Fitted on {rows} samples. Certificate: {self.certificate.status}."]
        if some:
            found.append("A fit on all samples would have taken longer than the time left.")
        if not self.certificate.status.converged:
            found.append(f"{self.certificate.status.message.split('.')[0]}: raise time_budget.")
        if self.extra is not None:
            found.append(f"{EXTRAS[self.extra]} come from samples held out from the fits.")
        if self.left_out is not None:
            name = EXTRAS[self.left_out]
            found.append(f"{name} were left out: they take longer than the time left.")
        found.append(f"Took {self.seconds:.1f} s of {self.time_budget:.4g} s.")
        return found

    def __str__(self) -> str:
        lines = []
        for heading, sentences in self.sections().items():
            lines.append(heading)
            lines += [
                fill(one, 96, initial_indent="  ", subsequent_indent="    ") for one in sentences
            ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = []
        for heading, sentences in self.sections().items():
            items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
            parts.append(f"<h4>{escape(heading)}</h4><ul>{items}</ul>")
        return "".join(parts)

    def plot(self, ax: Any = None) -> Any:
        """Draw the scores of all candidates.

        Parameters
        ----------
        ax : array of two matplotlib axes, default=None
            For the linear and the RBF machines; by default those of a new figure.

        Returns
        -------
        display : SurfaceDisplay
        """
        from maxmargin.plots import SurfaceDisplay

        return SurfaceDisplay.from_report(self, ax=ax)


def _greatest(name: str) -> float:
    """What no score of a name exceeds."""
    if name.startswith("neg "):
        return 0.0
    known = ("R^2", *(one.replace("_", " ") for one in AT_MOST_ONE))
    return 1.0 if name in known else float("inf")


def _stage(stage: Stage) -> str:
    done = f"{stage.done} of " if stage.done < stage.candidates else ""
    count = f"{done}{stage.candidates} candidate{'s' * (stage.candidates > 1)}"
    return (
        f"{NAMES[stage.kernel]} kernel: {count} on {stage.samples:,} samples, "
        f"{stage.seconds:.1f} s."
    )


def _folds(chosen: Trial) -> str:
    """How many folds a score comes from."""
    times = f"{chosen.partitions} times " if chosen.partitions > 1 else ""
    return f"{times}{chosen.done // chosen.partitions} folds"


def _comparison(chosen: Trial, rival: Trial) -> str:
    """How the chosen kernel compares with the other."""
    gain, error = difference(chosen, rival)
    other = (
        f"the best {_lower(rival.kernel)} machine ({spelled(rival.parameters)}, {rival.mean:.4f})"
    )
    noise = f", with a standard error of {error:.4f}" if np.isfinite(error) else ""
    if chosen.kernel == "linear" and gain < 0:
        return (
            f"It is within the noise of {other}: {-gain:.4f} less{noise}. The simpler model was "
            "taken."
        )
    if chosen.kernel == "linear":
        return f"It is no worse than {other}, and simpler."
    return f"It beats {other} by {gain:.4f}{noise}."


def _lower(kernel: str) -> str:
    """The name of a kernel within a sentence."""
    return "RBF" if kernel == "rbf" else kernel
