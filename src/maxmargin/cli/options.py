"""Options that several commands share, and the data they describe."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any

import numpy as np
import typer

from maxmargin.cli.errors import usage
from maxmargin.io.table_cells import as_target
from maxmargin.io.table_columns import Data
from maxmargin.io.table_roles import Options
from maxmargin.io.tables import READERS, read_table
from maxmargin.suggestions import did_you_mean

DataFile = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="svmlight, CSV, TSV, Parquet, .npy or .npz file, compressed or not; "
        "- is standard input.",
    ),
]
ModelFile = Annotated[
    str,
    typer.Argument(
        metavar="MODEL", help="A model file: .mm, LIBSVM's, LIBLINEAR's or SVM-light's."
    ),
]
Output = Annotated[
    str,
    typer.Argument(
        metavar="OUTPUT", help="File to write; - is standard output. Its suffix sets the format."
    ),
]
OutputFormat = Annotated[
    str | None, typer.Option(help="Format of the output, if not by its suffix.")
]
Weight = Annotated[
    str | None,
    typer.Option(
        "--weight",
        help="Column of a table with the sample weights: name or number. "
        "Weight 2 counts as two copies.",
    ),
]
Query = Annotated[
    str | None,
    typer.Option(
        "--query",
        help="Column of a table with the query of each row, for a ranking: name or number. "
        "svmlight text has them as qid:.",
    ),
]
Scale = Annotated[
    str | None,
    typer.Option(
        "--scale",
        help="Scale every feature: standard (mean 0, variance 1) or minmax ([0, 1]); svmlight "
        "data are divided, not shifted. The model keeps the scaling and applies it.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", help="Fits at once; by default as many as there are cores."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no report.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the random numbers.")]


@dataclass(frozen=True)
class DataOptions:
    """How a command reads its data file; each field is an option of the command."""

    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            help="Column of the target in a table: name, number from 1 (-1 is the last), or none.",
        ),
    ] = None
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            "--ignore",
            help="Columns of a table to leave out, by name or number: id,date. May be repeated.",
        ),
    ] = None
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line of a CSV file holds names. By default it does if a word "
            "stands above a number.",
        ),
    ] = None
    data_format: Annotated[
        str | None,
        typer.Option(
            "--data-format", help=f"Format of the data: {', '.join(READERS)}; detected by default."
        ),
    ] = None
    zero_based: Annotated[
        bool | None,
        typer.Option(
            "--zero-based/--one-based",
            help="First index of an svmlight file; by default 1 unless a 0 occurs anywhere in it.",
        ),
    ] = None

    def options(self, **more: Any) -> Options:
        """Return the reader's options; more are the weights' column and what a model knows."""
        more |= {"zero_based": self.zero_based, "ignore": tuple(self.ignore or ())}
        return Options(self.data_format, self.target, self.header, **more)

    def read(self, path: str, **more: Any) -> Data:
        """Read a data file.

        The features of a model are found by name if the model and the data have names.
        """
        return read_table(path, self.options(**more))


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Make each field of a command's records an option of its own, in the place of the record."""
    records: dict[str, tuple[Any, Mapping[str, Parameter]]] = {}
    given: list[Parameter] = []
    for parameter in signature(command).parameters.values():
        record: Any = parameter.annotation
        if isinstance(record, type) and is_dataclass(record):
            records[parameter.name] = record, signature(record).parameters
            given += records[parameter.name][1].values()
        else:
            given.append(parameter)

    @wraps(command)
    def run(**options: Any) -> None:
        for name, (record, fields) in records.items():
            options[name] = record(**{field: options.pop(field) for field in fields})
        command(**options)

    keywords = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in given]
    run.__dict__["__signature__"] = Signature(keywords)
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in given}
    return run


def read_svmlight(path: str, zero_based: bool, n_features: int | None = None) -> Data:
    """Read a file in the format of LIBSVM's and LIBLINEAR's programs."""
    return read_table(path, Options("svmlight", n_features=n_features, zero_based=zero_based))


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
    return as_target(np.asarray(y))
