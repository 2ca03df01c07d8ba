"""TransductiveSVC."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils._param_validation import Interval

from maxmargin.certificate import Certificate
from maxmargin.estimators._base import all_or_nothing, shared_constraints
from maxmargin.estimators._options import StrOptions
from maxmargin.estimators._transductive import BaseTransductive
from maxmargin.semi_supervised.paths import Path


class TransductiveSVC(ClassifierMixin, BaseTransductive):  # type: ignore[misc]
    """Semi-supervised classification: the labels of unlabelled samples are learnt too (S3VM, TSVM).

    Minimises

        1/2 |w|^2 + C sum_labelled hinge(y_i f(x_i)) + C_unlabelled sum_unlabelled hinge(|f(x_j)|)

    over f(x) = w.phi(x) + b, under the constraint that each class gets its share of the unlabelled
    samples (``balance``). The boundary moves to where there are few samples. The problem is not
    convex: the status is "stationary" if the convex problem with the labels found is solved and
    certified, and no exchange of labels lowers the objective. Without unlabelled samples the model
    is that of SVC, and "optimal".

    More than two classes are trained each against the rest, each with its balance.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses of labelled samples.
    C_unlabelled : float or None, default=None
        Weight of the losses of unlabelled samples. By default (None) all of them together weigh as
        much as the labelled ones.
    balance : float, array-like or None, default=None
        The share of each class among the unlabelled samples. With two classes, a number is the
        share of ``classes_[1]``. None takes the shares among the labelled samples. The number of
        labels of each class is rounded.
    algorithm : {"best", "continuation", "switching", "annealing"}, default="best"
        How the labels are found. "switching" is that of SVM-light and SVMlin: pairs of labels are
        exchanged while the weight of the unlabelled samples grows. "annealing" makes labels soft at
        a temperature that falls (deterministic annealing). "continuation" does both at once. "best"
        tries all three and keeps the lowest objective, so that it is never above that of label
        switching; for a large data set name one of them.
    max_switches : int or None, default=None
        Largest number of pairs of labels exchanged in one step: 1 as in SVM-light; None, as in
        SVMlin, exchanges all pairs that lower the objective.
    kernel : str, Kernel or callable, default="rbf"
        As for SVC. "linear" uses the solvers of LinearSVC, for any number of (sparse) samples.
    degree : int, default=3
        Degree of "poly".
    gamma : {"scale", "auto"} or float, default="scale"
        As for SVC, from all samples.
    coef0 : float, default=0.0
        Constant term of "poly", "sigmoid", "logistic".
    tol : float, default=1e-3
        As for SVC; with a linear kernel the greatest duality gap, relative to the objective.
    cache_size : float or "auto", default=200
        As for SVC.
    verbose : bool or int, default=False
        Show a progress line.
    max_iter : int, default=-1
        Steps of each convex problem that is solved on the way; -1 stands for a hundred million.
    time_limit : float or None, default=None
        Seconds after which the best labels so far are kept, with a warning.
    on_interrupt : {"raise", "keep"}, default="raise"
        Whether Ctrl-C raises KeyboardInterrupt or keeps the best labels so far.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted, without -1.
    transduction_ : ndarray of shape (n_samples,)
        The labels of all training samples. Of two classes they keep the balance; of more, an
        unlabelled sample has the class of the greatest decision value.
    objectives_ : list of ndarray of shape (n_steps, 4)
        For each decision function a row for each step: the number of the path, the weight of the
        unlabelled samples relative to ``C_unlabelled``, the temperature, and the objective. It
        falls while the first three stay the same.
    certificate_ : Certificate
        Status, primal and dual values, gap; "stationary" unless the fit was stopped.
    fixed_labels_certificate_ : Certificate
        The certificate of the convex problem whose labels are ``transduction_``.
    balance_ : ndarray of shape (n_classes,)
        The share of each class that was asked for.
    C_unlabelled_ : float
        The weight of the losses of unlabelled samples.
    intercept_ : ndarray of shape (n_functions,)
        Constants of the decision functions.
    coef_ : ndarray of shape (n_functions, n_features)
        Weights of the features, with a linear kernel.
    support_ : ndarray of shape (n_SV,)
        Indices of the support vectors among the training samples.
    support_vectors_, dual_coef_
        The support vectors and their coefficients, a row for each function; not with a linear
        kernel.
    n_support_ : ndarray of shape (n_classes,)
        Number of support vectors of each class.
    n_iter_ : ndarray of shape (n_functions,)
        Number of convex problems that were solved for each decision function.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    LaplacianSVC : a convex alternative, which follows the graph of nearest neighbours.
    sklearn.semi_supervised.SelfTrainingClassifier : labels samples one after the other.

    References
    ----------
    Joachims, T. (1999). Transductive inference for text classification using support vector
    machines. ICML.

    Sindhwani, V. and Keerthi, S. S. (2006). Large scale semi-supervised linear SVMs. SIGIR.

    Chapelle, O., Sindhwani, V. and Keerthi, S. S. (2008). Optimization techniques for
    semi-supervised support vector machines. Journal of Machine Learning Research 9, 203-233.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import TransductiveSVC
    >>> from sklearn.datasets import make_moons
    >>> X, truth = make_moons(200, noise=0.05, random_state=0)
    >>> y = np.where(np.arange(200) < 10, truth, -1)  # ten labels
    >>> model = TransductiveSVC(C=10, gamma=2, balance=0.5).fit(X, y)
    >>> bool(np.mean(model.transduction_ == truth) > 0.99)
    True
    >>> model.certificate_.status
    'stationary'
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **shared_constraints(
            "kernel",
            "degree",
            "gamma",
            "coef0",
            "tol",
            "cache_size",
            "verbose",
            "max_iter",
            "time_limit",
            "on_interrupt",
        ),
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "C_unlabelled": [None, Interval(Real, 0.0, None, closed="neither")],
        "balance": [None, Interval(Real, 0.0, 1.0, closed="both"), "array-like"],
        "algorithm": [StrOptions({"best", *(path.value for path in Path)})],
        "max_switches": [None, Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        C_unlabelled: float | None = None,
        balance: Any = None,
        algorithm: str = "best",
        max_switches: int | None = None,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        cache_size: Any = 200,
        verbose: Any = False,
        max_iter: int = -1,
        time_limit: float | None = None,
        on_interrupt: str = "raise",
    ) -> None:
        self.C = C
        self.C_unlabelled = C_unlabelled
        self.balance = balance
        self.algorithm = algorithm
        self.max_switches = max_switches
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training vectors, labelled and unlabelled; the square kernel matrix for
            ``kernel="precomputed"``; any sequence for a callable kernel.
        y : array-like of shape (n_samples,)
            Class labels; -1 for unlabelled samples, also beside words in an array of objects.
        sample_weight : array-like of shape (n_samples,), default=None
            How many times each sample counts: 2 is two copies, 0 leaves it out.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            return self._fit(X, y, sample_weight)

    def _paths(self) -> Sequence[Path]:
        return tuple(Path) if self.algorithm == "best" else (Path(self.algorithm),)

    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Check the fitted model on its training data.

        The convex problem with the labels found is certified again in float64, by code that the
        solver does not share. The status is "refuted" if that fails, or if an exchange of labels
        would lower the objective.

        Parameters
        ----------
        X, y, sample_weight
            What the model was fitted on.

        Returns
        -------
        certificate : Certificate
            As ``certificate_``, with ``audit_error`` over all samples.
        """
        return self._certify(X, y, sample_weight)
