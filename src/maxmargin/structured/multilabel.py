"""Several labels at once, with terms for pairs of them.

A sample has a set of labels, z in {0, 1}^L. With scores s = W x of the labels, its score is

    f(x, z) = sum_l s_l z_l + sum_(a,b) in pairs u_ab z_a z_b

u_ab > 0 says that two labels go together. Pairs (l, l) are intercepts of the labels. Both kinds of
weights are regularised. The loss is Hamming's, the number of wrong labels:

    |y - z| = sum_l y_l + sum_l (1 - 2 y_l) z_l

so it is added to the scores of the labels. Two inferences are exact:

* up to ``Settings.enumerated`` labels, all 2^L sets are compared, and all pairs have a weight;
* beyond that the pairs are the edges of a tree, on which max-product is exact. It is Chow and Liu's
  (1968), the tree of greatest mutual information between labels that it joins.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

from maxmargin.core.arrays import Floats, Integers
from maxmargin.structured.risks import Tangent


class Settings(NamedTuple):
    """Limits of the inference."""

    enumerated: int = 12
    """Most labels whose sets are enumerated: 4096 sets take 2 to 4 ms a sample and core."""
    block: int = 2**21
    """Scores of sets that are held at once, in numbers."""


SETTINGS = Settings()


class Labels(NamedTuple):
    """How many labels there are, and which pairs of them have a weight."""

    n_labels: int
    pairs: Integers
    """Rows (a, b) with a <= b; those with a = b come first, one for each label."""

    @property
    def is_enumerated(self) -> bool:
        """Whether all sets are compared; the other pairs form a forest otherwise."""
        return self.n_labels <= SETTINGS.enumerated

    def products(self, z: Floats) -> Floats:
        """z_a z_b for each pair, a row for each set."""
        return z[:, self.pairs[:, 0]] * z[:, self.pairs[:, 1]]


def labels_of(y: Floats, weight: Floats) -> Labels:
    """The pairs for samples with these sets of labels: all of them, or a tree."""
    L = y.shape[1]
    alone = np.column_stack([np.arange(L), np.arange(L)])
    if SETTINGS.enumerated >= L:
        rest = np.column_stack(np.triu_indices(L, 1))
    else:
        rest = chow_liu(y, weight)
    return Labels(L, np.concatenate([alone, rest]).astype(np.int64))


def chow_liu(y: Floats, weight: Floats) -> Integers:
    """The edges of the tree with the greatest sum of mutual information."""
    p = weight / weight.sum()
    one = p @ y
    both = (y * p[:, None]).T @ y
    tables = (
        (both, np.outer(one, one)),
        (one[:, None] - both, np.outer(one, 1 - one)),
        (one - both, np.outer(1 - one, one)),
        (1 - one[:, None] - one + both, np.outer(1 - one, 1 - one)),
    )
    information = sum(
        np.where(joint > 0, joint * np.log(np.maximum(joint, 1e-300) / np.maximum(free, 1e-300)), 0)
        for joint, free in tables
    )
    cost = 2.0 - np.minimum(np.maximum(information, 0.0), 1.0)  # a cost of 0 is no edge
    tree = minimum_spanning_tree(np.triu(cost, 1)).tocoo()
    edges = np.column_stack([tree.row, tree.col]).astype(np.int64)
    return edges[np.lexsort(edges.T)]


def best_sets(s: Floats, u: Floats, labels: Labels) -> Floats:
    """The set of greatest score for each row of scores s, as rows of 0 and 1."""
    if labels.is_enumerated:
        return _enumerated(s, u, labels)
    return _max_product(s, u, labels)


def all_sets(n_labels: int) -> Floats:
    """Every set of labels, a row each."""
    numbers = np.arange(2**n_labels)[:, None]
    return (numbers >> np.arange(n_labels) & 1).astype(np.float64)


def _enumerated(s: Floats, u: Floats, labels: Labels) -> Floats:
    sets = all_sets(labels.n_labels)
    alone = labels.products(sets) @ u
    rows = max(1, SETTINGS.block // len(sets))
    best = [(s[k : k + rows] @ sets.T + alone).argmax(axis=1) for k in range(0, len(s), rows)]
    return sets[np.concatenate(best)] if best else np.zeros_like(s)


def _max_product(s: Floats, u: Floats, labels: Labels) -> Floats:
    """Messages from the leaves of each tree to its root, then the best labels from there on.

    gain[l] is what z_l = 1 adds to the best score of the labels below l, compared with z_l = 0.
    """
    L, pairs = labels.n_labels, labels.pairs[labels.n_labels :]
    weight = {(int(a), int(b)): float(v) for (a, b), v in zip(pairs, u[L:], strict=True)}
    order, parent = _order(L, pairs)
    gain, with_parent = s + u[:L], {}
    for l in reversed(order):
        above = parent[l]
        if above < 0:
            continue
        together = weight[min(l, above), max(l, above)]
        with_parent[l] = gain[:, l] + together
        gain[:, above] += np.maximum(with_parent[l], 0.0) - np.maximum(gain[:, l], 0.0)
    z = np.zeros_like(s)
    for l in order:
        above = parent[l]
        here = gain[:, l] if above < 0 else np.where(z[:, above] > 0, with_parent[l], gain[:, l])
        z[:, l] = here > 0
    return z


def _order(L: int, pairs: Integers) -> tuple[list[int], dict[int, int]]:
    """The labels, each after its parent, and the parents; -1 is that of a root."""
    near = np.zeros((L, L))
    near[pairs[:, 0], pairs[:, 1]] = 1.0
    order: list[int] = []
    parent: dict[int, int] = {}
    for root in range(L):
        if root not in parent:
            found, before = breadth_first_order(near, root, directed=False)
            parent |= {int(l): max(int(before[l]), -1) for l in found}
            order += [int(l) for l in found]
    return order, parent


class SetsLoss(NamedTuple):
    """The risk of sets of labels as a function of the scores (S, u) of a JointSpace."""

    y: Floats
    weight: Floats
    labels: Labels

    def __call__(self, s: Floats) -> Tangent:
        """The tangent at s: the scores of the labels, sample by sample, then u."""
        n, L = self.y.shape
        scores, u = s[: n * L].reshape(n, L), s[n * L :]
        z = best_sets(scores + (1.0 - 2.0 * self.y), u, self.labels)
        change = self.weight[:, None] * (z - self.y)
        pairs = self.weight @ (self.labels.products(z) - self.labels.products(self.y))
        offset = float(np.abs(change).sum())
        return Tangent(offset, np.concatenate([change.ravel(), pairs]))


class MultiLabel(NamedTuple):
    """The multi-label task, sample by sample: all sets of labels are compared.

    ``StructuredSVM(MultiLabel(3))`` is the model of ``StructuredSVM("multilabel")``, which computes
    the same with arrays of all samples. It is here to read and to copy from.

    Parameters
    ----------
    n_labels : int
        A label y is a row of n_labels zeros and ones; 2 ** n_labels sets are compared.

    See Also
    --------
    StructuredTask : the three methods.

    Examples
    --------
    >>> from maxmargin.structured import MultiLabel
    >>> MultiLabel(2).joint_feature([5.0], [1, 1])  # the sample for each label, the labels, a pair
    array([5., 5., 1., 1., 1.])
    """

    n_labels: int

    def _labels(self) -> Labels:
        if self.n_labels > SETTINGS.enumerated:
            raise ValueError(
                f"{self.n_labels} labels have too many sets to compare, at most "
                f"{SETTINGS.enumerated} are: use task='multilabel', which finds a tree."
            )
        return labels_of(np.zeros((1, self.n_labels)), np.ones(1))

    def joint_feature(self, x: Any, y: Iterable[Any]) -> Floats:
        """The sample for each of its labels, then the pairs."""
        z = np.asarray(y, np.float64)
        if z.shape != (self.n_labels,) or not np.isin(z, (0, 1)).all():
            raise ValueError(f"{y!r} is not a row of {self.n_labels} zeros and ones.")
        pairs = self._labels().products(z[None, :])[0]
        return np.concatenate([np.outer(z, np.asarray(x, np.float64)).ravel(), pairs])

    def infer(self, x: Any, w: Any, y: Any = None) -> Floats:
        """The set of greatest score; with y, the Hamming loss is added."""
        x, w = np.asarray(x, np.float64), np.asarray(w, np.float64)
        width = self.n_labels * len(x)
        s = w[:width].reshape(self.n_labels, -1) @ x
        s = s if y is None else s + (1.0 - 2.0 * np.asarray(y, np.float64))
        z: Floats = best_sets(s[None, :], w[width:], self._labels())[0]
        return z

    def loss(self, y: Any, y_hat: Any) -> float:
        """The number of wrong labels."""
        return float(np.abs(np.asarray(y, np.float64) - y_hat).sum())
