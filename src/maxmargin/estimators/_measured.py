"""PerfSVC below its interface: from labels to goals, one for each class against the rest."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers
from maxmargin.estimators._scored import Begin, PlaneData, PlaneMachine
from maxmargin.estimators._warnings import warn
from maxmargin.kernel.sources import take
from maxmargin.linear.objectives import ROUNDING
from maxmargin.monitor import Monitor
from maxmargin.structured.hinge import HingeLoss, solved_by_duals
from maxmargin.structured.measures import Measure, goal
from maxmargin.structured.risks import Goal, ScoreLoss
from maxmargin.structured.spaces import KernelSpace, LinearSpace


class Labelled(NamedTuple):
    """The data of a fit, and the label of each sample in use as a position in classes."""

    data: PlaneData
    label: Integers


class TrainsForMeasure(PlaneMachine):
    """Goals of a measure, and what it allows."""

    def _warn_of_constants(self, goals: Sequence[Goal], n: int) -> None:
        """Warn where the loss of a measure is least for a constant function."""
        if Measure(self.measure) is Measure.ERROR:
            return
        count = 0
        for one, part in zip(goals, self.model_.certificates, strict=True):
            constant = float(self.C) * one.loss(np.zeros(n)).offset
            gain = constant - part.primal
            no_gain = gain <= max(part.gap, ROUNDING * constant)
            count += part.status.converged and constant > 0 and no_gain
        if count:
            which = f" ({count} of {len(goals)} problems)" if len(goals) > 1 else ""
            warn(
                f"No function has a smaller loss of measure={self.measure!r} than a constant"
                f"{which}: the positive samples are not far enough above the best negative ones. "
                "Use measure='auc', measure='error' with class_weight='balanced', a larger k or C, "
                "or another kernel.",
                UserWarning,
            )

    def _refuse_combination(self) -> None:
        """Refuse parameters that the measure does not have."""
        measure = Measure(self.measure)
        if measure.has_k and self.k is None:
            raise ValueError(
                f"measure={self.measure!r} needs k: a number of samples, or a share of them such "
                "as k=0.1."
            )
        if not measure.has_k and self.k is not None:
            raise ValueError(
                f"k={self.k} has no effect on measure={self.measure!r}: it belongs to "
                "'precision_at_k' and 'recall_at_k'. Leave k at None."
            )
        if measure is not Measure.ERROR and self.class_weight is not None:
            raise ValueError(
                f"class_weight={self.class_weight!r} has no effect on measure={self.measure!r}, "
                "which says itself what an error of each class costs. Leave class_weight at None, "
                "or use measure='error'."
            )

    def _labelled(self, X: Any, label: Integers, weight: Floats, by_class: Floats) -> Labelled:
        """The samples of positive weight; weights are those of the samples times their class's."""
        if not Measure(self.measure).weighted:
            _refuse_fractions(weight, self.measure)
        data = self._prepared(X, weight)
        effective = data.weight * by_class[label[data.used]]
        kept = np.flatnonzero(effective > 0)
        used = data.used[kept]
        samples = data.samples if len(kept) == len(effective) else take(data.kernel.kind, X, used)
        data = data._replace(used=used, samples=samples, weight=effective[kept])
        return Labelled(data, label[used])

    def _goals(self, labelled: Labelled, n_classes: int) -> list[Goal]:
        """One goal for two classes, else one for each class against the rest."""
        weight, measure = labelled.data.weight, Measure(self.measure)
        k = self._count(weight) if measure.has_k else 0
        positive = [1] if n_classes == 2 else range(n_classes)
        return [
            goal(measure, labelled.label == one, weight, k, self.fit_intercept) for one in positive
        ]

    def _begin(
        self,
        space: LinearSpace | KernelSpace,
        loss: ScoreLoss,
        monitor: Monitor,
        start: Floats | None,
    ) -> Begin:
        """The hinge loss of a linear model has a solver of its own, which ends in one plane.

        It goes beyond tol where that costs little; asked for rounding it might never end.
        """
        if not (isinstance(loss, HingeLoss) and isinstance(space, LinearSpace)):
            return Begin(start)
        if not loss.has_both_classes:
            return Begin(start)
        w, plane = solved_by_duals(loss, space.design, float(self.C), float(self.tol), monitor)
        return Begin(w if start is None else start, (plane,))

    def _count(self, weight: Floats) -> int:
        """k as a number of samples."""
        n = int(weight.sum())
        k = int(self.k) if isinstance(self.k, Integral) else max(1, round(float(self.k) * n))
        if k > n:
            raise ValueError(
                f"k={self.k} exceeds the number of training samples, {n}: use a smaller one, or a "
                "share such as k=0.1."
            )
        return k


def _refuse_fractions(weight: Floats, measure: str) -> None:
    """Measures that count samples need whole numbers as weights."""
    odd = weight != np.floor(weight)
    if odd.any():
        raise ValueError(
            f"sample_weight has {int(odd.sum())} values that are not whole numbers, such as "
            f"{weight[odd][0]:g}: measure={measure!r} counts samples. Use whole numbers, or "
            "measure='error' or 'auc'."
        )
