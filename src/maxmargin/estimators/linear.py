"""LinearSVC: certified linear classifiers for any number of samples."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.linear_model._base import LinearClassifierMixin, SparseCoefMixin
from sklearn.utils.validation import check_is_fitted

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.estimators._base import all_or_nothing
from maxmargin.estimators._calibrated import OPTIONS
from maxmargin.estimators._chunks import Read, chunk_design
from maxmargin.estimators._linear import BaseLinear
from maxmargin.estimators._linear_classifier import BaseLinearSVC
from maxmargin.estimators._options import StrOptions
from maxmargin.estimators._targets import encode, validate_weight
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.model import winners


class LinearSVC(LinearClassifierMixin, SparseCoefMixin, BaseLinearSVC):  # type: ignore[misc]
    """Linear support vector classification for any number of samples, certified.

    Minimises 1/2 |w|^2 + C sum_i loss(y_i f(x_i)) over f(x) = w.x + b. The intercept b is not
    penalised, so ``loss="hinge"`` gives the model of ``SVC(kernel="linear")``.
    ``intercept="regularised"`` adds b^2 / (2 intercept_scaling^2): this is the model of LIBLINEAR
    and of scikit-learn's LinearSVC. With more than two classes, each is trained against the rest.

    Parameters
    ----------
    penalty : {"l1", "l2"}, default="l2"
        "l2" is 1/2 |w|^2. "l1" is the sum of |w_k|, which makes many weights zero; it needs the
        squared hinge loss.
    loss : {"hinge", "squared_hinge"}, default="squared_hinge"
        max(0, 1 - y f) or its square.
    dual : "auto" or bool, default="auto"
        True begins with dual coordinate descent, False with Newton's method. If a solver makes no
        progress, the other one takes over. Use ``solver`` to prevent that.
    tol : float, default=1e-4
        Largest duality gap, relative to the objective; small problems are solved to rounding. The
        status of the certificate is "optimal" if, in addition, no sample contributes more than
        sqrt(tol) times its weight to the gap, and "approximate" otherwise.
    C : float, default=1.0
        Weight of the losses.
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        "ovr" trains each class against the rest. "crammer_singer" trains all classes in one
        problem, whose loss is the plain hinge of the worst class; ``loss`` has no effect on it.
    fit_intercept : bool, default=True
        Whether the model has an intercept b.
    intercept_scaling : float, default=1.0
        Used with ``intercept="regularised"`` only: the larger it is, the less the intercept is
        penalised.
    class_weight : dict, "balanced" or None, default=None
        Multiplies C for each class; "balanced" makes the (weighted) classes count equally.
    verbose : bool or int, default=0
        Show a progress line: steps, gap, support vectors, seconds.
    random_state : int, RandomState instance or None, default=None
        Seed of the order in which coordinate descent visits the samples, and of the subsample with
        which Newton's method begins. None means 0.
    max_iter : int, default=1000
        Largest number of Newton steps, or of passes over the data, for each problem.
    intercept : {"free", "regularised"}, default="free"
        Whether the intercept is penalised.
    solver : {"auto", "newton", "coordinate"}, default="auto"
        "newton" is Newton's method, for few features or dense data. "coordinate" is dual coordinate
        descent, for many sparse features. "auto" chooses by the data. ``solver_`` names the solver
        that finished the fit.
    time_limit : float or None, default=None
        Seconds after which the best model so far is kept, with a warning.
    on_interrupt : {"raise", "keep"}, default="raise"
        Whether Ctrl-C raises KeyboardInterrupt or keeps the best model so far.
    warm_start : bool, default=False
        Start from the last fit: after a change of C, an early stop, or with rows appended to X.
    probability : bool, "bent", "sigmoid" or "isotonic", default=False
        Whether to learn ``predict_proba``, from decision values of samples that a machine was not
        trained on; True is "bent". Of several classes, f_i - f_j is the decision value of the
        classes i and j. The most probable class is always that of ``predict``.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the features.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts of the decision functions.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_weight_ : ndarray of shape (n_classes,)
        The weight of each class.
    dual_coef_ : sparse matrix of shape (1, n_samples) or (n_classes, n_samples)
        Dual variables that certify the model: ``coef_`` is the sum of the samples times these.
    certificate_ : Certificate
        Status, primal and dual values, gap; ``parts`` for several problems.
    solver_ : str
        The solver that finished the fit.
    n_iter_ : int
        Largest number of steps or passes that a problem took.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from maxmargin import LinearSVC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVC().fit(X, y)
    >>> model.certificate_.status
    'optimal'
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseLinear._parameter_constraints,
        "penalty": [StrOptions({"l1", "l2"})],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "multi_class": [StrOptions({"ovr", "crammer_singer"})],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "probability": OPTIONS,
    }

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: Any = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        verbose: Any = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        intercept: str = "free",
        solver: str = "auto",
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        warm_start: bool = False,
        probability: Any = False,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.intercept = intercept
        self.solver = solver
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start
        self.probability = probability

    # ---- fitting ---------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training vectors; memory-mapped arrays and float32 are used as they are.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How many times each sample counts: 2 is two copies, 0 leaves it out.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._refuse_combination()
        with all_or_nothing(self):
            X, y = self._validate_Xy(X, y, reset=True)
            classes, label = encode(y)
            weight = validate_weight(sample_weight, X.shape[0])
            return self._fit_design(ArrayDesign(X), classes, label, y, weight)

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit_chunks(self, read: Read, classes: Any = None) -> Self:
        """Fit the same model on data that come in chunks, one of which is in memory at a time.

        Parameters
        ----------
        read : callable
            ``read()`` returns an iterable of ``(X, y)`` or ``(X, y, sample_weight)``, the same at
            each call. It is called once for the targets and about three times for each Newton step.
        classes : array-like, default=None
            All labels, if the data may lack some of them; by default those that occur.

        Returns
        -------
        self : object
            The fitted estimator; its certificate is that of all data.
        """
        self._refuse_combination()
        self._refuse_chunks_with_probabilities()
        if (
            self.penalty == "l1"
            or self.multi_class == "crammer_singer"
            or self.solver == "coordinate"
        ):
            raise ValueError(
                "fit_chunks reads the data a few times as a whole, which Newton's method for "
                "penalty='l2', multi_class='ovr' can do; "
                f"got penalty={self.penalty!r}, multi_class={self.multi_class!r}, "
                f"solver={self.solver!r}."
            )
        with all_or_nothing(self):
            y, weight, shape = self._first_pass(read)
            found, label = encode(y)
            if classes is not None:
                wanted = np.unique(classes)
                if not np.isin(found, wanted).all():
                    raise ValueError(
                        f"the chunks hold labels {np.setdiff1d(found, wanted)[:10].tolist()} that "
                        "are not in classes"
                    )
                label, found = np.searchsorted(wanted, found)[label], wanted
            return self._fit_design(
                chunk_design(read, shape), found, label, y, validate_weight(weight, shape[0])
            )

    # ---- prediction and certification ------------------------------------------------------------

    def decision_function(self, X: Any) -> Floats:
        """Evaluate the decision functions: signed distances to the hyperplanes, times |w|.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        f : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict class labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The label with the largest decision value; ties go to the first in ``classes_``. A model
            read from a LIBLINEAR file breaks ties as LIBLINEAR does.
        """
        scores = self._scores(X)
        labels: NDArray[Any] = self.classes_[winners(self.model_, scores)]
        return labels

    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Check the fitted model on its training data.

        Everything is recomputed in float64, by code that the solver does not share.

        Parameters
        ----------
        X, y, sample_weight
            What the model was fitted on.

        Returns
        -------
        certificate : Certificate
            As ``certificate_``, with ``audit_error`` over all samples.
        """
        check_is_fitted(self)
        X, y = self._validate_Xy(X, y, reset=False)
        return self._certify_labels(X, y, validate_weight(sample_weight, X.shape[0]))
