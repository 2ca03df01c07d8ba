"""LinearOneClassSVM: the half-space that holds most of the samples."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.estimators._base import all_or_nothing
from maxmargin.estimators._linear import BaseLinear
from maxmargin.estimators._outlier import BaseOneClass
from maxmargin.estimators._record import checked, fitted
from maxmargin.estimators._targets import validate_weight
from maxmargin.linear import losses
from maxmargin.linear.designs import ArrayDesign, Design
from maxmargin.linear.losses import Bias, LinearProblem
from maxmargin.linear.model import values
from maxmargin.linear.one_class import lower_offset
from maxmargin.linear.training import Task, TrainedLinear


class LinearOneClassSVM(BaseOneClass, BaseLinear):
    """One-class SVM with a linear kernel for any number of samples, certified.

    Minimises 1/2 |w|^2 - rho nu n + sum_i max(0, rho - w.x_i), as ``OneClassSVM(kernel="linear")``
    and LIBLINEAR's -s 21 do. The decision function is w.x - rho, negative for outliers. If there
    are samples on both sides of the origin, the optimum may be w = 0, which separates nothing:
    shift the data, or use a kernel.

    Parameters
    ----------
    nu : float, default=0.5
        Largest share of outliers among the samples, in (0, 1]. Samples on the boundary are
        inliers: the offset is a little below the optimal one, by the rounding of the scores, and by
        their violation as long as that hardly increases the duality gap.
    tol, verbose, random_state, max_iter, solver, time_limit, on_interrupt, warm_start
        As for LinearSVC.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights of the features.
    offset_ : ndarray of shape (1,)
        rho: ``decision_function = score_samples - offset_``.
    intercept_ : ndarray of shape (1,)
        -rho.
    dual_coef_, certificate_, solver_, n_iter_, n_features_in_, feature_names_in_
        As for LinearSVC.

    See Also
    --------
    OneClassSVM : other kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import LinearOneClassSVM
    >>> X = np.random.default_rng(0).normal(size=(1000, 3)) + 4
    >>> model = LinearOneClassSVM(nu=0.05).fit(X)
    >>> model.predict([[4, 4, 4], [0, 0, 0]])
    array([ 1, -1])
    """

    dual, fit_intercept = "auto", True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{
            name: BaseLinear._parameter_constraints[name]
            for name in ("tol", "verbose", "random_state", "max_iter", "solver")
        },
        **{
            name: BaseLinear._parameter_constraints[name]
            for name in ("time_limit", "on_interrupt", "warm_start")
        },
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }

    def __init__(
        self,
        *,
        nu: float = 0.5,
        tol: float = 1e-4,
        verbose: Any = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        solver: str = "auto",
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        warm_start: bool = False,
    ) -> None:
        self.nu = nu
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.solver = solver
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training vectors.
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
            X = self._validate_X(X, reset=True)
            design, weight = ArrayDesign(X), validate_weight(sample_weight, X.shape[0])
            return self._run([self._problem(weight)], design, self._choose(design))

    @property
    def offset_(self) -> Any:
        """rho, the negative intercept."""
        return np.negative(fitted(self).intercept)

    @offset_.setter
    def offset_(self, value: Any) -> None:
        self.intercept_ = np.negative(value)

    def _finished(self, done: tuple[Task, TrainedLinear], design: Design) -> TrainedLinear:
        """Lower the offset until samples on the boundary are inliers."""
        task, trained = done
        return lower_offset(trained, task.problem, design, float(self.tol))

    def _problem(self, weight: Floats) -> LinearProblem:
        return LinearProblem(
            losses.one_class(weight), Bias.FREE, total=self.nu * float(weight.sum())
        )

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
        return values(checked(self), self._validate_X(X, reset=False))[:, 0]

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
        return self._certify([self._problem(validate_weight(sample_weight, X.shape[0]))], X)
