"""Writing data files: what tables.py reads. A format is one entry of WRITERS.

Every file is written whole or not at all.
"""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from scipy import sparse

from maxmargin.io.files import compressed_write
from maxmargin.io.svmlight_write import dump_svmlight
from maxmargin.io.tables import ENDINGS, Data, ending_of
from maxmargin.suggestions import did_you_mean

MOST_DENSE = 2**28
"""Sparse data with more values, the zeros counted, are not written where zeros are."""


def write_table(
    data: Data, path: str | Path, format: str | None = None, zero_based: bool = False
) -> str:
    """Write a data file; the target is the last column of a table.

    Parameters
    ----------
    data : Data
    path : str or Path
        Names that end in .gz, .bz2, .xz or .zst are compressed; "-" is standard output.
    format : str, default=None
        One of WRITERS; by default what the name's ending says, svmlight if it says nothing.
    zero_based : bool, default=False
        Whether svmlight indices begin at 0.

    Returns
    -------
    format : str
        What was written.
    """
    path = Path(path)
    kind = format or ENDINGS.get(ending_of(path), "svmlight")
    if kind not in WRITERS:
        raise ValueError(
            f"the data format must be one of {', '.join(WRITERS)}, got "
            f"{kind!r}.{did_you_mean(kind, WRITERS)}"
        )
    if data.weight is not None and kind not in ("csv", "tsv", "parquet"):
        raise ValueError(
            f"{data.source} has weights, and only CSV, TSV and Parquet files hold them here: write "
            "one"
        )
    if zero_based and kind != "svmlight":
        raise ValueError(f"indices from 0 are a matter of svmlight files, not of {kind}")
    if kind == "svmlight":
        if data.y is None:
            raise ValueError(
                f"{data.source} has no target, and each line of an svmlight file begins with one: "
                "choose another format"
            )
        dump_svmlight(data.X, data.y, path, zero_based=zero_based, query_id=data.queries)
    elif data.queries is not None:
        raise ValueError(
            f"{data.source} has queries (qid), and only svmlight files hold them: write one"
        )
    else:
        with compressed_write(path) as file:
            WRITERS[kind](data, file)
    return kind


def _columns(data: Data) -> tuple[list[str], Any]:
    """Names of a table's columns, features first, then the weights and the target, and the values
    of the first two.
    """
    if sparse.issparse(data.X) and np.prod(data.X.shape, dtype=float) > MOST_DENSE:
        size = f"{data.X.shape[0]} x {data.X.shape[1]}"
        raise ValueError(
            f"{data.source} is sparse, and all {size} values would be written: use svmlight or .npz"
        )
    X = data.X.toarray() if sparse.issparse(data.X) else np.asarray(data.X)
    names, target = data.names or [f"x{k + 1}" for k in range(X.shape[1])], data.target or "target"
    if data.weight is not None:
        names, X = [*names, data.weight_name or "weight"], np.column_stack([X, data.weight])
    if data.y is None:
        return names, X
    if target in names:
        raise ValueError(
            f"{data.source}: a feature is called {target!r}, as the target's column is to be: give "
            "it another name"
        )
    return [*names, target], X


def _write_delimited(delimiter: str) -> Callable[[Data, BinaryIO], None]:
    def write(data: Data, file: BinaryIO) -> None:
        names, X = _columns(data)
        text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
        out = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        out.writerow(names)
        for k, row in enumerate(X.tolist()):  # Python's repr of a float reads back as the same
            out.writerow(row if data.y is None else [*row, data.y[k].item()])
        text.detach()

    return write


def _write_npy(data: Data, file: BinaryIO) -> None:
    _, X = _columns(data)
    if data.y is not None and data.y.dtype.kind not in "biuf":
        raise ValueError("an .npy file holds numbers only, and these targets are words: write .npz")
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
