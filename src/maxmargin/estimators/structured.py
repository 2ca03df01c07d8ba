"""StructuredSVM: outputs that are more than a number or a class."""

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.metrics import accuracy_score
from sklearn.utils import ClassifierTags
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.estimators._base import all_or_nothing
from maxmargin.estimators._joint import JointEstimator
from maxmargin.estimators._options import StrOptions
from maxmargin.estimators._outputs import as_list, learnt, outputs_of
from maxmargin.estimators._record import checked
from maxmargin.estimators._targets import validate_weight
from maxmargin.linear.designs import ArrayDesign
from maxmargin.status import Convexity
from maxmargin.structured.inference_cache import TaskRisk, solve_cached
from maxmargin.structured.joint_features import checked_loss, examples_of, predictions
from maxmargin.structured.multiclass import class_scores
from maxmargin.structured.risks import ScoreRisk
from maxmargin.structured.taxonomy import Taxonomy


def is_ready_made(estimator: Any) -> bool:
    """Whether the task is ready-made; available_if raises AttributeError if it is not."""
    return isinstance(estimator.task, str | Taxonomy)


class StructuredSVM(JointEstimator):
    """Structural support vector machine: predicts outputs of any kind, certified.

    The score of an output y of an input x is <w, psi(x, y)>; ``predict`` returns the best output.
    ``fit`` minimises 1/2 |w|^2 + C sum_i max over y of [ loss(y_i, y) + <w, psi(x_i, y) -
    psi(x_i, y_i)> ], by cutting planes (margin rescaling).

    A task defines the outputs. Your own is an object with two methods, and a third if some
    mistakes are worse than others (see :class:`~maxmargin.structured.StructuredTask` for an
    example):

    * ``joint_feature(x, y)`` returns psi(x, y), a vector or a sparse row;
    * ``infer(x, w)`` returns the output with the greatest <w, psi(x, y)>; with the true output y,
      ``infer(x, w, y)`` returns the y' with the greatest loss(y, y') + <w, psi(x, y')>;
    * ``loss(y, y_hat)`` is 0 for the true output and not negative for others. Without it every
      wrong output costs 1.

    Parameters
    ----------
    task : {"multiclass", "multilabel"}, Taxonomy or object, default="multiclass"
        "multiclass": a class for each row of X (Crammer and Singer's machine). "multilabel": y is a
        matrix of zeros and ones, with weights for pairs of labels; up to 12 labels all pairs,
        otherwise those of Chow and Liu's tree. A Taxonomy: classes of a tree. An object with
        the methods above: X and y are lists of any objects.
        The tasks with classes have no intercept: add a constant column to X if one is needed.
    C : float, default=1.0
        Weight of the losses, which are summed over the samples.
    tol : float, default=1e-4
        Largest duality gap, relative to the objective.
    max_iter : int, default=-1
        Largest number of cutting planes, or of rounds of inference for your own task; -1 sets no
        limit.
    time_limit : float or None, default=None
        Seconds after which the best model so far is kept, with a warning. A round of inference is
        not interrupted.
    n_jobs : int or None, default=None
        Threads that call ``infer``, as in scikit-learn. They help if it releases the GIL;
        otherwise use ``joblib.parallel_config("loky")``. For your own tasks only: the ready-made
        ones compute with arrays of all samples.
    inference : {"exact", "approximate"}, default="exact"
        "exact": ``infer`` returns the arg max; an error names a sample for which it does not.
        "approximate": it may return less. Then the gap proves nothing, and the status is
        "stationary". For your own tasks only.
    verbose : bool or int, default=0
        Show a progress line.
    on_interrupt : {"raise", "keep"}, default="raise"
        Whether Ctrl-C raises KeyboardInterrupt or keeps the best model so far.
    warm_start : bool, default=False
        Start from the weights of the last fit.

    Attributes
    ----------
    coef_ : ndarray
        w. Of shape (n_classes, n_features) for "multiclass", (n_labels, n_features) for
        "multilabel", (n_nodes, n_features) for a Taxonomy, else (n_joint_features,).
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted; "multiclass" and Taxonomy only.
    pairs_ : ndarray of shape (n_pairs, 2)
        Pairs of labels that have a weight; a label paired with itself has an intercept.
        "multilabel" only.
    pair_coef_ : ndarray of shape (n_pairs,)
        The weights of the pairs. "multilabel" only.
    certificate_ : Certificate
        Status, primal and dual values, gap.
    n_iter_ : int
        Number of cutting planes; for your own task, how often ``infer`` ran over all samples.
    n_features_in_, feature_names_in_
        As in scikit-learn; for ready-made tasks only.

    References
    ----------
    .. [1] Tsochantaridis, I., Joachims, T., Hofmann, T., & Altun, Y. (2005). Large margin methods
       for structured and interdependent output variables. JMLR 6.
    .. [2] Joachims, T., Finley, T., & Yu, C.-N. (2009). Cutting-plane training of structural SVMs.
       Machine Learning 77.

    See Also
    --------
    SequenceSVM : labels along sequences.
    LatentSVM : classes with parts that are not labelled.
    LinearSVC : ``multi_class="crammer_singer"`` is the multi-class task, with an intercept.

    Examples
    --------
    >>> from maxmargin import StructuredSVM
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = StructuredSVM().fit(X, y)
    >>> model.certificate_.status, model.score(X, y) > 0.95
    ('optimal', True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **JointEstimator._parameter_constraints,
        "task": [
            StrOptions({"multiclass", "multilabel"}),
            Taxonomy,
            HasMethods(["joint_feature", "infer"]),
        ],
        "n_jobs": [None, Interval(Integral, None, None, closed="neither")],
        "inference": [StrOptions({"exact", "approximate"})],
    }

    def __init__(
        self,
        task: Any = "multiclass",
        C: float = 1.0,
        *,
        tol: float = 1e-4,
        max_iter: int = -1,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        inference: str = "exact",
        verbose: Any = 0,
        on_interrupt: str = "raise",
        warm_start: bool = False,
    ) -> None:
        self.task = task
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.inference = inference
        self.verbose = verbose
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start

    def __sklearn_tags__(self) -> Any:
        """A classifier with classes, several labels, or neither: the task decides."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = tags.input_tags.sparse = self._is_ready_made
        if self._is_ready_made:
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags(multi_label=self._has_sets)
        if self._has_sets:
            tags.target_tags.multi_output = True
            tags.target_tags.single_output = False
        return tags

    @property
    def _is_ready_made(self) -> bool:
        return is_ready_made(self)

    @property
    def _has_sets(self) -> bool:
        return isinstance(self.task, str) and self.task == "multilabel"

    # ---- fitting ---------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or sequence of objects
            Inputs: a matrix for the ready-made tasks, any objects for your own.
        y : array-like of shape (n_samples,) or (n_samples, n_labels), or sequence of objects
            Outputs: classes, rows of zeros and ones, or any objects.
        sample_weight : array-like of shape (n_samples,), default=None
            How many times each sample counts: 2 is two copies, 0 leaves it out.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._refuse_ignored()
        exact = self.inference == "exact"
        with all_or_nothing(self):
            if self._is_ready_made:
                X, y = self._validate_Xy(X, y, reset=True, multi_output=self._has_sets)
                weight = validate_weight(sample_weight, X.shape[0])
                self.__dict__.update(learnt(self.task, y, weight))
                self._fit_risk(self._array_risk(X, y, weight))
            else:
                risk = self._own_risk(X, y, sample_weight)
                convexity = Convexity.PROVED if exact else Convexity.UNKNOWN
                self._fit_risk(risk, solve_cached, convexity)
        return self

    def _refuse_ignored(self) -> None:
        for name, default in (("n_jobs", None), ("inference", "exact")):
            value = getattr(self, name)
            if self._is_ready_made and value != default:
                raise ValueError(
                    f"{name}={value!r} has no effect on a ready-made task, whose inference is "
                    f"exact and of all samples at once: leave it at {default!r}."
                )

    def _array_risk(self, X: Any, y: Any, weight: Floats) -> ScoreRisk:
        """The risk of validated samples, those of positive weight."""
        used = np.flatnonzero(weight > 0)
        outputs = outputs_of(self)
        label = outputs.encode(y)
        if len(used) < len(weight):
            X, label, weight = X[used], label[used], weight[used]
        risk: ScoreRisk = outputs.task.risk(ArrayDesign(X), label, weight)
        return risk

    def _own_risk(self, X: Any, y: Any, sample_weight: Any) -> TaskRisk:
        """The risk of the user's own task."""
        X, y = as_list(X, "X"), as_list(y, "y")
        check_consistent_length(X, y)
        weight = validate_weight(sample_weight, len(X))
        examples = examples_of(self.task, X, y, weight, self.n_jobs)
        return TaskRisk(examples, self.inference == "exact")

    # ---- prediction ------------------------------------------------------------------------------

    @property
    def coef_(self) -> Floats:
        """Weights of the features, a row for each class, label or node; w of your own task."""
        w: Floats = checked(self).weights
        if not self._is_ready_made:
            return w
        columns = outputs_of(self).task.columns
        return w[: columns * self.n_features_in_].reshape(columns, -1)

    @property
    def pair_coef_(self) -> Floats:
        """Weights of pairs of labels."""
        w: Floats = checked(self).weights
        if not self._has_sets:
            raise AttributeError("pair_coef_ is only available with task='multilabel'")
        return w[-len(self.pairs_) :]

    def _scores(self, X: Any) -> Floats:
        """Scores of the columns of a ready-made task."""
        check_is_fitted(self)
        X = self._validate_X(X, reset=False)
        return ArrayDesign(X).values_of_all(np.ascontiguousarray(self.coef_))

    @available_if(is_ready_made)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """The score of each class; with two classes, that of the second less that of the first.

        Only for the ready-made tasks.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_classes)
            With "multilabel" the scores of the labels by themselves, without other labels.
        """
        scores = self._scores(X)
        if self._has_sets:
            return scores + self.pair_coef_[: scores.shape[1]]
        values = class_scores(scores, outputs_of(self).task.paths)
        return values[:, 1] - values[:, 0] if values.shape[1] == 2 else values

    def predict(self, X: Any) -> Any:
        """The outputs of greatest score.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or sequence of objects
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_labels), or list
            A list for your own task.
        """
        w = checked(self).weights
        if not self._is_ready_made:
            return list(predictions(self.task, as_list(X, "X"), w, self.n_jobs))
        outputs, scores = outputs_of(self), self._scores(X)
        return outputs.decode(outputs.task.outputs(scores, w[self.coef_.size :]))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy of a ready-made task, of whole rows with "multilabel".

        Of your own task, minus the mean loss.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or sequence of objects
            Samples.
        y : array-like of shape (n_samples,) or (n_samples, n_labels), or sequence of objects
            True outputs.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        score : float
            The greater the better.
        """
        found = self.predict(X)
        if self._is_ready_made:
            return float(accuracy_score(y, found, sample_weight=sample_weight))
        truth = as_list(y, "y")
        check_consistent_length(found, truth)
        losses = [
            checked_loss(self.task, one, other, f"sample {i}")
            for i, (one, other) in enumerate(zip(truth, found, strict=True))
        ]
        return -float(np.average(losses, weights=sample_weight))

    # ---- certification ---------------------------------------------------------------------------

    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Recompute the certificate from the data of the fit.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or sequence of objects
            The inputs of the fit.
        y : array-like of shape (n_samples,) or (n_samples, n_labels), or sequence of objects
            Their outputs.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.

        Returns
        -------
        certificate : Certificate
            "refuted" if the model is not optimal for these data.
        """
        checked(self)
        if not self._is_ready_made:
            return self._certify_risk(self._own_risk(X, y, sample_weight))
        X, y = self._validate_Xy(X, y, reset=False, multi_output=self._has_sets)
        weight = validate_weight(sample_weight, X.shape[0])
        return self._certify_risk(self._array_risk(X, y, weight))
