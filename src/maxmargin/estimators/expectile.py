"""ExpectileSVR."""

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from maxmargin.core.arrays import Floats
from maxmargin.estimators.regression import BaseRegressor
from maxmargin.kernel import formulations
from maxmargin.kernel.formulations import Formulation
from maxmargin.kernel.model import Problem


class ExpectileSVR(BaseRegressor):
    """Expectile regression with kernels, solved exactly and certified.

    Minimises 1/2 |w|^2 + C sum_i loss(y_i - f(x_i)), where the loss of a residual r is
    expectile * r^2 above f and (1 - expectile) * r^2 below; the intercept is not penalised.
    Expectiles are to the mean what quantiles are to the median: they depend on how far samples are
    above and below f, not on how many. At 0.5 this is kernel ridge regression with alpha = 1 / C
    and a free intercept.

    Parameters
    ----------
    expectile : float, default=0.5
        Between 0 and 1.
    C : float, default=1.0
        Weight of the losses, positive.
    kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter, time_limit,
    on_interrupt, warm_start
        As for SVR.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, intercept_interval_, coef_
        As for SVR.
    certificate_, fit_status_, n_iter_, n_features_in_, shape_fit_
        As for SVR.

    See Also
    --------
    QuantileSVR : quantiles, which outliers do not move.
    SVR : with ``loss="squared_epsilon_insensitive"`` symmetric squared losses.

    References
    ----------
    Newey, W. K. and Powell, J. L. (1987). Asymmetric least squares estimation and testing.
    Econometrica 55, 819-847.

    Farooq, M. and Steinwart, I. (2017). An SVM-like approach for expectile regression.
    Computational Statistics and Data Analysis 109, 159-181.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import ExpectileSVR
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 5, size=(200, 1))
    >>> y = np.sin(X[:, 0]) + rng.exponential(size=200)
    >>> low, high = (ExpectileSVR(expectile=e, C=10).fit(X, y) for e in (0.1, 0.9))
    >>> bool((low.predict(X) < high.predict(X)).all())
    True
    >>> low.certificate_.status
    'optimal'
    """

    _problem = Problem.EPSILON_SVR
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseRegressor._parameter_constraints,
        "expectile": [Interval(Real, 0.0, 1.0, closed="neither")],
        "C": [Interval(Real, 0.0, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        expectile: float = 0.5,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: Any = 200,
        verbose: Any = False,
        max_iter: int = -1,
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        warm_start: bool = False,
    ) -> None:
        self.expectile = expectile
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start

    def _formulation(self, z: Floats, weight: Floats) -> Formulation:
        return formulations.expectile_svr(z, float(self.C), weight, float(self.expectile))
