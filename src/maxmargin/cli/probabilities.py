"""LIBSVM's -b 1: learn the probabilities that a model file holds as probA and probB, and use them.

As in LIBSVM, each pair of classes is cross-validated with five folds: decision values of a fold
come from a machine trained on the other four. Fits of regressions (interval=True) and of one-class
machines (probability=True) learn the numbers of their files themselves. calibration.py has the
formulas.
"""

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from maxmargin import calibration
from maxmargin.cli import fitting
from maxmargin.cli.options import labels
from maxmargin.estimators._calibrated import has_probabilities, method_of
from maxmargin.estimators.libsvm_layout import libsvm_sign
from maxmargin.estimators.records import problem_of
from maxmargin.io.table_columns import Data
from maxmargin.kernel import multiclass
from maxmargin.kernel.model import KernelModel, Problem

FOLDS = 5


def learn(model: Any, data: Data, seed: int = 0) -> None:
    """Give a fitted classifier its probA and probB."""
    y = labels(data.y)
    fitted = [
        _sigmoid(model, data.X, y, model.classes_[[i, j]], seed)
        for i, j in multiclass.pairs(len(model.classes_))
    ]
    a, b = np.array(fitted).T.copy()
    model.model_ = replace(model.model_, prob_a=a, prob_b=b)


def _sigmoid(model: Any, X: Any, y: Any, pair: Any, seed: int) -> tuple[float, float]:
    """Return A and B of a pair of classes."""
    rows = np.flatnonzero(np.isin(y, pair))
    alone = clone(model)
    if isinstance(model.get_params().get("class_weight"), dict):
        alone.set_params(
            class_weight={
                label: weight for label, weight in model.class_weight.items() if label in pair
            }
        )
    part = X[rows][:, rows] if fitting.takes_kernel(model) else X[rows]
    values = _out_of_fold(alone, part, y[rows], seed)
    # ours is positive for the second class
    return calibration.fit_sigmoid(-values, y[rows] == pair[0])


def _out_of_fold(model: Any, X: Any, y: Any, seed: int) -> Any:
    """Return decision values from models of the other folds."""
    least = int(np.unique(y, return_counts=True)[1].min())
    if least < 2:
        raise ValueError(
            "-b 1 needs at least two samples of each class: it learns probabilities from samples "
            "that a fold leaves out"
        )
    found = np.empty(len(y))
    for outside, fitted, rows in fitting.by_folds(model, X, y, min(FOLDS, least), seed):
        found[outside] = fitted.decision_function(rows)
    return found


def probabilities(model: Any, X: Any, path: str) -> tuple[Any, Any]:
    """Return the classes, in the order of the model's file if known, and their probabilities.

    They are LIBSVM's, whose greatest need not be the label; those of a fit with probability=True
    are predict_proba's. Inliers (1) of a one-class model come before outliers (-1).
    """
    if problem_of(model) is Problem.ONE_CLASS and len(model.model_.marks):
        inside = calibration.inside_probability(model.decision_function(X), model.model_.marks)
        return np.array([1, -1]), np.column_stack([inside, 1 - inside])
    known = problem_of(model) is not None and is_classifier(model)
    if not known or not has_probabilities(model.model_):
        raise ValueError(f"{path} has no probabilities: train it with svm-train -b 1")
    record: KernelModel = model.model_
    if method_of(model.probability) is not None:
        return model.classes_, model.predict_proba(X)
    pairs = copy(model).set_params(decision_function_shape="ovo").decision_function(X)
    values = libsvm_sign(record) * pairs.reshape(len(pairs), -1)
    classes = model.classes_
    p = calibration.pair_probabilities(values, record.prob_a, record.prob_b, len(classes))
    order = np.arange(len(classes)) if record.label_order is None else record.label_order
    return classes[order], p[:, order]
