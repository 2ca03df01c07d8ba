"""Errors and warnings of the commands, each as one line.

Exit codes: 0 done; 1 failed, with one line on standard error, and {"error": ...} on standard output
with --json; 2 wrong command line; 130 Ctrl-C.
"""

import functools
import sys
import warnings
from collections.abc import Callable
from typing import Any

import typer

from maxmargin.cli.reports import show

CLEAR = (ValueError, TypeError, ImportError, OSError)
"""Errors whose messages say all; of others the name says more."""
FAILURES = (*CLEAR, MemoryError, NotImplementedError, ArithmeticError)
"""Errors that are reported as one line. Any other is a bug of ours and shows its traceback."""


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
            name = "" if isinstance(error, CLEAR) else f"{type(error).__name__}: "
            text = f"{name}{error}"
            if options.get("as_json"):
                show({"error": " ".join(text.split())}, True)
            typer.echo("error: " + " ".join(text.split()), err=True)
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            typer.echo("interrupted", err=True)
            raise typer.Exit(130) from None

    return run


def usage(message: str) -> typer.BadParameter:
    """An error of the command line itself."""
    return typer.BadParameter(message)


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    typer.echo("warning: " + " ".join(str(message).split()), err=True)
