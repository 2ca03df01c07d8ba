"""Reading files of any compression, which is detected by content, and writing files atomically."""

import bz2
import gzip
import io
import lzma
import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from maxmargin.kernel.cache import free_memory

ZST_BYTES = 2**6
"""Compressed bytes read at once: four of them can expand to 128 kB."""
PIECE = 2**24
"""Bytes read at once when a whole file is read."""
STDIN = Path("-")
"""This name is standard input for reading and standard output for writing."""


def _open_zst(path: Any, mode: str) -> Any:
    """Open a Zstandard file. Python has it from 3.14 on; before, a package does."""
    try:
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        try:
            import zstandard
        except ImportError as missing:
            raise ImportError(
                f"{path} is compressed with Zstandard: pip install zstandard, or decompress it "
                "first."
            ) from missing
        if mode == "rb":
            return io.BufferedReader(
                _ZstReader(
                    path if hasattr(path, "read") else open(path, "rb"), zstandard.ZstdDecompressor
                )
            )
        return zstandard.open(path, mode)
    return zstd.open(path, mode)


class _ZstReader(io.RawIOBase):
    """A reader on the package zstandard.

    The package's own reader does not notice that a file is cut off.
    """

    def __init__(self, file: BinaryIO, decompressor: Any) -> None:
        self._file, self._new = file, decompressor
        self._frame: Any = None
        self._ready, self._rest = memoryview(b""), b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not len(self._ready):
            packed = self._rest or self._file.read(ZST_BYTES)
            if not packed:
                if self._frame is not None:
                    raise EOFError("the compressed data end before their end marker")
                return 0
            self._frame = self._frame or self._new().decompressobj()
            self._ready, self._rest = memoryview(self._frame.decompress(packed)), b""
            if self._frame.eof:
                self._rest, self._frame = self._frame.unused_data, None
        count = min(len(buffer), len(self._ready))
        buffer[:count], self._ready = self._ready[:count], self._ready[count:]
        return count

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


COMPRESSED: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"\x28\xb5\x2f\xfd": _open_zst,
}
"""First bytes of compressed files, and the functions that open them."""
SUFFIXES: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": _open_zst,
}
"""Suffixes of compressed files, and the functions that open them for writing."""


def open_read(path: Path) -> BinaryIO:
    """Open a file, or standard input for "-"; it is decompressed while it is read."""
    if path == STDIN:
        stream: Any = sys.stdin.buffer
        stream = stream if hasattr(stream, "peek") else io.BufferedReader(stream)
        opened: BinaryIO = _opener(stream.peek(8))(stream, "rb")
        return opened
    with open(path, "rb") as plain:
        opener = _opener(plain.peek(8))
    return open(path, "rb") if opener is _as_it_is else opener(path, "rb")


@contextmanager
def decompressing(
    name: str, cause: str = "cannot be decompressed; it is damaged or cut off"
) -> Iterator[None]:
    """Turn any error about a damaged compressed file into one that names the file."""
    try:
        yield
    except Exception as error:
        if isinstance(error, MemoryError) or getattr(error, "errno", None) is not None:
            raise
        raise ValueError(f"{name} {cause}: {error}") from error


def read_whole(file: BinaryIO, name: str) -> bytes:
    """Return all bytes of a file; ValueError if they need more than half of the free memory."""
    pieces, left = [], free_memory() // 2
    with decompressing(name):
        while piece := file.read(PIECE):
            pieces.append(piece)
            left -= len(piece)
            if left < 0:
                break
    if left < 0:
        size = sum(map(len, pieces)) / 2**30
        raise ValueError(
            f"{name} holds more than {size:.1f} GiB, more than half of the free memory: is it the "
            "right file? svmlight files can be read in chunks"
        )
    return b"".join(pieces)


def _opener(head: bytes) -> Callable[..., Any]:
    """Return the function that opens a file with these first bytes."""
    return next(
        (opener for magic, opener in COMPRESSED.items() if head.startswith(magic)), _as_it_is
    )


def _as_it_is(stream: BinaryIO, mode: str) -> BinaryIO:
    """Open a file that is not compressed."""
    return stream


def require_file(path: Path) -> None:
    """Raise an error unless the path is a file that can be read several times."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file")
    if not path.exists():
        raise FileNotFoundError(f"no file {path}")
    if not path.is_file():
        raise ValueError(
            f"{path} is a pipe or a device, which cannot be read again: copy it to a file first"
        )


def name_of(path: Path) -> str:
    """Return a file's name for messages."""
    return "standard input" if path == STDIN else str(path)


@contextmanager
def _naming(temporary: Path, path: str | os.PathLike[str]) -> Iterator[None]:
    """Make errors about a temporary file name the file that the user gave."""
    try:
        yield
    except OSError as error:
        if error.filename is None or Path(error.filename) != temporary:
            raise
        cause = error.strerror
        if not temporary.parent.is_dir():
            cause = f"there is no folder {Path(path).parent}"
        raise type(error)(error.errno, cause, os.fspath(path)) from None


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Write a file atomically: it replaces the old one when it is complete and on the disk.

    After an error the old file is unchanged. A link stays a link, to the new file. A device or a
    pipe is written to, never replaced. The new file has the permissions of the old one, or the
    usual ones of a new file; until it is complete, only the user can read it.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with open(target, "wb") as file:
            yield file
        return
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    name = target.parent / f".{target.name[:100]}.{secrets.token_hex(8)}"
    try:
        with (
            _naming(name, path),
            open(
                name, "xb", opener=partial(os.open, mode=0o666 if mode is None else 0o600)
            ) as file,
        ):
            yield file
            file.flush()
            os.fsync(file.fileno())
        with _naming(name, path):
            if mode is not None:
                os.chmod(name, mode)
            os.replace(name, target)
    except BaseException:
        name.unlink(missing_ok=True)
        raise
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    except OSError:  # some file systems cannot do this do this
        pass
    finally:
        os.close(folder)


@contextmanager
def compressed_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Like atomic_write, compressed if the suffix says so; "-" is standard output."""
    target = Path(path)
    if target == STDIN:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with atomic_write(target) as file:
        if target.suffix not in SUFFIXES:
            yield file
            return
        with SUFFIXES[target.suffix](file, "wb") as packed:
            yield packed
