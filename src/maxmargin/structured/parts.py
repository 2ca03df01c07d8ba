"""Classes made of parts: each is the best of several linear functions.

    f(x, y) = max over the parts p of y of <v_p, x>

Which part a sample of a class follows is latent. With known parts h_i the risk is that of classes
(multiclass.py) whose labels are the parts, and which do not mind another part of the same class.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers
from maxmargin.structured.multiclass import ClassesLoss
from maxmargin.structured.risks import ScoreRisk
from maxmargin.structured.spaces import Space


class Parts(NamedTuple):
    """Which parts the classes have.

    A class without parts scores 0. With it and one other class f is the latent SVM of Felzenszwalb
    et al. (2010): its loss is max(0, 1 - y f).
    """

    owner: Integers
    """The class of each output; outputs are the parts, then the classes without parts."""
    n_parts: int

    @property
    def paths(self) -> Floats | None:
        """Which columns add up to an output; None where each output has its own."""
        outputs = len(self.owner)
        return None if outputs == self.n_parts else np.eye(outputs, self.n_parts)

    @property
    def delta(self) -> Floats:
        """1 between outputs of different classes."""
        different: Floats = (self.owner[:, None] != self.owner).astype(np.float64)
        return different

    def best(self, s: Floats, label: Integers) -> Integers:
        """The output of each sample that is best for its class."""
        f = self.scores(s)
        f[self.owner != label[:, None]] = -np.inf
        found: Integers = f.argmax(axis=1)
        return found

    def scores(self, s: Floats) -> Floats:
        """The score of each output; those of classes without parts are 0."""
        none = np.zeros((len(s), len(self.owner) - self.n_parts))
        return np.column_stack([s.reshape(len(s), -1), none])

    def class_scores(self, s: Floats, n_classes: int) -> Floats:
        """The score of each class."""
        f = self.scores(s)
        return np.column_stack([f[:, self.owner == k].max(axis=1) for k in range(n_classes)])


def parts_of(counts: Integers) -> Parts:
    """The parts of classes, given how many each class has."""
    parts = np.repeat(np.arange(len(counts)), counts)
    return Parts(np.concatenate([parts, np.flatnonzero(counts == 0)]), len(parts))


class PartsProblem(NamedTuple):
    """Samples whose classes are known and whose parts are not; h_i is an output of its class."""

    space: Space
    label: Integers
    weight: Floats
    parts: Parts

    def convex(self, h: Integers) -> ScoreRisk:
        """The risk of samples with known parts: a multi-class one."""
        parts = self.parts
        return ScoreRisk(self.space, ClassesLoss(h, self.weight, parts.delta, parts.paths))

    def impute(self, w: Floats) -> Integers:
        """The best part of each sample."""
        return self.parts.best(self.space.scores(w), self.label)

    def change(self, h: Integers, new: Integers) -> Floats:
        """The scores of the samples' old parts less those of the new ones."""
        t, rows = np.zeros((len(h), len(self.parts.owner))), np.arange(len(h))
        t[rows, h] += self.weight
        t[rows, new] -= self.weight
        t = t[:, : self.parts.n_parts]
        return self.space.element(t[:, 0] if self.parts.n_parts == 1 else t)

    def start(self, values: Floats) -> Integers:
        """Parts to start with: where each sample is greatest among random functions.

        ``values`` are those of random linear functions, a column for each part. They are centred
        and scaled in each class, so that copies of samples count as weights do.
        """
        values = values.copy()
        for k in np.unique(self.label):
            mine = self.label == k
            share = self.weight[mine] / self.weight[mine].sum()
            centred = values[mine] - share @ values[mine]
            size = np.sqrt(share @ centred**2)
            values[mine] = centred / np.where(size > 0, size, 1.0)
        return self.parts.best(values, self.label)
