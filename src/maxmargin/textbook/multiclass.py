"""Several classes from machines for two.

``straka``, "Multiclass SVM"; ``fan``, "Multi-class SVM".

    one-versus-rest   K machines; the k-th separates class k from all others.
                      Predict argmax_k y_k(x).
    one-versus-one    K (K - 1) / 2 machines, one for each pair of classes.
                      Each votes for a class; predict the class with the most votes.

Voting leaves ambiguous regions where classes tie for the most votes (figure 4.2 of the book that
the lecture quotes): ``OneVersusOne.ambiguous`` finds them. There the class with the larger margins
would be as good an answer; like LIBSVM, ``predict`` takes the first. One-versus-rest compares
decision values of machines that were trained separately, so their scales may differ. It is common
nevertheless.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maxmargin.textbook.checks import Array, Labels, labelled, matrix
from maxmargin.textbook.models import Model
from maxmargin.textbook.smo import smo
from maxmargin.textbook.trace import Trace

Train = Callable[[Array, Array], tuple[Model, Trace]]
"""A machine for two classes: points and labels +-1 in, model and trace out."""


@dataclass(frozen=True, eq=False)
class OneVersusRest:
    """One machine for each class.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[0.0], [1.0], [3.0], [4.0], [7.0], [8.0]], ["a", "a", "b", "b", "c", "c"]
    >>> model, traces = textbook.one_vs_rest(X, y)
    >>> len(model.machines)
    3
    >>> model.predict([[0.5], [7.5]])
    array(['a', 'c'], dtype='<U1')
    """

    classes: Labels
    machines: list[Model]

    def decision_function(self, X: ArrayLike) -> Array:
        """y_k(x), a column for each class."""
        return np.column_stack([machine.decision_function(X) for machine in self.machines])

    def predict(self, X: ArrayLike) -> Labels:
        """argmax_k y_k(x)."""
        return np.asarray(self.classes[np.argmax(self.decision_function(X), axis=1)])


@dataclass(frozen=True, eq=False)
class OneVersusOne:
    """One machine for each pair (i, j), i < j; positive values vote for i.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[0.0], [1.0], [3.0], [4.0], [7.0], [8.0]], ["a", "a", "b", "b", "c", "c"]
    >>> model, traces = textbook.one_vs_one(X, y)
    >>> model.pairs
    [(0, 1), (0, 2), (1, 2)]
    >>> model.predict([[0.5], [7.5]])
    array(['a', 'c'], dtype='<U1')
    """

    classes: Labels
    pairs: list[tuple[int, int]]
    machines: list[Model]

    def votes(self, X: ArrayLike) -> NDArray[np.int64]:
        """The number of votes for each class, a column for each class."""
        counted = np.zeros((len(matrix(X)), len(self.classes)), dtype=np.int64)
        for (i, j), machine in zip(self.pairs, self.machines, strict=True):
            for_i = machine.decision_function(X) >= 0
            counted[for_i, i] += 1
            counted[~for_i, j] += 1
        return counted

    def ambiguous(self, X: ArrayLike) -> NDArray[np.bool_]:
        """Whether two or more classes are tied for the most votes."""
        counted = self.votes(X)
        return np.asarray(np.sum(counted == counted.max(axis=1, keepdims=True), axis=1) > 1)

    def predict(self, X: ArrayLike) -> Labels:
        """The class with the most votes; the first one if several are tied."""
        return np.asarray(self.classes[np.argmax(self.votes(X), axis=1)])


def one_vs_rest(
    X: ArrayLike, y: ArrayLike, train: Train = smo
) -> tuple[OneVersusRest, list[Trace]]:
    """K machines, each for one class against the rest.

    Parameters
    ----------
    X, y : the points and their labels, of any kind.
    train : trains a model for two classes, for example
        ``functools.partial(textbook.smo, C=10, kernel=textbook.kernels.rbf(0.5))``.

    Returns
    -------
    model, traces : one trace for each class.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[0.0], [1.0], [3.0], [4.0], [7.0], [8.0]], ["a", "a", "b", "b", "c", "c"]
    >>> model, traces = textbook.one_vs_rest(X, y)
    >>> [trace.name for trace in traces]
    ['SMO, second order', 'SMO, second order', 'SMO, second order']
    """
    X, labels, classes = labelled(X, y)
    trained = [train(X, np.where(labels == k, 1.0, -1.0)) for k in classes]
    return OneVersusRest(classes, [model for model, _ in trained]), [trace for _, trace in trained]


def one_vs_one(X: ArrayLike, y: ArrayLike, train: Train = smo) -> tuple[OneVersusOne, list[Trace]]:
    """A machine for each pair of classes; parameters as in ``one_vs_rest``.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[0.0], [1.0], [3.0], [4.0], [7.0], [8.0]], ["a", "a", "b", "b", "c", "c"]
    >>> model, traces = textbook.one_vs_one(X, y)
    >>> len(traces)
    3
    >>> model.predict([[3.5]])
    array(['b'], dtype='<U1')
    """
    X, labels, classes = labelled(X, y)
    pairs = list(combinations(range(len(classes)), 2))
    trained = []
    for i, j in pairs:
        of_pair = (labels == classes[i]) | (labels == classes[j])
        trained.append(train(X[of_pair], np.where(labels[of_pair] == classes[i], 1.0, -1.0)))
    machines, traces = [model for model, _ in trained], [trace for _, trace in trained]
    return OneVersusOne(classes, pairs, machines), traces
