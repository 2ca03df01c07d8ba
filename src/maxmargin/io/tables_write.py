"""Writing the data files that tables.py reads, atomically. A format is one entry of WRITERS."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from scipy import sparse

from maxmargin.io.files import compressed_write
from maxmargin.io.svmlight_write import dump_svmlight
from maxmargin.io.table_columns import Data
from maxmargin.io.tables import ENDINGS, check_format, ending_of

MOST_DENSE = 2**28
"""Sparse data with more values, including zeros, are not written to formats that store zeros."""


def write_table(
    data: Data, path: str | Path, format: str | None = None, zero_based: bool = False
) -> str:
    """Write a data file; the target is the last column of a table.

    Parameters
    ----------
    data : Data
    path : str or Path
        File to write; "-" is standard output. The suffixes .gz, .bz2, .xz and .zst compress it.
    format : str, default=None
        One of WRITERS; by default the suffix of the name decides, and svmlight if it does not.
    zero_based : bool, default=False
        Whether svmlight indices start at 0.

    Returns
    -------
    format : str
        The format of the file.
    """
    path = Path(path)
    kind = format or ENDINGS.get(ending_of(path), "svmlight")
    check_format(kind, WRITERS)
    if data.weight is not None and kind not in ("csv", "tsv", "parquet"):
        raise ValueError(
            f"{data.source} has weights, which only CSV, TSV and Parquet files hold here: write "
            "one of these"
        )
    if zero_based and kind != "svmlight":
        raise ValueError(f"indices from 0 are an option of svmlight files, not of {kind}")
    if kind == "svmlight":
        if data.y is None:
            raise ValueError(
                f"{data.source} has no target, but each line of an svmlight file begins with one: "
                "choose another format"
            )
        dump_svmlight(data.X, data.y, path, zero_based=zero_based, query_id=data.queries)
    elif data.queries is not None:
        raise ValueError(
            f"{data.source} has queries (qid), which only svmlight files hold: write one of these"
        )
    else:
        with compressed_write(path) as file:
            WRITERS[kind](data, file)
    return kind


def _columns(data: Data) -> tuple[list[str], Any]:
    """Return the names of a table's columns, and the values of the features and weights.

    Features come first, then the weights and the target.
    """
    if sparse.issparse(data.X) and np.prod(data.X.shape, dtype=float) > MOST_DENSE:
        size = f"{data.X.shape[0]} x {data.X.shape[1]}"
        raise ValueError(
            f"{data.source} is sparse, but all {size} values would be written: use svmlight or .npz"
        )
    X = data.X.toarray() if sparse.issparse(data.X) else np.asarray(data.X)
    names, target = data.names or [f"x{k + 1}" for k in range(X.shape[1])], data.target or "target"
    if data.weight is not None:
        names, X = [*names, data.weight_name or "weight"], np.column_stack([X, data.weight])
    if data.y is None:
        return names, X
    if target in names:
        raise ValueError(
            f"{data.source}: a feature is called {target!r}, like the target's column: give it "
            "another name"
        )
    return [*names, target], X


def _write_delimited(delimiter: str) -> Callable[[Data, BinaryIO], None]:
    def write(data: Data, file: BinaryIO) -> None:
        names, X = _columns(data)
        text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
        out = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        out.writerow(names)
        for k, row in enumerate(X.tolist()):  # Python's repr of a float reads back exactly
            out.writerow(row if data.y is None else [*row, data.y[k].item()])
        text.detach()

    return write


def _write_npy(data: Data, file: BinaryIO) -> None:
    _, X = _columns(data)
    if data.y is not None and data.y.dtype.kind not in "biuf":
        raise ValueError("an .npy file holds numbers only, but these targets are words: write .npz")
    np.save(file, X if data.y is None else np.column_stack([X, data.y]), allow_pickle=False)


def _write_npz(data: Data, file: BinaryIO) -> None:
    arrays: dict[str, Any] = {"X": data.X}
    if sparse.issparse(data.X):
        X = data.X.tocsr()
        arrays = {
            "data": X.data,
            "indices": X.indices,
            "indptr": X.indptr,
            "shape": np.array(X.shape),
            "format": np.array("csr"),
        }
    if data.y is not None:
        arrays["y"] = data.y
    if data.names:
        arrays["names"] = np.array(data.names)
    packed = io.BytesIO()  # a pipe cannot seek
    np.savez_compressed(packed, **arrays)
    file.write(packed.getvalue())


def _write_parquet(data: Data, file: BinaryIO) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as missing:
        raise ImportError("Parquet files need pyarrow: pip install pyarrow.") from missing
    names, X = _columns(data)
    columns = [*X.T, *([] if data.y is None else [data.y])]
    packed = io.BytesIO()
    parquet.write_table(pyarrow.table(dict(zip(names, columns, strict=True))), packed)
    file.write(packed.getvalue())


WRITERS: dict[str, Callable[[Data, BinaryIO], None]] = {
    "svmlight": lambda data, file: None,  # dump_svmlight opens the file itself
    "csv": _write_delimited(","),
    "tsv": _write_delimited("\t"),
    "npy": _write_npy,
    "npz": _write_npz,
    "parquet": _write_parquet,
}
"""The formats that are written."""
