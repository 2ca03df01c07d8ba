"""Intervals in ONNX: quantiles of f_k(x) + e by sorting (intervals.py), at one confidence."""

from typing import Any

import numpy as np

from maxmargin.intervals import SETTINGS, Folds, enough


def check_confidence(folds: Folds, confidence: float) -> None:
    """ValueError for what is no confidence, or one that needs more samples."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be a number between 0 and 1, got {confidence!r}.")
    if not enough(folds, confidence):
        raise ValueError(
            f"confidence={confidence:g} needs samples of total weight "
            f"{confidence / (1 - confidence):.4g}, and the fit had {folds.weight.sum():.4g}."
        )


def interval(g: Any, folds: Folds, values: str, confidence: float) -> str:
    """Lower and upper ends, two columns, from the values of the model and of the K machines."""
    of_fold = np.repeat(np.arange(len(folds.end)), np.diff(folds.end, prepend=0))
    own = g.op("Gather", values, of_fold + 1, axis=1)
    upper = _quantile(g, folds, g.op("Add", own, folds.error), confidence)
    lower = g.op("Neg", _quantile(g, folds, g.op("Sub", folds.error, own), confidence))
    middle = g.op("Mul", g.op("Add", lower, upper), 0.5)
    crossed = g.op("Greater", lower, upper)  # below a confidence of 1/2 alone
    ends = [g.op("Where", crossed, middle, end) for end in (lower, upper)]
    return str(g.op("Concat", *ends, axis=1))


def _quantile(g: Any, folds: Folds, sums: str, confidence: float) -> str:
    """The least of the sums up to which the weights are the share that confidence asks for."""
    need = confidence * (float(folds.weight.sum()) + 1) * (1 - SETTINGS.rounding)
    count = np.array([len(folds.error)])
    ascending, order = g.ops("TopK", 2, sums, count, axis=1, largest=0, sorted=1)
    weight = g.op("CumSum", g.op("Gather", folds.weight, order, axis=0), np.array([1]))
    reached = g.op("Cast", g.op("GreaterOrEqual", weight, need), to=g.onnx.TensorProto.INT64)
    place = g.op("ArgMax", reached, axis=1, keepdims=1)
    return str(g.op("GatherElements", ascending, place, axis=1))
