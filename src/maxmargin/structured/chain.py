"""Labels along a chain: Viterbi's algorithm over many sequences at once.

A sequence has tokens 1 .. n with feature vectors x_t and labels y_t among k. Its score is

    f(x, y) = begin[y_1] + sum_t e_t[y_t] + sum_t step[y_t, y_t+1] + end[y_n],   e_t = W x_t

All of it is linear in the weights w = (W, begin, step, end). With the Hamming loss, the number of
wrong labels, the loss-augmented score is that of e_t + [label != y_t]. Viterbi's algorithm
(max-product) finds the best labels from

    v_1 = begin + e_1,   v_t+1[b] = e_t+1[b] + max_a (v_t[a] + step[a, b])

Tokens are stored by position: the first tokens of all sequences, then the second ones, and so on,
longer sequences first. A position is then a slice of every array, and the loop over positions is
the only one.
"""

from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats, Integers
from maxmargin.structured.risks import Tangent


class Layout(NamedTuple):
    """Where the tokens of the sequences are, by position."""

    order: Integers
    """The tokens by position, as numbers of tokens in the order of the sequences."""
    sequence: Integers
    """The sequence of each token, by position."""
    previous: Integers
    """The token before each token that is not the first of its sequence, by position."""
    last: Integers
    """The last token of each sequence, by position, longer sequences first."""
    counts: Integers
    """The number of tokens of each position."""

    @property
    def first(self) -> slice:
        """The first token of each sequence."""
        return slice(0, len(self.last))

    def steps(self) -> list[tuple[slice, slice]]:
        """The tokens of each position but the first, after the tokens before them."""
        counts = self.counts.tolist()
        starts = (np.cumsum(self.counts) - self.counts).tolist()
        return [
            (slice(before, before + count), slice(here, here + count))
            for before, here, count in zip(starts[:-1], starts[1:], counts[1:], strict=True)
        ]


def layout_of(lengths: Integers) -> Layout:
    """The layout of sequences of these lengths, none of them 0."""
    by_length = np.argsort(-lengths, kind="stable")
    longest = int(lengths.max(initial=0))
    counts = len(lengths) - np.searchsorted(np.sort(lengths), np.arange(longest), side="right")
    starts = np.cumsum(counts) - counts
    position = np.repeat(np.arange(longest), counts)
    rank = np.arange(len(position)) - starts[position]
    order = (np.cumsum(lengths) - lengths)[by_length][rank] + position
    later = position > 0
    previous = starts[position[later] - 1] + rank[later]
    last = starts[lengths[by_length] - 1] + np.arange(len(lengths))
    return Layout(order, by_length[rank], previous, last, counts)


class Weights(NamedTuple):
    """The weights of the labels themselves."""

    begin: Floats
    step: Floats
    """step[a, b] is for b after a."""
    end: Floats

    @classmethod
    def of(cls, u: Floats, k: int) -> "Weights":
        """From one vector of k + k k + k numbers."""
        return cls(u[:k], u[k:-k].reshape(k, k), u[-k:])

    def flat(self) -> Floats:
        """As one vector."""
        return np.concatenate([self.begin, self.step.ravel(), self.end])


def viterbi(e: Floats, weights: Weights, layout: Layout) -> Integers:
    """The best label of each token, by position; e has a row for each token, by position."""
    v, back, steps = e.copy(), np.zeros(e.shape, np.intp), layout.steps()
    v[layout.first] += weights.begin
    for before, here in steps:
        ways = v[before, :, None] + weights.step
        back[here] = ways.argmax(axis=1)
        v[here] += ways.max(axis=1)
    v[layout.last] += weights.end
    label: Integers = v.argmax(axis=1)
    for before, here in reversed(steps):
        label[before] = np.take_along_axis(back[here], label[here, None], axis=1)[:, 0]
    return label


def max_marginals(e: Floats, weights: Weights, layout: Layout) -> Floats:
    """The score of the best labelling that gives a token a label, for each of them."""
    forward, backward, steps = e.copy(), np.zeros_like(e), layout.steps()
    forward[layout.first] += weights.begin
    backward[layout.last] += weights.end
    for before, here in steps:
        forward[here] += (forward[before, :, None] + weights.step).max(axis=1)
    for before, here in reversed(steps):
        backward[before] += ((backward[here] + e[here])[:, None, :] + weights.step).max(axis=2)
    return forward + backward


def label_counts(label: Integers, weight: Floats, layout: Layout, k: int) -> Weights:
    """How often each label begins, follows another and ends, each sequence by its weight."""
    first, last, later = layout.first, layout.last, slice(len(layout.last), None)
    pairs = label[layout.previous] * k + label[later]

    def sums(which: Integers, weight: Floats, size: int) -> Floats:
        return np.bincount(which, weight, minlength=size).astype(np.float64)

    step = sums(pairs, weight[later], k * k).reshape(k, k)
    return Weights(sums(label[first], weight[first], k), step, sums(label[last], weight[last], k))


class ChainLoss(NamedTuple):
    """The risk of tagged sequences as a function of the scores (e, u) of a JointSpace."""

    label: Integers
    """The true label of each token, by position."""
    weight: Floats
    """The weight of each token's sequence, by position."""
    layout: Layout
    k: int

    def __call__(self, s: Floats) -> Tangent:
        """The tangent at s: e of the tokens in the order of the sequences, then u."""
        n, k = len(self.label), self.k
        e, weights = s[: n * k].reshape(n, k)[self.layout.order], Weights.of(s[n * k :], k)
        rows = np.arange(n)
        e += 1.0
        e[rows, self.label] -= 1.0
        best = viterbi(e, weights, self.layout)
        t = np.zeros((n, k))
        t[self.layout.order, best] += self.weight
        t[self.layout.order, self.label] -= self.weight
        found = label_counts(best, self.weight, self.layout, k).flat()
        found -= label_counts(self.label, self.weight, self.layout, k).flat()
        offset = float(self.weight @ (best != self.label))
        return Tangent(offset, np.concatenate([t.ravel(), found]))


class Chain(NamedTuple):
    """The chain task, sequence by sequence, for ``StructuredSVM``.

    ``SequenceSVM`` trains the same model with arrays of all sequences. This is here to read and to
    copy from.

    Parameters
    ----------
    n_classes : int
        The labels are 0 .. n_classes - 1.

    See Also
    --------
    SequenceSVM : the estimator for tagging.

    Examples
    --------
    >>> from maxmargin.structured import Chain
    >>> task = Chain(2)
    >>> task.joint_feature([[1.0], [3.0], [4.0]], [0, 1, 1])  # W, begin, step, end
    array([1., 7., 1., 0., 0., 1., 0., 1., 0., 1.])
    """

    n_classes: int

    def joint_feature(self, x: Any, y: Any) -> Floats:
        """Sums of the tokens of each label, and counts of the labels."""
        x, y, k = np.asarray(x, np.float64), np.asarray(y, np.int64), self.n_classes
        if y.shape != (len(x),) or not ((y >= 0) & (y < k)).all():
            raise ValueError(f"{y!r} is not a sequence of {len(x)} labels among 0 .. {k - 1}.")
        counts = label_counts(y, np.ones(len(y)), layout_of(np.array([len(y)])), k)
        return np.concatenate([(np.eye(k)[y].T @ x).ravel(), counts.flat()])

    def infer(self, x: Any, w: Any, y: Any = None) -> Integers:
        """The best labels by Viterbi's algorithm; with y, the Hamming loss is added."""
        x, k = np.asarray(x, np.float64), self.n_classes
        width = k * x.shape[1]
        e = x @ np.reshape(w[:width], (k, -1)).T
        if y is not None:
            e += np.arange(k) != np.asarray(y)[:, None]
        return viterbi(e, Weights.of(np.asarray(w[width:]), k), layout_of(np.array([len(x)])))

    def loss(self, y: Any, y_hat: Any) -> float:
        """The number of wrong labels."""
        return float(np.count_nonzero(np.asarray(y) != np.asarray(y_hat)))
