"""Which candidate of a search is the best, and whether it is fitted on all samples: ``refit``.

True          the one with the greatest score; several scores must be told apart by name
a name        the one with the greatest score of this name
a function    the one whose number the function returns, given ``cv_results_``
False         as True, but nothing is fitted; with several scores none is the best
"""

from collections.abc import Collection
from numbers import Integral
from typing import Any


def check_refit(refit: Any, names: Collection[str]) -> None:
    """Refuse a ``refit`` that does not tell which of several scores decides."""
    if refit is False or callable(refit) or (isinstance(refit, str) and refit in names):
        return
    raise ValueError(
        f"refit={refit!r} does not say which of several scores decides: give the name of one of "
        f"them ({', '.join(map(repr, names))}), a function that chooses a candidate from "
        "cv_results_, or False."
    )


def check_refit_of_one(refit: Any, scoring: Any) -> None:
    """Refuse the name of another score than the only one."""
    if isinstance(refit, str) and not callable(scoring) and refit not in (scoring, "score"):
        raise ValueError(
            f"refit={refit!r} names a score, and the only one is scoring={scoring!r}: use "
            "refit=True, or give several scores as a list."
        )


def decisive(refit: Any, names: Collection[str], several: bool) -> str | None:
    """The score that candidates are compared by; None where there are several and none is named."""
    if not several:
        return next(iter(names))
    return refit if isinstance(refit, str) else None


def refuse_without_name(name: str | None, asked: str) -> str:
    """The score that decides; ValueError where an option needs one and there is none."""
    if name is None:
        raise ValueError(
            f"{asked} compares candidates by one score, and there are several: name it by refit=."
        )
    return name


def chosen_by(rule: Any, results: dict[str, Any]) -> int:
    """The candidate that a function chooses from ``cv_results_``."""
    chosen = rule(results)
    if not isinstance(chosen, Integral):
        raise TypeError(f"refit must return the number of a candidate, got {chosen!r}.")
    number, count = int(chosen), len(results["params"])
    if not 0 <= number < count:
        raise IndexError(f"refit must return a number from 0 to {count - 1}, got {number}.")
    return number


def refuse_without_refit(search: Any, asked: str) -> None:
    """AttributeError, as scikit-learn's searches have it, where nothing was fitted."""
    if not search.refit:
        raise AttributeError(
            f"This {type(search).__name__} instance was initialized with `refit=False`. {asked} is "
            "available only after refitting on the best parameters. You can refit an estimator "
            "manually using the `best_params_` attribute"
        )
