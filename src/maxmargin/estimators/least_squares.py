"""LSSVC and LSSVR: least squares support vector machines."""

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import column_or_1d
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _num_samples

from maxmargin.core.arrays import Floats
from maxmargin.estimators._base import shared_constraints
from maxmargin.estimators._classifier import BaseSVC
from maxmargin.estimators._machine import KernelMachine, Shared, TrainingSet
from maxmargin.estimators._probability import sample_keys
from maxmargin.estimators._single import Targets
from maxmargin.estimators._targets import finite_weight
from maxmargin.estimators.regression import BaseRegressor
from maxmargin.kernel import formulations, labels, least_squares, prediction
from maxmargin.kernel.formulations import Formulation
from maxmargin.kernel.left_out import Left
from maxmargin.kernel.model import Problem
from maxmargin.kernel.sources import pick
from maxmargin.kernel.training import Trained
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.monitor import Monitor

SHARED = ("kernel", "degree", "gamma", "coef0", "tol", "verbose")
"""Parameters that these machines share with the others."""
CONSTRAINTS: dict[str, Any] = {
    **shared_constraints(*SHARED),
    "C": [Interval(Real, 0.0, None, closed="neither")],
}


class BaseLeastSquares(KernelMachine):
    """One factor for all problems, and decision values without each sample."""

    # What the other machines offer and a direct solver has no use for.
    cache_size, on_interrupt, warm_start = "auto", "raise", False

    def _monitor(self) -> Monitor:
        return Monitor(verbose=int(self.verbose), title=type(self).__name__)

    def _solved(self, tasks: Sequence[Any], workspace: KernelWorkspace) -> list[Trained]:
        samples = workspace.samples
        key = sample_keys(samples.kernel.kind, samples.own, None, np.float64)
        return least_squares.train(tasks, workspace, key)

    def _train(
        self, data: TrainingSet, tasks: Sequence[Any], shared: Shared | None
    ) -> list[Trained]:
        trained = super()._train(data, tasks, shared)
        values = np.empty((len(data.label), len(trained)))
        for k, one in enumerate(trained):
            known = one.held_out
            values[data.used, k] = one.decision.intercept if known is None else known
        left = np.setdiff1d(np.arange(len(values)), data.used)
        if len(left):  # no machine has seen the samples of weight 0
            values[left] = prediction.decision_values(self.model_, pick(data.X, left))
        self._held_out = values
        return trained


class LSSVR(BaseLeastSquares, BaseRegressor):
    """Least squares support vector regression: one linear system, exact leave-one-out, certified.

    Minimises 1/2 |w|^2 + C sum_i (y_i - f(x_i))^2 with an intercept that is not penalised: kernel
    ridge regression, alpha = 1 / (2 C), with an intercept. It is SVR with
    ``loss="squared_epsilon_insensitive"`` and ``epsilon=0``, solved by one Cholesky factor of the
    kernel matrix. Every sample is a support vector. With a linear kernel and fewer features than
    samples, the matrix has a row for each feature, and any number of samples will do.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the squared losses, positive and finite. In the notation of Suykens and
        Vandewalle, gamma = 2 C.
    kernel, degree, gamma, coef0
        As for SVC.
    tol : float, default=1e-3
        Greatest violation of the equations, in units of y, with which the solution is optimal. The
        solver goes to rounding.
    verbose : bool or int, default=False
        Show what the solver does.

    Attributes
    ----------
    loo_predictions_ : ndarray of shape (n_samples,)
        Prediction for each sample by the machine that was fitted without it and its copies, with
        the same kernel: exact, and known from the same factor. NaN where no other sample is left.
    loo_score_ : float
        R^2 of these predictions, with the sample weights.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, intercept_interval_, coef_
        As in scikit-learn and for SVC.
    certificate_, fit_status_, n_iter_, n_features_in_, shape_fit_
        As in scikit-learn and for SVC; ``n_iter_`` counts solves with the factor, most of which
        refine the solution.

    See Also
    --------
    maxmargin.model_selection.LSSVRCV : C and gamma by leave-one-out, all C at once.
    SVR : No loss inside a tube, and fewer support vectors.
    sklearn.kernel_ridge.KernelRidge : No intercept.

    References
    ----------
    Suykens, J. A. K. and Vandewalle, J. (1999). Least squares support vector machine classifiers.
    Neural Processing Letters 9, 293-300.

    Cawley, G. C. and Talbot, N. L. C. (2004). Fast exact leave-one-out cross-validation of sparse
    least-squares support vector machines. Neural Networks 17, 1467-1475.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import LSSVR
    >>> X = np.linspace(0, 5, 40).reshape(-1, 1)
    >>> y = np.sin(X[:, 0])
    >>> model = LSSVR(C=100).fit(X, y)
    >>> model.certificate_.status
    'optimal'
    >>> bool(model.loo_score_ > 0.99)
    True
    """

    _problem = Problem.EPSILON_SVR
    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        verbose: Any = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.verbose = verbose

    def _formulation(self, z: Floats, weight: Floats) -> Formulation:
        return formulations.least_squares(z, float(self.C), weight)

    def _fit_single(self, prepared: Targets, shared: Shared | None = None) -> Self:
        super()._fit_single(prepared, shared)
        found = self.__dict__.pop("_held_out")[:, 0]
        self.loo_predictions_ = found
        z, weight = prepared.z, prepared.weight
        known = np.isfinite(found[prepared.data.used])
        enough = np.count_nonzero(known) > 1
        self.loo_score_ = (
            float(r2_score(z[known], found[prepared.data.used][known], sample_weight=weight[known]))
            if enough
            else np.nan
        )
        return self


class LSSVC(BaseLeastSquares, BaseSVC):
    """Least squares support vector classification: one linear system, exact leave-one-out.

    Minimises 1/2 |w|^2 + C sum_i (y_i - f(x_i))^2 over labels y = +1 or -1, with an intercept that
    is not penalised. One Cholesky factor of the kernel matrix serves all classes, each against the
    rest; every sample is a support vector. With a linear kernel and fewer features than samples,
    the matrix has a row for each feature, and any number of samples will do.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the squared losses, positive and finite. In the notation of Suykens and
        Vandewalle, gamma = 2 C.
    kernel, degree, gamma, coef0
        As for SVC.
    probability : bool, "bent", "sigmoid" or "isotonic", default=False
        As for SVC: learns ``predict_proba``, from the leave-one-out values, which cost nothing.
    tol : float, default=1e-3
        Greatest violation of the equations, in units of the decision function, with which the
        solution is optimal. The solver goes to rounding.
    class_weight : dict, "balanced" or None, default=None
        As for SVC.
    verbose : bool or int, default=False
        Show what the solver does.

    Attributes
    ----------
    loo_decision_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Decision values of each sample by the machine that was fitted without it and its copies,
        with the same kernel and class weights: exact, and known from the same factor.
    loo_score_ : float
        Share of the samples that these values assign to their class, with the sample weights.
    classes_, class_weight_, support_, support_vectors_, n_support_, dual_coef_, intercept_
        As for SVC with ``multiclass="ovr"``.
    intercept_interval_, coef_, probA_, probB_
        As for SVC with ``multiclass="ovr"``.
    certificate_, fit_status_, n_iter_, n_features_in_, shape_fit_
        As for SVC; ``n_iter_`` counts solves with the factor, most of which refine the solution.

    See Also
    --------
    maxmargin.model_selection.LSSVCCV : C and gamma by leave-one-out, all C at once.
    SVC : The hinge loss, and fewer support vectors.

    References
    ----------
    Suykens, J. A. K. and Vandewalle, J. (1999). Least squares support vector machine classifiers.
    Neural Processing Letters 9, 293-300.

    Cawley, G. C. and Talbot, N. L. C. (2004). Fast exact leave-one-out cross-validation of sparse
    least-squares support vector machines. Neural Networks 17, 1467-1475.

    Examples
    --------
    >>> from maxmargin import LSSVC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LSSVC(C=10).fit(X, y)
    >>> model.certificate_.status
    'optimal'
    >>> round(model.loo_score_, 3)
    0.98
    """

    _problem = Problem.C_SVC
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        **{name: BaseSVC._parameter_constraints[name] for name in ("probability", "class_weight")},
    }
    # One problem for each class, and nothing is random.
    multiclass, decision_function_shape, break_ties, random_state = "ovr", "ovr", False, None

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        probability: Any = False,
        tol: float = 1e-3,
        class_weight: Any = None,
        verbose: Any = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.probability = probability
        self.tol = tol
        self.class_weight = class_weight
        self.verbose = verbose

    def _formulation(self, sign: Floats, weight: Floats, class_weight: Floats) -> Formulation:
        return formulations.least_squares(sign, float(self.C), weight)

    def _left(self, data: TrainingSet) -> Left | None:
        """Nothing: every sample is left out in any case."""
        return None

    def _fit(self, X: Any, y: Any, sample_weight: Any, shared: Shared | None = None) -> Self:
        super()._fit(X, y, sample_weight, shared)
        values = self.__dict__.pop("_held_out")
        found = self.classes_[labels.winners(self.model_, values.T)]
        weight = finite_weight(sample_weight, _num_samples(X))
        self.loo_decision_ = values[:, 0] if values.shape[1] == 1 else values
        self.loo_score_ = float(accuracy_score(column_or_1d(y), found, sample_weight=weight))
        return self
