"""One fitted model of every estimator and variant, for the tests of model files: name -> function
that returns (model, X)."""

import warnings

import numpy as np
from scipy import sparse

from helpers import binary, three
from maxmargin import (
    SVC,
    SVR,
    Kernel,
    LinearOneClassSVM,
    LinearSVC,
    LinearSVR,
    NormaNovelty,
    NormaSVC,
    NuSVC,
    NuSVR,
    OneClassSVM,
    PegasosSVC,
    PerfSVC,
)
from maxmargin.estimators import liblinear


def _fitted(model, X, y=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y), X


def _two(model, wrap=np.asarray):
    X, y = binary()
    return lambda: _fitted(model(), wrap(X), y)


def _three(model, labels=(0, 1, 2), wrap=np.asarray):
    X, y = three()
    return lambda: _fitted(model(), wrap(X), np.array(labels)[y])


def _real(model):
    X, y = binary()
    return lambda: _fitted(model(), X, X[:, 0] + 0.3 * y)


def _kernel_matrix(model):
    X, y = binary()
    return lambda: _fitted(model(), X @ X.T, y)


KERNEL = {
    "SVC": _two(SVC),
    "SVC-linear": _two(lambda: SVC(kernel="linear")),
    "SVC-poly": _two(lambda: SVC(kernel="poly", degree=2, coef0=1.0)),
    "SVC-sigmoid": _two(lambda: SVC(kernel="sigmoid", gamma=0.05)),
    "SVC-sparse": _two(SVC, sparse.csr_matrix),
    "SVC-precomputed": _kernel_matrix(lambda: SVC(kernel="precomputed")),
    "SVC-three": _three(SVC),
    "SVC-three-ovo-shape": _three(lambda: SVC(decision_function_shape="ovo")),
    "SVC-three-break-ties": _three(lambda: SVC(break_ties=True)),
    "SVC-three-sparse": _three(SVC, wrap=sparse.csr_matrix),
    "NuSVC": _two(lambda: NuSVC(nu=0.4)),
    "NuSVC-three": _three(lambda: NuSVC(nu=0.3)),
    "SVR": _real(SVR),
    "SVR-squared": _real(lambda: SVR(loss="squared_epsilon_insensitive")),
    "NuSVR": _real(NuSVR),
    "OneClassSVM": _two(lambda: OneClassSVM(nu=0.2)),
}
"""What LIBSVM can say, too."""
OTHER_KERNEL = {
    "SVC-laplacian": _two(lambda: SVC(kernel="laplacian")),
    "SVC-chi2": _two(lambda: SVC(kernel="chi2", gamma=0.5), np.abs),
    "SVC-cosine": _two(lambda: SVC(kernel="cosine")),
    "SVC-logistic": _two(lambda: SVC(kernel=Kernel.logistic(sigma=2.0))),
    "SVC-record": _two(lambda: SVC(kernel=Kernel.rbf(sigma=1.5))),
    "SVC-strings": _three(SVC, labels=("ant", "bee", "cät")),
    "SVC-objects": lambda: _fitted(
        SVC(), three()[0], np.array(["ant", "bee", "c"], dtype=object)[three()[1]]
    ),
    "SVC-ovr": _three(lambda: SVC(multiclass="ovr", class_weight={0: 2.0, 1: 1.0, 2: 0.5})),
}
LINEAR = {
    "LinearSVC": _two(LinearSVC),
    "LinearSVC-three": _three(LinearSVC),
    "LinearSVC-l1": _two(lambda: LinearSVC(penalty="l1", C=0.1)),
    "LinearSVC-hinge": _two(lambda: LinearSVC(loss="hinge", fit_intercept=False)),
    "LinearSVC-together": _three(lambda: LinearSVC(multi_class="crammer_singer")),
    "LinearSVC-together-two": _two(lambda: LinearSVC(multi_class="crammer_singer")),
    "LinearSVR": _real(LinearSVR),
    "LinearSVR-squared": _real(
        lambda: LinearSVR(loss="squared_epsilon_insensitive", intercept="regularised")
    ),
    "LinearOneClassSVM": lambda: _fitted(LinearOneClassSVM(nu=0.2), binary()[0] + 3.0),
    "liblinear.LinearSVC": _three(liblinear.LinearSVC),
}
ONLINE = {
    "PegasosSVC": _two(lambda: PegasosSVC(alpha=0.01, random_state=0)),
    "PegasosSVC-rbf": _three(lambda: PegasosSVC(alpha=0.01, kernel="rbf", random_state=0)),
    "PegasosSVC-sparse": _two(
        lambda: PegasosSVC(alpha=0.01, kernel="rbf", random_state=0, budget=20), sparse.csr_matrix
    ),
    "PegasosSVC-precomputed": _kernel_matrix(
        lambda: PegasosSVC(alpha=0.01, kernel="precomputed", random_state=0)
    ),
    "NormaSVC": _three(lambda: NormaSVC(random_state=0)),
    "NormaNovelty": _two(lambda: NormaNovelty(nu=0.2, random_state=0)),
}
PLANES = {
    "PerfSVC": _two(lambda: PerfSVC("f1")),
    "PerfSVC-three-sparse": _three(lambda: PerfSVC("auc"), wrap=sparse.csr_matrix),
    "PerfSVC-rbf": _three(lambda: PerfSVC("f1", kernel="rbf")),
}
ALL = {**KERNEL, **OTHER_KERNEL, **LINEAR, **ONLINE, **PLANES}


def outputs(model, X):
    """Everything a model predicts."""
    found = [model.predict(X)]
    found += [model.decision_function(X)] if hasattr(model, "decision_function") else []
    return found
