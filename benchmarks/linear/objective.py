"""The one objective by which all libraries are judged, in float64 NumPy, from coef_ and intercept_.

    l2      1/2 sum |w_k|^2 + C sum_i loss_i            loss: (squared) hinge, (squared) epsilon-insensitive,
    l1          sum |w_k|_1 + C sum_i loss_i            or Crammer and Singer's  max_k over k != y_i of max(0, 1 - f_y + f_k)

with f_k = X w_k + b_k, one k for two classes (positive for class 1) and for regression, one for each class against the rest otherwise.
Two models: LIBLINEAR's ("regularised") counts each b_k as one more weight, of a column of ones; the other ("free") does not count it.
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
        signs = np.where(y == 1, 1.0, -1.0)[:, None] if f.shape[1] == 1 else np.where(y[:, None] == np.arange(f.shape[1]), 1.0, -1.0)
        slack = np.maximum(0.0, 1 - signs * f)
    return float((slack**2).sum() if kind.startswith("squared") else slack.sum())


def objective(parameters: dict[str, Any], model: str, X: Any, y: np.ndarray, coef: np.ndarray, intercept: np.ndarray) -> float:
    """The objective of a model, "regularised" or "free"; coef has one row for each k."""
    coef, intercept = np.asarray(coef, np.float64), np.asarray(intercept, np.float64)
    counted = np.column_stack([coef, intercept]) if model == "regularised" else coef
    size = np.abs(counted).sum() if parameters.get("penalty", "l2") == "l1" else 0.5 * (counted**2).sum()
    return float(size + parameters["C"] * _loss(parameters, y, np.asarray(X @ coef.T) + intercept))
