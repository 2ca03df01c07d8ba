"""Diagnosis of a data file: every problem with its line and column, and advice for training.

To find all problems, svmlight files are parsed line by line after a problem and tables cell by
cell. A column of words is one problem.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.core.arrays import Floats
from maxmargin.io.svmlight import SvmlightChunks
from maxmargin.io.svmlight_rows import Problem, Rows, joined
from maxmargin.io.table_cells import TableError
from maxmargin.io.table_columns import Data
from maxmargin.io.table_formats import chunks_of
from maxmargin.io.table_roles import Options
from maxmargin.io.tables import format_of, local_file, read_local
from maxmargin.model_selection import findings

BLOCK = 2**20
"""Bytes of text parsed at once; small, because the text after a problem is parsed again."""


@dataclass
class Findings:
    """The result of a diagnosis.

    Attributes
    ----------
    data : Data or None
        The data, without the lines that have problems; None if nothing could be read.
    problems : list of Problem
        At most as many as requested.
    complete : bool
        Whether the whole file was read.
    """

    data: Data | None = None
    problems: list[Problem] = field(default_factory=list)
    complete: bool = True


def examine(path: str | Path, options: Options, most: int = 100) -> Findings:
    """Read a data file and collect its problems.

    Parameters
    ----------
    path : str or Path
        "-" is standard input.
    options : Options
    most : int, default=100
        Stop after this many problems.

    Returns
    -------
    findings : Findings
    """
    with local_file(path) as (file, source):
        options = replace(options, source=source)
        if (options.format or format_of(file)) == "svmlight":
            return _examine_text(replace(chunks_of(file, options), block_bytes=BLOCK), most)
        try:
            return Findings(read_local(file, options))
        except TableError as error:
            problems = error.problems
            return Findings(error.data, problems[:most], len(problems) <= most)
        except ValueError as error:
            return Findings(problems=[Problem(0, 0, str(error))])


def _examine_text(chunks: SvmlightChunks, most: int) -> Findings:
    found, parts = Findings(), []
    for item in _readable(chunks):
        if isinstance(item, Problem):
            found.problems.append(item)
            if len(found.problems) >= most:
                found.complete = False
                break
        else:
            parts.append(item)
    rows = joined(parts)
    try:
        layout = chunks.layout_of(len(rows.targets), rows.least, rows.greatest)
    except ValueError as error:
        found.problems.append(Problem(0, 0, str(error)))
        return found
    X = rows.matrix(layout, np.float64)
    found.data = Data(X, rows.targets, None, "svmlight", chunks.name)
    return found


def _readable(chunks: SvmlightChunks) -> Iterator[Rows | Problem]:
    """Yield rows and problems; an error that ends the reading (damaged file) is a problem too."""
    try:
        yield from chunks.parsed()
    except ValueError as error:
        yield Problem(0, 0, str(error))


# ---- statistics ----------------------------------------------------------------------------------


def statistics(data: Data) -> dict[str, Any]:
    """Return statistics of a data set: its size, its features, its targets."""
    n, d = data.X.shape
    columns, X = _occurring(data.X)
    entries = X.nnz if sparse.issparse(X) else int(np.count_nonzero(X))
    least, greatest = extremes(X)
    constant = least == greatest
    size = np.maximum(np.abs(least), np.abs(greatest))[~constant]
    factor = float(size.max() / size.min()) if len(size) and size.min() > 0 else 1.0
    shown = np.setdiff1d(np.arange(min(d, len(columns) + 20)), columns[~constant])
    found = {
        "samples": n,
        "features": d,
        "non_zeros": entries,
        "density": entries / (n * d) if n and d else 0.0,
        "least_value": float(least.min(initial=np.inf)) if len(least) else None,
        "greatest_value": float(greatest.max(initial=-np.inf)) if len(least) else None,
        "constant_features": [_name(data, k) for k in shown[:20]],
        "constant_count": d - int(np.sum(~constant)),
        "scale_factor": factor,
        "unscaled": factor > findings.SETTINGS.unscaled,
        "duplicates": duplicates(data.X),
    }
    if data.y is None:
        return found
    about = _target_statistics(data.y)
    contradictions = findings.contradictions(data.X, data.y, about["target"] == "classes")
    text = None if contradictions is None else str(contradictions)
    return {**found, **about, "contradictions": text}


def _occurring(X: Any) -> tuple[NDArray[Any], Any]:
    """Return the features that are not zero everywhere, and X without the others.

    A huge index given by mistake thus takes no memory.
    """
    if not sparse.issparse(X):
        return np.arange(X.shape[1]), np.asarray(X)
    X = X.tocsr()
    columns, inverse = np.unique(X.indices, return_inverse=True)
    return columns, sparse.csr_matrix(
        (X.data, inverse, X.indptr), shape=(X.shape[0], max(len(columns), 1))
    )


def extremes(X: Any) -> tuple[Floats, Floats]:
    """Return the least and the greatest value of each feature."""
    least, greatest = (
        np.asarray(end.todense() if sparse.issparse(end) else end, float).ravel()
        for end in (X.min(axis=0), X.max(axis=0))
    )
    return least, greatest


def _name(data: Data, k: int) -> str:
    return data.names[k] if data.names else str(k + 1)


def duplicates(X: Any) -> int:
    """Return how many rows are copies of an earlier one."""
    rows: set[Any] = set()
    if sparse.issparse(X):
        X = X.tocsr()
        bounds = list(zip(X.indptr[:-1], X.indptr[1:], strict=True))
        rows.update((X.indices[a:b].tobytes(), X.data[a:b].tobytes()) for a, b in bounds)
    else:
        rows.update(row.tobytes() for row in np.ascontiguousarray(X, float))
    return int(X.shape[0] - len(rows))


def _target_statistics(y: NDArray[Any]) -> dict[str, Any]:
    values, counts = np.unique(y, return_counts=True)
    whole = y.dtype.kind in "USbiu" or bool((y == np.round(y)).all())
    if whole and len(values) <= max(20, len(y) // 20):
        shown = {
            str(value): int(count) for value, count in zip(values[:50], counts[:50], strict=True)
        }
        return {
            "target": "classes",
            "classes": len(values),
            "balance": shown,
            "smallest_class": float(counts.min() / len(y)),
        }
    z = y.astype(float)
    return {
        "target": "numbers",
        "target_mean": float(z.mean()),
        "target_deviation": float(z.std()),
        "target_range": [float(z.min()), float(z.max())],
    }


def advice(numbers: dict[str, Any]) -> list[str]:
    """Return advice that follows from the statistics."""
    found = []
    if numbers["unscaled"]:
        found.append(
            f"features differ in size by a factor of {numbers['scale_factor']:.3g}: scale them "
            "(maxmargin scale)"
        )
    if numbers["constant_count"]:
        found.append(
            f"{numbers['constant_count']} features are constant and carry no information: "
            f"{', '.join(numbers['constant_features'])}"
        )
    if numbers["duplicates"]:
        found.append(
            f"{numbers['duplicates']} rows are copies of others: make sure that no copy is in both "
            "training and test data"
        )
    if numbers.get("contradictions"):
        found.append(numbers["contradictions"])
    if numbers.get("classes") == 1:
        found.append("all targets are the same: nothing can be learnt")
    elif numbers.get("smallest_class", 1.0) < 0.1:
        found.append(
            f"the smallest class holds {numbers['smallest_class']:.1%} of the samples: consider "
            "--class-weight balanced"
        )
    return found
