"""Random problems for the hunt: every estimator, feature scales from 1e-12 to 1e12, offsets,
weights, duplicates, C and gamma.

``draw(seed, k)`` is trial k of a seed, always the same one.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

KERNELS = (
    "rbf",
    "rbf",
    "rbf",
    "rbf",
    "linear",
    "poly",
    "laplacian",
    "chi2",
    "cosine",
    "sigmoid",
    "precomputed",
)
ESTIMATORS = (
    "SVC",
    "SVC",
    "SVC",
    "NuSVC",
    "SVR",
    "SVR",
    "NuSVR",
    "OneClassSVM",
    "LinearSVC",
    "LinearSVC",
    "LinearSVR",
    "LinearOneClassSVM",
    "PegasosSVC",
)
TIME_LIMIT = 1.0
"""Seconds a fit may take; what it has found by then is judged."""


class Trial(NamedTuple):
    """An estimator by name, its parameters, and what it is fitted on."""

    estimator: str
    parameters: dict[str, Any]
    X: Any
    y: np.ndarray | None
    weight: np.ndarray | None

    def __repr__(self) -> str:
        """Enough to recognise it."""
        given = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        kind = (
            f"{type(self.X).__name__} {self.X.dtype}"
            if sparse.issparse(self.X)
            else str(self.X.dtype)
        )
        classes = (
            ""
            if self.y is None or not self.is_classifier
            else f", {len(np.unique(self.y))} classes"
        )
        weights = (
            ""
            if self.weight is None
            else f", weights {self.weight.min():.3g} to {self.weight.max():.3g}"
        )
        return (
            f"{self.estimator}({given}) on {self.X.shape[0]} x {self.X.shape[1]} "
            f"{kind}{classes}{weights}"
        )

    @property
    def is_classifier(self) -> bool:
        """Whether y holds classes."""
        return self.estimator.endswith("SVC")


def _decades(rng: np.random.Generator, low: float, high: float) -> float:
    """A number of any magnitude between two powers of ten, rounded so that it reads well."""
    return float(f"{10 ** rng.uniform(low, high):.3g}")


def _size(rng: np.random.Generator) -> int:
    low, high = ((3, 12), (12, 60), (60, 200), (200, 600), (1030, 1500))[
        rng.choice(5, p=(0.25, 0.45, 0.2, 0.08, 0.02))
    ]
    return int(rng.integers(low, high))


def _features(rng: np.random.Generator, n: int) -> np.ndarray:
    """Samples of some shape, scale and offset, with duplicates or close pairs."""
    d = int(rng.choice((1, 2, 3, 5, 8, 30), p=(0.15, 0.25, 0.2, 0.2, 0.15, 0.05)))
    shape = rng.integers(5)
    if shape == 0:
        X = rng.normal(size=(n, d))
    elif shape == 1:
        X = rng.uniform(size=(n, d))
    elif shape == 2:
        X = rng.integers(-3, 4, size=(n, d)).astype(float)
    elif shape == 3:
        X = np.linspace(0, 1, n)[:, None] * rng.normal(size=d)
    else:
        X = rng.normal(size=(3, d))[rng.integers(3, size=n)] + 0.1 * rng.normal(size=(n, d))
    if rng.random() < 0.2:  # duplicates
        X = X[rng.integers(max(1, n // 2), size=n)]
    if rng.random() < 0.15:  # close pairs
        some = rng.integers(n, size=(3, 2))
        X[some[:, 0]] = X[some[:, 1]] * (1 + _decades(rng, -12, -2))
    if rng.random() < 0.1:
        X[:, rng.integers(d)] = rng.normal()
    if rng.random() < 0.15:
        X = X * 10 ** rng.uniform(-12, 12, size=d)
    elif rng.random() < 0.4:
        X = X * _decades(rng, -12, 12)
    if rng.random() < 0.2:
        X = X + np.abs(X).max() * _decades(rng, -1, 8)
    return X


def _labels(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    """Two classes, or three; from the features with noise, at random, or one of them rare."""
    n, kind = len(X), rng.integers(4)
    score = X @ rng.normal(size=X.shape[1])
    size = score.std() or 1.0
    if kind == 0:
        y = (score > np.median(score)).astype(int)
    elif kind == 1:
        y = (score + 0.5 * size * rng.normal(size=n) > np.median(score)).astype(int)
    elif kind == 2:
        y = rng.integers(3 if rng.random() < 0.3 else 2, size=n)
    else:
        y = (rng.random(n) < 0.1).astype(int)
    y[:2] = 0, 1
    return y


def _targets(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    score = X @ rng.normal(size=X.shape[1])
    z = score / (np.abs(score).max() or 1.0) + 0.1 * rng.normal(size=len(X))
    if rng.random() < 0.3:
        z = z * _decades(rng, -8, 8)
    if rng.random() < 0.2:
        z = z + np.abs(z).max() * _decades(rng, 0, 6)
    if rng.random() < 0.05:
        z = np.full(len(X), rng.normal())
    return z


def _weights(rng: np.random.Generator, n: int) -> np.ndarray | None:
    kind = rng.choice(6, p=(0.6, 0.12, 0.12, 0.06, 0.05, 0.05))
    if kind == 0:
        return None
    weight = rng.uniform(0.5, 2, n)
    if kind == 2:
        weight = 10 ** rng.uniform(-5, 5, n)
    elif kind == 3:
        weight = weight * _decades(rng, -20, 20)
    elif kind == 4:
        weight = rng.integers(1, 4, n).astype(float)
    elif kind == 5:
        weight[rng.random(n) < 0.3] = 0.0
        weight[:2] = 1.0
    return weight


def _kernel(rng: np.random.Generator, X: np.ndarray) -> tuple[dict[str, Any], np.ndarray]:
    """Parameters of a kernel and the data as it takes them."""
    name = str(rng.choice(KERNELS))
    given: dict[str, Any] = {"kernel": name}
    if name in ("rbf", "poly", "laplacian", "chi2", "sigmoid"):
        width = np.abs(X - X.mean(axis=0)).mean() ** 2 * X.shape[1]
        near = _decades(rng, -2, 2) / width if 1e-280 < width < 1e280 else 1.0
        given["gamma"] = (
            rng.choice(("scale", "scale", "auto"))
            if rng.random() < 0.4
            else near
            if rng.random() < 0.6
            else _decades(rng, -10, 10)
        )
        given["gamma"] = (
            str(given["gamma"]) if isinstance(given["gamma"], np.str_) else float(given["gamma"])
        )
    if name in ("poly", "sigmoid"):
        given["coef0"] = float(rng.choice((0.0, 1.0, -1.0, 10.0)))
    if name == "poly":
        given["degree"] = int(rng.choice((1, 2, 3, 5)))
    if name == "chi2":
        X = np.abs(X)
    if name == "precomputed":
        Z = (X - X.mean(axis=0)) / (np.abs(X).max() or 1.0)
        X = Z @ Z.T
        if rng.random() < 0.3:
            X = X + np.diag(rng.uniform(0, 1, len(X)))
        elif rng.random() < 0.3:  # not positive semidefinite
            i, j = rng.integers(len(X), size=2)
            X[i, j] = X[j, i] = -10.0
    return given, X


def _form(rng: np.random.Generator, X: np.ndarray, given: dict[str, Any]) -> Any:
    """Dense or sparse, in double or single precision."""
    kind = rng.choice(4, p=(0.7, 0.1, 0.15, 0.05))
    if kind == 1 and np.abs(X).max() < 1e30:
        return X.astype(np.float32)
    if kind == 2 and given.get("kernel") != "precomputed":
        return sparse.csr_matrix(np.where(rng.random(X.shape) < 0.5, X, 0.0))
    return np.asfortranarray(X) if kind == 3 else X


def draw(seed: int, k: int) -> Trial:
    """Trial k of a seed."""
    rng = np.random.default_rng([seed, k])
    name = str(rng.choice(ESTIMATORS))
    X = _features(rng, _size(rng))
    given: dict[str, Any] = {"time_limit": TIME_LIMIT}
    linear = name.startswith("Linear")
    C = (
        float("inf")
        if rng.random() < 0.02 and name in ("SVC", "SVR")
        else _decades(rng, -2, 3)
        if rng.random() < 0.6
        else _decades(rng, -10, 10)
    )
    if name in ("SVC", "SVR", "NuSVR", "LinearSVC", "LinearSVR"):
        given["C"] = C
    if name == "PegasosSVC":
        given["alpha"] = _decades(rng, -6, 1)
    if not linear:
        kernel, X = _kernel(rng, X)
        given |= kernel
    if "Nu" in name or "OneClass" in name:
        given["nu"] = float(np.round(rng.uniform(0.01, 0.99), 3))
    if "SVR" in name and name != "NuSVR":
        given["epsilon"] = float(rng.choice((0.0, 0.01, 0.1, 1.0)))
    if name in ("SVC", "LinearSVC") and np.isfinite(C):
        given["loss"] = str(rng.choice(("hinge", "hinge", "squared_hinge")))
    if name in ("SVR", "LinearSVR") and np.isfinite(C) and rng.random() < 0.3:
        given["loss"] = "squared_epsilon_insensitive"
    if name in ("LinearSVC", "LinearSVR"):
        given["intercept"] = str(rng.choice(("free", "free", "regularised")))
        given["solver"] = str(rng.choice(("auto", "auto", "newton", "coordinate")))
    if name == "LinearSVC" and given["loss"] == "squared_hinge" and rng.random() < 0.3:
        given |= {"penalty": "l1", "solver": "auto"}
    if rng.random() < 0.3:
        given["tol"] = float(rng.choice((1e-2, 1e-5, 1e-8, 1e-12)))
    y = (
        None
        if "OneClass" in name
        else _labels(rng, X)
        if name.endswith("SVC")
        else _targets(rng, X)
    )
    return Trial(name, given, _form(rng, X, given), y, _weights(rng, X.shape[0]))
