"""QuantileSVR.

Each quantile is fitted from zero. Starting at the solution of the neighbour was tried: nearly every
sample is a support vector, so a start costs a product with the whole kernel matrix, and the solve
that follows takes as long as without.
"""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import d2_pinball_score
from sklearn.utils._param_validation import Interval

from maxmargin.core.arrays import Floats
from maxmargin.estimators.regression import BaseRegressor
from maxmargin.kernel import formulations
from maxmargin.kernel.formulations import Formulation
from maxmargin.kernel.model import Problem


class QuantileSVR(BaseRegressor):
    """Quantile regression with kernels, solved exactly and certified.

    For each quantile q it minimises 1/2 |w|^2 + C sum_i pinball(y_i - f(x_i)), where the pinball
    loss of a residual r is q r above f and (1 - q) |r| below; the intercept is not penalised. A
    share q of the samples lies below f: with b of them below f and s on it, b <= q n <= b + s.

    All quantiles share kernel values, in training and in prediction.

    Parameters
    ----------
    quantiles : float or array-like of shape (n_quantiles,), default=0.5
        Between 0 and 1, all different.
    C : float, default=1.0
        Weight of the losses, positive.
    non_crossing : bool, default=False
        Whether ``predict`` sorts the quantiles of each sample. The functions of two quantiles are
        fitted on their own and may cross where data are few. Sorting, the monotone rearrangement,
        brings them nearer to the true quantiles, never farther [2]_; ``certificate_`` and the share
        above are those of the functions before it.
    kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter, time_limit,
    on_interrupt, warm_start
        As for SVR.

    Attributes
    ----------
    certificate_ : Certificate
        Its ``parts`` are those of the quantiles where there are several.
    dual_coef_ : ndarray of shape (n_quantiles, n_support)
        Coefficients of the functions, a row each. ``intercept_`` and ``intercept_interval_`` have a
        row for each quantile, too.
    support_, support_vectors_, n_support_, coef_, fit_status_, n_iter_, n_features_in_, shape_fit_
        As for SVR; a support vector belongs to at least one of the functions.

    See Also
    --------
    SVR : Its ``predict_interval`` has a guaranteed coverage, and nearly the same width everywhere.
    ExpectileSVR : Asymmetric means in place of quantiles.
    sklearn.linear_model.QuantileRegressor : Linear quantiles with an l1 penalty.

    References
    ----------
    .. [1] Takeuchi, I., Le, Q. V., Sears, T. D. and Smola, A. J. (2006). Nonparametric quantile
       estimation. Journal of Machine Learning Research 7, 1231-1264.
    .. [2] Chernozhukov, V., Fernández-Val, I. and Galichon, A. (2010). Quantile and probability
       curves without crossing. Econometrica 78, 1093-1125.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import QuantileSVR
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 5, size=(300, 1))
    >>> y = np.sin(X[:, 0]) + 0.2 * X[:, 0] * rng.normal(size=300)
    >>> model = QuantileSVR(quantiles=[0.1, 0.5, 0.9], C=10).fit(X, y)
    >>> low, median, high = model.predict([[1.0], [4.0]]).T
    >>> bool(high[0] - low[0] < high[1] - low[1])
    True
    >>> np.mean(y[:, None] < model.predict(X), axis=0).round(1)
    array([0.1, 0.5, 0.9])
    """

    _problem = Problem.QUANTILE_SVR
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseRegressor._parameter_constraints,
        "quantiles": [Interval(Real, 0.0, 1.0, closed="neither"), "array-like"],
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "non_crossing": ["boolean"],
    }

    def __init__(
        self,
        *,
        quantiles: Any = 0.5,
        C: float = 1.0,
        non_crossing: bool = False,
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
        self.quantiles = quantiles
        self.C = C
        self.non_crossing = non_crossing
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

    def _levels(self) -> Floats:
        """The quantiles; ValueError for those that are none."""
        try:
            found = np.atleast_1d(np.asarray(self.quantiles, dtype=np.float64))
        except (TypeError, ValueError):
            found = np.empty(0)
        inside = found.ndim == 1 and len(found) > 0 and bool(((found > 0) & (found < 1)).all())
        if not inside or len(np.unique(found)) < len(found):
            raise ValueError(
                "quantiles must be a number between 0 and 1, or a list of different ones; got "
                f"{self.quantiles!r}."
            )
        return found

    def _formulations(self, z: Floats, weight: Floats) -> list[Formulation]:
        levels = self._levels().tolist()
        return [formulations.quantile_svr(z, float(self.C), weight, q) for q in levels]

    def predict(self, X: Any, precision: str = "float64") -> Floats:
        """Predict quantiles.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; (n_samples, n_samples_fit) kernel values for ``kernel="precomputed"``.
        precision : {"float64", "float32"}, default="float64"
            As in ``SVR.predict``.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_quantiles)
            Predicted quantiles, in the order of ``quantiles``; one axis if that is a number.
        """
        levels, values = self._levels(), self._decision_values(X, precision)
        if len(levels) != values.shape[1]:
            raise ValueError(
                f"quantiles={self.quantiles!r} was set after a fit with {values.shape[1]} "
                "quantiles: fit again."
            )
        if self.non_crossing:
            rank = np.argsort(np.argsort(levels))
            values = np.sort(values, axis=1)[:, rank]
        return values[:, 0] if np.ndim(self.quantiles) == 0 else values

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the pinball loss that the model explains (D^2), averaged over the quantiles.

        1 is a perfect prediction, 0 that of the constant quantiles of y.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        score : float
        """
        predicted = self.predict(X).reshape(-1, len(self._levels()))
        scores = [
            d2_pinball_score(y, column, alpha=q, sample_weight=sample_weight)
            for q, column in zip(self._levels().tolist(), predicted.T, strict=True)
        ]
        return float(np.mean(scores))
