"""IBM's Snap ML: sum of the losses + regularizer/2 |w|^2 with the bias as one more weight, so that
regularizer = 1 / C.

It rounds the data to float32 (the coefficients are the same bits for both precisions), so that
float32 is what it is given.
"""

import os
from importlib.metadata import version as version_of
from typing import Any

import numpy as np
from snapml import SupportVectorMachine

PASSES = 100_000


def version() -> str:
    """The library's version."""
    return version_of("snapml")


def prepare(X: Any, y: np.ndarray, job: dict[str, Any]) -> Any:
    """Numbers and labels as it has them inside."""
    return X.astype(np.float32), y.astype(np.float32)


def fit(data: Any, job: dict[str, Any], options: dict[str, Any]) -> Any:
    """Fit with one thread or with all."""
    parameters, cores = (
        job["parameters"],
        len(os.sched_getaffinity(0)) if options["all_cores"] else 1,
    )
    model = SupportVectorMachine(
        loss=parameters["loss"],
        regularizer=1 / parameters["C"],
        tol=options["tol"],
        max_iter=PASSES,
        n_jobs=cores,
        fit_intercept=True,
        random_state=0,
    )
    model.fit(*data)
    return model


def solution(model: Any) -> tuple[np.ndarray, np.ndarray, int | None]:
    """Its coefficients are one column for each class, or one vector."""
    coef, intercept = np.asarray(model.coef_, np.float64), np.ravel(model.intercept_)
    coef = coef[None, :] if coef.ndim == 1 else coef.T if coef.shape[0] != len(intercept) else coef
    return coef, intercept, None
