"""What the commands share: data options, reports for people and for machines, errors as one line.

Exit codes: 0 done; 1 it failed, and one line on standard error says why, as does {"error": ...} on
standard output with --json; 2 the command line itself was wrong; 130 Ctrl-C.
"""

import functools
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from maxmargin.io.files import atomic_write
from maxmargin.io.tables import READERS, Data, Options, read_table
from maxmargin.suggestions import did_you_mean

FAILURES = (
    ValueError,
    TypeError,
    OSError,
    ImportError,
    MemoryError,
    NotImplementedError,
    ArithmeticError,
)
"""Errors that are reported as one line. Any other is a bug of ours and shows its traceback."""
PICTURES = (".png", ".svg", ".pdf")
MOST_ITEMS = 10
"""Items of a list in a report for people; JSON has all of them."""

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


# ---- reports -------------------------------------------------------------------------------------


def console(stderr: bool = False) -> Console:
    """Return a console for people. A new one each time respects redirected streams."""
    return Console(stderr=stderr, highlight=False, soft_wrap=True)


def plain(value: Any) -> Any:
    """Return a value that JSON can hold.

    NumPy's numbers become Python's. NaN and infinity, which JSON lacks, become strings.
    """
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def show(values: dict[str, Any], as_json: bool = False, stderr: bool = False) -> None:
    """Print a report: a line for each value, or one JSON object."""
    if as_json:
        typer.echo(json.dumps(plain(values), ensure_ascii=False))
        return
    shown = {
        name.replace("_", " "): _text(value) for name, value in values.items() if value is not None
    }
    width, out = max(map(len, shown), default=0), console(stderr)
    # programs read these lines too, so they are neither padded nor wrapped
    for name, text in shown.items():
        out.print(f"[bold]{name}[/]{' ' * (width - len(name))}  {text}")


def _text(value: Any) -> str:
    from rich.markup import escape

    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    if isinstance(value, dict):
        return ", ".join(f"{escape(str(key))}: {_text(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        more = f" and {len(value) - MOST_ITEMS:,} more" if len(value) > MOST_ITEMS else ""
        return ", ".join(_text(item) for item in value[:MOST_ITEMS]) + more
    return escape(str(value))


@contextmanager
def progress(title: str, total: int, quiet: bool = False) -> Iterator[Callable[[], None]]:
    """Show a progress bar on standard error if it is a terminal, and yield what advances it.

    The bar vanishes at the end.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    hidden = quiet or not sys.stderr.isatty()
    with Progress(*columns, console=console(stderr=True), transient=True, disable=hidden) as bar:
        task = bar.add_task(title, total=total)
        yield lambda: bar.advance(task)


def verbosity(quiet: bool) -> int:
    """Return 1 if estimators show their progress line: on a terminal only."""
    return int(sys.stderr.isatty() and not quiet)


# ---- errors --------------------------------------------------------------------------------------


def reported(command: Callable[..., None]) -> Callable[..., None]:
    """Make a command report each warning as one line, and a failure as one line and exit code 1."""

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                warnings.filterwarnings("always", category=UserWarning)
                # load finds the features by their names
                warnings.filterwarnings("ignore", "X does not have valid feature names")
                warnings.showwarning = _show_warning
                command(*arguments, **options)
        except BrokenPipeError:  # the reader stopped reading, as head and less do
            sys.stderr.close()
            raise typer.Exit(1) from None
        except FAILURES as error:
            text = (
                str(error)
                if isinstance(error, ValueError | TypeError | ImportError | OSError)
                else f"{type(error).__name__}: {error}"
            )
            if options.get("as_json"):
                show({"error": " ".join(text.split())}, True)
            fail(text)
        except KeyboardInterrupt:
            typer.echo("interrupted", err=True)
            raise typer.Exit(130) from None

    return run


def fail(message: str, code: int = 1) -> NoReturn:
    """Exit with a message."""
    typer.echo("error: " + " ".join(message.split()), err=True)
    raise typer.Exit(code)


def usage(message: str) -> typer.BadParameter:
    """An error of the command line itself."""
    return typer.BadParameter(message)


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    typer.echo("warning: " + " ".join(str(message).split()), err=True)


def check_picture(path: str) -> None:
    """Check before the work that a picture's name ends in a known format."""
    if Path(path).suffix.lower() not in PICTURES:
        raise usage(f"{path}: a picture's name ends in {', '.join(PICTURES)}.")


PRINT = 300
"""Dots per inch of pixel pictures."""


def write_picture(display: Any, path: str | Path) -> None:
    """Save a display as a picture, atomically."""
    with atomic_write(path) as file:
        display.figure_.savefig(file, format=Path(path).suffix.lower()[1:], dpi=PRINT)


def check_outputs(*outputs: str | None, inputs: tuple[str | None, ...] = ()) -> None:
    """Check before the work that the outputs can be written and overwrite no file in use."""
    taken = {os.path.realpath(path) for path in inputs if path not in (None, "-")}
    for path in (Path(name) for name in outputs if name not in (None, "-")):
        if not path.parent.is_dir():
            raise FileNotFoundError(f"no folder {path.parent} to write {path.name} to")
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder: name a file to write to")
        real = os.path.realpath(path)
        if real in taken and (path.is_file() or not path.exists()):  # a device may be named twice
            raise ValueError(
                f"{path} would be overwritten, but this command also reads or writes it: name "
                "another file"
            )
        taken.add(real)
