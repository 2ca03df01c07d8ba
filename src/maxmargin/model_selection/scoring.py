"""How the models of a search are scored: scikit-learn's scorers, and functions of the user."""

from collections.abc import Callable
from inspect import Parameter, signature
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.metrics._scorer import _BaseScorer, _PassthroughScorer
from sklearn.utils.metadata_routing import _routing_enabled
from sklearn.utils.validation import _check_method_params

from maxmargin.core.arrays import Integers


class Scoring(NamedTuple):
    """A score, and what it is given beside model, samples and targets."""

    scorer: Callable[..., Any]
    given: dict[str, Any]
    """Of all samples: their weights, and what the scorer asks for by metadata routing."""
    n_samples: int

    @property
    def by_rows(self) -> bool:
        """Whether row numbers do for the samples: a scorer of scikit-learn only hands them on to
        the model, and a user's function may look at them.
        """
        return isinstance(self.scorer, _BaseScorer | _PassthroughScorer)

    @property
    def needs_probabilities(self) -> bool:
        """Whether the score may call predict_proba."""
        if isinstance(self.scorer, _PassthroughScorer):
            return False
        method = getattr(self.scorer, "_response_method", "predict_proba")
        return (method if isinstance(method, str) else method[0]) in PROBABILITIES

    def refuse_without_probabilities(self, machine: Any) -> None:
        """Refuse a score of probabilities for a machine without."""
        asked = getattr(self.scorer, "_response_method", None) in PROBABILITIES
        if asked and not hasattr(machine, "predict_proba"):
            name = type(machine).__name__
            can = "probability" in machine.get_params()
            remedy = f"estimator={name}(probability=True)" if can else "another score"
            raise ValueError(f"{self.scorer!r} scores probabilities: use {remedy}.")

    def of(self, model: Any, samples: Any, y: Any, rows: Integers) -> float:
        """The score of a model on the samples of some rows."""
        return number_of(self.scorer(model, samples, y, **self._given(rows)))

    def _given(self, rows: Integers) -> dict[str, Any]:
        every = range(self.n_samples)
        found: dict[str, Any] = _check_method_params(every, self.given, indices=rows)
        return found


PROBABILITIES = ("predict_proba", "predict_log_proba")
SEVERAL = (list, tuple, dict, set)
"""How scikit-learn names several scores at once."""


def number_of(score: Any) -> float:
    """A score as a number; ValueError for anything else."""
    if isinstance(score, np.ndarray | np.generic) and score.size == 1:
        score = score.item()
    if not isinstance(score, Number):
        raise ValueError(
            f"scoring must return a number, got {type(score).__name__} {score!r:.60}. For several "
            "scores, search with one and score best_estimator_ by the others."
        )
    return float(score)  # type: ignore[arg-type]


def scorer_of(machine: Any, scoring: Any, default: str | None) -> Any:
    """The scorer of ``scoring``; the default one asks for the sample weights."""
    if isinstance(scoring, SEVERAL):
        raise ValueError(
            f"scoring={scoring!r}: a search maximises one score. Name it, and score "
            "best_estimator_ by the others, or use GridSearchCV."
        )
    own = scoring is None and _routing_enabled()
    if own and default is None:
        request = machine._get_metadata_request().score.requests
        if request.get("sample_weight") is None:
            machine = machine.set_score_request(sample_weight=True)
    found = check_scoring(machine, scoring or default)
    return found.set_score_request(sample_weight=True) if own and default else found


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
