"""SVDD."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import column_or_1d
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _num_samples, check_consistent_length, check_is_fitted

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.estimators._base import all_or_nothing
from maxmargin.estimators._machine import Shared
from maxmargin.estimators._outlier import BaseOneClass
from maxmargin.estimators._record import fitted
from maxmargin.estimators._single import BaseSingle, Targets
from maxmargin.estimators._warnings import warn
from maxmargin.kernel import formulations
from maxmargin.kernel.evaluation import kernel_diagonal
from maxmargin.kernel.formulations import Formulation
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.model import Problem
from maxmargin.kernel.sources import make_source


class SVDD(BaseOneClass, BaseSingle):
    """Support vector data description: the smallest ball around the samples, solved exactly.

    It minimises R^2 + C (sum_inliers max(0, d_i - R^2) + sum_outliers max(0, R^2 - d_i)), where d_i
    = |phi(x_i) - c|^2 is the squared distance to the centre c, and C = 1 / (nu n) for n inliers:
    the ball holds all but a few of the inliers and leaves known outliers outside. The decision
    function is R^2 - |phi(x) - c|^2, negative for outliers.

    Where k(x, x) is the same for all x, as for RBF, and no outlier is known, the ball cuts out the
    same region as ``OneClassSVM`` with the same nu. With other kernels it is bounded, while that of
    OneClassSVM is a half-space.

    Parameters
    ----------
    kernel, degree, gamma, coef0
        As for SVC. A precomputed kernel needs equal values on its diagonal: k(x, x) of new samples
        must be known.
    tol : float, default=1e-3
        Greatest violation of the optimality conditions, as for OneClassSVM; small problems are
        solved to rounding.
    nu : float, default=0.1
        In (0, 1]. Without known outliers at most this share of the samples lies outside, and at
        least this share are support vectors. Each known outlier that the ball cannot leave out
        pushes some inliers out, too; its sample weight says how much it counts.
    shrinking, cache_size, verbose, max_iter, time_limit, on_interrupt, warm_start
        As for SVC.

    Attributes
    ----------
    radius_ : float
        R, in feature space.
    offset_ : ndarray of shape (1,)
        -R^2: ``decision_function = score_samples - offset_``.
    center_ : ndarray of shape (n_features,)
        The centre c; with a linear kernel only.
    diagonal_ : float
        The mean of k(x, x) over the samples; with a precomputed kernel that of every sample.
    dual_coef_ : ndarray of shape (1, n_support)
        Twice the coefficients of the centre, negative for known outliers; they sum to 2.
    support_, support_vectors_, n_support_, intercept_, intercept_interval_, coef_
        As for OneClassSVM; f(x) = dual_coef_ k(support_vectors_, x) + intercept_ - k(x, x).
    certificate_, fit_status_, n_iter_, n_features_in_, shape_fit_
        As for OneClassSVM; the objective of the certificate is that above.

    See Also
    --------
    OneClassSVM : a hyperplane in place of a ball.

    References
    ----------
    Tax, D. M. J. and Duin, R. P. W. (2004). Support vector data description. Machine Learning 54,
    45-66.

    Chang, W.-C., Lee, C.-P. and Lin, C.-J. (2013). A revisit to support vector data description.
    National Taiwan University.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import SVDD
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = SVDD(kernel="linear", nu=0.1).fit(X)
    >>> bool((model.predict(X) == -1).mean() <= 0.1)
    True
    >>> bool(np.abs(model.center_).max() < 0.3)
    True

    Some samples are known to be outliers:

    >>> y = np.where(X[:, 0] > 1, -1, 1)
    >>> model = SVDD(gamma=0.5, nu=0.05).fit(X, y)
    >>> model.predict([[0, 0], [1.5, 0]])
    array([ 1, -1])
    """

    _problem = Problem.SVDD
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseSingle._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.1,
        shrinking: bool = True,
        cache_size: Any = 200,
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
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start

    # ---- fitting ---------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training vectors; the square kernel matrix for ``kernel="precomputed"``; any sequence
            for a callable kernel.
        y : array-like of shape (n_samples,), default=None
            -1 for samples that are known to be outliers, 1 for the others; None if all are inliers.
            Labels without -1 are not used, with a warning.
        sample_weight : array-like of shape (n_samples,), default=None
            How many times each sample counts: 2 is two copies, 0 leaves it out.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any, shared: Shared | None = None) -> Self:
        own = self._validate_X(X, reset=True)
        found = self._prepared(own, _signs(y, own), sample_weight)
        _refuse_no_inliers(found)
        diagonal = _self_similarity(found.data.kernel, found.data.samples)
        self._refuse_uneven(diagonal)
        self._fit_single(found, shared)
        record = self.model_
        assert record.rows is not None
        place = np.searchsorted(found.data.used, record.rows)
        linear = float(np.sum(record.coef[0] / 2 * diagonal[place]))
        square = float(record.intercept[0]) + linear - record.certificate.dual  # R^2
        self.offset_ = np.array([-max(0.0, square)])
        self.diagonal_ = float(diagonal.mean())
        return self

    def _refuse_uneven(self, diagonal: Floats) -> None:
        """With kernel values that are given, k(x, x) of new samples is only known if all agree."""
        least, greatest = float(diagonal.min()), float(diagonal.max())
        if self._kernel_kind() is Kind.PRECOMPUTED and greatest - least > 1e-9 * abs(greatest):
            raise ValueError(
                "A precomputed kernel for SVDD needs equal values on its diagonal, because k(x, x) "
                f"of new samples is not given; these are between {least:g} and {greatest:g}. "
                "Divide k(x, z) by the root of k(x, x) k(z, z), or pass the kernel as a function."
            )

    def _formulation(self, z: Floats, weight: Floats) -> Formulation:
        return formulations.svdd(z, weight, float(self.nu))

    # ---- the ball --------------------------------------------------------------------------------

    @property
    def radius_(self) -> float:
        """The radius of the ball."""
        check_is_fitted(self)
        return float(np.sqrt(-self.offset_[0]))

    @property
    def center_(self) -> Floats:
        """The centre of the ball; with a linear kernel only."""
        check_is_fitted(self)
        if self.model_.kernel.kind is not Kind.LINEAR:
            raise AttributeError("center_ is only available when using a linear kernel")
        center: Any = self.coef_ / 2
        return np.asarray(center.toarray() if hasattr(center, "toarray") else center).ravel()

    def decision_function(self, X: Any) -> Floats:
        """R^2 less the squared distance to the centre: positive inside.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; (n_samples, n_samples_fit) kernel values for ``kernel="precomputed"``.

        Returns
        -------
        f : ndarray of shape (n_samples,)
        """
        f: Floats = self._decision_values(X)[:, 0]
        if self._kernel_kind() is Kind.PRECOMPUTED:
            return f - self.diagonal_
        return f - _self_similarity(fitted(self).kernel, self._validate_X(X, reset=False))

    def score_samples(self, X: Any) -> Floats:
        """The squared distance to the centre, with a minus sign.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        scores: Floats = self.decision_function(X) + self.offset_
        return scores

    def certify(self, X: Any, y: Any = None, sample_weight: Any = None) -> Certificate:
        """Check the fitted model on its training data.

        Everything is recomputed in float64, by code that the solver does not share.

        Parameters
        ----------
        X, y, sample_weight
            What the model was fitted on.

        Returns
        -------
        certificate : Certificate
            As ``certificate_``, with ``audit_error`` over all samples.
        """
        check_is_fitted(self)
        X = self._validate_X(X, reset=False)
        return self._certify_single(X, _signs(y, X), sample_weight)


def _self_similarity(kernel: Kernel, X: Any) -> Floats:
    """k(x, x) of every sample."""
    if kernel.positive_semidefinite:
        return kernel_diagonal(kernel, X)
    return make_source(kernel, X).diagonal()


def _signs(y: Any, X: Any) -> Floats:
    """-1 for known outliers, 1 for the others."""
    n = _num_samples(X)
    if y is None:
        return np.ones(n)
    check_consistent_length(X, y)
    label = column_or_1d(y)
    outlier = np.asarray(label == -1)
    other = ~(outlier | np.asarray(label == 1))
    if outlier.any() and other.any():
        raise ValueError(
            "y must be -1 for outliers and 1 for inliers, but it also holds "
            f"{np.unique(label[other])[:3].tolist()}."
        )
    if other.any():
        warn(
            "y has no label -1: no sample is known to be an outlier, and y is not used. Labels are "
            "-1 for outliers and 1 for inliers.",
            UserWarning,
        )
    return np.where(outlier, -1.0, 1.0)


def _refuse_no_inliers(found: Targets) -> None:
    """A ball needs samples that are to lie inside."""
    if not (found.z > 0).any():
        raise ValueError(
            f"All {len(found.z)} samples of positive weight are labelled as outliers (-1): SVDD "
            "needs at least one inlier (1)."
        )
