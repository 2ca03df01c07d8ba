"""Validation of samples and targets, and the monitor of a fit, for all estimators."""

from typing import Any

from scipy import sparse

from maxmargin.estimators._data import canonical_csr, validated
from maxmargin.estimators._plain import QuickParameters, plain_data, plain_target
from maxmargin.monitor import Monitor


class TakesSamples(QuickParameters):
    """Validates samples and targets, and watches a fit."""

    n_features_in_: int

    def _validate_X(self, X: Any, *, reset: bool) -> Any:
        """X as a float array in C order or canonical CSR."""
        if self._is_plain(X, reset):
            return X
        return self._canonical(validated(self, X, reset=reset), fitting=reset)

    def _validate_Xy(self, X: Any, y: Any, *, reset: bool, **options: Any) -> tuple[Any, Any]:
        """X as above, and y of the same length."""
        if self._is_plain(X, reset) and plain_target(y, len(X)):
            return X, y
        X, y = validated(self, X, y, reset=reset, **options)
        return self._canonical(X, fitting=reset), y

    def _is_plain(self, X: Any, reset: bool) -> bool:
        """Whether X needs no further check: an array without names of features."""
        if hasattr(self, "feature_names_in_") or not plain_data(X):
            return False
        if reset:
            self.n_features_in_ = X.shape[1]
        return bool(X.shape[1] == self.n_features_in_)

    def _canonical(self, X: Any, fitting: bool) -> Any:
        """Validated samples as the solvers take them."""
        return canonical_csr(X) if sparse.issparse(X) else X

    def _monitor(self) -> Monitor:
        """Limits, progress line and Ctrl-C of a fit."""
        name, keep = type(self).__name__, self.on_interrupt == "keep"
        return Monitor(self.max_iter, self.time_limit, int(self.verbose), name, keep)
