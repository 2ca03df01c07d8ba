"""Text of svmlight files, parsed and written by the core."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import maxmargin.core._cpu as _cpu  # compiled: it has no types
from maxmargin.core.threads import thread_count

format_svmlight = _cpu.format_svmlight
TEXT_PADDING = _cpu.TEXT_PADDING
"""Bytes that must follow a text that is parsed."""


def parse_svmlight(
    buffer: NDArray[np.uint8], size: int, limit: int, queries: int, threads: int = 0
) -> list[tuple[Any, ...]]:
    """Return the pieces of rows that the threads parsed.

    A piece holds targets, row ends, indices, values, queries, the least and greatest index, the
    number of lines, and an error with its place.
    """
    pieces: list[tuple[Any, ...]] = _cpu.parse_svmlight(
        buffer, size, limit, queries, threads or thread_count(10.0 * size)
    )
    return pieces
