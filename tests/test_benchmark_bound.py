"""The benchmark's reference: a bound that no objective is below, from any duals, tight for those of
a certified fit."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.preprocessing import scale

from maxmargin import LinearSVC, LinearSVR

_FILE = Path(__file__).parents[1] / "benchmarks" / "linear" / "objective.py"
_SPEC = importlib.util.spec_from_file_location("benchmark_objective", _FILE)
benchmark = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(benchmark)

CLASSIFIERS = [
    {"loss": "hinge", "penalty": "l2", "C": 1.0},
    {"loss": "squared_hinge", "penalty": "l2", "C": 10.0},
    {"loss": "squared_hinge", "penalty": "l1", "C": 0.3},
    {"loss": "hinge", "penalty": "l2", "C": 1.0, "multi_class": "crammer_singer"},
]
REGRESSORS = [
    {"loss": loss, "C": 0.1, "epsilon": 0.1}
    for loss in ("epsilon_insensitive", "squared_epsilon_insensitive")
]


def _problems():
    """Each objective on few samples, with every bias."""
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    D, z = load_diabetes(return_X_y=True)
    for model in ("regularised", "free"):
        for parameters in CLASSIFIERS:
            yield parameters, model, X, y
            if "multi_class" not in parameters:
                yield parameters, model, X, (y == 1).astype(int)
        for parameters in REGRESSORS:
            yield parameters, model, scale(D[:100]), z[:100]


PROBLEMS = list(_problems())


def name(value):
    return (
        "-".join(map(str, value.values()))
        if isinstance(value, dict)
        else value
        if isinstance(value, str)
        else ""
    )


@pytest.mark.parametrize(("parameters", "model", "X", "y"), PROBLEMS, ids=name)
def test_is_below_the_objective_of_a_certified_fit_and_tight(parameters, model, X, y):
    estimator = LinearSVR if "epsilon" in parameters else LinearSVC
    fitted = estimator(**parameters, intercept=model, tol=1e-9, max_iter=100_000).fit(X, y)
    coef, intercept = np.atleast_2d(fitted.coef_), np.ravel(fitted.intercept_)
    value = benchmark.objective(parameters, model, X, y, coef, intercept)
    bound = benchmark.lower_bound(parameters, model, X, y, fitted.dual_coef_.toarray())
    assert bound <= value * (1 + 1e-12)
    assert bound >= value * (1 - 1e-6)


@pytest.mark.parametrize(("parameters", "model", "X", "y"), PROBLEMS, ids=name)
def test_no_duals_lift_it_above_an_objective(parameters, model, X, y):
    estimator = LinearSVR if "epsilon" in parameters else LinearSVC
    fitted = estimator(**parameters, intercept=model, tol=1e-9, max_iter=100_000).fit(X, y)
    value = benchmark.objective(
        parameters, model, X, y, np.atleast_2d(fitted.coef_), np.ravel(fitted.intercept_)
    )
    rng = np.random.default_rng(0)
    for size in (1e-3, 1.0, 1e3):
        wrong = fitted.dual_coef_.toarray() + size * rng.normal(size=fitted.dual_coef_.shape)
        assert benchmark.lower_bound(parameters, model, X, y, wrong) <= value * (1 + 1e-12)
