"""OneClassSVM."""

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import Interval
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from maxmargin import calibration
from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.estimators._base import all_or_nothing
from maxmargin.estimators._data import symmetric
from maxmargin.estimators._machine import Shared
from maxmargin.estimators._outlier import BaseOneClass
from maxmargin.estimators._record import fitted
from maxmargin.estimators._single import BaseSingle, Targets
from maxmargin.estimators._targets import validate_weight
from maxmargin.estimators._warnings import warn
from maxmargin.kernel import formulations
from maxmargin.kernel.formulations import Formulation
from maxmargin.kernel.model import Problem
from maxmargin.kernel.prediction import decision_values


def _has_probabilities(self: Any) -> bool:
    """Whether probabilities were asked for, or came with a model file."""
    record = self.__dict__.get("model_")
    if self.probability or (record is not None and len(record.marks)):
        return True
    raise AttributeError("predict_proba is not available when probability=False")


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
    probability : bool, default=False
        Whether to learn ``predict_proba``, from the decision values of the training samples, as
        LIBSVM does since 3.30. At least five samples must lie on each side of the boundary.

    Attributes
    ----------
    offset_ : ndarray of shape (1,)
        rho: ``decision_function = score_samples - offset_``.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, intercept_interval_, coef_
        As in scikit-learn and for SVC.
    certificate_, fit_status_, n_iter_, n_features_in_, shape_fit_
        As in scikit-learn and for SVC.

    See Also
    --------
    LinearOneClassSVM : a linear kernel and any number of samples.
    NormaNovelty : the same for streams.

    References
    ----------
    Schölkopf, B. et al. (2001). Estimating the support of a high-dimensional distribution. Neural
    Computation 13, 1443-1471.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import OneClassSVM
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = OneClassSVM(nu=0.1).fit(X)
    >>> bool((model.predict(X) == -1).mean() <= 0.1)
    True
    >>> model.predict([[0, 0], [5, 5]])
    array([ 1, -1])
    """

    _problem = Problem.ONE_CLASS
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseSingle._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
        "probability": ["boolean"],
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
        probability: bool = False,
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
        self.probability = probability

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
        def prepared() -> Targets:
            own = self._validate_X(X, reset=True)
            return self._prepared(own, np.zeros(_num_samples(own)), sample_weight)

        self.__dict__.pop("_offset", None)
        found = prepared() if shared is None else self._once(shared, prepared)
        self._fit_single(found, shared)
        if self.probability and shared is None:
            X = found.data.X
            self._learn_probabilities(X, validate_weight(sample_weight, _num_samples(X)))
        return self

    def _learn_probabilities(self, X: Any, weight: Floats) -> None:
        """The marks of the training samples' decision values."""
        used = np.flatnonzero(weight > 0)
        values = decision_values(self.model_, symmetric(self._kernel_kind(), X))[used, 0]
        marks = calibration.density_marks(values, weight[used])
        self.model_ = replace(self.model_, marks=marks)
        if not len(marks):
            outside = float(weight[used][values < 0].sum())
            warn(
                "Probabilities of a one-class model need at least five training samples on each "
                f"side of its boundary: {outside:g} of {weight.sum():g} are outliers. "
                "predict_proba will raise an error. Raise nu, or use more samples.",
                UserWarning,
            )

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

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of lying outside and inside.

        There are eleven different ones, by the share of training samples with lesser decision
        values on the same side of the boundary (``maxmargin.calibration``). They are LIBSVM's,
        except that a probability of 1/2 leans to the side of ``predict``, so that the more probable
        column always is its label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; (n_samples, n_samples_fit) kernel values for ``kernel="precomputed"``.

        Returns
        -------
        p : ndarray of shape (n_samples, 2)
            Columns for -1 (outliers) and +1 (inliers); rows sum to 1.
        """
        check_is_fitted(self)
        marks = self.model_.marks
        if not len(marks):
            raise NotFittedError(
                "This OneClassSVM has no probabilities: it was fitted with probability=False, or "
                "with fewer than five training samples on a side of its boundary. Fit it with "
                "probability=True, and with a larger nu or more samples."
            )
        f = self.decision_function(X)
        inside = calibration.inside_probability(f, marks)
        p = np.column_stack([1 - inside, inside])
        return calibration.agreeing(p, (f >= 0).astype(np.int64))

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
