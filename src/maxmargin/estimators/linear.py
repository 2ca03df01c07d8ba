"""LinearSVC: certified linear classifiers for any number of samples."""

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.linear_model._base import LinearClassifierMixin, SparseCoefMixin
from sklearn.utils.validation import check_is_fitted

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.estimators._base import all_or_nothing
from maxmargin.estimators._chunks import Read, chunk_design
from maxmargin.estimators._linear import BaseLinear
from maxmargin.estimators._options import StrOptions
from maxmargin.estimators._targets import class_weights, encode, validate_weight
from maxmargin.linear import losses
from maxmargin.linear.classes import ClassesProblem
from maxmargin.linear.designs import ArrayDesign, Design
from maxmargin.linear.losses import LinearProblem, Penalty
from maxmargin.linear.training import Choice, ClassesTask, Solver
from maxmargin.linear.verification import certify_classes_again
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.training import train_many


class LinearSVC(LinearClassifierMixin, SparseCoefMixin, BaseLinear):  # type: ignore[misc]
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

    def _refuse_combination(self) -> None:
        if self.multi_class == "crammer_singer":
            if self.penalty != "l2" or self.loss not in ("hinge", "squared_hinge"):
                raise ValueError("multi_class='crammer_singer' needs penalty='l2'.")
            return
        wrong = {
            (self.penalty, self.loss)
            == ("l1", "hinge"): "The l1 penalty needs loss='squared_hinge'.",
            self.penalty == "l1"
            and (
                self.dual is True or self.solver != "auto"
            ): "Use dual=False or 'auto', and solver='auto'.",
            self.loss == "hinge"
            and self.dual
            is False: "Use dual=True or 'auto'; solver='newton' asks for Newton's method.",
        }
        if True in wrong:
            raise ValueError(
                f"Unsupported set of arguments: The combination of penalty='{self.penalty}' and "
                f"loss='{self.loss}' is not supported when "
                f"dual={self.dual}, solver={self.solver!r}. {wrong[True]}"
            )

    def _fit_design(
        self,
        design: Design,
        classes: NDArray[Any],
        label: NDArray[np.int64],
        y: Any,
        weight: Floats,
    ) -> Self:
        class_weight = class_weights(self.class_weight, classes, label, y, weight)
        effective = weight * class_weight[label]
        present = np.flatnonzero(np.bincount(label[effective > 0], minlength=len(classes)))
        if len(present) < 2:
            raise ValueError(
                "Invalid input - all samples with positive weights belong to the same class"
                f" ({classes[present].tolist()}); at least two are needed."
            )
        self.classes_, self.class_weight_ = classes, class_weight
        if self.multi_class == "crammer_singer":
            return self._fit_together(design, label, effective)
        problems = self._problems(label, len(classes), effective)
        lasso = self.penalty == "l1"
        choice = Choice(Solver.LASSO) if lasso else self._choose(design)
        trained = self._run(
            problems, design, choice, None if lasso else self._starts(len(label), len(problems))
        )
        self._keep(trained)
        return self

    def _fit_together(self, design: Design, label: NDArray[np.int64], effective: Floats) -> Self:
        """Train all classes in one problem; of two classes keep the difference of the weights."""
        with self._watched() as (monitor, seed):
            task = ClassesTask(self._classes_problem(label, effective), float(self.tol))
            ((found, result),) = train_many([task], LinearWorkspace(design, monitor, seed))
        self._conclude([result], Solver.CRAMMER_SINGER, found.n_iter)
        two = len(self.classes_) == 2
        self.coef_ = found.W[[1]] - found.W[[0]] if two else found.W
        intercept = found.bias[[1]] - found.bias[[0]] if two else found.bias
        self.intercept_ = intercept if self.fit_intercept else 0.0
        self.dual_coef_ = sparse.csr_matrix(found.t.T)
        return self

    def _problems(
        self, label: NDArray[np.int64], n_classes: int, effective: Floats
    ) -> list[LinearProblem]:
        """One problem for two classes, else one for each class against the rest."""
        bias, column = self._bias()
        make = partial(
            losses.classification, C=self.C * effective, squared=self.loss == "squared_hinge"
        )
        positive = [1] if n_classes == 2 else range(n_classes)
        penalty = Penalty(self.penalty)
        return [
            LinearProblem(make(np.where(label == k, 1.0, -1.0)), bias, column, penalty=penalty)
            for k in positive
        ]

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
        order: NDArray[np.intp] = getattr(self, "label_order_", np.arange(len(self.classes_)))
        if scores.shape[1] > 1:
            labels: NDArray[Any] = self.classes_[order[scores[:, order].argmax(axis=1)]]
            return labels
        second = scores[:, 0] >= 0 if self._zero_is_second() else scores[:, 0] > 0
        labels = self.classes_[second.astype(np.intp)]
        return labels

    def _zero_is_second(self) -> bool:
        """Whether a decision value of 0 means classes_[1].

        LIBLINEAR takes the second label of its file.
        """
        order = getattr(self, "label_order_", None)
        return order is not None and bool(order[1] == 1)

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
        label = np.searchsorted(self.classes_, y)
        if not np.array_equal(self.classes_[np.minimum(label, len(self.classes_) - 1)], y):
            raise ValueError(
                "certify needs the data the model was fitted on: other labels were given."
            )
        effective = validate_weight(sample_weight, X.shape[0]) * self.class_weight_[label]
        if self.multi_class == "crammer_singer":
            return self._certify_together(X, label, effective)
        return self._certify(self._problems(label, len(self.classes_), effective), X)

    def _certify_together(self, X: Any, label: NDArray[np.int64], effective: Floats) -> Certificate:
        self._check_duals()
        coef, intercept = self._models()
        if len(coef) == 1:  # the weights of all classes sum to 0
            coef, intercept = np.vstack([-coef, coef]) / 2, np.append(-intercept, intercept) / 2
        problem, duals = self._classes_problem(label, effective), self.dual_coef_.toarray().T
        return certify_classes_again(
            self.certificate_, problem, X, coef, intercept, duals, self.tol
        )

    def _classes_problem(self, label: NDArray[np.int64], effective: Floats) -> ClassesProblem:
        return ClassesProblem(label, len(self.classes_), self.C * effective, *self._bias())
