"""The results of a search in the form of scikit-learn's ``cv_results_``."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.model_selection import ParameterGrid

from maxmargin.core.arrays import Floats, Mask
from maxmargin.model_selection.discard import complete_in
from maxmargin.model_selection.refit import chosen_by
from maxmargin.model_selection.search import Parameters, Search
from maxmargin.status import Status


def cv_results(search: Search) -> dict[str, Any]:
    """As in GridSearchCV, with the number of folds that are done, the worst status of these,
    which candidates were discarded, and the round of each.
    """
    found: dict[str, Any] = {}
    for name in ("fit_time", "score_time"):
        times = search.table(name)
        found[f"mean_{name}"], found[f"std_{name}"] = _mean(times), _deviation(times)
    for name in search.candidates[0]:
        values = [candidate[name] for candidate in search.candidates]
        found[f"param_{name}"] = np.ma.MaskedArray(values, mask=False)
    found["params"] = list(search.candidates)
    tables = {name: search.scores(name) for name in search.score_names}
    for name, scores in tables.items():
        found |= {f"split{k}_test_{name}": some for k, some in enumerate(scores.T)}
        means = found[f"mean_test_{name}"] = _mean(scores)
        found[f"std_test_{name}"] = _deviation(scores)
        found[f"rank_test_{name}"] = ranks(means, complete_in(scores))
    missing = np.any([np.isnan(scores) for scores in tables.values()], axis=0)
    found["n_splits_done"] = (~missing).sum(axis=1)
    found["status"] = worst_status(search)
    number = np.arange(len(search.candidates))
    found["discarded"] = np.isin(number, list(search.discarded))
    found["iter"] = (number >= search.grid_size).astype(np.int64)
    return found


def worst_status(search: Search) -> Any:
    """Of each candidate the worst status of its fits; an empty text without any."""
    found: list[list[Status]] = [[] for _ in search.candidates]
    for (k, _), outcome in search.done.items():
        found[k] += [] if outcome.status is None else [outcome.status]
    worst = [max(some, key=list(Status).index) if some else "" for some in found]
    return np.array([str(one) for one in worst])


def ranks(means: Floats, complete: Mask) -> Any:
    """1 for the best; those that lack a fold come after the others, and those without last."""
    level = np.full(len(means), -1)
    for known in (~np.isnan(means) & ~complete, complete):  # a score may be -infinity
        level[known] = level.max() + 1 + np.unique(means[known], return_inverse=True)[1]
    return rankdata(-level, method="min").astype(np.int32)


def best(search: Search, found: dict[str, Any]) -> int | None:
    """The candidate with the greatest mean score, the first of those that are tied; or the one that
    ``refit`` chooses from ``cv_results_``. None where there are several scores and none is named.

    Candidates that lack a fold count only where none is complete. Without any score it is the one
    in the middle of the grid.
    """
    name, refit = search.decisive(), search.data.scoring.refit
    if name is None and not callable(refit):
        return None
    if callable(refit) and search.done:
        return chosen_by(refit, found)
    scores = search.scores(name)
    complete, means = complete_in(scores), _mean(scores)
    usable = np.where(complete, means, np.nan) if complete.any() else means
    if np.isnan(usable).all():
        return middle(search.candidates)
    return int(np.nanargmax(usable))


def middle(candidates: Sequence[Parameters]) -> int:
    """The candidate in the middle of a grid."""
    axes = {name: sorted({one[name] for one in candidates}) for name in candidates[0]}
    return candidates.index({name: axes[name][(len(axes[name]) - 1) // 2] for name in axes})


def between(values: Floats, chosen: float) -> list[float]:
    """New values half a step of the grid, in the logarithm, to both sides of a chosen one."""
    at = int(np.searchsorted(values, chosen))
    neighbours = [values[k] for k in (at - 1, at + 1) if 0 <= k < len(values)]
    return [float(np.sqrt(chosen * other)) for other in neighbours]


def refined(grid: dict[str, Floats], search: Search) -> list[Parameters]:
    """The candidates around the best one that a search has not tried."""
    if not callable(search.data.scoring.refit):
        search.decisive("refine")
    known, number = search.candidates, best(search, cv_results(search))
    assert number is not None
    chosen = known[number]
    axes = {name: [chosen[name], *between(values, chosen[name])] for name, values in grid.items()}
    return [one for one in product_of(axes) if one not in known]


def product_of(grid: dict[str, Any]) -> list[Parameters]:
    """Every combination, in GridSearchCV's order: names sorted, the last ascending fastest."""
    return [
        {name: float(value) for name, value in one.items()}
        for one in ParameterGrid({name: sorted(values) for name, values in grid.items()})
    ]


def _mean(table: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        count = (~np.isnan(table)).sum(axis=1)
        mean: Floats = np.where(count > 0, np.nansum(table, axis=1) / np.maximum(count, 1), np.nan)
    return mean


def _deviation(table: Floats) -> Floats:
    with np.errstate(invalid="ignore"):  # a score may be infinite
        return np.sqrt(_mean((table - _mean(table)[:, None]) ** 2))
