"""svmlight files of any size, read in blocks of whole lines: one block is in memory at a time.

A line is ``target index:value index:value ... # comment``. Whether indices count from 0 or from 1, and how many features there are, can
only be known at the end of the file: a first pass finds the least and the greatest index of all blocks, the later ones use them.

A block is what is left of the one before, then block_bytes more, cut after its last line end; a line longer than that is read to its end.
"""

import bz2
import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from numbers import Integral
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray
from sklearn.datasets import load_svmlight_file

OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}
"""How compressed files are opened, by the end of their names; all others are plain."""


class Layout(NamedTuple):
    """What the whole file has in common."""

    n_samples: int
    n_features: int
    zero_based: bool


class Block(NamedTuple):
    """Some lines and where they lie."""

    begin: int
    """Bytes before it (of the decompressed text)."""
    text: bytes


def svmlight_chunks(
    path: Any, n_features: int | None = None, block_bytes: int = 2**26, zero_based: Any = "auto", dtype: DTypeLike = np.float64
) -> "SvmlightChunks":
    """A reader of an svmlight file in blocks, for ``fit_chunks``.

    Parameters
    ----------
    path : str or path-like
        The file; names that end in .gz or .bz2 are decompressed while they are read.
    n_features : int or None, default=None
        How many features X has; None is as many as occur in the file. Files of one data set need the same number.
    block_bytes : int, default=2**26
        About how many bytes of text are read at once. The memory needed is a few times that.
    zero_based : bool or "auto", default="auto"
        Whether indices begin at 0; "auto" means at 1 unless a 0 occurs anywhere in the file.
    dtype : {float64, float32}, default=float64
        Type of the values and targets.

    Returns
    -------
    reader : SvmlightChunks
        Each call ``reader()`` begins again and yields ``(X, y)`` for each block, X in CSR; ``reader.layout`` holds the numbers of samples
        and features and the base of the indices.

    Examples
    --------
    >>> from maxmargin import LinearSVC
    >>> from maxmargin.io import svmlight_chunks
    >>> model = LinearSVC().fit_chunks(svmlight_chunks("train.svm"))  # doctest: +SKIP
    """
    if not (isinstance(block_bytes, Integral) and block_bytes >= 1):
        raise ValueError(f"block_bytes must be an integer >= 1, got {block_bytes!r}")
    if n_features is not None and not (isinstance(n_features, Integral) and n_features >= 1):
        raise ValueError(f"n_features must be an integer >= 1 or None, got {n_features!r}")
    if not (isinstance(zero_based, bool | np.bool_) or (isinstance(zero_based, str) and zero_based == "auto")):
        raise ValueError(f"zero_based must be True, False or 'auto', got {zero_based!r}")
    if np.dtype(dtype) not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise ValueError(f"dtype must be float64 or float32, got {np.dtype(dtype)}")
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no file {path}")
    return SvmlightChunks(path, n_features, block_bytes, None if zero_based == "auto" else bool(zero_based), np.dtype(dtype))


@dataclass(frozen=True)
class SvmlightChunks:
    """The blocks of a file; see ``svmlight_chunks``, which makes it."""

    path: Path
    n_features: int | None
    block_bytes: int
    zero_based: bool | None
    dtype: np.dtype[Any]

    def __call__(self) -> Iterator[tuple[Any, NDArray[Any]]]:
        """Begin again: X and y of each block."""
        layout = self.layout
        for block in self._blocks():
            X, y = self._parsed(block, layout.n_features, layout.zero_based)
            if len(y):
                yield X, y

    @cached_property
    def layout(self) -> Layout:
        """Numbers of samples and features and the base of the indices, by a pass over the file."""
        n, least, greatest = 0, np.inf, -1
        for block in self._blocks():
            X, y = self._parsed(block, None, True)
            n += len(y)
            if X.nnz:
                least, greatest = min(least, int(X.indices.min())), max(greatest, int(X.indices.max()))
        if n == 0:
            raise ValueError(f"{self.path} holds no samples")
        zero_based = least == 0 if self.zero_based is None else self.zero_based
        if not zero_based and least == 0:
            raise ValueError(f"{self.path} has a feature with index 0, but zero_based=False says that indices begin at 1")
        found = greatest + 1 if zero_based else max(greatest, 0)
        if self.n_features is not None and found > self.n_features:
            raise ValueError(f"{self.path} has {found} features, more than n_features={self.n_features}")
        if not (found or self.n_features):
            raise ValueError(f"{self.path} holds {n} samples without any feature: give n_features")
        return Layout(n, self.n_features or found, zero_based)

    def _open(self) -> BinaryIO:
        opened: BinaryIO = OPENERS.get(self.path.suffix, open)(self.path, "rb")
        return opened

    def _blocks(self) -> Iterator[Block]:
        """The text in pieces that end with a line."""
        with self._open() as file:
            begin, rest = 0, [b""]
            while piece := file.read(self.block_bytes):
                end = piece.rfind(b"\n") + 1
                rest.append(piece[:end] if end else piece)
                if end:
                    text = b"".join(rest)
                    yield Block(begin, text)
                    begin, rest = begin + len(text), [piece[end:]]
            if text := b"".join(rest):
                yield Block(begin, text)

    def _parsed(self, block: Block, n_features: int | None, zero_based: bool) -> tuple[Any, NDArray[Any]]:
        try:
            X, y = load_svmlight_file(BytesIO(block.text), n_features=n_features, dtype=self.dtype, zero_based=zero_based)
        except ValueError as error:
            where = f"bytes {block.begin} to {block.begin + len(block.text)}"
            raise ValueError(f"{self.path} is no svmlight file, or changed while it was read ({where}): {error}") from error
        return X, y
