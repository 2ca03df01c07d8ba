"""One trial of the hunt: fit, certify, evaluate; what is wrong with the outcome, in words."""

import re
import warnings
from typing import Any

import numpy as np
from draw import Trial
from evaluate import NOISE, evaluate
from sklearn.exceptions import ConvergenceWarning

import maxmargin

SLACK = 1.5
"""A violation or a gap may exceed what was promised by this factor: long double sees other
roundings than float64."""
ROUNDING = 1e-9
"""A gap of this share of the objective is rounding, whatever tol."""
AGREEMENT = 1e-8
"""Decision values of a model may differ from those in long double by this share of the sums they
are made of."""


def judge(trial: Trial, model: Any, certified: Any) -> list[str]:
    """Every way in which a fitted model is not what it says it is."""
    found = []
    c = model.certificate_
    if c.status not in ("optimal", "approximate", "stationary"):
        return found
    if certified is not None and certified.status == "refuted":
        found.append(f"certify refutes: fit says {c}; certify {certified}")
    with np.errstate(all="ignore"):
        value = evaluate(trial, model)
    if value is None or c.status not in ("optimal", "approximate"):
        return found
    tol = model.tol
    linear = trial.estimator.startswith(("Linear", "Pegasos"))
    relative, violation = value.relative, 0.0 if linear else float(value.violation)
    allowed = SLACK * tol * (1 if linear else 10) + ROUNDING
    noise = NOISE * float(value.size)
    unit = getattr(getattr(model, "model_", None), "unit", 1.0)
    if not (relative <= allowed or value.gap <= NOISE * value.natural):
        found.append(
            f"long double refutes: relative gap {relative:.3g}, allowed {allowed:.3g}; fit says {c}"
        )
    elif not violation <= SLACK * tol * unit + noise and relative > ROUNDING:
        found.append(
            f"long double refutes: violation {violation:.3g}, tol {tol:g}, relative gap "
            f"{relative:.3g}; fit says {c}"
        )
    predicted = np.ravel(
        model.predict(trial.X) if "SVR" in trial.estimator else model.decision_function(trial.X)
    )
    error = float(np.abs(predicted - value.f).max())
    if not error <= AGREEMENT * float(value.size) + tol * unit:
        found.append(
            f"decision values are wrong by {error:.3g} of {float(value.size):.3g}; fit says {c}"
        )
    if trial.estimator == "LinearOneClassSVM":
        weight = np.ones(trial.X.shape[0]) if trial.weight is None else trial.weight
        outside, most = (
            weight[model.predict(trial.X) < 0].sum(),
            trial.parameters["nu"] * weight.sum(),
        )
        if not outside <= most * (1 + 1e-9):
            found.append(f"outliers weigh {outside:.6g}, at most {most:.6g} may; fit says {c}")
    if (
        trial.parameters.get("kernel") == "precomputed"
        and len(trial.y if trial.y is not None else trial.X) <= 600
    ):
        used = slice(None) if trial.weight is None else np.flatnonzero(trial.weight)
        K = np.asarray(trial.X, dtype=float)[used][:, used]
        least = np.linalg.eigvalsh((K + K.T) / 2)[0]
        # that of the entries, as they were given
        rounding = max(1e-6, len(K) * float(np.finfo(trial.X.dtype).eps))
        if least < -rounding * np.abs(K).max() and c.convexity in ("proved", "checked"):
            found.append(f"convexity {c.convexity}, least eigenvalue {least:.3g}; fit says {c}")
    return found


def run(trial: Trial) -> tuple[str, list[str]]:
    """The status of a trial's fit and what is wrong with it."""
    fitted = [trial.X] if trial.y is None else [trial.X, trial.y]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", category=UserWarning)
        try:
            model = getattr(maxmargin, trial.estimator)(**trial.parameters).fit(
                *fitted, sample_weight=trial.weight
            )
            certified = (
                model.certify(*fitted, sample_weight=trial.weight)
                if hasattr(model, "certify")
                else None
            )
            return model.certificate_.status, judge(trial, model, certified)
        except ValueError as error:
            return "ValueError: " + re.sub(r"[\d.e+-]*\d", "#", str(error))[:60], []
        except Exception as error:  # nothing else is an answer
            return type(error).__name__, [f"{type(error).__name__}: {error}"]
