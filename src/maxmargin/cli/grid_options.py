"""The options of LIBSVM's grid.py; grid_py.py lists them."""

from pathlib import Path
from typing import Any, NamedTuple
from warnings import warn

import numpy as np

from maxmargin.cli.errors import usage
from maxmargin.cli.flags import Flags, parse
from maxmargin.cli.svm_train import DEFAULTS, check_values

OWN = ("log2c", "log2g", "v", "svmtrain", "gnuplot", "out", "png", "resume")
LEAST, GREATEST = -500.0, 500.0
"""Exponents whose powers of two are numbers."""
MOST = 1000
"""Values of a range."""


class Options(NamedTuple):
    """A parsed command line."""

    data: str
    log2c: list[Any]
    log2g: list[Any]
    folds: int
    out: str | None
    picture: str | None
    resume: str | None
    flags: Flags


def parse_options(arguments: list[str]) -> Options:
    """Parse grid.py's options; the data file comes last."""
    if not arguments or (arguments[-1].startswith("-") and arguments[-1] != "-"):
        raise usage("expected options and then the data file")
    *rest, data = arguments
    name = Path(data).name
    own, others = _own(rest, f"{name}.out")
    flags = parse(others, DEFAULTS, weights=True)
    _refuse(own, flags)
    out = None if own["out"] == "null" else own["out"] or f"{name}.out"
    both = "null" not in (own["log2c"], own["log2g"])
    plain = own["gnuplot"] == "null" or not both
    return Options(
        data,
        [None] if own["log2c"] == "null" else _range("-log2c", own["log2c"], (-5, 15, 2)),
        [None] if own["log2g"] == "null" else _range("-log2g", own["log2g"], (3, -15, -2)),
        _folds(own["v"]),
        out,
        None if plain else own["png"] or f"{name}.png",
        own["resume"] or None,
        flags,
    )


def _own(rest: list[str], resume: str) -> tuple[dict[str, str], list[str]]:
    """Separate grid.py's options from svm-train's; the default of -resume is given."""
    found, others = dict.fromkeys(OWN, ""), []
    while rest:
        word = rest.pop(0)
        if word[1:] not in OWN or not word.startswith("-"):
            others.append(word)
        elif word == "-resume" and (not rest or rest[0].startswith("-")):
            found["resume"] = resume
        elif not rest:
            raise usage(f"{word} needs a value")
        else:
            found[word[1:]] = rest.pop(0)
    return found, others


def _refuse(own: dict[str, str], flags: Flags) -> None:
    """Raise an error for options that grid.py refuses, and for ranges without an effect."""
    if flags.files:
        raise usage(f"expected one data file, got {' '.join(flags.files)} too")
    for name in sorted(flags.given & {"c", "g"}):
        raise usage(f"-{name} is searched: use -log2{name}")
    check_values(flags)
    if flags["s"] > 1:
        raise usage(
            f"-s {flags['s']} has no accuracy to compare: use -s 0 or 1, or maxmargin tune "
            "--problem svr for a regression"
        )
    for name, letter, flag, unused in (("log2c", "C", "s", (1,)), ("log2g", "gamma", "t", (0, 4))):
        if flags[flag] in unused and own[name] != "null":
            raise usage(f"-{flag} {flags[flag]} has no {letter}: use -{name} null")
    if own["log2c"] == own["log2g"] == "null":
        raise usage("nothing is searched: -log2c and -log2g cannot both be null")
    if own["svmtrain"]:
        warn("-svmtrain has no effect: all points are fitted here, as one job", stacklevel=2)
    if own["gnuplot"] not in ("", "null"):
        warn("-gnuplot has no effect but for null: pictures need no gnuplot here", stacklevel=2)


def _range(name: str, text: str, default: tuple[int, int, int]) -> list[Any]:
    """Return the numbers of begin,end,step: whole ones of the default, else floats."""
    try:
        begin, end, step = [float(word) for word in text.split(",")] if text else default
    except ValueError:
        raise usage(f"{name} takes begin,end,step or null, got {text!r}") from None
    if not (min(begin, end) >= LEAST and max(begin, end) <= GREATEST and step):
        raise usage(f"{name} {text}: begin and end are from {LEAST:g} to {GREATEST:g}, step not 0")
    count = int(np.floor((end - begin) / step + 1e-9)) + 1
    if not 0 < count <= MOST:
        raise usage(f"{name} {text} has {max(count, 0)} values: it needs 1 to {MOST}")
    return [begin + k * step for k in range(count)]


def _folds(text: str) -> int:
    if not text:
        return 5
    if not text.isdigit() or int(text) < 2:
        raise usage(f"-v needs a whole number of at least 2 folds, got {text!r}")
    return int(text)
