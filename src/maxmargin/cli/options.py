"""Options that several commands share, and the data they describe."""

from collections.abc import Iterable
from typing import Annotated, Any

import numpy as np
import typer

from maxmargin.cli.errors import usage
from maxmargin.io.tables import READERS, Data, Options, read_table
from maxmargin.suggestions import did_you_mean

DataFile = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="svmlight, CSV, TSV, Parquet, .npy or .npz file, compressed or not; "
        "- is standard input.",
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        help="Column of the target in a table: name, number from 1 (-1 is the last), or none.",
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of a CSV file holds names. By default it does if a word "
        "stands above a number.",
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore",
        help="Columns of a table to leave out, by name or number: id,date. May be repeated.",
    ),
]
Weight = Annotated[
    str | None,
    typer.Option(
        "--weight",
        help="Column of a table with the sample weights: name or number. "
        "Weight 2 counts as two copies.",
    ),
]
DataFormat = Annotated[
    str | None,
    typer.Option(
        "--data-format", help=f"Format of the data: {', '.join(READERS)}; detected by default."
    ),
]
ZeroBased = Annotated[
    bool | None,
    typer.Option(
        "--zero-based/--one-based",
        help="First index of an svmlight file; by default 1 unless a 0 occurs anywhere in it.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no report.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the random numbers.")]


def load(
    path: str,
    target: str | None = None,
    header: bool | None = None,
    data_format: str | None = None,
    zero_based: bool | None = None,
    n_features: int | None = None,
    features: list[str] | None = None,
    known_target: str | None = None,
    ignore: list[str] | None = None,
    weight: str | None = None,
) -> Data:
    """Read the data that a command's options describe.

    The features of a model are found by name if the model and the data have names.
    """
    left_out = tuple(ignore or ())
    return read_table(
        path,
        Options(
            data_format,
            target,
            header,
            n_features,
            zero_based,
            features,
            known_target,
            left_out,
            weight,
        ),
    )


def one_of(option: str, value: str, known: Iterable[str]) -> str:
    """Return a value that must be one of a few words."""
    names = list(known)
    if value not in names:
        raise usage(
            f"{option} must be one of {', '.join(names)}, got "
            f"{value!r}.{did_you_mean(value, names)}"
        )
    return value


def with_target(data: Data) -> np.ndarray[Any, Any]:
    """Return the targets; raise an error if there are none."""
    if data.y is None:
        raise ValueError(f"{data.source} has no target: name its column with --target")
    return data.y


def labels(y: Any) -> Any:
    """Return class labels, with whole numbers as integers."""
    from maxmargin.io.tables import as_target

    return as_target(np.asarray(y))
