"""Data files of every usual kind as X, y and names: svmlight text, CSV and TSV, Parquet, .npy, .npz, compressed or not, file or pipe.

A format is one entry of READERS. Which it is, the caller says, or the name's ending, or else how the content begins. In a table one column
is the target: the one that is named, or counted from 1 (from the right if negative), or by default that called target, label, class or y,
or else the last; "none" means that there is none, as does a table with exactly as many columns as the model has features.
"""

import csv
import io
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.io.files import STDIN, SUFFIXES, open_read
from maxmargin.io.svmlight import svmlight_chunks

TARGET_NAMES = ("target", "label", "class", "y")
HEAD = 2**16
"""Bytes at which the content is looked at."""
SVMLIGHT_LINE = re.compile(rb"\s*[-+]?[0-9.][-+0-9.eE]*([ \t]+(qid|\d+):\S*)*[ \t]*(#.*)?")
MAGIC = {b"\x93NUMPY": "npy", b"PK\x03\x04": "npz", b"PAR1": "parquet"}
ENDINGS = {
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".npy": "npy",
    ".npz": "npz",
    ".parquet": "parquet",
    ".pq": "parquet",
}
"""What a name says about its file."""


class Data(NamedTuple):
    """A data set: X an array or CSR, y its targets if it has some, the features' names if they have some, and where it was read."""

    X: Any
    y: NDArray[Any] | None
    names: list[str] | None
    format: str
    source: str


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
        Whether the first line of a CSV file holds names; None is yes if it holds anything but numbers.
    n_features : int or None
        How many features the model has, where there is one.
    zero_based : bool or None
        Whether svmlight indices begin at 0; None is found out on the whole file.
    source : str
        The file's name in messages.
    """

    format: str | None = None
    target: str | int | None = None
    header: bool | None = None
    n_features: int | None = None
    zero_based: bool | None = None
    source: str = ""


def read_table(path: str | Path, options: Options | None = None) -> Data:
    """Read a data file.

    Parameters
    ----------
    path : str or Path
        "-" is standard input.
    options : Options, default=None

    Returns
    -------
    data : Data
    """
    options = options or Options()
    if options.format is not None and options.format not in READERS:
        raise ValueError(f"the data format must be one of {', '.join(READERS)}, got {options.format!r}")
    with local_file(path) as (file, source):
        kind = options.format or format_of(file)
        return READERS[kind](file, replace(options, format=kind, source=source))


@contextmanager
def local_file(path: str | Path) -> Iterator[tuple[Path, str]]:
    """A file that can be read several times, and its name for messages; standard input is copied to a temporary one."""
    path = Path(path)
    if path != STDIN:
        if not path.is_file():
            raise FileNotFoundError(f"no file {path}")
        yield path, str(path)
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "stdin"
        with copy.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield copy, "standard input"


def format_of(path: Path) -> str:
    """The format of a file, by its name, or else by its content."""
    ending = ending_of(path)
    if ending in ENDINGS:
        return ENDINGS[ending]
    with open_read(path) as file:
        head = file.read(HEAD)
    for magic, name in MAGIC.items():
        if head.startswith(magic):
            return name
    line = next((line for line in head.removeprefix(b"\xef\xbb\xbf").splitlines() if line.strip() and not line.startswith(b"#")), b"")
    if SVMLIGHT_LINE.fullmatch(line):
        return "svmlight"
    return "tsv" if b"\t" in line and b"," not in line else "csv" if b"," in line else "svmlight"


def ending_of(path: Path) -> str:
    """The ending of a name, without that of the compression."""
    name = path.name.lower()
    for packed in SUFFIXES:
        name = name.removesuffix(packed)
    return Path(name).suffix


# ---- the formats -------------------------------------------------------------------------------------------------------


def _read_svmlight(path: Path, options: Options) -> Data:
    if options.target is not None and options.target != "none":
        raise ValueError("the target of an svmlight file is the first number of each line: a target column cannot be chosen")
    if options.header is not None:
        raise ValueError("an svmlight file has no header")
    chunks = svmlight_chunks(path, zero_based="auto" if options.zero_based is None else options.zero_based)
    X, y, _ = replace(chunks, name=options.source).whole()
    if options.n_features is not None and X.shape[1] < options.n_features:  # the last features may be zero in all rows
        X.resize(X.shape[0], options.n_features)
    return Data(X, None if options.target == "none" else y, None, "svmlight", options.source)


def _read_delimited(path: Path, options: Options) -> Data:
    delimiter = "\t" if options.format == "tsv" else ","
    with open_read(path) as file:
        text = io.TextIOWrapper(file, "utf-8-sig", newline="")
        try:
            lines = [(reader.line_num, row) for reader in [csv.reader(text, delimiter=delimiter, strict=True)] for row in reader if row]
        except (csv.Error, UnicodeDecodeError) as error:
            raise ValueError(f"{options.source}: {error}") from error
    if not lines:
        raise ValueError(f"{options.source} holds no samples")
    header = not all(_is_number(cell) for cell in lines[0][1]) if options.header is None else options.header
    names = [cell.strip() for cell in lines[0][1]] if header else None
    rows = lines[header:]
    if not rows:
        raise ValueError(f"{options.source} holds a header and no samples")
    width = len(lines[0][1])
    for number, row in rows:
        if len(row) != width:
            raise ValueError(f"{options.source}, line {number}: {len(row)} fields, the first line has {width}")
    columns = [np.array([row[k] for _, row in rows]) for k in range(width)]
    return _from_columns(columns, names, options, [number for number, _ in rows])


def _read_parquet(path: Path, options: Options) -> Data:
    try:
        from pyarrow import parquet
    except ImportError as missing:
        raise ImportError("Parquet files need pyarrow: pip install pyarrow, or convert the file to CSV.") from missing
    with open_read(path) as file:
        try:
            table = parquet.read_table(io.BytesIO(file.read()))
        except (OSError, ValueError) as error:
            raise ValueError(f"{options.source}: {error}") from error
    columns = [np.asarray(column.to_numpy()) for column in table.columns]
    for name, column in zip(table.column_names, table.columns, strict=True):
        if column.null_count:
            raise ValueError(f"{options.source}: column {name!r} has {column.null_count} missing values: fill them or leave those rows out")
    return _from_columns(columns, list(table.column_names), options, None)


def _read_npy(path: Path, options: Options) -> Data:
    array = _numpy_load(path, options)
    if array.ndim != 2:
        raise ValueError(f"{options.source} holds an array of shape {array.shape}: rows and columns are needed")
    return _from_columns(list(array.T), None, options, None)


def _read_npz(path: Path, options: Options) -> Data:
    if options.target not in (None, "none"):
        raise ValueError("an .npz file names its target y: a target column cannot be chosen")
    with _numpy_load(path, options) as file:
        try:
            if {"data", "indices", "indptr", "shape"} <= set(file.files):
                X = sparse.csr_matrix((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"].tolist()))
                X.check_format()
            elif "X" in file.files:
                X = np.asarray(file["X"], np.float64)
            else:
                raise ValueError(
                    f"an array X was expected, or a matrix of scipy.sparse.save_npz; found {', '.join(file.files) or 'nothing'}"
                )
            y = file["y"] if "y" in file.files and options.target is None else None
            names = [str(name) for name in file["names"]] if "names" in file.files else None
        except (ValueError, TypeError, zipfile.BadZipFile, EOFError) as error:
            raise ValueError(f"{options.source}: {error}") from error
    if y is not None and y.shape != (X.shape[0],):
        raise ValueError(f"{options.source}: X has {X.shape[0]} rows and y has shape {y.shape}")
    return Data(X, y, names, "npz", options.source)


def _numpy_load(path: Path, options: Options) -> Any:
    with open_read(path) as file:
        try:
            return np.load(io.BytesIO(file.read()), allow_pickle=False)
        except (ValueError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(f"{options.source}: {error}") from error


READERS: dict[str, Callable[[Path, Options], Data]] = {
    "svmlight": _read_svmlight,
    "csv": _read_delimited,
    "tsv": _read_delimited,
    "parquet": _read_parquet,
    "npy": _read_npy,
    "npz": _read_npz,
}
"""The formats that are read."""


# ---- columns -----------------------------------------------------------------------------------------------------------


def _from_columns(columns: list[NDArray[Any]], names: list[str] | None, options: Options, lines: list[int] | None) -> Data:
    """One column is the target, the others are features."""
    at = _target_column(columns, names, options)
    features = [k for k in range(len(columns)) if k != at]
    if not features:
        raise ValueError(f"{options.source} has no column besides the target")
    X = np.empty((len(columns[0]), len(features)))
    for j, k in enumerate(features):
        X[:, j] = _as_numbers(columns[k], names[k] if names else f"column {k + 1}", options.source, lines)
    y = None if at is None else _checked_target(columns[at], options.source, lines)
    return Data(X, y, [names[k] for k in features] if names else None, options.format or "", options.source)


def _target_column(columns: list[NDArray[Any]], names: list[str] | None, options: Options) -> int | None:
    wanted, width = options.target, len(columns)
    if wanted is None:
        lowered = [name.lower() for name in names or []]
        named = next((lowered.index(name) for name in TARGET_NAMES if name in lowered), None)
        if named is None and options.n_features == width:
            return None
        return width - 1 if named is None else named
    if wanted == "none":
        return None
    if names and wanted in names:
        return names.index(str(wanted))
    try:
        number = int(wanted)
    except ValueError:
        known = f"its columns are {', '.join(names[:20])}" if names else "it has no header, give the column's number"
        raise ValueError(f"{options.source} has no column {wanted!r}: {known}") from None
    if not 1 <= abs(number) <= width:
        raise ValueError(
            f"the target's column is {number}, but {options.source} has {width} columns, counted from 1, or from -1 at the right"
        )
    return number - 1 if number > 0 else width + number


def _as_numbers(column: NDArray[Any], name: str, source: str, lines: list[int] | None) -> NDArray[np.float64]:
    """A feature's values; the first that is no finite number is an error with its line."""
    if column.dtype.kind in "biuf":
        values = column.astype(np.float64)
    else:
        values = np.array([float(v) if _is_number(v) else np.nan for v in column.tolist()])
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        place = f"line {lines[wrong[0]]}" if lines else f"row {wrong[0] + 1}"
        raise ValueError(
            f"{source}, {place}, {name}: {str(column[wrong[0]])!r} is no finite number ({len(wrong)} such values in this column); fill "
            "missing values, encode words as numbers, or choose another target column"
        )
    return values


def _checked_target(column: NDArray[Any], source: str, lines: list[int] | None) -> NDArray[Any]:
    """The targets; a missing one is an error with its line."""
    missing = np.flatnonzero(np.isnan(column) if column.dtype.kind == "f" else [str(cell).strip() == "" for cell in column.tolist()])
    if len(missing):
        place = f"line {lines[missing[0]]}" if lines else f"row {missing[0] + 1}"
        raise ValueError(f"{source}, {place}: the target is missing ({len(missing)} such rows); fill it or leave those rows out")
    return as_target(column)


def as_target(column: NDArray[Any]) -> NDArray[Any]:
    """Targets as whole numbers if they all are, else as numbers if they all are, else as text."""
    if column.dtype.kind in "OUS":
        text = [str(cell).strip() for cell in column.tolist()]
        if not all(_is_number(cell) for cell in text):
            return np.array(text)
        column = np.array([float(cell) for cell in text])
    if column.dtype.kind == "b":
        return column.astype(np.int64)
    if (
        column.dtype.kind == "f"
        and np.isfinite(column).all()
        and (column == np.round(column)).all()
        and np.abs(column).max(initial=0) < 2**53
    ):
        return column.astype(np.int64)
    return column


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (ValueError, TypeError):
        return False
    return "_" not in str(cell)  # Python's own digits grouping is none of a file's
