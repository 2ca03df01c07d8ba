"""Reading data files as X, y and names: svmlight, CSV, TSV, Parquet, .npy and .npz.

Files may be compressed or pipes. A format is one entry of READERS. The caller, the suffix of the
name or the first bytes decide which it is. table_roles.py decides which column is what.
"""

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from maxmargin.io.files import STDIN, SUFFIXES, name_of, require_file
from maxmargin.io.table_columns import Data
from maxmargin.io.table_formats import (
    content_of,
    delimiter_of,
    read_delimited,
    read_npy,
    read_npz,
    read_parquet,
    read_svmlight,
)
from maxmargin.io.table_roles import Options
from maxmargin.suggestions import did_you_mean

HEAD = 2**16
"""Bytes of the content that decide the format."""
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
"""Formats by the suffix of a name."""


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
    with local_file(path) as (file, source):
        return read_local(file, replace(options or Options(), source=source))


def read_local(path: Path, options: Options) -> Data:
    """Read a file that can be read several times; messages call it by the source of the options."""
    kind, source = options.format or format_of(path), options.source
    check_format(kind, READERS)
    if options.zero_based is not None and kind != "svmlight":
        raise ValueError(f"{source} is {kind}: only the indices of svmlight files start at 0 or 1")
    if options.header is not None and kind not in ("csv", "tsv"):
        raise ValueError(f"{source} is {kind}: the header option is for CSV and TSV files")
    columns = options.ignore or options.weight is not None or options.query is not None
    if columns and kind in ("svmlight", "npz"):
        raise ValueError(
            f"{source} is {kind}: only the columns of CSV, TSV, Parquet and .npy files can be "
            "ignored or hold weights or queries; svmlight text has its queries as qid:"
        )
    return READERS[kind](path, replace(options, format=kind))


def check_format(kind: str, known: Collection[str]) -> None:
    """Raise an error if a format is not among those that are read or written."""
    if kind not in known:
        raise ValueError(
            f"the data format must be one of {', '.join(known)}, got "
            f"{kind!r}.{did_you_mean(kind, known)}"
        )


@contextmanager
def local_file(path: str | Path) -> Iterator[tuple[Path, str]]:
    """Yield a file that can be read several times, and its name for messages.

    Standard input and pipes are copied to a temporary file.
    """
    path = Path(path)
    if path != STDIN and not path.is_fifo():
        require_file(path)
        yield path, str(path)
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "stdin"
        with (
            copy.open("wb") as file,
            nullcontext(sys.stdin.buffer) if path == STDIN else path.open("rb") as pipe,
        ):
            shutil.copyfileobj(pipe, file)
        yield copy, name_of(path)


def format_of(path: Path) -> str:
    """Return the format of a file, by its name or else by its content."""
    ending = ending_of(path)
    if ending in ENDINGS:
        return ENDINGS[ending]
    head = content_of(path, str(path), HEAD)
    for magic, name in MAGIC.items():
        if head.startswith(magic):
            return name
    lines = head.removeprefix(b"\xef\xbb\xbf").splitlines()
    line = next((line for line in lines if line.strip() and not line.startswith(b"#")), b"")
    if SVMLIGHT_LINE.fullmatch(line):
        return "svmlight"
    delimiter = delimiter_of(line.decode("latin-1"))
    return "svmlight" if delimiter is None else "tsv" if delimiter == "\t" else "csv"


def ending_of(path: Path) -> str:
    """Return the suffix of a name, without that of the compression."""
    name = path.name.lower()
    for packed in SUFFIXES:
        name = name.removesuffix(packed)
    return Path(name).suffix


READERS: dict[str, Callable[[Path, Options], Data]] = {
    "svmlight": read_svmlight,
    "csv": read_delimited,
    "tsv": read_delimited,
    "parquet": read_parquet,
    "npy": read_npy,
    "npz": read_npz,
}
"""The formats that are read."""
