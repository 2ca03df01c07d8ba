"""SVC and NuSVC."""

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from maxmargin.core.arrays import Floats
from maxmargin.estimators._base import method_for
from maxmargin.estimators._classifier import BaseSVC
from maxmargin.estimators._options import StrOptions
from maxmargin.estimators._warnings import warn
from maxmargin.kernel import formulations
from maxmargin.kernel.formulations import Formulation
from maxmargin.kernel.model import Problem
from maxmargin.kernel.training import Method


class SVC(BaseSVC):
    """C-support vector classification, solved exactly and certified.

    Minimises 1/2 |w|^2 + C sum_i loss(y_i f(x_i)) over f(x) = w.phi(x) + b, with the intercept b
    not penalised. ``C=inf`` is the hard margin: an error is raised if no hyperplane separates the
    classes.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses, positive; ``inf`` for the hard margin.
    kernel : str, Kernel or callable, default="rbf"
        "linear", "poly", "rbf", "sigmoid", "logistic", "laplacian", "chi2", "cosine" or
        "precomputed". ``Kernel`` records carry their own numbers. A callable ``k(X, Z)`` returns a
        block of kernel values and is called only for the blocks that are needed.
    degree : int, default=3
        Degree of "poly".
    gamma : {"scale", "auto"} or float, default="scale"
        Of "poly", "rbf", "sigmoid", "logistic", "laplacian", "chi2": 1 / (n_features var(X)),
        1 / n_features, or a number.
    coef0 : float, default=0.0
        Constant term of "poly", "sigmoid", "logistic".
    shrinking : bool, default=True
        Accepted for compatibility: the solver gives the same answer with and without it.
    probability : bool, "bent", "sigmoid" or "isotonic", default=False
        Whether to learn ``predict_proba``, from decision values of samples that a machine was not
        trained on: for each pair of classes a sigmoid (Platt), one that may flatten away from the
        boundary ("bent"), or a function of any rising form; True is "bent", "deprecated" is False.
        The most probable class is always that of ``predict``. See docs/choosing-parameters.md.
    tol : float, default=1e-3
        Greatest violation of the optimality conditions, in units of the decision function; small
        problems are solved to rounding.
    cache_size : float or "auto", default=200
        Megabytes for cached rows of expensive kernels (more than 64 multiply-adds a value, or a
        function). The default, 200 as in scikit-learn, is automatic, and so is "auto": 200
        megabytes or a quarter of the free memory, whichever is more. Cheap values are recomputed,
        which is faster than reading them. The solution does not depend on it.
    class_weight : dict, "balanced" or None, default=None
        Multiplies C for each class; "balanced" makes the (weighted) classes count equally.
    verbose : bool or int, default=False
        Show a progress line: pair steps, gap, violation, support vectors, seconds.
    max_iter : int, default=-1
        Pair steps (Newton steps with ``solver="newton"``) for each binary problem; -1 stands for a
        hundred million.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Shape of ``decision_function`` for more than two classes; see
        ``maxmargin.kernel.multiclass``.
    break_ties : bool, default=False
        Whether equal votes are decided by confidence.
    random_state : int, RandomState instance or None, default=None
        Chooses the samples that ``probability=True`` leaves out of large data, and the folds of
        few; None is 0. Nothing else is random.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        max(0, 1 - y f) or its square.
    multiclass : {"ovo", "ovr"}, default="ovo"
        Train all pairs of classes, or each class against the rest.
    time_limit : float or None, default=None
        Seconds after which the best model so far is kept, with a warning.
    on_interrupt : {"raise", "keep"}, default="raise"
        Whether Ctrl-C raises KeyboardInterrupt or keeps the best model so far.
    warm_start : bool, default=False
        Start from the last fit: after a change of C, an early stop, or with rows appended to X.
    solver : {"auto", "block", "newton"}, default="auto"
        "block" solves the dual in rounds on a working set, for every loss and any size. "newton"
        minimises the primal of ``loss="squared_hinge"`` by Newton's method: about ten steps, each
        cubic in the number of support vectors. "auto" is "block". See docs/primal-newton.md.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_weight_ : ndarray of shape (n_classes,)
        The weight of each class.
    support_ : ndarray of shape (n_SV,)
        Indices of the support vectors, sorted by class.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        The support vectors; empty for a precomputed kernel.
    n_support_ : ndarray of shape (n_classes,)
        Number of support vectors of each class.
    dual_coef_ : ndarray or sparse matrix of shape (n_classes - 1, n_SV)
        Coefficients in LIBSVM's layout; (n_classes, n_SV) for ``multiclass="ovr"``. They are not
        unique where the kernel matrix is singular: compare decision values.
    intercept_ : ndarray of shape (n_classes * (n_classes - 1) / 2,) or (n_classes,)
        Constants of the decision functions.
    intercept_interval_ : ndarray of shape (n_decision_functions, 2)
        Where each constant may lie without loss: a single point unless no support vector is
        strictly inside its bounds.
    coef_ : ndarray of shape (n_decision_functions, n_features)
        Weights of the features, with a linear kernel.
    probA_, probB_ : ndarray
        Platt's numbers for each pair of classes, in LIBSVM's signs; empty for a model without
        sigmoids.
    certificate_ : Certificate
        Status, primal and dual values, gap, violation; ``parts`` for several binary problems.
    fit_status_ : int
        0 if every problem converged, else 1.
    n_iter_ : ndarray
        Pair steps of each binary problem, or Newton steps with ``solver="newton"``.
    n_features_in_, feature_names_in_, shape_fit_
        As in scikit-learn.

    Examples
    --------
    >>> from maxmargin import SVC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(C=10).fit(X, y)
    >>> model.certificate_.status
    'optimal'
    """

    _problem = Problem.C_SVC
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseSVC._parameter_constraints,
        "C": [Interval(Real, 0.0, None, closed="right")],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "solver": [StrOptions({"auto", "block", "newton"})],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: Any = False,
        tol: float = 1e-3,
        cache_size: Any = 200,
        class_weight: Any = None,
        verbose: Any = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        loss: str = "hinge",
        multiclass: str = "ovo",
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        warm_start: bool = False,
        solver: str = "auto",
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.loss = loss
        self.multiclass = multiclass
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start
        self.solver = solver

    def _method(self) -> Method:
        return method_for(self.solver, self.loss == "squared_hinge", self.C, "squared_hinge")

    def _formulation(self, sign: Floats, weight: Floats, class_weight: Floats) -> Formulation:
        return formulations.c_svc(sign, float(self.C), weight, self.loss == "squared_hinge")


class NuSVC(BaseSVC):
    """nu-support vector classification, solved exactly and certified.

    nu is an upper bound on the share of margin errors and a lower bound on the share of support
    vectors; shares count sample weights times class weights, so ``class_weight="balanced"`` makes
    every nu feasible. Where given class weights make a class so light that nu is out of its reach,
    the largest feasible nu is used for that pair: all of the light class are margin errors. An nu
    below the share of unavoidable margin errors has the optimum w = 0: the decision values are 0
    then, with a warning and the status "degenerate".

    Parameters
    ----------
    nu : float, default=0.5
        In (0, 1]; at most 2 min(class weight) / total weight for every pair of classes.
    kernel, degree, gamma, coef0, shrinking, probability, tol, cache_size, class_weight, verbose,
    max_iter, \
decision_function_shape, break_ties, random_state, multiclass, time_limit, on_interrupt, warm_start
        As for SVC.

    Attributes
    ----------
    classes_, class_weight_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_,
    probA_, probB_, certificate_, \
fit_status_, n_iter_
        As for SVC; the certificate is that of the C-SVC with C_i = w_i / r, where
        r = nu sum_i w_i / sum_i |dual_coef_i| is the margin.

    See Also
    --------
    SVC : the penalty C in place of the share nu.

    References
    ----------
    Schölkopf, B., Smola, A. J., Williamson, R. C. and Bartlett, P. L. (2000). New support vector
    algorithms. Neural Computation 12, 1207-1245.

    Examples
    --------
    >>> from maxmargin import NuSVC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = NuSVC(nu=0.2).fit(X, y)
    >>> model.certificate_.status
    'optimal'
    >>> bool(len(model.support_) >= 0.2 * len(y))
    True
    """

    _problem = Problem.NU_SVC
    _one_class_note: ClassVar[str] = " (specified nu is infeasible)"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseSVC._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: Any = False,
        tol: float = 1e-3,
        cache_size: Any = 200,
        class_weight: Any = None,
        verbose: Any = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        multiclass: str = "ovo",
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        warm_start: bool = False,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.multiclass = multiclass
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start

    def _formulation(self, sign: Floats, weight: Floats, class_weight: Floats) -> Formulation:
        nu = formulations.feasible_nu(float(self.nu), sign, weight, class_weight)
        if self.nu > nu * (1 + 1e-12):
            warn(
                f"class_weight makes nu={self.nu:g} infeasible for a pair of classes; the largest "
                f"feasible nu, {nu:.6g}, is used for it.",
                UserWarning,
            )
        return formulations.nu_svc(sign, weight, nu)
