"""The measures that a classifier can be trained for, as losses of the scores s of all samples.

Each loss is n times the loss of its measure, so that C means the same for all of them, and the same
as for SVC:

| measure | n times | file |
|---|---|---|
| error | the error rate: the sum of hinge losses | hinge.py |
| auc | 1 - the area under the ROC curve: the mean hinge loss of all pairs | ranking.py |
| f1 | 1 - F1 | contingency.py |
| precision_at_k, recall_at_k, prbep | what the k best lack | contingency.py |
| average_precision | 1 - average precision | average_precision.py |

A loss returns its tangent at s: offset + sum(t * s') <= loss(s') for all s', equal at s. A free
intercept b is minimised over, loss(s) = min over b of loss(s + b), and then sum(t) = 0. The order
of the samples alone matters to auc, average_precision and the measures of the k best. The b of a
model is chosen after its training (``Goal.intercept``).

**Weights.** The hinge losses of error and auc are weighted: n is the sum of the weights. The other
measures count samples, so weights must be whole numbers. ``Copies`` makes a sample of weight 2 two
samples.
"""

from enum import Enum

import numpy as np

from maxmargin.core.arrays import Floats, Integers, Mask
from maxmargin.structured.average_precision import AveragePrecisionLoss
from maxmargin.structured.contingency import F1Loss, TopLoss
from maxmargin.structured.hinge import HingeLoss
from maxmargin.structured.ranking import rank_loss
from maxmargin.structured.risks import Goal, Tangent


class Measure(Enum):
    """The measures; the value is the name for the user."""

    ERROR = "error"
    F1 = "f1"
    PRECISION_AT_K = "precision_at_k"
    RECALL_AT_K = "recall_at_k"
    AUC = "auc"
    PRBEP = "prbep"
    AVERAGE_PRECISION = "average_precision"

    @property
    def has_k(self) -> bool:
        """Whether a number k belongs to the measure."""
        return self in (Measure.PRECISION_AT_K, Measure.RECALL_AT_K)

    @property
    def weighted(self) -> bool:
        """Whether weights may be any numbers."""
        return self in (Measure.ERROR, Measure.AUC)


def goal(measure: Measure, is_positive: Mask, weight: Floats, k: int, free_intercept: bool) -> Goal:
    """The goal for samples whose weights are positive; k counts copies.

    Where all samples are of one class every measure is the error.
    """
    hinge = HingeLoss(is_positive, weight, free_intercept)
    if measure is Measure.ERROR or not hinge.has_both_classes:
        return Goal(hinge, hinge.intercept)
    if measure is Measure.AUC:
        query = np.zeros(len(weight), np.int64)
        return Goal(rank_loss(is_positive.astype(np.float64), query, weight), hinge.intercept)
    count = weight.astype(np.int64)
    found = _counted(measure, np.repeat(is_positive, count), k, free_intercept)
    return _of_copies(found, count) if (count > 1).any() else found


def _counted(measure: Measure, is_positive: Mask, k: int, free_intercept: bool) -> Goal:
    """The goal of a measure that counts samples."""
    n, p = len(is_positive), int(np.count_nonzero(is_positive))
    if measure is Measure.F1:
        f1 = F1Loss(is_positive, free_intercept)
        return Goal(f1, f1.intercept)
    if measure is Measure.AVERAGE_PRECISION:
        hinge = HingeLoss(is_positive, np.ones(n), free_intercept)
        return Goal(AveragePrecisionLoss(is_positive), hinge.intercept)
    k = p if measure is Measure.PRBEP else k
    top = TopLoss(is_positive, k, n / (p if measure is Measure.RECALL_AT_K else k))
    return Goal(top, top.intercept) if free_intercept else Goal(top)


def _of_copies(plain: Goal, count: Integers) -> Goal:
    """The goal of samples that count several times."""
    begin = np.cumsum(count) - count

    def loss(s: Floats) -> Tangent:
        found = plain.loss(np.repeat(s, count))
        return Tangent(found.offset, np.add.reduceat(found.t, begin))

    return Goal(loss, lambda s: plain.intercept(np.repeat(s, count)))
