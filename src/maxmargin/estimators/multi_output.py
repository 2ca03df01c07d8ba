"""MultiOutputSVR."""

from typing import Any, ClassVar

import numpy as np

from maxmargin.core.arrays import Floats
from maxmargin.estimators._single import Targets
from maxmargin.estimators._targets import numbers
from maxmargin.estimators._tube import TubeLoss
from maxmargin.estimators.regression import BaseRegressor
from maxmargin.kernel.formulations import Formulation
from maxmargin.kernel.model import Problem


class MultiOutputSVR(TubeLoss, BaseRegressor):
    """epsilon-support vector regression of several targets on the same samples.

    Each target has a machine of its own, the same as ``SVR`` fits; kernel values are computed once
    for all of them, in training and in prediction.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, C, epsilon, loss, solver
        As for SVR, and the same for all targets: bring targets of different units to one scale.
    shrinking, cache_size, verbose, max_iter, time_limit, on_interrupt, warm_start
        As for SVR.

    Attributes
    ----------
    certificate_ : Certificate
        Its ``parts`` are those of the targets where there are several.
    dual_coef_ : ndarray of shape (n_outputs, n_support)
        Coefficients of the functions, a row each. ``intercept_`` and ``intercept_interval_`` have a
        row for each target, too.
    support_, support_vectors_, n_support_, coef_, fit_status_, n_iter_, n_features_in_, shape_fit_
        As for SVR; a support vector belongs to at least one of the functions.

    See Also
    --------
    SVR : one target; ``predict_interval``.
    sklearn.multioutput.MultiOutputRegressor : any regressor, once for each target.

    References
    ----------
    Smola, A. J. and Schölkopf, B. (2004). A tutorial on support vector regression. Statistics and
    Computing 14, 199-222.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import SVR, MultiOutputSVR
    >>> X = np.linspace(0, 5, 60).reshape(-1, 1)
    >>> Y = np.column_stack([np.sin(X[:, 0]), np.cos(X[:, 0])])
    >>> model = MultiOutputSVR(C=10, epsilon=0.01).fit(X, Y)
    >>> model.predict(X).shape
    (60, 2)
    >>> one = SVR(C=10, epsilon=0.01).fit(X, Y[:, 0])
    >>> bool(np.allclose(model.predict(X)[:, 0], one.predict(X)))
    True
    """

    _problem = Problem.MULTI_OUTPUT_SVR
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseRegressor._parameter_constraints,
        **TubeLoss._tube_constraints,
    }

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: Any = 200,
        verbose: Any = False,
        max_iter: int = -1,
        loss: str = "epsilon_insensitive",
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        warm_start: bool = False,
        solver: str = "auto",
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.loss = loss
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start
        self.solver = solver

    def __sklearn_tags__(self) -> Any:
        """Several targets are welcome."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _validate_Xy(self, X: Any, y: Any, *, reset: bool, **options: Any) -> tuple[Any, Any]:
        """X, and y of one or two axes."""
        return super()._validate_Xy(X, y, reset=reset, multi_output=True, **options)

    def _targets(self, y: Any) -> Floats:
        """Targets with one or two axes."""
        z = numbers(y)
        if not np.isfinite(z).all():
            raise ValueError("Input y contains NaN or infinity.")
        if z.ndim > 2 or (z.ndim == 2 and z.shape[1] == 0):
            raise ValueError(
                f"y must have the shape (n_samples,) or (n_samples, n_outputs), got {z.shape}."
            )
        return z

    def _prepared(self, X: Any, z: Floats, sample_weight: Any) -> Targets:
        """The samples of positive weight."""
        self.flat_ = z.ndim == 1
        return super()._prepared(X, z, sample_weight)

    def _formulations(self, z: Floats, weight: Floats) -> list[Formulation]:
        return [self._formulation(target, weight) for target in z.reshape(len(z), -1).T]

    def predict(self, X: Any, precision: str = "float64") -> Floats:
        """Predict targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; (n_samples, n_samples_fit) kernel values for ``kernel="precomputed"``.
        precision : {"float64", "float32"}, default="float64"
            As in ``SVR.predict``.

        Returns
        -------
        y : ndarray of shape (n_samples, n_outputs), or (n_samples,) after a fit with one axis
            Predicted values.
        """
        values = self._decision_values(X, precision)
        return values[:, 0] if self.flat_ else values
