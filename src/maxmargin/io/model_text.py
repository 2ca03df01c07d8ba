"""Reading text model files line by line, with limits.

Files may come from untrusted sources. A line has at most LONGEST bytes and the head at most HEAD;
compressed text may be EXPANSION times as long as its file. Memory is proportional to the text.
Counts in a file are not trusted: the lines are counted before any is parsed, and a file with fewer
lines than its head says is an error. Every error names the file and the line.
"""

from collections.abc import Callable, Iterator, Sequence
from io import FileIO
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from maxmargin.core.arrays import Floats
from maxmargin.io.files import decompressing, open_read
from maxmargin.io.svmlight_rows import ERRORS, MOST_FEATURES, Rows, joined, parse_text

LONGEST, HEAD = 2**26, 2**23
"""Largest number of bytes of a line, and of a head."""
BLOCK = 2**22
"""Bytes of text parsed at once."""
EXPANSION, SLACK = 64, 2**20
"""Compressed text has at most EXPANSION times the bytes of its file plus SLACK."""
NUMBER = b"0123456789+-.eE"
"""Characters of decimal numbers; Python's float would accept more."""


class Lines:
    """The lines of a text file, one after another."""

    def __init__(self, path: Any) -> None:
        self.path, self.number = Path(path), 0
        self._file = open_read(self.path)
        size = self.path.stat().st_size
        plain = self.path.is_file() and isinstance(getattr(self._file, "raw", None), FileIO)
        self._left = size if plain else EXPANSION * size + SLACK

    def __enter__(self) -> Self:
        """Return the lines; the file is closed at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._file.close()

    def error(self, message: str, line: int | None = None) -> ValueError:
        """Return an error at the given line, or at the last one read."""
        return ValueError(f"{self.path}, line {self.number if line is None else line}: {message}")

    def require_rows(self, rows: int, what: str) -> None:
        """Raise an error if the file has fewer lines than its head says.

        The lines are counted before any is parsed.
        """
        with Lines(self.path) as again:
            found = sum(count for _, count in again.blocks()) - self.number
        if found != rows:
            raise self.error(
                f"the head says {rows} {what}, but {found} lines follow: was the file cut off?"
            )

    def line(self, most: int = LONGEST) -> bytes | None:
        """Return the next line without its end; None at the end of the file."""
        text = self._take(lambda: self._file.readline(min(most, self._left) + 2))
        if not text:
            return None
        self.number += 1
        text = text.rstrip(b"\r\n")
        if len(text) > most:
            raise self.error(f"the line is longer than {most} bytes, the limit")
        return text

    def _take(self, read: Callable[[], bytes]) -> bytes:
        """Read and count bytes; damaged or endless compressed text is an error."""
        with decompressing(str(self.error("the compressed text")), "is damaged"):
            text = read()
        self._left -= len(text)
        if self._left < 0:
            raise self.error(
                f"the compressed text is more than {EXPANSION} times as long as the file: is this "
                "a model?"
            )
        return text

    def blocks(self) -> Iterator[tuple[bytes, int]]:
        """Yield the remaining lines in blocks, with the number of each block's first line."""
        while text := self._take(lambda: self._file.read(BLOCK)):
            if not text.endswith(b"\n"):
                text += self._take(lambda: self._file.readline(min(LONGEST, self._left) + 2))
            text = b"\n".join(text.splitlines()) if b"\r" in text else text.removesuffix(b"\n")
            if len(text) > LONGEST and max(map(len, text.split(b"\n"))) > LONGEST:
                raise self.error(f"a line below is longer than {LONGEST} bytes, the limit")
            count = text.count(b"\n") + 1
            self.number += count
            yield text, count


def numbers(tokens: Sequence[bytes], lines: Lines, line: int | None = None) -> list[float]:
    """Parse finite decimal numbers."""
    try:
        found = list(map(float, tokens))
        if not b"".join(tokens).translate(None, NUMBER) and all(map(isfinite, found)):
            return found
    except ValueError:
        pass
    wrong = next(token for token in tokens if not _is_number(token))
    raise lines.error(f"{_shown(wrong)} is not a finite decimal number", line)


def _is_number(token: bytes) -> bool:
    try:
        return not token.translate(None, NUMBER) and isfinite(float(token))
    except ValueError:
        return False


def whole(
    token: bytes, lines: Lines, line: int | None = None, least: int = 0, most: int = 2**31 - 1
) -> int:
    """Parse an integer between two bounds."""
    digits = token[1:] if token[:1] in (b"-", b"+") else token
    if not (digits.isdigit() and len(digits) <= 20 and least <= int(token) <= most):
        raise lines.error(f"{_shown(token)} is not an integer from {least} to {most}", line)
    return int(token)


def _shown(token: bytes) -> str:
    return repr(token[:40].decode("ascii", "replace"))


def read_vectors(
    lines: Lines, coefficients: int, count: int, comments: bool = False
) -> tuple[Floats, Rows]:
    """Read the remaining lines, as many as the head says: coefficients and a sparse vector each.

    Returns the coefficients, a column for each line, and the vectors with the indices of the file.
    """
    lines.require_rows(count, "support vectors")
    first_coefs: list[Floats] = [np.empty((0, coefficients - 1))]
    blocks: list[Rows] = []
    for text, n in lines.blocks():
        first = lines.number - n + 1
        if b"#" in text and not comments:
            raise lines.error(
                "'#' is not part of a model", first + text[: text.index(b"#")].count(b"\n")
            )
        before, rest = _split(lines, text, first, coefficients) if coefficients > 1 else ([], text)
        rows, error, at = parse_text(rest, MOST_FEATURES)
        if error:
            cause = ERRORS[error].format(limit=MOST_FEATURES)
            raise lines.error(
                cause.replace("the target", "the last coefficient"),
                first + rest[:at].count(b"\n"),
            )
        if len(rows.targets) != n or len(rows.queries):
            raise lines.error(
                "a support vector was expected: coefficients, then index:value pairs", first
            )
        first_coefs.append(np.array(before).reshape(n, coefficients - 1))
        blocks.append(rows)
    whole = joined(blocks)
    return np.vstack([np.concatenate(first_coefs).T, whole.targets]), whole


def _split(lines: Lines, text: bytes, first: int, coefficients: int) -> tuple[list[float], bytes]:
    """Split lines into all coefficients but the last, and the rest from the last one on."""
    words = [line.split(None, coefficients - 1) for line in text.split(b"\n")]
    if min(map(len, words)) < coefficients:
        short = next(k for k, some in enumerate(words) if len(some) < coefficients)
        raise lines.error(
            f"{coefficients} coefficients and a support vector were expected", first + short
        )
    rest = b"\n".join([some.pop() for some in words])
    return numbers_of_lines(words, lines, first), rest


def numbers_of_lines(words: list[list[bytes]], lines: Lines, first: int) -> list[float]:
    """Parse the finite decimal numbers of all lines.

    `first` is the number of the first line, for errors.
    """
    try:
        return numbers([word for some in words for word in some], lines)
    except ValueError:
        for k, some in enumerate(words):
            numbers(some, lines, first + k)
        raise


# ---- heads ---------------------------------------------------------------------------------------


class Head(NamedTuple):
    """The words of a head and the numbers of their lines."""

    lines: Lines
    found: dict[bytes, tuple[int, list[bytes]]]

    def words(self, name: bytes, count: int) -> list[bytes]:
        """Return the `count` words after a name."""
        if name not in self.found:
            raise self.lines.error(f"the line {name.decode()} is missing above")
        words = self.found[name][1]
        if len(words) != count:
            raise self.error(name, f"{name.decode()} needs {count} values, not {len(words)}")
        return words

    def error(self, name: bytes, message: str) -> ValueError:
        """Return an error at the line of a name."""
        return self.lines.error(message, self.found[name][0])

    def numbers(self, name: bytes, count: int) -> Floats:
        """Return the `count` numbers after a name; none if the name is absent and may be."""
        return np.array(numbers(self.words(name, count), self.lines, self.found[name][0]))

    def whole(self, name: bytes, count: int = 1, least: int = 0) -> list[int]:
        """Return the `count` integers after a name."""
        words = self.words(name, count)
        return [whole(word, self.lines, self.found[name][0], least) for word in words]

    def one_of(self, name: bytes, table: dict[bytes, Any]) -> Any:
        """Return the table's value for the word after a name."""
        word = self.words(name, 1)[0]
        if word not in table:
            known = ", ".join(key.decode() for key in table)
            raise self.error(name, f"{name.decode()} {_shown(word)} is unknown: {known} are read")
        return table[word]

    def classes(self, classifies: bool, machine: str) -> tuple[int, list[int]]:
        """Return the number of classes, which is 2 if there are none, and their labels."""
        count = self.whole(b"nr_class", least=2)[0]
        if not classifies and count != 2:
            raise self.error(b"nr_class", f"nr_class must be 2 for {machine}, not {count}")
        labels = self.whole(b"label", count, least=-(2**31)) if classifies else []
        if len(set(labels)) < len(labels):
            raise self.error(b"label", "a label occurs twice")
        return count, labels


def read_head(lines: Lines, names: set[bytes], last: bytes) -> Head:
    """Read the lines up to the end of the head; each name at most once, in any order."""
    found: dict[bytes, tuple[int, list[bytes]]] = {}
    left = HEAD
    while (text := lines.line(left)) is not None:
        left -= len(text)
        words = text.split()
        if words == [last]:
            return Head(lines, found)
        if not words or words[0] not in names:
            raise lines.error(f"a model's head has no such line: {_shown(text)}")
        if words[0] in found:
            raise lines.error(f"{words[0].decode()} occurs twice")
        found[words[0]] = lines.number, words[1:]
    raise lines.error(f"the file ends before the line {last.decode()}")
