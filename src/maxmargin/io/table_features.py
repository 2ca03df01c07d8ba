"""The features of AutoSVC's tables as exports compute them: numbers, indicators, categories.

    feature of a number       filled and scaled (the steps of preparation.py)
    feature of a gap          1 where a number is missing, else 0
    features of a category    1 in the place of its value, else 0

Rare values share a place, which unknown values get, too; without rare values they have none. They
are in this order: all numbers, all gaps, the categories column by column.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.arrays import Integers
from maxmargin.model_selection.tables import TablePreparation

NONE = -1
"""The place of a value without a feature."""


class Words(NamedTuple):
    """The places of a column's values among all features."""

    places: dict[str, int]
    missing: int
    other: int
    """That of values never seen."""
    begin: int
    end: int
    """Where the features of the column begin and end."""


class TableFeatures(NamedTuple):
    """Which columns a table has, and where their features are."""

    names: tuple[str, ...]
    numbers: Integers
    """The columns of numbers; the others hold categories."""
    gaps: Integers
    """Which of the numbers have an indicator."""
    words: tuple[Words, ...]
    """One for each column of categories."""

    @property
    def width(self) -> int:
        """The number of features."""
        return self.words[-1].end if self.words else len(self.numbers) + len(self.gaps)

    @property
    def categories(self) -> Integers:
        """The columns of categories."""
        return np.setdiff1d(np.arange(len(self.names)), self.numbers)


def features_of(table: TablePreparation) -> TableFeatures:
    """Where the features of a fitted table are."""
    numbers = np.flatnonzero(table.is_number_)
    gaps = np.empty(0, np.int64)
    if table.imputer_ is not None:
        gaps = np.asarray(table.imputer_.indicator_.features_, np.int64)
    begin, words = len(numbers) + len(gaps), []
    if table.encoder_ is not None:
        encoder = table.encoder_
        for values, rare in zip(encoder.categories_, encoder.infrequent_categories_, strict=True):
            words.append(_words(values.tolist(), [] if rare is None else rare.tolist(), begin))
            begin = words[-1].end
    return TableFeatures(tuple(map(str, table.columns_)), numbers, gaps, tuple(words))


def _words(values: list[str | None], rare: list[str | None], begin: int) -> Words:
    """The places of one column's values, in their order; the rare ones share the last."""
    frequent = [value for value in values if value not in rare]
    end = begin + len(frequent) + bool(rare)
    places = {value: begin + k for k, value in enumerate(frequent)}
    other = end - 1 if rare else NONE
    places |= dict.fromkeys(rare, other)
    missing = places.pop(None, other)
    return Words({str(word): place for word, place in places.items()}, missing, other, begin, end)
