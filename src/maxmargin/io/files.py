"""Opening and writing files: compressed ones by what they are, not by their names; new ones whole or not at all."""

import bz2
import gzip
import lzma
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO


def _open_zst(path: Any, mode: str) -> Any:
    """Zstandard is part of Python from 3.14 on, and a package before."""
    try:
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        try:
            import zstandard as zstd  # type: ignore[import-not-found,unused-ignore,no-redef]
        except ImportError as missing:
            raise ImportError(f"{path} is compressed with Zstandard: pip install zstandard, or decompress it first.") from missing
    return zstd.open(path, mode)


COMPRESSED: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"\x28\xb5\x2f\xfd": _open_zst,
}
"""How a compressed file begins, and what opens it."""
SUFFIXES: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zst": _open_zst}
"""How a file with such a name is written."""


def open_read(path: Path) -> BinaryIO:
    """The bytes of a file, decompressed while they are read."""
    with open(path, "rb") as plain:
        head = plain.read(8)
    opener = next((opener for magic, opener in COMPRESSED.items() if head.startswith(magic)), open)
    opened: BinaryIO = opener(path, "rb")
    return opened


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Write a file that appears under its name when it is complete and on the disk; until then, or after an error, the old one stays."""
    target = Path(path)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)  # mkstemp makes files that nobody else can read
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    except OSError:  # some file systems cannot
        pass
    finally:
        os.close(folder)
