"""Preparation of a mixed table for an SVM, by scikit-learn's transformers.

    numbers      the median for missing values (SimpleImputer) and an indicator of 0 and 1 for each
                 column that has any; then mean 0 and variance 1 (StandardScaler)
    categories   a feature of 0 and 1 for each value (OneHotEncoder); missing is a value of its own,
                 and rare values share one, which unknown values get, too
    sparse X     divided by the greatest magnitude of each column (MaxAbsScaler), not shifted

Two samples that differ in one category are at the squared distance 2, and so are, on average, two
that differ in one standardised number: neither kind dominates an RBF kernel.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data

from maxmargin.model_selection.table_columns import Table, as_table, read_table


class Settings(NamedTuple):
    """What is made of categories."""

    rare: int = 2
    """A value needs this many samples to have a feature of its own."""
    most: int = 100
    """Greatest number of features of one column."""
    dense: int = 300
    """More features than this are kept sparse if most are zero."""


SETTINGS = Settings()


class TablePreparation(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Numbers, categories, booleans, dates and missing values as features for an SVM.

    Takes a frame of pandas or polars, an array or a sparse matrix. See
    ``maxmargin.model_selection.tables`` for what becomes of each kind of column.

    Attributes
    ----------
    is_number_ : ndarray of shape (n_columns,)
        Whether a column holds numbers; the others hold categories.
    imputer_, scaler_, encoder_
        The fitted transformers of scikit-learn; None where nothing needs one.
    n_features_out_ : int
        The number of features.
    """

    def __sklearn_tags__(self) -> Any:
        """Words, missing values and sparse data are accepted."""
        tags = super().__sklearn_tags__()
        accept_tables(tags)
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn medians, scales and categories.

        Parameters
        ----------
        X : table of shape (n_samples, n_columns)
            The samples.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            How many times each sample counts in means and variances.

        Returns
        -------
        self : object
        """
        X = as_table(X)
        validate_data(self, X, skip_check_array=True)
        table = read_table(X)
        self.columns_, self.is_number_ = table.names, table.is_number
        self.imputer_: Any = None
        self.scaler_: Any = None
        self.encoder_: Any = None
        if table.numbers.shape[1]:
            self.imputer_ = SimpleImputer(
                strategy="median", add_indicator=True, keep_empty_features=True
            )
            filled = self.imputer_.fit_transform(table.numbers)[:, : table.numbers.shape[1]]
            if sparse.issparse(filled):
                self.scaler_ = MaxAbsScaler().fit(filled)
            else:
                self.scaler_ = StandardScaler().fit(filled, sample_weight=sample_weight)
        if table.categories.shape[1]:
            self.encoder_ = OneHotEncoder(
                handle_unknown="infrequent_if_exist",
                min_frequency=SETTINGS.rare,
                max_categories=SETTINGS.most,
            ).fit(table.categories)
        self.missing_ = table.missing()
        self.n_features_out_ = int(self._joined(self._parts(_head(table))).shape[1])
        return self

    def transform(self, X: Any) -> Any:
        """The features of samples.

        Parameters
        ----------
        X : table of shape (n_samples, n_columns)
            The samples; the columns are those of ``fit``.

        Returns
        -------
        features : ndarray or CSR matrix of shape (n_samples, n_features_out_)
        """
        check_is_fitted(self)
        X = as_table(X)
        validate_data(self, X, skip_check_array=True, reset=False)
        return self.features(X)

    def features(self, X: Any) -> Any:
        """The features of samples whose columns were checked before."""
        return self._joined(self._parts(read_table(X, self.is_number_)))

    def _parts(self, table: Table) -> list[Any]:
        """Numbers, indicators and categories as blocks of features."""
        parts = []
        if self.imputer_ is not None:
            filled, d = self.imputer_.transform(table.numbers), table.numbers.shape[1]
            if sparse.issparse(filled):
                filled = filled.tocsr()
            parts += [self.scaler_.transform(filled[:, :d]), filled[:, d:]]
        if self.encoder_ is not None:
            parts.append(self.encoder_.transform(table.categories))
        return parts

    def _joined(self, parts: list[Any]) -> Any:
        """The blocks side by side, dense unless they are wide and mostly zero."""
        width = sum(part.shape[1] for part in parts)
        wide = width > SETTINGS.dense and any(sparse.issparse(part) for part in parts)
        if wide or (len(parts) == 2 and all(sparse.issparse(part) for part in parts)):
            return sparse.csr_matrix(sparse.hstack(parts, format="csr"))
        return np.hstack([part.toarray() if sparse.issparse(part) else part for part in parts])

    def describe(self) -> str:
        """What becomes of the columns, in words.

        Returns
        -------
        text : str
        """
        check_is_fitted(self)
        numbers, missing = int(self.is_number_.sum()), self.missing_ > 0
        parts = []
        if numbers:
            scaled = "scaled" if isinstance(self.scaler_, MaxAbsScaler) else "standardised"
            parts.append(f"{numbers} of numbers ({scaled})")
        if numbers < len(self.columns_):
            parts.append(f"{len(self.columns_) - numbers} of categories (one-hot)")
        text = f"{len(self.columns_)} columns: {', '.join(parts)}"
        if missing.any():
            text += (
                f"; {int(missing.sum())} with missing values (medians and indicators; a category "
                "of their own)"
            )
        return f"{text}. {self.n_features_out_} features"


def accept_tables(tags: Any) -> None:
    """Tags of an estimator that takes mixed tables."""
    tags.input_tags.sparse = tags.input_tags.string = True
    tags.input_tags.categorical = tags.input_tags.allow_nan = True


def _head(table: Table) -> Table:
    """The first sample of a table."""
    return table._replace(numbers=table.numbers[:1], categories=table.categories[:1])
