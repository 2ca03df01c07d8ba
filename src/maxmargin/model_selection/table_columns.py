"""Tables of any kind as a block of numbers and a block of words.

A column of pandas, polars or NumPy is one of two things:

    numbers      integers, floats, dates and durations (as seconds); NaN where a value is missing
    categories   words and booleans, as strings; None where a value is missing

A column of Python objects is numbers if all its values are, else categories. Words that look like
numbers stay words: "01" may be a code.
"""

from collections.abc import Iterator
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array

from maxmargin.core.arrays import Floats


class Table(NamedTuple):
    """The columns of a table by kind."""

    names: list[str]
    is_number: NDArray[np.bool_]
    """One for each column."""
    numbers: Any
    """Columns of numbers: array of shape (n_samples, n_numbers), or CSR."""
    categories: NDArray[np.object_]
    """The other columns: array of shape (n_samples, n_categories) of strings and None."""

    def missing(self) -> NDArray[np.int64]:
        """The number of missing values of each column."""
        found = np.zeros(len(self.names), np.int64)
        if sparse.issparse(self.numbers):
            gaps = self.numbers.indices[np.isnan(self.numbers.data)]
            return found + np.bincount(gaps, minlength=len(found))
        found[self.is_number] = np.isnan(self.numbers).sum(axis=0)
        absent = np.array([[value is None for value in row] for row in self.categories], bool)
        found[~self.is_number] = absent.reshape(self.categories.shape).sum(axis=0)
        return found


def read_table(X: Any, is_number: NDArray[np.bool_] | None = None) -> Table:
    """The columns of X; with ``is_number``, each as the kind that it had before.

    Infinite values are refused.
    """
    table = _read(X, is_number)
    if infinite := _infinite(table):
        raise ValueError(
            f"Input X contains infinity: {sum(infinite.values())} values, in the columns "
            f"{', '.join(list(infinite)[:5])}. Replace them by NaN, which counts as missing, or by "
            "the greatest value that can occur."
        )
    return table


def infinite_columns(X: Any) -> dict[str, int]:
    """The number of infinite values of each column that has any."""
    return _infinite(_read(X, None))


def _infinite(table: Table) -> dict[str, int]:
    values = table.numbers.data if sparse.issparse(table.numbers) else table.numbers
    if not np.isinf(values).any():
        return {}
    names = [name for name, kind in zip(table.names, table.is_number, strict=True) if kind]
    if sparse.issparse(table.numbers):
        counts = np.bincount(table.numbers.indices[np.isinf(values)], minlength=len(names))
    else:
        counts = np.isinf(values).sum(axis=0)
    return {name: int(count) for name, count in zip(names, counts, strict=True) if count}


def _read(X: Any, is_number: NDArray[np.bool_] | None) -> Table:
    """The columns of X, infinite values included."""
    if sparse.issparse(X):
        numbers = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False)
        return _all_numbers(numbers, _names(X))
    columns = _frame_columns(X) if _is_frame(X) else None
    if columns is None:
        array = as_table(X)
        if array.dtype.kind in "fiub" and (is_number is None or is_number.all()):
            return _all_numbers(np.asarray(array, np.float64), _names(array))
        columns = ((str(k), _from_objects(array[:, k], str(k))) for k in range(array.shape[1]))
    names, found = [], []
    for k, (name, values) in enumerate(columns):
        if is_number is not None and is_number[k] != (values.dtype.kind == "f"):
            values = _converted(values, name, bool(is_number[k]))
        names.append(name)
        found.append(values)
    kinds = np.array([values.dtype.kind == "f" for values in found], bool)
    n = len(found[0]) if found else 0
    numbers = np.empty((n, int(kinds.sum())))
    categories = np.empty((n, int((~kinds).sum())), object)
    for block, wanted in ((numbers, True), (categories, False)):
        for k, values in enumerate(
            v for v, kind in zip(found, kinds, strict=True) if kind == wanted
        ):
            block[:, k] = values
    return Table(names, kinds, numbers, categories)


def _all_numbers(numbers: Any, names: list[str]) -> Table:
    n, d = numbers.shape
    return Table(names, np.ones(d, bool), numbers, np.empty((n, 0), object))


def _is_frame(X: Any) -> bool:
    """Whether X has named columns: a frame of pandas or polars."""
    return hasattr(X, "columns") and hasattr(X, "shape") and len(X.shape) == 2


def _names(X: Any) -> list[str]:
    return [str(k) for k in range(X.shape[1])]


def as_table(X: Any) -> Any:
    """A frame or a sparse matrix as it is; rows of numbers and words as an array.

    The shape is checked as scikit-learn does.
    """
    if sparse.issparse(X) or _is_frame(X):
        return X
    if not isinstance(X, np.ndarray):
        given = np.asarray(X) if not isinstance(X, list | tuple) else np.array(X, object)
        X = given if given.ndim == 2 and given.dtype.kind == "O" else X
    words = isinstance(X, np.ndarray) and X.dtype.kind in "OUS"
    array: NDArray[Any] = check_array(
        X.astype(object) if words else X, dtype=None, ensure_all_finite=False
    )
    return array


def _frame_columns(X: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """Name and values of each column of a frame."""
    check_array(np.empty(X.shape, np.bool_))  # no samples or no columns: scikit-learn's errors
    by_place = X.iloc if hasattr(X, "iloc") else X
    for k, name in enumerate(X.columns):
        column = by_place[:, k]
        read = _pandas_column if hasattr(X, "iloc") else _polars_column
        yield str(name), read(column, str(name))


def _pandas_column(column: Any, name: str) -> NDArray[Any]:
    kind = column.dtype.kind
    if kind in "iuf":
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    if kind in "Mm":
        return _seconds(
            column.to_numpy(dtype=f"{'datetime' if kind == 'M' else 'timedelta'}64[ns]")
        )
    values = np.array(column.to_numpy(dtype=object))
    values[column.isna().to_numpy(dtype=bool)] = None
    return _from_objects(values, name)


def _polars_column(column: Any, name: str) -> NDArray[Any]:
    if column.dtype.is_numeric():
        return np.asarray(column.cast(float).to_numpy(), np.float64)
    if column.dtype.is_temporal():
        return _seconds(column.to_numpy())
    values = np.empty(len(column), object)
    values[:] = column.to_list()
    return _from_objects(values, name)


def _seconds(times: NDArray[Any]) -> Floats:
    """Dates and durations in seconds; NaN where one is missing."""
    kind = "datetime64[ns]" if times.dtype.kind == "M" else "timedelta64[ns]"
    nanoseconds = times.astype(kind).astype(np.int64)
    return np.where(np.isnat(times), np.nan, nanoseconds / 1e9)


def _from_objects(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Python objects as numbers, or as words."""
    if values.dtype.kind in "fiu":
        return np.asarray(values, np.float64)
    missing = np.array([_is_missing(value) for value in values], bool)
    known = values[~missing]
    if all(isinstance(value, Real) and not isinstance(value, bool | np.bool_) for value in known):
        found = np.full(len(values), np.nan)
        found[~missing] = known
        return found
    words = np.full(len(values), None, object)
    words[~missing] = [_word(value, name) for value in known]
    return words


def _is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas.NA."""
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or value is np.nan
        or (isinstance(value, float | np.floating) and value != value)
    )


def _word(value: Any, name: str) -> str:
    """A category as a string; a whole number is the same with and without a decimal point."""
    if isinstance(value, bool | np.bool_ | str):
        return str(value)
    if isinstance(value, Real):
        number = float(value)
        return str(int(number)) if number.is_integer() else str(number)
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    raise TypeError(
        f"Column {name} of X has a {type(value).__name__}: the argument must be a string or a "
        "number. Turn such values into numbers or words first."
    )


def _converted(values: NDArray[Any], name: str, number: bool) -> NDArray[Any]:
    """A column as the kind that it had in the fit."""
    if not number:
        words = np.full(len(values), None, object)
        known = ~np.isnan(values)
        words[known] = [_word(value, name) for value in values[known].tolist()]
        return words
    if all(value is None for value in values):
        return np.full(len(values), np.nan)
    word = next(value for value in values if value is not None)
    raise ValueError(
        f"Column {name} of X was numbers in fit, and now it has words such as {word!r}. Convert "
        "it to numbers, with NaN for missing values."
    )
