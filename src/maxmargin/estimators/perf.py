"""PerfSVC: classifiers trained for a performance measure."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils import column_or_1d
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _num_samples, check_is_fitted

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.estimators._base import all_or_nothing
from maxmargin.estimators._measured import TrainsForMeasure
from maxmargin.estimators._options import StrOptions
from maxmargin.estimators._record import field
from maxmargin.estimators._targets import class_weights, encode, validate_weight
from maxmargin.kernel.labels import greatest
from maxmargin.structured.measures import Measure


class PerfSVC(ClassifierMixin, TrainsForMeasure):  # type: ignore[misc]
    """Support vector classification trained for a performance measure, certified (SVM-perf).

    Minimises 1/2 |w|^2 + C loss(f) over f(x) = w.phi(x) + b. The loss is a convex upper bound of n
    times the shortfall of the measure, such as n (1 - F1), for the predictions of all n samples
    together. ``measure="error"`` is the model of ``SVC`` and ``LinearSVC(loss="hinge")``. The other
    measures suit unbalanced classes, for which a low error rate says little. With more than two
    classes, each is trained against the rest.

    Parameters
    ----------
    measure : {"error", "f1", "precision_at_k", "recall_at_k", "auc", "prbep", \
"average_precision"}, default="error"
        What the positive class, ``classes_[1]``, is trained for:

        * "error": the error rate;
        * "f1": the F1 score;
        * "precision_at_k", "recall_at_k": precision and recall of the k samples with the highest
          decision values;
        * "prbep": the break-even point of precision and recall, k = the number of positive samples;
        * "auc": the area under the ROC curve, the share of pairs in the right order;
        * "average_precision": the mean precision at the ranks of the positive samples.
    C : float, default=1.0
        Weight of the loss. It means the same as in SVC.
    k : int, float or None, default=None
        For "precision_at_k" and "recall_at_k" only: a number of samples, or as a float a share of
        the training samples.
    kernel : {"linear", "rbf", "poly", "sigmoid", "laplacian", "chi2", "cosine", "precomputed"}, \
callable or Kernel, default="linear"
        As in SVC. With "linear" the model has a weight for each feature and no support vectors.
        Planes prove nothing for a kernel that is not positive semidefinite: a warning says so.
    degree, gamma, coef0
        Numbers of the kernel, as in SVC.
    fit_intercept : bool, default=True
        Whether the model has an intercept b. The loss of "error" and "f1" is minimised over b; the
        other losses do not depend on it. For "error" b minimises the loss, and for "f1" it
        maximises F1 on the training samples. For "precision_at_k", "recall_at_k" and "prbep" it
        makes k training samples positive. For "auc" and "average_precision" it minimises the
        hinge loss.
    class_weight : dict, "balanced" or None, default=None
        Multiplies C for each class; for "error" only.
    tol : float, default=1e-3
        Largest duality gap, relative to the objective; small problems are solved to rounding. The
        status of the certificate is "optimal" if, in addition, no constraint is violated by more
        than sqrt(tol) of the loss of the zero function, and "approximate" otherwise.
    max_iter : int, default=-1
        Largest number of cutting planes for each problem; -1 sets no limit.
    time_limit : float or None, default=None
        Seconds after which the best model so far is kept, with a warning.
    verbose : bool or int, default=0
        Show a progress line: planes, objective, gap, seconds.
    on_interrupt : {"raise", "keep"}, default="raise"
        Whether Ctrl-C raises KeyboardInterrupt or keeps the best model so far.
    warm_start : bool, default=False
        Start from the last fit: after a change of C or of the measure, an early stop, or with rows
        appended to X.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the features; with a linear kernel only.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts of the decision functions.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_weight_ : ndarray of shape (n_classes,)
        The weight of each class.
    support_, support_vectors_, dual_coef_
        The support vectors' rows in X, the vectors, and their coefficients, a row for each
        function; not with a linear kernel.
    certificate_ : Certificate
        Status, primal and dual values, gap; ``parts`` for several problems.
    n_iter_ : int
        Number of cutting planes, the largest of all problems.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    LinearSVC : The same model as ``measure="error"``, faster.
    RankSVC : Ranks with several levels, and in queries.

    References
    ----------
    T. Joachims, A support vector method for multivariate performance measures, ICML 2005.

    T. Joachims, Training linear SVMs in linear time, KDD 2006.

    Y. Yue, T. Finley, F. Radlinski, T. Joachims, A support vector method for optimizing average
    precision, SIGIR 2007.

    P. Kar, H. Narasimhan, P. Jain, Surrogate functions for maximizing precision at the top, ICML
    2015.

    Examples
    --------
    >>> from maxmargin import PerfSVC
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import f1_score
    >>> X, y = make_classification(300, weights=[0.9], random_state=0)
    >>> model = PerfSVC("f1", C=0.1).fit(X, y)
    >>> model.certificate_.status
    'optimal'
    >>> round(f1_score(y, model.predict(X)), 2)
    0.76
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TrainsForMeasure._parameter_constraints,
        "measure": [StrOptions({one.value for one in Measure})],
        "k": [
            None,
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0.0, 1.0, closed="neither"),
        ],
        "fit_intercept": ["boolean"],
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    classes_ = field("classes")

    def __init__(
        self,
        measure: str = "error",
        *,
        C: float = 1.0,
        k: Any = None,
        kernel: Any = "linear",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        fit_intercept: bool = True,
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = -1,
        time_limit: float | None = None,
        verbose: Any = 0,
        on_interrupt: str = "raise",
        warm_start: bool = False,
    ) -> None:
        self.measure = measure
        self.C = C
        self.k = k
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.verbose = verbose
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start

    # ---- fitting ---------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training vectors; the square kernel matrix for ``kernel="precomputed"``; any sequence
            for a callable kernel.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How many times each sample counts: 2 is two copies, 0 leaves it out. Whole numbers,
            except for "error" and "auc".

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._refuse_combination()
        with all_or_nothing(self):
            X, y = self._validate_Xy(X, y, reset=True)
            classes, label = encode(y)
            weight = validate_weight(sample_weight, _num_samples(X))
            by_class = class_weights(self.class_weight, classes, label, y, weight)
            labelled = self._labelled(X, label, weight, by_class)
            present = np.unique(labelled.label)
            if len(present) < 2:
                raise ValueError(
                    "Invalid input - all samples with positive weights belong to the same class"
                    f" ({classes[present].tolist()}); at least two are needed."
                )
            goals = self._goals(labelled, len(classes))
            self._train_all(labelled.data, goals, classes)
            self.class_weight_ = by_class
        self._warn_of_constants(goals, _num_samples(labelled.data.samples))
        return self

    # ---- prediction and certification ------------------------------------------------------------

    def decision_function(self, X: Any) -> Floats:
        """Evaluate the decision function.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; (n_samples, n_samples_fit) kernel values for ``kernel="precomputed"``.

        Returns
        -------
        f : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one value for each sample, positive for ``classes_[1]``; else one for
            each class against the rest.
        """
        f = self._decision_values(X)
        return f[:, 0] if f.shape[1] == 1 else f

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict class labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; (n_samples, n_samples_fit) kernel values for ``kernel="precomputed"``.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The class of the greatest decision value, the first where several are equal. For two
            classes ``classes_[1]`` where the decision value is at least 0.
        """
        labels: NDArray[Any] = self.classes_[greatest(self._decision_values(X).T)]
        return labels

    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Check the fitted model on its training data.

        The loss of the model and the plane that proves its lower bound are computed again.

        Parameters
        ----------
        X, y, sample_weight
            What the model was fitted on.

        Returns
        -------
        certificate : Certificate
            As ``certificate_``.
        """
        check_is_fitted(self)
        X, y = self._validate_Xy(X, y, reset=False)
        classes, y = self.classes_, column_or_1d(y)
        label = np.searchsorted(classes, y)
        if not np.array_equal(classes[np.minimum(label, len(classes) - 1)], y):
            raise ValueError(
                "certify needs the data the model was fitted on: other labels were given."
            )
        weight = validate_weight(sample_weight, _num_samples(X))
        labelled = self._labelled(X, label, weight, self.class_weight_)
        goals = self._goals(labelled, len(classes))
        return self._certify(labelled.data, *(one.loss for one in goals))
