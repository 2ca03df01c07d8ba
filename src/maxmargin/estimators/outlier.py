"""OneClassSVM."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _num_samples, check_is_fitted

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.estimators._base import all_or_nothing
from maxmargin.estimators._machine import Shared
from maxmargin.estimators._outlier import BaseOneClass
from maxmargin.estimators._record import fitted
from maxmargin.estimators._single import BaseSingle
from maxmargin.kernel import formulations
from maxmargin.kernel.formulations import Formulation
from maxmargin.kernel.model import Problem


class OneClassSVM(BaseOneClass, BaseSingle):
    """One-class support vector machine, solved exactly and certified.

    It finds a region that holds all but a share nu of the samples: it minimises
    1/2 |w|^2 - rho nu n + sum_i max(0, rho - w.phi(x_i)). The decision function is w.phi(x) - rho,
    negative for outliers.

    Parameters
    ----------
    kernel, degree, gamma, coef0
        As for SVC.
    tol : float, default=1e-3
        Greatest violation of the optimality conditions, for a mean sample weight of about 1; small
        problems are solved to rounding.
    nu : float, default=0.5
        In (0, 1]: at most this share of the samples are outliers, at least this share are support
        vectors. Samples on the boundary are inliers: the offset lies within the solution's KKT
        violation, where ``predict`` finds all of them inside.
    shrinking, cache_size, verbose, max_iter, time_limit, on_interrupt, warm_start
        As for SVC.

    Attributes
    ----------
    offset_ : ndarray of shape (1,)
        rho: ``decision_function = score_samples - offset_``.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, intercept_interval_, coef_
        As in scikit-learn and for SVC.
    certificate_, fit_status_, n_iter_, n_features_in_, shape_fit_
        As in scikit-learn and for SVC.
    """

    _problem = Problem.ONE_CLASS
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
        nu: float = 0.5,
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

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training vectors; the square kernel matrix for ``kernel="precomputed"``; any sequence
            for a callable kernel.
        y : Ignored
            Present for API consistency by convention.
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
        X = self._validate_X(X, reset=True)
        self.__dict__.pop("_offset", None)
        return self._fit_single(X, np.zeros(_num_samples(X)), sample_weight, shared)

    def _formulation(self, z: Floats, weight: Floats) -> Formulation:
        return formulations.one_class(weight, self.nu)

    @property
    def offset_(self) -> Floats:
        """The least value of ``score_samples`` that counts as an inlier.

        Assigning to it changes ``score_samples`` alone, as in scikit-learn, until the next fit.
        """
        intercept: Floats = fitted(self).intercept
        offset: Floats = self.__dict__.get("_offset", np.negative(intercept))
        return offset

    @offset_.setter
    def offset_(self, value: Any) -> None:
        self._offset = value

    def decision_function(self, X: Any) -> Floats:
        """Signed distance to the boundary, positive inside.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; (n_samples, n_samples_fit) kernel values for ``kernel="precomputed"``.

        Returns
        -------
        f : ndarray of shape (n_samples,)
        """
        return self._decision_values(X)[:, 0]

    def score_samples(self, X: Any) -> Floats:
        """The decision function without its offset.

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
        X, sample_weight
            What the model was fitted on.
        y : Ignored
            Present for API consistency by convention.

        Returns
        -------
        certificate : Certificate
            As ``certificate_``, with ``audit_error`` over all samples.
        """
        check_is_fitted(self)
        X = self._validate_X(X, reset=False)
        return self._certify_single(X, np.zeros(_num_samples(X)), sample_weight)
