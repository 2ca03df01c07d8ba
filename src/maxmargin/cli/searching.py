"""The search of ``maxmargin tune``: kernel machines share their kernel values where they can.

Grids over C, gamma, nu and epsilon of a kernel machine are searched by `model_selection`, all
others by scikit-learn's GridSearchCV. The results are the same, in GridSearchCV's order. What
--refine adds comes last.
"""

import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from inspect import signature
from typing import Any, NamedTuple

import joblib
import numpy as np
from sklearn import config_context
from sklearn.base import clone, is_outlier_detector
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

import maxmargin
from maxmargin.cli import fitting
from maxmargin.cli.errors import usage
from maxmargin.cli.reports import progress, verbosity
from maxmargin.io.table_columns import Data
from maxmargin.kernel.kernels import NAMES, PARAMETERS
from maxmargin.model_selection import SVCCV, SVRCV, NuSVCCV, NuSVRCV, results
from maxmargin.model_selection.base import searched
from maxmargin.model_selection.kernel_cv import KernelSearchCV
from maxmargin.model_selection.scaling import scaler_of
from maxmargin.model_selection.search import Search, key_of
from maxmargin.suggestions import did_you_mean

Grid = Mapping[str, list[Any]]

SEARCHES: dict[type, type[KernelSearchCV]] = {
    maxmargin.SVC: SVCCV,
    maxmargin.NuSVC: NuSVCCV,
    maxmargin.SVR: SVRCV,
    maxmargin.NuSVR: NuSVRCV,
}
AXES = {"C": "Cs", "gamma": "gammas", "nu": "nus", "epsilon": "epsilons"}
"""The parameters of machines that searches try, and what the searches call their values."""


class How(NamedTuple):
    """The options of a search."""

    cv: int = 5
    scoring: str | None = None
    seed: int = 0
    jobs: int | None = None
    time_limit: float | None = None
    quiet: bool = False
    scale: str | None = None
    refine: bool = False


class Found(NamedTuple):
    """What a search has found."""

    cv_results_: dict[str, Any]
    best_params_: dict[str, Any]
    best_score_: float
    fits_done: str | None = None
    """How many of how many, if it ended early."""


def search(estimator: Any, grid: Grid, table: Data, how: How) -> Found:
    """Search a grid, with the progress and the time left on a terminal."""
    if is_outlier_detector(estimator):
        raise ValueError("tune needs a classifier or a regressor: a one-class model has no score")
    if fitting.is_ranker(estimator):
        raise ValueError(
            "tune divides samples and a ranking needs whole queries: compare train --cv at several "
            "C, or use GridSearchCV with GroupKFold in Python"
        )
    y = fitting.target_of(estimator, table)
    if how.cv < 2:
        raise usage(f"--cv must be at least 2, got {how.cv}.")
    if how.jobs == 0:
        raise usage("--jobs must not be 0.")
    folds = fitting.folds_of(estimator, y, how.cv, how.seed)
    weighted = table.weight is not None
    with config_context(enable_metadata_routing=weighted):
        _scorer(estimator, how.scoring, weighted)  # refuse a wrong name before the work
    shared = shared_search(estimator, grid)
    if shared is not None:
        shared.set_params(
            cv=folds,
            scoring=how.scoring,
            n_jobs=how.jobs,
            time_limit=how.time_limit,
            verbose=verbosity(how.quiet),
            on_interrupt="keep",
            scale=how.scale,
            refine=how.refine,
        )
        return in_order(searched(shared, table.X, y, table.weight), grid)
    if how.time_limit is not None or how.refine:
        raise usage(
            "--time-limit and --refine need a kernel machine (svc, nu-svc, svr, nu-svr) and a grid "
            f"of numbers for {', '.join(AXES)}."
        )
    return _grid_search(estimator, grid, table, y, folds, how)


def shared_search(estimator: Any, grid: Grid) -> KernelSearchCV | None:
    """The search that shares kernel values between all candidates; None if there is none."""
    kind, known = SEARCHES.get(type(estimator)), estimator.get_params()
    if kind is None or str(known["kernel"]) not in NAMES or known["time_limit"] is not None:
        return None
    tried = {AXES[name]: name for name in AXES if AXES[name] in kind().get_params()}
    if "gamma" not in PARAMETERS.get(NAMES[known["kernel"]], ()):
        del tried["gammas"]
    values = {axis: grid.get(name, [known[name]]) for axis, name in tried.items()}
    if not set(grid) <= set(tried.values()) or not all(map(_in_range, values, values.values())):
        return None
    return kind(estimator=estimator, **values)


def _in_range(axis: str, values: Iterable[Any]) -> bool:
    """Whether a search takes these values; others are for the estimator to refuse or take."""
    greatest = 1.0 if axis == "nus" else sys.float_info.max
    return all(
        isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= greatest
        for value in values
    )


def in_order(found: Search, grid: Grid) -> Found:
    """The results of a search as GridSearchCV gives them for a grid."""
    errors = [outcome.error for outcome in found.done.values() if outcome.error]
    if errors:
        raise ValueError(errors[0])
    total = len(found.candidates) * len(found.data.folds)
    early = None
    if len(found.done) < total:
        early = f"{len(found.done)} of {total}"
        if not found.done:
            raise ValueError(
                f"the search ended before the first of {total} fits: give it more time"
            )
        warnings.warn(
            f"the search ended early: {early} fits are done, and the best parameters are the best "
            "of them",
            ConvergenceWarning,
            stacklevel=2,
        )
    at = {_key(one, grid): k for k, one in enumerate(found.candidates)}
    candidates = list(ParameterGrid(grid))
    known = {_key(one, grid) for one in candidates}
    added = [one for one in found.candidates if _key(one, grid) not in known]
    candidates += [{name: one[name] for name in grid} for one in added]
    order = [at[_key(one, grid)] for one in candidates]
    table = {
        name: column[order]
        for name, column in results.cv_results(found).items()
        if not name.startswith("param")
    }
    table |= {f"param_{name}": [one[name] for one in candidates] for name in sorted(grid)}
    table["params"] = candidates
    complete = table["n_splits_done"] == len(found.data.folds)
    if complete.any():  # means of some folds do not compare with means of all
        table["mean_test_score"] = np.where(complete, table["mean_test_score"], np.nan)
    means = table["mean_test_score"]
    best = int(np.nanargmax(means))
    return Found(table, candidates[best], float(means[best]), early)


def _key(candidate: Mapping[str, Any], names: Iterable[str]) -> Any:
    """What tells candidates of a grid apart."""
    return key_of({name: float(candidate[name]) for name in names})


def _grid_search(estimator: Any, grid: Grid, table: Data, y: Any, folds: Any, how: How) -> Found:
    """Run scikit-learn's search with a progress bar, which the scorer advances after each fit."""
    own = fitting.weights(table.weight)
    with (
        config_context(enable_metadata_routing=bool(own)),
        joblib.parallel_config("threading"),  # the bar is in this process
        progress("search", len(ParameterGrid(grid)) * how.cv, how.quiet) as advance,
    ):
        if own:
            estimator = (
                clone(estimator)
                .set_fit_request(sample_weight=True)
                .set_score_request(sample_weight=True)
            )
        searched, prefix = _scaled(estimator, table, how.scale)
        found = GridSearchCV(
            searched,
            {f"{prefix}{name}": values for name, values in grid.items()},
            scoring=Counted(_scorer(searched, how.scoring, bool(own)), advance),
            cv=folds,
            n_jobs=how.jobs,
            refit=False,
            error_score="raise",
        ).fit(table.X, y, **own)
    table_ = {name.replace(f"param_{prefix}", "param_"): v for name, v in found.cv_results_.items()}
    table_["params"] = [_without(prefix, one) for one in table_["params"]]
    return Found(table_, _without(prefix, found.best_params_), float(found.best_score_))


def _without(prefix: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters without the name of the step of a pipeline that has them."""
    return {name.removeprefix(prefix): value for name, value in parameters.items()}


def _scaled(estimator: Any, table: Data, scale: str | None) -> tuple[Any, str]:
    """The estimator, or the pipeline of a scaler and it, and what its parameters begin with."""
    if scale is None:
        return estimator, ""
    scaler = clone(scaler_of(scale, table.X, None, None))
    if table.weight is not None:
        if not has_fit_parameter(scaler, "sample_weight"):
            raise usage("--scale minmax takes no --weight in this search: use --scale standard.")
        scaler.set_fit_request(sample_weight=True)
    return Pipeline([("scale", scaler), ("model", estimator)]), "model__"


def _scorer(estimator: Any, scoring: str | None, weighted: bool) -> Any:
    """Return scikit-learn's scorer; one that takes sample weights if there are some."""
    known = get_scorer_names()
    if scoring is not None and scoring not in known:
        raise usage(
            "--scoring must be one of scikit-learn's scores, got "
            f"{scoring!r}.{did_you_mean(scoring, known)}"
        )
    score = check_scoring(estimator, scoring=scoring)
    if not weighted or scoring is None:
        return score
    if "sample_weight" not in signature(score._score_func).parameters:
        raise ValueError(
            f"--scoring {scoring} takes no sample weights: leave --weight out, or choose another "
            "score"
        )
    return score.set_score_request(sample_weight=True)


class Counted:
    """A scorer that advances the progress bar on each call."""

    def __init__(self, score: Any, advance: Callable[[], None]) -> None:
        self._score, self._advance = score, advance

    def __call__(self, model: Any, X: Any, y: Any, **options: Any) -> float:
        """Return the score."""
        self._advance()
        return float(self._score(model, X, y, **options))

    def get_metadata_routing(self) -> Any:
        """Return the metadata that the scorer takes."""
        return self._score.get_metadata_routing()
