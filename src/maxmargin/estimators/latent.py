"""LatentSVM: classes made of parts that are not labelled."""

from collections.abc import Iterator, Mapping
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats, Integers
from maxmargin.core.threads import one_blas_thread
from maxmargin.estimators import _outcome
from maxmargin.estimators._base import all_or_nothing
from maxmargin.estimators._data import canonical_csr
from maxmargin.estimators._joint import JointEstimator, Proved
from maxmargin.estimators._outputs import OTHER_LABELS, encode_known, refuse_single_class
from maxmargin.estimators._record import checked
from maxmargin.estimators._targets import encode, validate_weight
from maxmargin.linear.designs import ArrayDesign
from maxmargin.structured.latent import LatentSolution, best_of, descend
from maxmargin.structured.parts import PartsProblem, parts_of
from maxmargin.structured.spaces import LinearSpace


class LatentSVM(ClassifierMixin, JointEstimator):  # type: ignore[misc]
    """Latent support vector classification: a class is the best of several linear parts.

    The score of a class is the greatest of several linear functions, its parts: faces from the
    front or from the side, cats or dogs among pets. Which part a sample belongs to is not
    labelled. ``fit`` alternates between choosing the part of each sample and a certified fit with
    these parts (the concave-convex procedure). The objective never rises. The best of several
    starts is kept, and its status is "stationary", never "optimal".

    Parameters
    ----------
    n_parts : int or dict, default=2
        Number of parts of each class; a dict gives the number for each label. A class of 0 parts
        scores 0: ``{"background": 0, "object": 3}`` is the latent SVM of Felzenszwalb et al., with
        the hinge loss of f(x) = max over p of <w_p, x> + b_p.
    C : float, default=1.0
        Weight of the losses.
    fit_intercept : bool, default=True
        Whether parts have an intercept, which is regularised as the other weights are.
    n_init : int, default=5
        Number of starts from random parts. The start with the lowest objective is kept.
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
    coef_ : ndarray of shape (n_parts_in_all, n_features)
        Weights of the parts.
    intercept_ : ndarray of shape (n_parts_in_all,)
        Their intercepts.
    part_classes_ : ndarray of shape (n_parts_in_all,)
        Their classes.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_parts_ : ndarray of shape (n_classes,)
        The number of parts of each class.
    latent_ : ndarray of shape (n_samples,)
        The part of each training sample in the last convex problem, a row of ``coef_``; -1 for
        samples of weight 0. A class without parts has the number of all parts.
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
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    .. [1] Yu, C.-N., & Joachims, T. (2009). Learning structural SVMs with latent variables. ICML.
    .. [2] Felzenszwalb, P. F., Girshick, R. B., McAllester, D., & Ramanan, D. (2010). Object
       detection with discriminatively trained part-based models. PAMI 32(9).

    See Also
    --------
    MISVC : bags of instances.
    StructuredSVM : outputs without latent parts.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import LatentSVM, LinearSVC
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = X[:, 0] * X[:, 1] > 0  # two opposite corners each
    >>> LinearSVC().fit(X, y).score(X, y) < 0.7
    True
    >>> model = LatentSVM().fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    >>> model.certificate_.status
    'stationary'
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **JointEstimator._parameter_constraints,
        "n_parts": [Interval(Integral, 1, None, closed="left"), dict],
        "fit_intercept": ["boolean"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_parts: Any = 2,
        C: float = 1.0,
        *,
        fit_intercept: bool = True,
        n_init: int = 5,
        tol: float = 1e-4,
        max_iter: int = -1,
        time_limit: float | None = None,
        random_state: Any = None,
        verbose: Any = 0,
        on_interrupt: str = "raise",
        warm_start: bool = False,
    ) -> None:
        self.n_parts = n_parts
        self.C = C
        self.fit_intercept = fit_intercept
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start

    def __sklearn_tags__(self) -> Any:
        """Sparse data are accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # ---- fitting ---------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training vectors.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How many times each sample counts: 2 is two copies, 0 leaves it out.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            X, y = self._validate_Xy(X, y, reset=True)
            weight = validate_weight(sample_weight, X.shape[0])
            self.classes_, label = encode(y)
            refuse_single_class(self.classes_, label[weight > 0])
            self.n_parts_ = self._counts()
            problem = self._problem(X, label, weight)
            best, found = self._descend(problem)
            self.latent_ = np.full(len(weight), -1)
            self.latent_[weight > 0] = best.h
            self.objectives_, self.start_objectives_ = np.array(best.objectives), np.array(found)
            self.rounds_ = best.rounds
            self._keep(Proved(best.solution, best.certificate))
            self.n_iter_ = len(best.rounds)
        return self

    def _descend(self, problem: PartsProblem) -> tuple[LatentSolution, list[float]]:
        """The best of several starts, or from the last fit."""
        limits = float(self.C), self._stop_at(problem.space)
        quiet = np.errstate(over="ignore", invalid="ignore")
        tol = float(self.tol)
        with self._monitor() as monitor, one_blas_thread(), quiet:
            before = self._start(problem.space.size)
            if before is None:
                best, found = best_of(problem, self._starts(problem), *limits, monitor, tol)
            else:
                best = descend(problem, problem.impute(before), *limits, monitor, before, tol)
                found = [best.objectives[-1]]
        _outcome.raise_interrupt(self, monitor)
        return best, found

    def _counts(self) -> Integers:
        """How many parts each class has."""
        if not isinstance(self.n_parts, Mapping):
            return np.full(len(self.classes_), int(self.n_parts))
        labels = self.classes_.tolist()
        odd = [label for label in labels if label not in self.n_parts]
        odd += [label for label in self.n_parts if label not in labels]
        if odd:
            raise ValueError(
                f"n_parts must name the classes {labels}, got {list(self.n_parts)}: {odd[0]!r} is "
                "in one of them only."
            )
        counts = np.array([self.n_parts[label] for label in labels])
        if counts.dtype.kind not in "iu" or (counts < 0).any() or (counts == 0).sum() > 1:
            raise ValueError(
                "n_parts must be whole numbers >= 0, at most one of them 0, got "
                f"{dict(self.n_parts)}."
            )
        return counts.astype(np.int64)

    def _problem(self, X: Any, label: Integers, weight: Floats) -> PartsProblem:
        """The problem of the samples of positive weight."""
        used, parts = weight > 0, parts_of(self.n_parts_)
        design = ArrayDesign(_with_constant(X if used.all() else X[used], self.fit_intercept))
        space = LinearSpace(design, parts.n_parts)
        return PartsProblem(space, label[used], weight[used], parts)

    def _starts(self, problem: PartsProblem) -> Iterator[Integers]:
        """Parts to start with, by random linear functions."""
        state = check_random_state(0 if self.random_state is None else self.random_state)
        columns, width = problem.parts.n_parts, self.n_features_in_
        for _ in range(self.n_init if self.n_parts_.max() > 1 else 1):
            functions = np.zeros((columns, width + bool(self.fit_intercept)))
            functions[:, :width] = state.normal(size=(columns, width))
            yield problem.start(problem.space.scores(functions.ravel()))

    # ---- prediction ------------------------------------------------------------------------------

    def _rows(self) -> Floats:
        """Weights of the parts, with the intercept as a last column."""
        w: Floats = checked(self).weights
        return w.reshape(int(self.n_parts_.sum()), -1)

    @property
    def coef_(self) -> Floats:
        """Weights of the parts."""
        return self._rows()[:, : self.n_features_in_]

    @property
    def intercept_(self) -> Floats:
        """Intercepts of the parts."""
        rows = self._rows()
        return rows[:, -1] if self.fit_intercept else np.zeros(len(rows))

    @property
    def part_classes_(self) -> NDArray[Any]:
        """Classes of the parts."""
        checked(self)
        found: NDArray[Any] = np.repeat(self.classes_, self.n_parts_)
        return found

    def _part_scores(self, X: Any) -> Floats:
        checked(self)
        X = self._validate_X(X, reset=False)
        return ArrayDesign(X).values_of_all(np.ascontiguousarray(self.coef_)) + self.intercept_

    def decision_function(self, X: Any) -> Floats:
        """The score of each class, that of its best part.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes, the score of the second less that of the first.
        """
        scores = self._part_scores(X)
        values = parts_of(self.n_parts_).class_scores(scores, len(self.classes_))
        return values[:, 1] - values[:, 0] if values.shape[1] == 2 else values

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of greatest score.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Class labels.
        """
        values = self.decision_function(X)
        best = values.argmax(axis=1) if values.ndim == 2 else (values > 0).astype(np.intp)
        found: NDArray[Any] = self.classes_[best]
        return found

    def predict_part(self, X: Any) -> Integers:
        """The part that decides: the best one of the class that is predicted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        parts : ndarray of shape (n_samples,)
            Rows of ``coef_``; -1 for a class without parts.
        """
        predicted = self.predict(X)
        label = encode_known(self.classes_, predicted)
        found = parts_of(self.n_parts_).best(self._part_scores(X), label)
        return np.where(found < int(self.n_parts_.sum()), found, -1)

    # ---- certification ---------------------------------------------------------------------------

    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Recompute the certificate of the last convex problem from the data of the fit.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples of the fit.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.

        Returns
        -------
        certificate : Certificate
            "refuted" if the model is not optimal for these data and the parts of the fit.
        """
        checked(self)
        X, y = self._validate_Xy(X, y, reset=False)
        weight = validate_weight(sample_weight, X.shape[0])
        if len(weight) != len(self.latent_) or not np.array_equal(weight > 0, self.latent_ >= 0):
            raise ValueError(
                f"certify needs the data the model was fitted on: {len(self.latent_)} samples, "
                f"{int((self.latent_ >= 0).sum())} of positive weight."
            )
        label = encode_known(self.classes_, y)
        problem = self._problem(X, label, weight)
        h = self.latent_[weight > 0]
        if not np.array_equal(problem.parts.owner[h], problem.label):
            raise ValueError(OTHER_LABELS)
        return self._certify_risk(problem.convex(h))


def _with_constant(X: Any, wanted: bool) -> Any:
    """X with a column of ones, whose weights are the intercepts."""
    if not wanted:
        return X
    ones = np.ones((X.shape[0], 1), X.dtype)
    if sparse.issparse(X):
        return canonical_csr(sparse.hstack([X, ones], format="csr"))
    return np.ascontiguousarray(np.hstack([X, ones]))
