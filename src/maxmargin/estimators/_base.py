"""What the five estimators share: validation, kernel parameters, keeping the model, prediction."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import (
    _num_samples,
    check_consistent_length,
    check_is_fitted,
)

from maxmargin import certificate
from maxmargin.audit import greatest_error
from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.estimators import _labels, _outcome, _state
from maxmargin.estimators._data import canonical_csr, gamma_value, sparse_like_sklearn, validated
from maxmargin.estimators._labels import Coefficients, Question
from maxmargin.estimators._locate import locate
from maxmargin.estimators._options import StrOptions
from maxmargin.estimators._plain import QuickParameters, plain_data, plain_target
from maxmargin.kernel import evaluation
from maxmargin.kernel.kernels import NAMES, PARAMETERS, Kernel, Kind
from maxmargin.kernel.sources import make_source, pick
from maxmargin.kernel.training import SETTINGS, Method, Trained
from maxmargin.monitor import Monitor
from maxmargin.status import Convexity, Status
from maxmargin.verdict import GAP, Demand, Size, verdict_again

SCALE = "Consider pre-processing your data with StandardScaler or MinMaxScaler."


class BaseSVM(QuickParameters, ABC):
    """Parameters, fitted state and prediction common to all five."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kernel": [StrOptions(set(NAMES)), callable, Kernel],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "shrinking": ["boolean"],
        "cache_size": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "verbose": ["verbose"],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
        "time_limit": [None, Interval(Real, 0, None, closed="left")],
        "on_interrupt": [StrOptions({"raise", "keep"})],
        "warm_start": ["boolean"],
    }

    def __sklearn_tags__(self) -> Any:
        """Pairwise and sparse tags, as scikit-learn sets them."""
        tags = super().__sklearn_tags__()
        precomputed = self._kernel_kind() is Kind.PRECOMPUTED
        tags.input_tags.pairwise = precomputed
        tags.input_tags.sparse = not precomputed
        tags.input_tags.positive_only = self._kernel_kind() is Kind.CHI2
        return tags

    # ---- the kernel ------------------------------------------------------------------------------

    def _kernel_kind(self) -> Kind | None:
        if isinstance(self.kernel, Kernel):
            return self.kernel.kind
        if callable(self.kernel):
            return Kind.CALLABLE
        return NAMES.get(self.kernel) if isinstance(self.kernel, str) else None

    @property
    def kernel_(self) -> Kernel:
        """The kernel of the fit as a record, gamma as a number."""
        check_is_fitted(self)
        return self._kernel

    def _resolve_kernel(self, X: Any, weight: Floats | None) -> Kernel:
        """The kernel as data, gamma computed from the samples in use."""
        if isinstance(self.kernel, Kernel):
            changed = [
                name
                for name, default in (("gamma", "scale"), ("coef0", 0.0), ("degree", 3))
                if getattr(self, name) != default
            ]
            if changed:
                raise ValueError(
                    f"kernel={self.kernel!r} carries its own numbers; {', '.join(changed)} given "
                    "to the estimator would be ignored. "
                    "Set them in the Kernel."
                )
            return self.kernel
        if callable(self.kernel):
            return Kernel.callable(self.kernel)
        kind = NAMES[self.kernel]
        used = PARAMETERS.get(kind, ())
        values = {name: getattr(self, name) for name in used if name != "gamma"}
        if "gamma" in used:
            values["gamma"] = float(gamma_value(self.gamma, X, weight))
        return Kernel(kind, **values)

    # ---- validation ------------------------------------------------------------------------------

    def _validate_X(self, X: Any, *, reset: bool) -> Any:
        """X as a float array or canonical CSR; objects for a callable kernel are passed through."""
        if self._kernel_kind() is Kind.CALLABLE:
            return X
        if self._as_it_is(X, reset):
            return X
        self._refuse_sparse_matrix(X)
        return self._canonical(validated(self, X, reset=reset), fitting=reset)

    def _validate_Xy(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, Any]:
        """X as above, and y, equally long."""
        if self._kernel_kind() is Kind.CALLABLE:
            if y is None:
                raise ValueError(
                    f"{type(self).__name__} requires y to be passed, but the target y is None"
                )
            check_consistent_length(X, y)
            return X, y
        if self._as_it_is(X, reset) and plain_target(y, len(X)):
            return X, y
        self._refuse_sparse_matrix(X)
        X, y = validated(self, X, y, reset=reset)
        return self._canonical(X, fitting=reset), y

    def _as_it_is(self, X: Any, reset: bool) -> bool:
        """Whether X needs no further check; it has no names of features."""
        if (
            self._kernel_kind() in (Kind.PRECOMPUTED, Kind.CHI2)
            or hasattr(self, "feature_names_in_")
            or not plain_data(X)
        ):
            return False
        if reset:
            self.n_features_in_ = X.shape[1]
        return bool(X.shape[1] == self.n_features_in_)

    def _refuse_sparse_matrix(self, X: Any) -> None:
        if self._kernel_kind() is Kind.PRECOMPUTED and sparse.issparse(X):
            raise TypeError("Sparse precomputed kernels are not supported.")

    def _canonical(self, X: Any, fitting: bool) -> Any:
        if fitting and self._kernel_kind() is Kind.PRECOMPUTED and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} "
                "matrix."
            )
        X = canonical_csr(X) if sparse.issparse(X) else X
        if (
            self._kernel_kind() is Kind.CHI2
            and (X.data if sparse.issparse(X) else X).min(initial=0) < 0
        ):
            raise ValueError(
                "Negative values in data: the chi2 kernel needs non-negative features, such as "
                "histograms."
            )
        return X

    def _method(self) -> Method:
        """Which solver."""
        return Method.BLOCK

    def _monitor(self) -> Monitor:
        return Monitor(
            self.max_iter,
            self.time_limit,
            int(self.verbose),
            type(self).__name__,
            self.on_interrupt == "keep",
        )

    # ---- the fitted state ------------------------------------------------------------------------

    def _conclude(self, trained: list[Trained], monitor: Monitor, X: Any) -> None:
        """Keep what a fit says about itself; raise on Ctrl-C, warn of what fell short."""
        _outcome.raise_interrupt(self, monitor)
        for name in (
            "_rows_known",
            "_density_marks",
            "_label_order",
            "compression_",
        ):  # of a model that was not fitted here, or changed after
            self.__dict__.pop(name, None)
        self.shape_fit_ = X.shape if hasattr(X, "shape") else (_num_samples(X),)
        self._sparse = sparse.issparse(X) and self._kernel_kind() is not Kind.CALLABLE
        self.intercept_interval_ = np.array([t.decision.interval for t in trained])
        self._unit = trained[0].decision.unit
        converged = _outcome.conclude(self, [t.certificate for t in trained], self._describe)
        self.fit_status_ = int(not converged)

    def _describe(self, status: Status, found: Sequence[Certificate], count: str) -> str | None:
        """The warning for problems that ended with a status, with the numbers that fell short."""
        if status is Status.STATIONARY and self.certificate_.convexity is not Convexity.INDEFINITE:
            return None
        early = (
            f"Solver terminated early (max_iter={self.max_iter}).  {SCALE} "
            if status is Status.MAX_ITER
            else ""
        )
        violation = max(part.kkt_violation for part in found) / self._unit
        gap = max(part.relative_gap for part in found)
        return (
            f"{early}{status.message}{count} KKT violation {violation:.3g} (tol={self.tol:g}), "
            f"relative gap {gap:.3g} (10 tol={GAP * self.tol:g})."
        )

    def _keep_support(self, X: Any, support: NDArray[np.int64], kernel: Kernel) -> None:
        """Keep the support vectors and their indices; a precomputed kernel keeps indices only."""
        self.support_ = support.astype(np.int32)
        self._kernel = kernel
        self._gamma = kernel.gamma if kernel.kind <= Kind.CHI2 else 0.0
        self._probA = self._probB = np.empty(0)
        if kernel.kind is Kind.PRECOMPUTED:
            self.support_vectors_ = np.empty((0, 0))
        elif kernel.kind is Kind.CALLABLE:
            self.support_vectors_ = pick(X, support)
        else:
            self.support_vectors_ = X[support].astype(np.float64)

    def _keep_coef(self, dual_coef: Floats, intercept: Floats, flipped: bool = False) -> None:
        """Keep coefficients (sparse for sparse data).

        The underscored twins have LIBSVM's sign, which is flipped for two classes.
        """
        if not (np.isfinite(dual_coef).all() and np.isfinite(intercept).all()):
            raise ValueError(
                "The dual coefficients or intercepts are not finite. The input data may contain "
                "large values and need to be preprocessed."
            )
        sign = -1.0 if flipped else 1.0
        wrap: Callable[[Floats], Any] = sparse_like_sklearn if self._sparse else np.asarray
        self.dual_coef_: Any = wrap(dual_coef)
        self._dual_coef_: Any = wrap(sign * dual_coef)
        self.intercept_, self._intercept_ = intercept, sign * intercept

    @property
    def n_support_(self) -> NDArray[np.int32]:
        """Number of support vectors, for each class in classification."""
        try:
            check_is_fitted(self)
        except NotFittedError:
            raise AttributeError(
                f"{type(self).__name__} is not fitted yet: n_support_ is not available."
            ) from None
        count: NDArray[np.int32] = self._n_support
        return count

    @property
    def coef_(self) -> Any:
        """Weights of the features; with a linear kernel only."""
        if self._kernel_kind() is not Kind.LINEAR:
            raise AttributeError("coef_ is only available when using a linear kernel")
        check_is_fitted(self)
        self._check_state()
        coef = self._linear_coef() @ self.support_vectors_
        (coef.data if sparse.issparse(coef) else coef).flags.writeable = False
        return coef

    def _check_state(self) -> None:
        """Refuse a fitted state that was altered."""
        _state.check(self)

    @abstractmethod
    def _linear_coef(self) -> Any:
        """Coefficients of the support vectors as coef_ uses them, one row for each decision
        function.
        """

    def _columns(self) -> Floats:
        """Coefficients of the support vectors, one row for each decision function, from
        _dual_coef_.
        """
        if not sparse.issparse(self._dual_coef_):
            return np.asarray(self._dual_coef_)
        self._dual_coef_.check_format(
            full_check=True
        )  # SciPy would write where altered indices point
        return np.asarray(self._dual_coef_.toarray())

    # ---- prediction ------------------------------------------------------------------------------

    @abstractmethod
    def _shapes(self) -> tuple[int, int, int]:
        """Lengths of n_support_, dual_coef_ and intercept_."""

    def _coefficients(self) -> Coefficients:
        """The coefficients by which prediction multiplies kernel values."""
        columns = np.ascontiguousarray(self._columns().T)
        return Coefficients(np.array([0, len(columns)]), columns)

    def _join(self, parts: Floats) -> Floats:
        """The decision functions, one row each, from what each group of coefficients adds to its
        own.
        """
        return cast(Floats, parts[0])

    def _ask(self, X: Any) -> Question:
        """The kernel values between the support vectors and X, and the coefficients that multiply
        them.
        """
        check_is_fitted(self)
        X = self._validate_X(X, reset=False)
        state, kernel = _state.prepared(self), self._kernel
        if kernel.kind is Kind.PRECOMPUTED:
            if X.shape[1] != self.shape_fit_[0]:
                raise ValueError(
                    f"X.shape[1] = {X.shape[1]} should be equal to {self.shape_fit_[0]}, the "
                    "number of samples at training time"
                )
            return Question(make_source(kernel, X[:, self.support_].T), state.coefficients)
        if state.source is None:
            return Question(make_source(kernel, self.support_vectors_, X), state.coefficients)
        if sparse.issparse(X) and not self._sparse:
            raise ValueError(
                f"cannot use sparse input in {type(self).__name__!r} trained on dense data"
            )
        X = canonical_csr(sparse.csr_matrix(X)) if self._sparse and not sparse.issparse(X) else X
        return Question(state.source.against(X), state.coefficients)

    def _decision_values(self, X: Any) -> Floats:
        """Values of every decision function, one column each."""
        return self._values(self._ask(X)).T

    def _values(self, question: Question) -> Floats:
        """Values of every decision function, one row each, in float64."""
        if self._kernel.kind is Kind.LINEAR:
            values = question.source.block(None, None, np.float64)
        else:
            values = self._join(_labels.products(question))
        values += np.asarray(self._intercept_)[:, None]
        return values

    # ---- certification ---------------------------------------------------------------------------

    def _certified_values(self, X: Any) -> Floats:
        """Decision values by the independent float64 evaluation of maxmargin.certificate."""
        self._check_state()
        kernel = self._kernel
        A = None if kernel.kind is Kind.PRECOMPUTED else self.support_vectors_
        B = X[:, self.support_] if kernel.kind is Kind.PRECOMPUTED else X
        coef = np.ascontiguousarray(self._columns().T)
        if kernel.has_dot_product and (self._is_quick(X, coef) or self._needs_more_digits(coef)):
            return evaluation.extended_products(kernel, A, coef, B, self._intercept_)
        return evaluation.kernel_products(kernel, A, coef, B, self._intercept_, exact=True)

    def _is_quick(self, X: Any, coef: Floats) -> bool:
        """Whether a fit, too, evaluates all decision values in long double where need be."""
        per_row = evaluation.products_per_row(self._kernel, self.support_vectors_, len(coef))
        return bool(per_row * _num_samples(X) <= evaluation.SETTINGS.long_double_products)

    def _needs_more_digits(self, coef: Floats) -> bool:
        """Whether float64 may round dot products so much that decision values are not known to tol
        (rounding.py).
        """
        error = make_source(self._kernel, self.support_vectors_).value_error
        return (
            error * float(np.abs(coef).sum(axis=0).max(initial=0.0))
            > SETTINGS.rounding_share * float(self.tol) * self._unit
        )

    def _certify_all(
        self, found: list[Certificate], solver_values: Floats, exact: Floats
    ) -> Certificate:
        """Give each part its outcome, judged by what was recomputed."""
        parts = self.certificate_.parts or (self.certificate_,)
        judged, columns, demand = [], self._columns(), Demand.on_violation(self.tol, self._unit)
        for k, (old, new) in enumerate(zip(parts, found, strict=True)):
            new = replace(new, convexity=old.convexity, n_iter=old.n_iter)
            status = verdict_again(
                old.status,
                new,
                demand,
                Size.of(np.append(exact[:, k], self._intercept_[k]), columns[k]),
            )
            error = greatest_error(solver_values[:, k], exact[:, k])
            judged.append(replace(new, audit_error=error, status=status))
        return certificate.worst(judged)

    def _training_rows(self, X: Any, label: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where the support vectors are among the samples.

        Fits know it, model files of other programs do not.
        """
        if getattr(self, "_rows_known", True):
            return cast(NDArray[np.int64], self.support_)
        groups = np.repeat(np.arange(len(self._n_support)), self._n_support)
        return locate(self.support_vectors_, groups.tolist(), X, label.tolist())

    def _warm(self, n: int) -> tuple[NDArray[np.int64], Floats] | None:
        """Support indices and coefficient rows of the last fit, if this fit may start from them."""
        if (
            not self.warm_start
            or not hasattr(self, "support_")
            or not getattr(self, "_rows_known", True)
        ):
            return None
        if len(self.support_) and self.support_.max() >= n:
            return None
        return self.support_.astype(np.int64), self._columns()


@contextmanager
def all_or_nothing(estimator: BaseSVM) -> Iterator[None]:
    """Whatever ends a fit early leaves the estimator as it was."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise


def method_for(solver: str, squared: bool, C: float, loss: str) -> Method:
    """The solver by its name.

    ValueError where it cannot solve the problem, naming the loss that it can.
    """
    if solver == "newton" and not (squared and np.isfinite(C)):
        cause = f"C={C:g} is the limit without loss" if squared else "the loss is not squared"
        raise ValueError(
            f"solver='newton' minimises squared losses at a finite C, but {cause}: use "
            f"loss='{loss}' with a finite C, or solver='block'."
        )
    return Method.BLOCK if solver == "auto" else Method(solver)
