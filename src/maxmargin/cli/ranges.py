"""Linear maps of each feature onto [lower, upper], fitted on one file and applied to others.

    x -> lower + (upper - lower) (x - least) / (greatest - least)

A feature that was constant or absent in the first file becomes 0, as in LIBSVM's svm-scale. The
maps are saved in svm-scale's format:

    y                      only if targets were scaled
    lower upper
    least greatest
    x
    lower upper
    index least greatest   one line for each feature that varied, indices from 1
    # ["age", ...]         the features' names, if they have some
    # "income"             the target's name, if it has one

LIBSVM's svm-scale stops reading before the lines with names.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from maxmargin.core.arrays import Floats
from maxmargin.io.doctor import extremes
from maxmargin.io.files import atomic_write

MOST_FEATURES = 10**8
"""A range file with a larger index is refused before memory is allocated for it."""
MOST_DENSE = 2**28
"""Sparse data that scaling would make dense are refused from this many values on."""
END = ["the end of the file"]


class Range(NamedTuple):
    """The map of the targets."""

    lower: float
    upper: float
    least: float
    greatest: float

    def __call__(self, y: Any) -> Floats:
        """Return the mapped values."""
        z: Floats = np.asarray(y, np.float64)
        if self.greatest <= self.least:
            return z
        return _mapped(z, self.lower, self.upper, self.least, self.greatest)


class Ranges(NamedTuple):
    """The map of the features; least = greatest marks features that become 0."""

    lower: float
    upper: float
    least: Floats
    greatest: Floats
    target: Range | None = None
    names: list[str] | None = None
    target_name: str | None = None

    def __call__(self, X: Any) -> Any:
        """Return the mapped values, sparse if X is and zeros stay zeros.

        Sparse data may have fewer features; those missing are zero.
        """
        if X.shape[1] < len(self.least):
            if not sparse.issparse(X):
                raise ValueError(
                    f"the ranges have {len(self.least)} features or more, the data have "
                    f"{X.shape[1]}"
                )
            X = sparse.csr_matrix(X, copy=True)
            X.resize(X.shape[0], len(self.least))
        width = X.shape[1]
        least, greatest = np.zeros(width), np.zeros(width)
        known = min(width, len(self.least))
        least[:known], greatest[:known] = self.least[:known], self.greatest[:known]
        varied = greatest > least
        zeros = _mapped(np.zeros(width), self.lower, self.upper, least, greatest)
        if sparse.issparse(X) and np.all(zeros[varied] == 0):
            X = X.tocsr().copy()
            column = X.indices
            X.data = np.where(
                varied[column],
                _mapped(X.data, self.lower, self.upper, least[column], greatest[column]),
                0.0,
            )
            X.eliminate_zeros()
            return X
        if sparse.issparse(X) and X.shape[0] * width > MOST_DENSE:
            raise ValueError(
                f"scaling to [{self.lower:g}, {self.upper:g}] moves zeros, and {X.shape[0]} x "
                f"{width} values do not fit into memory: "
                "choose limits that keep zeros, for example --lower 0 where no feature is negative"
            )
        dense = X.toarray() if sparse.issparse(X) else np.asarray(X, float)
        return np.where(varied, _mapped(dense, self.lower, self.upper, least, greatest), 0.0)


def _mapped(x: Any, lower: float, upper: float, least: Any, greatest: Any) -> Floats:
    """Apply the formula; the ends of the interval are exact."""
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = lower + (upper - lower) * ((x - least) / (greatest - least))
    found: Floats = np.where(x == least, lower, np.where(x == greatest, upper, inside))
    return found


def ranges_of(
    X: Any, lower: float, upper: float, y: Any = None, y_limits: tuple[float, float] | None = None
) -> Ranges:
    """Return the ranges of a data set."""
    if not lower < upper:
        raise ValueError(
            f"the lower limit must be below the upper one, got {lower:g} and {upper:g}"
        )
    least, greatest = extremes(X)
    target = None
    if y_limits is not None:
        if not y_limits[0] < y_limits[1]:
            raise ValueError(
                f"the lower limit of targets must be below the upper one, got {y_limits[0]:g} and "
                f"{y_limits[1]:g}"
            )
        z = np.asarray(y, float)
        target = Range(*y_limits, float(z.min()), float(z.max()))
    return Ranges(lower, upper, least, greatest, target)


# ---- files ---------------------------------------------------------------------------------------


def save_ranges(ranges: Ranges, path: Path) -> None:
    """Write svm-scale's file, with all digits."""
    lines = []
    if ranges.target is not None:
        lines += [
            "y",
            f"{ranges.target.lower!r} {ranges.target.upper!r}",
            f"{ranges.target.least!r} {ranges.target.greatest!r}",
        ]
    lines += ["x", f"{float(ranges.lower)!r} {float(ranges.upper)!r}"]
    for k in np.flatnonzero(ranges.greatest > ranges.least):
        lines.append(f"{k + 1} {float(ranges.least[k])!r} {float(ranges.greatest[k])!r}")
    if ranges.names:
        lines.append(f"# {json.dumps(ranges.names)}")
    if ranges.target_name is not None:
        lines.append(f"# {json.dumps(ranges.target_name)}")
    with atomic_write(path) as file:
        file.write("".join(f"{line}\n" for line in lines).encode())


def load_ranges(path: Path) -> Ranges:
    """Read svm-scale's file; a malformed line is an error with its number."""
    lines = _numbered(path)
    line, words = next(lines)
    target = None
    if words == ["y"]:
        target = Range(*_floats(path, *next(lines), 2), *_floats(path, *next(lines), 2))
        line, words = next(lines)
    if words != ["x"]:
        raise ValueError(
            f"{path}, line {line}: 'x' was expected, found {' '.join(words)!r}: is it a range file "
            "of svm-scale?"
        )
    lower, upper = _floats(path, *next(lines), 2)
    found: dict[int, tuple[float, float]] = {}
    names = target_name = None
    for line, words in lines:
        if words == END:
            break
        if words[0] == "#":
            said = _names(path, line, words[-1])
            names, target_name = (names, said) if isinstance(said, str) else (said, target_name)
            continue
        index, least, greatest = _floats(path, line, words, 3)
        if index != int(index) or not 1 <= index <= MOST_FEATURES:
            raise ValueError(
                f"{path}, line {line}: {words[0]} is not an index from 1 to {MOST_FEATURES}"
            )
        found[int(index)] = least, greatest
    if names is not None and len(names) < max(found, default=0):
        raise ValueError(f"{path} has the ranges of feature {max(found)} and {len(names)} names")
    ends = np.zeros((2, max(found, default=0) if names is None else len(names)))
    for index, pair in found.items():
        ends[:, index - 1] = pair
    return Ranges(lower, upper, ends[0], ends[1], target, names, target_name)


def _names(path: Path, line: int, text: str) -> list[str] | str:
    try:
        names = json.loads(text)
    except ValueError:
        names = None
    if not isinstance(names, str) and not (
        isinstance(names, list) and all(isinstance(name, str) for name in names)
    ):
        raise ValueError(
            f"{path}, line {line}: a list of names was expected, or the target's name, found "
            f"{text!r:.100}"
        )
    found: list[str] | str = names
    return found


def _numbered(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the words of each line that is not empty, then END forever.

    The rest of a line after # is one word.
    """
    number = 0
    with open(path, encoding="ascii", errors="replace") as file:
        for number, text in enumerate(file, 1):
            if words := text.split(maxsplit=1 if text.startswith("#") else -1):
                yield number, words
    while True:
        number += 1
        yield number, END


def _floats(path: Path, line: int, words: list[str], count: int) -> list[float]:
    try:
        values = [float(word) for word in words]
    except ValueError:
        values = []
    if len(values) != count or not np.isfinite(values).all():
        raise ValueError(
            f"{path}, line {line}: {count} numbers were expected, found {' '.join(words)!r}"
        )
    return values
