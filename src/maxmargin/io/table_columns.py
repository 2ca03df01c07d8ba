"""The columns of a table as X, y and names: one of them is the target, the others are numbers.

The target is the column that is named, or counted from 1 (from the right if negative), or by default that called target, label, class or
y, or else the last; "none" means that there is none, as does a table with exactly as many columns as the model has features.

Where a model (or a file of ranges) knows its features' names and the table has names, the features are found by name, in whatever order
they stand, and what is left is the target: a model is never given a column for another.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

TARGET_NAMES = ("target", "label", "class", "y")


class Data(NamedTuple):
    """A data set: X an array or CSR, y its targets, names and queries (qid) if it has some, and where it was read."""

    X: Any
    y: NDArray[Any] | None
    names: list[str] | None
    format: str
    source: str
    target: str | None = None
    queries: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class Options:
    """How a file is to be read.

    Attributes
    ----------
    format : str or None
        One of READERS; None is found out.
    target : str, int or None
        The target's column in a table, by name or by number, or "none"; None is the usual one.
    header : bool or None
        Whether the first line of a CSV file holds names; None is yes if it holds no number, or a word over one.
    n_features : int or None
        How many features the model has, where there is one.
    zero_based : bool or None
        Whether svmlight indices begin at 0; None is found out on the whole file.
    features : list of str or None
        The names of the features that the model or the ranges were made from, where they know them.
    source : str
        The file's name in messages.
    """

    format: str | None = None
    target: str | int | None = None
    header: bool | None = None
    n_features: int | None = None
    zero_based: bool | None = None
    features: list[str] | None = None
    source: str = ""


def from_columns(columns: list[NDArray[Any]], names: list[str] | None, options: Options, lines: list[int] | None) -> Data:
    """One column is the target, the others are features."""
    if names:
        check_names(names, options.source)
    at, features = _split(len(columns), names, options)
    if not features:
        raise ValueError(f"{options.source} has no column besides the target: fields of a line are separated by commas, semicolons or tabs")
    X = np.empty((len(columns[0]), len(features)))
    for j, k in enumerate(features):
        X[:, j] = _as_numbers(columns[k], names[k] if names else f"column {k + 1}", options.source, lines)
    y = None if at is None else checked_target(columns[at], options.source, lines)
    kept, target = ([names[k] for k in features], None if at is None else names[at]) if names else (None, None)
    return Data(X, y, kept, options.format or "", options.source, target)


def check_names(names: list[str], source: str) -> None:
    """Each name is that of one column."""
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None) if len(set(names)) < len(names) else None
    if twice is not None:
        raise ValueError(f"{source} has two columns called {twice!r}: give each column a name of its own")


def _split(width: int, names: list[str] | None, options: Options) -> tuple[int | None, list[int]]:
    """The target's column and those of the features, in the order of the model's where both have names."""
    if not names or not options.features:
        at = _target_column(width, names, options)
        return at, [k for k in range(width) if k != at]
    features = find_features(names, options.features, options.source)
    left = sorted(set(range(width)) - set(features))
    at = left[0] if options.target is None and len(left) == 1 else _target_column(width, names, options) if left else None
    if not left and options.target not in (None, "none"):
        raise ValueError(f"{options.source} has the features of the model and no other column: {options.target!r} cannot be the target")
    unknown = [names[k] for k in left if k != at]
    if unknown or at in features:
        raise ValueError(
            f"{options.source} has columns that the training data had not: {_some(unknown or [names[k] for k in left])}; leave them "
            "out, or name the target among them with --target"
        )
    return at, features


def find_features(names: list[str], wanted: list[str], source: str) -> list[int]:
    """Where the model's features stand among a table's columns."""
    place = {name: k for k, name in enumerate(names)}
    missing = [name for name in wanted if name not in place]
    if missing:
        raise ValueError(f"{source} has no column {_some(missing)}, as the training data had: its columns are {_some(names)}")
    return [place[name] for name in wanted]


def _some(names: list[str]) -> str:
    """The first names, for messages."""
    return ", ".join(repr(name) for name in names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")


def _target_column(width: int, names: list[str] | None, options: Options) -> int | None:
    wanted = options.target
    if wanted is None:
        lowered = [name.lower() for name in names or []]
        named = next((lowered.index(name) for name in TARGET_NAMES if name in lowered), None)
        if named is None and options.n_features == width:
            return None
        return width - 1 if named is None else named
    if wanted == "none":
        return None
    if names and wanted in names:
        return names.index(str(wanted))
    try:
        number = int(wanted)
    except ValueError:
        known = f"its columns are {', '.join(names[:20])}" if names else "it has no header, give the column's number"
        raise ValueError(f"{options.source} has no column {wanted!r}: {known}") from None
    if not 1 <= abs(number) <= width:
        raise ValueError(
            f"the target's column is {number}, but {options.source} has {width} columns, counted from 1, or from -1 at the right"
        )
    return number - 1 if number > 0 else width + number


def _as_numbers(column: NDArray[Any], name: str, source: str, lines: list[int] | None) -> NDArray[np.float64]:
    """A feature's values; the first that is no finite number is an error with its line."""
    if column.dtype.kind in "biuf":
        values = column.astype(np.float64)
    else:
        values = np.array([float(v) if is_number(v) else np.nan for v in column.tolist()])
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        place = f"line {lines[wrong[0]]}" if lines else f"row {wrong[0] + 1}"
        raise ValueError(
            f"{source}, {place}, {name}: {str(column[wrong[0]])!r} is no finite number ({len(wrong)} such values in this column); fill "
            "missing values, write decimals with a point and words as numbers, or choose another target column"
        )
    return values


def checked_target(column: NDArray[Any], source: str, lines: list[int] | None) -> NDArray[Any]:
    """The targets; one that is missing or infinite is an error with its line."""
    y = as_target(column)
    wrong = np.flatnonzero(~np.isfinite(y) if y.dtype.kind == "f" else [str(cell).strip() == "" for cell in y.tolist()])
    if len(wrong):
        place = f"line {lines[wrong[0]]}" if lines else f"row {wrong[0] + 1}"
        raise ValueError(f"{source}, {place}: the target is missing or infinite ({len(wrong)} such rows); fill it or leave those rows out")
    return y


def as_target(column: NDArray[Any]) -> NDArray[Any]:
    """Targets as whole numbers if they all are, else as numbers if they all are, else as text."""
    if column.dtype.kind in "OUS":
        text = [str(cell).strip() for cell in column.tolist()]
        if not all(is_number(cell) for cell in text):
            return np.array(text)
        column = np.array([float(cell) for cell in text])
    if column.dtype.kind == "b":
        return column.astype(np.int64)
    if (
        column.dtype.kind == "f"
        and np.isfinite(column).all()
        and (column == np.round(column)).all()
        and np.abs(column).max(initial=0) < 2**53
    ):
        return column.astype(np.int64)
    return column


def is_number(cell: Any) -> bool:
    """Whether a cell is a number, as files write them."""
    try:
        float(cell)
    except (ValueError, TypeError):
        return False
    return "_" not in str(cell)  # Python's own digits grouping is none of a file's
