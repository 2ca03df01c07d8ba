"""The files that commands write: checks before the work, and pictures."""

import os
from pathlib import Path
from typing import Any

from maxmargin.cli.errors import usage
from maxmargin.io.files import atomic_write

PICTURES = (".png", ".svg", ".pdf")
PRINT = 300
"""Dots per inch of pixel pictures."""


def check_picture(path: str) -> None:
    """Check before the work that a picture's name ends in a known format."""
    if Path(path).suffix.lower() not in PICTURES:
        raise usage(f"{path}: a picture's name ends in {', '.join(PICTURES)}.")


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
