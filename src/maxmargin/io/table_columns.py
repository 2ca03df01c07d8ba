"""The columns of a table as X, y, weights and names: some are left out, one is the target, one may
be the weights, the others are numbers.

Columns are named, or counted from 1 (from the right if negative), as they stand in the file. Where
no target is named, it is the one whose name the model remembers, or else that called target, label,
class or y. If there is none, a table without a model has its target in the last column, and a table
with one more column than the model has features, too: that is a guess, and warns. "none" means that
there is no target.

Where a model (or a file of ranges) knows its features' names and the table has names, the features
are found by name, in whatever order they stand. Columns that are left are not needed: they are left
out with a warning, never taken for the target.
"""

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.io.svmlight import Problem
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
    """A data set: X an array or CSR, y its targets.

    Names, queries (qid) and sample weights if it has some; and where it was read.
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
    """How a file is to be read.

    Attributes
    ----------
    format : str or None
        One of READERS; None is found out.
    target : str, int or None
        The target's column in a table, by name or by number, or "none"; None is the usual one.
    header : bool or None
        Whether the first line of a CSV file holds names; None is yes if it holds no number, or a
        word over one.
    n_features : int or None
        How many features the model has, where there is one.
    zero_based : bool or None
        Whether svmlight indices begin at 0; None is found out on the whole file.
    features : list of str or None
        The names of the features that the model or the ranges were made from, where they know them.
    known_target : str or None
        The name of the target that the model or the ranges were made with, where they know it.
    ignore : tuple of str
        Columns to leave out, by name or by number; several in one text are separated by commas.
    weight : str, int or None
        The column of the sample weights, by name or by number.
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
    """Which column is what, by position."""

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
    """The data of a table.

    A TableError with all problems, those of its lines included, if there are some.
    """
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
    """The rows that have no problem; None if there are none."""
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
    """Each name is that of one column."""
    twice = (
        next((name for k, name in enumerate(names) if name in names[:k]), None)
        if len(set(names)) < len(names)
        else None
    )
    if twice is not None:
        raise ValueError(
            f"{source} has two columns called {twice!r}: give each column a name of its own"
        )


def roles_of(width: int, names: list[str] | None, options: Options) -> Roles:
    """Which column is the target, which holds the weights, and which are features."""
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
                f"{_called(column, names)} of {options.source} {what}, and is to be ignored: "
                "choose one of them"
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
    """The columns to leave out; a text that is no column's name may name several."""
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
    """The features by their names; what is left and not the target is left out with a warning."""
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
            f"{'is no feature' if len(stray) == 1 else 'are no features'} of the model{known} and "
            f"{'is' if len(stray) == 1 else 'are'} left out (--ignore silences this, --target "
            "names a target)",
            stacklevel=2,
        )
    return Roles(features, target, weight)


def _named_target(columns: list[int], names: list[str] | None, options: Options) -> int | None:
    """The column that bears the name of the model's target, or a usual one."""
    if not names:
        return None
    exact = {names[k]: k for k in columns}
    if options.known_target in exact:
        return exact[options.known_target]
    lowered = {names[k].lower(): k for k in reversed(columns)}
    return next((lowered[name] for name in TARGET_NAMES if name in lowered), None)


def _usual_target(columns: list[int], names: list[str] | None, options: Options) -> int | None:
    """The target where none was chosen.

    By its name, or else the last column, which is a guess and warns.
    """
    named = _named_target(columns, names, options)
    if named is not None or options.n_features == len(columns) or not columns:
        return named
    last = columns[-1]
    if len(columns) == 1:
        return last
    key = names[last] if names else str(last + 1)
    warnings.warn(
        f"{options.source}: {_called(last, names)}, the last one, is taken for the target; "
        f"--target {key} says so, --target none that "
        "there is none",
        stacklevel=2,
    )
    return last


def _called(column: int | None, names: list[str] | None) -> str:
    """A column in messages."""
    assert column is not None
    return f"column {column + 1}" if names is None else f"column {names[column]!r}"


def find_features(names: list[str], wanted: list[str], source: str) -> list[int]:
    """Where the model's features stand among a table's columns."""
    place = {name: k for k, name in enumerate(names)}
    missing = [name for name in wanted if name not in place]
    if missing:
        raise ValueError(
            f"{source} has no column {_some(missing)}, as the training data had: its columns are "
            f"{_some(names)}"
        )
    return [place[name] for name in wanted]


def _some(names: list[str]) -> str:
    """The first names, for messages."""
    return ", ".join(repr(name) for name in names[:10]) + (
        f" and {len(names) - 10} more" if len(names) > 10 else ""
    )


def _place(wanted: str | int | None, width: int, names: list[str] | None, source: str) -> int:
    """The position of a column that is named or counted."""
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
