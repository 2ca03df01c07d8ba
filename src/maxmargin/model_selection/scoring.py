"""How the models of a search are scored: scikit-learn's scorers, and functions of the user.

A search has one score or several. Several are named: by ``scoring`` as a list or a dict, or by the
keys of the dict that a function returns. One score has the name "score".
"""

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.metrics._scorer import _BaseScorer, _check_multimetric_scoring, _PassthroughScorer
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, _routing_enabled
from sklearn.utils.validation import _check_method_params

from maxmargin.core.arrays import Integers
from maxmargin.model_selection.refit import check_refit

ONE = "score"
"""The name of the only score, as in GridSearchCV."""
SEVERAL = (list, tuple, dict)
"""How scikit-learn names several scores at once."""
PROBABILITIES = ("predict_proba", "predict_log_proba")


class Scored(NamedTuple):
    """The scores of one model by name; those that failed are missing."""

    values: dict[str, float]
    error: str = ""
    """What went wrong first."""


class Scorers(NamedTuple):
    """The scores of a search by name."""

    named: Mapping[str, Callable[..., Any]]
    several: bool
    """Whether the user named them."""

    @property
    def as_given(self) -> Any:
        """As in GridSearchCV's ``scorer_``: a dict, or the only one."""
        return dict(self.named) if self.several else self.named[ONE]

    @property
    def routing(self) -> Any:
        """What metadata routing asks what the scores take."""
        if not self.several:
            return self.named[ONE]
        mapping = MethodMapping().add(caller="score", callee="score")
        return MetadataRouter(owner="scoring").add(**self.named, method_mapping=mapping)

    def shared_out(self, routed: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """What each score takes of the metadata of all."""
        if not (self.several and _routing_enabled()):
            return dict.fromkeys(self.named, routed)
        found = self.routing.route_params(caller="score", params=routed)
        return {name: dict(found[name]["score"]) for name in self.named}

    def refuse_without_weights(self) -> None:
        """Refuse sample weights for scores that take none."""
        for scorer in self.named.values():
            refuse_without_weights(scorer)


class Scoring(NamedTuple):
    """The scores, and what they are given beside model, samples and targets."""

    scorers: Scorers
    given: Mapping[str, dict[str, Any]]
    """For each score, of all samples: their weights, and what it asks for by metadata routing."""
    n_samples: int
    refit: Any = True

    @property
    def by_rows(self) -> bool:
        """Whether row numbers do for the samples: a scorer of scikit-learn only hands them on to
        the model, and a user's function may look at them.
        """
        ours = _BaseScorer | _PassthroughScorer
        return all(isinstance(scorer, ours) for scorer in self.scorers.named.values())

    @property
    def needs_probabilities(self) -> bool:
        """Whether a score may call predict_proba."""
        return any(map(_may_need_probabilities, self.scorers.named.values()))

    def refuse_without_probabilities(self, machine: Any) -> None:
        """Refuse a score of probabilities for a machine without."""
        for scorer in self.scorers.named.values():
            asked = getattr(scorer, "_response_method", None) in PROBABILITIES
            if asked and not hasattr(machine, "predict_proba"):
                name = type(machine).__name__
                can = "probability" in machine.get_params()
                remedy = f"estimator={name}(probability=True)" if can else "another score"
                raise ValueError(f"{scorer!r} scores probabilities: use {remedy}.")

    def of(self, model: Any, samples: Any, y: Any, rows: Integers) -> Scored:
        """The scores of a model on the samples of some rows.

        Whatever a score raises is noted. ValueError if a function returns several and ``refit``
        names none of them.
        """
        values: dict[str, float] = {}
        errors: list[str] = []
        for name, scorer in self.scorers.named.items():
            try:
                found = scorer(model, samples, y, **self._given(name, rows))
                own = self._numbers(name, found)
            except Exception as raised:  # a user's function may raise anything
                which = f"{name}: " if self.scorers.several else ""
                errors.append(f"{which}{type(raised).__name__}: {raised}")
                continue
            errors += [f"the {key} is NaN" for key, value in own.items() if np.isnan(value)]
            values |= own
            if list(own) != [name]:
                check_refit(self.refit, own)
        return Scored(values, errors[0] if errors else "")

    def _numbers(self, name: str, found: Any) -> dict[str, float]:
        """What a scorer returned, by name: a function may return several scores."""
        if isinstance(found, dict) and not self.scorers.several and found:
            return {str(key): number_of(value) for key, value in found.items()}
        return {name: number_of(found)}

    def _given(self, name: str, rows: Integers) -> dict[str, Any]:
        if not self.given[name]:
            return {}
        every = range(self.n_samples)
        found: dict[str, Any] = _check_method_params(every, self.given[name], indices=rows)
        return found


def _may_need_probabilities(scorer: Any) -> bool:
    if isinstance(scorer, _PassthroughScorer):
        return False
    method = getattr(scorer, "_response_method", "predict_proba")
    return (method if isinstance(method, str) else method[0]) in PROBABILITIES


def number_of(score: Any) -> float:
    """A score as a number; ValueError for anything else."""
    if isinstance(score, np.ndarray | np.generic) and score.size == 1:
        score = score.item()
    if not isinstance(score, Number):
        raise ValueError(
            f"scoring must return a number, or a dict of numbers by name, got "
            f"{type(score).__name__} {score!r:.60}."
        )
    return float(score)  # type: ignore[arg-type]


def scorers_of(machine: Any, scoring: Any, default: str | None) -> Scorers:
    """The scorers of ``scoring``; the default one asks for the sample weights."""
    if isinstance(scoring, SEVERAL):
        return Scorers(_check_multimetric_scoring(machine, scoring), True)
    own = scoring is None and _routing_enabled()
    if own and default is None:
        request = machine._get_metadata_request().score.requests
        if request.get("sample_weight") is None:
            machine = machine.set_score_request(sample_weight=True)
    found = check_scoring(machine, scoring or default)
    return Scorers(
        {ONE: found.set_score_request(sample_weight=True) if own and default else found}, False
    )


def refuse_without_weights(scorer: Any) -> None:
    """Refuse sample weights for a score that takes none."""
    if isinstance(scorer, _PassthroughScorer):
        return
    taken = signature(getattr(scorer, "_score_func", scorer)).parameters
    if "sample_weight" in taken or any(p.kind is Parameter.VAR_KEYWORD for p in taken.values()):
        return
    raise ValueError(
        f"sample_weight counts in the scores, too, and scoring={scorer!r} takes none: use a score "
        "with sample_weight, or enable scikit-learn's metadata routing, by which a score takes "
        "what it asks for."
    )
