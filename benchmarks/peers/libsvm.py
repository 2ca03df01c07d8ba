"""LIBSVM's own Python package: sparse inside, one thread, classes in the order of their first
sample.

Building its nodes from arrays is not counted in the fit (it takes longer than small fits); in
predict it is part of the call.
"""

from importlib.metadata import version as version_of
from typing import Any

import numpy as np
from libsvm import svmutil
from scipy import sparse

from peers import CACHE, Solution, in_order, unpack

PROBLEMS = {"SVC": 0, "NuSVC": 1, "OneClassSVM": 2, "SVR": 3}
KERNELS = {"linear": 0, "poly": 1, "rbf": 2}
OPTIONS = {
    "C": "c",
    "nu": "n",
    "epsilon": "p",
    "gamma": "g",
    "coef0": "r",
    "degree": "d",
    "tol": "e",
}


def version() -> str:
    """The library's version."""
    return version_of("libsvm-official")


def prepare(X: Any, y: np.ndarray) -> Any:
    """Its problem structure; rows go in as CSR, which drops zeros as its dense route does."""
    return svmutil.svm_problem(y.astype(np.float64), sparse.csr_matrix(X))


def rows(Z: Any) -> Any:
    """As they are."""
    return Z


def fit(data: Any, problem: str, parameters: dict[str, Any]) -> Any:
    """Fit with its command-line options."""
    options = [
        f"-{OPTIONS[name]} {value!r}" for name, value in parameters.items() if name in OPTIONS
    ]
    text = (
        f"-q -s {PROBLEMS[problem]} -t {KERNELS[parameters.get('kernel', 'rbf')]} -m {CACHE} "
        f"{' '.join(options)}"
    )
    model = svmutil.svm_train(data, svmutil.svm_parameter(text))
    model.problem = problem
    return model


def predict(model: Any, Z: Any) -> np.ndarray:
    """Labels or values, row by row as the package does it."""
    return np.array(svmutil.svm_predict([], Z, model, "-q")[0])


def decide(model: Any, Z: Any) -> np.ndarray:
    """Values, one column for each decision function."""
    labels, _, values = svmutil.svm_predict([], Z, model, "-q")
    if model.problem == "SVR":
        return np.array(labels)[:, None]
    return in_order(np.array(values), _order(model)) if "SVC" in model.problem else np.array(values)


def _order(model: Any) -> np.ndarray:
    return np.array(model.get_labels())


def solution(model: Any) -> Solution:
    """Coefficients of the C structure; f = sum - rho."""
    count, classes = model.l, model.nr_class
    coef = np.array([model.sv_coef[k][:count] for k in range(classes - 1)])
    intercept = -np.array(model.rho[: classes * (classes - 1) // 2])[None, :]
    if "SVC" in model.problem:
        coef = in_order(unpack(coef, np.array(model.nSV[:classes])).T, _order(model)).T
        intercept = in_order(intercept, _order(model))
    return Solution(
        np.array(model.get_sv_indices()) - 1, coef, intercept.ravel()[: len(coef)], None
    )
