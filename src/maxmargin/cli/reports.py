"""Reports of the commands, for people and for programs, and progress bars."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

MOST_ITEMS = 10
"""Items of a list in a report for people; JSON has all of them."""


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


def show(
    values: dict[str, Any], as_json: bool = False, quiet: bool = False, stderr: bool = False
) -> None:
    """Print a report: one JSON object, or a line for each value unless it shall be quiet."""
    if as_json:
        typer.echo(json.dumps(plain(values), ensure_ascii=False))
    if as_json or quiet:
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
