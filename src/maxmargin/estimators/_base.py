"""What all estimators with kernels share: parameters, the kernel, validation of samples."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
)

from maxmargin.core.arrays import Floats
from maxmargin.estimators._data import gamma_value
from maxmargin.estimators._options import StrOptions
from maxmargin.estimators._samples import TakesSamples
from maxmargin.kernel.kernels import NAMES, PARAMETERS, Kernel, Kind
from maxmargin.kernel.training import Method

SCALE = "Consider pre-processing your data with StandardScaler or MinMaxScaler."


def shared_constraints(*names: str) -> dict[str, Any]:
    """The constraints of parameters that an estimator shares with the kernel machines."""
    return {name: BaseSVM._parameter_constraints[name] for name in names}


def kind_of(kernel: Any) -> Kind | None:
    """The kind of a kernel parameter; None for a value that is not valid."""
    if isinstance(kernel, Kernel):
        return kernel.kind
    if callable(kernel):
        return Kind.CALLABLE
    return NAMES.get(kernel) if isinstance(kernel, str) else None


class BaseSVM(TakesSamples, ABC):
    """Parameters, kernel and validation of the estimators with kernels."""

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
        return kind_of(self.kernel)

    @property
    def kernel_(self) -> Kernel:
        """The kernel of the fit as a record, gamma as a number."""
        check_is_fitted(self)
        kernel: Kernel = self._kernel
        return kernel

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
                    "to the estimator would be ignored. Set them in the Kernel."
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
        """X as a float array or canonical CSR; objects for a callable kernel pass through."""
        return X if self._kernel_kind() is Kind.CALLABLE else super()._validate_X(X, reset=reset)

    def _validate_Xy(self, X: Any, y: Any, *, reset: bool, **options: Any) -> tuple[Any, Any]:
        """X as above, and y of the same length."""
        if self._kernel_kind() is not Kind.CALLABLE:
            return super()._validate_Xy(X, y, reset=reset, **options)
        if y is None:
            name = type(self).__name__
            raise ValueError(f"{name} requires y to be passed, but the target y is None")
        check_consistent_length(X, y)
        return X, y

    def _is_plain(self, X: Any, reset: bool) -> bool:
        kind = self._kernel_kind()
        if kind is Kind.PRECOMPUTED and sparse.issparse(X):
            raise TypeError("Sparse precomputed kernels are not supported.")
        return kind not in (Kind.PRECOMPUTED, Kind.CHI2, Kind.SUM) and super()._is_plain(X, reset)

    def _canonical(self, X: Any, fitting: bool) -> Any:
        kind = self._kernel_kind()
        if fitting and kind is Kind.PRECOMPUTED and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} "
                "matrix."
            )
        X = super()._canonical(X, fitting)
        given = self.__dict__.get("kernel")
        chi2 = given.needs_non_negative if isinstance(given, Kernel) else kind is Kind.CHI2
        if chi2 and (X.data if sparse.issparse(X) else X).min(initial=0) < 0:
            raise ValueError(
                "Negative values in data: the chi2 kernel needs non-negative features, such as "
                "histograms."
            )
        return X

    # ---- the fitted state ------------------------------------------------------------------------

    @property
    def n_support_(self) -> NDArray[np.int32]:
        """Number of support vectors, for each class in classification."""
        check_is_fitted(self)  # its error is an AttributeError
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

    @abstractmethod
    def _check_state(self) -> None:
        """Refuse a fitted state that was altered."""

    @abstractmethod
    def _linear_coef(self) -> Any:
        """Coefficients of the support vectors as ``coef_`` uses them, a row for each function."""


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

    Raises ValueError where it cannot solve the problem, and names the loss that it can solve.
    """
    if solver == "newton" and not (squared and np.isfinite(C)):
        cause = f"C={C:g} is the limit without loss" if squared else "the loss is not squared"
        raise ValueError(
            f"solver='newton' minimises squared losses at a finite C, but {cause}: use "
            f"loss='{loss}' with a finite C, or solver='block'."
        )
    return Method.BLOCK if solver == "auto" else Method(solver)
