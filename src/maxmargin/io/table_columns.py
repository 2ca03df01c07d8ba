"""The columns of a table as X, y, weights and names; table_roles.py says which column is what."""

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
from maxmargin.io.table_roles import Options, check_names, roles_of


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
    needed = options.n_features is not None or options.features is not None
    chosen = options.target is not None
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
    if roles.query is not None:
        data = data._replace(queries=_queries(columns[roles.query], options.source))
    if roles.target is not None:
        wrong += target_problems(columns[roles.target])
    if wrong:
        bad = [] if roles.target is None else bad_targets(cells[roles.target])
        raise TableError(options.source, wrong, _sound(data, bad))
    return data


def _queries(column: Column, source: str) -> NDArray[np.int64]:
    """Return the query of each row as a number from 0 on."""
    labels = column.cells.astype(str)
    missing = np.flatnonzero(np.isin(labels, ("", "nan", "None")))
    if len(missing):
        raise ValueError(
            f"{source}: {column.label} holds the queries and is empty in {len(missing)} rows, the "
            f"first is row {missing[0] + 1}: give each row its query"
        )
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _sound(data: Data, bad_rows: list[int]) -> Data | None:
    """Return the rows without problems; None if there are none."""
    good = np.isfinite(data.X).all(axis=1)
    good[bad_rows] = False
    if data.weight is not None:
        good &= data.weight >= 0
    if not good.any() or not data.X.shape[1]:
        return None
    y = None if data.y is None else as_target(data.y[good])
    weight = None if data.weight is None else data.weight[good]
    queries = None if data.queries is None else data.queries[good]
    return data._replace(X=data.X[good], y=y, weight=weight, queries=queries)
