"""Classes as structured outputs: the loss of samples whose labels are a few classes.

A class scores the sum of some columns of S = (s_ij), the scores of the samples:

    f_iy = sum_j paths_yj s_ij                        (one column for each class: f = S)
    R = sum_i weight_i [ max_y (delta[label_i, y] + f_iy) - f_i,label_i ]

The maximum over y is loss-augmented inference. Three models are cases of it:

    multi-class    paths = I,          delta = 1 - I             Crammer and Singer's machine
    taxonomy       paths to the root,  delta = the tree loss     taxonomy.py
    parts          paths = I,          delta = 1 between parts   parts.py; the labels are those of
                                       of different classes      the samples' parts
"""

from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers
from maxmargin.structured.risks import Tangent


class ClassesLoss(NamedTuple):
    """R as a function of the scores."""

    label: Integers
    """The class of each sample: a row of delta."""
    weight: Floats
    delta: Floats
    """The loss of each class (row) taken for another (column); 0 on the diagonal."""
    paths: Floats | None = None
    """The columns (1) whose scores add up to that of a class (row); None is one for each."""

    def __call__(self, s: Floats) -> Tangent:
        """The tangent at s, a row of scores for each sample."""
        f = class_scores(s.reshape(len(self.label), -1), self.paths)
        best = (f + self.delta[self.label]).argmax(axis=1)
        rows, t = np.arange(len(f)), np.zeros_like(f)
        t[rows, best] += self.weight
        t[rows, self.label] -= self.weight
        offset = float(self.weight @ self.delta[self.label, best])
        return Tangent(offset, (t if self.paths is None else t @ self.paths).reshape(s.shape))


def class_scores(s: Floats, paths: Floats | None) -> Floats:
    """The score of each class, a column each, from those of the columns."""
    return s if paths is None else s @ paths.T


def zero_one(n_classes: int) -> Floats:
    """The loss that is 1 for every wrong class."""
    return 1.0 - np.eye(n_classes)


class Multiclass(NamedTuple):
    """The multi-class task, sample by sample: psi(x, y) is x in block y of n_classes.

    ``StructuredSVM(Multiclass(3))`` is the model of ``StructuredSVM()`` on labels 0, 1, 2, which
    computes the same with arrays of all samples. It is here to read and to copy from.

    Parameters
    ----------
    n_classes : int
        The labels are 0 .. n_classes - 1.

    See Also
    --------
    StructuredTask : the three methods.

    Examples
    --------
    >>> from maxmargin.structured import Multiclass
    >>> task = Multiclass(3)
    >>> task.joint_feature([5.0, 7.0], 1)
    array([0., 0., 5., 7., 0., 0.])
    >>> task.infer([5.0, 7.0], [0.0, 0.0, 0.1, 0.0, 0.0, 0.1])
    2
    """

    n_classes: int

    def joint_feature(self, x: Any, y: Any) -> Floats:
        """The sample in the block of its class."""
        if not (0 <= y < self.n_classes and y == int(y)):
            raise ValueError(f"the label {y!r} is not one of 0 .. {self.n_classes - 1}.")
        x = np.asarray(x, np.float64)
        out = np.zeros((self.n_classes, len(x)))
        out[int(y)] = x
        return out.ravel()

    def infer(self, x: Any, w: Any, y: Any = None) -> int:
        """The class of greatest score; with y, of greatest loss plus score."""
        f = np.reshape(w, (self.n_classes, -1)) @ np.asarray(x, np.float64)
        return int(np.argmax(f if y is None else f + (np.arange(self.n_classes) != y)))

    def loss(self, y: Any, y_hat: Any) -> float:
        """1 for a wrong class."""
        return float(y != y_hat)
