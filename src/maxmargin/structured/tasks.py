"""Ready-made tasks on a matrix of samples: their risks and predictions as array code.

A task has weights W with a row for each of its columns, W x being the scores of a sample, and
weights u of the labels themselves. ``outputs`` takes both to the labels of greatest score.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers
from maxmargin.linear.designs import Design
from maxmargin.structured.joint_features import JointSpace
from maxmargin.structured.multiclass import ClassesLoss, class_scores
from maxmargin.structured.multilabel import Labels, SetsLoss, best_sets
from maxmargin.structured.risks import ScoreRisk
from maxmargin.structured.spaces import LinearSpace


class LabelTask(NamedTuple):
    """A class for each sample: multi-class (paths None), or a taxonomy."""

    delta: Floats
    paths: Floats | None = None
    extra: int = 0

    @property
    def columns(self) -> int:
        """One for each class, or for each node of the taxonomy."""
        return len(self.delta) if self.paths is None else self.paths.shape[1]

    def risk(self, design: Design, y: Integers, weight: Floats) -> ScoreRisk:
        """The risk of samples of the classes y."""
        space = LinearSpace(design, self.columns)
        return ScoreRisk(space, ClassesLoss(y, weight, self.delta, self.paths))

    def outputs(self, s: Floats, u: Floats) -> Integers:
        """The classes of greatest score."""
        best: Integers = class_scores(s, self.paths).argmax(axis=1)
        return best


class SetsTask(NamedTuple):
    """A set of labels for each sample."""

    labels: Labels

    @property
    def columns(self) -> int:
        """One for each label."""
        return self.labels.n_labels

    @property
    def extra(self) -> int:
        """One for each pair."""
        return len(self.labels.pairs)

    def risk(self, design: Design, y: Floats, weight: Floats) -> ScoreRisk:
        """The risk of samples with the sets y, rows of 0 and 1."""
        space = JointSpace(LinearSpace(design, self.columns), self.extra)
        return ScoreRisk(space, SetsLoss(y, weight, self.labels))

    def outputs(self, s: Floats, u: Floats) -> Floats:
        """The sets of greatest score."""
        return best_sets(np.asarray(s), u, self.labels)
