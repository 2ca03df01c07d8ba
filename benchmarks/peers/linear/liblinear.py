"""LIBLINEAR's own Python package: sparse inside, one thread, classes in the order of their first
sample.

Building its nodes from arrays is not counted in the fit, though whoever uses it waits for it: it is
shown apart.
"""

from importlib.metadata import version as version_of
from typing import Any

import numpy as np
from liblinear.liblinearutil import parameter, problem, train
from scipy import sparse

REGRESSION = (11, 12, 13)


def version() -> str:
    """The library's version."""
    return version_of("liblinear-official")


def prepare(X: Any, y: np.ndarray, job: dict[str, Any]) -> Any:
    """Its problem structure, with a column of ones for the bias."""
    return problem(y.astype(np.float64), sparse.csr_matrix(X), 1.0)


def fit(data: Any, job: dict[str, Any], options: dict[str, Any]) -> Any:
    """Fit with its command-line options."""
    parameters = job["parameters"]
    epsilon = f" -p {parameters['epsilon']!r}" if "epsilon" in parameters else ""
    text = f"-q -s {options['solver']} -c {parameters['C']!r} -e {options['tol']!r} -B 1{epsilon}"
    return train(data, parameter(text))


def solution(model: Any) -> tuple[np.ndarray, np.ndarray, int | None]:
    """Weights of the C structure: features by decision functions, the bias last."""
    labels = [] if model.param.solver_type in REGRESSION else model.get_labels()
    functions = model.nr_class if len(labels) > 2 or model.param.solver_type == 4 else 1
    size = model.nr_feature + 1
    w = np.array(model.w[: size * functions]).reshape(size, functions).T
    if functions > 1:
        w = w[np.argsort(labels)]
    elif labels and labels[0] == 0:
        w = -w
    return w[:, :-1], w[:, -1], None
