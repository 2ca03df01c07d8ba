"""What a fitted model is worth, in long double, by code that shares nothing with maxmargin.

Kernels are written out here, distances are sums of squared differences, and every problem is its
primal and its dual as the textbooks have them. With coefficients b, decision values f = K b + bias
and |w|^2 = b'K b:

    SVC          P = 1/2 |w|^2 + sum C_i max(0, 1 - y_i f_i)^p
                 D = sum |b_i| - 1/2 |w|^2  (- sum b_i^2 / 4 C_i for p = 2)
    SVR          P = 1/2 |w|^2 + sum C_i max(0, |z_i - f_i| - eps)^p
                 D = z'b - eps sum |b_i| - 1/2 |w|^2  (likewise)
    OneClassSVM  P = 1/2 |w|^2 - rho nu sum C_i + sum C_i max(0, rho - f_i)
                 D = -1/2 |w|^2
    NuSVC        the SVC with C_i = weight_i / r, r = nu sum weight_i / sum |b_i|
    NuSVR        the SVR whose eps minimises P + nu eps sum C_i

and the linear models alike with w given by the model and the dual from its dual_coef_.
"""

from typing import Any, NamedTuple

import numpy as np
from draw import Trial
from scipy import sparse

Long = np.longdouble
NOISE = 1e-13
"""Sums of float64 are known to this share of the magnitudes they are made of."""
AT_BOUND = Long(1 - 1e-13)
"""Share of its bound from which a dual is at it: the bounds of nu-SVC are computed here from other
sums than in the fit."""
UNKNOWN = ("sigmoid",)
"""Kernels for which nothing is called optimal."""


class Value(NamedTuple):
    """A model's objective, the gap to a lower bound, and the greatest violation of an optimality
    condition.
    """

    primal: Any
    gap: Any
    violation: Any
    size: Any
    """The greatest sum of magnitudes that a decision value is the sum of: what its rounding is
    relative to."""
    natural: Any
    """What the rounding of the gap is relative to: sizes of decision values times bounds of the
    duals."""
    f: np.ndarray
    """Decision values of the training samples."""

    @property
    def relative(self) -> float:
        """The gap as a share of the objective."""
        scale = max(abs(self.primal), abs(self.primal - self.gap), np.finfo(float).tiny)
        return float(self.gap / scale)


def _dense(X: Any) -> np.ndarray:
    return np.asarray(X.toarray() if sparse.issparse(X) else X).astype(Long)


def kernel_matrix(
    name: str, A: np.ndarray, B: np.ndarray, gamma: float, coef0: float, degree: int
) -> np.ndarray:
    """k(A, B) by the formulas of the textbooks, one row of A at a time."""
    gamma, coef0 = Long(gamma), Long(coef0)
    if name == "rbf":
        return np.array([np.exp(-gamma * ((a - B) ** 2).sum(axis=1)) for a in A])
    if name == "laplacian":
        return np.array([np.exp(-gamma * np.abs(a - B).sum(axis=1)) for a in A])
    if name == "chi2":
        return np.array([np.exp(-gamma * _ratio((a - B) ** 2, a + B).sum(axis=1)) for a in A])
    dot = A @ B.T
    if name == "cosine":
        lengths = [np.sqrt((X * X).sum(axis=1)) for X in (A, B)]
        return _ratio(dot, np.outer(*lengths))
    return (gamma * dot + coef0) ** degree if name == "poly" else dot


def _diagonal(name: str, X: np.ndarray, model: Any, given: dict[str, Any]) -> np.ndarray:
    """k(x, x) of every sample."""
    parameters = model._gamma, given.get("coef0", 0), given.get("degree", 3)
    return np.array([kernel_matrix(name, x[None], x[None], *parameters)[0, 0] for x in X])


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(b == 0, Long(0), a / np.where(b == 0, Long(1), b))


def _soft(f: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By how much decision values are below and above where they should be."""
    return np.maximum(0, low - f), np.maximum(0, f - high)


def _value(
    norm: Any, f: Any, bias: Any, b: Any, low: Any, high: Any, C: Any, squared: bool, size: Any
) -> Value:
    """Losses outside [low, high]; b is the dual, positive below and negative above."""
    below, above = _soft(f, low, high)
    slack, power = below + above, 2 if squared else 1
    edge = np.where(b > 0, np.where(b != 0, low, 0), np.where(b != 0, high, 0))
    ridge = (
        np.where(b != 0, b * b / (4 * np.where(C > 0, C, 1)), 0) if squared else np.zeros_like(b)
    )
    loss = np.where(slack > 0, np.where(np.isinf(C), 1, C) * slack**power, 0)
    loss = np.where(np.isinf(C), 0, loss)
    primal = norm / 2 + loss.sum()
    gap = (loss + b * f - np.where(b != 0, edge * b, 0) + ridge).sum() + abs(bias * b.sum())
    if squared:
        violation = np.abs(slack - np.abs(b) / (2 * np.where(C > 0, C, 1)))[C > 0].max(initial=0)
    else:
        inside = np.where(b > 0, f - low, np.where(b < 0, high - f, 0))
        violation = max(
            np.where(np.abs(b) < C * AT_BOUND, slack, 0).max(initial=0), inside.max(initial=0)
        )
    return Value(primal, gap, violation, size, _natural(size, C, b), f)


def _bounds(weight: np.ndarray, C: float) -> np.ndarray:
    """C_i as a fit has them: rounded to float64, 0 for samples that do not count."""
    with np.errstate(invalid="ignore"):
        return np.where(weight == 0, 0.0, weight * C).astype(Long)


def _natural(size: Any, C: np.ndarray, b: np.ndarray) -> Any:
    return size * (np.where(np.isinf(C), 0, C).sum() + np.abs(b).sum())


def _best_width(r: np.ndarray, C: np.ndarray, nu: float) -> Any:
    """The eps that minimises nu eps sum C + sum C max(0, r - eps): a weighted quantile of the
    residuals r."""
    order = np.argsort(-r)
    outside = np.cumsum(C[order])
    first = int(np.searchsorted(outside, nu * C.sum()))
    return r[order[min(first, len(r) - 1)]]


def evaluate(trial: Trial, model: Any) -> Value | None:
    """The value of a fitted model on what it was fitted on; None where nothing is known here."""
    n = trial.X.shape[0]
    given, weight = trial.parameters, np.ones(n) if trial.weight is None else trial.weight
    if given.get("kernel") in UNKNOWN or (trial.is_classifier and len(model.classes_) > 2):
        return None
    if trial.estimator == "PegasosSVC":
        return _pegasos(trial, model, weight)
    squared = str(given.get("loss", "")).startswith("squared") or (
        trial.estimator == "LinearSVC" and "loss" not in given
    )
    if trial.estimator.startswith("Linear"):
        return _linear(trial, model, weight, squared)
    name, intercept = given["kernel"], Long(np.ravel(model.intercept_)[0])
    X = _dense(trial.X)
    b = np.zeros(n, Long)
    coef = model.dual_coef_
    b[model.support_] = np.ravel(coef.toarray() if sparse.issparse(coef) else coef).astype(Long)
    used = np.flatnonzero(b)
    K = (
        X[:, used]
        if name == "precomputed"
        else kernel_matrix(
            name, X, X[used], model._gamma, given.get("coef0", 0), given.get("degree", 3)
        )
    )
    kernel_part = K @ b[used]
    norm = b @ kernel_part
    f = kernel_part + intercept
    size = (np.abs(K) @ np.abs(b[used])).max(initial=0) + abs(intercept)
    infinite = np.full(n, Long(np.inf))
    if trial.is_classifier:
        y = np.where(trial.y == model.classes_[1], 1, -1)
        C = (
            _bounds(weight, given["C"])
            if "C" in given
            else weight * (np.abs(b).sum() / (given["nu"] * weight.astype(Long).sum()))
        )
        return _value(
            norm,
            f,
            intercept,
            b,
            np.where(y > 0, 1, -infinite),
            np.where(y > 0, infinite, -1),
            C,
            squared,
            size,
        )
    if trial.estimator == "OneClassSVM":
        below, weight = np.maximum(0, -f), weight.astype(Long)
        total = Long(given["nu"]) * weight.sum()
        primal = norm / 2 + intercept * total + (weight * below).sum()
        gap = (weight * below + b * f).sum() + abs(intercept * (b.sum() - total))
        violation = max(
            np.where(b < weight * AT_BOUND, below, 0).max(initial=0),
            np.where(b > 0, f, 0).max(initial=0),
        )
        largest = np.abs(
            X.diagonal() if name == "precomputed" else _diagonal(name, X, model, given)
        ).max(initial=0)
        return Value(
            primal,
            gap,
            violation,
            size,
            _natural(size, weight, b) + total * (total + weight.sum()) * largest,
            f,
        )
    z, C = trial.y.astype(Long), _bounds(weight, given["C"])
    epsilon = (
        Long(given["epsilon"]) if "epsilon" in given else _best_width(np.abs(z - f), C, given["nu"])
    )
    if np.isinf(C).any():
        epsilon = max(epsilon, np.abs(z - f)[np.isinf(C)].max())
    found = _value(
        norm, f, intercept, b, z - epsilon, z + epsilon, C, squared, size + np.abs(z).max()
    )
    if trial.estimator == "NuSVR":
        surplus = Long(given["nu"]) * C.sum() - np.abs(b).sum()  # the dual bounds the sum of |b|
        return found._replace(
            primal=found.primal + given["nu"] * C.sum() * epsilon, gap=found.gap + epsilon * surplus
        )
    return found


def _pegasos(trial: Trial, model: Any, weight: np.ndarray) -> Value:
    """P of the model and D of the duals that were found with it, which belong to other points of
    the space.

    P = alpha/2 |w|^2 + sum p_i max(0, 1 - y_i f_i), p_i the shares of the weights; D is that of SVC
    with C_i = p_i / alpha, times alpha.
    """
    given, X, n = trial.parameters, _dense(trial.X), len(trial.y)
    y = np.where(trial.y == model.classes_[1], 1, -1)
    alpha, p = Long(given["alpha"]), weight.astype(Long) / weight.astype(Long).sum()
    t, b = np.ravel(model.model_.duals.toarray()).astype(Long), np.zeros(n, Long)
    name = given["kernel"]
    if name == "linear":
        w, Xt = np.ravel(model.coef_).astype(Long), X.T @ t
        kernel_part, norm, dual_norm = X @ w, w @ w, Xt @ Xt
        terms = np.abs(X) @ np.abs(w)
    else:
        b[model.support_] = np.ravel(model.dual_coef_).astype(Long)
        kernel = model.kernel_
        K = (
            X
            if name == "precomputed"
            else kernel_matrix(
                name, X, X, kernel.gamma, given.get("coef0", 0), given.get("degree", 3)
            )
        )
        kernel_part, norm, dual_norm = K @ b, b @ K @ b, t @ K @ t
        terms = np.abs(K) @ np.abs(b)
    bias = Long(model.intercept_[0])
    f = kernel_part + bias
    size = terms.max(initial=0) + abs(bias)
    primal = alpha * norm / 2 + (p * np.maximum(0, 1 - y * f)).sum()
    dual = alpha * (np.abs(t).sum() - dual_norm / 2) - alpha * abs(bias * t.sum())
    outside = np.maximum(0, np.maximum(-y * t, y * t - p / alpha)).max(initial=0)
    constant = 2 * min(p[y > 0].sum(), p[y < 0].sum())
    gap = primal - dual + (np.inf if outside > 1e-9 * np.abs(t).max(initial=0) else 0)
    return Value(max(primal, constant), gap, Long(0), size, size, f)


def _linear(trial: Trial, model: Any, weight: np.ndarray, squared: bool) -> Value:
    X, given = _dense(trial.X), trial.parameters
    w, t = np.ravel(model.coef_).astype(Long), np.ravel(model.dual_coef_.toarray()).astype(Long)
    bias, n = Long(np.ravel(model.intercept_)[0]), len(X)
    f = X @ w + bias
    size = (np.abs(X) @ np.abs(w)).max(initial=0) + abs(bias)
    infinite = np.full(n, Long(np.inf))
    total = Long(0)
    if trial.is_classifier:
        y = np.where(trial.y == model.classes_[1], 1, -1)
        low, high, C = (
            np.where(y > 0, 1, -infinite),
            np.where(y > 0, infinite, -1),
            _bounds(weight, given["C"]),
        )
    elif trial.estimator == "LinearOneClassSVM":
        low, high, C = np.zeros(n, Long), infinite, weight.astype(Long)
        total = Long(given["nu"]) * C.sum()
    else:
        z, epsilon = trial.y.astype(Long), Long(given["epsilon"])
        low, high, C, size = (
            z - epsilon,
            z + epsilon,
            _bounds(weight, given["C"]),
            size + np.abs(z).max(),
        )
    m = Long(1) if given.get("intercept") == "regularised" else Long(0)
    Xt, excess = X.T @ t, t.sum() - total
    below, above = _soft(f, low, high)
    slack, power = below + above, 2 if squared else 1
    gain = np.where(t > 0, np.where(t != 0, low, 0) * t, np.where(t != 0, high, 0) * t)
    gain = np.where(t == 0, 0, gain)
    ridge = (
        np.where(t != 0, t * t / (4 * np.where(C > 0, C, 1)), 0) if squared else np.zeros_like(t)
    )
    loss = (C * slack**power).sum()
    if given.get("penalty") == "l1":
        shrink = 1 / max(Long(1), np.abs(Xt).max(initial=0), abs(excess) if m > 0 else Long(0))
        primal = np.abs(w).sum() + m * abs(bias) + loss
        dual = shrink * gain.sum() - shrink**2 * ridge.sum() - (0 if m > 0 else abs(bias * excess))
    else:
        primal = (w @ w) / 2 + m * bias**2 / 2 + total * bias + loss
        dual = (
            gain.sum()
            - ridge.sum()
            - (Xt @ Xt) / 2
            - (excess**2 / 2 if m > 0 else abs(bias * excess))
        )
    natural = _natural(size, C, t) + (total**2 * (X * X).sum(axis=1).max(initial=0) if total else 0)
    # what X't may be wrong by, the duals being float64
    rounded = np.abs(X).T @ np.abs(t) * Long(2**-53)
    natural += (rounded @ rounded) / 2 / NOISE
    return Value(primal, primal - dual, Long(0), size, natural, f)
