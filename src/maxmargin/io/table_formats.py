"""Readers of the formats of data files; READERS in tables.py lists them."""

import csv
import io
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.io.files import decompressing, open_read, read_whole
from maxmargin.io.svmlight import SvmlightChunks, svmlight_chunks
from maxmargin.io.svmlight_rows import Problem
from maxmargin.io.table_cells import (
    MISSING,
    Column,
    TableError,
    as_target,
    is_number,
    target_problems,
)
from maxmargin.io.table_columns import Data, from_columns
from maxmargin.io.table_roles import Options, check_names, find_features

DELIMITERS = ",;\t"


def content_of(path: Path, source: str, most: int = -1) -> bytes:
    """Return the first bytes of a file, or all."""
    with open_read(path) as file:
        if most < 0:
            return read_whole(file, source)
        with decompressing(source):
            return file.read(most)


def delimiter_of(line: str) -> str | None:
    """Return the separator of a line's fields: a comma, or else a semicolon, or else a tab."""
    return next((mark for mark in DELIMITERS if mark in line), None)


def chunks_of(path: Path, options: Options) -> SvmlightChunks:
    """Return the reader of an svmlight file."""
    base = "auto" if options.zero_based is None else options.zero_based
    return replace(svmlight_chunks(path, zero_based=base), name=options.source)


def read_svmlight(path: Path, options: Options) -> Data:
    """Read svmlight text."""
    if options.target is not None and options.target != "none":
        raise ValueError(
            "the target of an svmlight file is the first number of each line: a target column "
            "cannot be chosen"
        )
    X, y, queries = chunks_of(path, options).whole()
    # the last features may be zero in all rows
    if options.n_features is not None and X.shape[1] < options.n_features:
        X.resize(X.shape[0], options.n_features)
    target, known = None if options.target == "none" else y, queries if len(queries) else None
    return Data(X, target, None, "svmlight", options.source, queries=known)


def read_delimited(path: Path, options: Options) -> Data:
    """Read CSV or TSV text."""
    text = _decoded(content_of(path, options.source), options.source)
    delimiter = "\t" if options.format == "tsv" else delimiter_of(text.partition("\n")[0]) or ","
    lines = _fields(text, delimiter, options.source)
    head = list(islice(lines, 2))
    if not head:
        raise ValueError(f"{options.source} has no samples")
    number, first = head[0]
    header = _has_header([row for _, row in head]) if options.header is None else options.header
    names = [cell.strip() for cell in first] if header else None
    numbers = _all_numbers(text, delimiter, number if header else 0, len(first))
    if numbers is not None:
        return from_columns(list(numbers.T), names, options, None)
    rows, problems = [], []
    for number, row in chain(head[header:], lines):
        if len(row) == len(first):
            rows.append((number, row))
        else:
            problems.append(
                Problem(number, 0, f"{len(row)} fields, the first line has {len(first)}")
            )
    if not rows and problems:
        raise TableError(options.source, problems)
    if not rows:
        raise ValueError(f"{options.source} has a header but no samples")
    columns = [np.array(column) for column in zip(*(row for _, row in rows), strict=True)]
    return from_columns(columns, names, options, [number for number, _ in rows], problems)


def _has_header(rows: list[list[str]]) -> bool:
    """Whether the first line holds names: it has no number, or a word above a number.

    Words above words prove nothing: they may be the classes of the first two samples.
    """
    first, second = rows[0], rows[-1]
    if not any(is_number(cell) for cell in first):
        return True
    return any(
        not (is_number(a) or a.strip().lower() in MISSING) and is_number(b)
        for a, b in zip(first, second, strict=False)
    )


def _decoded(content: bytes, source: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ValueError(
            f"{source}, line {line}: this is not UTF-8 text: convert the file, for example with "
            "iconv -f ISO-8859-1 -t UTF-8"
        ) from error


def _fields(text: str, delimiter: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of each line that is not empty."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        yield from ((reader.line_num, row) for row in reader if row)
    except csv.Error as error:
        raise ValueError(
            f"{source}, line {reader.line_num}: {error}: is a quotation mark open or not doubled?"
        ) from error


def _all_numbers(text: str, delimiter: str, skipped: int, width: int) -> NDArray[np.float64] | None:
    """Return the table after some lines if it has only finite numbers; None otherwise.

    NumPy reads such a table several times faster.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about no rows
        try:
            table = np.loadtxt(
                io.StringIO(text),
                delimiter=delimiter,
                skiprows=skipped,
                comments=None,
                quotechar='"',
                ndmin=2,
            )
        except ValueError:  # the slow way finds out where
            return None
    return table if len(table) and table.shape[1] == width and np.isfinite(table).all() else None


def read_parquet(path: Path, options: Options) -> Data:
    """Read a Parquet file, which needs pyarrow."""
    try:
        from pyarrow import parquet
    except ImportError as missing:
        raise ImportError(
            "Parquet files need pyarrow: pip install pyarrow, or convert the file to CSV."
        ) from missing
    content = content_of(path, options.source)
    try:
        table = parquet.read_table(io.BytesIO(content))
    except (OSError, ValueError) as error:
        raise ValueError(f"{options.source}: {error}") from error
    columns = [np.asarray(column.to_numpy()) for column in table.columns]
    return from_columns(columns, list(table.column_names), options, None)


def read_npy(path: Path, options: Options) -> Data:
    """Read an .npy file of rows and columns."""
    array = _numpy_load(path, options)
    if array.ndim != 2 or not len(array):
        raise ValueError(
            f"{options.source} holds an array of shape {array.shape}: rows and columns are needed"
        )
    return from_columns(list(array.T), None, options, None)


def read_npz(path: Path, options: Options) -> Data:
    """Read an .npz file with X and y, or a sparse matrix that SciPy saved."""
    if options.target not in (None, "none"):
        raise ValueError("the target of an .npz file is its array y: a column cannot be chosen")
    with _numpy_load(path, options) as file:
        try:
            X = _matrix_of(file)
            has_y = "y" in file.files and options.target is None
            y = _checked_target(file["y"], options.source) if has_y else None
            names = [str(name) for name in file["names"]] if "names" in file.files else None
        except (ValueError, TypeError, zipfile.BadZipFile, EOFError) as error:
            raise ValueError(f"{options.source}: {error}") from error
    if y is not None and y.shape != (X.shape[0],):
        raise ValueError(f"{options.source}: X has {X.shape[0]} rows and y has shape {y.shape}")
    if names is not None:
        check_names(names, options.source)
        if len(names) != X.shape[1]:
            raise ValueError(f"{options.source}: X has {X.shape[1]} columns and {len(names)} names")
        if options.features is not None:
            order = find_features(names, options.features, options.source)
            X, names = X[:, order], options.features
    return Data(X, y, names, "npz", options.source)


def _checked_target(y: Any, source: str) -> Any:
    """Return the targets of an .npz file."""
    problems = target_problems(Column(y, 0, None, None))
    if problems:
        raise TableError(source, problems)
    return as_target(y)


def _matrix_of(file: Any) -> Any:
    """Return X, or a CSR or CSC matrix that scipy.sparse.save_npz wrote."""
    if {"data", "indices", "indptr", "shape"} <= set(file.files):
        kind = file["format"].astype(str).item() if "format" in file.files else "csr"
        layouts = {"csr": sparse.csr_matrix, "csc": sparse.csc_matrix}
        if kind not in layouts:
            raise ValueError(f"a sparse matrix of format {kind!r} cannot be read: save its tocsr()")
        X = layouts[kind](
            (_real(file["data"]), file["indices"], file["indptr"]),
            shape=tuple(file["shape"].tolist()),
        )
        X.check_format()
        values, X = X.data, X.tocsr()
    elif "X" in file.files:
        values = X = _real(file["X"])
    else:
        raise ValueError(
            "an array X was expected, or a matrix of scipy.sparse.save_npz; found "
            f"{', '.join(file.files) or 'nothing'}"
        )
    if X.ndim != 2 or not X.shape[0]:
        raise ValueError(f"X has shape {X.shape}: rows and columns are needed")
    if not np.isfinite(values).all():
        raise ValueError(
            f"X has {np.sum(~np.isfinite(values))} values that are not finite numbers: fill them, "
            "or leave those rows out"
        )
    return X


def _real(array: Any) -> Any:
    """Return numbers in double precision; complex numbers and dates are errors."""
    if array.dtype.kind not in "biufU":
        raise ValueError(f"numbers were expected, found an array of type {array.dtype}")
    return array.astype(np.float64)


def _numpy_load(path: Path, options: Options) -> Any:
    content = content_of(path, options.source)
    try:
        return np.load(io.BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{options.source}: {error}") from error
