"""The preparation of a model: scikit-learn's scalers, in a pipeline before it.

Each scaler maps every feature on its own:

    StandardScaler    z = (x - mean_) / scale_
    RobustScaler      z = (x - center_) / scale_
    MinMaxScaler      z = x scale_ + min_,  with clip=True inside feature_range
    MaxAbsScaler      z = x / scale_,       with clip=True inside [-1, 1]

So a preparation is a list of operations with a number for each feature. Exports apply them in this
order, with the rounding of the scalers. Files (.mm) hold the scalers themselves, their parameters
and those of their attributes that are listed here.

The preparation of a table (AutoSVC) fills missing numbers with their medians before it scales. Its
indicators and categories make other features, which exports compute (table_features.py) and formats
of other programs refuse.
"""

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from maxmargin.core.arrays import Floats
from maxmargin.estimators.records import of_best
from maxmargin.io import table_record
from maxmargin.io.table_features import TableFeatures, features_of
from maxmargin.model_selection.tables import TablePreparation


class Operation(Enum):
    """What is done with a feature and a number."""

    SUBTRACT = "-"
    ADD = "+"
    MULTIPLY = "*"
    DIVIDE = "/"
    AT_LEAST = "max"
    AT_MOST = "min"
    FILL = "in place of NaN"


class Step(NamedTuple):
    """An operation with a number for each feature."""

    operation: Operation
    numbers: Floats


Plain = Iterator[tuple[Operation, Any]]


def _standard(scaler: Any) -> Plain:
    if scaler.with_mean:
        yield Operation.SUBTRACT, scaler.mean_
    if scaler.with_std:
        yield Operation.DIVIDE, scaler.scale_


def _robust(scaler: Any) -> Plain:
    if scaler.with_centering:
        yield Operation.SUBTRACT, scaler.center_
    if scaler.with_scaling:
        yield Operation.DIVIDE, scaler.scale_


def _min_max(scaler: Any) -> Plain:
    yield Operation.MULTIPLY, scaler.scale_
    yield Operation.ADD, scaler.min_
    if scaler.clip:
        yield Operation.AT_LEAST, scaler.feature_range[0]
        yield Operation.AT_MOST, scaler.feature_range[1]


def _max_abs(scaler: Any) -> Plain:
    yield Operation.DIVIDE, scaler.scale_
    if getattr(scaler, "clip", False):  # a parameter of newer versions of scikit-learn
        yield Operation.AT_LEAST, -1.0
        yield Operation.AT_MOST, 1.0


class Scaler(NamedTuple):
    """A scaler that files and exports know."""

    cls: Any
    operations: Callable[[Any], Plain]
    numbers: tuple[str, ...]
    """Fitted attributes with a number for each feature; None where the parameters ask for none."""


SCALERS = {
    entry.cls.__name__: entry
    for entry in (
        Scaler(StandardScaler, _standard, ("mean_", "var_", "scale_")),
        Scaler(RobustScaler, _robust, ("center_", "scale_")),
        Scaler(MinMaxScaler, _min_max, ("min_", "scale_", "data_min_", "data_max_", "data_range_")),
        Scaler(MaxAbsScaler, _max_abs, ("scale_", "max_abs_")),
    )
}
COMMON = ("n_features_in_", "feature_names_in_", "n_samples_seen_", "_sklearn_output_config")
"""Attributes that any scaler may have."""
OUTPUTS = ("default", "pandas", "polars")
"""What ``set_output`` makes a scaler return."""


def entry_of(step: Any) -> Scaler:
    """The entry of a step; TypeError for what is not a scaler of the list."""
    entry = SCALERS.get(type(step).__name__)
    if entry is None or type(step) is not entry.cls:
        name = step if isinstance(step, str) else type(step).__name__
        raise TypeError(
            f"{name} cannot be part of a model file or an export, which know the scalers "
            f"{', '.join(SCALERS)}: save or export the last step of the pipeline here, and the "
            "steps before it, which every prediction needs, in another way."
        )
    return entry


def is_prepared(model: Any) -> bool:
    """Whether a model is a pipeline."""
    return isinstance(model, Pipeline)


def parts_of(model: Any) -> tuple[list[Any], Any]:
    """The scalers of a model, in their order, and the estimator after them."""
    scalers: list[Any] = []
    model = of_best(model)
    while is_prepared(model):
        scalers += [step for _, step in model.steps[:-1]]
        model = of_best(model.steps[-1][1])
    return scalers, model


def with_last(pipeline: Any, convert: Callable[[Any], Any]) -> Any:
    """The same pipeline with its last step converted."""
    *steps, (name, last) = pipeline.steps
    return Pipeline([*steps, (name, convert(last))])


def steps_of(scalers: Sequence[Any]) -> list[Step]:
    """The operations of fitted scalers, one after the other."""
    found = []
    for scaler in scalers:
        if type(scaler) is TablePreparation:
            table_record.refuse_other_features(scaler)
            found += number_steps(scaler)
            continue
        entry = entry_of(scaler)
        check_scaler(scaler)
        for operation, numbers in entry.operations(scaler):
            each = np.broadcast_to(np.asarray(numbers, np.float64), (scaler.n_features_in_,))
            found.append(Step(operation, each))
    return found


def number_steps(table: TablePreparation) -> list[Step]:
    """The operations of a table's numbers."""
    if table.imputer_ is None:
        return []
    return [Step(Operation.FILL, table.imputer_.statistics_), *steps_of([table.scaler_])]


def table_steps(scalers: Sequence[Any]) -> tuple[list[Step], TableFeatures | None]:
    """The operations of scalers; of a table those of its numbers, and where its features are."""
    table = scalers[0] if scalers else None
    if type(table) is not TablePreparation or table_record.is_plain(table):
        return steps_of(scalers), None
    if len(scalers) > 1:
        raise ValueError("Exports know no scaler after the preparation of a table.")
    return number_steps(table), features_of(table)


def affine(steps: Sequence[Step], n_features: int) -> tuple[Floats, Floats]:
    """Factor and shift of z = factor x + shift, rounded; ValueError where a step clips.

    NaN need not be filled: the formats that this is for have no missing values.
    """
    factor, shift = np.ones(n_features), np.zeros(n_features)
    for operation, numbers in steps:
        if operation is Operation.MULTIPLY:
            factor, shift = factor * numbers, shift * numbers
        elif operation is Operation.DIVIDE:
            factor, shift = factor / numbers, shift / numbers
        elif operation in (Operation.ADD, Operation.SUBTRACT):
            shift = shift + (numbers if operation is Operation.ADD else -numbers)
        elif operation is not Operation.FILL:
            raise ValueError(
                "a scaler with clip=True is not linear, and the format holds linear functions "
                "only: use a .mm file, or a scaler with clip=False."
            )
    return factor, shift


def check_scaler(scaler: Any) -> None:
    """Raise ValueError unless the fitted attributes of a scaler fit together."""
    entry = entry_of(scaler)
    has, name = vars(scaler), type(scaler).__name__
    odd = sorted(set(has) - set(entry.numbers) - set(COMMON) - set(scaler.get_params()))
    _require(not odd, name, odd[0][:40] if odd else "")
    width = has.get("n_features_in_")
    _require(type(width) is int and width >= 0, name, "n_features_in_")
    for key in entry.numbers:
        _require(_numbers(has.get(key), width), name, key)
    _require("scale_" in has, name, "scale_")
    _require(has["scale_"] is None or bool((has["scale_"] != 0).all()), name, "scale_")
    for operation, numbers in entry.operations(scaler):
        _require(numbers is not None, name, f"what it needs to {operation.name.lower()}")
    if "feature_names_in_" in has:
        names = has["feature_names_in_"]
        good = isinstance(names, np.ndarray) and names.shape == (width,)
        _require(good and all(type(one) is str for one in names), name, "feature_names_in_")
    seen = has.get("n_samples_seen_", 0)
    _require(np.shape(seen) in ((), (width,)) and np.asarray(seen).dtype.kind in "iuf", name, "n")
    output = has.get("_sklearn_output_config", {"transform": "default"})
    good = type(output) is dict and list(output) == ["transform"] and output["transform"] in OUTPUTS
    _require(good, name, "_sklearn_output_config")


def _numbers(values: Any, width: Any) -> bool:
    """Whether values are finite numbers, one for each feature; None stands for none."""
    return values is None or bool(
        isinstance(values, np.ndarray)
        and values.shape == (width,)
        and values.dtype.kind == "f"
        and np.isfinite(values).all()
    )


def _require(condition: Any, name: str, what: str) -> None:
    if not condition:
        raise ValueError(f"The internal representation of {name} is inconsistent: {what} is wrong.")
