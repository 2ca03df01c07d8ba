"""predict_interval of the regressions; intervals.py has the formulas."""

from abc import abstractmethod
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.validation import check_is_fitted

from maxmargin import calibration, intervals
from maxmargin.core.arrays import Floats, Integers
from maxmargin.estimators._machine import TrainingSet
from maxmargin.estimators._probability import sample_keys
from maxmargin.estimators._single import BaseSingle
from maxmargin.estimators._warnings import warn
from maxmargin.intervals import Folds
from maxmargin.kernel.held_out import NEVER, fold_machine, folds_of
from maxmargin.kernel.prediction import decision_values
from maxmargin.kernel.training import Trained


def folds_for(key: Integers) -> Integers:
    """The fold of each sample by its key; ValueError where all are equal."""
    folds = folds_of(key, np.zeros(len(key), np.int64))
    if (folds == NEVER).any():
        raise ValueError(
            "interval=True learns from samples that a fold leaves out, and needs at least two "
            f"different ones; got n_samples = {len(key)}, all equal."
        )
    return folds


def warn_early() -> None:
    """Machines without a fold did not get the time that they need."""
    warn(
        "A limit ended the training of machines on parts of the samples early, and intervals come "
        "from them. Raise max_iter or time_limit.",
        ConvergenceWarning,
    )


class PredictsIntervals:
    """predict_interval, from the machines without a fold and their errors."""

    @abstractmethod
    def _fold_values(self, X: Any) -> Floats:
        """Values of the machines without a fold, one column each."""

    def predict_interval(self, X: Any, confidence: Any = 0.9) -> Floats:
        """Intervals that hold new targets with a given confidence.

        They come from errors on samples that a machine was not trained on, in five folds (CV+;
        ``maxmargin.intervals`` states what is guaranteed). The coverage is that of an average
        sample: the width hardly varies with X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; (n_samples, n_samples_fit) kernel values for ``kernel="precomputed"``.
        confidence : float or array-like of shape (n_confidences,), default=0.9
            Share of the targets that the intervals are to hold, between 0 and 1. Where the fit had
            too few samples for it, the intervals are infinite, with a warning.

        Returns
        -------
        interval : ndarray of shape (n_samples, 2) or (n_confidences, n_samples, 2)
            Lower and upper ends. ``predict(X)`` is not always between them: they are those of the
            machines without a fold.

        Examples
        --------
        >>> from maxmargin import SVR
        >>> from sklearn.datasets import load_diabetes
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = SVR(C=100, interval=True).fit(X[:300], y[:300])
        >>> lower, upper = model.predict_interval(X[300:], confidence=0.8).T
        >>> float(((lower <= y[300:]) & (y[300:] <= upper)).mean().round(2))
        0.83
        """
        check_is_fitted(self)
        folds: Folds | None = self.model_.folds  # type: ignore[attr-defined]
        if folds is None:
            raise NotFittedError(
                f"This {type(self).__name__} was fitted without intervals: set interval=True and "
                f"fit it again; for a search, estimator={type(self).__name__}(interval=True)."
            )
        levels = _levels(confidence)
        for level in levels:
            if not intervals.enough(folds, level):
                warn(
                    f"The intervals are infinite: confidence={level:g} needs samples of total "
                    f"weight {level / (1 - level):.4g}, and the fit had {folds.weight.sum():.4g}. "
                    "Use a lower confidence, or more samples.",
                    UserWarning,
                )
        found = intervals.bounds(folds, self._fold_values(X), levels)
        return found[0] if np.ndim(confidence) == 0 else found


class GivesIntervals(PredictsIntervals, BaseSingle):
    """Learning errors out of fold by a kernel machine."""

    def _folds(self, data: TrainingSet) -> Integers | None:
        """The fold of each sample in use, if intervals are asked for."""
        if not self.interval:
            return None
        return folds_for(sample_keys(data.kernel.kind, data.samples, self.random_state))

    def _learn_from_folds(
        self, data: TrainingSet, trained: Trained, folds: Integers, z: Floats, weight: Floats
    ) -> None:
        """Keep the machines without a fold and their errors, and the scale of these."""
        if trained.held_out is None:
            return
        machine = fold_machine(self.model_, data.X, data.used, trained.held_out_by)
        error = np.abs(z - trained.held_out)
        scale = calibration.laplace_scale(error, weight)
        kept = intervals.collect(machine, error, weight, folds)
        self.model_ = replace(self.model_, folds=kept, prob_a=np.array([scale]))
        if trained.held_out_early and trained.status.converged:
            warn_early()

    def _fold_values(self, X: Any) -> Floats:
        folds = self.model_.folds
        assert folds is not None
        return decision_values(folds.machine, self._validate_X(X, reset=False))


def _levels(confidence: Any) -> Floats:
    """The confidences as an array; ValueError for those that are none."""
    levels = np.asarray(confidence)
    numbers = isinstance(confidence, Real) or levels.dtype.kind in "fiu"
    levels = np.atleast_1d(levels).astype(np.float64) if numbers else np.empty(0)
    good = levels.ndim == 1 and len(levels) > 0
    if not good or not ((levels > 0) & (levels < 1)).all():
        raise ValueError(
            f"confidence must be a number between 0 and 1, or a list of them; got {confidence!r}."
        )
    return levels
