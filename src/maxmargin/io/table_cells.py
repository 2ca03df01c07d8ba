"""The cells of a table as numbers.

A cell that is not a number is a problem with its place, cause and remedy. All problems are
collected.
"""

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.arrays import Floats
from maxmargin.io.svmlight_rows import Problem

MISSING = ("", "na", "n/a", "null", "none", "?", "nan")
"""Texts for a missing value, in lower case: neither a number nor the name of a column."""
DECIMAL_COMMA = re.compile(r"\s*[-+]?\d*,\d+\s*")
CATEGORIES = 0.5
"""A column with more than this fraction of words holds categories: one problem, not one per row."""
SHOWN = 3
"""Categories that a message shows."""


class Column(NamedTuple):
    """A column of a table: cells, number from 1 (0 if it is not a column), name and lines if any.

    It is needed if it is a feature of a model. It is chosen as a feature if the target is named.
    """

    cells: NDArray[Any]
    number: int
    name: str | None
    lines: list[int] | None
    needed: bool = False
    chosen: bool = False

    @property
    def label(self) -> str:
        """The column's name in messages."""
        return "this column" if self.name is None else repr(self.name)

    @property
    def key(self) -> str:
        """The column's name in options."""
        text = str(self.number) if self.name is None else self.name
        return f'"{text}"' if re.search(r"[^\w.+-]", text) else text

    def problem(self, row: int, message: str) -> Problem:
        """Return a problem of one cell."""
        if self.lines is not None:
            return Problem(self.lines[row], self.number, message)
        place = f"row {row + 1}, column {self.number}" if self.number else f"row {row + 1}"
        return Problem(0, self.number, f"{place}: {message}")


class Numbers(NamedTuple):
    """The values of a column, NaN where there is none, and its problems.

    It may hold categories instead of numbers.
    """

    values: Floats
    problems: list[Problem]
    categories: bool = False


def as_numbers(column: Column) -> Numbers:
    """Return the values of a column of numbers."""
    cells = column.cells
    if cells.dtype.kind in "biuf":
        values = cells.astype(np.float64)
    else:
        values = np.array([float(cell) if is_number(cell) else np.nan for cell in cells.tolist()])
    wrong = np.flatnonzero(~np.isfinite(values))
    if not len(wrong):
        return Numbers(values, [])
    kinds: dict[str, list[int]] = {}
    for row in wrong.tolist():
        kinds.setdefault(_kind(cells[row]), []).append(row)
    if len(kinds.get("words", [])) > CATEGORIES * len(cells):
        first = kinds["words"][0]
        return Numbers(
            values, [column.problem(first, _categories(column, kinds["words"]))], categories=True
        )
    problems = [
        column.problem(row, _cause(column, kind, row, len(rows)))
        for kind, rows in kinds.items()
        for row in rows
    ]
    return Numbers(values, problems)


def _kind(cell: Any) -> str:
    if is_missing(cell):
        return "missing"
    if is_number(cell):
        return "infinite"
    return "commas" if DECIMAL_COMMA.fullmatch(str(cell)) else "words"


def _cause(column: Column, kind: str, row: int, count: int) -> str:
    """Return what is wrong with a cell, and what to do about it."""
    cell = str(column.cells[row])
    out = "leave those rows out"
    out += "" if column.needed else f", or the column (--ignore {column.key})"
    if kind == "missing":
        return (
            f"{column.label} has no value here ({count} missing in this column): fill them, {out}"
        )
    if kind == "commas":
        return f"{column.label} has {cell!r}: write decimals with a point ({count} such values)"
    wrong = "finite" if kind == "infinite" else "a number"
    return (
        f"{column.label} has {cell!r}, which is not {wrong} ({count} such values): correct them, "
        f"{out}"
    )


def _categories(column: Column, rows: list[int]) -> str:
    words = list(dict.fromkeys(str(column.cells[row]) for row in rows))
    shown = ", ".join(map(repr, words[:SHOWN])) + ", ..." * (len(words) > SHOWN)
    out = "" if column.needed else f", or leave the column out (--ignore {column.key})"
    question = (
        "" if column.needed or column.chosen else f"; is it the target (--target {column.key})?"
    )
    return (
        f"{column.label} holds words ({shown}; {len(words)} different ones), but features are "
        f"numbers: encode categories as one column of 0 and 1 for each{out}{question}"
    )


def as_weights(column: Column) -> Numbers:
    """Return sample weights: numbers that are not negative."""
    found = as_numbers(column)
    negative = np.flatnonzero(found.values < 0).tolist()
    cause = (
        f"{column.label} has a negative weight ({len(negative)} such rows): weights count copies "
        "of a sample, 0 leaves it out"
    )
    return found._replace(
        problems=[*found.problems, *(column.problem(row, cause) for row in negative)]
    )


def bad_targets(cells: NDArray[Any]) -> list[int]:
    """Return the rows whose target is missing or infinite."""
    if cells.dtype.kind == "f":
        return np.flatnonzero(~np.isfinite(cells)).tolist()
    if cells.dtype.kind not in "OUS":
        return []
    labels = cells.tolist()
    numbers = all(_is_empty(cell) or is_number(cell) for cell in labels)
    return [
        row
        for row, cell in enumerate(labels)
        if _is_empty(cell) or (numbers and not np.isfinite(float(cell)))
    ]


def target_problems(column: Column) -> list[Problem]:
    """Return the problems of targets that are missing or infinite."""
    wrong = bad_targets(column.cells)
    cause = (
        f"the target is missing or infinite ({len(wrong)} such rows): fill it or leave those rows "
        "out"
    )
    return [column.problem(row, cause) for row in wrong]


def _is_empty(cell: Any) -> bool:
    """Whether a label is missing; NA and none may be labels."""
    return cell is None or cell != cell or str(cell).strip() == ""


def is_missing(cell: Any) -> bool:
    """Whether a cell marks a missing value."""
    return _is_empty(cell) or str(cell).strip().lower() in MISSING


def as_target(column: NDArray[Any]) -> NDArray[Any]:
    """Return targets as integers if all are, else as numbers if all are, else as text."""
    if column.dtype.kind in "OUS":
        text = [str(cell).strip() for cell in column.tolist()]
        if not all(is_number(cell) for cell in text):
            return np.array(text)
        column = np.array([float(cell) for cell in text])
    if column.dtype.kind == "b":
        return column.astype(np.int64)
    if column.dtype.kind != "f" or not np.isfinite(column).all():
        return column
    whole = (column == np.round(column)).all() and np.abs(column).max(initial=0) < 2**53
    return column.astype(np.int64) if whole else column


def is_number(cell: Any) -> bool:
    """Whether a cell is a number, as files write them."""
    try:
        float(cell)
    except (ValueError, TypeError):
        return False
    return "_" not in str(cell)  # files do not group digits as Python does


class TableError(ValueError):
    """A table with problems: the message is the first; all are kept, with the data without them.

    Attributes
    ----------
    problems : list of Problem
        In the order of their lines.
    data : Data or None
        The rows and columns that have no problem; None if there are none.
    """

    def __init__(self, source: str, problems: list[Problem], data: Any = None) -> None:
        self.problems = sorted(problems, key=lambda problem: (problem.line, problem.column))
        more = f"; {len(problems) - 1} more problems (maxmargin check)" if len(problems) > 1 else ""
        super().__init__(f"{source}, {self.problems[0]}{more}")
        self.data = data
