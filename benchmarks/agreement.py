"""Whether a peer solved the same problem: its objective, optimality and decision values.

The primal objective of a peer's coefficients is computed in float64 on the training data, with the
formulas of maxmargin.certificate. A peer counts as right if both hold:

1. Its objective exceeds ours by at most the tolerance (relative), or every sample violates its
   optimality condition by at most LENIENT times the tolerance. The second is needed for large C,
   where a solution that meets the tolerance may be further above the optimum. It is lenient because
   LIBSVM's float32 cache costs it a factor of six on covtype10k with C=1e4; float32 solvers are off
   by a factor of 150.
2. Its decision values for new rows are those of its coefficients up to VALUES (median, relative to
   the median magnitude). This accepts float32 predictions, but not a wrong intercept or a broken
   prediction.

nu-SVC has the optimum of the C-SVC with C = 1 / margin, which is the largest coefficient.
Objectives use the margin of our solution, conditions that of the peer; the tolerance is in units of
the margin.
"""

from typing import Any, NamedTuple

import numpy as np
from cases import Case

from maxmargin.kernel import certificate as kernel_certificate
from maxmargin.kernel import multiclass
from maxmargin.kernel.kernels import NAMES, PARAMETERS, Kernel
from maxmargin.kernel.sources import make_source
from maxmargin.kernel.tube import insensitive

LENIENT = 10.0
VALUES = 0.01


class Judged(NamedTuple):
    """The values of the certificate's formulas for a solution."""

    primal: float
    kkt: float
    consistent: float
    """Median difference between its decision values and those of its coefficients, relative."""


def kernel_of(parameters: dict[str, Any]) -> Kernel:
    """The kernel record of a case."""
    kind = NAMES[parameters.get("kernel", "rbf")]
    return Kernel(
        kind, **{name: parameters[name] for name in PARAMETERS.get(kind, ()) if name in parameters}
    )


def _values(kernel: Kernel, X: Any, support: np.ndarray, coef: np.ndarray, rows: Any) -> np.ndarray:
    """K(rows, X[support]) coef in float64."""
    used = np.flatnonzero(coef)
    if len(used) == 0:
        return np.zeros(rows.shape[0])
    return make_source(kernel, X[support[used]], rows).product(
        None, np.ascontiguousarray(coef[used])
    )


def _certificate(
    case: Case, f: np.ndarray, target: np.ndarray, b: np.ndarray, intercept: float, margin_C: float
) -> Any:
    parameters, ones = case.parameters, np.ones(len(f))
    if case.problem == "SVR":
        tube = insensitive(target, parameters["C"] * ones, parameters["epsilon"])
        return kernel_certificate.regression(f, tube, b, intercept)
    if case.problem == "OneClassSVM":
        return kernel_certificate.one_class(f, ones, b, -intercept, parameters["nu"] * len(f))
    return kernel_certificate.classification(
        f, target, parameters.get("C", margin_C) * ones, b, intercept
    )


def judge(
    case: Case,
    X: Any,
    y: np.ndarray,
    Z: Any,
    found: dict[str, np.ndarray],
    margin_C: float = np.nan,
) -> Judged:
    """Objective, optimality and consistency of a solution (support, coef, intercept, decision)."""
    kernel, support = kernel_of(case.parameters), found["support"].astype(np.int64)
    if case.problem in ("SVC", "NuSVC"):
        tasks = multiclass.tasks(y.astype(np.int64), int(y.max()) + 1, False)
    else:
        tasks = [multiclass.BinaryTask(np.arange(len(y)), y.astype(np.float64))]
    primal, kkt, apart, size = 0.0, 0.0, [], []
    for k, task in enumerate(tasks):
        coef, intercept = found["coef"][k].astype(np.float64), float(found["intercept"][k])
        whole = len(task.samples) == X.shape[0]
        f = _values(kernel, X, support, coef, X if whole else X[task.samples]) + intercept
        b = np.zeros(X.shape[0])
        b[support] = coef
        part = _certificate(case, f, task.sign, b[task.samples], intercept, margin_C)
        primal += part.primal
        if case.problem == "NuSVC":
            own = largest(found)
            kkt = max(
                kkt,
                _certificate(case, f, task.sign, b[task.samples], intercept, own).kkt_violation
                / own,
            )
        else:
            kkt = max(kkt, part.kkt_violation)
        if k < 10:  # a few pairs suffice to see a wrong prediction
            expected = _values(kernel, X, support, coef, Z) + intercept
            apart.append(np.abs(expected - found["decision"][:, k]))
            size.append(np.abs(expected))
    return Judged(primal, kkt, float(np.median(apart) / max(np.median(size), 1e-12)))


def largest(found: dict[str, np.ndarray]) -> float:
    """1 / margin of a nu-SVC: the coefficients at their bound."""
    return float(np.abs(found["coef"]).max())


def verdict(case: Case, ours: Judged, peer: Judged) -> str:
    """Empty if right, else what is wrong."""
    worse = (peer.primal - ours.primal) / max(abs(ours.primal), 1e-300)
    if not np.isfinite(peer.primal):
        return "wrong answer (not finite)"
    if worse > case.tol and not peer.kkt <= LENIENT * case.tol:
        return f"wrong answer (objective {worse:+.2g}, conditions broken by {peer.kkt:.2g})"
    if not peer.consistent <= VALUES:
        return f"wrong decision values (median off by {peer.consistent:.1%})"
    return ""
