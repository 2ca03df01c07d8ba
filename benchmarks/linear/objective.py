"""The one objective by which all libraries are judged, and a bound below it that nobody can pass,
in float64 NumPy.

    l2      1/2 sum |w_k|^2 + C sum_i loss_i
    l1          sum |w_k|_1 + C sum_i loss_i

The loss is the (squared) hinge, the (squared) epsilon-insensitive loss, or Crammer and Singer's
max_k over k != y_i of max(0, 1 - f_y + f_k). The decision values are f_k = X w_k + b_k: one k for
two classes (positive for class 1) and for regression, otherwise one for each class against the
rest. There are two models: LIBLINEAR's ("regularised") penalises each b_k as the weight of a column
of ones; the other ("free") does not penalise it.

By weak duality every feasible point t of the dual gives a lower bound on every objective, whoever
found t:

    l2      sum_i gain_i(t) - 1/2 sum_k |X't_k|^2
    l1      sum_i gain_i(t)                        where |X't| <= 1

A regularised bias adds -1/2 (sum_i t_ki)^2 for l2 and needs |sum_i t_i| <= 1 for l1; a free bias
needs sum_i t_ki = 0.

``lower_bound`` makes a point feasible before it evaluates it, so that it trusts nothing about t.
"""

from typing import Any

import numpy as np


def _loss(parameters: dict[str, Any], y: np.ndarray, f: np.ndarray) -> float:
    """Sum of the losses of decision values f, one column for each k."""
    kind = parameters["loss"]
    if parameters.get("multi_class") == "crammer_singer":
        rows = np.arange(len(y))
        own = f[rows, y].copy()
        f[rows, y] = -np.inf
        return float(np.maximum(0.0, 1 - own + f.max(1)).sum())
    if "insensitive" in kind:
        slack = np.maximum(0.0, np.abs(f[:, 0] - y) - parameters["epsilon"])[:, None]
    else:
        signs = (
            np.where(y == 1, 1.0, -1.0)[:, None]
            if f.shape[1] == 1
            else np.where(y[:, None] == np.arange(f.shape[1]), 1.0, -1.0)
        )
        slack = np.maximum(0.0, 1 - signs * f)
    return float((slack**2).sum() if kind.startswith("squared") else slack.sum())


def objective(
    parameters: dict[str, Any],
    model: str,
    X: Any,
    y: np.ndarray,
    coef: np.ndarray,
    intercept: np.ndarray,
) -> float:
    """The objective of a model, "regularised" or "free"; coef has one row for each k."""
    coef, intercept = np.asarray(coef, np.float64), np.asarray(intercept, np.float64)
    counted = np.column_stack([coef, intercept]) if model == "regularised" else coef
    size = (
        np.abs(counted).sum()
        if parameters.get("penalty", "l2") == "l1"
        else 0.5 * (counted**2).sum()
    )
    return float(size + parameters["C"] * _loss(parameters, y, np.asarray(X @ coef.T) + intercept))


def lower_bound(
    parameters: dict[str, Any], model: str, X: Any, y: np.ndarray, duals: np.ndarray
) -> float:
    """A number below every objective of the problem, from any duals: a row for each k,
    coef_k = sum_i t_ki x_i."""
    if parameters.get("multi_class") == "crammer_singer":
        t = _crammer_singer_feasible(parameters["C"], y, np.array(duals, np.float64))
        gain = float(t[y, np.arange(len(y))].sum())
    else:
        t = _feasible(parameters, model, y, np.array(duals, np.float64))
        gain = _gain(parameters, y, t)
    sums = t.sum(axis=1)
    Xt = np.asarray(X.T @ t.T)
    if parameters.get("penalty", "l2") == "l1":
        reach = max(
            1.0,
            float(np.abs(Xt).max()),
            float(np.abs(sums).max()) if model == "regularised" else 0.0,
        )
        return _gain(parameters, y, t / reach)
    return (
        gain
        - 0.5 * float((Xt**2).sum())
        - (0.5 * float((sums**2).sum()) if model == "regularised" else 0.0)
    )


def _signs(parameters: dict[str, Any], y: np.ndarray, t: np.ndarray) -> np.ndarray:
    """The sign each dual must have; 0 where it may have both."""
    if "insensitive" in parameters["loss"]:
        return np.zeros_like(t)
    own = y[None, :] == (1 if len(t) == 1 else np.arange(len(t))[:, None])
    return np.where(own, 1.0, -1.0)


def _feasible(parameters: dict[str, Any], model: str, y: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Duals inside their bounds; of sum 0 where the bias is free, by taking off the side that is
    too heavy."""
    signs, C = _signs(parameters, y, t), parameters["C"]
    t = np.where(signs == 0, t, np.where(signs * t > 0, t, 0.0))
    if not parameters["loss"].startswith("squared"):
        t = np.clip(t, -C, C)
    if model == "free":
        for row in t:
            excess = row.sum()
            heavy = row * excess > 0
            row[heavy] *= 1 - abs(excess) / np.abs(row[heavy]).sum() if heavy.any() else 1.0
    return t


def _gain(parameters: dict[str, Any], y: np.ndarray, t: np.ndarray) -> float:
    gain = (
        np.abs(t).sum()
        if "insensitive" not in parameters["loss"]
        else (y * t).sum() - parameters["epsilon"] * np.abs(t).sum()
    )
    return float(
        gain
        - (
            (t**2).sum() / (4 * parameters["C"])
            if parameters["loss"].startswith("squared")
            else 0.0
        )
    )


def _crammer_singer_feasible(C: float, y: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Only the own class is positive, at most C, and each sample's duals sum to 0."""
    rows = np.arange(len(y))
    t[y, rows] = 0.0
    t = np.minimum(t, 0.0)
    total = -t.sum(axis=0)
    t *= np.minimum(1.0, C / np.where(total > 0, total, 1.0))
    t[y, rows] = -t.sum(axis=0)
    return t
