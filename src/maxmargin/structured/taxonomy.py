"""A taxonomy of classes: shared weights along the path to the root, and the tree loss.

A class y is a node of a tree, or of several, which are joined by a root above theirs. Each node a
has weights v_a, except the root, which all classes share: its scores would cancel. A class scores
what its ancestors and itself add up to:

    f(x, y) = sum of <v_a, x> over the nodes a on the path from y up to, not including, the root
    delta(y, y') = half the number of edges between y and y'

Related classes share weights, so that classes with few samples learn from their relatives. In a
tree whose leaves are at one depth, delta is the height of the nearest common ancestor: 1 for
siblings (Cai & Hofmann 2004). In a flat taxonomy this is the multi-class task.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats


class Taxonomy(NamedTuple):
    """A tree of classes, for ``StructuredSVM(task=Taxonomy(parents))``.

    Classes score the sum of the scores of the nodes above them, so related classes share weights,
    and a mistake costs half the number of edges between the two classes.

    Parameters
    ----------
    parents : dict
        The parent of each node; nodes without an entry are roots. The labels in y are nodes.

    References
    ----------
    .. [1] Cai, L., & Hofmann, T. (2004). Hierarchical document categorization with support vector
       machines. CIKM.

    Examples
    --------
    >>> from maxmargin.structured import Taxonomy
    >>> animals = Taxonomy({"cat": "mammal", "dog": "mammal", "owl": "bird"})
    >>> animals.loss("cat", "dog"), animals.loss("cat", "owl")
    (1.0, 2.0)
    """

    parents: Mapping[Any, Any]

    def path(self, node: Hashable) -> list[Any]:
        """The nodes from one to its root; ValueError where the parents go in a circle."""
        found = [node]
        while (above := self.parents.get(found[-1])) is not None:
            if above in found:
                raise ValueError(
                    f"The taxonomy is not a tree: {above!r} is above itself. Every node needs one "
                    "parent, and a root has none."
                )
            found.append(above)
        return found

    def loss(self, y: Hashable, y_hat: Hashable) -> float:
        """Half the number of edges between two nodes."""
        above, other = set(self.path(y)), set(self.path(y_hat))
        return len(above ^ other) / 2


class Tree(NamedTuple):
    """A taxonomy as arrays, for the classes of a fit."""

    nodes: list[Any]
    """The nodes that have weights."""
    paths: Floats
    """1 where a node (column) is on the path of a class (row)."""
    delta: Floats
    """The tree loss between classes."""


def tree_of(taxonomy: Taxonomy, classes: Sequence[Any]) -> Tree:
    """The arrays of some classes; ValueError for a class that is not in the taxonomy."""
    known = {*taxonomy.parents, *taxonomy.parents.values()}
    missing = [y for y in classes if y not in known]
    if missing:
        raise ValueError(
            f"{len(missing)} of the {len(classes)} classes are not in the taxonomy, the first is "
            f"{missing[0]!r}: add them to parents."
        )
    above = [taxonomy.path(y) for y in classes]
    shared = set.intersection(*map(set, above))
    nodes = list(dict.fromkeys(node for path in above for node in path if node not in shared))
    place = {node: k for k, node in enumerate(nodes)}
    paths = np.zeros((len(classes), len(nodes)))
    for k, path in enumerate(above):
        paths[k, [place[node] for node in path if node in place]] = 1.0
    delta = np.array([[taxonomy.loss(y, other) for other in classes] for y in classes])
    return Tree(nodes, paths, delta)
