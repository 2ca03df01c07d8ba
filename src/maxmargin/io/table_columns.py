"""The columns of a table as X, y, weights and names.

Some columns are left out, one is the target, one may hold the weights, the others are features.
Columns are given by name, or by their number from 1 (from the right if negative). Without a given
target, it is the column with the name of the model's target, or else one called target, label,
class or y. Otherwise the last column is the target if there is no model, or if the table has one
column more than the model has features. This is a guess and warns. "none" means that there is no
target.

If a model (or a file of ranges) has names of features and the table has names, the features are
found by name, in any order. Columns that remain are left out with a warning and never used as the
target.
"""

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.io.svmlight_rows import Problem
from maxmargin.io.table_cells import (
    Column,
    TableError,
    as_numbers,
    as_target,
    as_weights,
    bad_targets,
    target_problems,
)
from maxmargin.suggestions import did_you_mean

TARGET_NAMES = ("target", "label", "class", "y")


class Data(NamedTuple):
    """A data set: X as an array or CSR, targets y, and where it was read.

    It may have names, queries (qid) and sample weights.
    """

    X: Any
    y: NDArray[Any] | None
    names: list[str] | None
    format: str
    source: str
    target: str | None = None
    queries: NDArray[np.int64] | None = None
    weight: NDArray[np.float64] | None = None
    weight_name: str | None = None


@dataclass(frozen=True)
class Options:
    """Options for reading a file.

    Attributes
    ----------
    format : str or None
        One of READERS; by default it is detected.
    target : str, int or None
        The target's column in a table, by name or number, or "none"; see above for the default.
    header : bool or None
        Whether the first line of a CSV file holds names. By default it does if it has no number, or
        a word above a number.
    n_features : int or None
        The number of features of the model, if there is one.
    zero_based : bool or None
        Whether svmlight indices start at 0; by default the whole file decides.
    features : list of str or None
        Names of the features of the model or the ranges, if they have some.
    known_target : str or None
        Name of the target of the model or the ranges, if they have one.
    ignore : tuple of str
        Columns to leave out, by name or number; one text may hold several, separated by commas.
    weight : str, int or None
        The column of the sample weights, by name or number.
    source : str
        The file's name in messages.
    """

    format: str | None = None
    target: str | int | None = None
    header: bool | None = None
    n_features: int | None = None
    zero_based: bool | None = None
    features: list[str] | None = None
    known_target: str | None = None
    ignore: tuple[str, ...] = ()
    weight: str | int | None = None
    source: str = ""


class Roles(NamedTuple):
    """The role of each column, by position."""

    features: list[int]
    target: int | None
    weight: int | None


def from_columns(
    cells: list[NDArray[Any]],
    names: list[str] | None,
    options: Options,
    lines: list[int] | None,
    problems: list[Problem] | None = None,
) -> Data:
    """Return the data of a table; TableError with all problems, if there are some."""
    if names:
        check_names(names, options.source)
    roles = roles_of(len(cells), names, options)
    if not roles.features:
        raise ValueError(
            f"{options.source} has no column besides the target: fields of a line are separated by "
            "commas, semicolons or tabs"
        )
    needed, chosen = (
        options.n_features is not None or options.features is not None,
        options.target is not None,
    )
    columns = [
        Column(column, k + 1, names[k] if names else None, lines, needed, chosen)
        for k, column in enumerate(cells)
    ]
    parts = {k: as_numbers(columns[k]) for k in roles.features}
    wrong = [*(problems or []), *(problem for part in parts.values() for problem in part.problems)]
    kept = [k for k, part in parts.items() if not part.categories]
    data = Data(
        X=np.column_stack([parts[k].values for k in kept])
        if kept
        else np.empty((len(cells[0]), 0)),
        y=None if roles.target is None else as_target(cells[roles.target]),
        names=[names[k] for k in kept] if names else None,
        format=options.format or "",
        source=options.source,
        target=names[roles.target] if names and roles.target is not None else None,
        weight_name=names[roles.weight] if names and roles.weight is not None else None,
    )
    if roles.weight is not None:
        weights = as_weights(columns[roles.weight])
        data, wrong = data._replace(weight=weights.values), [*wrong, *weights.problems]
    if roles.target is not None:
        wrong += target_problems(columns[roles.target])
    if wrong:
        raise TableError(
            options.source,
            wrong,
            _sound(data, [] if roles.target is None else bad_targets(cells[roles.target])),
        )
    return data


def _sound(data: Data, bad_rows: list[int]) -> Data | None:
    """Return the rows without problems; None if there are none."""
    good = np.isfinite(data.X).all(axis=1)
    good[bad_rows] = False
    if data.weight is not None:
        good &= data.weight >= 0
    if not good.any() or not data.X.shape[1]:
        return None
    weight = None if data.weight is None else data.weight[good]
    return data._replace(
        X=data.X[good], y=None if data.y is None else as_target(data.y[good]), weight=weight
    )


def check_names(names: list[str], source: str) -> None:
    """Raise an error if two columns have the same name."""
    twice = (
        next((name for k, name in enumerate(names) if name in names[:k]), None)
        if len(set(names)) < len(names)
        else None
    )
    if twice is not None:
        raise ValueError(
            f"{source} has two columns called {twice!r}: give each column its own name"
        )


def roles_of(width: int, names: list[str] | None, options: Options) -> Roles:
    """Return which column is the target, which holds the weights, and which are features."""
    ignored = _ignored(width, names, options)
    weight = (
        None if options.weight is None else _place(options.weight, width, names, options.source)
    )
    wanted = (
        None
        if options.target in (None, "none")
        else _place(options.target, width, names, options.source)
    )
    for column, what in ((weight, "holds the weights"), (wanted, "is the target")):
        if column in ignored:
            raise ValueError(
                f"{_called(column, names)} of {options.source} {what} and cannot be ignored: "
                "choose one of the two"
            )
    if weight is not None and weight == wanted:
        raise ValueError(
            f"{_called(weight, names)} of {options.source} cannot be both the target and the "
            "weights"
        )
    rest = [k for k in range(width) if k not in ignored and k != weight]
    if names and options.features:
        return _for_a_model(rest, wanted, weight, names, options)
    target = wanted if options.target is not None else _usual_target(rest, names, options)
    return Roles([k for k in rest if k != target], target, weight)


def _ignored(width: int, names: list[str] | None, options: Options) -> set[int]:
    """Return the columns to leave out; a text that is not a column's name may list several."""
    known = names or []
    texts = [
        part.strip()
        for text in options.ignore
        for part in ([text] if text in known else text.split(","))
    ]
    return {_place(text, width, names, options.source) for text in texts}


def _for_a_model(
    rest: list[int], wanted: int | None, weight: int | None, names: list[str], options: Options
) -> Roles:
    """Find the features by name; warn about other columns that are not the target."""
    features = find_features([names[k] for k in rest], options.features or [], options.source)
    features = [rest[k] for k in features]
    left = [k for k in rest if k not in features]
    if wanted in features:
        raise ValueError(
            f"{names[wanted]!r} of {options.source} cannot be the target: it is a feature of the "
            "model"
        )
    target = wanted if options.target is not None else _named_target(left, names, options)
    stray = [names[k] for k in left if k != target]
    if stray:
        known = (
            "" if options.known_target is None else f", nor its target {options.known_target!r},"
        )
        warnings.warn(
            f"{options.source}: {_some(stray)} "
            f"{'is not a feature' if len(stray) == 1 else 'are not features'} of the model{known} "
            f"and {'is' if len(stray) == 1 else 'are'} left out (--ignore silences this, --target "
            "names a target)",
            stacklevel=2,
        )
    return Roles(features, target, weight)


def _named_target(columns: list[int], names: list[str] | None, options: Options) -> int | None:
    """Return the column with the name of the model's target, or a usual name."""
    if not names:
        return None
    exact = {names[k]: k for k in columns}
    if options.known_target in exact:
        return exact[options.known_target]
    lowered = {names[k].lower(): k for k in reversed(columns)}
    return next((lowered[name] for name in TARGET_NAMES if name in lowered), None)


def _usual_target(columns: list[int], names: list[str] | None, options: Options) -> int | None:
    """Return the target if none was chosen: by name, or else the last column.

    The last column is a guess and warns.
    """
    named = _named_target(columns, names, options)
    if named is not None or options.n_features == len(columns) or not columns:
        return named
    last = columns[-1]
    if len(columns) == 1:
        return last
    key = names[last] if names else str(last + 1)
    warnings.warn(
        f"{options.source}: {_called(last, names)}, the last one, is taken as the target; "
        f"--target {key} confirms this, --target none means no target",
        stacklevel=2,
    )
    return last


def _called(column: int | None, names: list[str] | None) -> str:
    """Return a column's name for messages."""
    assert column is not None
    return f"column {column + 1}" if names is None else f"column {names[column]!r}"


def find_features(names: list[str], wanted: list[str], source: str) -> list[int]:
    """Return the positions of the model's features among a table's columns."""
    place = {name: k for k, name in enumerate(names)}
    missing = [name for name in wanted if name not in place]
    if missing:
        raise ValueError(
            f"{source} has no column {_some(missing)}, which the training data had: its columns "
            f"are {_some(names)}"
        )
    return [place[name] for name in wanted]


def _some(names: list[str]) -> str:
    """Return the first names, for messages."""
    return ", ".join(repr(name) for name in names[:10]) + (
        f" and {len(names) - 10} more" if len(names) > 10 else ""
    )


def _place(wanted: str | int | None, width: int, names: list[str] | None, source: str) -> int:
    """Return the position of a column given by name or number."""
    if names and wanted in names:
        return names.index(str(wanted))
    try:
        number = int(str(wanted))
    except ValueError:
        known = (
            f"its columns are {', '.join(names[:20])}"
            if names
            else "it has no header, give the column's number"
        )
        hint = did_you_mean(wanted, names or [])
        raise ValueError(f"{source} has no column {wanted!r}: {known}.{hint}") from None
    if not 1 <= abs(number) <= width:
        raise ValueError(
            f"there is no column {number}: {source} has {width} columns, counted from 1, or from "
            "-1 at the right"
        )
    return number - 1 if number > 0 else width + number
