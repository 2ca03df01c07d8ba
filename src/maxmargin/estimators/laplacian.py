"""LaplacianSVC."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _num_samples, check_is_fitted

from maxmargin.audit import greatest_error
from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats, Integers
from maxmargin.estimators import _outcome
from maxmargin.estimators._base import BaseSVM, all_or_nothing, shared_constraints
from maxmargin.estimators._data import refuse_batch_dependence, symmetric
from maxmargin.estimators._one_each import OneFunctionEach, winners
from maxmargin.estimators._options import StrOptions
from maxmargin.estimators._partial import PartialLabels, read_labels
from maxmargin.estimators._record import checked, field, fitted
from maxmargin.estimators._targets import validate_weight
from maxmargin.estimators.classification import SVC
from maxmargin.kernel import evaluation, prediction
from maxmargin.kernel import model as kernel_model
from maxmargin.kernel.cache import free_memory
from maxmargin.kernel.definiteness import convexity_on
from maxmargin.kernel.formulations import Decision
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.locate import row_keys
from maxmargin.kernel.model import KernelModel, Problem
from maxmargin.kernel.sources import make_source, pick, take
from maxmargin.kernel.training import Trained
from maxmargin.semi_supervised import graph
from maxmargin.semi_supervised.deformed_kernel import SINGLE, Deformed, audited, deform
from maxmargin.semi_supervised.graph import EdgeWeights
from maxmargin.status import Status


class Vertices(NamedTuple):
    """The samples of a fit, as vertices of the graph."""

    X: Any
    weight: Floats
    labels: PartialLabels
    rows: Integers
    """A sample for each vertex."""
    known: Integers
    """The labelled samples of positive weight."""
    place: Integers
    """Their vertices."""


class LaplacianSVC(ClassifierMixin, OneFunctionEach, BaseSVM):  # type: ignore[misc]
    """Semi-supervised classification by manifold regularisation (LapSVM), exact and certified.

    Minimises

        1/2 |h|^2 + manifold / 2 sum_edges W_ij (h_i - h_j)^2 + C sum_labelled hinge(y_i f(x_i))

    over f(x) = h(x) + b, where the edges join near samples, labelled or not. Neighbours get similar
    decision values, so that labels spread along clusters and curves of samples. The problem is
    convex: it is a C-SVC on the labelled samples with a deformed kernel. More than two classes are
    trained each against the rest.

    In the notation of Belkin et al., C = 1 / (2 l gamma_A) and
    manifold = gamma_I / (gamma_A n^2), with l labelled samples of n.

    Dense linear algebra takes 16 n^2 bytes for n distinct samples, 1.6 GB for 10,000.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses of labelled samples.
    manifold : float, default=1.0
        Weight of the manifold penalty; 0 gives the model of SVC. The penalty is a sum over edges:
        with ten times the samples a tenth of the weight has about the same effect.
    n_neighbors : int, default=6
        Neighbours to which each sample is joined; all others if there are fewer. Equal samples are
        one vertex of the graph.
    edges : {"binary", "heat"}, default="binary"
        W_ij is 1, or exp(-|x_i - x_j|^2 / t) with t the mean squared length of the edges. With
        ``kernel="precomputed"`` or a function, distances are those in feature space.
    normalize : bool, default=False
        Whether the Laplacian is I - D^(-1/2) W D^(-1/2) instead of D - W.
    kernel : str, Kernel or callable, default="rbf"
        As for SVC; it must be positive semidefinite.
    degree : int, default=3
        Degree of "poly".
    gamma : {"scale", "auto"} or float, default="scale"
        As for SVC, from all samples.
    coef0 : float, default=0.0
        Constant term of "poly", "sigmoid", "logistic".
    tol : float, default=1e-3
        As for SVC.
    verbose : bool or int, default=False
        Show a progress line.
    max_iter : int, default=-1
        Pair steps for each binary problem; -1 stands for a hundred million.
    time_limit : float or None, default=None
        Seconds after which the solver keeps the best model so far, with a warning.
    on_interrupt : {"raise", "keep"}, default="raise"
        Whether Ctrl-C raises KeyboardInterrupt or keeps the best model so far.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted, without -1.
    transduction_ : ndarray of shape (n_samples,)
        The labels of all training samples: those given, and those predicted for the others.
    estimator_ : SVC
        The C-SVC on the labelled samples, with the deformed kernel precomputed.
    certificate_ : Certificate
        Its certificate: status, primal and dual values, gap; ``parts`` for several classes.
    expansion_ : ndarray of shape (n_functions, n_vertices)
        Coefficients of the decision functions over the distinct training samples.
    intercept_ : ndarray of shape (n_functions,)
        Constants of the decision functions.
    support_ : ndarray of shape (n_vertices,)
        The training samples that ``expansion_`` belongs to, sorted by class.
    n_iter_ : ndarray
        Pair steps of each binary problem.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    TransductiveSVC : chooses the labels of unlabelled samples; not convex, but without a graph.
    sklearn.semi_supervised.LabelSpreading : labels along the graph alone.

    References
    ----------
    Belkin, M., Niyogi, P. and Sindhwani, V. (2006). Manifold regularization: a geometric framework
    for learning from labeled and unlabeled examples. Journal of Machine Learning Research 7.

    Sindhwani, V., Niyogi, P. and Belkin, M. (2005). Beyond the point cloud: from transductive to
    semi-supervised learning. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import LaplacianSVC
    >>> from sklearn.datasets import make_moons
    >>> X, truth = make_moons(200, noise=0.05, random_state=0)
    >>> y = np.full(200, -1)
    >>> y[[0, 1]] = truth[[0, 1]]  # one label of each class
    >>> model = LaplacianSVC(C=10, manifold=10, gamma=10).fit(X, y)
    >>> float(np.mean(model.transduction_ == truth))
    1.0
    >>> model.certificate_.status
    'optimal'
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **shared_constraints(
            "kernel",
            "degree",
            "gamma",
            "coef0",
            "tol",
            "verbose",
            "max_iter",
            "time_limit",
            "on_interrupt",
        ),
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "manifold": [Interval(Real, 0.0, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "edges": [StrOptions({one.value for one in EdgeWeights})],
        "normalize": ["boolean"],
    }
    model_: KernelModel
    classes_ = field("classes")
    certificate_ = field("certificate")
    intercept_ = field("intercept")
    expansion_ = field("coef")
    support_vectors_ = field("vectors")
    support_ = field("rows")
    _kernel = field("kernel")
    _n_support = field("n_support")

    def __init__(
        self,
        *,
        C: float = 1.0,
        manifold: float = 1.0,
        n_neighbors: int = 6,
        edges: str = "binary",
        normalize: bool = False,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        verbose: Any = False,
        max_iter: int = -1,
        time_limit: float | None = None,
        on_interrupt: str = "raise",
    ) -> None:
        self.C = C
        self.manifold = manifold
        self.n_neighbors = n_neighbors
        self.edges = edges
        self.normalize = normalize
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.verbose = verbose
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt

    # ---- fitting ---------------------------------------------------------------------------------

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
            How many times each labelled sample counts: 2 is two copies. 0 leaves a sample out,
            labelled or not; the graph does not depend on other weights.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            X, y = self._validate_Xy(X, y, reset=True)
            found = self._vertices(X, y, sample_weight)
            used = np.flatnonzero(found.weight > 0)
            kernel = self._resolve_kernel(
                take(self._kernel_kind(), found.X, used), found.weight[used]
            )
            self._refuse_too_many(len(found.rows))
            samples = take(kernel.kind, found.X, found.rows)
            refuse_batch_dependence(kernel, samples)
            K = np.asarray(make_source(kernel, samples).block(None, None, np.float64))
            deformed = self._deformed(kernel, samples, K, found.place)
            machine = SVC(
                C=self.C,
                kernel="precomputed",
                tol=self.tol,
                multiclass="ovr",
                max_iter=self.max_iter,
                time_limit=self.time_limit,
                on_interrupt=self.on_interrupt,
                verbose=self.verbose,
            )
            y_known = found.labels.classes[found.labels.label[found.known]]
            machine.fit(deformed.values, y_known, found.weight[found.known])
            return self._keep(found, kernel, K, deformed, machine)

    def _vertices(self, X: Any, y: Any, sample_weight: Any) -> Vertices:
        """Distinct samples of positive weight; of a given kernel all of them."""
        weight = validate_weight(sample_weight, _num_samples(X))
        labels = read_labels(y, weight)
        X, used = symmetric(self._kernel_kind(), X), np.flatnonzero(weight > 0)
        if self._kernel_kind() in (Kind.PRECOMPUTED, Kind.CALLABLE):
            rows, vertex = used, np.arange(len(used))
        else:
            first: dict[bytes, int] = {}
            keys = row_keys(pick(X, used))
            vertex = np.array([first.setdefault(key, len(first)) for key in keys], np.int64)
            rows = used[np.unique(vertex, return_index=True)[1]]
        known = labels.known[used]
        return Vertices(X, weight, labels, rows, used[known], vertex[known])

    def _deformed(self, kernel: Kernel, samples: Any, K: Floats, place: Integers) -> Deformed:
        """The kernel of the labelled samples, deformed by the graph of all vertices."""
        k = min(self.n_neighbors, len(K) - 1)
        given = kernel.kind in (Kind.PRECOMPUTED, Kind.CALLABLE)
        points = graph.feature_distances(K) if given else samples
        W = graph.neighbour_graph(points, k, EdgeWeights(self.edges), precomputed=given)
        return deform(K, self.manifold * graph.laplacian(W, self.normalize), place)

    def _refuse_too_many(self, n: int) -> None:
        """Refuse matrices that memory does not hold, before anything is allocated."""
        if 16 * n * n > free_memory():
            raise MemoryError(
                f"{n} distinct samples take {16 * n * n / 2**30:.0f} GiB of dense matrices; "
                f"{free_memory() / 2**30:.0f} are free. Leave out unlabelled samples, or use "
                "TransductiveSVC."
            )

    def _keep(
        self, found: Vertices, kernel: Kernel, K: Floats, deformed: Deformed, machine: SVC
    ) -> Self:
        """Keep the expansion over all vertices, and the labels that it gives them."""
        part, labels = machine.model_, found.labels
        beta = part.columns() @ deformed.expansion[:, part.rows].T
        values = (K @ beta.T) + part.intercept
        label = np.zeros(len(found.weight), np.int64)
        label[found.rows] = winners(values)
        label = np.where(labels.known, labels.label, label)
        own = prediction.decision_values(part, deformed.values)
        errors = np.abs(values[found.place] - own).max(axis=0)
        convexity = convexity_on(kernel, take(kernel.kind, found.X, found.rows), len(found.rows))
        known = [
            audited(one, error, self.tol, convexity)
            for one, error in zip(part.certificates, errors, strict=True)
        ]
        fits = [
            (found.rows, Trained(Decision(coef, float(b), tuple(ends)), one))
            for coef, b, ends, one in zip(
                beta, part.intercept, part.intervals.tolist(), known, strict=True
            )
        ]
        self.model_ = kernel_model.assemble(
            Problem.C_SVC, kernel, found.X, label, fits, labels.classes
        )
        self.estimator_, self.n_iter_ = machine, machine.n_iter_
        if machine.certificate_.status.converged:  # otherwise SVC has warned
            _outcome.warn_of(self.model_.certificates, self._describe)
        self.transduction_ = labels.classes[label]
        free = np.flatnonzero(~labels.known)
        if len(free):  # equal samples, and those of weight 0, share no vertex
            values = prediction.decision_values(self.model_, pick(found.X, free))
            self.transduction_[free] = labels.classes[winners(values)]
        return self

    def _describe(self, status: Status, found: Sequence[Certificate], count: str) -> str | None:
        """The warning for machines whose expansion falls short."""
        if status is Status.STATIONARY and self.estimator_.certificate_.convexity.convex:
            return f"LaplacianSVC{count}: {status.message}"
        if status is not Status.STALLED:  # SVC has warned
            return None
        return (
            f"LaplacianSVC failed to converge{count}: the penalty and the kernel together exceed "
            f"float64. Decision values of labelled samples are known to "
            f"{max(one.audit_error for one in found):.3g} only (tol={self.tol:g}). Scale the data "
            "(StandardScaler), use a larger gamma, or lower manifold or C."
        )

    # ---- prediction and certification ------------------------------------------------------------

    def _values(self, X: Any) -> Floats:
        """Values of every decision function, one column each."""
        check_is_fitted(self)
        return prediction.decision_values(checked(self), self._validate_X(X, reset=False))

    def _check_state(self) -> None:
        kernel_model.check(fitted(self))

    def _linear_coef(self) -> Any:
        return fitted(self).columns()

    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Check the fitted model on its training data.

        The kernel is evaluated by textbook formulas and deformed again; then the C-SVC is certified
        on it.

        Parameters
        ----------
        X, y, sample_weight
            What the model was fitted on.

        Returns
        -------
        certificate : Certificate
            As ``certificate_``. ``audit_error`` is the greatest difference between decision values
            of labelled samples by the deformed kernel and by the expansion over all samples.
        """
        check_is_fitted(self)
        X, y = self._validate_Xy(X, y, reset=False)
        found, machine = self._vertices(X, y, sample_weight), self.estimator_
        kernel, samples = self.kernel_, take(self._kernel_kind(), found.X, found.rows)
        given = kernel.kind is Kind.PRECOMPUTED
        K = np.asarray(samples) if given else evaluation.kernel_values(kernel, samples, samples)
        deformed = self._deformed(kernel, samples, K, found.place)
        y_known = found.labels.classes[found.labels.label[found.known]]
        if machine.shape_fit_ != deformed.values.shape:
            raise ValueError(
                f"certify needs the data the model was fitted on: {machine.shape_fit_[0]} labelled "
                f"samples, got {len(deformed.values)}."
            )
        known = machine.certify(deformed.values, y_known, found.weight[found.known])
        own = machine.decision_function(deformed.values).ravel()
        other = self.decision_function(pick(X, found.known)).ravel()
        error, before = greatest_error(own, other), self.certificate_
        wrong = not error <= self.tol + SINGLE * float(np.abs(own).max())
        wrong = before.status.converged and (wrong or not known.status.converged)
        return known.updated(
            audit_error=max(known.audit_error, error),
            convexity=before.convexity,
            status=Status.REFUTED if wrong else before.status,
        )
