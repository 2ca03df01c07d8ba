"""MISVC: labels of bags of instances."""

from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats, Integers
from maxmargin.core.threads import one_blas_thread
from maxmargin.estimators import _outcome
from maxmargin.estimators._base import all_or_nothing
from maxmargin.estimators._options import StrOptions
from maxmargin.estimators._outputs import encode_known, refuse_single_class
from maxmargin.estimators._record import checked, field
from maxmargin.estimators._scored import PlaneData, PlaneMachine, Trained, record_of
from maxmargin.estimators._sequences import Sequences, sequences_of
from maxmargin.estimators._targets import encode, validate_weight
from maxmargin.kernel.kernels import NAMES
from maxmargin.monitor import Monitor
from maxmargin.status import Status
from maxmargin.structured.bags import Bags, MeanLoss, WitnessLoss, hinge_intercept
from maxmargin.structured.cutting_plane import solve
from maxmargin.structured.latent import LatentSolution, best_of, descend
from maxmargin.structured.risks import ScoreRisk
from maxmargin.structured.spaces import KernelSpace, LinearSpace


class Bagged(NamedTuple):
    """The data of a fit: instances of the bags of positive weight, and labels of these bags."""

    data: PlaneData
    y: Floats
    """-1 or 1."""
    weight: Floats
    first: Integers
    """The first instance of each bag, among those of positive weight."""

    def on(self, space: LinearSpace | KernelSpace) -> Bags:
        """The problem in a space."""
        return Bags(space, self.y, self.weight, self.first)


class MISVC(ClassifierMixin, PlaneMachine):  # type: ignore[misc]
    """Multiple-instance classification: a bag is positive if one of its instances is.

    The score of a bag is that of its highest instance, f(bag) = max over x in the bag of f(x). So
    labels of bags are enough to learn which instances make them positive: an image shows a beach
    because of one region, a molecule binds because of one of its shapes. ``fit`` minimises
    1/2 |w|^2 + C sum_i max(0, 1 - y_i f(bag_i)) (MI-SVM). It alternates between choosing the
    witness of each positive bag, its highest instance, and a certified fit with these witnesses.
    The objective never rises. The status at the end is "stationary", never "optimal". Exports to
    other languages hold the function f of the instances.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses, which are summed over the bags.
    kernel : {"linear", "rbf", "poly", "sigmoid", "logistic", "laplacian", "chi2", "cosine"}, \
default="linear"
        Kernel of the instances, as for SVC.
    degree, gamma, coef0
        Numbers of the kernel, as for SVC.
    n_init : int, default=1
        Number of starts. The first takes the mean of each positive bag as its witness, the others
        random instances. The start with the lowest objective is kept.
    tol : float, default=1e-4
        Largest duality gap of the convex problems, relative to their objective. Rounds end when the
        objective falls by less than this share.
    max_iter : int, default=-1
        Largest number of rounds of each start; -1 sets no limit.
    time_limit : float or None, default=None
        Seconds after which the best model so far is kept, with a warning if it is not stationary.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts. None means 0.
    verbose : bool or int, default=0
        Show a progress line.
    on_interrupt : {"raise", "keep"}, default="raise"
        Whether Ctrl-C raises KeyboardInterrupt or keeps the best model so far.
    warm_start : bool, default=False
        Start from the weights of the last fit only.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights of the features; with a linear kernel only.
    intercept_ : ndarray of shape (1,)
        The intercept, which is not penalised.
    support_, support_vectors_, dual_coef_
        Instances of the training bags, numbered through all of them, and their coefficients;
        with other kernels only.
    classes_ : ndarray of shape (2,)
        The labels, sorted; bags of the second one need a positive instance.
    witnesses_ : ndarray of shape (n_bags,)
        The position of each positive training bag's witness in its bag; -1 for other bags.
    objectives_ : ndarray
        The objective after each round of the best start; it never rises.
    start_objectives_ : ndarray
        The final objective of each start.
    rounds_ : tuple of Certificate
        The certificates of the convex problems of the best start.
    certificate_ : Certificate
        That of the last convex problem, with the status "stationary".
    n_iter_ : int
        Rounds of the best start.
    n_features_in_ : int
        Features of an instance.

    References
    ----------
    .. [1] Andrews, S., Tsochantaridis, I., & Hofmann, T. (2003). Support vector machines for
       multiple-instance learning. NIPS.

    See Also
    --------
    LatentSVM : classes made of parts.
    SVC : bags of one instance each.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import MISVC
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(80) % 2
    >>> bags = [rng.normal(size=(5, 3)) for _ in y]
    >>> for bag, label in zip(bags, y):
    ...     bag[rng.integers(5)] += 3 * label  # one instance of a positive bag is different
    >>> model = MISVC().fit(bags[:40], y[:40])
    >>> model.score(bags[40:], y[40:]) > 0.9
    True
    >>> model.certificate_.status
    'stationary'
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PlaneMachine._parameter_constraints,
        "kernel": [StrOptions(set(NAMES) - {"precomputed"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }
    classes_ = field("classes")

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Any = "linear",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        n_init: int = 1,
        tol: float = 1e-4,
        max_iter: int = -1,
        time_limit: float | None = None,
        random_state: Any = None,
        verbose: Any = 0,
        on_interrupt: str = "raise",
        warm_start: bool = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start

    def __sklearn_tags__(self) -> Any:
        """X is a list of matrices; two classes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.classifier_tags.multi_class = False
        return tags

    # ---- fitting ---------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : list of {array-like, sparse matrix} of shape (n_instances_i, n_features)
            The bags, a row of features for each instance.
        y : array-like of shape (n_bags,)
            Labels of the bags, of two classes.
        sample_weight : array-like of shape (n_bags,), default=None
            How many times each bag counts: 2 is two copies, 0 leaves it out.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            sequences = self._validate_bags(X, None)
            self.n_features_in_ = int(sequences.X.shape[1])
            classes, label = encode(y)
            if len(classes) != 2:
                raise ValueError(
                    f"MISVC is for two classes, got {len(classes)}: {classes.tolist()}. Fit one "
                    "model for each class against the rest."
                )
            weight = _bag_weight(sample_weight, len(label), sequences)
            refuse_single_class(classes, label[weight > 0])
            bagged = self._bagged(sequences, label, weight)
            quiet = np.errstate(over="ignore", invalid="ignore")
            with self._monitor() as monitor, one_blas_thread(), quiet:
                space = self._space(bagged.data, monitor)
                best, found = self._descend(bagged, space, monitor)
            _outcome.raise_interrupt(self, monitor)
            self._remember(bagged, space, best, classes)
            positive = (weight > 0) & (label == 1)
            self.witnesses_ = np.full(len(label), -1)
            self.witnesses_[positive] = (best.h - bagged.first)[bagged.y > 0]
            self.start_objectives_ = np.array(found)
        return self

    def _validate_bags(self, X: Any, width: int | None) -> Sequences:
        """The bags, with instances that the kernel takes; ``width`` is None while fitting."""
        sequences = sequences_of(X, width, "bag")
        return sequences._replace(X=self._canonical(sequences.X, fitting=width is None))

    def _bagged(self, sequences: Sequences, label: Integers, weight: Floats) -> Bagged:
        data = self._prepared(sequences.X, np.repeat(weight, sequences.lengths))
        used = weight > 0
        lengths = sequences.lengths[used]
        y = np.where(label[used] == 1, 1.0, -1.0)
        return Bagged(data, y, weight[used], np.cumsum(lengths) - lengths)

    def _descend(
        self, bagged: Bagged, space: LinearSpace | KernelSpace, monitor: Monitor
    ) -> tuple[LatentSolution, list[float]]:
        """The best of several starts, or from the last fit."""
        bags, limits = bagged.on(space), (float(self.C), float(self.tol))
        before = self._starts(space, bagged.data, 1)[0]
        if before is None:
            return best_of(bags, self._witnesses(bags, monitor), *limits, monitor)
        best = descend(bags, bags.impute(before), *limits, monitor, before)
        return best, [best.objectives[-1]]

    def _witnesses(self, bags: Bags, monitor: Monitor) -> Iterator[Integers]:
        """Witnesses to start with."""
        risk = ScoreRisk(bags.space, MeanLoss(bags))
        mean = solve(risk, float(self.C), float(self.tol), monitor.quiet(-1))
        yield bags.impute(mean.w)
        state = check_random_state(0 if self.random_state is None else self.random_state)
        for _ in range(self.n_init - 1):
            values = state.uniform(size=len(bags.space.scores(mean.w)))
            yield np.where(bags.y > 0, bags.best(values), bags.first)

    def _remember(
        self,
        bagged: Bagged,
        space: LinearSpace | KernelSpace,
        best: LatentSolution,
        classes: NDArray[Any],
    ) -> None:
        """Keep the record, with the best intercept."""
        found, judged = best.solution, best.certificate
        scores = space.scores(found.w)
        greatest = scores[bagged.on(space).best(scores)]
        intercept, _, _ = hinge_intercept(bagged.y, greatest, bagged.weight)
        trained = Trained(found, intercept, judged)
        self.model_ = record_of(space, bagged.data, [trained], classes)
        self.n_iter_, self.rounds_ = len(best.rounds), best.rounds
        self.objectives_ = np.array(best.objectives)
        if judged.status is not Status.STATIONARY:
            _outcome.warn_of([judged], self._describe)

    # ---- prediction ------------------------------------------------------------------------------

    def instance_scores(self, X: Any) -> list[Floats]:
        """The decision value of each instance; the greatest is that of its bag.

        Parameters
        ----------
        X : list of {array-like, sparse matrix} of shape (n_instances_i, n_features)
            Bags.

        Returns
        -------
        values : list of ndarray of shape (n_instances_i,)
            Those above 0 make their bag positive.
        """
        checked(self)
        sequences = self._validate_bags(X, self.n_features_in_)
        return sequences.split(self._decision_values(sequences.X)[:, 0])

    def decision_function(self, X: Any) -> Floats:
        """The decision value of each bag, that of its greatest instance.

        Parameters
        ----------
        X : list of {array-like, sparse matrix} of shape (n_instances_i, n_features)
            Bags.

        Returns
        -------
        values : ndarray of shape (n_bags,)
            Above 0 for the second class.
        """
        return np.array([one.max() for one in self.instance_scores(X)])

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each bag.

        Parameters
        ----------
        X : list of {array-like, sparse matrix} of shape (n_instances_i, n_features)
            Bags.

        Returns
        -------
        y : ndarray of shape (n_bags,)
            Labels.
        """
        values = self.decision_function(X)
        found: NDArray[Any] = self.classes_[(values > 0).astype(np.intp)]
        return found

    # ---- certification ---------------------------------------------------------------------------

    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Recompute the certificate of the last convex problem from the data of the fit.

        Parameters
        ----------
        X : list of {array-like, sparse matrix} of shape (n_instances_i, n_features)
            The bags of the fit.
        y : array-like of shape (n_bags,)
            Their labels.
        sample_weight : array-like of shape (n_bags,), default=None
            Their weights.

        Returns
        -------
        certificate : Certificate
            "refuted" if the model is not optimal for these data and the witnesses of the fit.
        """
        checked(self)
        sequences = self._validate_bags(X, self.n_features_in_)
        label = encode_known(self.classes_, y)
        weight = _bag_weight(sample_weight, len(label), sequences)
        bagged = self._bagged(sequences, label, weight)
        known = self.witnesses_[weight > 0] if len(self.witnesses_) == len(weight) else None
        if known is None or not np.array_equal(known >= 0, bagged.y > 0):
            raise ValueError(
                f"certify needs the data the model was fitted on: {len(self.witnesses_)} bags, "
                f"{int((self.witnesses_ >= 0).sum())} of them positive and of positive weight."
            )
        space = self._space(bagged.data, Monitor())
        h = bagged.first + np.maximum(known, 0)
        return self._certify(bagged.data, WitnessLoss(bagged.on(space), h))


def _bag_weight(sample_weight: Any, n: int, sequences: Sequences) -> Floats:
    """Weights of bags; there must be a label for each."""
    if n != len(sequences.lengths):
        raise ValueError(f"X has {len(sequences.lengths)} bags, but y has {n} labels.")
    return validate_weight(sample_weight, n)
