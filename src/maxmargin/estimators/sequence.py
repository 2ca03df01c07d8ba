"""SequenceSVM: labels along sequences."""

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats, Integers
from maxmargin.estimators._base import all_or_nothing
from maxmargin.estimators._joint import JointEstimator
from maxmargin.estimators._outputs import encode_known
from maxmargin.estimators._record import checked
from maxmargin.estimators._sequences import Sequences, labels_of_tokens, sequences_of
from maxmargin.estimators._targets import encode, validate_weight
from maxmargin.linear.designs import ArrayDesign
from maxmargin.structured.chain import (
    ChainLoss,
    Layout,
    Weights,
    layout_of,
    max_marginals,
    viterbi,
)
from maxmargin.structured.joint_features import JointSpace
from maxmargin.structured.risks import ScoreRisk
from maxmargin.structured.spaces import LinearSpace


class Tagger(NamedTuple):
    """The scores of sequences under fitted weights, by position."""

    e: Floats
    weights: Weights
    layout: Layout

    def in_order(self, values: Any) -> Any:
        """Values by position, in the order of the sequences."""
        out = np.empty_like(values)
        out[self.layout.order] = values
        return out


class SequenceSVM(JointEstimator):
    """Sequence labelling with a linear chain: a label for each token of a sequence, certified.

    Labels of neighbouring tokens depend on each other. The score of a labelling is the sum of the
    scores of its tokens and of weights for the first label, each pair of neighbours and the last
    label. ``predict`` finds the labelling with the greatest score by Viterbi's algorithm. ``fit``
    minimises 1/2 |w|^2 + C sum_i max over y of [ (number of labels of y that are wrong) + f(x_i, y)
    - f(x_i, y_i) ] over the sequences i (a hidden Markov SVM, or max-margin Markov network).

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses, which are summed over the sequences.
    tol : float, default=1e-3
        Largest duality gap, relative to the objective.
    max_iter : int, default=-1
        Largest number of cutting planes; -1 sets no limit.
    time_limit : float or None, default=None
        Seconds after which the best model so far is kept, with a warning.
    verbose : bool or int, default=0
        Show a progress line.
    on_interrupt : {"raise", "keep"}, default="raise"
        Whether Ctrl-C raises KeyboardInterrupt or keeps the best model so far.
    warm_start : bool, default=False
        Start from the weights of the last fit.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features)
        Weights of the features of a token for each label.
    start_ : ndarray of shape (n_classes,)
        Weights of the first label of a sequence.
    transitions_ : ndarray of shape (n_classes, n_classes)
        Weights of label b (column) after label a (row).
    end_ : ndarray of shape (n_classes,)
        Weights of the last label of a sequence.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    certificate_ : Certificate
        Status, primal and dual values, gap.
    n_iter_ : int
        Number of cutting planes.
    n_features_in_ : int
        Features of a token.

    References
    ----------
    .. [1] Altun, Y., Tsochantaridis, I., & Hofmann, T. (2003). Hidden Markov support vector
       machines. ICML.
    .. [2] Taskar, B., Guestrin, C., & Koller, D. (2003). Max-margin Markov networks. NIPS.

    See Also
    --------
    StructuredSVM : Other outputs, and your own.

    Examples
    --------
    A machine is on or off for some time, and a noisy sensor sees it:

    >>> import numpy as np
    >>> from maxmargin import SequenceSVM
    >>> rng = np.random.default_rng(0)
    >>> y = [np.cumsum(rng.random(50) < 0.1) % 2 for _ in range(40)]
    >>> X = [one[:, None] + rng.normal(size=(50, 1)) for one in y]
    >>> model = SequenceSVM().fit(X[:20], y[:20])
    >>> model.certificate_.status
    'optimal'
    >>> model.score(X[20:], y[20:]) > 0.75  # a threshold is right for 70 %
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {**JointEstimator._parameter_constraints}

    def __init__(
        self,
        C: float = 1.0,
        *,
        tol: float = 1e-3,
        max_iter: int = -1,
        time_limit: float | None = None,
        verbose: Any = 0,
        on_interrupt: str = "raise",
        warm_start: bool = False,
    ) -> None:
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.verbose = verbose
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start

    def __sklearn_tags__(self) -> Any:
        """X is a list of matrices, y a list of sequences."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.sparse = tags.target_tags.required = True
        return tags

    # ---- fitting ---------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : list of {array-like, sparse matrix} of shape (length_i, n_features)
            The sequences, a row of features for each token.
        y : list of array-like of shape (length_i,)
            The labels of their tokens.
        sample_weight : array-like of shape (n_sequences,), default=None
            How many times each sequence counts: 2 is two copies, 0 leaves it out.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            sequences = sequences_of(X, None)
            self.n_features_in_ = int(sequences.X.shape[1])
            self.classes_, label = encode(labels_of_tokens(y, sequences.lengths))
            self._fit_risk(self._risk(sequences, label, sample_weight))
        return self

    def _risk(self, sequences: Sequences, label: Integers, sample_weight: Any) -> ScoreRisk:
        """The risk of the sequences of positive weight."""
        weight = validate_weight(sample_weight, len(sequences.lengths))
        used, k = np.flatnonzero(weight > 0), len(self.classes_)
        label = label[np.repeat(weight > 0, sequences.lengths)]
        sequences = sequences.pick(used)
        layout = layout_of(sequences.lengths)
        loss = ChainLoss(label[layout.order], weight[used][layout.sequence], layout, k)
        linear = LinearSpace(ArrayDesign(sequences.X), k)
        return ScoreRisk(JointSpace(linear, k * k + 2 * k), loss)

    # ---- prediction ------------------------------------------------------------------------------

    @property
    def coef_(self) -> Floats:
        """Weights of the features of a token for each label."""
        w: Floats = checked(self).weights
        k = len(self.classes_)
        return w[: k * self.n_features_in_].reshape(k, -1)

    def _label_weights(self) -> Weights:
        w: Floats = checked(self).weights
        k = len(self.classes_)
        return Weights.of(w[k * self.n_features_in_ :], k)

    @property
    def start_(self) -> Floats:
        """Weights of the first label of a sequence."""
        return self._label_weights().begin

    @property
    def transitions_(self) -> Floats:
        """Weights of label b (column) after label a (row)."""
        return self._label_weights().step

    @property
    def end_(self) -> Floats:
        """Weights of the last label of a sequence."""
        return self._label_weights().end

    def _tagger(self, X: Any) -> tuple[Sequences, Tagger]:
        checked(self)
        sequences = sequences_of(X, self.n_features_in_)
        layout = layout_of(sequences.lengths)
        e = ArrayDesign(sequences.X).values_of_all(np.ascontiguousarray(self.coef_))
        return sequences, Tagger(e[layout.order], self._label_weights(), layout)

    def predict(self, X: Any) -> list[NDArray[Any]]:
        """The labels of greatest score, by Viterbi's algorithm.

        Parameters
        ----------
        X : list of {array-like, sparse matrix} of shape (length_i, n_features)
            Sequences.

        Returns
        -------
        y : list of ndarray of shape (length_i,)
            The labels of their tokens.
        """
        sequences, tagger = self._tagger(X)
        return sequences.split(self.classes_[tagger.in_order(viterbi(*tagger))])

    def decision_function(self, X: Any) -> list[Floats]:
        """The best score of a sequence if a token has a label, for each token and label.

        These are max-marginals. The greatest value of each row is the score of the labels that
        ``predict`` returns; the differences to it are margins.

        Parameters
        ----------
        X : list of {array-like, sparse matrix} of shape (length_i, n_features)
            Sequences.

        Returns
        -------
        values : list of ndarray of shape (length_i, n_classes)
            Scores.
        """
        sequences, tagger = self._tagger(X)
        return sequences.split(tagger.in_order(max_marginals(*tagger)))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of tokens with the right label.

        Parameters
        ----------
        X : list of {array-like, sparse matrix} of shape (length_i, n_features)
            Sequences.
        y : list of array-like of shape (length_i,)
            The true labels of their tokens.
        sample_weight : array-like of shape (n_sequences,), default=None
            Weights of the sequences.

        Returns
        -------
        score : float
            Accuracy over all tokens.
        """
        found = self.predict(X)
        lengths = np.array([len(one) for one in found], np.int64)
        truth = labels_of_tokens(y, lengths)
        weight = validate_weight(sample_weight, len(lengths))
        return float(np.average(np.concatenate(found) == truth, weights=np.repeat(weight, lengths)))

    # ---- certification ---------------------------------------------------------------------------

    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Recompute the certificate from the data of the fit.

        Parameters
        ----------
        X : list of {array-like, sparse matrix} of shape (length_i, n_features)
            The sequences of the fit.
        y : list of array-like of shape (length_i,)
            The labels of their tokens.
        sample_weight : array-like of shape (n_sequences,), default=None
            Their weights.

        Returns
        -------
        certificate : Certificate
            "refuted" if the model is not optimal for these data.
        """
        checked(self)
        sequences = sequences_of(X, self.n_features_in_)
        label = encode_known(self.classes_, labels_of_tokens(y, sequences.lengths))
        return self._certify_risk(self._risk(sequences, label, sample_weight))
