"""The features of tables in ONNX: numbers in the input X, categories in the input of that name.

A category is looked up in a table of numbers (LabelEncoder), which choose a row of 0 and 1. ONNX
has no missing strings, so the empty string stands for a missing value. In a column that has empty
words itself, and none missing, a missing value is one that was never seen, as any other new word.
"""

import json
from typing import Any

import numpy as np

from maxmargin.io.table_features import NONE, TableFeatures, Words

CATEGORIES = "categories"
"""The name of the input."""
DOMAIN = "ai.onnx.ml"
"""Where LabelEncoder is."""
VERSION = {DOMAIN: 2}


def inputs(onnx: Any, table: TableFeatures) -> list[Any]:
    """The inputs of the graph: numbers if there are any, and words."""
    kinds, found = onnx.TensorProto, []
    for name, kind, count in (
        ("X", kinds.DOUBLE, len(table.numbers)),
        (CATEGORIES, kinds.STRING, len(table.categories)),
    ):
        if count:
            found.append(onnx.helper.make_tensor_value_info(name, kind, ["n", count]))
    return found


def columns(table: TableFeatures) -> dict[str, str]:
    """The names of the columns of each input, as metadata of the graph."""
    named = {"X": table.numbers, CATEGORIES: table.categories}
    return {key: json.dumps([table.names[k] for k in some]) for key, some in named.items()}


def features(g: Any, table: TableFeatures, scaled: str) -> str:
    """All features, from the numbers after their preparation."""
    parts = [scaled] if len(table.numbers) else []
    if len(table.gaps):
        missing = g.op("IsNaN", g.op("Gather", "X", table.gaps, axis=1))
        parts.append(g.op("Cast", missing, to=g.onnx.TensorProto.DOUBLE))
    for k, words in enumerate(table.words):
        column = g.op("Squeeze", g.op("Gather", CATEGORIES, np.array([k]), axis=1), np.array([1]))
        parts.append(_one_hot(g, column, words, table.names[table.categories[k]]))
    return parts[0] if len(parts) == 1 else str(g.op("Concat", *parts, axis=1))


def _one_hot(g: Any, column: str, words: Words, name: str) -> str:
    """The features of one column of categories."""
    places, width = dict(words.places), words.end - words.begin
    if "" in places and words.missing not in (words.other, places[""]):
        raise ValueError(
            f"Column {name!r} has empty words and missing values, which ONNX does not tell apart: "
            "replace one of them before the fit."
        )
    places.setdefault("", words.missing)
    row = {place: place - words.begin if place != NONE else width for place in places.values()}
    number = g.op(
        "LabelEncoder",
        column,
        domain=DOMAIN,
        keys_strings=list(places),
        values_int64s=[row[place] for place in places.values()],
        default_int64=width if words.other == NONE else words.other - words.begin,
    )
    return str(g.op("Gather", np.eye(width + 1, width), number, axis=0))  # the last row is 0
