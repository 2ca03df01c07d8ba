"""RankSVC and RankSVR: learning to rank the samples of each query."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import column_or_1d
from sklearn.utils.validation import _num_samples, check_is_fitted

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats, Integers
from maxmargin.estimators._base import all_or_nothing
from maxmargin.estimators._scored import PlaneMachine
from maxmargin.estimators._targets import numbers
from maxmargin.metrics import kendall_tau_score
from maxmargin.structured.ranking import RankLoss, query_numbers, rank_loss


class BaseRanker(PlaneMachine):
    """Queries, fitting and scores of both rankers."""

    _margin: ClassVar[float]
    """The difference of scores that every pair should reach."""
    _rise: ClassVar[float]
    """The part of it that grows with the difference of targets."""

    def __init__(
        self,
        *,
        kernel: Any = "linear",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        verbose: Any = False,
        max_iter: int = -1,
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        warm_start: bool = False,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.verbose = verbose
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start

    def __sklearn_tags__(self) -> Any:
        """A ranker, as XGBoost has it: neither a classifier nor a regressor."""
        tags = super().__sklearn_tags__()
        tags.estimator_type = "ranker"
        tags.target_tags.required = True
        return tags

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training vectors; the square kernel matrix for ``kernel="precomputed"``; any sequence
            for a callable kernel.
        y : array-like of shape (n_samples,)
            Targets: samples of a query are to be ranked by them, the greatest first.
        qid : array-like of shape (n_samples,), default=None
            The query of each sample: numbers or words, in any order. None is one query for all.
        sample_weight : array-like of shape (n_samples,), default=None
            How many times each sample counts: 2 is two copies, 0 leaves it out. The same weight
            for all samples of a query is the weight of the query.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            X, z, query = self._validated(X, y, qid, reset=True)
            data = self._prepared(X, sample_weight)
            self._train(data, self._loss(z[data.used], query[data.used], data.weight))
            return self

    def _validated(self, X: Any, y: Any, qid: Any, *, reset: bool) -> tuple[Any, Floats, Integers]:
        X, y = self._validate_Xy(X, y, reset=reset)
        z = numbers(column_or_1d(y, warn=True))
        if not np.isfinite(z).all():
            raise ValueError("Input y contains NaN or infinity.")
        return X, z, query_numbers(qid, _num_samples(X))

    def _loss(self, z: Floats, query: Integers, weight: Floats) -> RankLoss:
        found = rank_loss(z, query, weight, margin=self._margin, rise=self._rise)
        if not found.cost.any():
            queries = len(np.unique(query))
            samples = "1 sample" if len(z) == 1 else f"{len(z)} samples"
            raise ValueError(
                f"There is nothing to rank: {samples} in {queries} "
                f"{'query' if queries == 1 else 'queries'}, and the targets of each query are all "
                "equal. At least one query needs two samples with different targets; is qid the "
                "query of each sample?"
            )
        return found

    def predict(self, X: Any) -> Floats:
        """Scores that rank the samples of a query, the greatest first.

        Scores of different queries cannot be compared.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; (n_samples, n_samples_fit) kernel values for ``kernel="precomputed"``.

        Returns
        -------
        s : ndarray of shape (n_samples,)
        """
        return self._decision_values(X)[:, 0]

    def score(self, X: Any, y: Any, qid: Any = None) -> float:
        """Kendall's tau-b between targets and scores, averaged over queries.

        See :func:`maxmargin.metrics.kendall_tau_score`, and
        :func:`maxmargin.metrics.ndcg_score` for the other usual score.

        Parameters
        ----------
        X, y, qid
            As in ``fit``.

        Returns
        -------
        tau : float
            From -1 to 1.
        """
        return kendall_tau_score(y, self.predict(X), qid=qid)

    def certify(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> Certificate:
        """Check the fitted model on its training data.

        The objective is computed again from the data, the lower bound from the plane that the
        model keeps.

        Parameters
        ----------
        X, y, qid, sample_weight
            What the model was fitted on.

        Returns
        -------
        certificate : Certificate
            As ``certificate_``.
        """
        check_is_fitted(self)
        X, z, query = self._validated(X, y, qid, reset=False)
        data = self._prepared(X, sample_weight)
        return self._certify(data, self._loss(z[data.used], query[data.used], data.weight))


class RankSVC(BaseRanker):
    """Ranking support vector machine: learns scores that order the samples of each query.

    Every pair (i, j) of samples of one query with y_i > y_j should have s_i - s_j >= 1, where
    s = <w, phi(x)> are the scores. ``fit`` minimises

        1/2 |w|^2 + C sum over queries of (number of its samples) (mean over its pairs of max(0, 1 -
        (s_i - s_j)))

    exactly, by cutting planes. Pairs are never enumerated: n samples take O(n log n) steps. The
    targets y are grades, such as 0 to 4: their order alone counts. There is no intercept, since
    it would cancel in every pair.

    Parameters
    ----------
    kernel : str, callable or Kernel, default="linear"
        As for SVC. "linear" keeps one weight for each feature and suits any number of samples;
        other kernels need all kernel values of the samples at each step. The kernel should be
        positive semidefinite: otherwise nothing is proved, and ``fit`` warns.
    degree, gamma, coef0
        As for SVC.
    tol : float, default=1e-4
        Greatest duality gap, relative to the objective.
    C : float, default=1.0
        Weight of the losses. It means the same as in SVC: each sample adds C times a mean loss.
        SVM-rank's ``-c`` is C times the number of queries, and its losses are sums over the pairs
        of a query (``-l 1``) or means over them (``-l 2``): with ``sample_weight`` the number of
        pairs of the sample's query divided by its number of samples, or 1 divided by that, the
        objectives are equal.
    verbose : bool, default=False
        Whether to show progress.
    max_iter : int, default=-1
        Largest number of cutting planes; -1 sets no limit.
    time_limit, on_interrupt, warm_start
        As for SVC.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights of the features, with a linear kernel only.
    support_, support_vectors_, dual_coef_, n_support_
        As for SVR, with other kernels only.
    intercept_ : ndarray of shape (1,)
        0.
    certificate_ : Certificate
        How far the solution is from the optimum.
    n_iter_ : int
        Number of cutting planes.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    RankSVR : Differences of real targets count, not only their order.
    maxmargin.metrics.ndcg_score, maxmargin.metrics.kendall_tau_score : scores by query.

    References
    ----------
    Herbrich, R., Graepel, T. and Obermayer, K. (2000). Large margin rank boundaries for ordinal
    regression. Advances in Large Margin Classifiers, 115-132.

    Joachims, T. (2002). Optimizing search engines using clickthrough data. KDD, 133-142.

    Joachims, T. (2006). Training linear SVMs in linear time. KDD, 217-226.

    Examples
    --------
    >>> from maxmargin import RankSVC
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [0.0, 3.0], [3.0, 0.0]]
    >>> model = RankSVC(C=10).fit(X, y=[0, 1, 2, 0, 1], qid=[1, 1, 1, 2, 2])
    >>> model.certificate_.status
    'optimal'
    >>> model.predict([[1.0, 3.0], [2.0, 1.0], [0.0, 0.0]]).argsort()[::-1]
    array([1, 0, 2])
    """

    _margin, _rise = 1.0, 0.0


class RankSVR(BaseRanker):
    """Ranking by real targets: the margin of a pair is the difference of its targets.

    Every pair (i, j) of samples of one query with y_i > y_j should have s_i - s_j >= y_i - y_j,
    where s = <w, phi(x)> are the scores. ``fit`` minimises

        1/2 |w|^2 + C sum over queries of (number of its samples) (mean over its pairs of max(0,
        (y_i - y_j) - (s_i - s_j)))

    exactly, by cutting planes (margin rescaling). A swapped pair costs at least the difference of
    its targets: pairs that are far apart matter more than near ties. Use it for targets that are
    numbers on a scale, such as prices, times or yields, if only the order within a query matters
    or if every query has its own level. Predictions are scores, whose differences
    within a query are on the scale of y; the level of a query is not learnt.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, C, verbose, max_iter, time_limit, on_interrupt, warm_start
        As for RankSVC.

    Attributes
    ----------
    coef_, intercept_, support_, support_vectors_, dual_coef_, n_support_
        As for RankSVC.
    certificate_, n_iter_, n_features_in_, feature_names_in_
        As for RankSVC.

    See Also
    --------
    RankSVC : Only the order of the targets counts.
    SVR : Predicts the targets themselves.

    References
    ----------
    Tsochantaridis, I., Joachims, T., Hofmann, T. and Altun, Y. (2005). Large margin methods for
    structured and interdependent output variables. Journal of Machine Learning Research 6,
    1453-1484.

    Pahikkala, T., Tsivtsivadze, E., Airola, A., Järvinen, J. and Boberg, J. (2009). An efficient
    algorithm for learning to rank from preference graphs. Machine Learning 75, 129-165.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import RankSVR
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(60, 3)), np.repeat([0, 1, 2], 20)
    >>> level = np.array([100.0, 0.0, -50.0])[qid]
    >>> y = X @ [1.0, -2.0, 0.5] + level
    >>> model = RankSVR(C=10).fit(X, y, qid=qid)
    >>> model.coef_.round(1)
    array([[ 1. , -2. ,  0.5]])
    """

    _margin, _rise = 0.0, 1.0
