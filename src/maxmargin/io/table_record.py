"""TablePreparation in model files: medians, scales and categories, as data.

    {"class": "TablePreparation", "attributes": {"columns_": ..., "is_number_": ..., ...},
     "imputer": {"sparse": false, "medians": ..., "gaps": ...},
     "scaler": the record of a scaler,
     "encoder": {"min_frequency": 2, "max_categories": 100,
                 "columns": [{"words": ..., "missing": true, "rare": ...}, ...]}}

gaps are the columns of numbers with an indicator of missing values; rare says which values of a
column share a feature. scikit-learn keeps such states in private attributes, which differ between
its versions. So SimpleImputer and OneHotEncoder are fitted again when a file is read, to a few rows
that give them the same medians, gaps, values and rare values: a median of one number is that
number, and a value is rare if it occurs once.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

from maxmargin.core.arrays import Mask
from maxmargin.model_selection.tables import TablePreparation

NAME = TablePreparation.__name__
PLAIN = ("columns_", "is_number_", "missing_", "n_features_in_", "n_features_out_")
"""Attributes that are data."""
MOST_ROWS = 10**7
"""Rows that an encoder is fitted to again, at most."""


def state_of(table: TablePreparation) -> dict[str, Any]:
    """The fitted state of a preparation as plain values; its scaler is not part of it."""
    names = [*PLAIN, *(["feature_names_in_"] if hasattr(table, "feature_names_in_") else [])]
    found: dict[str, Any] = {"attributes": {name: getattr(table, name) for name in names}}
    if table.imputer_ is not None:
        indicator = table.imputer_.indicator_
        found["imputer"] = {
            "sparse": hasattr(table.scaler_, "max_abs_"),
            "medians": np.asarray(table.imputer_.statistics_, np.float64),
            "gaps": np.asarray(indicator.features_, np.int64),
        }
    if table.encoder_ is not None:
        found["encoder"] = {
            "min_frequency": table.encoder_.min_frequency,
            "max_categories": table.encoder_.max_categories,
            "columns": [
                _column(words, rare)
                for words, rare in zip(
                    table.encoder_.categories_, table.encoder_.infrequent_categories_, strict=True
                )
            ],
        }
    return found


def _column(words: NDArray[Any], rare: NDArray[Any] | None) -> dict[str, Any]:
    """The values of one column of categories."""
    few = set() if rare is None else set(rare.tolist())
    known = [word for word in words.tolist() if word is not None]
    return {
        "words": np.array(known, dtype=object),
        "missing": len(known) < len(words),
        "rare": np.array([word in few for word in words.tolist()], bool),
    }


def restored(state: dict[str, Any], scaler: Any) -> TablePreparation:
    """The preparation of a state; ValueError where its parts do not fit together."""
    table, attributes = TablePreparation(), state["attributes"]
    if not set(PLAIN) <= set(attributes) <= {*PLAIN, "feature_names_in_"}:
        raise ValueError("a table's preparation does not have the attributes of one.")
    for name, value in attributes.items():
        setattr(table, name, value)
    numbers = table.is_number_
    _require(_is_vector(numbers, np.bool_), "is_number_")
    width, count = len(numbers), int(numbers.sum())
    _require(type(table.n_features_in_) is int and table.n_features_in_ == width, "n_features_in_")
    _require(_names(table.columns_, width), "columns_")
    _require(_is_vector(table.missing_, np.int64) and len(table.missing_) == width, "missing_")
    if hasattr(table, "feature_names_in_"):
        _require(_names(table.feature_names_in_.tolist(), width), "feature_names_in_")
    table.imputer_, table.scaler_ = None, scaler
    if count:
        _require(scaler is not None and scaler.n_features_in_ == count, "scaler")
        table.imputer_ = _imputer(state["imputer"], count)
    _require((scaler is None) == (count == 0), "scaler")
    table.encoder_ = _encoder(state["encoder"], width - count) if count < width else None
    _require(_width(table, count) == table.n_features_out_, "n_features_out_")
    return table


def _imputer(state: dict[str, Any], count: int) -> SimpleImputer:
    """A median for each column, and indicators for those with gaps."""
    medians, gaps = state["medians"], state["gaps"]
    _require(_is_vector(medians, np.float64) and len(medians) == count, "medians")
    _require(np.isfinite(medians).all(), "medians")
    _require(_is_vector(gaps, np.int64) and bool((np.diff(gaps) > 0).all()), "gaps")
    _require(len(gaps) == 0 or (gaps[0] >= 0 and gaps[-1] < count), "gaps")
    _require(type(state["sparse"]) is bool, "imputer")
    rows: Any = np.vstack([medians, medians])
    rows[1, gaps] = np.nan
    if state["sparse"]:
        rows = sparse.csr_matrix(rows)
    made = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True).fit(rows)
    _require(np.array_equal(made.statistics_, medians), "medians")
    _require(np.array_equal(made.indicator_.features_, gaps), "gaps")
    return made


def _encoder(state: dict[str, Any], count: int) -> OneHotEncoder:
    """The values of each column, the rare ones together."""
    least, most, columns = state["min_frequency"], state["max_categories"], state["columns"]
    _require(type(least) is int and 2 <= least < MOST_ROWS, "min_frequency")
    _require(type(most) is int and most >= 1, "max_categories")
    _require(type(columns) is list and len(columns) == count, "encoder")
    parts = [_values(column) for column in columns]
    size = max(int(np.where(rare, 1, least).sum()) for _, rare in parts)
    _require(size <= MOST_ROWS, "encoder")
    rows = np.empty((size, count), object)
    for k, (words, rare) in enumerate(parts):
        often = np.where(rare, 1, least)
        if not rare.all():
            often[np.argmin(rare)] += size - int(often.sum())
        _require(int(often.sum()) == size, "rare")
        rows[:, k] = np.repeat(words, often)
    made = OneHotEncoder(
        handle_unknown="infrequent_if_exist", min_frequency=least, max_categories=most
    ).fit(rows)
    for found, rare, (words, few) in zip(
        made.categories_, made.infrequent_categories_, parts, strict=True
    ):
        _require(found.tolist() == words.tolist(), "words")
        _require(([] if rare is None else rare.tolist()) == words[few].tolist(), "rare")
    return made


def _values(column: dict[str, Any]) -> tuple[NDArray[Any], Mask]:
    """The values of a column, the missing one last, and which are rare."""
    words, rare = column["words"], column["rare"]
    _require(type(column["missing"]) is bool, "missing")
    _require(words.ndim == 1 and all(type(word) is str for word in words.tolist()), "words")
    values = np.array([*words.tolist(), *([None] if column["missing"] else [])], dtype=object)
    _require(_is_vector(rare, np.bool_) and len(rare) == len(values) > 0, "rare")
    return values, rare


def _width(table: TablePreparation, count: int) -> int:
    """The number of features that the parts give."""
    found = count + (0 if table.imputer_ is None else len(table.imputer_.indicator_.features_))
    if table.encoder_ is not None:
        for words, rare in zip(
            table.encoder_.categories_, table.encoder_.infrequent_categories_, strict=True
        ):
            found += len(words) - (0 if rare is None else len(rare) - 1)
    return found


def is_plain(table: TablePreparation) -> bool:
    """Whether each feature is a number of the table, filled and scaled."""
    return bool(table.is_number_.all()) and not len(table.imputer_.indicator_.features_)


def refuse_other_features(table: TablePreparation) -> None:
    """ValueError for a table with features other than its numbers."""
    if is_plain(table):
        return
    words = [name for name, kind in zip(table.columns_, table.is_number_, strict=True) if not kind]
    what = "categories" if words else "missing values, which have features of their own"
    which = words or [table.columns_[k] for k in table.imputer_.indicator_.features_]
    raise ValueError(
        f"The format takes numbers, and {len(which)} columns of the table hold {what} "
        f"({', '.join(map(repr, which[:3]))}): a .mm file (io.save) holds this model with its "
        "preparation, and so do exports to ONNX, C and JavaScript."
    )


def _is_vector(values: Any, dtype: Any) -> bool:
    return isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype == dtype


def _names(names: Any, count: int) -> bool:
    """Whether these are strings, one for each column."""
    return type(names) is list and len(names) == count and all(type(name) is str for name in names)


def _require(condition: Any, what: str) -> None:
    if not condition:
        raise ValueError(f"The preparation of a table is inconsistent: {what} is wrong.")
