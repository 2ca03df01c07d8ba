"""Blocks of whole lines of a file of any size, in one buffer that is reused.

A block consists of the rest of the previous block and block_bytes more, up to the last line end. A
longer line is read to its end. Line ends are \\n, \\r\\n and \\r. The last line gets a line end if
it has none. At least `padding` bytes of the buffer follow every block.
"""

from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from maxmargin.io.files import decompressing

Bytes = NDArray[np.uint8]
STEP = 2**16
LONGEST_LINE = 2**27
"""A longer line, in bytes, is an error: a file that is not text must not fill the memory."""
BOMS = {b"\xef\xbb\xbf": "", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
"""Byte order marks, and the encoding if it is not UTF-8."""


def blocks_of_lines(
    file: BinaryIO, block_bytes: int, padding: int, name: str
) -> Iterator[tuple[Bytes, int, int]]:
    """Yield a buffer, and where the block begins and ends in it.

    The block is valid until the next one is requested.
    """
    buffer = np.empty(block_bytes + min(block_bytes, 2**16) + 1 + padding, np.uint8)
    filled, first = 0, True
    while got := _read_into(file, buffer, filled, block_bytes, name):
        before, filled = filled, filled + got
        end = _after_last(b"\n", buffer, before, filled) or _after_last(
            b"\r", buffer, max(before - 1, 0), filled - 1
        )
        if end:
            yield buffer, _without_bom(buffer, name) if first else 0, end
            buffer[: filled - end] = buffer[end:filled].copy()
            filled, first = filled - end, False
        if filled > LONGEST_LINE:
            raise ValueError(
                f"{name} has a line of more than {LONGEST_LINE} bytes: is it text, with line ends?"
            )
        if filled + block_bytes + 1 + padding > len(buffer):
            larger = np.empty(2 * filled + block_bytes + 1 + padding, np.uint8)
            larger[:filled] = buffer[:filled]
            buffer = larger
    if filled:
        buffer[filled] = ord("\n")
        yield buffer, _without_bom(buffer, name) if first else 0, filled + 1


def _after_last(mark: bytes, buffer: Bytes, begin: int, end: int) -> int:
    """Return one past the last such byte of buffer[begin:end], or 0 if there is none.

    The search goes backwards, a piece at a time.
    """
    while begin < end:
        start = max(begin, end - STEP)
        found = buffer[start:end].tobytes().rfind(mark)
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def _read_into(file: BinaryIO, buffer: Bytes, at: int, count: int, name: str) -> int:
    """Read at most `count` bytes."""
    reader: Any = file
    room: Any = buffer[at : at + count]
    with decompressing(name):
        return int(reader.readinto(memoryview(room)))


def _without_bom(buffer: Bytes, name: str) -> int:
    """Return where the text begins."""
    head = buffer[:4].tobytes()
    for bom, encoding in BOMS.items():
        if head.startswith(bom):
            if encoding:
                raise ValueError(
                    f"{name} is {encoding} text: convert it to UTF-8, for example with iconv -f "
                    f"{encoding} -t UTF-8"
                )
            return len(bom)
    return 0
