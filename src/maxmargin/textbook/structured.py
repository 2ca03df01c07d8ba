"""Structured outputs: a chain of labels, by dynamic programming (Tsochantaridis et al. 2005).

``fan`` names structured machines. A sample is a sequence x_1 ... x_n with labels y_1 ... y_n of K
kinds. A labelling has the score

    score(y) = sum_p emit[p, y_p] + sum_p follow[y_(p-1), y_p]

with emit[p, k] = w_k'x_p and a K x K matrix follow: both are linear in the weights. There are K^n
labellings, but the best one is found from left to right (Viterbi 1967):

    best[0, k] = emit[0, k],    best[p, k] = emit[p, k] + max_j best[p-1, j] + follow[j, k]

where back[p, k] remembers the j. Read it from the largest best[n-1, k] backwards.

Training asks that the right labelling beat every other by the number of wrong labels (the Hamming
loss; margin rescaling):

    R(w) = sum over sequences of   max over labellings z of   hamming(y, z) + score(z) - score(y)

The loss is a sum over places, so the same algorithm finds the worst labelling: add 1 to the wrong
emissions. This is loss-augmented inference. Its difference of features is a plane below R, and the
1-slack algorithm of ``cutting_planes`` does the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maxmargin.textbook.checks import Array, matrix
from maxmargin.textbook.cutting_planes import Plane, grow
from maxmargin.textbook.trace import Trace

Labelling = NDArray[np.intp]


def viterbi(emit: ArrayLike, follow: ArrayLike) -> tuple[Labelling, float]:
    """The best labelling and its score.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> emit, stay = [[2.0, 0.0], [0.0, 1.5], [2.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]
    >>> textbook.viterbi(emit, stay)
    (array([0, 0, 0]), 6.0)
    """
    emit, follow = matrix(emit), matrix(follow)
    best, back = emit[0], np.zeros(emit.shape, np.intp)
    for p in range(1, len(emit)):
        through = best[:, None] + follow
        back[p] = np.argmax(through, axis=0)
        best = emit[p] + np.max(through, axis=0)
    labels = [int(np.argmax(best))]
    for p in range(len(emit) - 1, 0, -1):
        labels.append(int(back[p, labels[-1]]))
    return np.array(labels[::-1]), float(best.max())


def worst_labelling(
    emit: ArrayLike, follow: ArrayLike, right: ArrayLike
) -> tuple[Labelling, float]:
    """Loss-augmented inference: the largest hamming(right, z) + score(z), and its z.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> emit, stay = [[2.0, 0.0], [0.0, 1.5], [2.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]
    >>> textbook.worst_labelling(emit, stay, [0, 0, 0])
    (array([0, 1, 0]), 6.5)
    """
    wrong = 1.0 - np.eye(np.shape(follow)[0])[np.asarray(right)]
    return viterbi(matrix(emit) + wrong, follow)


@dataclass(frozen=True, eq=False)
class Chain:
    """Weights of a chain: W has a row for each label, follow a row for each label and its next.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import textbook
    >>> model = textbook.Chain(np.array([[1.0], [-1.0]]), follow=np.eye(2))
    >>> model.predict([[1.0], [-0.1], [1.0]])
    array([0, 0, 0])
    """

    W: Array
    follow: Array

    def predict(self, X: ArrayLike) -> Labelling:
        """The best labels of one sequence."""
        return viterbi(matrix(X) @ self.W.T, self.follow)[0]


def features(X: ArrayLike, y: ArrayLike, n_labels: int) -> Array:
    """The joint features: score(y) is their product with the weights (W and follow, flat).

    Examples
    --------
    >>> from maxmargin.textbook import structured
    >>> structured.features([[1.0], [2.0], [4.0]], [0, 0, 1], 2)  # sums of x, then of steps
    array([3., 4., 1., 1., 0., 0.])
    """
    X, y = matrix(X), np.asarray(y, np.intp)
    follow = np.zeros((n_labels, n_labels))
    np.add.at(follow, (y[:-1], y[1:]), 1.0)
    return np.concatenate([(np.eye(n_labels)[y].T @ X).ravel(), follow.ravel()])


def chain_svm(
    sequences: Sequence[ArrayLike],
    labels: Sequence[ArrayLike],
    C: float = 1.0,
    tol: float = 1e-3,
    max_iter: int = 1000,
    trace: int = 1,
) -> tuple[Chain, Trace]:
    """A chain by cutting planes.

    Parameters
    ----------
    sequences : a matrix for each sequence, with a row for each place.
    labels : the labels 0, 1, ... of each sequence.
    C : the price of a unit of R.
    tol : stop when P - D <= tol P.
    max_iter : stop after this many planes in any case.
    trace : keep the state after every `trace` planes, 0 for never.

    Returns
    -------
    model, trace

    See Also
    --------
    maxmargin.SequenceSVM : for real work.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[[1.0], [0.2], [1.0]], [[-1.0], [-0.2], [-1.0]]], [[0, 0, 0], [1, 1, 1]]
    >>> model, trace = textbook.chain_svm(X, y, C=10.0)
    >>> model.predict([[1.0], [-0.1], [1.0]])
    array([0, 0, 0])
    """
    xs, ys = [matrix(x) for x in sequences], [np.asarray(y, np.intp) for y in labels]
    if [len(x) for x in xs] != [len(y) for y in ys]:
        raise ValueError("Every place of every sequence needs one label; the lengths differ.")
    k, d = 1 + max(int(y.max()) for y in ys), xs[0].shape[1]

    def chain(w: Array) -> Chain:
        return Chain(w[: k * d].reshape(k, d), w[k * d :].reshape(k, k))

    def oracle(w: Array) -> tuple[float, list[Plane]]:
        model, offset, slope = chain(w), 0.0, np.zeros(len(w))
        for x, y in zip(xs, ys, strict=True):
            z, _ = worst_labelling(x @ model.W.T, model.follow, y)
            offset += float(np.sum(z != y))
            slope += features(x, z, k) - features(x, y, k)
        return offset + float(slope @ w), [Plane(0, offset, slope)]

    kept = Trace("chain", trace)
    return chain(grow(oracle, k * (d + k), C, tol, max_iter, kept)), kept
